"""Laws over all tables that fit what is published: each equally likely, or weighted by how the figures were made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from discreet.auditing.laws.law import Judged, entropy
from discreet.core.clock import Clock
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.feasible.bounds import Bounds
from discreet.feasible.draw.counting import count_tables
from discreet.feasible.reduction import Group, reduce
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED, Kind

WIDEST = 1_000_000
"""The most values of one figure that get a weight: 8 MB."""
TAIL = 1e-15
"""The share of the likelihood at which a law without end is cut: about the precision of floating-point numbers."""
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
    """Return the entropy of each value when all tables that fit are equally likely.

    Groups of hidden values are counted exactly where that is feasible; larger ones are sampled by a Markov chain until
    twice the standard error of every entropy is below the precision. Whatever is not done or not precise enough by the
    deadline is marked unfinished.
    """

    def draw(group: Group) -> tuple[FloatArray, FloatArray]:
        from discreet.feasible.draw.random_tables import draw_tables

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


class Likelihood:
    """The weights of true values by how the published figures were made."""

    def __init__(self, equations: Equations, deadline: float | None) -> None:
        self.equations, self.clock = equations, Clock(deadline)
        self.again = equations.drawn_again() if len(set(equations.draws)) > 1 else {}

    def of_group(self, group: Group) -> Mapping[int, FloatArray]:
        """Return the weights of those unknowns whose kind makes some values likelier than others."""
        found: dict[int, FloatArray] = {}
        for k, i in enumerate(group.variables.tolist()):
            if self.clock.late:
                raise LimitError("time ran out while values were weighed; allow more time, or use law interval")
            kind = self.equations.kind(i)
            if (kind is None or not kind.weighs) and i not in self.again:
                continue
            found[k] = self._weights(i, _values(group.least[k], group.most[k], self.equations.describe(i)))
        return found

    def _weights(self, i: int, values: IntArray) -> FloatArray:
        """Return the joint likelihood of each value, over all releases that show the position."""
        kind = self.equations.kind(i)
        assert kind is not None
        weights = np.ones(values.size)
        if kind.weighs:
            weights = kind.likelihood(self.equations.published_value(i), values)
        for other, published in self.again.get(i, ()):
            weights = weights * other.likelihood(published, values)
        return weights

    def alone(self, at: IntArray, low: IntArray, high: IntArray, even: FloatArray) -> FloatArray:
        """Return the bits of single figures, computed once for figures of the same kind, value and range."""
        code, kinds, published = self.equations.figures_at(at)
        weighs = np.array([kind.weighs for kind in kinds] + [False])[code]
        bits = even.copy()
        if weighs.any():
            cases, case = np.unique(np.stack([code, published, low, high], axis=1)[weighs], axis=0, return_inverse=True)
            laws = [_bits(kinds[int(k)], int(y), int(a), int(b)) for k, y, a, b in cases]
            bits[weighs] = np.array(laws)[case.ravel()]
        for k in [k for k, i in enumerate(at.tolist()) if i in self.again] if self.again else ():
            bits[k] = entropy(self._weights(int(at[k]), _values(low[k], high[k])))
        return bits


def _values(low: int, high: int, name: str = "a figure") -> IntArray:
    """Return all values between two ends, or refuse them if there are too many."""
    if high - low > WIDEST:
        raise LimitError(f"{name} has more than {WIDEST:,} possible values; bound it (most=)")
    return np.arange(low, high + 1)


def _bits(kind: Kind, published: int, low: int, high: int) -> float:
    """Return the entropy of the value behind one figure.

    >>> round(_bits(Kind("random", base=3), 3, 1, 5), 4), round(_bits(Kind("sample", fraction=0.5), 0, 0, UNBOUNDED), 4)
    (2.1972, 2.0)
    """
    end = high if high < UNBOUNDED else low + 1024
    while True:
        weights = kind.likelihood(published, _values(low, end) if end == high else np.arange(low, end + 1))
        if end == high or weights[-1] <= TAIL * weights.sum():
            return entropy(weights)
        if end - low > WIDEST:
            return float("inf")
        end = min(low + 4 * (end - low), high)
