"""Many outer bounds of a large network attained at once.

In a large two-way table a value reaches its outer bound where a whole row or column gathers in it. As many of them as
there are rows can do so in the same table, and such a table is nearly empty: only its few values that are off their
lower ends are looked at, so that all rounds together take little more time than there are unknowns.
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.feasible.network.paths import path, push

UNBOUNDED = 2**60
TRIES = 40
"""How many unknowns of an equation are looked at for one whose bound is not attained yet."""


@compiled
def _choose(
    turn: int,
    tries: int,
    t: IntArray,
    h: IntArray,
    x: IntArray,
    most: IntArray,
    wanted: IntArray,
    begin: IntArray,
    around: IntArray,
    most_seen: IntArray,
    next_one: IntArray,
    used: IntArray,
    excess: IntArray,
    touched: IntArray,
) -> int:
    """Put unknowns on their outer bounds, no two of them at one node; return how many."""
    size = begin.size - 1
    chosen = 0
    for step in range(size - 1):
        n = (step + turn) % (size - 1)
        if used[n] == turn:
            continue
        k = next_one[n]
        while k < begin[n + 1] and (wanted[around[k]] == 0 or most_seen[around[k]] >= most[around[k]]):
            k += 1
        next_one[n] = k
        last = min(begin[n + 1], k + tries)
        while k < last:
            e = around[k]
            k += 1
            other = h[e] if t[e] == n else t[e]
            if wanted[e] == 0 or most_seen[e] >= most[e] or most[e] >= UNBOUNDED // 2:
                continue
            if used[other] == turn and other != size - 1:
                continue
            excess[t[e]] -= most[e] - x[e]
            excess[h[e]] += most[e] - x[e]
            x[e] = most[e]
            used[n], used[other] = turn, turn
            touched[chosen] = e
            chosen += 1
            break
    return chosen


@compiled
def _fill(
    turn: int,
    t: IntArray,
    h: IntArray,
    x: IntArray,
    low: IntArray,
    up: IntArray,
    begin: IntArray,
    around: IntArray,
    excess: IntArray,
    touched: IntArray,
    count: int,
) -> int:
    """Send what nodes have too much to neighbours that lack it; return the number of unknowns touched, -1 if many."""
    size = begin.size - 1
    for n in range(size):
        if excess[n] <= 0:
            continue
        degree = begin[n + 1] - begin[n]
        first = (turn * 7919) % max(degree, 1)
        for step in range(degree):
            e = around[begin[n] + (first + step) % degree]
            other = h[e] if t[e] == n else t[e]
            if excess[other] >= 0:
                continue
            room = up[e] - x[e] if t[e] == n else x[e] - low[e]
            sent = min(min(excess[n], -excess[other]), room)
            if sent <= 0:
                continue
            if count == touched.size:
                return -1
            touched[count] = e
            count += 1
            x[e] += sent if t[e] == n else -sent
            excess[n] -= sent
            excess[other] += sent
            if excess[n] == 0:
                break
    return count


@compiled
def _detour(
    n: int,
    t: IntArray,
    h: IntArray,
    x: IntArray,
    low: IntArray,
    up: IntArray,
    begin: IntArray,
    around: IntArray,
    excess: IntArray,
    touched: IntArray,
    count: int,
    lacking: IntArray,
    lacks: int,
    link: IntArray,
    filled: IntArray,
) -> int:
    """Send from a node over one value off its lower end: node - a - b - lacking node; return the unknowns touched.

    `link` holds the edge from the node to each neighbour, -1 for others; `filled` the last touched edge of each node.
    """
    size = begin.size - 1
    for k in range(begin[n], begin[n + 1]):
        e = around[k]
        room = up[e] - x[e] if t[e] == n else x[e] - low[e]
        if room > 0:
            link[h[e] if t[e] == n else t[e]] = e
    for s in range(lacks):
        goal = lacking[s]
        for k in range(begin[goal], begin[goal + 1]):
            if excess[goal] >= 0 or excess[n] <= 0 or count + 2 > touched.size:
                break
            last = around[k]
            b = h[last] if t[last] == goal else t[last]
            middle = filled[b]
            if b == n or middle < 0:
                continue
            a = h[middle] if t[middle] == b else t[middle]
            if a == goal or link[a] < 0:
                continue
            first = link[a]
            room = min(excess[n], -excess[goal])
            room = min(room, up[first] - x[first] if t[first] == n else x[first] - low[first])
            room = min(room, up[middle] - x[middle] if t[middle] == a else x[middle] - low[middle])
            room = min(room, up[last] - x[last] if t[last] == b else x[last] - low[last])
            if room <= 0:
                continue
            x[first] += room if t[first] == n else -room
            x[middle] += room if t[middle] == a else -room
            x[last] += room if t[last] == b else -room
            excess[n] -= room
            excess[goal] += room
            touched[count], touched[count + 1] = first, last
            count += 2
    for k in range(begin[n], begin[n + 1]):
        e = around[k]
        link[h[e] if t[e] == n else t[e]] = -1
    link[size - 1] = -1
    return count


@compiled
def rounds(
    base: IntArray,
    t: IntArray,
    h: IntArray,
    x: IntArray,
    low: IntArray,
    up: IntArray,
    least: IntArray,
    most: IntArray,
    wanted: IntArray,
    begin: IntArray,
    around: IntArray,
    seen: IntArray,
    stamp: int,
    via: IntArray,
    queue: IntArray,
    least_seen: IntArray,
    most_seen: IntArray,
    stop: IntArray,
) -> int:
    """Complete tables around many outer bounds, and note which values they attain; x stays as it is.

    `base` is what every node has too much where all values are at their lower ends.
    """
    size, count = begin.size - 1, x.size
    before = x.copy()
    x[:] = low
    excess = base.copy()
    next_one, used = begin[:-1].copy(), np.zeros(size, np.int64)
    touched = np.zeros(16 * size + 64, np.int64)
    lacking, link, filled = np.zeros(size, np.int64), np.full(size, -1), np.full(size, -1)
    open_low, waiting = np.arange(count), count
    scratch_low, scratch_up = low.copy(), low.copy()
    wasted, tries = 0, TRIES
    for turn in range(1, 8 * size):
        if stop[0] != 0:
            break
        chosen = _choose(turn, tries, t, h, x, most, wanted, begin, around, most_seen, next_one, used, excess, touched)
        if chosen == 0 and tries == TRIES:
            tries = count
            continue
        if chosen == 0:
            break
        marks = _fill(turn, t, h, x, low, up, begin, around, excess, touched, chosen)
        complete = marks >= 0
        dense = not complete
        if complete:
            for s in range(marks):
                filled[t[touched[s]]] = touched[s]
                filled[h[touched[s]]] = touched[s]
            lacks = 0
            for n in range(size):
                if excess[n] < 0:
                    lacking[lacks] = n
                    lacks += 1
            for n in range(size):
                if excess[n] > 0:
                    marks = _detour(
                        n, t, h, x, low, up, begin, around, excess, touched, marks, lacking, lacks, link, filled
                    )
                while excess[n] > 0:
                    if stop[0] != 0:
                        complete = False
                        break
                    stamp += 1
                    end = path(n, -1, excess, -1, t, h, x, low, up, begin, around, seen, stamp, via, queue)
                    if end < 0:
                        complete = False
                        break
                    limit = min(excess[n], -excess[end])
                    sent = push(n, end, limit, t, h, x, low, up, via, scratch_low, scratch_up)
                    excess[n] -= sent
                    excess[end] += sent
                    at = end
                    while at != n:
                        e = via[at]
                        if marks < touched.size:
                            touched[marks] = e
                            marks += 1
                        else:
                            dense = True
                        at = tail_of(e, at, t, h)
                if not complete:
                    break
            for s in range(marks):
                filled[t[touched[s]]] = -1
                filled[h[touched[s]]] = -1
        gained = 0
        if complete:
            if dense:
                for e in range(count):
                    most_seen[e] = max(most_seen[e], x[e])
            else:
                for s in range(marks):
                    e = touched[s]
                    if x[e] > most_seen[e]:
                        most_seen[e] = x[e]
                        gained += 1 if x[e] == most[e] else 0
            left = 0
            for s in range(waiting):
                e = open_low[s]
                least_seen[e] = min(least_seen[e], x[e])
                if least_seen[e] > least[e]:
                    open_low[left] = e
                    left += 1
            waiting = left
        if dense:
            x[:] = low
        else:
            for s in range(marks):
                x[touched[s]] = low[touched[s]]
        excess[:] = base
        wasted = 0 if 4 * gained > chosen else wasted + 1
        if wasted > 3:
            break
    x[:] = before
    return stamp


@compiled
def tail_of(e: int, at: int, t: IntArray, h: IntArray) -> int:
    """Return the other end of an edge."""
    return int(t[e] if h[e] == at else h[e])
