"""Parquet files to tabulations; :mod:`discreet.table.tabulation_writer` says how they are laid out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, DiscreetError
from discreet.table.arrow_files import read_arrow
from discreet.table.axis import Axis
from discreet.table.counts import numpy_from_arrow
from discreet.table.grid import Grid
from discreet.table.hierarchy import Hierarchy
from discreet.table.respondents import Respondents, named_units
from discreet.table.tabulation import Tabulation
from discreet.table.tabulation_writer import SCHEMA


def _respondents(arrow: pa.Table, cells: Any, responses: Sequence[str]) -> Respondents | None:
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


def is_tabulation(path: str | Path) -> bool:
    """Say whether a Parquet file holds a tabulation; a damaged file is left to the reader."""
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path).metadata or {}
        return bool(json.loads(metadata.get(b"discreet", b"{}")).get("kind") == "tabulation")
    except (pa.ArrowException, OSError, ValueError):
        return False


def read_tabulation(path: str | Path) -> Tabulation:
    """Read a tabulation that was written as Parquet; it equals what was written."""
    arrow = read_arrow(path)
    if b"discreet" not in (arrow.schema.metadata or {}):
        raise DataError(f"{path} is not a tabulation; make one with discreet tabulate RECORDS -o table.parquet")
    try:
        return tabulation_from_arrow(arrow)
    except DiscreetError as error:
        raise type(error)(f"{path}: {error}") from None


def tabulation_from_arrow(arrow: pa.Table) -> Tabulation:
    """Build a tabulation from the columns of its file."""
    try:
        note: dict[str, Any] = json.loads(arrow.schema.metadata[b"discreet"])
        if note.get("kind") != "tabulation":
            raise DataError("the file holds a plain table, not a tabulation; read it with read_table")
        if note.get("schema") not in (1, SCHEMA):
            raise DataError(
                f"written in version {note.get('schema')!r} of the format, but version {SCHEMA} is read here; "
                "update discreet, or tabulate again"
            )
        return _rebuilt(arrow, note)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise DataError("the file's own note about its cells is damaged; tabulate again") from None


def _rebuilt(arrow: pa.Table, note: dict[str, Any]) -> Tabulation:
    axes = tuple(Axis(d["name"], tuple(Hierarchy.from_dict(t) for t in d["hierarchies"])) for d in note["dimensions"])
    cells = Grid(tuple(len(axis) for axis in axes)).encode([_codes(arrow[axis.name], axis) for axis in axes])
    lists = [name for name in arrow.column_names if name.startswith("respondent:")]
    figures = [name for name in arrow.column_names if name not in {*lists, *(axis.name for axis in axes)}]
    kinds = {"records": np.int64, "contributor:units": np.int64, "holding:units": np.int64}
    return Tabulation.from_columns(
        axes,
        tuple(tuple(margin) for margin in note["margins"]),
        [(r["name"], r["shadow"]) for r in note["responses"]],
        {
            name: numpy_from_arrow(arrow[name]) if arrow.num_rows else np.zeros(0, kinds.get(name, np.float64))
            for name in figures
        }
        | {"cell": cells},
        top=note["top"],
        dropped=int(note["dropped"]),
        respondents=_respondents(arrow, cells, [r["name"] for r in note["responses"]]),
    )


def _codes(column: Any, axis: Axis) -> Any:
    if column.num_chunks == 0 or len(column) == 0:
        return np.zeros(0, np.int64)
    whole = column.combine_chunks() if column.num_chunks > 1 else column.chunk(0)
    if tuple(whole.dictionary.to_pylist()) != axis.codes:
        raise ValueError
    return whole.indices.to_numpy(zero_copy_only=False).astype(np.int64)
