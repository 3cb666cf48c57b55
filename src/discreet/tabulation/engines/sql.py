"""What the SQL engines share: the names of columns, the groupings that make all cells, and the columns of the result.

In every query ``d0_1`` is the second column of the first dimension, ``m0`` a magnitude, ``w`` the weight, ``l0_1`` the
node of a code at a level of the first dimension's hierarchies, and ``leaf0`` its finest node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from discreet.tabulation.plan import Plan
from discreet.tabulation.spec import ResponseSpec, TableSpec

LEVELS = {"contributor": "c", "holding": "h"}
Margin: TypeAlias = tuple[str, ...]
MANY = 10
"""The most dimensions whose combinations are searched for carriers: about a thousand combinations."""
FEW = 50
"""The most margins each of which is tried as the first of the carriers: with more, looking takes longer than grouping
by one margin more."""


class SqlTerm(NamedTuple):
    """A column of a tabulation's file: which figure it is, of which level, response and rank."""

    name: str
    figure: str
    weighted: bool = False
    level: str = ""
    response: ResponseSpec | None = None
    rank: int = 0


def file_columns(spec: TableSpec) -> Iterator[SqlTerm]:
    """Yield the columns of a tabulation's file, except ``cell``."""
    both = [("", False), ("weighted_", True)] if spec.weighted else [("", False)]
    yield SqlTerm("records", "records")
    if spec.key is not None:
        yield SqlTerm("key", "key")
    if spec.weighted:
        yield SqlTerm("weighted", "records", True)
    for one in spec.responses:
        yield from (SqlTerm(f"{heavy}sum:{one.name}", "sum", w, "", one) for heavy, w in both)
    for level in levels(spec):
        yield from (SqlTerm(f"{level}:{heavy}units", "units", w, level) for heavy, w in both)
        for one in spec.responses:
            yield from (SqlTerm(f"{level}:{heavy}total:{one.name}", "total", w, level, one) for heavy, w in both)
            for i in range(1, spec.top + 1):
                yield from (SqlTerm(f"{level}:{heavy}top{i}:{one.name}", "top", w, level, one, i) for heavy, w in both)


def carriers(spec: TableSpec, sizes: Sequence[int], most: float) -> tuple[Margin, ...]:
    """Return few margins from which all finest ones add up: records are grouped by these alone.

    ``sizes`` are the numbers of codes of the dimensions, as far as known. A margin that carries several finest ones has
    at most ``most`` cells. Each such margin is tried as the first, followed by the one that carries most of those left;
    the fewest margins found so are returned.

    >>> from discreet.tabulation.spec import DimensionSpec
    >>> spec = TableSpec([DimensionSpec(name) for name in "abc"], margins=[("a", "b"), ("a", "c"), ("b", "c")])
    >>> carriers(spec, (10, 10, 10), 1000), carriers(spec, (10, 10, 10), 999)
    ((('a', 'b', 'c'),), (('a', 'b'), ('a', 'c'), ('b', 'c')))
    """
    cells = dict(zip(spec.names, sizes, strict=True))
    if len(spec.finest) < 2 or len(spec.names) > MANY:
        return spec.finest
    every = [margin for k in range(1, len(cells) + 1) for margin in combinations(spec.names, k)]
    small = {margin: size for margin in every if (size := math.prod(cells[name] for name in margin)) <= most}
    carries = {margin: [one for one in spec.finest if set(one) <= set(margin)] for margin in small}
    # Only what carries several can save a margin, and only the smallest of those that carry the same.
    useful: dict[tuple[Margin, ...], Margin] = {}
    for margin in sorted(small, key=lambda margin: (small[margin], margin)):
        if len(carries[margin]) > 1:
            useful.setdefault(tuple(carries[margin]), margin)
    tried = [
        _covered(spec.finest, first, {margin: set(own) for own, margin in useful.items()}, small)
        for first in (None, *(useful.values() if len(useful) <= FEW else ()))
    ]
    return min(tried, key=lambda found: (len(found), sum(math.prod(cells[name] for name in one) for one in found)))


def _covered(
    finest: Sequence[Margin], first: Margin | None, carries: Mapping[Margin, set[Margin]], small: Mapping[Margin, int]
) -> tuple[Margin, ...]:
    """Return margins that carry all finest ones: a given one, then always the one that carries most of those left."""
    left, found = list(finest), []
    best = first
    while left:
        if best is None:
            if not carries:
                break
            best = max(carries, key=lambda margin: (len(carries[margin].intersection(left)), -small[margin]))
            if len(carries[best].intersection(left)) < 2:
                break
        found.append(best)
        left = [one for one in left if one not in carries[best]]
        best = None
    return (*found, *left)


def carried(plan: Plan, chosen: Sequence[Margin]) -> list[tuple[Margin, list[tuple[int | None, ...]]]]:
    """Return for each carrier the groupings that add up from it; a finest margin goes to the first that contains it."""
    found: dict[Margin, list[tuple[int | None, ...]]] = {margin: [] for margin in chosen}
    for finest, groupings in plan.groupings:
        found[next(margin for margin in chosen if set(finest) <= set(margin))] += groupings
    return list(found.items())


GROUPED = {sign: rf"[-+]?[0-9]{{1,3}}([{other}][0-9]{{3}})+" for sign, other in ((".", ","), (",", "."))}
"""Numbers in groups of three digits, by the decimal sign that they may have."""


def separated(sign: str) -> str:
    """Return the pattern of numbers with separators between thousands, given their decimal sign."""
    return f"{GROUPED[sign]}([{sign}][0-9]*)?"


def with_point(text: str, sign: str, matches: str) -> str:
    """Return the expression of a number with a decimal point and no separators, given that of its text.

    Anything not in groups of three digits keeps its separator, and so is not a number.

    Args:
        text: the expression of the text.
        sign: its decimal sign.
        matches: the condition that the text matches :func:`separated`.
    """
    other = "," if sign == "." else "."
    plain = f"CASE WHEN {matches} THEN replace({text}, '{other}', '') ELSE replace({text}, '{other}', '?') END"
    return f"replace({plain}, ',', '.')"


def levels(spec: TableSpec) -> list[str]:
    """Return the levels at which contributions are added up."""
    return ["contributor"] if spec.holding is None else list(LEVELS)


def judged(spec: TableSpec) -> list[int]:
    """Return the numbers of the magnitudes that the rules judge, each once."""
    return sorted({spec.magnitudes.index(response.judged) for response in spec.responses})


def code_columns(spec: TableSpec, names: Iterable[str] | None = None) -> list[str]:
    """Return the columns of the codes of some dimensions, by default all."""
    wanted = spec.names if names is None else set(names)
    return [
        f"d{i}_{j}"
        for i, dimension in enumerate(spec.dimensions)
        if dimension.name in wanted
        for j in range(len(dimension.columns))
    ]


def same_codes(spec: TableSpec, relation: str, i: int) -> str:
    """Return the condition that joins a relation with the map of a dimension."""
    columns = range(len(spec.dimensions[i].columns))
    return " AND ".join(f"{relation}.d{i}_{j} IS NOT DISTINCT FROM map{i}.k{j}" for j in columns)


def code_map(plan: Plan, i: int) -> pa.Table:
    """Return the nodes of every code of a dimension: at each level, missing where there is none, and the finest."""
    one = plan.maps[i]
    data: dict[str, pa.Array] = {
        f"k{j}": pa.array([key[j] for key in one.keys], pa.string())
        for j in range(len(plan.spec.dimensions[i].columns))
    }
    data |= {f"l{i}_{j}": pa.array(nodes, pa.int64(), mask=nodes < 0) for j, nodes in enumerate(one.levels)}
    return pa.table({**data, f"leaf{i}": pa.array(one.leaf)})


def grouping(plan: Plan, groupings: Sequence[tuple[int | None, ...]], key: str = "") -> tuple[str, list[str], str]:
    """Return the position of a cell, missing where a branch does not reach a level, the columns, and the sets."""
    chosen = [[f"l{i}_{level}" for i, level in enumerate(one) if level is not None] for one in groupings]
    used = {level for one in chosen for level in one}
    parts = ["CAST(0 AS BIGINT)"]
    for i, (one, stride) in enumerate(zip(plan.maps, plan.grid.strides, strict=True)):
        mine = [f"l{i}_{j}" for j in range(len(one.levels)) if f"l{i}_{j}" in used]
        if mine:
            cases = " ".join(f"WHEN GROUPING({level}) = 0 THEN {level}" for level in mine)
            parts.append(f"(CASE {cases} ELSE 0 END) * CAST({stride} AS BIGINT)")
    keys = [key] if key else []
    sets = ", ".join(f"({', '.join([*keys, *one])})" for one in chosen)
    return " + ".join(parts), [*keys, *sorted(used)], sets


def kept(
    spec: TableSpec, code: Callable[[int, int], str], given: Callable[[int], str], literal: Callable[[str], str]
) -> str:
    """Return the condition of records that are not left out; empty if all are kept.

    ``code`` and ``given`` return the expressions of a dimension's column and of a magnitude, ``literal`` a text in SQL.
    """
    if spec.missing != "drop":
        return ""
    conditions = []
    for i, dimension in enumerate(spec.dimensions):
        conditions.append(f"{code(i, 0)} IS NOT NULL")
        if dimension.missing:
            lost = ", ".join(literal(one) for one in dimension.missing)
            conditions += [f"coalesce({code(i, j)} NOT IN ({lost}), true)" for j in range(len(dimension.columns))]
    conditions += [f"{given(k)} IS NOT NULL" for k in range(len(spec.magnitudes))]
    return " AND ".join(f"({condition})" for condition in conditions)


def split_holdings(contributor: str, holding: str, rows: str) -> str:
    """Return the query for the holdings of a contributor with several, NULL for none; it finds nothing if none has."""
    several = f"min({holding}) < max({holding}) OR (count({holding}) > 0 AND count({holding}) < count(*))"
    first = f"SELECT min(who) FROM (SELECT {contributor} AS who FROM {rows} GROUP BY {contributor} HAVING {several})"
    return f"SELECT DISTINCT {contributor}, {holding} FROM {rows} WHERE {contributor} = ({first})"
