"""Bounds of unknown values whose equations form a network: two-way tables, and whatever else reduces to one.

Every unknown is an edge between the two equations that it is in, or between one and the ground; an equation says what
leaves its node. A value grows by sending flow around a cycle through its edge, as long as a path is left (residual
maximum flow), so bounds are integers without any branching.

Written by hand because every cycle found counts for all unknowns on it: 20,000 to 90,000 cells a second, about 30 times
as many as HiGHS with a warm basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from discreet.core.clock import Clock
from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.core.sparse import starts_of
from discreet.feasible.network.orientation import Edges
from discreet.feasible.network.paths import Flow, Network, complete, path, push, surplus
from discreet.feasible.network.rounds import Goal, rounds
from discreet.feasible.reduction import NOT_SEEN, SIGN, Found, Group, NothingFitsError

INFEASIBLE, DONE = 1, 0
MANY = 400
"""With more unknowns than this, many outer bounds are tried at once; with fewer, one path at a time is as fast."""
NARROW = 64
"""In ranges up to this width the first table starts in the middle, from where most values can go either way. A round
choice."""
CYCLES, IDLE = 16, 200
"""The most cycles tried for one bound, and how many failures may exceed the successes before no more are tried. Round
choices: if ranges are wide, a bound takes a whole row, and a few failures show it."""


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


class NetworkBounds(NamedTuple):
    """The bounds of every edge (lower and upper), whether it was settled in time, and the outcome of every network."""

    ends: IntArray
    settled: IntArray
    status: IntArray


def network_batch(
    batch: Sequence[tuple[Group, Edges]],
    wanted: list[IntArray],
    goals: list[IntArray] | None = None,
    clock: Clock | None = None,
) -> list[Found]:
    """Return what is found of each network; with goals, searches end there.

    Raises:
        NothingFitsError: no table fits one of them.
    """
    groups = [group for group, _ in batch]
    edges, nodes = starts_of([g.variables.size for g in groups]), starts_of([g.rhs.size + 1 for g in groups])
    lower, upper, least, most = (
        np.concatenate([getattr(g, name) for g in groups]) for name in ("lower", "upper", "least", "most")
    )
    balance = np.concatenate([part for g, (_, _, flip) in batch for part in (g.rhs * flip, np.zeros(1, np.int64))])
    outer = np.stack([least, most])
    if goals is not None:
        aims = np.concatenate(goals, axis=1)
        least, most = np.maximum(least, aims[0]), np.minimum(most, aims[1])
    tail, head = (np.concatenate([ends[side] for _, ends in batch]) for side in (0, 1))
    found = NetworkBounds(np.stack([least, most]), np.zeros_like(least), np.zeros(len(batch), np.int64))
    network_bounds(
        Batch(edges, nodes, tail, head, balance, lower, upper, least, most, np.concatenate(wanted)),
        found,
        (clock or Clock()).rung,
    )
    if (found.status != DONE).any():
        raise NothingFitsError
    bound = found.ends
    if goals is not None:
        # Where the goal was met, nothing is known of what lies beyond.
        bound = np.where((found.settled == 0) | (SIGN * bound >= SIGN * aims), outer, bound)
    seen = np.where(found.settled > 0, found.ends, -SIGN * NOT_SEEN)
    real, settled = bound.astype(np.float64), np.stack([found.settled, found.settled])
    spans = [slice(a, b) for a, b in pairwise(edges.tolist())]
    return [Found(bound[:, span], real[:, span], seen[:, span], settled[:, span]) for span in spans]


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
def _furthest(net: Network, flow: Flow, e: int, goal: int, sign: int) -> int:
    """Raise an edge (sign 1) or lower it (-1) as far as it goes, or to a goal; return the value."""
    seen = flow.most_seen if sign > 0 else flow.least_seen
    while sign * seen[e] < sign * goal:
        if not _further(net, flow, e, sign):
            break
    return int(seen[e])


@compiled
def _further(net: Network, flow: Flow, e: int, sign: int) -> bool:
    """Raise an edge (sign 1) or lower it (-1) along one cycle, if one is found."""
    x, seen = flow.x, flow.most_seen if sign > 0 else flow.least_seen
    first, last = (net.head[e], net.tail[e]) if sign > 0 else (net.tail[e], net.head[e])
    if sign * x[e] < sign * seen[e]:
        seen[e] = x[e]  # values only move along cycles: climb again from here
    if path(net, flow, first, last, e) < 0:
        return False
    x[e] += sign * push(net, flow, first, last, net.upper[e] - x[e] if sign > 0 else x[e] - net.lower[e], True)
    seen[e] = x[e]
    return True


@compiled
def _nearby(net: Network, flow: Flow, goal: Goal) -> int:
    """Bring edges to their outer bounds along few cycles each, as long as that works; return how many are left.

    If ranges are narrow, like those of rounded figures, this settles nearly all of a large table.
    """
    failed, done, left = 0, 0, 0
    for e in range(goal.wanted.size):
        if goal.wanted[e] == 0:
            continue
        # Every other value ends at its upper end: were all left low, those to come would have nothing to give.
        last = 1 if (e * 40503 >> 7) % 2 else -1
        for sign in (-last, last):
            seen, end = (flow.most_seen, goal.most[e]) if sign > 0 else (flow.least_seen, goal.least[e])
            best = seen[e]
            for _ in range(CYCLES if failed <= IDLE + done else 0):
                if sign * seen[e] >= sign * end or not _further(net, flow, e, sign):
                    break
            if sign * seen[e] < sign * best:
                seen[e] = best
            if sign * seen[e] >= sign * end:
                done += 1
            else:
                failed += 1
                left += 1
    return left


@compiled
def network_bounds(batch: Batch, found: NetworkBounds, stop: IntArray) -> None:
    """Bound every wanted edge of a batch of networks, until told to stop."""
    for g in range(batch.edges.size - 1):
        net, first = _laid_out(batch, g), batch.edges[g]
        count, size = net.tail.size, net.begin.size - 1
        x, excess, base, zero = (
            net.lower.copy(),
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
        )
        balance = batch.balance[batch.nodes[g] : batch.nodes[g + 1]]
        surplus(balance, net.tail, net.head, x, base)
        for e in range(count):
            if net.upper[e] - net.lower[e] <= NARROW:
                x[e] += (net.upper[e] - net.lower[e]) // 2
        surplus(balance, net.tail, net.head, x, excess)
        flow = Flow(
            x,
            excess,
            x.copy(),
            x.copy(),
            zero,
            np.zeros(1, np.int64),
            zero.copy(),
            zero.copy(),
            zero.copy(),
            zero.copy(),
            stop,
        )
        outcome = complete(net, flow)
        found.status[g] = INFEASIBLE if outcome == -1 else DONE
        if outcome < 0:
            continue
        flow.least_seen[:] = x
        flow.most_seen[:] = x
        span = slice(first, first + count)
        goal, ends = Goal(batch.least[span], batch.most[span], batch.wanted[span]), found.ends[:, span]
        # If most ranges are narrow, a few cycles for each settle most of a network, and cycles settle the rest. If they
        # are wide, each value takes a cycle around a whole row: 45 times as long for 200 × 200 counts.
        narrow = goal.wanted[net.upper - net.lower <= NARROW].sum()
        near = 2 * narrow > goal.wanted.sum()
        if count > MANY and not (near and _nearby(net, flow, goal) <= max(MANY, goal.wanted.sum() // 2)):
            rounds(base, net, flow, goal)
        for e in range(count):
            if goal.wanted[e] != 0:
                if stop[0] != 0:
                    break
                most = flow.most_seen[e]
                ends[1, e] = _furthest(net, flow, e, goal.most[e], 1) if most < goal.most[e] else most
                least = flow.least_seen[e]
                ends[0, e] = _furthest(net, flow, e, goal.least[e], -1) if least > goal.least[e] else least
            found.settled[first + e] = 1
