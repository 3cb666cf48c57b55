"""Small-count rounding: only inner counts below the base change, to 0 or the base, and everything stays additive.

All published tables are added up from the same inner counts, so they agree with each other and with their totals. The
counts that go up are chosen to keep the margins close to the original: Langsrud and Heldal (2018), An algorithm for
small count rounding of tabular data, choose them one after the other; here a good start is improved by single turns and
trades of two until none helps. A reader knows that a published 0 was below the base, that a
published count equal to the base was at least 1 and at most the base, and every larger inner count exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Original, Protected
from discreet.protect.figure_method import Rounding
from discreet.protect.layout import FullTable, inner_sums
from discreet.protect.margin_fit import containing, round_for_margins
from discreet.protect.usage import in_one_call, option
from discreet.table.kinds import EXACT, Perturbed, Small


@dataclass(frozen=True)
class SmallCountRounding(Rounding):
    """Round inner counts below the base to 0 or the base; margins are sums of what is published, near the true ones.

    Counts of the base and more do not change.

    >>> from discreet import Table
    >>> table = Table.from_array([[1, 2, 7], [4, 1, 1]], ["area", "age"])
    >>> made = SmallCountRounding(3).apply(table)
    >>> made.release.table.to_array().tolist()
    [[0, 3, 7], [4, 0, 3]]
    """

    name: ClassVar[str] = "small-count-rounding"
    seeded: ClassVar[bool] = False
    examples: ClassVar[Mapping[str, str]] = {"t.csv --base 3 -o rounded.csv": "no 1 and no 2 is published"}

    base: int = field(default=3, metadata=option("Inner counts below this become 0 or this."))

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Round the small inner counts of an original, and add its margins up."""
        layout, base = FullTable.of(original), int(self.base)
        layout.check_finest(
            "but only they are rounded; tabulate them, or round every figure (controlled-rounding, random-rounding)"
        )
        full, inner = layout.full, layout.inner
        rows = np.flatnonzero(inner & (full.records > 0) & (full.records < base))
        values = full.records.copy()
        if rows.size:
            values[rows] = base * round_for_margins(full, rows, full.records[rows], base, progress=progress)
            values = inner_sums(full, values)
        away = np.abs(values - full.records)[layout.kept[~inner[layout.kept]]]
        largest, mean = int(away.max(initial=0)), float(away.mean()) if away.size else 0.0
        note = (
            f"{rows.size:,} inner counts below {base} were rounded; margins are sums of what is published and off by "
            f"{largest} at most, by {mean:.2f} on average."
        )
        margins = {"figures": int(away.size), "largest": largest, "mean": mean}
        # The bound follows from the counts in print: one that is attained would give away a count rounded alone.
        doubtful = np.intersect1d(np.flatnonzero(inner & ((values == 0) | (values == base))), layout.kept)
        below = np.bincount(containing(full, doubtful)[1], minlength=len(full))
        most = int(below.max(initial=0)) * (base - 1)
        return layout.released(
            self,
            values,
            (Small(base=base), EXACT, *([Perturbed(bound=most)] if most else [])),
            np.where(inner, 0, np.where(below > 0, 2, 1)),
            notes=(note,),
            details={"rounded": int(rows.size), "margins": margins},
        )


small_count_rounding = in_one_call(SmallCountRounding)
