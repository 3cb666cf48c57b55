"""The sheet of an Excel file as columns of text."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pyarrow as pa

from discreet.core.errors import DataError, LimitError, RequestError

LARGEST = 512 * 2**20
"""The most bytes that a workbook may unpack to."""


def columns_of_sheet(content: bytes, file: Path) -> pa.Table:
    """Return the sheet's columns: names from its first row, everything else as text, as in a CSV file.

    Which of several sheets is meant is not guessed; empty ones do not count. An Excel file is an archive; one that
    unpacks to far more than it holds is refused before it is unpacked.
    """
    try:
        import openpyxl
    except ImportError:
        raise RequestError(f"{file}: Excel files need openpyxl; install discreet[excel], or save it as CSV") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(item.file_size for item in archive.infolist())
        if size > LARGEST:
            raise LimitError(
                f"{file} unpacks to {size / 2**20:,.0f} MiB, more than {LARGEST // 2**20} MiB; save the table as CSV"
            )
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = {
            sheet.title: [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
            for sheet in book.worksheets
        }
    except LimitError:
        raise
    except Exception as error:
        # The library has no error of its own for damaged files: it stumbles over whatever is missing in them.
        raise DataError(f"{file} is no whole Excel file ({type(error).__name__}); save it again, or as CSV") from None
    filled = [title for title, found in sheets.items() if found]
    if not filled:
        raise DataError(f"{file} is empty; a table needs at least one cell")
    if len(filled) > 1:
        raise DataError(
            f"{file} has {len(filled)} sheets with something in them ({', '.join(map(repr, filled[:5]))}); save the "
            "one that is meant in a file of its own, as .xlsx or .csv"
        )
    rows = sheets[filled[0]]
    names = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    while names and not names[-1]:
        names.pop()
    texts = [[_text(cell) for cell in row[: len(names)]] + [""] * (len(names) - len(row)) for row in rows[1:]]
    if not names or not texts:
        raise DataError(f"{file} has no rows below its header; a table needs at least one cell")
    arrays = [pa.array(column, pa.string()) for column in zip(*texts, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
