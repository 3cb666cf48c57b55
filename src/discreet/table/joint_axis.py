"""One dimension over several tables: hierarchies joined, and totals of parts kept apart from that of everybody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.core.errors import DataError, RequestError, nearest
from discreet.table.additive_axis import WHOLE, AdditiveAxis
from discreet.table.axis import Axis
from discreet.table.hierarchy import TOTAL, Hierarchy

if TYPE_CHECKING:
    from discreet.table.figures import Figures

Relation = tuple[str, tuple[str, ...]]


def joint_axis(name: str, tables: Sequence[Figures]) -> AdditiveAxis:
    """Join what tables say of a dimension; without hierarchies, every label stands under the total.

    The total of a table that covers a part of the dimension is a sum like any other. Where all tables cover the same
    part, it is all that there is.

    >>> from discreet.table.figures import Figures
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
    outside = next((label for label in labels if label not in nodes), None)
    if outside is not None:
        raise RequestError(
            f"category {outside!r} of dimension {name!r} is in none of its hierarchies; {nearest(outside, list(nodes))}"
        )
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
    """Yield the sums of tables of a part of another dimension, whole.

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
    if not trees:
        return
    axis = Axis(name, tuple(trees)) if len(trees) > 1 else None
    adds = [True] if axis is None else [_leaves(axis, tree) == axis.under[0] for tree in trees]
    for tree, whole in zip(trees, adds, strict=True):
        below: dict[int, list[str]] = {}
        for code, parent in zip(tree.codes[1:], tree.parents[1:], strict=True):
            below.setdefault(parent, []).append(code)
        for parent, codes in below.items():
            if parent:
                yield tree.codes[parent], tuple(codes)
            elif whole:
                yield WHOLE, tuple(codes)
    if axis is not None and not any(adds):
        yield WHOLE, axis.leaves


def _leaves(axis: Axis, tree: Hierarchy) -> frozenset[int]:
    return frozenset().union(*(axis.under[axis.places[code]] for code in tree.leaves))


def _categories(name: str, of_all: Iterable[Figures], inside: Sequence[Relation]) -> tuple[str, ...]:
    """Return what the total is the sum of where no hierarchy says it."""
    found = dict.fromkeys(label for table in of_all for label in table.labels[name] if not table.is_total(name, label))
    if not inside:
        return tuple(found)
    if not found:
        # Nothing is said of whoever is in none of the parts.
        sums = {whole for whole, _ in inside}
        found = dict.fromkeys(code for _, below in inside for code in below if code not in sums)
        return (*found, _new(f"outside {inside[0][0]}", found))
    # A total of a part that is listed beside its categories would count them twice.
    below = dict(inside)
    return tuple(label for label in found if not any(code in found for code in below.get(label, ())))


def _total(name: str, of_all: Sequence[Figures], of_part: Sequence[Figures]) -> str:
    """Return what the total of everybody is called; refuse two names for it, and a part that is called so."""
    known: dict[str, str] = {}
    for table in of_all:
        called = _called(name, table)
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


def _called(name: str, table: Figures) -> str | None:
    """Return what a table calls the total of everybody along a dimension, None where it says nothing."""
    codes = [tree.total for tree in table.hierarchies.get(name, ())]
    listed = [label for label in table.labels[name] if table.is_total(name, label)]
    own = [code for code in codes if code.rstrip() not in (TOTAL, table.total)]
    return next(iter(listed or own), None)


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
            texts = [axis.nodes[part] for part in axis.parts]
            nodes.append(_new(_piece(texts, group), nodes))
            relations.append((top, tuple(leaves)))
        pieces.append((top, tuple(leaves)))
    return replace(axis, nodes=tuple(nodes), relations=tuple(relations), pieces=tuple(pieces))


def _piece(parts: Sequence[str], group: Sequence[bool]) -> str:
    """Return what a piece without a total of its own is called."""
    inside = [part for part, mine in zip(parts, group, strict=True) if mine]
    outside = [part for part, mine in zip(parts, group, strict=True) if not mine]
    return " without ".join(filter(None, [" and ".join(inside) or WHOLE, " and ".join(outside)]))


def _new(label: str, known: Iterable[str]) -> str:
    taken = set(known)
    while label in taken:
        label += " "
    return label
