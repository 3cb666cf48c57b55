"""Worlds: the finest cells that an original counts, and which of them every published label covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import discreet as dc

Counts = tuple[int, ...]
Cells = tuple[int, ...]

TOTAL = "Total"


@dataclass(frozen=True)
class World:
    """The dimensions of an original, with the groups of their categories where there are any.

    ``dimensions`` names every dimension with its finest categories, and ``groups`` the groups of some of them.
    """

    dimensions: tuple[tuple[str, tuple[str, ...]], ...]
    groups: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = ()
    _leaves: tuple[tuple[str, ...], ...] = field(init=False, compare=False, repr=False, default=())

    def __post_init__(self) -> None:
        """List the finest cells, the last dimension running fastest."""
        object.__setattr__(self, "_leaves", tuple(product(*(labels for _, labels in self.dimensions))))

    @classmethod
    def of(cls, *sizes: int) -> World:
        """Return a world with dimensions a, b, … of the given sizes.

        >>> World.of(2, 2).leaves
        (('a1', 'b1'), ('a1', 'b2'), ('a2', 'b1'), ('a2', 'b2'))
        """
        named = zip("abcdef", sizes, strict=False)
        return cls(tuple((name, tuple(f"{name}{i + 1}" for i in range(size))) for name, size in named))

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions."""
        return tuple(name for name, _ in self.dimensions)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories each dimension has."""
        return tuple(len(labels) for _, labels in self.dimensions)

    @property
    def leaves(self) -> tuple[tuple[str, ...], ...]:
        """The finest cells, as labels in the order of the dimensions."""
        return self._leaves

    def under(self, name: str, node: str) -> tuple[str, ...]:
        """Return the categories of a dimension that a label covers; a KeyError where the label is unknown."""
        labels = dict(self.dimensions)[name]
        if node in labels:
            return (node,)
        below = dict(dict(self.groups).get(name, ()))
        return below[node] if node in below else {TOTAL: labels}[node]

    def cells(self, label: Mapping[str, str], total: str = TOTAL) -> Cells:
        """Return the finest cells that a label covers: all categories of a dimension that it does not name."""
        wanted = [
            set(labels) if label.get(name, total) == total else set(self.under(name, label[name]))
            for name, labels in self.dimensions
        ]
        return tuple(i for i, leaf in enumerate(self.leaves) if all(c in w for c, w in zip(leaf, wanted, strict=True)))

    def lines(self) -> Iterator[tuple[Cells, ...]]:
        """Go through all lines: the parts of a sum along one dimension, for its finest categories.

        >>> list(World.of(2, 2).lines())[:2]
        [((0,), (2,)), ((1,), (3,))]
        """
        for name, labels in self.dimensions:
            others = [
                [(other, label) for label in (*found, TOTAL)] for other, found in self.dimensions if other != name
            ]
            for fixed in product(*others) if len(labels) > 1 else ():
                yield tuple(self.cells({**dict(fixed), name: label}) for label in labels)

    def build(self, counts: Sequence[int]) -> Any:
        """Return the original that has these counts, as discreet takes it."""
        filled = {leaf: count for leaf, count in zip(self.leaves, counts, strict=True) if count}
        table = dc.Table.from_dict(filled, {name: list(labels) for name, labels in self.dimensions})
        if not self.groups:
            return table
        return dc.Tabulation.from_table(table, hierarchies={name: (self.tree(name),) for name, _ in self.dimensions})

    def tree(self, name: str) -> Any:
        """Return the hierarchy of a dimension, as discreet takes it."""
        labels = dict(self.dimensions)[name]
        groups = dict(dict(self.groups).get(name, ()))
        parents = dict.fromkeys(groups, TOTAL) | dict.fromkeys(labels, TOTAL)
        parents |= {leaf: group for group, below in groups.items() for leaf in below}
        return dc.Hierarchy.from_parents(parents)
