"""The table on a worksheet: where its header is, which rows are its own, and which are notes below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.core.errors import DataError

Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Worksheet:
    """Texts of a table: the names of its columns, its rows, and the number of each on the sheet, counted from 1.

    ``notes`` are the rows below it that are not its own.
    """

    names: list[str]
    rows: list[list[str]]
    numbers: list[int]
    notes: int


def cell_text(cell: object) -> str:
    """Return a cell of a worksheet as a CSV file would hold it."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()


def header_row(rows: Sequence[Row]) -> int:
    """Return the row that is probably the header: the first one that is as wide as what is below it.

    The corner of a cross-table may be empty, so that its header is one cell shorter.

    >>> header_row([("Table 1", None), (None, None), ("area", "count"), ("n", 3)])
    2
    >>> header_row([("Table 1",), (None, "men", "women"), ("n", 3, 4)])
    1
    """
    widths = [sum(map(bool, map(cell_text, row))) for row in rows]
    usual = max(widths, default=0)
    first = next((r for r, width in enumerate(widths) if width == usual), 0)
    corner = first > 0 and widths[first - 1] == usual - 1 > 1 and not cell_text(rows[first - 1][0])
    return first - corner


def table_below(rows: Sequence[Row], top: int, shown: str) -> Worksheet:
    """Return the table whose header is in a row; empty rows are left out, and so are notes at the end.

    A note fills the first cell alone and is below an empty row. A cell in a column without a name is refused.

    >>> found = table_below([("area", "count"), ("n", 3), (), ("Source: census",)], 0, "a.xlsx")
    >>> found.names, found.rows, found.numbers, found.notes
    (['area', 'count'], [['n', '3']], [2], 1)
    """
    header = [cell_text(cell) for cell in rows[top]]
    # The corner of a cross-table has no name.
    columns = [k for k, name in enumerate(header) if name or (k == 0 and any(header))]
    below = [(number, [cell_text(cell) for cell in row]) for number, row in enumerate(rows[top + 1 :], start=top + 2)]
    filled = [(number, row) for number, row in below if any(row)]
    end = len(filled)
    while end and len(columns) > 1 and filled[end - 1][1][0] and not any(filled[end - 1][1][1:]):
        end -= 1
    gap = next((i for i in range(end, len(filled)) if i and filled[i][0] > filled[i - 1][0] + 1), len(filled))
    for number, row in filled[:gap]:
        if any(text and k not in columns for k, text in enumerate(row)):
            likely, title = header_row(rows) + 1, sum(map(bool, header)) == 1
            probably = f"the names are probably in row {likely} (header_row={likely}, --header-row {likely})"
            raise DataError(
                f"{shown}: row {number} fills a column that row {top + 1} does not name; "
                + (probably if title and likely > top + 1 else "name it there")
            )
    texts = [[row[k] if k < len(row) else "" for k in columns] for _, row in filled[:gap]]
    return Worksheet([header[k] for k in columns], texts, [number for number, _ in filled[:gap]], len(filled) - gap)
