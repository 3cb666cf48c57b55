"""Many outer bounds of a large network attained at once.

In a large two-way table a value reaches its outer bound where a whole row or column gathers in it. One in each row can
do so in the same table, and such a table is nearly empty: only its few values that are off their lower ends are looked
at, and the time of all rounds together grows little faster than the number of unknowns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.feasible.network.paths import Flow, Network, path, push

UNBOUNDED = 2**60
TRIES = 40
"""How many unknowns of an equation are examined for one whose bound is not attained yet. A round choice: more find more
per round, and take longer."""


class Goal(NamedTuple):
    """The outer bounds of all edges, and which edges are asked about."""

    least: IntArray
    most: IntArray
    wanted: IntArray


class _Round(NamedTuple):
    """One round: the edges touched, the next edge to try of every node, and the turn in which a node was last used.

    ``lacking`` lists nodes that lack something, ``link`` the edge from the present node to each neighbour (-1 for
    others), ``filled`` the last touched edge of each node. ``counts`` has how many edges are touched and nodes lack.
    """

    touched: IntArray
    next_one: IntArray
    used: IntArray
    lacking: IntArray
    link: IntArray
    filled: IntArray
    counts: IntArray


TOUCHED, LACKS = 0, 1


@compiled
def _choose(turn: int, tries: int, net: Network, flow: Flow, goal: Goal, r: _Round) -> int:
    """Put unknowns on their outer bounds, no two of them at one node; return how many."""
    tail, head, begin, around = net.tail, net.head, net.begin, net.around
    x, excess, most_seen, most, wanted = flow.x, flow.excess, flow.most_seen, goal.most, goal.wanted
    next_one, used = r.next_one, r.used
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
            other = head[e] if tail[e] == n else tail[e]
            if wanted[e] == 0 or most_seen[e] >= most[e] or most[e] >= UNBOUNDED // 2:
                continue
            if used[other] == turn and other != size - 1:
                continue
            excess[tail[e]] -= most[e] - x[e]
            excess[head[e]] += most[e] - x[e]
            x[e] = most[e]
            used[n], used[other] = turn, turn
            r.touched[chosen] = e
            chosen += 1
            break
    return chosen


@compiled
def _fill(turn: int, net: Network, flow: Flow, r: _Round) -> bool:
    """Send what nodes have too much to neighbours that lack it; false where too many edges are touched."""
    tail, head, lower, upper = net.tail, net.head, net.lower, net.upper
    begin, around, x, excess = net.begin, net.around, flow.x, flow.excess
    touched, count = r.touched, r.counts[TOUCHED]
    for n in range(begin.size - 1):
        if excess[n] <= 0:
            continue
        degree = begin[n + 1] - begin[n]
        first = (turn * 7919) % max(degree, 1)
        for step in range(degree):
            e = around[begin[n] + (first + step) % degree]
            other = head[e] if tail[e] == n else tail[e]
            if excess[other] >= 0:
                continue
            sent = min(min(excess[n], -excess[other]), (upper[e] - x[e] if tail[e] == n else x[e] - lower[e]))
            if sent <= 0:
                continue
            if count == touched.size:
                return False
            touched[count] = e
            count += 1
            x[e] += sent if tail[e] == n else -sent
            excess[n] -= sent
            excess[other] += sent
            if excess[n] == 0:
                break
    r.counts[TOUCHED] = count
    return True


@compiled
def _detour(n: int, net: Network, flow: Flow, r: _Round) -> None:
    """Send from a node over one value off its lower end: node - a - b - lacking node."""
    begin, around, x, excess = net.begin, net.around, flow.x, flow.excess
    tail, head, lower, upper = net.tail, net.head, net.lower, net.upper
    for k in range(begin[n], begin[n + 1]):
        e = around[k]
        if (upper[e] - x[e] if tail[e] == n else x[e] - lower[e]) > 0:
            r.link[(head[e] if tail[e] == n else tail[e])] = e
    touched, link, filled, lacking = r.touched, r.link, r.filled, r.lacking
    count = r.counts[TOUCHED]
    for s in range(r.counts[LACKS]):
        goal = lacking[s]
        for k in range(begin[goal], begin[goal + 1]):
            if excess[goal] >= 0 or excess[n] <= 0 or count + 2 > touched.size:
                break
            last = around[k]
            b = head[last] if tail[last] == goal else tail[last]
            middle = filled[b]
            if b == n or middle < 0:
                continue
            a = head[middle] if tail[middle] == b else tail[middle]
            if a == goal or link[a] < 0:
                continue
            first = link[a]
            sent = min(excess[n], -excess[goal])
            sent = min(sent, upper[first] - x[first] if tail[first] == n else x[first] - lower[first])
            sent = min(sent, upper[middle] - x[middle] if tail[middle] == a else x[middle] - lower[middle])
            sent = min(sent, upper[last] - x[last] if tail[last] == b else x[last] - lower[last])
            if sent <= 0:
                continue
            x[first] += sent if tail[first] == n else -sent
            x[middle] += sent if tail[middle] == a else -sent
            x[last] += sent if tail[last] == b else -sent
            excess[n] -= sent
            excess[goal] += sent
            touched[count], touched[count + 1] = first, last
            count += 2
    r.counts[TOUCHED] = count
    for k in range(begin[n], begin[n + 1]):
        r.link[(head[around[k]] if tail[around[k]] == n else tail[around[k]])] = -1
    r.link[begin.size - 2] = -1


@compiled
def _along_paths(n: int, net: Network, flow: Flow, r: _Round) -> tuple[bool, bool]:
    """Send what a node has too much along paths; say whether that was done, and whether too many edges are touched."""
    excess, dense = flow.excess, False
    while excess[n] > 0:
        if flow.stop[0] != 0:
            return False, dense
        end = path(net, flow, n, -1, -1)
        if end < 0:
            return False, dense
        sent = push(net, flow, n, end, min(excess[n], -excess[end]), False)
        excess[n] -= sent
        excess[end] += sent
        at = end
        while at != n:
            e = flow.via[at]
            if r.counts[TOUCHED] < r.touched.size:
                r.touched[r.counts[TOUCHED]] = e
                r.counts[TOUCHED] += 1
            else:
                dense = True
            at = net.tail[e] if net.head[e] == at else net.head[e]
    return True, dense


@compiled
def _complete(net: Network, flow: Flow, r: _Round) -> tuple[bool, bool]:
    """Balance every node; say whether that was done, and whether too many edges are touched."""
    tail, head, excess = net.tail, net.head, flow.excess
    touched, filled, lacking = r.touched, r.filled, r.lacking
    for s in range(r.counts[TOUCHED]):
        filled[tail[touched[s]]] = touched[s]
        filled[head[touched[s]]] = touched[s]
    size, lacks = net.begin.size - 1, 0
    for n in range(size):
        if excess[n] < 0:
            lacking[lacks] = n
            lacks += 1
    r.counts[LACKS] = lacks
    done, dense = True, False
    for n in range(size):
        if excess[n] > 0:
            _detour(n, net, flow, r)
            done, more = _along_paths(n, net, flow, r)
            dense = dense or more
        if not done:
            break
    for s in range(r.counts[TOUCHED]):
        filled[tail[touched[s]]] = -1
        filled[head[touched[s]]] = -1
    return done, dense


@compiled
def _note(flow: Flow, goal: Goal, r: _Round, dense: bool) -> int:
    """Note what a table attains; return how many outer bounds it attains that none did before."""
    x, most_seen, most, touched = flow.x, flow.most_seen, goal.most, r.touched
    gained = 0
    if dense:
        for e in range(x.size):
            most_seen[e] = max(most_seen[e], x[e])
    else:
        for s in range(r.counts[TOUCHED]):
            e = touched[s]
            if x[e] > most_seen[e]:
                most_seen[e] = x[e]
                gained += 1 if x[e] == most[e] else 0
    return gained


@compiled
def _note_least(flow: Flow, least: IntArray, waiting: IntArray, count: int) -> int:
    """Note the least values of edges that wait for their lower bound; return how many still do."""
    x, least_seen = flow.x, flow.least_seen
    left = 0
    for s in range(count):
        e = waiting[s]
        least_seen[e] = min(least_seen[e], x[e])
        if least_seen[e] > least[e]:
            waiting[left] = e
            left += 1
    return left


@compiled
def rounds(base: IntArray, net: Network, flow: Flow, goal: Goal) -> None:
    """Complete tables around many outer bounds, and note which values they attain; x stays as it is.

    `base` is what every node has too much of where all values are at their lower ends.
    """
    x, low = flow.x, net.lower
    size, count = net.begin.size - 1, x.size
    before, kept = x.copy(), flow.excess.copy()
    x[:] = low
    flow.excess[:] = base
    zero = np.zeros(size, np.int64)
    r = _Round(
        np.zeros(16 * size + 64, np.int64), net.begin[:-1].copy(), zero, zero.copy(), zero - 1, zero - 1,
        np.zeros(2, np.int64),
    )  # fmt: skip
    touched, excess, open_low, waiting = r.touched, flow.excess, np.arange(count), count
    wasted, tries = 0, TRIES
    for turn in range(1, 8 * size):
        if flow.stop[0] != 0:
            break
        chosen = _choose(turn, tries, net, flow, goal, r)
        if chosen == 0 and tries == TRIES:
            tries = count
            continue
        if chosen == 0:
            break
        r.counts[TOUCHED] = chosen
        dense = not _fill(turn, net, flow, r)
        done, gained = not dense, 0
        if done:
            done, dense = _complete(net, flow, r)
        if done:
            gained = _note(flow, goal, r, dense)
            waiting = _note_least(flow, goal.least, open_low, waiting)
        if dense:
            x[:] = low
        else:
            for s in range(r.counts[TOUCHED]):
                x[touched[s]] = low[touched[s]]
        excess[:] = base
        wasted = 0 if 4 * gained > chosen else wasted + 1
        if wasted > 3:
            break
    x[:] = before
    flow.excess[:] = kept
