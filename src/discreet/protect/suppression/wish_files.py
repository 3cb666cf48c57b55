"""Decisions about cells beforehand, from files: CSV, apriori files of τ-ARGUS, and statuses of a table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from discreet.core.errors import DataError, RequestError
from discreet.protect.suppression.primary import Status, Wish
from discreet.table.arrow_files import read_arrow
from discreet.table.axis import Axis
from discreet.tabulation.argus_tab import TabularFile

NUMBERS = ("cost", "lower", "upper", "sliding")
HST = {"u": 0, "p": 0, "c": 1, "pl": 2}
"""What a line of an apriori file says of a cell, and how many numbers follow: unsafe, published, a cost, levels."""


def read_wishes(path: str | Path, axes: Sequence[Axis], *, encoding: str = "utf-8") -> tuple[Wish, ...]:
    """Read the cells of a CSV file, or of an apriori file of τ-ARGUS (``.hst``).

    Args:
        path: a CSV file has a column per dimension, and status (publish or suppress), cost, lower, upper or sliding; an
            apriori file has lines such as ``Nr;4;u``, ``Nr;4;p``, ``Nr;4;c;10`` and ``Nr;4;pl;100;50``.
        axes: the dimensions of the table, in its order, which an apriori file does not name.
        encoding: the encoding of an apriori file.
    """
    file = Path(path)
    if file.suffix.lower() == ".hst":
        return _from_hst(file, axes, encoding)
    found = []
    for number, row in enumerate(read_arrow(file, encoding="utf-8", delimiter=None).to_pylist(), start=1):
        given = {name: row.pop(name, None) for name in ("status", *NUMBERS)}
        figures = {
            name: _number(given[name], file, f"row {number}") for name in NUMBERS if given[name] not in (None, "")
        }
        cell = {name: str(label) for name, label in row.items() if label not in (None, "")}
        found.append(Wish(cell, given["status"] or None, **figures))
    return tuple(found)


def wishes_of(tab: TabularFile) -> tuple[Wish, ...]:
    """Return what the statuses of a table of τ-ARGUS say: U is sensitive, with its levels; P must be published."""
    found = []
    for i, status in enumerate(tab.status or ()):
        cell = tab.tabulation.label(i)
        if status.upper() == "U":
            levels = {
                n: float(column[i]) for n, column in (("lower", tab.lower), ("upper", tab.upper)) if column is not None
            }
            found.append(Wish(cell, "suppress", **levels))
        elif status.upper() == "P":
            found.append(Wish(cell, "publish"))
    return tuple(found)


def _from_hst(file: Path, axes: Sequence[Axis], encoding: str) -> tuple[Wish, ...]:
    names = [axis.name for axis in axes]
    # Codes are padded with blanks in some files of τ-ARGUS, and not in others.
    full = [{code.strip(): code for code in axis.codes} for axis in axes]
    try:
        lines = file.read_text(encoding=encoding).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file} cannot be read ({error}); name an apriori file") from None
    told: dict[tuple[str, ...], Wish] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        fields = [text.strip() for text in next(csv.reader([line], delimiter=";" if ";" in line else ","))]
        word, *numbers = (*fields[len(names) :], "")
        codes = tuple(known.get(code, code) for known, code in zip(full, fields, strict=False))
        word, numbers = word.lower(), [text for text in numbers if text]
        if word not in HST or len(numbers) != HST[word]:
            raise DataError(
                f"{file}: {where} is {line!r}; give a code for each of {', '.join(names)}, then u, p, c with a cost or "
                "pl with two levels (s, safe whatever the rules say, is not taken: leave the cell out, or publish it)"
            )
        wish = told.get(codes) or Wish(dict(zip(names, codes, strict=True)))
        if word == "c":
            told[codes] = replace(wish, cost=_number(numbers[0], file, where))
            continue
        status: Status = "publish" if word == "p" else "suppress"
        if wish.status not in (None, status):
            raise DataError(
                f"{file}: {where} is {line!r}, but a line before it says that the cell must be "
                f"{'published' if word != 'p' else 'suppressed'}; take one of the two out"
            )
        lower, upper = (_number(text, file, where) for text in numbers) if numbers else (wish.lower, wish.upper)
        told[codes] = replace(wish, status=status, lower=lower, upper=upper)
    return tuple(told.values())


def _number(text: object, file: Path, where: str) -> float:
    try:
        return float(str(text).replace(",", "."))
    except ValueError:
        raise RequestError(f"{file}: {where} has a cost or level that is not a number; correct it") from None
