"""What a workbook holds beside the values of its sheets: readers open it, and nothing here judges it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from discreet.core.errors import DataError
from discreet.core.text import listed
from discreet.table.arrow_files import LARGEST

STORED = {
    "comments": re.compile(r"xl/(\w+/)?(comments|threadedComments)"),
    "pivot tables with their data": re.compile("xl/pivotCache/"),
    "charts with their data": re.compile(r"xl/(charts|chartsheets)/"),
    "data from other workbooks": re.compile("xl/externalLinks/"),
    "embedded files": re.compile("xl/embeddings/"),
    "a data model": re.compile("xl/model/"),
    "a history of changes": re.compile("xl/revisions/"),
}
"""Where a workbook stores figures that no sheet shows as values."""
HIDDEN_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^>]*\bstate=[\"'](?:very)?hidden", re.IGNORECASE)
FORMULAS = re.compile(rb"<(?:\w+:)?f(?:\s[^>]*)?>([^<]+)</")
NAMES = re.compile(rb"<(?:\w+:)?definedName\s[^>]*>([^<]+)</")
PROPERTIES = re.compile(rb"<vt:(?:u?i[1248]|u?int|r[48]|decimal|cy)>")
SCENARIOS = re.compile(rb"<(?:\w+:)?inputCells\s")
QUERIES = re.compile(rb"D\x00?a\x00?t\x00?a\x00?M\x00?a\x00?s\x00?h\x00?u\x00?p")
"""Power Query, which may hold tables of its own, in an encoding of one or two bytes."""
CELLS = re.compile(rb"\$?[A-Z]{1,3}\$?[0-9]+")
"""Cells in a formula; functions such as LOG10 look like them."""


def refuse_extras(file: Path) -> None:
    """Refuse a workbook for publication that holds more than the values of its sheets.

    Formulas that only refer to cells of their own sheet say nothing new. What is damaged or too large is refused where
    it is read.
    """
    if file.suffix.lower() != ".xlsx" or not file.is_file():
        return
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(item.file_size for item in archive.infolist()) > LARGEST:
                return
            found = list(dict.fromkeys(_extras(archive)))
    except (zipfile.BadZipFile, OSError):
        return
    if found:
        raise DataError(
            f"{file} holds {listed(found)}, which readers can open and which is not judged; copy the values alone into "
            "a new workbook, or save the sheet as CSV, and publish and name that file"
        )


def _extras(archive: zipfile.ZipFile) -> Iterator[str]:
    names = archive.namelist()
    for what, place in STORED.items():
        if any(map(place.match, names)):
            yield what
    for name in names:
        if name == "xl/workbook.xml":
            book = archive.read(name)
            if HIDDEN_SHEET.search(book):
                yield "hidden sheets"
            if any(map(_constant, NAMES.findall(book))):
                yield "names for numbers or texts"
        if name == "docProps/custom.xml" and PROPERTIES.search(archive.read(name)):
            yield "document properties that are numbers"
        if name.startswith("customXml/") and QUERIES.search(archive.read(name)):
            yield "queries with their data"
        if name.startswith("xl/worksheets/"):
            sheet = archive.read(name)
            if any(map(_tells, FORMULAS.findall(sheet))):
                yield "formulas with numbers or texts in them, or with cells of other sheets"
            if SCENARIOS.search(sheet):
                yield "scenarios with values of cells"


def _constant(named: bytes) -> bool:
    """Say whether a name stands for something else than cells of the workbook.

    >>> [_constant(one) for one in (b"'Table 1'!$A$1:$B$9", b"#REF!", b"12", b"{1,4,9}", b'"two"')]
    [False, False, True, True, True]
    """
    return b"!" not in named or re.search(rb"[\[{\"]|&quot;", named) is not None


def _tells(formula: bytes) -> bool:
    """Say whether a formula contains more than cells of its own sheet.

    >>> [_tells(one) for one in (b"SUM(B2:$B$9)", b"B2+3", b"orig!B2", b'IF(B2,"x")')]
    [False, True, True, True]
    """
    return re.search(rb"[0-9!\[\"]|&quot;", CELLS.sub(b"", formula)) is not None
