"""Compiled search for the inner figures to round up that keep all margins close to the original.

Every candidate is published one step higher or lower; a margin is off by the sum of what its candidates moved. The sum
of squares of these deviations falls with every move, until neither a single candidate nor a trade of two lowers it
further. Nothing is random: the same table is always rounded the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray

ROUNDS = 200
"""The most passes over all candidates: a round number that is never reached, since the search ends when nothing
improves."""


class Fit(NamedTuple):
    """Which candidates are up, the margins of each in compressed and sorted rows, and how far every margin is off."""

    up: IntArray
    base: int
    starts: IntArray
    margins: IntArray
    off: IntArray


@compiled
def pull(i: int, fit: Fit) -> int:
    """Return the total by which the margins of a candidate are too high."""
    total = 0
    for k in range(fit.starts[i], fit.starts[i + 1]):
        total += fit.off[fit.margins[k]]
    return total


@compiled
def shift(i: int, by: int, fit: Fit) -> None:
    """Move the margins of a candidate."""
    for k in range(fit.starts[i], fit.starts[i + 1]):
        fit.off[fit.margins[k]] += by


@compiled
def shared(i: int, j: int, fit: Fit) -> int:
    """Return the number of margins that two candidates share."""
    margins = fit.margins
    a, b, count = fit.starts[i], fit.starts[j], 0
    while a < fit.starts[i + 1] and b < fit.starts[j + 1]:
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
def flips(fit: Fit) -> int:
    """Flip every candidate that lowers the sum of squares; return how many were flipped."""
    up, base, starts = fit.up, fit.base, fit.starts
    turned = 0
    for i in range(up.size):
        by = -base if up[i] else base
        if 2 * by * pull(i, fit) + base * base * (starts[i + 1] - starts[i]) < 0:
            shift(i, by, fit)
            up[i] = 1 - up[i]
            turned += 1
    return turned


@compiled
def trade(i: int, j: int, fit: Fit) -> bool:
    """Flip i down and j up if that lowers the sum of squares."""
    starts = fit.starts
    away = pull(j, fit) - pull(i, fit)
    touched = starts[i + 1] - starts[i] + starts[j + 1] - starts[j] - 2 * shared(i, j, fit)
    if 2 * away + fit.base * touched >= 0:
        return False
    shift(i, -fit.base, fit)
    shift(j, fit.base, fit)
    fit.up[i], fit.up[j] = 0, 1
    return True


@compiled
def trades(order: IntArray, ends: IntArray, fit: Fit) -> int:
    """Let candidates of the same line trade places: the highest that is up with the lowest that is down.

    Lines are runs of `order` that end at `ends`.
    """
    done, begin = 0, 0
    for end in ends:
        line = order[begin:end]
        begin = end
        pulls = np.empty(line.size, np.int64)
        for _ in range(line.size):
            for k in range(line.size):
                pulls[k] = pull(line[k], fit)
            high, low = -1, -1
            for k in range(line.size):
                if fit.up[line[k]]:
                    if high < 0 or pulls[k] > pulls[high]:
                        high = k
                elif low < 0 or pulls[k] < pulls[low]:
                    low = k
            if high < 0 or low < 0 or not trade(line[high], line[low], fit):
                break
            done += 1
    return done


@compiled
def exchanges(fit: Fit, patience: int) -> int:
    """Let the highest candidates that are up trade places with the lowest that are down, wherever they are."""
    up = fit.up
    pulls = np.empty(up.size, np.int64)
    for i in range(up.size):
        pulls[i] = pull(i, fit)
    order = np.argsort(pulls, kind="mergesort")
    low, high, failed, done = 0, up.size - 1, 0, 0
    while failed < patience:
        while low < up.size and up[order[low]]:
            low += 1
        while high >= 0 and not up[order[high]]:
            high -= 1
        if low >= up.size or high < 0 or low >= high:
            break
        if trade(order[high], order[low], fit):
            done += 1
            failed = 0
        else:
            failed += 1
        low += 1
        high -= 1
    return done
