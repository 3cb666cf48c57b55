"""Tabulations to files: Parquet keeps everything, CSV the codes and figures for people.

The Parquet file has a row per cell and these columns, and the key ``discreet`` of its metadata holds a JSON note
``{"kind": "tabulation", "schema": 2, "dimensions": […], "responses": […], "margins": […], "top", "dropped"}`` in which
each dimension lists its hierarchies (codes, position of each code's parent, labels).

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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.numerics import IntArray
from discreet.table.arrow_files import label_columns, refuse_format, write_csv, write_parquet
from discreet.table.axis import Axis
from discreet.table.grid import Grid, locate
from discreet.table.respondents import Respondents

SCHEMA = 2
"""The version of the layout described above; version 1 has no respondents."""


def arrow_from_cells(
    axes: Sequence[Axis], cells: IntArray, figures: Mapping[str, Any], *, coded: bool = False
) -> pa.Table:
    """Return a row per cell: its codes, then its figures."""
    grid = Grid.of({axis.name: axis.codes for axis in axes})
    data = label_columns(grid.labels, grid.decode(cells), taken=figures, coded=coded)
    return pa.table(data | {name: np.ascontiguousarray(c) for name, c in figures.items() if c is not None})


def write_cells(
    path: str | Path,
    axes: Sequence[Axis],
    cells: IntArray,
    figures: Mapping[str, Any],
    about: Mapping[str, Any],
    respondents: Respondents | None,
) -> None:
    """Write the cells of a tabulation as Parquet or CSV, by the file's ending; see :meth:`Tabulation.write`.

    ``about`` is the rest of the note: responses, margins, top, dropped.
    """
    file = Path(path)
    if file.suffix.lower() == ".parquet":
        arrow = arrow_from_cells(axes, cells, figures, coded=True)
        if respondents is not None:
            arrow = _with_respondents(arrow, cells, respondents, [one["name"] for one in about["responses"]])
        trees = [{"name": axis.name, "hierarchies": [tree.to_dict() for tree in axis.hierarchies]} for axis in axes]
        write_parquet(arrow, file, {"kind": "tabulation", "schema": SCHEMA, "dimensions": trees, **about})
    elif file.suffix.lower() == ".csv":
        write_csv(arrow_from_cells(axes, cells, figures), file)
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
