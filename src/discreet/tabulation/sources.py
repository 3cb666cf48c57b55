"""Where records come from: files, frames, databases, queries."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from discreet.core.errors import DataError, RequestError
from discreet.table.arrow_files import CsvText, Frame

Kind: TypeAlias = Literal["csv", "parquet", "arrow", "database", "relation", "spark"]
KINDS: dict[str, Kind] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".duckdb": "database",
    ".db": "database",
}
HEAD = 1 << 20
"""The bytes searched for a header: a round choice, far more than any header has."""


@dataclass(frozen=True, eq=False)
class Source:
    """Records, wherever they are.

    ``paths`` are the files of a CSV, Parquet or database source; ``native`` is the frame or relation of the others;
    ``query`` is what to select from a database.
    """

    kind: Kind
    paths: tuple[Path, ...] = ()
    native: Frame = None
    query: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str | None = None

    @property
    def shown(self) -> str:
        """How messages name the source."""
        if self.paths:
            return str(self.paths[0]) if len(self.paths) == 1 else f"{self.paths[0]} and {len(self.paths) - 1} more"
        return "the records"


def source_of(
    records: object,
    *,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str | None = None,
) -> Source:
    """Recognise what was given as records: a path, several, a pattern, a frame or a relation.

    A database file needs a table or a query; encoding, delimiter and decimal sign apply to CSV files, and the last
    is inferred from the numbers if it is not given.
    """
    if decimal not in (".", ",", None):
        raise RequestError(f"decimal is {decimal!r}; give '.' or ','")
    listed = [records] if isinstance(records, str | Path) else records
    if isinstance(listed, list | tuple) and listed and all(isinstance(one, str | Path) for one in listed):
        paths = _files(listed)
        kinds = {KINDS.get(path.suffix.lower()) for path in paths}
        if None in kinds or len(kinds) > 1:
            shown = ", ".join(sorted({path.suffix or path.name for path in paths}))
            raise RequestError(f"{paths[0]}: '{shown}' is not read; give .csv, .parquet or .duckdb files of one kind")
        kind = kinds.pop()
        assert kind is not None
        if kind == "database":
            if len(paths) > 1:
                raise RequestError("records come from one database at a time; name one")
            if (table is None) == (query is None):
                named = "name a table (table=, --database-table) or a query (query=, --query)"
                raise RequestError(f"{paths[0]} is a database: {named}")
            return Source(kind, paths, query=query if query is not None else f'SELECT * FROM "{table}"')
        if table is not None or query is not None:
            raise RequestError(f"{paths[0]} is not a database; table and query belong to a .duckdb file")
        for path in paths:
            try:
                with path.open("rb") as stream:
                    if not stream.read(HEAD).strip():
                        raise DataError(f"{path} is empty; there is nothing to tabulate")
            except OSError as error:
                raise RequestError(f"{path} cannot be read ({error.strerror}); check its permissions") from None
        return Source(kind, paths, encoding=encoding, delimiter=delimiter, decimal=decimal)
    home = type(records).__module__.split(".")[0]
    if home == "pyspark":
        return Source("spark", native=records)
    if home in ("duckdb", "_duckdb"):
        return Source("relation", native=records)
    from discreet.table.frames import to_arrow

    return Source("arrow", native=to_arrow(records))


def _files(given: Sequence[str | Path]) -> tuple[Path, ...]:
    found: list[Path] = []
    for one in given:
        path = Path(one)
        inside = [path]
        if path.is_dir():
            inside = sorted(path.glob("*.parquet"))
            if not inside:
                raise RequestError(f"{path} is a folder without .parquet files; name files")
        elif not path.exists():
            inside = [Path(name) for name in sorted(glob.glob(str(one)))]
            if not inside and glob.has_magic(str(one)):
                raise RequestError(f"no file fits {one}; check the pattern and the folder")
            if not inside:
                raise RequestError(f"{path} does not exist; check the name and the folder")
        found += inside
    return tuple(found)


# --- CSV --------------------------------------------------------------------------------------------------


def csv_head(source: Source, path: Path) -> tuple[list[str], str, int]:
    """Return the header of a CSV file, its delimiter, and the number of empty lines before it."""
    with path.open("rb") as stream:
        content = stream.read(HEAD)
    line = content.lstrip(b"\r\n")
    first = line.split(b"\n", 1)[0] if source.encoding.lower().replace("-", "") not in ("utf16", "utf32") else content
    text = CsvText.of(first, path, source.encoding, source.delimiter)
    return text.header(), text.separator, content[: len(content) - len(line)].count(b"\n")


def columns_of(records: object, *, encoding: str = "utf-8", delimiter: str | None = None) -> list[str]:
    """Return the names of the columns of records in a frame, or in a CSV or Parquet file; none of others."""
    source = source_of(records, encoding=encoding, delimiter=delimiter) if isinstance(records, str | Path) else None
    if source is None:
        names: Iterable[object] = getattr(records, "column_names", ()) or getattr(records, "columns", ())
        return [str(name) for name in names]
    if source.kind == "csv":
        return csv_head(source, source.paths[0])[0]
    if source.kind != "parquet":
        return []
    import pyarrow.parquet as pq

    return list(pq.read_schema(source.paths[0]).names)
