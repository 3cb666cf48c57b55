"""The programs behind controlled tabular adjustment: directions, then amounts, then whole units."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import InfeasibleError, LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.protect.additive import Sums

CLOSE, TINY = 1e-5, 1e-7
STEPS, PATIENCE = 500, 3
"""How often the changes that are held at their bounds are chosen anew, and how often without progress."""


@dataclass(frozen=True, eq=False)
class ProtectionLevels:
    """The sensitive figures, and how far below or above its value each must be published, in units."""

    cells: IntArray
    below: IntArray
    above: IntArray


def adjust(
    sums: Sums,
    values: IntArray,
    levels: ProtectionLevels,
    weights: FloatArray,
    reach: FloatArray,
    squared: bool,
    seconds: float,
    progress: Progress | None = None,
) -> tuple[IntArray, float]:
    """Return adjusted figures in whole units, and how far the sum of changes may be from the least, as a share of it.

    Args:
        sums: the equations between the figures.
        values: the figures, which solve them.
        levels: the sensitive figures.
        weights: what a unit of change costs.
        reach: how far figures that are not sensitive may move.
        squared: least squares instead of least absolute changes; directions are those of the latter.
        seconds: for the search of directions.
        progress: told which step is under way.
    """
    if not levels.cells.size:
        return values, 0.0
    deadline = time.monotonic() + seconds
    low, high = _ranges(values, levels, reach)
    _tell(progress, 0, "directions")
    up, gap = _directions(sums, values, levels, weights, low, high, seconds)
    low[levels.cells[up]] = levels.above[up]
    high[levels.cells[~up]] = -levels.below[~up]
    _tell(progress, 1, "amounts")
    moves = _amounts(sums, weights, low, high)
    if moves is None:
        raise LimitError(f"no adjustment was found in {seconds:g} seconds; raise the time limit")
    if squared:
        moves = _squares(sums, weights, low, high)
    _tell(progress, 2, "whole units")
    whole = _whole(sums, moves, weights, low, high, max(deadline - time.monotonic(), 5.0))
    adjusted = values + whole
    assert not sums.gaps(adjusted).any()
    assert ((whole >= low) & (whole <= high)).all()
    return adjusted, gap


def _ranges(values: IntArray, levels: ProtectionLevels, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest change of every figure; nothing becomes negative, and empty cells stay empty."""
    low = np.where(values >= 0, -values.astype(np.float64), -np.inf)
    high = np.full(values.size, np.inf)
    others = np.ones(values.size, bool)
    others[levels.cells] = False
    floor = np.floor(reach)
    low[others], high[others] = np.maximum(low, -floor)[others], floor[others]
    empty = others & (values == 0)
    low[empty] = high[empty] = 0.0
    return low, high


def _model(columns: int) -> tuple[Any, Any, Any]:
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.setOptionValue("threads", 1)
    lp = highspy.HighsLp()
    lp.num_col_ = columns
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    return highspy, solver, lp


def _directions(
    sums: Sums,
    values: IntArray,
    levels: ProtectionLevels,
    weights: FloatArray,
    low: FloatArray,
    high: FloatArray,
    seconds: float,
) -> tuple[Any, float]:
    """Return which sensitive figures go up, by an integer program over rises and falls of all figures."""
    n, s = values.size, levels.cells.size
    highspy, solver, lp = _model(2 * n + s)
    inf = highspy.kHighsInf
    # No figure gains from moving further than all levels together.
    most = float(levels.below.sum() + levels.above.sum())
    rise, fall = np.minimum(high, most), np.minimum(-low, most)
    downward = fall[levels.cells] >= levels.below
    upward = rise[levels.cells] >= levels.above
    stuck = np.flatnonzero(~downward & ~upward)
    if stuck.size:
        raise InfeasibleError(
            f"{stuck.size:,} sensitive figures can neither fall nor rise far enough; widen the radius"
        )
    lp.col_cost_ = np.concatenate([weights, weights, np.zeros(s)])
    lp.col_lower_ = np.concatenate([np.zeros(2 * n), np.where(downward, 0.0, 1.0)])
    lp.col_upper_ = np.concatenate([rise, fall, np.where(upward, 1.0, 0.0)])
    m = sums.starts.size - 1
    at, z = levels.cells, 2 * n + np.arange(s)
    # rise ≥ above·z and ≤ rise_max·z; fall ≥ below·(1 − z) and ≤ fall_max·(1 − z).
    pairs = [
        (at, levels.above, 0.0, inf),
        (at, rise[at], -inf, 0.0),
        (at + n, -levels.below, levels.below, inf),
        (at + n, -fall[at], -inf, fall[at]),
    ]
    index = [np.stack([sums.columns, sums.columns + n], axis=1).ravel()]
    value = [np.stack([sums.signs, -sums.signs], axis=1).ravel().astype(np.float64)]
    lengths = [2 * np.diff(sums.starts)]
    row_low, row_high = [np.zeros(m)], [np.zeros(m)]
    for columns, factor, least, largest in pairs:
        index.append(np.stack([columns, z], axis=1).ravel())
        value.append(np.stack([np.ones(s), -np.asarray(factor, np.float64)], axis=1).ravel())
        lengths.append(np.full(s, 2))
        row_low.append(np.broadcast_to(np.asarray(least, np.float64), s))
        row_high.append(np.broadcast_to(np.asarray(largest, np.float64), s))
    lp.num_row_ = m + 4 * s
    lp.row_lower_, lp.row_upper_ = np.concatenate(row_low), np.concatenate(row_high)
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate(index).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate(value)
    kinds = highspy.HighsVarType
    lp.integrality_ = [kinds.kContinuous] * (2 * n) + [kinds.kInteger] * s
    solver.setOptionValue("time_limit", seconds)
    solver.passModel(lp)
    solver.run()
    status, info = solver.getModelStatus(), solver.getInfo()
    if status == highspy.HighsModelStatus.kInfeasible:
        raise InfeasibleError(
            "no adjustment keeps all sums with every sensitive figure at a safe value; widen or drop the radius"
        )
    if info.primal_solution_status != 2:
        # Everything upwards is always possible where nothing limits the others.
        return upward, 1.0
    chosen = np.asarray(solver.getSolution().col_value)[2 * n :] > 0.5
    return chosen, max(float(info.mip_gap), 0.0) if np.isfinite(info.mip_gap) else 1.0


def _amounts(sums: Sums, weights: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray | None:
    """Return the changes with the least weighted sum of absolute values once directions are fixed."""
    n, m = low.size, sums.starts.size - 1
    highspy, solver, lp = _model(2 * n)
    lp.num_row_ = m
    lp.row_lower_ = lp.row_upper_ = np.zeros(m)
    lp.col_cost_ = np.concatenate([weights, weights])
    lp.col_lower_ = np.concatenate([np.maximum(low, 0.0), np.maximum(-high, 0.0)])
    lp.col_upper_ = np.concatenate([np.maximum(high, 0.0), np.maximum(-low, 0.0)])
    lp.a_matrix_.start_ = 2 * sums.starts.astype(np.int32)
    lp.a_matrix_.index_ = np.stack([sums.columns, sums.columns + n], axis=1).ravel().astype(np.int32)
    lp.a_matrix_.value_ = np.stack([sums.signs, -sums.signs], axis=1).ravel().astype(np.float64)
    solver.passModel(lp)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        raise InfeasibleError("no adjustment keeps all sums within the radius; widen it, or leave it out")
    if status != highspy.HighsModelStatus.kOptimal:
        return None
    point = np.asarray(solver.getSolution().col_value)
    moves: FloatArray = point[:n] - point[n:]
    return moves


def _squares(sums: Sums, weights: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the changes with the least weighted sum of squares once directions are fixed.

    With some changes held at their bounds, the others follow from linear equations: d = Aᵀy/w with A·d = 0. All that
    leave their range are held, and all that would rather move off their bound are let go, until neither happens; where
    such a step does not help, only one at a time (block principal pivoting, Júdice and Pires 1994), which ends.
    """
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.linalg import splu

    n, m = low.size, sums.starts.size - 1
    A = csr_array((sums.signs.astype(np.float64), sums.columns, sums.starts), shape=(m, n))
    still = low == high
    held = still.astype(np.int64) + np.where(~still & (low > 0), 1, 0) + np.where(~still & (high < 0), 2, 0)
    fewest, tries = n + 1, PATIENCE
    for _ in range(STEPS):
        bound = np.where(held == 2, high, low)
        d = np.where(held > 0, bound, 0.0)
        free = (held == 0) / weights
        matrix = (A * free[None, :]) @ A.T + 1e-10 * eye_array(m)
        y = splu(matrix.tocsc()).solve(-(A @ d))
        slope = A.T @ y
        d = np.where(held > 0, d, slope * free)
        gradient = weights * d - slope
        out = np.where(held == 0, np.where(d < low - TINY, 1, np.where(d > high + TINY, 2, 0)), 0)
        loose = ~still & (((held == 1) & (gradient < -TINY)) | ((held == 2) & (gradient > TINY)))
        wrong = np.flatnonzero((out > 0) | loose)
        if not wrong.size:
            return np.clip(d, low, high)
        if wrong.size < fewest:
            fewest, tries = wrong.size, PATIENCE
        elif tries:
            tries -= 1
        else:
            wrong = wrong[-1:]
        held[wrong] = np.where(out[wrong] > 0, out[wrong], 0)
    raise LimitError("the least squares did not settle; take absolute changes (norm='absolute')")


def _whole(
    sums: Sums, moves: FloatArray, weights: FloatArray, low: FloatArray, high: FloatArray, seconds: float
) -> IntArray:
    """Round changes to neighbouring whole units so that all sums hold; bounds are whole and therefore still hold."""
    near = np.rint(moves)
    floor = np.where(np.abs(moves - near) < CLOSE, near, np.floor(moves)).astype(np.int64)
    open_ = np.flatnonzero(np.abs(moves - near) >= CLOSE)
    if not open_.size and not sums.gaps(floor).any():
        return floor
    highspy, solver, lp = _model(0)
    place = np.full(moves.size, -1)
    place[open_] = np.arange(open_.size)
    kept = place[sums.columns] >= 0
    share = moves[open_] - floor[open_]
    lp.num_col_, lp.num_row_ = open_.size, sums.starts.size - 1
    lp.col_cost_ = weights[open_] * (1 - 2 * share)
    lp.col_lower_, lp.col_upper_ = np.zeros(open_.size), np.ones(open_.size)
    lp.row_lower_ = lp.row_upper_ = -sums.gaps(floor).astype(np.float64)
    lp.a_matrix_.start_ = np.concatenate(
        [[0], np.cumsum(np.bincount(sums.row[kept], minlength=sums.starts.size - 1))]
    ).astype(np.int32)
    lp.a_matrix_.index_ = place[sums.columns[kept]].astype(np.int32)
    lp.a_matrix_.value_ = sums.signs[kept].astype(np.float64)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * open_.size
    solver.setOptionValue("time_limit", seconds)
    solver.passModel(lp)
    solver.run()
    if solver.getInfo().primal_solution_status != 2:
        raise LimitError(
            "the adjusted figures could not be rounded to whole units with all sums intact; take absolute changes "
            "(norm='absolute'), or publish fewer margins"
        )
    floor[open_] += np.rint(np.asarray(solver.getSolution().col_value)).astype(np.int64)
    return floor


def _tell(progress: Progress | None, done: int, label: str) -> None:
    if progress is not None:
        progress(done, 3, label)
