"""Skinner and Shlomo's criteria: does a log-linear model over- or underestimate the risk?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.polynomial import polyval

from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray


@dataclass(frozen=True)
class Criterion:
    """An estimate of how far a model's τ̂ is from τ because the model does not hold.

    ``value`` is B̂: near 0 when the model fits, positive when it is too simple (the risk is overestimated),
    negative when it is too rich. ``variance`` assumes Poisson counts, ``robust_variance`` does not; ``z`` and
    ``robust_z`` are B̂ divided by their roots, approximately standard normal when the model holds.
    """

    value: float
    variance: float
    robust_variance: float

    @property
    def z(self) -> float:
        """B̂/√v."""
        return self.value / self.variance**0.5 if self.variance > 0 else 0.0

    @property
    def robust_z(self) -> float:
        """B̂/√v_R."""
        return self.value / self.robust_variance**0.5 if self.robust_variance > 0 else 0.0

    def to_dict(self) -> dict[str, Json]:
        """Return plain numbers for programs."""
        return {**vars(self), "z": self.z, "robust_z": self.robust_z}


def alone(rate: FloatArray, fraction: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return h₁(λ) = P(F = 1 | f = 1) = exp(−(1−π)λ) and its first two derivatives in λ.

    >>> [float(x[0].round(4)) for x in alone(np.array([2.0]), np.array([0.5]))]
    [0.3679, -0.1839, 0.092]
    """
    left = 1.0 - fraction
    h = np.exp(-left * rate)
    return h, -left * h, left**2 * h


def matched(rate: FloatArray, fraction: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return h₂(λ) = E(1/F | f = 1) = (1 − exp(−(1−π)λ))/((1−π)λ) and its first two derivatives in λ.

    >>> [float(x[0].round(4)) for x in matched(np.array([0.0]), np.array([0.5]))]
    [1.0, -0.25, 0.0833]
    """
    left = 1.0 - fraction
    m = left * rate
    small = m < 0.05
    safe = np.where(small, 1.0, m)
    decay = np.exp(-safe)
    g = -np.expm1(-safe) / safe
    first = (decay - g) / safe
    second = (2.0 * (g - decay) - safe * decay) / safe**2
    # g(m) = Σ (−m)^k/(k+1)!, because the differences above cancel for small m
    g = np.where(small, polyval(m, [1, -1 / 2, 1 / 6, -1 / 24, 1 / 120, -1 / 720, 1 / 5040, -1 / 40320]), g)
    first = np.where(small, polyval(m, [-1 / 2, 1 / 3, -1 / 8, 1 / 30, -1 / 144, 1 / 840, -1 / 5760]), first)
    second = np.where(small, polyval(m, [1 / 3, -1 / 4, 1 / 10, -1 / 36, 1 / 168, -1 / 960, 1 / 6480]), second)
    return g, left * first, left**2 * second


def criteria(counts: FloatArray, rate: FloatArray, fraction: FloatArray) -> tuple[Criterion, Criterion]:
    """Return B̂₁ and B̂₂ of Skinner and Shlomo (2008, JASA 103, 989–1001, section 3) with their variances.

    With F_k ~ Poisson(λ_k) sampled at π_k, f_k ~ Poisson(π_kλ_k) and a cell is a sample unique with probability
    π_kλ_k·exp(−π_kλ_k). Using λ̂ in place of λ therefore moves the expected estimate by

        B = Σ_k π_kλ_k·exp(−π_kλ_k)·(h(λ̂_k) − h(λ_k)),

    where h is h₁ (τ₁) or h₂ (τ₂). To second order h(λ̂) − h(λ) = h′(λ)(λ̂−λ) + ½h″(λ)(λ̂−λ)². For a fixed λ̂ the
    differences have unbiased estimates from the counts themselves, because E(f − πλ̂) = −π(λ̂−λ) and
    E((f − πλ̂)² − f) = π²(λ̂−λ)². With them, and with λ̂ for λ in the coefficients,

        B̂ = Σ_k A_k·(f_k − π_kλ̂_k) + C_k·((f_k − π_kλ̂_k)² − f_k),
        A_k = −λ̂_k·exp(−π_kλ̂_k)·h′(λ̂_k),     C_k = λ̂_k·exp(−π_kλ̂_k)·h″(λ̂_k)/(2π_k).

    For h₁ this is Σ λ̂e^{−λ̂}(1−π)·{(f−πλ̂) + (1−π)·((f−πλ̂)²−f)/(2π)}. C_k is positive, so B̂ rises with counts that
    scatter more than Poisson ones, which is what a model that lacks interactions leaves behind. Under the model
    both sums have mean 0 and are uncorrelated (the third central moment of a Poisson count is its mean), with
    Var(f−μ) = μ and Var((f−μ)²−f) = 2μ², so v = Σ A²μ + 2C²μ² with μ = πλ̂; the robust form is the sum of the
    squared terms. That λ̂ is fitted to the same counts is ignored, as in the paper; it pulls B̂ below 0 when
    there are many parameters.

    Args:
        counts: f_k of all cells, the empty ones too.
        rate: λ̂_k, expected counts in the population.
        fraction: π_k, one for all or one per cell.

    >>> b1, b2 = criteria(np.array([0.0, 4.0]), np.array([10.0, 10.0]), np.array([0.2]))
    >>> b1.value > 0, b2.value > 0
    (True, True)
    """
    expected = fraction * rate
    residual = counts - expected
    scatter = residual**2 - counts
    weight = rate * np.exp(-expected)
    result = []
    for _, slope, curvature in (alone(rate, fraction), matched(rate, fraction)):
        a = -weight * slope
        c = weight * curvature / (2.0 * fraction)
        terms = a * residual + c * scatter
        variance = a**2 * expected + 2.0 * c**2 * expected**2
        result.append(Criterion(float(terms.sum()), float(variance.sum()), float((terms**2).sum())))
    return result[0], result[1]
