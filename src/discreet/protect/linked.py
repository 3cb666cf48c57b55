"""Linked tables protected together: a figure that several of them show is one figure, changed once.

Tables that share dimensions share totals. Rounded one by one, a total may be 57 in one table and 54 in the other; a
reader who knows that base 3 was used then knows that it is 55 or 56. Here the tables are combined into one tabulation,
a method changes every figure of it once, and each table gets its own figures back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import IntArray
from discreet.protect.base import Original
from discreet.protect.layout import FullTable, check_counts
from discreet.table import Table
from discreet.table.axis import Axis
from discreet.table.figures import FigureOptions, Figures
from discreet.table.grid import Grid, locate, recode
from discreet.table.tabulation import Tabulation
from discreet.table.units import Level


@runtime_checkable
class Keyed(Protocol):
    """Cells whose noise comes from the keys of their records."""

    def unperturbed(self) -> Tabulation:
        """Return the true cells."""


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """Linked tables as one tabulation, with the positions in it of the figures that each of them publishes."""

    whole: Tabulation
    layouts: tuple[FullTable, ...]
    places: tuple[IntArray, ...]

    def split(self, shown: Figures) -> tuple[Figures, ...]:
        """Return the published figures of the one tabulation as those of each table."""
        at = self.whole.grid.encode(shown.codes.T)
        order = np.argsort(at)
        made = []
        for layout, place in zip(self.layouts, self.places, strict=True):
            mine = locate(at, place, order)
            upper = None if shown.upper is None else shown.upper[mine]
            about = FigureOptions(name=" × ".join(layout.full.names), absent=shown.absent, upper=upper)
            made.append(layout.figures(shown.values[mine], shown.kind[mine], shown.kinds, **about))
        return tuple(made)


def link(originals: Sequence[Original], *, margins: bool = True) -> LinkedTables:
    """Lay out tables that share dimensions as one tabulation, and check that they agree where they overlap.

    Of a :class:`~discreet.table.Table` the inner counts are published, and all its margins with ``margins``.

    >>> ab = Table.from_array([[3, 1], [2, 2]], ["a", "b"])
    >>> ac = Table.from_array([[1, 3], [4, 0]], ["a", "c"])
    >>> len(link([ab, ac]).whole), len(link([ab, ac], margins=False).whole)
    (15, 8)
    """
    several = list(originals)
    if not several:
        raise RequestError("there is no table to protect; give at least one")
    for one in several:
        check_linkable(one)
    layouts = [FullTable.of(one) for one in several]
    axes: dict[str, Axis] = {}
    for layout in layouts:
        for axis in layout.full.axes:
            _check_axis(axes.setdefault(axis.name, axis), axis, " × ".join(layout.full.names))
    grid = Grid.of({name: axis.codes for name, axis in axes.items()})
    everywhere = []
    for full in (layout.full for layout in layouts):
        codes = {axis.name: recode(axis.codes, axes[axis.name].codes) for axis in full.axes}
        everywhere.append(full.grid.translate(full.cells, grid, codes))
    _check_agreement([layout.full for layout in layouts], everywhere)
    crossed: dict[tuple[str, ...], None] = {}
    for i, layout in enumerate(layouts):
        shown = layout.full.margins
        if isinstance(layout.original, Table) and not margins:
            shown = (layout.full.names,)
            layouts[i] = replace(layout, kept=layout.kept[layout.inner[layout.kept]])
        for margin in shown:
            crossed[tuple(name for name in axes if name in margin)] = None
    places = [at[layout.kept] for at, layout in zip(everywhere, layouts, strict=True)]
    cells, first = np.unique(np.concatenate(places), return_index=True)
    counts = np.concatenate([layout.full.records[layout.kept] for layout in layouts])[first]
    whole = Tabulation(tuple(axes.values()), tuple(crossed), cells, counts, None, (), Level(counts, None, ()))
    return LinkedTables(whole, tuple(layouts), tuple(places))


def check_linkable(original: object) -> None:
    """Refuse what cannot be combined with other tables: anything but counts, and weighted counts."""
    if isinstance(original, Keyed):
        raise RequestError(
            "tables whose noise comes from the keys of their records agree in what they share; protect them one by one"
        )
    if not isinstance(original, Table | Tabulation):
        raise RequestError(f"a {type(original).__name__} is not a table; give tables or tabulations")
    check_counts(original)
    if isinstance(original, Tabulation) and original.weighted is not None:
        raise RequestError(
            f"the table {' × '.join(original.names)} is of weighted records; linked tables of unweighted counts are "
            "protected together"
        )


def _check_axis(first: Axis, axis: Axis, table: str) -> None:
    """Refuse tables whose shared dimension has other categories or another hierarchy."""
    if first.total != axis.total:
        raise RequestError(
            f"the total of dimension {axis.name!r} is {axis.total!r} in {table}, but {first.total!r} in another table; "
            "call it the same, or protect them by suppression (discreet.suppress, --part), which takes parts"
        )
    odd = sorted(set(first.codes) ^ set(axis.codes))
    if odd:
        where = "not in" if odd[0] in first.codes else "only in"
        raise RequestError(
            f"category {odd[0]!r} of dimension {axis.name!r} is {where} {table}; give linked tables the same "
            "categories and hierarchies, or tabulate them together (dc.tabulate, discreet tabulate)"
        )

    def groups(one: Axis) -> dict[str, frozenset[str]]:
        return {code: frozenset(one.codes[i] for i in under) for code, under in zip(one.codes, one.under, strict=True)}

    if groups(first) != groups(axis) or first.part != axis.part:
        raise RequestError(
            f"dimension {axis.name!r} has another hierarchy in {table}; give linked tables the same one, or tabulate "
            "them together (dc.tabulate, discreet tabulate)"
        )


def _check_agreement(tables: Sequence[Tabulation], positions: Sequence[IntArray]) -> None:
    """Refuse tables with different counts in the same cell, published or not."""
    at = np.concatenate(positions)
    counts = np.concatenate([table.records for table in tables])
    owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    order = np.argsort(at, kind="stable")
    apart = np.flatnonzero((np.diff(at[order]) == 0) & (np.diff(counts[order]) != 0))
    if apart.size:
        i, j = (int(k) for k in order[apart[0] : apart[0] + 2])
        row = int(np.flatnonzero(positions[owner[i]] == at[i])[0])
        one, other = (" × ".join(tables[int(owner[k])].names) for k in (i, j))
        raise DataError(
            f"cell {tables[int(owner[i])].describe(row)} is {counts[i]:,} in {one}, but {counts[j]:,} in {other}; give "
            "linked tables of the same records"
        )
