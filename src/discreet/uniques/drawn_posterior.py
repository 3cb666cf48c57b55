"""The posterior from drawn population tables, where the exact one is too expensive; every figure has its error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.errors import LimitError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.random import Seed, spawn
from discreet.uniques.conditioning import BoundedCells, CountBounds
from discreet.uniques.convolution import UntouchedLaw
from discreet.uniques.exact_posterior import Mask, Posterior
from discreet.uniques.priors import Mixture, Prior, UrnPrior
from discreet.uniques.sample import Sample

MOST_CELLS = 2_000_000
"""The most cells that one draw keeps apart: a round choice, 16 MB for each figure of a cell."""


@dataclass(frozen=True, eq=False, repr=False)
class DrawnPosterior(Posterior):
    """Posterior by importance sampling: populations are drawn from the base posterior and weighted by the mixture.

    A draw inside the event weighs γ/P(event), one outside (1−γ)/P(complement); without an event all weigh 1.
    ``P(event)`` is itself estimated from as many draws of the base prior, and its error is carried along.

    >>> from discreet.uniques.priors import Uniform
    >>> sample = Sample.from_counts([1, 4, 0, 1], population=12)
    >>> drawn = DrawnPosterior.of(sample, Uniform(), draws=4000, seed=1)
    >>> value, error = drawn.estimate(1, [0])
    >>> bool(abs(value[0] - 0.3429) < 4 * error[0])
    True
    """

    bounds: CountBounds
    gammas: tuple[float, float]  # weights on the inside and the outside of the bounds
    share: float  # estimated probability of the inside under the base prior
    share_error: float
    draws: int
    seed: np.random.SeedSequence

    @classmethod
    def of(cls, sample: Sample, prior: Prior, *, draws: int, seed: Seed = None) -> DrawnPosterior:
        """Estimate the event's probability under the base prior from draws."""
        if draws < 2:
            raise RequestError(f"draws is {draws}; at least 2 are needed to tell the error")
        base = prior.base if isinstance(prior, Mixture) else prior
        if not isinstance(base, UrnPrior):
            raise RequestError(f"no posterior is known for the prior {prior!r}; use an urn prior or a mixture of one")
        root = np.random.SeedSequence(spawn(seed, 1)[0].integers(2**63))
        urn, weights = base.after(sample)
        event = prior.event if isinstance(prior, Mixture) else None
        bounds = CountBounds.of(sample, base, event)
        made = cls(sample, prior, urn, weights, bounds, (1.0, 1.0), 0.5, 0.0, draws, root)
        if not isinstance(prior, Mixture):
            return made
        both = (prior.gamma, 1.0 - prior.gamma)
        gammas = both if prior.event.inside else both[::-1]
        # The share of populations drawn from the base prior that lie within the bounds.
        weight, low, high = _apart(bounds.before(sample, base), bounds.bounded)
        batches = base.before(sample).draw(weight, draws, made._stream(0))
        share = sum(int(((rows >= low) & (rows <= high)).all(axis=1).sum()) for rows in batches) / draws
        for gamma, part in zip(gammas, (share, 1.0 - share), strict=True):
            if gamma > 0 and part * draws < 1:
                raise LimitError(
                    f"{prior.event.label!r} or its complement carries weight {gamma:g}, but none of {draws:,} "
                    f"populations drawn from the {base.name} prior lies there; it is too rare to be drawn"
                )
        error = float(np.sqrt(share * (1.0 - share) / draws))
        made = cls(sample, prior, urn, weights, bounds, gammas, share, error, draws, root)
        weigh, nobody = made._importance(share), np.zeros(0, np.int64)
        if not any(weigh[0] * inside.any() + weigh[1] * (~inside).any() for inside, _ in made._draw(nobody)):
            raise RequestError(
                f"the prior ({prior.name}) gives the data probability zero, as far as {draws:,} draws tell; "
                "change the event or lower its weight"
            )
        return made

    def probability(self, count: npt.ArrayLike, cells: npt.ArrayLike | None = None) -> FloatArray:
        """Return the estimates of P(F_i = count | f)."""
        return self.estimate(count, cells)[0]

    def estimate(self, count: npt.ArrayLike, cells: npt.ArrayLike | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the estimates of P(F_i = count | f) and their Monte Carlo errors."""
        chosen, further = self._further(count, cells)
        return self._mean(chosen, lambda rows: (rows == further).astype(np.float64))

    def untouched(self, counted: Mask) -> UntouchedLaw:
        """Return the weighted frequencies of how many of the counted cells gain nobody."""
        chosen = np.flatnonzero(counted)
        total = np.zeros(chosen.size + 1)
        heavy, light = self._importance(self.share)
        for inside, rows in self._draw(chosen):
            weight = np.where(inside, heavy, light)
            total += np.bincount((rows == 0).sum(axis=1), weights=weight, minlength=total.size)
        return UntouchedLaw(0.0, 0, total / total.sum())

    def untouched_error(self, counted: Mask) -> float:
        """Return the Monte Carlo error of the mean number of counted cells that gain nobody."""
        chosen = np.flatnonzero(counted)
        return float(self._mean(chosen, lambda rows: (rows == 0).sum(axis=1, keepdims=True).astype(float))[1][0])

    def _mean(self, cells: IntArray, figure: Callable[[IntArray], FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Weighted mean of a figure of the draws, with the error of the ratio and of the event's probability."""
        # Number, sum and sum of squares, inside and outside the bounds: enough for the mean at any weights.
        sums: list[list[FloatArray]] = [[np.zeros(1), np.zeros(1), np.zeros(1)] for _ in range(2)]
        for inside, rows in self._draw(cells):
            values = figure(rows)
            for side, mask in zip(sums, (inside, ~inside), strict=True):
                part = values[mask]
                side[0] = side[0] + part.shape[0]
                side[1] = side[1] + part.sum(axis=0)
                side[2] = side[2] + (part**2).sum(axis=0)

        def mean_at(share: float) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
            weights = self._importance(share)
            total: FloatArray = sum((w * side[0] for w, side in zip(weights, sums, strict=True)), np.zeros(1))
            added: FloatArray = sum((w * side[1] for w, side in zip(weights, sums, strict=True)), np.zeros(1))
            return added / total, total, weights

        mean, total, weights = mean_at(self.share)
        square = sum(
            w**2 * (side[2] - 2.0 * mean * side[1] + mean**2 * side[0]) for w, side in zip(weights, sums, strict=True)
        )
        error = np.sqrt(np.maximum(square, 0.0)) / total
        if self.share_error:
            more = min(self.share + self.share_error, 1.0 - 0.5 / self.draws)
            error = np.hypot(error, mean_at(more)[0] - mean)
        return mean, error

    def _importance(self, share: float) -> tuple[float, float]:
        """The weights of draws inside and outside the bounds, when the inside has this probability."""
        inside, outside = self.gammas
        if not isinstance(self.prior, Mixture):
            return 1.0, 1.0
        return (inside / share if inside else 0.0), (outside / (1.0 - share) if outside else 0.0)

    def _draw(self, cells: IntArray) -> Iterator[tuple[Mask, IntArray]]:
        """Batches of draws after the sample: whether the bounds hold, and the further people in the requested cells."""
        left = self.bounds.after(self.sample, self.weights, np.zeros(self.weights.size, bool))
        chosen = np.union1d(self.bounds.bounded, cells)
        weight, low, high = _apart(left, chosen)
        place = np.searchsorted(chosen, cells)
        # The same stream every time: all figures of one posterior come from the same populations.
        for rows in self.urn.draw(weight, self.draws, self._stream(1)):
            inside: Mask = np.asarray(((rows >= low) & (rows <= high)).all(axis=1))
            yield inside, rows[:, place]

    def _stream(self, number: int) -> np.random.Generator:
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.seed.entropy, spawn_key=(number,))))


def _apart(cells: BoundedCells, chosen: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Weights and bounds of the cells that are drawn one by one."""
    number = cells.number[chosen]
    if number.sum() > MOST_CELLS:
        raise LimitError(f"{number.sum():,} cells would be drawn one by one, at most {MOST_CELLS:,}")
    low, high = (np.repeat(column[chosen], number) for column in (cells.low, cells.high))
    return np.repeat(cells.weight[chosen], number), low, high
