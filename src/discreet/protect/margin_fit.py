"""Which inner figures to round up to keep all margins close to the original."""

from __future__ import annotations

from itertools import product

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.progress import Progress, tell
from discreet.table.axis import Axis
from discreet.table.grid import locate
from discreet.table.tabulation import Tabulation

PATIENCE = 200
"""How many trades in a row may fail before the search moves on: a round choice, since further trades rarely succeed."""


def round_for_margins(
    cells: Tabulation, rows: IntArray, residual: IntArray, base: int, *, progress: Progress | None = None
) -> IntArray:
    """Return 1 for the candidates that are rounded up and 0 for those rounded down.

    The sum over all margins of squared deviations is lowered until no single candidate, and no trade of two that the
    search looks at, lowers it further. It is not a proved optimum; the order of the search is fixed.

    ``cells`` lists its empty cells; ``residual`` is what each of the inner cells at ``rows`` is above its lower
    neighbour, a base below the upper one.
    """
    from discreet.protect import margin_search as search

    starts, margins = containing(cells, rows)
    # Begin with every base-th unit of the running sum, by which any run of candidates is off by less than the base.
    running = base // 2 + np.cumsum(residual)
    up = running // base - (running - residual) // base
    off = np.zeros(len(cells), np.int64)
    np.add.at(off, margins, np.repeat(base * up - residual, np.diff(starts)))
    fit = search.Fit(up, base, starts, margins, off)
    lines = [lines_of(cells, rows, axis) for axis in cells.axes]
    for round_number in range(search.ROUNDS):
        tell(progress, round_number, search.ROUNDS, "rounds of improvement")
        moved = search.flips(fit)
        for order, ends in lines:
            moved += search.trades(order, ends, fit)
        moved += search.exchanges(fit, PATIENCE)
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


def lines_of(cells: Tabulation, rows: IntArray, along: Axis) -> tuple[IntArray, IntArray]:
    """Return the candidates line by line along one dimension, and where each line ends."""
    line = cells.grid.moved(cells.cells[rows], cells.names.index(along.name), 0)
    order = np.argsort(line, kind="stable")
    return order, np.append(np.flatnonzero(np.diff(line[order])) + 1, rows.size)
