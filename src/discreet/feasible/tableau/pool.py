"""The tables of integers found so far, and how small shifts find more of them.

Where ranges leave room, as those of large amounts and of rounded and perturbed figures do, a table with a value at the
end of its range is a few units away from one in the middle of all ranges: the value is shifted, and whatever that
pushes out of its range is mended by shifting others. Failure proves nothing; a tableau then has to decide. Every table
found is checked against the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import Rows
from discreet.table.kinds import UNBOUNDED

FIRST = 400
"""How often all moves may be examined for the first table."""
NEXT = (60_000, 600_000)
"""The most entries of moves examined for another value: at first, and on a second try."""
IDLE = 200
"""How many failures may exceed four times the successes before the search stops. FIRST, NEXT and IDLE are round choices
on tables of perturbed figures: they limit searches that fail, and the tableau takes over."""
NARROWER = 4
"""The first table is searched for in this share of the width of all ranges, around the middle, to have others near
it."""


class Pool(NamedTuple):
    """The equations, and what the tables of integers found so far show.

    ``seen`` has the least (row 0) and the largest value (row 1) of each unknown in any of them, ``table`` the last one,
    ``tables[0]`` their number. ``goal`` is what ends the search for an unknown. Row c of ``moves`` says how the others
    change with the unknown c that the equations leave open, where they do so in integers.
    """

    rows: Rows
    rhs: IntArray
    lower: IntArray
    upper: IntArray
    goal: IntArray
    seen: IntArray
    table: IntArray
    tables: IntArray
    moves: Rows


@compiled
def note(pool: Pool, table: IntArray) -> bool:
    """Add a table to the pool if it fits exactly."""
    for j in range(table.size):
        if table[j] < pool.lower[j] or table[j] > pool.upper[j]:
            return False
    for i in range(pool.rhs.size):
        total = np.int64(0)
        for k in range(pool.rows.starts[i], pool.rows.starts[i + 1]):
            total += pool.rows.values[k] * table[pool.rows.columns[k]]
        if total != pool.rhs[i]:
            return False
    for j in range(table.size):
        pool.seen[0, j] = min(pool.seen[0, j], table[j])
        pool.seen[1, j] = max(pool.seen[1, j], table[j])
        pool.table[j] = table[j]
    pool.tables[0] += 1
    return True


@compiled
def _change(pool: Pool, x: IntArray, low: IntArray, up: IntArray, weights: IntArray, c: int, step: int) -> float:
    """Return by how much a shift along an open unknown makes what is out of range larger."""
    total = 0.0
    for s in range(pool.moves.starts[c], pool.moves.starts[c + 1]):
        i = pool.moves.columns[s]
        a = x[i]
        b = a + step * pool.moves.values[s]
        before, after = max(low[i] - a, a - up[i]), max(low[i] - b, b - up[i])
        total += weights[i] * (max(after, 0) - max(before, 0))
    return total


@compiled
def mend(pool: Pool, x: IntArray, low: IntArray, up: IntArray, effort: int, stop: IntArray) -> bool:
    """Bring all values that follow from open ones into their ranges by shifts of those; say whether that was done.

    Each turn takes a value that is out of its range, and shifts along the open unknown that gains most. Where none
    gains, the value weighs more from then on.
    """
    r = pool.rhs.size
    weights, out, place, count = np.ones(r, np.int64), np.zeros(r, np.int64), np.full(r, -1), 0
    for i in range(r):
        if x[i] < low[i] or x[i] > up[i]:
            out[count], place[i] = i, count
            count += 1
    turn = 0
    while count > 0:
        if effort <= 0 or stop[0] != 0:
            return False
        turn += 1
        i = out[turn % count]
        need = low[i] - x[i] if x[i] < low[i] else up[i] - x[i]
        first, last = pool.rows.starts[i] + 1, pool.rows.starts[i + 1]
        length = last - first
        begin = (turn * 7919) % max(length, 1)
        chosen, by, best = -1, 0, 0.0
        for k in range(length):
            at = first + (begin + k) % length
            c = pool.rows.columns[at] - r
            j, rate = r + c, -pool.rows.values[at]
            step = need // rate if abs(rate) == 1 else (1 if (need > 0) == (rate > 0) else -1)
            step = min(max(step, low[j] - x[j]), up[j] - x[j])
            if step == 0:
                continue
            effort -= pool.moves.starts[c + 1] - pool.moves.starts[c]
            worth = _change(pool, x, low, up, weights, c, step)
            if worth >= best and abs(step) > 1:
                step = 1 if step > 0 else -1
                effort -= pool.moves.starts[c + 1] - pool.moves.starts[c]
                worth = _change(pool, x, low, up, weights, c, step)
            if worth < best:
                chosen, by, best = c, step, worth
                if worth <= -weights[i] * abs(need):
                    break
        effort -= length
        if chosen < 0:
            weights[i] += 1
            continue
        x[r + chosen] += by
        for s in range(pool.moves.starts[chosen], pool.moves.starts[chosen + 1]):
            j = pool.moves.columns[s]
            x[j] += by * pool.moves.values[s]
            outside = x[j] < low[j] or x[j] > up[j]
            if outside and place[j] < 0:
                out[count], place[j] = j, count
                count += 1
            elif not outside and place[j] >= 0:
                count -= 1
                moved = out[count]
                out[place[j]], place[moved] = moved, place[j]
                place[j] = -1
    return True


@compiled
def nearby(pool: Pool, x: FloatArray, low: IntArray, up: IntArray, effort: int, stop: IntArray) -> IntArray:
    """Return a table of integers near given values, within ranges; an empty one where none is found.

    The unknowns that the equations leave open are rounded, the others follow, and what is then out of its range is
    mended by shifts.
    """
    r = pool.rhs.size
    table = np.empty(x.size, np.int64)
    for j in range(r, x.size):
        table[j] = min(max(np.int64(np.rint(x[j])), low[j]), up[j])
    for i in range(r):
        if pool.rows.values[pool.rows.starts[i]] != 1:
            return table[:0]
        table[i] = pool.rhs[i]
        for at in range(pool.rows.starts[i] + 1, pool.rows.starts[i + 1]):
            table[i] -= pool.rows.values[at] * table[pool.rows.columns[at]]
    return table if mend(pool, table, low, up, effort, stop) else table[:0]


def first_table(pool: Pool, bound: IntArray, solved: IntArray, stop: IntArray) -> IntArray | None:
    """Return a table in the middle of what is known of the ranges, or somewhere in them; None where none is near.

    All unknowns that are not left open must follow from those in integers.
    """
    r = solved.shape[1]
    low, high = bound
    free_low, free_high = low <= -UNBOUNDED, high >= UNBOUNDED
    middle = np.where(free_low | free_high, 0, (np.where(free_low, 0, low) + np.where(free_high, 0, high)) // 2)
    middle = np.clip(middle, low, high)
    x = middle.copy()
    x[:r] = pool.rhs - x[r:] @ solved
    around = (np.where(free_low | free_high, 0, high - low) // NARROWER)[:r]
    narrow = bound.copy()
    narrow[0, :r] = np.where(free_low[:r], low[:r], np.minimum(middle[:r], low[:r] + around))
    narrow[1, :r] = np.where(free_high[:r], high[:r], np.maximum(middle[:r], high[:r] - around))
    for ends in (narrow, bound):
        if mend(pool, x, ends[0], ends[1], FIRST * pool.moves.values.size, stop):
            return x if note(pool, x) else None
    return None


def attain(pool: Pool, home: IntArray, bound: IntArray, wanted: IntArray, stop: IntArray) -> None:
    """Look for tables in which wanted unknowns attain their goals, near a given one and near the last one found."""
    for effort in NEXT:
        _attain(pool, home, bound, wanted, effort, stop)
        _attain(pool, pool.table.copy(), bound, wanted, effort, stop)


@compiled
def _attain(pool: Pool, home: IntArray, bound: IntArray, wanted: IntArray, effort: int, stop: IntArray) -> None:
    """Look near a table for others in which wanted unknowns attain their goals."""
    r = pool.rhs.size
    low, up = bound[0].copy(), bound[1].copy()
    x = home.copy()
    patience = IDLE
    for k in range(home.size):
        if wanted[k] == 0:
            continue
        for side in range(2):
            if stop[0] != 0 or patience <= 0:
                return
            goal = pool.goal[side, k]
            if pool.seen[side, k] <= goal if side == 0 else pool.seen[side, k] >= goal:
                continue
            if goal < low[k] or goal > up[k] or abs(goal) >= UNBOUNDED // 2:
                continue
            x[:] = home
            kept_low, kept_up = low[k], up[k]
            low[k], up[k] = goal, goal
            if k >= r:
                step = goal - x[k]
                x[k] = goal
                for s in range(pool.moves.starts[k - r], pool.moves.starts[k - r + 1]):
                    x[pool.moves.columns[s]] += step * pool.moves.values[s]
            mended = mend(pool, x, low, up, effort, stop) and note(pool, x)
            patience += 4 if mended else -1
            low[k], up[k] = kept_low, kept_up
