"""Rows of frames and files of records: chosen or changed, and handed back as what they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.arrow_files import frame_from_arrow
from discreet.table.columns import coded_arrow
from discreet.table.frames import to_arrow


def arrow_records(records: Any) -> pa.Table:
    """Return the records of a pandas, polars or Arrow frame, or of a CSV or Parquet file, as columns."""
    if isinstance(records, str | Path):
        from discreet.table.arrow_files import read_arrow

        arrow = read_arrow(Path(records))
    else:
        arrow = to_arrow(records)
    if arrow.num_rows == 0:
        raise DataError("there are no records; a file needs at least one")
    return arrow


def like(records: Any, arrow: pa.Table) -> Any:
    """Return columns as a frame of the kind that the records came in; files come back as Arrow."""
    home = type(records).__module__.split(".")[0]
    if home == "pandas":
        return frame_from_arrow(arrow, "pandas")
    return frame_from_arrow(arrow, "polars") if home == "polars" else arrow


def column_codes(arrow: pa.Table, name: str) -> tuple[IntArray, list[str]]:
    """Return a column as whole numbers, in the sorted order of its labels, with the labels.

    Sorted, so that the order of the rows does not matter.

    >>> column_codes(pa.table({"area": ["s", "n", "s"]}), "area")[0].tolist()
    [1, 0, 1]
    """
    if name not in arrow.column_names:
        raise RequestError(f"there is no column {name!r}; {nearest(name, arrow.column_names)}")
    coded = coded_arrow(name, arrow[name], lambda row: f"record {row + 1}")
    order = sorted(range(len(coded.categories)), key=lambda i: str(coded.categories[i]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[coded.codes], [str(coded.categories[i]) for i in order]
