"""Columns of records that lie inside each other, though the plan does not say so.

Figures by county are sums of figures by municipality, and every reader knows which municipality is in which county. If
a plan takes the two columns for dimensions that have nothing to do with each other, one table shows what another hides.
Where a table crosses both, its zeros say it; otherwise the plan has to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path

from discreet.core.errors import DataError
from discreet.core.files import ScratchFolder
from discreet.programme.crossings import Cluster
from discreet.tabulation.engines.duckdb_input import Input, open_input, quoted, text_of, unreadable
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import DimensionSpec, TableSpec

CHANCE = 0.01
"""Columns that would lie inside each other by chance more often than this are taken to do so by chance: a round choice.
Of few records, nearly all columns do."""
FEW = 20_000
"""So many records are looked at first: nearly all columns that do not lie inside each other show it there."""


def refuse_unstated(
    source: Source, dimensions: Mapping[str, DimensionSpec], clusters: Sequence[Cluster], contributor: str | None
) -> None:
    """Refuse records with a column that lies inside one of another dimension which no table crosses with its own."""
    import duckdb

    pairs = list(_pairs(dimensions, clusters))
    if not pairs:
        return
    columns = tuple(DimensionSpec(name) for name in dict.fromkeys(name for pair in pairs for name in pair))
    spec = TableSpec(columns, contributor=contributor, alone=contributor is None)
    with ScratchFolder() as folder, duckdb.connect() as connection:
        rows = open_input(connection, source, spec, Path(folder))
        try:
            few = ", ".join(quoted(column.name) for column in columns)
            connection.execute(f"CREATE TEMP TABLE discreet_few AS SELECT {few} FROM src LIMIT {FEW}")
            outer = {one: [other for inner, other in pairs if inner == one] for one, _ in pairs}
            across = {one: _across(rows, one, others) for one, others in outer.items()}
            for one, other in pairs:
                if other not in across[one]:
                    _refuse(rows, one, other, contributor)
        except duckdb.Error as error:
            raise unreadable(source, error) from None


def _pairs(dimensions: Mapping[str, DimensionSpec], clusters: Sequence[Cluster]) -> Iterator[tuple[str, str]]:
    """Yield columns that may lie inside others: the finest of a dimension, and each of one that it is not crossed with.

    Two dimensions are crossed if every cluster with both has a table with both.
    """
    names = dict.fromkeys(name for cluster in clusters for name in cluster.dimensions)
    for pair in combinations(names, 2):
        both = [cluster for cluster in clusters if set(pair) <= set(cluster.dimensions)]
        if both and all(any(set(pair) <= group.dimensions for group in cluster.groups) for cluster in both):
            continue
        for inner, outer in permutations(pair):
            for column in dimensions[outer].columns:
                yield dimensions[inner].columns[-1], column


def _across(rows: Input, inner: str, outer: Sequence[str]) -> set[str]:
    """Return the columns of which a few records show several categories in one of another column."""
    others = [text_of(quoted(name)) for name in outer]
    ends = ", ".join(f"min({other}) AS low{k}, max({other}) AS high{k}" for k, other in enumerate(others))
    several = ", ".join(f"bool_or(low{k} < high{k})" for k in range(len(others)))
    few = f"SELECT {ends} FROM temp.discreet_few GROUP BY {text_of(quoted(inner))}"
    found = rows.connection.execute(f"SELECT {several} FROM ({few})").fetchone()
    return {name for name, one in zip(outer, found or (), strict=True) if one}


def _refuse(rows: Input, inner: str, outer: str, contributor: str | None) -> None:
    """Refuse a column whose every category lies in one category of another, if that is not chance."""
    one, other = text_of(quoted(inner)), text_of(quoted(outer))
    who = "count(*)" if contributor is None else f"count(DISTINCT {quoted(contributor)})"
    held = f"SELECT {who}, count(DISTINCT {other}), min({other}) FROM src WHERE {other} IS NOT NULL GROUP BY {one}"
    found = rows.connection.execute(held).fetchall()
    inside: dict[str, int] = {}
    for number, several, category in found:
        if several > 1:
            return
        inside[category] = inside.get(category, 0) + number
    everybody = sum(inside.values())
    largest = max(inside.values(), default=0)
    # That a category of n records lies in one of shares p by chance has the probability Σ pⁿ.
    chance = sum(
        number * math.log(largest / everybody) + math.log(sum((part / largest) ** number for part in inside.values()))
        for number, _, _ in found
    )
    if len(inside) < 2 or chance > math.log(CHANCE):
        return
    if len(inside) == len(found):
        raise DataError(
            f"{rows.source.shown}: columns {inner!r} and {outer!r} say the same of every record, and no table crosses "
            "them, so what one table hides another may show; use one of them in all tables of the plan"
        )
    raise DataError(
        f"{rows.source.shown}: every category of column {inner!r} lies in one of {outer!r}, so figures by {outer!r} "
        f"are sums of figures by {inner!r}, and what one table hides another may show; say so, and they are protected "
        f'together: [dimensions.{inner}] columns = ["{outer}", "{inner}"]'
    )
