"""The urn that the unsampled people are drawn from, after or before the sample has been seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray
from discreet.uniques.log_probabilities import log_binomial, log_polya


@dataclass(frozen=True)
class Urn:
    """N − n people fall on cells with given weights.

    Why this is the posterior: let p be Dirichlet(α) and let all N people be drawn independently from p, so that F
    is Dirichlet-multinomial(N; α). Sampling without replacement, (2.1), picks n of these exchangeable draws, so
    the sample is n draws from p and the rest are N − n further draws from the same p. Given f, p is
    Dirichlet(α + f), hence F − f is Dirichlet-multinomial(N − n; α + f): an urn whose cells weigh α_k + f_k and
    grow by one with every ball. α = 1 is the uniform prior on the simplex, because every F then has the same
    probability; α → ∞ in fixed proportions p is the multinomial prior, whose urn has weights p that never grow.

    >>> urn = Urn(balls=37829, total=9507.0, reinforced=True)
    >>> round(float(np.exp(urn.log_miss(2.0))), 7)
    0.0403269
    """

    balls: int
    total: float
    reinforced: bool

    def log_pmf(self, x: npt.ArrayLike, weight: npt.ArrayLike, balls: npt.ArrayLike | None = None) -> FloatArray:
        """Log-probability that x balls fall on a cell (or a union of cells) of the given weight."""
        law = log_polya if self.reinforced else log_binomial
        others = np.maximum(self.total - np.asarray(weight, np.float64), 0.0)
        return law(x, weight, others, self.balls if balls is None else balls)

    def log_miss(self, weight: npt.ArrayLike, balls: npt.ArrayLike | None = None) -> FloatArray:
        """Log-probability that no ball falls on cells of the given weight together."""
        return self.log_pmf(0, weight, balls)

    def mean(self, weight: npt.ArrayLike) -> FloatArray:
        """Expected number of balls on a cell."""
        return self.balls * (np.asarray(weight, np.float64) / self.total)

    def variance(self, weight: npt.ArrayLike) -> FloatArray:
        """Variance of the number of balls on a cell."""
        share = np.asarray(weight, np.float64) / self.total
        plain = self.balls * share * (1.0 - share)
        if not self.reinforced:
            return plain
        return plain * ((self.total + self.balls) / (self.total + 1.0))
