"""Recodings: which categories become one, by hand or by the level of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.core.errors import RequestError
from discreet.protect.base import Original
from discreet.table import Table
from discreet.table.axis import Axis
from discreet.table.coarsen import Recoding, coarsened_table, coarsened_tabulation
from discreet.table.hierarchy import Hierarchy


def categories(original: Original, name: str) -> tuple[str, ...]:
    """Return the finest categories of a dimension."""
    if isinstance(original, Table):
        return original.dimensions[original.axis(name)].categories
    return original.axis(name).leaves


def coarsened(original: Original, recoding: Recoding) -> Original:
    """Return the original with its categories merged."""
    if isinstance(original, Table):
        return coarsened_table(original, recoding)
    return coarsened_tabulation(original, recoding)


def merging(merge: Mapping[str, Mapping[str, Sequence[object]]]) -> dict[str, dict[str, str]]:
    """Return the recoding of categories that are merged by hand, ``{dimension: {group: [categories]}}``.

    >>> merging({"activity": {"5,6": ["5", "6"]}})
    {'activity': {'5': '5,6', '6': '5,6'}}
    """
    recoding: dict[str, dict[str, str]] = {}
    for name, groups in merge.items():
        mine = recoding.setdefault(name, {})
        for group, members in groups.items():
            if isinstance(members, str) or not list(members):
                raise RequestError(f"dimension {name!r}: the group {group!r} lists {members!r}; list its categories")
            for member in map(str, members):
                if member in mine:
                    raise RequestError(
                        f"dimension {name!r}: category {member!r} is in the groups {mine[member]!r} and {group!r}; "
                        "put it in one"
                    )
                mine[member] = str(group)
    return recoding


def to_levels(original: Original, levels: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the recoding of dimensions to levels of their hierarchies; level 1 is directly under the total.

    >>> from discreet.table.tabulation import Tabulation
    >>> tree = Hierarchy.from_parents({"n1": "n", "n2": "n", "s": "Total"})
    >>> cells = Tabulation.from_table(
    ...     Table.from_array([1, 2, 3], {"area": ["n1", "n2", "s"]}), hierarchies={"area": tree}
    ... )
    >>> to_levels(cells, {"area": 1})
    {'area': {'n1': 'n', 'n2': 'n'}}
    """
    recoding: dict[str, dict[str, str]] = {}
    for name, level in levels.items():
        categories(original, name)
        tree = tree_of(original, name)
        if tree is None:
            raise RequestError(f"dimension {name!r} has no hierarchy, so it has no levels; merge its categories")
        if not 0 <= level <= tree.depth:
            raise RequestError(f"dimension {name!r} has the levels 0 (its total) to {tree.depth}; level is {level}")
        recoding[name] = level_groups(tree, level)
    return recoding


def tree_of(original: Original, name: str) -> Hierarchy | None:
    """Return the first hierarchy of a dimension that has one above its categories."""
    if isinstance(original, Table):
        return None
    axis: Axis = original.axis(name)
    return next((tree for tree in axis.hierarchies if tree.depth > 1), None)


def level_groups(tree: Hierarchy, level: int) -> dict[str, str]:
    """Return the group at a level for each finest category below it."""
    found = {}
    for leaf in tree.leaves:
        path = tree.path(leaf)[::-1]
        if len(path) - 1 > level:
            # At level 0 everything is one category, which must not be called as the total is.
            found[leaf] = path[level] if level else f"all of {tree.total}"
    return found


def joined(original: Original, *recodings: Recoding) -> dict[str, dict[str, str]]:
    """Put recodings of different dimensions together."""
    result: dict[str, dict[str, str]] = {}
    for recoding in recodings:
        for name, groups in recoding.items():
            if name in result:
                raise RequestError(f"dimension {name!r} is recoded twice, by hand and to a level; choose one")
            categories(original, name)
            result[name] = dict(groups)
    return result
