"""Figures that were moved: by at most a bound, by a known law, or by at most a share of themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.kinds.kind import Kind, check_ends, is_whole, within

Noise: TypeAlias = tuple[tuple[tuple[int, float], ...], ...]
"""For each count from 0 up the noises that it can get with their probabilities; larger counts are as the last."""


@dataclass(frozen=True)
class Perturbed(Kind):
    """Values moved by at most ``bound``, from ``least`` at least and ``most`` at most if that is known.

    The ``law`` of the noise, if known, says which counts lead to a figure and how often.
    """

    name = "perturbed"
    units = ("bound", "least", "most")
    signed = True

    bound: int = 0
    law: Noise = field(default=(), repr=False)
    least: int | None = field(default=None, repr=False)
    most: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.bound) or self.bound < 1:
            raise RequestError(f"the bound of the perturbation is {self.bound!r}; give an integer of 1 or more")
        if self.law and self.bound != max(abs(v) for row in self.law for v, _ in row):
            raise RequestError(f"the law of the noise does not fit the kind {self.name!r} with the bound {self.bound}")
        check_ends(self.least, self.most)

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is at most the bound away, and if the law is known, leads to the figure."""
        lower, upper = values - self.bound, values + self.bound
        # From here on every count behind a value is as the last of the law.
        free = len(self.law) - 1 + self.bound
        for y in np.unique(values[values < free]).tolist() if self.law else ():
            counts = np.arange(max(y - self.bound, 0), y + self.bound + 1)
            leading = counts[self._chances(y, counts) > 0]
            if not leading.size:
                raise DataError(f"the figure {y} cannot come about by the noise that is said to be in it; correct it")
            lower[values == y], upper[values == y] = leading[0], leading[-1]
        return within(lower, upper, self.least, self.most)

    def plainly(self, values: IntArray) -> list[Kind]:
        """Return kinds without the law, with the least and the largest count if the law brings them nearer."""
        if not self.law:
            return [self] * values.size
        different, which = np.unique(values, return_inverse=True)
        kinds = []
        for y, low, high in zip(different.tolist(), *(ends.tolist() for ends in self.range(different)), strict=True):
            ends = {"least": (low, y - self.bound), "most": (high, y + self.bound)}
            nearer = {name: end for name, (end, far) in ends.items() if end != far}
            kinds.append(Perturbed(self.bound, **nearer))
        return [kinds[i] for i in which.ravel().tolist()]

    def _chances(self, published: int, true: IntArray) -> FloatArray:
        """Return the probability of the noise that takes each count to the published value."""
        rows = [dict(row) for row in self.law]
        last = len(rows) - 1
        return np.array([rows[min(x, last)].get(published - x, 0.0) if x >= 0 else 0.0 for x in true.tolist()])

    @property
    def keyed(self) -> bool:
        """Noise of a known law is picked by cell keys."""
        return bool(self.law)

    @property
    def weighs(self) -> bool:
        """If the law is known, or counts are hidden."""
        return bool(self.law) or super().weighs

    @property
    def stated(self) -> bool:
        """If the law is known."""
        return bool(self.law)

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return the probability by the law; without one, all values within the bound are equally likely."""
        return self._chances(published, true) if self.law else super().likelihood(published, true)

    @property
    def told(self) -> str:
        """Say how far, and whether the law is known."""
        told = f"perturbed by at most {self.bound}{' by a known law' if self.law else ''}"
        told += "" if self.least is None else f", from {self.least} or more"
        return told if self.most is None else f"{told}, from {self.most} or less"


@dataclass(frozen=True)
class Relative(Kind):
    """Values moved by at most the share ``fraction`` of themselves."""

    name = "relative"
    words = "perturbed by at most {fraction:.3g} of the value"

    fraction: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.fraction < 1:
            raise RequestError(f"the largest change is a share of {self.fraction!r}; it lies between 0 and 1")

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return y/(1 ± f); figures are rounded to the last decimal, which adds half a unit to either side."""
        ends = np.stack([(2 * values - 1) / 2, (2 * values + 1) / 2])
        away, near = ends / (1 + self.fraction), ends / (1 - self.fraction)
        lower, upper = np.minimum(away, near)[0], np.maximum(away, near)[1]
        return np.ceil(lower - 1e-9).astype(np.int64), np.floor(upper + 1e-9).astype(np.int64)
