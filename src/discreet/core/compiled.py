"""Kernels: plain loops over arrays, interpreted while work is small and compiled by Numba once that pays.

Compiling the kernels of a suppression takes half a minute, and a small table needs them for a moment. So a kernel is
interpreted first and counts the turns of its loops. When that has taken about as long as compiling would, its arguments
are put back as they were and the compiled kernel starts afresh. Both come from the same source and give the same bytes.

Numba is an extra. Without it kernels are interpreted however long they take, and one that takes long says so.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, update_wrapper
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.progress import announce

P = ParamSpec("P")
Result = TypeVar("Result")

TURNS = 400_000
"""Turns of loops that are interpreted for every kernel that would have to be compiled: half a second or a little more,
about what compiling one takes."""
KEPT_TURNS = 150_000
"""The same where the machine code is on disk: loading it takes a fraction of a second."""
LARGE = 200_000
"""Writable arrays of this many elements are left to the compiled kernel: a copy, to restore them, costs too much."""
SECONDS = 0.7
"""Seconds to compile one kernel on an ordinary machine, for the announced time."""


class _ImpatienceError(Exception):
    """A kernel was interpreted for as long as it may be."""


def _give_up() -> float:
    raise _ImpatienceError


class _Turns(threading.local):
    """How many turns are left to the kernel that this thread interprets, and what happens after them."""

    left = math.inf
    over: Callable[[], float] = staticmethod(_give_up)

    def take(self, number: int = 1) -> None:
        """Count turns of a loop."""
        self.left -= number
        if self.left < 0:
            self.left = self.over()


_turns = _Turns()
spend = _turns.take
"""Counts turns that work in arrays stands for, see :meth:`Kernel.in_arrays`."""
_building = threading.RLock()


class Kernel(Generic[P, Result]):
    """A function over arrays, interpreted at first and compiled when that pays.

    The environment variable ``DISCREET_KERNELS`` can ask for one or the other: ``interpreted``, ``compiled``.
    """

    def __init__(self, function: Callable[P, Result]) -> None:
        self.function: Any = function
        self._machine_code: Callable[P, Result] | None = None
        self._variants: dict[bool, Any] = {}
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        """Interpret the kernel while turns are left; then put its arguments back and run it compiled."""
        if self._machine_code is None:
            mode = os.environ.get("DISCREET_KERNELS", "auto")
            if mode not in ("auto", "interpreted", "compiled"):
                raise RequestError(f"DISCREET_KERNELS is {mode!r}; set it to auto, interpreted or compiled")
            if mode == "interpreted" or (mode == "auto" and not _has_compiler()):
                return self._interpret(args, kwargs, math.inf if mode == "interpreted" else self._granted, _ask_for_it)
            if mode == "auto" and self._granted > 0:
                undo = _undo(list(_parts((*args, *kwargs.values()))))
                if undo is not None:
                    try:
                        return self._interpret(args, kwargs, self._granted, _give_up)
                    except (_ImpatienceError, ArithmeticError):
                        # Where Python refuses a division or a large number, machine code goes on.
                        undo()
            with _building:
                self._machine_code = self._variant(counted=False)
        return self._machine_code(*args, **kwargs)

    def __reduce__(self) -> str:
        """Pickle by name, as functions do."""
        return str(self.function.__qualname__)

    def in_arrays(self, function: Callable[P, Result]) -> Callable[P, Result]:
        """Have this function, in calls of NumPy, stand in for the interpreted loops."""
        self._variants[True] = function
        return function

    def needed(self) -> set[Kernel[..., Any]]:
        """Return this kernel and all that it calls."""
        found: set[Kernel[..., Any]] = {self}
        todo: list[Kernel[..., Any]] = [self]
        while todo:
            new = set(todo.pop()._called().values()) - found
            found |= new
            todo.extend(new)
        return found

    def _interpret(self, args: Any, kwargs: Any, left: float, over: Callable[[], float]) -> Result:
        with _building:
            function = self._variant(counted=True)
        outer = _turns.left, _turns.over
        _turns.left, _turns.over = left, over
        # Words wrap around, and what is divided by nothing is infinite, as in machine code.
        with np.errstate(all="ignore"):
            try:
                result: Result = _as_compiled(function(*args, **kwargs))
            finally:
                self._granted = _turns.left
                _turns.left, _turns.over = outer
        return result

    @cached_property
    def _granted(self) -> float:
        """How many turns may still be interpreted."""
        source, code = Path(self.function.__code__.co_filename), self.function.__code__
        kept = (source.parent / "__pycache__").glob(f"{source.stem}.{code.co_qualname}-{code.co_firstlineno}.*.nbi")
        return KEPT_TURNS if any(kept) else TURNS * len(self.needed())

    def _called(self) -> dict[str, Kernel[..., Any]]:
        around = self.function.__globals__
        return {name: around[name] for name in self.function.__code__.co_names if isinstance(around.get(name), Kernel)}

    def _variant(self, counted: bool) -> Any:
        """Return the function with its turns counted, or to be compiled, and what it calls likewise."""
        if counted not in self._variants:
            around = dict(self.function.__globals__)
            self._variants[counted] = _counting(self.function, around) if counted else _compiling(self, around)
            around.update({name: kernel._variant(counted) for name, kernel in self._called().items()})
        return self._variants[counted]


def compiled(function: Callable[P, Result]) -> Kernel[P, Result]:
    """Make a kernel of a function: plain loops, and arrays that are made ready outside.

    Kernels that call each other belong in one file: Numba's cache notices a change of a kernel's own file only. They
    have no defaults: Numba compiles a kernel, and all that hand it on, once more for each one that is left out.

    >>> @compiled
    ... def total(x: np.ndarray) -> int:
    ...     s = 0
    ...     for i in range(x.size):
    ...         s += x[i]
    ...     return s
    >>> total(np.arange(4))
    6
    """
    if getattr(function, "__defaults__", None) or getattr(function, "__kwdefaults__", None):
        raise TypeError(f"{function.__qualname__} is a kernel and has defaults; have its callers state every argument")
    return Kernel(function)


@cache
def _has_compiler() -> bool:
    # Numba's own switch, and its own reading of it.
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def _ask_for_it() -> float:
    """Say once that this is work for the compiler, and go on."""
    with _building:  # several threads may find that out at once
        _say_that_it_is_slow()
    return math.inf


@cache
def _say_that_it_is_slow() -> None:
    announce(0, 0, "this is slow without the compiler; pip install 'discreet[compiler]' makes it many times faster")


def _parts(values: Iterable[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, tuple):
            yield from _parts(value)
        else:
            yield value


def _undo(given: list[object]) -> Callable[[], None] | None:
    """Return a function that restores arrays and generators to their present state, None if that takes a large copy."""
    written = [part for part in given if isinstance(part, np.ndarray) and part.flags.writeable]
    if any(part.size >= LARGE for part in written):
        return None
    arrays = [(part, part.copy()) for part in written]
    bits = [part.bit_generator for part in given if isinstance(part, np.random.Generator)]
    states = [(each, each.state) for each in bits]

    def undo() -> None:
        for array, before in arrays:
            array[...] = before
        for each, state in states:
            each.state = state

    return undo


def _as_compiled(result: object) -> Any:
    """Return numbers as machine code does: those of Python."""
    if isinstance(result, tuple):
        parts = [_as_compiled(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result.item() if isinstance(result, np.generic) else result


def _counting(function: Any, around: dict[str, Any]) -> Any:
    """Return the function with each turn of its loops counted."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition: Any = tree.body[0]
    definition.decorator_list, definition.returns = [], None
    for argument in ast.walk(definition.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    take = ast.parse("__turn__()").body[0]
    for node in ast.walk(definition):
        if isinstance(node, ast.For | ast.While):
            node.body.insert(0, take)
    around["__turn__"] = _turns.take
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    exec(compile(tree, function.__code__.co_filename, "exec"), around)
    return around[function.__name__]


def _compiling(kernel: Kernel[..., Any], around: dict[str, Any]) -> Any:
    """Return the function as Numba compiles it on its first call, free of the interpreter lock and kept on disk."""
    if not _has_compiler():
        raise RequestError("DISCREET_KERNELS asks for compiled kernels; pip install 'discreet[compiler]'")
    import numba

    _listen()
    old = kernel.function
    function = FunctionType(old.__code__, around, old.__name__, old.__defaults__, old.__closure__)
    function.__qualname__, function.__module__ = old.__qualname__, old.__module__
    try:
        made: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
        _forget_what_is_unreadable(made)
    except RuntimeError:
        # Neither the package's folder nor the user's can be written: compile anew in every process.
        made = numba.njit(nogil=True, error_model="numpy")(function)
    _compile_for_types(made)
    _kernel_of[function] = kernel
    return made


def _compile_for_types(made: Any) -> None:
    """Compile a kernel for types alone.

    Numba would compile it again for every constant that another kernel hands to it, without being faster: 28 of the 164
    machine codes that all tests need.
    """
    from numba.core.types import unliteral

    compile_one = made.compile
    made.compile = lambda types: compile_one(tuple(map(unliteral, types)))


def _forget_what_is_unreadable(made: Any) -> None:
    """Have a list of compiled code that cannot be read taken for none: another version left it, or a disk ran full."""
    kept = made._cache._cache_file
    listed = kept._load_index

    def readable() -> Any:
        try:
            return listed()
        except Exception:  # what reading a pickle of other code may raise has no common name
            return {}

    kept._load_index = readable


_kernel_of: dict[object, Kernel[..., Any]] = {}


@cache
def _listen() -> None:
    """Announce the compilation of anything that is not on disk."""
    from numba.core import event as numba_events

    events: Any = numba_events

    class Announcer(events.Listener):  # type: ignore[misc]
        """Counts the kernels that are compiled for one call; what else is compiled is not ours to report."""

        label, done, total, depth = "", 0, 0, 0

        def on_start(self, event: Any) -> None:
            kernel = _kernel_of.get(event.data["dispatcher"].py_func)
            if kernel is None:
                return
            if not self.depth:
                self.done, self.total = 0, len(kernel.needed())
                self.label = f"compiling once, about {max(round(self.total * SECONDS), 1)} s"
                announce(0, self.total, self.label)
            self.depth += 1

        def on_end(self, event: Any) -> None:
            if event.data["dispatcher"].py_func in _kernel_of:
                self.depth -= 1
                self.done = min(self.done + 1, self.total) if self.depth else self.total
                announce(self.done, self.total, self.label)

    events.register("numba:compile", Announcer())
