"""Cells that a published table leaves out: which of them are empty, and which are plainly not published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.table.additive_axis import AdditiveAxis
from discreet.table.space import Space


def empty_cells(space: Space, tops: Mapping[str, int], listed: IntArray, above_zero: IntArray) -> IntArray:
    """Return the positions of the inner cells without a row that are empty, none where no inner cell has a row.

    A sum above 0 without a row for any of its inner cells is not published below: those are not empty.

    Args:
        space: the labels of every dimension.
        tops: the dimensions of the table, and the place of its total along each: only what is in it can be left out.
        listed: the positions that have a row.
        above_zero: those of them whose figure is above 0.

    >>> axis = AdditiveAxis("x", ("Total", "g", "h", "a", "b", "c", "d"), ((0, (1, 2)), (1, (3, 4)), (2, (5, 6))))
    >>> empty_cells(Space((axis,)), {"x": 0}, np.array([0, 1, 2, 3]), np.array([0, 1, 2, 3])).tolist()
    [4]
    >>> empty_cells(Space((axis,)), {"x": 2}, np.array([0, 1, 2, 3]), np.array([0, 1, 2, 3])).tolist()
    []
    """
    axes = [axis for axis in space.axes if axis.name in tops]
    leaves = [axis.leaves if not (top := tops[axis.name]) else tuple(sorted(axis.under[top])) for axis in axes]
    inner = space.cross({axis.name: below for axis, below in zip(axes, leaves, strict=True)})
    given = np.isin(inner, listed)
    if given.all() or not given.any():
        return np.zeros(0, np.int64)
    made = [_below(axis, below) for axis, below in zip(axes, leaves, strict=True)]
    codes = [space.grid.code(above_zero, space.names.index(axis.name)) for axis in axes]
    # Counted along one dimension after the other: how many inner cells with a row every sum has.
    count = given.reshape([len(below) for below in leaves]).astype(np.float64)
    for k, incidence in enumerate(made):
        count = _along(incidence, count, k)
    bare = np.zeros(count.shape)
    bare[tuple(codes)] = count[tuple(codes)] == 0
    for k, incidence in enumerate(made):
        bare = _along(incidence.T, bare, k)
    found: IntArray = inner[~given & (bare.ravel() == 0)]
    return found


def _below(axis: AdditiveAxis, leaves: tuple[int, ...]) -> Any:
    """Return which leaves (columns) each label (row) is made of."""
    from scipy.sparse import csr_array

    above = [axis.above(axis.nodes[leaf]) for leaf in leaves]
    column = np.repeat(np.arange(len(above)), [len(nodes) for nodes in above])
    row = np.array([node for nodes in above for node in nodes], np.int64)
    return csr_array((np.ones(row.size), (row, column)), shape=(len(axis.nodes), len(above)))


def _along(matrix: Any, cells: FloatArray, axis: int) -> FloatArray:
    """Multiply along one dimension of the cells."""
    first = np.moveaxis(cells, axis, 0)
    product = matrix @ first.reshape(first.shape[0], -1)
    return np.moveaxis(product.reshape(-1, *first.shape[1:]), 0, axis)
