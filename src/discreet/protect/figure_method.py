"""Methods that change counts figure by figure: what all roundings and cell keys share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Changes, MethodBase, Original, Protected
from discreet.protect.checks import check_integer
from discreet.protect.layout import FullTable, check_counts
from discreet.protect.linked import link
from discreet.protect.usage import option
from discreet.table import Release, Table
from discreet.table.kinds import Kind

BASE = option("What the published figures are multiples of.")
WITH_MARGINS = option("Publish the margins of a table too, each changed on its own.", "--with-margins")

WITHOUT_MARGINS = (
    "Margins are not published with the cells; to publish them too, each changed on its own, ask for them (margins=, "
    "--with-margins)."
)

ONCE = "Figures that several tables show were changed once, and are the same in all of them."


class FigureMethod(MethodBase):
    """A protection of counts, with their margins, that changes a figure of several linked tables once."""

    margins = True

    def check_original(self, original: Original) -> None:
        """Refuse magnitudes, and tables that count nobody."""
        check_counts(original)

    def check(self, table: Table) -> None:
        """Refuse a table that this method cannot change."""
        self.check_original(table)

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be published as other than 0: empty cells stay empty."""
        return table.cells

    def linked(self, originals: Sequence[Original], seed: Seed, progress: Progress | None) -> Protected:
        """Change the figures of linked tables together: all of them, or inner counts where it publishes no margins."""
        linked = link(originals, margins=self.margins)
        made = self.apply(linked.whole, seed, progress=progress)
        release = Release(None, self.name, made.release.parameters, linked.split(made.release.parts()[0]))
        return replace(made, release=release, notes=(*made.notes, ONCE))

    def inner_changed(self, table: Table, counts: IntArray, kind: Kind, notes: tuple[str, ...] = ()) -> Protected:
        """Return the release of new counts of a table's filled cells, without margins."""
        shown = counts != 0
        inner = Table(table.dimensions, table.cells[shown], counts[shown], table.impossible)
        release = Release(inner, self.name, self.parameters, kind=kind)
        total = (table.total, int(counts.sum()))
        told = (*notes, WITHOUT_MARGINS) if len(table.dimensions) > 1 else notes
        changes = Changes.between(table.counts, counts, whole=table.possible, total=total, inner=True)
        return Protected(release, changes, told)

    def each_changed(
        self, original: Original, change: Callable[[IntArray], IntArray], kind: Kind, *, margins: bool = True
    ) -> Protected:
        """Return the release of figures that are each changed on their own; of a table without ``margins`` if so."""
        if isinstance(original, Table) and not margins:
            return self.inner_changed(original, change(original.counts), kind)
        layout = FullTable.of(original)
        values, counts = np.zeros(len(layout.full), np.int64), layout.full.records
        # Filled inner cells come first: they draw the same with margins and without.
        order = layout.kept[np.argsort(~(layout.inner & (counts > 0))[layout.kept], kind="stable")]
        values[order] = change(counts[order])
        return layout.released(self, values, (kind,))


@dataclass(frozen=True)
class Rounding(FigureMethod):
    """A protection that publishes multiples of a base."""

    base: int = field(default=3, metadata=BASE)

    def __post_init__(self) -> None:
        check_integer(self.base, "base", 2, "round to")
