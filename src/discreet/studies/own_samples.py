"""The simulation of antal2015, section 6, on a table of your own: how near estimates of R2 come to the true risk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.random import spawn
from discreet.core.text import Face, Result
from discreet.models import MODELS, PopulationModel
from discreet.studies.antal2015 import BATCH, FRACTIONS, Setting, draw_samples, lookup_values, original_risk
from discreet.studies.comparison import StudyEffort
from discreet.table import Table


@dataclass(frozen=True)
class EstimateOfSamples:
    """One model at one sampling fraction: the true risk of samples, and the model's estimate of it."""

    fraction: float
    n: int
    model: str
    original: float
    original_sd: float
    estimated: float
    estimated_sd: float
    difference: float
    error: float


@dataclass(frozen=True, repr=False)
class SampleSimulation(Result):
    """R2 of samples of a known table, true and estimated.

    ``difference`` is the mean of estimate less true risk over the samples, ``error`` its standard error.
    """

    estimates: tuple[EstimateOfSamples, ...]
    samples: int
    draws: int
    seed: int | None

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        return {**vars(self), "estimates": [vars(one) for one in self.estimates], "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        best = min(self.estimates, key=lambda one: abs(one.difference))
        return (
            f"Over {self.samples:,} samples with {self.draws:,} populations each, the {best.model} model at fraction "
            f"{best.fraction:g} is nearest to the true risk: {best.difference:+.4f} on average."
        )

    def face(self, most: int) -> Face:
        """Return one row for every fraction and model."""
        header = ["fraction", "n", "model", "true R2", "sd", "estimate", "sd", "bias", "error"]
        rows = [
            [f"{one.fraction:g}", f"{one.n:,}", one.model, f"{one.original:.4f}", f"{one.original_sd:.4f}",
             f"{one.estimated:.4f}", f"{one.estimated_sd:.4f}", f"{one.difference:+.4f}", f"{one.error:.4f}"]
            for one in self.estimates
        ]  # fmt: skip
        return Face(header, rows, self.sentence)


def simulate_samples(
    table: Table,
    effort: StudyEffort,
    *,
    fractions: Sequence[float] = FRACTIONS,
    models: Sequence[str] = ("loglinear", "polya"),
) -> SampleSimulation:
    """Draw samples of a population table, and compare each one's true R2 with the estimates of population models.

    Args:
        table: the population.
        effort: how many samples and populations of each (100 by default), the seed, and the progress callback.
        fractions: sampling fractions.
        models: names of population models.

    >>> from discreet import datasets
    >>> effort = StudyEffort(samples=4, draws=4)
    >>> simulate_samples(datasets.religion(), effort, fractions=[0.1]).estimates[0].n
    245
    """
    samples, draws = (100 if given is None else given for given in (effort.samples, effort.draws))
    if samples < 2 or draws < 2:
        raise RequestError(f"samples is {samples} and draws {draws}; a deviation needs 2 or more of each")
    for fraction in fractions:
        if not 0 < fraction < 1 or not 1 <= round(table.total * fraction) < table.total:
            raise RequestError(
                f"the sampling fraction is {fraction:g} of {table.total:,} people; give one between 0 and 1 that "
                "leaves somebody in the sample and somebody out of it"
            )
    chosen: list[PopulationModel] = [MODELS[name]() for name in models]
    one, two = spawn(effort.seed, 2)
    kept = []
    for fraction in fractions:
        setting = Setting(table, lookup_values(table, fraction))
        kept.append((fraction, setting, draw_samples(table, setting.n, samples, one)))
    items = [
        (model, setting, f[start : start + BATCH])
        for _, setting, f in kept
        for model in chosen
        for start in range(0, samples, BATCH)
    ]

    def work(item: tuple[tuple[PopulationModel, Setting, IntArray], np.random.Generator]) -> FloatArray:
        (model, setting, batch), rng = item
        drawn = (model.population(setting.sample(f), table.total) for f in batch)
        return np.array([setting.mean_risk(f, found, rng, draws) for f, found in zip(batch, drawn, strict=True)])

    streams = zip(items, two.spawn(len(items)), strict=True)
    label = "estimating the risk of samples"
    results = run(work, streams, workers=effort.workers, progress=effort.progress, label=label, apart=True)
    found = iter(np.concatenate(results).reshape(-1, samples))
    rows = []
    for fraction, setting, f in kept:
        true = original_risk(table, f)
        for name in models:
            guess = next(found)
            apart = guess - true
            row = EstimateOfSamples(
                fraction=fraction,
                n=setting.n,
                model=name,
                original=float(true.mean()),
                original_sd=float(true.std(ddof=1)),
                estimated=float(guess.mean()),
                estimated_sd=float(guess.std(ddof=1)),
                difference=float(apart.mean()),
                error=float(apart.std(ddof=1)) / math.sqrt(samples),
            )
            rows.append(row)
    return SampleSimulation(tuple(rows), samples, draws, effort.seed)
