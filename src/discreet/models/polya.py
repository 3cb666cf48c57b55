"""The Pólya urn model of a population: sampled cells grow, and black balls fill sample zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.models.loglinear import LogLinear
from discreet.models.population import Population, check_size
from discreet.models.theta import solve_theta
from discreet.table import Table


@dataclass(frozen=True)
class PolyaUrn:
    """An urn that starts with the sample and θ black balls (antal2015, section 5.2).

    A ball is drawn N − n times. A coloured ball goes back with another of its colour, a black one with a ball of a new
    colour; a new colour is a sample zero that somebody fills. θ makes the expected number of new colours |E| − |D|, the
    sample zeros that are filled in the population:

    - |D| known: (5), θ·(ψ(N + θ) − ψ(n + θ)) = |E| − |D|;
    - |D| unknown: (6), the same with |D̂| = Σ(1 − p̂ᵢ)ᴺ, where p̂ is a log-linear fit; by default that of independence,
      as in the paper, which fills too many cells where the dimensions are associated.

    θ = 0 when |E| − |D| is 0 or less. Only possible cells count in |E| and |D|, not structural zeros.

    **The law of the draw.** Without a cap, the balls added to the k sampled colours and to all new ones
    together are Dirichlet-multinomial with parameters (f₁, …, f_k, θ), and B balls of new colours split as
    an Ewens(θ) partition: of m balls the oldest colour has 1 + BetaBinomial(m − 1; 1, θ), and the rest are
    split in the same way.

    **The cap.** There are only C = |E| cells for new colours; once all are taken, the draw of a black ball
    counts as the draw of a coloured one. Call the colours after the first C *surplus*. In the uncapped urn,
    a draw that does not go to black or surplus balls falls on the others in proportion to their numbers, and
    how many draws go astray does not depend on how the others are made up. So the other balls alone are,
    from the C-th new colour on, a Pólya urn without black balls, seen at a random number of draws. Taking
    the surplus balls back and drawing as many again from that urn gives it exactly the draws that the capped
    urn makes.

    Which empty cell a new colour gets is drawn uniformly: the model does not say, and a measure of the whole
    table does not depend on it.

    Attributes:
        population_zeros: |D|, when it is known.
        theta: θ, when it is known.
        zeros_from: the log-linear model whose p̂ gives |D̂|, when neither is known.

    >>> sample = Table.from_array([[5, 0, 1], [3, 2, 0]], ["area", "religion"])
    >>> round(PolyaUrn(population_zeros=1).solve(sample, 100), 4)
    0.4523
    >>> PolyaUrn().population(sample, 100).draw(seed=1, size=2).sum(axis=1).tolist()
    [100, 100]
    """

    name: ClassVar[str] = "polya"

    population_zeros: int | None = None
    theta: float | None = None
    zeros_from: LogLinear | None = None

    def __post_init__(self) -> None:
        """Check what is known."""
        if self.zeros_from is not None and (self.population_zeros is not None or self.theta is not None):
            raise RequestError("zeros_from estimates the number of population zeros; leave it out, or what is known")
        if self.population_zeros is not None and self.theta is not None:
            raise RequestError(
                f"population_zeros is {self.population_zeros} and theta is {self.theta}; "
                "the first only serves to find the second, so give one of them"
            )
        if self.population_zeros is not None and self.population_zeros < 0:
            raise RequestError(f"population_zeros is {self.population_zeros}; give a number of cells, 0 or more")
        if self.theta is not None and not 0 <= self.theta < np.inf:
            raise RequestError(f"theta is {self.theta}; give a finite number of black balls, 0 or more")

    def new_cells(self, sample: Table, population: int) -> float:
        """Return |E| − |D|, or |E| − |D̂|: how many sample zeros are to be filled.

        Many samples of one size are solved for at once by :func:`discreet.models.theta.solve_theta`.
        """
        check_size(sample, population)
        zeros = sample.possible - sample.cells.size
        if self.population_zeros is None:
            return zeros - expected_zeros(sample, population, self.zeros_from)
        if self.population_zeros > zeros:
            raise RequestError(
                f"population_zeros is {self.population_zeros:,}, but the sample has only {zeros:,} zeros; "
                "whatever is empty in the population is empty in the sample too"
            )
        return float(zeros - self.population_zeros)

    def solve(self, sample: Table, population: int) -> float:
        """Return θ for a sample.

        Raises:
            InfeasibleError: when more cells are to be filled than people are outside the sample.
        """
        check_size(sample, population)
        if self.theta is not None:
            return float(self.theta)
        if population == sample.total and self.population_zeros is None:
            # Nobody is left to draw: nothing has to be estimated.
            return 0.0
        return float(solve_theta(self.new_cells(sample, population), sample.total, population))

    def population(self, sample: Table, population: int) -> Population:
        """Return the population that the urn makes of a sample."""
        return Population(sample, population, theta=self.solve(sample, population))

    def details(self, sample: Table, fitted: Population) -> dict[str, Json]:
        """Return θ."""
        return {"theta": fitted.theta}


def expected_zeros(sample: Table, population: int, model: LogLinear | None = None) -> float:
    """Return |D̂| = Σ(1 − p̂ᵢ)ᴺ, how many possible cells are expected to be empty in the population.

    p̂ is a log-linear fit to the sample: independence in antal2015, section 5.2, and by default.

    >>> round(expected_zeros(Table.from_array([[1, 1], [1, 1]], ["area", "sex"]), 4), 6) == 4 * 0.75**4
    True
    """
    p = np.delete((model or LogLinear()).fit(sample).probabilities, sample.impossible)
    with np.errstate(divide="ignore"):
        # At p = 1 the logarithm is −∞ and the cell is certainly filled.
        return float(np.exp(population * np.log1p(-np.minimum(p, 1.0))).sum())
