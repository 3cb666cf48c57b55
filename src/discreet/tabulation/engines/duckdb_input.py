"""How records enter DuckDB, and where in their files a faulty one is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import DataError, RequestError
from discreet.table.arrow_files import BLANKS, decoded, line_of, numbered_rows, plain_encoding
from discreet.tabulation.blanks_around import refuse_padded, units
from discreet.tabulation.engine import check_columns, check_types
from discreet.tabulation.engines.sql import GROUPED, separated, with_point
from discreet.tabulation.sources import Source, csv_head
from discreet.tabulation.spec import TableSpec
from discreet.tabulation.whose import refuse_repeated, suspects

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
NUMBERS = (*WHOLE, *(f"U{kind}" for kind in WHOLE), "FLOAT", "DOUBLE", "DECIMAL")
TEXTS = ("VARCHAR", "ENUM")
USUAL, SIDES = " \t\n\r\u00a0", ("starts_with", "ends_with")
"""Blanks that are looked for at either side before all of them are taken off."""
CLOSE, MOST_BITS = 8, 10**9
"""Numbers are close together if there are fewer than so many integers to a record; DuckDB has strings of 10⁹ bits."""
COMMA, THOUSANDS = "[-+]?[0-9]*,[0-9]+", "[-+]?[1-9][0-9]{0,2},[0-9]{3}"
"""Numbers with a decimal comma, and those among them in which it may separate thousands."""


def quoted(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """Return a text as a literal of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def text_of(expression: str) -> str:
    """Return an expression as a text, missing where it is empty."""
    return f"nullif(CAST({expression} AS VARCHAR), '')"


@dataclass(frozen=True, eq=False)
class Input:
    """The relation ``src`` of the records in a DuckDB connection."""

    connection: DuckDBPyConnection
    source: Source
    types: Mapping[str, str]
    separators: Mapping[Path, str] = field(default_factory=dict)
    decimals: dict[str, str | None] = field(default_factory=dict)

    def is_number(self, column: str) -> bool:
        """Say whether a column holds numbers, not texts of them."""
        return self.types[column].split("(")[0] in NUMBERS

    def is_text(self, column: str) -> bool:
        """Say whether a column holds texts."""
        return self.types[column].split("(")[0] in TEXTS

    def number(self, column: str) -> str:
        """Return the expression of a column as a floating number, missing where it is not a number."""
        if self.is_number(column):
            return f"CAST({quoted(column)} AS DOUBLE)"
        text = f"trim(CAST({quoted(column)} AS VARCHAR))"
        stated = self.source.decimal or self._decimal(column)
        if stated is not None:
            text = with_point(text, stated, f"regexp_full_match({text}, {literal(separated(stated))})")
        # Other programs write NaN for what is missing; it is not a number.
        return f"TRY_CAST(nullif({text}, '') AS DOUBLE)"

    def _decimal(self, column: str) -> str | None:
        """Return the decimal sign of a column of texts where it is unambiguous, None where no number needs one.

        In 1.234,5 and in 1,234.5 the last sign is decimal. In 1,234 the comma may separate thousands: then, and where
        points occur beside commas otherwise, numbers with commas are refused.
        """
        if column not in self.decimals:
            text = f"trim(CAST({quoted(column)} AS VARCHAR))"
            both = [
                f"count(*) FILTER (regexp_full_match({text}, {literal(GROUPED[sign] + f'[{sign}][0-9]+')}))"
                for sign in ".,"
            ]
            ((commas,),) = self.connection.execute(
                f"SELECT count(*) FILTER (contains({text}, ',')) FROM src"
            ).fetchall()
            if not commas:
                self.decimals[column] = None
                return None
            ((points, clear, point, comma),) = self.connection.execute(
                f"SELECT count(*) FILTER (contains({text}, '.')), "
                f"count(*) FILTER (regexp_full_match({text}, {literal(COMMA)}) "
                f"AND NOT regexp_full_match({text}, {literal(THOUSANDS)})), {', '.join(both)} FROM src"
            ).fetchall()
            found = {",": comma or (clear and not points), ".": point}
            signs = [sign for sign, shown in found.items() if shown]
            self.decimals[column] = signs[0] if len(signs) == 1 else None
        return self.decimals[column]

    def no_number(self, column: str, condition: str) -> DataError:
        """Return the error that a column is no number in records that meet a condition, with the first of them."""
        place = self.place(condition)
        found = self.connection.execute(f"SELECT {quoted(column)} FROM src WHERE {condition} LIMIT 1").fetchall()
        value = found[0][0]
        if value is None:
            return DataError(
                f"{place}: {column!r} is empty; write the number, or leave such records out "
                "(missing='drop', --missing drop)"
            )
        return DataError(
            f"{place}: {column!r} is {value!r}, which is not a number; correct it"
            + (", or say which sign is decimal (decimal=',' or '.', --decimal , or .)" if "," in str(value) else "")
        )

    def place(self, condition: str) -> str:
        """Name the file and row of the first record that meets a condition."""
        names = literal_list(self.source.paths)
        if self.source.kind == "parquet":
            found = self.connection.execute(
                f"SELECT filename, file_row_number FROM read_parquet({names}, filename=true, file_row_number=true) "
                f"WHERE {condition} ORDER BY 1, 2 LIMIT 1"
            ).fetchone()
            return f"{found[0]}: row {found[1] + 1}" if found else self.source.shown
        if self.source.kind == "csv":
            rows = "(SELECT rowid AS row, min(rowid) OVER (PARTITION BY file) AS first, * FROM src)"
            found = self.connection.execute(
                f"SELECT file, row - first FROM {rows} WHERE {condition} ORDER BY row LIMIT 1"
            ).fetchone()
            if not found:
                return self.source.shown
            path = Path(self.source.paths[int(found[0])])
            with path.open(encoding=plain_encoding(self.source.encoding), newline="") as stream:
                rows_of_file = numbered_rows(stream, path, self.separators[path])
                return f"{path}: line {line_of(rows_of_file, int(found[1]))}"
        found = self.connection.execute(
            f"SELECT row FROM (SELECT row_number() OVER () AS row, * FROM src) WHERE {condition} ORDER BY row LIMIT 1"
        ).fetchone()
        return f"{self.source.shown}: row {found[0]}" if found else self.source.shown


def literal_list(items: Iterable[object]) -> str:
    """Return a list of texts as a literal of SQL."""
    return "[" + ", ".join(literal(item) for item in items) + "]"


def open_input(connection: DuckDBPyConnection, source: Source, spec: TableSpec, folder: Path) -> Input:
    """Make the relation ``src``, and check that it has the columns that are needed."""
    import duckdb

    separators: dict[Path, str] = {}
    try:
        if source.kind == "csv":
            separators = _load_csv(connection, source, spec, folder)
        elif source.kind == "parquet":
            connection.execute(f"CREATE TEMP VIEW src AS SELECT * FROM read_parquet({literal_list(source.paths)})")
        elif source.kind == "arrow":
            connection.register("src", source.native)
        elif source.kind == "database":
            connection.execute(f"ATTACH {literal(source.paths[0])} AS discreet_source (READ_ONLY)")
            connection.execute("USE discreet_source")
            # A query, or a view of the database, reads and writes no other file and loads no extension.
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            connection.execute(f"CREATE TEMP VIEW src AS {source.query}")
        elif source.kind == "relation":
            reader = source.native.to_arrow_reader()
            connection.register("discreet_reader", reader)
            connection.execute("CREATE TEMP TABLE src AS SELECT * FROM discreet_reader")
            connection.unregister("discreet_reader")
        else:
            raise RequestError("a Spark DataFrame is tabulated by Spark; pass engine='spark' or leave it out")
        described = connection.execute("DESCRIBE src").fetchall()
    except duckdb.Error as error:
        raise unreadable(source, error) from None
    types = {str(name): str(kind) for name, kind, *_ in described if source.kind != "csv" or name != "file"}
    check_types(source, spec, types, _is_code, lambda kind: kind.split("(")[0] in (*NUMBERS, *TEXTS))
    for column in suspects(types, spec):
        refuse_repeated(source.shown, column, *_different(connection, quoted(column), types[column]))
    found = Input(connection, source, types, separators)
    if source.kind != "csv":
        _refuse_blanks(found, spec)
    return found


def _refuse_blanks(rows: Input, spec: TableSpec) -> None:
    """Refuse units that differ in nothing but blanks around them; those of a CSV file have none."""
    listed = [column for column in units(spec) if rows.is_text(column)]
    if not listed:
        return
    texts = {column: f"CAST({quoted(column)} AS VARCHAR)" for column in listed}
    ends = (
        "bool_or(" + " OR ".join(f"{side}({text}, {literal(one)})" for one in USUAL for side in SIDES) + ")"
        for text in texts.values()
    )
    padded = rows.connection.execute(f"SELECT {', '.join(ends)} FROM src").fetchone() or ()
    for (column, text), some in zip(texts.items(), padded, strict=True):
        if some:
            trimmed = f"trim({text}, {literal(BLANKS)})"
            several = f"SELECT min({text}), max({text}) FROM src GROUP BY {trimmed} HAVING min({text}) < max({text})"
            refuse_padded(rows.source.shown, column, rows.connection.execute(f"{several} LIMIT 1").fetchone() or ())


def _different(connection: DuckDBPyConnection, name: str, kind: str) -> tuple[int, int]:
    """Return how many records have an entry in a column, and how many different entries there are.

    Integers that lie close together are marked in a string of bits, which is seven times as fast as sorting them out.
    """
    if kind.lstrip("U") in WHOLE:
        found = connection.execute(f"SELECT count({name}), min({name}), max({name}) FROM src").fetchall()
        rows, low, high = found[0]
        if rows and high - low < min(CLOSE * rows, MOST_BITS):
            seen = f"bit_count(bitstring_agg({name}, {low}, {high}))"
            return rows, connection.execute(f"SELECT {seen} FROM src").fetchall()[0][0]
    rows, different = connection.execute(f"SELECT count({name}), count(DISTINCT {name}) FROM src").fetchall()[0]
    return rows, different


def _is_code(kind: str) -> bool:
    plain = kind.split("(")[0]
    odd = plain.startswith(("STRUCT", "MAP", "BLOB")) or plain.endswith("[]")
    return plain not in ("FLOAT", "DOUBLE", "DECIMAL") and not odd


def unreadable(source: Source, error: Exception) -> DataError:
    """Say in a line why DuckDB could not read the records."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = lines[0] if lines else type(error).__name__
    ragged = re.search(r"CSV Error on Line: (\d+)", str(error))
    if ragged:
        reason = next((line for line in lines if line.startswith(("Expected", "Value", "Unquoted"))), message)
        return DataError(f"{source.shown}: line {ragged[1]} cannot be read ({reason}); check its fields and quotes")
    if source.kind == "parquet":
        return DataError(f"{source.shown} is not a whole Parquet file ({message}); write it again")
    return DataError(f"{source.shown} cannot be read ({message}); check it")


def _load_csv(connection: DuckDBPyConnection, source: Source, spec: TableSpec, folder: Path) -> dict[Path, str]:
    """Read the columns that are needed, as texts, into a table that DuckDB keeps on disk if it is large."""
    separators: dict[Path, str] = {}
    for number, path in enumerate(source.paths):
        header, separator, empty = csv_head(source, path)
        check_columns(Source("csv", (path,)), spec, header)
        separators[path] = separator
        if not number:
            needed = [*dict.fromkeys(column for column, _ in spec.roles()), *suspects(header, spec)]
        # The whole file must be in the stated encoding; where that is not UTF-8, a copy of it is read.
        plain = plain_encoding(source.encoding) != source.encoding
        text = path if plain else folder / f"{number}.csv"
        with path.open("rb") as stream, nullcontext() if plain else text.open("wb") as copy:
            for block in decoded(iter(partial(stream.read, 1 << 24), b""), path, source.encoding):
                if copy is not None:
                    copy.write(block.encode())
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header)
        trimmed = {name: f"nullif(trim({quoted(name)}, {literal(BLANKS)}), '')" for name in header}
        select = ", ".join(f"{trimmed.get(name, 'NULL')} AS {quoted(name)}" for name in needed)
        query = (
            f"SELECT {select}, {number} AS file FROM read_csv({literal(text)}, header=true, auto_detect=false, "
            f"delim={literal(separator)}, quote='\"', escape='\"', nullstr='', columns={{{columns}}}, "
            f"skip={empty}, strict_mode=true, null_padding=false)"
        )
        connection.execute(f"INSERT INTO src {query}" if number else f"CREATE TEMP TABLE src AS {query}")
    return separators
