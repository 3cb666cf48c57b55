"""Coarser categories: tables and tabulations whose categories are merged into groups.

A recoding is ``{dimension: {category: group}}``; categories that it does not name stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError, require
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.axis import Axis
from discreet.table.grid import Dimension, Grid, add_up, grid_of, locate, recode
from discreet.table.hierarchy import Hierarchy
from discreet.table.release import Release
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation
from discreet.table.units import Largest, Level, Number

Recoding: TypeAlias = Mapping[str, Mapping[str, str]]


def recoding_of(release: object) -> Recoding:
    """Return the recoding that a release states among its parameters, an empty one if no categories are merged.

    >>> recoding_of(Release(Table.from_array([3], ["x"]), "redesign", {"recoding": {"x": {"a": "1", "b": "1"}}}))
    {'x': {'a': '1', 'b': '1'}}
    """
    stated = release.parameters.get("recoding", {}) if isinstance(release, Release) else {}
    if not isinstance(stated, Mapping) or not all(isinstance(groups, Mapping) for groups in stated.values()):
        raise DataError(f"the release states the recoding {stated!r}; it is {{dimension: {{category: group}}}}")
    return {str(name): {str(c): str(g) for c, g in groups.items()} for name, groups in stated.items()}


def groups_of(name: str, categories: tuple[str, ...], groups: Mapping[str, str]) -> tuple[tuple[str, ...], IntArray]:
    """Return the groups in the order of their first categories, and the group of each category.

    >>> groups_of("age", ("1", "2", "3"), {"2": "2+3", "3": "2+3"})
    (('1', '2+3'), array([0, 1, 1]))
    """
    require(groups, categories, f"categories are merged, but dimension {name!r} has no category")
    mine = [groups.get(category, category) for category in categories]
    for category, group in zip(categories, mine, strict=True):
        if category in mine and (group != category or mine.count(group) > 1):
            raise RequestError(
                f"dimension {name!r}: a group of several categories is called {category!r}, as one of the categories "
                "is, and would be taken for it; give the group another name"
            )
    labels = tuple(dict.fromkeys(mine))
    return labels, recode(mine, labels)


def coarsened_table(table: Table, recoding: Recoding) -> Table:
    """Return the table of the groups; a group's cell is impossible if all its cells are.

    >>> by_age = Table.from_array([4, 1, 2], {"age": ["1", "2", "3"]})
    >>> coarsened_table(by_age, {"age": {"2": "2+3", "3": "2+3"}}).to_dict()
    {('1',): 4, ('2+3',): 3}
    """
    require(recoding, table.names, "the table has no dimension")
    found = {n: groups_of(n, listed, recoding.get(n, {})) for n, listed in table.categories_by_name.items()}
    dims = tuple(Dimension(name, labels) for name, (labels, _) in found.items())
    grid, groups = grid_of(dims), {name: place for name, (_, place) in found.items()}
    cells, counts = add_up(table.grid.translate(table.cells, grid, groups), table.counts, grid.size)
    lost, times = np.unique(table.grid.translate(table.impossible, grid, groups), return_counts=True)
    whole = np.ones(lost.size, np.int64)
    for place, code in zip(groups.values(), grid.decode(lost), strict=True):
        whole *= np.bincount(place)[code]
    return Table(dims, cells, counts, lost[times == whole])


def coarsened_tabulation(tabulation: Tabulation, recoding: Recoding) -> Tabulation:
    """Return the tabulation of the groups, with the nodes of its hierarchies that consist of entire groups.

    Figures of a group that is a node already are taken from it. Others are added up; if contributors have records in
    several of the merged cells, their number and their largest contributions do not add up, which is an error.

    >>> cells = Tabulation.from_table(Table.from_array([4, 1, 2], {"age": ["1", "2", "3"]}))
    >>> coarsened_tabulation(cells, {"age": {"2": "2+3", "3": "2+3"}}).records.tolist()
    [7, 4, 3]
    """
    require(recoding, tabulation.names, "the table has no dimension")
    axes, nodes, leaves = [], {}, {}
    for axis in tabulation.axes:
        new, nodes[axis.name], merged = _coarser(axis, recoding.get(axis.name, {}))
        if merged:
            _check_units(tabulation, axis)
        leaves[axis.name] = _leaves(axis, new, recoding.get(axis.name, {}))
        axes.append(new)
    grid, known = Grid.of({axis.name: axis.codes for axis in axes}), tabulation.respondents
    position = tabulation.grid.translate(tabulation.cells, grid, nodes)
    rows = np.flatnonzero(position >= 0)
    order = rows[np.argsort(position[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(position[order], prepend=-1))

    def total(column: npt.NDArray[Number]) -> npt.NDArray[Number]:
        summed: npt.NDArray[Number] = np.add.reduceat(column[order], starts)
        return summed

    def weighted(column: FloatArray | None) -> FloatArray | None:
        return None if column is None else total(column)

    def level(one: Level) -> Level:
        largest = []
        for item in one.largest:
            top, heavy = _tops(item, order, position[order], starts)
            largest.append(Largest(total(item.total), top, weighted(item.weighted_total), heavy))
        return Level(total(one.units), weighted(one.weighted_units), tuple(largest))

    return Tabulation(
        tuple(axes),
        tabulation.margins,
        position[order][starts],
        total(tabulation.records),
        weighted(tabulation.weighted),
        tuple(response.mapped(total) for response in tabulation.responses),
        level(tabulation.contributors),
        None if tabulation.holdings is None else level(tabulation.holdings),
        tabulation.dropped,
        None if known is None else known.moved(tabulation.grid.translate(known.cell, grid, leaves)),
    )


def _leaves(old: Axis, new: Axis, groups: Mapping[str, str]) -> IntArray:
    """Return the node of the new axis for the total and every leaf of the old one, -1 for others."""
    found = np.full(len(old), -1, np.int64)
    found[old.leaf_codes] = recode([groups.get(leaf, leaf) for leaf in old.leaves], new.codes)
    found[0] = 0
    return found


def _coarser(axis: Axis, groups: Mapping[str, str]) -> tuple[Axis, IntArray, bool]:
    """Return the axis of the groups, the node of each old one (-1: none), and whether leaves are added up."""
    if not groups:
        return axis, np.arange(len(axis)), False
    labels, place = groups_of(axis.name, axis.leaves, groups)
    of = dict(zip(axis.leaf_codes.tolist(), place.tolist(), strict=True))
    members: dict[int, set[int]] = {}
    for leaf, group in of.items():
        members.setdefault(group, set()).add(leaf)
    inside = [{of[leaf] for leaf in below} for below in axis.under]
    whole = [
        set().union(*(members[g] for g in found)) == below for found, below in zip(inside, axis.under, strict=True)
    ]
    node = [i == 0 or (whole[i] and len(inside[i]) > 1) for i in range(len(axis))]
    clash = next((axis.codes[i] for i in range(len(axis)) if node[i] and axis.codes[i] in labels), None)
    if clash is not None:
        raise RequestError(
            f"dimension {axis.name!r}: the group {clash!r} has the name of a larger one in the hierarchy; rename it"
        )
    at = axis.places
    trees: list[Hierarchy] = []
    for tree in axis.hierarchies:
        pairs: dict[str, str] = {}
        for code, parent in zip(tree.codes[1:], tree.parents[1:], strict=True):
            climb = parent
            while not node[at[tree.codes[climb]]]:
                climb = tree.parents[climb]
            if node[at[code]]:
                pairs[code] = tree.codes[climb]
            elif at[code] in of:
                pairs.setdefault(labels[of[at[code]]], tree.codes[climb])
        if not trees or any(node[at[code]] for code in tree.codes[1:]):
            grown = Hierarchy.from_parents(pairs, total=tree.total)
            trees.append(grown.as_part() if tree.part else grown)
    new = Axis(axis.name, tuple(trees))
    found = new.places
    # A group that an old node consists of takes that node's figures, which are right even if units do not add up.
    same = {next(iter(inside[i])) for i in range(len(axis)) if i not in of and whole[i] and len(inside[i]) == 1}
    result = np.full(len(axis), -1, np.int64)
    taken: set[int] = set()
    for i in range(len(axis)):
        if node[i]:
            result[i] = found[axis.codes[i]]
        elif i in of:
            result[i] = -1 if of[i] in same else found[labels[of[i]]]
        elif whole[i]:
            (group,) = inside[i]
            if group not in taken:
                taken.add(group)
                result[i] = found[labels[group]]
    return new, result, any(len(found) > 1 and group not in same for group, found in members.items())


def _check_units(tabulation: Tabulation, axis: Axis) -> None:
    """Refuse to add up units if some are in several categories of a dimension."""
    codes = tabulation.codes(axis.name)
    above = tabulation.grid.moved(tabulation.cells, tabulation.names.index(axis.name), 0)
    leaves = np.isin(codes, axis.leaf_codes)
    for name, level in tabulation.levels.items():
        if np.array_equal(level.units, tabulation.records):
            continue
        total = np.flatnonzero(codes == 0)
        cells, sums = add_up(above[leaves], level.units[leaves], tabulation.size)
        slot = locate(tabulation.cells[total], cells)
        if (slot < 0).any() or (level.units[total][slot] != sums).any():
            raise DataError(
                f"some {name}s have records in several categories of {axis.name!r}, so merged cells do not have the "
                "sum of their numbers; recode the records and tabulate them again"
            )


def _tops(item: Largest, order: IntArray, position: IntArray, starts: IntArray) -> tuple[FloatArray, FloatArray | None]:
    """Return the largest contributions to merged cells, and their weighted sizes."""
    width = item.top.shape[1]
    number = np.repeat(np.cumsum(np.diff(position, prepend=-1) > 0) - 1, width)
    values = item.top[order].ravel()
    ranked = np.lexsort([-values, number])
    begin = np.searchsorted(number[ranked], np.arange(starts.size))
    chosen = ranked[begin[:, None] + np.arange(width)]
    heavy = None if item.weighted_top is None else item.weighted_top[order].ravel()[chosen]
    return values[chosen], heavy
