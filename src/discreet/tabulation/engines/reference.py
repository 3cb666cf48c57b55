"""The slow twin of the other engines: plain Python over the records, one at a time, as anybody would write it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.table.units import refuse_split
from discreet.tabulation.blanks_around import refuse_padded, units
from discreet.tabulation.engine import EngineSession, Run, check_columns
from discreet.tabulation.engines.sql import SqlTerm, file_columns, levels
from discreet.tabulation.plan import Key, Plan
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import TableSpec
from discreet.tabulation.whose import refuse_repeated, suspects


class ReferenceSession(EngineSession):
    """Records as a list of dicts: the twin for tests, and for small files when in doubt."""

    name = "reference"

    def __init__(self, source: Source, spec: TableSpec, run: Run) -> None:
        """Read and check every record."""
        self.spec, self.source, self.progress = spec, source, run.progress
        if source.kind == "arrow":
            rows = source.native
        elif source.kind in ("csv", "parquet"):
            from discreet.table.arrow_files import read_arrow

            rows = read_arrow(source.paths[0], encoding=source.encoding, delimiter=source.delimiter)
        else:
            raise RequestError("the reference engine reads files and frames; use duckdb or spark")
        check_columns(source, spec, rows.column_names)
        listed = rows.to_pylist()
        for column in suspects(rows.column_names, spec):
            entries = [row[column] for row in listed if text(row[column]) is not None]
            refuse_repeated(source.shown, column, len(entries), len(set(entries)))
        for column in units(spec):
            refuse_padded(source.shown, column, (row[column] for row in listed if isinstance(row[column], str)))
        kept = [row for row in listed if spec.missing != "drop" or not self._missing(row)]
        self.dropped = len(listed) - len(kept)
        self.rows = [self._plain(number, row) for number, row in enumerate(kept)]
        if spec.contributor is not None and spec.holding is not None:
            pairs = ((text(row[spec.contributor]), text(row[spec.holding])) for row in kept)
            refuse_split(source.shown, spec.contributor, spec.holding, pairs)

    def _missing(self, row: dict[str, object]) -> bool:
        for dimension in self.spec.dimensions:
            codes = [text(row[column]) for column in dimension.columns]
            if codes[0] is None or any(code in dimension.missing for code in codes):
                return True
        return any(row[column] in (None, "") for column in self.spec.magnitudes)

    def _plain(self, number: int, row: dict[str, object]) -> dict[str, Any]:
        spec = self.spec

        def fail(column: str, reason: str) -> DataError:
            return DataError(f"{self.source.shown}: row {number + 1}: {column!r} is {row[column]!r}; {reason}")

        plain: dict[str, Any] = {
            "keys": [tuple(text(row[column]) for column in d.columns) for d in spec.dimensions],
            "x": {},
            "w": 1.0,
            "contributor": ("record", number),
        }
        for column in spec.magnitudes:
            plain["x"][column] = _number(row[column])
            if not math.isfinite(plain["x"][column]):
                raise fail(column, "give a number")
            if plain["x"][column] < 0 and spec.negative == "error":
                raise fail(column, "it is negative")
        if spec.key is not None:
            key = _number(row[spec.key])
            whole = spec.key_range == 1 or (math.isfinite(key) and key == math.floor(key))
            if not (0 <= key < spec.key_range and whole):
                raise fail(spec.key, "keys lie in their range")
            plain["key"] = math.floor(key * spec.modulus) if spec.key_range == 1 else int(key)
        if spec.weight is not None:
            plain["w"] = _number(row[spec.weight])
            if not (math.isfinite(plain["w"]) and plain["w"] > 0):
                raise fail(spec.weight, "weights are above 0")
        if spec.estimates:
            for column in spec.magnitudes:
                product = plain["w"] if column == spec.weight else plain["x"][column] * plain["w"]
                plain["x"][column] = math.floor(product * 100 + 0.5) / 100
        if spec.contributor is not None:
            if text(row[spec.contributor]) is None:
                raise fail(spec.contributor, "say whose record it is")
            plain["contributor"] = ("contributor", text(row[spec.contributor]))
        plain["holding"] = plain["contributor"]
        if spec.holding is not None and text(row[spec.holding]) is not None:
            plain["holding"] = ("holding", text(row[spec.holding]))
        return plain

    def labels(self) -> Sequence[Sequence[Key]]:
        """Return the codes that occur."""
        return [list(dict.fromkeys(row["keys"][i] for row in self.rows)) for i in range(len(self.spec.dimensions))]

    def place(self, column: str, code: str | None) -> str:
        """Name the first row with a code."""
        for number, row in enumerate(self.rows):
            for dimension, key in zip(self.spec.dimensions, row["keys"], strict=True):
                if column in dimension.columns and key[dimension.columns.index(column)] == code:
                    return f"{self.source.shown}: row {number + 1}"
        return self.source.shown

    def cells(self, plan: Plan) -> Mapping[str, Any]:
        """Put every record into all its cells, then evaluate each cell."""
        members: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for done, row in enumerate(self.rows):
            if self.progress is not None and done % 10_000 == 0:
                self.progress(done, len(self.rows), "tabulating")
            nodes = []
            for one, key in zip(plan.maps, row["keys"], strict=True):
                leaf = int(one.leaf[one.keys.index(key)])
                nodes.append([node for node, under in enumerate(one.axis.under) if leaf in under])
            for codes in product(*nodes):
                crossed = tuple(n for n, code in zip(self.spec.names, codes, strict=True) if code)
                if crossed in self.spec.crossed:
                    members[int(plan.grid.encode(codes))].append(row)
        order = sorted(members)
        figures = [self._figures(members[cell]) for cell in order]
        columns = {name: np.array([figure[name] for figure in figures]) for name in figures[0]}
        return {"cell": np.array(order, np.int64), **columns}

    def respondents(self, plan: Plan) -> Any:
        """Add up the records of each respondent in each cell of the full cross."""
        import pyarrow as pa

        found: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
        for row in self.rows:
            leaves = [int(one.leaf[one.keys.index(key)]) for one, key in zip(plan.maps, row["keys"], strict=True)]
            kind, name = row["holding"]
            found[(f"holding {name}" if kind == "holding" else name, *leaves)].append(row)
        data: dict[str, Any] = {"unit": pa.array([str(key[0]) for key in found], pa.string())}
        data |= {f"leaf{i}": [key[1 + i] for key in found] for i in range(len(plan.maps))}
        data["records"] = [len(rows) for rows in found.values()]
        for k, response in enumerate(self.spec.responses):
            data[f"sum{k}"] = [math.fsum(row["x"][response.name] for row in rows) for rows in found.values()]
        return pa.table(data)

    def _figures(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of a cell; contributions are sizes, plain and weighted, the largest first."""
        units: dict[str, list[list[dict[str, Any]]]] = {}
        sizes: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for level in levels(self.spec):
            found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
            for row in rows:
                found[row[level]].append(row)
            units[level] = list(found.values())
            for judged in {response.judged for response in self.spec.responses}:
                sums = [[(row["x"][judged], row["w"] * row["x"][judged]) for row in unit] for unit in found.values()]
                both = [(abs(math.fsum(x for x, _ in one)), abs(math.fsum(wx for _, wx in one))) for one in sums]
                sizes[level, judged] = [*sorted(both, reverse=True), *[(0.0, 0.0)] * self.spec.top]

        def figure(column: SqlTerm) -> float:
            w = [row["w"] if column.weighted else 1.0 for row in rows]
            if column.figure == "key":
                return int(sum(row["key"] for row in rows) % self.spec.modulus)
            if column.figure == "records":
                return math.fsum(w) if column.weighted else len(rows)
            if column.figure == "units":
                weights = (math.fsum(row["w"] for row in unit) / len(unit) for unit in units[column.level])
                return math.fsum(weights) if column.weighted else len(units[column.level])
            assert column.response is not None
            if column.figure == "sum":
                return math.fsum(one * row["x"][column.response.name] for one, row in zip(w, rows, strict=True))
            listed = [size[int(column.weighted)] for size in sizes[column.level, column.response.judged]]
            return math.fsum(listed) if column.figure == "total" else listed[column.rank - 1]

        return {column.name: figure(column) for column in file_columns(self.spec)}


def text(value: object) -> str | None:
    """Return a code as text; None where it is missing."""
    if value is None or value == "" or value != value:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
