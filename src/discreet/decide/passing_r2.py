"""What readers learn because a release met the limit on R2: originals above the limit are ruled out.

R2 depends on the true counts x beside the published ones. Where no x within the published ranges is above the limit,
passing reveals nothing. Otherwise the chance of such an x is bounded, given the figures. Zeros and size give at most
their ceilings, so R2 is above the limit only if the concentration 1 − H(X)/log K is above some c, which is

    Σ x·log x − N·log N + N·h > 0,  h = (1 − c)·log K.

N·log N is convex, so for any n the left side is at most n + Σ g(x) with g(x) = x·log x − (1 + log n − h)·x, a sum
of independent terms. By Chernoff the chance that it is above 0 is at most exp(θ·n)·Π E exp(θ·g(x)) for every θ > 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.auditing.audit_result import Audit
from discreet.auditing.laws.method import Shape
from discreet.core.numerics import FloatArray, IntArray, xlogx
from discreet.measures.entropy import size_term
from discreet.table.kinds import UNBOUNDED

Weights = tuple[float, float, float]
STEPS = np.geomspace(1e-4, 20.0, 120)
"""The values of θ that are tried: any gives a bound, and steps of a tenth come close to the best."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """The least and the largest count of every cell that somebody can be in, and what is published of it.

    ``fixed`` cells are certainly empty; ``cells`` is the number K of all cells.
    """

    low: FloatArray
    high: FloatArray
    shown: IntArray
    fixed: int
    cells: int

    @classmethod
    def of(cls, audited: Audit, cells: int, shape: Shape) -> Ranges | None:
        """Return the ranges of a table with K cells, None where a count has no largest value."""
        equations = audited.findings.equations
        at = np.flatnonzero(shape.cell[: equations.positions.size])
        low, high = (ends[at].astype(np.float64) for ends in (equations.lower, equations.upper))
        filled = high > 0
        fixed = cells - int(filled.sum())
        if fixed < 0 or (high >= UNBOUNDED).any():
            return None
        return cls(low[filled], high[filled], equations.figures_at(at[filled])[2], fixed, cells)

    @property
    def zeros(self) -> float:
        """The largest term of zeros: (d/K)^(max(d, e)/min(d, e)) with d empty cells in the original, e in the release.

        The exponent is the number of cells that are empty in either over that in both.
        """
        e = self.fixed + int((self.shown == 0).sum())
        d = np.arange(max(self.fixed, 1), self.fixed + int((self.low == 0).sum()) + 1)
        return float(np.max((d / self.cells) ** (np.maximum(d, e) / np.minimum(d, e)))) if d.size and e else 0.0

    @property
    def size(self) -> float:
        """The largest term of size: that of the fewest people."""
        return float(size_term(np.array([max(self.low.sum(), 1.0)]))[0])

    @property
    def concentration(self) -> float:
        """The largest concentration, 1 − H(X)/log K.

        N·H(X) = N·log N − Σ x·log x. Given N, the sum is at most that of counts which are raised from their least to
        their largest value one after the other, the steepest first. Between two of them it is linear, a + b·N, so
        H is least at an end or at N = −a.
        """
        gap = self.high - self.low
        slope = (xlogx(self.high) - xlogx(self.low)) / np.maximum(gap, 1.0)
        order = np.argsort(-slope)
        steep = slope[order]
        people = self.low.sum() + np.concatenate([[0.0], np.cumsum(gap[order])])
        sums = xlogx(self.low).sum() + np.concatenate([[0.0], np.cumsum(steep * gap[order])])
        turning = np.clip(steep * people[:-1] - sums[:-1], people[:-1], people[1:])
        N = np.maximum(np.concatenate([people, turning]), 1.0)
        H = np.maximum(np.log(N) - np.interp(N, people, sums) / N, 0.0)
        return float(1 - H.min() / np.log(self.cells))

    def ceiling(self, weights: Weights) -> float:
        """Return an upper bound on R2 over all counts within their ranges."""
        return float(np.dot(weights, (self.zeros, self.concentration, self.size)))


def chance_of_failing(
    ranges: Ranges, weights: Weights, limit: float, laws: list[tuple[IntArray, FloatArray, int]], certain: FloatArray
) -> float:
    """Return an upper bound on the probability that R2 of the original behind independent figures is above a limit.

    ``laws`` are values of counts with their probabilities, and of how many cells; ``certain`` counts are published.
    """
    left = limit - weights[0] * ranges.zeros - weights[2] * ranges.size
    if left < 0 or left >= weights[1]:
        return 0.0 if left >= weights[1] else 1.0
    n = float(certain.sum() + sum(times * (values @ p) for values, p, times in laws))
    h = (1 - left / weights[1]) * np.log(ranges.cells)

    def g(x: FloatArray) -> FloatArray:
        found: FloatArray = xlogx(x) - (1 + np.log(n) - h) * x
        return found

    log = STEPS * (n + g(certain).sum())
    for values, p, times in laws:
        exponent = STEPS[:, None] * g(values.astype(np.float64))
        top = exponent.max(axis=1)
        log = log + times * (top + np.log((p * np.exp(exponent - top[:, None])).sum(axis=1)))
    return float(min(np.exp(min(log.min(), 0.0)), 1.0))
