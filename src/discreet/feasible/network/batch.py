"""Groups to the arrays that the compiled kernels take, and back."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import IntArray
from discreet.feasible.network.flow import DONE, Batch, Found, network_bounds
from discreet.feasible.network.orientation import orient
from discreet.feasible.reduction import Group

Edges: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""Tail and head of each unknown, and the sign that each equation takes."""


def oriented(group: Group) -> Edges | None:
    """Return a group as a network, None where it is none."""
    n, m = group.variables.size, group.rhs.size
    tail, head, flip = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(m, np.int64)
    return (tail, head, flip) if orient(group.starts, group.columns, group.signs, tail, head, flip) else None


def network_batch(
    batch: list[tuple[Group, Edges]],
    wanted: list[IntArray],
    goals: list[IntArray] | None = None,
    clock: Clock | None = None,
) -> list[tuple[IntArray, IntArray] | None]:
    """Return the bounds of each network, lower and upper, and 1 for what was settled in time; None where nothing fits.

    With goals, searches end there: a result that falls short of its goal is the bound itself.
    """
    groups = [group for group, _ in batch]
    edges = np.concatenate([[0], np.cumsum([group.variables.size for group in groups])])
    nodes = np.concatenate([[0], np.cumsum([group.rhs.size + 1 for group in groups])])
    lower, upper = (np.concatenate([getattr(g, name) for g in groups]) for name in ("lower", "upper"))
    least, most = (np.concatenate([getattr(g, name) for g in groups]) for name in ("least", "most"))
    balance = np.concatenate([part for g, (_, _, flip) in batch for part in (g.rhs * flip, np.zeros(1, np.int64))])
    if goals is not None:
        aims = np.concatenate(goals, axis=1)
        least, most = np.maximum(least, aims[0]), np.minimum(most, aims[1])
    out = np.stack([least, most])
    settled, status = np.zeros_like(least), np.zeros(len(batch), np.int64)
    tail, head = (np.concatenate([ends[side] for _, ends in batch]) for side in (0, 1))
    network_bounds(
        Batch(edges, nodes, tail, head, balance, lower, upper, least, most, np.concatenate(wanted)),
        Found(out[0], out[1], settled, status),
        (clock or Clock()).rung,
    )
    spans = [slice(edges[i], edges[i + 1]) for i in range(len(batch))]
    return [(out[:, span], settled[span]) if code == DONE else None for span, code in zip(spans, status, strict=True)]
