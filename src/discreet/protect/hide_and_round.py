"""Hiding small counts and rounding the others, as health statistics are often published.

Counts from 1 to the limit are replaced by a mark that says just that, and every larger count is rounded to the nearest
multiple of the base; a 0 is published as 0. A reader knows the range of a hidden count, and that no rounded figure
stands for one: under a limit of 3 and the base 5, a 5 is 4, 5, 6 or 7. Rounded totals beside a hidden count can narrow
it down further, which the audit works out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Changes, Original, Protected
from discreet.protect.conventional_rounding import round_nearest
from discreet.protect.linked import protect_linked
from discreet.protect.rounding import check_base, check_counts, laid_out
from discreet.protect.usage import Usage, option
from discreet.reading.reads import reads_original
from discreet.table import Release, Table
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT, INTERVAL, Conventional
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True)
class HideAndRound:
    """Counts from 1 to ``limit`` are hidden, larger ones rounded conventionally to ``base``.

    Margins are published too, hidden or rounded by themselves.

    >>> from discreet.table import Table
    >>> made = HideAndRound(limit=7, base=5).apply(Table.from_array([0, 3, 8, 44], ["month"]))
    >>> [made.release.figures[0].text(row) for row in range(5)]
    ['55', '0', '1 to 7', '10', '45']
    """

    limit: int = field(default=7, metadata=option("Counts from 1 to this are hidden."))
    base: int = field(default=5, metadata=option("What the other figures are multiples of."))
    name: ClassVar[str] = "hide-and-round"
    usage: ClassVar[Usage] = Usage(
        "Hide the counts from 1 to a limit, and round the others to the nearest multiple of a base, margins too.\n\n"
        "The mark of a hidden count says that it lies from 1 to the limit.",
        {"discreet protect hide-and-round table.csv --limit 7 --base 5 -o release.csv": "1 to 7 hidden, others to 5"},
        random=False,
        linked=True,
    )

    def __post_init__(self) -> None:
        """Check limit and base."""
        check_base(self.base)
        if isinstance(self.limit, bool) or not isinstance(self.limit, int | np.integer) or self.limit < 1:
            raise RequestError(f"limit is {self.limit!r}; hide counts from 1 to a whole number of 1 or more")
        least = int(round_nearest(np.array([self.limit + 1]), self.base)[0])
        if least <= self.limit:
            raise RequestError(
                f"a count of {self.limit + 1} would be published as {least}, among the hidden ones; raise the base "
                f"above {self.base}, or lower the limit below {self.limit}"
            )

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        return {"limit": int(self.limit), "base": int(self.base)}

    def apply(
        self, original: Original | Sequence[Original], seed: Seed = None, *, progress: Progress | None = None
    ) -> Protected:
        """Hide and round an original, or linked ones together; there is nothing random in it."""
        if not isinstance(original, Table | Tabulation):
            return protect_linked(self, original, seed, progress=progress)
        check_counts(original)
        full, kept = laid_out(original)
        counts = full.records[kept]
        small = (counts > 0) & (counts <= self.limit)
        rounded = round_nearest(counts, self.base)
        figures = Figures(
            {axis.name: axis.codes for axis in full.axes},
            np.stack([full.codes(axis.name)[kept] for axis in full.axes], axis=1),
            np.where(small, 1, rounded),
            np.where(small, 1, np.where(counts == 0, 2, 0)),
            (Conventional(base=int(self.base), hides=int(self.limit)), INTERVAL, EXACT),
            name=self.name,
            total=full.axes[0].codes[0],
            hierarchies={axis.name: axis.hierarchies for axis in full.axes},
            upper=np.where(small, self.limit, rounded),
        )
        changes = Changes.between(counts, rounded, small, total=(int(counts[0]), int(rounded[0])))
        release = Release(None, self.name, self.parameters, (figures,))
        return Protected(release, replace(changes, hidden=int(small.sum())))


@reads_original
def hide_and_round(original: Original | Sequence[Original], limit: int = 7, base: int = 5) -> Release:
    """Hide the counts from 1 to a limit, and round the others to the nearest multiple of a base.

    Args:
        original: a table or a tabulation of counts; margins are published too.
        limit: the largest count that is hidden.
        base: what the other figures are multiples of.

    >>> from discreet.table import Table
    >>> len(hide_and_round(Table.from_array([[1, 5], [60, 30]], ["area", "sex"])).figures[0])
    9
    """
    return HideAndRound(limit, base).apply(original).release
