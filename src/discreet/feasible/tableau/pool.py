"""The tables of whole numbers found so far, and how one that is nearly right is mended by small shifts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray


class Pool(NamedTuple):
    """The equations in compressed rows, and what the tables of whole numbers found so far show.

    ``seen`` holds the least (row 0) and the largest value (row 1) of each unknown in any of them, ``table`` the last
    one, ``tables[0]`` their number. ``goal`` is what ends the search for an unknown. Moves say how the others change
    with each unknown that the equations leave open, where they do so in whole numbers.
    """

    starts: IntArray
    columns: IntArray
    signs: IntArray
    rhs: IntArray
    lower: IntArray
    upper: IntArray
    goal: IntArray
    seen: IntArray
    table: IntArray
    tables: IntArray
    move_starts: IntArray
    move_columns: IntArray
    move_rates: IntArray


@compiled
def note(pool: Pool, table: IntArray) -> bool:
    """Add a table to the pool if it fits exactly."""
    for j in range(table.size):
        if table[j] < pool.lower[j] or table[j] > pool.upper[j]:
            return False
    for i in range(pool.rhs.size):
        total = np.int64(0)
        for k in range(pool.starts[i], pool.starts[i + 1]):
            total += pool.signs[k] * table[pool.columns[k]]
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
    for s in range(pool.move_starts[c], pool.move_starts[c + 1]):
        i = pool.move_columns[s]
        a = x[i]
        b = a + step * pool.move_rates[s]
        before, after = max(low[i] - a, a - up[i]), max(low[i] - b, b - up[i])
        total += weights[i] * (max(after, 0) - max(before, 0))
    return total


@compiled
def mend(pool: Pool, x: IntArray, low: IntArray, up: IntArray, weights: IntArray, effort: int, stop: IntArray) -> bool:
    """Bring all values that follow from open ones into their ranges by shifts of those; say whether that was done.

    Each turn takes a value that is out of its range, and shifts along the open unknown that gains most. Where none
    gains, the value weighs more from then on.
    """
    r = pool.rhs.size
    out, place, count = np.zeros(r, np.int64), np.full(r, -1), 0
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
        first, last = pool.starts[i] + 1, pool.starts[i + 1]
        length = last - first
        begin = (turn * 7919) % max(length, 1)
        chosen, by, best = -1, 0, 0.0
        for k in range(length):
            at = first + (begin + k) % length
            c = pool.columns[at] - r
            j, rate = r + c, -pool.signs[at]
            step = need // rate if abs(rate) == 1 else (1 if (need > 0) == (rate > 0) else -1)
            step = min(max(step, low[j] - x[j]), up[j] - x[j])
            if step == 0:
                continue
            effort -= pool.move_starts[c + 1] - pool.move_starts[c]
            worth = _change(pool, x, low, up, weights, c, step)
            if worth >= best and abs(step) > 1:
                step = 1 if step > 0 else -1
                effort -= pool.move_starts[c + 1] - pool.move_starts[c]
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
        for s in range(pool.move_starts[chosen], pool.move_starts[chosen + 1]):
            j = pool.move_columns[s]
            x[j] += by * pool.move_rates[s]
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
    """Return a table of whole numbers near given values, within ranges; an empty one where none is found.

    The unknowns that the equations leave open are rounded, the others follow, and what lies out of its range then is
    mended by shifts. Where ranges leave room, as those of large amounts do, little has to be.
    """
    r = pool.rhs.size
    table = np.empty(x.size, np.int64)
    for j in range(r, x.size):
        table[j] = min(max(np.int64(np.rint(x[j])), low[j]), up[j])
    for i in range(r):
        if pool.signs[pool.starts[i]] != 1:
            return table[:0]
        table[i] = pool.rhs[i]
        for at in range(pool.starts[i] + 1, pool.starts[i + 1]):
            table[i] -= pool.signs[at] * table[pool.columns[at]]
    return table if mend(pool, table, low, up, np.ones(r, np.int64), effort, stop) else table[:0]
