"""The table: counts of people cross-classified by named dimensions, stored by its non-empty cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError
from discreet.core.text import Readable, columns, html_table
from discreet.table.counts import whole_counts
from discreet.table.frequencies import Frequencies
from discreet.table.grid import Dimension, grid_of

if TYPE_CHECKING:
    from discreet.table.arrow_files import Backend, Frame, TextOptions
    from discreet.table.frames import TableOptions
    from discreet.table.table_writer import WrittenLayout

Label = TypeVar("Label")


@dataclass(frozen=True, eq=False, repr=False)
class Table(Frequencies, Readable):
    """A frequency table of any number of dimensions; immutable.

    Only non-empty cells are stored, as sorted positions in row-major order (the last dimension runs fastest)
    with their counts: a sparse table costs what its non-empty cells cost. ``impossible`` holds the positions of
    structural zeros: combinations that cannot occur, which do not count as cells.

    >>> table = Table.from_array([[3, 0], [1, 5]], {"area": ["north", "south"], "sex": ["m", "f"]})
    >>> table.total, table.possible, table.label(2)
    (9, 4, {'area': 'south', 'sex': 'm'})
    """

    @classmethod
    def of(cls, counted: Frequencies) -> Table:
        """Return the table of counted cells, as readers return them."""
        return cls(counted.dimensions, counted.cells, counted.counts, counted.impossible)

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
        flat = whole_counts(figures.ravel(), lambda i: f"cell {grid_of(dims).describe(i)}")
        cells = np.flatnonzero(flat)
        return cls(dims, cells, flat[cells], np.flatnonzero(mask))

    @classmethod
    def from_dict(
        cls, counts: Mapping[Label, int], dimensions: Mapping[str, Sequence[object]] | Sequence[str]
    ) -> Table:
        """Build a table from ``{(category, …): count}``; combinations that are absent count 0.

        >>> Table.from_dict({("north", "m"): 3, ("south", "f"): 2}, ["area", "sex"]).total
        5
        """
        from discreet.table.columns import coded_labels, frequencies_from_columns

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
        return cls.of(frequencies_from_columns(labels, figures, where=where, categories=declared))

    @classmethod
    def from_frame(cls, frame: object, **reading: Unpack[TableOptions]) -> Table:
        """Build a table from a pandas, polars or Arrow frame.

        Args:
            frame: *long*, with one column per dimension and a column of counts, or *wide*, a labelled
                cross-table whose first column (or pandas index) holds the row labels.
            **reading: ``dimensions``, ``count``, ``layout``, ``total``, ``totals``, ``margins``, ``listed`` and
                ``decimal``, as :func:`discreet.read_table` takes them.

        >>> import pandas as pd
        >>> long = pd.DataFrame({"area": ["n", "n", "s"], "sex": ["m", "f", "f"], "count": [3, 1, 2]})
        >>> Table.from_frame(long).to_array().tolist()
        [[3, 1], [0, 2]]
        """
        from discreet.table.frames import frequencies_from_arrow, plain_columns
        from discreet.table.roles import FIGURES

        count, layout = reading.get("count", FIGURES[0]), reading.get("layout", "auto")
        arrow, reading["layout"] = plain_columns(frame, count, layout, reading.get("dimensions"))
        return cls.of(frequencies_from_arrow(arrow, lambda row: f"row {row}", **reading))

    def with_structural_zeros(self, combinations: object, **text: Unpack[TextOptions]) -> Table:
        """Declare combinations impossible.

        Args:
            combinations: a list of ``{dimension: category}``, a frame, or a CSV or Parquet file with a column
                per dimension. A combination that names some of the dimensions only is impossible whatever the
                others are.
            **text: ``encoding`` and ``delimiter`` of a CSV file, by default UTF-8 and found from the header.

        >>> table = Table.from_array([[3, 0], [1, 5]], {"age": ["child", "adult"], "married": ["no", "yes"]})
        >>> table.with_structural_zeros([{"age": "child", "married": "yes"}]).possible
        3
        """
        from discreet.table.frames import impossible_cells

        added = np.union1d(self.impossible, impossible_cells(self, combinations, **text))
        return Table(self.dimensions, self.cells, self.counts, added)

    def to_frame(
        self, backend: Backend = "pandas", *, layout: WrittenLayout = "long", zeros: bool = True, count: str = "count"
    ) -> Frame:
        """Return a frame, long (a column per dimension and the counts) or wide (the last dimension across).

        A long frame lists empty cells with ``zeros`` only, and its counts are in the column ``count``. If the table has
        structural zeros, it has a column ``possible`` too; a wide frame shows them as 0.

        >>> Table.from_array([[3, 0], [1, 5]], ["area", "sex"]).to_frame(layout="wide").values.tolist()
        [['1', 3, 0], ['2', 1, 5]]
        """
        from discreet.table.arrow_files import frame_from_arrow
        from discreet.table.table_writer import arrow_from_table

        return frame_from_arrow(arrow_from_table(self, layout=layout, zeros=zeros, count=count), backend)

    def write(
        self, path: str | Path, *, layout: WrittenLayout = "long", zeros: bool = True, count: str = "count"
    ) -> None:
        """Write a CSV or Parquet file, atomically.

        Parquet keeps empty categories and structural zeros, and lists non-empty cells only.
        CSV keeps them if it lists empty cells, and structural zeros in the long layout; see :meth:`to_frame`.
        """
        from discreet.table.table_writer import write_table

        write_table(self, path, layout=layout, zeros=zeros, count=count)

    @property
    def headline(self) -> str:
        """The table in a line: dimensions, people, cells."""
        spread = " × ".join(f"{name} ({length})" for name, length in zip(self.names, self.shape, strict=True))
        empty = self.possible - self.cells.size
        share = f" ({empty / self.possible:.0%})" if self.possible else ""
        lost = f", {self.impossible.size:,} impossible" if self.impossible.size else ""
        return f"Table {spread}: N = {self.total:,}, {self.possible:,} inner cells, {empty:,} empty{share}{lost}"

    def _preview(self, rows: int = 12, across: int = 14) -> tuple[list[str], list[list[str]], int]:
        """Return a header, rows and the number of label columns of a short view."""
        if len(self.shape) == 2 and self.shape[1] <= across:
            first, last = self.dimensions
            lost = set(self.impossible.tolist())
            header = [f"{first.name} \\ {last.name}", *last.categories]
            body = []
            for i, label in enumerate(first.categories[:rows]):
                cells = np.arange(i * len(last), (i + 1) * len(last))
                shown = zip(cells.tolist(), self.at(cells).tolist(), strict=True)
                body.append([label, *("·" if cell in lost else f"{value:,}" for cell, value in shown)])
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
        return f"{self.headline}\n{columns(*self._preview())}"

    def _repr_html_(self) -> str:
        return html_table(*self._preview(), caption=self.headline)
