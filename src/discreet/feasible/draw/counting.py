"""How many tables fit what is published, and how often each value occurs among them.

A group's unknowns are filled in one after another. What matters for the rest is only how much each open equation still
needs, so partial tables with the same needs are counted together (dynamic programming over a frontier of equations).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.clock import Clock
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray, index_ranges
from discreet.core.sparse import row_of
from discreet.feasible.reduction import Group
from discreet.table.kinds import UNBOUNDED

STATES = 6_000_000
"""The most partial tables with different needs at once: 1 GB of needs in a group of twenty equations."""
Ways: TypeAlias = "IntArray | npt.NDArray[np.object_]"
Filling: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""One unknown filled in: for every way, the partial table before it, the value, and the partial table after it."""


@dataclass(frozen=True, eq=False)
class ValueLaw:
    """The values that an unknown takes over all tables that fit, and the share of the tables with each."""

    values: IntArray
    shares: FloatArray

    @property
    def bits(self) -> float:
        """The entropy of the value in bits, H(X | Y = y) of domingo2002 (2)."""
        p = self.shares[self.shares > 0]
        return float(max(-(p * np.log2(p)).sum(), 0.0))


@dataclass(frozen=True, eq=False)
class Counted:
    """The number of tables that fit one group, and the law of each of its unknowns."""

    tables: int
    laws: tuple[ValueLaw, ...]


def count_tables(
    group: Group, weights: Mapping[int, FloatArray] | None = None, *, deadline: float | None = None
) -> Counted:
    """Count the tables that fit a group exactly, and the share of them with each value of each unknown.

    Unknowns whose values are not equally likely have ``weights``, one for each value from ``least`` up; a table weighs
    the product. The count is then that of all tables with a positive weight, and shares are by weight. Counting is
    given up with a :class:`LimitError` at the deadline, a time by ``time.monotonic()``.

    >>> import discreet.table.figures as f, discreet.table.equations as e, discreet.feasible.reduction as r
    >>> both = {"r": [1, 2, 3, "Total"], "c": [1, 2, 3, "Total"]}
    >>> hidden = [[None] * 3 + [t] for t in (51, 104, 50)] + [[46, 99, 60, 205]]
    >>> (group,) = r.reduce(e.equations_of(f.Figures.from_array(hidden, both)), join=False).groups
    >>> count_tables(group).tables
    1268792
    """
    if (group.most >= UNBOUNDED).any() or (group.least <= -UNBOUNDED).any():
        raise LimitError("infinitely many tables fit, because some value has no bound; publish a total, or bound it")
    clock = Clock(deadline)
    order = _order(group, clock)
    _check(clock)
    sign = group.dense()
    # What the unknowns that are still to come can add to each equation, at least and at most.
    rest_low, rest_high = (
        _rest(sign, ends, order, clock) for ends in ((group.least, group.most), (group.most, group.least))
    )
    mark = np.random.default_rng(2).integers(1, 2**63, group.rhs.size, dtype=np.uint64)
    code = np.zeros(1, np.uint64)
    needs = group.rhs[None, :].copy()
    ways: Ways = np.ones(1, np.int64)
    layers: list[Filling] = []
    for step, j in enumerate(order.tolist()):
        mine = np.flatnonzero(sign[:, j])
        least, most = np.full(needs.shape[0], group.least[j]), np.full(needs.shape[0], group.most[j])
        for e in mine:
            s = sign[e, j]
            a, b = needs[:, e] - rest_high[e, step + 1], needs[:, e] - rest_low[e, step + 1]
            least = np.maximum(least, a if s > 0 else -b)
            most = np.minimum(most, b if s > 0 else -a)
        fan = np.maximum(most - least + 1, 0)
        total = int(fan.sum())
        _check(clock)
        if total > STATES:
            raise LimitError(
                f"more than {STATES:,} partial tables have to be told apart; estimate, or use law interval"
            )
        parent, value = index_ranges(least, least + fan)
        # Needs are told apart by a random linear combination of 64 bits, which one value changes by a multiple.
        shift = (sign[mine, j].astype(np.uint64) * mark[mine]).sum(dtype=np.uint64)
        digest = code[parent] - value.astype(np.uint64) * shift
        code, first, child = np.unique(digest, return_index=True, return_inverse=True)
        layers.append((parent, value, child))
        ways = _gather(ways, parent, child, first.size)
        needs = needs[parent[first]]
        needs[:, mine] -= value[first][:, None] * sign[mine, j]
    if needs.shape[0] != 1:
        return Counted(0, tuple(ValueLaw(np.zeros(0, np.int64), np.zeros(0)) for _ in order))
    return Counted(int(ways[0]), _marginals(group, order, layers, weights or {}, clock))


def _rest(sign: IntArray, ends: tuple[IntArray, IntArray], order: IntArray, clock: Clock) -> IntArray:
    """Return the sum of the terms of each equation from every step on, with plus and minus terms at given ends."""
    _check(clock)
    terms = np.where(sign > 0, sign * ends[0], sign * ends[1])
    _check(clock)
    sums = np.zeros((sign.shape[0], order.size + 1), np.int64)
    np.cumsum(terms[:, order[::-1]], axis=1, out=sums[:, 1:])
    return sums[:, ::-1]


def _check(clock: Clock) -> None:
    """Give up where time has run out."""
    if clock.late:
        raise LimitError("time ran out while tables were counted; allow more time, or use law interval")


def _marginals(
    group: Group, order: IntArray, layers: list[Filling], weights: Mapping[int, FloatArray], clock: Clock
) -> tuple[ValueLaw, ...]:
    """Repeat the forward and backward passes with weights, scaled against overflow."""

    def weight(j: int, value: IntArray) -> FloatArray:
        return weights[j][value - group.least[j]] if j in weights else np.ones(value.size)

    laws: dict[int, ValueLaw] = {}
    forward = [np.ones(1)]
    for j, (parent, value, child) in zip(order.tolist(), layers, strict=True):
        _check(clock)
        ahead = np.bincount(child, weights=forward[-1][parent] * weight(j, value), minlength=int(child.max()) + 1)
        forward.append(ahead / ahead.max())
    back: FloatArray = np.ones(1)
    for step in range(order.size - 1, -1, -1):
        _check(clock)
        (parent, value, child), j = layers[step], int(order[step])
        reach = back[child] * weight(j, value)
        share = np.bincount(value - group.least[j], weights=reach * forward[step][parent])
        laws[j] = ValueLaw(group.least[j] + np.flatnonzero(share), share[share > 0] / share.sum())
        again = np.bincount(parent, weights=reach, minlength=forward[step].size)
        back = again / again.max()
    return tuple(laws[j] for j in range(order.size))


def _gather(ways: Ways, parent: IntArray, child: IntArray, size: int) -> Ways:
    """Add up the ways that lead to each state, in integers of any size."""
    if ways.dtype != object and float(ways.sum(dtype=np.float64)) * 1.0 * max(parent.size, 1) > 2.0**62:
        ways = ways.astype(object)
    total: Ways = np.zeros(size, np.int64 if ways.dtype != object else object)
    np.add.at(total, child, ways[parent])
    return total


def _order(group: Group, clock: Clock) -> IntArray:
    """Return an order of the unknowns that keeps few equations open at a time."""
    rows = row_of(group.starts)
    touches: list[list[int]] = [[] for _ in range(group.variables.size)]
    for e, j in zip(rows.tolist(), group.columns.tolist(), strict=True):
        touches[j].append(e)
    left = np.diff(group.starts).copy()
    opened = np.zeros(group.rhs.size, bool)
    order: list[int] = []
    width = (group.most - group.least).astype(np.float64)
    spans = np.zeros(group.rhs.size)
    np.add.at(spans, rows, width[group.columns])

    def grade(j: int) -> tuple[int, int, float, float, int]:
        # Close what is nearly closed; open as little as possible, and narrow unknowns first.
        mine = touches[j]
        nearest = min(int(left[e]) for e in mine), min(float(spans[e]) for e in mine)
        return sum(not opened[e] for e in mine), *nearest, float(width[j]), j

    # Grades only fall: of an unknown's entries in the heap the latest comes first.
    heap = [grade(j) for j in range(group.variables.size)]
    heapify(heap)
    pending = np.ones(group.variables.size, bool)
    while heap:
        best = heappop(heap)[-1]
        if not pending[best]:
            continue
        _check(clock)
        pending[best] = False
        order.append(best)
        for e in touches[best]:
            opened[e] = True
            left[e] -= 1
        beside = {j for e in touches[best] for j in group.columns[group.starts[e] : group.starts[e + 1]].tolist()}
        for j in beside:
            if pending[j]:
                heappush(heap, grade(j))
    return np.array(order, np.int64)
