"""Published files that may not be what they seem: several marks, empty figures beside them, notes, files cut short."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, first_true
from discreet.core.text import listed
from discreet.table.columns import Coded
from discreet.table.counts import Where
from discreet.table.roles import PUBLISHED_AS
from discreet.table.statistic_reader import Texts

NOTE = re.compile(
    r"\W*(sources?|(foot)?notes?|remarks?|legend|quellen?|anmerkung(en)?|hinweise?)\b|[*†©]|\(?[0-9a-z]\) ", re.I
)
"""How notes below tables begin."""

TELLS = re.compile(
    r"[0-9<>≤≥~]|\b(less|fewer|under|below|over|above|more|most|least|up to|low|small|few|one|two|three|four|five)\b",
    re.IGNORECASE,
)
"""What marks hold that say something about the figure behind them: <5, 1-4, fewer than five, low."""


def refuse_gaps(texts: Texts, hidden: BoolArray, where: Where) -> None:
    """Refuse figures that are left out beside others that are marked: readers may take them for zeros."""
    empty = hidden & (texts == "")
    if empty.any() and (hidden & ~empty).any():
        row, mark = int(np.argmax(empty)), texts[int(np.argmax(hidden & ~empty))]
        raise DataError(
            f"{where(row)}: the figure is empty, while {mark!r} hides others; say what it means: hidden too "
            f"(marks=[{mark!r}, ''], --mark {mark} --mark ''), or 0 (marks=[{mark!r}, '=0..0'], --mark {mark} --mark "
            "'=0..0'); if it is beside a note or a heading, leave that out"
        )


def refuse_several(texts: Texts, hidden: BoolArray, said: Container[str]) -> None:
    """Refuse marks that differ and do not say what they mean: readers may know which of them hides small figures.

    ``said`` are the marks that say it.

    >>> refuse_several(np.array(["c", "x", "10"], object), np.array([True, True, False]), [])
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: hidden figures have the marks 'c' and 'x', and what tells them apart may tell \
readers which are small; say what each means (marks=['c=1..2', 'x=3..']), or that none says more \
(marks=['c=..', 'x=..']), or write one mark for all
    """
    used = sorted(set(texts[hidden].tolist()) - {""})
    if len(used) > 1 and any(mark not in said for mark in used):
        first, *others = used
        means, more = [f"{first}=1..2", *(f"{one}=3.." for one in others)], [f"{one}=.." for one in used]

        def told(marks: list[str]) -> str:
            return f"(marks={marks}, {' '.join(f'--mark {shlex.quote(one)}' for one in marks)})"

        raise DataError(
            f"hidden figures have the marks {listed([repr(one) for one in used])}, and what tells them apart may tell "
            f"readers which are small; say what each means {told(means)}, or that none says more {told(more)}, or "
            "write one mark for all"
        )


def refuse_telling(texts: Texts, hidden: BoolArray, said: Container[str]) -> None:
    """Refuse a mark that reads like a statement about its figure, and of which nothing is said.

    >>> refuse_telling(np.array(["<5", "<5", "10"], object), np.array([True, True, False]), [])
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: the mark '<5' tells readers something about the figures that it hides; say what \
(marks=['<5=1..4']), or that it says no more than x does (marks=['<5=..'])
    """
    for mark in sorted(set(texts[hidden].tolist())):
        if mark not in said and TELLS.search(mark):
            means, more = f"{mark}=1..4", f"{mark}=.."
            raise DataError(
                f"the mark {mark!r} tells readers something about the figures that it hides; say what "
                f"(marks={[means]}, --mark {shlex.quote(means)}), or that it says no more than x does "
                f"(marks={[more]}, --mark {shlex.quote(more)})"
            )


def refuse_flags(name: str, flags: Texts, hidden: BoolArray, labels: Mapping[str, Coded]) -> None:
    """Refuse a column that is left out and tells hidden figures apart, or says something about all of them.

    Flags of primary and secondary cells do, and notes such as "fewer than 3". Such a column holds something else, or
    nothing, beside figures that are shown. A column of names belongs to one of several dimensions.
    """
    told, others = set(flags[hidden].tolist()), set(flags[~hidden].tolist())
    repeated = others <= {""} or len(others) < int((~hidden).sum())
    telling = len(told) > 1 or any(TELLS.search(one) for one in told)
    if not telling or not told & others <= {""} or not repeated:
        return
    for coded in labels.values() if len(labels) > 1 else ():
        if len(set(zip(coded.codes.tolist(), flags.tolist(), strict=True))) == len(set(coded.codes.tolist())):
            return
    used = listed([repr(one) for one in sorted(told)])
    said = f"tells hidden figures apart ({used})" if len(told) > 1 else f"says {used} beside hidden figures"
    raise DataError(
        f"column {name!r} is no dimension and {said}, so readers may know which are small, or how small; write what "
        "it says in place of the figures, as marks that say what they mean (marks=, --mark), or take the column out "
        "of the file if it is not published"
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


def refuse_bare(labels: Mapping[str, Coded], texts: Texts, where: Where) -> None:
    """Refuse a category of which no figure is there: a hidden one, or a note or a heading, as in :func:`refuse_notes`.

    >>> refuse_bare({"area": Coded(np.array([0, 1]), ["north", "CBS 2024"])}, np.array(["4", ""]), lambda row: "row 2")
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: row 2: 'CBS 2024' has no figure at all; leave it out if it is a note or a heading; \
if its figures are hidden, give them a mark such as x, or say so (marks=[''])
    """
    shown = texts != ""
    for coded in labels.values():
        bare = np.bincount(coded.codes[shown], minlength=len(coded.categories)) == 0
        if (row := first_true(bare[coded.codes])) is not None:
            raise DataError(
                f"{where(row)}: {coded.categories[int(coded.codes[row])]!r} has no figure at all; leave it out if it "
                "is a note or a heading; if its figures are hidden, give them a mark such as x, or say so (marks=[''], "
                "--mark '')"
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
