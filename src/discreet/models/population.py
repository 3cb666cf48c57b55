"""A population as an intruder may imagine it: the sample, and everybody else drawn from a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.random import Seed, generator
from discreet.models.draws import draw_multinomial, draw_urn
from discreet.table import Table

LARGEST_RESULT = 2**29
"""The largest number of figures that one call draws, 4 GiB."""


@dataclass(frozen=True, eq=False, repr=False)
class Population:
    """The law of the unknown population table F, given the sample table f.

    F contains the n people of the sample; the other N − n are drawn from one of two models:

    - ``probabilities``: F = f + Multinomial(N − n; p), the log-linear approach of antal2015, section 5.1;
    - ``theta``: F is a Pólya urn that starts with f and θ black balls and ends with N coloured ones (5.2).

    Attributes:
        sample: f.
        population: N.
        probabilities: p over all cells in row-major order, 0 at structural zeros.
        theta: θ, the number of black balls.

    >>> table = Table.from_array([[3, 0], [1, 5]], ["area", "sex"])
    >>> Population(table, 100, theta=1.5).draw(seed=1, size=2).sum(axis=1).tolist()
    [100, 100]
    >>> Population(table, 100, theta=1.5)
    Population of 100 behind a sample of 9: Pólya urn with θ = 1.5
    """

    sample: Table
    population: int
    probabilities: FloatArray | None = None
    theta: float | None = None

    def __post_init__(self) -> None:
        """Check the figures against the sample and freeze the probabilities."""
        check_size(self.sample, self.population)
        object.__setattr__(self, "population", int(self.population))
        if (self.probabilities is None) == (self.theta is None):
            raise RequestError("give either the cells' probabilities or theta, one of the two")
        if self.theta is not None and not 0 <= self.theta < np.inf:
            raise RequestError(f"theta is {self.theta}; give a finite number of black balls, 0 or more")
        if self.probabilities is not None:
            object.__setattr__(self, "probabilities", _checked(self.sample, self.probabilities))

    def __repr__(self) -> str:
        """Return one line: the sizes and the model."""
        law = "multinomial" if self.theta is None else f"Pólya urn with θ = {self.theta:.6g}"
        return f"Population of {self.population:,} behind a sample of {self.sample.total:,}: {law}"

    @property
    def unseen(self) -> int:
        """N − n, the number of people outside the sample."""
        return self.population - self.sample.total

    def draw(self, seed: Seed = None, size: int = 1) -> IntArray:
        """Draw population tables.

        Every row is one table, its columns all cells in row-major order: never below the sample, 0 at structural
        zeros, adding up to N. The same seed and size give the same rows. Small problems use compiled look-up tables,
        large ones NumPy, which follow the same law.
        """
        cells = self.sample.size
        if size < 0:
            raise RequestError(f"size is {size}; ask for 0 tables or more")
        if size * cells > LARGEST_RESULT:
            raise LimitError(
                f"{size:,} tables of {cells:,} cells are more than the {LARGEST_RESULT:,} figures that one "
                f"call draws; draw at most {LARGEST_RESULT // cells:,} tables at a time"
            )
        base = self.sample.to_array().ravel()
        if not self.unseen or not size:
            return np.tile(base, (size, 1))
        source = generator(seed)
        if self.probabilities is not None:
            return draw_multinomial(base, self.probabilities, self.unseen, size, source)
        assert self.theta is not None
        return draw_urn(base, sample_zeros(self.sample), float(self.theta), self.unseen, size, source)


class PopulationModel(Protocol):
    """A model with its parameters: it draws the people outside a sample."""

    name: ClassVar[str]

    def population(self, sample: Table, population: int) -> Population:
        """Return the law of the population of N people that a sample is from."""

    def details(self, sample: Table, fitted: Population) -> dict[str, Json]:
        """Say how the model was fitted, as plain data."""


def sample_zeros(sample: Table) -> IntArray:
    """Return the positions of E: cells that are possible, but empty in the sample.

    >>> sample_zeros(Table.from_array([2, 0, 1], ["month"])).tolist()
    [1]
    """
    free = np.ones(sample.size, bool)
    free[sample.cells] = False
    free[sample.impossible] = False
    return np.flatnonzero(free)


def check_size(sample: Table, population: int) -> None:
    """Check that the sample is not empty and fits into the population."""
    if isinstance(population, bool) or not isinstance(population, int | np.integer):
        raise RequestError(f"the population is {population!r}; give an integer")
    if not sample.total:
        raise DataError("the sample is empty; a population cannot be estimated from nobody")
    if population < sample.total:
        raise RequestError(
            f"the population has {population:,} people, but the sample {sample.total:,}; "
            "the population includes the sample, so give at least as many"
        )


def _checked(sample: Table, probabilities: FloatArray) -> FloatArray:
    """Return probabilities that add up to 1 as nearly as floating-point numbers allow."""
    p = np.array(probabilities, dtype=np.float64).ravel()
    if p.size != sample.size:
        raise RequestError(f"there are {p.size:,} probabilities for {sample.size:,} cells; give one per cell")
    lost = np.zeros(p.size, bool)
    lost[sample.impossible] = True
    for wrong, reason in (
        (~np.isfinite(p) | (p < 0), "give numbers from 0 to 1"),
        (lost & (p > 0), "a structural zero must have probability 0"),
    ):
        if wrong.any():
            cell = int(np.argmax(wrong))
            raise RequestError(f"cell {sample.describe(cell)} has probability {p[cell]:g}; {reason}")
    total = float(p.sum())
    if abs(total - 1) > 1e-6:
        raise RequestError(f"the probabilities add up to {total:.9g}; they must add up to 1")
    p /= total
    p.flags.writeable = False
    return p
