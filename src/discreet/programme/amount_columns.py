"""What the columns of finished tables of amounts may be: a guess, for drafts of plans that somebody checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from discreet.reading.original import describes_itself
from discreet.table.arrow_files import read_arrow
from discreet.table.hierarchy import TOTAL
from discreet.table.inspection import finished_amounts, proposed_reading
from discreet.table.roles import FIGURES
from discreet.table.unmarked_totals import named_like_a_total


class AmountColumns(NamedTuple):
    """What the columns of a finished table of amounts may be, and the totals of those that classify."""

    totals: dict[str, str]
    number: str
    value: str
    largest: list[str]

    def lines(self) -> str:
        """Return the keys of the table."""
        told = f"by = [{', '.join(map(toml, self.totals))}]\ncount = {toml(self.number)} # how many contributors\n"
        told += f"value = {toml(self.value)} # their sum\n"
        if self.largest:
            told += f"largest = [{', '.join(map(toml, self.largest))}] # the largest contributions, in this order\n"
        return told


def amount_columns(file: Path) -> AmountColumns | None:
    """Find out what is what in a finished table of amounts; None if it is another table.

    Numbers are whole, and no contribution exceeds the sum that it is in.
    """
    if describes_itself(file):
        return None
    rows = read_arrow(file)
    if FIGURES[0] in map(str.lower, rows.column_names) or (found := finished_amounts(rows)) is None:
        return None
    by, figures = found
    columns = {name: rows[name].to_pylist() for name in (*by, *figures)}
    numbers = {name: [_number(entry) for entry in columns[name]] for name in figures}
    whole = [name for name in figures if all(entry is None or entry.is_integer() for entry in numbers[name])]
    count = whole[0] if whole and len(whole) < len(figures) else figures[0]
    value, *others = (name for name in figures if name != count)
    largest = [
        name
        for name in others
        if all(a is None or b is None or a <= b for a, b in zip(numbers[name], numbers[value], strict=True))
    ]
    codes = {name: dict.fromkeys(map(str, columns[name])) for name in by}
    totals = {name: next(filter(named_like_a_total, found), TOTAL) for name, found in codes.items()}
    return AmountColumns(totals, count, value, largest)


def _number(entry: object) -> float | None:
    """Return an entry as a number, if it is one."""
    try:
        return float(str(entry).replace(",", "."))
    except ValueError:
        return None


def amounts_in(files: Sequence[Path]) -> dict[Path, AmountColumns]:
    """Find out which tables of a folder have amounts; one whose columns may be categories has counts."""
    found = {file: columns for file in files if (columns := amount_columns(file)) is not None}
    return {file: columns for file, columns in found.items() if not proposed_reading(read_arrow(file))}


def toml(text: str) -> str:
    """Return a text as TOML has it."""
    return json.dumps(text, ensure_ascii=False)
