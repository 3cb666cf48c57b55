"""Sample tables: judged by the rules like any table, and by what several models say about the unknown population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from discreet.core.effort import DrawOptions
from discreet.core.errors import InfeasibleError, LimitError, RequestError
from discreet.core.json_types import Json
from discreet.core.progress import Progress
from discreet.core.text import brief, figure
from discreet.decide.assessment import Assessment, Request
from discreet.decide.known_cells import STATES
from discreet.decide.subject import Subject
from discreet.decide.verdict import Check, failed, held
from discreet.measures.estimate import Estimate, estimate
from discreet.models import LogLinear, PolyaUrn
from discreet.models.goodness import Goodness, goodness_of_fit
from discreet.models.population import check_size
from discreet.table import Table
from discreet.table.grid import recode
from discreet.uniques.loglinear_tau import LogLinearRisk, loglinear_risk, name_of
from discreet.uniques.population_uniques import PopulationUniques, population_uniques
from discreet.uniques.selection import Selection

LEVEL = 0.05
"""A model is rejected if samples drawn from it fit as badly as this one with a probability below this."""
Margins = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class ModelView:
    """What a log-linear model, and the Pólya urn that fills as many cells, say about a sample; and whether it fits.

    Attributes:
        name: the model in words.
        goodness: G² and its p; p is None for the saturated model, which cannot be tested.
        uniques: τ₁ of the model, and the criteria by which it would misjudge it.
        risk: R2 over populations of the model.
        urn: R2 over populations of the urn whose |D̂| comes from the model; None for rejected models, and if there are
            too few people to fill that many cells.
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
                brief(self.taus[name]),
                self.fit if found is self.risk else "",
            ]
            for name, found in self.estimates
        ]

    @property
    def fit(self) -> str:
        """The goodness of fit in words."""
        if self.goodness.p is None:
            return "repeats the sample, cannot be tested"
        test = f"G² = {self.goodness.g2:,.4g} on {self.goodness.df:,} df, p = {brief(self.goodness.p, 2)}"
        return f"{test}; rejected: {self.rejected}" if self.rejected else f"{test}; not rejected"

    def to_dict(self) -> dict[str, Json]:
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


class PopulationDraws(DrawOptions, total=False):
    """How populations are drawn, and how R2 weighs its terms: options of :func:`estimate`."""

    weights: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class SampleEvidence:
    """What is estimated from a sample table: R2 and population uniques, under all models that the data do not reject.

    Attributes:
        models: the models, the rejected ones too, the simplest first and the sample's own pattern last.
        uniques: the population uniques under the priors.
        risk: the worst estimate of R2 that the data do not reject, with its slices.
        named: the model that it comes from.
    """

    models: tuple[ModelView, ...]
    uniques: PopulationUniques
    risk: Estimate
    named: str

    @property
    def accepted(self) -> tuple[ModelView, ...]:
        """The models that the data do not reject; the sample's own pattern is always among them."""
        return tuple(view for view in self.models if not view.rejected)

    @property
    def unexplained(self) -> bool:
        """Whether the data reject every model that they can reject."""
        tested = [view for view in self.models if view.goodness.p is not None]
        return bool(tested) and all(view.rejected for view in tested)

    @property
    def model_error(self) -> float:
        """Half the spread of the models that the data do not reject: the uncertainty due to the choice of a model."""
        means = [found.mean for view in self.accepted for _, found in view.estimates]
        return (max(means) - min(means)) / 2

    @property
    def error(self) -> float:
        """The margin added to the worst estimate: model error, spread of single populations, and Monte Carlo error."""
        return self.model_error + most(self.risk) - self.risk.mean

    @property
    def taus(self) -> dict[str, float]:
        """Every expected number of population uniques that counts, by its prior or model."""
        found = {}
        for name, view in self.uniques.priors.items():
            total = view.tau.total
            found[f"{name} prior"] = float(total.mean + 2 * (total.mc_error or 0.0))
        for model in self.accepted:
            found |= model.taus
        if self.unexplained:
            found["no model holds: all of them"] = float(self.uniques.sample_uniques)
        return found

    @property
    def tau(self) -> float:
        """τ̃, the largest expected number of population uniques: the careful reading."""
        return max(self.taus.values())

    def rows(self) -> list[list[str]]:
        """Return the figures that decide, as rows of text."""
        worst = max(self.taus, key=lambda name: self.taus[name])
        return [
            ["estimated risk R2, the worst not rejected", f"{figure(self.risk.mean)} ({self.named})"],
            ["± models", figure(self.model_error)],
            ["± populations, ± drawing", f"{figure(2 * self.risk.sd)}, {figure(2 * self.risk.mc_error, 5)}"],
            ["sample uniques", f"{self.uniques.sample_uniques:,}"],
            ["of these expected to be population uniques, τ̃", f"{brief(self.tau)} ({worst})"],
        ]

    def side_by_side(self) -> tuple[list[str], list[list[str]]]:
        """Return a header, and a row of text for every model and prior: what it says, and whether it fits."""
        rows = [row for view in self.models for row in view.rows()]
        for name, prior in self.uniques.priors.items():
            rows.append([f"{name} prior", "", brief(float(prior.tau.total.mean)), ""])
        return ["model of the population", "R2", "population uniques", "fit"], rows

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            "risk": self.risk.to_dict(),
            "worst_model": self.named,
            "model_error": self.model_error,
            "bound": self.risk.mean + self.error,
            "every_model_rejected": self.unexplained,
            "models": [view.to_dict() for view in self.models],
            "side_by_side": self.side_by_side()[1],
            "uniques": self.uniques.to_dict(),
            "taus": self.taus,
            "tau": self.tau,
        }


def assess_sample(
    subject: Subject,
    request: Request,
    assessed: Callable[[Request], Assessment],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """Judge a sample table: its counts by the policy's rules, like those of any table, and its people by estimates.

    A sample count is published like any other, so the rules, the audit and the limits on what can be worked out apply
    to it unchanged. R2 and the number of population uniques depend on the population and are estimated under every
    model that the data do not reject; the worst estimate is compared with the limits. A protected sample says no more
    about the population than the sample does, so R2 is not estimated again; sample uniques that nobody can recognise
    any more do not count. ``assessed`` does what is the same for tables that are not samples.
    """
    table, policy = subject.table, request.policy
    if table is None:
        raise RequestError(
            "a sample is judged by its counts, but this is a table of magnitudes, or one without all its dimensions "
            "crossed; leave the population out"
        )
    assert request.population is not None
    check_size(table, request.population)
    if request.population == table.total:
        policy.refuse_silence(magnitudes=False)
        made = assessed(request)
        text = f"the sample holds all {table.total:,} people of the population, and is judged as the population's table"
        return replace(made, checks=(*made.checks, Check("sample", True, text)))
    if policy.limits.r2 is None and policy.limits.tau is None:
        raise RequestError(
            f"policy {policy.name!r} has neither a limit r2 nor a limit tau, by which samples are judged; add one"
        )
    found = gathered(subject, request, workers, progress)
    # R2 of the sample as if it were the population says nothing; the estimate takes its place.
    without = policy.model_copy(update={"limits": policy.limits.model_copy(update={"r2": None})})
    made = assessed(replace(request, policy=without))
    checks = (*made.checks, *_estimated(found, request, _recognised(subject, made)))
    evidence = replace(made.evidence, risk=None)
    verdict = "withhold" if failed(checks) else made.verdict
    return replace(made, policy=policy, verdict=verdict, checks=checks, before=None, evidence=evidence, sample=found)


def gathered(subject: Subject, request: Request, workers: int | None, progress: Progress | None) -> SampleEvidence:
    """Estimate R2 and population uniques under all models."""
    table, N = subject.table, request.population
    assert table is not None
    assert N is not None
    uniques = population_uniques(table, N, seed=request.seed, workers=workers, progress=progress)
    if uniques.loglinear is None:
        raise RequestError(f"the models of the population cannot be fitted: {uniques.note}")
    drawing: PopulationDraws = {
        "draws": request.draws,
        "weights": request.policy.weights,
        "seed": request.seed,
        "workers": workers,
        "progress": progress,
    }
    models = model_views(table, N, uniques.loglinear, drawing)
    every: list[tuple[float, str, LogLinear | PolyaUrn]] = []
    for view in models:
        model = LogLinear(view.margins)
        laws: list[LogLinear | PolyaUrn] = [model, PolyaUrn(zeros_from=model)]
        for (name, one), law in zip(view.estimates, laws, strict=False):
            every += [] if view.rejected else [(most(one), name, law)]
    _, named, worst = max(every, key=lambda one: one[0])
    # The same draws again, with slices this time.
    return SampleEvidence(models, uniques, estimate(table, N, model=worst, test=False, **drawing), named)


def most(found: Estimate) -> float:
    """Return how large R2 may be under a model: its mean plus twice the deviation of populations and of drawing.

    There is only one true population, and its R2 differs from the mean over all that fit.
    """
    return found.mean + 2 * (found.sd + found.mc_error)


def _estimated(found: SampleEvidence, request: Request, recognised: int) -> list[Check]:
    """Compare the estimates with the limits."""
    limits, checks, risk = request.policy.limits, [], found.risk
    rejected = " (the data reject every model tried, so the verdict relies on none)" if found.unexplained else ""
    if limits.r2 is not None:
        value = risk.mean + found.error
        text = (
            f"the estimated risk R2 of the sample is {risk.mean:.4f} at worst, by {found.named}{rejected}; with "
            f"{found.model_error:.4f} between the models, {2 * risk.sd:.4f} between populations of one model and "
            f"{2 * risk.mc_error:.4f} for drawing it counts as {value:.4f}"
        )
        checks.append(held(limits, "r2", value, text))
    if limits.tau is not None:
        value = min(found.tau, float(recognised))
        all_of_them = found.uniques.sample_uniques
        seen = "" if recognised == all_of_them else f", of which {recognised:,} can be recognised in what is published"
        text = (
            f"of {all_of_them:,} sample uniques{seen}, {brief(value)} are expected to be alone in the population of "
            f"{request.population:,} too, by the most careful of {len(found.taus)} estimates"
            f"{rejected if recognised else ''}"
        )
        checks.append(held(limits, "tau", value, text))
    return checks


def _recognised(subject: Subject, made: Assessment) -> int:
    """Return how many sample uniques a reader can tell from other cells: all whose count is not proved to be open."""
    table = subject.table
    assert table is not None
    unique = table.cells[table.counts == 1]
    if made.sensitivity is None:
        return int(unique.size)
    codes = {axis.name: recode(table.grid.labels[axis.name], axis.codes) for axis in subject.tabulation.axes}
    place = table.grid.translate(unique, subject.tabulation.grid, codes)
    known = made.evidence.known
    open_ = made.sensitivity.tabulation.cells[known.cell[known.state == STATES.index("interval")]]
    return int(unique.size - np.isin(place, open_).sum())


def model_views(table: Table, population: int, selection: Selection, drawing: PopulationDraws) -> tuple[ModelView, ...]:
    """Fit, test and use the models from independence to the saturated one.

    The models in between are those that the selection for population uniques visited, and all interactions of two,
    three, … dimensions. A model is rejected when G² or the criterion B₂ of Skinner and Shlomo says that it does not
    fit. Models that cannot be fitted, or repeat the sample, are left out; the saturated one, which is the sample's own
    pattern, is always there.
    """

    def view(margins: Margins, known: LogLinearRisk | None) -> ModelView | None:
        model = LogLinear(margins)
        fit = goodness_of_fit(model, table, seed=drawing["seed"], workers=drawing["workers"])
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
                urn = estimate(table, population, model=PolyaUrn(zeros_from=model), slices=(), test=False, **drawing)
                # A colour with one ball gains none in N − n draws: Π (n + θ + z − 1)/(n + θ + z).
                theta = float(str(urn.details["theta"]))
                urn_tau = uniques.sample_uniques * (table.total + theta - 1) / (population + theta - 1)
            except InfeasibleError:
                pass
        risk = estimate(table, population, model=model, slices=(), test=False, **drawing)
        return ModelView(_name(table, margins), margins, fit, uniques, risk, urn, urn_tau, rejected)

    # Every model once, the simplest first; its risks where they are known.
    path: dict[Margins, LogLinearRisk | None] = {tuple(sorted(step.model)): step for step in selection.path}
    for size in range(2, len(table.names) + 1):
        path.setdefault(tuple(sorted(combinations(table.names, size))), None)
    found = []
    for margins, known in path.items():
        try:
            found.append(view(margins, known))
        except LimitError:
            if len(margins) == 1:
                raise
    return tuple(one for one in found if one is not None)


def _name(table: Table, margins: Margins) -> str:
    if any(set(margin) == set(table.names) for margin in margins):
        return "the sample's own pattern"
    if all(len(margin) == 1 for margin in margins):
        return f"independence {name_of(margins)}"
    return f"log-linear {name_of(margins)}"


def _urn(name: str) -> str:
    return f"Pólya urn, zeros from {name}"


def _r2(found: Estimate) -> dict[str, Json]:
    return {"mean": found.mean, "mc_error": found.mc_error, "sd": found.sd}
