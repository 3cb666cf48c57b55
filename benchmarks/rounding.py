"""Rounding and adjustment against pytauargus, and against the clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain

import numpy as np

import _peer
from _tools import best, growing, machine
from discreet.core.numerics import IntArray
from discreet.protect.controlled_rounding import ControlledRounding
from discreet.protect.random_rounding import RandomRounding, round_once
from discreet.protect.small_count_rounding import SmallCountRounding
from discreet.table import Table
from instances import Instance, cells_of, generate

BASE = 5


def tau(instance: Instance) -> tuple[float, IntArray]:
    """Let pytauargus round (RND), and return the time of that step alone and its figures.

    It refuses bases below a tenth of the largest figure; that check is switched off, and both round to the same
    base. No cell is called unsafe: both solve the same problem.
    """
    from pytauargus.engine import Engine

    floor, Engine._min_round_base = Engine._min_round_base, lambda self, tab: 0
    try:
        with _peer.aside(), _peer.timed("_suppress_rnd", time.perf_counter) as spent:
            values = _peer.ask(instance, f"RND(1,{BASE},0,60,0,2,1)", "FREQ(1,0)").values
    finally:
        Engine._min_round_base = floor
    return sum(spent), values


def controlled() -> Iterator[list[str]]:
    """Time both on two-way tables with hierarchies, in turn."""
    for name in ("t2d_1k", "t2d_10k"):
        instance = generate(name)
        cells = cells_of(instance)
        mine, theirs, away = [], [], 0
        for _ in range(3):
            mine.append(best(lambda cells=cells: ControlledRounding(BASE).apply(cells), 1))  # type: ignore[misc]
            seconds, values = tau(instance)
            theirs.append(seconds)
            away = int(np.abs(values - instance.counts).sum())
        made = ControlledRounding(BASE).apply(cells)
        yield [
            name,
            f"{instance.counts.size:,}",
            f"**{min(mine):.3f} s**",
            f"{min(theirs):.3f} s",
            f"**{min(theirs) / min(mine):.1f}**",
            f"{made.details['cost']:,}",
            f"{away:,}",
        ]


def three_way() -> Iterator[list[str]]:
    """Controlled rounding of three-way tables, stopped after ten seconds."""
    for name in ("t3d_2k", "t3d_30k"):
        cells = cells_of(generate(name))
        start = time.perf_counter()
        made = ControlledRounding(BASE, time_limit=10.0).apply(cells)
        yield [
            name,
            f"{time.perf_counter() - start:.1f} s",
            "yes" if made.details["zero_restricted"] else "no",
            str(made.changes.largest),
            f"{made.details['gap']:.1%}",
        ]


def small() -> Iterator[list[str]]:
    """Small-count rounding to base 3."""
    for name in ("t2d_1k", "t2d_10k", "t3d_30k", "t3d_180k"):
        cells = cells_of(generate(name))
        made = SmallCountRounding(3).apply(cells)
        seconds = best(lambda cells=cells: SmallCountRounding(3).apply(cells), 2)  # type: ignore[misc]
        margins = made.details["margins"]
        rounded = f"{made.details['rounded']:,}"
        yield [name, rounded, f"**{seconds:.2f} s**", str(margins["largest"]), f"{margins['mean']:.2f}"]


def random() -> Iterator[list[str]]:
    """Random rounding of 10⁷ cells."""
    counts = np.random.default_rng(1).integers(1, 1000, (10_000, 1_000))
    original, flat = Table.from_array(counts, ["row", "column"]), counts.ravel()
    copy = best(lambda: flat.copy(), 5)
    for base in (3, 5, 10):
        kernel = best(lambda base=base: round_once(flat, base, 1), 5)  # type: ignore[misc]
        whole = best(lambda base=base: RandomRounding(base).apply(original, 1), 1)  # type: ignore[misc]
        yield [str(base), f"**{kernel:.3f} s**", f"{whole:.2f} s", f"{kernel / copy:.0f}"]


def main() -> Iterator[str]:
    """Yield what depends on a seed, line by line."""
    yield "## Rounding\n"
    yield machine("numpy", "numba", "highspy", "pytauargus") + "\n"
    yield (
        f"Controlled rounding to base {BASE} of two-way tables with hierarchies in both dimensions, from stating the "
        "sums to the release, against the step RND of `pytauargus` alone; and the sum of all changes.\n"
    )
    yield from growing(["table", "figures", "discreet", "pytauargus", "ratio", "changes", "pytauargus"], controlled())
    yield "Small-count rounding to base 3: inner counts rounded, and how far margins are off.\n"
    yield from growing(["table", "rounded", "time", "largest", "mean"], small())


def larger() -> Iterator[str]:
    """Yield what has no peer, line by line."""
    yield "## Rounding: larger tables\n"
    yield machine("numpy", "numba", "highspy") + "\n"
    yield (
        "Three-way tables, stopped after ten seconds. Where no zero-restricted rounding is found by then, inner "
        "cells go to neighbours and margins are their sums.\n"
    )
    yield from growing(["table", "time", "zero-restricted", "largest change", "gap"], three_way())
    yield (
        "Random rounding of 10,000 × 1,000 counts: the figures alone, the whole release with what changed, and the "
        "former against copying the counts.\n"
    )
    yield from growing(["base", "figures", "release", "times a copy"], random())


if __name__ == "__main__":
    for line in chain(main(), larger()):
        print(line, flush=True)
