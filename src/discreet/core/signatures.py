"""Signatures as people read them: annotations without quotes, and options by their names."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType

_seen: set[str] = set()


class Shown(str):
    """A text that signatures show as it is, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


GIVEN = Shown("…")
"""The default of an option in a signature: what it stands for is in the docstring."""


def make_readable() -> None:
    """Show the annotations of everything that has been imported of discreet without quotes, and of packages the door.

    Annotations are texts, so that nothing is imported for their sake; :func:`inspect.signature` and so ``help`` and
    notebooks would show each of them in quotes. The modules of a package stay in reach, but ``dir`` lists what is in
    its ``__all__``.
    """
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if not name.startswith("discreet.") or name in _seen or getattr(spec, "_initializing", False):
            continue
        _seen.add(name)
        if hasattr(module, "__path__") and hasattr(module, "__all__"):
            vars(module).setdefault("__dir__", partial(list, module.__all__))
        for value in list(vars(module).values()):
            if getattr(value, "__module__", None) == name:
                for function in _functions(value):
                    notes = function.__annotations__
                    notes |= {key: Shown(text) for key, text in notes.items() if type(text) is str}


def with_options(value: object) -> object:
    """Let the signatures of a function, or of a class's methods, list the options that they take as ``**options``.

    Notebooks then complete them.

    >>> from discreet.table.table_reader import read_table
    >>> "total" in inspect.signature(with_options(read_table)).parameters
    True
    """
    if isinstance(value, type):
        for method in vars(value).values():
            with_options(method)
    if not isinstance(value, FunctionType) or "__signature__" in vars(value):
        return value
    found = inspect.signature(value)
    own = list(found.parameters.values())
    last = own.pop() if own and own[-1].kind is inspect.Parameter.VAR_KEYWORD else None
    if last and (names := _names(value, str(last.annotation))):
        more = [inspect.Parameter(name, last.KEYWORD_ONLY, default=GIVEN) for name in names]
        value.__signature__ = found.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return value


def _names(function: Callable[..., object], annotation: str) -> dict[str, object]:
    """Return the options of a class named as ``Unpack[…]``, nothing for other annotations."""
    name = annotation.removeprefix("Unpack[").removesuffix("]")
    options = getattr(inspect.unwrap(function), "__globals__", {}).get(name)
    return {} if name == annotation or options is None else dict(options.__annotations__)


def _functions(value: object) -> list[FunctionType]:
    """Return a function, or the functions of a class, below what wraps them."""
    members = list(vars(value).values()) if isinstance(value, type) else [value]
    plain = (getattr(one, "__func__", None) or getattr(one, "fget", None) or one for one in members)
    return [one for one in map(_unwrapped, plain) if isinstance(one, FunctionType)]


def _unwrapped(value: object) -> object:
    return inspect.unwrap(value) if callable(value) else value
