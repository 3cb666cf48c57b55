"""R2 of a sample table whose population is unknown, estimated over population tables that a model draws.

The sample table will be published; what it gives away depends on the population behind it. A model fitted to the
sample draws population tables F̂ that contain it, and R2(F̂, f) is averaged over them; antal2015 sections 5 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Unpack

import numpy as np

from discreet.core.effort import DrawOptions, Effort
from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.random import spawn
from discreet.core.statistics import Moments
from discreet.core.text import Face, Result, brief, figure
from discreet.measures.entropy import DEFAULT_WEIGHTS, Form, Grouping, check_form, check_weights, r2_terms
from discreet.measures.lookup import SampleLookup
from discreet.measures.risk import check_measurable
from discreet.measures.risk_result import TERMS
from discreet.models import MODELS, Goodness, LogLinear, PopulationModel, goodness_of_fit
from discreet.models.population import Population
from discreet.reading.original import open_original
from discreet.reading.reading import EstimateOptions, Reading
from discreet.table import Table

TITLES = {"loglinear": "log-linear", "polya": "Pólya urn"}
"""What sentences call the models."""
BLOCK_CELLS = 2_000_000
"""Draws are made in blocks of about this many figures; the blocks do not depend on the workers."""


@dataclass(frozen=True)
class EstimatedSlice:
    """Estimated R2 of one slice; None where it is undefined, because some drawn population has nobody in it."""

    dimension: str
    category: str
    mean: float | None
    sd: float | None
    mc_error: float | None

    def to_dict(self) -> dict[str, Json]:
        """Return the slice as plain data."""
        return {**vars(self), "value": self.mean}


@dataclass(frozen=True, repr=False, kw_only=True)
class Estimate(Result):
    """Estimated R2 of a sample table.

    Attributes:
        model: the population model's name; ``details`` says how it was fitted.
        fit: how well a log-linear model fits the sample; None if it was not tested.
        mean: the estimate, the mean of R2 over the population tables drawn.
        sd: the deviation of R2 from draw to draw.
        mc_error: the Monte Carlo error of the mean.
        draws: the number of population tables.
        terms: the means of the three weighted terms.
        population: N, and the sample's n in ``sample``.
        slices: the same figures for every slice.
    """

    model: str
    details: dict[str, Json]
    fit: Goodness | None = None
    mean: float
    sd: float
    mc_error: float
    draws: int
    terms: dict[str, float]
    population: int
    sample: int
    form: Form
    slices: tuple[EstimatedSlice, ...]

    @property
    def sentence(self) -> str:
        """What the estimate says, in words."""
        driver = max(TERMS, key=lambda term: self.terms[term])
        worst = sorted((s for s in self.slices if s.mean is not None), key=lambda s: -(s.mean or 0.0))[:3]
        text = (
            f"A sample of {self.sample:,} out of {self.population:,} people: over {self.draws:,} populations drawn "
            f"from the {TITLES.get(self.model, self.model)} model its risk is {self.mean:.4f} (deviation "
            f"{self.sd:.4f}, Monte Carlo error {self.mc_error:.5f}), driven by {driver}."
        )
        named = ", ".join(f"{item.dimension}={item.category} ({figure(item.mean)})" for item in worst)
        text = f"{text} Worst slices: {named}." if named else text
        if self.fit is None or self.fit.p is None or self.fit.p >= 0.05:
            return text
        return (
            f"{text} The sample rejects this model (G² = {self.fit.g2:,.4g} on {self.fit.df:,} degrees of freedom, p = "
            f"{brief(self.fit.p, 2)}), so do not rely on the estimate: fit interactions, or let assess try all models."
        )

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        fit = None if self.fit is None else self.fit.to_dict()
        head = {"measure": "R2", "model": self.model, "details": self.details, "fit": fit, "mean": self.mean}
        rest = {name: value for name, value in vars(self).items() if name not in (*head, "slices")}
        told = {"sentence": self.sentence, "slices": [item.to_dict() for item in self.slices]}
        return {**head, "value": self.mean, **rest, **told}

    def rows(self) -> list[list[str]]:
        """Return whole table and slices, worst first, as rows of text."""
        worst = sorted(self.slices, key=lambda item: -1.0 if item.mean is None else item.mean, reverse=True)
        return [
            ["whole table", figure(self.mean), figure(self.sd), figure(self.mc_error, 5)],
            *([f"{s.dimension}={s.category}", figure(s.mean), figure(s.sd), figure(s.mc_error, 5)] for s in worst),
        ]

    def face(self, most: int) -> Face:
        """Return the sentence and the worst slices."""
        return Face(["", "risk", "deviation", "MC error"], self.rows()[: most + 1], self.sentence)


def estimate(
    sample: object,
    population: int,
    *,
    model: str | PopulationModel = "loglinear",
    weights: tuple[float, float, float] = DEFAULT_WEIGHTS,
    form: Form = "2015",
    slices: Sequence[str] | None = None,
    test: bool = True,
    **options: Unpack[EstimateOptions],
) -> Estimate:
    """Estimate R2 of a sample table from a population of known size N and unknown counts.

    Args:
        sample: the sample table f that will be published: a table, a tabulation, a file or a frame.
        population: N, the number of people in the population.
        model: ``"loglinear"`` (independence), ``"polya"``, or a model with parameters of its own, such as
            ``LogLinear((("area", "sex"), ("age",)))`` or ``PolyaUrn(population_zeros=25)``.
        weights: as for :func:`discreet.risk`.
        form: as for :func:`discreet.risk`.
        slices: dimensions whose slices are estimated too; by default all.
        test: whether a log-linear model is tested against the sample and the outcome reported.
        options: those below.

    Keyword Args:
        draws: how many population tables are drawn (1,000).
        seed: makes the draws reproducible, whatever the number of workers.
        workers: threads; by default one per core.
        progress: called as the work advances.
        by, value, contributor, …: how a file or frame is read, as for :func:`discreet.assess`.

    >>> import discreet
    >>> sample = discreet.protect.random_sample(discreet.datasets.religion(), 245, seed=1).table
    >>> result = estimate(sample, 2449, model="polya", draws=200, seed=1)
    >>> 0.1 < result.mean < 0.25
    True
    """
    w = check_weights(weights)
    check_form(form)
    effort, reading = Effort().among(options, DrawOptions)
    draws, seed = effort.draws, effort.seed
    sample = open_original(sample, Reading.of(reading, estimate, DrawOptions), released=True).table()
    check_measurable(sample, "sample table")
    if draws < 2:
        raise RequestError(f"draws is {draws}; a Monte Carlo error needs 2 or more")
    if isinstance(model, str):
        model = MODELS[model]()
    fitted = model.population(sample, population)
    along = tuple(sample.names if slices is None else slices) if len(sample.shape) > 1 else ()
    judge = _Judge.of(sample, fitted, along, w, form)
    block = max(1, min(draws, BLOCK_CELLS // sample.size))
    sizes = [min(block, draws - start) for start in range(0, draws, block)]

    def work(item: tuple[np.random.Generator, int]) -> Moments:
        return Moments.of(judge.figures(fitted.draw(*item)))

    streams = zip(spawn(seed, len(sizes)), sizes, strict=True)
    parts = run(
        work, streams, workers=effort.workers, progress=effort.progress, label="drawing populations", apart=True
    )
    moments = reduce(Moments.join, parts)
    # Only log-linear models have a test against the sample.
    fit = None
    if test and isinstance(model, LogLinear):
        fit = goodness_of_fit(model, sample, seed=seed, workers=effort.workers)
    return Estimate(
        model=model.name,
        details=model.details(sample, fitted),
        mean=float(moments.mean[0]),
        sd=float(moments.sd[0]),
        mc_error=float(moments.error[0]),
        draws=moments.n,
        terms=dict(zip(TERMS, moments.mean[1:4].tolist(), strict=True)),
        population=population,
        sample=sample.total,
        form=form,
        slices=_slices(sample, along, moments),
        fit=fit,
    )


@dataclass(frozen=True, eq=False)
class _Judge:
    """Turns population tables into rows of figures: R2, its three terms, then R2 of every slice."""

    f: IntArray
    cells: int
    lookup: SampleLookup | None
    views: list[tuple[Grouping, IntArray]]
    w: FloatArray
    form: Form

    @classmethod
    def of(cls, sample: Table, fitted: Population, along: tuple[str, ...], w: FloatArray, form: Form) -> _Judge:
        f = sample.to_array().ravel()
        counts = np.unique(f)
        N = fitted.population
        lookup = SampleLookup.build(N, sample.total, counts) if SampleLookup.fits(N, counts.size) else None
        views = []
        for name in along:
            codes = sample.codes(name, np.arange(sample.size))
            views.append((Grouping(codes, len(sample.dimensions[sample.axis(name)])), sample.slice_cells(name)))
        return cls(f, sample.possible, lookup, views, w, form)

    def figures(self, F: IntArray) -> FloatArray:
        if self.lookup is not None:
            whole = self.w * self.lookup.terms(self.f, F, self.cells, self.form)
        else:
            whole = self.w * r2_terms(F, self.f[None], np.array([self.cells]), form=self.form)[:, 0]
        parts = [whole.sum(axis=1, keepdims=True), whole]
        for groups, cells in self.views:
            parts.append((self.w * r2_terms(F, self.f[None], cells, groups, self.form)).sum(axis=-1))
        return np.concatenate(parts, axis=1)


def _slices(sample: Table, along: tuple[str, ...], moments: Moments) -> tuple[EstimatedSlice, ...]:
    labels = [(name, category) for name in along for category in sample.dimensions[sample.axis(name)].categories]
    figures = np.stack([moments.mean, moments.sd, moments.error], axis=1)[4:].tolist()
    return tuple(
        EstimatedSlice(*label, *(None if np.isnan(value) else value for value in values))
        for label, values in zip(labels, figures, strict=True)
    )
