"""Everything known about population uniques in a sample: every prior, the log-linear model, the riskiest cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt

from discreet.core.effort import DrawOptions, Effort
from discreet.core.errors import RequestError
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Face, Result, brief, columns, html_table
from discreet.reading.reading import EstimateOptions, Reading
from discreet.reading.sample_pair import open_sample
from discreet.table import Table
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.grid import locate
from discreet.table.records import Records
from discreet.uniques.bayes_decision import BayesTest, bayes_test
from discreet.uniques.loglinear_tau import Margins, Scale, name_of
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import Prior, prior_of
from discreet.uniques.sample import Sample
from discreet.uniques.selection import Selection, choose, forward_selection
from discreet.uniques.tau import TauTable, tau_by_slice

Model = Margins | Literal["select"]


@dataclass(frozen=True, eq=False)
class PriorView:
    """What one prior says: τ̃ in total and by slice, and the Bayes test."""

    tau: TauTable
    test: BayesTest

    def to_dict(self) -> dict[str, Json]:
        """Return plain numbers for programs."""
        return {**self.tau.to_dict(), "test": self.test.to_dict()}


@dataclass(frozen=True)
class RiskyCell:
    """One sample unique: where it is, how likely it is alone in the population, and what the test decides."""

    cell: dict[str, str]
    alone: float | None
    matched: float | None
    q: dict[str, float]
    taken: dict[str, bool]
    decision: str


@dataclass(frozen=True, eq=False, repr=False)
class PopulationUniques(Result):
    """Population uniques among the sample uniques, under every prior and under the log-linear model.

    Attributes:
        table: the sample table; n, K and the sample uniques follow from it.
        population: N.
        priors: what each prior says.
        loglinear: the log-linear models tried and the one chosen; None when it was not asked for or the table is
            too large to be laid out, which ``note`` says.
        records: the cell of every record, when the sample came as records.
    """

    table: Table
    population: int
    priors: Mapping[str, PriorView]
    loglinear: Selection | None
    note: str | None
    records: IntArray | None

    @property
    def sample_uniques(self) -> int:
        """The number of cells with one person."""
        return int(np.count_nonzero(self.table.counts == 1))

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        s = self.sample_uniques
        text = f"{s:,} of {self.table.total:,} people sampled {'is' if s == 1 else 'are'} alone in their cell"
        if not s:
            return f"{text}, so nobody in the sample is a population unique."
        guesses = [
            f"{brief(view.tau.total.mean, 3)} by the {name} prior ({view.tau.total.low:,} to {view.tau.total.high:,})"
            for name, view in self.priors.items()
        ]
        if self.loglinear is not None:
            chosen = self.loglinear.chosen
            model = f"the log-linear model {name_of(chosen.model)}, fitted to {chosen.fitted_to} counts"
            guesses.append(f"{brief(chosen.tau1, 3)} by {model}")
        text += f"; expected to be alone in the population of {self.population:,}"
        return f"{text}: {', '.join(guesses)}."

    def riskiest(self, n: int = 10) -> list[RiskyCell]:
        """Return the sample uniques most likely to be alone in the population.

        They are ordered by the log-linear model if there is one: the priors do not tell sample uniques apart, unless
        they have parameters for single cells.
        """
        if n < 0:
            raise RequestError(f"n is {n}; ask for 0 cells or more")
        unique = np.flatnonzero(self.table.counts == 1)
        views = list(self.priors.items())
        model = self.loglinear and self.loglinear.chosen
        scores = model.alone[unique] if model else views[0][1].test.q if views else np.zeros(unique.size)
        return [
            RiskyCell(
                self.table.label(int(self.table.cells[unique[i]])),
                float(model.alone[unique[i]]) if model else None,
                float(model.matched[unique[i]]) if model else None,
                {name: float(view.test.q[i]) for name, view in views},
                {name: bool(view.test.unique[i]) for name, view in views},
                "; ".join(f"{name} prior: {view.test.reason(int(i))}" for name, view in views),
            )
            for i in np.argsort(-np.asarray(scores), kind="stable")[:n]
        ]

    def record_risk(self) -> FloatArray:
        """Return for every record its risks by column: alone, matched, then for each prior Q and the test's decision.

        Q and decision are 0 for people who are not sample uniques; a decision is 1 for "taken for a population unique".
        The columns are named by :attr:`record_columns`. Only for samples that came as records.
        """
        if self.records is None:
            raise RequestError("the sample came as a table; give records to get the risk of each")
        return self.cell_risk()[locate(self.table.cells, self.records)]

    @property
    def record_columns(self) -> list[str]:
        """The names of the columns of :meth:`record_risk` and :meth:`cell_risk`."""
        model = [] if self.loglinear is None else ["alone", "matched"]
        return [*model, *(f"{what}_{name}" for name in self.priors for what in ("q", "taken"))]

    def cell_risk(self) -> FloatArray:
        """Return the same risks for every non-empty cell of the table."""
        unique = self.table.counts == 1
        parts: list[FloatArray] = []
        if self.loglinear is not None:
            parts += [self.loglinear.chosen.alone, self.loglinear.chosen.matched]
        for view in self.priors.values():
            for figures in (view.test.q, view.test.unique):
                column = np.zeros(unique.size)
                column[unique] = figures
                parts.append(column)
        return np.stack(parts, axis=1) if parts else np.zeros((unique.size, 0))

    def to_dict(self, top: int = 10) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        return {
            "sample_uniques": self.sample_uniques,
            "cells": self.table.possible,
            "sample": self.table.total,
            "population": self.population,
            "sentence": self.sentence,
            "priors": {name: view.to_dict() for name, view in self.priors.items()},
            "loglinear": None if self.loglinear is None else _loglinear_data(self.loglinear),
            "note": self.note,
            "riskiest": [vars(cell) for cell in self.riskiest(top)],
        }

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one row per estimate, as text."""
        body = []
        for name, view in self.priors.items():
            total = view.tau.total
            q = "–" if not total.q.size else brief(total.q.min())
            if total.q.size and np.ptp(total.q) > 1e-12 * total.q.max():
                q = f"{brief(total.q.min(), 3)} to {brief(total.q.max(), 3)}"
            interval = f"{total.low:,} to {total.high:,}"
            body.append([f"{name} prior", q, brief(total.mean), interval, f"{view.test.accepted:,}"])
        if self.loglinear is not None:
            chosen = self.loglinear.chosen
            body.append([f"log-linear, {chosen.fitted_to} counts: τ₁", "–", brief(chosen.tau1), "–", "–"])
            body.append(["the same: τ₂ (correct matches)", "–", brief(chosen.tau2), "–", "–"])
        level = next((f"{view.tau.total.level * 100:.4g}% interval" for view in self.priors.values()), "interval")
        return ["estimate", "Q", "population uniques", level, "taken for uniques"], body

    def cell_rows(self, n: int = 10) -> tuple[list[str], list[list[str]]]:
        """Return a header and the riskiest sample uniques, as text."""
        body = [
            [
                ", ".join(f"{name}={label}" for name, label in item.cell.items()),
                _chance(item.alone),
                _chance(item.matched),
                *map(brief, item.q.values()),
            ]
            for item in self.riskiest(n)
        ]
        return ["sample unique", "alone", "matched", *(f"Q {name}" for name in self.priors)], body

    def to_csv(self) -> str:
        """Return the risks of every non-empty cell as CSV: its labels, its count, then the columns of the risks."""
        header = [*self.table.names, "count", *self.record_columns]
        labels = [np.array(one.categories, object)[self.table.codes(one.name)] for one in self.table.dimensions]
        return csv_text(header, zip(*labels, self.table.counts.tolist(), *self.cell_risk().T.tolist(), strict=True))

    def face(self, most: int) -> Face:
        """Return the outcome and the estimates."""
        return Face(*self.rows(), self.sentence)

    def __str__(self) -> str:
        """Return the outcome, the estimates and the riskiest cells."""
        text = super().__str__()
        return f"{text}\n{columns(*self.cell_rows(5))}" if self.sample_uniques else text

    def _repr_html_(self) -> str:
        return super()._repr_html_() + html_table(*self.cell_rows(10))


def _loglinear_data(selection: Selection) -> dict[str, Json]:
    data, chosen = selection.to_dict(), selection.chosen
    named = {"model": name_of(chosen.model), "margins": data["model"], "b1": chosen.b1.value, "b2": chosen.b2.value}
    return {**data, **named, "criteria": {"b1": chosen.b1.to_dict(), "b2": chosen.b2.to_dict()}}


class UniquesOptions(EstimateOptions, total=False):
    """How a sample is read, how many populations are drawn, and what mistakes cost."""

    b: float
    c: float


def population_uniques(
    sample: object,
    population: int,
    *,
    priors: Sequence[str | Prior] = ("uniform", "multinomial"),
    model: Model | None = "select",
    fractions: npt.ArrayLike | None = None,
    level: float = 0.9,
    slices: Sequence[str] | None = None,
    **options: Unpack[UniquesOptions],
) -> PopulationUniques:
    """Estimate how many sample uniques are alone in the population, and which ones.

    Args:
        sample: a sample table, or the records behind it (:func:`discreet.count_records`); a file or a frame of either.
        population: N.
        priors: names (``"uniform"``, ``"multinomial"``, ``"dirichlet:0.5"``) or priors of your own.
        model: the log-linear model: ``"select"`` goes forward from main effects by the B criterion, ``"main"``,
            ``"two-way"``, margins of your own, or None for no model.
        fractions: sampling fractions per cell, in place of n/N, for the log-linear model.
        level: probability of the credible intervals.
        slices: dimensions for which τ̃ is given by category; by default all.
        options: those below.

    Keyword Args:
        b: loss when a population unique is taken for safe (1).
        c: loss when somebody is protected for nothing (1).
        draws: populations drawn where an exact law takes too long (2,000).
        seed: for drawing.
        workers: threads of the model selection.
        progress: called as the work advances.
        by, value, contributor, …: how a file or frame is read, as for :func:`discreet.assess`.

    >>> table = Table.from_array([[4, 8, 1, 15, 12], [6, 7, 5, 11, 9]], ["sex", "years"])
    >>> result = population_uniques(table, 400)
    >>> result.sample_uniques, round(result.priors["uniform"].tau.total.mean, 4)
    (1, 0.0448)
    """
    b, c = options.pop("b", 1.0), options.pop("c", 1.0)
    effort, reading = Effort(draws=2000).among(options, DrawOptions)
    draws, seed = effort.draws, effort.seed
    sample = open_sample(sample, Reading.of(reading, population_uniques, DrawOptions))
    table = sample.table if isinstance(sample, Records) else sample
    known: dict[str, PriorView] = {}
    whole = Sample.from_table(table, population)
    for item in priors:
        prior = prior_of(item) if isinstance(item, str) else item
        if prior.name in known:
            raise RequestError(f"prior {prior.name!r} is given twice; give each once")
        tau = tau_by_slice(table, population, prior, dimensions=slices, level=level, draws=draws, seed=seed)
        believed = posterior(whole, prior, draws=draws, seed=seed)
        known[prior.name] = PriorView(tau, bayes_test(believed, b=b, c=c))
    selection, note = None, None
    if model is not None and table.size > DENSE_LIMIT:
        note = (
            f"the log-linear model was left out: {table.size:,} cells are more than the {DENSE_LIMIT:,} that are laid "
            "out; use fewer dimensions to have it"
        )
    elif model is not None:
        weighted = sample.weighted if isinstance(sample, Records) else None
        sizes = Scale(fractions=fractions, weighted=weighted, population=None if fractions is not None else population)
        if model == "select":
            selection = forward_selection(table, **sizes, workers=effort.workers, progress=effort.progress)
        else:
            selection = choose(table, [model], **sizes)
        note = selection.chosen.warning
    if isinstance(sample, Records) and not sample.declared:
        seen = (
            "K counts the combinations of categories that occur in the records; name those that nobody in the "
            "sample has as well (a table that lists them with count 0): they raise K and the risk under both priors"
        )
        note = f"{note}; {seen}" if note else seen
    cells = sample.cells if isinstance(sample, Records) else None
    return PopulationUniques(table, population, known, selection, note, cells)


def _chance(value: float | None) -> str:
    return "–" if value is None else brief(value)
