"""What is left of the attacker's equations once exact figures are put in: independent groups of unknown values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.sparse import Rows, digests, parts, row_of, starts_of
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

PASSES = 60
"""Rounds of narrowing before the search for bounds begins; they only save work."""


class ConflictError(Exception):
    """Some equation cannot hold; the position or the equation where this showed."""

    def __init__(self, equation: int) -> None:
        super().__init__(equation)
        self.equation = equation


@dataclass(frozen=True, eq=False)
class Group:
    """Unknown values that share equations: their indices, and the equations Σ sign·value = rhs in compressed rows.

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

    @property
    def is_tree(self) -> bool:
        """True where no cycle links the equations, so that single equations bound every value exactly."""
        return self.columns.size == self.variables.size + self.rhs.size - 1

    def fits(self, table: IntArray) -> bool:
        """Say whether values fit all equations and ranges."""
        inside = (table >= self.lower).all() and (table <= self.upper).all()
        return bool(inside and (self.rows.sums(table) == self.rhs).all())

    def dense(self) -> IntArray:
        """Return the equations as a matrix."""
        A = np.zeros((self.rhs.size, self.variables.size), np.int64)
        A[row_of(self.starts), self.columns] = self.signs
        return A


@dataclass(frozen=True, eq=False)
class Reduction:
    """Equations after every value that one equation alone determines was put in, and again, until none is left.

    Unknowns that stand in exactly the same equations are one: ``leader`` names the one that speaks for all of them,
    with their sum. ``low`` and ``high`` are ranges of leaders, narrowed by each equation alone; they always contain the
    truth. ``derived`` lists determined values in order, with the equation that gave each.
    """

    lower: IntArray
    upper: IntArray
    leader: IntArray
    low: IntArray
    high: IntArray
    derived: tuple[tuple[int, int], ...]
    groups: tuple[Group, ...]

    def members(self, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
        """Return the bounds of every position from those of the leaders' sums."""
        size = np.bincount(self.leader, minlength=self.leader.size)
        several = np.flatnonzero(size[self.leader] > 1)
        lower, upper = np.maximum(low, self.lower), np.minimum(high, self.upper)
        if several.size:
            chief = self.leader[several]
            sums = {}
            for name, ends, free in (("low", self.lower, -UNBOUNDED), ("high", self.upper, UNBOUNDED)):
                unbound = np.abs(ends[several]) >= UNBOUNDED
                finite = np.zeros(low.size, np.int64)
                np.add.at(finite, chief, np.where(unbound, 0, ends[several]))
                others = np.bincount(chief, weights=unbound, minlength=low.size)[chief] - unbound
                rest = finite[chief] - np.where(unbound, 0, ends[several])
                sums[name] = np.where(others > 0, free, rest)
            least = np.where(sums["high"] >= UNBOUNDED, -UNBOUNDED, low[chief] - sums["high"])
            most = np.where(
                (sums["low"] <= -UNBOUNDED) | (high[chief] >= UNBOUNDED), UNBOUNDED, high[chief] - sums["low"]
            )
            lower[several] = np.maximum(self.lower[several], least)
            upper[several] = np.minimum(self.upper[several], most)
        return lower, upper


@dataclass(frozen=True, eq=False)
class _Rows:
    """Open entries of open equations."""

    column: IntArray
    sign: IntArray
    of: IntArray
    rhs: IntArray


def reduce(equations: Equations, *, join: bool = True) -> Reduction:
    """Put in what is known, join what cannot be told apart if asked to, and split the rest into independent groups."""
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
        broken = np.flatnonzero((left == 0) & (rhs != 0))
        if broken.size:
            raise ConflictError(int(broken[0]))
        last = np.flatnonzero(open_ & (left[row] == 1))
        if not last.size:
            break
        variable, value = columns[last], rhs[row[last]] * signs[last]
        variable, once = np.unique(variable, return_index=True)
        value, equation = value[once], row[last][once]
        out = np.flatnonzero((value < lower[variable]) | (value > upper[variable]))
        if out.size:
            raise ConflictError(int(equation[out[0]]))
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
    """Return for every position the first one that stands in the same equations with the same signs."""
    digest = digests(rows.column, rows.of, rows.sign, size, seed=1)
    found = np.unique(rows.column)
    _, first, which = np.unique(digest[found], return_index=True, return_inverse=True)
    leader = np.arange(size)
    leader[found] = found[first][which]
    return leader


def _joined(rows: _Rows, leader: IntArray, lower: IntArray, upper: IntArray) -> tuple[_Rows, IntArray, IntArray]:
    """Let leaders stand for the sums of those they lead."""
    if (leader == np.arange(leader.size)).all():
        return rows, lower, upper
    sums = []
    for ends, free in ((lower, -UNBOUNDED), (upper, UNBOUNDED)):
        unbound = np.abs(ends) >= UNBOUNDED
        total = np.zeros_like(ends)
        np.add.at(total, leader, np.where(unbound, 0, ends))
        total[np.bincount(leader, weights=unbound, minlength=ends.size) > 0] = free
        sums.append(total)
    kept = leader[rows.column] == rows.column
    return _Rows(rows.column[kept], rows.sign[kept], rows.of[kept], rows.rhs), sums[0], sums[1]


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
        least = np.where(plus, low[column], -high[column])
        most = np.where(plus, high[column], -low[column])
        free_low, free_high = least <= -UNBOUNDED, most >= UNBOUNDED
        sum_low = np.add.reduceat(np.where(free_low, 0, least), begins)[group]
        sum_high = np.add.reduceat(np.where(free_high, 0, most), begins)[group]
        any_low = np.add.reduceat(free_low.astype(np.int64), begins)[group] - free_low
        any_high = np.add.reduceat(free_high.astype(np.int64), begins)[group] - free_high
        others_low = np.where(any_low > 0, -UNBOUNDED, sum_low - np.where(free_low, 0, least))
        others_high = np.where(any_high > 0, UNBOUNDED, sum_high - np.where(free_high, 0, most))
        term_low = np.where(any_high > 0, -UNBOUNDED, target - others_high)
        term_high = np.where(any_low > 0, UNBOUNDED, target - others_low)
        new_low, new_high = low.copy(), high.copy()
        np.maximum.at(new_low, column, np.where(plus, term_low, -term_high))
        np.minimum.at(new_high, column, np.where(plus, term_high, -term_low))
        crossed = new_low > new_high
        if crossed.any():
            where = int(np.flatnonzero(crossed)[0])
            raise ConflictError(int(of[np.flatnonzero(column == where)[0]]))
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
    return low, high


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
    v0 = e0 = n0 = 0
    for v1, e1, n1 in zip(variable_ends.tolist(), equation_ends.tolist(), entry_ends.tolist(), strict=True):
        mine, chosen, entries = variables[variable_order[v0:v1]], equation_order[e0:e1], entry_order[n0:n1]
        groups.append(
            Group(
                mine,
                equations[chosen],
                starts_of(lengths[chosen]),
                place[variable[entries]],
                sign[entries],
                rhs[equations[chosen]],
                lower[mine],
                upper[mine],
                low[mine],
                high[mine],
            )
        )
        v0, e0, n0 = v1, e1, n1
    return tuple(groups)
