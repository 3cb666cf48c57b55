"""Compiled random rounding of flows: pushes a flow round cycles, either way, until nothing is fractional."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray


class CycleFlow(NamedTuple):
    """The flow residual/base of the edges of a graph, and the edges at every node in compressed rows.

    Whole edges are never looked at again: the cursor of a node passes them for good.
    """

    tail: IntArray
    head: IntArray
    residual: IntArray
    base: int
    first: IntArray
    edges: IntArray
    cursor: IntArray


class Path(NamedTuple):
    """The nodes and edges of a walk, and the place on it of every node, -1 where it is not."""

    node: IntArray
    edge: IntArray
    place: IntArray


@compiled
def flow_of(tail: IntArray, head: IntArray, residual: IntArray, base: int, nodes: int) -> CycleFlow:
    """List the edges at every node."""
    degree = np.zeros(nodes + 1, np.int64)
    for e in range(tail.size):
        degree[tail[e] + 1] += 1
        degree[head[e] + 1] += 1
    first = np.cumsum(degree)
    cursor = first[:-1].copy()
    edges = np.empty(2 * tail.size, np.int64)
    for e in range(tail.size):
        for node in (tail[e], head[e]):
            edges[cursor[node]] = e
            cursor[node] += 1
    return CycleFlow(tail, head, residual, base, first, edges, first[:-1].copy())


@compiled
def fractional(e: int, flow: CycleFlow) -> bool:
    """Say whether an edge has a fraction left."""
    return bool(0 != flow.residual[e] != flow.base)


@compiled
def next_edge(node: int, came: int, flow: CycleFlow) -> int:
    """Return an edge at a node with a fraction left, other than the one it was reached by; -1 where there is none."""
    end, cursor = flow.first[node + 1], flow.cursor
    while cursor[node] < end and not fractional(flow.edges[cursor[node]], flow):
        cursor[node] += 1
    for k in range(cursor[node], end):
        e = flow.edges[k]
        if e != came and fractional(e, flow):
            return int(e)
    return -1


@compiled
def round_cycle(path: Path, start: int, end: int, flow: CycleFlow, lot: np.uint64) -> None:
    """Push flow round the cycle of the path's edges from `start` to `end` until one of them is whole.

    It can rise by `more` or fall by `less`; it rises with probability less/(more + less), which leaves every
    expectation as it is.
    """
    tail, residual, base = flow.tail, flow.residual, flow.base
    more, less = base, base
    for k in range(start, end + 1):
        e = path.edge[k]
        if tail[e] == path.node[k]:
            more, less = min(more, base - residual[e]), min(less, residual[e])
        else:
            more, less = min(more, residual[e]), min(less, base - residual[e])
    by = more if lot % np.uint64(more + less) < np.uint64(less) else -less
    for k in range(start, end + 1):
        e = path.edge[k]
        residual[e] += by if tail[e] == path.node[k] else -by


@compiled
def round_flow(
    tail: IntArray, head: IntArray, residual: IntArray, base: int, nodes: int, random: npt.NDArray[np.uint64]
) -> None:
    """Round the flow residual/base of every edge to 0 or 1, without bias and with whole balances; Cox (1987).

    Edges with a fraction left meet at least two by two at every node, and so a walk along them closes a cycle, round
    which flow is pushed. `residual` becomes 0 or the base; `random` holds a number per edge.
    """
    flow = flow_of(tail, head, residual, base, nodes)
    path = Path(np.empty(nodes + 1, np.int64), np.empty(nodes + 1, np.int64), np.full(nodes, -1))
    used = 0
    for root in range(nodes):
        length = 0
        path.node[0] = root
        path.place[root] = 0
        while length >= 0:
            node = path.node[length]
            chosen = next_edge(node, path.edge[length - 1] if length else -1, flow)
            if chosen < 0:
                # Balances are whole: a walk never ends here, it only begins anew at its root.
                path.place[node] = -1
                length -= 1
                continue
            path.edge[length] = chosen
            other = head[chosen] if tail[chosen] == node else tail[chosen]
            start = path.place[other]
            if start < 0:
                length += 1
                path.node[length] = other
                path.place[other] = length
                continue
            round_cycle(path, start, length, flow, random[used])
            used += 1
            for k in range(start + 1, length + 1):
                path.place[path.node[k]] = -1
            length = start
