"""The space of published positions: the labels along every dimension, and which of them are sums of which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import LimitError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    from discreet.table.figures import Figures

WHOLE = "Total"
MANY = 20_000
"""The most cells of a cycle of tables that is not cut into smaller blocks."""
FEW = 7
"""The most dimensions of which all orders of elimination are tried."""


@dataclass(frozen=True)
class AdditiveAxis:
    """A dimension as publications use it: its labels, the total first, and the sums among them.

    Every relation is a label and those that it is the sum of, one for each inner node of each hierarchy.
    """

    name: str
    nodes: tuple[str, ...]
    relations: tuple[tuple[int, tuple[int, ...]], ...]
    kept: tuple[int, ...] | None = None

    @property
    def stated(self) -> tuple[int, ...]:
        """The labels that positions have: all of them, unless only some are needed."""
        return tuple(range(len(self.nodes))) if self.kept is None else self.kept

    @property
    def leaves(self) -> tuple[int, ...]:
        """The labels that are no sums."""
        sums = {parent for parent, _ in self.relations}
        return tuple(i for i in range(len(self.nodes)) if i not in sums)

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

    def only(self, needed: Iterable[int]) -> AdditiveAxis:
        """Return the axis with the sums that are needed; the others are put in where they are added up further.

        Places stay as they are; labels that are left out stand in no relation. A sum in two ways is never left out,
        because it says that the two are alike.

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
        return AdditiveAxis(self.name, self.nodes, relations, tuple(sorted(kept)))

    def code(self, label: object) -> int:
        """Return the place of a label."""
        try:
            return self.places[str(label)]
        except KeyError:
            raise RequestError(
                f"dimension {self.name!r} has no category {str(label)!r}; {nearest(str(label), self.nodes)}"
            ) from None


@dataclass(frozen=True)
class Space:
    """All axes; a position is one label along each, numbered in row-major order."""

    axes: tuple[AdditiveAxis, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(axis.name for axis in self.axes)

    @property
    def strides(self) -> tuple[int, ...]:
        """What one step along each axis adds to a position."""
        lengths = [len(axis.nodes) for axis in self.axes]
        return tuple(math.prod(lengths[i + 1 :]) for i in range(len(lengths)))

    def axis(self, name: str) -> int:
        """Return the place of a dimension."""
        if name not in self.names:
            raise RequestError(f"there is no dimension {name!r} in what is published; {nearest(name, self.names)}")
        return self.names.index(name)

    def position(self, cell: Mapping[str, object]) -> int:
        """Return the position of a cell; dimensions that it does not name are summed over."""
        place = 0
        for name, label in cell.items():
            axis = self.axis(name)
            place += self.strides[axis] * self.axes[axis].code(label)
        return place

    def label(self, position: int) -> dict[str, str]:
        """Return the labels of a position, those of dimensions that are summed over left out where others are not."""
        labels = {}
        for axis, stride in zip(self.axes, self.strides, strict=True):
            labels[axis.name] = axis.nodes[int(position) // stride % len(axis.nodes)]
        return labels

    def describe(self, position: int, decimals: int = 0) -> str:
        """Return a position as a phrase that names only what is not summed over."""
        parts = [
            f"{name}={label}"
            for axis, (name, label) in zip(self.axes, self.label(position).items(), strict=True)
            if label != axis.nodes[0]
        ]
        return ", ".join(parts) or "total"

    def translate(self, positions: IntArray, other: Space) -> IntArray:
        """Return positions of this space as those of another, -1 where it does not have them.

        Dimensions that the other does not have must be summed over.

        >>> from discreet.table.figures import Figures
        >>> one, two = (space_of([Figures.from_array([1, 2], {"x": labels})]) for labels in (["a", "b"], ["b", "c"]))
        >>> one.translate(np.arange(3), two).tolist()
        [0, -1, 1]
        """
        found = np.zeros(positions.size, np.int64)
        for axis, stride in zip(self.axes, self.strides, strict=True):
            code = positions // stride % len(axis.nodes)
            if axis.name in other.names:
                at = other.names.index(axis.name)
                places = other.axes[at].places
                recode = np.array([0, *(places.get(label, -1) for label in axis.nodes[1:])], np.int64)
                step, known = other.strides[at] * recode[code], recode[code] >= 0
            else:
                step, known = np.zeros(code.size, np.int64), code == 0
            found = np.where((found >= 0) & known, found + step, -1)
        return found

    def grid(self, axes: Mapping[str, AdditiveAxis]) -> IntArray:
        """Return the positions of all combinations of labels along some axes, the others summed over."""
        positions = np.zeros(1, np.int64)
        for axis, stride in zip(self.axes, self.strides, strict=True):
            codes = axes[axis.name].stated if axis.name in axes else (0,)
            positions = (positions[:, None] + stride * np.array(codes, np.int64)).ravel()
        return positions


def space_of(parts: Iterable[Figures]) -> Space:
    """Return the space that published tables share: dimensions of the same name are the same dimension.

    >>> from discreet.table.figures import Figures
    >>> by_sex = Figures.from_array([3, 5, 8], {"sex": ["m", "f", "Total"]})
    >>> [axis.nodes for axis in space_of([by_sex]).axes]
    [('Total', 'm', 'f')]
    """
    labels: dict[str, dict[str, None]] = {}
    trees: dict[str, list[Hierarchy]] = {}
    for part in parts:
        for name, found in part.labels.items():
            kept = labels.setdefault(name, {})
            kept.update(dict.fromkeys(label for label in found if label != part.total))
            for tree in part.hierarchies.get(name, ()):
                if tree not in trees.setdefault(name, []):
                    trees[name].append(tree)
    space = Space(tuple(_axis(name, list(found), trees.get(name, [])) for name, found in labels.items()))
    if math.prod(len(axis.nodes) for axis in space.axes) >= 2**62:
        raise LimitError(f"the dimensions {list(space.names)} span more positions than can be numbered; audit fewer")
    return space


def _axis(name: str, labels: list[str], trees: list[Hierarchy]) -> AdditiveAxis:
    """Join hierarchies over one dimension; without any, every label stands under the total."""
    if not trees:
        trees = [Hierarchy.flat(labels, total=_unused(labels))]
    nodes: dict[str, int] = {WHOLE: 0}
    relations: list[tuple[int, tuple[int, ...]]] = []
    for tree in trees:
        place = [0] + [nodes.setdefault(code, len(nodes)) for code in tree.codes[1:]]
        below: dict[int, list[int]] = {}
        for at, parent in enumerate(tree.parents):
            if parent >= 0:
                below.setdefault(place[parent], []).append(place[at])
        relations += [(parent, tuple(children)) for parent, children in below.items()]
    outside = [label for label in labels if label not in nodes]
    if outside:
        raise RequestError(
            f"category {outside[0]!r} of dimension {name!r} is in none of its hierarchies; "
            f"{nearest(outside[0], list(nodes))}"
        )
    return AdditiveAxis(name, tuple(nodes), tuple(dict.fromkeys(relations)))


def _unused(labels: list[str]) -> str:
    total = WHOLE
    while total in labels:
        total += " "
    return total


def blocks_of(sets: Iterable[frozenset[str]], sizes: Mapping[str, int] | None = None) -> list[frozenset[str]]:
    """Return groups of dimensions within which additivity has to be stated cell by cell.

    Tables whose dimensions form a tree (acyclic hypergraph) are joined by the margins that they share and by nothing
    else: any non-negative whole tables that agree on those margins come from one joint table. Then each table keeps its
    own block. Where they form a cycle, as activity × size, activity × region, size × region do, the cycle is one block;
    one of many cells is cut along chords into smaller blocks that form a tree.

    >>> sorted(map(sorted, blocks_of([frozenset("AS"), frozenset("AR")])))
    [['A', 'R'], ['A', 'S']]
    >>> [sorted(block) for block in blocks_of([frozenset("AS"), frozenset("AR"), frozenset("SR")])]
    [['A', 'R', 'S']]
    >>> circle = [frozenset(pair) for pair in ("AS", "AL", "RS", "RL")]
    >>> sorted(map(sorted, blocks_of(circle, {"A": 600, "R": 40, "S": 4, "L": 3})))
    [['A', 'L', 'S'], ['L', 'R', 'S']]
    """
    largest = list(dict.fromkeys(sets))
    largest = [s for s in largest if not any(s < other for other in largest)]
    ears: list[frozenset[str]] = []
    left = list(largest)
    while len(left) > 1:
        ear = next((s for s in left if _is_ear(s, left)), None)
        if ear is None:
            # What no ear can be cut from is a cycle.
            return [*ears, *_chordal(left, sizes or {})]
        left.remove(ear)
        ears.append(ear)
    return [*ears, *left]


def _chordal(edges: list[frozenset[str]], sizes: Mapping[str, int]) -> list[frozenset[str]]:
    """Return blocks that hold all edges and form a tree: one block, or where it has many cells, the smallest.

    A dimension is eliminated by joining all edges that have it; what remains of them is an edge of the rest.
    """
    names = sorted(frozenset[str]().union(*edges))
    best, fewest = [frozenset(names)], math.prod(sizes.get(name, 1) for name in names)
    if fewest <= MANY:
        return best
    orders = permutations(names) if len(names) <= FEW else [tuple(sorted(names, key=lambda name: -sizes[name]))]
    for order in orders:
        left, blocks = list(edges), []
        for name in order:
            block = frozenset[str]().union(*(edge for edge in left if name in edge))
            left = [edge for edge in left if name not in edge] + [block - {name}]
            blocks.append(block)
        blocks = [block for block in blocks if not any(block < other for other in blocks)]
        cells = sum(math.prod(sizes[name] for name in block) for block in blocks)
        if cells < fewest:
            best, fewest = blocks, cells
    return best


def _is_ear(edge: frozenset[str], edges: list[frozenset[str]]) -> bool:
    """Say whether all that an edge shares with the others lies in a single one of them (Graham reduction)."""
    others = [other for other in edges if other is not edge]
    shared = frozenset(name for name in edge if any(name in other for other in others))
    return any(shared <= other for other in others)
