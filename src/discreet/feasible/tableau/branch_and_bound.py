"""Bounds over integers on a tableau: corners, their neighbours, and branching where neither has integers only.

Every table of integers that turns up shows values of all unknowns at once; a bound is settled when one of them attains
it. Bounds themselves are computed in integers from the rows of the tableau. Each row is checked against the
equations, and so is every branch that is closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.tableau import simplex
from discreet.feasible.tableau.pool import Pool, nearby, note
from discreet.feasible.tableau.simplex import CLOSE, FITS, LATE, Tableau, climb, proved, repair, reset, take_back

FOUND, NONE, UNDECIDED = 1, 0, 2
LONG, FAULTS = 20, 20
"""How many exchanges are made before they are undone, and how many errors before another solver takes over: round
choices. Long logs mean long rows; errors are rare, and a tableau with many of them is not worth more time."""


class BranchStack(NamedTuple):
    """Room for branching: unknowns branched on, and the ranges, values and number of exchanges before it."""

    branched: IntArray
    second: IntArray
    low: FloatArray
    up: FloatArray
    values: FloatArray
    mark: IntArray


class TreeSearch(NamedTuple):
    """What is asked and known of all unknowns; row 0 is about lower, row 1 about upper ends.

    ``bound`` is proved over integers, ``relaxed`` over real numbers; ``state`` is FOUND, NONE or UNDECIDED, and
    ``faults[0]`` counts errors.
    """

    wanted: IntArray
    bound: IntArray
    relaxed: FloatArray
    state: IntArray
    faults: IntArray


class Budget(NamedTuple):
    """How much is done for one goal: exchanges (``turns``), branches, entries of moves to round, and moves of the goal.

    With ``follow``, a goal that is proved to be out of reach moves to the bound; without, that ends the search (NONE).
    ``pure`` says that integers have not narrowed the ranges: then the bounds found over real numbers are kept.
    """

    turns: int
    nodes: int
    entries: int
    steps: int
    follow: bool
    pure: bool


@compiled
def note_corner(t: Tableau, pool: Pool) -> bool:
    """Add the present values to the pool if they are integers."""
    table = np.zeros(t.x.size, np.int64)
    for j in range(t.x.size):
        near = np.rint(t.x[j])
        if abs(t.x[j] - near) > CLOSE:
            return False
        table[j] = np.int64(near)
    return note(pool, table)


@compiled
def moves(t: Tableau, pool: Pool) -> None:
    """Go from the last table along each unknown that the equations leave open, as far as integers allow."""
    table = pool.table.copy()
    after = table.copy()
    for c in range(t.beside.size):
        if t.stop[0] != 0:
            return
        q = t.basis.size + c
        begin, end = pool.moves.starts[c], pool.moves.starts[c + 1]
        for direction in (1, -1):
            step = pool.upper[q] - table[q] if direction > 0 else table[q] - pool.lower[q]
            for s in range(begin, end):
                rate = direction * pool.moves.values[s]
                j = pool.moves.columns[s]
                room = pool.upper[j] - table[j] if rate > 0 else table[j] - pool.lower[j]
                step = min(step, room // abs(rate))
                if step <= 0:
                    break
            if step <= 0 or step > 2**50:
                continue
            useful = False
            for s in range(begin - 1, end):
                j = q if s < begin else pool.moves.columns[s]
                value = table[j] + direction * step * (1 if s < begin else pool.moves.values[s])
                if value < pool.seen[0, j]:
                    useful = useful or pool.seen[0, j] > pool.goal[0, j]
                elif value > pool.seen[1, j]:
                    useful = useful or pool.seen[1, j] < pool.goal[1, j]
            if not useful:
                continue
            after[:] = table
            after[q] += direction * step
            for s in range(begin, end):
                after[pool.moves.columns[s]] += direction * step * pool.moves.values[s]
            note(pool, after)


@compiled
def _fractional(t: Tableau) -> int:
    """Return the unknown that is not an integer and has the narrowest range, -1 where there is none."""
    found, worst = -1, 0.0
    for j in t.basis:
        off = abs(t.x[j] - np.rint(t.x[j]))
        if off > CLOSE and 1.0 / (t.up[j] - t.low[j]) > worst:
            found, worst = j, 1.0 / (t.up[j] - t.low[j])
    return found


@compiled
def attained(t: Tableau, pool: Pool, stack: BranchStack, k: int, sign: int, target: int, nodes: int) -> int:
    """Look for a table of integers in which x[k] has the target value or lies beyond it.

    Fractional values are pushed to either side in turn (branch and bound, depth first). Going back takes back the
    pivots made since. A table that is found becomes the present one; otherwise all stays as it was.
    """
    x, low, up = t.x, t.low, t.up
    before, kept_low, kept_up = x.copy(), low[k], up[k]
    if sign > 0:
        low[k] = float(target)
    else:
        up[k] = float(target)
    depth, answer = 0, UNDECIDED
    for _ in range(nodes):
        code = repair(t, 30 + t.basis.size // 3)
        if code in (simplex.FAILED, LATE):
            break
        if code == FITS:
            j = _fractional(t)
            if j < 0 and note_corner(t, pool):
                answer = FOUND
            if j < 0 or depth == stack.branched.size:
                break
            stack.branched[depth], stack.second[depth], stack.mark[depth] = j, 0, t.logged[0]
            stack.low[depth], stack.up[depth] = low[j], up[j]
            stack.values[depth] = x
            depth += 1
            # The side of the last table comes first: what it has elsewhere goes with it.
            if pool.table[j] <= x[j] if pool.tables[0] > 0 else x[j] - np.floor(x[j]) < 0.5 + CLOSE:
                up[j] = np.floor(x[j])
            else:
                low[j] = np.ceil(x[j])
            continue
        while depth > 0 and stack.second[depth - 1] == 1:
            depth -= 1
            low[stack.branched[depth]], up[stack.branched[depth]] = stack.low[depth], stack.up[depth]
        top = depth - 1
        if depth == 0:
            answer = NONE
        if depth == 0 or not take_back(t, stack.mark[top]):
            break
        j = stack.branched[top]
        x[:] = stack.values[top]
        stack.second[top] = 1
        if up[j] < x[j]:
            low[j], up[j] = up[j] + 1.0, stack.up[top]
        else:
            low[j], up[j] = stack.low[top], low[j] - 1.0
    while depth > 0:
        depth -= 1
        low[stack.branched[depth]], up[stack.branched[depth]] = stack.low[depth], stack.up[depth]
    low[k], up[k] = kept_low, kept_up
    if answer != FOUND:
        x[:] = before
    return answer


@compiled
def rounded(t: Tableau, pool: Pool, bound: IntArray, k: int, sign: int, target: int, effort: int) -> bool:
    """Look for a table of integers near the present values, with x[k] at the target or beyond."""
    low, up = bound[0].copy(), bound[1].copy()
    if sign > 0:
        low[k] = target
    else:
        up[k] = target
    table = nearby(pool, t.x, low, up, effort, t.stop)
    return table.size > 0 and note(pool, table)


@compiled
def settle(
    t: Tableau, pool: Pool, stack: BranchStack, search: TreeSearch, effort: Budget, first: int, last: int
) -> int:
    """Settle the goals of some wanted unknowns; FAILED if stuck.

    Each search starts from the last table of integers, to keep most of what it changes in integers, and from the first
    solution of the equations, whose rows are short. LATE when it is told to stop: what it has not come to stays
    UNDECIDED, and what it has proved stays proved.
    """
    search.faults[0] = 0
    undone = 0
    for k in range(first, last):
        for side in range(2):
            if search.wanted[k] == 0 or search.state[side, k] != UNDECIDED:
                continue
            code = _settle_side(t, pool, stack, search, effort, k, side)
            if code != FITS:
                return code
            if t.logged[0] > LONG:
                undone += 1
                if undone % 64 == 0 or not take_back(t, 0):
                    reset(t)
    return FITS


@compiled
def _settle_side(
    t: Tableau, pool: Pool, stack: BranchStack, search: TreeSearch, effort: Budget, k: int, side: int
) -> int:
    """Settle one goal; it stays UNDECIDED if it takes too many turns, unless they exceed the unknowns: then FAILED."""
    sign, turn = 1 if side == 1 else -1, 0
    while turn < effort.steps:
        if t.stop[0] != 0:
            return LATE
        turn += 1
        target = pool.goal[side, k]
        if pool.tables[0] > 0 and sign * pool.seen[side, k] >= sign * target:
            search.state[side, k] = FOUND
            break
        if sign * search.bound[side, k] < sign * target:
            search.state[side, k] = NONE
            break
        if pool.tables[0] > 0:
            for j in range(t.x.size):
                t.x[j] = float(pool.table[j])
        code = climb(t, k, float(sign), float(sign) * target, effort.turns)
        if code == LATE:
            return LATE
        if code == simplex.STUCK:
            return simplex.FAILED if effort.turns > t.x.size else FITS
        if code == simplex.UNBOUNDED:
            if abs(target) >= 2**59:
                search.state[side, k] = FOUND
            break
        if sign * t.x[k] < sign * target - CLOSE:
            turn = _move_in(t, pool, search, effort, k, side, turn)
            if turn < 0:
                return simplex.FAILED
            continue
        if not note_corner(t, pool) and not rounded(t, pool, search.bound, k, sign, target, effort.entries):
            if abs(target) >= simplex.LARGE:
                break
            answer = attained(t, pool, stack, k, sign, target, effort.nodes)
            if answer == UNDECIDED:
                break
            if answer == NONE:
                search.bound[side, k] = target - sign
                if effort.follow:
                    pool.goal[side, k] = target - sign
                continue
        moves(t, pool)
    return FITS


@compiled
def _move_in(t: Tableau, pool: Pool, search: TreeSearch, effort: Budget, k: int, side: int, turn: int) -> int:
    """Move a bound to where a corner shows it to be; return the turn to go on with, -1 after too many errors."""
    sign, target = 1 if side == 1 else -1, pool.goal[side, k]
    inner, real = int(t.up[k] if side == 1 else t.low[k]), float(t.x[k])
    if t.place[k] >= 0:
        inner, real = proved(t, t.place[k], sign)
    if inner == simplex.BAD or sign * inner >= sign * target or abs(real - t.x[k]) > 1e-4 * (1.0 + abs(real)):
        # Errors have grown: begin afresh, and once only for the same bound.
        search.faults[0] += 1
        if search.faults[0] > FAULTS or pool.tables[0] == 0:
            return -1
        reset(t)
        return 2 if turn == 1 else -1 if turn == 3 else turn
    search.bound[side, k] = inner
    if effort.pure:
        search.relaxed[side, k] = real
    if effort.follow:
        pool.goal[side, k] = inner
    return turn
