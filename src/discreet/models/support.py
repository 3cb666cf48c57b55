"""Which cells can be filled at all, given a table's margins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray
from discreet.table.grid import Grid


def fillable(
    support: npt.NDArray[np.bool_], margins: Sequence[tuple[tuple[int, ...], FloatArray]]
) -> npt.NDArray[np.bool_]:
    """Return which cells of a support are positive in some non-negative table with the given margins.

    Zeros of a sample can leave other cells no choice but to be empty: in [[5, 0], [–, 2]] with a structural zero,
    the first row and the first column both add up to 5, so the empty cell must be. A log-linear model's fit is 0
    there too, but proportional fitting approaches such a 0 without end.

    Tables with margins proportional to the given ones form a cone, so one linear program answers for all cells:
    maximise Σz with 0 ≤ z ≤ 1, z ≤ x and margins of x equal to λ times the given ones. At the optimum z is 1
    where a cell can be filled and 0 where it cannot.

    Args:
        support: cells that are not ruled out beforehand.
        margins: axes that are kept, in ascending order, with the sums over all others.

    >>> support = np.array([[True, True], [False, True]])
    >>> fillable(support, [((0,), np.array([5.0, 2.0])), ((1,), np.array([5.0, 2.0]))]).tolist()
    [[True, False], [False, True]]
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, hstack, vstack

    filled = np.flatnonzero(support)
    cells = filled.size
    # One factor for all margins keeps the figures within a range that suits the solver.
    largest = max(float(target.max()) for _, target in margins)
    blocks: list[Any] = []
    for axes, target in margins:
        row = Grid(support.shape).project(filled, axes)
        sums = coo_array((np.ones(cells), (row, np.arange(cells))), shape=(target.size, cells))
        scale = coo_array(-target.reshape(-1, 1) / largest)
        # x = z + s, so that the columns are z, s and λ.
        blocks.append(hstack([sums, sums, scale]))
    matrix = vstack(blocks).tocsr()
    solved = linprog(
        np.concatenate([np.full(cells, -1.0), np.zeros(cells + 1)]),
        A_eq=matrix,
        b_eq=np.zeros(matrix.shape[0]),
        bounds=np.column_stack([np.zeros(2 * cells + 1), np.repeat([1.0, np.inf], [cells, cells + 1])]),
        method="highs",
    )
    if solved.status != 0:
        raise LimitError(f"which cells can be filled could not be decided ({solved.message}); fit fewer margins")
    result = np.zeros(support.shape, bool)
    result.flat[filled] = solved.x[:cells] > 0.5
    return result
