"""Conventional rounding: every figure to the nearest multiple of the base.

It hides the last digits and nothing else: who knows the rule knows that a figure of 5, rounded to base 5, came from 3
to 7, and sums of rounded figures beside rounded totals narrow that down. It never draws lots, so that the same count
is published alike everywhere and always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Original, Protected
from discreet.protect.linked import protect_linked
from discreet.protect.rounding import BASE, WITH_MARGINS, check_base, check_counts, rounded_table, rounded_tabulation
from discreet.protect.usage import Usage
from discreet.reading.reads import reads_original
from discreet.table import Release, Table
from discreet.table.kinds import Conventional
from discreet.table.tabulation import Tabulation


def round_nearest(F: IntArray, base: int) -> IntArray:
    """Return the nearest multiple of the base of each count, the upper one of two that are as near.

    >>> import numpy as np
    >>> round_nearest(np.arange(6), 4).tolist()
    [0, 0, 4, 4, 4, 4]
    """
    nearest: IntArray = (F + base // 2) // base * base
    return nearest


@dataclass(frozen=True)
class ConventionalRounding:
    """Rounding of every figure to the nearest multiple of the base; the upper one of two (domingo2002 section 4.2).

    Of a table the inner counts are rounded; of a tabulation, or with ``margins``, every margin too, each by itself.

    >>> made = ConventionalRounding(5).apply(Table.from_array([1, 5, 8], ["month"]))
    >>> made.release.table.to_array().tolist(), made.changes.largest
    ([0, 5, 10], 2)
    """

    base: int = field(default=5, metadata=BASE)
    margins: bool = field(default=False, metadata=WITH_MARGINS)
    name: ClassVar[str] = "conventional-rounding"
    usage: ClassVar[Usage] = Usage(
        "Round every figure to the nearest multiple of the base, the upper one of two that are as near.",
        {"discreet protect conventional-rounding religion.csv --base 5 -o rounded.csv": "to the nearest 5"},
        random=False,
        linked=True,
    )

    def __post_init__(self) -> None:
        """Check the base."""
        check_base(self.base)

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        return {"base": int(self.base)}

    def apply(
        self, original: Original | Sequence[Original], seed: Seed = None, *, progress: Progress | None = None
    ) -> Protected:
        """Round an original, or linked ones together; there is nothing random in it."""
        if not isinstance(original, Table | Tabulation):
            return protect_linked(self, original, seed, progress=progress)
        check_counts(original)
        kind = Conventional(base=int(self.base))
        if isinstance(original, Table) and not self.margins:
            return rounded_table(original, round_nearest(original.counts, self.base), self.name, self.parameters, kind)
        return rounded_tabulation(
            original, lambda values: round_nearest(values, self.base), self.name, self.parameters, kind
        )


@reads_original
def conventional_rounding(original: Original | Sequence[Original], base: int = 5, *, margins: bool = False) -> Release:
    """Round every figure to the nearest multiple of the base.

    Args:
        original: a table, or a tabulation, whose margins and groups are rounded by themselves too.
        base: what the figures are multiples of.
        margins: publish the margins of a table too.

    >>> conventional_rounding(Table.from_array([[1, 5], [6, 3]], ["area", "sex"])).table.to_array().tolist()
    [[0, 5], [5, 5]]
    """
    return ConventionalRounding(base, margins).apply(original).release
