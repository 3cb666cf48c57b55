"""Records of single people, counted into a table that remembers in which cell each record is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np

from discreet.core.errors import DataError, RequestError, require
from discreet.core.numerics import FloatArray, IntArray, first_true
from discreet.table.arrow_files import TextOptions, errors_of, read_arrow
from discreet.table.columns import coded_arrow
from discreet.table.counts import Where, amounts_from_arrow
from discreet.table.frames import to_arrow
from discreet.table.grid import Dimension, grid_of
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Records:
    """A table of counts, the cell of every record in it, and the records' survey weights if there are any.

    ``declared`` says that the categories were declared, not only found among the records.
    """

    table: Table
    cells: IntArray
    weights: FloatArray | None = None
    declared: bool = False

    @property
    def weighted(self) -> FloatArray | None:
        """The sum of the weights in every combination of categories, in the table's shape."""
        if self.weights is None:
            return None
        sums = np.bincount(self.cells, weights=self.weights, minlength=self.table.size)
        return sums.astype(np.float64).reshape(self.table.shape)

    def with_structural_zeros(self, combinations: object, **text: Unpack[TextOptions]) -> Records:
        """Declare combinations impossible, as :meth:`Table.with_structural_zeros` does."""
        return replace(self, table=self.table.with_structural_zeros(combinations, **text))


def count_records(
    frame: object,
    by: Sequence[str],
    *,
    weight: str | None = None,
    categories: Mapping[str, Sequence[object]] | None = None,
    where: Where | None = None,
) -> Records:
    """Count the records of a pandas, polars or Arrow frame by some of its columns.

    Args:
        frame: one row per person.
        by: the columns that classify.
        weight: a column of survey weights.
        categories: the categories of each column, also those that no record has; by default those of the records.
        where: names the place of a row in messages.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["m", "f", "f"], "area": ["n", "n", "s"]})
    >>> count_records(people, ["sex", "area"]).table.to_array().tolist()
    [[1, 0], [1, 1]]
    """
    arrow = to_arrow(frame)
    place = where or (lambda row: f"row {row}")
    if not by:
        raise RequestError("name the columns that classify the records")
    require([*by, *([] if weight is None else [weight])], arrow.column_names, "there is no column")
    if arrow.num_rows == 0:
        raise DataError("there are no records; a table needs at least one")
    dims, codes = [], []
    for name in by:
        column = coded_arrow(name, arrow[name], place)
        dim = Dimension(name, column.categories if categories is None or name not in categories else categories[name])
        codes.append(dim.codes(column.categories)[column.codes])
        dims.append(dim)
    cells = grid_of(dims).encode(codes)
    filled, counts = np.unique(cells, return_counts=True)
    table = Table(tuple(dims), filled, counts, np.zeros(0, np.int64))
    weights = None if weight is None else amounts_from_arrow(arrow[weight], f"weight {weight!r}", place)
    if weights is not None and (row := first_true(~(np.isfinite(weights) & (weights > 0)))) is not None:
        raise DataError(f"{place(row)}: weight {weight!r} is {weights[row]:g}; weights are above 0")
    return Records(table, cells, weights, declared=categories is not None)


def read_records(
    path: str | Path, by: Sequence[str], *, weight: str | None = None, **text: Unpack[TextOptions]
) -> Records:
    """Read records from a Parquet or CSV (``encoding``, ``delimiter``) file, one row per person, and count them."""
    arrow = read_arrow(path, **text)
    with errors_of(path):
        return count_records(arrow, by, weight=weight, where=lambda row: f"record {row + 1}")
