"""Rows of frames and files of records: chosen or changed, and returned in the same form."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.arrow_files import Frame, frame_from_arrow
from discreet.table.columns import coded_arrow
from discreet.table.frames import to_arrow


def read_columns(records: object) -> pa.Table:
    """Return a pandas, polars or Arrow frame, or a CSV or Parquet file, as columns."""
    from discreet.table.arrow_files import read_arrow

    return read_arrow(Path(records)) if isinstance(records, str | Path) else to_arrow(records)


def arrow_records(records: object) -> pa.Table:
    """Return the records of a frame or file as columns; there must be some."""
    arrow = read_columns(records)
    if arrow.num_rows == 0:
        raise DataError("there are no records; a file needs at least one")
    return arrow


def like(records: object, arrow: pa.Table) -> Frame:
    """Return columns as a frame of the kind that the records came in; files come back as Arrow."""
    home = type(records).__module__.split(".")[0]
    if home == "pandas":
        return frame_from_arrow(arrow, "pandas")
    return frame_from_arrow(arrow, "polars") if home == "polars" else arrow


def rows_by_name(arrow: pa.Table) -> IntArray:
    """Return records in the order of their texts, column by column by name: the same for any order of the file.

    >>> rows_by_name(pa.table({"sex": ["f", "m", "f"], "area": [10, 9, 9]})).tolist()
    [0, 2, 1]
    """
    import pyarrow.compute as pc

    texts = {}
    for name in sorted(set(arrow.column_names)):
        # Lists and the like have no text; records that differ in them alone keep the order of the file.
        with suppress(pa.ArrowException, KeyError):
            texts[name] = arrow[name].cast(pa.string())
    if not texts:
        return np.arange(arrow.num_rows)
    order = pc.sort_indices(pa.table(texts), [(name, "ascending") for name in texts])
    found: IntArray = order.to_numpy().astype(np.int64)
    return found


def column_codes(arrow: pa.Table, name: str) -> tuple[IntArray, list[str]]:
    """Return a column as integers, with its labels, which are sorted: the order of the rows does not matter.

    >>> column_codes(pa.table({"area": ["s", "n", "s"]}), "area")[0].tolist()
    [1, 0, 1]
    """
    if name not in arrow.column_names:
        raise RequestError(f"there is no column {name!r}; {nearest(name, arrow.column_names)}")
    coded = coded_arrow(name, arrow[name], lambda row: f"record {row + 1}")
    order = sorted(range(len(coded.categories)), key=lambda i: str(coded.categories[i]))
    return np.argsort(order)[coded.codes], [str(coded.categories[i]) for i in order]
