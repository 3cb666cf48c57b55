"""Unbiased random rounding of counts to a base.

Every count moves to a neighbouring multiple of the base, up with probability r/b for residual r, so that its
expectation is the count itself. It hides whether a small count is 0, 1 or 2 from somebody who sees the inner cells;
margins that are published beside them, rounded independently or exact, can narrow that down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.random import Seed, generator
from discreet.table import Release, Table
from discreet.table.kinds import Kind


def round_randomly(F: IntArray, base: int, rng: np.random.Generator, size: int) -> IntArray:
    """Return `size` independent roundings of the counts, one per row.

    Up with probability r/b, where r is the residual modulo the base b: the mean of a rounded count is the
    count. For base 3 these are the probabilities 2/3 and 1/3 of antal2014 section 4.
    """
    residual = F % base
    up = rng.random((size, F.size)) * base < residual
    rounded: IntArray = F - residual + base * up
    return rounded


@dataclass(frozen=True)
class RandomRounding:
    """Random rounding of every inner cell, independently, to a multiple of the base.

    >>> table = Table.from_array([1, 5, 6], ["month"])
    >>> RandomRounding(3).outcomes(table)
    4
    """

    base: int = 3
    name: ClassVar[str] = "random-rounding"

    def __post_init__(self) -> None:
        """Check the base."""
        if isinstance(self.base, bool) or not isinstance(self.base, int | np.integer) or self.base < 2:
            raise RequestError(f"base is {self.base!r}; round to a whole number of 2 or more")

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        return {"base": int(self.base)}

    def check(self, table: Table) -> None:
        """Refuse a table that cannot be rounded."""
        if table.total == 0:
            raise DataError("the table counts nobody (every cell is 0); there is nothing to round")

    def release(self, table: Table, seed: Seed = None) -> Release:
        """Round the table once."""
        self.check(table)
        rounded = round_randomly(table.counts, self.base, generator(seed), 1)[0]
        return Release(
            table.with_counts(table.cells, rounded),
            self.name,
            self.parameters,
            kind=Kind("random", base=int(self.base)),
        )

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return released counts of the table's non-empty cells, one draw per row; empty cells stay empty."""
        return round_randomly(table.counts, self.base, rng, size)

    def outcomes(self, table: Table) -> int:
        """Return how many different releases there are."""
        return 1 << int(np.count_nonzero(table.counts % self.base))

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Go through every release with its probability T(G), in blocks of rows."""
        residual = table.counts % self.base
        moving = np.flatnonzero(residual)
        chance = residual[moving] / self.base
        for start in range(0, 2**moving.size, block):
            number = np.arange(start, min(start + block, 2**moving.size))
            up: npt.NDArray[np.bool_] = (number[:, None] >> np.arange(moving.size)) & 1 == 1
            released = np.repeat((table.counts - residual)[None], number.size, axis=0)
            released[:, moving] += self.base * up
            yield np.where(up, chance, 1 - chance).prod(axis=1), released


def random_rounding(table: Table, base: int = 3, *, seed: Seed = None) -> Release:
    """Round every inner cell of a table at random to a multiple of the base, without bias.

    >>> release = random_rounding(Table.from_array([[1, 5], [6, 2]], ["area", "sex"]), base=3, seed=1)
    >>> set((release.table.to_array() % 3).ravel().tolist())
    {0}
    """
    return RandomRounding(base).release(table, seed)
