"""Replay of antal2015 Table 2: R2 of sample tables, with the population known and estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet import datasets
from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.random import spawn
from discreet.measures.entropy import DEFAULT_WEIGHTS, r2_terms
from discreet.measures.lookup import SampleLookup
from discreet.models import LogLinear, PolyaUrn
from discreet.models.population import Population
from discreet.protect import RandomSample
from discreet.studies.comparison import PaperComparison, Section, Study, StudyEffort, published
from discreet.table import Table

FRACTIONS = (0.1, 0.05)
PRINTED_SAMPLES = PRINTED_DRAWS = 1000
BATCH = 25
"""Samples per work item: enough to be worth a thread, few enough for a smooth progress bar."""
POPULATIONS = 60
"""The number of populations over which the spread of the generated log-linear rows is measured."""
LOGLINEAR, POLYA, REAL = "generated, log-linear", "generated, Polya urn", "real"


@dataclass(frozen=True, eq=False)
class PrintedRow:
    """One line of Table 2: a population, a sampling fraction and a model that estimates.

    ``noise`` is the variance that the estimates gain by a number of draws other than the paper's 1,000.
    """

    population: str
    fraction: float
    model: str
    original: FloatArray
    estimated: FloatArray
    noise: float


class Spread(NamedTuple):
    """Standard deviations of a row's figures between populations drawn from the same law; 0 for a fixed population.

    The first of each pair belongs to the original risk, the second to the estimated one.
    """

    means: tuple[float, float] = (0.0, 0.0)
    sds: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Setting:
    """What all estimates of a sampling fraction share: table, sizes and look-up values."""

    table: Table
    lookup: SampleLookup

    @property
    def n(self) -> int:
        """The sample size."""
        return self.lookup.sample

    def sample(self, f: IntArray) -> Table:
        """Return sample counts over all cells as a table."""
        return self.table.with_counts(np.arange(f.size), f)

    def risks(self, f: IntArray, population: Population, rng: np.random.Generator, draws: int) -> FloatArray:
        """Return R2 of population tables drawn for one sample."""
        terms = self.lookup.terms(f, population.draw(rng, draws), self.table.possible)
        return np.asarray(terms @ np.array(DEFAULT_WEIGHTS))

    def mean_risk(self, f: IntArray, population: Population, rng: np.random.Generator, draws: int) -> float:
        """Return the mean of R2 over population tables drawn for one sample."""
        return float(self.risks(f, population, rng, draws).mean())


def lookup_values(table: Table, fraction: float) -> SampleLookup:
    """Tabulate for every count in samples of a fraction; 2449 × 0.1 and × 0.05 give n = 245 and 122."""
    n = round(table.total * fraction)
    return SampleLookup.build(table.total, n, np.arange(n + 1))


def original_risk(table: Table, f: IntArray) -> FloatArray:
    """Return R2 of every sample (row of f) given the true table."""
    terms = r2_terms(table.to_array().ravel()[None], f, np.array([table.possible]))[:, 0]
    return np.asarray(terms @ np.array(DEFAULT_WEIGHTS))


def draw_samples(table: Table, n: int, size: int, rng: np.random.Generator) -> IntArray:
    """Return simple random samples over all cells, one per row."""
    f = np.zeros((size, table.size), np.int64)
    f[:, table.cells] = RandomSample(n).draws(table, rng, size)
    return f


def fitted_population(model: str, source: str, setting: Setting, f: IntArray, known: FloatArray) -> Population:
    """Return the population model that the paper uses for a sample of one of its populations."""
    sample, N = setting.sample(f), setting.table.total
    if model == "log-linear":
        return LogLinear().population(sample, N, probabilities=known if source == LOGLINEAR else None)
    true_zeros = setting.table.possible - setting.table.cells.size
    return PolyaUrn(population_zeros=true_zeros if source == POLYA else None).population(sample, N)


def replay(effort: StudyEffort) -> Study:
    """Compute all eight model columns of antal2015 Table 2 and compare them with the printed ones.

    By default there are 1,000 samples and 1,000 population tables per sample, as in the paper.

    >>> replay(StudyEffort(samples=4, draws=10)).settings["draws"]
    10
    """
    samples, draws = (1000 if given is None else given for given in (effort.samples, effort.draws))
    if samples < 2 or draws < 2:
        raise RequestError(f"samples is {samples} and draws {draws}; a deviation needs 2 or more of each")
    printed = published("antal2015-table2")
    religion = datasets.religion()
    known = LogLinear().fit(religion).probabilities
    # The first stream draws the generated population, the second the samples, the third the spread.
    one, two, three, four = spawn(effort.seed, 4)
    generated = religion.with_counts(np.arange(religion.size), one.multinomial(religion.total, known))
    populations = {LOGLINEAR: generated, POLYA: religion, REAL: religion}
    lookups = {fraction: lookup_values(religion, fraction) for fraction in FRACTIONS}
    kept = {
        (source, fraction): (setting := Setting(table, lookup), draw_samples(table, setting.n, samples, two))
        for source, table in populations.items()
        for fraction, lookup in lookups.items()
    }
    items = []
    for line, stream in zip(printed, three.spawn(len(printed)), strict=True):
        setting, f = kept[line["population"], float(line["sampling_fraction"])]
        batches = [f[start : start + BATCH] for start in range(0, samples, BATCH)]
        items += [
            (line["model"], line["population"], setting, batch, rng)
            for batch, rng in zip(batches, stream.spawn(len(batches)), strict=True)
        ]

    def work(item: tuple[str, str, Setting, IntArray, np.random.Generator]) -> FloatArray:
        model, source, setting, batch, rng = item
        risks = [setting.risks(f, fitted_population(model, source, setting, f, known), rng, draws) for f in batch]
        return np.array([[values.mean(), values.var(ddof=1)] for values in risks])

    label = "estimating the risk of samples"
    results = run(work, items, workers=effort.workers, progress=effort.progress, label=label, apart=True)
    estimates = np.concatenate(results).reshape(len(printed), samples, 2)
    columns = []
    for line, found in zip(printed, estimates, strict=True):
        source, fraction = line["population"], float(line["sampling_fraction"])
        setting, f = kept[source, fraction]
        noise = float(found[:, 1].mean()) * (1 / draws - 1 / PRINTED_DRAWS)
        columns.append(PrintedRow(source, fraction, line["model"], original_risk(setting.table, f), found[:, 0], noise))
    spread = {
        fraction: population_spread(religion, known, lookup, min(samples, 100), four, effort)
        for fraction, lookup in lookups.items()
    }
    rows = {
        row.label: row
        for line, column in zip(printed, columns, strict=True)
        for row in compare(line, column, spread[column.fraction] if column.population == LOGLINEAR else Spread())
    }
    ordered = tuple(sorted(rows.values(), key=lambda row: row.group, reverse=True))
    settings = {"samples": samples, "draws": draws, "seed": effort.seed}
    return Study("antal2015", *TITLE, settings, ordered, REMARKS, (generated_section(columns, spread),))


def population_spread(
    table: Table, known: FloatArray, lookup: SampleLookup, samples: int, rng: np.random.Generator, effort: StudyEffort
) -> Spread:
    """Return how much the figures of the generated log-linear rows vary between generated populations.

    Each population is sampled up to a hundred times, and each sample estimated from fifty draws. The variance
    between samples is subtracted.
    """

    def work(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        population = table.with_counts(np.arange(table.size), rng.multinomial(table.total, known))
        setting = Setting(population, lookup)
        f = draw_samples(population, setting.n, samples, rng)
        estimated = [
            setting.mean_risk(row, fitted_population("log-linear", LOGLINEAR, setting, row, known), rng, 50)
            for row in f
        ]
        return original_risk(population, f), np.array(estimated)

    label = f"comparing generated populations, n = {lookup.sample}"
    streams = rng.spawn(POPULATIONS)
    risks = np.array(run(work, streams, workers=effort.workers, progress=effort.progress, label=label, apart=True))
    means, sds = risks.mean(axis=2), risks.std(axis=2, ddof=1)
    noise = np.square(sds).mean(axis=0)
    between_means = np.sqrt(np.maximum(means.var(axis=0, ddof=1) - noise / samples, 0.0))
    between_sds = np.sqrt(np.maximum(sds.var(axis=0, ddof=1) - noise / (2 * samples - 2), 0.0))
    return Spread(tuple(between_means.tolist()), tuple(between_sds.tolist()))


def compare(line: dict[str, str], column: PrintedRow, spread: Spread) -> list[PaperComparison]:
    """Return mean and deviation of original and estimated risk beside the printed figures.

    An error combines those of the printed and the computed figure; for the generated log-linear population also
    the spread between such populations, twice: once for the paper's and once for ours.
    """
    where = f"{column.population} population, fraction {column.fraction}"
    rows = []
    for name, values, noise, between, between_sd in (
        ("original", column.original, 0.0, spread.means[0], spread.sds[0]),
        ("estimated", column.estimated, column.noise, spread.means[1], spread.sds[1]),
    ):
        what = f"{where}: {name} risk" if name == "original" else f"{where}, {column.model} model: estimated risk"
        mean, raw = float(values.mean()), float(values.var(ddof=1))
        # With fewer draws the samples' means vary more; the excess is known and subtracted.
        sd = math.sqrt(max(raw - noise, 0.0))
        printed_mean, printed_sd = float(line[f"{name}_mean"]), float(line[f"{name}_sd"])
        error = math.sqrt(printed_sd**2 / PRINTED_SAMPLES + raw / values.size + 2 * between**2)
        own = raw / max(sd, 1e-12) / math.sqrt(2 * values.size - 2)
        sd_error = math.sqrt(printed_sd**2 / (2 * PRINTED_SAMPLES - 2) + own**2 + 2 * between_sd**2)
        rows.append(PaperComparison("mean of R2", f"{what}, mean", printed_mean, mean, error))
        rows.append(PaperComparison("deviation of R2", f"{what}, st. dev.", printed_sd, sd, sd_error))
    return rows


def generated_section(columns: list[PrintedRow], spread: dict[float, Spread]) -> Section:
    """Return the table that sets the generated log-linear estimate against its own population."""
    rows = []
    for column in columns:
        if column.population == LOGLINEAR:
            apart = column.estimated - column.original
            own, estimate = f"{column.original.mean():.4f}", f"{column.estimated.mean():.4f}"
            error = f"{apart.std(ddof=1) / math.sqrt(apart.size):.5f}"
            between = f"{spread[column.fraction].means[0]:.4f}"
            rows.append([f"{column.fraction}", own, estimate, f"{apart.mean():+.4f}", error, between])
    header = ["fraction", "own original risk", "estimate", "estimate less original", "standard error", "spread"]
    return "Generated log-linear population: the estimate beside its own population", header, rows


TITLE = (
    "Antal, Shlomo and Elliot (2015): replay of Table 2",
    "L. Antal, N. Shlomo, M. Elliot (2015). *Disclosure Risk Measurement with Entropy in Two-Dimensional Sample Based "
    "Frequency Tables.* Work Session on Statistical Data Confidentiality, Helsinki, 5 October 2015. Table 2, section "
    "6.3.",
)
REMARKS = (
    "**How Table 2 is read.** Samples have 245 and 122 people. The deviation of the original risk is over the "
    "samples; that of an estimate is over the samples' means, not over single draws. For the generated Pólya urn rows "
    "the samples come from the real table and θ solves (5) with the true number of zeros; for the real rows it solves "
    "(6). New colours fill empty sample cells; if the urn asks for more than there are, the draw goes to a coloured "
    "ball.",
    "**The generated log-linear rows depend on one population** that the authors drew and did not print. Ours is "
    "another draw from the same law, so these rows are judged with the spread between such populations added to the "
    f"error, measured over {POPULATIONS} of them. The section below sets the estimate beside its own population "
    "instead, which is the comparison that the paper makes.",
)
