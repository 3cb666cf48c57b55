"""What all roundings share: what can be rounded, and the release of rounded figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import IntArray
from discreet.protect.base import Changes, Original, Protected, check_anybody
from discreet.protect.usage import option
from discreet.table import Dimension, Release, Table
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT, SUPPRESSED, Added, Kind
from discreet.table.tabulation import Tabulation

BASE = option("What the published figures are multiples of.")
WITH_MARGINS = option("Publish the margins of a table too, each rounded on its own.", "--with-margins")

WITHOUT_MARGINS = (
    "Margins are not published with the cells; each is published with a change of its own if asked for (margins=, "
    "--with-margins)."
)


def check_base(base: Any) -> None:
    """Refuse a base that is not a whole number of 2 or more."""
    if isinstance(base, bool) or not isinstance(base, int | np.integer) or base < 2:
        raise RequestError(f"base is {base!r}; round to a whole number of 2 or more")


def check_counts(original: Original) -> None:
    """Refuse what cannot be rounded: magnitudes, and tables that count nobody."""
    if isinstance(original, Tabulation) and original.responses:
        names = ", ".join(response.name for response in original.responses)
        raise DataError(
            f"the tabulation holds sums of {names}; round counts, or protect magnitudes by tabular-adjustment or "
            "suppression"
        )
    check_anybody(original)


def laid_out(original: Original) -> tuple[Tabulation, IntArray]:
    """Return the original with all its margins and empty cells, and which of these can occur.

    A count of 0 is published like any other: if empty cells were left out, a published 0 would give away that it is
    none. Only structural zeros are known to be empty.
    """
    if isinstance(original, Tabulation):
        full = original.with_empty_cells()
        return full, np.arange(len(full))
    full = Tabulation.from_table(original).with_empty_cells()
    if not original.impossible.size:
        return full, np.arange(len(full))
    possible = Tabulation.from_table(
        original.with_counts(
            np.setdiff1d(np.arange(original.size), original.impossible), np.ones(original.possible, np.int64)
        )
    )
    return full, np.flatnonzero(np.isin(full.cells, possible.cells))


def rounded_table(
    table: Table,
    counts: IntArray,
    method: str,
    parameters: Mapping[str, object],
    kind: Kind,
    notes: tuple[str, ...] = (),
) -> Protected:
    """Return the release of the inner counts of a table, which take the place of its non-empty cells' counts."""
    shown = counts != 0
    inner = Table(table.dimensions, table.cells[shown], counts[shown], table.impossible)
    release = Release(inner, method, parameters, kind=kind)
    total = (table.total, int(counts.sum()))
    told = (*notes, WITHOUT_MARGINS) if len(table.dimensions) > 1 else notes
    return Protected(release, Changes.between(table.counts, counts, total=total), told)


def rounded_tabulation(
    original: Original,
    rounding: Callable[[IntArray], IntArray],
    method: str,
    parameters: Mapping[str, object],
    kind: Kind,
    **more: Any,
) -> Protected:
    """Return the release of all figures of an original, each rounded by itself, with its inner counts."""
    full, kept = laid_out(original)
    values = np.zeros(len(full), np.int64)
    values[kept] = rounding(full.records[kept])
    return released(original, full, kept, values, method, parameters, (kind,), **more)


def inner_and_sums(
    original: Original,
    published: Callable[[IntArray], IntArray],
    method: str,
    parameters: Mapping[str, object],
    kind: Kind,
    **more: Any,
) -> Protected:
    """Return the release of changed inner counts, with margins that are added up from them.

    ``published`` is given the rows of the inner cells among all cells of the original.
    """
    full, kept = laid_out(original)
    if full.names not in full.margins:
        raise RequestError(
            f"the finest cells {' × '.join(full.names)} are not tabulated, but margins are to be their sums; tabulate "
            "them"
        )
    inner = full.inner(full.names)
    rows = kept[inner[kept]]
    values = full.records.copy()
    values[rows] = published(rows)
    values = inner_sums(full, values)
    kinds = (kind, Added())
    return released(original, full, kept, values, method, parameters, kinds, np.where(inner, 0, 1), **more)


def released(
    original: Original,
    full: Tabulation,
    kept: IntArray,
    values: IntArray,
    method: str,
    parameters: Mapping[str, object],
    kinds: tuple[Kind, ...] = (EXACT,),
    which: IntArray | None = None,
    **more: Any,
) -> Protected:
    """Return the release of figures of all cells and margins, with the inner counts where all are published.

    Args:
        original: what was protected.
        full: the original with its empty cells.
        kept: the cells of it that can occur; the others are not listed.
        values: the published values of all its cells.
        method: the method's name.
        parameters: the method's parameters.
        kinds: what a reader knows of the figures.
        which: for every cell the number of its kind; the first by default.
        more: notes and details.
    """
    figures = Figures(
        {axis.name: axis.codes for axis in full.axes},
        np.stack([full.codes(axis.name)[kept] for axis in full.axes], axis=1),
        values[kept],
        np.zeros(kept.size, np.int64) if which is None else which[kept],
        (*kinds, SUPPRESSED),
        name=method,
        total=full.axes[0].codes[0],
        hierarchies={axis.name: axis.hierarchies for axis in full.axes},
    )
    inner = inner_of(original, full, values)
    changes = Changes.between(full.records[kept], values[kept], total=grand_totals(full, full.records, values))
    return Protected(Release(inner, method, parameters, (figures,)), changes, **more)


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
        # A table's categories stand in the same order as the leaves of its own, flat axes.
        dimensions, impossible = original.dimensions, original.impossible
    return Table(dimensions, position[order], values[rows][order], impossible)


def inner_sums(full: Tabulation, values: IntArray) -> IntArray:
    """Return values of all cells as sums of the inner ones among them; the finest cells must be tabulated."""
    from discreet.protect.margin_fit import containing

    inner = full.inner(full.names)
    # The original adds up, so that only what moved has to be added again.
    rows = np.flatnonzero(inner & (values != full.records))
    starts, margins = containing(full, rows)
    sums = full.records.copy()
    sums[rows] = values[rows]
    np.add.at(sums, margins, np.repeat(values[rows] - full.records[rows], np.diff(starts)))
    return sums


def grand_totals(cells: Tabulation, before: IntArray, after: IntArray) -> tuple[int, int]:
    """Return the grand total before and after; 0 where linked margins are published without it."""
    return (int(before[0]), int(after[0])) if cells.cells[0] == 0 else (0, 0)
