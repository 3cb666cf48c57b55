"""Uniform draws of the tables that fit, by Markov chains, for groups too large to count.

How fast a chain settles on the uniform law is not known beforehand. Chains from different corners are compared, and the
error that is stated is the one between them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.random import Seed, spawn
from discreet.core.sparse import starts_of
from discreet.feasible.draw.walks import Chain, Circles, Pace, walk_circles, walk_moves
from discreet.feasible.group_program import GroupProgram
from discreet.feasible.network.orientation import Edges, oriented
from discreet.feasible.reduction import Group, LateError, StuckError
from discreet.feasible.tableau.solver import Solver

CHAINS = 8
"""Independent chains: enough to estimate a standard error from, and a multiple of the usual numbers of cores."""
LARGEST = 20_000_000
"""The most values that are counted, of all unknowns of a chain together: 1.3 GB for all chains."""
EFFORT = 100
"""Branches to look for one starting table, as many as a first search for bounds has."""
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
    walk: Callable[[Chain, Pace, np.random.Generator], None]


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

    Networks are walked along their circles, other groups along sums of moves (:mod:`discreet.feasible.draw.walks`).
    Chains are lengthened until twice the standard error of every entropy is below the precision, in bits, or until the
    deadline, a time by ``time.monotonic()``. A round that the deadline cuts short does not count.

    Raises:
        LimitError: there are too many values to draw from, or no round was done in time.
    """
    with Clock(deadline) as clock:
        streams = spawn(seed, CHAINS + 1)
        edges = oriented(group)
        walks = _moves(group, streams[CHAINS], clock) if edges is None else _circles(group, edges, clock)
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
        Chain(x, walks.lower, walks.upper, offset - walks.least, mine, clock.rung)
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


def _circles(group: Group, edges: Edges, clock: Clock) -> _Walks:
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
    walk = partial(walk_circles, Circles(edges.tail, edges.head, begin, around))
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
    except (StuckError, LateError):
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
    return _Walks(solver.joined.of, least, most, least, most, tables, partial(walk_moves, solver.pool.moves))
