"""Paths along which flow can still be sent in a network."""

from __future__ import annotations

from typing import NamedTuple

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray


class Network(NamedTuple):
    """Unknowns as edges between equations: their ends and ranges, and the edges around each node.

    The edges of node n are in ``around`` from ``begin[n]`` to ``begin[n + 1]``; the last node is the ground.
    """

    tail: IntArray
    head: IntArray
    lower: IntArray
    upper: IntArray
    begin: IntArray
    around: IntArray


class Flow(NamedTuple):
    """The values of all edges, what each node has too much, the extremes that values took, and room for a search.

    A node was seen in the present search if ``seen`` has its ``stamp[0]``; ``via`` is the edge that led there. Nodes
    that are ``marked`` with it lead to the target by the edge ``into``. Work ends when ``stop[0]`` is set.
    """

    x: IntArray
    excess: IntArray
    least_seen: IntArray
    most_seen: IntArray
    seen: IntArray
    stamp: IntArray
    via: IntArray
    queue: IntArray
    marked: IntArray
    into: IntArray
    stop: IntArray


@compiled
def path(net: Network, flow: Flow, source: int, target: int, skip: int) -> int:
    """Search breadth first for the target, or for any node in deficit when there is none; return it, or -1.

    Nodes that lead into the target are marked beforehand, and the search ends when it meets a mark: in a large table
    nearly every value can be offset by three others, and a search for the target itself would visit all rows first. It
    starts elsewhere each time, since the first paths are soon used up.
    """
    tail, head, x, lower, upper = net.tail, net.head, flow.x, net.lower, net.upper
    begin, around, seen, via, queue = net.begin, net.around, flow.seen, flow.via, flow.queue
    flow.stamp[0] += 1
    stamp = flow.stamp[0]
    if target >= 0:
        for k in range(begin[target], begin[target + 1]):
            edge = around[k]
            out = tail[edge] == target
            if edge != skip and (x[edge] > lower[edge] if out else x[edge] < upper[edge]):
                other = head[edge] if out else tail[edge]
                flow.marked[other], flow.into[other] = stamp, edge
        if flow.marked[source] == stamp:
            via[target] = flow.into[source]
            return target
    first, last = 0, 1
    queue[0] = source
    seen[source] = stamp
    while first < last:
        node = queue[first]
        first += 1
        degree = begin[node + 1] - begin[node]
        start = stamp % degree if target >= 0 and degree > 0 else 0
        for step in range(degree):
            k = start + step
            edge = around[begin[node] + (k if k < degree else k - degree)]
            if edge == skip:
                continue
            out = tail[edge] == node
            other = head[edge] if out else tail[edge]
            if seen[other] == stamp or (x[edge] >= upper[edge] if out else x[edge] <= lower[edge]):
                continue
            seen[other] = stamp
            via[other] = edge
            if target < 0 and flow.excess[other] < 0:
                return int(other)
            if target >= 0 and flow.marked[other] == stamp:
                via[target] = flow.into[other]
                return target
            queue[last] = other
            last += 1
    return -1


@compiled
def push(net: Network, flow: Flow, source: int, node: int, most: int, record: bool) -> int:
    """Send as much as fits along the path found, and remember the extremes that values took if asked to."""
    tail, head, x, via = net.tail, net.head, flow.x, flow.via
    lower, upper, least_seen, most_seen = net.lower, net.upper, flow.least_seen, flow.most_seen
    amount, at = most, node
    while at != source:
        edge = via[at]
        out = head[edge] == at
        amount = min(amount, upper[edge] - x[edge] if out else x[edge] - lower[edge])
        at = tail[edge] if out else head[edge]
    at = node
    while at != source:
        edge = via[at]
        out = head[edge] == at
        x[edge] += amount if out else -amount
        if record:
            most_seen[edge], least_seen[edge] = max(most_seen[edge], x[edge]), min(least_seen[edge], x[edge])
        at = tail[edge] if out else head[edge]
    return amount


@compiled
def complete(net: Network, flow: Flow) -> int:
    """Send what nodes have too much to where it is missing: to neighbours first, then along paths.

    Return 0 when that is done, -1 where it cannot be, -2 when it is told to stop.
    """
    x, excess, begin, around = flow.x, flow.excess, net.begin, net.around
    tail, head, lower, upper = net.tail, net.head, net.lower, net.upper
    size = begin.size - 1
    for n in range(size):
        k = begin[n]
        while excess[n] > 0 and k < begin[n + 1]:
            e = around[k]
            k += 1
            other = head[e] if tail[e] == n else tail[e]
            if excess[other] >= 0:
                continue
            sent = min(min(excess[n], -excess[other]), (upper[e] - x[e] if tail[e] == n else x[e] - lower[e]))
            x[e] += sent if tail[e] == n else -sent
            excess[n] -= sent
            excess[other] += sent
    for n in range(size):
        while excess[n] > 0:
            if flow.stop[0] != 0:
                return -2
            end = path(net, flow, n, -1, -1)
            if end < 0:
                return -1
            sent = push(net, flow, n, end, min(excess[n], -excess[end]), True)
            excess[n] -= sent
            excess[end] += sent
    return 0


@compiled
def surplus(balance: IntArray, t: IntArray, h: IntArray, x: IntArray, excess: IntArray) -> None:
    """Work out what every node has too much; the ground, the last one, takes up what the others leave over."""
    excess[:] = balance
    for e in range(x.size):
        excess[t[e]] -= x[e]
        excess[h[e]] += x[e]
    excess[-1] = 0
    excess[-1] = -excess.sum()
