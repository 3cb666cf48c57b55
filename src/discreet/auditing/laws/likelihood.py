"""How likely a method makes the published figures of each true value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.auditing.laws.base import entropy
from discreet.core.clock import Clock
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.reduction import Group
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED, Kind

WIDEST = 1_000_000
"""The most values of one figure that are weighed: 8 MB."""
TAIL = 1e-15
"""The share of the likelihood at which a law without end is cut: about the precision of floating-point numbers."""


class Likelihood:
    """The weights of true values by how the published figures were made."""

    def __init__(self, equations: Equations, deadline: float | None) -> None:
        self.equations, self.clock = equations, Clock(deadline)
        self.again = equations.drawn_again() if len(set(equations.draws)) > 1 else {}

    def of_group(self, group: Group) -> Mapping[int, FloatArray]:
        """Return the weights of the unknowns whose kind tells some values from others."""
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
