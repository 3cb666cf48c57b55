"""Bounds of unknown values whose equations form a network: two-way tables, and whatever else reduces to one.

Every unknown is an edge between the two equations that it stands in, or between one and the ground; an equation says
what leaves its node. A value grows by sending flow around a circle through its edge, as long as a path is left
(residual maximum flow), so bounds are whole numbers without any branching.
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray

INFEASIBLE, DONE = 1, 0
UNBOUNDED = 2**60
MANY = 400
"""Unknowns above which many outer bounds are tried at once."""


@compiled
def _path(
    source: int,
    target: int,
    deficit: IntArray,
    skip: int,
    tail: IntArray,
    head: IntArray,
    x: IntArray,
    lower: IntArray,
    upper: IntArray,
    begin: IntArray,
    around: IntArray,
    seen: IntArray,
    stamp: int,
    via: IntArray,
    queue: IntArray,
) -> int:
    """Search breadth first for the target, or for any node in deficit when there is none; return it, or -1."""
    first, last = 0, 1
    queue[0] = source
    seen[source] = stamp
    while first < last:
        node = queue[first]
        first += 1
        for k in range(begin[node], begin[node + 1]):
            edge = around[k]
            if edge == skip:
                continue
            if tail[edge] == node:
                other = head[edge]
                if seen[other] == stamp or x[edge] >= upper[edge]:
                    continue
            else:
                other = tail[edge]
                if seen[other] == stamp or x[edge] <= lower[edge]:
                    continue
            seen[other] = stamp
            via[other] = edge
            if other == target or (target < 0 and deficit[other] < 0):
                return int(other)
            queue[last] = other
            last += 1
    return -1


@compiled
def _push(
    source: int,
    node: int,
    most: int,
    tail: IntArray,
    head: IntArray,
    x: IntArray,
    lower: IntArray,
    upper: IntArray,
    via: IntArray,
    least_seen: IntArray,
    most_seen: IntArray,
) -> int:
    """Send as much as fits along the path found, and remember the extremes that values took."""
    amount = most
    at = node
    while at != source:
        edge = via[at]
        if head[edge] == at:
            amount = min(amount, upper[edge] - x[edge])
            at = tail[edge]
        else:
            amount = min(amount, x[edge] - lower[edge])
            at = head[edge]
    at = node
    while at != source:
        edge = via[at]
        if head[edge] == at:
            x[edge] += amount
            most_seen[edge] = max(most_seen[edge], x[edge])
            at = tail[edge]
        else:
            x[edge] -= amount
            least_seen[edge] = min(least_seen[edge], x[edge])
            at = head[edge]
    return amount


@compiled
def _complete(
    excess: IntArray,
    t: IntArray,
    h: IntArray,
    x: IntArray,
    low: IntArray,
    up: IntArray,
    begin: IntArray,
    around: IntArray,
    seen: IntArray,
    stamp: int,
    via: IntArray,
    queue: IntArray,
    least_seen: IntArray,
    most_seen: IntArray,
) -> int:
    """Send what nodes have too much to where it is missing: to neighbours first, then along paths; -1 if it cannot."""
    size = begin.size - 1
    for n in range(size):
        k = begin[n]
        while excess[n] > 0 and k < begin[n + 1]:
            e = around[k]
            k += 1
            other = h[e] if t[e] == n else t[e]
            if excess[other] >= 0:
                continue
            room = up[e] - x[e] if t[e] == n else x[e] - low[e]
            sent = min(min(excess[n], -excess[other]), room)
            x[e] += sent if t[e] == n else -sent
            excess[n] -= sent
            excess[other] += sent
    for n in range(size):
        while excess[n] > 0:
            stamp += 1
            end = _path(n, -1, excess, -1, t, h, x, low, up, begin, around, seen, stamp, via, queue)
            if end < 0:
                return -1
            limit = min(excess[n], -excess[end])
            sent = _push(n, end, limit, t, h, x, low, up, via, least_seen, most_seen)
            excess[n] -= sent
            excess[end] += sent
    return stamp


@compiled
def _excess(balance: IntArray, t: IntArray, h: IntArray, x: IntArray, excess: IntArray) -> None:
    """Work out what every node has too much; the ground, the last one, takes up what the others leave over."""
    size = balance.size
    excess[:] = balance
    excess[size - 1] = 0
    for e in range(x.size):
        excess[t[e]] -= x[e]
        excess[h[e]] += x[e]
    excess[size - 1] = 0
    total = np.int64(0)
    for n in range(size - 1):
        total += excess[n]
    excess[size - 1] = -total


@compiled
def _rounds(
    balance: IntArray,
    t: IntArray,
    h: IntArray,
    x: IntArray,
    low: IntArray,
    up: IntArray,
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
    excess: IntArray,
) -> int:
    """Try the outer bounds of many edges at once, no two of them at one node, and complete the table around them.

    What a completed table attains needs no search of its own. In a large two-way table that is nearly everything, and
    a round settles as many unknowns as there are rows.
    """
    size, count = begin.size - 1, x.size
    next_one = begin[:-1].copy()
    used = np.zeros(size, np.int64)
    base = np.zeros(count, np.int64)
    scratch_low, scratch_up = np.zeros(count, np.int64), np.zeros(count, np.int64)
    wasted = 0
    for turn in range(1, 8 * size):
        base[:] = low
        chosen = 0
        for step in range(size - 1):
            n = (step + turn) % (size - 1)
            if used[n] == turn:
                continue
            k = next_one[n]
            while k < begin[n + 1] and (wanted[around[k]] == 0 or most_seen[around[k]] >= most[around[k]]):
                k += 1
            next_one[n] = k
            while k < begin[n + 1]:
                e = around[k]
                k += 1
                other = h[e] if t[e] == n else t[e]
                if wanted[e] == 0 or most_seen[e] >= most[e] or most[e] >= UNBOUNDED // 2:
                    continue
                if used[other] == turn and other != size - 1:
                    continue
                base[e] = most[e]
                used[n], used[other] = turn, turn
                chosen += 1
                break
        if chosen == 0:
            break
        before = x.copy()
        x[:] = base
        _excess(balance, t, h, x, excess)
        stamp = _complete(excess, t, h, x, low, up, begin, around, seen, stamp, via, queue, scratch_low, scratch_up)
        if stamp < 0:
            x[:] = before
            return -1
        gained = 0
        for e in range(count):
            if x[e] > most_seen[e]:
                most_seen[e] = x[e]
                if x[e] == most[e]:
                    gained += 1
            least_seen[e] = min(least_seen[e], x[e])
        wasted = 0 if 4 * gained > chosen else wasted + 1
        if wasted > 3:
            break
    excess[:] = 0
    return stamp


@compiled
def network_bounds(
    edges: IntArray,
    nodes: IntArray,
    tail: IntArray,
    head: IntArray,
    balance: IntArray,
    lower: IntArray,
    upper: IntArray,
    least: IntArray,
    most: IntArray,
    wanted: IntArray,
    out_lower: IntArray,
    out_upper: IntArray,
    status: IntArray,
) -> None:
    """Bound every wanted edge of a batch of networks; edges and nodes say where each network begins.

    `least` and `most` are bounds that are known to hold: once a value reaches one, nothing more can be gained. The
    last node of each network is the ground, whose balance is free.
    """
    for g in range(edges.size - 1):
        e0, e1, n0, n1 = edges[g], edges[g + 1], nodes[g], nodes[g + 1]
        count, size = e1 - e0, n1 - n0
        t, h = tail[e0:e1], head[e0:e1]
        low, up = lower[e0:e1], upper[e0:e1]
        x = low.copy()
        excess = np.zeros(size, np.int64)
        _excess(balance[n0:n1], t, h, x, excess)
        begin = np.zeros(size + 1, np.int64)
        for e in range(count):
            begin[t[e] + 1] += 1
            begin[h[e] + 1] += 1
        for n in range(size):
            begin[n + 1] += begin[n]
        fill = begin[:-1].copy()
        around = np.empty(2 * count, np.int64)
        for e in range(count):
            around[fill[t[e]]] = e
            fill[t[e]] += 1
            around[fill[h[e]]] = e
            fill[h[e]] += 1
        seen = np.zeros(size, np.int64)
        via = np.zeros(size, np.int64)
        queue = np.zeros(size, np.int64)
        least_seen, most_seen = x.copy(), x.copy()
        status[g] = DONE
        stamp = _complete(excess, t, h, x, low, up, begin, around, seen, 0, via, queue, least_seen, most_seen)
        if stamp < 0:
            status[g] = INFEASIBLE
            continue
        least_seen[:] = x
        most_seen[:] = x
        if count > MANY:
            balanced, bound, asked = balance[n0:n1], most[e0:e1], wanted[e0:e1]
            stamp = _rounds(
                balanced,
                t,
                h,
                x,
                low,
                up,
                bound,
                asked,
                begin,
                around,
                seen,
                stamp,
                via,
                queue,
                least_seen,
                most_seen,
                excess,
            )
        for e in range(count):
            if wanted[e0 + e] == 0:
                continue
            while most_seen[e] < most[e0 + e]:
                if x[e] < most_seen[e]:
                    most_seen[e] = x[e]  # values only move along circles: climb again from here
                stamp += 1
                if _path(h[e], t[e], excess, e, t, h, x, low, up, begin, around, seen, stamp, via, queue) < 0:
                    break
                gain = up[e] - x[e]
                x[e] += _push(h[e], t[e], gain, t, h, x, low, up, via, least_seen, most_seen)
                most_seen[e] = x[e]
            out_upper[e0 + e] = most_seen[e]
            while least_seen[e] > least[e0 + e]:
                if x[e] > least_seen[e]:
                    least_seen[e] = x[e]
                stamp += 1
                if _path(t[e], h[e], excess, e, t, h, x, low, up, begin, around, seen, stamp, via, queue) < 0:
                    break
                drop = x[e] - low[e]
                x[e] -= _push(t[e], h[e], drop, t, h, x, low, up, via, least_seen, most_seen)
                least_seen[e] = x[e]
            out_lower[e0 + e] = least_seen[e]
