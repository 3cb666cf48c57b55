"""Simulation, sampling and swapping against the clock, and against SciPy's two-way tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from _tools import best, growing, in_turn, machine
from discreet.core.random import generator
from discreet.protect.random_sample import RandomSample
from discreet.protect.simulation import Simulation
from discreet.protect.simulation.margin_model import Model
from discreet.protect.simulation.sequential import draw_sequential
from discreet.protect.swapping import RecordSwapping
from discreet.protect.table_swapping import TableSwapping
from discreet.table import Table

TWO_WAY = Model.of(2, [(0,), (1,)])


def two_way(people: int) -> list[str]:
    """Draw a 100 × 100 table with given margins, a thousand at a time counted singly."""
    from scipy.stats import random_table

    rng = generator(1)
    F = rng.multinomial(people, rng.dirichlet(np.ones(10_000))).reshape(100, 100)
    rows, columns = F.sum(axis=1), F.sum(axis=0)
    law = random_table(rows, columns)
    size = 20
    ours, theirs, one = in_turn(
        [
            lambda: draw_sequential(F.ravel(), (100, 100), TWO_WAY, rng, size),
            lambda: law.rvs(size, method="patefield", random_state=rng),
            lambda: draw_sequential(F.ravel(), (100, 100), TWO_WAY, rng, 1),
        ]
    )
    return [f"{people:,}", *(f"{1000 * t:.2f} ms" for t in (one, ours / size, theirs / size)), f"{theirs / ours:.2f}"]


def others() -> Iterator[list[str]]:
    """Time the other methods on tables of their own size."""
    rng = generator(2)
    cube = Table.from_array(rng.poisson(3.0, (20, 20, 20)), ["a", "b", "c"])
    wide = Table.from_array(rng.poisson(5.0, (30, 30)), ["a", "b"])
    large = Table.from_array(rng.poisson(100.0, (100, 100)), ["area", "kind"])
    chain = Simulation((("a", "b"), ("b", "c")))
    works = {
        "simulation, 20 × 20 × 20, margins ab and bc, exact": lambda: chain.apply(cube, 1),
        "simulation, 30 × 30, uniform, Markov chain until mixed": lambda: Simulation(None, "uniform").apply(wide, 1),
        "simulation, 5 × 5 × 5, all two-way margins, Markov chain until mixed": lambda: Simulation(2).apply(
            Table.from_array(cube.to_array()[:5, :5, :5], ["a", "b", "c"]), 1
        ),
        "simple random sample of 10⁵ from 10⁶ people, 100 × 100": lambda: RandomSample(100_000).apply(large, 1),
        "record swapping of 5% of 10⁶ people, 100 areas": lambda: RecordSwapping("area", rate=0.05).apply(large, 1),
        "table swapping of 5% of 10⁶ people": lambda: TableSwapping(1, 0.05).apply(large, 1),
    }
    for name, work in works.items():
        yield [name, f"{best(work):.3f} s"]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    header = ["people", "one draw", "a draw of 20", "SciPy (Patefield)", "SciPy / discreet"]
    yield "## Simulation, sampling and swapping\n"
    yield machine("numpy", "scipy", "numba") + "\n"
    yield "A table of 100 × 100 with given row and column totals, drawn exactly:\n"
    yield from growing(header, map(two_way, (10_000, 100_000, 1_000_000, 10_000_000)))
    yield "Whole releases, with their margins and what they changed:\n"
    yield from growing(["work", "time"], others())


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
