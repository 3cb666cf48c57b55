"""Small-count rounding: only inner counts below the base change, to 0 or the base, and everything stays additive.

All published tables are added up from the same inner counts, so that they agree with each other and with their
totals. Which counts go up is chosen so that the margins stay close to the original: Langsrud and Heldal (2018), An
algorithm for small count rounding of tabular data, choose them one after the other; here a good start is improved by
single turns and trades of two until none helps. A reader knows that a published 0 was below the base, that a
published count equal to the base was at least 1 and at most the base, and every larger inner count exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Original, Protected
from discreet.protect.linked import protect_linked
from discreet.protect.margin_fit import round_for_margins
from discreet.protect.rounding import BASE, check_base, check_counts, inner_sums, laid_out, released
from discreet.protect.usage import Usage
from discreet.reading.reads import reads_original
from discreet.table import Release, Table
from discreet.table.kinds import EXACT, Perturbed, Small
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True)
class SmallCountRounding:
    """Rounding of the inner counts below the base to 0 or the base, with margins as close as can be found.

    >>> from discreet import Table
    >>> table = Table.from_array([[1, 2, 7], [4, 1, 1]], ["area", "age"])
    >>> made = SmallCountRounding(3).apply(table)
    >>> made.release.table.to_array().tolist()
    [[0, 3, 7], [4, 0, 3]]
    """

    base: int = field(default=3, metadata=BASE)
    name: ClassVar[str] = "small-count-rounding"
    usage: ClassVar[Usage] = Usage(
        "Round inner counts below the base to 0 or the base; all margins are sums of what is published, and near.\n\n"
        "Counts of the base and more do not change.",
        {"discreet protect small-count-rounding t.csv --base 3 -o rounded.csv": "no 1 and no 2 is published"},
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
        base = int(self.base)
        full, kept = laid_out(original)
        if full.names not in full.margins:
            raise RequestError(
                f"the finest cells {' × '.join(full.names)} are not tabulated, but only they are rounded; tabulate "
                "them, or round every figure (controlled-rounding, random-rounding)"
            )
        inner = full.inner(full.names)
        rows = np.flatnonzero(inner & (full.records > 0) & (full.records < base))
        values = full.records.copy()
        if rows.size:
            values[rows] = base * round_for_margins(full, rows, full.records[rows], base, progress=progress)
            values = inner_sums(full, values)
        away = np.abs(values - full.records)[kept[~inner[kept]]]
        largest = int(away.max(initial=0))
        margins = Perturbed(bound=largest) if largest else EXACT
        details = {
            "rounded": int(rows.size),
            "margins": {
                "figures": int(away.size),
                "largest": largest,
                "mean": float(away.mean()) if away.size else 0.0,
            },
        }
        note = (
            f"{rows.size:,} inner counts below {base} were rounded; margins are sums of what is published and off by "
            f"{largest} at most, by {details['margins']['mean']:.2f} on average."  # type: ignore[index]
        )
        return released(
            original,
            full,
            kept,
            values,
            self.name,
            self.parameters,
            (Small(base=base), margins),
            np.where(inner, 0, 1),
            notes=(note,),
            details=details,
        )


@reads_original
def small_count_rounding(original: Original | Sequence[Original], base: int = 3) -> Release:
    """Round the inner counts below the base to 0 or the base; all margins are sums of what is published.

    Args:
        original: a table or a tabulation with its finest cells.
        base: counts below it are rounded, and none of them is published.

    >>> from discreet import Table
    >>> release = small_count_rounding(Table.from_array([[1, 2, 7], [4, 1, 1]], ["area", "age"]), base=3)
    >>> release.table.total, int(release.table.counts.min())
    (17, 3)
    """
    return SmallCountRounding(base).apply(original).release
