"""A dimension as published tables use it: its labels, and which of them are sums of which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.core.errors import require
from discreet.core.numerics import IntArray
from discreet.table.figures import Figures

WHOLE = "Total"
"""The name of the total of everybody, whatever the tables call it."""


@dataclass(frozen=True)
class AdditiveAxis:
    """A dimension as publications use it: its labels, the total first, and the sums among them.

    Every relation is a label and those that it is the sum of, one for each inner node of each hierarchy. ``parts`` are
    the totals of tables that cover some of the labels only, and ``pieces`` what such tables cut the dimension into: of
    each piece the sum, and the labels in it that are no sums. If all tables cover the same part, its total is the
    first label. ``whole`` is what tables call the first label.
    """

    name: str
    nodes: tuple[str, ...]
    relations: tuple[tuple[int, tuple[int, ...]], ...]
    kept: tuple[int, ...] | None = None
    parts: tuple[int, ...] = ()
    pieces: tuple[tuple[int, tuple[int, ...]], ...] = ()
    whole: str = WHOLE

    @property
    def stated(self) -> tuple[int, ...]:
        """The labels that positions have: all of them, unless only some are needed."""
        return tuple(range(len(self.nodes))) if self.kept is None else self.kept

    @property
    def leaves(self) -> tuple[int, ...]:
        """The labels that are no sums."""
        sums = {parent for parent, _ in self.relations}
        return tuple(i for i in self.stated if i not in sums)

    def above(self, label: str) -> tuple[int, ...]:
        """Return the label's own place and those of every sum that it is in.

        >>> AdditiveAxis("x", ("Total", "g", "a", "b"), ((1, (2, 3)), (0, (1,)))).above("a")
        (0, 1, 2)
        """
        found, left = set[int](), [self.code(label)]
        while left:
            at = left.pop()
            if at not in found:
                found.add(at)
                left += self.parents.get(at, ())
        return tuple(sorted(found))

    @cached_property
    def parents(self) -> Mapping[int, tuple[int, ...]]:
        """The sums that each label is directly in."""
        found: dict[int, tuple[int, ...]] = {}
        for parent, children in self.relations:
            for child in children:
                found[child] = (*found.get(child, ()), parent)
        return found

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each label."""
        return {label: i for i, label in enumerate(self.nodes)}

    @cached_property
    def under(self) -> tuple[frozenset[int], ...]:
        """The labels that are no sums, and that each label is made of."""
        made: list[list[int]] = [[] for _ in self.nodes]
        for leaf in self.leaves:
            for node in self.above(self.nodes[leaf]):
                made[node].append(leaf)
        return tuple(frozenset(found) for found in made)

    def top(self, table: Figures) -> int:
        """Return the place of a table's total along the dimension; tables without it sum over everybody."""
        part = table.part(self.name)
        place = 0 if part is None else self.places.get(part, 0)
        return place if place in self.parts else 0

    def coded(self, table: Figures) -> IntArray:
        """Return the places of a table's labels."""
        found = []
        for label in table.labels[self.name]:
            place = self.places.get(label, -1)
            found.append(0 if place not in self.parts and table.is_total(self.name, label) else place)
        return np.array(found, np.int64)

    def among(self, kept: Iterable[int]) -> AdditiveAxis:
        """Return the axis with some of its labels, and the relations among these."""
        inside = frozenset(kept)
        relations = tuple(r for r in self.relations if r[0] in inside and inside.issuperset(r[1]))
        return replace(self, relations=relations, kept=tuple(sorted(inside)))

    def single(self, whole: int, below: Iterable[int]) -> AdditiveAxis:
        """Return the axis with one sum and what it is the sum of.

        >>> AdditiveAxis("x", ("Total", "g", "a", "b", "c"), ((0, (1, 4)), (1, (2, 3)))).single(0, (2, 3, 4)).stated
        (0, 2, 3, 4)
        """
        parts = tuple(part for part in below if part != whole)
        return replace(self, relations=((whole, parts),) if parts else (), kept=tuple(sorted({whole, *parts})))

    def only(self, needed: Iterable[int]) -> AdditiveAxis:
        """Return the axis with the sums that are needed; others are replaced by their parts where they are added up.

        Places stay as they are; labels that are left out are in no relation. A sum in two ways is never left out,
        because it says that the two are equal.

        >>> AdditiveAxis("x", ("Total", "g", "a", "b", "c"), ((0, (1, 4)), (1, (2, 3)))).only([0]).relations
        ((0, (2, 3, 4)),)
        """
        ways = Counter(parent for parent, _ in self.relations)
        kept = {*self.leaves, *needed, *(node for node, count in ways.items() if count > 1)}
        below = dict(self.relations)

        def spelled(node: int) -> Iterator[int]:
            if node in kept:
                yield node
            else:
                for child in below[node]:
                    yield from spelled(child)

        relations = tuple(
            (parent, tuple(part for child in children for part in spelled(child)))
            for parent, children in self.relations
            if parent in kept
        )
        return replace(self, relations=relations, kept=tuple(sorted(kept)))

    def recode(self, other: AdditiveAxis) -> IntArray:
        """Return the place of each label along another axis of the same dimension, -1 if it has none."""
        found = [other.places.get(label, -1) for label in self.nodes]
        found[0] = other.places.get(self.whole, 0) if other.places.get(self.whole, 0) in other.parts else 0
        for part in self.parts:
            if self.nodes[part] == other.whole:
                found[part] = 0
        return np.array(found, np.int64)

    def code(self, label: object) -> int:
        """Return the place of a label."""
        require([str(label)], self.places, f"dimension {self.name!r} has no category")
        return self.places[str(label)]
