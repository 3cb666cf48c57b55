"""The text of a CSV file: its encoding, separator and header, its columns, and the lines of its rows."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa

from discreet.core.errors import DataError, RequestError
from discreet.table.grid import repeated


@dataclass(frozen=True)
class CsvText:
    """A CSV file in memory."""

    file: Path
    text: str
    separator: str

    @classmethod
    def of(cls, content: bytes, file: Path, encoding: str, delimiter: str | None) -> CsvText:
        """Decode a file and find its separator."""
        text = decode(content, file, encoding)
        header = text.lstrip("\r\n").split("\n", 1)[0]
        separator = delimiter or max(",;\t", key=re.sub(r'"[^"]*"', "", header).count)
        if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
            raise RequestError(f"delimiter is {separator!r}; it is one character, such as , or ;")
        return cls(file, text, separator)

    def columns(self) -> pa.Table:
        """Return every column as texts."""
        import pyarrow.csv as pcsv

        names = self.header()
        bad: list[pcsv.InvalidRow] = []

        def note(row: pcsv.InvalidRow) -> str:
            bad.append(row)
            return "error"

        read = pcsv.ReadOptions(use_threads=False, block_size=1 << 24)
        quoted = '"' in self.text
        parse = pcsv.ParseOptions(delimiter=self.separator, newlines_in_values=quoted, invalid_row_handler=note)
        convert = pcsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        try:
            return pcsv.read_csv(pa.BufferReader(self.text.encode()), read, parse, convert)
        except pa.ArrowException as error:
            if bad:
                row = bad[0]
                raise DataError(
                    f"{self.file}: line {self.line(row.number - 2)} has {row.actual_columns} fields, but the header "
                    f"has {row.expected_columns}; give every row as many, and quote fields that hold a separator"
                ) from None
            raise DataError(
                f"{self.file} is not a readable CSV file ({str(error).splitlines()[0]}); check its quotes"
            ) from None

    def line(self, row: int) -> int:
        """Return the line on which a row of figures begins, counted from 1; empty lines are no rows."""
        return line_of(self._rows(), row)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        return numbered_rows(io.StringIO(self.text, newline=""), self.file, self.separator)

    def header(self) -> list[str]:
        """Return the names of the columns, each of which must have one of its own."""
        line, names = next(self._rows())
        for position, name in enumerate(names, start=1):
            if not name.strip() and position > 1:
                raise DataError(f"{self.file}: column {position} has no name in line {line}; name every column")
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
    except LookupError:
        raise unknown from None
    line = 1
    for block in chain(blocks, [b""]):
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{file}: line {line + error.object.count(10, 0, error.start)} has a byte "
                f"(0x{error.object[error.start]:02x}) that is not {encoding}; save the file as UTF-8, or name its "
                "encoding (for example latin-1)"
            ) from None
        except UnicodeError:
            raise unknown from None
        if "\0" in text:
            raise DataError(
                f"{file}: line {line + text.count(chr(10), 0, text.index(chr(0)))} has a byte 0x00, which no text has; "
                "give a CSV file, or name its encoding (for example utf-16)"
            )
        line += block.count(b"\n")
        yield text


def plain_encoding(encoding: str) -> str:
    """Return the encoding by which a file is read: a byte order mark before UTF-8 is no part of the text."""
    return "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
