"""Means over random draws, with the deviation and the Monte Carlo error that belong to them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import FloatArray


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and sum of squared deviations of columns, which can be joined exactly."""

    n: int
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, draws: FloatArray) -> Moments:
        """Summarise draws along the first axis."""
        mean = draws.mean(axis=0)
        return cls(draws.shape[0], mean, np.square(draws - mean).sum(axis=0))

    def join(self, other: Moments) -> Moments:
        """Return the moments of both sets of draws together.

        >>> a, b = np.array([1.0, 2.0]), np.array([3.0, 7.0, 8.0])
        >>> both = Moments.of(a).join(Moments.of(b))
        >>> round(float(both.mean), 6), bool(np.isclose(both.sd, np.std([1, 2, 3, 7, 8], ddof=1)))
        (4.2, True)
        """
        n = self.n + other.n
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.n / n)
        return Moments(n, mean, self.squares + other.squares + np.square(apart) * (self.n * other.n / n))

    @property
    def sd(self) -> FloatArray:
        """The standard deviation of one draw."""
        return np.sqrt(self.squares / max(self.n - 1, 1))

    @property
    def error(self) -> FloatArray:
        """The standard error of the mean."""
        return self.sd / math.sqrt(self.n)
