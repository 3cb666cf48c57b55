"""Reading and writing columns, whatever they mean: CSV, Parquet and Excel."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, DiscreetError, LimitError, RequestError, require
from discreet.core.files import write_whole
from discreet.core.formula_texts import DEFUSED, RUNS, armed, defused
from discreet.core.numerics import IntArray
from discreet.core.text import many
from discreet.table.counts import Where, is_text
from discreet.table.flagged_reader import plain_columns_of
from discreet.table.grid import repeated
from discreet.table.workbook_reader import workbook_tables
from discreet.table.worksheet import Row, cell_text, table_below

if TYPE_CHECKING:
    from openpyxl import Workbook

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Frame: TypeAlias = Any
"""A frame of pandas, polars or Arrow, whichever was asked for or handed in: none of them is needed to run."""
Formulas: TypeAlias = Literal["defuse", "keep"]
"""What to do with texts that a spreadsheet would run."""
FORMULA = re.compile(rb"<(\w+:)?f[\s/>]")
"""The beginning of a formula in a sheet."""
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
"""What may be around the names and entries of a CSV file without being a part of them."""
LARGEST = 512 * 2**20
"""The most bytes that a workbook may unpack to: a round figure that keeps a crafted archive from filling memory."""


class TextOptions(TypedDict, total=False):
    """How a file is read: its encoding, and what separates its columns, found from the header when not given.

    ``sheet`` is that of a workbook, and ``header_row`` the row with the names of the columns, counted from 1.
    """

    encoding: str
    delimiter: str | None
    sheet: str | None
    header_row: int | None


@contextmanager
def errors_of(file: str | Path, called: str = "") -> Iterator[None]:
    """Put the file's name into errors about its content."""
    try:
        yield
    except DiscreetError as error:
        told = str(error).removeprefix(f"{called}: ")
        raise type(error)(told if told.startswith(str(file)) else f"{file}: {told}") from None


def read_arrow(path: str | Path, **text: Unpack[TextOptions]) -> pa.Table:
    """Read a CSV file or the sheet of an Excel file as columns of text, or a Parquet file with its types."""
    return read_arrow_rows(path, **text)[0]


def read_arrow_rows(
    path: str | Path,
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
) -> tuple[pa.Table, Where]:
    """Read a file as :func:`read_arrow` does, and say what its rows are called in messages."""
    file = Path(path)
    if os.path.isdir(file):
        raise RequestError(f"{file} is a folder; name a CSV or Parquet file")
    if not os.path.exists(file):
        raise RequestError(f"{file} does not exist; check the name and the folder")
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".txt", ".tsv", ".parquet", ".xlsx"):
        raise RequestError(f"{file}: '{suffix}' is not a format that is read; give a .csv, .parquet or .xlsx file")
    try:
        content = file.read_bytes()
    except OSError as error:
        raise RequestError(f"{file} cannot be read ({error.strerror}); check its permissions") from None
    if not content.strip():
        raise DataError(f"{file} is empty; a table needs at least one cell")
    if header_row is not None and (suffix == ".parquet" or header_row < 1):
        raise RequestError(
            f"{file}: the header is said to be in row {header_row}; rows of .csv and .xlsx files count from 1, and "
            "others have none (header_row=, --header-row)"
        )
    if sheet is not None and suffix != ".xlsx":
        raise RequestError(
            f"{file} is not a workbook and has no sheet {sheet!r}; leave the sheet out (sheet=, --sheet)"
        )
    if suffix == ".parquet":
        return _refuse_columns(_parquet(content, file), file), lambda row: f"row {row + 1}"
    if suffix == ".xlsx":
        found, where = _sheet(content, file, sheet, header_row)
        return _refuse_columns(found, file), where
    text = CsvText.of(content, file, encoding, delimiter, skipped=(header_row or 1) - 1)
    with errors_of(file):
        return plain_columns_of(text.columns(), file), lambda row: f"line {text.line(row)}"


def published_tables(path: str | Path) -> list[pa.Table]:
    """Return the tables of a workbook that discreet wrote, each with its note; none for any other file."""
    file = Path(path)
    if file.suffix.lower() != ".xlsx" or not os.path.isfile(file):
        return []
    return workbook_tables(sheet_rows(file.read_bytes(), file), file)


def _refuse_columns(arrow: pa.Table, file: Path) -> pa.Table:
    """Refuse columns that cannot be told apart, and those whose rows hold anything but a text or a number."""
    if (twice := repeated(arrow.column_names)) is not None:
        raise DataError(f"{file}: two columns are called {twice!r}; every column needs a name of its own")
    own = b"discreet" in (arrow.schema.metadata or {})
    for column in arrow.schema:
        kind, listed = column.type, own and column.name.startswith("respondent:")
        if not listed and (pa.types.is_nested(kind) or pa.types.is_null(kind) or pa.types.is_binary(kind)):
            raise DataError(
                f"{file}: column {column.name!r} is of type {kind}; give a text or a number in every row, or leave the "
                "column out"
            )
    return arrow


def _parquet(content: bytes, file: Path) -> pa.Table:
    import pyarrow.parquet as pq

    try:
        # Not pq.read_table, which imports pandas.
        return pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True).read()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{file} is not a whole Parquet file ({reason}); write it again") from None


def fullest_first(sheets: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Return sheets in order of how many cells of them are filled.

    >>> list(fullest_first({"notes": [("by hand",)], "data": [("area", "count"), ("n", 3)]}))
    ['data', 'notes']
    """
    filled = {title: sum(bool(cell_text(cell)) for row in rows for cell in row) for title, rows in sheets.items()}
    return {title: sheets[title] for title in sorted(filled, key=lambda title: -filled[title])}


def _sheet(content: bytes, file: Path, named: str | None, header_row: int | None) -> tuple[pa.Table, Where]:
    """Return a sheet, the only one with anything in it if none is named: names from its header, all else as text."""
    whole = sheet_rows(content, file)
    if named is not None:
        require([named], whole, f"{file} has no sheet")
        whole = {named: whole[named]}
    if named is None and header_row is None and (tables := workbook_tables(whole, file)):
        if len(tables) > 1:
            raise DataError(
                f"{file} holds {len(tables)} published tables; audit them (dc.audit, discreet audit {file.name}), or "
                "save the one that is meant in a file of its own"
            )
        return tables[0], lambda row: f"row {row + 2}"
    filled = {title: rows for title, rows in whole.items() if any(any(map(cell_text, row)) for row in rows)}
    if not filled:
        raise DataError(f"{file} is empty; a table needs at least one cell")
    if len(filled) > 1:
        titles = list(fullest_first(filled))
        raise DataError(
            f"{file} has {len(filled)} sheets with something in them ({', '.join(map(repr, titles[:5]))}); say which "
            f"one is meant (sheet={titles[0]!r}, --sheet {titles[0]!r})"
        )
    (rows,) = filled.values()
    first = next(r for r, row in enumerate(rows) if any(map(cell_text, row)))
    top = first if header_row is None else header_row - 1
    found = table_below(rows, top, str(file)) if top < len(rows) else None
    if found is None or not found.names or not found.rows:
        raise DataError(f"{file} has no rows below its header, row {top + 1}; a table needs at least one cell")
    arrays = [pa.array(column, pa.string()) for column in zip(*found.rows, strict=True)]
    return pa.Table.from_arrays(arrays, names=found.names), lambda row: f"row {found.numbers[row]}"


def sheet_rows(content: bytes, file: Path) -> dict[str, list[Row]]:
    """Return the rows of every sheet of a workbook, empty ones included."""
    import zipfile

    try:
        import openpyxl
    except ImportError:
        raise RequestError(f"{file}: Excel files need openpyxl; install discreet[excel], or save it as CSV") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(item.file_size for item in archive.infolist())
            if size > LARGEST:
                # Refused before it is unpacked: an archive can unpack to far more than it holds.
                raise LimitError(
                    f"{file} unpacks to {size / 2**20:,.0f} MiB, more than {LARGEST // 2**20} MiB; save it as CSV"
                )
            pages = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            formulas = any(FORMULA.search(archive.read(name)) for name in pages)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        if formulas:
            _refuse_formulas(book, openpyxl.load_workbook(io.BytesIO(content), read_only=True), file)
        return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    except DiscreetError:
        raise
    except Exception as error:
        # The library has no error of its own for damaged files: it stumbles over whatever is missing in them.
        raise DataError(
            f"{file} is not a whole Excel file ({type(error).__name__}); save it again, or as CSV"
        ) from None


def _refuse_formulas(values: Workbook, formulas: Workbook, file: Path) -> None:
    """Refuse formulas without a stored result: read as empty cells, they would pass for hidden figures."""
    for sheet in formulas.worksheets:
        for row, found in zip(sheet.iter_rows(), values[sheet.title].iter_rows(values_only=True), strict=True):
            for cell, value in zip(row, found, strict=True):
                if cell.data_type == "f" and value is None:
                    raise DataError(
                        f"{file}: cell {cell.coordinate} of sheet {sheet.title!r} is a formula without its value; "
                        "open the file in a spreadsheet program and save it, or write the value"
                    )


@dataclass(frozen=True)
class CsvText:
    """A CSV file in memory."""

    file: Path
    text: str
    separator: str
    skipped: int = 0

    @classmethod
    def of(cls, content: bytes, file: Path, encoding: str, delimiter: str | None, skipped: int = 0) -> CsvText:
        """Decode a file, skip the lines above its header, and find its separator."""
        text = "".join(decode(content, file, encoding).splitlines(keepends=True)[skipped:])
        if not text.strip():
            raise DataError(f"{file} has nothing from row {skipped + 1} on; name the row with the names of the columns")
        header = text.lstrip("\r\n").split("\n", 1)[0]
        separator = delimiter or max(",;\t", key=re.sub(r'"[^"]*"', "", header).count)
        if len(separator) != 1 or not separator.isascii() or separator in '"\0\r\n':
            raise RequestError(f"delimiter is {separator!r}; it is one character, such as , or ;")
        return cls(file, text, separator, skipped)

    def columns(self) -> pa.Table:
        """Return every column as texts, without the blanks around them."""
        import pyarrow.csv as pcsv

        names = self.header()
        bad: list[pcsv.InvalidRow] = []

        def note(row: pcsv.InvalidRow) -> str:
            bad.append(row)
            return "error"

        read = pcsv.ReadOptions(use_threads=False, block_size=1 << 24)
        quoted = '"' in self.text
        parse = pcsv.ParseOptions(delimiter=self.separator, newlines_in_values=quoted, invalid_row_handler=note)
        convert = pcsv.ConvertOptions(
            column_types=dict.fromkeys(next(self._rows())[1], pa.string()), strings_can_be_null=False
        )
        try:
            found = pcsv.read_csv(pa.BufferReader(self.text.encode()), read, parse, convert)
            found = pa.Table.from_arrays([pc.utf8_trim(one, BLANKS) for one in found.columns], names=names)
            if "'" in self.text:
                # Apostrophes that protect texts in spreadsheets are not part of them.
                columns = [pc.replace_substring_regex(column, DEFUSED, r"\1") for column in found.columns]
                found = pa.Table.from_arrays(columns, names=[armed(name) for name in names])
            return found
        except pa.ArrowException as error:
            if bad:
                row = bad[0]
                line, has, wanted = self.line(row.number - 2), row.actual_columns, row.expected_columns
                where = (
                    f"say where the header is if titles are above it (header_row={line}, --header-row {line})"
                    if has > wanted
                    else "take notes below the table out of the file"
                )
                raise DataError(
                    f"{self.file}: line {line} has {many(has, 'field')}, but the header has {wanted}; give "
                    f"every row as many, quote fields that hold a separator, and {where}"
                ) from None
            raise DataError(
                f"{self.file} is not a readable CSV file ({str(error).splitlines()[0]}); check its quotes"
            ) from None

    def line(self, row: int) -> int:
        """Return the line on which a row of figures begins, counted from 1; empty lines are not rows."""
        return line_of(self._rows(), row)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        rows = numbered_rows(io.StringIO(self.text, newline=""), self.file, self.separator)
        return ((line + self.skipped, row) for line, row in rows)

    def header(self) -> list[str]:
        """Return the names of the columns, which must be distinct."""
        line, names = next(self._rows())
        names = [name.strip(BLANKS) for name in names]
        for position, name in enumerate(names, start=1):
            if not name and position > 1:
                last = ", or take the separator at the end of each line out" if not any(names[position:]) else ""
                raise DataError(f"{self.file}: column {position} has no name in line {line}; name every column{last}")
        if (twice := repeated(names)) is not None:
            raise DataError(f"{self.file}: two columns are called {twice!r}; every column needs a name of its own")
        return names


def numbered_rows(stream: Iterable[str], file: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file that are not empty, the header first, with the lines on which they begin."""
    reader = csv.reader(stream, delimiter=separator)
    begin = 1
    try:
        for record in reader:
            if record:
                yield begin, record
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{file}: line {begin} is not readable as CSV ({error}); check its quotes") from None


def line_of(rows: Iterable[tuple[int, list[str]]], row: int) -> int:
    """Return the line on which a row below the header begins; rows count from 0."""
    return next((line for number, (line, _) in enumerate(rows) if number == row + 1), row + 2)


def decode(content: bytes, file: Path, encoding: str) -> str:
    """Return a file's text, or say which line is not in its encoding."""
    return "".join(decoded([content], file, encoding))


def decoded(blocks: Iterable[bytes], file: Path, encoding: str) -> Iterator[str]:
    """Yield a file's text block by block, or say which line is not in its encoding."""
    unknown = RequestError(f"encoding {encoding!r} is not known; for example utf-8, latin-1, cp1252")
    try:
        # Refuses codecs that make no text.
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        decoder = codecs.getincrementaldecoder(plain_encoding(encoding))()
    except (LookupError, ValueError):
        raise unknown from None
    line = 1
    for block in chain(blocks, [b""]):
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{file}: line {line + error.object.count(10, 0, error.start)} has a byte "
                f"(0x{error.object[error.start]:02x}) that is not {encoding}; save the file as UTF-8, or name its "
                "encoding (encoding='latin-1', --encoding latin-1)"
            ) from None
        except UnicodeError:
            raise unknown from None
        if "\0" in text:
            raise DataError(
                f"{file}: line {line + text.count(chr(10), 0, text.index(chr(0)))} has a byte 0x00, which no text "
                "contains; give a CSV file, or name its encoding (for example utf-16)"
            )
        line += block.count(b"\n")
        yield text


def plain_encoding(encoding: str) -> str:
    """Return the encoding of a file: a byte order mark before UTF-8 is not part of the text."""
    return "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding


def write_csv(arrow: pa.Table, file: Path, *, private: bool = False, formulas: Formulas = "defuse") -> None:
    """Write columns as CSV, atomically; only texts that need quotes get them.

    Texts that a spreadsheet would run as a formula get a leading apostrophe, which reading removes.
    """
    import pyarrow.csv as pcsv

    if formulas == "defuse":
        columns = []
        for column in arrow.columns:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            columns.append(pc.replace_substring_regex(column, RUNS, "'\\1") if is_text(column.type) else column)
        arrow = pa.Table.from_arrays(columns, names=[defused(name) for name in arrow.column_names])
    quoting = pcsv.WriteOptions(quoting_style="needed", quoting_header="needed")
    write_whole(file, lambda temporary: pcsv.write_csv(arrow, temporary, quoting), private=private)


def write_parquet(arrow: pa.Table, file: Path, note: Mapping[str, object], *, private: bool = False) -> None:
    """Write columns as Parquet, atomically; the key ``discreet`` of its metadata holds the note."""
    import pyarrow.parquet as pq

    noted = arrow.replace_schema_metadata({b"discreet": json.dumps(note, default=plain_item).encode()})
    # Pages carry checksums: a bit that flips on a disk is noticed.
    write_whole(file, lambda part: pq.write_table(noted, part, write_page_checksum=True), private=private)


def plain_item(item: object) -> object:
    """Return an array or a number of NumPy as plain data, anything else as text."""
    return item.tolist() if isinstance(item, np.ndarray | np.generic) else str(item)


def refuse_format(file: Path, *formats: str) -> RequestError:
    """Return the error about a file whose ending names none of the formats that are written."""
    return RequestError(f"{file}: '{file.suffix}' is not a format that is written; give {' or '.join(formats)}")


def label_columns(
    labels: Mapping[str, Sequence[str]],
    codes: Iterable[IntArray],
    *,
    taken: Container[str],
    coded: bool,
    remedy: str = "rename it",
) -> dict[str, pa.Array]:
    """Return a column of labels per dimension, as codes into them or spelled out; names of figures are refused."""
    found = {}
    for (name, listed), code in zip(labels.items(), codes, strict=True):
        if name in taken:
            raise RequestError(f"dimension {name!r} has the name of a column of figures; {remedy}")
        column = pa.DictionaryArray.from_arrays(pa.array(code.astype(np.int32)), pa.array(listed, pa.string()))
        found[name] = column if coded else column.dictionary_decode()
    return found


def frame_from_arrow(arrow: pa.Table, backend: Backend) -> Frame:
    """Return columns as a frame of the kind asked for."""
    if backend == "pyarrow":
        return arrow
    try:
        if backend == "pandas":
            return arrow.to_pandas()
        if backend == "polars":
            import polars

            return polars.from_arrow(arrow)
    except ImportError:
        raise RequestError(f"{backend} is not installed; install it with: pip install {backend}") from None
    raise RequestError(f"backend is {backend!r}; give 'pandas', 'polars' or 'pyarrow'")
