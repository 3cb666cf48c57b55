"""The compiled loop that gives units their partners."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import BoolArray, FloatArray, IntArray


class Buckets(NamedTuple):
    """Units by what they must share with a partner (a group), and within that by area (a bucket).

    ``of`` is the bucket of every unit; ``slots`` lists the units bucket by bucket, the riskiest first, from ``begin``
    on; ``group`` is that of every bucket, and ``group_begin`` the first bucket of every group.
    """

    of: IntArray
    slots: IntArray
    begin: IntArray
    group: IntArray
    group_begin: IntArray


@compiled
def pair_up(
    order: IntArray, buckets: Buckets, pairs: int, lots: FloatArray, partner: IntArray, tried: BoolArray
) -> None:
    """Give each unit, in order, a partner from another bucket of its group, the riskiest first."""
    slots, begin, group = buckets.slots, buckets.begin, buckets.group
    head = begin[:-1].copy()
    left = begin[1:] - begin[:-1]
    together = np.zeros(buckets.group_begin.size - 1, np.int64)
    for b in range(left.size):
        together[group[b]] += left[b]
    done = 0
    for k in range(order.size):
        if done == pairs:
            return
        u = order[k]
        if partner[u] >= 0:
            continue
        mine = buckets.of[u]
        g = group[mine]
        others = together[g] - left[mine]
        tried[u] = True
        if others == 0:
            continue
        lot = int(lots[k] * others)
        b = buckets.group_begin[g]
        while b == mine or lot >= left[b]:
            if b != mine:
                lot -= left[b]
            b += 1
        while partner[slots[head[b]]] >= 0:
            head[b] += 1
        v = slots[head[b]]
        partner[u], partner[v] = v, u
        left[mine] -= 1
        left[b] -= 1
        together[g] -= 2
        done += 1
