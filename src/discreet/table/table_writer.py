"""Tables and tabulations to frames and files: Parquet keeps everything, CSV the labels and figures for people.

The Parquet file of a tabulation has a row per cell and the columns below. The key ``discreet`` of its metadata holds a
JSON note ``{"kind": "tabulation", "schema": 2, "dimensions": […], "responses": […], "margins": […], "top", "dropped"}``
in which each dimension lists its hierarchies (codes, position of each code's parent, labels).

| column | meaning |
|---|---|
| the dimension's name | code of the cell along it, a dictionary over all codes |
| ``records``, ``weighted`` | number of records, sum of their weights |
| ``sum:R``, ``weighted_sum:R`` | Σx and Σw·x of response R over the records |
| ``contributor:units``, ``contributor:weighted_units`` | number of contributors, sum of their weights |
| ``contributor:total:R``, ``contributor:weighted_total:R`` | Σ of the contributions' sizes, plain and weighted |
| ``contributor:topI:R``, ``contributor:weighted_topI:R`` | the I-th largest contribution, plain and weighted |
| ``holding:…`` | the same at the level of holdings, where they are known |
| ``respondent:name``, ``respondent:records`` | in the finest cells, who is in them with how many records, as lists |
| ``respondent:sum:R`` | what each of those sums to in response R, as a list |
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.core.errors import LimitError, RequestError
from discreet.core.json_types import JsonObject
from discreet.core.numerics import IntArray
from discreet.table.arrow_files import label_columns, refuse_format, write_csv, write_parquet
from discreet.table.axis import Axis
from discreet.table.frequencies import DENSE_LIMIT, Frequencies
from discreet.table.grid import Grid, locate, look_up
from discreet.table.roles import POSSIBLE
from discreet.table.units import Columns, Respondents

WrittenLayout: TypeAlias = Literal["long", "wide"]
SCHEMA, CELLS_SCHEMA = 1, 2
"""The versions of the notes in Parquet files of tables and of tabulations; version 1 of these has no respondents."""


def arrow_from_table(table: Frequencies, *, layout: WrittenLayout, zeros: bool, count: str) -> pa.Table:
    """Return a table as columns; see :meth:`Table.to_frame`."""
    if layout not in ("long", "wide"):
        raise RequestError(f"layout is {layout!r}; give 'long' or 'wide'")
    return _wide(table) if layout == "wide" else _long(table, zeros=zeros, count=count)


def _long(table: Frequencies, *, zeros: bool, count: str, coded: bool = False) -> pa.Table:
    """Return one row per cell: every cell with ``zeros``, otherwise the non-empty and impossible ones."""
    if not zeros:
        cells = np.union1d(table.cells, table.impossible)
        counts = look_up(table.cells, table.counts, cells)
    elif table.size > DENSE_LIMIT:
        raise LimitError(
            f"the table has {table.size:,} cells, too many to list; pass zeros=False, or write Parquet, "
            "which keeps the categories"
        )
    else:
        cells, counts = np.arange(table.size), table.to_array().ravel()
    data = label_columns(
        table.categories_by_name,
        table.grid.decode(cells),
        taken=[count, POSSIBLE] if table.impossible.size else [count],
        coded=coded,
        remedy="give the counts another name, as count='people'" if count in table.names else "rename the dimension",
    )
    data[count] = counts
    if table.impossible.size:
        data[POSSIBLE] = ~np.isin(cells, table.impossible)
    return pa.table(data)


def _wide(table: Frequencies) -> pa.Table:
    """Return a cross-table, the last dimension across the columns."""
    if len(table.shape) < 2:
        raise RequestError("a cross-table needs two dimensions or more; use the long layout")
    *rows, last = table.dimensions
    dense = table.to_array().reshape(-1, len(last))
    positions = np.arange(dense.shape[0]) * len(last)
    # One row dimension leaves room in the first header to name what runs across.
    headers = [f"{rows[0].name}\\{last.name}"] if len(rows) == 1 else [dimension.name for dimension in rows]
    if len(rows) == 1 and headers[0].count("\\") > 1:
        raise RequestError(
            f"a backslash in the names {list(table.names)} cannot be told from the one between them; use long"
        )
    data: dict[str, pa.Array] = {}
    for header, dimension in zip(headers, rows, strict=True):
        data[header] = pa.array(dimension.categories).take(pa.array(table.codes(dimension.name, positions)))
    for code, category in enumerate(last.categories):
        if category in data or (len(rows) > 1 and category == last.name):
            raise RequestError(f"category {category!r} of {last.name!r} is also the header of a dimension; use long")
        data[category] = dense[:, code]
    return pa.table(data)


def write_table(table: Frequencies, path: str | Path, *, layout: WrittenLayout, zeros: bool, count: str) -> None:
    """Write a table as CSV or Parquet, by the file's ending; see :meth:`Table.write`."""
    file = Path(path)
    if file.suffix.lower() == ".parquet":
        listed = [{"name": d.name, "categories": list(d.categories)} for d in table.dimensions]
        note = {"schema": SCHEMA, "count": count, "dimensions": listed}
        write_parquet(_long(table, zeros=False, count=count, coded=True), file, note, private=True)
    elif file.suffix.lower() in (".csv", ".txt"):
        write_csv(arrow_from_table(table, layout=layout, zeros=zeros, count=count), file, private=True)
    else:
        raise refuse_format(file, ".csv", ".parquet")


def arrow_from_cells(axes: Sequence[Axis], cells: IntArray, figures: Columns, *, coded: bool = False) -> pa.Table:
    """Return a row per cell: its codes, then its figures."""
    grid = Grid.of({axis.name: axis.codes for axis in axes})
    data = label_columns(grid.labels, grid.decode(cells), taken=figures, coded=coded)
    return pa.table(data | {name: np.ascontiguousarray(c) for name, c in figures.items() if c is not None})


def write_cells(
    path: str | Path,
    axes: Sequence[Axis],
    cells: IntArray,
    figures: Columns,
    about: JsonObject,
    respondents: Respondents | None,
) -> None:
    """Write the cells of a tabulation as Parquet or CSV, by the file's ending; ``about`` is the rest of the note."""
    file = Path(path)
    if file.suffix.lower() == ".parquet":
        arrow = arrow_from_cells(axes, cells, figures, coded=True)
        if respondents is not None:
            arrow = _with_respondents(arrow, cells, respondents, [one["name"] for one in about["responses"]])
        trees = [
            {
                "name": axis.name,
                "hierarchies": [tree.to_dict() for tree in axis.hierarchies],
                "occurring": sorted(axis.occurring),
            }
            for axis in axes
        ]
        write_parquet(
            arrow, file, {"kind": "tabulation", "schema": CELLS_SCHEMA, "dimensions": trees, **about}, private=True
        )
    elif file.suffix.lower() == ".csv":
        write_csv(arrow_from_cells(axes, cells, figures), file, private=True)
    else:
        raise refuse_format(file, ".parquet", ".csv")


def _with_respondents(arrow: pa.Table, cells: IntArray, known: Respondents, responses: Sequence[str]) -> pa.Table:
    """Add lists of the respondents in each finest cell."""
    row = locate(cells, known.cell)
    order = np.argsort(row, kind="stable")
    ends = pa.array(np.searchsorted(row[order], np.arange(cells.size + 1)).astype(np.int64))
    names = pa.DictionaryArray.from_arrays(pa.array(known.unit[order]), pa.array(known.names, pa.string()))
    columns = {"respondent:name": names.dictionary_decode(), "respondent:records": pa.array(known.records[order])}
    for response, amounts in zip(responses, known.amounts, strict=True):
        columns[f"respondent:sum:{response}"] = pa.array(amounts[order])
    for name, column in columns.items():
        arrow = arrow.append_column(name, pa.LargeListArray.from_arrays(ends, column))
    return arrow
