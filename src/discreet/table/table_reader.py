"""CSV, Parquet and Excel files to tables."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from discreet.table.arrow_files import errors_of, read_arrow_rows
from discreet.table.frames import TableOptions, frequencies_from_arrow
from discreet.table.own_parquet import has_note, table_from_arrow
from discreet.table.table import Table


def read_table(
    path: str | Path,
    *,
    impossible: str | Path | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    **reading: Unpack[TableOptions],
) -> Table:
    r"""Read a table from a CSV or Parquet file.

    A *long* file has a column per dimension and a column of counts; cells that it does not list are empty.
    A *wide* file is a cross-table: row labels in the first column, one column per category; a first header
    ``area\religion`` names both dimensions. Rows and columns labelled with the total code are margins: they
    are checked against the cells they sum.

    Args:
        path: a ``.csv`` (``.txt``, ``.tsv``) or ``.parquet`` file.
        impossible: a file of combinations that cannot occur, with a column per dimension.
        encoding: the encoding of a CSV file.
        delimiter: what separates the columns of a CSV file; found from the header when not given.
        **reading: how the columns are read:
            ``dimensions``, the columns that classify (others are left out); by default every column but the counts,
            unless one looks like a statistic (a mean, a percentage), which is refused until the dimensions are named.
            ``count``, the column of counts of a long file; by default ``count``, ``value``, ``freq`` or ``figure``.
            ``layout``: ``"long"``, ``"wide"`` or, by default, ``"auto"``.
            ``total``, the label that marks a margin, by default ``"Total"``; None if no category is one.
            ``totals``, the label that marks a margin along single dimensions, if it is another.
            ``margins``: ``"check"`` stated margins, or ``"recompute"`` to ignore them.
    """
    file = Path(path)
    arrow, where = read_arrow_rows(file, encoding=encoding, delimiter=delimiter)
    with errors_of(file):
        if has_note(arrow.schema.metadata):
            table = table_from_arrow(arrow, where, reading.get("dimensions"))
        else:
            table = Table.of(frequencies_from_arrow(arrow, where, **reading))
    if impossible is None:
        return table
    return table.with_structural_zeros(impossible, encoding=encoding, delimiter=delimiter)
