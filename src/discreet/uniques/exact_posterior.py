"""The posterior of the population counts, given the sample: P(F_i = j | f) for every cell and every j."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from discreet.core.errors import LimitError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Face, Result
from discreet.uniques.conditioning import CountBounds, distinct, mix, split
from discreet.uniques.convolution import NEVER, CellGroup, UntouchedLaw, rare_law, restricted_law
from discreet.uniques.priors import Mixture, Prior, UrnPrior
from discreet.uniques.sample import Sample
from discreet.uniques.urn import Urn

Mask = npt.NDArray[np.bool_]


def q_uniform(n: int, population: int, possible: int) -> float:
    """Probability that a sample unique is unique in the population, under the uniform prior: (2.4) of cohen2009.

    Q = (n+K−1)(n+K−2) / ((N+K−1)(N+K−2)). It is the same for every sample unique.

    >>> round(q_uniform(8399, 46228, 1108), 7)
    0.0403269
    """
    _check_sizes(n, population, possible)
    if n == population:
        return 1.0
    return ((n + possible - 1) * (n + possible - 2)) / ((population + possible - 1) * (population + possible - 2))


def q_multinomial(n: int, population: int, possible: int) -> float:
    """Probability that a sample unique is unique in the population, multinomial prior: (2.6) of cohen2009.

    Q = ((K−1)/K)^(N−n).

    >>> f"{q_multinomial(8399, 46228, 1108):.3g}"
    '1.46e-15'
    """
    _check_sizes(n, population, possible)
    if possible == 1:
        return float(n == population)
    return float(np.exp((population - n) * np.log1p(-1.0 / possible)))


def _check_sizes(n: int, population: int, possible: int) -> None:
    if not 1 <= n <= population:
        raise RequestError(f"the sample has {n:,} people and the population {population:,}; 1 ≤ n ≤ N is needed")
    if possible < 1:
        raise RequestError(f"K is {possible}; at least one cell must be possible")


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result, ABC):
    """What is believed about the population table once the sample has been seen.

    Cells are numbered as in ``sample.cells``: ``cells`` arguments are indices into the non-empty cells, all of
    them by default.
    """

    sample: Sample
    prior: Prior
    urn: Urn
    weights: FloatArray

    @abstractmethod
    def probability(self, count: npt.ArrayLike, cells: npt.ArrayLike | None = None) -> FloatArray:
        """Return P(F_i = count | f) for every cell; ``count`` is one figure or one per cell."""

    @abstractmethod
    def untouched(self, counted: Mask) -> UntouchedLaw:
        """Return the law of how many of the counted cells gain nobody, F_i = f_i.

        Raises:
            LimitError: when the exact law would take too long; draw instead.
        """

    @cached_property
    def q(self) -> FloatArray:
        """Q_i = P(F_i = 1 | f) of the sample uniques, in the order of ``sample.unique_cells``."""
        return self.probability(1, np.flatnonzero(self.sample.counts == 1))

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data: Q of every sample unique with its cell's position."""
        alone = zip(self.sample.unique_cells.tolist(), self.q.tolist(), strict=True)
        return {
            "prior": self.prior.name,
            "population": self.sample.population,
            "sample_size": self.sample.size_of_sample,
            "cells": self.sample.possible,
            "sample_uniques": self.sample.uniques,
            "q": [{"cell": cell, "q": q} for cell, q in alone],
        }

    def face(self, most: int) -> Face:
        """Return the sizes and the range of Q."""
        sample = self.sample
        rows = [
            ["population, sample, cells", f"{sample.population:,}, {sample.size_of_sample:,}, {sample.possible:,}"],
            ["sample uniques", f"{sample.uniques:,}"],
        ]
        if self.q.size:
            low, high = float(self.q.min()), float(self.q.max())
            shown = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
            rows.append(["Q, each alone in the population", shown])
        return Face(["posterior", f"{self.prior.name} prior"], rows)

    def _further(self, count: npt.ArrayLike, cells: npt.ArrayLike | None) -> tuple[IntArray, IntArray]:
        """Return cells, all by default, and how many people beyond the sample make each of them this large."""
        chosen = np.arange(self.sample.cells.size) if cells is None else np.atleast_1d(np.asarray(cells, np.int64))
        return chosen, np.broadcast_to(np.asarray(count, np.int64), chosen.shape) - self.sample.counts[chosen]


@dataclass(frozen=True, eq=False, repr=False)
class UrnPosterior(Posterior):
    """Posterior under a prior of the Dirichlet-multinomial or multinomial family.

    F_i − f_i is beta-binomial(N−n; f_i+α_i, A+n−f_i−α_i) with A = Σα, or Binomial(N−n, p_i) under the multinomial
    prior; ``Urn`` derives it. For α = 1, f_i = F_i = 1 it gives (2.4), for the multinomial prior (2.6).

    >>> sample = Sample.from_counts([1, 4, 0, 1], population=12)
    >>> from discreet.uniques.priors import Uniform
    >>> exact_posterior(sample, Uniform()).q.round(4).tolist()
    [0.3429, 0.3429]
    """

    prior: UrnPrior

    def probability(self, count: npt.ArrayLike, cells: npt.ArrayLike | None = None) -> FloatArray:
        """Return P(F_i = count | f) in closed form."""
        chosen, further = self._further(count, cells)
        weights = self.weights[chosen]
        first, which = distinct(further, weights)
        return np.asarray(np.exp(self.urn.log_pmf(further[first], weights[first]))[which])

    def empty_probability(self, count: npt.ArrayLike, positions: npt.ArrayLike) -> FloatArray:
        """Return P(F_i = count | f) of cells that hold nobody of the sample, by their positions in the table.

        >>> sample = Sample.from_counts([1, 4, 0, 1], population=12)
        >>> from discreet.uniques.priors import Uniform
        >>> exact_posterior(sample, Uniform()).empty_probability([0, 1], [2, 2]).round(4).tolist()
        [0.6, 0.2571]
        """
        cells = np.atleast_1d(np.asarray(positions, np.int64))
        wrong = np.isin(cells, self.sample.cells) | np.isin(cells, self.sample.impossible)
        wrong |= (cells < 0) | (cells >= self.sample.size)
        if wrong.any():
            raise RequestError(f"position {cells[wrong][0]} is not that of an empty cell that can occur")
        further = np.broadcast_to(np.asarray(count, np.int64), cells.shape)
        return np.exp(self.urn.log_pmf(further, self.prior.weight_of(cells)))

    def mean(self) -> FloatArray:
        """E(F_i | f) of the non-empty cells."""
        return self.sample.counts + self.urn.mean(self.weights)

    def sd(self) -> FloatArray:
        """Standard deviation of F_i given f, of the non-empty cells."""
        return np.sqrt(self.urn.variance(self.weights))

    def untouched(self, counted: Mask) -> UntouchedLaw:
        """Return the exact law of how many of the counted cells gain nobody."""
        free = CountBounds.of(self.sample, self.prior, None)
        groups = free.after(self.sample, self.weights, counted).groups()
        try:
            return restricted_law(self.urn, groups)
        except LimitError:
            if len(groups) != 1:
                raise
            return rare_law(self.urn, groups[0])


@dataclass(frozen=True, eq=False, repr=False)
class MixturePosterior(Posterior):
    """Posterior under a mixture: the base posterior, its parts inside and outside the event reweighted.

    P(A | f) ∝ γ·P(A, E | f)/P(E) + (1−γ)·P(A, not E | f)/P(not E), all under the base prior, because the
    mixture's density is the base density times γ/P(E) or (1−γ)/P(not E). Every term is computed exactly by
    convolution of the base prior's urn.
    """

    prior: Mixture
    bounds: CountBounds
    log_inside: float
    log_outside: float
    log_evidence: float

    @classmethod
    def of(cls, sample: Sample, prior: Mixture) -> MixturePosterior:
        """Weigh the event before and after the sample."""
        base = prior.base
        bounds = CountBounds.of(sample, base, prior.event)
        inside, outside = split(base.before(sample), bounds.before(sample, base).groups(), counting=False)
        sides = (inside, outside) if prior.event.inside else (outside, inside)
        logs = []
        for share, law, place, cure in zip(
            (prior.gamma, 1.0 - prior.gamma), sides, ("on", "on the opposite of"), (0, 1), strict=True
        ):
            if share > 0 and law.log_probability == -np.inf:
                raise RequestError(
                    f"the prior puts weight {share:g} {place} {prior.event.label!r}, but no population of "
                    f"{sample.population:,} people on {sample.possible:,} cells is like that under the "
                    f"{base.name} prior; set gamma to {cure}"
                )
            logs.append(float(np.log(share)) - law.log_probability if share > 0 else -np.inf)
        if not prior.event.inside:
            logs.reverse()
        urn, weights = base.after(sample)
        made = cls(sample, prior, urn, weights, bounds, logs[0], logs[1], 0.0)
        evidence = made._law(np.zeros(sample.cells.size, bool), counting=False).log_probability
        if evidence == -np.inf:
            raise RequestError(
                f"the prior ({prior.name}) gives the data probability zero: the sample's counts contradict the "
                "event; change the event or lower its weight"
            )
        return cls(sample, prior, urn, weights, bounds, logs[0], logs[1], evidence)

    def _law(self, counted: Mask, counting: bool = True, pin: tuple[int, int] | None = None) -> UntouchedLaw:
        """The unnormalised posterior law of U, jointly with F_i = f_i + x when a cell i is pinned to x."""
        groups = self.bounds.after(self.sample, self.weights, counted).groups(skip=pin[0] if pin else None)
        if pin is None:
            inside, outside = split(self.urn, groups, counting=counting)
        else:
            cell, x = pin
            pinned = [CellGroup(1, float(self.weights[cell]), x, x)]
            inside, outside = split(self.urn, groups, pinned, counting=counting)
            if not self.bounds.low[cell] <= self.sample.counts[cell] + x <= self.bounds.high[cell]:
                inside, outside = NEVER, mix([(0.0, inside), (0.0, outside)])
        return mix([(self.log_inside, inside), (self.log_outside, outside)])

    def probability(self, count: npt.ArrayLike, cells: npt.ArrayLike | None = None) -> FloatArray:
        """Return P(F_i = count | f), computed once for equal cells."""
        chosen, further = self._further(count, cells)
        columns = (self.weights, self.bounds.low, self.bounds.high, self.sample.counts)
        first, which = distinct(further, *(column[chosen] for column in columns))
        result = np.zeros(first.size)
        nobody = np.zeros(self.sample.cells.size, bool)
        for i, row in enumerate(first):
            cell, x = int(chosen[row]), int(further[row])
            if 0 <= x <= self.urn.balls:
                law = self._law(nobody, counting=False, pin=(cell, x))
                result[i] = np.exp(law.log_probability - self.log_evidence)
        return result[which]

    def untouched(self, counted: Mask) -> UntouchedLaw:
        """Return the exact law of how many of the counted cells gain nobody."""
        return self._law(counted)


def exact_posterior(sample: Sample, prior: Prior) -> Posterior:
    """Return the exact posterior.

    Raises:
        LimitError: when a mixture's event has no exact probability within the budget of work.
        RequestError: when the prior gives the data probability zero.
    """
    if isinstance(prior, Mixture):
        return MixturePosterior.of(sample, prior)
    if isinstance(prior, UrnPrior):
        urn, weights = prior.after(sample)
        return UrnPosterior(sample, prior, urn, weights)
    raise RequestError(f"no posterior is known for the prior {prior!r}; use an urn prior or a mixture of one")
