"""The bounds of one group, from its arrays to the tableau and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.reduction import Group
from discreet.feasible.tableau.branch_and_bound import (
    FOUND,
    UNDECIDED,
    BranchStack,
    attained,
    moves,
    note_corner,
    repair,
    settle,
)
from discreet.feasible.tableau.condensing import LateError, NothingError, StuckError, condense
from discreet.feasible.tableau.pool import Pool, nearby, note
from discreet.feasible.tableau.shifts import attain, first_table
from discreet.feasible.tableau.simplex import FAILED, LATE, NOTHING_FITS, Tableau, feasible
from discreet.table.kinds import UNBOUNDED

PIVOTS = 20_000
LEVELS, DEEPEST = 80, 2_000
"""How deep branches go in the search for a bound, and in that for the first table."""
STEPS = 24
"""How many values a bound over whole numbers may be moved in before another solver takes over."""
TURNS, MANY = 60, 1_000
"""Exchanges towards one goal in a group of many unknowns: a longer way is left to a solver of sparse equations."""
EFFORT = 1_000
"""Entries of moves that may be looked at for every branch that there may be, to round a corner instead."""
BLOCK = 32
SPACIOUS = 100_000
"""Entries of the tableau, empty ones too, beyond which tables are looked for without it first."""
CROWDED = 100_000
"""Entries of the solved equations beyond which each exchange takes too long."""
NOT_SEEN = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of the unknowns of a group; row 0 is about lower, row 1 about upper ends.

    ``bound`` is proved over whole numbers, ``relaxed`` over real ones; ``seen`` is the furthest value in any table of
    whole numbers that was found, and ``settled`` says that nothing further is to be looked for.
    """

    bound: IntArray
    relaxed: FloatArray
    seen: IntArray
    settled: IntArray


class Solver:
    """The search for the bounds of one group, or for tables of whole numbers that attain given goals.

    ``goal`` (lower and upper) is what ends a search. Without one, bounds are looked for: goals begin at what single
    equations leave, and move in where it is proved that no table attains them, until one does.

    Raises:
        NothingError: no table fits.
        StuckError: another solver has to do it.
        LateError: the clock rang before a first table was found.
    """

    def __init__(self, group: Group, wanted: IntArray, goal: IntArray | None, clock: Clock) -> None:
        self.group, self.follow, self.clock = group, goal is None, clock
        self.joined = joined = condense(group, clock.rung)
        n, r = joined.size, joined.scale.size
        if np.count_nonzero(joined.solved) > CROWDED:
            raise StuckError
        self.members = np.bincount(joined.of, weights=wanted > 0, minlength=n)
        self.wanted = (self.members > 0).astype(np.int64)
        range_ = joined.inwards(np.stack([group.lower, group.upper]))
        self.bound = joined.inwards(np.stack([group.least, group.most]))
        if (range_[0] > range_[1]).any() or (self.bound[0] > self.bound[1]).any():
            raise NothingError
        ends = self.bound if goal is None else joined.goals(goal)
        low, up = range_.astype(np.float64)
        columns = joined.solved / joined.scale
        x = np.where(np.abs(low) < UNBOUNDED, low, 0.0)
        x[:r] = joined.start / joined.scale - x[r:] @ columns
        basis, beside = np.arange(r), np.arange(r, n)
        place = np.concatenate([basis, -1 - np.arange(n - r)])
        self.tableau = Tableau(
            columns, basis.copy(), beside.copy(), place, x, low, up, joined.solved, joined.scale, joined.start,
            basis, beside, np.zeros(n + 1, np.int64), np.zeros((2, PIVOTS), np.int64), np.zeros(1, np.int64),
            clock.rung,
        )  # fmt: skip
        self.pool = self._pool(range_, ends)
        self.stack = _stack(LEVELS, n)
        self.relaxed: FloatArray = self.bound.astype(np.float64)
        self.state = np.full((2, n), UNDECIDED)
        self._start()

    def _pool(self, range_: IntArray, goal: IntArray) -> Pool:
        """Lay out the solved equations row by row, and the moves column by column."""
        solved, scale = self.joined.solved, self.joined.scale
        d, r = solved.shape
        row, column = np.nonzero(solved.T)
        counts = np.bincount(row, minlength=r) + 1
        starts = np.concatenate([[0], np.cumsum(counts)])
        columns, signs = np.zeros(starts[-1], np.int64), np.zeros(starts[-1], np.int64)
        columns[starts[:-1]], signs[starts[:-1]] = np.arange(r), scale
        rest = np.ones(starts[-1], bool)
        rest[starts[:-1]] = False
        columns[rest], signs[rest] = r + column, solved.T[row, column]
        whole = (solved % scale == 0).all(axis=1)
        c, i = np.nonzero(solved * whole[:, None])
        move_starts = np.concatenate([[0], np.cumsum(np.bincount(c, minlength=d))])
        n = r + d
        return Pool(
            starts, columns, signs, self.joined.start, range_[0], range_[1], goal.copy(),
            np.stack([np.full(n, NOT_SEEN), np.full(n, -NOT_SEEN)]), np.zeros(n, np.int64), np.zeros(1, np.int64),
            move_starts, i, -solved[c, i] // scale[i],
        )  # fmt: skip

    def _start(self) -> None:
        """Find a first table, of whole numbers if there is one."""
        t, n = self.tableau, self.joined.size
        if self.joined.solved.size > SPACIOUS and (self.joined.scale == 1).all() and self._shift():
            return
        code = repair(t, 100 + 2 * n)
        if code == FAILED:
            code = feasible(t, 60 + 3 * n)
        if code == NOTHING_FITS:
            raise NothingError
        if code == LATE:
            raise LateError
        if code == FAILED:
            raise StuckError
        deep = min(n, DEEPEST)
        if not note_corner(t, self.pool):
            attained(t, self.pool, _stack(deep, n), 0, 1, int(self.pool.lower[0]), 3 * deep)
        if self.has_table:
            moves(t, self.pool)

    def _shift(self) -> bool:
        """Find tables without the tableau; say whether there is one to start from."""
        home = first_table(self.pool, self.bound, self.joined.solved, self.clock.rung)
        if home is None:
            return False
        attain(self.pool, home, self.bound, self.wanted, self.clock.rung)
        self.tableau.x[:] = self.pool.table
        moves(self.tableau, self.pool)
        return True

    def give(self, table: IntArray) -> None:
        """Learn from a table of the group's unknowns."""
        if note(self.pool, self.joined.inner(table)):
            self.notice()

    def near(self, x: FloatArray, ranges: IntArray, effort: int) -> IntArray | None:
        """Return a table of whole numbers of the group's unknowns near given values, within ranges (lower and upper).

        The ranges may be others than those of the group.
        """
        low, up = self.joined.inwards(ranges)
        table = nearby(self.pool, self.joined.inner(x), low, up, effort, self.clock.rung)
        return self.joined.outer(table) if table.size else None

    @property
    def has_table(self) -> bool:
        """True where a table of whole numbers is known."""
        return bool(self.pool.tables[0])

    def run(self, nodes: int, tick: Callable[[int], None] | None = None, *, hard: bool = False) -> None:
        """Settle all goals; with `hard`, those that were left, in ranges that whole numbers have narrowed."""
        t, n = self.tableau, self.joined.size
        turns = 100 + 5 * n if self.follow or hard or n < MANY else TURNS
        if hard and self.has_table:
            t.low[:], t.up[:] = self.bound
            t.x[:] = self.pool.table
        for first in range(0, n, BLOCK):
            last = min(first + BLOCK, n)
            code = settle(
                t, self.pool, self.stack, self.wanted, first, last, self.bound, self.relaxed, self.state, turns, nodes,
                EFFORT * nodes, STEPS, self.follow, not hard,
            )  # fmt: skip
            if code == LATE:
                break
            if code == FAILED:
                raise StuckError
            if tick is not None:
                tick(int(self.members[first:last].sum()))
        self.notice()

    def notice(self) -> None:
        """Settle what tables that were found for others, or without the tableau, attain."""
        sign = np.array([[-1], [1]])
        if self.has_table:
            self.state[sign * self.pool.seen >= sign * self.pool.goal] = FOUND

    def open(self) -> IntArray:
        """Return 1 for both sides of the group's wanted unknowns that are not settled."""
        return self.joined.swap(((self.state == UNDECIDED) & (self.wanted > 0)).astype(np.int64))

    def found(self) -> Found:
        """Return what is proved and attained of the group's unknowns."""
        settled = 1 - self.open()
        seen = self.joined.outwards(self.pool.seen) if self.has_table else _nothing_seen(settled.shape[1])
        return Found(
            self.joined.outwards(self.bound).astype(np.int64),
            self.joined.outwards(self.relaxed).astype(np.float64),
            seen.astype(np.int64),
            settled,
        )


def _stack(levels: int, size: int) -> BranchStack:
    numbers = [np.zeros(levels, np.int64) for _ in range(3)]
    return BranchStack(numbers[0], numbers[1], np.zeros(levels), np.zeros(levels), np.zeros((levels, size)), numbers[2])


def _nothing_seen(size: int) -> IntArray:
    return np.stack([np.full(size, NOT_SEEN), np.full(size, -NOT_SEEN)])
