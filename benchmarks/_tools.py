"""Timing side by side: every comparison is a ratio of times taken in turn in one run."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version


def best(work: Callable[[], object], times: int = 3) -> float:
    """Return the shortest of a few times, the one that other work on the machine disturbed least."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def processor_seconds(work: Callable[[], object], enough: float = 0.1) -> float:
    """Return the CPU seconds of one turn, over as many turns as the clock of the processor needs to be exact."""
    begun, turns = time.process_time(), 0
    while True:
        work()
        turns += 1
        if (spent := time.process_time() - begun) >= enough:
            return spent / turns


def in_turn(works: Sequence[Callable[[], object]], times: int = 5) -> list[float]:
    """Return the shortest time of each, taken in turn, which spreads noise evenly."""
    shortest = [float("inf")] * len(works)
    for _ in range(times):
        for i, work in enumerate(works):
            shortest[i] = min(shortest[i], best(work, 1))
    return shortest


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Add a number to the seeds of generated tables, here and in processes that are started."""
    before = os.environ.get("DISCREET_BENCH_SEED")
    os.environ["DISCREET_BENCH_SEED"] = str(seed)
    try:
        yield
    finally:
        os.environ.pop("DISCREET_BENCH_SEED")
        if before is not None:
            os.environ["DISCREET_BENCH_SEED"] = before


def growing(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, each row once it is measured, and an empty line."""
    yield "| " + " | ".join(header) + " |\n|" + "---|" * len(header)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(growing(header, rows)).strip()


def machine(*packages: str) -> str:
    """Return what the figures were measured on."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            model = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {cores} cores; Python {platform.python_version()}, {versions}"
