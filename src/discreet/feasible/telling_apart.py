"""Whether unknown values have more than one value, without working out their intervals.

Intervals of large tables of several dimensions are hard: every end is a search of its own. A verdict often needs less.
Two tables of integers that fit, and differ in a value, show that it is not known; and each table shows that of many
values at once. Tables are found by random exchanges: a value, or two in one equation, move by 1, and moves that make
the equations more wrong are taken the more rarely the colder it gets (simulated annealing). Every table is checked
against all equations and ranges. Failure proves nothing: what no two tables tell apart is left to exact searches,
unless the equations alone determine it. Large amounts are told apart by tables around a point over real numbers.

Hidden sums of which nothing is asked, and which are only what their parts leave them to be, are put in first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discreet.core.clock import Clock
from discreet.core.compiled import compiled
from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.sparse import Rows, digests
from discreet.feasible.around_point import Around, Solved
from discreet.feasible.group_program import GroupProgram, proved
from discreet.feasible.reduction import NOT_SEEN, SIGN, Found, Group, StuckError
from discreet.table.kinds import UNBOUNDED

COOLING = (1.0, 0.8, 0.7, 0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.5, 0.45, 0.4, 0.35, 0.3)
"""Temperatures for the first table: an exchange that adds d to what is wrong is taken with probability exp(-d/T). Where
it ends is where two-way totals of four variables with eight categories freeze; one more cycle helps unlucky starts."""
AGAIN = (0.6, 0.5, 0.45, 0.4, 0.35, 0.3)
"""Temperatures for further tables: warm enough to forget much of the last one."""
TURNS, WARM = 250, 60
"""Exchanges tried at each temperature for every unknown, and those before a further table may count. Round choices."""
FAR = 100
"""How much may be wrong at the beginning for every unknown: large amounts do not move by 1."""
FAILURES = 4
"""How many searches in a row may fail that ask for one more value only."""
SINGLE, WRONG = 0.2, 0.7
"""How often a single value moves, and how often in an equation that is wrong: round choices."""
CLOSE = 1e-6
"""How far points over real numbers may be off in any equation. A sum that follows is one of equations, each taken some
times; it is off by so much for each of them, so half a unit is enough for all that take fewer than 499,999 of them."""
SPAN = 2**31
"""Random numbers are below this."""
AT_ONCE = 50
"""One in so many values is made as large as possible at the same time: about as many as two-way totals of four
variables leave room for."""
DENSE = 10_000_000
"""The most entries, equations times unknowns, of a matrix whose rank is looked at: seconds, and 80 MB."""
SURE = 1e-6
"""Singular values of matrices of small integers from here on are not 0."""


@dataclass(frozen=True, eq=False)
class Folded:
    """A group without the sums that are put in: ``kept`` of its unknowns are left.

    All unknowns are ``whole`` · those kept + ``offset``.
    """

    group: Group
    kept: IntArray
    whole: Rows
    offset: IntArray

    def outer(self, table: IntArray) -> IntArray:
        """Return a table of all unknowns from one of those that are left."""
        return self.whole.sums(table) + self.offset


def fold(group: Group, wanted: IntArray) -> Folded:
    """Put in all sums that are not wanted and follow from their parts, whatever these are."""
    n, rows, row = group.variables.size, group.rows, group.rows.of
    plus = group.signs > 0
    one = np.bincount(row[plus], minlength=group.rhs.size) == 1
    whole = np.full(group.rhs.size, -1)
    whole[row[plus & one[row]]] = group.columns[plus & one[row]]
    part = ~plus
    ends = []
    for side, unbound in ((group.lower, -UNBOUNDED), (group.upper, UNBOUNDED)):
        free = np.abs(side) >= UNBOUNDED
        total = group.rhs.copy()
        np.add.at(total, row[part], np.where(free, 0, side)[group.columns[part]])
        none = np.bincount(row[part], weights=free[group.columns[part]], minlength=group.rhs.size) > 0
        ends.append(np.where(none, unbound, total))
    implied = (whole >= 0) & (wanted[whole] == 0) & (ends[0] >= group.lower[whole]) & (ends[1] <= group.upper[whole])
    sums, by = np.unique(whole[implied], return_index=True)
    by = np.flatnonzero(implied)[by]
    # Parts that are sums themselves are put in until none is left; sums that hold each other stay.
    offset = np.zeros(n, np.int64)
    offset[sums] = group.rhs[by]
    is_sum = np.zeros(n, bool)
    is_sum[sums] = True
    listed = rows.taken(by)
    mine = listed.values < 0
    entry_of = np.concatenate([np.flatnonzero(~is_sum), sums[listed.of[mine]]])
    entry = np.concatenate([np.flatnonzero(~is_sum), listed.columns[mine]])
    step = Rows.gathered(entry_of, entry, np.ones(entry.size, np.int64), (n, n))
    put, added = step, offset
    while is_sum[put.columns].any():
        after = put.times(step, n)
        if after.columns.size > 4 * rows.columns.size + 4 * n or np.array_equal(after.columns, put.columns):
            kept = np.arange(n)
            return Folded(group, kept, Rows(np.arange(n + 1), kept, np.ones(n, np.int64)), np.zeros(n, np.int64))
        put, added = after, put.sums(offset) + added
    kept = np.flatnonzero(~is_sum)
    put = put.among(kept, n)
    left = rows.times(put, kept.size)
    rhs = group.rhs - rows.sums(added)
    digest = digests(left.of, left.columns, left.values, rhs.size, seed=3)
    chosen = np.unique(digest, return_index=True)[1]
    chosen = np.sort(chosen[left.lengths[chosen] > 0])
    left = left.taken(chosen)
    sides = (side[kept] for side in (group.lower, group.upper, group.least, group.most))
    equations = group.equations[chosen]
    shorter = Group(
        group.variables[kept], equations, left.starts, left.columns, left.values.astype(np.int64), rhs[chosen], *sides
    )
    return Folded(shorter, kept, put, added)


@compiled
def _below(state: IntArray, length: int) -> int:
    """Return a random number from 0 on, below a length: the upper bits of a linear congruential generator."""
    state[0] = state[0] * np.int64(6364136223846793005) + np.int64(1442695040888963407)
    found: int = (((state[0] >> 33) & (SPAN - 1)) * length) >> 31
    return found


class Searched(NamedTuple):
    """What is searched: equations by row and by unknown, ranges, a table, and by how much each equation is wrong."""

    rows: Rows
    across: Rows
    low: IntArray
    up: IntArray
    x: IntArray
    off: IntArray


@compiled
def _moved(across: Rows, off: IntArray, i: int, by: int) -> int:
    """Move an unknown, as far as equations see it, and return how much more is wrong then."""
    more = 0
    for s in range(across.starts[i], across.starts[i + 1]):
        more -= abs(off[across.columns[s]])
        off[across.columns[s]] += by * across.values[s]
        more += abs(off[across.columns[s]])
    return more


@compiled
def exchange(given: Searched, chance: IntArray, state: IntArray, least: int, turns: int, stop: IntArray) -> bool:
    """Move values by 1, alone or two in one equation, until all equations hold; say whether they do.

    An exchange that adds d to what is wrong is taken with chance[d]. The first ``least`` turns are taken in any case.
    """
    rows, across, low, up, x, off = given
    m = off.size
    wrong, place, count, total = np.zeros(m, np.int64), np.full(m, -1), 0, 0
    for r in range(m):
        total += abs(off[r])
        if off[r] != 0:
            wrong[count], place[r] = r, count
            count += 1
    single, focus = np.int64(SINGLE * SPAN), np.int64(WRONG * SPAN)
    for turn in range(turns):
        if total == 0 and turn >= least:
            return True
        if stop[0] != 0:
            return False
        r = _below(state, m)
        if count > 0 and _below(state, SPAN) < focus:
            r = wrong[_below(state, count)]
        first = rows.starts[r] + _below(state, rows.starts[r + 1] - rows.starts[r])
        i = rows.columns[first]
        by = 1 if _below(state, 2) == 0 else -1
        j, other = i, 0
        if _below(state, SPAN) < single:
            if off[r] != 0:
                by = -1 if (off[r] > 0) == (rows.values[first] > 0) else 1
        else:
            shared, sign = r, rows.values[first]
            if _below(state, SPAN) < focus:
                s = across.starts[i] + _below(state, across.starts[i + 1] - across.starts[i])
                shared, sign = across.columns[s], across.values[s]
            second = rows.starts[shared] + _below(state, rows.starts[shared + 1] - rows.starts[shared])
            j = rows.columns[second]
            if i == j or abs(sign) != abs(rows.values[second]):
                continue
            other = -by if sign == rows.values[second] else by
        if x[i] + by < low[i] or x[i] + by > up[i] or x[j] + other < low[j] or x[j] + other > up[j]:
            continue
        more = _moved(across, off, i, by) + _moved(across, off, j, other)
        taken = more <= 0
        if not taken and more < chance.size:
            taken = _below(state, SPAN) < chance[more]
        if not taken:
            _moved(across, off, i, -by)
            _moved(across, off, j, -other)
            continue
        x[i] += by
        x[j] += other
        total += more
        for k in (i, j):
            for s in range(across.starts[k], across.starts[k + 1]):
                r = across.columns[s]
                if off[r] != 0 and place[r] < 0:
                    wrong[count], place[r] = r, count
                    count += 1
                elif off[r] == 0 and place[r] >= 0:
                    count -= 1
                    last = wrong[count]
                    wrong[place[r]], place[last] = last, place[r]
                    place[r] = -1
    return total == 0


class Exchanges:
    """The search for tables of a group by random exchanges, and what they have shown of the unknowns that are left."""

    def __init__(self, whole: Group, folded: Folded, clock: Clock) -> None:
        group = folded.group
        self.whole, self.folded, self.group, self.clock = whole, folded, group, clock
        self.rows, self.across = group.rows, group.rows.across(group.variables.size)
        start = np.where(group.least > -UNBOUNDED, group.least, np.where(group.most < UNBOUNDED, group.most, 0))
        self.table = np.clip(start, group.lower, group.upper)
        self.seen = -SIGN * np.full(group.variables.size, NOT_SEEN)
        self.drawn = np.random.default_rng(5)
        self.state = self.drawn.integers(0, SPAN, 1)

    def first(self) -> bool:
        """Find a first table; say whether there is one."""
        wrong = int(np.abs(self.rows.sums(self.table) - self.group.rhs).sum())
        if wrong > FAR * self.group.variables.size:
            return False
        return self._found(self.group.lower, self.group.upper, COOLING, 0)

    def vary(self, wanted: BoolArray) -> None:
        """Find tables that tell wanted values apart, asking for as many at once as turn out well."""
        many, failed = max(self.group.variables.size // 20, 1), 0
        while failed < FAILURES and not self.clock.late:
            same = np.flatnonzero(wanted & (self.seen[0] == self.seen[1]))
            if not same.size:
                return
            asked = self.drawn.choice(same, min(many, same.size), replace=False)
            low, up = self.group.lower.copy(), self.group.upper.copy()
            less = self.seen[0, asked] > self.group.least[asked]
            up[asked[less]], low[asked[~less]] = self.seen[0, asked[less]] - 1, self.seen[1, asked[~less]] + 1
            if (low > up).any() or not self._found(low, up, AGAIN, WARM):
                failed += int(many == 1)
                many = max(many // 2, 1)
                continue
            many, failed = min(2 * many, max(same.size, 1)), 0

    def around(self, wanted: BoolArray) -> IntArray | None:
        """Tell wanted values apart by tables around a point; return the only values of those determined.

        Others are NOT_SEEN. Without a table, nothing is returned.
        """
        try:
            around = Around(self.group, self.clock)
        except StuckError:
            return None
        table = around.first()
        if table is None or not self._note(table):
            return None
        known = np.where(wanted, around.solved.determined(self.group), NOT_SEEN)
        around.tell(table, wanted & (known == NOT_SEEN), self._same)
        return known

    def _same(self, table: IntArray) -> BoolArray:
        """Note a table; say which unknowns have the same value in all."""
        self._note(table)
        same: BoolArray = self.seen[0] == self.seen[1]
        return same

    def _found(self, low: IntArray, up: IntArray, temperatures: tuple[float, ...], warm: int) -> bool:
        """Look for a table within ranges, near the last one; note it, and say whether there is one."""
        n, group = self.group.variables.size, self.group
        x = np.clip(self.table, low, up)
        for step, temperature in enumerate(temperatures):
            chance = (SPAN * np.exp(-np.arange(40) / temperature)).astype(np.int64)
            off = self.rows.sums(x) - group.rhs
            least = 0 if step else warm * n
            given = Searched(self.rows, self.across, low, up, x, off)
            if exchange(given, chance, self.state, least, TURNS * n, self.clock.rung):
                return self._note(x)
            if self.clock.late:
                return False
        return False

    def _note(self, table: IntArray) -> bool:
        if not self.whole.fits(self.folded.outer(table)):
            return False
        self.table = table
        np.minimum(self.seen[0], table, out=self.seen[0])
        np.maximum(self.seen[1], table, out=self.seen[1])
        return True


def told_apart(group: Group, wanted: IntArray, clock: Clock) -> Found | None:
    """Return which wanted unknowns have several values, None where no table is found.

    Unknowns that two tables tell apart are settled, and keep their outer ranges. Those that equations determine may be
    settled too, with their values.
    """
    folded = fold(group, wanted)
    search = Exchanges(group, folded, clock)
    asked = wanted[folded.kept] > 0
    outer = np.stack([group.least, group.most])
    known = np.full(asked.size, NOT_SEEN)
    if search.first():
        search.vary(asked)
    else:
        determined = search.around(asked)
        if determined is None:
            return None
        known = determined
    fixed = folded.kept[known != NOT_SEEN]
    outer[:, fixed] = known[known != NOT_SEEN]
    seen = -SIGN * np.full(group.variables.size, NOT_SEEN)
    seen[:, folded.kept] = search.seen
    settled = np.repeat(wanted[None] == 0, 2, axis=0).astype(np.int64)
    settled[:, folded.kept[asked & (search.seen[0] < search.seen[1])]] = 1
    settled[:, fixed] = 1
    return Found(outer, outer.astype(np.float64), seen, settled)


def settle_determined(group: Group, wanted: BoolArray, found: Found, clock: Clock) -> None:
    """Give wanted unknowns that equations alone determine their values, in place."""
    if clock.late or not wanted.any():
        return
    folded = fold(group, wanted.astype(np.int64))
    here = folded.group
    try:
        solved = Solved(here, (here.most - here.least).astype(np.float64), clock)
    except StuckError:
        return
    values = np.where(wanted[folded.kept], solved.determined(here), NOT_SEEN)
    known = values != NOT_SEEN
    at = folded.kept[known]
    found.bound[:, at] = found.relaxed[:, at] = values[known]
    found.settled[:, at] = 1


def keep_small(group: Group, wanted: IntArray, found: Found, top: float, clock: Clock) -> None:
    """Bound, in place, the wanted unknowns that may be part of a sum below ``top`` that follows; others stay as wide.

    A sum of unknowns that follows has one value in all tables over real numbers, so what exceeds every integer below
    ``top`` in one of them is in no such sum. Points inside ranges are enough, so no corner is looked for; they count
    from half a unit above these integers, far beyond what they may be off by. And once no equations can be added up
    without any unknown that is large somewhere, no such sum is left. What is late is not settled.
    """
    if clock.late:
        found.settled[:, (wanted > 0) & (group.most >= top)] = 0
        return
    folded = fold(group, wanted)
    kept = folded.kept
    # What has one value over integers has it in what follows too.
    fixed = (found.bound[0] == found.bound[1])[kept] & (found.settled[:, kept] > 0).all(axis=0)
    ends = (np.where(fixed, found.bound[side, kept], (folded.group.lower, folded.group.upper)[side]) for side in (0, 1))
    left = folded.group.most >= top
    here = replace(folded.group, **dict(zip(("lower", "upper"), ends, strict=True)))
    large = _large(here, left & ~fixed, fixed, top, clock)
    open_ = (wanted[kept] > 0) & left & ~fixed & ~large
    exact = GroupProgram(here) if open_.any() else None
    for k in np.flatnonzero(open_).tolist():
        x = None if clock.late or exact is None else exact.extreme(k, True, clock.left)
        sure = None if x is None or exact is None else proved(here, exact.program.multipliers, k, True)
        if sure is None:
            found.settled[:, kept[k]] = 0
        else:
            found.bound[1, kept[k]] = min(found.bound[1, kept[k]], sure)


def _large(group: Group, left: BoolArray, fixed: BoolArray, top: float, clock: Clock) -> BoolArray:
    """Return which unknowns are in no sum below ``top`` that follows, as far as points of many large values show it."""
    drawn, large = np.random.default_rng(6), np.zeros(left.size, bool)
    equations, rank = np.zeros((0, left.size)), left.size + 1
    if group.rhs.size * left.size <= DENSE:
        equations = group.dense().astype(np.float64)
        rank = int(np.linalg.matrix_rank(equations[:, ~fixed], tol=SURE / 1000))
    model = Program(
        group.rows,
        costs=np.zeros(left.size),
        lower=group.lower,
        upper=np.where(group.upper >= UNBOUNDED, np.inf, group.upper),
        sums=(group.rhs, group.rhs),
        options={"solver": "ipm", "run_crossover": "off", "ipm_optimality_tolerance": 1e-3},
    )
    while not clock.late:
        some = np.flatnonzero(left & ~large)
        if not some.size:
            break
        costs = np.zeros(left.size)
        costs[drawn.choice(some, min(max(left.size // AT_ONCE, 1), some.size), replace=False)] = 1.0
        model.set_costs(costs, largest=True)
        model.run(clock.left)
        point = model.point
        reached = left & ~large & (point >= np.ceil(top) - 0.5)
        if not reached.any() or not _nearly(group, point):
            break
        large |= reached
        if large.sum() >= rank and np.linalg.matrix_rank(equations[:, large], tol=SURE) == rank:
            return left
    return large


def _nearly(group: Group, point: FloatArray) -> bool:
    """Say whether a point over real numbers fits, but for rounding."""
    off = np.abs(group.rows._replace(values=group.signs.astype(np.float64)).sums(point) - group.rhs)
    inside = (point > group.lower - CLOSE).all() and (point < group.upper + CLOSE).all()
    return bool(inside and off.max(initial=0.0) < CLOSE)
