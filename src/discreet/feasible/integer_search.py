"""Exact search over integers for small groups whose equations have arbitrary coefficients, as statistics do.

Ranges are narrowed by each equation alone; if that leaves several values, a range is bisected, and both halves are
tried. So everything reported as possible was seen, and everything reported as impossible was tried.
"""

from __future__ import annotations

import numpy as np

from discreet.core.clock import Clock
from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.core.sparse import Rows
from discreet.feasible.reduction import NOT_SEEN, SIGN, Found, Group, NothingFitsError, UnfinishedError
from discreet.table.kinds import UNBOUNDED
from discreet.table.statistic_rows import LARGEST

FOUND, NONE, GIVEN_UP = 1, 0, -1
FREE = 2**60
"""Kernels know :data:`UNBOUNDED` by this value."""
MOST = 300
"""The most unknowns of a group that is searched in this way; larger ones are left to HiGHS. A round choice: beyond it,
bisection rarely finishes."""
NODES = 4_000
"""The most bisections before a search is left to HiGHS: a few hundredths of a second. Five times as many found the same
in four times the time."""
TRIED = 64
"""The most values of a figure that are tried one after another. Six bits are more than any limit on 1/H requires."""
SWEEPS = 4
"""How often all equations narrow the ranges before a bisection. On the slowest tables with percentages, 4 took a third
of the time of 30; without a limit, two of 800 did not finish."""
FAR = 10**9
"""What an unknown without a bound must be seen to attain before it is taken to have none: more than any population."""
DEEP = 400
"""The largest depth of bisection: more than any search of this size needs in practice; beyond it, the search is given
up."""


class SmallGroup:
    """The search for what each unknown of a group can be."""

    def __init__(self, group: Group, clock: Clock) -> None:
        self.group, self.clock = group, clock
        n = group.variables.size
        self.bound = np.stack([group.least, group.most])
        self.seen = -SIGN * np.full(n, NOT_SEEN)
        self.values: list[set[int]] = [set() for _ in range(n)]
        self.settled = np.zeros((2, n), np.int64)
        # What is seen to go so far is taken to have no end.
        self.far = min(FAR, 2**52 // int(np.abs(group.signs).max(initial=1)))

    @staticmethod
    def suits(group: Group) -> bool:
        """Say whether a group is small enough, in unknowns and in numbers."""
        if group.variables.size > MOST:
            return False
        ends = np.stack([group.least, group.most])
        finite = np.where(np.abs(ends) >= UNBOUNDED, 0, np.abs(ends)).max(axis=0).astype(np.float64)
        return bool((np.abs(group.signs) * finite[group.columns]).sum() + np.abs(group.rhs).sum() < LARGEST)

    def attain(self, k: int, low: int, high: int) -> int:
        """Look for a table with unknown k in a range; whatever is found counts for all unknowns."""
        ends = np.stack([self.group.least, self.group.most])
        ends[0, k], ends[1, k] = max(low, int(ends[0, k])), min(high, int(ends[1, k]))
        if ends[0, k] > ends[1, k]:
            return NONE
        if self.clock.late:
            return GIVEN_UP
        group, table = self.group, np.zeros(self.group.variables.size, np.int64)
        code = search(group.rows, group.rhs, ends, table, (NODES, DEEP, 4 * self.far))
        if code == FOUND:
            if not group.fits(table):
                raise AssertionError("a table that the search found does not fit its equations")
            np.minimum(self.seen[0], table, out=self.seen[0])
            np.maximum(self.seen[1], table, out=self.seen[1])
            for held, value in zip(self.values, table.tolist(), strict=True):
                held.add(value)
        return code

    def first(self) -> bool:
        """Find any table; say whether the search ended."""
        code = self.attain(0, -UNBOUNDED, UNBOUNDED)
        if code == NONE:
            raise NothingFitsError
        return code == FOUND

    def settle(self, k: int, side: int, goal: int | None) -> None:
        """Find the furthest value of one unknown, or whether it attains a goal."""
        sign = 1 if side else -1
        first = True
        while True:
            seen, bound = int(self.seen[side, k]), int(self.bound[side, k])
            aim = bound if goal is None else goal
            endless = abs(bound) >= UNBOUNDED and abs(seen) >= self.far
            if sign * seen >= sign * aim or sign * bound < sign * aim or (endless and goal is None):
                self.settled[side, k] = 1
                return
            if abs(aim) >= UNBOUNDED:
                near = sign * min(max(4 * abs(seen), 16), self.far)
            else:
                # The end itself is nearly always attained; halves are tried where it is not.
                near = aim if first else seen + sign * ((abs(bound - seen) + 1) // 2)
                first = False
            code = self.attain(k, *((near, UNBOUNDED) if side else (-UNBOUNDED, near)))
            if code == GIVEN_UP:
                return
            if code == NONE:
                self.bound[side, k] = near - sign

    def count(self, k: int) -> None:
        """Find which values between the ends are possible, as far as they are tried."""
        low, high = int(self.seen[0, k]), int(self.seen[1, k])
        for value in range(low + 1, min(high, low + TRIED)):
            if value not in self.values[k] and self.attain(k, value, value) == GIVEN_UP:
                return

    def found(self) -> Found:
        """Return what was found."""
        values = np.array([len(held) for held in self.values], np.int64)
        return Found(self.bound, self.bound.astype(np.float64), self.seen, self.settled, values)


def small_group(group: Group, wanted: IntArray, goal: IntArray | None, clock: Clock) -> Found | None:
    """Bound the wanted unknowns of a small group exactly, or look for tables that attain goals; None of a large one.

    Raises:
        NothingFitsError: no table fits.
    """
    if not SmallGroup.suits(group):
        return None
    state = SmallGroup(group, clock)
    if not state.first():
        if clock.late:
            raise UnfinishedError
        return None
    state.settled[:, wanted == 0] = 1
    for k in np.flatnonzero(wanted).tolist():
        for side in (0, 1):
            state.settle(k, side, None if goal is None else int(goal[side, k]))
        if goal is None:
            state.count(k)
    return state.found()


@compiled
def activity(rows: Rows, e: int, low: IntArray, high: IntArray) -> tuple[int, int, int, int]:
    """Return the least and the largest sum of an equation's terms that have an end, and how many have none."""
    least, most, open_least, open_most = 0, 0, 0, 0
    for j in range(rows.starts[e], rows.starts[e + 1]):
        c, i = rows.values[j], rows.columns[j]
        small, large = (low[i], high[i]) if c > 0 else (high[i], low[i])
        if abs(small) >= FREE:
            open_least += 1
        else:
            least += c * small
        if abs(large) >= FREE:
            open_most += 1
        else:
            most += c * large
    return least, most, open_least, open_most


@compiled
def narrowed(rows: Rows, rhs: IntArray, low: IntArray, high: IntArray) -> bool:
    """Narrow ranges by each equation alone, repeatedly; say whether something is left of all of them.

    It may end early: two contradictory equations can narrow wide ranges by one value at a time.
    """
    for _ in range(SWEEPS):
        changed = False
        for e in range(rows.starts.size - 1):
            least, most, open_least, open_most = activity(rows, e, low, high)
            for j in range(rows.starts[e], rows.starts[e + 1]):
                c, i = rows.values[j], rows.columns[j]
                small, large = (low[i], high[i]) if c > 0 else (high[i], low[i])
                size, least_term, most_term = abs(c), -FREE, FREE
                # A term is the right side less what all others can be.
                if open_most - (abs(large) >= FREE) == 0:
                    rest = rhs[e] - most + (0 if abs(large) >= FREE else c * large)
                    least_term = -((-rest) // size)
                if open_least - (abs(small) >= FREE) == 0:
                    rest = rhs[e] - least + (0 if abs(small) >= FREE else c * small)
                    most_term = rest // size
                if c < 0:
                    least_term, most_term = -most_term, -least_term
                if least_term > low[i] or most_term < high[i]:
                    low[i], high[i] = max(low[i], least_term), min(high[i], most_term)
                    if low[i] > high[i]:
                        return False
                    changed = True
                    least, most, open_least, open_most = activity(rows, e, low, high)
        if not changed:
            break
    return True


@compiled
def search(rows: Rows, rhs: IntArray, ends: IntArray, table: IntArray, most: tuple[int, int, int]) -> int:
    """Look for integers within ends that fit all equations: 1 if found, 0 if there are none, -1 if given up.

    ``most`` says how many ranges may be cut, how deep, and up to which number.
    """
    n = ends.shape[1]
    left, deep, far = most
    low, high = np.empty((deep, n), np.int64), np.empty((deep, n), np.int64)
    low[0], high[0] = ends[0], ends[1]
    depth = 0
    while depth >= 0:
        if not narrowed(rows, rhs, low[depth], high[depth]):
            depth -= 1
            continue
        chosen, width = -1, 2 * FREE + 1
        for i in range(n):
            size = high[depth, i] - low[depth, i]
            if 0 < size < width:
                chosen, width = i, size
        if chosen < 0:
            # Ranges of one value each have been narrowed to the end by one more turn.
            if narrowed(rows, rhs, low[depth], high[depth]):
                table[:] = low[depth]
                return FOUND
            depth -= 1
            continue
        left -= 1
        first, last = low[depth, chosen], high[depth, chosen]
        middle = first + (last - first) // 2
        if first <= -FREE:
            middle = min(2 * last, -8)
        elif last >= FREE:
            middle = max(2 * first, 8)
        if left <= 0 or depth + 1 >= deep or abs(middle) > far:
            return GIVEN_UP
        low[depth + 1], high[depth + 1] = low[depth], high[depth]
        # The lower half is on top, and is tried first.
        high[depth + 1, chosen] = middle
        low[depth, chosen] = middle + 1
        depth += 1
    return NONE
