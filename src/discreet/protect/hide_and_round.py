"""Hiding small counts and rounding the others, as health statistics are often published.

Counts from 1 to the limit are replaced by a mark that says just that, and every larger count is rounded to the nearest
multiple of the base; a 0 is published as 0. A reader knows the range of a hidden count, and that no rounded figure is
one: under a limit of 3 and the base 5, a 5 is 4, 5, 6 or 7. Rounded totals beside a hidden count can narrow
it down further, which the audit works out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Changes, Original, Protected
from discreet.protect.checks import check_integer
from discreet.protect.conventional_rounding import round_nearest
from discreet.protect.figure_method import FigureMethod
from discreet.protect.layout import FullTable
from discreet.protect.usage import in_one_call, option
from discreet.table import Release
from discreet.table.kinds import EXACT, INTERVAL, Conventional


@dataclass(frozen=True)
class HideAndRound(FigureMethod):
    """Hide the counts from 1 to a limit, and round the others to the nearest multiple of a base, margins too.

    The mark of a hidden count says that it lies from 1 to the limit.

    >>> from discreet.table import Table
    >>> made = HideAndRound(limit=7, base=5).apply(Table.from_array([0, 3, 8, 44], ["month"]))
    >>> [made.release.figures[0].text(row) for row in range(5)]
    ['55', '0', '1 to 7', '10', '45']
    """

    limit: int = field(default=7, metadata=option("Counts from 1 to this are hidden.", "--hide-up-to"))
    base: int = field(default=5, metadata=option("What the other figures are multiples of."))
    name: ClassVar[str] = "hide-and-round"
    seeded: ClassVar[bool] = False
    examples: ClassVar[Mapping[str, str]] = {
        "table.csv --hide-up-to 7 --base 5 -o release.csv": "1 to 7 hidden, others to 5"
    }

    def __post_init__(self) -> None:
        check_integer(self.base, "base", 2, "round to")
        check_integer(self.limit, "limit", ask="hide counts from 1 to")
        least = int(round_nearest(np.array([self.limit + 1]), self.base)[0])
        if least <= self.limit:
            raise RequestError(
                f"a count of {self.limit + 1} would be published as {least}, among the hidden ones; raise the base "
                f"above {self.base}, or lower the limit below {self.limit}"
            )

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Hide and round the figures of an original."""
        layout = FullTable.of(original)
        counts = layout.full.records[layout.kept]
        small = (counts > 0) & (counts <= self.limit)
        rounded = round_nearest(counts, self.base)
        figures = layout.figures(
            np.where(small, 1, rounded),
            np.where(small, 1, np.where(counts == 0, 2, 0)),
            (Conventional(base=int(self.base), hides=int(self.limit)), INTERVAL, EXACT),
            name=self.name,
            upper=np.where(small, self.limit, rounded),
        )
        total = (int(counts[0]), int(rounded[0]))
        changes = Changes.between(counts, rounded, small, whole=layout.full.whole, total=total)
        return Protected(Release(None, self.name, self.parameters, (figures,)), changes)


hide_and_round = in_one_call(HideAndRound, positional=2)
