"""How likely a method makes the published figures of each true value."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.draw.counting import ValueLaw
from discreet.feasible.reduction import Group
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED, Kind

WIDEST = 1_000_000
"""The most values of one figure that are weighed."""
TAIL = 1e-15
"""The share of the likelihood at which a law without end is cut."""


class Likelihood:
    """The weights of true values by how the published figures were made."""

    def __init__(self, equations: Equations, deadline: float | None) -> None:
        self.equations, self.deadline = equations, deadline
        self.again = equations.drawn_again() if len(set(equations.draws)) > 1 else {}

    def of_group(self, group: Group) -> Mapping[int, FloatArray]:
        """Return the weights of the unknowns whose kind tells some values from others."""
        found: dict[int, FloatArray] = {}
        for k, i in enumerate(group.variables.tolist()):
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise LimitError("time ran out while values were weighed; allow more time, or use law interval")
            kind = self.equations.kind(i)
            if (kind is None or not kind.weighs) and i not in self.again:
                continue
            if group.most[k] - group.least[k] > WIDEST:
                where = self.equations.describe(i)
                raise LimitError(f"{where} has more than {WIDEST:,} possible values; bound it (most=)")
            values = np.arange(group.least[k], group.most[k] + 1)
            found[k] = self._weights(i, values)
        return found

    def _weights(self, i: int, values: IntArray) -> FloatArray:
        """Return how likely every release that shows a position makes its figure of each value, all together."""
        kind = self.equations.kind(i)
        assert kind is not None
        weights = np.ones(values.size)
        if kind.weighs:
            weights = kind.likelihood(self.equations.published_value(i), values)
        for other, published in self.again.get(i, ()):
            weights = weights * other.likelihood(published, values)
        return weights

    def alone(self, at: IntArray, low: IntArray, high: IntArray, even: FloatArray) -> FloatArray:
        """Return the bits of single figures: worked out once for figures of the same kind, value and range."""
        code, kinds, published = self.equations.figures_at(at)
        weighs = np.array([kind.weighs for kind in kinds] + [False])[code]
        bits = even.copy()
        if weighs.any():
            cases, case = np.unique(np.stack([code, published, low, high], axis=1)[weighs], axis=0, return_inverse=True)
            laws = [_bits(kinds[int(k)], int(y), int(a), int(b)) for k, y, a, b in cases]
            bits[weighs] = np.array(laws)[case.ravel()]
        for k in [k for k, i in enumerate(at.tolist()) if i in self.again] if self.again else ():
            if high[k] - low[k] > WIDEST:
                raise LimitError(f"a figure has more than {WIDEST:,} possible values; bound it (most=)")
            values = np.arange(low[k], high[k] + 1)
            weights = self._weights(int(at[k]), values)
            bits[k] = ValueLaw(values, weights / weights.sum()).bits
        return bits


def _bits(kind: Kind, published: int, low: int, high: int) -> float:
    """Return the entropy of the value behind one figure.

    >>> round(_bits(Kind("random", base=3), 3, 1, 5), 4), round(_bits(Kind("sample", fraction=0.5), 0, 0, UNBOUNDED), 4)
    (2.1972, 2.0)
    """
    if high < UNBOUNDED and high - low > WIDEST:
        raise LimitError(f"a figure has more than {WIDEST:,} possible values; bound it (most=)")
    end = high if high < UNBOUNDED else low + 1024
    while True:
        values = np.arange(low, end + 1)
        weights = kind.likelihood(published, values)
        if end == high or weights[-1] <= TAIL * weights.sum():
            return ValueLaw(values, weights / weights.sum()).bits
        if end - low > WIDEST:
            return float("inf")
        end = min(low + 4 * (end - low), high)
