"""Spreadsheets: the table on one sheet, from its header row on, extracted as CSV; a table exported to Excel."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.core.files import write_text, write_whole
from discreet.core.json_types import JsonObject
from discreet.table.arrow_files import fullest_first, read_arrow, sheet_rows
from discreet.table.worksheet import Row, cell_text, header_row, table_below

if TYPE_CHECKING:
    from openpyxl.cell import WriteOnlyCell

SHOWN_ROWS, SHOWN_COLUMNS = 14, 12
"""How much of a sheet is shown to choose its header from."""
MOST = 1_048_576 - 1
"""The most rows of a sheet below its header."""


def perform(arguments: list[str], listener: Callable[[int, int, str], None]) -> tuple[int, str, str]:
    """Do what is asked, in a process of the workbench; answer as a command does."""
    try:
        return 0, json.dumps(TASKS[arguments[0]](*arguments[1:]), allow_nan=False), ""
    except (DiscreetError, OSError) as error:
        # The page has a field for the row, and no arguments.
        return 2, "", str(error).partition(" (header_row=")[0]


def sheets_of(name: str) -> JsonObject:
    """Return the sheets of a file that hold anything: their first rows, and the row that is probably their header.

    The fullest comes first: it probably holds the table.
    """
    found = []
    for title, rows in fullest_first(_book(name)).items():
        if any(_filled(row) for row in rows):
            shown = [[cell_text(cell) for cell in row[:SHOWN_COLUMNS]] for row in rows[:SHOWN_ROWS]]
            found.append({"sheet": title, "rows": shown, "header": header_row(rows) + 1, "height": len(rows)})
    if not found:
        raise DataError(f"{name} is empty; a table needs at least one cell")
    return {"name": name, "sheets": found}


def sheet_table(name: str, sheet: str, header: str, output: str) -> JsonObject:
    """Write the table of a sheet as CSV: names from its header row, then its rows, without the notes below them."""
    books = _book(name)
    if sheet not in books:
        raise RequestError(f"{name} has no sheet {sheet!r}; it has {', '.join(map(repr, books))}")
    rows = books[sheet]
    top = int(header) - 1
    if not 0 <= top < len(rows):
        raise RequestError(f"row {header} is not a row of {sheet!r}, which has {len(rows)}; choose another")
    found = table_below(rows, top, f"sheet {sheet!r}")
    if not found.names or not found.rows:
        raise DataError(f"row {header} of {sheet!r} has no rows below it; choose the row with the names of the columns")
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([found.names, *found.rows])
    write_text(output, stream.getvalue(), private=True)
    return {"name": output, "rows": len(found.rows), "left_out": found.notes}


def excel(name: str, output: str) -> JsonObject:
    """Write the columns of a table as an Excel file; labels stay text, whatever they begin with."""
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    table = read_arrow(name)
    if table.num_rows > MOST:
        raise DataError(
            f"{name} has {table.num_rows:,} rows, more than the {MOST:,} of a sheet; take the file as it is"
        )
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet("release")

    def cell(value: object) -> WriteOnlyCell:
        number = _number(value)
        made = WriteOnlyCell(page, number if number is not None else "" if value is None else str(value))
        if number is None:
            made.data_type = "s"
        return made

    page.append([cell(str(column)) for column in table.column_names])
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        page.append([cell(value) for value in row])
    write_whole(output, book.save)
    return {"name": output, "rows": table.num_rows}


def _book(name: str) -> dict[str, list[Row]]:
    """Return the rows of every sheet."""
    return sheet_rows(Path(name).read_bytes(), Path(name))


def _filled(row: Row) -> bool:
    return any(cell_text(cell) for cell in row)


def _number(value: object) -> int | float | None:
    """Return a value as a number if it is still written the same way.

    >>> _number("12"), _number("007"), _number("=1+1"), _number(2.5)
    (12, None, None, 2.5)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return value
    for kind in (int, float):
        try:
            found = kind(str(value))
        except ValueError:
            continue
        if str(found) == str(value) and found == found and abs(found) < 2**53:
            return found
    return None


TASKS: dict[str, Callable[..., JsonObject]] = {"sheets": sheets_of, "sheet": sheet_table, "excel": excel}
"""What a page asks of a spreadsheet."""
