"""Published files that may not be what they seem: empty figures beside marks, notes below tables, files cut short."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, first_true
from discreet.table.columns import Coded
from discreet.table.counts import Where
from discreet.table.roles import PUBLISHED_AS
from discreet.table.statistic_reader import Texts

NOTE = re.compile(
    r"\W*(sources?|(foot)?notes?|remarks?|legend|quellen?|anmerkung(en)?|hinweise?)\b|[*†©]|\(?[0-9a-z]\) ", re.I
)
"""How notes below tables begin."""


def refuse_gaps(texts: Texts, hidden: BoolArray, where: Where) -> None:
    """Refuse figures that are left out beside others that are marked: readers may take them for zeros."""
    empty = hidden & (texts == "")
    if empty.any() and (hidden & ~empty).any():
        row, mark = int(np.argmax(empty)), texts[int(np.argmax(hidden & ~empty))]
        raise DataError(
            f"{where(row)}: the figure is empty, while {mark!r} hides others; say what it means: hidden too "
            f"(marks=[{mark!r}, ''], --mark {mark} --mark ''), or 0 (marks=[{mark!r}, '=0..0'], --mark {mark} --mark "
            "'=0..0')"
        )


def refuse_notes(labels: Mapping[str, Coded], texts: Texts, where: Where) -> None:
    """Refuse a note below a table: taken for a category with a hidden figure, it would make all others look safe."""
    for coded in labels.values():
        noted = np.array([NOTE.match(label) is not None for label in coded.categories], bool)
        if (row := first_true(noted[coded.codes] & (texts == ""))) is not None:
            raise DataError(
                f"{where(row)}: {coded.categories[int(coded.codes[row])]!r} looks like a note, and has no figure; "
                "leave it out, or give hidden figures a mark such as x"
            )


def refuse_cut(stated: Sequence[str | None], rows: int) -> None:
    """Refuse a file that does not have the rows that it says it has: what is missing would pass for empty cells."""
    odd = [text for text in stated if text != str(rows)]
    if odd and any(stated):
        told = next(filter(None, odd), "no number of")
        raise DataError(
            f"the file has {rows:,} rows, but its column {PUBLISHED_AS} says that there are {told} rows; it was cut "
            "short, or put together from several: write the release again"
        )


def refuse_open_end(file: Path) -> None:
    """Refuse a CSV file that says how its figures were made, and whose last line does not end."""
    with file.open("rb") as stream:
        stream.seek(-2, os.SEEK_END)
        if not set(stream.read()) & {10, 13}:
            raise DataError(
                "the last line does not end, so the file may be cut short; write the release again, or end the line "
                "if it is whole"
            )
