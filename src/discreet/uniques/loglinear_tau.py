"""τ₁ and τ₂: how many sample uniques are alone in the population, and how many could be matched, by a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray, mean_inverse
from discreet.core.text import Face, Result, figure
from discreet.models.loglinear import fit_margins
from discreet.table import Table
from discreet.table.grid import locate
from discreet.uniques.criteria import Criterion, alone, criteria, matched

Margins = Literal["main", "two-way"] | Sequence[Sequence[str]]


class Scale(TypedDict, total=False):
    """What scales sample counts up to the population: its size, the sampling fractions, or the weighted counts."""

    population: int | None
    fractions: npt.ArrayLike | None
    weighted: npt.ArrayLike | None


@dataclass(frozen=True, eq=False)
class Rates:
    """A log-linear model's expected population counts λ̂, and how they were obtained.

    Attributes:
        table: the sample table.
        rate: λ̂ of every combination of categories, row-major; 0 at structural zeros.
        fraction: π of every combination, or one for all.
        margins: the margins that the model reproduces.
        fitted_to: ``"unweighted"`` sample counts or ``"weighted"`` counts.
        iterations: cycles of proportional fitting.
    """

    table: Table
    rate: FloatArray
    fraction: FloatArray
    margins: tuple[tuple[str, ...], ...]
    fitted_to: str
    iterations: int


@dataclass(frozen=True, eq=False, repr=False)
class LogLinearRisk(Result):
    """Disclosure risk of a sample under a log-linear model of the population.

    τ₁ = Σ_SU exp(−(1−π)λ) is the expected number of sample uniques that are population uniques, and
    τ₂ = Σ_SU (1−exp(−(1−π)λ))/((1−π)λ) the expected number of correct matches when each sample unique is matched
    with somebody in the population who looks the same (Skinner and Shlomo 2008, section 2). λ is the expected count
    in the *population*; a model of the sample's counts gives πλ, and must be divided by π first.

    ``alone`` and ``matched`` are the two risks of every non-empty cell: P(F = 1 | f), 0 unless f = 1, and
    E(1/F | f), the chance that a person of the cell is matched correctly.
    """

    model: tuple[tuple[str, ...], ...]
    fitted_to: str
    sample_uniques: int
    sampling_fraction: float
    tau1: float
    tau2: float
    b1: Criterion
    b2: Criterion
    iterations: int
    warning: str | None
    cells: IntArray
    counts: IntArray
    alone: FloatArray
    matched: FloatArray

    def records(self, cells: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return both risks of records, given each record's cell as its position in the table."""
        positions = np.asarray(cells, np.int64)
        place = locate(self.cells, positions)
        strange = place < 0
        if strange.any():
            raise DataError(f"the cell at position {positions[strange][0]} holds nobody of the sample; check the codes")
        return self.alone[place], self.matched[place]

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        arrays = ("cells", "counts", "alone", "matched")
        plain = {name: value for name, value in vars(self).items() if name not in arrays}
        model = [list(margin) for margin in self.model]
        return {**plain, "model": model, "b1": self.b1.to_dict(), "b2": self.b2.to_dict()}

    def face(self, most: int) -> Face:
        """Return the estimates and the criteria."""
        first, second = (f"{figure(b.value)} ({figure(b.z, 2)}, {figure(b.robust_z, 2)})" for b in (self.b1, self.b2))
        rows = [
            ["model", name_of(self.model)],
            ["fitted to", f"{self.fitted_to} counts"],
            ["sample uniques", f"{self.sample_uniques:,}"],
            ["population uniques among them, τ₁", figure(self.tau1)],
            ["correct matches among them, τ₂", figure(self.tau2)],
            ["B₁ (B₁/√v, robust)", first],
            ["B₂ (B₂/√v, robust)", second],
            *([["warning", self.warning]] if self.warning is not None else []),
        ]
        return Face(["log-linear risk", ""], rows, left=2)


def name_of(model: Sequence[Sequence[str]]) -> str:
    """Return a model as its margins in brackets.

    >>> name_of([("age", "sex"), ("area",)])
    '[age × sex] [area]'
    """
    return " ".join(f"[{' × '.join(margin)}]" for margin in model)


def margins_of(table: Table, margins: Margins) -> tuple[tuple[str, ...], ...]:
    """Return margins by name; ``"main"`` are all single dimensions, ``"two-way"`` all pairs.

    >>> margins_of(Table.from_array([[1, 2]], ["area", "sex"]), "main")
    (('area',), ('sex',))
    """
    if margins == "main":
        return tuple((name,) for name in table.names)
    if margins == "two-way":
        return tuple(combinations(table.names, 2)) if len(table.names) > 1 else (table.names,)
    if isinstance(margins, str):
        raise RequestError(f"the model is {margins!r}; choose 'main', 'two-way' or a list of margins")
    return tuple(tuple(margin) for margin in margins)


def fit_rates(
    table: Table,
    margins: Margins = "main",
    *,
    population: int | None = None,
    fractions: npt.ArrayLike | None = None,
    weighted: npt.ArrayLike | None = None,
    tolerance: float = 1e-8,
) -> Rates:
    """Fit a hierarchical log-linear model and return the population counts λ̂ that it expects.

    Unweighted, log λ is linear in the model's interactions and the counts are Poisson(πλ): the fit starts from π
    instead of 1, and where all π are the same λ̂ is the ordinary fit divided by π. Weighted, λ̂ reproduces the
    weighted margins (pseudo maximum likelihood), so it is on the population's scale already; the sampling fraction of
    a cell is then its fitted sample count over λ̂, because weights that differ mean fractions that differ.

    Args:
        table: the sample table.
        margins: ``"main"``, ``"two-way"``, or the margins to reproduce.
        population: N, which makes π = n/N everywhere. Give this, or the fractions, or the weights.
        fractions: π, one for all cells or one for each combination of categories in the table's shape.
        weighted: sums of survey weights, in the table's shape; they must add up to the population.
        tolerance: the largest relative gap left in a fitted margin.

    >>> table = Table.from_array([[1, 3], [2, 6]], ["area", "sex"])
    >>> fit_rates(table, population=120).rate.round(6).tolist()
    [10.0, 30.0, 20.0, 60.0]
    """
    if not table.total:
        raise DataError("the sample is empty; a model cannot be fitted to nobody")
    weights = None if weighted is None else _weights(table, weighted)
    fraction = _fractions(table, population, fractions, weights)
    names = margins_of(table, margins)
    counts = table.to_array()
    if weights is None:
        fitted, used = fit_margins(table, names, counts, fraction, tolerance=tolerance)
        rate = fitted.values.ravel() / fraction
    else:
        fitted, used = fit_margins(table, names, weights, tolerance=tolerance)
        rate = fitted.values.ravel()
        if fractions is None:
            sampled = fit_margins(table, names, counts, tolerance=tolerance)[0].values.ravel()
            fraction = np.where(rate > 0, sampled / np.where(rate > 0, rate, 1.0), fraction)
            fraction = np.clip(fraction, np.finfo(float).tiny, 1.0)
    to = "unweighted" if weights is None else "weighted"
    return Rates(table, rate, fraction, used, to, fitted.iterations)


def _weights(table: Table, weighted: npt.ArrayLike) -> FloatArray:
    weights, counts = np.asarray(weighted, np.float64).ravel(), table.to_array().ravel()
    if weights.size != table.size:
        raise RequestError(f"there are {weights.size:,} weighted counts for {table.size:,} cells; give one per cell")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError("a weighted count is negative or missing; weights are 0 or more")
    if ((weights > 0) != (counts > 0)).any():
        odd = int(np.argmax((weights > 0) != (counts > 0)))
        raise DataError(
            f"cell {table.describe(odd)} has weight {weights[odd]:g} but {counts[odd]} people; weights and counts must "
            "come from the same records"
        )
    return weights.reshape(table.shape)


def _fractions(
    table: Table, population: int | None, fractions: npt.ArrayLike | None, weights: FloatArray | None
) -> FloatArray:
    if fractions is None:
        if population is None and weights is None:
            raise RequestError("give the population's size, the sampling fractions or the weighted counts")
        summed = float(weights.sum()) if weights is not None else float(population or 0)
        total = summed if population is None else float(population)
        if abs(summed - total) > 0.1 * total:
            raise DataError(
                f"the weights add up to {summed:,.6g}, but the population has {total:,.0f} people; weights say how "
                "many people a record represents: scale them to the population, or leave them out"
            )
        if total < table.total:
            raise RequestError(
                f"the population has {total:,.0f} people, but the sample {table.total:,}; "
                "give the size of the whole population"
            )
        return np.array([table.total / total])
    if population is not None:
        raise RequestError("give either the population's size or the sampling fractions, one of the two")
    array = np.asarray(fractions, np.float64).ravel()
    if array.size not in (1, table.size):
        raise RequestError(f"there are {array.size:,} sampling fractions for {table.size:,} cells; give 1 or all")
    wrong = ~((array > 0) & (array <= 1))
    if wrong.any():
        raise RequestError(f"a sampling fraction is {array[wrong][0]:g}; give fractions above 0 and at most 1")
    return array


def loglinear_risk(table: Table, margins: Margins = "main", **scale: Unpack[Scale]) -> LogLinearRisk:
    """Estimate τ₁ and τ₂ with one log-linear model; see ``fit_rates`` for the arguments.

    >>> table = Table.from_array([[1, 3], [2, 6]], ["area", "sex"])
    >>> result = loglinear_risk(table, population=24)
    >>> round(result.tau1, 4), round(result.tau2, 4)
    (0.3679, 0.6321)
    """
    return risk_of(fit_rates(table, margins, **scale))


def risk_of(fitted: Rates) -> LogLinearRisk:
    """Return the risks under a fitted model."""
    table = fitted.table
    dense = np.zeros(table.size)
    dense[table.cells] = table.counts
    b1, b2 = criteria(dense, fitted.rate, fitted.fraction)
    rate = fitted.rate[table.cells]
    fraction = np.broadcast_to(fitted.fraction, (table.size,))[table.cells]
    unique = table.counts == 1
    first = np.where(unique, alone(rate, fraction)[0], 0.0)
    second = np.where(unique, matched(rate, fraction)[0], 0.0)
    # E(1/F | f) with F − f Poisson(m) is ∫₀¹ u^{f−1}·e^{−m(1−u)} du.
    m = (1.0 - fraction) * rate
    rest = ~unique
    second[rest] = mean_inverse(table.counts[rest], m[rest])
    overall = float(table.total / (table.counts / fraction).sum())
    return LogLinearRisk(
        model=fitted.margins,
        fitted_to=fitted.fitted_to,
        sample_uniques=int(unique.sum()),
        sampling_fraction=overall,
        tau1=float(first[unique].sum()),
        tau2=float(second[unique].sum()),
        b1=b1,
        b2=b2,
        iterations=fitted.iterations,
        warning=consistency_warning(table.total, overall),
        cells=table.cells,
        counts=table.counts,
        alone=first,
        matched=second,
    )


def consistency_warning(n: int, fraction: float) -> str | None:
    """Warn when the sample is too small a part of the population to learn τ₁ from the data alone.

    Camerlenghi, Favaro, Naulet and Panero (2021, Annals of Statistics 49, "Optimal disclosure risk assessment")
    show that without a model no estimator of τ₁ is consistent when the sampling fraction shrinks faster than
    1/log n. They prove the order of magnitude; the constant 1 is our choice.

    >>> consistency_warning(100_000, 0.5) is None
    True
    """
    if n < 2 or fraction >= 1.0 / math.log(n):
        return None
    return (
        f"the sampling fraction {fraction:.3g} is below 1/log n = {1.0 / math.log(n):.3g}: without the model no "
        "estimator of τ₁ is consistent at so small a fraction, so the estimate rests on the model alone"
    )
