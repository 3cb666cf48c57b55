"""Cells between tables that cross: what a small figure of one table says in the dimensions of another.

One table says that a single firm of an activity is small, another that all firms of that activity are in one region. No
table crosses the three, and none has to: the small firm is in that region. Tables whose dimensions form a tree are
joined by shared margins and nothing else, so a cell of all their dimensions is known, and above 0, exactly if

- some cell of one table has its value, and
- along the tree, everything that can go with that cell lies in one category of each further dimension.

This is where the bounds of Fréchet meet: the smallest of the tables' cells, and their sum less that of the margins that
they share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import Rows
from discreet.table.equations import Equations
from discreet.table.grid import Grid, locate
from discreet.table.space import AdditiveAxis

ZEROS = 1_000
"""The most cells of one block that nobody is in, of which a list is made: more than anybody reads."""


@dataclass(frozen=True)
class Crossed:
    """A figure, and where all of it lies: a category along each of some further dimensions.

    ``none`` is true where nobody of it lies there.
    """

    position: int
    into: tuple[tuple[str, str], ...]
    none: bool = False


@dataclass(frozen=True)
class Crossings:
    """Cells between tables, and whether the list of empty ones is complete."""

    found: tuple[Crossed, ...] = ()
    complete: bool = True


def crossed_cells(
    equations: Equations, blocks: Sequence[frozenset[str]], small: IntArray, exact: BoolArray, possible: BoolArray
) -> Crossings:
    """Return where figures lie in dimensions that no table crosses with their own, and where none of their people are.

    The dimensions of tables (``blocks``) form a tree; ``small`` are the positions that matter, ``exact`` those with one
    value, and ``possible`` those that can be above 0.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> sizes = Figures.from_array([[1, 5]], {"activity": ["a1"], "size": ["s1", "s2"]})
    >>> regions = Figures.from_array([[6, 0]], {"activity": ["a1"], "region": ["r1", "r2"]})
    >>> both = equations_of([sizes, regions])
    >>> known, blocks = both.lower == both.upper, [frozenset(part.names) for part in both.parts]
    >>> one = np.array([both.find({"activity": "a1", "size": "s1"})])
    >>> [(cell.into, cell.none) for cell in crossed_cells(both, blocks, one, known, both.upper > 0).found]
    [((('region', 'r1'),), False), ((('region', 'r2'),), True)]
    """
    if len(blocks) < 2 or not small.size:
        return Crossings()
    grids = [_Block(equations, block, possible) for block in blocks]
    tree = _tree(blocks)
    codes = np.stack(equations.space.grid.decode(equations.positions[small]), axis=1)
    names = np.array(equations.space.names)
    found: list[Crossed] = []
    complete = True
    left = np.ones(small.size, bool)
    for k, block in enumerate(blocks):
        mine = np.flatnonzero(left & (codes[:, ~np.isin(names, sorted(block))] == 0).all(axis=1))
        left[mine] = False
        if mine.size:
            here = _from(k, grids, tree, small[mine], codes[mine], exact)
            found += here.found
            complete &= here.complete
    return Crossings(tuple(found), complete)


class _Block:
    """The finest cells of a block: which of them can be above 0."""

    def __init__(self, equations: Equations, block: frozenset[str], possible: BoolArray) -> None:
        space = equations.space
        self.block, self.space = block, space
        self.axes: list[tuple[int, AdditiveAxis]] = [(k, a) for k, a in enumerate(space.axes) if a.name in block]
        self.leaves = {axis.name: np.array(axis.leaves, np.int64) for _, axis in self.axes}
        self.at = equations.locate(space.cross({axis.name: axis.leaves for _, axis in self.axes}))
        self.possible = (self.at < 0) | possible[self.at]
        self.grid = Grid(tuple(self.leaves[axis.name].size for _, axis in self.axes))
        self.places = self.grid.decode(np.arange(self.at.size))

    def key(self, shared: Sequence[str]) -> IntArray:
        """Return a number for every cell's categories in shared dimensions."""
        return self.grid.project(
            np.arange(self.at.size), [i for i, (_, axis) in enumerate(self.axes) if axis.name in shared]
        )

    def cells(self, codes: IntArray) -> Rows:
        """Return the cells that can be above 0 (columns) of every position (row), given by its places."""
        flat = self.grid.encode([locate(self.leaves[axis.name], codes[:, k]) for k, axis in self.axes])
        inner = flat >= 0
        rows, columns = [np.flatnonzero(inner)], [flat[inner]]
        for i in np.flatnonzero(~inner).tolist():
            below = [np.searchsorted(self.leaves[a.name], sorted(a.under[int(codes[i, k])])) for k, a in self.axes]
            found = self.grid.cross(below)
            found = found[self.possible[found]]
            rows.append(np.full(found.size, i))
            columns.append(found)
        return _links(np.concatenate(rows), np.concatenate(columns), (len(codes), self.at.size))


def _from(
    k: int, grids: Sequence[_Block], tree: Sequence[Sequence[int]], small: IntArray, codes: IntArray, exact: BoolArray
) -> Crossings:
    """Return where positions of one block lie in the dimensions of all others."""
    here = grids[k]
    held = here.cells(codes)
    # Where all cells of a sum are known, they say more than the sum does.
    open_ = ~np.where(here.at < 0, False, exact[here.at])
    single = held.lengths == 1
    inside = (codes[:, [a for a, _ in here.axes]] != 0).all(axis=1) & single
    kept = np.flatnonzero(inside | (held.sums(open_.astype(np.int64)) > 0))
    if not kept.size:
        return Crossings()
    held, small, codes = held.taken(kept), small[kept], codes[kept]

    def between(i: int, further: Iterable[str]) -> bool:
        """Say whether no block crosses the dimensions of a position with further ones."""
        crossed = {axis.name for a, axis in here.axes if codes[i, a]}.union(further)
        return not any(crossed <= grid.block for grid in grids)

    into: dict[int, dict[str, str]] = {}
    empty: list[tuple[int, str, str]] = []
    for number, d, labels, support in _walk(k, grids, tree, held):
        axis = next(axis for _, axis in grids[number].axes if axis.name == d)
        where = _smallest(axis, grids[number].leaves[d], support)
        for i in np.flatnonzero(where > 0).tolist():
            into.setdefault(labels[i], {})[d] = axis.nodes[int(where[i])]
        listed = np.flatnonzero(inside[kept[labels]])
        rows, leaves = np.nonzero(~support[listed])
        for i, leaf in zip(listed[rows].tolist(), leaves.tolist(), strict=True):
            if between(labels[i], [d]):
                empty.append((labels[i], d, axis.nodes[int(grids[number].leaves[d][leaf])]))
            if len(empty) > ZEROS:
                break

    found = [Crossed(int(small[i]), tuple(where.items())) for i, where in sorted(into.items()) if between(i, where)]
    found += [Crossed(int(small[i]), ((d, label),), none=True) for i, d, label in empty[:ZEROS]]
    return Crossings(tuple(found), len(empty) <= ZEROS)


def _walk(
    k: int, grids: Sequence[_Block], tree: Sequence[Sequence[int]], held: Rows
) -> Iterator[tuple[int, str, list[int], BoolArray]]:
    """Yield, for every further dimension, which of its finest categories each position can lie in."""
    seen = set(grids[k].block)
    left = [(k, after, held, np.arange(held.starts.size - 1)) for after in tree[k]]
    while left:
        before, number, cells, of = left.pop()
        here, there = grids[before], grids[number]
        shared = sorted(here.block & there.block)
        keys = here.key(shared)
        size = math.prod(there.leaves[name].size for name in shared)
        can = np.flatnonzero(there.possible)
        from_key = _links(there.key(shared)[can], can, (size, there.at.size))
        met = cells.times(_links(np.arange(keys.size), keys, (keys.size, size)), size)
        # Positions that share the same margins lie in the same cells of the next block.
        marks: dict[bytes, int] = {}
        alike = [
            marks.setdefault(met.columns[low:high].tobytes(), len(marks)) for low, high in pairwise(met.starts.tolist())
        ]
        first = np.unique(alike, return_index=True)[1]
        reached = met.taken(first).times(from_key, there.at.size)
        reached.values[:] = 1
        row_of = np.array(alike)[of]
        for (_, axis), place in zip(there.axes, there.places, strict=True):
            if axis.name in seen:
                continue
            seen.add(axis.name)
            onto = _links(np.arange(place.size), place, (place.size, there.leaves[axis.name].size))
            support = reached.times(onto, there.leaves[axis.name].size).dense(there.leaves[axis.name].size) > 0
            narrow = np.flatnonzero(~support.all(axis=1) & support.any(axis=1))
            chosen = np.flatnonzero(np.isin(row_of, narrow))
            if chosen.size:
                yield number, axis.name, chosen.tolist(), support[row_of[chosen]]
        left += [(number, after, reached, row_of) for after in tree[number] if after != before]


def _links(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Rows:
    return Rows.gathered(row, column, np.ones(row.size, np.int64), shape)


def _smallest(axis: AdditiveAxis, leaves: IntArray, support: BoolArray) -> IntArray:
    """Return the smallest label that covers all of each row's categories, 0 for the total."""
    sizes = np.array([len(axis.under[node]) for node in range(len(axis.nodes))])
    below = np.zeros((leaves.size, sizes.size), np.int64)
    for node in range(1, sizes.size):
        below[np.searchsorted(leaves, sorted(axis.under[node])), node] = 1
    whole = (support.astype(np.int64) @ below) == support.sum(axis=1, keepdims=True)
    whole &= sizes < leaves.size
    cost = np.where(whole, sizes, leaves.size)
    best = cost.argmin(axis=1)
    return np.where(cost[np.arange(best.size), best] < leaves.size, best, 0)


def _tree(blocks: Sequence[frozenset[str]]) -> list[list[int]]:
    """Return the neighbours of every block in a tree along which they share as many dimensions as possible."""
    found: list[list[int]] = [[] for _ in blocks]
    inside = {0}
    while len(inside) < len(blocks):
        _, a, b = max(
            (len(blocks[i] & blocks[j]), -i, -j) for i in inside for j in range(len(blocks)) if j not in inside
        )
        found[-a].append(-b)
        found[-b].append(-a)
        inside.add(-b)
    return found
