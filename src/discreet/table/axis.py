"""An axis of a tabulation: a dimension with its total, its finest categories and all groupings between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray
from discreet.table.grid import Dimension
from discreet.table.hierarchy import Hierarchy, TotalFirst


@dataclass(frozen=True)
class Axis(TotalFirst):
    """A dimension's name and one or more hierarchies over its categories; they share the total.

    ``codes`` are the nodes of all hierarchies, the total first; a cell's category along the axis is a position in
    them. The codes of several hierarchies are joined by name: a group that two of them list must hold the same
    categories in both. ``occurring`` are the nodes that are listed because records are in them: readers know that these
    are not empty.

    >>> by_size = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b"})
    >>> by_coast = Hierarchy.from_parents({"a1": "coast", "b1": "coast"})
    >>> axis = Axis("region", (by_size, by_coast))
    >>> axis.codes, axis.leaves
    (('Total', 'a', 'a1', 'a2', 'b', 'b1', 'coast'), ('a1', 'a2', 'b1'))
    """

    name: str
    hierarchies: tuple[Hierarchy, ...]
    codes: tuple[str, ...] = field(init=False, compare=False)
    under: tuple[frozenset[int], ...] = field(init=False, compare=False, repr=False)
    occurring: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.hierarchies:
            raise DataError(f"dimension {self.name!r} has no hierarchy; a plain one is Hierarchy.flat(codes)")
        total = self.hierarchies[0].total
        for hierarchy in self.hierarchies[1:]:
            if hierarchy.total != total:
                raise DataError(
                    f"the hierarchies of dimension {self.name!r} have the totals {total!r} and {hierarchy.total!r}; "
                    "give them the same one"
                )
            if hierarchy.part != self.part:
                raise DataError(
                    f"the total {total!r} of dimension {self.name!r} is a part of it in one hierarchy but not in the "
                    "other; say the same about both"
                )
        codes = tuple(dict.fromkeys(code for hierarchy in self.hierarchies for code in hierarchy.codes))
        object.__setattr__(self, "codes", Dimension(self.name, codes).categories)
        object.__setattr__(self, "under", self._leaf_sets())

    @property
    def part(self) -> bool:
        """Whether the total is of these categories only, and not of everybody."""
        return self.hierarchies[0].part

    def as_part(self, total: str | None = None) -> Axis:
        """Declare that the total is of these categories only, under a name."""
        return Axis(self.name, tuple(tree.as_part(total) for tree in self.hierarchies), self.occurring)

    @cached_property
    def leaf_codes(self) -> IntArray:
        """The positions of the finest categories; the array cannot be written to."""
        found = np.array([i for i, below in enumerate(self.under) if below == {i}], np.int64)
        found.flags.writeable = False
        return found

    @property
    def leaves(self) -> tuple[str, ...]:
        """The finest categories, those that records are in."""
        return tuple(self.codes[i] for i in self.leaf_codes)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each code."""
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def over(self) -> tuple[tuple[int, ...], ...]:
        """For each finest category the nodes that contain it, including itself; for groups none."""
        found: list[list[int]] = [[] for _ in self.codes]
        for node, leaves in enumerate(self.under):
            for leaf in leaves:
                found[leaf].append(node)
        return tuple(tuple(nodes) for nodes in found)

    @property
    def dimension(self) -> Dimension:
        """The dimension whose categories are all nodes."""
        return Dimension(self.name, self.codes)

    def level_maps(self) -> list[IntArray]:
        """Return, for each level, the node that each code's records add to, -1 for none; no record adds to two."""
        maps: list[IntArray] = []
        placed: set[int] = {0}
        for hierarchy in self.hierarchies:
            levels = hierarchy.levels
            for level in range(1, hierarchy.depth + 1):
                found = np.full(len(self.codes), -1, np.int64)
                for code, depth in zip(hierarchy.codes, levels, strict=True):
                    node = self.places[code]
                    if depth == level and node not in placed:
                        placed.add(node)
                        found[list(self.under[node])] = node
                if (found >= 0).any():
                    maps.append(found)
        return maps

    def families(self) -> list[tuple[int, IntArray]]:
        """Return each node that has children with the positions of its children, once per hierarchy."""
        found: dict[tuple[int, ...], tuple[int, IntArray]] = {}
        for node, children in self._below():
            # A second hierarchy may group some of the categories only; those groups do not add up to the total.
            if frozenset().union(*(self.under[child] for child in children)) == self.under[node]:
                found[(node, *children)] = (node, np.array(children, np.int64))
        return list(found.values())

    def _below(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each node that has children with these, hierarchy by hierarchy."""
        for hierarchy in self.hierarchies:
            for code, children in hierarchy.sums().items():
                yield self.places[code], [self.places[child] for child in children]

    def _leaf_sets(self) -> tuple[frozenset[int], ...]:
        """Return the leaves under every node, over all hierarchies together."""
        below: dict[int, list[list[int]]] = {}
        for node, children in self._below():
            below.setdefault(node, []).append(children)
        known: dict[int, frozenset[int]] = {}
        # Depth first, without recursion: hierarchies may have more levels than calls may be nested.
        todo, open_ = list(reversed(range(len(self.codes)))), set[int]()
        while todo:
            node = todo[-1]
            unknown = [] if node in known else [c for group in below.get(node, []) for c in group if c not in known]
            if unknown:
                open_.add(node)
                if above := open_.intersection(unknown):
                    raise DataError(
                        f"dimension {self.name!r}: {self.codes[min(above)]!r} is above and below {self.codes[node]!r} "
                        "in two hierarchies; reverse one of them"
                    )
                todo.extend(reversed(unknown))
                continue
            todo.pop()
            open_.discard(node)
            if node not in known:
                known[node] = self._leaves_of(node, below.get(node, []), known)
        return tuple(known[node] for node in range(len(self.codes)))

    def _leaves_of(self, node: int, below: list[list[int]], known: Mapping[int, frozenset[int]]) -> frozenset[int]:
        """Join the leaves under the children of a node, which every hierarchy that has it must agree on."""
        groups = []
        for children in below:
            covered: set[int] = set()
            for child in children:
                if twice := covered & known[child]:
                    raise DataError(
                        f"dimension {self.name!r}: {self.codes[min(twice)]!r} would count twice under "
                        f"{self.codes[node]!r}; put it, or the group it is in, elsewhere"
                    )
                covered |= known[child]
            groups.append(covered)
        for other in groups[1:] if node else ():
            if other != groups[0]:
                odd = self.codes[min(other ^ groups[0])]
                raise DataError(
                    f"dimension {self.name!r}: group {self.codes[node]!r} holds {odd!r} in one hierarchy but "
                    "not in the other; give the two groups different codes"
                )
        return frozenset().union(*groups) if groups or not node else frozenset({node})
