"""Recodings: which categories become one, by hand or by the level of a hierarchy, and which merges are allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, get_args

from discreet.core.errors import RequestError, nearest
from discreet.protect.base import Original
from discreet.table import Table
from discreet.table.axis import Axis
from discreet.table.coarsen import Recoding, coarsened_table, coarsened_tabulation
from discreet.table.hierarchy import Hierarchy

Allowed: TypeAlias = Literal["any", "neighbours", "levels", "none"]
Partition: TypeAlias = tuple[int, ...]
"""The group of each category; groups are numbered in the order of their first categories."""
NUMBER = re.compile(r"-?\d+(\.\d+)?")


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
    """Combine recodings of different dimensions."""
    result: dict[str, dict[str, str]] = {}
    for recoding in recodings:
        for name, groups in recoding.items():
            if name in result:
                raise RequestError(f"dimension {name!r} is recoded twice, by hand and to a level; choose one")
            categories(original, name)
            result[name] = dict(groups)
    return result


@dataclass(frozen=True)
class Moves:
    """The merges that a dimension allows.

    ``order`` lists the categories with neighbours beside each other; ``levels`` are the partitions of the hierarchy's
    levels, the finest first.
    """

    name: str
    found: tuple[str, ...]
    allowed: Allowed
    order: tuple[int, ...] = ()
    levels: tuple[Partition, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def start(self) -> Partition:
        """Nothing is merged."""
        return tuple(range(len(self.found)))

    def coarser(self, partition: Partition) -> Iterator[Partition]:
        """Enumerate the partitions that are one merge coarser."""
        if self.allowed == "levels":
            place = self.levels.index(partition)
            if place + 1 < len(self.levels):
                yield self.levels[place + 1]
        elif self.allowed == "neighbours":
            for a, b in zip(self.order, self.order[1:], strict=False):
                if partition[a] != partition[b]:
                    yield _merged(partition, partition[a], partition[b])
        elif self.allowed == "any":
            for a, b in combinations(range(max(partition) + 1), 2):
                yield _merged(partition, a, b)

    def groups(self, partition: Partition) -> dict[str, str]:
        """Return the recoding of a partition; groups that no hierarchy has are named by their categories."""
        if self.allowed == "levels":
            labels = self.labels[self.levels.index(partition)]
            return {c: g for c, g in zip(self.found, labels, strict=True) if c != g}
        order = self.order or tuple(range(len(self.found)))
        members: dict[int, list[str]] = {}
        for i in order:
            members.setdefault(partition[i], []).append(self.found[i])
        names = {group: "+".join(found) for group, found in members.items() if len(found) > 1}
        return {c: names[g] for c, g in zip(self.found, partition, strict=True) if g in names}


def _merged(partition: Partition, a: int, b: int) -> Partition:
    return canonical([min(a, b) if group in (a, b) else group for group in partition])


def canonical(partition: Sequence[int]) -> Partition:
    """Number groups in the order of their first categories.

    >>> canonical([2, 0, 2])
    (0, 1, 0)
    """
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(group, len(seen)) for group in partition)


def moves_of(
    original: Original, wanted: Mapping[str, Allowed] | None, order: Mapping[str, Sequence[object]] | None
) -> tuple[Moves, ...]:
    """Return what each dimension allows; by default levels, else neighbours where there is an order, else any two."""
    chosen, orders = dict(wanted or {}), dict(order or {})
    for name in (*chosen, *orders):
        if name not in original.names:
            raise RequestError(f"the table has no dimension {name!r}; {nearest(name, original.names)}")
    result = []
    for name in original.names:
        found = categories(original, name)
        allowed = chosen.get(name)
        if allowed is not None and allowed not in get_args(Allowed):
            raise RequestError(f"dimension {name!r} allows {allowed!r}; {nearest(str(allowed), get_args(Allowed))}")
        tree = tree_of(original, name)
        ranks = order_of(found, orders.get(name), name)
        if allowed is None:
            allowed = "neighbours" if name in orders else "levels" if tree else "neighbours" if ranks else "any"
        if allowed == "levels":
            if tree is None:
                raise RequestError(f"dimension {name!r} has no hierarchy, so it has no levels; allow other merges")
            groups = [level_groups(tree, level) for level in range(tree.depth, -1, -1)]
            labels = [tuple(mine.get(category, category) for category in found) for mine in groups]
            levels = [canonical([label.index(group) for group in label]) for label in labels]
            kept = [i for i, level in enumerate(levels) if i == 0 or level != levels[i - 1]]
            result.append(
                Moves(name, found, allowed, (), tuple(levels[i] for i in kept), tuple(labels[i] for i in kept))
            )
            continue
        if allowed == "neighbours" and ranks is None:
            raise RequestError(
                f"dimension {name!r} has no order: its categories ({', '.join(map(repr, found[:4]))} …) are not "
                f"numbers or ranges; give their order (order=, --order {name}=…), or allow any merges"
            )
        result.append(Moves(name, found, allowed, ranks or () if allowed == "neighbours" else ()))
    return tuple(result)


def order_of(found: tuple[str, ...], given: Sequence[object] | None, name: str) -> tuple[int, ...] | None:
    """Return the categories in order: as given, or by the numbers that they begin with; None where there are none.

    >>> order_of(("5-9", "10-14", "under 5"), None, "age"), order_of(("m", "f"), None, "sex")
    ((2, 0, 1), None)
    """
    if given is not None:
        labels = [str(label) for label in given]
        if sorted(labels) != sorted(found):
            odd = next(iter(set(labels) ^ set(found)), labels[0])
            raise RequestError(f"the order of dimension {name!r} must list every category once; {odd!r} is not so")
        return tuple(found.index(label) for label in labels)
    numbers = []
    for label in found:
        match = NUMBER.search(label)
        if match is None:
            return None
        below = label.lower().startswith(("under", "below", "less", "<"))
        numbers.append((float(match[0]), not below))
    if len(set(numbers)) != len(numbers):
        return None
    return tuple(sorted(range(len(found)), key=lambda i: numbers[i]))
