"""Unbiased random rounding of counts to a base.

Every count moves to a neighbouring multiple of the base, up with probability r/b for residual r; its expectation is the
count itself. This hides whether a small count is 0, 1 or 2 from a reader of the inner cells; margins that are published
beside them, rounded independently or exact, can narrow that down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.core.random import Seed, spawn
from discreet.protect.base import Original, Protected
from discreet.protect.figure_method import WITH_MARGINS, Rounding
from discreet.protect.layout import FullTable
from discreet.protect.usage import in_one_call, option
from discreet.table import Table
from discreet.table.kinds import Random
from discreet.table.tabulation import Tabulation

BLOCK = 1 << 18
"""How many counts share a random stream: as many as fit into the cache with their results. Another size would draw
other roundings for the same seed."""


def round_randomly(F: IntArray, base: int, rng: np.random.Generator, size: int) -> IntArray:
    """Return `size` independent roundings of the counts, one per row.

    Up with probability r/b, where r is the residual modulo the base b: the mean of a rounded count is the
    count. For base 3 these are the probabilities 2/3 and 1/3 of antal2014 section 4. A uniform integer from 0 … b − 1
    is compared with r, which makes the probabilities exact.
    """
    residual = F % base
    small: type[np.uint8 | np.uint16 | np.int64] = (
        np.uint8 if base <= 256 else np.uint16 if base <= 65_536 else np.int64
    )
    up = rng.integers(0, base, (size, F.size), dtype=small) < residual.astype(small)
    rounded = np.multiply(up, base, dtype=np.int64)
    rounded += F - residual
    return rounded


def round_once(F: IntArray, base: int, seed: Seed, *, workers: int | None = None) -> IntArray:
    """Return one rounding of any number of counts, block by block; the same for any number of workers."""
    starts = range(0, F.size, BLOCK)
    rounded = np.empty(F.size, np.int64)

    def work(item: tuple[int, np.random.Generator]) -> None:
        start, rng = item
        rounded[start : start + BLOCK] = round_randomly(F[start : start + BLOCK], base, rng, 1)[0]

    run(work, zip(starts, spawn(seed, len(starts)), strict=True), workers=workers)
    return rounded


@dataclass(frozen=True)
class RandomRounding(Rounding):
    """Round every figure at random to a neighbouring multiple of the base, without bias: up with probability r/b.

    Here r is what the figure is above the lower multiple of the base b. In a table, the inner counts are rounded; in a
    tabulation, or with ``margins``, so is every margin, each on its own: cells need not add up to totals, and totals
    then reveal more about the cells. With ``additive``, margins are the sums of the rounded inner counts: less
    accurate, but they reveal nothing more, and the risk of every figure is known exactly.

    >>> table = Table.from_array([1, 5, 6], ["month"])
    >>> RandomRounding(3).outcomes(table)
    4
    """

    margins: bool = field(default=False, metadata=WITH_MARGINS)
    additive: bool = field(
        default=False, metadata=option("Margins of records are sums of what is published, and reveal nothing more.")
    )
    name: ClassVar[str] = "random-rounding"
    told: ClassVar[tuple[str, ...]] = ("base",)
    examples: ClassVar[Mapping[str, str]] = {
        "religion.csv --base 3 -o rounded.csv": "the inner counts",
        "people.csv --by area,sex -o rounded.csv": "records: all margins too",
        "people.csv --by area,sex --additive -o r.csv": "margins are sums",
        "a.csv --linked b.csv --with-margins -o r.csv": "two tables, one total",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margins and self.additive:
            raise RequestError("margins are either rounded on their own (margins) or added up (additive); choose one")

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        return super().parameters | ({"additive": True} if self.additive else {})

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Round the figures of an original once."""
        kind = Random(base=int(self.base))

        def rounded(counts: IntArray) -> IntArray:
            return round_once(counts, self.base, seed)

        if self.additive and isinstance(original, Tabulation):
            layout = FullTable.of(original)
            return layout.added_up(self, lambda rows: rounded(layout.full.records[rows]), kind)
        return self.each_changed(original, rounded, kind, margins=self.margins)

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return released counts of the table's non-empty cells, one draw per row; empty cells stay empty."""
        return round_randomly(table.counts, self.base, rng, size)

    def outcomes(self, table: Table) -> int:
        """Return the number of different releases."""
        return 1 << int(np.count_nonzero(table.counts % self.base))

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Enumerate the releases, each with its probability T(G), in blocks of rows."""
        residual = table.counts % self.base
        moving = np.flatnonzero(residual)
        chance = residual[moving] / self.base
        for start in range(0, 2**moving.size, block):
            number = np.arange(start, min(start + block, 2**moving.size))
            up: npt.NDArray[np.bool_] = (number[:, None] >> np.arange(moving.size)) & 1 == 1
            released = np.repeat((table.counts - residual)[None], number.size, axis=0)
            released[:, moving] += self.base * up
            yield np.where(up, chance, 1 - chance).prod(axis=1), released


random_rounding = in_one_call(RandomRounding)
