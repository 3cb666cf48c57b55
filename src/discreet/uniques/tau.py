"""How many sample uniques are alone in the population too: τ, its Bayes estimate and its law, in total and by slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from discreet.core.errors import LimitError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.random import Seed
from discreet.core.text import Face, Result, figure
from discreet.table import Table
from discreet.uniques.convolution import UntouchedLaw
from discreet.uniques.drawn_posterior import DrawnPosterior
from discreet.uniques.exact_posterior import Mask, Posterior
from discreet.uniques.posterior import Drawing, Method, posterior
from discreet.uniques.priors import Prior, UrnPrior
from discreet.uniques.sample import Sample


@dataclass(frozen=True, eq=False, repr=False)
class Tau(Result):
    """The number of sample uniques that are population uniques, given the prior and the sample.

    ``mean`` is the Bayes estimate τ̃ = Σ Q_i (cohen2009, section 2); ``low`` … ``high`` holds τ with at least the
    probability ``level``, cutting off at most (1 − level)/2 on each side. ``law`` is the posterior of τ; the F_i
    depend on one another (they add up to N), and the law takes that into account. ``mc_error`` is the Monte
    Carlo error of the mean: None when nothing was drawn, 0 when only the law around the mean was.
    """

    prior: str
    sample_uniques: int
    mean: float
    sd: float
    level: float
    low: int
    high: int
    method: str
    mc_error: float | None
    draws: int | None
    cells: IntArray
    q: FloatArray
    law: UntouchedLaw

    def probability(self, count: int) -> float:
        """Return P(τ = count | f)."""
        inside = 0 <= count - self.law.start < self.law.pmf.size
        return float(self.law.pmf[count - self.law.start]) if inside else 0.0

    def interval(self, level: float) -> tuple[int, int]:
        """Return the credible interval of another level."""
        return _interval(self.law, level)

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        # One figure for Q if all are the same, as under a symmetric prior.
        alike = self.q.size and (self.q == self.q[0]).all()
        return {
            "prior": self.prior,
            "sample_uniques": self.sample_uniques,
            "q": float(self.q[0]) if alike else self.q.tolist() or None,
            "tau": self.mean,
            "sd": self.sd,
            "level": self.level,
            "interval": [self.low, self.high],
            **{name: getattr(self, name) for name in ("method", "mc_error", "draws")},
        }

    def face(self, most: int) -> Face:
        """Return the estimate in four lines."""
        error = "" if self.mc_error is None else f" ± {self.mc_error:.2g} ({self.draws:,} draws)"
        rows = [
            ["sample uniques, s", f"{self.sample_uniques:,}"],
            ["expected population uniques, τ̃", figure(self.mean) + error],
            ["standard deviation", figure(self.sd)],
            [f"{self.level * 100:.4g}% credible interval", f"{self.low:,} to {self.high:,}"],
        ]
        return Face(["population uniques", f"{self.prior} prior"], rows)


def tau(
    sample: Sample, prior: Prior, *, level: float = 0.9, cells: Mask | None = None, **drawing: Unpack[Drawing]
) -> Tau:
    """Return the posterior of τ, the number of sample uniques that are alone in the population.

    Args:
        sample: the sample and the sizes of population and table.
        prior: what was believed before the sample.
        level: probability of the credible interval.
        cells: which of the non-empty cells to count, as a mask; all by default.
        drawing: method, draws and seed, as for :func:`discreet.uniques.posterior`.

    The Dutch municipality of cohen2009 (108 sample uniques; the other counts do not matter to this prior):

    >>> from discreet.uniques.priors import Uniform
    >>> sample = Sample.from_counts([1] * 108 + [8291], population=46228, possible=1108)
    >>> result = tau(sample, Uniform())
    >>> round(result.mean, 4), result.low, result.high
    (4.3553, 1, 8)
    """
    return tau_of(posterior(sample, prior, **drawing), level=level, cells=cells, **drawing)


def tau_of(
    known: Posterior,
    *,
    level: float = 0.9,
    cells: Mask | None = None,
    method: Method = "auto",
    draws: int = 2000,
    seed: Seed = None,
) -> Tau:
    """Return τ for a given posterior, over all cells or over those of a mask."""
    sample = known.sample
    counted = sample.counts == 1 if cells is None else (sample.counts == 1) & cells
    q = known.q[counted[sample.counts == 1]]
    drawn = known if isinstance(known, DrawnPosterior) else None
    try:
        law = known.untouched(counted)
    except LimitError:
        if method == "exact":
            raise
        drawn = DrawnPosterior.of(sample, known.prior, draws=draws, seed=seed)
        law = drawn.untouched(counted)
    support = law.start + np.arange(law.pmf.size)
    mean = float(support @ law.pmf)
    low, high = _interval(law, level)
    error = None
    if drawn is not None:
        # Q in closed form leaves the mean without Monte Carlo error, even when the law around it is drawn.
        error = drawn.untouched_error(counted) if isinstance(known, DrawnPosterior) else 0.0
    return Tau(
        prior=known.prior.name,
        sample_uniques=int(counted.sum()),
        mean=mean if error else float(q.sum()),
        sd=float(np.sqrt(law.pmf @ (support - mean) ** 2)),
        level=level,
        low=low,
        high=high,
        method="exact" if drawn is None else "Monte Carlo",
        mc_error=error,
        draws=None if drawn is None else drawn.draws,
        cells=known.sample.cells[counted],
        q=q,
        law=law,
    )


def _interval(law: UntouchedLaw, level: float) -> tuple[int, int]:
    if not 0.0 < level < 1.0:
        raise RequestError(f"level is {level}; it is a probability between 0 and 1, such as 0.9")
    below = np.cumsum(law.pmf)
    tail = 0.5 * (1.0 - level)
    # What float64 cannot tell from the tail's limit must not push the interval outwards by one.
    low = int(np.searchsorted(below, tail * (1.0 + 1e-12), side="right"))
    high = int(np.searchsorted(below, (1.0 - tail) * (1.0 - 1e-12), side="left"))
    last = law.pmf.size - 1
    return law.start + min(low, last), law.start + min(high, last)


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

    def to_dict(self) -> dict[str, Json]:
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
