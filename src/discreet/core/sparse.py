"""Sparse rows: their sums and products, which row an entry is in, parts that share no row, and rows told apart.

Row e of compressed rows holds the entries from ``starts[e]`` up to ``starts[e + 1]``. All that state equations share
this bookkeeping; how they are solved is not here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray, IntArray, NumberArray, index_ranges

AT_ONCE = 4_000_000
"""How many products of entries are formed at once, in some 100 MB."""


class Rows(NamedTuple):
    """A sparse matrix in compressed rows. It does not know its width: what needs one is told.

    >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1]), np.array([1, -1, 1]))
    >>> rows.of.tolist(), rows.sums(np.array([5, 6, 7])).tolist()
    ([0, 0, 1], [-2, 6])
    >>> rows.dense(3).tolist(), rows.across(3).dense(2).tolist()
    ([[1, 0, -1], [0, 1, 0]], [[1, 0], [0, 1], [-1, 0]])
    """

    starts: IntArray
    columns: IntArray
    values: NumberArray

    @classmethod
    def gathered(cls, row: IntArray, column: IntArray, values: NumberArray, shape: tuple[int, int]) -> Rows:
        """Return entries given in any order: those of one place are added up, and those that come to 0 left out.

        >>> Rows.gathered(np.array([1, 0, 1]), np.array([2, 0, 2]), np.array([1, 5, 2]), (2, 3)).dense(3).tolist()
        [[5, 0, 0], [0, 0, 3]]
        """
        key = row.astype(np.int64) * shape[1] + column
        if key.size and not (key[1:] > key[:-1]).all():
            order = np.argsort(key, kind="stable")
            key = key[order]
            first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
            key, values = key[first], np.add.reduceat(values[order], first)
        kept = values != 0
        key, values = (key, values) if kept.all() else (key[kept], values[kept])
        lengths = np.bincount(key // max(shape[1], 1), minlength=shape[0])
        return Rows(starts_of(lengths), key % max(shape[1], 1), values)

    @property
    def of(self) -> IntArray:
        """The row of every entry."""
        return row_of(self.starts)

    @property
    def lengths(self) -> IntArray:
        """How many entries every row has."""
        return np.diff(self.starts)

    @overload
    def sums(self, x: IntArray) -> IntArray: ...
    @overload
    def sums(self, x: FloatArray) -> FloatArray: ...
    def sums(self, x: NumberArray) -> NumberArray:
        """Return the sum of every row over x: exact for integers."""
        products = self.values * x[self.columns]
        size = self.starts.size - 1
        if products.dtype.kind == "f":
            return np.bincount(self.of, products, size)
        total = np.zeros(size, np.int64)
        np.add.at(total, self.of, products)
        return total

    def combined(self, y: FloatArray, width: int) -> FloatArray:
        """Return Σ y·row over all rows, of so many columns.

        >>> Rows(np.array([0, 2, 3]), np.array([0, 2, 2]), np.array([1, 1, 1])).combined(np.array([2.0, 3.0]), 3)
        array([2., 0., 5.])
        """
        return np.asarray(np.bincount(self.columns, self.values * y[self.of], width), np.float64)

    def taken(self, which: npt.ArrayLike) -> Rows:
        """Return some rows, in the order given."""
        rows = np.asarray(which, np.int64)
        at = index_ranges(self.starts[rows], self.starts[rows + 1])[1]
        return Rows(starts_of(self.lengths[rows]), self.columns[at], self.values[at])

    def among(self, chosen: IntArray, width: int) -> Rows:
        """Return the rows over some of so many columns, which are numbered anew."""
        place = np.full(width, -1)
        place[chosen] = np.arange(chosen.size)
        at = place[self.columns]
        kept = at >= 0
        starts = starts_of(np.bincount(self.of[kept], minlength=self.starts.size - 1))
        return Rows(starts, at[kept], self.values[kept])

    def across(self, width: int) -> Rows:
        """Return the columns, of which there are so many, as rows."""
        order = np.argsort(self.columns, kind="stable")
        return Rows(starts_of(np.bincount(self.columns, minlength=width)), self.of[order], self.values[order])

    def beside(self, other: Rows, width: int) -> Rows:
        """Return rows with those of another matrix behind them, whose columns follow the first so many."""
        order = np.argsort(np.concatenate([self.of, other.of]), kind="stable")
        columns = np.concatenate([self.columns, other.columns + width])[order]
        return Rows(self.starts + other.starts, columns, np.concatenate([self.values, other.values])[order])

    def above(self, other: Rows) -> Rows:
        """Return rows followed by others of the same columns."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        columns, values = np.concatenate([self.columns, other.columns]), np.concatenate([self.values, other.values])
        return Rows(starts, columns, values)

    def times(self, other: Rows, width: int) -> Rows:
        """Return the product with another matrix of so many columns; entries that come to 0 are left out.

        >>> one = Rows(np.array([0, 2]), np.array([0, 1]), np.array([1, 2]))
        >>> one.times(Rows(np.array([0, 1, 2]), np.array([0, 0]), np.array([2, -1])), 1).dense(1).tolist()
        [[0]]
        """
        each = other.lengths[self.columns]
        ends = starts_of(each)[self.starts]
        cuts = np.searchsorted(ends, np.arange(AT_ONCE, int(ends[-1]), AT_ONCE))
        found: list[Rows] = []
        for low, high in pairwise(np.unique([0, *cuts, self.starts.size - 1]).tolist()):
            first, last = self.starts[low], self.starts[high]
            columns = self.columns[first:last]
            entry, at = index_ranges(other.starts[columns], other.starts[columns + 1])
            row = row_of(self.starts[low : high + 1] - first)[entry]
            products = self.values[first:last][entry] * other.values[at]
            found.append(Rows.gathered(row, other.columns[at], products, (high - low, width)))
        if len(found) == 1:
            return found[0]
        none = np.zeros(0, np.int64)
        return Rows(
            starts_of(np.concatenate([none, *(one.lengths for one in found)])),
            np.concatenate([none, *(one.columns for one in found)]),
            np.concatenate([none.astype(self.values.dtype), *(one.values for one in found)]),
        )

    def dense(self, width: int) -> npt.NDArray[np.number]:
        """Return the rows as an array of so many columns."""
        found = np.zeros((self.starts.size - 1, width), self.values.dtype)
        np.add.at(found, (self.of, self.columns), self.values)
        return found


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
    # The larger of two linked labels is hooked to the smaller, and labels are followed to their ends.
    label = np.arange(size)
    while left.size:
        one, other = label[left], label[right]
        apart = one != other
        left, right, one, other = left[apart], right[apart], one[apart], other[apart]
        low = np.minimum(one, other)
        np.minimum.at(label, one, low)
        np.minimum.at(label, other, low)
        while (label != (further := label[label])).any():
            label = further
    first = label == np.arange(size)
    return int(first.sum()), (np.cumsum(first) - 1)[label].astype(np.int32)


def parts(row: IntArray, column: IntArray, rows: int, columns: int) -> tuple[int, IntArray, IntArray]:
    """Return how many parts share no row, the part of every row and that of every column.

    >>> count, of_row, of_column = parts(np.array([0, 0, 1]), np.array([0, 1, 2]), 2, 3)
    >>> count, of_row.tolist(), of_column.tolist()
    (2, [0, 1], [0, 0, 1])
    """
    count, label = components(column, columns + row, columns + rows)
    return count, label[columns:], label[:columns]


def digests(of: IntArray, at: IntArray, values: NumberArray, size: int, *, seed: int) -> npt.NDArray[np.uint64]:
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
