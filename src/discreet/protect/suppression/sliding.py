"""Sliding protection levels: how far apart the least and the largest value of a cell can be.

Which side gives how much is open, so that no circuit settles it: both ends are worked out by linear programs, and their
duals together give the cut Σ (a⁺ + a⁻)·y ≥ s of Fischetti and Salazar.
"""

from __future__ import annotations

import numpy as np

from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.sparse import Rows, parts, row_of
from discreet.protect.suppression.problem import Problem


def sliding_cut(
    problem: Problem, cell: int, wide: int, chosen: BoolArray, fixed: BoolArray
) -> tuple[IntArray, FloatArray] | None:
    """Return a cut that a pattern violates because a cell cannot slide far enough; None where it can."""
    total = 0.0
    room = np.zeros(problem.size)
    for way in (1.0, -1.0):
        value, part = _end(problem, cell, way, chosen, wide)
        total += value
        room += part
    if total >= wide - 1e-6:
        return None
    missing = wide - float(room[fixed].sum())
    cells = np.flatnonzero(~fixed & (room > 1e-9))
    return cells, np.minimum(room[cells] / missing, 1.0)


def _end(problem: Problem, cell: int, way: float, chosen: BoolArray, wide: int) -> tuple[float, FloatArray]:
    """Return how far a cell can go one way, and what each cell would add to that bound if it were suppressed."""
    region = _linked(problem, cell, chosen)
    matrix = problem.system.matrix(problem.size)
    inside = matrix[:, region].tocsr()
    rows = np.flatnonzero(np.diff(inside.indptr))
    inside = inside[rows]
    cost = np.zeros(region.size)
    at = int(np.searchsorted(region, cell))
    cost[at] = -way
    down, up = problem.down[region].copy(), problem.up[region].copy()
    # More than the level asks for is never needed of the cell itself.
    down[at], up[at] = min(down[at], wide), min(up[at], wide)
    program = Program(
        Rows(inside.indptr, inside.indices, inside.data),
        costs=cost,
        lower=np.where(down >= 2**52, -np.inf, -down),
        upper=np.where(up >= 2**52, np.inf, up),
        sums=(np.zeros(rows.size), np.zeros(rows.size)),
    )
    program.run()
    weight = np.zeros(problem.size)
    weight[cell] = way
    if rows.size:
        weight += matrix[rows].T @ program.multipliers
    weight[np.abs(weight) < 1e-9] = 0.0
    room = np.where(weight > 0, weight * problem.up, -weight * problem.down)
    room[cell] = np.abs(weight[cell]) * (up[at] if weight[cell] > 0 else down[at])
    return -program.objective, np.minimum(room, float(wide))


def _linked(problem: Problem, cell: int, chosen: BoolArray) -> IntArray:
    """Return the chosen classes that equations link with a class."""
    keep = chosen[problem.columns]
    row, column = row_of(problem.starts)[keep], problem.columns[keep]
    label = parts(row, column, problem.starts.size - 1, problem.size)[2]
    found: IntArray = np.flatnonzero((label == label[cell]) & chosen)
    return found
