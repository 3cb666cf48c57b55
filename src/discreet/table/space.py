"""The space of published positions: the labels along every dimension, and which of them are sums of which.

Dimensions of the same name are joined over several tables: hierarchies become one, and totals of parts are kept apart
from that of everybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.core.errors import DataError, require
from discreet.core.numerics import IntArray
from discreet.table.axis import Axis
from discreet.table.figures import Figures
from discreet.table.grid import OnGrid
from discreet.table.hierarchy import TOTAL

WHOLE = "Total"
"""The name of the total of everybody, whatever the tables call it."""
Relation = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class AdditiveAxis:
    """A dimension as publications use it: its labels, the total first, and the sums among them.

    Every relation is a label and those that it is the sum of, one for each inner node of each hierarchy. ``parts`` are
    the totals of tables that cover some of the labels only, and ``pieces`` what such tables cut the dimension into: of
    each piece the sum, and the labels in it that are not sums. If all tables cover the same part, its total is the
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
        """The labels that are not sums."""
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
        """The labels that are not sums, and that each label is made of."""
        made: list[list[int]] = [[] for _ in self.nodes]
        for leaf in self.leaves:
            for node in self.above(self.nodes[leaf]):
                made[node].append(leaf)
        return tuple(frozenset(found) for found in made)

    def finest(self, listed: Iterable[int], top: int) -> tuple[int, ...]:
        """Return the finest labels below a total that a table with rows for some labels distinguishes.

        A label is distinguished if it, another one of the same sum, or something below one of them has a row. If one
        hierarchy splits what another keeps together, the finer labels are taken.

        >>> axis = AdditiveAxis("x", ("Total", "g", "h", "a", "b", "c", "d"), ((0, (1, 2)), (1, (3, 4)), (2, (5, 6))))
        >>> axis.finest([0, 2], 0), axis.finest([1, 3], 0)
        ((1, 2), (2, 3, 4))
        """
        below: dict[int, list[tuple[int, ...]]] = {}
        for parent, children in self.relations:
            below.setdefault(parent, []).append(children)
        reached = {node for one in listed for node in self.above(self.nodes[one])}
        found, seen, left = set[int](), set[int](), [top]
        while left:
            at = left.pop()
            if at in seen:
                continue
            seen.add(at)
            split = [children for children in below.get(at, ()) if not reached.isdisjoint(children)]
            left += [child for children in split for child in children]
            found |= set() if split else {at}
        if found & below.keys() and sum(len(self.under[one]) for one in found) > len(self.under[top]):
            under = [self.under[one] for one in found]
            found = {one for one in found if not any(other < self.under[one] for other in under)}
        return tuple(sorted(found))

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


@dataclass(frozen=True)
class Space(OnGrid):
    """All axes; a position is one label along each, numbered in row-major order."""

    axes: tuple[AdditiveAxis, ...]

    @property
    def categories_by_name(self) -> dict[str, tuple[str, ...]]:
        """The labels along each dimension."""
        return {axis.name: axis.nodes for axis in self.axes}

    def axis(self, name: str) -> int:
        """Return the place of a dimension."""
        require([name], self.names, "what is published has no dimension")
        return self.names.index(name)

    def position(self, cell: Mapping[str, object]) -> int:
        """Return the position of a cell; dimensions that it does not name are summed over."""
        codes = {name: self.axes[self.axis(name)].code(label) for name, label in cell.items()}
        return int(self.grid.encode([codes.get(name, 0) for name in self.names]))

    def describe(self, position: int) -> str:
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

        >>> one, two = (space_of([Figures.from_array([1, 2], {"x": labels})]) for labels in (["a", "b"], ["b", "c"]))
        >>> one.translate(np.arange(3), two).tolist()
        [0, -1, 1]
        """
        theirs = {axis.name: axis for axis in other.axes}
        codes = {axis.name: axis.recode(theirs[axis.name]) for axis in self.axes if axis.name in theirs}
        return self.grid.translate(positions, other.grid, codes)

    def cross(self, codes: Mapping[str, Sequence[int]]) -> IntArray:
        """Return the positions of all combinations of some labels along some dimensions, the others summed over."""
        return self.grid.cross([codes.get(name, (0,)) for name in self.names])


def space_of(parts: Iterable[Figures]) -> Space:
    """Return the space that published tables share: dimensions of the same name are the same dimension.

    >>> by_sex = Figures.from_array([3, 5, 8], {"sex": ["m", "f", "Total"]})
    >>> [axis.nodes for axis in space_of([by_sex]).axes]
    [('Total', 'm', 'f')]
    """
    tables = tuple(parts)
    names = dict.fromkeys(name for table in tables for name in table.names)
    return Space(tuple(joint_axis(name, tables) for name in names))


def joint_axis(name: str, tables: Sequence[Figures]) -> AdditiveAxis:
    """Join what tables say about a dimension; without hierarchies, every label is directly under the total.

    The total of a table that covers a part of the dimension is a sum like any other. If all tables cover the same part,
    that part is the whole.

    >>> from discreet.table.hierarchy import Hierarchy
    >>> east = Hierarchy.flat(["e1", "e2"]).as_part("East")
    >>> whole = Figures.from_array([5, 3, 1], {"x": ["w", "e1", "e2"]})
    >>> part = Figures.from_array([3, 1, 4], {"x": ["e1", "e2", "East"]}, hierarchies={"x": (east,)})
    >>> joint_axis("x", [whole, part]).nodes
    ('Total', 'w', 'e1', 'e2', 'East')
    >>> joint_axis("x", [part]).nodes
    ('Total', 'e1', 'e2')
    """
    about = [table for table in tables if name in table.names]
    of_part = [table for table in about if name in covered(table, tables)]
    of_all = [table for table in about if table not in of_part]
    called = _total(name, of_all, of_part)
    firm, loose = [
        [sum_ for table in of_all if bool(covered(table, tables)) is part for sum_ in _sums(name, table)]
        for part in (False, True)
    ]
    relations = [*firm, *_complete(loose, firm)]
    inside: list[Relation] = []
    for table in of_part:
        inside += [(str(table.part(name)) if whole == WHOLE else whole, below) for whole, below in _sums(name, table)]
    if not relations:
        relations = [(WHOLE, _categories(name, of_all, inside))]
    codes = [code for table in of_all for tree in table.hierarchies.get(name, ()) for code in tree.codes[1:]]
    codes += [code for _, below in relations for code in below]
    codes += [code for table in of_part for tree in table.hierarchies[name] for code in (*tree.codes[1:], tree.total)]
    nodes = {code: i for i, code in enumerate(dict.fromkeys([WHOLE, *codes]))}
    labels = (label for table in about for label in table.labels[name] if not table.is_total(name, label))
    require(labels, nodes, f"the hierarchies of dimension {name!r} have no category")
    placed = ((nodes[whole], tuple(nodes[code] for code in below)) for whole, below in (*relations, *inside) if below)
    parts = tuple(dict.fromkeys(nodes[str(table.part(name))] for table in of_part))
    axis = AdditiveAxis(name, tuple(nodes), tuple(dict.fromkeys(placed)), parts=parts, whole=called)
    return _cut(axis) if parts else axis


def covered(table: Figures, tables: Sequence[Figures]) -> tuple[str, ...]:
    """Return the dimensions of which a table covers a part only, while other tables cover more or another part."""
    return tuple(
        name
        for name in table.names
        if table.part(name) is not None and any(other.part(name) != table.part(name) for other in tables)
    )


def _complete(found: Sequence[Relation], firm: Sequence[Relation]) -> Iterator[Relation]:
    """Yield the complete sums of tables of a part of another dimension.

    Categories that are empty in such a table may be missing from its hierarchies, though they add to the same sums in
    other tables.
    """
    below: dict[str, dict[str, None]] = {}
    for whole, codes in (*firm, *found):
        below.setdefault(whole, {}).update(dict.fromkeys(codes))

    def leaves(codes: Iterable[str]) -> dict[str, None]:
        return dict.fromkeys(leaf for code in codes for leaf in (leaves(below[code]) if code in below else (code,)))

    for whole, codes in found:
        if len(leaves(codes)) == len(leaves([whole])):
            yield whole, codes
        elif whole not in {node for node, _ in firm}:
            yield whole, tuple(leaves([whole]))
        elif not leaves(codes).keys() < leaves(code for node, own in firm if node == whole for code in own).keys():
            # It has categories that tables of everybody lack: that is for the figures to show.
            yield whole, codes


def _sums(name: str, table: Figures) -> Iterator[Relation]:
    """Yield every sum of a table's hierarchies, the total as that of everybody.

    One of several trees may group some of the categories only; those groups do not add up to the total.
    """
    trees = table.hierarchies.get(name, ())
    axis = Axis(name, tuple(trees)) if len(trees) > 1 else None
    adds = [
        axis is None or frozenset().union(*(axis.under[axis.places[code]] for code in tree.leaves)) == axis.under[0]
        for tree in trees
    ]
    for tree, whole in zip(trees, adds, strict=True):
        for code, below in tree.sums().items():
            if code != tree.total:
                yield code, tuple(below)
            elif whole:
                yield WHOLE, tuple(below)
    if axis is not None and not any(adds):
        yield WHOLE, axis.leaves


def _categories(name: str, of_all: Iterable[Figures], inside: Sequence[Relation]) -> tuple[str, ...]:
    """Return what the total is the sum of if no hierarchy says it."""
    found = dict.fromkeys(label for table in of_all for label in table.labels[name] if not table.is_total(name, label))
    if not inside:
        return tuple(found)
    if not found:
        # Nothing is said of whoever is in none of the parts.
        sums = {whole for whole, _ in inside}
        found = dict.fromkeys(code for _, below in inside for code in below if code not in sums)
        return (*found, unused(f"outside {inside[0][0]}", found))
    # A total of a part that is listed beside its categories would count them twice.
    below = dict(inside)
    return tuple(label for label in found if not any(code in found for code in below.get(label, ())))


def _total(name: str, of_all: Sequence[Figures], of_part: Sequence[Figures]) -> str:
    """Return what the total of everybody is called; refuse two names for it, and a part that is called so."""
    known: dict[str, str] = {}
    for table in of_all:
        # What the table calls it, if it says so: in its rows, or in its hierarchies.
        listed = [label for label in table.labels[name] if table.is_total(name, label)]
        codes = [tree.total for tree in table.hierarchies.get(name, ())]
        own = [code for code in codes if code.rstrip() not in (TOTAL, table.total)]
        called = next(iter(listed or own), None)
        if called is None:
            continue
        other = next((code for code in known if code != called), None)
        if other is not None:
            raise DataError(
                f"the total of dimension {name!r} is {other!r} in {known[other]} and {called!r} in {table.name}; if "
                "one of them is of some categories only, say so (Tabulation.as_part, Hierarchy.as_part, --part "
                f"{name}={called}), and if both are of everybody, give them the same code"
            )
        known[called] = table.name
    for table in of_part:
        called = table.part(name)
        if called is not None and (called in known or called == WHOLE):
            raise DataError(
                f"{table.name}: the total of a part of dimension {name!r} is called {called!r}, as that of everybody; "
                "give it a code of its own (Tabulation.as_part, Hierarchy.as_part)"
            )
    return next(iter(known), WHOLE)


def _cut(axis: AdditiveAxis) -> AdditiveAxis:
    """Cut an axis into the pieces that parts make of it, each with its sum."""
    for part in axis.parts:
        strange = axis.under[part] - axis.under[0]
        if strange:
            raise DataError(
                f"dimension {axis.name!r}: category {axis.nodes[min(strange)]!r} of {axis.nodes[part]!r} is in no "
                "table of everybody; add it to their hierarchy"
            )
    groups: dict[tuple[bool, ...], list[int]] = {}
    for leaf in axis.leaves:
        groups.setdefault(tuple(leaf in axis.under[part] for part in axis.parts), []).append(leaf)
    if len(groups) < 2:
        return axis
    nodes, relations = list(axis.nodes), list(axis.relations)
    known = {leaves: i for i, leaves in reversed(list(enumerate(axis.under)))}
    pieces = []
    for group, leaves in groups.items():
        top = known.get(frozenset(leaves), len(nodes))
        if top == len(nodes):
            parts = [(axis.nodes[part], mine) for part, mine in zip(axis.parts, group, strict=True)]
            inside, outside = (" and ".join(name for name, mine in parts if mine is is_in) for is_in in (True, False))
            nodes.append(unused(" without ".join(filter(None, [inside or WHOLE, outside])), nodes))
            relations.append((top, tuple(leaves)))
        pieces.append((top, tuple(leaves)))
    return replace(axis, nodes=tuple(nodes), relations=tuple(relations), pieces=tuple(pieces))


def unused(label: str, known: Iterable[str]) -> str:
    """Return a label, with blanks behind it that tell it from all that are known."""
    taken = set(known)
    while label in taken:
        label += " "
    return label
