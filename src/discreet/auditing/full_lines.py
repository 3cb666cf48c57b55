"""Lines of which readers can tell that all people, or all but a few, are in one cell: group disclosure.

A line is a sum and its parts along one dimension, at any level of a hierarchy, whether or not they are published.
Whoever knows that somebody is in such a line knows the cell of that person, whether or not its count is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.auditing.audit_result import Audit
from discreet.auditing.findings import SUBJECTS
from discreet.auditing.levels import located
from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, FloatArray, IntArray, whole_where_near
from discreet.core.sparse import row_of
from discreet.feasible.bounds import bounds
from discreet.table.equations import Equations, equations_of
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True)
class FullLine:
    """A sum, the cell that holds all or nearly all of its people, and the other cells of the line."""

    whole: int
    cell: int
    others: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class KnownRanges:
    """What is known of every position before sums of several are asked about.

    All values are between ``lower`` and ``upper``. Each position alone can be as large as in ``single``, and any of
    them together as large as in ``joint``. ``held`` says where somebody is, or may be.
    """

    lower: IntArray
    upper: IntArray
    single: IntArray
    joint: IntArray
    held: BoolArray


@dataclass(frozen=True, eq=False)
class FullLines:
    """The lines that are told, as positions of equations, and how many could not be judged in time."""

    equations: Equations
    found: tuple[FullLine, ...]
    unfinished: int = 0


def lines_told(
    audited: Audit, original: Tabulation, amounts: FloatArray, coalition: int, clock: Clock | None = None
) -> FullLines:
    """Return the lines of which readers can tell that all their people, or all but a few, are in one cell.

    The audit has judged single figures; sums that it did not need are stated again here. The original, whose cells
    have these amounts, is one of the tables that fit: what it has outside a cell can be there, and it says in which
    lines there is somebody, which whoever looks for a person knows. In categories that it lacks there may be somebody.
    """
    columns, e = audited.findings, audited.findings.equations
    size, scale = e.positions.size, 10**e.decimals
    # Beside statistics all sums are stated already.
    every = e if e.measured is not None else equations_of(e.parts, asked=None)
    place = np.arange(e.lower.size) if every is e else every.locate(e.positions)
    lower, upper, truth = every.lower.copy(), every.upper.copy(), np.zeros(every.lower.size, np.int64)
    single = lower.copy()
    here = np.flatnonzero(place >= 0)
    np.maximum.at(lower, place[here], e.lower[here])
    np.minimum.at(upper, place[here], e.upper[here])
    judged = np.flatnonzero((columns.who == 0) & (columns.subject == SUBJECTS.index("value")) & (columns.at < size))
    judged = judged[place[columns.at[judged]] >= 0]
    for ends, found, narrower in ((lower, columns.lower, np.maximum), (upper, columns.upper, np.minimum)):
        rows = judged[np.isfinite(found[judged])]
        narrower.at(ends, place[columns.at[rows]], np.rint(found[rows] * scale).astype(np.int64))
    done = judged[columns.finished[judged] & np.isfinite(columns.upper[judged])]
    at = place[columns.at[done]]
    single[at] = upper[at]
    at = located(every, original)
    truth[at[at >= 0]] = np.ceil(whole_where_near(amounts[at >= 0] * scale)).astype(np.int64)
    truth = every.floors(truth)
    outer = bounds(replace(every, lower=lower, upper=upper), [])
    held = (truth > 0) | ((outer.upper > 0) & _foreign(every, original))
    known = KnownRanges(outer.lower, outer.upper, np.maximum(single, truth), truth, held)
    return full_lines(replace(every, lower=lower, upper=upper), known, coalition, clock)


def _foreign(equations: Equations, original: Tabulation) -> BoolArray:
    """Say which positions are of finest categories that the original does not have."""
    found = np.zeros(equations.lower.size, bool)
    axes = {axis.name: axis for axis in original.axes}
    codes = equations.space.grid.decode(equations.positions)
    for axis, code in zip(equations.space.axes, codes, strict=True):
        known = axes[axis.name].places if axis.name in axes else {}
        strange = {leaf for leaf in axis.leaves if axis.nodes[leaf] not in known}
        every = np.array([not strange.isdisjoint(axis.under[node]) for node in range(len(axis.nodes))])
        # Everybody is somewhere along a dimension, whatever its categories.
        every[0] = False
        found[: code.size] |= every[code]
    return found


def full_lines(equations: Equations, known: KnownRanges, coalition: int, clock: Clock | None = None) -> FullLines:
    """Return the lines that may have somebody, and surely all but at most ``coalition`` people in one cell.

    What single positions leave open is asked of the sum of the others.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> shown = Figures.from_array([[0, 7], [1, 5]], {"area": ["n", "s"], "ill": ["no", "yes"]})
    >>> both = equations_of(shown)
    >>> known = KnownRanges(both.lower, both.upper, both.lower, both.lower, both.lower > 0)
    >>> [(both.describe(one.whole), both.describe(one.cell)) for one in full_lines(both, known, 0).found]
    [('ill=no', 'area=s, ill=no'), ('area=n', 'area=n, ill=yes')]
    """
    assert equations.layout is not None
    starts, columns, _ = equations.layout.sums
    first, few = starts[:-1], coalition * 10**equations.decimals
    if not first.size:
        return FullLines(equations, ())
    sizes, row = np.diff(starts), row_of(starts)
    child = np.ones(row.size, bool)
    child[first] = False

    def others(values: IntArray) -> IntArray:
        # A cell with more than a few people is not among the others, however many they are.
        most = np.where(child, np.minimum(values[columns], few + 1), 0)
        rest: IntArray = np.add.reduceat(most, first)[row] - most
        return rest

    # With one category only, the line says nothing that the cell does not say.
    asked = child & (sizes[row] > 2) & known.held[columns]
    told = asked & (others(known.upper) <= few)
    more = others((known.single > few).astype(np.int64) * (few + 1)) > 0
    lines = [
        _line(starts, columns, int(row[k]), int(columns[k]))
        for k in np.flatnonzero(asked & (told | (~more & (others(known.joint) <= few)))).tolist()
    ]
    sure = {(int(columns[first[row[k]]]), int(columns[k])) for k in np.flatnonzero(told).tolist()}
    every = {(one.whole, one.cell): one for one in lines}
    left = [one for key, one in sorted(every.items()) if key not in sure]
    late = 0
    if left:
        clock = clock or Clock()
        summed = equations.with_sums([(one.others, "") for one in left])
        at = np.arange(equations.lower.size, summed.lower.size)
        found = bounds(summed, at, time_limit=clock.left)
        sure |= {(one.whole, one.cell) for one, i in zip(left, at.tolist(), strict=True) if found.upper[i] <= few}
        late = int(np.count_nonzero(~found.finished[at] & (found.upper[at] > few)))
    return FullLines(equations, tuple(every[key] for key in sorted(sure)), late)


def _line(starts: IntArray, columns: IntArray, row: int, cell: int) -> FullLine:
    whole, *parts = columns[starts[row] : starts[row + 1]].tolist()
    return FullLine(whole, cell, tuple(part for part in parts if part != cell))
