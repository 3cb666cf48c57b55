"""Texts that a spreadsheet would run as formulas: defused by an apostrophe, armed again, and CSV without any."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

RUNS = r"^('*[ \t\n\f\r]*(?:[=@\t\r\n＝＋－＠]|[+-][0-9.,]*[^0-9.,]))"
"""The beginning of such a text; figures with a sign are none, and apostrophes may stand before it already."""
DEFUSED = f"^'{RUNS[1:]}"
"""The beginning of one that has its apostrophe."""


def defused(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would run it.

    >>> defused("=1+1"), defused("-5"), defused("- none"), defused("'=1")
    ("'=1+1", '-5', "'- none", "''=1")
    """
    return re.sub(RUNS, r"'\1", text)


def armed(text: str) -> str:
    """Return a text without the apostrophe that :func:`defused` set.

    >>> armed("'=1+1"), armed("'quoted'")
    ('=1+1', "'quoted'")
    """
    return re.sub(DEFUSED, r"\1", text)


def csv_text(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as CSV; texts that a spreadsheet would run are defused.

    >>> csv_text(["area", "people"], [["=1+1", 3]])
    "area,people\n'=1+1,3\n"
    """
    stream = io.StringIO()
    safe = ([defused(cell) if isinstance(cell, str) else cell for cell in row] for row in [header, *rows])
    csv.writer(stream, lineterminator="\n").writerows(safe)
    return stream.getvalue()
