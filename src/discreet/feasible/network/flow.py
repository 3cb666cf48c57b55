"""Bounds of unknown values whose equations form a network: two-way tables, and whatever else reduces to one.

Every unknown is an edge between the two equations that it stands in, or between one and the ground; an equation says
what leaves its node. A value grows by sending flow around a circle through its edge, as long as a path is left
(residual maximum flow), so bounds are whole numbers without any branching.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.feasible.network.paths import Flow, Network, complete, path, push, surplus
from discreet.feasible.network.rounds import Goal, rounds

INFEASIBLE, DONE = 1, 0
MANY = 400
"""Unknowns above which many outer bounds are tried at once: below, paths for one at a time take no longer."""


class Batch(NamedTuple):
    """Networks side by side: network g has the edges from ``edges[g]`` and the nodes from ``nodes[g]`` on.

    ``least`` and ``most`` are bounds that are known to hold: once a value reaches one, nothing more can be gained. The
    last node of each network is the ground, whose balance is free.
    """

    edges: IntArray
    nodes: IntArray
    tail: IntArray
    head: IntArray
    balance: IntArray
    lower: IntArray
    upper: IntArray
    least: IntArray
    most: IntArray
    wanted: IntArray


class Found(NamedTuple):
    """The bounds of every edge, whether it was bounded before time ran out, and the outcome of every network."""

    lower: IntArray
    upper: IntArray
    settled: IntArray
    status: IntArray


@compiled
def _laid_out(batch: Batch, g: int) -> Network:
    """Return one network with the edges around each of its nodes."""
    span = slice(batch.edges[g], batch.edges[g + 1])
    t, h = batch.tail[span], batch.head[span]
    count, size = t.size, batch.nodes[g + 1] - batch.nodes[g]
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
    return Network(t, h, batch.lower[span], batch.upper[span], begin, around)


@compiled
def _highest(net: Network, flow: Flow, e: int, most: int) -> int:
    """Raise an edge as far as it goes, or to a bound; return the value."""
    x, most_seen = flow.x, flow.most_seen
    while most_seen[e] < most:
        if x[e] < most_seen[e]:
            most_seen[e] = x[e]  # values only move along circles: climb again from here
        if path(net, flow, net.head[e], net.tail[e], e) < 0:
            break
        x[e] += push(net, flow, net.head[e], net.tail[e], net.upper[e] - x[e], True)
        most_seen[e] = x[e]
    return int(most_seen[e])


@compiled
def _lowest(net: Network, flow: Flow, e: int, least: int) -> int:
    """Lower an edge as far as it goes, or to a bound; return the value."""
    x, least_seen = flow.x, flow.least_seen
    while least_seen[e] > least:
        if x[e] > least_seen[e]:
            least_seen[e] = x[e]
        if path(net, flow, net.tail[e], net.head[e], e) < 0:
            break
        x[e] -= push(net, flow, net.tail[e], net.head[e], x[e] - net.lower[e], True)
        least_seen[e] = x[e]
    return int(least_seen[e])


@compiled
def network_bounds(batch: Batch, found: Found, stop: IntArray) -> None:
    """Bound every wanted edge of a batch of networks, until told to stop."""
    for g in range(batch.edges.size - 1):
        net, first = _laid_out(batch, g), batch.edges[g]
        count, size = net.tail.size, net.begin.size - 1
        x, excess = net.lower.copy(), np.zeros(size, np.int64)
        surplus(batch.balance[batch.nodes[g] : batch.nodes[g + 1]], net.tail, net.head, x, excess)
        base, zero = excess.copy(), np.zeros(size, np.int64)
        flow = Flow(
            x, excess, x.copy(), x.copy(), zero, np.zeros(1, np.int64), zero.copy(), zero.copy(), stop
        )  # fmt: skip
        outcome = complete(net, flow)
        found.status[g] = INFEASIBLE if outcome == -1 else DONE
        if outcome < 0:
            continue
        flow.least_seen[:] = x
        flow.most_seen[:] = x
        span = slice(first, first + count)
        if count > MANY:
            rounds(base, net, flow, Goal(batch.least[span], batch.most[span], batch.wanted[span]))
        wanted, settled, least, most = batch.wanted[span], found.settled[span], batch.least[span], batch.most[span]
        lower, upper, least_seen, most_seen = found.lower[span], found.upper[span], flow.least_seen, flow.most_seen
        for e in range(count):
            if wanted[e] != 0:
                if stop[0] != 0:
                    break
                upper[e] = _highest(net, flow, e, most[e]) if most_seen[e] < most[e] else most_seen[e]
                lower[e] = _lowest(net, flow, e, least[e]) if least_seen[e] > least[e] else least_seen[e]
            settled[e] = 1
