"""Originals with all their margins and empty cells, and the release of new figures in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.protect.base import Changes, Method, Original, Protected, ReleaseNotes, check_anybody
from discreet.protect.margin_fit import containing
from discreet.table import Dimension, Release, Table
from discreet.table.figures import FigureOptions, Figures
from discreet.table.kinds import EXACT, SUPPRESSED, Added, Kind
from discreet.table.tabulation import Tabulation


def check_counts(original: Original) -> None:
    """Refuse magnitudes, and tables that count nobody."""
    if isinstance(original, Tabulation) and original.responses:
        names = ", ".join(response.name for response in original.responses)
        raise DataError(
            f"the tabulation holds sums of {names}; round counts, or protect magnitudes by tabular-adjustment or "
            "suppression"
        )
    check_anybody(original)


@dataclass(frozen=True, eq=False)
class FullTable:
    """An original, its cells with all margins, including empty ones, and the rows of those that can occur.

    A count of 0 is published like any other: if empty cells were left out, a published 0 would show that the cell is
    not empty. Only structural zeros are known to be empty.
    """

    original: Original
    full: Tabulation
    kept: IntArray

    @classmethod
    def of(cls, original: Original) -> FullTable:
        """Lay an original out."""
        full = (Tabulation.from_table(original) if isinstance(original, Table) else original).with_empty_cells()
        if not isinstance(original, Table) or not original.impossible.size:
            return cls(original, full, np.arange(len(full)))
        possible = Tabulation.from_table(
            original.with_counts(
                np.setdiff1d(np.arange(original.size), original.impossible), np.ones(original.possible, np.int64)
            )
        )
        return cls(original, full, np.flatnonzero(np.isin(full.cells, possible.cells)))

    @property
    def inner(self) -> BoolArray:
        """Which of all cells are the finest."""
        return self.full.inner(self.full.names)

    def check_finest(self, otherwise: str) -> None:
        """Refuse an original of margins alone."""
        if self.full.names not in self.full.margins:
            raise RequestError(f"the finest cells {' × '.join(self.full.names)} are not tabulated, {otherwise}")

    def figures(
        self, values: IntArray, kind: IntArray, kinds: tuple[Kind, ...], **about: Unpack[FigureOptions]
    ) -> Figures:
        """Return figures at the rows that can occur, given by a value and the number of a kind for each of them."""
        axes = self.full.axes
        return Figures(
            {axis.name: axis.codes for axis in axes},
            np.stack(self.full.grid.decode(self.full.cells[self.kept]), axis=1),
            values,
            kind,
            kinds,
            total=axes[0].codes[0],
            hierarchies={axis.name: axis.hierarchies for axis in axes},
            **about,
        )

    def released(
        self,
        method: Method,
        values: IntArray,
        kinds: tuple[Kind, ...] = (EXACT,),
        which: IntArray | None = None,
        **more: Unpack[ReleaseNotes],
    ) -> Protected:
        """Return the release of new values of all cells, with the inner counts where these are tabulated.

        ``which`` has the number of every cell's kind, the first by default; ``more`` are notes and details.
        """
        full, kept = self.full, self.kept
        kind = np.zeros(kept.size, np.int64) if which is None else which[kept]
        figures = self.figures(values[kept], kind, (*kinds, SUPPRESSED), name=method.name)
        release = Release(inner_of(self.original, full, values), method.name, method.parameters, (figures,))
        total = grand_totals(full, full.records, values)
        changes = Changes.between(full.records[kept], values[kept], whole=full.whole, total=total)
        return Protected(release, changes, **more)

    def added_up(
        self, method: Method, changed: Callable[[IntArray], IntArray], kind: Kind, **more: Unpack[ReleaseNotes]
    ) -> Protected:
        """Return the release of changed inner counts, given by their rows, with margins that are their sums."""
        self.check_finest("but margins are to be their sums; tabulate them, in a plan by a table that crosses them all")
        inner = self.inner
        rows = self.kept[inner[self.kept]]
        values = self.full.records.copy()
        values[rows] = changed(rows)
        return self.released(method, inner_sums(self.full, values), (kind, Added()), np.where(inner, 0, 1), **more)


def inner_of(original: Original, full: Tabulation, values: IntArray) -> Table | None:
    """Return the published inner counts as a table, None where the finest cells are not tabulated."""
    if full.names not in full.margins:
        return None
    rows = np.flatnonzero(full.inner(full.names))
    rows = rows[values[rows] != 0]
    position = full.among_leaves(rows)
    order = np.argsort(position)
    dimensions, impossible = tuple(Dimension(axis.name, axis.leaves) for axis in full.axes), np.zeros(0, np.int64)
    if isinstance(original, Table):
        # A table's categories are in the order of the leaves of its own, flat axes.
        dimensions, impossible = original.dimensions, original.impossible
    return Table(dimensions, position[order], values[rows][order], impossible)


def inner_sums(full: Tabulation, values: IntArray) -> IntArray:
    """Return values of all cells as sums of the inner ones among them; the finest cells must be tabulated."""
    # The original adds up, so only what moved has to be added again.
    rows = np.flatnonzero(full.inner(full.names) & (values != full.records))
    starts, margins = containing(full, rows)
    sums = full.records.copy()
    sums[rows] = values[rows]
    np.add.at(sums, margins, np.repeat(values[rows] - full.records[rows], np.diff(starts)))
    return sums


def grand_totals(cells: Tabulation, before: IntArray, after: IntArray) -> tuple[int, int]:
    """Return the grand total before and after; 0 where linked margins are published without it."""
    return (int(before[0]), int(after[0])) if cells.cells[0] == 0 else (0, 0)
