"""Columns to files and frames: CSV for people, Parquet with a note of what the columns mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.errors import RequestError
from discreet.core.files import write_whole


def write_csv(arrow: pa.Table, file: Path) -> None:
    """Write columns as CSV, whole or not at all; quotes stand only where they are needed."""
    import pyarrow.csv as pcsv

    quoting = pcsv.WriteOptions(quoting_style="needed", quoting_header="needed")
    write_whole(file, lambda temporary: pcsv.write_csv(arrow, temporary, quoting))


def write_parquet(arrow: pa.Table, file: Path, note: Mapping[str, Any]) -> None:
    """Write columns as Parquet, whole or not at all; the key ``discreet`` of its metadata holds the note."""
    import pyarrow.parquet as pq

    noted = arrow.replace_schema_metadata({b"discreet": json.dumps(note, default=_plain).encode()})
    write_whole(file, lambda temporary: pq.write_table(noted, temporary))


def _plain(item: Any) -> Any:
    """Return arrays and numbers of NumPy as JSON knows them, and anything else as its text."""
    return item.tolist() if isinstance(item, np.ndarray | np.generic) else str(item)


def refuse_format(file: Path, *formats: str) -> RequestError:
    """Return the error about a file whose ending names none of the formats that are written."""
    return RequestError(f"{file}: '{file.suffix}' is not a format that is written; give {' or '.join(formats)}")


def frame_from_arrow(arrow: pa.Table, backend: Literal["pandas", "polars", "pyarrow"]) -> Any:
    """Return columns as a frame of the kind asked for."""
    if backend == "pyarrow":
        return arrow
    try:
        if backend == "pandas":
            return arrow.to_pandas()
        if backend == "polars":
            import polars

            return polars.from_arrow(arrow)
    except ImportError:
        raise RequestError(f"{backend} is not installed; install it with: pip install {backend}") from None
    raise RequestError(f"backend is {backend!r}; it is 'pandas', 'polars' or 'pyarrow'")
