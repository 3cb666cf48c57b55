"""The urn that the unsampled people are drawn from, after or before the sample has been seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray, IntArray
from discreet.uniques.log_probabilities import log_binomial, log_polya

_BATCH = 2_000_000
"""Figures of a batch of draws: a round choice, 16 MB."""


@dataclass(frozen=True)
class Urn:
    """N − n people fall on cells with given weights.

    Why this is the posterior: let p be Dirichlet(α) and let all N people be drawn independently from p; then F is
    Dirichlet-multinomial(N; α). Sampling without replacement, (2.1), picks n of these exchangeable draws, so
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

    def log_pmf(self, x: npt.ArrayLike, weight: npt.ArrayLike) -> FloatArray:
        """Log-probability that x balls fall on a cell (or a union of cells) of the given weight."""
        law = log_polya if self.reinforced else log_binomial
        others = np.maximum(self.total - np.asarray(weight, np.float64), 0.0)
        return law(x, weight, others, self.balls)

    def log_miss(self, weight: npt.ArrayLike) -> FloatArray:
        """Log-probability that no ball falls on cells of the given weight together."""
        return self.log_pmf(0, weight)

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

    def draw(self, weights: FloatArray, draws: int, rng: np.random.Generator) -> Iterator[IntArray]:
        """Yield batches of draws, one row each: how many balls fall on each of the given cells.

        A reinforced urn is drawn through its mixing law: cell probabilities from the Dirichlet (normalised gammas),
        then a multinomial. Cells that are not given are one cell with the remaining weight.

        >>> rows = next(Urn(10, 4.0, True).draw(np.array([1.0, 3.0]), 5, np.random.default_rng(1)))
        >>> rows.sum(axis=1).tolist()
        [10, 10, 10, 10, 10]
        """
        rest = max(self.total - float(weights.sum()), 0.0)
        rest = 0.0 if rest < 1e-12 * self.total else rest  # a remainder of rounding error is not a cell
        everything = np.append(weights, rest)
        batch = max(1, _BATCH // everything.size)
        for done in range(0, draws, batch):
            size = min(batch, draws - done)
            shares = rng.standard_gamma(everything, (size, everything.size)) if self.reinforced else everything
            shares = shares / shares.sum(axis=-1, keepdims=True)
            yield rng.multinomial(self.balls, shares, size=size)[:, :-1]
