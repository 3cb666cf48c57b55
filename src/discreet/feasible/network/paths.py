"""Paths along which flow can still be sent in a network."""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray


@compiled
def path(
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
def push(
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
def complete(
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
    stop: IntArray,
) -> int:
    """Send what nodes have too much to where it is missing: to neighbours first, then along paths.

    Return the last stamp, -1 where that cannot be done, -2 when it is told to stop.
    """
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
            if stop[0] != 0:
                return -2
            stamp += 1
            end = path(n, -1, excess, -1, t, h, x, low, up, begin, around, seen, stamp, via, queue)
            if end < 0:
                return -1
            limit = min(excess[n], -excess[end])
            sent = push(n, end, limit, t, h, x, low, up, via, least_seen, most_seen)
            excess[n] -= sent
            excess[end] += sent
    return stamp


@compiled
def surplus(balance: IntArray, t: IntArray, h: IntArray, x: IntArray, excess: IntArray) -> None:
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
