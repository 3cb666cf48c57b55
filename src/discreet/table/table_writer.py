"""Tables to frames and files: long and wide, CSV and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.core.errors import LimitError, RequestError
from discreet.table.arrow_files import label_columns, refuse_format, write_csv, write_parquet
from discreet.table.frequencies import DENSE_LIMIT, Frequencies
from discreet.table.grid import look_up
from discreet.table.roles import POSSIBLE

WrittenLayout: TypeAlias = Literal["long", "wide"]
SCHEMA = 1
"""The version of the note that a Parquet file of a table carries."""


def arrow_from_table(table: Frequencies, *, layout: WrittenLayout, zeros: bool, count: str) -> pa.Table:
    """Return a table as columns; see :meth:`Table.to_frame`."""
    if layout not in ("long", "wide"):
        raise RequestError(f"layout is {layout!r}; it is 'long' or 'wide'")
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
        remedy="name the counts otherwise, as count='people'" if count in table.names else "rename the dimension",
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
    data: dict[str, Any] = {}
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
        write_parquet(_long(table, zeros=False, count=count, coded=True), file, note)
    elif file.suffix.lower() in (".csv", ".txt"):
        write_csv(arrow_from_table(table, layout=layout, zeros=zeros, count=count), file)
    else:
        raise refuse_format(file, ".csv", ".parquet")
