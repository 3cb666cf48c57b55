"""Uniform draws of the tables that fit, by Markov chains, for groups too large to count.

A step picks a direction at random, independently of the table, and shifts the table along it by an amount drawn
uniformly from all that fit (hit and run). No direction is preferred, so a chain that can reach every table converges to
the uniform law. In a network the direction is a cycle of unknowns; cycles connect all its tables. In any other group it
is a sum of a few moves: one unit of an unknown that the equations leave open, and what the others change with it. Every
difference between two tables is such a sum, and any sum can be drawn.

How fast a chain converges is not known beforehand. Chains from different tables are compared, and the stated error is
the one between them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from discreet.core.clock import Clock
from discreet.core.compiled import compiled
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.random import Seed, spawn
from discreet.core.sparse import Rows, starts_of
from discreet.feasible.group_program import GroupProgram
from discreet.feasible.network.orientation import Edges, oriented
from discreet.feasible.reduction import Group, StuckError, UnfinishedError
from discreet.feasible.tableau.solver import Solver

CHAINS = 8
"""Independent chains: enough to estimate a standard error from, and a multiple of the usual numbers of cores."""
LARGEST = 20_000_000
"""The most values that are counted, of all unknowns of a chain together: 1.3 GB for all chains."""
EFFORT = 100
"""Branches to look for one starting table, as in a first search for bounds."""
MORE = 0.4
"""The probability of adding another move to a step: a round choice, between short steps that are often accepted and
long ones that rarely fit."""
LATE = "time ran out before tables were drawn; allow more time, or use law interval"


@dataclass(frozen=True, eq=False)
class Drawn:
    """Entropy in bits of each unknown, with its standard error over independent chains, and the draws behind it."""

    bits: FloatArray
    error: FloatArray
    draws: int


@dataclass(frozen=True, eq=False)
class _Walks:
    """Chains over some unknowns, of which ``of`` names one for each of the group's: their ranges, and where to start.

    ``lower`` and ``upper`` are their own ranges, ``least`` and ``most`` what is known of them beside.
    """

    of: IntArray
    lower: IntArray
    upper: IntArray
    least: IntArray
    most: IntArray
    tables: list[IntArray]
    walk: Callable[[CycleChain, Pace, np.random.Generator], None]


def draw_tables(
    group: Group,
    *,
    precision: float = 0.02,
    seed: Seed = None,
    workers: int | None = None,
    most_draws: int = 400_000,
    deadline: float | None = None,
) -> Drawn:
    """Estimate the entropy of every unknown of a group over all tables that fit, each equally likely.

    Networks are walked along their cycles, other groups along sums of moves.
    Chains are lengthened until twice the standard error of every entropy is below the precision, in bits, or until the
    deadline, a time by ``time.monotonic()``. A round cut short by the deadline does not count.

    Raises:
        LimitError: there are too many values to draw from, or no round was done in time.
    """
    with Clock(deadline) as clock:
        streams = spawn(seed, CHAINS + 1)
        edges = oriented(group)
        walks = _moves(group, streams[CHAINS], clock) if edges is None else _cycles(group, edges, clock)
        return _draw(walks, streams, precision, workers, most_draws, clock)


def _draw(
    walks: _Walks,
    streams: list[np.random.Generator],
    precision: float,
    workers: int | None,
    most_draws: int,
    clock: Clock,
) -> Drawn:
    spread = walks.most - walks.least + 1
    if float(spread.astype(np.float64).sum()) > LARGEST:
        raise LimitError(
            f"{walks.of.size} hidden values that depend on each other have too many values to draw from; use the law "
            "'interval'"
        )
    offset = np.cumsum(spread) - spread
    counts = np.zeros((CHAINS, int(spread.sum())), np.int64)
    chains = [
        CycleChain(x, walks.lower, walks.upper, offset - walks.least, mine, clock.rung)
        for x, mine in zip(walks.tables, counts, strict=True)
    ]
    pace = Pace(200 * spread.size, 500, max(spread.size, 20))

    def go(c: int) -> None:
        walks.walk(chains[c], pace, streams[c])

    began, total = time.monotonic(), 0
    while True:
        before = counts.copy()
        run(go, range(CHAINS), workers=workers)
        if clock.rung[0]:
            counts = before
            if not total:
                raise LimitError(LATE)
        total = int(counts[0, : spread[0]].sum())
        bits = np.stack([_entropies(mine, offset, spread, total) for mine in counts])
        error: FloatArray = bits.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        draws, left = total, clock.left
        if left is not None:
            # As many draws as the time left allows, at the pace so far.
            draws = min(total, int(total * left / max(time.monotonic() - began, 1e-9)))
        if 2 * error.max() <= precision or total >= most_draws or draws <= 0 or clock.rung[0]:
            joint = _entropies(counts.sum(axis=0), offset, spread, CHAINS * total)
            return Drawn(joint[walks.of], error[walks.of], CHAINS * total)
        pace = Pace(0, draws, pace.thin)


def _entropies(counts: IntArray, offset: IntArray, spread: IntArray, total: int) -> FloatArray:
    """Return the entropy of each unknown from its histogram, with the usual correction for unseen values."""
    p = counts / total
    terms = -p * np.log2(np.where(p > 0, p, 1.0))
    seen = np.add.reduceat((counts > 0).astype(np.float64), offset)
    bits: FloatArray = np.add.reduceat(terms, offset) + (seen - 1) / (2 * total * np.log(2))
    return np.minimum(bits, np.log2(np.maximum(spread, 1)))


def _cycles(group: Group, edges: Edges, clock: Clock) -> _Walks:
    """Return the chains over a network, from corners in random directions."""
    ends = np.concatenate([edges.tail, edges.head])
    around = np.argsort(ends, kind="stable") % edges.tail.size
    begin = starts_of(np.bincount(ends, minlength=group.rhs.size + 1))
    model, rng, corners = GroupProgram(group), np.random.default_rng(3), []
    for _ in range(CHAINS):
        x = model.best(rng.normal(size=group.variables.size), True, clock.left)
        if x is None:
            raise LimitError(LATE)
        corners.append(np.rint(x).astype(np.int64))
    walk = partial(walk_cycles, Cycles(edges.tail, edges.head, begin, around))
    every = np.arange(group.variables.size)
    return _Walks(every, group.lower, group.upper, group.least, group.most, corners, walk)


def _moves(group: Group, rng: np.random.Generator, clock: Clock) -> _Walks:
    """Return the chains over a group of any shape, from tables in which one unknown is extreme.

    Raises:
        LimitError: the equations cannot be solved in integers, or no first table was found in time.
    """
    n = group.variables.size
    try:
        solver = Solver(group, np.zeros(n, np.int64), None, clock)
        if not solver.has_table:
            x = GroupProgram(group, whole=True).extreme(None, True, clock.left)
            if x is not None:
                solver.give(np.rint(x).astype(np.int64))
        if not solver.has_table or (solver.joined.scale != 1).any():
            raise StuckError
    except (StuckError, UnfinishedError):
        raise LimitError(
            f"{n} hidden values that depend on each other are too many to count the tables, and no way was found to "
            "draw from them; use the law 'interval'"
        ) from None
    wanted, (least, most) = solver.search.wanted, solver.search.bound.copy()
    tables = []
    for k in rng.integers(0, wanted.size, CHAINS).tolist():
        wanted[:] = 0
        wanted[k] = 1
        solver.run(EFFORT)
        tables.append(solver.pool.table.copy())
    # Each unknown that is left open, the last ones, leads its own move.
    starts, columns, rates = solver.pool.moves
    leads = solver.joined.scale.size + np.arange(starts.size - 1)
    led = np.insert(columns, starts[:-1], leads), np.insert(rates.astype(np.int64), starts[:-1], 1)
    walk = partial(walk_moves, Rows(starts + np.arange(starts.size), *led))
    return _Walks(solver.joined.of, least, most, least, most, tables, walk)


class Cycles(NamedTuple):
    """A network: the ends of its edges, and the edges of node n in ``around`` from ``begin[n]`` to ``begin[n + 1]``."""

    tail: IntArray
    head: IntArray
    begin: IntArray
    around: IntArray


class CycleChain(NamedTuple):
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
def walk_cycles(net: Cycles, chain: CycleChain, pace: Pace, rng: np.random.Generator) -> None:
    """Run a chain over the tables of a network."""
    tail, head, begin, around = net
    x, lower, upper, offset, counts, stop = chain
    burn, draws, thin = pace
    nodes, n = begin.size - 1, x.size
    at = np.full(nodes, -1)
    path_node, path_edge, path_way = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1)
    for step in range(burn + draws * thin):
        if stop[0] != 0:
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
            edge = around[begin[node] + rng.integers(0, degree)]
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
        if step >= burn and (step - burn) % thin == 0:
            for j in range(n):
                counts[offset[j] + x[j]] += 1


@compiled
def walk_moves(moves: Rows, chain: CycleChain, pace: Pace, rng: np.random.Generator) -> None:
    """Run a chain over the tables of any group."""
    starts, columns, rates = moves
    x, lower, upper, offset, counts, stop = chain
    burn, draws, thin = pace
    n, d = x.size, starts.size - 1
    along, touched = np.zeros(n, np.int64), np.zeros(n, np.int64)
    inside = np.zeros(n, np.bool_)
    for step in range(burn + draws * thin):
        if stop[0] != 0:
            return
        count = 0
        while True:
            c = rng.integers(0, d)
            sign = 1 if rng.random() < 0.5 else -1
            for k in range(starts[c], starts[c + 1]):
                j = columns[k]
                if not inside[j]:
                    inside[j] = True
                    touched[count] = j
                    count += 1
                along[j] += sign * rates[k]
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
        if step >= burn and (step - burn) % thin == 0:
            for j in range(n):
                counts[offset[j] + x[j]] += 1
