"""Every table that fits what is published equally likely: values that more tables lead to are more likely."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.auditing.laws.base import Judged
from discreet.auditing.laws.likelihood import Likelihood
from discreet.core.clock import Clock
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.feasible.bounds import Bounds
from discreet.feasible.draw.counting import count_tables
from discreet.feasible.reduction import Group, reduce
from discreet.table.kinds import UNBOUNDED

Draw = Callable[[Group], tuple[FloatArray, FloatArray]]


def by_tables(
    found: Bounds,
    targets: IntArray,
    *,
    precision: float = 0.02,
    seed: Seed = None,
    workers: int | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
    **_: object,
) -> Judged:
    """Return the entropy of each value over all tables that fit, each equally likely.

    Groups of hidden values are counted exactly where that is feasible; larger ones are drawn from by a Markov chain
    until twice the standard error of every entropy is below the precision. What is not done by the deadline, or is not
    precise enough by then, is marked as not finished.
    """

    def draw(group: Group) -> tuple[FloatArray, FloatArray]:
        from discreet.feasible.draw.chain import draw_tables

        drawn = draw_tables(group, precision=precision, seed=seed, workers=workers, deadline=deadline)
        return drawn.bits, drawn.error

    return judge(found, targets, None, draw, progress, deadline, precision)


def judge(
    found: Bounds,
    targets: IntArray,
    weights: Likelihood | None,
    draw: Draw | None,
    progress: Progress | None = None,
    deadline: float | None = None,
    precision: float = 0.02,
) -> Judged:
    """Count the tables of every group with a target in it, with the weights that a law gives to values."""
    equations = found.equations
    reduced = reduce(equations, join=False)
    size = equations.lower.size
    bits, error, finished = np.zeros(size), np.zeros(size), np.ones(size, bool)
    wanted, inside = np.zeros(size, bool), np.zeros(size, bool)
    wanted[targets] = True
    tables: int | None = 1
    notes: dict[str, None] = {}
    clock = Clock(deadline)
    for number, group in enumerate(reduced.groups):
        inside[group.variables] = True
        if progress is not None:
            progress(number, len(reduced.groups), "groups of hidden figures counted")
        if clock.late:
            tables, bits[group.variables], finished[group.variables] = None, np.nan, False
            notes["time ran out before all tables were counted"] = None
            continue
        try:
            counted = count_tables(group, None if weights is None else weights.of_group(group), deadline=deadline)
            tables = None if tables is None else tables * counted.tables
            bits[group.variables] = [law.bits for law in counted.laws]
        except LimitError as met:
            tables = None
            if not wanted[group.variables].any():
                continue
            late = clock.late
            try:
                if draw is None or late:
                    raise
                bits[group.variables], error[group.variables] = draw(group)
                finished[group.variables] = not late and 2 * error[group.variables] <= precision
                notes["estimated by a Markov chain where the tables are too many to count"] = None
            except LimitError:
                bits[group.variables], finished[group.variables] = np.nan, False
                notes[f"not finished everywhere: {met}"] = None
    alone = np.flatnonzero(~inside & (reduced.lower < reduced.upper))
    # Values in no equation have their own range and nothing else.
    low, high = reduced.lower[alone], reduced.upper[alone]
    unbounded = high >= UNBOUNDED
    spread = np.where(unbounded, np.inf, (high - low + 1).astype(np.float64))
    if tables is not None and alone.size:
        tables = None if unbounded.any() else tables * math.prod((high - low + 1).tolist())
    bits[alone] = np.log2(spread) if weights is None else weights.alone(alone, low, high, np.log2(spread))
    return Judged(bits[targets], error[targets], tables, "; ".join(notes), finished[targets])
