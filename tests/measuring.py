"""What coverage follows: as little as it can without missing a line, as following the suite doubles its time."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

import discreet

Item = TypeVar("Item")

VARIABLE = "COVERAGE_PROCESS_CONFIG"
kept: dict[str, str] = {}
"""The environment of processes that are measured: workbenches, whose code runs nowhere else."""
CASES = 4
"""How many cases of a test are measured: parameters, or turns of a loop."""
EXAMPLES = 20
"""How many examples of a property are measured."""


def measure_workbenches_alone() -> None:
    """Do not measure the processes that tests start: commands in them run code that other tests run in this one."""
    if VARIABLE in os.environ:
        kept[VARIABLE] = os.environ.pop(VARIABLE)


def for_workbenches() -> dict[str, str]:
    """Return the environment of a workbench, which is measured where the test that starts it is."""
    return {} if sys.gettrace() is None else kept


@contextmanager
def unmeasured() -> Iterator[None]:
    """Run something that coverage does not follow."""
    tracing = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracing)


def first_measured(cases: Iterable[Item], measured: int = CASES) -> Iterator[Item]:
    """Go through cases of which the first are measured: the others run the same lines, and faster unmeasured.

    >>> list(first_measured(range(6)))
    [0, 1, 2, 3, 4, 5]
    """
    tracing = sys.gettrace()
    try:
        for number, case in enumerate(cases):
            if number == measured:
                sys.settrace(None)
            yield case
    finally:
        sys.settrace(tracing)


def import_everything() -> None:
    """Import every module while it is followed, so that tests can be looked for without it."""
    if sys.gettrace() is None:
        return
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def measure_first_examples(test: Any) -> None:
    """Measure the first examples of a property: the others run the same lines with other figures."""
    handle = getattr(test, "hypothesis", None)
    if handle is None or hasattr(handle.inner_test, "examples"):
        return
    inner: Callable[..., None] = handle.inner_test
    seen = 0

    @wraps(inner)
    def some(*args: Any, **kwargs: Any) -> None:
        nonlocal seen
        seen += 1
        if seen <= EXAMPLES or sys.gettrace() is None:
            return inner(*args, **kwargs)
        with unmeasured():
            return inner(*args, **kwargs)

    setattr(some, "examples", EXAMPLES)  # noqa: B010 (functions have no such attribute)
    handle.inner_test = some
