"""Settings that all tests share."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.measuring import CASES, import_everything, measure_first_examples, measure_workbenches_alone, unmeasured

from discreet.core import compiled
from discreet.core.progress import WATCHING

NUMBER = pytest.StashKey[int]()

# A busy machine or a kernel's first compilation must not fail a property; CI draws the same examples every time.
settings.register_profile("discreet", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("discreet")

# What is compiled depends on what has run before; nobody is told of it, as tests compare what commands say.
WATCHING.append(lambda done, total, label: None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Decide what is measured, once coverage has begun."""
    measure_workbenches_alone()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Number the cases of each test."""
    cases: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        item.stash[NUMBER] = cases[test]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Measure what modules do when they are imported, not the search for tests.

    One process looks for tests at a time: the others then load what it has compiled.
    """
    turn = Path(__file__).parent / "__pycache__" / "collecting"
    turn.parent.mkdir(exist_ok=True)
    with turn.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if session.config.getoption("dist", "no") == "no":  # not the process that hands tests to others
            import_everything()
        with unmeasured():
            return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Measure the first cases of a test: the others run the same lines with other figures, and faster unmeasured."""
    measure_first_examples(getattr(item, "obj", None))
    tracing = sys.gettrace()
    if item.stash[NUMBER] > CASES or item.get_closest_marker("unmeasured"):
        sys.settrace(None)
    try:
        yield
    finally:
        # A loop that failed half-way may have left it off, too.
        sys.settrace(tracing)


def _interpret_unmeasured(self: Any, *given: Any) -> Any:
    """Have coverage pass over a kernel that is interpreted, as over one that is compiled: it counts neither."""
    if not self.__module__.startswith("discreet."):
        return interpret(self, *given)
    tracing = sys.gettrace()
    sys.settrace(None)
    try:
        return interpret(self, *given)
    finally:
        sys.settrace(tracing)


@cache
def _compile_once() -> None:
    """Have each kernel compiled by one of the processes that run tests; the others wait and load what it made.

    Coverage does not follow the compiler, which is written in Python and none of ours.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    place = Path(tempfile.gettempdir()) / f"discreet-tests-{os.getuid()}-kernels"
    place.mkdir(exist_ok=True)
    compile_one = Dispatcher.compile

    def compile_alone(self: Any, signature: Any) -> Any:
        code = self.py_func.__code__
        name = f"{code.co_filename} {code.co_firstlineno} {signature}"
        own = place / hashlib.sha256(name.encode()).hexdigest()[:32]
        with unmeasured(), global_compiler_lock, own.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compile_one(self, signature)

    setattr(Dispatcher, "compile", compile_alone)  # noqa: B010 (a method is replaced)
    listen()


listen, compiled._listen = compiled._listen, _compile_once
interpret = compiled.Kernel._interpret
setattr(compiled.Kernel, "_interpret", _interpret_unmeasured)  # noqa: B010 (a method is replaced)
