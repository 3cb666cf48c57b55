"""Conventional rounding: every figure to the nearest multiple of the base.

It hides the last digits and nothing else: a reader who knows the rule knows that a figure of 5, rounded to base 5, came
from 3 to 7, and sums of rounded figures beside rounded totals narrow that down. Nothing is random: the same count is
published as the same figure everywhere and always.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Original, Protected
from discreet.protect.figure_method import BASE, WITH_MARGINS, Rounding
from discreet.protect.usage import in_one_call
from discreet.table.kinds import Conventional


def round_nearest(F: IntArray, base: int) -> IntArray:
    """Return the multiple of the base that is nearest to each count, the upper one of two equally near.

    >>> import numpy as np
    >>> round_nearest(np.arange(6), 4).tolist()
    [0, 0, 4, 4, 4, 4]
    """
    nearest: IntArray = (F + base // 2) // base * base
    return nearest


@dataclass(frozen=True)
class ConventionalRounding(Rounding):
    """Round every figure to the nearest multiple of the base, the upper one of two equally near.

    In a table, the inner counts are rounded; in a tabulation, or with ``margins``, so is every margin, each on its own
    (domingo2002 section 4.2).

    >>> from discreet.table import Table
    >>> made = ConventionalRounding(5).apply(Table.from_array([1, 5, 8], ["month"]))
    >>> made.release.table.to_array().tolist(), made.changes.largest
    ([0, 5, 10], 2)
    """

    base: int = field(default=5, metadata=BASE)
    margins: bool = field(default=False, metadata=WITH_MARGINS)
    name: ClassVar[str] = "conventional-rounding"
    told: ClassVar[tuple[str, ...]] = ("base",)
    seeded: ClassVar[bool] = False
    examples: ClassVar[Mapping[str, str]] = {"religion.csv --base 5 -o rounded.csv": "to the nearest 5"}

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Round the figures of an original."""
        kind = Conventional(base=int(self.base))
        return self.each_changed(original, lambda counts: round_nearest(counts, self.base), kind, margins=self.margins)


conventional_rounding = in_one_call(ConventionalRounding)
