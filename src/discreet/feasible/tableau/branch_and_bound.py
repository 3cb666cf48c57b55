"""Bounds over whole numbers on a tableau: corners, their neighbours, and branching where neither is whole.

Every table of whole numbers that turns up shows values of all unknowns at once; a bound is settled when one of them
attains it. Bounds themselves are worked out in whole numbers from the rows of the tableau, each of which is checked
against the equations, and so is every branch that is closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.tableau.pool import Pool, nearby, note
from discreet.feasible.tableau.row_proof import BAD, LARGE, proved
from discreet.feasible.tableau.simplex import (
    CLOSE,
    FAILED,
    FITS,
    LATE,
    NOTHING_FITS,
    STUCK,
    TINY,
    UNBOUNDED,
    Tableau,
    climb,
    pivot,
    reset,
    shift,
    take_back,
)

FOUND, NONE, UNDECIDED = 1, 0, 2
LONG, FAULTS = 20, 20
"""Exchanges after which they are taken back; errors after which another solver takes over."""


class BranchStack(NamedTuple):
    """Room for branching: unknowns branched on, their kept ranges, values and exchanges before it."""

    branched: IntArray
    second: IntArray
    low: FloatArray
    up: FloatArray
    values: FloatArray
    mark: IntArray


@compiled
def note_corner(t: Tableau, pool: Pool) -> bool:
    """Add the present values to the pool if they are whole."""
    for j in range(t.x.size):
        if abs(t.x[j] - np.rint(t.x[j])) > CLOSE:
            return False
    table = np.zeros(t.x.size, np.int64)
    for j in range(t.x.size):
        table[j] = np.int64(np.rint(t.x[j]))
    return note(pool, table)


@compiled
def moves(t: Tableau, pool: Pool) -> None:
    """Go from the last table along each unknown that the equations leave open, as far as whole numbers allow."""
    table = pool.table.copy()
    after = table.copy()
    for c in range(t.first_beside.size):
        if t.stop[0] != 0:
            return
        q = t.first_beside[c]
        begin, end = pool.move_starts[c], pool.move_starts[c + 1]
        for direction in (1, -1):
            step = pool.upper[q] - table[q] if direction > 0 else table[q] - pool.lower[q]
            for s in range(begin, end):
                rate = direction * pool.move_rates[s]
                j = pool.move_columns[s]
                room = pool.upper[j] - table[j] if rate > 0 else table[j] - pool.lower[j]
                step = min(step, room // abs(rate))
                if step <= 0:
                    break
            if step <= 0 or step > 2**50:
                continue
            useful = False
            for s in range(begin - 1, end):
                j = q if s < begin else pool.move_columns[s]
                value = table[j] + direction * step * (1 if s < begin else pool.move_rates[s])
                if value < pool.seen[0, j]:
                    useful = useful or pool.seen[0, j] > pool.goal[0, j]
                elif value > pool.seen[1, j]:
                    useful = useful or pool.seen[1, j] < pool.goal[1, j]
            if not useful:
                continue
            after[:] = table
            after[q] += direction * step
            for s in range(begin, end):
                after[pool.move_columns[s]] += direction * step * pool.move_rates[s]
            note(pool, after)


@compiled
def repair(t: Tableau, most: int) -> int:
    """Bring all values into their ranges by the dual simplex method."""
    x, low, up = t.x, t.low, t.up
    d, r = t.columns.shape
    for _ in range(most):
        if t.stop[0] != 0:
            return LATE
        p, worst = -1, CLOSE
        for i in range(r):
            k = t.basis[i]
            off = max(low[k] - x[k], x[k] - up[k])
            if off > worst:
                p, worst = i, off
        if p < 0:
            return FITS
        k = t.basis[p]
        rising = x[k] < low[k]
        q, size = -1, 1e-7
        for c in range(d):
            a = t.columns[c, p]
            if a == 0.0:
                continue
            j = t.beside[c]
            grade = 1e9 if abs(a) == 1.0 else abs(a)
            if (x[j] < up[j] - TINY if (a < 0) == rising else x[j] > low[j] + TINY) and grade > size:
                q, size = c, grade
        if q < 0:
            bound, _ = proved(t, p, 1 if rising else -1)
            if bound == BAD:
                return FAILED
            sure = bound < low[k] - 0.5 if rising else bound > up[k] + 0.5
            return NOTHING_FITS if sure else FAILED
        end = low[k] if rising else up[k]
        shift(t, q, (x[k] - end) / t.columns[q, p])
        x[k] = end
        pivot(t, p, q)
    return FAILED


@compiled
def attained(t: Tableau, pool: Pool, stack: BranchStack, k: int, sign: int, target: int, nodes: int) -> int:
    """Look for a table of whole numbers in which x[k] has the target value or lies beyond it.

    Fractional values are pushed to either side in turn (branch and bound, depth first). Going back takes back the
    pivots made since. Where a table is found, it becomes the present one; otherwise all stays as it was.
    """
    x, low, up = t.x, t.low, t.up
    before, kept_low, kept_up = x.copy(), low[k], up[k]
    if sign > 0:
        low[k] = float(target)
    else:
        up[k] = float(target)
    depth, answer = 0, NONE
    for node in range(nodes + 1):
        if node == nodes:
            answer = UNDECIDED
            break
        code = repair(t, 30 + t.basis.size // 3)
        if code in (FAILED, LATE):
            answer = UNDECIDED
            break
        if code == FITS:
            fractional, worst = -1, 0.0
            for i in range(t.basis.size):
                j = t.basis[i]
                off = abs(x[j] - np.rint(x[j]))
                if off > CLOSE and 1.0 / (up[j] - low[j]) > worst:
                    fractional, worst = j, 1.0 / (up[j] - low[j])
            if fractional < 0:
                answer = FOUND if note_corner(t, pool) else UNDECIDED
                break
            if depth == stack.branched.size:
                answer = UNDECIDED
                break
            j = fractional
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
        if depth == 0:
            break
        top = depth - 1
        j = stack.branched[top]
        if not take_back(t, stack.mark[top]):
            answer = UNDECIDED
            break
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
    """Look for a table of whole numbers near the present values, with x[k] at the target or beyond."""
    low, up = bound[0].copy(), bound[1].copy()
    if sign > 0:
        low[k] = target
    else:
        up[k] = target
    table = nearby(pool, t.x, low, up, effort, t.stop)
    return table.size > 0 and note(pool, table)


@compiled
def settle(
    t: Tableau,
    pool: Pool,
    stack: BranchStack,
    wanted: IntArray,
    first: int,
    last: int,
    bound: IntArray,
    relaxed: FloatArray,
    state: IntArray,
    turns: int,
    nodes: int,
    effort: int,
    steps: int,
    follow: bool,
    pure: bool,
) -> int:
    """Settle the goals of some wanted unknowns; `state` is filled with FOUND, NONE or UNDECIDED. FAILED if stuck.

    Each search starts from the last table of whole numbers, so that most of what it changes stays whole, and from the
    first solution of the equations, whose rows are short. `bound` holds what is proved. With `follow`, a goal that is
    proved to be out of reach moves to the bound; without, that ends the search (NONE). `pure` says that ranges have not
    been narrowed by whole numbers, so that the bounds found over real numbers are to be kept. A goal that is not
    reached in so many turns stays UNDECIDED, unless they are more than the unknowns: then something is wrong. LATE when
    it is told to stop: what it has not come to is UNDECIDED, and what it has proved stays proved.
    """
    faults, undone = 0, 0
    for k in range(first, last):
        if wanted[k] == 0:
            continue
        for side in range(2):
            sign = 1 if side == 1 else -1
            if state[side, k] != UNDECIDED:
                continue
            turn = 0
            while turn < steps:
                if t.stop[0] != 0:
                    return LATE
                turn += 1
                target = pool.goal[side, k]
                if pool.tables[0] > 0 and sign * pool.seen[side, k] >= sign * target:
                    state[side, k] = FOUND
                    break
                if sign * bound[side, k] < sign * target:
                    state[side, k] = NONE
                    break
                if pool.tables[0] > 0:
                    for j in range(t.x.size):
                        t.x[j] = float(pool.table[j])
                code = climb(t, k, float(sign), float(sign) * target, turns)
                if code == LATE:
                    return LATE
                if code == STUCK:
                    if turns > t.x.size:
                        return FAILED
                    break
                if code == UNBOUNDED:
                    if abs(target) >= 2**59:
                        state[side, k] = FOUND
                    break
                if sign * t.x[k] < sign * target - CLOSE:
                    inner, real = int(t.up[k] if side == 1 else t.low[k]), float(t.x[k])
                    if t.place[k] >= 0:
                        inner, real = proved(t, t.place[k], sign)
                    if inner == BAD or sign * inner >= sign * target or abs(real - t.x[k]) > 1e-4 * (1.0 + abs(real)):
                        # Errors have grown: begin afresh, and once only for the same bound.
                        faults += 1
                        if faults > FAULTS or pool.tables[0] == 0:
                            return FAILED
                        reset(t)
                        if turn == 1:
                            turn = 2
                            continue
                        if turn == 3:
                            return FAILED
                        continue
                    bound[side, k] = inner
                    if pure:
                        relaxed[side, k] = real
                    if follow:
                        pool.goal[side, k] = inner
                    continue
                if not note_corner(t, pool) and not rounded(t, pool, bound, k, sign, target, effort):
                    if abs(target) >= LARGE:
                        break
                    answer = attained(t, pool, stack, k, sign, target, nodes)
                    if answer == UNDECIDED:
                        break
                    if answer == NONE:
                        bound[side, k] = target - sign
                        if follow:
                            pool.goal[side, k] = target - sign
                        continue
                moves(t, pool)
            if t.logged[0] > LONG:
                undone += 1
                if undone % 64 == 0 or not take_back(t, 0):
                    reset(t)
    return FITS
