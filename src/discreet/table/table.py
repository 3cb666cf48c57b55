"""The table: counts of people cross-classified by named dimensions, stored by its non-empty cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, LimitError, RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import columns, html_table
from discreet.table.counts import whole_counts
from discreet.table.dimension import Dimension

if TYPE_CHECKING:
    from discreet.table.columns import Margins
    from discreet.table.roles import Layout

DENSE_LIMIT = 50_000_000
"""The largest number of cells that is laid out as a dense array."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A frequency table of any number of dimensions; immutable.

    Only non-empty cells are stored, as sorted positions in row-major order (the last dimension runs fastest)
    with their counts, so that a sparse table costs what its non-empty cells cost. ``impossible`` holds the
    positions of structural zeros: combinations that cannot occur, which do not count as cells.

    >>> table = Table.from_array([[3, 0], [1, 5]], {"area": ["north", "south"], "sex": ["m", "f"]})
    >>> table.total, table.possible, table.label(2)
    (9, 4, {'area': 'south', 'sex': 'm'})
    """

    dimensions: tuple[Dimension, ...]
    cells: IntArray
    counts: IntArray
    impossible: IntArray

    def __post_init__(self) -> None:
        """Check the cells against the dimensions and freeze the arrays."""
        names = [dimension.name for dimension in self.dimensions]
        if not names:
            raise DataError("the table has no dimensions; name at least one")
        if len(set(names)) != len(names):
            raise DataError(f"dimension names are {names}; every name must be unique")
        if math.prod(self.shape) > np.iinfo(np.int64).max:
            raise LimitError(f"the table has {math.prod(self.shape):.3g} cells, more than positions can number")
        for name in ("cells", "counts", "impossible"):
            array = np.asarray(getattr(self, name))
            if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
                raise DataError(f"{name} is of type {array.dtype} and shape {array.shape}; give whole numbers in a row")
            if array.flags.writeable or array.dtype != np.int64:
                # A copy of its own, so that nobody who still holds the array changes the table.
                array = array.astype(np.int64)
                array.flags.writeable = False
            object.__setattr__(self, name, array)
        for array in (self.cells, self.impossible):
            if array.size and (array[0] < 0 or array[-1] >= self.size or (np.diff(array) <= 0).any()):
                raise DataError("cell positions must be sorted, unique and inside the table")
        if self.cells.shape != self.counts.shape:
            raise DataError(f"{self.cells.size} cells but {self.counts.size} counts; give one count per cell")
        if self.counts.size and self.counts.min() <= 0:
            where = int(np.argmin(self.counts))
            raise DataError(
                f"cell {self.describe(int(self.cells[where]))} has count {self.counts[where]}; "
                "stored counts must be 1 or more"
            )
        clash = _common(self.cells, self.impossible)
        if clash.size:
            cell = int(clash[0])
            count = int(self.counts[np.searchsorted(self.cells, cell)])
            raise DataError(
                f"cell {self.describe(cell)} is declared impossible, but its count is {count}; "
                "correct the count or take the cell off the structural zeros"
            )

    # --- making -------------------------------------------------------------------------------------------

    @classmethod
    def from_array(
        cls,
        array: npt.ArrayLike,
        dimensions: Mapping[str, Sequence[object]] | Sequence[str],
        *,
        impossible: npt.ArrayLike | None = None,
    ) -> Table:
        """Build a table from a dense array; categories are numbered from 1 when only names are given.

        Args:
            array: counts, one axis per dimension.
            dimensions: names with their categories in the order of the axes, or names alone.
            impossible: mask of the same shape that is true at structural zeros.

        >>> Table.from_array([4, 0, 2], ["month"]).dimensions[0].categories
        ('1', '2', '3')
        """
        try:
            figures = np.asarray(array)
        except ValueError:
            raise DataError("the array's rows have different lengths; give every row the same cells") from None
        names = list(dimensions)
        if figures.ndim != len(names):
            raise DataError(
                f"the array has {figures.ndim} axes, but {len(names)} dimensions are named: {names}; "
                "name one dimension per axis"
            )
        if figures.size == 0:
            raise DataError(f"the array is empty (shape {figures.shape}); a table needs at least one cell")
        if isinstance(dimensions, Mapping):
            labels = [list(categories) for categories in dimensions.values()]
        else:
            labels = [list(range(1, length + 1)) for length in figures.shape]
        for name, categories, length in zip(names, labels, figures.shape, strict=True):
            if len(categories) != length:
                raise DataError(
                    f"dimension {name!r} has {len(categories)} categories, but the array has {length} along it"
                )
        dims = tuple(Dimension(name, label) for name, label in zip(names, labels, strict=True))
        mask = np.zeros(figures.shape, bool) if impossible is None else np.asarray(impossible, dtype=bool)
        if mask.shape != figures.shape:
            raise DataError(f"the mask of structural zeros has shape {mask.shape}, the counts {figures.shape}")
        shape = figures.shape
        flat = whole_counts(figures.ravel(), lambda i: f"cell {describe(dims, np.unravel_index(i, shape))}")
        cells = np.flatnonzero(flat)
        return cls(dims, cells, flat[cells], np.flatnonzero(mask))

    @classmethod
    def from_dict(cls, counts: Mapping[Any, int], dimensions: Mapping[str, Sequence[object]] | Sequence[str]) -> Table:
        """Build a table from ``{(category, …): count}``; combinations that are absent count 0.

        >>> Table.from_dict({("north", "m"): 3, ("south", "f"): 2}, ["area", "sex"]).total
        5
        """
        from discreet.table.columns import coded_labels, table_from_columns

        names = list(dimensions)
        keys = [key if isinstance(key, tuple) else (key,) for key in counts]
        if not keys:
            raise DataError("the dict is empty; a table needs at least one cell")
        for key in keys:
            if len(key) != len(names):
                raise DataError(f"cell {key} has {len(key)} labels, but the dimensions are {names}; give one for each")

        def where(row: int) -> str:
            return f"entry {row + 1}"

        labels = {name: coded_labels(name, (key[i] for key in keys), where) for i, name in enumerate(names)}
        declared = dict(dimensions) if isinstance(dimensions, Mapping) else None
        figures = np.fromiter(counts.values(), object, len(counts))
        return table_from_columns(labels, figures, where=where, categories=declared)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        dimensions: Sequence[str] | None = None,
        count: str = "count",
        layout: Layout = "auto",
        total: str | None = "Total",
        margins: Margins = "check",
    ) -> Table:
        """Build a table from a pandas, polars or Arrow frame.

        Args:
            frame: *long*, with one column per dimension and a column of counts, or *wide*, a labelled
                cross-table whose first column (or pandas index) holds the row labels.
            dimensions: the columns that classify; by default every column but the counts.
            count: the column of counts of a long frame.
            layout: ``"long"``, ``"wide"``, or ``"auto"``: long when the column of counts is there.
            total: the label that marks a margin; ``None`` when no category is one.
            margins: ``"check"`` that stated margins are the sums of their cells, or ``"recompute"`` to
                leave them out of account.

        >>> import pandas as pd
        >>> long = pd.DataFrame({"area": ["n", "n", "s"], "sex": ["m", "f", "f"], "count": [3, 1, 2]})
        >>> Table.from_frame(long).to_array().tolist()
        [[3, 1], [0, 2]]
        """
        from discreet.table.frames import table_from_frame

        return table_from_frame(frame, dimensions=dimensions, count=count, layout=layout, total=total, margins=margins)

    # --- what is in it ------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each dimension."""
        return tuple(len(dimension) for dimension in self.dimensions)

    @property
    def size(self) -> int:
        """The number of combinations of categories, structural zeros included."""
        return math.prod(self.shape)

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
        if name not in self.names:
            raise RequestError(f"the table has no dimension {name!r}; {nearest(name, self.names)}")
        return self.names.index(name)

    def codes(self, name: str, cells: IntArray | None = None) -> IntArray:
        """Return the category codes along a dimension, of the non-empty cells or of the positions given."""
        axis = self.axis(name)
        stride = math.prod(self.shape[axis + 1 :])
        positions = self.cells if cells is None else cells
        codes: IntArray = positions // stride
        return codes % len(self.dimensions[axis]) if axis else codes

    def label(self, cell: int) -> dict[str, str]:
        """Return the categories of one cell, by dimension."""
        codes = np.unravel_index(cell, self.shape)
        return {d.name: d.categories[int(code)] for d, code in zip(self.dimensions, codes, strict=True)}

    def describe(self, cell: int) -> str:
        """Return the categories of one cell as a phrase.

        >>> Table.from_array([[1, 2]], ["area", "sex"]).describe(1)
        'area=1, sex=2'
        """
        return describe(self.dimensions, np.unravel_index(cell, self.shape))

    def at(self, positions: IntArray) -> IntArray:
        """Return the counts at the given positions.

        >>> Table.from_array([4, 0, 2], ["month"]).at(np.array([2, 1])).tolist()
        [2, 0]
        """
        slot = np.searchsorted(self.cells, positions)
        found = slot < self.cells.size
        found[found] = self.cells[slot[found]] == positions[found]
        counts = np.zeros(positions.shape, np.int64)
        counts[found] = self.counts[slot[found]]
        return counts

    def sums(self, names: Sequence[str], values: FloatArray | IntArray | None = None) -> list[FloatArray]:
        """Sum a figure per non-empty cell over each category of each dimension; without one, count the cells."""
        axes = [self.axis(name) for name in names]
        if 4 * self.cells.size < self.size:
            return [
                np.bincount(self.codes(name), weights=values, minlength=self.shape[axis]).astype(np.float64)
                for name, axis in zip(names, axes, strict=True)
            ]
        # Nearly full: a dense layout adds along whole axes, which is several times faster.
        dense = np.zeros(self.size)
        dense[self.cells] = 1.0 if values is None else values
        every = range(len(self.shape))
        return [dense.reshape(self.shape).sum(axis=tuple(i for i in every if i != axis)) for axis in axes]

    def slice_cells(self, name: str) -> IntArray:
        """Return K of each slice along a dimension: its cells that can occur."""
        axis = self.axis(name)
        length = len(self.dimensions[axis])
        lost = np.bincount(self.codes(name, self.impossible), minlength=length)
        cells: IntArray = self.size // length - lost
        return cells

    # --- parts --------------------------------------------------------------------------------------------

    def margin(self, *names: str) -> Table:
        """Sum over every dimension that is not named.

        A margin's cell is impossible when all the cells it sums are.

        >>> Table.from_array([[3, 0], [1, 5]], ["area", "sex"]).margin("area").counts.tolist()
        [3, 6]
        """
        if not names:
            raise RequestError("name the dimensions to keep; the grand total is table.total")
        axes = [self.axis(name) for name in names]
        dims = tuple(self.dimensions[axis] for axis in axes)
        cells, counts = _add_up(self._project(self.cells, axes), self.counts, math.prod(len(dim) for dim in dims))
        lost, times = np.unique(self._project(self.impossible, axes), return_counts=True)
        merged = self.size // math.prod(len(dim) for dim in dims)
        return Table(dims, cells, counts, lost[times == merged])

    def slice(self, fixed: Mapping[str, object] | None = None, /, **more: object) -> Table:
        """Fix one or more dimensions at a category and return the table over the others.

        >>> Table.from_array([[3, 0], [1, 5]], ["area", "sex"]).slice(area="2").counts.tolist()
        [1, 5]
        """
        wanted = {**(fixed or {}), **more}
        codes = {self.axis(name): self.dimensions[self.axis(name)].code(label) for name, label in wanted.items()}
        kept = [axis for axis in range(len(self.shape)) if axis not in codes]
        if not codes or not kept:
            raise RequestError(f"fix some but not all of the dimensions {list(self.names)}; given: {list(wanted)}")

        def inside(positions: IntArray) -> npt.NDArray[np.bool_]:
            chosen = np.ones(positions.size, bool)
            for axis, code in codes.items():
                chosen &= self.codes(self.names[axis], positions) == code
            return chosen

        here, lost = inside(self.cells), self.impossible[inside(self.impossible)]
        return Table(
            tuple(self.dimensions[axis] for axis in kept),
            self._project(self.cells[here], kept),
            self.counts[here],
            self._project(lost, kept),
        )

    def with_counts(self, cells: IntArray, counts: IntArray) -> Table:
        """Return a table over the same cells with other counts; zeros among them are dropped."""
        order = np.argsort(cells)
        kept = order[counts[order] != 0]
        return Table(self.dimensions, cells[kept], counts[kept], self.impossible)

    def with_structural_zeros(
        self, combinations: Any, *, encoding: str = "utf-8", delimiter: str | None = None
    ) -> Table:
        """Declare combinations impossible.

        Args:
            combinations: a list of ``{dimension: category}``, a frame, or a CSV or Parquet file with a column
                per dimension. A combination may name some of the dimensions only; then it is impossible
                whatever the others are.
            encoding: the encoding of a CSV file.
            delimiter: what separates the columns of a CSV file; found from the header when not given.

        >>> table = Table.from_array([[3, 0], [1, 5]], {"age": ["child", "adult"], "married": ["no", "yes"]})
        >>> table.with_structural_zeros([{"age": "child", "married": "yes"}]).possible
        3
        """
        from discreet.table.structural_zeros import positions_of

        found = positions_of(self, combinations, encoding=encoding, delimiter=delimiter)
        added = np.union1d(self.impossible, found)
        return Table(self.dimensions, self.cells, self.counts, added)

    def aligned_to(self, other: Table) -> Table:
        """Return this table with the dimensions and categories in the other's order, joined by label.

        Raises:
            DataError: when names or categories differ; the message names the first that does.
        """
        if self.dimensions == other.dimensions:
            return self
        if set(self.names) != set(other.names):
            raise DataError(
                f"dimensions differ: {list(other.names)} in the original, {list(self.names)} in the released "
                "table; rename the columns so that they agree"
            )
        codes = [self._codes_in(dimension) for dimension in other.dimensions]

        def moved(positions: IntArray) -> IntArray:
            result = np.zeros(positions.size, np.int64)
            for dimension, code in zip(other.dimensions, codes, strict=True):
                result = result * len(dimension) + code[self.codes(dimension.name, positions)]
            return result

        cells = moved(self.cells)
        order = np.argsort(cells)
        return Table(other.dimensions, cells[order], self.counts[order], np.sort(moved(self.impossible)))

    def _codes_in(self, dimension: Dimension) -> IntArray:
        """Return the codes that the categories of a dimension have in another table's version of it."""
        mine = self.dimensions[self.axis(dimension.name)].categories
        known = {label: code for code, label in enumerate(dimension.categories)}
        here = set(mine)
        for label, there, lacking in (
            (next((x for x in mine if x not in known), None), "released table", "original"),
            (next((x for x in known if x not in here), None), "original", "released table"),
        ):
            if label is not None:
                raise DataError(
                    f"category {label!r} of dimension {dimension.name!r} is in the {there} but not in the "
                    f"{lacking}; give both tables the same categories (list empty ones with count 0)"
                )
        return np.array([known[label] for label in mine], np.int64)

    def _project(self, positions: IntArray, axes: Sequence[int]) -> IntArray:
        """Map positions in this table to positions in the table of some of its axes."""
        result = np.zeros(positions.size, np.int64)
        for axis in axes:
            result = result * self.shape[axis] + self.codes(self.names[axis], positions)
        return result

    # --- leaving ------------------------------------------------------------------------------------------

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

    def to_frame(
        self,
        backend: Literal["pandas", "polars", "pyarrow"] = "pandas",
        *,
        layout: Literal["long", "wide"] = "long",
        zeros: bool = True,
        count: str = "count",
    ) -> Any:
        """Return a frame, long (a column per dimension and the counts) or wide (the last dimension across).

        A long frame of a table with structural zeros has a column ``possible``; a wide one shows them as 0.

        Args:
            backend: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
            layout: ``"long"`` or ``"wide"``.
            zeros: whether a long frame lists empty cells too.
            count: the name of the column of counts of a long frame.

        >>> Table.from_array([[3, 0], [1, 5]], ["area", "sex"]).to_frame(layout="wide").values.tolist()
        [['1', 3, 0], ['2', 1, 5]]
        """
        from discreet.table.table_writer import frame_from_table

        return frame_from_table(self, backend, layout=layout, zeros=zeros, count=count)

    def write(
        self,
        path: str | Path,
        *,
        layout: Literal["long", "wide"] = "long",
        zeros: bool = True,
        count: str = "count",
    ) -> None:
        """Write a CSV or Parquet file, whole or not at all.

        Parquet keeps categories that nobody is in, and structural zeros, at the cost of the non-empty cells.
        CSV keeps them where it lists empty cells, and structural zeros in the long layout; see :meth:`to_frame`.
        """
        from discreet.table.table_reader import write_table

        write_table(self, path, layout=layout, zeros=zeros, count=count)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle through the constructor, which freezes the arrays again."""
        return Table, (self.dimensions, self.cells, self.counts, self.impossible)

    # --- faces --------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Two tables are equal when their dimensions, counts and structural zeros are."""
        if not isinstance(other, Table):
            return NotImplemented
        return self.dimensions == other.dimensions and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("cells", "counts", "impossible")
        )

    def __hash__(self) -> int:
        """Hash what equality compares."""
        return hash((self.dimensions, self.cells.tobytes(), self.counts.tobytes(), self.impossible.tobytes()))

    @property
    def headline(self) -> str:
        """What the table is, in a line: dimensions, people, cells."""
        spread = " × ".join(f"{name} ({length})" for name, length in zip(self.names, self.shape, strict=True))
        empty = self.possible - self.cells.size
        share = f" ({empty / self.possible:.0%})" if self.possible else ""
        lost = f", {self.impossible.size:,} impossible" if self.impossible.size else ""
        return f"Table {spread}: N = {self.total:,}, {self.possible:,} cells, {empty:,} empty{share}{lost}"

    def _preview(self, rows: int = 12, across: int = 14) -> tuple[list[str], list[list[str]], int]:
        """Return a header, rows and the number of label columns of a short view."""
        if len(self.shape) == 2 and self.shape[1] <= across:
            first, last = self.dimensions
            lost = set(self.impossible.tolist())
            header = [f"{first.name} \\ {last.name}", *last.categories]
            body = []
            for i, label in enumerate(first.categories[:rows]):
                low, high = np.searchsorted(self.cells, [i * len(last), (i + 1) * len(last)])
                line = ["·" if i * len(last) + j in lost else "0" for j in range(len(last))]
                for cell, value in zip(self.cells[low:high], self.counts[low:high], strict=True):
                    line[int(cell) % len(last)] = f"{value:,}"
                body.append([label, *line])
            if len(first) > rows:
                body.append(["…"] * len(header))
            return header, body, 1
        body = [
            [*self.label(int(cell)).values(), f"{value:,}"]
            for cell, value in zip(self.cells[:rows], self.counts[:rows], strict=True)
        ]
        if self.cells.size > rows:
            body.append(["…"] * (len(self.names) + 1))
        return [*self.names, "count"], body, len(self.names)

    def __str__(self) -> str:
        """Return a headline and a short view of the cells."""
        header, body, left = self._preview()
        return f"{self.headline}\n{columns(header, body, left)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        header, body, left = self._preview()
        return html_table(header, body, left, caption=self.headline)


def describe(dimensions: Sequence[Dimension], codes: Sequence[Any]) -> str:
    """Return the categories at the given codes as a phrase."""
    return ", ".join(f"{d.name}={d.categories[int(code)]}" for d, code in zip(dimensions, codes, strict=True))


def _add_up(positions: IntArray, counts: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the positions that occur, sorted, and the sum of the counts at each."""
    if size <= 4 * positions.size:
        dense = np.zeros(size, np.int64)
        np.add.at(dense, positions, counts)
        cells = np.flatnonzero(dense)
        return cells, dense[cells]
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], np.add.reduceat(counts[order], starts) if starts.size else counts[:0]


def _common(a: IntArray, b: IntArray) -> IntArray:
    """Return the values that two sorted unique arrays share."""
    if not a.size or not b.size:
        return a[:0]
    return np.intersect1d(a, b, assume_unique=True)
