"""Replay of cohen2009: Bayes estimates of population uniques."""

from __future__ import annotations

import numpy as np

from discreet import datasets
from discreet.core.random import generator
from discreet.studies.comparison import PaperComparison, Section, Study, StudyEffort
from discreet.uniques.bayes_decision import bayes_test
from discreet.uniques.exact_posterior import q_multinomial, q_uniform
from discreet.uniques.population_uniques import population_uniques
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import Multinomial, Uniform
from discreet.uniques.sample import Sample
from discreet.uniques.sample_size import sample_size
from discreet.uniques.tau import tau

N, SIZE, CELLS, UNIQUES = 46228, 8399, 1108, 108
"""The Dutch municipality of section 2: population, sample, possible cells and sample uniques."""
PRINTED_TAU = 4.36


def replay(effort: StudyEffort) -> Study:
    """Compute the printed estimate of cohen2009, and what its formulas give on its own examples.

    By default 2,000 populations are drawn from each posterior to check the exact law.

    >>> replay(StudyEffort(draws=100)).reproduced
    True
    """
    times = 2000 if effort.draws is None else effort.draws
    # Under both priors the other counts do not matter.
    sample = Sample.from_counts([1] * UNIQUES + [SIZE - UNIQUES], N, possible=CELLS)
    estimate = tau(sample, Uniform())
    row = PaperComparison("τ̃, uniform prior", "Dutch municipality, 108·Q", PRINTED_TAU, estimate.mean, decimals=2)
    extra = (dutch_section(sample), drawn_section(sample, times, generator(effort.seed)), cholesterol_section())
    return Study("cohen2009", *TITLE, {"draws": times, "seed": effort.seed}, (row,), REMARKS, extra)


def drawn_section(sample: Sample, times: int, rng: np.random.Generator) -> Section:
    """Return the exact mean and deviation of τ beside those over populations drawn from the posterior."""
    rows = []
    for prior in (Uniform(), Multinomial()):
        exact = tau(sample, prior)
        urn, weights = prior.after(sample)
        blocks = list(urn.draw(weights, times, rng))
        alone = np.concatenate([(block[:, :UNIQUES] == 0).sum(axis=1) for block in blocks])
        sd = alone.std(ddof=1)
        figures = (exact.mean, alone.mean(), float(sd / np.sqrt(alone.size)), exact.sd, sd)
        rows.append([prior.name, *(f"{figure:.4f}" for figure in figures)])
    header = ["prior", "τ̃ exact", "τ̃ drawn", "Monte Carlo error", "deviation exact", "deviation drawn"]
    return f"The exact law of τ beside {times:,} populations drawn from the posterior", header, rows


def dutch_section(sample: Sample) -> Section:
    """Return what both priors say of the Dutch municipality."""
    rows = []
    for prior, closed in ((Uniform(), q_uniform), (Multinomial(), q_multinomial)):
        result, size = tau(sample, prior), sample_size(prior, 0.05, population=N, possible=CELLS)
        test = bayes_test(posterior(sample, prior), b=30.0, c=1.0)
        q, estimate, interval = f"{closed(SIZE, N, CELLS):.6g}", f"{result.mean:.6g}", f"{result.low} to {result.high}"
        rows.append([prior.name, q, estimate, interval, f"{test.accepted} of {UNIQUES}", f"{size.largest:,}"])
    header = ["prior", "Q", "τ̃", "90% interval", "taken for uniques, b = 30, c = 1", "largest n with Q < 0.05"]
    return "The Dutch municipality: N = 46,228, n = 8,399, K = 1,108, 108 sample uniques", header, rows


def cholesterol_section() -> Section:
    """Return the risk of the one sample unique of Table 1, for companies of several sizes."""
    table = datasets.cholesterol()
    rows = []
    for size in (78, 100, 200, 400, 1000):
        result = population_uniques(table, size, model="main")
        priors = result.priors
        assert result.loglinear is not None
        means = (priors[name].tau.total.mean for name in ("uniform", "multinomial"))
        figures = [f"{figure:.4f}" for figure in (*means, result.loglinear.chosen.tau1)]
        rows.append([f"{size:,}", *figures, "yes" if priors["uniform"].test.accepted else "no"])
    header = ["company size N", "τ̃ uniform", "τ̃ multinomial", "τ₁ log-linear, main effects", "taken for unique, b = c"]
    return "The cholesterol table: one woman with 3 to 5 years", header, rows


TITLE = (
    "Cohen and Sackrowitz (2009): replay of section 2",
    "A. Cohen, H. B. Sackrowitz (2009). *Some issues concerning disclosure risk in contingency tables.* Statistics and "
    "Its Interface. Theorems 2.1 and 2.2, Table 1 and the Dutch municipality of section 2.",
)
REMARKS = (
    "The paper prints one figure, τ̃ = 4.36. The sections below show what its formulas say of its two examples. The "
    "table of the Dutch municipality is not printed; under both priors Q depends on N, n and K alone.",
)
