"""Rounded figures: multiples of a base, or only small counts rounded to 0 or the base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.kinds.kind import Kind, is_whole


@dataclass(frozen=True)
class _Based(Kind):
    """Any rounding to a base b."""

    units = ("base",)

    base: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.base) or self.base < 2:
            raise RequestError(
                f"the rounding base is {self.base!r}; give an integer of 2 or more, as in 'random base=3'"
            )


@dataclass(frozen=True)
class Controlled(_Based):
    """Every figure is a neighbouring multiple, chosen by looking at all cells: y came from y − b + 1 … y + b − 1."""

    name = "controlled"
    words = "rounded under control to base {base}"

    @property
    def step(self) -> int:
        """The base."""
        return self.base

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is less than a base away."""
        return values - (self.base - 1), values + (self.base - 1)


@dataclass(frozen=True)
class Conventional(Controlled):
    """Every figure is the nearest multiple: y came from [y − b/2, y + b/2); domingo2002 section 4.2."""

    name = "conventional"
    words = "rounded conventionally to base {base}"
    drawn = False
    stated = True

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is nearest to the figure."""
        return values - self.base // 2, values + (self.base - 1) // 2


@dataclass(frozen=True)
class Random(Controlled):
    """Every figure is rounded at random and without bias: x becomes y with probability 1 − |x − y|/b.

    >>> (3 * Random(3).likelihood(3, np.arange(7))).round().tolist()
    [0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0]
    """

    name = "random"
    words = "rounded at random to base {base}"
    stated = weighs = True

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return 1 − |x − y|/b."""
        return np.where(self.inside(published, true), 1 - np.abs(true - published) / self.base, 0.0)


ROUNDINGS = (Conventional.name, Random.name, Controlled.name)
"""The kinds whose figures are multiples of a base."""


@dataclass(frozen=True)
class Small(_Based):
    """Counts below the base became 0 or the base; all others are as they were."""

    name = "small"
    words = "rounded to 0 or {base} where below {base}"

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what became 0 or the base, and the other values."""
        moved = (values == 0) | (values == self.base)
        lower = np.where(moved, np.where(values == 0, 0, 1), values)
        return lower, np.where(values == 0, self.base - 1, values)
