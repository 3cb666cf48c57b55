"""Files of perturbation tables: those of the R package ptable, of cellKey and of τ-ARGUS.

Rows ``i;j;p;v;…``: the count i becomes j = i + v with probability p; a last column holds the cumulative probabilities,
under one of several names. Text may be quoted, and the separator is a semicolon, a comma or a tab.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from discreet.core.errors import DataError, DiscreetError
from discreet.protect.cell_key.perturbation_table import SUM, PTable

UPPER = ("p_int_ub", "p_ij_ub", "kum_p_o")
"""The names of the column of cumulative probabilities."""


def read_ptable(path: str | Path) -> PTable:
    """Read a perturbation table that another tool wrote.

    Tables for magnitudes (several blocks, told apart by a column ``type``) are refused: they hold no law of counts.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{file} cannot be read ({error.strerror or error}); check the name") from None
    except UnicodeDecodeError:
        raise DataError(f"{file} is not a text in UTF-8; save it as one") from None
    try:
        return parse_ptable(text, name=file.stem)
    except DiscreetError as error:
        raise type(error)(f"{file}: {error}") from None


def parse_ptable(text: str, *, name: str = "") -> PTable:
    r"""Read the text of a perturbation table.

    >>> parse_ptable("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n").law
    (((0, 1.0),), ((-1, 0.5), (1, 0.5)))
    """
    first = text.splitlines()[0] if text.strip() else ""
    separator = max(";,\t", key=first.count)
    rows = csv.DictReader(io.StringIO(text), delimiter=separator)
    known = {(column or "").strip().lower(): column for column in rows.fieldnames or ()}
    for needed in ("i", "v", "p"):
        if needed not in known:
            raise DataError(f"there is no column {needed!r} (count, noise, probability); the columns are {list(known)}")
    upper = next((known[column] for column in UPPER if column in known), None)
    found: dict[int, list[tuple[int, float]]] = {}
    for line, row in enumerate(rows, start=2):
        if "type" in known and str(row[known["type"]]).strip().strip('"').lower() not in ("all", ""):
            raise DataError(
                f"line {line}: the table is for magnitudes (type {row[known['type']]!r}); give one for counts"
            )
        try:
            count, noise, chance = int(row[known["i"]]), int(row[known["v"]]), float(row[known["p"]])
            target = int(row[known["j"]]) if "j" in known else count + noise
            below = None if upper is None else float(row[upper])
        except (TypeError, ValueError):
            raise DataError(f"line {line}: {dict(row)} are not whole counts and probabilities; correct it") from None
        if target != count + noise:
            raise DataError(f"line {line}: the count {count} with the noise {noise} is not {target}; correct it")
        entries = found.setdefault(count, [])
        entries.append((noise, chance))
        total = sum(p for _, p in entries)
        if below is not None and not abs(total - below) <= SUM:
            raise DataError(f"line {line}: probabilities add up to {total:.8g}, but {below:.8g} is stated; correct it")
    if sorted(found) != list(range(len(found))):
        missing = next(i for i in range(len(found) + 1) if i not in found)
        raise DataError(f"there is no row for the count {missing}; list every count from 0 up")
    return PTable(tuple(tuple(found[count]) for count in range(len(found))), name)
