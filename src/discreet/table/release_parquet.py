"""Parquet files of releases to releases; :mod:`discreet.table.release_writer` says how they are laid out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray
from discreet.table.counts import numpy_from_arrow
from discreet.table.dimension import Dimension, grid_of
from discreet.table.figures import Figures
from discreet.table.grid import recode
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release
from discreet.table.release_writer import SCHEMA
from discreet.table.roles import ENDS, PUBLISHED_AS
from discreet.table.table import Table


def note_of(arrow: pa.Table) -> dict[str, Any] | None:
    """Return the note of a release's Parquet file, None where it is none."""
    try:
        note: dict[str, Any] = json.loads((arrow.schema.metadata or {}).get(b"discreet", b"{}"))
    except ValueError:
        return None
    return note if isinstance(note, dict) and note.get("kind") == "release" else None


def method_of(path: Path) -> str | None:
    """Return how the release was made that a file holds, None where nothing in the file says that it is one."""
    import pyarrow.parquet as pq

    try:
        if path.suffix.lower() != ".parquet":
            with path.open("rb") as stream:
                return "its figures say how they were made" if PUBLISHED_AS.encode() in stream.readline(2**16) else None
        # Not an empty table of the schema, for which Arrow imports pandas.
        note = note_of(pa.Table.from_batches([], schema=pq.read_schema(path)))
    except (pa.ArrowException, OSError):
        return None
    return None if note is None else str(note.get("method", ""))


def release_from_arrow(arrow: pa.Table, note: Mapping[str, Any]) -> Release:
    """Rebuild a release from the columns and the note of its Parquet file."""
    if note.get("schema") != SCHEMA:
        raise DataError(
            f"written in version {note.get('schema')!r} of the format, but version {SCHEMA} is read here; "
            "update discreet, or write the release as CSV"
        )
    try:
        labels, codes = {}, []
        for name in note["dimensions"]:
            column = arrow[name].unify_dictionaries().combine_chunks()
            column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
            labels[name] = tuple(column.dictionary.to_pylist())
            codes.append(np.asarray(column.indices, np.int64))
        kind = np.asarray(arrow[PUBLISHED_AS].combine_chunks().indices, np.int64)
        scale = 10 ** note["decimals"]
        figures = Figures(
            labels,
            np.stack(codes, axis=1),
            _units(arrow[ENDS[0]], scale) + _units(arrow[note["count"]], scale)
            if ENDS[0] in arrow.column_names and ENDS[0] not in labels
            else _units(arrow[note["count"]], scale),
            kind,
            tuple(Kind.from_dict(data) for data in note["kinds"]),
            name=note["name"],
            decimals=note["decimals"],
            total=note["total"],
            hierarchies={
                name: tuple(Hierarchy.from_dict(t) for t in trees) for name, trees in note["hierarchies"].items()
            },
            absent=note["absent"],
            upper=_units(arrow[ENDS[1]], scale) if ENDS[1] in arrow.column_names and ENDS[1] not in labels else None,
        )
        inner = None if note["inner"] is None else _inner(figures, note["inner"])
        return Release(inner, note["method"], note["parameters"], (figures,), trial=bool(note.get("trial")))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise DataError("the file's own note about its figures is damaged; write it again") from None


def _units(column: pa.ChunkedArray, scale: int) -> IntArray:
    """Return figures in units of the last decimal, 0 where there is none."""
    numbers = numpy_from_arrow(column.fill_null(0)) if len(column) else np.zeros(0)
    return np.rint(numbers * scale).astype(np.int64) if scale > 1 else numbers.astype(np.int64)


def _inner(figures: Figures, note: Mapping[str, Any]) -> Table:
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
