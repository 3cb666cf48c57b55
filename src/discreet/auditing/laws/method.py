"""A reader who knows the method and uses all published figures jointly.

A figure on its own can leave more open than the same figure beside its margins, and a method that treats all cells at
once reveals more than any single figure. So a risk is stated here only where it holds jointly:

- Figures that share a sum with no other published figure: p(x | y) ∝ p(y | x), exactly.
- Figures that are tied by published sums, each made from its own value alone: all tables that fit are counted, each
  weighted by the product of p(y | x), exactly. Noise by cell keys is shared by figures of the same people; no product
  describes it, and it is left out.
- Sums that are not published, of independent values: at least the bits of each of them, a bound on the safe side.

Everything else has no bits (NaN): it is not known what controlled rounding, suppression or swapping reveal by their
choices, and nothing is claimed about it.
"""

from __future__ import annotations

import numpy as np

from discreet.auditing.laws.law import Judged
from discreet.auditing.laws.tables import Likelihood, judge
from discreet.core.numerics import BoolArray, FloatArray, IntArray, index_ranges
from discreet.core.progress import Progress
from discreet.core.sparse import Rows, row_of
from discreet.feasible.bounds import Bounds
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED


def by_method(
    found: Bounds, targets: IntArray, *, progress: Progress | None = None, deadline: float | None = None, **_: object
) -> Judged:
    """Return a method-aware reader's remaining bits about each target, NaN where they are not shown."""
    equations = found.equations
    shape = Shape.of(equations)
    stated, keyed = _kinds(equations)
    size = equations.lower.size
    bits, bound = np.full(size, np.nan), np.zeros(size, bool)
    lone = np.flatnonzero(shape.lone & stated)
    low, high = found.lower[lone], found.upper[lone]
    wide = high >= UNBOUNDED
    even = np.log2(np.where(wide, np.inf, (high - low + 1).astype(np.float64)))
    bits[lone] = Likelihood(equations, deadline).alone(lone, low, high, even)
    # Sums that nothing is published about: as open as the most open of the values in them.
    open_ = np.isfinite(bits) & shape.lone
    bits[shape.derived], bound[shape.derived] = shape.most(np.where(open_, bits, 0.0), shape.derived), True
    bits[shape.derived[bits[shape.derived] == 0]] = np.nan
    exact = found.lower == found.upper
    bits[exact] = 0.0
    tied = targets[shape.tied[targets] & ~exact[targets]]
    tables, note = None, ""
    if tied.size and stated[shape.tied].all() and not keyed[shape.tied].any():
        counted = judge(found, tied, Likelihood(equations, deadline), None, progress, deadline)
        assert counted.finished is not None
        bits[tied] = np.where(counted.finished, counted.bits, np.nan)
        tables, note = counted.tables, counted.note
    return Judged(bits[targets], np.zeros(targets.size), tables, note, None, bound[targets])


class Shape:
    """How positions are related: which are cells, which are sums of them, and which sums are published.

    Attributes:
        leaves: a row for each position, with 1 for every cell in it.
        cell: those that are not sums.
        lone: cells that are in no published sum.
        tied: published sums, and the cells in them.
        derived: sums that nothing is published about, in an order in which parts come before wholes.
    """

    def __init__(self, leaves: Rows, cell: BoolArray, tied: BoolArray, derived: IntArray) -> None:
        self.leaves, self.cell, self.tied, self.derived = leaves, cell, tied, derived
        self.lone: BoolArray = cell & ~tied

    @classmethod
    def of(cls, equations: Equations) -> Shape:
        """Find the cells of every sum by substituting the equations into each other, one for every sum."""
        n = equations.lower.size
        first = equations.starts[:-1]
        parent = equations.columns[first]
        whole, which = np.unique(parent, return_index=True)
        composite = np.zeros(n, bool)
        composite[whole] = True
        chosen = np.zeros(first.size, bool)
        chosen[which] = True
        equation = row_of(equations.starts)
        below = chosen[equation]
        below[first] = False
        at = parent[equation[below]], equations.columns[below]
        parts = Rows.gathered(*at, np.ones(at[0].size), (n, n))
        # What a sum is made of takes its place until only cells are left.
        row, column = np.arange(n), np.arange(n)
        found = []
        while row.size:
            cells = ~composite[column]
            found.append((row[cells], column[cells]))
            row, column = row[~cells], column[~cells]
            entry, within = index_ranges(parts.starts[column], parts.starts[column + 1])
            row, column = row[entry], parts.columns[within]
        row, column = (np.concatenate(side) for side in zip(*found, strict=True))
        reach = Rows.gathered(row, column, np.ones(row.size), (n, n))
        told = composite & ((equations.source >= 0) | (equations.lower > 0) | (equations.upper < UNBOUNDED))
        # A sum that is asked about by name has no range but that of its cells.
        told[equations.positions.size :] = False
        below = told | _shared(equations, reach, parent)
        while True:
            down = below[parent[equation]]
            down[first] = False
            if below[equations.columns[down]].all():
                break
            below[equations.columns[down]] = True
        return cls(reach, ~composite, told | (below & ~composite), np.flatnonzero(composite & ~told))

    def sums(self, figures: FloatArray, at: IntArray) -> FloatArray:
        """Return the sum of figures over the cells of each position, which may be a cell itself."""
        return self.leaves.taken(at).sums(figures)

    def most(self, figures: FloatArray, sums: IntArray) -> FloatArray:
        """Return the largest figure among the cells of each sum, 0 where there is none."""
        part = self.leaves.taken(sums)
        found = np.zeros(sums.size)
        np.maximum.at(found, part.of, figures[part.columns])
        return found


def _shared(equations: Equations, leaves: Rows, parent: IntArray) -> BoolArray:
    """Say which sums add up two sets of cells: the men and women of one table are the old and young of another.

    Such a sum ties its cells, though nothing may be published about it. Cells are compared by sums of random numbers.
    """
    found = np.zeros(equations.lower.size, bool)
    if not parent.size:
        return found
    mark = np.random.default_rng(0).integers(2**62, size=found.size)
    marks = np.zeros_like(mark)
    np.add.at(marks, leaves.of, mark[leaves.columns])
    members = marks[equations.columns]
    members[equations.starts[:-1]] = 0
    found[parent[np.add.reduceat(members, equations.starts[:-1]) != marks[parent]]] = True
    return found


def _kinds(equations: Equations) -> tuple[BoolArray, BoolArray]:
    """Say for every position whether the law of its figure is known, and whether its noise comes from a cell key.

    A position that no table shows counts as known; of one that several tables show, every law must be known.
    """
    stated, keyed = np.ones(equations.lower.size, bool), np.zeros(equations.lower.size, bool)
    for part in equations.parts:
        at = equations.rows_of(part)
        stated[at] &= np.array(part.stated)[part.kind]
        keyed[at] |= np.array([kind.keyed for kind in part.kinds])[part.kind]
    return stated | equations.exact, keyed & ~equations.exact
