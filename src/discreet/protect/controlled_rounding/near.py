"""A controlled rounding near the optimum, for tables too large to prove it: local moves from a corner."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.progress import Progress, tell
from discreet.protect.controlled_rounding.nearest import Corner, Rounded
from discreet.protect.layout import inner_sums
from discreet.protect.margin_fit import containing, lines_of
from discreet.table.tabulation import Tabulation

if TYPE_CHECKING:
    from discreet.protect.controlled_rounding.annealing import Lines


class Search(NamedTuple):
    """One search: which figures take part, how it cools, and what margins that are too far off cost.

    ``dearest`` is the most, in bases, that turning a figure may cost at the corner; ``heat`` and ``price`` are the
    first and the last temperature, in bases, and price of a unit beyond neighbours. There are at most ``passes``.
    """

    dearest: float
    heat: tuple[float, float]
    price: tuple[float, float]
    passes: int


ATTEMPTS = tuple(
    (
        Search(dearest, (0.2, 0.08), (0.5, 3.0), 4_000),
        Search(np.inf, (hot, 0.05), (4.0, 16.0), 800),
        Search(0.3, (0.12, 0.05), (8.0, 16.0), 1_500),
    )
    for dearest, hot in ((0.15, 0.1), (0.2, 0.15), (0.3, 0.25), (0.2, 0.35), (0.3, 0.45), (0.15, 0.6), (np.inf, 1.0))
)
"""A search among cheap figures, one among all that brings back margins that are too far off, and one that mends what
this cost; and again, with more room, where that is not near enough. The numbers were tried out on tables of mean 3:
hotter searches lose what the corner knows, colder ones leave more too far off."""
TURNS = 20_000_000
"""The most flips in a search: two seconds."""
NEAR = 0.02
"""The relative gap to the bound at which the search ends: a round choice."""


class NearRounding:
    """The search in the inner figures of a table with all its cells, whose sums are its margins."""

    def __init__(self, full: Tabulation, base: int, progress: Progress | None = None) -> None:
        self.full, self.base, self.progress = full, base, progress
        self.residual = full.records % base
        self.inner = np.flatnonzero(full.inner(full.names) & (self.residual > 0))

    def __call__(self, corner: Corner) -> Rounded:
        """Return the best rounding found: the one with the fewest figures too far away, and of those the nearest."""
        found: list[tuple[int, int, Rounded]] = []
        # Nothing here is left to chance: the same table is always rounded the same way.
        rng = np.random.default_rng(0)
        for number, attempt in enumerate(ATTEMPTS):
            tell(self.progress, number, len(ATTEMPTS), "searches for a near rounding")
            values = self.full.records - self.residual
            values[self.inner] += self.base * self._start(corner)
            for search in attempt:
                self._improve(values, self.inner[corner.price[self.inner] <= search.dearest * self.base], search, rng)
            found.append(self._judged(inner_sums(self.full, values), corner.bound))
            beyond, distance, _ = found[-1]
            if not beyond and distance - corner.bound <= NEAR * distance:
                break
        return min(found, key=lambda one: one[:2])[2]

    def _judged(self, values: IntArray, bound: float) -> tuple[int, int, Rounded]:
        """Return how many figures are a base away or more, the distance, and the rounding."""
        away = np.abs(values - self.full.records)
        distance, largest = int(away.sum()), int(away.max())
        proved = largest < self.base and distance < bound + 1 - 1e-6
        return int((away >= self.base).sum()), distance, Rounded(values, largest // self.base, proved)

    def _start(self, corner: Corner) -> IntArray:
        """Return which figures are up at the corner, or every base-th unit of the running sum where there is none."""
        if corner.point is not None:
            up: IntArray = np.rint(corner.point[self.inner]).astype(np.int64)
            return up
        own = self.residual[self.inner]
        running = self.base // 2 + np.cumsum(own)
        return running // self.base - (running - own) // self.base

    def _improve(self, values: IntArray, free: IntArray, search: Search, rng: np.random.Generator) -> None:
        """Flip inner figures where that is an improvement; margins are taken to be their sums."""
        from discreet.protect.controlled_rounding.annealing import Schedule, State, anneal

        if not free.size:
            return
        full, base, own = self.full, self.base, self.residual[free]
        up = (values[free] > full.records[free]).astype(np.int64)
        off = inner_sums(full, values) - full.records
        state = State(up, base - 2 * own, base, *containing(full, free), off)
        passes = int(np.clip(TURNS // free.size, 1, search.passes))
        schedule = Schedule(base * np.geomspace(*search.heat, passes), np.geomspace(*search.price, passes))
        anneal(state, self._lines(free), schedule, rng)
        values[free] = full.records[free] - own + base * up

    def _lines(self, free: IntArray) -> Lines:
        """Return the lines of some inner figures along every dimension."""
        from discreet.protect.controlled_rounding.annealing import Lines

        order, begin, end = (np.zeros((len(self.full.axes), free.size), np.int64) for _ in range(3))
        for number, axis in enumerate(self.full.axes):
            order[number], ends = lines_of(self.full, free, axis)
            lengths = np.diff(ends, prepend=0)
            begin[number, order[number]] = np.repeat(ends - lengths, lengths)
            end[number, order[number]] = np.repeat(ends, lengths)
        return Lines(order, begin, end)
