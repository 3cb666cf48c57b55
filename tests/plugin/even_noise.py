"""A package of one file: a protection that raises every figure by 0 to a bound, and the kind of its figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.base import Original, Protected
from discreet.protect.figure_method import FigureMethod
from discreet.protect.usage import option
from discreet.table import Table
from discreet.table.kinds import Kind


@dataclass(frozen=True)
class Raised(Kind):
    """Each figure is its value and a noise from 0 to the bound, all equally likely."""

    name = "raised"
    words = "raised by 0 to {bound}"
    units = ("bound",)
    stated = True

    bound: int = 0

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is at most the bound below, and no less than 0."""
        return np.maximum(values - self.bound, 0), values


@dataclass(frozen=True)
class EvenNoise(FigureMethod):
    """Raise every figure by 0 to a bound, each equally likely and independent of the others."""

    bound: int = field(default=2, metadata=option("The largest noise."))
    name: ClassVar[str] = "even-noise"

    def __post_init__(self) -> None:
        if self.bound < 1:
            raise RequestError(f"bound is {self.bound!r}; raise figures by 1 or more")

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Raise every cell and margin."""
        rng = generator(seed)
        return self.each_changed(
            original, lambda values: values + rng.integers(0, self.bound + 1, values.size), Raised(self.bound)
        )

    def support(self, table: Table) -> IntArray:
        """Return all possible cells: empty ones can be raised, too."""
        return np.setdiff1d(np.arange(table.size), table.impossible)

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return raised counts of all possible cells."""
        counts = table.at(self.support(table))
        return counts + rng.integers(0, self.bound + 1, (size, counts.size))
