"""Semi-controlled random rounding: random and unbiased in every figure, and cells add up to the totals that are kept.

The totals along one line of nested dimensions are rounded at random, the grand total first; then the parts of each
rounded total are rounded to add up to it. Other margins are rounded on their own.

The parts x₁, x₂, … of a total, in random order, have the running sums s₁, s₂, …; with one integer u drawn evenly from
0 … b − 1 the i-th part is rounded to b·(⌊(sᵢ + u)/b⌋ − ⌊(sᵢ₋₁ + u)/b⌋), systematic selection (Cox 1987 calls such
methods unbiased controlled selection). A part goes up for exactly r of the b values of u. The total itself goes up for
the values of u above b − 1 − (S mod b); once it is rounded, u is drawn evenly from the values that lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.core.sparse import starts_of
from discreet.protect.base import Original, Protected
from discreet.protect.figure_method import Rounding
from discreet.protect.layout import FullTable
from discreet.protect.random_rounding import round_randomly
from discreet.protect.usage import in_one_call, option
from discreet.table import Table
from discreet.table.grid import locate
from discreet.table.kinds import Controlled
from discreet.table.tabulation import Tabulation


def round_parts(values: IntArray, parent: IntArray, whole: IntArray, base: int, rng: np.random.Generator) -> IntArray:
    """Round parts at random and without bias to add up to their totals, which are rounded already (``whole``).

    ``parent`` is the number of each part's total.
    """
    # The order is drawn anew for every total; with a fixed one, neighbours would go up and down together.
    order = np.lexsort((rng.random(values.size), parent))
    x, total = values[order], parent[order]
    exact = np.zeros(whole.size, np.int64)
    np.add.at(exact, total, x)
    residual = exact % base
    up = whole > exact
    # Of the b places to begin, those from b − r on take the total up.
    span = np.where(up, residual, base - residual)
    # A cell at its finest before others has no parts, and no use for a place to begin.
    begin = np.where(up, base - residual, 0) + rng.integers(0, np.maximum(span, 1))
    r = x % base
    sums = np.bincount(total, weights=r, minlength=whole.size)
    before = np.cumsum(r) - r - starts_of(sums.astype(np.int64))[total] + begin[total]
    rounded = np.empty_like(values)
    rounded[order] = x - r + base * ((before + r) // base - before // base)
    return rounded


@dataclass(frozen=True)
class SemiControlledRounding(Rounding):
    """Round at random and without bias; cells add up to the published totals of some dimensions.

    ``totals`` names dimensions from coarse to fine: with area and sex the grand total, which is always kept, the total
    of every area (and of its groups, where the dimension has a hierarchy) and every area by sex are sums of what is
    published in them. Other margins are rounded on their own.

    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> made = SemiControlledRounding(3, ("area",)).apply(table, seed=1).release
    >>> made.parts()[0].values.tolist()
    [15, 9, 6, 6, 3, 3, 9, 6, 3]
    """

    totals: tuple[str, ...] = field(
        default=(), metadata=option("Dimensions from coarse to fine whose totals are kept, with commas.")
    )
    name: ClassVar[str] = "semi-controlled-rounding"
    examples: ClassVar[Mapping[str, str]] = {"t.csv --totals area -o rounded.csv": "cells add up to areas"}

    def __post_init__(self) -> None:
        super().__post_init__()
        names = (self.totals,) if isinstance(self.totals, str) else tuple(self.totals)
        object.__setattr__(self, "totals", names)
        if len(set(names)) != len(names):
            raise RequestError(f"the totals are {list(names)}; name every dimension once, from coarse to fine")

    def check_original(self, original: Original) -> None:
        """Refuse what cannot be rounded, or lacks a dimension whose totals are kept."""
        super().check_original(original)
        for name in self.totals:
            original.axis(name)

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Round the figures of an original once."""
        layout = FullTable.of(original)
        layout.check_finest(
            "so nothing adds up to totals; tabulate them, or round every figure (controlled-rounding, random-rounding)"
        )
        full = layout.full
        rng = generator(seed)
        values = np.full(len(full), -1, np.int64)
        nested = nested_totals(full, self.totals)
        for level, rounded in zip(nested, round_nested(full.records, nested, self.base, rng), strict=True):
            values[level.rows] = rounded
        rest = np.flatnonzero(values < 0)
        values[rest] = round_randomly(full.records[rest], self.base, rng, 1)[0]
        kept_totals = ["the grand total", *(" × ".join(self.totals[:i]) for i in range(1, len(self.totals) + 1))]
        note = f"What is published adds up to {', '.join(kept_totals)}; other margins are rounded on their own."
        return layout.released(self, values, (Controlled(base=int(self.base)),), notes=(note,))

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return released counts of the table's non-empty cells, one draw per row; empty cells stay empty."""
        cells = Tabulation.from_table(table)
        nested = nested_totals(cells, self.totals)
        drawn = round_nested(cells.records, nested, self.base, rng, size)[-1]
        # A tabulation lists its cells in the order of the table.
        return drawn.reshape(size, table.counts.size)


@dataclass(frozen=True, eq=False)
class Nested:
    """Cells of one depth of a tree of totals, and for each the place of its total among those one step above."""

    rows: IntArray
    parent: IntArray


def nested_totals(cells: Tabulation, totals: Sequence[str]) -> list[Nested]:
    """Return the tree of totals along dimensions from coarse to fine, down to the finest cells, depth by depth.

    Dimensions are split one after the other, each along its first hierarchy; then all others at once.
    """
    inside, finished = np.ones(len(cells), bool), np.ones(len(cells), bool)
    depth, parent = np.zeros(len(cells), np.int64), cells.cells
    for axis in map(cells.axis, totals):
        code, tree = cells.codes(axis.name), axis.hierarchies[0]
        above, level = np.full(len(axis), -1), np.full(len(axis), -1)
        for label, up, deep in zip(tree.codes, tree.parents, tree.levels, strict=True):
            above[axis.places[label]] = axis.places[tree.codes[up]] if up >= 0 else 0
            level[axis.places[label]] = deep
        # A dimension is broken down only where all before it are at their finest.
        inside &= (level[code] >= 0) & (finished | (code == 0))
        depth += level[code]
        higher = cells.grid.moved(cells.cells, cells.names.index(axis.name), above[code])
        parent = np.where(code > 0, higher, parent)
        finished = finished & np.isin(code, axis.leaf_codes)
    rest = [axis for axis in cells.axes if axis.name not in totals]
    if rest:
        codes = np.stack([cells.codes(axis.name) for axis in rest])
        whole = (codes == 0).all(axis=0)
        finest = np.logical_and.reduce([np.isin(c, axis.leaf_codes) for c, axis in zip(codes, rest, strict=True)])
        inside &= whole | (finished & finest)
        down = inside & ~whole
        higher = cells.cells
        for axis in rest:
            higher = cells.grid.moved(higher, cells.names.index(axis.name), 0)
        parent = np.where(down, higher, parent)
        depth += down
    levels: list[Nested] = []
    for deep in range(int(depth[inside].max()) + 1):
        rows = np.flatnonzero(inside & (depth == deep))
        above_rows = cells.cells[levels[-1].rows] if levels else cells.cells[rows]
        levels.append(Nested(rows, locate(above_rows, parent[rows])))
    return levels


def round_nested(
    counts: IntArray, nested: Sequence[Nested], base: int, rng: np.random.Generator, size: int = 1
) -> list[IntArray]:
    """Return the rounded counts of every depth, `size` draws one after the other."""
    drawn = [round_randomly(counts[nested[0].rows], base, rng, size).ravel()]
    for above, level in pairwise(nested):
        shift = np.repeat(np.arange(size) * above.rows.size, level.rows.size)
        parent = np.tile(level.parent, size) + shift
        drawn.append(round_parts(np.tile(counts[level.rows], size), parent, drawn[-1], base, rng))
    return drawn


semi_controlled_rounding = in_one_call(SemiControlledRounding)
