"""Models of the population behind a sample, tested against it and shown side by side."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from discreet.core.errors import InfeasibleError, LimitError
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.core.text import figure
from discreet.measures.estimate import Estimate, estimate
from discreet.models import LogLinear, PolyaUrn
from discreet.models.goodness import Goodness, goodness_of_fit
from discreet.table import Table
from discreet.uniques.loglinear_tau import LogLinearRisk, loglinear_risk, name_of
from discreet.uniques.selection import Selection

LEVEL = 0.05
"""A model is rejected when samples drawn from it fit it as badly as this one with a smaller probability."""
Margins = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class ModelView:
    """What a log-linear model, and the Pólya urn that fills as many cells, say of a sample; and whether it fits.

    Attributes:
        name: the model in words.
        goodness: G² and its p; p is None for the saturated model, which cannot be tested.
        uniques: τ₁ of the model, and the criteria by which it would misjudge it.
        risk: R2 over populations of the model.
        urn: R2 over populations of the urn whose |D̂| comes from the model; None for rejected models, and where there
            are too few people to fill as many cells.
        urn_tau: how many sample uniques the urn leaves alone.
        rejected: why the data reject the model; empty where they do not.
    """

    name: str
    margins: Margins
    goodness: Goodness
    uniques: LogLinearRisk
    risk: Estimate
    urn: Estimate | None
    urn_tau: float | None
    rejected: str

    @property
    def estimates(self) -> list[tuple[str, Estimate]]:
        """The estimates of R2 with their names."""
        return [(self.name, self.risk), *([] if self.urn is None else [(_urn(self.name), self.urn)])]

    @property
    def taus(self) -> dict[str, float]:
        """The estimates of τ with their names."""
        return {self.name: self.uniques.tau1, **({} if self.urn_tau is None else {_urn(self.name): self.urn_tau})}

    def rows(self) -> list[list[str]]:
        """Return each estimate as a row of text: model, R2, population uniques, fit."""
        return [
            [
                name,
                f"{figure(found.mean)} ± {figure(found.mc_error, 5)}",
                f"{self.taus[name]:.4g}",
                self.fit if found is self.risk else "",
            ]
            for name, found in self.estimates
        ]

    @property
    def fit(self) -> str:
        """How well the model fits, in words."""
        if self.goodness.p is None:
            return "repeats the sample, cannot be tested"
        test = f"G² = {self.goodness.g2:,.4g} on {self.goodness.df:,} df, p = {self.goodness.p:.2g}"
        return f"{test}; rejected: {self.rejected}" if self.rejected else f"{test}; not rejected"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "margins": [list(margin) for margin in self.margins],
            "fit": self.goodness.to_dict(),
            "underfitting": self.uniques.b2.z,
            "rejected": self.rejected or None,
            "text": self.fit,
            "r2": _r2(self.risk),
            "tau": self.uniques.tau1,
            "urn": None if self.urn is None else {**_r2(self.urn), "tau": self.urn_tau, **self.urn.details},
        }


def model_views(
    table: Table,
    population: int,
    selection: Selection,
    *,
    draws: int,
    weights: tuple[float, float, float],
    seed: Seed,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[ModelView, ...]:
    """Fit, test and use the models from independence to the saturated one.

    Those between are the ones that the selection for population uniques went through, and all interactions of two, of
    three, … dimensions. A model is rejected when G² or the criterion B₂ of Skinner and Shlomo says that it does not
    fit. Models that cannot be fitted, or repeat the sample, are left out; the saturated one, which is the sample's own
    pattern, is always there.
    """
    drawing: dict[str, Any] = {"draws": draws, "weights": weights, "slices": (), "test": False, "seed": seed}
    drawing |= {"workers": workers, "progress": progress}

    def view(margins: Margins, known: LogLinearRisk | None) -> ModelView | None:
        model = LogLinear(margins)
        fit = goodness_of_fit(model, table, seed=seed, workers=workers)
        if fit.p is None and len(margins) > 1:
            # As good as the saturated model, which comes last.
            return None
        uniques = known or loglinear_risk(table, margins, population=population)
        rejected = ""
        if fit.p is not None and fit.p < LEVEL:
            rejected = "it does not fit the counts"
        elif fit.p is not None and uniques.b2.z > selection.limit:
            rejected = f"it is too simple for the small counts (B₂/√v = {uniques.b2.z:.2f})"
        urn = urn_tau = None
        if not rejected:
            try:
                urn = estimate(table, population, model=PolyaUrn(zeros_from=model), **drawing)
                # A colour with one ball gains none in N − n draws: Π (n + θ + z − 1)/(n + θ + z).
                theta = float(str(urn.details["theta"]))
                urn_tau = uniques.sample_uniques * (table.total + theta - 1) / (population + theta - 1)
            except InfeasibleError:
                pass
        risk = estimate(table, population, model=model, **drawing)
        return ModelView(_name(table, margins), margins, fit, uniques, risk, urn, urn_tau, rejected)

    found = []
    for margins, known in _candidates(table, selection):
        try:
            found.append(view(margins, known))
        except LimitError:
            if len(margins) == 1:
                raise
    return tuple(one for one in found if one is not None)


def _candidates(table: Table, selection: Selection) -> list[tuple[Margins, LogLinearRisk | None]]:
    """Return every model once, the simplest first; its risks where they are known."""
    path: dict[Margins, LogLinearRisk | None] = {tuple(sorted(step.model)): step for step in selection.path}
    for size in range(2, len(table.names) + 1):
        path.setdefault(tuple(sorted(combinations(table.names, size))), None)
    return list(path.items())


def _name(table: Table, margins: Margins) -> str:
    if any(set(margin) == set(table.names) for margin in margins):
        return "the sample's own pattern"
    if all(len(margin) == 1 for margin in margins):
        return f"independence {name_of(margins)}"
    return f"log-linear {name_of(margins)}"


def _urn(name: str) -> str:
    return f"Pólya urn, zeros from {name}"


def _r2(found: Estimate) -> dict[str, Any]:
    return {"mean": found.mean, "mc_error": found.mc_error, "sd": found.sd}
