"""Releases as Excel workbooks: a cover, contents, one sheet a table, and technical notes; nothing is hidden.

A table is laid out as a cross-table, with symbols in place of hidden figures and, where figures of several kinds are
shown, beside them. The technical notes hold for every table the JSON note that a Parquet file of the release carries,
with the place of the table on its sheet; :mod:`discreet.table.workbook_reader` reads both. A workbook holds nothing
that is not in the release, and the same release and presentation make the same bytes.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from discreet.core.errors import LimitError, RequestError, require
from discreet.core.formula_texts import defused
from discreet.core.numerics import IntArray
from discreet.core.text import decimal_text
from discreet.table.arrow_files import plain_item
from discreet.table.figures import Figures
from discreet.table.kinds import SUPPRESSED
from discreet.table.presentation import Presentation
from discreet.table.workbook_reader import CONTENTS, COVER, TECHNICAL

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

CHUNK = 30_000
"""The most characters of a note in one cell; a cell holds 32,767."""
MOST_ROWS, MOST_COLUMNS, LONGEST = 2**20, 2**14, 32_000
"""The rows and columns that a sheet has, and the characters of a text, of which a cell holds 32,767."""
Lines: TypeAlias = list[list[object]]
HEAD = 4
"""The row in which the header of a table begins."""
MADE = datetime(2000, 1, 1)
"""The date of all workbooks: the day of writing would make equal releases differ."""
ODD = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no cell can hold, or that come back as others."""


class ShownStatistic(NamedTuple):
    """A statistic in a cell: a number that is shown with its decimals."""

    value: float
    decimals: int


@dataclass(frozen=True)
class WorkbookSheet:
    """The cross-table of one published table: what is where."""

    part: Figures
    title: str
    style: Presentation
    measures: tuple[Figures, ...] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The dimensions that run across."""
        names = self.part.names
        if self.style.columns is None:
            return names[-1:] if len(names) > 1 else ()
        return tuple(name for name in self.style.columns if name in names)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The dimensions that run down."""
        return tuple(name for name in self.part.names if name not in self.columns)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbol of each kind of figure."""
        return self.style.symbols_of(self.part.kinds)

    @cached_property
    def plain(self) -> int | None:
        """The kind of figures that are shown without a symbol: that which has none, or else that of most figures."""
        shown = self.part.kind[~self.part.where(lambda kind: kind.hidden or kind.spans)]
        bare = [i for i in np.unique(shown).tolist() if not self.symbols[i]]
        return bare[0] if bare else int(np.bincount(shown).argmax()) if shown.size else None

    @cached_property
    def flagged(self) -> bool:
        """Whether a column of symbols stands beside every column of figures."""
        covered = self.part.where(lambda kind: kind.hidden or kind.spans)
        return bool((~covered & (self.part.kind != (-1 if self.plain is None else self.plain))).any())

    @cached_property
    def beside(self) -> tuple[str, ...]:
        """The columns that stand beside every column of figures: symbols, then other measures, then statistics."""
        measures = tuple(one.measure for one in self.measures)
        return ("symbol",) * self.flagged + measures + tuple(column.name for column in self.part.statistics)

    @cached_property
    def unpublished(self) -> str:
        """What stands for a statistic that is not published."""
        return self.style.symbol(SUPPRESSED)

    def statistics(self) -> dict[str, int | None]:
        """Return to how many decimals each is shown; None where entries differ, which are written as texts."""
        return {one.name: one.decimals if np.all(one.printed == one.decimals) else None for one in self.part.statistics}

    def shown(self, name: str) -> list[str]:
        """Return the texts that stand for the labels of a dimension."""
        trees = self.part.hierarchies.get(name, ())
        own = {code: text for tree in trees for code, text in tree.labels.items()}
        own |= self.style.labels.get(name, {})
        found = [own.get(label, label) for label in self.part.labels[name]]
        if len(set(found)) < len(found):
            twice = next(one for one in found if found.count(one) > 1)
            raise RequestError(f"two categories of {name!r} are shown as {twice!r}; give each a label of its own")
        for text in (name, *found):
            if ODD.search(text) or len(text) > LONGEST:
                raise RequestError(f"{text[:40]!r} cannot be written into a cell of Excel; rename it, or write .csv")
        return found

    def place(self) -> dict[str, object]:
        """Return what a reader of the sheet needs to know."""
        return {
            "sheet": self.title,
            "head": HEAD,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "labels": {name: list(found) for name, found in self.part.labels.items()},
            "shown": {name: self.shown(name) for name in self.part.names},
            "symbols": list(self.symbols),
            "plain": self.plain,
            "flagged": self.flagged,
            "lines": len(_combinations(self.part, self.rows)[0]),
            "figures": len(self.part),
            **({"statistics": self.statistics()} if self.part.statistics else {}),
            **({"measures": [one.measure for one in self.measures]} if self.measures else {}),
            **({"unpublished": self.unpublished} if self.part.statistics or self.measures else {}),
        }

    def lines(self) -> Lines:
        """Return the header and the rows of the cross-table."""
        part, texts = self.part, {name: self.shown(name) for name in self.part.names}
        down, at_row = _combinations(part, self.rows)
        across, at_column = _combinations(part, self.columns)
        step = 1 + len(self.beside)
        wide = len(self.rows) + step * len(across)
        if wide > MOST_COLUMNS or len(down) + HEAD + len(self.columns) >= MOST_ROWS:
            raise LimitError(
                f"{part.name} takes {len(down):,} rows and {wide:,} columns, more than a sheet has; name other "
                "dimensions that run across (columns), or write .csv"
            )
        heads: Lines = []
        for level, name in enumerate(self.columns):
            last = level == len(self.columns) - 1
            begin = list(self.rows) if last else [""] * (len(self.rows) - 1) + ([name] if self.rows else [])
            labels = [texts[name][codes[level]] for codes in across]
            heads.append([*begin, *(one for label in labels for one in (label, *self.beside))])
        lines: Lines = heads or [[*self.rows, part.figure, *self.beside]]
        first, entries = len(lines), self._statistics()
        for codes in down:
            begin = [texts[name][code] for name, code in zip(self.rows, codes, strict=True)]
            lines.append([*begin, *([None] * (wide - len(begin)))])
        for row in range(len(part)):
            line, column = lines[first + int(at_row[row])], len(self.rows) + step * int(at_column[row])
            line[column], flag = self._cell(row)
            if flag and self.flagged:
                line[column + 1] = flag
            others = [self.unpublished if one.hidden[row] else _number(one, row) for one in self.measures]
            line[column + 1 + self.flagged : column + step] = [*others, *entries[row]]
        return lines

    def _statistics(self) -> Lines:
        """Return what stands for the statistics of every figure."""
        place = {tuple(codes): row for row, codes in enumerate(self.part.codes.tolist())}
        entries: Lines = [[self.unpublished] * len(self.part.statistics) for _ in range(len(self.part))]
        for k, (column, decimals) in enumerate(zip(self.part.statistics, self.statistics().values(), strict=True)):
            for i, codes in enumerate(column.codes.tolist()):
                text = column.text(i).rstrip("%")
                entries[place[tuple(codes)]][k] = text if decimals is None else ShownStatistic(float(text), decimals)
        return entries

    def _cell(self, row: int) -> tuple[object, str]:
        """Return what stands for a figure, and the symbol beside it."""
        part, kind = self.part, int(self.part.kind[row])
        if part.kinds[kind].hidden:
            return self.symbols[kind], ""
        if part.kinds[kind].spans:
            return f"{self.symbols[kind]} {part.text(row)}", ""
        return _number(part, row), "" if kind == self.plain else self.symbols[kind]


def _number(part: Figures, row: int) -> int | float:
    """Return a figure as a cell holds it."""
    value = int(part.values[row])
    if abs(value) >= 10**15:
        raise LimitError(f"{part.describe(row)} is {part.text(row)}, more digits than Excel keeps; write .csv")
    return value if not part.decimals else float(decimal_text(value, part.decimals))


def _combinations(part: Figures, names: Sequence[str]) -> tuple[list[tuple[int, ...]], IntArray]:
    """Return the combinations of codes along some dimensions, in their order, and which each figure has."""
    if not names:
        return [()], np.zeros(len(part), np.int64)
    found, inverse = np.unique(part.codes[:, [part.names.index(name) for name in names]], axis=0, return_inverse=True)
    return [tuple(row) for row in found.tolist()], inverse.ravel()


def workbook(
    parts: Sequence[Figures],
    others: Sequence[Figures],
    notes: Sequence[Mapping[str, object]],
    style: Presentation,
    *,
    defuse: bool = True,
) -> bytes:
    """Return the workbook of published tables, each with the note that says how it was made.

    ``others`` are other measures of the same cells, where there is one table.
    """
    names = {name for part in parts for name in part.names}
    require(style.columns or (), names, "no table has the dimension")
    require(style.labels, names, "labels are given, but there is no dimension")
    sheets = [
        WorkbookSheet(part, f"Table {number}", style, tuple(others)) for number, part in enumerate(parts, start=1)
    ]
    book = _Book(defuse)
    book.add(COVER, _cover(sheets, notes, style), bold=(1,))
    contents: Lines = [["Contents"], ["Sheet", "Table", "Figures"]]
    contents += [[one.title, _name(one, sheets), len(one.part)] for one in sheets]
    book.add(CONTENTS, contents, bold=(1, 2))
    told: Lines = []
    for sheet, note in zip(sheets, notes, strict=True):
        lines = sheet.lines()
        about = f"{sheet.part.figure} by {', '.join(sheet.part.names)}"
        empty = "nobody is in it" if sheet.part.absent == "empty" else "it is not published"
        head: Lines = [
            [f"{sheet.title}: {_name(sheet, sheets)}"],
            [f"{about}; {style.period}" if style.period else about],
            [f"One table; a blank cell means that {empty}. Symbols and notes are below the table."],
        ]
        last = range(HEAD, HEAD + max(len(sheet.columns), 1))
        legend: Lines = [[text] for text in _legend(sheet, style)]
        page = book.add(sheet.title, [*head, *lines, [], *legend], bold=(1, *last), decimals=sheet.part.decimals)
        page.freeze_panes = page.cell(last.stop, len(sheet.rows) + 1)
        text = json.dumps({**note, "place": sheet.place()}, default=plain_item)
        chunks = [text[i : i + CHUNK] for i in range(0, len(text), CHUNK)]
        told += [[sheet.title, number, f"json {chunk}"] for number, chunk in enumerate(chunks, start=1)]
    said = "For programs: how each table is read, and how its figures were made. It holds only what is published."
    book.add(TECHNICAL, [[TECHNICAL], [said], ["Sheet", "Part", "Note"], *told], bold=(1, 3))
    return book.content()


def _name(sheet: WorkbookSheet, sheets: Sequence[WorkbookSheet]) -> str:
    return sheet.style.title if sheet.style.title and len(sheets) == 1 else sheet.part.name


def _cover(sheets: Sequence[WorkbookSheet], notes: Sequence[Mapping[str, object]], style: Presentation) -> Lines:
    lines: Lines = [[style.title or "Release"]]
    lines += [[f"Period: {style.period}"]] if style.period else []
    lines += [[f"Source: {style.source}"]] if style.source else []
    lines += [["This is a trial, not for publication"]] if any(note.get("trial") for note in notes) else []
    made = dict.fromkeys(str(note["method"]) for note in notes)
    lines += [[f"Tables: {len(sheets)}"], [f"Protection: {', '.join(made)}"]]
    lines += [[note] for note in style.notes]
    return lines


def _legend(sheet: WorkbookSheet, style: Presentation) -> list[str]:
    """Return what the symbols of a table mean, and the footnotes."""
    found = []
    for i in np.unique(sheet.part.kind).tolist():
        phrase = sheet.part.kinds[i].phrase
        found.append(f"Figures without a symbol: {phrase}" if i == sheet.plain else f"{sheet.symbols[i]} = {phrase}")
    for one in sheet.measures:
        hidden = [kind.phrase for kind in one.kinds if kind.hidden]
        found += [f"{sheet.unpublished} in a column of {one.measure}: {phrase}" for phrase in hidden]
    found += [f"{column.name}: {column.statistic}" for column in sheet.part.statistics]
    if any(len(column) < len(sheet.part) for column in sheet.part.statistics):
        found.append(f"{sheet.unpublished} in a column of statistics: not published")
    return [*found, *style.notes, *([f"Source: {style.source}"] if style.source else [])]


def _shape(decimals: int) -> str:
    """Return Excel's number format."""
    return f"0.{'0' * decimals}" if decimals else "0"


class _Book:
    """A workbook in the making."""

    def __init__(self, defuse: bool) -> None:
        try:
            import openpyxl
        except ImportError:
            raise RequestError("Excel files need openpyxl; install discreet[excel], or write .csv") from None
        self.defuse = defuse
        self.book = openpyxl.Workbook()
        self.book.remove(self.book.active)
        properties = self.book.properties
        properties.creator, properties.created, properties.modified = "discreet", MADE, MADE

    def add(
        self, title: str, lines: Sequence[Sequence[object]], *, bold: Sequence[int], decimals: int = 0
    ) -> Worksheet:
        """Add a sheet; texts stay texts, whatever they begin with."""
        from openpyxl.styles import Font

        page = self.book.create_sheet(title)
        for row, line in enumerate(lines, start=1):
            for column, item in enumerate(line, start=1):
                if item is None or item == "":
                    continue
                cell = page.cell(row, column)
                if isinstance(item, str):
                    if ODD.search(item):
                        raise RequestError(f"{item[:40]!r} cannot be written into a cell of Excel; change it")
                    cell.value = defused(item) if self.defuse else item
                    cell.data_type = "s"
                elif isinstance(item, ShownStatistic):
                    cell.value, cell.number_format = item.value, _shape(item.decimals)
                else:
                    cell.value, cell.number_format = item, _shape(decimals)
                if row in bold:
                    cell.font = Font(bold=True)
        return page

    def content(self) -> bytes:
        """Return the file, with the same dates every time."""
        from openpyxl.writer.excel import ExcelWriter

        # Not Workbook.save, which notes the time.
        first, fixed = io.BytesIO(), io.BytesIO()
        ExcelWriter(self.book, zipfile.ZipFile(first, "w")).save()
        with zipfile.ZipFile(first) as old, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                entry = zipfile.ZipInfo(name)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
                new.writestr(entry, old.read(name))
        return fixed.getvalue()
