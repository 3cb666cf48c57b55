"""The bounds of one group, from its arrays to the tableau and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import Rows, starts_of
from discreet.feasible.reduction import NOT_SEEN, SIGN, Found, Group, NothingFitsError, StuckError
from discreet.feasible.tableau import branch_and_bound
from discreet.feasible.tableau.branch_and_bound import (
    BranchStack,
    Budget,
    TreeSearch,
    attained,
    moves,
    note_corner,
    settle,
)
from discreet.feasible.tableau.condensing import accept, condense
from discreet.feasible.tableau.pool import Pool, attain, first_table, nearby, note
from discreet.feasible.tableau.simplex import FAILED, LATE, Tableau, feasible, repair
from discreet.table.kinds import UNBOUNDED

PIVOTS = 20_000
"""The most exchanges remembered; after more, the tableau starts again."""
LEVELS, DEEPEST = 80, 2_000
"""The largest depth of branches in the search for a bound, and in that for the first table. These and the numbers below
are round choices: each ends a search that takes too long, and HiGHS gets the rest."""
STEPS = 24
"""How many values a bound over integers may move inwards before another solver takes over."""
TURNS, MANY = 60, 1_000
"""The most exchanges towards one goal in a group of many unknowns; harder goals are left to a solver of sparse
equations."""
EFFORT = 1_000
"""Entries of moves that may be looked at for every branch that there may be, to round a corner instead."""
BLOCK = 32
"""Unknowns between two reports of progress."""
SPACIOUS = 100_000
"""Entries of the tableau, empty ones too, beyond which tables are looked for without it first."""
CROWDED = 100_000
"""Entries of the solved equations beyond which each exchange takes too long."""


class Solver:
    """The search for the bounds of one group, or for tables of integers that attain given goals.

    ``goal`` (lower and upper) is what ends a search. Without one, bounds are looked for: goals begin at what single
    equations leave, and move in where it is proved that no table attains them, until one does.

    Raises:
        NothingFitsError: no table fits.
        StuckError: another solver has to take over.
        UnfinishedError: time ran out before a first table was found.
    """

    def __init__(self, group: Group, wanted: IntArray, goal: IntArray | None, clock: Clock) -> None:
        self.group, self.follow, self.clock = group, goal is None, clock
        self.joined = joined = condense(group, clock.rung)
        n, r = joined.size, joined.scale.size
        if np.count_nonzero(joined.solved) > CROWDED:
            raise StuckError
        self.members = np.bincount(joined.of, weights=wanted > 0, minlength=n)
        range_ = joined.inwards(np.stack([group.lower, group.upper]))
        bound = joined.inwards(np.stack([group.least, group.most]))
        if (range_[0] > range_[1]).any() or (bound[0] > bound[1]).any():
            raise NothingFitsError
        low, up = range_.astype(np.float64)
        columns = joined.solved / joined.scale
        x = np.where(np.abs(low) < UNBOUNDED, low, 0.0)
        x[:r] = joined.start / joined.scale - x[r:] @ columns
        place = np.concatenate([np.arange(r), -1 - np.arange(n - r)])
        self.tableau = Tableau(
            columns, np.arange(r), np.arange(r, n), place, x, low, up, joined.solved, joined.scale, joined.start,
            np.zeros(n + 1, np.int64), np.zeros((2, PIVOTS), np.int64), np.zeros(1, np.int64), clock.rung,
        )  # fmt: skip
        self.pool = self._pool(range_, bound if goal is None else joined.goals(goal))
        self.stack = _stack(LEVELS, n)
        wanted, state = (self.members > 0).astype(np.int64), np.full((2, n), branch_and_bound.UNDECIDED)
        self.search = TreeSearch(wanted, bound, bound.astype(np.float64), state, np.zeros(1, np.int64))
        self._start()

    def _pool(self, range_: IntArray, goal: IntArray) -> Pool:
        """Lay out the solved equations row by row, and the moves column by column."""
        solved, scale = self.joined.solved, self.joined.scale
        d, r = solved.shape
        row, column = np.nonzero(solved.T)
        # The unknown that a row is solved for comes first in it.
        order = np.argsort(np.concatenate([np.arange(r), row]), kind="stable")
        columns, values = np.concatenate([np.arange(r), r + column]), np.concatenate([scale, solved.T[row, column]])
        rows = Rows(starts_of(np.bincount(row, minlength=r) + 1), columns[order], values[order])
        whole = (solved % scale == 0).all(axis=1)
        c, i = np.nonzero(solved * whole[:, None])
        moves = Rows(starts_of(np.bincount(c, minlength=d)), np.ascontiguousarray(i), -solved[c, i] // scale[i])
        seen = -SIGN * np.full(r + d, NOT_SEEN)
        table, tables = np.zeros(r + d, np.int64), np.zeros(1, np.int64)
        return Pool(rows, self.joined.start, range_[0], range_[1], goal.copy(), seen, table, tables, moves)

    def _start(self) -> None:
        """Find a first table, of integers if there is one."""
        t, n = self.tableau, self.joined.size
        if self.joined.solved.size > SPACIOUS and (self.joined.scale == 1).all() and self._shift():
            return
        code = repair(t, 100 + 2 * n)
        if code == FAILED:
            code = feasible(t, 60 + 3 * n)
        accept(code)
        deep = min(n, DEEPEST)
        if not note_corner(t, self.pool):
            attained(t, self.pool, _stack(deep, n), 0, 1, int(self.pool.lower[0]), 3 * deep)
        if self.has_table:
            moves(t, self.pool)

    def _shift(self) -> bool:
        """Find tables without the tableau; say whether there is one to start from."""
        home = first_table(self.pool, self.search.bound, self.joined.solved, self.clock.rung)
        if home is None:
            return False
        attain(self.pool, home, self.search.bound, self.search.wanted, self.clock.rung)
        self.tableau.x[:] = self.pool.table
        moves(self.tableau, self.pool)
        return True

    def give(self, table: IntArray) -> None:
        """Learn from a table of the group's unknowns."""
        if note(self.pool, self.joined.inner(table)):
            self.notice()

    def near(self, x: FloatArray, ranges: IntArray, effort: int) -> IntArray | None:
        """Return a table of integers of the group's unknowns near given values, within ranges (lower and upper).

        The ranges need not be those of the group.
        """
        low, up = self.joined.inwards(ranges)
        table = nearby(self.pool, self.joined.inner(x), low, up, effort, self.clock.rung)
        return self.joined.outer(table) if table.size else None

    @property
    def has_table(self) -> bool:
        """True where a table of integers is known."""
        return bool(self.pool.tables[0])

    def run(self, nodes: int, tick: Callable[[int], None] | None = None, *, hard: bool = False) -> None:
        """Settle all goals; with `hard`, those that were left, in ranges that integers have narrowed."""
        t, n = self.tableau, self.joined.size
        turns = 100 + 5 * n if self.follow or hard or n < MANY else TURNS
        if hard and self.has_table:
            t.low[:], t.up[:] = self.search.bound
            t.x[:] = self.pool.table
        effort = Budget(turns, nodes, EFFORT * nodes, STEPS, self.follow, not hard)
        for first in range(0, n, BLOCK):
            last = min(first + BLOCK, n)
            code = settle(t, self.pool, self.stack, self.search, effort, first, last)
            if code == LATE:
                break
            accept(code)
            if tick is not None:
                tick(int(self.members[first:last].sum()))
        self.notice()

    def notice(self) -> None:
        """Settle what tables that were found for others, or without the tableau, attain."""
        if self.has_table:
            self.search.state[SIGN * self.pool.seen >= SIGN * self.pool.goal] = branch_and_bound.FOUND

    def open(self) -> IntArray:
        """Return 1 for both sides of the group's wanted unknowns that are not settled."""
        undecided = (self.search.state == branch_and_bound.UNDECIDED) & (self.search.wanted > 0)
        return self.joined.swap(undecided.astype(np.int64))

    def found(self) -> Found:
        """Return what is proved and attained of the group's unknowns."""
        settled = 1 - self.open()
        seen = self.joined.outwards(self.pool.seen) if self.has_table else -SIGN * np.full(settled.shape[1], NOT_SEEN)
        bound, relaxed = self.joined.outwards(self.search.bound), self.joined.outwards(self.search.relaxed)
        return Found(bound, relaxed, seen, settled)


def _stack(levels: int, size: int) -> BranchStack:
    numbers = [np.zeros(levels, np.int64) for _ in range(3)]
    return BranchStack(numbers[0], numbers[1], np.zeros(levels), np.zeros(levels), np.zeros((levels, size)), numbers[2])
