"""Every table that fits what is published alike: values that more tables lead to are more likely."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from discreet.auditing.laws.base import Judged
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.feasible.bounds import Bounds
from discreet.feasible.counting import count_tables
from discreet.feasible.reduction import Group, Reduction, reduce
from discreet.table.kinds import UNBOUNDED


def by_tables(
    found: Bounds,
    targets: IntArray,
    *,
    precision: float = 0.02,
    seed: Seed = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **_: Any,
) -> Judged:
    """Return the entropy of each value over all tables that fit, each alike.

    Groups of hidden values are counted exactly where that is feasible; larger two-way ones are drawn from by a Markov
    chain until twice the standard error of every entropy is below the precision.
    """

    def draw(group: Group) -> tuple[FloatArray, FloatArray]:
        from discreet.feasible.chain import draw_tables

        drawn = draw_tables(group, precision=precision, seed=seed, workers=workers)
        return drawn.bits, drawn.error

    return judge(found, targets, lambda reduced, group: None, draw, progress)


def judge(
    found: Bounds,
    targets: IntArray,
    weights_of: Callable[[Reduction, Group], Mapping[int, FloatArray] | None],
    draw: Callable[[Group], tuple[FloatArray, FloatArray]] | None,
    progress: Progress | None = None,
) -> Judged:
    """Count the tables of every group with a target in it, with the weights that a law gives to values."""
    equations = found.equations
    reduced = reduce(equations, join=False)
    bits, error = np.zeros(equations.lower.size), np.zeros(equations.lower.size)
    wanted = np.zeros(equations.lower.size, bool)
    wanted[targets] = True
    inside = np.zeros(equations.lower.size, bool)
    tables: int | None = 1
    note = ""
    for number, group in enumerate(reduced.groups):
        inside[group.variables] = True
        if progress is not None:
            progress(number, len(reduced.groups), "groups of hidden figures counted")
        try:
            weights = weights_of(reduced, group)
            counted = count_tables(group, weights)
        except LimitError:
            tables = None
            if not wanted[group.variables].any():
                continue
            if draw is None:
                raise
            bits[group.variables], error[group.variables] = draw(group)
            note = "estimated by a Markov chain where the tables are too many to count"
        else:
            tables = None if tables is None else tables * counted.tables
            bits[group.variables] = [law.bits for law in counted.laws]
    alone = np.flatnonzero(~inside & (reduced.lower < reduced.upper))
    for i in alone.tolist():
        # A value that stands in no equation has its own range and nothing else.
        spread = int(reduced.upper[i]) - int(reduced.lower[i]) + 1
        if reduced.upper[i] >= UNBOUNDED:
            bits[i], tables = np.inf, None
        else:
            tables = None if tables is None else tables * spread
            bits[i] = _alone(reduced, i, weights_of)
    return Judged(bits[targets], error[targets], tables, note)


def _alone(reduced: Reduction, i: int, weights_of: Any) -> float:
    from discreet.feasible.counting import Law

    low, high = int(reduced.lower[i]), int(reduced.upper[i])
    none, one = np.zeros(0, np.int64), np.array([i])
    ends = np.array([low]), np.array([high])
    group = Group(one, none, np.zeros(1, np.int64), none, none, none, *ends, *ends)
    weights = weights_of(reduced, group)
    if not weights:
        return float(np.log2(high - low + 1))
    return Law(np.arange(low, high + 1), weights[0] / weights[0].sum()).bits
