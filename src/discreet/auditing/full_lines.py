"""Lines of which readers can tell that all people, or all but a few, are in one cell: group disclosure.

Whoever knows that somebody is in such a line knows the cell of that person, whether or not its count is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.auditing.audit_result import Audit
from discreet.auditing.findings import SUBJECTS
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import row_of
from discreet.feasible.bounds import bounds
from discreet.table.equations import Equations


@dataclass(frozen=True)
class FullLine:
    """A sum, the cell that holds all or nearly all of its people, and the other cells of the line."""

    whole: int
    cell: int
    others: tuple[int, ...]


def lines_told(audited: Audit, full: IntArray, coalition: int) -> IntArray:
    """Return the positions among ``full``, which hold all people of a line or all but a few, of which that is told.

    The audit has judged all figures; sums that are not published are between those of their cells. That somebody is in
    the line is known to whoever looks for a person in it.
    """
    columns, e = audited.findings, audited.findings.equations
    lower, upper, scale = e.lower.copy(), e.upper.copy(), 10**e.decimals
    known = (columns.who == 0) & (columns.subject == SUBJECTS.index("value"))
    for ends, found, narrower in ((lower, columns.lower, np.maximum), (upper, columns.upper, np.minimum)):
        rows = known & np.isfinite(found)
        narrower.at(ends, columns.at[rows], np.rint(found[rows] * scale).astype(np.int64))
    outer = bounds(replace(e, lower=lower, upper=upper), [])
    somebody = np.zeros(lower.size, bool)
    somebody[full] = True
    every = full_lines(e, outer.lower, outer.upper, coalition, somebody)
    shown = {one.cell for one in every if one.whole < e.positions.size}
    return np.array(sorted(shown.intersection(full.tolist())), np.int64)


def full_lines(
    equations: Equations, lower: IntArray, upper: IntArray, coalition: int, somebody: BoolArray | None = None
) -> list[FullLine]:
    """Return the lines that surely have somebody, and surely all but at most ``coalition`` people in one cell.

    Every position is between ``lower`` and ``upper``; ``somebody`` says which cells are known otherwise to hold people.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> shown = Figures.from_array([[0, 7], [1, 5]], {"area": ["n", "s"], "ill": ["no", "yes"]})
    >>> both = equations_of(shown)
    >>> [(both.describe(one.whole), both.describe(one.cell)) for one in full_lines(both, both.lower, both.upper, 0)]
    [('ill=no', 'area=s, ill=no'), ('area=n', 'area=n, ill=yes')]
    """
    first = equations.starts[:-1]
    if not first.size:
        return []
    held = lower > 0 if somebody is None else (lower > 0) | somebody
    sizes, row = np.diff(equations.starts), row_of(equations.starts)
    child = np.ones(row.size, bool)
    child[first] = False
    # A cell with more than a few people is not among the others, however many they are.
    most = np.where(child, np.minimum(upper[equations.columns], coalition + 1), 0)
    others = np.add.reduceat(most, first)[row] - most
    # With one category only, the line says nothing that the cell does not say.
    full = child & (sizes[row] > 2) & (others <= coalition) & held[equations.columns]
    found: dict[tuple[int, int], FullLine] = {}
    for k in np.flatnonzero(full).tolist():
        start, end = int(first[row[k]]), int(equations.starts[row[k] + 1])
        whole, cell = int(equations.columns[start]), int(equations.columns[k])
        rest = tuple(int(c) for c in equations.columns[start + 1 : end] if c != cell)
        found[whole, cell] = FullLine(whole, cell, rest)
    return [found[key] for key in sorted(found)]
