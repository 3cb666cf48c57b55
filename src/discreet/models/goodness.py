"""Does a log-linear model fit the sample at all? Its likelihood ratio G² beside that of samples drawn from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from discreet.core.errors import LimitError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray, xlogy
from discreet.core.parallel import run
from discreet.core.random import Seed, spawn
from discreet.models.loglinear import FittedLogLinear, LogLinear
from discreet.table import Table

DRAWS = 99
"""Samples drawn from a model to test it: a p of 0.05 is four of them with a larger G²."""
_TOLERANCE, _CYCLES = 1e-3, 100
"""The tolerance of a fit to a drawn sample: coarse, because G² is only compared, and 99 samples are fitted."""


@dataclass(frozen=True)
class Goodness:
    """How well a model fits a sample.

    ``g2`` is G² = 2·Σ f·log(f/μ̂), ``df`` the number of cells less that of parameters, and ``p`` the share of samples
    drawn from the model, each fitted anew, whose G² is as large. A small p rejects the model; a model that
    reproduces the sample, as the saturated one does, cannot be tested: its p is None.
    """

    g2: float
    df: int
    p: float | None

    def to_dict(self) -> dict[str, Json]:
        """Return plain numbers for programs."""
        return dict(vars(self))


def goodness_of_fit(
    model: LogLinear, sample: Table, *, draws: int = DRAWS, seed: Seed = None, workers: int | None = None
) -> Goodness:
    """Test a log-linear model by the parametric bootstrap.

    Most cells of the tables at hand are empty or nearly so, and G² does not follow χ² there; it is compared with the
    G² of samples of the same size that the fitted model draws.

    >>> goodness_of_fit(LogLinear(), Table.from_array([[40, 0], [0, 40]], ["area", "sex"]), seed=1)
    Goodness(g2=110.90354888959125, df=1, p=0.01)
    """
    if draws < 19:
        raise RequestError(f"draws is {draws}; a test at 5% needs 19 or more")
    fitted = model.fit(sample)
    counts = sample.to_array().ravel()
    found = deviance(counts, fitted.expected.ravel())
    df = degrees_of_freedom(sample, fitted)
    if np.allclose(counts, fitted.expected.ravel(), rtol=0, atol=1e-4):
        return Goodness(found, df, None)
    every, again = np.arange(sample.size), replace(model, tolerance=_TOLERANCE, max_iterations=_CYCLES)

    def drawn(rng: np.random.Generator) -> float:
        table = sample.with_counts(every, rng.multinomial(sample.total, fitted.probabilities))
        try:
            return deviance(table.to_array().ravel(), again.fit(table).expected.ravel())
        except LimitError:
            # No evidence against the model.
            return np.inf

    others = np.array(run(drawn, spawn(seed, draws), workers=workers, apart=True))
    # Fits stop within a tolerance, so G² is no more accurate than that.
    at_least = int(np.count_nonzero(others >= found * (1 - 1e-6)))
    return Goodness(found, df, (1 + at_least) / (draws + 1))


def deviance(counts: IntArray, expected: FloatArray) -> float:
    """Return G² = 2·Σ f·log(f/μ).

    >>> round(deviance(np.array([3, 1]), np.array([2.0, 2.0])), 4)
    1.0465
    """
    seen = counts > 0
    people = counts[seen].astype(np.float64)
    return float(2 * xlogy(people, people / expected[seen]).sum())


def degrees_of_freedom(sample: Table, fitted: FittedLogLinear) -> int:
    """Return how many cells can be filled less how many parameters are fitted to the sample.

    A term of the model has as many parameters as its margin has non-empty cells, less those of the terms in it. With
    empty cells in a margin this is exact for decomposable models and near the truth for others.

    >>> table = Table.from_array([[3, 1, 0], [1, 5, 0]], ["area", "sex"])
    >>> degrees_of_freedom(table, LogLinear().fit(table))
    1
    """
    filled = fitted.expected > 0
    terms = {frozenset(term) for m in fitted.margins for size in range(len(m) + 1) for term in combinations(m, size)}
    parameters: dict[frozenset[str], int] = {}
    for term in sorted(terms, key=len):
        others = tuple(axis for axis, name in enumerate(sample.names) if name not in term)
        inside = sum(number for smaller, number in parameters.items() if smaller < term)
        parameters[term] = int(filled.any(axis=others).sum()) - inside
    return max(int(filled.sum()) - sum(parameters.values()), 0)
