"""Levels that must be attained despite what somebody knows, for thousands of people who each know a little.

A table that fits what all of them know together is one that none of them can rule out. So tables are searched for under
everybody's knowledge at once; then under nobody's, with another table for all those it contradicts; and only then for
fewer and fewer of them. A failed search proves nothing: those who are left are examined one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.progress import Progress
from discreet.feasible.contradiction import reduced
from discreet.feasible.reduction import SIGN, Group, NothingFitsError, StuckError, UnfinishedError
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

NODES = 100
"""The most branches in the search for a table of integers, as in a first search for bounds."""


class Facts(NamedTuple):
    """What people know: person ``who`` knows that the value at ``at`` lies between ``low`` and ``high``.

    ``free`` says that the value must not be the same in all tables that fit what this person knows.
    """

    who: IntArray
    at: IntArray
    low: IntArray
    high: IntArray
    free: BoolArray

    def chosen(self, mask: BoolArray) -> Facts:
        """Return some of the facts."""
        return Facts(self.who[mask], self.at[mask], self.low[mask], self.high[mask], self.free[mask])


def doubtful(
    equations: Equations,
    targets: IntArray | Sequence[int],
    lower: IntArray | Sequence[int],
    upper: IntArray | Sequence[int],
    facts: Facts,
    people: int,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> BoolArray:
    """Say for every person whether it is still open that all levels are attained despite what they know.

    Targets and levels are those of :func:`~discreet.feasible.reach.reach_levels`. For a target that somebody knows
    something about, levels count as far as that leaves room. Those who know nothing about the figures linked to a
    target see what everybody sees, so they are not judged on it. After the time limit, the rest is left open.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, 3, "Total"], "c": [1, 2, "Total"]}
    >>> geurts = equations_of(Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both))
    >>> cell, beside = geurts.find({"r": 1, "c": 1}), geurts.find({"r": 1, "c": 2})
    >>> one = np.array([1])
    >>> knows = Facts(np.array([0, 1]), np.array([beside, beside]), np.array([1, 3]), np.array([4, 3]), one[[0, 0]] < 0)
    >>> doubtful(geurts, [cell], [4], [5], knows, 2).tolist()  # who knows a cell can work out the other
    [False, True]
    """
    rest = reduced(equations, join=False)
    goal = -SIGN * np.full(equations.lower.size, UNBOUNDED)
    goal[:, np.asarray(targets, np.int64)] = np.stack([np.asarray(lower, np.int64), np.asarray(upper, np.int64)])
    left = np.zeros(people, bool)
    low, high = rest.lower[facts.at], rest.upper[facts.at]
    # What contradicts what is published is looked at closely, and so is what must not be known, and is.
    left[facts.who[(facts.low > high) | (facts.high < low) | (facts.free & (low == high))]] = True
    place = np.full(equations.lower.size, -1)
    todo = [group for group in rest.groups if np.isin(facts.at, group.variables).any()]
    total = sum(int((np.abs(goal[:, group.variables]) < UNBOUNDED).sum()) for group in todo)
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, "levels looked at for insiders")

    with Clock.within(time_limit) as clock:
        for group in todo:
            place[group.variables] = np.arange(group.variables.size)
            mine = facts.chosen(place[facts.at] >= 0)
            mine = mine._replace(at=place[mine.at])
            left[_Crowd(group, goal[:, group.variables], mine, people, clock).left_open(tick)] = True
            place[group.variables] = -1
    return left


class _Crowd:
    """The search in one group."""

    def __init__(self, group: Group, goal: IntArray, facts: Facts, people: int, clock: Clock) -> None:
        self.group, self.goal, self.facts, self.clock = group, goal, facts, clock
        self.concerned = np.zeros(people, bool)
        self.concerned[facts.who] = True
        self.common = self.ranges(np.ones(facts.who.size, bool))

    def ranges(self, used: BoolArray) -> IntArray:
        """Return the ranges that some facts leave."""
        found = np.stack([self.group.least, self.group.most])
        np.maximum.at(found[0], self.facts.at[used], self.facts.low[used])
        np.minimum.at(found[1], self.facts.at[used], self.facts.high[used])
        return found

    def left_open(self, tick: Callable[[], None]) -> IntArray:
        """Return those who are left."""
        from discreet.feasible.any_shape import LARGEST, reach
        from discreet.feasible.group_program import RangeProgram
        from discreet.feasible.tableau.solver import Solver

        group, facts = self.group, self.facts
        everybody: IntArray = np.flatnonzero(self.concerned)
        if (self.common[0] > self.common[1]).any() or group.rhs.size * group.variables.size > LARGEST:
            return everybody
        low, high = self.common
        inner = replace(group, lower=low, upper=high, least=low, most=high)
        asked = np.abs(self.goal) < UNBOUNDED
        # What lies beyond what somebody knows of the figure itself comes later.
        near = np.where(asked, [np.maximum(self.goal[0], low), np.minimum(self.goal[1], high)], self.goal)
        try:
            self.solver = Solver(inner, np.maximum(*asked.astype(np.int64)), near, self.clock)
            if not self.solver.has_table:
                return everybody
            self.solver.run(NODES)
            reach(inner, self.solver, near, self.clock)
        except (UnfinishedError, NothingFitsError, StuckError):
            return everybody
        seen = self.solver.found().seen
        self.model = RangeProgram(inner)
        left = self.concerned & False
        for side, k in np.argwhere(asked).tolist():
            if self.clock.late:
                return everybody
            self._level(side, k, seen, left)
            tick()
        for i in np.flatnonzero(facts.free & (seen[0] == seen[1])[facts.at]).tolist():
            k, value, only = int(facts.at[i]), int(seen[0, facts.at[i]]), facts.who == facts.who[i]
            if all(self._search(side, k, value + (1 if side else -1), only) is None for side in (0, 1)):
                left[facts.who[i]] = True
        return np.flatnonzero(left)

    def _level(self, side: int, k: int, seen: IntArray, left: BoolArray) -> None:
        """Find tables that attain one level for everybody, and mark those for whom none was found."""
        facts, sign = self.facts, 1 if side else -1
        about = np.flatnonzero(facts.at == k)
        level = np.full(self.concerned.size, self.goal[side, k])
        for i in about.tolist():
            # Nobody can be kept from knowing what they know of the figure itself.
            level[facts.who[i]] = min(max(level[facts.who[i]], facts.low[i]), facts.high[i])
        todo = self.concerned & (sign * level > sign * seen[side, k])
        while todo.any():
            furthest = int((sign * level[todo]).max()) * sign
            at_it = todo & (level == furthest)
            # First a table that need not fit what anybody knows; then one for those whom it contradicts, together; and
            # where there is none, one for each half of them.
            self._serve(todo, level, self._search(side, k, furthest, np.zeros(facts.who.size, bool)), k, sign)
            groups = [np.flatnonzero(todo & at_it)]
            while groups:
                group = groups.pop()
                group = group[todo[group]]
                if not group.size:
                    continue
                member = np.zeros(todo.size, bool)
                member[group] = True
                self._serve(todo, level, self._search(side, k, furthest, member[facts.who]), k, sign)
                if todo[group].all() and group.size > 1:
                    groups += [group[group.size // 2 :], group[: group.size // 2]]
                elif todo[group].any():
                    left[group[todo[group]]] = True
                    todo[group] = False

    def _serve(self, todo: BoolArray, level: IntArray, table: IntArray | None, k: int, sign: int) -> None:
        """Remove everybody who cannot rule out a table in which the level is attained."""
        if table is None:
            return
        facts = self.facts
        excluded = np.zeros(todo.size, bool)
        excluded[facts.who[(table[facts.at] < facts.low) | (table[facts.at] > facts.high)]] = True
        todo &= excluded | (sign * level > sign * table[k])

    def _search(self, side: int, k: int, level: int, used: BoolArray) -> IntArray | None:
        """Return a table of integers that attains a level and fits some of the facts, if one is found."""
        from discreet.feasible.any_shape import rounded

        ranges = self.ranges(used)
        end = min(ranges[1, k], level) if side == 0 else max(ranges[0, k], level)
        ranges[1 - side, k] = end
        if (ranges[0] > ranges[1]).any():
            return None
        table = rounded(self.model, self.solver, ranges, self.clock)
        return table if table is not None and self.group.fits(table) else None
