"""Figures of cells whose units were sampled, or changed places with others."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, FloatArray, IntArray, log_gamma, xlogy
from discreet.table.kinds.kind import UNBOUNDED, Kind, is_whole


@dataclass(frozen=True)
class _Share(Kind):
    """Any kind with a share ``fraction`` of all units, 0 if it is not known."""

    fraction: float = 0.0

    @property
    def weighs(self) -> bool:
        """If the share is known, or counts are hidden."""
        return self.fraction > 0 or super().weighs

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return the probability of the published count for each true one, all equally likely if nothing is known."""
        inside = self.inside(published, true)
        return self._chance(published, true, inside) if self.fraction else inside.astype(np.float64)

    def _chance(self, published: int, true: IntArray, inside: BoolArray) -> FloatArray:
        raise NotImplementedError


@dataclass(frozen=True)
class Sampled(_Share):
    """A sample of the share ``fraction`` of all ``size`` units, each 0 if it is not known.

    ``missed`` units were left out at most, if the size of the sample and its share tell that; None if they do not.
    With a known fraction a count is binomial, and hypergeometric if the population's size is known too.
    """

    name = "sample"

    size: int = field(default=0, repr=False)
    missed: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missed is not None and (not is_whole(self.missed) or self.missed < 0):
            raise RequestError(f"a sample is said to have left out {self.missed!r} units; give an integer, 0 or more")
        if not 0 <= self.fraction <= 1:
            raise RequestError(f"the sampling fraction is {self.fraction!r}; it lies between 0 and 1")
        if self.size and (not is_whole(self.size) or self.size < 0):
            raise RequestError(f"the population is {self.size!r}; a sample has an integer of 1 or more, or 0")

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is sampled, and that with everybody who was left out: nobody else can be in the cell."""
        if self.fraction == 1:
            return values, values
        missed = self.size - round(self.fraction * self.size) if self.size else self.missed
        return values, np.full(values.shape, UNBOUNDED) if missed is None else values + missed

    def _chance(self, published: int, true: IntArray, inside: BoolArray) -> FloatArray:
        """Return the probability that a cell's count in the sample is the published one, for each true count."""
        fraction, size = self.fraction, self.size
        missed = np.where(inside, true - published, 0)
        log = log_gamma(np.where(inside, true, 0) + 1.0) - log_gamma(missed + 1.0) - log_gamma(published + 1.0)
        if size:
            n = round(fraction * size)
            others, rest = n - published, np.where(inside, size - true, n)
            possible = inside & (rest >= others) & (others >= 0)
            rest = np.where(possible, rest, max(others, 0))
            log = log + log_gamma(rest + 1.0) - log_gamma(max(others, 0) + 1.0) - log_gamma(rest - max(others, 0) + 1.0)
            log = log - (log_gamma(size + 1.0) - log_gamma(n + 1.0) - log_gamma(size - n + 1.0))
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


@dataclass(frozen=True)
class Swapped(_Share):
    """At most ``bound`` units of a cell changed places with others, a share ``fraction`` of all (0 if not known).

    A cell keeps each of its units with probability 1 − r for a share r, and units come in as often as they leave cells
    of its size (Poisson); that is an approximation.
    """

    name = "swapped"
    units = ("bound",)

    bound: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.bound) or self.bound < 0 or not 0 <= self.fraction <= 1:
            raise RequestError(
                f"a share {self.fraction!r} of all units is swapped, at most {self.bound!r} in a cell; give a share "
                "between 0 and 1 and an integer"
            )

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is at most the bound away."""
        return values - self.bound, values + self.bound

    def _chance(self, published: int, true: IntArray, inside: BoolArray) -> FloatArray:
        """Return Σ over those who stayed of Binomial(stayed; x, 1 − r)·Poisson(came; r·y)."""
        inside = inside & (true >= 0)
        x = np.where(inside, true, 0)[:, None]
        stayed = np.arange(published + 1)[None, :]
        left, came = x - stayed, published - stayed
        possible = left >= 0
        safe = np.where(possible, left, 0)
        log = log_gamma(x + 1.0) - log_gamma(stayed + 1.0) - log_gamma(safe + 1.0)
        log = log + xlogy(stayed, 1 - self.fraction) + xlogy(safe, self.fraction)
        mean = self.fraction * published
        log = log + xlogy(came, mean) - mean - log_gamma(came + 1.0)
        chance: FloatArray = np.where(possible, np.exp(log), 0.0).sum(axis=1)
        return np.where(inside, chance, 0.0)

    @property
    def told(self) -> str:
        """Say which share, and how many in a cell."""
        share = f", a share of {self.fraction:.3g}" if self.fraction else ""
        return f"swapped{share}, at most {self.bound} in a cell"
