"""Sliding protection levels: how far apart the least and the largest value of a cell can be.

Which side gives how much is open, so that no circuit settles it: both ends are worked out by linear programs, and their
duals together give the cut Σ (a⁺ + a⁻)·y ≥ s of Fischetti and Salazar.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.suppression.problem import BoolArray, Problem


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
    import highspy
    from scipy.sparse import csr_array

    region = _linked(problem, cell, chosen)
    matrix = csr_array((problem.signs, problem.columns, problem.starts), shape=(problem.starts.size - 1, problem.size))
    inside = matrix[:, region].tocsr()
    rows = np.flatnonzero(np.diff(inside.indptr))
    inside = inside[rows]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = region.size, rows.size
    cost = np.zeros(region.size)
    at = int(np.searchsorted(region, cell))
    cost[at] = -way
    lp.col_cost_ = cost
    down, up = problem.down[region].copy(), problem.up[region].copy()
    # More than the level asks for is never needed of the cell itself.
    down[at], up[at] = min(down[at], wide), min(up[at], wide)
    lp.col_lower_ = np.where(down >= 2**52, -highspy.kHighsInf, -down)
    lp.col_upper_ = np.where(up >= 2**52, highspy.kHighsInf, up)
    lp.row_lower_ = lp.row_upper_ = np.zeros(rows.size)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = inside.indptr.astype(np.int32)
    lp.a_matrix_.index_ = inside.indices.astype(np.int32)
    lp.a_matrix_.value_ = inside.data
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.passModel(lp)
    solver.run()
    solution = solver.getSolution()
    value = -float(solver.getInfo().objective_function_value)
    weight = np.zeros(problem.size)
    weight[cell] = way
    if rows.size:
        weight += matrix[rows].T @ np.asarray(solution.row_dual)
    weight[np.abs(weight) < 1e-9] = 0.0
    room = np.where(weight > 0, weight * problem.up, -weight * problem.down)
    room[cell] = np.abs(weight[cell]) * (up[at] if weight[cell] > 0 else down[at])
    return value, np.minimum(room, float(wide))


def _linked(problem: Problem, cell: int, chosen: BoolArray) -> IntArray:
    """Return the chosen classes that equations link with a class."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row = np.repeat(np.arange(problem.starts.size - 1), np.diff(problem.starts))
    keep = chosen[problem.columns]
    n = problem.size
    size = n + problem.starts.size - 1
    links = coo_array((np.ones(int(keep.sum()), np.int8), (problem.columns[keep], n + row[keep])), shape=(size, size))
    label = connected_components(links.tocsr(), directed=False)[1][:n]
    found: IntArray = np.flatnonzero((label == label[cell]) & chosen)
    return found
