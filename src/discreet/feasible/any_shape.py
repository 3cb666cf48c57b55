"""Groups of any shape: the tableau first, HiGHS for what it leaves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import IntArray
from discreet.feasible.group_program import GroupProgram, NothingFitsError, RangeProgram, sparse_bounds
from discreet.feasible.reduction import Group
from discreet.feasible.tableau.condensing import NothingError, StuckError
from discreet.feasible.tableau.solver import NOT_SEEN, Found, Solver
from discreet.table.kinds import UNBOUNDED

LARGEST = 100_000_000
"""The most entries, equations times unknowns, that are solved on a tableau."""
EFFORT = 1_000_000
"""Entries of moves that may be looked at to round one solution."""
NODES = (100, 1000)
"""Branches to look for a table of whole numbers: at first, and with ranges that whole numbers have narrowed."""
PATIENCE = 20.0
"""Seconds that an integer program for one bound may take."""

HOPELESS = 3
"""After so many integer programs in a row that found nothing in time, no more are tried."""


def solve_group(
    group: Group,
    wanted: IntArray,
    *,
    goal: IntArray | None = None,
    whole: bool = True,
    clock: Clock | None = None,
    tick: Callable[[int], None] = lambda count: None,
) -> Found:
    """Bound the wanted unknowns of a group, or look for tables that attain goals.

    Args:
        group: the equations.
        wanted: which unknowns matter.
        goal: for both sides, the value at which a search may end; bounds are looked for without one.
        whole: branch where corners are not whole.
        clock: says when the rest is left as it is.
        tick: told how many unknowns were looked at.

    Raises:
        NothingError: no table fits.
        LateError: the clock rang before anything was found.
    """
    clock = clock or Clock()
    try:
        if group.rhs.size * group.variables.size > LARGEST:
            raise StuckError
        solver = Solver(group, wanted, goal, clock)
        if whole and not solver.has_table:
            table = _best(GroupProgram(group, whole=True), np.zeros(group.variables.size), True, clock)
            if table is not None:
                solver.give(table)
        solver.run(NODES[0] if whole else 0, tick)
        if whole and goal is not None and solver.open().any():
            reach(group, solver, goal, clock)
        if whole and solver.open().any():
            solver.run(NODES[1], hard=True)
        found = solver.found()
    except StuckError:
        found = _by_highs(group, wanted, goal, clock, tick)
    if whole and not found.settled.all():
        _close(group, found, goal, clock)
    return found


def reach(group: Group, solver: Solver, goal: IntArray, clock: Clock) -> None:
    """Look for tables that attain goals by linear programs, whose solutions are rounded."""
    model = RangeProgram(group)
    for side, k in zip(*np.nonzero(solver.open()), strict=True):
        if clock.late:
            return
        if solver.open()[side, k]:
            ranges = np.stack([group.least, group.most])
            ranges[1 - side, k] = goal[side, k]
            x = model.attain(ranges, seconds(clock))
            table = None if x is None else solver.near(x, ranges, EFFORT)
            if table is not None:
                solver.give(table)


def seconds(clock: Clock) -> float:
    """Return how long one program may take."""
    left = clock.left
    return PATIENCE if left is None else min(left, PATIENCE)


def _best(model: GroupProgram, costs: np.ndarray, upper: bool, clock: Clock) -> IntArray | None:
    """Return a best table of whole numbers, None where time ran out."""
    left = seconds(clock)
    if left <= 0:
        return None
    try:
        x = model.best(costs, upper, left)
    except NothingFitsError:
        raise NothingError from None
    return None if x is None else np.rint(x).astype(np.int64)


def _by_highs(
    group: Group, wanted: IntArray, goal: IntArray | None, clock: Clock, tick: Callable[[int], None]
) -> Found:
    """Bound unknowns over real numbers where the tableau cannot."""
    try:
        found = sparse_bounds(group, wanted, clock, tick)
    except NothingFitsError:
        raise NothingError from None
    found.settled[:, wanted == 0] = 1
    _judge(found, goal)
    return found


def _judge(found: Found, goal: IntArray | None) -> None:
    """Mark what tables attain, or what is proved to be out of reach."""
    sign = np.array([[-1], [1]])
    aim = found.bound if goal is None else goal
    done = (sign * found.seen >= sign * aim) & (np.abs(found.seen) < NOT_SEEN)
    done |= (sign * found.bound < sign * aim) | (np.abs(aim) >= UNBOUNDED)
    found.settled[done] = 1


def _close(group: Group, found: Found, goal: IntArray | None, clock: Clock) -> None:
    """Find what is left by integer programs; each table found counts for all unknowns."""
    model: GroupProgram | None = None
    failed = 0
    for side, k in zip(*np.nonzero(found.settled == 0), strict=True):
        if found.settled[side, k]:
            continue
        if seconds(clock) <= 0 or failed == HOPELESS:
            return
        model = GroupProgram(group, whole=True) if model is None else model
        costs = np.zeros(group.variables.size)
        costs[k] = 1.0
        table = _best(model, costs, bool(side), clock)
        if table is None or not group.fits(table):
            failed += 1
            continue
        failed = 0
        found.seen[0], found.seen[1] = np.minimum(found.seen[0], table), np.maximum(found.seen[1], table)
        found.bound[side, k] = table[k]
        _judge(found, goal)
