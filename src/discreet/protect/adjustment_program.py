"""The programs behind controlled tabular adjustment: directions, then amounts, then whole units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError, LimitError, RequestError
from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.progress import Progress, tell
from discreet.core.sparse import Rows, starts_of
from discreet.protect.additive import SumEquations

CLOSE, TINY = 1e-5, 1e-7
"""How close a change must be to a whole unit or to its bound to count as equal: above the tolerance of HiGHS, 1e-7, and
the rounding of sparse solves."""
DENSE = 3_000
"""Up to this many sums, least squares are solved with dense equations: about 70 MB and half a second per step."""
STEPS, PATIENCE = 500, 3
"""The most steps that choose the changes held at their bounds, and the most without progress: Júdice and Pires propose
3 to 10 of the latter, and tables settle within a few dozen of the former."""


class ProtectionLevels(NamedTuple):
    """The sensitive figures, and how far below or above its value each must be published, in units."""

    cells: IntArray
    below: IntArray
    above: IntArray


@dataclass(frozen=True, eq=False)
class Adjustment:
    """Figures that solve their sums, the sensitive ones, what a unit of change costs, and how far others may move."""

    sums: SumEquations
    values: IntArray
    levels: ProtectionLevels
    weights: FloatArray
    reach: FloatArray


def adjust(task: Adjustment, squared: bool, seconds: float, progress: Progress | None = None) -> tuple[IntArray, float]:
    """Return adjusted figures in whole units, and an upper bound on the relative gap of the sum of changes.

    Directions, searched for the given seconds, are those of least absolute changes; with ``squared`` the amounts are
    of least squares.
    """
    sums, levels, weights = task.sums, task.levels, task.weights
    if not levels.cells.size:
        return task.values, 0.0
    clock = Clock.within(seconds)
    low, high = _ranges(task)
    tell(progress, 0, 3, "directions")
    up, gap = _directions(task, low, high, seconds)
    low[levels.cells[up]] = levels.above[up]
    high[levels.cells[~up]] = -levels.below[~up]
    tell(progress, 1, 3, "amounts")
    moves = _amounts(sums, weights, low, high, seconds)
    if squared:
        moves = _squares(sums, weights, low, high)
    tell(progress, 2, 3, "whole units")
    whole = _whole(sums, moves, weights, max(clock.left or 0.0, 5.0))
    adjusted = task.values + whole
    assert not sums.sums(adjusted).any()
    assert ((whole >= low) & (whole <= high)).all()
    return adjusted, gap


def _ranges(task: Adjustment) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest change of every figure; none becomes negative, and empty cells stay empty."""
    values = task.values
    low = np.where(values >= 0, -values.astype(np.float64), -np.inf)
    high = np.full(values.size, np.inf)
    others = np.ones(values.size, bool)
    others[task.levels.cells] = False
    floor = np.floor(task.reach)
    low[others], high[others] = np.maximum(low, -floor)[others], floor[others]
    empty = others & (values == 0)
    low[empty] = high[empty] = 0.0
    return low, high


def _directions(task: Adjustment, low: FloatArray, high: FloatArray, seconds: float) -> tuple[BoolArray, float]:
    """Return which sensitive figures go up, by an integer program over rises and falls of all figures."""
    sums, levels, weights = task.sums, task.levels, task.weights
    n, s = low.size, levels.cells.size
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
    at, z = levels.cells, 2 * n + np.arange(s)
    none, any_ = np.zeros(s), np.full(s, np.inf)
    # rise ≥ above·z and ≤ rise_max·z; fall ≥ below·(1 − z) and ≤ fall_max·(1 − z).
    pairs = [(at, levels.above), (at, rise[at]), (at + n, -levels.below), (at + n, -fall[at])]
    balanced = _rises_and_falls(sums, n)
    zero = np.zeros(sums.starts.size - 1)
    index = [balanced.columns, *(np.stack([columns, z], axis=1).ravel() for columns, _ in pairs)]
    value = [balanced.values, *(np.stack([np.ones(s), -factor], axis=1).ravel() for _, factor in pairs)]
    lengths = np.append(np.diff(balanced.starts), np.full(4 * s, 2))
    program = Program(
        Rows(starts_of(lengths), np.concatenate(index), np.concatenate(value)),
        costs=np.concatenate([weights, weights, np.zeros(s)]),
        lower=np.concatenate([np.zeros(2 * n), np.where(downward, 0.0, 1.0)]),
        upper=np.concatenate([rise, fall, np.where(upward, 1.0, 0.0)]),
        sums=(
            np.concatenate([zero, none, -any_, levels.below, -any_]),
            np.concatenate([zero, any_, none, any_, fall[at]]),
        ),
        whole=z,
    )
    if program.run(seconds) == "infeasible":
        raise InfeasibleError(
            "no adjustment keeps all sums with every sensitive figure at a safe value; widen or drop the radius"
        )
    if not program.found:
        # Everything upwards is always possible where nothing limits the others.
        return upward, 1.0
    return program.point[2 * n :] > 0.5, max(program.gap, 0.0) if np.isfinite(program.gap) else 1.0


def _rises_and_falls(sums: SumEquations, n: int) -> Rows:
    """Return the sums over how far each figure rises, and then how far each falls."""
    return Rows(
        2 * sums.starts,
        np.stack([sums.columns, sums.columns + n], axis=1).ravel(),
        np.stack([sums.values, -sums.values], axis=1).ravel().astype(np.float64),
    )


def _amounts(sums: SumEquations, weights: FloatArray, low: FloatArray, high: FloatArray, seconds: float) -> FloatArray:
    """Return the changes with the least weighted sum of absolute values once directions are fixed."""
    n, m = low.size, sums.starts.size - 1
    program = Program(
        _rises_and_falls(sums, n),
        costs=np.concatenate([weights, weights]),
        lower=np.concatenate([np.maximum(low, 0.0), np.maximum(-high, 0.0)]),
        upper=np.concatenate([np.maximum(high, 0.0), np.maximum(-low, 0.0)]),
        sums=(np.zeros(m), np.zeros(m)),
    )
    outcome = program.run()
    if outcome == "infeasible":
        raise InfeasibleError("no adjustment keeps all sums within the radius; widen it, or leave it out")
    if outcome != "optimal":
        raise LimitError(f"no adjustment was found in {seconds:g} seconds; raise the time limit")
    return program.point[:n] - program.point[n:]


def _squares(sums: SumEquations, weights: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the changes with the least weighted sum of squares once directions are fixed.

    With some changes held at their bounds, the others follow from linear equations: d = Aᵀy/w with A·d = 0. All changes
    that leave their range are fixed, and all that would improve by leaving their bound are freed, until there are none;
    if such a step does not help, one at a time (block principal pivoting, Júdice and Pires 1994), which terminates.
    """
    n = low.size
    across = sums.across(n)
    still = low == high
    held = still.astype(np.int64) + np.where(~still & (low > 0), 1, 0) + np.where(~still & (high < 0), 2, 0)
    fewest, tries = n + 1, PATIENCE
    for _ in range(STEPS):
        bound = np.where(held == 2, high, low)
        d: FloatArray = np.where(held > 0, bound, 0.0)
        free = (held == 0) / weights
        weighted = Rows(sums.starts, sums.columns, sums.values * free[sums.columns])
        y = _solved(weighted.times(across, sums.starts.size - 1), -sums.sums(d))
        slope = sums.combined(y, n)
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


def _solved(rows: Rows, right: FloatArray) -> FloatArray:
    """Solve M·y = right for y, where M is symmetric and has a little added to keep it from being singular."""
    m = right.size
    if m <= DENSE:
        dense = rows.dense(m).astype(np.float64)
        dense[np.arange(m), np.arange(m)] += 1e-10
        return np.asarray(np.linalg.solve(dense, right), np.float64)
    try:
        from scipy.sparse import csr_array, eye_array
        from scipy.sparse.linalg import splu
    except ImportError:
        raise RequestError(
            f"least squares over {m:,} sums, more than {DENSE:,}, need a solver of sparse equations; install it with: "
            "pip install 'discreet[sparse]', or take absolute changes (norm='absolute', --norm absolute)"
        ) from None
    matrix = csr_array((rows.values, rows.columns, rows.starts), shape=(m, m)) + 1e-10 * eye_array(m)
    found: FloatArray = splu(matrix.tocsc()).solve(right)
    return found


def _whole(sums: SumEquations, moves: FloatArray, weights: FloatArray, seconds: float) -> IntArray:
    """Round changes to neighbouring whole units with all sums intact; bounds are whole and therefore still hold."""
    near = np.rint(moves)
    floor = np.where(np.abs(moves - near) < CLOSE, near, np.floor(moves)).astype(np.int64)
    open_ = np.flatnonzero(np.abs(moves - near) >= CLOSE)
    if not open_.size and not sums.sums(floor).any():
        return floor
    share = moves[open_] - floor[open_]
    gaps = -sums.sums(floor)
    program = Program(
        sums.among(open_, moves.size),
        costs=weights[open_] * (1 - 2 * share),
        lower=np.zeros(open_.size),
        upper=np.ones(open_.size),
        sums=(gaps, gaps),
        whole=True,
    )
    program.run(seconds)
    if not program.found:
        raise LimitError(
            "the adjusted figures could not be rounded to whole units with all sums intact; take absolute changes "
            "(norm='absolute'), or publish fewer margins"
        )
    floor[open_] += np.rint(program.point).astype(np.int64)
    return floor
