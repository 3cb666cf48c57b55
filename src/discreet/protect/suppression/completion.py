"""Tables of whole numbers that fit what is known: for cells that no table shows, and for made-up values."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.errors import DataError, LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.reduction import Group, Reduction
from discreet.table.kinds import UNBOUNDED


def complete(reduced: Reduction, values: IntArray) -> IntArray:
    """Fill in the cells inside linked tables, which are tabulated only along some of the dimensions.

    Any completion serves: a pattern is safe if tables that fit differ enough, wherever they start from.
    """
    filled = values.copy()
    for group in reduced.groups:
        filled[group.variables] = _solve(group, None)
    return filled


def nearest_to(reduced: Reduction, wanted: IntArray) -> IntArray:
    """Return a table that fits everything published and is as near as can be to the values that are wanted.

    Values that stand in the same equations share what is left for them: each gets what is wanted while it lasts.
    """
    filled = np.where(reduced.lower == reduced.upper, reduced.lower, wanted)
    size = reduced.leader.size
    several = np.bincount(reduced.leader, minlength=size)
    sums = np.zeros(size, np.int64)
    np.add.at(sums, reduced.leader, filled)
    totals = sums.copy()
    for group in reduced.groups:
        totals[group.variables] = _solve(group, sums[group.variables])
    alone = several[reduced.leader] == 1
    filled = np.where(alone, totals, filled)
    for leader in np.flatnonzero(several > 1).tolist():
        members = np.flatnonzero(reduced.leader == leader)
        left = int(totals[leader]) - int(filled[members].sum())
        for i in members.tolist():
            room = (reduced.upper[i] - filled[i]) if left > 0 else (reduced.lower[i] - filled[i])
            step = min(left, int(room)) if left > 0 else max(left, int(room))
            filled[i] += step
            left -= step
    return filled


def _solve(group: Group, wanted: IntArray | None) -> IntArray:
    """Solve over real numbers first; whole numbers are asked for only where that gives none."""
    import highspy

    n, m = group.variables.size, group.rhs.size
    extra = 0 if wanted is None else 2 * n
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n + extra, m + extra // 2
    lower = np.where(group.lower <= -UNBOUNDED, -highspy.kHighsInf, group.lower.astype(np.float64))
    upper = np.where(group.upper >= UNBOUNDED, highspy.kHighsInf, group.upper.astype(np.float64))
    starts, columns, signs = group.starts, group.columns, group.signs.astype(np.float64)
    rhs = group.rhs.astype(np.float64)
    if wanted is not None:
        # x − above + below = wanted, at a cost of 1 for each unit away.
        tail = np.stack([np.arange(n), n + np.arange(n), 2 * n + np.arange(n)], axis=1).ravel()
        starts = np.concatenate([starts, starts[-1] + 3 * np.arange(1, n + 1)])
        columns, signs = np.concatenate([columns, tail]), np.concatenate([signs, np.tile([1.0, -1.0, 1.0], n)])
        lower = np.concatenate([lower, np.zeros(2 * n)])
        upper = np.concatenate([upper, np.full(2 * n, highspy.kHighsInf)])
        rhs = np.concatenate([rhs, wanted])
    lp.col_cost_ = np.concatenate([np.zeros(n), np.ones(extra)])
    lp.col_lower_, lp.col_upper_, lp.row_lower_, lp.row_upper_ = lower, upper, rhs, rhs
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = starts.astype(np.int32)
    lp.a_matrix_.index_ = columns.astype(np.int32)
    lp.a_matrix_.value_ = signs
    found = np.zeros(0)
    for whole in (False, True):
        if whole:
            lp.integrality_ = [highspy.HighsVarType.kInteger] * (n + extra)
        found = _values(lp, highspy)[:n]
        if np.abs(found - np.rint(found)).max(initial=0.0) < 1e-6:
            break
    return np.rint(found).astype(np.int64)


def _values(lp: Any, highspy: Any) -> FloatArray:
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.passModel(lp)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        raise DataError("no table fits all linked tables together; they are not of the same records")
    if status != highspy.HighsModelStatus.kOptimal:
        raise LimitError("no values were found for the cells that linked tables share; give fewer tables at once")
    return np.asarray(solver.getSolution().col_value)
