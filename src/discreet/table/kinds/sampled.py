"""Figures that count only the units in a sample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.kinds.kind import UNBOUNDED, Kind, is_whole


@dataclass(frozen=True)
class Sampled(Kind):
    """A sample of the share ``fraction`` of all ``size`` units, each 0 where it is not known.

    With a known fraction a count is binomial, and hypergeometric where the population's size is known too.
    """

    name = "sample"

    fraction: float = 0.0
    size: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        """Check the fraction and the size."""
        super().__post_init__()
        if not 0 <= self.fraction <= 1:
            raise RequestError(f"the sampling fraction is {self.fraction!r}; it lies between 0 and 1")
        if self.size and (not is_whole(self.size) or self.size < 0):
            raise RequestError(f"the population is {self.size!r}; a sample has a whole number of 1 or more, or 0")

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is sampled, and that with everybody who was left out: nobody else can be in the cell."""
        if self.fraction == 1:
            return values, values
        missed = self.size - round(self.fraction * self.size)
        return values, values + missed if self.size else np.full(values.shape, UNBOUNDED)

    @property
    def weighs(self) -> bool:
        """Where the fraction is known, or counts are hidden."""
        return self.fraction > 0 or super().weighs

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return the probability that a cell's count in the sample is the published one, for each true count."""
        if not self.fraction:
            return super().likelihood(published, true)
        from scipy.special import gammaln

        inside, fraction, size = self.inside(published, true), self.fraction, self.size
        missed = np.where(inside, true - published, 0)
        log = gammaln(np.where(inside, true, 0) + 1.0) - gammaln(missed + 1.0) - gammaln(published + 1.0)
        if size:
            n = round(fraction * size)
            others, rest = n - published, np.where(inside, size - true, n)
            possible = inside & (rest >= others) & (others >= 0)
            rest = np.where(possible, rest, max(others, 0))
            log = log + gammaln(rest + 1.0) - gammaln(max(others, 0) + 1.0) - gammaln(rest - max(others, 0) + 1.0)
            log = log - (gammaln(size + 1.0) - gammaln(n + 1.0) - gammaln(size - n + 1.0))
            return np.where(possible, np.exp(log), 0.0)
        log = log + published * np.log(fraction)
        log = log + (missed * np.log1p(-fraction) if fraction < 1 else np.where(missed > 0, -np.inf, 0.0))
        return np.where(inside, np.exp(log), 0.0)

    @property
    def told(self) -> str:
        """Say which share of how many."""
        if not self.fraction:
            return self.name
        return f"sample of {self.fraction:.3g}{f' of {self.size:,}' if self.size else ''}"
