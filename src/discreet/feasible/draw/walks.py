"""Steps of Markov chains over the tables that fit: around circles of a network, and along moves of integers.

A step picks a direction at random, without regard to the table, and shifts the table along it by an amount drawn evenly
from all that fit (hit and run). No direction is preferred, so a chain that can reach every table settles on the uniform
law. In a network the direction is a circle of unknowns; circles connect all its tables. In any other group it is a sum
of a few moves: one unit of an unknown that the equations leave open, and what the others change with it. Every
difference between two tables is such a sum, and any sum can be drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.core.sparse import Rows

MORE = 0.4
"""The chance that one more move is added to a step: a round choice, between short steps that are taken often and long
ones that rarely fit."""


class Circles(NamedTuple):
    """A network: the ends of its edges, and the edges of node n in ``around`` from ``begin[n]`` to ``begin[n + 1]``."""

    tail: IntArray
    head: IntArray
    begin: IntArray
    around: IntArray


class Chain(NamedTuple):
    """A table, which is left at the last one, the ranges of its values, and how often each value occurred.

    Value v of unknown j is counted at ``offset[j] + v``. Work ends when ``stop[0]`` is set.
    """

    x: IntArray
    lower: IntArray
    upper: IntArray
    offset: IntArray
    counts: IntArray
    stop: IntArray


class Pace(NamedTuple):
    """Steps before counting begins, tables to count, and steps from one to the next."""

    burn: int
    draws: int
    thin: int


@compiled
def _count(chain: Chain, pace: Pace, step: int) -> None:
    """Count the values of every unknown, if it is time."""
    if step >= pace.burn and (step - pace.burn) % pace.thin == 0:
        for j in range(chain.x.size):
            chain.counts[chain.offset[j] + chain.x[j]] += 1


@compiled
def walk_circles(net: Circles, chain: Chain, pace: Pace, rng: np.random.Generator) -> None:
    """Run a chain over the tables of a network."""
    tail, head, begin, x, lower, upper = net.tail, net.head, net.begin, chain.x, chain.lower, chain.upper
    nodes, n = begin.size - 1, x.size
    at = np.full(nodes, -1)
    path_node, path_edge, path_way = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1)
    for step in range(pace.burn + pace.draws * pace.thin):
        if chain.stop[0] != 0:
            return
        first = rng.integers(0, n)
        node = tail[first] if rng.random() < 0.5 else head[first]
        length, last = 0, -1
        path_node[0] = node
        at[node] = 0
        found = -1
        while True:
            degree = begin[node + 1] - begin[node]
            if degree < 2 and last >= 0:
                break
            edge = net.around[begin[node] + rng.integers(0, degree)]
            if edge == last:
                if degree == 1:
                    break
                continue
            path_edge[length] = edge
            path_way[length] = 1.0 if tail[edge] == node else -1.0
            node = head[edge] if tail[edge] == node else tail[edge]
            last = edge
            length += 1
            path_node[length] = node
            if at[node] >= 0:
                found = at[node]
                break
            at[node] = length
        for k in range(length + 1):
            at[path_node[k]] = -1
        if found >= 0:
            up, down = np.int64(2**60), np.int64(2**60)
            for k in range(found, length):
                e = path_edge[k]
                if path_way[k] > 0:
                    up, down = min(up, upper[e] - x[e]), min(down, x[e] - lower[e])
                else:
                    up, down = min(up, x[e] - lower[e]), min(down, upper[e] - x[e])
            shift = rng.integers(-down, up + 1)
            for k in range(found, length):
                x[path_edge[k]] += shift if path_way[k] > 0 else -shift
        _count(chain, pace, step)


@compiled
def walk_moves(moves: Rows, chain: Chain, pace: Pace, rng: np.random.Generator) -> None:
    """Run a chain over the tables of any group; move c leads with the unknown c of those left open, the last ones."""
    x, lower, upper = chain.x, chain.lower, chain.upper
    n, d = x.size, moves.starts.size - 1
    along, touched = np.zeros(n, np.int64), np.zeros(n, np.int64)
    inside = np.zeros(n, np.bool_)
    for step in range(pace.burn + pace.draws * pace.thin):
        if chain.stop[0] != 0:
            return
        count = 0
        while True:
            c = rng.integers(0, d)
            sign = 1 if rng.random() < 0.5 else -1
            for k in range(moves.starts[c] - 1, moves.starts[c + 1]):
                leads = k < moves.starts[c]
                j = n - d + c if leads else moves.columns[k]
                if not inside[j]:
                    inside[j] = True
                    touched[count] = j
                    count += 1
                along[j] += sign if leads else sign * moves.values[k]
            if rng.random() >= MORE:
                break
        up, down = np.int64(2**60), np.int64(2**60)
        moved = False
        for k in range(count):
            j = touched[k]
            if along[j] > 0:
                up, down = min(up, (upper[j] - x[j]) // along[j]), min(down, (x[j] - lower[j]) // along[j])
                moved = True
            elif along[j] < 0:
                up, down = min(up, (x[j] - lower[j]) // -along[j]), min(down, (upper[j] - x[j]) // -along[j])
                moved = True
        shift = rng.integers(-down, up + 1) if moved else 0
        for k in range(count):
            j = touched[k]
            x[j] += shift * along[j]
            along[j] = 0
            inside[j] = False
        _count(chain, pace, step)
