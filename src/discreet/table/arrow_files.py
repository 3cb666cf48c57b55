"""CSV, Parquet and Excel files to columns, before anything is said of what they mean."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from discreet.core.errors import DataError, RequestError
from discreet.table.counts import Where


def read_arrow(path: str | Path, *, encoding: str = "utf-8", delimiter: str | None = None) -> pa.Table:
    """Read a CSV file as columns of text, or a Parquet file as it is."""
    return read_arrow_rows(path, encoding=encoding, delimiter=delimiter)[0]


def read_arrow_rows(
    path: str | Path, *, encoding: str = "utf-8", delimiter: str | None = None
) -> tuple[pa.Table, Where]:
    """Read a file as :func:`read_arrow` does, and say what its rows are called in messages."""
    file = Path(path)
    if os.path.isdir(file):
        raise RequestError(f"{file} is a folder; name a CSV or Parquet file")
    if not os.path.exists(file):
        raise RequestError(f"{file} does not exist; check the name and the folder")
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".txt", ".tsv", ".parquet", ".xlsx"):
        raise RequestError(f"{file}: '{suffix}' is not a format that is read; give a .csv, .parquet or .xlsx file")
    try:
        content = file.read_bytes()
    except OSError as error:
        raise RequestError(f"{file} cannot be read ({error.strerror}); check its permissions") from None
    if not content.strip():
        raise DataError(f"{file} is empty; a table needs at least one cell")
    if suffix == ".parquet":
        return _parquet(content, file), lambda row: f"row {row + 1}"
    if suffix == ".xlsx":
        from discreet.table.excel import columns_of_sheet

        return columns_of_sheet(content, file), lambda row: f"row {row + 2}"
    from discreet.table.csv_text import CsvText

    text = CsvText.of(content, file, encoding, delimiter)
    return text.columns(), lambda row: f"line {text.line(row)}"


def _parquet(content: bytes, file: Path) -> pa.Table:
    import pyarrow.parquet as pq

    try:
        # Not pq.read_table, which imports pandas.
        return pq.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{file} is not a whole Parquet file ({reason}); write it again") from None
