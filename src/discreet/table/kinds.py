"""Kinds of published figures: what a reader who knows how a figure was made knows of the true value behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.errors import RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray

UNBOUNDED = 2**60
"""Stands for a bound that nothing sets; every true bound is smaller in size."""
NAMES = ("exact", "suppressed", "conventional", "random", "controlled", "perturbed", "sample")
ROUNDINGS = ("conventional", "random", "controlled")


@dataclass(frozen=True)
class Kind:
    """How figures were published, and therefore where the true value can lie.

    ``exact`` is the value itself and ``suppressed`` says nothing. Rounded to the base b, a figure y came from
    [y − b/2, y + b/2) if rounded conventionally (domingo2002 section 4.2), and from y − b + 1 … y + b − 1 if rounded
    at random or by a controlled method. ``perturbed`` moved the value by at most ``bound``. ``sample`` counts only the
    sampled units, a share ``fraction`` of all (0 where it is not known). Base and bound are in units of the last
    decimal published.

    >>> Kind("conventional", base=5).range(np.array([10, 0]))[0].tolist()
    [8, -2]
    """

    name: str = "exact"
    base: int = 0
    bound: int = 0
    fraction: float = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.name not in NAMES:
            raise RequestError(f"there is no kind of figure {self.name!r}; {nearest(self.name, NAMES)}")
        if self.name in ROUNDINGS and (not _whole(self.base) or self.base < 2):
            raise RequestError(f"the rounding base is {self.base!r}; give a whole number of 2 or more (base=, --base)")
        if self.name == "perturbed" and (not _whole(self.bound) or self.bound < 1):
            raise RequestError(f"the bound of the perturbation is {self.bound!r}; give a whole number of 1 or more")
        if self.name == "sample" and not 0 <= self.fraction <= 1:
            raise RequestError(f"the sampling fraction is {self.fraction!r}; it lies between 0 and 1")

    def range(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest true value behind each published one."""
        if self.name == "suppressed":
            return np.full(values.shape, -UNBOUNDED), np.full(values.shape, UNBOUNDED)
        if self.name == "conventional":
            return values - self.base // 2, values + (self.base - 1) // 2
        if self.name in ("random", "controlled"):
            return values - (self.base - 1), values + (self.base - 1)
        if self.name == "perturbed":
            return values - self.bound, values + self.bound
        if self.name == "sample":
            return values, np.full(values.shape, UNBOUNDED)
        return values, values

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return p(y | x) of the published value for each true value, as the method draws it.

        Random rounding takes x to y with probability 1 − |x − y|/b; a sample with a known fraction is binomial. Where
        the method is not random, or its law is not known, every value that can lead to y does so alike.

        >>> (3 * Kind("random", base=3).likelihood(3, np.arange(7))).round().tolist()
        [0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0]
        """
        lower, upper = self.range(np.array([published]))
        inside = (true >= lower[0]) & (true <= upper[0])
        if self.name == "random":
            return np.where(inside, 1 - np.abs(true - published) / self.base, 0.0)
        if self.name == "sample" and self.fraction:
            from scipy.special import gammaln

            missed = np.where(inside, true - published, 0)
            ways = gammaln(np.maximum(true, 0) + 1.0) - gammaln(missed + 1.0) - gammaln(published + 1.0)
            log = ways + published * np.log(self.fraction)
            log = log + (missed * np.log1p(-self.fraction) if self.fraction < 1 else np.where(missed > 0, -np.inf, 0.0))
            chance: FloatArray = np.where(inside, np.exp(log), 0.0)
            return chance
        alike: FloatArray = inside.astype(np.float64)
        return alike

    @property
    def phrase(self) -> str:
        """What a reader is told."""
        if self.name in ROUNDINGS:
            return f"rounded ({self.name}) to base {self.base}"
        if self.name == "perturbed":
            return f"perturbed by at most {self.bound}"
        return self.name


EXACT, SUPPRESSED = Kind(), Kind("suppressed")


def _whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
