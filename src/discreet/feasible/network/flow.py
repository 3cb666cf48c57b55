"""Bounds of unknown values whose equations form a network: two-way tables, and whatever else reduces to one.

Every unknown is an edge between the two equations that it stands in, or between one and the ground; an equation says
what leaves its node. A value grows by sending flow around a circle through its edge, as long as a path is left
(residual maximum flow), so bounds are whole numbers without any branching.
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.feasible.network.paths import complete, path, push, surplus
from discreet.feasible.network.rounds import rounds

INFEASIBLE, DONE = 1, 0
MANY = 400
"""Unknowns above which many outer bounds are tried at once."""


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
    settled: IntArray,
    status: IntArray,
    stop: IntArray,
) -> None:
    """Bound every wanted edge of a batch of networks; edges and nodes say where each network begins.

    `least` and `most` are bounds that are known to hold: once a value reaches one, nothing more can be gained. The
    last node of each network is the ground, whose balance is free. `settled` says which edges were bounded before it
    was told to stop.
    """
    for g in range(edges.size - 1):
        e0, e1, n0, n1 = edges[g], edges[g + 1], nodes[g], nodes[g + 1]
        count, size = e1 - e0, n1 - n0
        t, h = tail[e0:e1], head[e0:e1]
        low, up = lower[e0:e1], upper[e0:e1]
        x = low.copy()
        excess = np.zeros(size, np.int64)
        surplus(balance[n0:n1], t, h, x, excess)
        base = excess.copy()
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
        stamp = complete(excess, t, h, x, low, up, begin, around, seen, 0, via, queue, least_seen, most_seen, stop)
        if stamp < 0:
            status[g] = INFEASIBLE if stamp == -1 else DONE
            continue
        least_seen[:] = x
        most_seen[:] = x
        if count > MANY:
            asked, floor, roof = wanted[e0:e1], least[e0:e1], most[e0:e1]
            stamp = rounds(
                base,
                t,
                h,
                x,
                low,
                up,
                floor,
                roof,
                asked,
                begin,
                around,
                seen,
                stamp,
                via,
                queue,
                least_seen,
                most_seen,
                stop,
            )
        for e in range(count):
            if wanted[e0 + e] == 0:
                settled[e0 + e] = 1
                continue
            if stop[0] != 0:
                break
            while most_seen[e] < most[e0 + e]:
                if x[e] < most_seen[e]:
                    most_seen[e] = x[e]  # values only move along circles: climb again from here
                stamp += 1
                if path(h[e], t[e], excess, e, t, h, x, low, up, begin, around, seen, stamp, via, queue) < 0:
                    break
                gain = up[e] - x[e]
                x[e] += push(h[e], t[e], gain, t, h, x, low, up, via, least_seen, most_seen)
                most_seen[e] = x[e]
            out_upper[e0 + e] = most_seen[e]
            while least_seen[e] > least[e0 + e]:
                if x[e] > least_seen[e]:
                    least_seen[e] = x[e]
                stamp += 1
                if path(t[e], h[e], excess, e, t, h, x, low, up, begin, around, seen, stamp, via, queue) < 0:
                    break
                drop = x[e] - low[e]
                x[e] -= push(t[e], h[e], drop, t, h, x, low, up, via, least_seen, most_seen)
                least_seen[e] = x[e]
            out_lower[e0 + e] = least_seen[e]
            settled[e0 + e] = 1
