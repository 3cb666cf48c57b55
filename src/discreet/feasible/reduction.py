"""What remains of an attacker's equations once exact figures are substituted: independent groups of unknown values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray, each_once
from discreet.core.sparse import Rows, digests, parts, row_of, starts_of
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

PASSES = 60
"""Rounds of narrowing before the search for bounds. A round choice: narrowing only saves work, and the tables of the
benchmarks need at most 11 rounds."""
SIGN = np.array([[-1], [1]])
"""Turns both sides of a comparison: row 0 is about lower ends, where less is further, row 1 about upper ones."""
NOT_SEEN = np.iinfo(np.int64).max
"""The value, or its negative, of what no table has shown yet."""


class NothingFitsError(Exception):
    """No table fits the equations."""


class StuckError(Exception):
    """A search on the tableau went wrong; another solver has to take over."""


class UnfinishedError(Exception):
    """Time ran out before anything was found about a group."""


@dataclass(frozen=True, eq=False)
class Group:
    """Unknown values that share equations: their indices, and the equations Σ sign·value = rhs in compressed rows.

    Signs are 1 and -1, and larger where statistics bound several unknowns.

    ``lower`` and ``upper`` are what is published of each; ``least`` and ``most`` what single equations leave of that.
    """

    variables: IntArray
    equations: IntArray
    starts: IntArray
    columns: IntArray
    signs: IntArray
    rhs: IntArray
    lower: IntArray
    upper: IntArray
    least: IntArray
    most: IntArray

    @property
    def rows(self) -> Rows:
        """The equations as sparse rows."""
        return Rows(self.starts, self.columns, self.signs)

    @cached_property
    def mixed(self) -> bool:
        """True where statistics bound several unknowns: then values between the bounds may not be possible."""
        return bool((np.abs(self.signs) > 1).any())

    @property
    def is_tree(self) -> bool:
        """True where no cycle links the equations: then single equations bound every value exactly."""
        return self.columns.size == self.variables.size + self.rhs.size - 1 and not self.mixed

    def fits(self, table: IntArray) -> bool:
        """Say whether values fit all equations and ranges."""
        inside = (table >= self.lower).all() and (table <= self.upper).all()
        return bool(inside and (self.rows.sums(table) == self.rhs).all())

    def dense(self) -> IntArray:
        """Return the equations as a matrix."""
        matrix: IntArray = self.rows.dense(self.variables.size).astype(np.int64)
        return matrix


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of the unknowns of a group; row 0 is about lower, row 1 about upper ends.

    ``bound`` is proved over integers, ``relaxed`` over real numbers; ``seen`` is the furthest value in any table of
    integers that was found, and ``settled`` says that nothing further is to be looked for. ``values`` counts those that
    tables were seen to have, where not all between the bounds need be possible.
    """

    bound: IntArray
    relaxed: FloatArray
    seen: IntArray
    settled: IntArray
    values: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Reduction:
    """Equations after substituting every value determined by a single equation, repeatedly, until none is left.

    Unknowns in exactly the same equations become one: ``leader`` names the one that speaks for all of them, with their
    sum. ``low`` and ``high`` are ranges of leaders, narrowed by each equation alone; they always contain the truth.
    ``derived`` lists determined values in order, with the equation that gave each.
    """

    lower: IntArray
    upper: IntArray
    leader: IntArray
    low: IntArray
    high: IntArray
    derived: tuple[tuple[int, int], ...]
    groups: tuple[Group, ...]

    def others(self, side: int) -> IntArray:
        """Return for every position the sum of the ends of those joined with it, without end where one has none."""
        ends = (self.lower, self.upper)[side]
        if (self.leader == np.arange(ends.size)).all():
            return np.zeros_like(ends)
        total, free = _added(self.leader, ends)
        unbound = np.abs(ends) >= UNBOUNDED
        rest = total[self.leader] - np.where(unbound, 0, ends)
        return np.where(free[self.leader] > unbound, SIGN[side] * UNBOUNDED, rest)

    def members(self, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
        """Return the bounds of every position from those of the leaders' sums."""
        others_low, others_high = self.others(0), self.others(1)
        low, high = low[self.leader], high[self.leader]
        least = np.where(others_high >= UNBOUNDED, -UNBOUNDED, low - others_high)
        most = np.where((others_low <= -UNBOUNDED) | (high >= UNBOUNDED), UNBOUNDED, high - others_low)
        return np.maximum(self.lower, least), np.minimum(self.upper, most)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Open entries of open equations."""

    column: IntArray
    sign: IntArray
    of: IntArray
    rhs: IntArray


def reduce(equations: Equations, *, join: bool = True) -> Reduction:
    """Substitute what is known, merge indistinguishable unknowns on request, and split the rest into groups.

    Raises:
        NothingFitsError: some equation cannot hold.
    """
    if equations.inequalities is not None and equations.inequalities.size:
        raise RequestError(
            "statistics beside the figures are judged by the audit alone; leave them out here, and audit the release"
        )
    starts, columns, signs = equations.starts, equations.columns, equations.signs
    lower, upper = equations.lower.copy(), equations.upper.copy()
    alone = np.arange(lower.size)
    if starts.size == 1:
        return Reduction(lower, upper, alone, lower, upper, (), ())
    row = row_of(starts)
    derived: list[tuple[int, int]] = []
    while True:
        open_ = lower[columns] != upper[columns]
        left = np.add.reduceat(open_.astype(np.int64), starts[:-1])
        rhs = -np.add.reduceat(np.where(open_, 0, lower[columns]) * signs, starts[:-1])
        if ((left == 0) & (rhs != 0)).any():
            raise NothingFitsError
        last = np.flatnonzero(open_ & (left[row] == 1))
        if not last.size:
            break
        variable, value = columns[last], rhs[row[last]] // signs[last]
        if (value * signs[last] != rhs[row[last]]).any():
            raise NothingFitsError
        variable, once = np.unique(variable, return_index=True)
        value, equation = value[once], row[last][once]
        if ((value < lower[variable]) | (value > upper[variable])).any():
            raise NothingFitsError
        lower[variable] = upper[variable] = value
        derived += zip(variable.tolist(), equation.tolist(), strict=True)
    kept = np.flatnonzero(open_ & (left[row] > 1))
    if not kept.size:
        return Reduction(lower, upper, alone, lower, upper, tuple(derived), ())
    rows = _Rows(columns[kept], signs[kept], row[kept], rhs)
    leader = _leaders(rows, lower.size) if join else alone
    rows, sum_low, sum_high = _joined(rows, leader, lower, upper)
    low, high = _narrow(rows, sum_low, sum_high)
    groups = _groups(rows, sum_low, sum_high, low, high)
    return Reduction(lower, upper, leader, low, high, tuple(derived), groups)


def _leaders(rows: _Rows, size: int) -> IntArray:
    """Return for every position the first one that is in the same equations with the same signs.

    What is linked with statistics of several unknowns stays on its own: not every sum of it may be possible.
    """
    alone, large = np.zeros(size, bool), np.abs(rows.sign) > 1
    if large.any():
        _, of_row, of_column = parts(rows.of, rows.column, int(rows.of.max()) + 1, size)
        alone = np.isin(of_column, of_row[rows.of[large]])
    digest = digests(rows.column, rows.of, rows.sign, size, seed=1)
    found = each_once(rows.column, size)
    _, first, which = np.unique(digest[found], return_index=True, return_inverse=True)
    leader = np.arange(size)
    leader[found] = np.where(alone[found], found, found[first][which])
    return leader


def _joined(rows: _Rows, leader: IntArray, lower: IntArray, upper: IntArray) -> tuple[_Rows, IntArray, IntArray]:
    """Let leaders stand for the sums of those they lead."""
    if (leader == np.arange(leader.size)).all():
        return rows, lower, upper
    sums = []
    for side, ends in enumerate((lower, upper)):
        total, free = _added(leader, ends)
        sums.append(np.where(free > 0, SIGN[side] * UNBOUNDED, total))
    kept = leader[rows.column] == rows.column
    return _Rows(rows.column[kept], rows.sign[kept], rows.of[kept], rows.rhs), sums[0], sums[1]


def _added(leader: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return the sum of the ends of all that each leader leads, and how many of them have no end."""
    unbound = np.abs(ends) >= UNBOUNDED
    total = np.zeros_like(ends)
    np.add.at(total, leader, np.where(unbound, 0, ends))
    return total, np.bincount(leader, weights=unbound, minlength=ends.size).astype(np.int64)


def _narrow(rows: _Rows, lower: IntArray, upper: IntArray) -> tuple[IntArray, IntArray]:
    """Return ranges narrowed by each equation alone, over and over until nothing changes.

    On a group without cycles the result is exact: any value in the range of one unknown can be completed along the
    tree of equations.
    """
    low, high = lower.copy(), upper.copy()
    column, sign, of = rows.column, rows.sign, rows.of
    begins = np.flatnonzero(np.diff(of, prepend=-1))
    group = np.cumsum(np.diff(of, prepend=-1) != 0) - 1
    target = rows.rhs[of]
    plus = sign > 0
    for _ in range(PASSES):
        # Least and largest of each term, with terms that have no bound counted apart.
        least = _term(sign, np.where(plus, low[column], high[column]))
        most = _term(sign, np.where(plus, high[column], low[column]))
        ends = []
        for term, free, none in ((most, most >= UNBOUNDED, -UNBOUNDED), (least, least <= -UNBOUNDED, UNBOUNDED)):
            finite = np.where(free, 0, term)
            rest = target - np.add.reduceat(finite, begins)[group] + finite
            ends.append(np.where(np.add.reduceat(free.astype(np.int64), begins)[group] > free, none, rest))
        term_low, term_high = ends
        new_low, new_high = low.copy(), high.copy()
        size = np.abs(sign)
        # An end that is missing stays missing; others are divided towards the inside of the range.
        term_low = np.where(term_low <= -UNBOUNDED, -UNBOUNDED, -(-term_low // size))
        term_high = np.where(term_high >= UNBOUNDED, UNBOUNDED, term_high // size)
        np.maximum.at(new_low, column, np.where(plus, term_low, -term_high))
        np.minimum.at(new_high, column, np.where(plus, term_high, -term_low))
        if (new_low > new_high).any():
            raise NothingFitsError
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
    return low, high


def _term(sign: IntArray, end: IntArray) -> IntArray:
    """Return multiples of ends of ranges, missing ones still missing."""
    free = np.abs(end) >= UNBOUNDED
    return np.where(free, np.sign(sign) * end, sign * np.where(free, 0, end))


def _groups(rows: _Rows, lower: IntArray, upper: IntArray, low: IntArray, high: IntArray) -> tuple[Group, ...]:
    """Split the open equations into connected groups."""
    column, sign, of, rhs = rows.column, rows.sign, rows.of, rows.rhs
    variables, variable = np.unique(column, return_inverse=True)
    equations, equation = np.unique(of, return_inverse=True)
    count, by_equation, by_variable = parts(equation, variable, equations.size, variables.size)
    variable_order, equation_order = np.argsort(by_variable, kind="stable"), np.argsort(by_equation, kind="stable")
    variable_ends = np.cumsum(np.bincount(by_variable, minlength=count))
    equation_ends = np.cumsum(np.bincount(by_equation, minlength=count))
    # Places of variables and equations inside their groups.
    place = np.empty(variables.size, np.int64)
    place[variable_order] = np.arange(variables.size)
    place -= np.concatenate([[0], variable_ends])[by_variable]
    entry_order = np.lexsort((np.arange(column.size), equation, by_equation[equation]))
    entry_ends = np.cumsum(np.bincount(by_equation[equation], minlength=count))
    lengths = np.bincount(equation, minlength=equations.size)
    groups = []
    for mine, chosen, entries in zip(
        np.split(variables[variable_order], variable_ends[:-1]),
        np.split(equation_order, equation_ends[:-1]),
        np.split(entry_order, entry_ends[:-1]),
        strict=True,
    ):
        compressed = starts_of(lengths[chosen]), place[variable[entries]], sign[entries]
        ends = (side[mine] for side in (lower, upper, low, high))
        groups.append(Group(mine, equations[chosen], *compressed, rhs[equations[chosen]], *ends))
    return tuple(groups)
