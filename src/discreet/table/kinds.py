"""Kinds of published figures: what a reader who knows how a figure was made knows of the true value behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray

UNBOUNDED = 2**60
"""Stands for a bound that nothing sets; every true bound is smaller in size."""
NAMES = (
    "exact",
    "suppressed",
    "interval",
    "conventional",
    "random",
    "controlled",
    "small",
    "perturbed",
    "relative",
    "sample",
    "swapped",
    "simulated",
    "added",
)
ROUNDINGS = ("conventional", "random", "controlled")

Noise: TypeAlias = tuple[tuple[tuple[int, float], ...], ...]
"""For each count from 0 up the noises that it can get with their probabilities; larger counts are as the last."""


def _whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


@dataclass(frozen=True)
class Kind:
    """How figures were published, and therefore where the true value can lie.

    ``exact`` is the value itself. A ``suppressed`` figure says what its mark says: that the value is at ``least`` and
    at ``most`` so much, where that is said; hidden counts are at least 1 wherever zeros are always published.
    ``interval`` publishes the least and the largest value, which stand beside the figure (see
    :class:`~discreet.table.figures.Figures`). Rounded to the base b, a
    figure y came from [y − b/2, y + b/2) if rounded conventionally (domingo2002 section 4.2), and from
    y − b + 1 … y + b − 1 if rounded at random or by a controlled method. ``small`` rounded
    only counts below the base, to 0 or the base. ``perturbed`` moved the value by at most
    ``bound``, and from ``least`` at least and ``most`` at most where that is known; where the ``law`` of the noise is
    known, it says which counts lead to a figure and how often.
    ``relative`` moved the value by at most the share ``fraction`` of itself. ``sample`` counts only the sampled
    units, a share ``fraction`` of all ``size`` of them (0 where either is not known). ``swapped`` let at most ``bound``
    units of a cell change places with others, a share ``fraction`` of all (0 where it is not known). ``simulated``
    values were drawn given figures that are published beside them, and say nothing more; ``added`` ones are sums of
    published figures, and say nothing at all that these do not. Where counts from 1 to
    ``hides`` are hidden, none of them is behind a figure that is shown. Base, bound, ``least``, ``most`` and ``hides``
    are in units of the last decimal published.

    >>> Kind("conventional", base=5).range(np.array([10, 0]))[0].tolist()
    [8, -2]
    >>> Kind("conventional", base=5, hides=3).range(np.array([5]))
    (array([4]), array([7]))
    >>> Kind("suppressed", least=1, most=7).phrase
    'suppressed, 1 to 7'
    """

    name: str = "exact"
    base: int = 0
    bound: int = 0
    fraction: float = 0.0
    law: Noise = field(default=(), repr=False)
    size: int = field(default=0, repr=False)
    least: int | None = field(default=None, repr=False)
    most: int | None = field(default=None, repr=False)
    hides: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.name not in NAMES:
            raise RequestError(f"there is no kind of figure {self.name!r}; {nearest(self.name, NAMES)}")
        if self.name in (*ROUNDINGS, "small") and (not _whole(self.base) or self.base < 2):
            raise RequestError(f"the rounding base is {self.base!r}; give a whole number of 2 or more (base=, --base)")
        if self.name == "perturbed" and (not _whole(self.bound) or self.bound < 1):
            raise RequestError(f"the bound of the perturbation is {self.bound!r}; give a whole number of 1 or more")
        if self.law and (self.name != "perturbed" or self.bound != max(abs(v) for row in self.law for v, _ in row)):
            raise RequestError(f"the law of the noise does not fit the kind {self.name!r} with the bound {self.bound}")
        if self.name == "relative" and not 0 < self.fraction < 1:
            raise RequestError(f"the largest change is a share of {self.fraction!r}; it lies between 0 and 1")
        if self.name == "sample" and not 0 <= self.fraction <= 1:
            raise RequestError(f"the sampling fraction is {self.fraction!r}; it lies between 0 and 1")
        if self.size and (self.name != "sample" or not _whole(self.size) or self.size < 0):
            raise RequestError(f"the population is {self.size!r}; a sample has a whole number of 1 or more, or 0")
        if self.name == "swapped" and (not _whole(self.bound) or self.bound < 0 or not 0 <= self.fraction <= 1):
            raise RequestError(
                f"a share {self.fraction!r} of all units is swapped, at most {self.bound!r} in a cell; give a share "
                "between 0 and 1 and a whole number"
            )
        if (self.least is not None or self.most is not None) and self.name not in ("suppressed", "perturbed"):
            raise RequestError(f"least and most are of suppressed or perturbed figures, not of the kind {self.name!r}")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise RequestError(f"hidden figures are said to lie between {self.least} and {self.most}; swap the two")
        if not _whole(self.hides) or self.hides < 0:
            raise RequestError(f"counts from 1 to {self.hides!r} are said to be hidden; give a whole number")

    def range(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest true value behind each published one."""
        lower, upper = self._range(values)
        if self.hides:
            lower = np.where((lower > 0) & (lower <= self.hides), self.hides + 1, lower)
            upper = np.where((upper > 0) & (upper <= self.hides), 0, upper)
        wrong = np.flatnonzero(lower > upper)
        if wrong.size:
            raise DataError(
                f"nothing can be behind the figure {values.ravel()[wrong[0]]}, which is said to be {self.phrase}; "
                "correct the figure, or how it is said to be made"
            )
        return lower, upper

    def _range(self, values: IntArray) -> tuple[IntArray, IntArray]:
        least = -UNBOUNDED if self.least is None else self.least
        most = UNBOUNDED if self.most is None else self.most
        if self.name == "suppressed":
            return np.full(values.shape, least), np.full(values.shape, most)
        if self.name in ("interval", "simulated", "added"):
            return np.full(values.shape, -UNBOUNDED), np.full(values.shape, UNBOUNDED)
        if self.name == "conventional":
            return values - self.base // 2, values + (self.base - 1) // 2
        if self.name in ("random", "controlled"):
            return values - (self.base - 1), values + (self.base - 1)
        if self.name == "small":
            # Counts below the base became 0 or the base; all others are as they were.
            moved = (values == 0) | (values == self.base)
            lower = np.where(moved, np.where(values == 0, 0, 1), values)
            return lower, np.where(values == 0, self.base - 1, values)
        if self.name == "perturbed":
            lower, upper = self._noisy(values) if self.law else (values - self.bound, values + self.bound)
            return np.maximum(lower, least), np.minimum(upper, most)
        if self.name == "relative":
            # Figures are rounded to the last decimal, so that half a unit is added to either side.
            ends = np.stack([(2 * values - 1) / 2, (2 * values + 1) / 2])
            away, near = ends / (1 + self.fraction), ends / (1 - self.fraction)
            lower, upper = np.minimum(away, near)[0], np.maximum(away, near)[1]
            return np.ceil(lower - 1e-9).astype(np.int64), np.floor(upper + 1e-9).astype(np.int64)
        if self.name == "swapped":
            return values - self.bound, values + self.bound
        if self.name == "sample":
            if self.fraction == 1:
                return values, values
            # Nobody beyond those who were left out of the sample can be in the cell.
            missed = self.size - round(self.fraction * self.size)
            return values, values + missed if self.size else np.full(values.shape, UNBOUNDED)
        return values, values

    def _noisy(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest count that the law of the noise turns into each value."""
        lower, upper = values - self.bound, values + self.bound
        # From here on every count behind a value is as the last of the law.
        free = len(self.law) - 1 + self.bound
        for y in np.unique(values[values < free]).tolist():
            counts = np.arange(max(y - self.bound, 0), y + self.bound + 1)
            leading = counts[self._chances(y, counts) > 0]
            if not leading.size:
                raise DataError(f"the figure {y} cannot come about by the noise that is said to be in it; correct it")
            lower[values == y], upper[values == y] = leading[0], leading[-1]
        return lower, upper

    def _chances(self, published: int, true: IntArray) -> FloatArray:
        """Return the probability of the noise that takes each count to the published value."""
        rows = [dict(row) for row in self.law]
        last = len(rows) - 1
        return np.array([rows[min(x, last)].get(published - x, 0.0) if x >= 0 else 0.0 for x in true.tolist()])

    @property
    def weighs(self) -> bool:
        """Whether some true values lead to a figure more often than others, so that :meth:`likelihood` tells more."""
        return (
            self.name == "random"
            or bool(self.law or self.hides)
            or (self.name in ("sample", "swapped") and self.fraction > 0)
        )

    @property
    def unsaid(self) -> bool:
        """Whether nothing says if a figure behind this mark can be 0."""
        return self.name == "suppressed" and self.least is None and self.most != 0

    @property
    def stated(self) -> bool:
        """Whether p(y | x) is known exactly and each figure is made from its own value alone.

        Only then does :meth:`likelihood` say all that a reader who knows the method learns from a figure. Controlled
        rounding, suppression and the like look at all cells together; what their choice tells is not stated here.
        """
        return self.name in ("exact", "conventional", "random") or bool(self.law)

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return p(y | x) of the published value for each true value, as the method draws it.

        Random rounding takes x to y with probability 1 − |x − y|/b; a sample with a known fraction is
        binomial, and hypergeometric where the population's size is known too. A swapped cell keeps each of its units
        with probability 1 − r for a share r, and units come in as often as they leave cells of its size (Poisson); that
        is an approximation. Where the method is not random, or its law is not known, every value that can lead to y
        does so alike.

        >>> (3 * Kind("random", base=3).likelihood(3, np.arange(7))).round().tolist()
        [0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0]
        """
        if self.law:
            return self._chances(published, true)
        lower, upper = self.range(np.array([published]))
        inside = (true >= lower[0]) & (true <= upper[0]) & ((true < 1) | (true > self.hides))
        if self.name == "random":
            return np.where(inside, 1 - np.abs(true - published) / self.base, 0.0)
        if self.name == "sample" and self.fraction:
            return _sampled(published, true, inside, self.fraction, self.size)
        if self.name == "swapped" and self.fraction:
            return _swapped(published, true, inside, self.fraction)
        alike: FloatArray = inside.astype(np.float64)
        return alike

    @property
    def phrase(self) -> str:
        """What a reader is told."""
        told = self._phrase
        return f"{told}, 1 to {self.hides} being hidden" if self.hides else told

    @property
    def _phrase(self) -> str:
        if self.name == "suppressed" and (self.least is not None or self.most is not None):
            if self.most is None:
                return f"suppressed, at least {self.least}"
            return f"suppressed, {'at most' if self.least is None else f'{self.least} to'} {self.most}"
        if self.name in ROUNDINGS:
            return f"rounded ({self.name}) to base {self.base}"
        if self.name == "added":
            return "added up from published figures"
        if self.name == "small":
            return f"rounded to 0 or {self.base} where below {self.base}"
        if self.name == "perturbed":
            told = f"perturbed by at most {self.bound}{' by a known law' if self.law else ''}"
            told += "" if self.least is None else f", from {self.least} or more"
            return told if self.most is None else f"{told}, from {self.most} or less"
        if self.name == "relative":
            return f"perturbed by at most {self.fraction:.3g} of the value"
        if self.name == "sample" and self.fraction:
            return f"sample of {self.fraction:.3g}{f' of {self.size:,}' if self.size else ''}"
        if self.name == "swapped":
            return (
                f"swapped{f', a share of {self.fraction:.3g}' if self.fraction else ''}, at most {self.bound} in a cell"
            )
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the parameters that are set, as plain data.

        >>> Kind("random", base=3).to_dict()
        {'name': 'random', 'base': 3}
        """
        given = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "name"}
        default = Kind()
        return {"name": self.name} | {name: v for name, v in given.items() if v != getattr(default, name)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Kind:
        """Return the kind that :meth:`to_dict` wrote; lists become tuples."""
        return cls(**{name: _tuples(value) for name, value in data.items()})


EXACT, SUPPRESSED, INTERVAL = Kind(), Kind("suppressed"), Kind("interval")


def _sampled(published: int, true: IntArray, inside: Any, fraction: float, size: int) -> FloatArray:
    """Return the probability that a cell's count in the sample is the published one, for each true count."""
    from scipy.special import gammaln

    missed = np.where(inside, true - published, 0)
    log = gammaln(np.where(inside, true, 0) + 1.0) - gammaln(missed + 1.0) - gammaln(published + 1.0)
    if size:
        n = round(fraction * size)
        others, rest = n - published, np.where(inside, size - true, n)
        possible = inside & (rest >= others) & (others >= 0)
        rest = np.where(possible, rest, max(others, 0))
        log = log + gammaln(rest + 1.0) - gammaln(max(others, 0) + 1.0) - gammaln(rest - max(others, 0) + 1.0)
        log = log - (gammaln(size + 1.0) - gammaln(n + 1.0) - gammaln(size - n + 1.0))
        chance: FloatArray = np.where(possible, np.exp(log), 0.0)
        return chance
    log = log + published * np.log(fraction)
    log = log + (missed * np.log1p(-fraction) if fraction < 1 else np.where(missed > 0, -np.inf, 0.0))
    chance = np.where(inside, np.exp(log), 0.0)
    return chance


def _swapped(published: int, true: IntArray, inside: Any, fraction: float) -> FloatArray:
    """Return Σ over those who stayed of Binomial(stayed; x, 1 − r)·Poisson(came; r·y)."""
    from scipy.special import gammaln, xlogy

    x = np.where(inside & (true >= 0), true, 0)[:, None]
    stayed = np.arange(published + 1)[None, :]
    left, came = x - stayed, published - stayed
    possible = left >= 0
    safe = np.where(possible, left, 0)
    log = gammaln(x + 1.0) - gammaln(stayed + 1.0) - gammaln(safe + 1.0)
    log = log + xlogy(stayed, 1 - fraction) + xlogy(safe, fraction)
    mean = fraction * published
    log = log + xlogy(came, mean) - mean - gammaln(came + 1.0)
    chance: FloatArray = np.where(possible, np.exp(log), 0.0).sum(axis=1)
    return np.where(inside & (true >= 0), chance, 0.0)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
