"""Labels of codes in a plan: files of two columns, and which of them a file of published tables takes."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from discreet.core.errors import DataError
from discreet.programme.plan_model import Programme
from discreet.table.presentation import Presentation
from discreet.table.release import Release


def read_labels(file: Path) -> dict[str, str]:
    """Return the labels of a CSV file with a header and two columns, code and label."""
    try:
        rows = [row for row in csv.reader(file.read_text(encoding="utf-8-sig").splitlines()) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{file} cannot be read ({error}); give a CSV file of codes and labels in UTF-8") from None
    found: dict[str, str] = {}
    codes: dict[str, str] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != 2 or not all(text.strip() for text in row):
            raise DataError(f"{file}: row {number} is {','.join(row)!r}; give a code and its label, after a header")
        code, label = (text.strip() for text in row)
        if found.setdefault(code, label) != label:
            raise DataError(f"{file}: {code!r} has two labels, {found[code]!r} and {label!r}; keep one")
        if not label.isprintable():
            raise DataError(f"{file}: the label {label!r} has characters that cannot be shown; leave them out")
        if (other := codes.setdefault(label, code)) != code:
            raise DataError(f"{file}: {other!r} and {code!r} are both labelled {label!r}; give each a label of its own")
    if not found:
        raise DataError(f"{file} holds no labels; give a header and a row for each code")
    return found


def presentation(plan: Programme) -> Presentation:
    """Return how the tables of a plan are presented: labels of files, and above them those that the plan states."""
    said = Presentation.from_dict(plan.output.presentation)
    files = {name: read_labels(plan.place(one.labels)) for name, one in plan.dimensions.items() if one.labels}
    merged = {name: {**files.get(name, {}), **said.labels.get(name, {})} for name in {**files, **said.labels}}
    return replace(said, labels=merged, period=said.period or plan.period)


def of_file(style: Presentation, release: Release, form: str) -> Presentation:
    """Return the presentation of one file: in its format, of the dimensions that its tables have."""
    names = {name for part in release.parts() for name in part.names}
    columns = None if style.columns is None else tuple(name for name in style.columns if name in names)
    labels = {name: found for name, found in style.labels.items() if name in names}
    return replace(style, format=form, labels=labels, columns=columns or None)
