"""What coverage follows: as little as it can without missing a line, as following the suite doubles its time."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

import discreet

VARIABLE = "COVERAGE_PROCESS_CONFIG"
kept: dict[str, str] = {}
"""The environment of processes that are measured: workbenches, whose code runs nowhere else."""
EXAMPLES = 20
"""How many examples of a property are measured."""


def measure_workbenches_alone() -> None:
    """Do not measure the processes that tests start: commands in them run code that other tests run in this one."""
    if VARIABLE in os.environ:
        kept[VARIABLE] = os.environ.pop(VARIABLE)


@contextmanager
def unmeasured() -> Iterator[None]:
    """Run something that coverage does not follow."""
    tracing = sys.gettrace()
    sys.settrace(None)
    try:
        yield
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


class Covered:
    """Files of which every line and every branch has been run: nothing more can be learnt of them."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._looked_at: dict[str, int] = {}
        self._sources: dict[str, Any] = {}

    def leave(self) -> int:
        """Have coverage follow them no more, and return how many they are.

        A file is looked at when two visits in a row find the same steps in it.
        """
        from coverage import Coverage
        from coverage.results import analysis_from_file_reporter

        measuring: Any = Coverage.current()
        analyse: Any = analysis_from_file_reporter
        if measuring is None or sys.gettrace() is None:
            return 0
        collector, left = measuring._collector, 0
        for place in list(collector.should_trace_cache.values()):
            steps = collector.data.get(place.source_filename) if place.trace else None
            if steps is None:
                continue
            name, size = place.source_filename, len(steps)
            if self._sizes.get(name) == size != self._looked_at.get(name):
                self._looked_at[name] = size
                if name not in self._sources:
                    self._sources[name] = measuring._get_file_reporter(name)
                found = analyse(_Steps(steps.copy()), 1, self._sources[name], name)
                if not found.missing and not found.missing_branch_arcs():
                    place.trace = False
                    left += 1
            self._sizes[name] = size
        return left


class _Steps:
    """The steps from line to line in one file, as coverage packs them, to be analysed as it does for its report."""

    def __init__(self, packed: set[int]) -> None:
        low = (1 << 28) - 1
        self._steps = [
            ((1 - 2 * (one >> 56 & 1)) * (one & low), (1 - 2 * (one >> 57 & 1)) * (one >> 28 & low)) for one in packed
        ]

    def has_arcs(self) -> bool:
        return True

    def arcs(self, name: str) -> list[tuple[int, int]]:
        return self._steps

    def lines(self, name: str) -> list[int]:
        return list({line for step in self._steps for line in step if line > 0})
