"""From codes to cells: which nodes each code's records add to, and which groupings produce all cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray
from discreet.table.axis import Axis
from discreet.table.grid import Grid
from discreet.table.hierarchy import Hierarchy, Prefixes
from discreet.tabulation.spec import MISSING, DimensionSpec, Missing, TableSpec

Key: TypeAlias = tuple[str | None, ...]
"""The codes of a record in the columns of one dimension."""
Place: TypeAlias = Callable[[str, str | None], str]
"""Names the file and row of the first record with a code in a column."""


@dataclass(frozen=True, eq=False)
class AxisMap:
    """An axis, and the nodes that each code of the records adds to.

    ``keys`` are the codes as they stand in the records; ``leaf`` is the node of each; ``levels`` has, for each level of
    the hierarchies, the node of each at that level, -1 where there is none.
    """

    axis: Axis
    keys: tuple[Key, ...]
    leaf: IntArray
    levels: tuple[IntArray, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """The axes, the geometry of their cells, and for each finest margin the groupings that are made from it.

    A grouping is a level for each dimension, None where the dimension is at its total.
    """

    spec: TableSpec
    maps: tuple[AxisMap, ...]
    grid: Grid
    groupings: tuple[tuple[tuple[str, ...], tuple[tuple[int | None, ...], ...]], ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the tabulation."""
        return tuple(one.axis for one in self.maps)


def make_plan(spec: TableSpec, labels: Sequence[Sequence[Key]], place: Place) -> Plan:
    """Join the codes of the records with the hierarchies."""
    maps = tuple(
        _axis_map(dimension, keys, spec.missing, place) for dimension, keys in zip(spec.dimensions, labels, strict=True)
    )
    grid, finest = Grid(tuple(len(one.axis) for one in maps)), spec.finest
    groupings: dict[tuple[str, ...], list[tuple[int | None, ...]]] = {margin: [] for margin in finest}
    for margin in spec.crossed:
        # The smallest table that contains a margin is the cheapest to add up.
        source = min((f for f in finest if set(margin) <= set(f)), key=lambda f: _cells(f, spec, maps))
        choices = [
            range(len(one.levels)) if dimension.name in margin else [None]
            for dimension, one in zip(spec.dimensions, maps, strict=True)
        ]
        groupings[source] += list(product(*choices))
    return Plan(spec, maps, grid, tuple((margin, tuple(listed)) for margin, listed in groupings.items()))


def _cells(margin: tuple[str, ...], spec: TableSpec, maps: Sequence[AxisMap]) -> int:
    return math.prod(len(maps[spec.names.index(name)].keys) for name in margin)


def _axis_map(dimension: DimensionSpec, keys: Sequence[Key], missing: Missing, place: Place) -> AxisMap:
    """Build the axis of a dimension from its hierarchies and the codes that occur."""
    rows: list[Key] = []
    for key in keys:
        lost = key[0] in (None, "") or any(code in dimension.missing for code in key)
        if lost and missing == "error":
            what = "is empty" if key[0] in (None, "") else f"is {key[0]!r}, which means missing"
            raise DataError(
                f"{place(dimension.columns[0], key[0])}: dimension {dimension.name!r} {what}; correct it, make a "
                "category of it (missing='category', --missing category), or leave it out (missing='drop', --missing "
                "drop)"
            )
        rows.append((MISSING,) if lost else key)
    # The finest code of nested columns is the last one given.
    own = [next(code for code in reversed(row) if code not in (None, "")) for row in rows]
    trees = _hierarchies(dimension, rows, own, place)
    listed = {code for given in dimension.hierarchies if isinstance(given, Hierarchy) for code in given.codes}
    occurring = frozenset(code for tree in trees for code in tree.codes if code != dimension.total) - listed
    axis = Axis(dimension.name, tuple(trees), occurring)
    leaf = np.array([axis.places[code] for code in own], np.int64)
    leaves = set(axis.leaf_codes.tolist())
    for code, node in zip(own, leaf.tolist(), strict=True):
        if node not in leaves:
            raise DataError(
                f"{place(dimension.columns[-1], code)}: code {code!r} of dimension {dimension.name!r} is a group of "
                "its hierarchy, not one of its finest codes; code the records finer, or cut the hierarchy there"
            )
    levels = tuple(found[leaf] for found in axis.level_maps())
    return AxisMap(axis, tuple(keys), leaf, levels)


def _hierarchies(dimension: DimensionSpec, rows: Sequence[Key], own: Sequence[str], place: Place) -> list[Hierarchy]:
    ordered = sorted(set(own), key=_order(own))
    if dimension.total in ordered:
        raise DataError(
            f"{place(dimension.columns[-1], dimension.total)}: category {dimension.total!r} of dimension "
            f"{dimension.name!r} is also the code of the total; give the total another name (total=, --total)"
        )
    trees: list[Hierarchy] = []
    if len(dimension.columns) > 1:
        nested = sorted(set(rows), key=lambda row: [code or "" for code in row])
        trees.append(_named(dimension, lambda: Hierarchy.from_columns(nested, total=dimension.total)))
    for given in dimension.hierarchies:
        if isinstance(given, Prefixes):
            codes = [code for code in ordered if code != MISSING]
            trees.append(_named(dimension, lambda g=given, c=codes: g.over(c, dimension.total)))  # type: ignore[misc]
        else:
            if given.total != dimension.total:
                raise DataError(
                    f"the hierarchy of dimension {dimension.name!r} has the total {given.total!r}, the table "
                    f"{dimension.total!r}; give both the same"
                )
            trees.append(given)
    if not trees:
        return [Hierarchy.flat(ordered, total=dimension.total)]
    known = {code for tree in trees for code in tree.codes}
    odd = [code for code in ordered if code not in known]
    strangers = [code for code in odd if code != MISSING]
    if strangers and dimension.outside == "error":
        shown = ", ".join(repr(code) for code in strangers[:8]) + (" and more" if len(strangers) > 8 else "")
        raise DataError(
            f"{place(dimension.columns[-1], strangers[0])}: {len(strangers)} codes of dimension {dimension.name!r} are "
            f"in no hierarchy: {shown}; add them, or put them under the total (outside='total', --outside total)"
        )
    return [trees[0].with_codes(odd), *trees[1:]] if odd else trees


def _named(dimension: DimensionSpec, build: Callable[[], Hierarchy]) -> Hierarchy:
    try:
        return build()
    except DataError as error:
        raise DataError(f"dimension {dimension.name!r}: {error}") from None


def _order(codes: Sequence[str]) -> Callable[[str], tuple[int, int, str]]:
    """Return the sort key of codes: integers by value, everything else by its letters, missing codes last."""
    numeric = all(code.isdecimal() for code in codes if code != MISSING)
    return lambda code: (int(code == MISSING), int(code) if numeric and code != MISSING else 0, code)
