"""Iterative proportional fitting: the table closest to a starting table that has the given margins.

Margins are sums over whole axes. Sums of only some cells are fitted elsewhere;
:mod:`discreet.core.proportional_fitting` says where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.core.errors import InfeasibleError, LimitError, RequestError
from discreet.core.highs import Program
from discreet.core.numerics import FloatArray
from discreet.core.proportional_fitting import factors
from discreet.core.sparse import Rows
from discreet.table.grid import Grid

Margin = tuple[tuple[int, ...], npt.ArrayLike]
"""The axes that are kept, and the sums wanted over all others as an array with these axes in this order."""

TOLERANCE, MAX_ITERATIONS = 1e-8, 2_000
"""The largest relative gap that a fit leaves, and the most cycles: on tables of 400 to 6,000 cells of which up to three
in four were empty, the margins of all pairs of dimensions took 9 to 16."""

_PATIENCE, _LARGEST_PROGRAM = 100, 8_000
"""After this many cycles a fit is slow enough to ask a linear program which cells must be empty, if they are few."""


class Fitted(NamedTuple):
    """A fitted array, the cycles it took, and the largest relative gap between a margin and its target."""

    values: FloatArray
    iterations: int
    gap: float


def generating_class(margins: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Drop every margin that another one contains: fitting the larger one fits it too.

    >>> generating_class([(0,), (1, 0), (2,), (0, 1)])
    ((0, 1), (2,))
    """
    distinct = list(dict.fromkeys(tuple(sorted(axes)) for axes in margins))
    return tuple(a for a in distinct if not any(set(a) < set(b) for b in distinct))


@dataclass(frozen=True, eq=False)
class _Step:
    """One margin; runs of kept axes and runs of summed axes are one axis each."""

    axes: tuple[int, ...]
    runs: tuple[int, ...]
    summed: tuple[int, ...]
    target: FloatArray
    scale: FloatArray

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the margin of a contiguous array, summed runs kept as axes of length 1."""
        total = values.reshape(self.runs)
        if total.size < 4096:
            return np.asarray(total.sum(axis=self.summed, keepdims=True))
        # From the last run to the first: the first reductions, which see most cells, go along memory.
        for axis in reversed(self.summed):
            shape = total.shape
            after = int(np.prod(shape[axis + 1 :], dtype=np.int64))
            block = total.reshape(-1, shape[axis], after)
            # Several times faster than sum() along short axes, and the same on any number of threads.
            added = np.einsum("im->i", block[:, :, 0]) if after == 1 else np.einsum("imj->ij", block)
            total = added.reshape(*shape[:axis], 1, *shape[axis + 1 :])
        return total


def _step(shape: tuple[int, ...], axes: tuple[int, ...], target: npt.ArrayLike) -> _Step:
    wanted = np.asarray(target, dtype=np.float64)
    expected = tuple(shape[axis] for axis in axes)
    if wanted.shape != expected:
        raise RequestError(f"margin {axes} has shape {wanted.shape}, but the array's is {expected} along these axes")
    if not np.isfinite(wanted).all() or (wanted < 0).any():
        raise RequestError(f"margin {axes} has a figure that is negative or not finite; give sums of 0 or more")
    wanted = wanted.transpose(sorted(range(len(axes)), key=axes.__getitem__))
    runs: list[int] = []
    kept: list[bool] = []
    for axis, length in enumerate(shape):
        if kept and kept[-1] == (axis in axes):
            runs[-1] *= length
        else:
            runs.append(length)
            kept.append(axis in axes)
    layout = tuple(length if keep else 1 for length, keep in zip(runs, kept, strict=True))
    summed = tuple(i for i, keep in enumerate(kept) if not keep)
    wanted = np.ascontiguousarray(wanted).reshape(layout)
    # Any excess over a figure of 0 is too much; the tiny divisor makes it so without overflowing.
    scale = np.where(wanted > 0, wanted, 1e-250)
    return _Step(tuple(sorted(axes)), tuple(runs), summed, wanted, scale)


def fit(
    start: npt.ArrayLike,
    margins: Sequence[Margin],
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    names: Sequence[str] | None = None,
) -> Fitted:
    """Scale an array until its margins are the given ones.

    Every margin in turn is met exactly by multiplying the cells under each of its figures by target ÷ sum
    (Deming and Stephan 1940). The limit has the form of a log-linear model whose interactions are the
    margins, times the start; with a start of ones and the margins of a table it is the model's maximum
    likelihood fit. Decomposable models, independence among them, take one or two cycles. Cells that
    the margins force to be empty are found by a linear program when the fit is slow.

    Args:
        start: non-negative array; its zeros stay zero, so structural zeros are zeros here.
        margins: axes and sums, see :data:`Margin`; those contained in others are dropped.
        tolerance: the largest gap allowed in any margin, relative to the figure of the margin.
        max_iterations: the largest number of cycles over all margins.
        names: what to call the axes in messages.

    Raises:
        InfeasibleError: when a positive sum is wanted where the start is all zero, or the margins contradict
            each other.
        LimitError: when the cycles do not suffice; with the worst margin and its gap.

    >>> fit(np.ones((2, 2)), [((0,), [4, 6]), ((1,), [5, 5])]).values
    array([[2., 2.],
           [3., 3.]])
    """
    values = np.array(start, dtype=np.float64, order="C")
    if (values < 0).any() or not np.isfinite(values).all():
        raise RequestError("the starting array has a figure that is negative or not finite; start from 0 or more")
    steps = _steps(values.shape, margins)
    labels = [_label(step.axes, names) for step in steps]
    for iteration in range(max_iterations + 1):
        gaps = [_scale(values, step, label, tolerance) for step, label in zip(steps, labels, strict=True)]
        # A cycle without a gap beyond the tolerance changed nothing, so all its gaps are those of the result.
        if max(gaps) <= tolerance:
            return Fitted(values, iteration, max(gaps))
        if iteration == _PATIENCE and np.count_nonzero(values) <= _LARGEST_PROGRAM:
            # The fit would never empty the cells that no table with these margins fills.
            wanted = [(step.axes, step.target.reshape([values.shape[i] for i in step.axes])) for step in steps]
            possible = fillable(values > 0, wanted)
            if not possible.any():
                worst = labels[int(np.argmax(gaps))]
                raise InfeasibleError(
                    f"no table without negative cells has all these margins; margin {worst} contradicts the others most"
                )
            values[~possible] = 0.0
    at = int(np.argmax(gaps))
    raise LimitError(
        f"margin {labels[at]} is still off by {gaps[at]:.3g} of its figure after {max_iterations:,} "
        f"cycles, more than the tolerance {tolerance:.3g}; allow more cycles or a larger tolerance, "
        "or fit fewer margins"
    )


def _steps(shape: tuple[int, ...], margins: Sequence[Margin]) -> list[_Step]:
    if not margins:
        raise RequestError("no margin is given; give at least one, such as ((), total)")
    for axes, _ in margins:
        if len(set(axes)) != len(axes) or any(not 0 <= axis < len(shape) for axis in axes):
            raise RequestError(f"margin {axes} must name different axes from 0 to {len(shape) - 1}")
    targets = {tuple(sorted(axes)): (axes, target) for axes, target in margins}
    steps = [_step(shape, *targets[axes]) for axes in generating_class([axes for axes, _ in margins])]
    first = float(steps[0].target.sum())
    for step in steps:
        total = float(step.target.sum())
        if not abs(total - first) <= 1e-9 * max(total, first):
            raise RequestError(
                f"margin {step.axes} adds up to {total:.12g}, but margin {steps[0].axes} to {first:.12g}; "
                "margins of one table have the same total"
            )
    return steps


def _label(axes: tuple[int, ...], names: Sequence[str] | None) -> str:
    if not axes:
        return "total"
    return " × ".join(str(axis) if names is None else repr(names[axis]) for axis in axes)


def _scale(values: FloatArray, step: _Step, label: str, tolerance: float) -> float:
    """Meet one margin in place if it is off by more than the tolerance, and return its gap before."""
    sums, target = step.sums(values), step.target
    gap = float((np.abs(sums - target) / step.scale).max())
    if gap <= tolerance:
        return gap
    # Nothing where something is wanted is a gap of exactly 1.
    if gap >= 1 and (lost := (sums == 0) & (target > 0)).any():
        raise InfeasibleError(
            f"margin {label} wants {target[lost][0]:g} in a place where all cells are structural zeros; "
            "allow one of these cells, or set the figure to 0"
        )
    view = values.reshape(step.runs)
    view *= factors(target, sums)
    return gap


def fillable(
    support: npt.NDArray[np.bool_], margins: Sequence[tuple[tuple[int, ...], FloatArray]]
) -> npt.NDArray[np.bool_]:
    """Return which cells of a support are positive in some non-negative table with the given margins.

    Zeros of a sample can force other cells to be empty: in [[5, 0], [–, 2]] with a structural zero, the first row
    and the first column both add up to 5, so the other cell of the row is 0. A log-linear model's fit is 0 there
    too, but proportional fitting approaches such a 0 without ever reaching it.

    Tables with margins proportional to the given ones form a cone, so one linear program answers for all cells:
    maximise Σz with 0 ≤ z ≤ 1, z ≤ x and margins of x equal to λ times the given ones. At the optimum z is 1
    where a cell can be filled and 0 where it cannot.
    A margin is given by the axes that are kept, in ascending order, and the sums over all others.

    >>> support = np.array([[True, True], [False, True]])
    >>> fillable(support, [((0,), np.array([5.0, 2.0])), ((1,), np.array([5.0, 2.0]))]).tolist()
    [[True, False], [False, True]]
    """
    filled = np.flatnonzero(support)
    cells = filled.size
    # One factor for all margins keeps the figures within a range that suits the solver.
    largest = max(float(target.max()) for _, target in margins)
    rows = Rows(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for axes, target in margins:
        row, scale = Grid(support.shape).project(filled, axes), -target.ravel() / largest
        # The columns are z, s and λ, with x = z + s.
        entries = np.concatenate([row, row, np.arange(target.size)])
        columns = np.append(np.arange(2 * cells), np.full(target.size, 2 * cells))
        values = np.append(np.ones(2 * cells), scale)
        rows = rows.above(Rows.gathered(entries, columns, values, (target.size, 2 * cells + 1)))
    zero = np.zeros(rows.starts.size - 1)
    program = Program(
        rows,
        costs=np.repeat([-1.0, 0.0], [cells, cells + 1]),
        lower=np.zeros(2 * cells + 1),
        upper=np.repeat([1.0, np.inf], [cells, cells + 1]),
        sums=(zero, zero),
    )
    outcome = program.run()
    if outcome != "optimal":
        raise LimitError(f"which cells can be filled could not be decided ({outcome}); fit fewer margins")
    result = np.zeros(support.shape, bool)
    result.flat[filled] = program.point[:cells] > 0.5
    return result
