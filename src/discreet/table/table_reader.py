"""CSV and Parquet files to tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, DiscreetError, RequestError, nearest
from discreet.table.arrow_files import read_arrow_rows
from discreet.table.columns import Margins, coded_arrow, frequencies_from_columns
from discreet.table.counts import Where, counts_from_arrow
from discreet.table.dimension import Dimension
from discreet.table.frames import frequencies_from_arrow, possible_from_arrow
from discreet.table.release_parquet import release_from_arrow
from discreet.table.roles import POSSIBLE, Layout
from discreet.table.table import Table
from discreet.table.table_writer import SCHEMA
from discreet.table.tabulation_reader import tabulation_from_arrow


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
    arrow, where = read_arrow_rows(file, encoding=encoding, delimiter=delimiter)
    try:
        if arrow.schema.metadata and b"discreet" in arrow.schema.metadata:
            table = _from_own_parquet(arrow, where, dimensions)
        else:
            table = Table.of(
                frequencies_from_arrow(
                    arrow,
                    where,
                    dimensions=dimensions,
                    count=count,
                    layout=layout,
                    total=total,
                    totals=totals,
                    margins=margins,
                )
            )
    except DiscreetError as error:
        raise type(error)(f"{file}: {error}") from None
    if impossible is None:
        return table
    return table.with_structural_zeros(impossible, encoding=encoding, delimiter=delimiter)


def _from_own_parquet(arrow: pa.Table, where: Where, dimensions: Sequence[str] | None) -> Table:
    try:
        note: dict[str, Any] = json.loads(arrow.schema.metadata[b"discreet"])
        if note.get("kind") == "tabulation":
            cells = tabulation_from_arrow(arrow)
            cells.check_publishable()
            return cells.table(*(dimensions or ()))
        if note.get("kind") == "release":
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
    return Table.of(
        frequencies_from_columns(
            {name: coded_arrow(name, arrow[name], where) for name in wanted},
            counts_from_arrow(arrow[count], where),
            where=where,
            categories=wanted,
            possible=possible_from_arrow(arrow[POSSIBLE], where) if marked else None,
        )
    )
