"""The compiled loop that gives units their partners."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray


@compiled
def pair_up(
    order: IntArray,
    bucket: IntArray,
    slots: IntArray,
    begin: IntArray,
    group: IntArray,
    group_begin: IntArray,
    pairs: int,
    lots: Any,
    partner: IntArray,
    tried: Any,
) -> None:
    """Go through the units in order and give each a partner from another bucket of its group, the riskiest first."""
    head = begin[:-1].copy()
    left = begin[1:] - begin[:-1]
    together = np.zeros(group_begin.size - 1, np.int64)
    for b in range(left.size):
        together[group[b]] += left[b]
    done = 0
    for k in range(order.size):
        if done == pairs:
            return
        u = order[k]
        if partner[u] >= 0:
            continue
        mine = bucket[u]
        g = group[mine]
        others = together[g] - left[mine]
        tried[u] = True
        if others == 0:
            continue
        lot = int(lots[k] * others)
        b = group_begin[g]
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
