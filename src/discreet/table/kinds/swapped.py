"""Figures of cells whose units changed places with others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.kinds.kind import Kind, is_whole


@dataclass(frozen=True)
class Swapped(Kind):
    """At most ``bound`` units of a cell changed places with others, a share ``fraction`` of all (0 where not known).

    A cell keeps each of its units with probability 1 − r for a share r, and units come in as often as they leave cells
    of its size (Poisson); that is an approximation.
    """

    name = "swapped"
    units = ("bound",)

    bound: int = 0
    fraction: float = 0.0

    def __post_init__(self) -> None:
        """Check the bound and the share."""
        super().__post_init__()
        if not is_whole(self.bound) or self.bound < 0 or not 0 <= self.fraction <= 1:
            raise RequestError(
                f"a share {self.fraction!r} of all units is swapped, at most {self.bound!r} in a cell; give a share "
                "between 0 and 1 and a whole number"
            )

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is at most the bound away."""
        return values - self.bound, values + self.bound

    @property
    def weighs(self) -> bool:
        """Where the share is known, or counts are hidden."""
        return self.fraction > 0 or super().weighs

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return Σ over those who stayed of Binomial(stayed; x, 1 − r)·Poisson(came; r·y)."""
        if not self.fraction:
            return super().likelihood(published, true)
        from scipy.special import gammaln, xlogy

        inside = self.inside(published, true) & (true >= 0)
        x = np.where(inside, true, 0)[:, None]
        stayed = np.arange(published + 1)[None, :]
        left, came = x - stayed, published - stayed
        possible = left >= 0
        safe = np.where(possible, left, 0)
        log = gammaln(x + 1.0) - gammaln(stayed + 1.0) - gammaln(safe + 1.0)
        log = log + xlogy(stayed, 1 - self.fraction) + xlogy(safe, self.fraction)
        mean = self.fraction * published
        log = log + xlogy(came, mean) - mean - gammaln(came + 1.0)
        chance: FloatArray = np.where(possible, np.exp(log), 0.0).sum(axis=1)
        return np.where(inside, chance, 0.0)

    @property
    def told(self) -> str:
        """Say which share, and how many in a cell."""
        share = f", a share of {self.fraction:.3g}" if self.fraction else ""
        return f"swapped{share}, at most {self.bound} in a cell"
