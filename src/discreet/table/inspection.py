"""What is in a file: a table, records or a release, how it is laid out, and how it would be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError
from discreet.core.json_types import Json
from discreet.core.text import columns
from discreet.table.arrow_files import errors_of, read_arrow
from discreet.table.cell_forms import confirmations, form_of, is_written
from discreet.table.figures import Figures
from discreet.table.hierarchy import TOTAL, Hierarchy
from discreet.table.release_reader import read_release
from discreet.table.roles import (
    ENDS,
    FIGURES,
    MARKS,
    PUBLISHED_AS,
    STATES,
    different_rows,
    looks_like_statistic,
    refuse_tabulated,
    roles,
)
from discreet.table.statistic import OTHER
from discreet.table.table_reader import has_note, is_tabulated, note_of, read_tabulation
from discreet.table.unmarked_totals import CODED, named_like_a_total

Content: TypeAlias = Literal["table", "release", "records", "tabulation"]
COUNTS = (*FIGURES, "frequency", "n", "records", "persons", "obs_value")
"""Names by which a column of figures is recognised, in any case."""
WHERE = ("delimiter", "sheet", "header_row")
"""Options that say where in a file the columns are."""
SHOWN = 8
"""How many labels of a column are listed: a round choice, about one line."""
NUMBER = "^[+-]?([0-9]+|[0-9]{1,3}([.,' \u00a0\u202f][0-9]{3})+)([.,][0-9]+)?$"
"""A number, with either decimal sign, and with thousands separated or not."""


class InspectedColumn(NamedTuple):
    """One column: whether it holds numbers, how many distinct entries, the first of them, and how many marks."""

    name: str
    numeric: bool
    distinct: int
    labels: tuple[str, ...]
    marks: int = 0


@dataclass(frozen=True)
class Inspection:
    """What a file holds, and the options with which it would be read; you can correct every one of them."""

    name: str
    content: Content
    rows: int
    columns: tuple[InspectedColumn, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, Any] | None = None
    method: str = ""
    statistics: tuple[str, ...] = ()
    finished: bool = False

    @property
    def sentence(self) -> str:
        """What it is, in words."""
        what = {
            "table": "a table",
            "release": f"a release ({self.method})" if self.method else "a table with hidden figures",
            "records": "records, one row per person or firm"
            + (", or a finished table of amounts with its totals" if self.finished else ""),
            "tabulation": "a table with all its margins, tabulated from records",
        }[self.content]
        read = ", ".join(f"{name} {value!r}" for name, value in self.options.items())
        return f"{self.name} holds {what}: {self.rows:,} rows{f', read with {read}' if read else ''}."

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        found: dict[str, Json] = {"name": self.name, "content": self.content}
        found |= {"sentence": self.sentence, "rows": self.rows}
        columns = [{**one._asdict(), "labels": list(one.labels)} for one in self.columns]
        found |= {"columns": columns, "options": dict(self.options), "method": self.method}
        found |= {"statistics": list(self.statistics)} if self.statistics else {}
        found |= {"finished": True} if self.finished else {}
        return found if self.cells is None else {**found, "cells": dict(self.cells)}

    def __str__(self) -> str:
        rows = [
            [one.name, "numbers" if one.numeric else "labels", f"{one.distinct:,}", ", ".join(one.labels)]
            for one in self.columns
        ]
        listed = columns(["column", "holds", "different", "such as"], rows)
        return "\n".join([self.sentence, listed, *self.statistics])


def inspect_file(path: str | Path, *, cells: bool = False, encoding: str = "utf-8", **reading: Any) -> Inspection:
    """Say what a CSV, Parquet or Excel file holds, and propose how to read it.

    Args:
        path: the file.
        cells: also return every figure, in columns of codes and values.
        encoding: the encoding of a CSV file.
        reading: options of :func:`~discreet.table.release_reader.read_release` that replace what is proposed.
    """
    file = Path(path)
    beside = {name: reading.pop(name, None) for name in ("statistics", "numbers", "notes", "marks")}
    where: Any = {name: reading[name] for name in WHERE if reading.get(name) is not None}
    arrow = read_arrow(file, encoding=encoding, **where)
    if beside["statistics"] or _says_statistics(arrow):
        return _with_statistics(file, arrow, encoding, reading, beside, cells=cells)
    if arrow.num_rows == 0:
        raise DataError(f"{file} has no rows; a table needs at least one cell")
    # Lists hold who contributed what to the cells of a tabulation; nobody chooses them.
    plain = [i for i, field in enumerate(arrow.schema) if not pa.types.is_nested(field.type)]
    arrow = arrow.select(plain)
    found = tuple(_column(str(name), arrow.column(i)) for i, name in enumerate(arrow.column_names))
    note = note_of(arrow.schema.metadata, "release")
    forms = _confirmations(arrow, found) if note is None else ()
    if forms:
        # Figures that are written so are read by nobody until the options say how.
        given = {name: str(value) for name, value in reading.items() if value}
        return Inspection(file.name, "release", arrow.num_rows, found, given, statistics=forms)
    with errors_of(file):
        content, proposed = _recognise(arrow, found) if note is None else ("release", {})
    told = content == "table" and PUBLISHED_AS in arrow.column_names
    content = "release" if told else content
    proposed.update({name: str(value) for name, value in reading.items() if value})
    ends = content == "records" and set(ENDS) <= set(arrow.column_names) and set(COUNTS).isdisjoint(arrow.column_names)
    if (content in ("table", "release") or ends) and not has_note(arrow.schema.metadata):
        # Refuse what every reader of tables refuses: columns of which it is not clear what they are.
        with errors_of(file):
            roles(
                arrow,
                figure=proposed.get("count"),
                dimensions=_names(reading.get("dimensions")),
                layout=reading.get("layout") or "auto",
                total=proposed.get("total", TOTAL),
            )
    shown = _cells(file, content, proposed, encoding) if cells and content != "records" else None
    method = str(arrow[PUBLISHED_AS][0]).partition(" rows=")[0] if told else ""
    method = "as it is" if method == "exact" else method
    method = method if note is None else str(note.get("method", ""))
    finished = content == "records" and finished_amounts(arrow) is not None
    return Inspection(file.name, content, arrow.num_rows, found, proposed, shown, method, finished=finished)


def _confirmations(arrow: pa.Table, found: Sequence[InspectedColumn]) -> tuple[str, ...]:
    """Return the unusual notations of figures, with the options that confirm them."""
    written = [one for one in found[1:] if is_written(one.labels)]
    # Gaps and decimal commas alone are not a reason: other readers say what they lack.
    usual, labels = ("number", "comma", "word", ""), [label for one in written for label in one.labels]
    if all(form_of(label) in usual and not label.startswith("[") for label in labels):
        return ()
    figures = {one.name for one in written} | {one.name for one in found if one.numeric}
    if not _unique(arrow, [one for one in found if one.name not in figures]):
        return ()
    crossed = sum(any(form_of(label) == "brackets" for label in one.labels) for one in written) > 1
    told = (confirmations(one.name, [t for t in one.labels if t], "cells" if crossed else "") for one in written)
    first = ("the columns are categories of a cross-table; say so (--layout wide)",) if crossed else ()
    return (*first, *(line for lines in told for line in lines))


def _says_statistics(arrow: pa.Table) -> bool:
    """Say whether a file that discreet wrote says itself what its statistics are."""
    note = note_of(arrow.schema.metadata, "release")
    if note is not None or PUBLISHED_AS not in arrow.column_names or not arrow.num_rows:
        return bool(note and note.get("statistics"))
    return STATES in str(arrow[PUBLISHED_AS][0])


def _with_statistics(
    file: Path,
    arrow: pa.Table,
    encoding: str,
    reading: Mapping[str, Any],
    beside: Mapping[str, Any],
    *,
    cells: bool,
) -> Inspection:
    """Say what a release with statistics holds, and what each of them means."""
    given: dict[str, Any] = {name: one for name, one in reading.items() if one and name not in ("count", "dimensions")}
    given |= {"value": reading.get("count"), "dimensions": _names(reading.get("dimensions"))}
    given |= {name: one for name, one in beside.items() if one}
    main, *others = read_release(file, encoding=encoding, **given).parts()
    found = tuple(_column(str(name), arrow.column(i)) for i, name in enumerate(arrow.column_names))
    told = [f"{main.figure}: figures, {len(main):,}, {int(main.hidden.sum()):,} of them hidden"]
    told += [f"{part.measure}: a measure, {int(part.hidden.sum()):,} figures of it hidden" for part in others]
    for column in main.statistics:
        line = str(column)
        if len(column) and column.statistic.kind != OTHER:
            per, ends = 2 * 10**column.decimals, column.admitted
            line += f"; {column.text(0)} is from {int(ends.low[0]) / per:g} to {int(ends.high[0]) / per:g}"
        told.append(line)
    options = {name: str(one) for name, one in reading.items() if one}
    shown, note = figures_dict(main) if cells else None, note_of(arrow.schema.metadata, "release")
    method = "" if note is None else str(note.get("method", ""))
    return Inspection(file.name, "release", arrow.num_rows, found, options, shown, method, tuple(told))


def _names(listed: str | None) -> list[str] | None:
    return [name.strip() for name in listed.split(",")] if listed else None


def _column(name: str, column: pa.ChunkedArray) -> InspectedColumn:
    values = pc.unique(column.combine_chunks() if column.num_chunks != 1 else column)
    texts = pc.utf8_trim_whitespace(pc.cast(values, pa.string()))
    listed = tuple("" if text is None else str(text) for text in texts.slice(0, SHOWN).to_pylist())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return InspectedColumn(name, True, len(values), listed)
    number = pc.match_substring_regex(pc.fill_null(texts, ""), NUMBER)
    marked = pc.is_in(pc.fill_null(texts, ""), value_set=pa.array(MARKS))
    marks = int(pc.sum(marked).as_py() or 0)
    numeric = int(pc.sum(number).as_py() or 0)
    return InspectedColumn(name, numeric > 0 and numeric + marks == len(values), len(values), listed, marks)


def proposed_reading(arrow: pa.Table) -> dict[str, str]:
    """Return the options with which rows would be read as a table; none if they seem to be records.

    >>> proposed_reading(pa.table({"age": ["0-9", "10-19", "All"], "people": ["3", "4", "7"]}))
    {'count': 'people', 'total': 'All'}
    """
    content, options = _recognise(arrow, [_column(str(name), arrow[name]) for name in arrow.column_names])
    return options if content in ("table", "release") else {}


def finished_amounts(arrow: pa.Table) -> tuple[list[str], list[str]] | None:
    """Return the dimensions and the figures of a finished table of amounts; None if rows may be records.

    What classifies tells its rows apart, and some rows are named like totals.

    >>> rows = {"area": ["n", "s", "Total"], "firms": [3, 4, 7], "turnover": [2.5, 1.25, 3.75]}
    >>> finished_amounts(pa.table(rows)), finished_amounts(pa.table({**rows, "area": ["n", "s", "n"]}))
    ((['area'], ['firms', 'turnover']), None)
    """
    found = [_column(str(name), arrow[name]) for name in arrow.column_names]
    labels, figures = [one for one in found if not one.numeric], [one.name for one in found if one.numeric]
    if len(figures) < 2 or not _unique(arrow, labels):
        return None
    totals = any(map(named_like_a_total, _labels(arrow, labels)))
    return ([one.name for one in labels], figures) if totals else None


def _labels(arrow: pa.Table, chosen: Sequence[InspectedColumn]) -> list[str]:
    """Return the different entries of some columns as texts."""
    return [str(label) for one in chosen for label in pc.unique(arrow[one.name]).to_pylist() if label is not None]


def _recognise(arrow: pa.Table, found: Sequence[InspectedColumn]) -> tuple[Content, dict[str, str]]:
    """Find out what the rows are, and where the figures are."""
    if is_tabulated(arrow.schema.metadata):
        return "tabulation", {}
    refuse_tabulated(arrow.column_names)
    numeric = [one for one in found if one.numeric]
    labels = [one for one in found if not one.numeric]
    named = next((one for one in numeric if one.name.strip().lower() in COUNTS), None)
    options: dict[str, str] = {}
    crossed = "\\" in found[0].name
    wide = named is None and [found[0]] == labels and len(numeric) >= 2 and found[0].distinct == arrow.num_rows
    if crossed or wide:
        options["layout"] = "wide"
    elif named is None and len(numeric) == 1 and found[-1] is numeric[0] and _unique(arrow, labels):
        # A column that alone tells all rows apart, beside others that classify, numbers the records.
        # Amounts without a total beside them are those of records too.
        totals = any(map(named_like_a_total, _labels(arrow, labels)))
        amounts = looks_like_statistic("", arrow[numeric[0].name])
        if (amounts and not totals) or (len(labels) > 1 and any(one.distinct == arrow.num_rows for one in labels)):
            return "records", {}
        named = numeric[0]
    if named is not None:
        if named.name != "count":
            options["count"] = named.name
        others = [one for one in found if one is not named]
        if not _unique(arrow, others):
            return "records", {}
    elif "layout" not in options:
        return "records", {}
    every = [*_labels(arrow, labels), *(one.name for one in found)]
    total = next((label for label in every if named_like_a_total(label) or label.casefold().strip() == CODED), TOTAL)
    if TOTAL not in every and total != TOTAL:
        options["total"] = total
    return ("release" if any(one.marks for one in numeric) else "table"), options


def _unique(arrow: pa.Table, chosen: Sequence[InspectedColumn]) -> bool:
    return bool(chosen) and different_rows([arrow[one.name] for one in chosen]) == arrow.num_rows


def _cells(file: Path, content: Content, options: Mapping[str, str], encoding: str) -> dict[str, Json]:
    if content == "tabulation":
        return figures_dict(Figures.of_tabulation(read_tabulation(file)))
    given: dict[str, Any] = {name: value for name, value in options.items() if name in ("layout", "total")}
    given |= {name: int(value) if name == "header_row" else value for name, value in options.items() if name in WHERE}
    given["dimensions"] = _names(options.get("dimensions"))
    if options.get("layout") != "wide":
        given["value"] = options.get("count", "count")
    return figures_dict(read_release(file, encoding=encoding, **given).parts()[0])


def figures_dict(figures: Figures) -> dict[str, Json]:
    """Return published figures in columns of plain data: labels and codes by dimension, values, which are hidden."""
    at = np.flatnonzero(figures.where(lambda kind: kind.spans))
    upper = figures.values if figures.upper is None else figures.upper
    return {
        "dimensions": [
            {
                "name": name,
                "labels": list(labels),
                "total": next((i for i, label in enumerate(labels) if figures.is_total(name, label)), None),
                "depths": _depths(labels, figures.hierarchies.get(name, ())),
            }
            for name, labels in figures.labels.items()
        ],
        "codes": figures.codes.T.tolist(),
        "values": figures.values.tolist(),
        "hidden": np.flatnonzero(figures.hidden).tolist(),
        "intervals": np.stack([at, figures.values[at], upper[at]], axis=1).tolist(),
        "decimals": figures.decimals,
    }


def _depths(labels: Sequence[str], trees: Sequence[Hierarchy]) -> list[int] | None:
    """Return how far below the total each label is, None if the dimension has no hierarchy."""
    if not any(tree.depth > 1 for tree in trees):
        return None
    depths = {code: level for tree in trees for code, level in zip(tree.codes, tree.levels, strict=True)}
    return [depths.get(label, 1) for label in labels]
