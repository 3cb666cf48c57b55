"""Compiled search for the inner figures to round up so that all margins stay close to the original.

Every candidate is published one step higher or lower; a margin is off by the sum of what its candidates moved. The sum
of squares of these deviations falls with every move that is made, until neither a single candidate, nor two that trade
places, lower it further. Nothing is random: the same table is always rounded alike.
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray

ROUNDS = 200
"""How often the search goes over all candidates at most; it ends as soon as nothing improves."""


@compiled
def pull(i: int, starts: IntArray, margins: IntArray, off: IntArray) -> int:
    """Return by how much the margins of a candidate are too high, all together."""
    total = 0
    for k in range(starts[i], starts[i + 1]):
        total += off[margins[k]]
    return total


@compiled
def shift(i: int, by: int, starts: IntArray, margins: IntArray, off: IntArray) -> None:
    """Move a candidate and its margins."""
    for k in range(starts[i], starts[i + 1]):
        off[margins[k]] += by


@compiled
def shared(i: int, j: int, starts: IntArray, margins: IntArray) -> int:
    """Return in how many margins two candidates stand together; the margins of each are sorted."""
    a, b, count = starts[i], starts[j], 0
    while a < starts[i + 1] and b < starts[j + 1]:
        if margins[a] == margins[b]:
            count += 1
            a += 1
            b += 1
        elif margins[a] < margins[b]:
            a += 1
        else:
            b += 1
    return count


@compiled
def flips(up: IntArray, base: int, starts: IntArray, margins: IntArray, off: IntArray) -> int:
    """Turn every candidate whose turn lowers the sum of squares; return how many were turned."""
    turned = 0
    for i in range(up.size):
        by = -base if up[i] else base
        if 2 * by * pull(i, starts, margins, off) + base * base * (starts[i + 1] - starts[i]) < 0:
            shift(i, by, starts, margins, off)
            up[i] = 1 - up[i]
            turned += 1
    return turned


@compiled
def trade(i: int, j: int, up: IntArray, base: int, starts: IntArray, margins: IntArray, off: IntArray) -> bool:
    """Turn i down and j up if that lowers the sum of squares."""
    away = pull(j, starts, margins, off) - pull(i, starts, margins, off)
    touched = starts[i + 1] - starts[i] + starts[j + 1] - starts[j] - 2 * shared(i, j, starts, margins)
    if 2 * away + base * touched >= 0:
        return False
    shift(i, -base, starts, margins, off)
    shift(j, base, starts, margins, off)
    up[i], up[j] = 0, 1
    return True


@compiled
def trades(
    order: IntArray, ends: IntArray, up: IntArray, base: int, starts: IntArray, margins: IntArray, off: IntArray
) -> int:
    """Let candidates of the same line trade places: the highest that is up with the lowest that is down.

    Lines are runs of `order` that end at `ends`.
    """
    done, begin = 0, 0
    for line in range(ends.size):
        end = ends[line]
        size = end - begin
        pulls = np.empty(size, np.int64)
        for k in range(size):
            pulls[k] = pull(order[begin + k], starts, margins, off)
        for _ in range(size):
            high, low = -1, -1
            for k in range(size):
                if up[order[begin + k]]:
                    if high < 0 or pulls[k] > pulls[high]:
                        high = k
                elif low < 0 or pulls[k] < pulls[low]:
                    low = k
            if high < 0 or low < 0:
                break
            if not trade(order[begin + high], order[begin + low], up, base, starts, margins, off):
                break
            done += 1
            for k in range(size):
                pulls[k] = pull(order[begin + k], starts, margins, off)
        begin = end
    return done


@compiled
def exchanges(up: IntArray, base: int, starts: IntArray, margins: IntArray, off: IntArray, patience: int) -> int:
    """Let the highest candidates that are up trade places with the lowest that are down, wherever they stand."""
    pulls = np.empty(up.size, np.int64)
    for i in range(up.size):
        pulls[i] = pull(i, starts, margins, off)
    order = np.argsort(pulls)
    low, high, failed, done = 0, up.size - 1, 0, 0
    while failed < patience:
        while low < up.size and up[order[low]]:
            low += 1
        while high >= 0 and not up[order[high]]:
            high -= 1
        if low >= up.size or high < 0 or low >= high:
            break
        if trade(order[high], order[low], up, base, starts, margins, off):
            done += 1
            failed = 0
        else:
            failed += 1
        low += 1
        high -= 1
    return done


@compiled
def systematic(residual: IntArray, base: int, up: IntArray) -> None:
    """Begin with every base-th unit of the running sum, so that any run of candidates is off by less than the base."""
    running = base // 2
    for i in range(residual.size):
        after = running + residual[i]
        up[i] = after // base - running // base
        running = after
