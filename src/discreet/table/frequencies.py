"""Frequencies: the counts of crossed categories, held by the cells that are not empty, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.core.errors import DataError, LimitError, RequestError, require
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.table.grid import Copied, Dimension, OnGrid, add_up, look_up, recode

DENSE_LIMIT = 50_000_000
"""The largest number of cells that is laid out as a dense array: a round figure, 400 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class Frequencies(OnGrid, Copied):
    """The cells of a frequency table and their geometry; a :class:`~discreet.table.Table` adds readers and writers."""

    dimensions: tuple[Dimension, ...]
    cells: IntArray
    counts: IntArray
    impossible: IntArray

    def __post_init__(self) -> None:
        names = [dimension.name for dimension in self.dimensions]
        if not names:
            raise DataError("the table has no dimensions; name at least one")
        if len(set(names)) != len(names):
            raise DataError(f"dimension names are {names}; every name must be unique")
        size = self.grid.size
        for name in ("cells", "counts", "impossible"):
            array = np.asarray(getattr(self, name))
            if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
                raise DataError(f"{name} is of type {array.dtype} and shape {array.shape}; give integers in a row")
            if array.flags.writeable or array.dtype != np.int64:
                # A copy of its own: nobody who still holds the array can change the table.
                array = array.astype(np.int64)
                array.flags.writeable = False
            object.__setattr__(self, name, array)
        for array in (self.cells, self.impossible):
            if array.size and (array[0] < 0 or array[-1] >= size or (np.diff(array) <= 0).any()):
                raise DataError("cell positions must be sorted, unique and inside the table")
        if self.cells.shape != self.counts.shape:
            raise DataError(f"{self.cells.size} cells but {self.counts.size} counts; give one count per cell")
        if self.counts.size and self.counts.min() <= 0:
            where = int(np.argmin(self.counts))
            raise DataError(
                f"cell {self.describe(int(self.cells[where]))} has count {self.counts[where]}; "
                "stored counts must be 1 or more"
            )
        clash = self.impossible[self.at(self.impossible) > 0]
        if clash.size:
            raise DataError(
                f"cell {self.describe(int(clash[0]))} is declared impossible, but its count is {self.at(clash)[0]}; "
                "correct the count or take the cell off the structural zeros"
            )

    @property
    def categories_by_name(self) -> dict[str, tuple[str, ...]]:
        """The categories of each dimension."""
        return {dimension.name: dimension.categories for dimension in self.dimensions}

    @property
    def possible(self) -> int:
        """K, the number of cells that can occur."""
        return self.size - int(self.impossible.size)

    @property
    def total(self) -> int:
        """N, the number of people in the table."""
        return int(self.counts.sum())

    def axis(self, name: str) -> int:
        """Return the position of a dimension."""
        require([name], self.names, "the table has no dimension")
        return self.names.index(name)

    def codes(self, name: str, cells: IntArray | None = None) -> IntArray:
        """Return the category codes along a dimension, of the non-empty cells or of the positions given."""
        return self.grid.code(self.cells if cells is None else cells, self.axis(name))

    def at(self, positions: IntArray) -> IntArray:
        """Return the counts at the given positions.

        >>> from discreet.table import Table
        >>> Table.from_array([4, 0, 2], ["month"]).at(np.array([2, 1])).tolist()
        [2, 0]
        """
        return look_up(self.cells, self.counts, positions)

    def sums(self, names: Sequence[str], values: FloatArray | IntArray | None = None) -> list[FloatArray]:
        """Sum a figure per non-empty cell over each category of each dimension; without one, count the cells."""
        axes = [self.axis(name) for name in names]
        if 4 * self.cells.size < self.size:
            return [
                np.bincount(self.codes(name), weights=values, minlength=self.shape[axis]).astype(np.float64)
                for name, axis in zip(names, axes, strict=True)
            ]
        # Nearly full: a dense layout adds along entire axes, which is several times faster.
        dense = np.zeros(self.size)
        dense[self.cells] = 1.0 if values is None else values
        every = range(len(self.shape))
        return [dense.reshape(self.shape).sum(axis=tuple(i for i in every if i != axis)) for axis in axes]

    def slice_cells(self, name: str) -> IntArray:
        """Return K of each slice along a dimension: its cells that can occur."""
        length = self.shape[self.axis(name)]
        lost = np.bincount(self.codes(name, self.impossible), minlength=length)
        return self.size // length - lost

    def margin(self, *names: str) -> Self:
        """Sum over every dimension that is not named.

        A margin's cell is impossible when all the cells it sums are.

        >>> from discreet.table import Table
        >>> Table.from_array([[3, 0], [1, 5]], ["area", "sex"]).margin("area").counts.tolist()
        [3, 6]
        """
        if not names:
            raise RequestError("name the dimensions to keep; the grand total is table.total")
        axes = [self.axis(name) for name in names]
        dims = tuple(self.dimensions[axis] for axis in axes)
        size = math.prod(self.shape[axis] for axis in axes)
        cells, counts = add_up(self.grid.project(self.cells, axes), self.counts, size)
        lost, times = np.unique(self.grid.project(self.impossible, axes), return_counts=True)
        return type(self)(dims, cells, counts, lost[times == self.size // size])

    def slice(self, fixed: Mapping[str, object] | None = None, /, **more: object) -> Self:
        """Fix one or more dimensions at a category and return the table over the others.

        >>> from discreet.table import Table
        >>> Table.from_array([[3, 0], [1, 5]], ["area", "sex"]).slice(area="2").counts.tolist()
        [1, 5]
        """
        wanted = {**(fixed or {}), **more}
        codes = {self.axis(name): self.dimensions[self.axis(name)].code(label) for name, label in wanted.items()}
        kept = [axis for axis in range(len(self.shape)) if axis not in codes]
        if not codes or not kept:
            raise RequestError(f"fix some but not all of the dimensions {list(self.names)}; given: {list(wanted)}")

        def inside(positions: IntArray) -> BoolArray:
            chosen = np.ones(positions.size, bool)
            for axis, code in codes.items():
                chosen &= self.grid.code(positions, axis) == code
            return chosen

        here, lost = inside(self.cells), self.impossible[inside(self.impossible)]
        return type(self)(
            tuple(self.dimensions[axis] for axis in kept),
            self.grid.project(self.cells[here], kept),
            self.counts[here],
            self.grid.project(lost, kept),
        )

    def with_counts(self, cells: IntArray, counts: IntArray) -> Self:
        """Return a table over the same cells with other counts; zeros among them are dropped."""
        order = np.argsort(cells)
        kept = order[counts[order] != 0]
        return type(self)(self.dimensions, cells[kept], counts[kept], self.impossible)

    def aligned_to(self, other: Frequencies) -> Self:
        """Return this table with the dimensions and categories in the other's order, joined by label."""
        if self.dimensions == other.dimensions:
            return self
        if set(self.names) != set(other.names):
            raise DataError(
                f"dimensions differ: {list(other.names)} in the original, {list(self.names)} in the released "
                "table; rename the columns to agree"
            )
        codes = {dimension.name: self._codes_in(dimension) for dimension in other.dimensions}
        cells, lost = (self.grid.translate(found, other.grid, codes) for found in (self.cells, self.impossible))
        order = np.argsort(cells)
        return type(self)(other.dimensions, cells[order], self.counts[order], np.sort(lost))

    def _codes_in(self, dimension: Dimension) -> IntArray:
        """Return the codes that the categories of a dimension have in another table's version of it."""
        mine = self.dimensions[self.axis(dimension.name)].categories
        known, here = set(dimension.categories), set(mine)
        for label, there, lacking in (
            (next((x for x in mine if x not in known), None), "released table", "original"),
            (next((x for x in dimension.categories if x not in here), None), "original", "released table"),
        ):
            if label is not None:
                raise DataError(
                    f"category {label!r} of dimension {dimension.name!r} is in the {there} but not in the "
                    f"{lacking}; give both tables the same categories (list empty ones with count 0)"
                )
        return recode(mine, dimension.categories)

    def to_array(self) -> IntArray:
        """Return the counts as a dense array, one axis per dimension."""
        if self.size > DENSE_LIMIT:
            raise LimitError(
                f"the table has {self.size:,} cells, more than the {DENSE_LIMIT:,} that are laid out densely; "
                "use its non-empty cells (table.cells, table.counts) or a margin"
            )
        dense = np.zeros(self.size, np.int64)
        dense[self.cells] = self.counts
        return dense.reshape(self.shape)

    def to_dict(self) -> dict[tuple[str, ...], int]:
        """Return the non-empty cells as ``{(category, …): count}``."""
        labels = zip(*(np.array(d.categories, object)[self.codes(d.name)] for d in self.dimensions), strict=True)
        return dict(zip(labels, self.counts.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frequencies):
            return NotImplemented
        return self.dimensions == other.dimensions and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("cells", "counts", "impossible")
        )

    def __hash__(self) -> int:
        return hash((self.dimensions, self.cells.tobytes(), self.counts.tobytes(), self.impossible.tobytes()))
