"""Groups to the arrays that the compiled kernels take, and back."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.flow import DONE, network_bounds
from discreet.feasible.highs import Found
from discreet.feasible.reduction import Group
from discreet.feasible.shape import orient
from discreet.feasible.simplex import group_bounds

Edges: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""Tail and head of each unknown, and the sign that each equation takes."""
NO_MULTIPLIERS = np.zeros((0, 0))


def oriented(group: Group) -> Edges | None:
    """Return a group as a network, None where it is none."""
    n, m = group.variables.size, group.rhs.size
    tail, head, flip = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(m, np.int64)
    return (tail, head, flip) if orient(group.starts, group.columns, group.signs, tail, head, flip) else None


def network_batch(batch: list[tuple[Group, Edges]], wanted: list[IntArray]) -> list[IntArray | None]:
    """Return the bounds of each network, lower and upper; None where nothing fits."""
    groups = [group for group, _ in batch]
    edges = np.concatenate([[0], np.cumsum([group.variables.size for group in groups])])
    nodes = np.concatenate([[0], np.cumsum([group.rhs.size + 1 for group in groups])])
    lower, upper = (np.concatenate([getattr(g, name) for g in groups]) for name in ("lower", "upper"))
    least, most = (np.concatenate([getattr(g, name) for g in groups]) for name in ("least", "most"))
    balance = np.concatenate([part for g, (_, _, flip) in batch for part in (g.rhs * flip, np.zeros(1, np.int64))])
    out = np.stack([least, most])
    status = np.zeros(len(batch), np.int64)
    network_bounds(
        edges,
        nodes,
        np.concatenate([tail for _, (tail, _, _) in batch]),
        np.concatenate([head for _, (_, head, _) in batch]),
        balance,
        lower,
        upper,
        least,
        most,
        np.concatenate(wanted),
        out[0],
        out[1],
        status,
    )
    return [out[:, edges[i] : edges[i + 1]] if status[i] == DONE else None for i in range(len(batch))]


def dense_batch(batch: list[Group], wanted: list[IntArray], search: bool = True) -> list[Found | None]:
    """Return the bounds of small groups; None where the search got stuck, no bounds at all where nothing fits."""
    return [_dense(group, mine, search) for group, mine in zip(batch, wanted, strict=True)]


def _dense(group: Group, wanted: IntArray, search: bool) -> Found | None:
    n = group.variables.size
    bound = np.stack([group.least, group.most])
    relaxed, exact = bound.astype(np.float64), np.zeros((2, n), np.int64)
    code = group_bounds(
        group.dense(),
        group.rhs,
        group.lower,
        group.upper,
        group.least,
        group.most,
        wanted,
        bound,
        relaxed,
        exact,
        NO_MULTIPLIERS.copy(),
        search,
    )
    if code == 1:
        return Found(np.zeros((2, 0), np.int64), relaxed, exact, exact)
    return None if code == 2 else Found(bound, relaxed, exact, np.ones_like(exact))


def dense_multipliers(group: Group, k: int, upper: bool) -> FloatArray | None:
    """Return the multipliers of a small group's equations that prove one bound; None where the search got stuck."""
    n, m = group.variables.size, group.rhs.size
    wanted, bound = np.zeros(n, np.int64), np.stack([group.least, group.most])
    wanted[k] = 1
    multipliers = np.zeros((2 * n, m))
    code = group_bounds(
        group.dense(),
        group.rhs,
        group.lower,
        group.upper,
        group.least,
        group.most,
        wanted,
        bound,
        bound.astype(np.float64),
        np.zeros((2, n), np.int64),
        multipliers,
        False,
    )
    return None if code else multipliers[2 * k + int(upper)]
