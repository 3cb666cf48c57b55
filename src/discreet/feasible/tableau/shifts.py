"""Tables of whole numbers by small shifts, for groups whose tableau is large.

Where ranges leave room, as those of rounded and perturbed figures do, a table with a value at the end of its range is
a few units away from one in the middle of all ranges: the value is shifted, and what that pushes out of its range is
mended by shifting others. Nothing is proved by this when it fails; a tableau then has to tell. Every table found is
checked against the equations.
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.feasible.tableau.pool import Pool, mend, note
from discreet.table.kinds import UNBOUNDED

FIRST = 400
"""How often all moves may be looked at for the first table."""
NEXT = (60_000, 600_000)
"""Entries of moves that may be looked at for one more value: at first, and once more."""
IDLE = 200
"""Failures, beside four for every success, after which no more is tried."""
NARROWER = 4
"""The first table is looked for in ranges of this part of their width around the middle, so that others are near it."""


def first_table(pool: Pool, bound: IntArray, solved: IntArray, stop: IntArray) -> IntArray | None:
    """Return a table in the middle of what is known of the ranges, or somewhere in them; None where none is near.

    All unknowns that are not left open must follow from those in whole numbers.
    """
    r = solved.shape[1]
    low, high = bound
    free_low, free_high = low <= -UNBOUNDED, high >= UNBOUNDED
    middle = np.where(free_low | free_high, 0, (np.where(free_low, 0, low) + np.where(free_high, 0, high)) // 2)
    middle = np.clip(middle, low, high)
    x = middle.copy()
    x[:r] = pool.rhs - x[r:] @ solved
    weights = np.ones(r, np.int64)
    around = (np.where(free_low | free_high, 0, high - low) // NARROWER)[:r]
    narrow = bound.copy()
    narrow[0, :r] = np.where(free_low[:r], low[:r], np.minimum(middle[:r], low[:r] + around))
    narrow[1, :r] = np.where(free_high[:r], high[:r], np.maximum(middle[:r], high[:r] - around))
    for ends in (narrow, bound):
        if mend(pool, x, ends[0].copy(), ends[1].copy(), weights, FIRST * pool.move_rates.size, stop):
            return x if note(pool, x) else None
        weights[:] = 1
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
    weights = np.ones(r, np.int64)
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
            weights[:] = 1
            kept_low, kept_up = low[k], up[k]
            low[k], up[k] = goal, goal
            if k >= r:
                step = goal - x[k]
                x[k] = goal
                for s in range(pool.move_starts[k - r], pool.move_starts[k - r + 1]):
                    x[pool.move_columns[s]] += step * pool.move_rates[s]
            mended = mend(pool, x, low, up, weights, effort, stop) and note(pool, x)
            patience += 4 if mended else -1
            low[k], up[k] = kept_low, kept_up
