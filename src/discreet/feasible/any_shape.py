"""Groups of any shape: the tableau first, or a search over integers for small groups with statistics; then HiGHS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, IntArray
from discreet.feasible.filling import filled
from discreet.feasible.group_program import GroupProgram, RangeProgram, sparse_bounds, widen
from discreet.feasible.integer_search import small_group
from discreet.feasible.reduction import NOT_SEEN, SIGN, Found, Group, StuckError, UnfinishedError
from discreet.feasible.tableau.solver import Solver
from discreet.feasible.telling_apart import keep_small, settle_determined, told_apart
from discreet.table.kinds import UNBOUNDED

LARGEST = 100_000_000
"""The most entries, equations times unknowns, of a tableau: 800 MB."""
CROWDED = 300
"""Groups with more unknowns than this first try to fill tables greedily; smaller ones are quick either way."""
EFFORT = 1_000_000
"""The most entries of moves examined to round one solution: a few milliseconds."""
NODES = (100, 1000)
"""The most branches in the search for a table of integers, first and then with ranges narrowed by integers. A round
choice: the first settle all bounds of t3d_2k."""
PATIENCE, HOPELESS = 20.0, 3
"""Seconds for the integer program of one bound, and how many in a row may run out of time before no more are tried: a
hopeless group costs a minute at most."""


def solve_group(
    group: Group,
    wanted: IntArray,
    *,
    goal: IntArray | None = None,
    whole: bool = True,
    apart: float | None = None,
    clock: Clock | None = None,
    tick: Callable[[int], None] = lambda count: None,
) -> Found:
    """Bound the wanted unknowns of a group, or search for tables that attain goals.

    Without ``goal`` (for both sides, the value at which a search may end) bounds are looked for; ``whole`` says to
    branch where corners are not integers. With ``apart``, unknowns of large groups need only be told apart: whether
    they have several values, and whether they can reach that number. ``tick`` is told how many were looked at.

    Raises:
        NothingFitsError: no table fits.
        UnfinishedError: time ran out before anything was found.
    """
    clock = clock or Clock()
    if group.mixed:
        small = small_group(group, wanted, goal, clock)
        if small is not None:
            tick(int(wanted.sum()))
            if whole and not small.settled.all():
                _close(group, small, goal, clock)
            return small
    if apart is not None and group.variables.size > CROWDED and not group.mixed:
        told = told_apart(group, wanted, clock)
        if told is None and clock.late:
            raise UnfinishedError
        if told is not None:
            settle_determined(group, (told.settled == 0).any(axis=0), told, clock)
            rest = (told.settled == 0).any(axis=0)
            tick(int(wanted.sum()) - int(rest.sum()))
            _bound_rest(group, told, rest, clock, tick)
            if np.isfinite(apart):
                keep_small(group, wanted, told, apart, clock)
            return told
    if goal is None and group.variables.size > CROWDED:
        found = filled(group, wanted, clock)
        if found is not None:
            tick(int(wanted.sum()))
            return found
    try:
        if group.mixed:
            raise StuckError
        if group.rhs.size * group.variables.size > LARGEST:
            raise StuckError
        solver = Solver(group, wanted, goal, clock)
        if whole and not solver.has_table:
            table = _best(GroupProgram(group, whole=True), None, True, clock)
            if table is not None:
                solver.give(table)
        solver.run(NODES[0] if whole else 0, tick)
        if whole and goal is not None and solver.open().any():
            reach(group, solver, goal, clock)
        if whole and solver.open().any():
            solver.run(NODES[1], hard=True)
        found = solver.found()
    except StuckError:
        found = sparse_bounds(group, wanted, clock, tick)
        found.settled[:, wanted == 0] = 1
        _judge(found, goal)
    if whole and not found.settled.all():
        _close(group, found, goal, clock)
    return found


def _bound_rest(group: Group, told: Found, rest: BoolArray, clock: Clock, tick: Callable[[int], None]) -> None:
    """Bound those unknowns that no two tables tell apart, in place."""
    if clock.late or not rest.any():
        return
    try:
        found = solve_group(group, rest.astype(np.int64), clock=clock, tick=tick)
    except UnfinishedError:
        return
    for mine, theirs in ((told.bound, found.bound), (told.relaxed, found.relaxed), (told.settled, found.settled)):
        mine[:, rest] = theirs[:, rest]


def reach(group: Group, solver: Solver, goal: IntArray, clock: Clock) -> None:
    """Look for tables that attain goals by linear programs, whose solutions are rounded."""
    model = RangeProgram(group)
    for side, k in np.argwhere(solver.open()).tolist():
        if clock.late:
            return
        if solver.open()[side, k]:
            ranges = np.stack([group.least, group.most])
            ranges[1 - side, k] = goal[side, k]
            table = rounded(model, solver, ranges, clock)
            if table is not None:
                solver.give(table)


def rounded(model: RangeProgram, solver: Solver, ranges: IntArray, clock: Clock) -> IntArray | None:
    """Return a table of integers within ranges, near a solution over real numbers, if one is found."""
    x = model.attain(ranges, _seconds(clock))
    return None if x is None else solver.near(x, ranges, EFFORT)


def _seconds(clock: Clock) -> float:
    left = clock.left
    return PATIENCE if left is None else min(left, PATIENCE)


def _best(model: GroupProgram, k: int | None, upper: bool, clock: Clock) -> IntArray | None:
    """Return a table of integers with unknown k at its extreme, None if time ran out."""
    left = _seconds(clock)
    x = model.extreme(k, upper, left) if left > 0 else None
    return None if x is None else np.rint(x).astype(np.int64)


def _judge(found: Found, goal: IntArray | None) -> None:
    """Mark what tables attain, and what is proved to be out of reach."""
    aim = found.bound if goal is None else goal
    done = (SIGN * found.seen >= SIGN * aim) & (np.abs(found.seen) < NOT_SEEN)
    done |= (SIGN * found.bound < SIGN * aim) | (np.abs(aim) >= UNBOUNDED)
    found.settled[done] = 1


def _close(group: Group, found: Found, goal: IntArray | None, clock: Clock) -> None:
    """Find what is left by integer programs; each table found counts for all unknowns."""
    model: GroupProgram | None = None
    failed = 0
    for side, k in np.argwhere(found.settled == 0).tolist():
        if found.settled[side, k]:
            continue
        if _seconds(clock) <= 0 or failed == HOPELESS:
            return
        model = GroupProgram(group, whole=True) if model is None else model
        table = _best(model, k, bool(side), clock)
        if table is None or not group.fits(table):
            failed += 1
            continue
        failed = 0
        widen(found.seen, table)
        found.bound[side, k] = table[k]
        _judge(found, goal)
