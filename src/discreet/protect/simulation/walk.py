"""A Markov chain over all tables with given margins, for laws and models that cannot be drawn from directly.

A step picks a family of moves, a value for its fixed dimensions and two for each group, all uniformly and independently
of the table; that defines a line of tables with the same margins. The next table is drawn from the law on that line
(hit and run), which makes exactly this law the stationary one of the chain.

*Connectivity.* For decomposable margins the moves are a Markov basis (Diaconis and Sturmfels 1998 for two-way tables,
Dobra 2003): they connect all tables without passing through negative counts. For other margins, and with structural
zeros, that is not so; a table may be cut off from all others. Then counts may go below zero, at a price of ρ for every
unit, and only tables without a negative count are ever returned. The moves generate all integer differences of
tables with these margins and every table has a positive weight, so the chain reaches them all; seen only where
counts are not negative, it has the law that is asked for (Bunea and Besag 2000 allow −1; here the price bounds it).

*Mixing* is measured: by several chains from distant starting points, the largest split R̂ and the smallest effective
sample size over all cells (Gelman and others, Bayesian Data Analysis, section 11.4).
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.core.sparse import starts_of
from discreet.protect.simulation.diagnostics import Diagnostics, diagnose
from discreet.protect.simulation.margin_model import Model
from discreet.protect.simulation.move_kernels import Families, Weighing, walk
from discreet.table.grid import Grid

CHAINS, KEPT, WATCHED = 4, 200, 2000
"""The number of chains, and how many evenly spaced tables of each, and how many cells, diagnostics use."""
MIXED = 1.05
"""Chains count as mixed when no cell's split R̂ is above this: the usual bound lies between 1.01 and 1.1."""
LONGEST = 400_000_000
"""The most steps of one chain: a round choice."""


class MarkovChain:
    """The chain over the tables with the margins of one table, and its law."""

    def __init__(self, F: IntArray, shape: tuple[int, ...], model: Model, law: str, impossible: IntArray) -> None:
        self.F, self.factorial = F, law == "hypergeometric"
        rows: list[tuple[int, int]] = []
        offsets: list[IntArray] = []
        grid = Grid(shape)
        for family in model.moves():
            if all(math.prod(shape[i] for i in group) > 1 for group in family.groups):
                rows.append((len(offsets), len(family.groups)))
                for axes in (family.fixed, *family.groups):
                    offsets.append(grid.cross([np.arange(n) if i in axes else [0] for i, n in enumerate(shape)]))
        sizes = np.array([offset.size for offset in offsets], np.int64)
        self.families = Families(
            np.array(rows, np.int64).reshape(-1, 2),
            sizes,
            starts_of(sizes),
            np.concatenate([np.zeros(0, np.int64), *offsets]),
        )
        self.possible = np.ones(F.size, bool)
        self.possible[impossible] = False
        basis = model.decomposable and not impossible.size
        self.price = 0.0 if basis else min(0.1, 1.0 / F.size)
        self.connected = (
            "The moves are a Markov basis of the decomposable margins, so they reach every table."
            if basis
            else "The moves generate all differences of tables with these margins, and counts may pass below zero at a "
            f"price of {self.price:.2g} a unit, so every table is reached."
        )

    def walk(self, x: IntArray, steps: int, rng: np.random.Generator, *, spread: bool = False) -> None:
        """Take steps from a table, in place; with `spread` towards the other law, which sets chains apart."""
        if not self.families.rows.size:
            return
        law = Weighing(self.possible, self.factorial != spread, self.price)
        if walk(x, law, self.families, steps, rng) < 0:
            raise LimitError(
                "the Markov chain does not come back to tables without negative counts; simulate a smaller table, or "
                "decomposable margins"
            )

    def draw(
        self, rng: np.random.Generator, size: int, progress: Progress | None = None
    ) -> tuple[IntArray, Diagnostics]:
        """Return draws from chains that have mixed, one per row, spread evenly over the chains.

        Steps between two draws are doubled until no split R̂ is above the bound and draws are nearly independent.
        """
        streams = rng.spawn(CHAINS)
        states = [self.F.copy() for _ in range(CHAINS)]
        apart = max(50, 4 * self.F.size)
        for x, stream in zip(states, streams, strict=True):
            self.walk(x, 20 * apart, stream, spread=True)
        watched = np.unique(np.linspace(0, self.F.size - 1, WATCHED).astype(np.int64))
        steps = 0
        while True:
            kept = np.zeros((CHAINS, KEPT, watched.size))

            def go(c: int, kept: FloatArray = kept, apart: int = apart) -> None:
                for k in range(KEPT):
                    self.walk(states[c], apart, streams[c])
                    kept[c, k] = states[c][watched]

            run(go, range(CHAINS), progress=progress, label="walking over tables")
            steps += KEPT * apart
            rhat, effective = diagnose(kept)
            if rhat <= MIXED and effective >= CHAINS * KEPT / 4:
                break
            apart *= 2
            if 2 * KEPT * apart > LONGEST:
                raise LimitError(
                    f"after {steps:,} steps the chains do not agree (split R̂ {rhat:.2f}, effective sample size "
                    f"{effective:.0f} of {CHAINS * KEPT}); such a table would still look like the original. Release "
                    "fewer margins, or simulate a smaller table"
                )
        # Draws handed out are further apart than those looked at, by what these still depend on each other.
        apart = math.ceil(apart * max(1.0, CHAINS * KEPT / effective) * 2)
        drawn = np.zeros((size, self.F.size), np.int64)

        def hand_out(c: int) -> None:
            for k in range(c, size, CHAINS):
                self.walk(states[c], apart, streams[c])
                drawn[k] = states[c]

        run(hand_out, range(CHAINS), progress=progress, label="drawing tables")
        return drawn, Diagnostics(CHAINS, steps, CHAINS * KEPT, apart, rhat, effective, self.connected)
