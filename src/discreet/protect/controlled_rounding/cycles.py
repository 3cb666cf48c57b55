"""Compiled random rounding of flows: pushes a flow round cycles, either way, until nothing is fractional."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray


@compiled
def round_flow(
    tail: IntArray, head: IntArray, residual: IntArray, base: int, nodes: int, random: npt.NDArray[np.uint64]
) -> None:
    """Round the flow residual/base of every edge to 0 or 1, without bias and with whole balances; Cox (1987).

    Edges with a fraction left meet at least two by two at every node, so that a walk along them closes a cycle. Round
    it the flow can rise by `more` or fall by `less` until some edge is whole; it rises with probability less/(more +
    less), which leaves every expectation as it is. `residual` becomes 0 or the base; `random` holds a number per
    edge.
    """
    degree = np.zeros(nodes + 1, np.int64)
    for e in range(tail.size):
        degree[tail[e] + 1] += 1
        degree[head[e] + 1] += 1
    first = np.cumsum(degree)
    cursor = first[:-1].copy()
    edges = np.empty(2 * tail.size, np.int64)
    for e in range(tail.size):
        edges[cursor[tail[e]]] = e
        cursor[tail[e]] += 1
        edges[cursor[head[e]]] = e
        cursor[head[e]] += 1
    cursor[:] = first[:-1]
    on_path = np.full(nodes, -1)
    path_node, path_edge = np.empty(nodes + 1, np.int64), np.empty(nodes + 1, np.int64)
    used = 0
    for root in range(nodes):
        length = 0
        path_node[0] = root
        on_path[root] = 0
        while True:
            node = path_node[length]
            came = path_edge[length - 1] if length else -1
            chosen = -1
            # Whole edges are never looked at again: the cursor passes them for good.
            while cursor[node] < first[node + 1]:
                e = edges[cursor[node]]
                if residual[e] == 0 or residual[e] == base:
                    cursor[node] += 1
                else:
                    break
            for k in range(cursor[node], first[node + 1]):
                e = edges[k]
                if e != came and residual[e] != 0 and residual[e] != base:
                    chosen = e
                    break
            if chosen < 0:
                on_path[node] = -1
                if length == 0:
                    break
                # Balances are whole, so that a walk never ends here; it only begins anew at its root.
                length -= 1
                continue
            other = head[chosen] if tail[chosen] == node else tail[chosen]
            if on_path[other] < 0:
                path_edge[length] = chosen
                length += 1
                path_node[length] = other
                on_path[other] = length
                continue
            start = on_path[other]
            path_edge[length] = chosen
            more, less = base, base
            for k in range(start, length + 1):
                e = path_edge[k]
                if tail[e] == path_node[k]:
                    more, less = min(more, base - residual[e]), min(less, residual[e])
                else:
                    more, less = min(more, residual[e]), min(less, base - residual[e])
            rises = random[used] % np.uint64(more + less) < np.uint64(less)
            used += 1
            by = more if rises else -less
            for k in range(start, length + 1):
                e = path_edge[k]
                residual[e] += by if tail[e] == path_node[k] else -by
            for k in range(start + 1, length + 1):
                on_path[path_node[k]] = -1
            length = start
