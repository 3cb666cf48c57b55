"""CSV and Parquet files to tables and back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, DiscreetError, RequestError, nearest
from discreet.core.files import write_whole
from discreet.table.columns import Margins, coded_arrow, table_from_columns
from discreet.table.counts import Where, counts_from_arrow
from discreet.table.dimension import Dimension
from discreet.table.frames import possible_from_arrow, table_from_arrow
from discreet.table.roles import POSSIBLE, Layout
from discreet.table.table import Table

SCHEMA = 1
"""The version of the metadata that a Parquet file of a table carries."""


def read_table(
    path: str | Path,
    *,
    dimensions: Sequence[str] | None = None,
    count: str = "count",
    layout: Layout = "auto",
    total: str | None = "Total",
    totals: Mapping[str, str] | None = None,
    margins: Margins = "check",
    encoding: str = "utf-8",
    delimiter: str | None = None,
    impossible: str | Path | None = None,
) -> Table:
    r"""Read a table from a CSV or Parquet file.

    A *long* file has a column per dimension and a column of counts; cells that it does not list are empty.
    A *wide* file is a cross-table: row labels in the first column, one column per category; a first header
    ``area\religion`` names both dimensions. Rows and columns labelled with the total code are margins: they
    are checked against the cells they sum.

    Args:
        path: a ``.csv`` (``.txt``, ``.tsv``) or ``.parquet`` file.
        dimensions: the columns that classify, all others being left out; by default every column but the counts,
            unless one looks like a statistic (a mean, a percentage), which is refused until the dimensions are named.
        count: the column of counts of a long file; by default also ``value``, ``freq`` or ``figure``.
        layout: ``"long"``, ``"wide"`` or ``"auto"``.
        total: the label that marks a margin; ``None`` when no category is one.
        totals: the label that marks a margin along single dimensions, where it is another.
        margins: ``"check"`` stated margins, or ``"recompute"`` to leave them out of account.
        encoding: the encoding of a CSV file.
        delimiter: what separates the columns of a CSV file; found from the header when not given.
        impossible: a file of combinations that cannot occur, with a column per dimension.
    """
    file = Path(path)
    arrow, where = _read(file, encoding, delimiter)
    try:
        if arrow.schema.metadata and b"discreet" in arrow.schema.metadata:
            table = _from_own_parquet(arrow, where, dimensions)
        else:
            table = table_from_arrow(
                arrow,
                where,
                dimensions=dimensions,
                count=count,
                layout=layout,
                total=total,
                totals=totals,
                margins=margins,
            )
    except DiscreetError as error:
        raise type(error)(f"{file}: {error}") from None
    if impossible is None:
        return table
    return table.with_structural_zeros(impossible, encoding=encoding, delimiter=delimiter)


def read_arrow(path: str | Path, *, encoding: str = "utf-8", delimiter: str | None = None) -> pa.Table:
    """Read a CSV file as columns of text, or a Parquet file as it is."""
    return _read(Path(path), encoding, delimiter)[0]


def read_arrow_rows(
    path: str | Path, *, encoding: str = "utf-8", delimiter: str | None = None
) -> tuple[pa.Table, Where]:
    """Read a file as :func:`read_arrow` does, and say what its rows are called in messages."""
    return _read(Path(path), encoding, delimiter)


def _read(file: Path, encoding: str, delimiter: str | None) -> tuple[pa.Table, Where]:
    """Return the columns of a file, and what its rows are called in messages."""
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
    if suffix == ".parquet":
        return _parquet(content, file), lambda row: f"row {row + 1}"
    if suffix == ".xlsx":
        from discreet.table.excel import columns_of_sheet

        return columns_of_sheet(content, file), lambda row: f"row {row + 2}"
    from discreet.table.csv_text import CsvText

    text = CsvText.of(content, file, encoding, delimiter)
    return text.columns(), lambda row: f"line {text.line(row)}"


def _parquet(content: bytes, file: Path) -> pa.Table:
    import pyarrow.parquet as pq

    try:
        # Not pq.read_table, which imports pandas.
        return pq.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{file} is not a whole Parquet file ({reason}); write it again") from None


def _from_own_parquet(arrow: pa.Table, where: Where, dimensions: Sequence[str] | None) -> Table:
    try:
        note: dict[str, Any] = json.loads(arrow.schema.metadata[b"discreet"])
        if note.get("kind") == "tabulation":
            from discreet.table.tabulation_reader import tabulation_from_arrow

            return tabulation_from_arrow(arrow).table(*(dimensions or ()))
        if note.get("kind") == "release":
            from discreet.table.release_writer import release_from_arrow

            published = release_from_arrow(arrow, note).table
            return published.margin(*dimensions) if dimensions else published
        schema = note.get("schema")
        if schema != SCHEMA:
            raise DataError(
                f"written in version {schema!r} of the table format, but version {SCHEMA} is read here; "
                "update discreet, or write the table as CSV"
            )
        categories = {dimension["name"]: dimension["categories"] for dimension in note["dimensions"]}
        count = note["count"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError("the file's own note about its table is damaged; write it again") from None
    names = arrow.column_names
    missing = next((name for name in [*categories, count] if name not in names), None)
    if missing is not None:
        raise DataError(f"column {missing!r} is missing, though the file's own note lists it; write it again")
    for name in dimensions or ():
        if name not in categories:
            raise RequestError(f"there is no dimension column {name!r}; {nearest(name, list(categories))}")
    wanted = {name: categories[name] for name in dimensions or categories}
    if arrow.num_rows == 0:
        nobody = np.zeros(0, np.int64)
        return Table(tuple(Dimension(*item) for item in wanted.items()), nobody, nobody, nobody)
    marked = POSSIBLE in names and POSSIBLE not in categories
    return table_from_columns(
        {name: coded_arrow(name, arrow[name], where) for name in wanted},
        counts_from_arrow(arrow[count], where),
        where=where,
        categories=wanted,
        possible=possible_from_arrow(arrow[POSSIBLE], where) if marked else None,
    )


def write_table(
    table: Table,
    path: str | Path,
    *,
    layout: Literal["long", "wide"] = "long",
    zeros: bool = True,
    count: str = "count",
) -> None:
    """Write a table as CSV or Parquet, by the file's ending, whole or not at all."""
    from discreet.table.table_writer import arrow_from_table, long_arrow

    file = Path(path)
    if file.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        note = {
            "schema": SCHEMA,
            "count": count,
            "dimensions": [{"name": d.name, "categories": list(d.categories)} for d in table.dimensions],
        }
        arrow = long_arrow(table, zeros=False, count=count, coded=True)
        arrow = arrow.replace_schema_metadata({b"discreet": json.dumps(note).encode()})
        write_whole(file, lambda temporary: pq.write_table(arrow, temporary))
    elif file.suffix.lower() in (".csv", ".txt"):
        import pyarrow.csv as pcsv

        arrow = arrow_from_table(table, layout=layout, zeros=zeros, count=count)
        quoting = pcsv.WriteOptions(quoting_style="needed", quoting_header="needed")
        write_whole(file, lambda temporary: pcsv.write_csv(arrow, temporary, quoting))
    else:
        raise RequestError(f"{file}: '{file.suffix}' is not a format that is written; give .csv or .parquet")
