"""Tabulations in files: Parquet keeps everything, CSV the codes and figures for people.

The Parquet file has a row per cell and these columns, and the key ``discreet`` of its metadata holds a JSON note
``{"kind": "tabulation", "schema": 2, "dimensions": […], "responses": […], "margins": […], "top", "dropped"}`` in which
each dimension lists its hierarchies (codes, position of each code's parent, labels).

| column | meaning |
|---|---|
| the dimension's name | code of the cell along it, a dictionary over all codes |
| ``records``, ``weighted`` | number of records, sum of their weights |
| ``sum:R``, ``weighted_sum:R`` | Σx and Σw·x of response R over the records |
| ``contributor:units``, ``contributor:weighted_units`` | number of contributors, sum of their weights |
| ``contributor:total:R``, ``contributor:weighted_total:R`` | Σ of the contributions' sizes, plain and weighted |
| ``contributor:topI:R``, ``contributor:weighted_topI:R`` | the I-th largest contribution, plain and weighted |
| ``holding:…`` | the same at the level of holdings, where they are known |
| ``respondent:name``, ``respondent:records`` | in the finest cells, who is in them with how many records, as lists |
| ``respondent:sum:R`` | what each of those sums to in response R, as a list |
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.core.files import write_whole
from discreet.table.axis import Axis
from discreet.table.counts import numpy_from_arrow
from discreet.table.hierarchy import Hierarchy
from discreet.table.respondents import Respondents
from discreet.table.tabulation import Largest, Level, Response, Tabulation

SCHEMA = 2
"""The version of the layout described above; version 1 has no respondents."""


def arrow_from_tabulation(tabulation: Tabulation, *, coded: bool = False) -> pa.Table:
    """Return a row per cell: its codes, then its figures."""
    figures: dict[str, Any] = {"records": tabulation.records, "weighted": tabulation.weighted}
    for response in tabulation.responses:
        figures[f"sum:{response.name}"] = response.sums
        figures[f"weighted_sum:{response.name}"] = response.weighted_sums
    for name, level in tabulation.levels.items():
        figures[f"{name}:units"] = level.units
        figures[f"{name}:weighted_units"] = level.weighted_units
        for response, largest in zip(tabulation.responses, level.largest, strict=True):
            figures[f"{name}:total:{response.name}"] = largest.total
            figures[f"{name}:weighted_total:{response.name}"] = largest.weighted_total
            for i in range(tabulation.top):
                figures[f"{name}:top{i + 1}:{response.name}"] = largest.top[:, i]
                if largest.weighted_top is not None:
                    figures[f"{name}:weighted_top{i + 1}:{response.name}"] = largest.weighted_top[:, i]
    data: dict[str, Any] = {}
    for axis in tabulation.axes:
        if axis.name in figures:
            raise RequestError(f"dimension {axis.name!r} has the name of a column of figures; rename it")
        codes = pa.array(tabulation.codes(axis.name).astype(np.int32))
        column = pa.DictionaryArray.from_arrays(codes, pa.array(axis.codes))
        data[axis.name] = column if coded else column.dictionary_decode()
    return pa.table(data | {name: np.ascontiguousarray(c) for name, c in figures.items() if c is not None})


def write_tabulation(tabulation: Tabulation, path: str | Path) -> None:
    """Write a tabulation as Parquet or CSV, by the file's ending, whole or not at all."""
    file = Path(path)
    if file.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        arrow = _with_respondents(arrow_from_tabulation(tabulation, coded=True), tabulation)
        note = {
            "kind": "tabulation",
            "schema": SCHEMA,
            "dimensions": [
                {"name": axis.name, "hierarchies": [tree.to_dict() for tree in axis.hierarchies]}
                for axis in tabulation.axes
            ],
            "responses": [{"name": r.name, "shadow": r.shadow} for r in tabulation.responses],
            "margins": [list(margin) for margin in tabulation.margins],
            "top": tabulation.top,
            "dropped": tabulation.dropped,
        }
        arrow = arrow.replace_schema_metadata({b"discreet": json.dumps(note).encode()})
        write_whole(file, lambda temporary: pq.write_table(arrow, temporary))
    elif file.suffix.lower() == ".csv":
        import pyarrow.csv as pcsv

        arrow = arrow_from_tabulation(tabulation)
        quoting = pcsv.WriteOptions(quoting_style="needed", quoting_header="needed")
        write_whole(file, lambda temporary: pcsv.write_csv(arrow, temporary, quoting))
    else:
        raise RequestError(f"{file}: '{file.suffix}' is not a format that is written; give .parquet or .csv")


def _with_respondents(arrow: pa.Table, tabulation: Tabulation) -> pa.Table:
    """Add lists of those who are in each finest cell."""
    known = tabulation.respondents
    if known is None:
        return arrow
    row = np.searchsorted(tabulation.cells, known.cell)
    order = np.argsort(row, kind="stable")
    ends = pa.array(np.searchsorted(row[order], np.arange(len(tabulation) + 1)).astype(np.int64))
    names = pa.DictionaryArray.from_arrays(pa.array(known.unit[order]), pa.array(known.names, pa.string()))
    columns = {"respondent:name": names.dictionary_decode(), "respondent:records": pa.array(known.records[order])}
    for response, amounts in zip(tabulation.responses, known.amounts, strict=True):
        columns[f"respondent:sum:{response.name}"] = pa.array(amounts[order])
    for name, column in columns.items():
        arrow = arrow.append_column(name, pa.LargeListArray.from_arrays(ends, column))
    return arrow


def _respondents(arrow: pa.Table, cells: Any, responses: Sequence[str]) -> Respondents | None:
    """Return those that the file lists, if it does."""
    if "respondent:name" not in arrow.column_names:
        return None
    lists = [arrow[name].combine_chunks() for name in ("respondent:name", "respondent:records")]
    lists += [arrow[f"respondent:sum:{name}"].combine_chunks() for name in responses]
    row = np.repeat(np.arange(arrow.num_rows), lists[0].value_lengths().to_numpy(zero_copy_only=False).astype(np.int64))
    names = lists[0].flatten().dictionary_encode()
    labels = names.dictionary.to_pylist()
    order = sorted(range(len(labels)), key=labels.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    figures = [one.flatten().to_numpy(zero_copy_only=False) for one in lists[1:]]
    amounts = np.stack(figures[1:]) if responses else np.zeros((0, row.size))
    unit = rank[names.indices.to_numpy(zero_copy_only=False).astype(np.int64)] if row.size else np.zeros(0, np.int64)
    whole = Respondents(tuple(labels[i] for i in order), unit, cells[row], figures[0].astype(np.int64), amounts)
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
    from discreet.table.table_reader import read_arrow

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
    axes = tuple(
        Axis(
            d["name"],
            tuple(Hierarchy.from_dict(t) for t in d["hierarchies"]),
        )
        for d in note["dimensions"]
    )
    cells = np.zeros(arrow.num_rows, np.int64)
    for axis in axes:
        cells = cells * len(axis) + _codes(arrow[axis.name], axis)
    lists = [name for name in arrow.column_names if name.startswith("respondent:")]
    figures = [name for name in arrow.column_names if name not in {*lists, *(axis.name for axis in axes)}]
    kinds = {"records": np.int64, "contributor:units": np.int64, "holding:units": np.int64}
    return tabulation_from_columns(
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


def tabulation_from_columns(
    axes: tuple[Axis, ...],
    margins: tuple[tuple[str, ...], ...],
    responses: Sequence[tuple[str, str | None]],
    columns: Mapping[str, Any],
    *,
    top: int,
    dropped: int = 0,
    respondents: Respondents | None = None,
) -> Tabulation:
    """Build a tabulation from columns that are named as in its file, with the positions of the cells in ``cell``."""

    def level(name: str) -> Level:
        largest = []
        for response, _ in responses:
            weighted = columns.get(f"{name}:weighted_total:{response}")
            tops = [columns[f"{name}:top{i + 1}:{response}"] for i in range(top)]
            heavy = [columns.get(f"{name}:weighted_top{i + 1}:{response}") for i in range(top)]
            largest.append(
                Largest(
                    columns[f"{name}:total:{response}"],
                    np.stack(tops, axis=1),
                    weighted,
                    None if weighted is None else np.stack(heavy, axis=1),  # type: ignore[arg-type]
                )
            )
        return Level(columns[f"{name}:units"], columns.get(f"{name}:weighted_units"), tuple(largest))

    return Tabulation(
        axes,
        margins,
        columns["cell"],
        columns["records"],
        columns.get("weighted"),
        tuple(
            Response(name, shadow, columns[f"sum:{name}"], columns.get(f"weighted_sum:{name}"))
            for name, shadow in responses
        ),
        level("contributor"),
        level("holding") if "holding:units" in columns else None,
        dropped,
        respondents,
    )


def _codes(column: Any, axis: Axis) -> Any:
    if column.num_chunks == 0 or len(column) == 0:
        return np.zeros(0, np.int64)
    whole = column.combine_chunks() if column.num_chunks > 1 else column.chunk(0)
    if tuple(whole.dictionary.to_pylist()) != axis.codes:
        raise ValueError
    return whole.indices.to_numpy(zero_copy_only=False).astype(np.int64)
