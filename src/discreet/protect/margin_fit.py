"""Which inner figures to round up so that all margins stay close to the original."""

from __future__ import annotations

from itertools import product

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.table.axis import Axis
from discreet.table.grid import locate
from discreet.table.tabulation import Tabulation

PATIENCE = 200
"""How many trades in a row may fail before the search looks elsewhere."""


def round_for_margins(
    cells: Tabulation, rows: IntArray, residual: IntArray, base: int, *, progress: Progress | None = None
) -> IntArray:
    """Return 1 for the candidates that are rounded up and 0 for those rounded down.

    The sum over all margins of squared deviations is lowered until no single candidate, and no trade of two that the
    search looks at, lowers it further. It is no proved optimum; the order of the search is fixed.

    Args:
        cells: a tabulation that lists its empty cells.
        rows: the inner cells that are rounded.
        residual: what each is above its lower neighbour.
        base: how far apart the two neighbours are.
        progress: told how many rounds of improvement are done.
    """
    from discreet.protect import margin_search as search

    starts, margins = containing(cells, rows)
    up = np.zeros(rows.size, np.int64)
    search.systematic(residual, base, up)
    off = np.zeros(len(cells), np.int64)
    np.add.at(off, margins, np.repeat(base * up - residual, np.diff(starts)))
    lines = [_lines(cells, rows, axis) for axis in cells.axes]
    for round_number in range(search.ROUNDS):
        if progress is not None:
            progress(round_number, search.ROUNDS, "rounds of improvement")
        moved = search.flips(up, base, starts, margins, off)
        for order, ends in lines:
            moved += search.trades(order, ends, up, base, starts, margins, off)
        moved += search.exchanges(up, base, starts, margins, off, PATIENCE)
        if not moved:
            break
    return up


def containing(cells: Tabulation, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the margins that each inner cell is part of, itself left out, in compressed rows and sorted."""
    above = [_above(axis)[cells.codes(axis.name)[rows]] for axis in cells.axes]
    parts = []
    for steps in product(*(range(nodes.shape[1]) for nodes in above)):
        position = cells.grid.encode([found[:, step] for found, step in zip(above, steps, strict=True)])
        place = locate(cells.cells, position)
        parts.append(np.where((place >= 0) & (place != rows), place, len(cells)))
    found = np.sort(np.stack(parts, axis=1), axis=1)
    inside = found < len(cells)
    starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    return starts, found[inside]


def _above(axis: Axis) -> IntArray:
    """Return for every code the nodes that contain it, in a row filled up with -1; of leaves only."""
    width = max(len(found) for found in axis.over)
    return np.array([[*found, *[-1] * (width - len(found))] for found in axis.over], np.int64)


def _lines(cells: Tabulation, rows: IntArray, along: Axis) -> tuple[IntArray, IntArray]:
    """Return the candidates in an order in which those of a line along one dimension stand together, and the ends."""
    line = cells.grid.moved(cells.cells[rows], cells.names.index(along.name), 0)
    order = np.argsort(line, kind="stable")
    return order, np.append(np.flatnonzero(np.diff(line[order])) + 1, rows.size)
