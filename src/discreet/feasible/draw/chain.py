"""Uniform draws of the tables that fit, by a Markov chain, for groups too large to count.

In a network a step picks a circle of unknowns at random, in a way that does not depend on the table, and shifts whole
units around it by an amount drawn evenly from all that fit (hit and run). Every circle can be picked, and circles
connect all tables that fit a network, so the chain settles on the uniform law. Several chains from different corners
tell how far off the result may be.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.clock import Clock
from discreet.core.compiled import compiled
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.random import Seed, spawn
from discreet.feasible.draw.lattice import lattice_of
from discreet.feasible.group_program import GroupProgram
from discreet.feasible.network.batch import Edges, oriented
from discreet.feasible.reduction import Group

CHAINS = 8
LARGEST = 20_000_000
LATE = "time ran out before tables were drawn; allow more time, or use law interval"


@dataclass(frozen=True, eq=False)
class Drawn:
    """Entropy in bits of each unknown, with its standard error over independent chains, and the draws behind it."""

    bits: FloatArray
    error: FloatArray
    draws: int


@compiled
def _walk(
    tail: IntArray,
    head: IntArray,
    begin: IntArray,
    around: IntArray,
    lower: IntArray,
    upper: IntArray,
    x: IntArray,
    least: IntArray,
    offset: IntArray,
    counts: IntArray,
    draws: int,
    thin: int,
    burn: int,
    rng: np.random.Generator,
    stop: IntArray,
) -> None:
    """Run one chain and count the values of every unknown at every `thin`-th step."""
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
            for e in range(n):
                counts[offset[e] + x[e] - least[e]] += 1


def draw_tables(
    group: Group,
    *,
    precision: float = 0.02,
    seed: Seed = None,
    workers: int | None = None,
    most_draws: int = 400_000,
    deadline: float | None = None,
) -> Drawn:
    """Estimate the entropy of every unknown of a group over all tables that fit, each alike.

    Networks are walked along their circles, other groups along sums of moves (:mod:`discreet.feasible.draw.lattice`).
    Chains are lengthened until twice the standard error of every entropy is below the precision, in bits, or until the
    deadline, a time by ``time.monotonic()``. A round that the deadline cuts short does not count.

    Raises:
        LimitError: there are too many values to draw from, or no round was done in time.
    """
    with Clock(deadline) as clock:
        return _draw(group, precision, seed, workers, most_draws, clock)


def _draw(group: Group, precision: float, seed: Seed, workers: int | None, most_draws: int, clock: Clock) -> Drawn:
    streams = spawn(seed, CHAINS + 1)
    edges = oriented(group)
    if edges is not None:
        walks = _circles(group, edges, clock)
    else:
        lattice = lattice_of(group, CHAINS, streams[CHAINS], clock)
        walks = _Walks(lattice.least, lattice.most, lattice.of, list(lattice.tables), lattice.walk)
    spread = walks.most - walks.least + 1
    if float(spread.astype(np.float64).sum()) > LARGEST:
        raise LimitError(
            f"{group.variables.size} hidden values that depend on each other have too many values to draw from; use "
            "the law 'interval'"
        )
    offset = np.cumsum(spread) - spread
    counts = np.zeros((CHAINS, int(spread.sum())), np.int64)
    thin = max(spread.size, 20)
    draws, burn = 500, 200 * spread.size

    def go(c: int) -> None:
        walks.walk(walks.starts[c], offset, counts[c], draws, thin, burn, streams[c])

    began = time.monotonic()
    total = 0
    while True:
        before = counts.copy()
        run(go, range(CHAINS), workers=workers)
        if clock.rung[0]:
            counts = before
            if not total:
                raise LimitError(LATE)
        burn = 0
        total = int(counts[0, : spread[0]].sum())
        bits = np.stack([_entropies(counts[c], offset, spread, total) for c in range(CHAINS)])
        error: FloatArray = bits.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        draws = total
        left = clock.left
        if left is not None:
            # As many draws as the time left allows, at the pace so far.
            draws = min(total, int(total * left / max(time.monotonic() - began, 1e-9)))
        if 2 * error.max() <= precision or total >= most_draws or draws <= 0 or clock.rung[0]:
            joint = _entropies(counts.sum(axis=0), offset, spread, CHAINS * total)
            return Drawn(joint[walks.of], error[walks.of], CHAINS * total)


@dataclass(frozen=True, eq=False)
class _Walks:
    """Chains over some unknowns: their ranges, which of them stands for each of the group's, and where to start."""

    least: IntArray
    most: IntArray
    of: IntArray
    starts: list[IntArray]
    walk: Callable[[IntArray, IntArray, IntArray, int, int, int, np.random.Generator], None]


def _circles(group: Group, edges: Edges, clock: Clock) -> _Walks:
    """Return the chains over a network."""
    tail, head, _ = edges
    ends = np.concatenate([tail, head])
    around = np.argsort(ends, kind="stable") % tail.size
    begin = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=group.rhs.size + 1))])

    def walk(
        x: IntArray,
        offset: IntArray,
        counts: IntArray,
        draws: int,
        thin: int,
        burn: int,
        rng: np.random.Generator,
    ) -> None:
        low, up = group.lower, group.upper
        _walk(tail, head, begin, around, low, up, x, group.least, offset, counts, draws, thin, burn, rng, clock.rung)

    return _Walks(group.least, group.most, np.arange(tail.size), _corners(group, clock), walk)


def _entropies(counts: IntArray, offset: IntArray, spread: IntArray, total: int) -> FloatArray:
    """Return the entropy of each unknown from its histogram, with the usual correction for unseen values."""
    p = counts / total
    terms = -p * np.log2(np.where(p > 0, p, 1.0))
    seen = np.add.reduceat((counts > 0).astype(np.float64), offset)
    bits: FloatArray = np.add.reduceat(terms, offset) + (seen - 1) / (2 * total * np.log(2))
    return np.minimum(bits, np.log2(np.maximum(spread, 1)))


def _corners(group: Group, clock: Clock) -> list[IntArray]:
    """Return starting tables far apart: corners in random directions."""
    model, rng = GroupProgram(group), np.random.default_rng(3)
    found = []
    for _ in range(CHAINS):
        x = model.best(rng.normal(size=group.variables.size), True, clock.left)
        if x is None:
            raise LimitError(LATE)
        found.append(np.rint(x).astype(np.int64))
    return found
