"""Blocks of dimensions within which additivity is stated cell by cell, and the axes of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import TypeAlias

import numpy as np

from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import starts_of
from discreet.table.figures import Figures
from discreet.table.grid import locate
from discreet.table.space import AdditiveAxis, Space

MANY = 1_000
"""The most cells of a cycle of tables that is not cut into smaller blocks: a round choice; so few cost little."""
FEW = 7
"""The most dimensions of which all orders of elimination are tried: 5,040 of them take milliseconds."""
Asked: TypeAlias = Mapping[frozenset[str], Mapping[str, Iterable[str]]]
"""Sums in question, shown by a table or not: by the dimensions that they cross, the labels along each."""


@dataclass(frozen=True, eq=False)
class Block:
    """The axes whose labels are crossed, dimensions without an axis summed over.

    ``stated`` are the dimensions of other blocks with the same totals, which state the sums over the rest of these
    dimensions; each with the dimensions along which its total is not this block's.
    """

    axes: Mapping[str, AdditiveAxis]
    stated: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()


@dataclass(frozen=True)
class _Cover:
    """What a table covers: its dimensions, and the place of its total along those that are cut into pieces."""

    names: frozenset[str]
    tops: tuple[tuple[str, int], ...]

    def top(self, name: str) -> int:
        return dict(self.tops).get(name, 0)

    def has(self, axis: AdditiveAxis, node: int) -> bool:
        return axis.under[node] <= axis.under[self.top(axis.name)]

    def within(self, other: _Cover) -> bool:
        """Say whether every cell is a cell or a sum of another table."""
        more = other.names - self.names
        return (
            self != other
            and self.names <= other.names
            and all(not top if name in more else top == self.top(name) for name, top in other.tops)
        )


def lay_blocks(space: Space, parts: Sequence[Figures], about: Sequence[str], asked: Asked | None) -> list[Block]:
    """Return the blocks that together state the additivity of published tables.

    Every table is a block of its own, with its subtotals, unless it is a margin of another. If the dimensions of
    tables form a cycle, further blocks cross dimensions that no table crosses; these need no subtotals. Tables that
    cover a part of a dimension cut it into pieces: who is in the part, and who is not. Any joint table is one for each
    piece side by side, so every piece has blocks of its own, for the tables that cover it; tables that sum over
    several pieces are the sums of theirs. Subtotals that neither a table shows nor is ``asked`` about are left out,
    unless that is None.
    """
    cut = [axis for axis in space.axes if axis.pieces]
    tables = dict.fromkeys(
        _Cover(frozenset(part.names), tuple((axis.name, axis.top(part)) for axis in cut)) for part in parts
    )
    if about:
        tables[_Cover(frozenset(about), tuple((axis.name, 0) for axis in cut))] = None
    largest = [table for table in tables if not any(table.within(other) for other in tables)]
    many = bool(cut) or len(largest) > 1

    def whole(axis: AdditiveAxis, names: frozenset[str], top: int) -> AdditiveAxis:
        below = axis if not top else axis.among(i for i, leaves in enumerate(axis.under) if leaves <= axis.under[top])
        return below if asked is None else needed_sums(below, names, parts, about, asked, many)

    blocks = [
        Block({a.name: whole(a, table.names, table.top(a.name)) for a in space.axes if a.name in table.names})
        for table in largest
    ]
    for piece in product(*(axis.pieces for axis in cut)):
        tops = {axis.name: top for axis, (top, _) in zip(cut, piece, strict=True)}
        here = [table for table in largest if all(table.has(axis, tops[axis.name]) for axis in cut)]
        stated = tuple(
            (table.names, frozenset(name for name, top in tops.items() if table.top(name) != top))
            for table in here
            if tops.keys() <= table.names
        )
        leaves = {axis.name: below for axis, (_, below) in zip(cut, piece, strict=True)}
        for names in _crossings(space, piece, here):
            if (names, frozenset()) in stated:
                continue
            axes = {}
            for axis in space.axes:
                if axis.name in tops:
                    axes[axis.name] = axis.single(tops[axis.name], leaves[axis.name] if axis.name in names else ())
                elif axis.name in names:
                    axes[axis.name] = _crossed(axis, names, largest, asked, bool(cut))
            blocks.append(Block(axes, () if asked is None and not cut else stated))
    for table in largest:
        if any(axis.name not in table.names for axis in cut):
            blocks.append(Block(_sums_of_pieces(space, table)))
    return blocks


def _crossings(
    space: Space, piece: Sequence[tuple[int, tuple[int, ...]]], tables: Sequence[_Cover]
) -> list[frozenset[str]]:
    """Return the blocks of dimensions of the tables that cover a piece."""
    cut = [axis.name for axis in space.axes if axis.pieces]
    count = dict(zip(space.names, space.shape, strict=True))
    count |= {name: len(leaves) + 1 for name, (_, leaves) in zip(cut, piece, strict=True)}
    return blocks_of([table.names for table in tables], count) if tables else []


def _crossed(
    axis: AdditiveAxis, names: frozenset[str], tables: Sequence[_Cover], asked: Asked | None, cut: bool
) -> AdditiveAxis:
    """Return the axis of a block that no table is: without subtotals, unless they are asked about."""
    if asked is None and not cut:
        return axis
    needed = {
        axis.code(label)
        for crossed, labels in (asked or {}).items()
        if crossed <= names and not any(crossed <= table.names for table in tables)
        for label in labels.get(axis.name, ())
    }
    return axis.only({0, *needed}) if needed - {0} else axis.single(0, axis.leaves)


def _sums_of_pieces(space: Space, table: _Cover) -> dict[str, AdditiveAxis]:
    """Return the axes along which the finest cells of a table are the sums of those of the pieces."""
    axes = {}
    for axis in space.axes:
        if axis.name in table.names:
            axes[axis.name] = axis.among(axis.under[table.top(axis.name)] if axis.pieces else axis.leaves)
        elif axis.pieces:
            axes[axis.name] = axis.single(0, [top for top, _ in axis.pieces])
    return axes


def needed_sums(
    axis: AdditiveAxis,
    block: frozenset[str],
    parts: Sequence[Figures],
    about: Sequence[str],
    asked: Asked,
    several: bool,
) -> AdditiveAxis:
    """Return an axis with the sums that the tables of a block, or what is asked, refer to."""
    found = [(axis.name in names, labels.get(axis.name, ())) for names, labels in asked.items() if names <= block]
    needed = {axis.code(label) for _, labels in found for label in labels}
    if several or (about and axis.name not in about) or not all(crossed for crossed, _ in found):
        needed.add(0)
    for part in parts:
        if axis.name not in part.names and set(part.names) <= block:
            needed.add(0)
        elif set(part.names) <= block:
            used = np.unique(part.codes[:, part.names.index(axis.name)])
            needed |= set(axis.coded(part)[used].tolist())
    return axis.only(needed & set(axis.stated))


def blocks_of(sets: Iterable[frozenset[str]], sizes: Mapping[str, int] | None = None) -> list[frozenset[str]]:
    """Return groups of dimensions within which additivity has to be stated cell by cell.

    Tables whose dimensions form a tree (acyclic hypergraph) are joined by the margins that they share and by nothing
    else: any tables of non-negative integers that agree on those margins come from one joint table. Then each table
    keeps its own block. If they form a cycle, as activity × size, activity × region, size × region do, the cycle is one
    block; one of many cells is cut along chords into smaller blocks that form a tree.

    >>> sorted(map(sorted, blocks_of([frozenset("AS"), frozenset("AR")])))
    [['A', 'R'], ['A', 'S']]
    >>> [sorted(block) for block in blocks_of([frozenset("AS"), frozenset("AR"), frozenset("SR")])]
    [['A', 'R', 'S']]
    >>> circle = [frozenset(pair) for pair in ("AS", "AL", "RS", "RL")]
    >>> sorted(map(sorted, blocks_of(circle, {"A": 600, "R": 40, "S": 4, "L": 3})))
    [['A', 'L', 'S'], ['L', 'R', 'S']]
    """
    distinct = list(dict.fromkeys(sets))
    left = [s for s in distinct if not any(s < other for other in distinct)]
    ears: list[frozenset[str]] = []
    while len(left) > 1:
        # Of an ear, all that it shares with the others lies in a single one of them (Graham reduction).
        rest = [(one, [other for other in left if other is not one]) for one in left]
        shared = ((one, one & frozenset[str]().union(*others), others) for one, others in rest)
        ear = next((one for one, both, others in shared if any(both <= other for other in others)), None)
        if ear is None:
            # What no ear can be cut from is a cycle.
            return [*ears, *_chordal(left, sizes or {})]
        left.remove(ear)
        ears.append(ear)
    return [*ears, *left]


def _chordal(edges: list[frozenset[str]], sizes: Mapping[str, int]) -> list[frozenset[str]]:
    """Return blocks that hold all edges and form a tree: one block, or if it has many cells, the smallest.

    A dimension is eliminated by joining all edges that have it; what remains of them is an edge of the rest.
    """
    names = sorted(frozenset[str]().union(*edges))
    best, fewest = [frozenset(names)], math.prod(sizes.get(name, 1) for name in names)
    if fewest <= MANY:
        return best
    for order in permutations(names) if len(names) <= FEW else [_cheapest(edges, sizes)]:
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


def _cheapest(edges: list[frozenset[str]], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return an order of elimination that takes the dimension with the smallest block first, then the next.

    >>> star = [frozenset([one, other]) for one in "RA" for other in "abcdefgh"]
    >>> _cheapest(star, {"R": 50, "A": 60, **dict.fromkeys("abcdefgh", 3)})[:4]
    ('a', 'b', 'c', 'd')
    """
    left, order = list(edges), list[str]()
    while left := [edge for edge in left if edge]:
        blocks: dict[str, frozenset[str]] = {}
        for edge in left:
            for name in edge:
                blocks[name] = blocks.get(name, edge) | edge
        first = min(blocks, key=lambda name: (math.prod(sizes[one] for one in blocks[name]), name))
        left = [edge for edge in left if first not in edge] + [blocks[first] - {first}]
        order.append(first)
    return tuple(order)


def relations_of(
    blocks: Sequence[Block], grids: Sequence[IntArray], positions: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the equations of all blocks in compressed rows: every sum along every dimension."""
    nothing = np.zeros(0, np.int64)
    columns, lengths, signs = [nothing], [nothing], [nothing]
    for block, grid in zip(blocks, grids, strict=True):
        axes = list(block.axes.values())
        places = np.arange(positions.size) if len(grids) == 1 else locate(positions, grid)
        shaped = places.reshape([len(axis.stated) for axis in axes])
        for i, axis in enumerate(axes):
            along = np.moveaxis(shaped, i, 0).reshape(len(axis.stated), -1)
            slot = {code: at for at, code in enumerate(axis.stated)}
            wanted = ~_elsewhere(block, axis.name)
            for parent, children in axis.relations:
                rows = along[[slot[parent], *(slot[child] for child in children)]].T
                if parent == _top(axis):
                    rows = rows[wanted]
                columns.append(rows.ravel())
                lengths.append(np.full(rows.shape[0], rows.shape[1]))
                signs.append(np.tile(np.array([1] + [-1] * len(children), np.int64), rows.shape[0]))
    return starts_of(np.concatenate(lengths)), np.concatenate(columns), np.concatenate(signs)


def _top(axis: AdditiveAxis) -> int:
    """Return the sum of all labels of an axis of a block."""
    return axis.stated[0] if not axis.relations else axis.relations[0][0] if len(axis.relations) == 1 else 0


def _elsewhere(block: Block, name: str) -> BoolArray:
    """Say for which labels along the other dimensions another block states the sum over one dimension."""
    others = [axis for axis in block.axes.values() if axis.name != name]
    shape = [len(axis.stated) for axis in others]
    found = np.zeros(shape, bool)
    if not block.stated:
        return found.ravel()
    summed = [np.array([code == _top(axis) for code in axis.stated]) for axis in others]
    for names, apart in block.stated:
        if name not in names or name in apart:
            continue
        mine = np.ones(shape, bool)
        for k, axis in enumerate(others):
            at = summed[k].reshape([-1 if j == k else 1 for j in range(len(others))])
            # Where another dimension is summed over too, that must be the same sum there.
            if axis.name not in names:
                mine &= at
            elif axis.name in apart:
                mine &= ~at
        found |= mine
    return found.ravel()
