"""Files to tables and tabulations, and self-describing Parquet files of these and of releases.

The key ``discreet`` of their metadata holds a note in JSON; the writers say how the columns are laid out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, RequestError, require
from discreet.core.json_types import JsonObject
from discreet.core.numerics import IntArray
from discreet.table.arrow_files import errors_of, published_tables, read_arrow, read_arrow_rows
from discreet.table.axis import Axis
from discreet.table.columns import coded_arrow, frequencies_from_columns
from discreet.table.counts import Where, counts_from_arrow, numpy_from_arrow
from discreet.table.figures import Figures
from discreet.table.frames import TableOptions, frequencies_from_arrow, possible_from_arrow
from discreet.table.grid import Dimension, Grid, grid_of, recode
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import EXACT, Kind
from discreet.table.release import Release
from discreet.table.roles import ENDS, PUBLISHED_AS
from discreet.table.statistic import Statistic, StatisticColumn
from discreet.table.statistic_reader import read_column
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation
from discreet.table.units import Respondents, named_units

Metadata = Mapping[bytes, bytes] | None
DECIMALS = 6
"""The most decimals of a figure."""


def has_note(metadata: Metadata) -> bool:
    """Say whether a Parquet file was written by discreet."""
    return b"discreet" in (metadata or {})


def note_of(metadata: Metadata, kind: str) -> JsonObject | None:
    """Return a file's note about itself if it holds a ``"release"`` or ``"tabulation"`` as asked, otherwise None."""
    try:
        note: JsonObject = json.loads((metadata or {}).get(b"discreet", b"{}"))
    except ValueError:
        return None
    return note if isinstance(note, dict) and note.get("kind") == kind else None


def is_tabulated(metadata: Metadata) -> bool:
    """Say whether a note, damaged or not, speaks of a tabulation."""
    return b'"tabulation"' in (metadata or {}).get(b"discreet", b"")


def note_in(path: str | Path, kind: str) -> JsonObject | None:
    """Return a Parquet file's note as :func:`note_of` does; a damaged file is left to the reader."""
    import pyarrow.parquet as pq

    try:
        return note_of(pq.read_metadata(path).metadata, kind)
    except (pa.ArrowException, OSError):
        return None


def method_of(path: Path) -> str | None:
    """Return how the release in a file was made, None if nothing in the file says that it is one."""
    if path.suffix.lower() == ".parquet":
        note = note_in(path, "release")
        return None if note is None else str(note.get("method", ""))
    if path.suffix.lower() == ".xlsx":
        tables = published_tables(path)
        return str(json.loads(tables[0].schema.metadata[b"discreet"]).get("method", "")) if tables else None
    try:
        with path.open("rb") as stream:
            told = PUBLISHED_AS.encode() in stream.readline(2**16).lower()
            return "its figures say how they were made" if told else None
    except OSError:
        return None


@contextmanager
def _undamaged(what: str, remedy: str = "write it again") -> Iterator[None]:
    """Refuse a file with a damaged note."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, pa.ArrowException):
        raise DataError(f"the file's own note about its {what} is damaged; {remedy}") from None


def _check_version(note: Mapping[str, object], *known: int, remedy: str) -> None:
    if note.get("schema") not in known:
        raise DataError(
            f"written in version {note.get('schema')!r} of the format, but version {known[-1]} is read here; "
            f"update discreet, or {remedy}"
        )


def table_from_arrow(arrow: pa.Table, where: Where, dimensions: Sequence[str] | None) -> Table:
    """Build a table over some dimensions, by default all, from a file that discreet wrote."""
    with _undamaged("table"):
        note: JsonObject = json.loads(arrow.schema.metadata[b"discreet"])
        if note.get("kind") == "tabulation":
            cells = tabulation_from_arrow(arrow)
            cells.check_publishable()
            return cells.table(*(dimensions or ()))
        if note.get("kind") == "release":
            published = release_from_arrow(arrow, note).table
            return published.margin(*dimensions) if dimensions else published
        from discreet.table.table_writer import SCHEMA

        _check_version(note, SCHEMA, remedy="write the table as CSV")
        categories = {dimension["name"]: dimension["categories"] for dimension in note["dimensions"]}
        count = note["count"]
    missing = next((name for name in [*categories, count] if name not in arrow.column_names), None)
    if missing is not None:
        raise DataError(f"column {missing!r} is missing, though the file's own note lists it; write it again")
    require(dimensions or (), categories, "there is no dimension column")
    wanted = {name: categories[name] for name in dimensions or categories}
    if arrow.num_rows == 0:
        nobody = np.zeros(0, np.int64)
        return Table(tuple(Dimension(*item) for item in wanted.items()), nobody, nobody, nobody)
    return Table.of(
        frequencies_from_columns(
            {name: coded_arrow(name, arrow[name], where) for name in wanted},
            counts_from_arrow(arrow[count], where),
            where=where,
            categories=wanted,
            possible=possible_from_arrow(arrow, list(categories), where),
        )
    )


def read_table(
    path: object,
    *,
    impossible: str | Path | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
    **reading: Unpack[TableOptions],
) -> Table:
    r"""Read a table from a CSV, Parquet or Excel file, or from a pandas, polars or Arrow frame.

    A *long* file has a column per dimension and a column of counts; cells that it does not list are empty.
    A *wide* file is a cross-table: row labels in the first column, one column per category; a first header
    ``area\religion`` names both dimensions. Rows and columns labelled with the total code are margins: they
    are checked against the cells they sum.

    Args:
        path: a ``.csv`` (``.txt``, ``.tsv``), ``.parquet`` or ``.xlsx`` file, or a frame.
        impossible: a file of combinations that cannot occur, with a column per dimension.
        encoding: the encoding of a CSV file.
        delimiter: what separates the columns of a CSV file; found from the header when not given.
        sheet: the sheet of a workbook; the only one that is not empty by default.
        header_row: the row with the names of the columns, below titles, counted from 1.
        **reading: how the columns are read:
            ``dimensions``, the columns that classify (others are left out); by default every column but the counts,
            unless one looks like a statistic (a mean, a percentage), which is refused until the dimensions are named.
            ``count``, the column of counts of a long file; by default ``count``, ``value``, ``freq`` or ``figure``.
            ``layout``: ``"long"``, ``"wide"`` or, by default, ``"auto"``.
            ``total``, the label that marks a margin, by default ``"Total"``; None if no category is one.
            ``totals``, the label that marks a margin along single dimensions, if it is another.
            ``margins``: ``"check"`` stated margins, or ``"recompute"`` to ignore them.
            ``listed``, dimensions of which no category is a sum of others, though one may seem so.
            ``decimal``, the decimal sign of counts that are texts: the other one, of point and comma, may then separate
            thousands.

    >>> import pyarrow as pa
    >>> read_table(pa.table({"area": ["north", "south"], "count": [3, 4]})).total
    7
    """
    require(reading, TableOptions.__annotations__, "read_table has no argument")
    if not isinstance(path, (str, Path)):
        if sheet is not None or header_row is not None:
            raise RequestError("a frame has no sheet and no title above its columns; leave sheet and header_row out")
        table = Table.from_frame(path, **reading)
    else:
        file = Path(path)
        arrow, where = read_arrow_rows(file, encoding=encoding, delimiter=delimiter, sheet=sheet, header_row=header_row)
        with errors_of(file):
            if has_note(arrow.schema.metadata):
                table = table_from_arrow(arrow, where, reading.get("dimensions"))
            else:
                table = Table.of(frequencies_from_arrow(arrow, where, **reading))
    if impossible is None:
        return table
    return table.with_structural_zeros(impossible, encoding=encoding, delimiter=delimiter)


def read_tabulation(path: str | Path) -> Tabulation:
    """Read a tabulation that was written as Parquet; it equals what was written."""
    arrow = read_arrow(path)
    if not has_note(arrow.schema.metadata):
        raise DataError(f"{path} is not a tabulation; make one with discreet tabulate RECORDS -o table.parquet")
    with errors_of(path):
        return tabulation_from_arrow(arrow)


def tabulation_from_arrow(arrow: pa.Table) -> Tabulation:
    """Build a tabulation from the columns of its file."""
    with _undamaged("cells", remedy="tabulate again"):
        note: JsonObject = json.loads(arrow.schema.metadata[b"discreet"])
        if note.get("kind") != "tabulation":
            raise DataError("the file holds a plain table, not a tabulation; read it with read_table")
        from discreet.table.table_writer import CELLS_SCHEMA

        _check_version(note, 1, CELLS_SCHEMA, remedy="tabulate again")
        axes = tuple(
            Axis(d["name"], tuple(map(Hierarchy.from_dict, d["hierarchies"])), frozenset(d.get("occurring", ())))
            for d in note["dimensions"]
        )
        cells = Grid(tuple(len(axis) for axis in axes)).encode([_codes(arrow[axis.name], axis.codes) for axis in axes])
        names = {axis.name for axis in axes}
        figures = [name for name in arrow.column_names if not name.startswith("respondent:") and name not in names]
        kinds = {"records": np.int64, "contributor:units": np.int64, "holding:units": np.int64}
        columns = {
            name: numpy_from_arrow(arrow[name]) if arrow.num_rows else np.zeros(0, kinds.get(name, np.float64))
            for name in figures
        }
        made = Tabulation.from_columns(
            axes,
            tuple(tuple(margin) for margin in note["margins"]),
            [(r["name"], r["shadow"], bool(r.get("counts"))) for r in note["responses"]],
            columns | {"cell": cells},
            top=note["top"],
            dropped=int(note["dropped"]),
            respondents=_respondents(arrow, cells, [r["name"] for r in note["responses"]]),
        )
    for level in made.levels.values():
        level.refuse_contradictions(made.describe)
    return made


def _codes(column: pa.ChunkedArray, expected: Sequence[str]) -> IntArray:
    if not len(column):
        return np.zeros(0, np.int64)
    labels, codes = _coded(column)
    if labels != expected:
        raise ValueError
    return codes


def _coded(column: pa.ChunkedArray) -> tuple[tuple[str, ...], IntArray]:
    """Return all labels of a column, and the codes of its rows into them."""
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    return tuple(whole.dictionary.to_pylist()), np.asarray(whole.indices, np.int64)


def _respondents(arrow: pa.Table, cells: IntArray, responses: Sequence[str]) -> Respondents | None:
    """Return those that the file lists, if it does."""
    if "respondent:name" not in arrow.column_names:
        return None
    lists = [arrow[name].combine_chunks() for name in ("respondent:name", "respondent:records")]
    lists += [arrow[f"respondent:sum:{name}"].combine_chunks() for name in responses]
    row = np.repeat(np.arange(arrow.num_rows), lists[0].value_lengths().to_numpy(zero_copy_only=False).astype(np.int64))
    names, unit = named_units(lists[0].flatten())
    figures = [one.flatten().to_numpy(zero_copy_only=False) for one in lists[1:]]
    amounts = np.stack(figures[1:]) if responses else np.zeros((0, row.size))
    whole = Respondents(names, unit, cells[row], figures[0].astype(np.int64), amounts)
    return whole.moved(whole.cell)


def release_from_arrow(arrow: pa.Table, note: JsonObject) -> Release:
    """Build a release from the columns and the note of its file."""
    from discreet.table.release_writer import SCHEMA

    _check_version(note, SCHEMA, remedy="write the release as CSV")
    with _undamaged("figures"):
        coded = {name: _coded(arrow[name]) for name in note["dimensions"]}
        if note["decimals"] not in range(DECIMALS + 1):
            raise ValueError
        scale = 10 ** note["decimals"]
        values = _units(arrow[note["count"]], scale)
        lower, upper = (
            _units(arrow[name], scale) if name in arrow.column_names and name not in coded else None for name in ENDS
        )
        figures = Figures(
            {name: labels for name, (labels, _) in coded.items()},
            np.stack([codes for _, codes in coded.values()], axis=1),
            values if lower is None else lower + values,
            np.asarray(arrow[PUBLISHED_AS].combine_chunks().indices, np.int64),
            tuple(Kind.from_dict(data) for data in note["kinds"]),
            name=note["name"],
            decimals=note["decimals"],
            total=note["total"],
            hierarchies={
                name: tuple(Hierarchy.from_dict(t) for t in trees) for name, trees in note["hierarchies"].items()
            },
            absent=note["absent"],
            upper=upper,
        )
        stated = note.get("statistics") or {}
        figures = replace(figures, statistics=tuple(_statistic(arrow, figures, *one) for one in stated.items()))
        beside = [_measure(arrow, figures, *one) for one in (note.get("measures") or {}).items()]
        figures = replace(figures, figure=note["count"]) if beside else figures
        inner = None if note["inner"] is None else _inner(figures, note["inner"])
        return Release(inner, note["method"], note["parameters"], (figures, *beside), trial=bool(note.get("trial")))


def _measure(arrow: pa.Table, figures: Figures, name: str, mark: JsonObject) -> Figures:
    """Return a measure beside the figures: exact, or hidden where there is no number."""
    hidden = np.asarray(arrow[name].is_null().combine_chunks(), bool)
    return replace(
        figures,
        values=_units(arrow[name], 10**figures.decimals),
        kind=hidden.astype(np.int64),
        kinds=(EXACT, Kind.from_dict(mark)),
        upper=None,
        statistics=(),
        measure=name,
        figure=name,
    )


def _statistic(arrow: pa.Table, figures: Figures, name: str, said: Mapping[str, object]) -> StatisticColumn:
    """Return a column of statistics: texts that are empty where none is published."""
    texts = np.array(["" if text is None else text for text in arrow[name].to_pylist()], dtype=object)
    return read_column(name, Statistic.of_data(said), texts, figures.codes, (), lambda row: f"row {row}")


def _units(column: pa.ChunkedArray, scale: int) -> IntArray:
    """Return figures in units of the last decimal, 0 where there is none."""
    numbers = numpy_from_arrow(column.fill_null(0)) if len(column) else np.zeros(0)
    return np.rint(numbers * scale).astype(np.int64) if scale > 1 else numbers.astype(np.int64)


def _inner(figures: Figures, note: JsonObject) -> Table:
    """Return the inner counts among the figures as a table."""
    dimensions = tuple(Dimension(name, tuple(found)) for name, found in note["categories"].items())
    columns = dict(zip(figures.names, figures.codes.T, strict=True))
    position = grid_of(dimensions).encode(
        [recode(figures.labels[dim.name], dim.categories)[columns[dim.name]] for dim in dimensions]
    )
    inside = (position >= 0) & (figures.values != 0)
    order = np.argsort(position[inside])
    impossible = np.array(note["impossible"], np.int64)
    return Table(dimensions, position[inside][order], figures.values[inside][order], impossible)
