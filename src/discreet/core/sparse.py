"""Sparse rows: which row an entry is in, sums, parts that share no row, and rows told apart.

Row e of compressed rows holds the entries from ``starts[e]`` up to ``starts[e + 1]``. Whoever states equations shares
this bookkeeping; how they are solved is not here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import IntArray, NumberArray

SMALL = 20_000
"""Up to so many nodes parts are found without SciPy: loading it takes 0.2 s, the largest of them 0.01 s."""


class Rows(NamedTuple):
    """A sparse matrix in compressed rows.

    >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1]), np.array([1, -1, 1]))
    >>> rows.of.tolist(), rows.sums(np.array([5, 6, 7])).tolist()
    ([0, 0, 1], [-2, 6])
    """

    starts: IntArray
    columns: IntArray
    values: NumberArray

    @property
    def of(self) -> IntArray:
        """The row of every entry."""
        return row_of(self.starts)

    def sums(self, x: IntArray) -> IntArray:
        """Return the sum of every row over integers x."""
        total = np.zeros(self.starts.size - 1, np.int64)
        np.add.at(total, self.of, self.values * x[self.columns])
        return total

    def matrix(self, width: int) -> Any:
        """Return the rows as a matrix of SciPy with so many columns."""
        from scipy.sparse import csr_array

        return csr_array((self.values, self.columns, self.starts), shape=(self.starts.size - 1, width))


def row_of(starts: IntArray) -> IntArray:
    """Return the row of every entry of compressed rows.

    >>> row_of(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))


def starts_of(lengths: npt.ArrayLike) -> IntArray:
    """Return where rows of given lengths begin, and after them where the last one ends.

    >>> starts_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def components(left: IntArray, right: IntArray, size: int) -> tuple[int, IntArray]:
    """Return how many parts links leave of so many nodes, and the part of each node.

    >>> components(np.array([0, 2]), np.array([1, 3]), 5)[1].tolist()
    [0, 0, 1, 1, 2]
    """
    if size <= SMALL:
        return _small_components(left, right, size)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(left.size, np.int8), (left, right)), shape=(size, size))
    count, label = connected_components(links.tocsr(), directed=False)
    return int(count), label


def _small_components(left: IntArray, right: IntArray, size: int) -> tuple[int, IntArray]:
    """Hook the larger of two linked labels to the smaller, and follow labels to their ends, until nothing moves."""
    label = np.arange(size)
    while (label[left] != label[right]).any():
        low = np.minimum(label[left], label[right])
        np.minimum.at(label, label[left], low)
        np.minimum.at(label, label[right], low)
        while (label != label[label]).any():
            label = label[label]
    first, label = np.unique(label, return_inverse=True)
    return first.size, label.astype(np.int32)


def parts(row: IntArray, column: IntArray, rows: int, columns: int) -> tuple[int, IntArray, IntArray]:
    """Return how many parts share no row, the part of every row and that of every column.

    >>> count, of_row, of_column = parts(np.array([0, 0, 1]), np.array([0, 1, 2]), 2, 3)
    >>> count, of_row.tolist(), of_column.tolist()
    (2, [0, 1], [0, 0, 1])
    """
    count, label = components(column, columns + row, columns + rows)
    return count, label[columns:], label[:columns]


def digests(of: IntArray, at: IntArray, values: IntArray, size: int, *, seed: int) -> npt.NDArray[np.uint64]:
    """Return a random linear combination of the entries of each row: equal rows have equal digests, opposite opposite.

    Different rows share a digest of 64 bits with a probability of about 2⁻⁶². Entries are given by their row, their
    place in it and their value; with the same seed the same places have the same weights.

    >>> one, other, opposite = digests(np.array([0, 1, 2]), np.array([4, 4, 4]), np.array([1, 1, -1]), 3, seed=0)
    >>> bool(one == other), bool(np.negative([opposite])[0] == one)
    (True, True)
    """
    mark = np.random.default_rng(seed).integers(1, 2**62, int(at.max(initial=0)) + 1, dtype=np.uint64)
    found = np.zeros(size, np.uint64)
    np.add.at(found, of, mark[at] * values.astype(np.int64).view(np.uint64))
    return found


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of a dense array, sorted, and which of them each row is.

    >>> found, which = distinct_rows(np.array([[1, 2], [0, 5], [1, 2]]))
    >>> found.tolist(), which.tolist()
    ([[0, 5], [1, 2]], [1, 0, 1])
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]) if order.size else np.zeros(0, bool)
    which = np.empty(order.size, np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new], which
