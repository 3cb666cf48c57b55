"""τ for every category of every dimension: where in the table the population uniques are to be expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.core.random import Seed
from discreet.core.text import Face, Result, figure
from discreet.table import Table
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import Prior, UrnPrior
from discreet.uniques.sample import Sample
from discreet.uniques.tau import Tau, tau_of


@dataclass(frozen=True)
class TauSlice:
    """τ of the sample uniques in one category of one dimension."""

    dimension: str
    category: str
    tau: Tau


@dataclass(frozen=True)
class TauTable(Result):
    """τ in total and by slice; each slice's law takes the whole table's dependence into account."""

    total: Tau
    slices: tuple[TauSlice, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``--json`` prints it."""
        rows = [{"dimension": s.dimension, "category": s.category, **s.tau.to_dict()} for s in self.slices]
        return {**self.total.to_dict(), "slices": rows}

    def face(self, most: int) -> Face:
        """Return one line per slice."""
        every = [("whole table", self.total), *((f"{s.dimension}={s.category}", s.tau) for s in self.slices)]
        rows = [
            [name, f"{t.sample_uniques:,}", figure(t.mean), figure(t.sd), f"{t.low:,} to {t.high:,}"]
            for name, t in every
        ]
        header = ["slice", "uniques", "τ̃", "sd", f"{self.total.level * 100:.4g}% interval"]
        return Face(header, rows, f"population uniques, {self.total.prior} prior")


def tau_by_slice(
    table: Table,
    population: int,
    prior: Prior,
    *,
    dimensions: Sequence[str] | None = None,
    level: float = 0.9,
    draws: int = 2000,
    seed: Seed = None,
) -> TauTable:
    """Return τ of the whole table and of every category of the dimensions (all of them by default).

    >>> from discreet.uniques.priors import Uniform
    >>> table = Table.from_array([[4, 8, 1, 15, 12], [6, 7, 5, 11, 9]], ["sex", "years"])
    >>> result = tau_by_slice(table, 400, Uniform(), dimensions=["sex"])
    >>> [(s.category, round(s.tau.mean, 4)) for s in result.slices]
    [('1', 0.0448), ('2', 0.0)]
    """
    sample = Sample.from_table(table, population)
    known = posterior(sample, prior, draws=draws, seed=seed)
    unique = sample.counts == 1
    # Under a symmetric prior the law depends on nothing but the number of uniques in the slice.
    shared: dict[int, Tau] = {}
    alike = isinstance(prior, UrnPrior) and prior.symmetric
    slices = []
    for name in table.names if dimensions is None else dimensions:
        codes = table.codes(name)
        for code, category in enumerate(table.dimensions[table.axis(name)].categories):
            inside = unique & (codes == code)
            number = int(inside.sum())
            if alike and number in shared:
                here = replace(shared[number], cells=sample.cells[inside])
            else:
                here = tau_of(known, level=level, cells=inside, draws=draws, seed=seed)
                shared[number] = here
            slices.append(TauSlice(name, category, here))
    total = tau_of(known, level=level, draws=draws, seed=seed)
    return TauTable(total, tuple(slices))
