"""Planning a sample: sizes at which the risk of uniques crosses a bound, and the curves to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.text import Face, Result
from discreet.table import Table
from discreet.uniques.population_uniques import prior_of
from discreet.uniques.priors import Prior
from discreet.uniques.sample import Sample
from discreet.uniques.sample_size import Measure, SampleSize, SizeCurve, sample_size, size_curve


@dataclass(frozen=True, eq=False, repr=False)
class SizePlan(Result):
    """For each prior the sizes around the bound, and Q and τ̃ over the sample size."""

    sizes: tuple[SampleSize, ...]
    curves: tuple[SizeCurve, ...]

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        first = self.sizes[0]
        risk = "Q" if first.measure == "q" else "τ̃"
        parts = [
            f"{'no sample' if not size.largest else f'at most {size.largest:,} people'} under the {size.prior} prior"
            for size in self.sizes
        ]
        return f"To keep {risk} below {first.bound:g} in a population of {first.population:,}: {'; '.join(parts)}."

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one row per prior, as text."""
        risk = "Q" if self.sizes[0].measure == "q" else "τ̃"
        body = [
            [
                f"{size.prior} prior",
                f"{size.largest:,}" if size.largest else "none",
                "not reached" if size.needed is None else f"{size.needed:,}",
                size.basis,
            ]
            for size in self.sizes
        ]
        bound = f"{self.sizes[0].bound:g}"
        return ["", f"largest n, {risk} < {bound}", f"smallest n, {risk} ≥ {bound}", "uniques expected by"], body

    def curve_rows(self, curve: SizeCurve, points: int) -> tuple[list[str], list[list[str]]]:
        """Return a header and some points of a curve, evenly spaced, as text."""
        header, rows = curve.rows()
        some = np.unique(np.linspace(0, curve.sizes.size - 1, points).round().astype(np.int64))
        return header, [rows[i] for i in some]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``--json`` prints it."""
        return {
            "sentence": self.sentence,
            "priors": {size.prior: size.to_dict() for size in self.sizes},
            "curves": {curve.prior: curve.to_dict() for curve in self.curves},
        }

    def to_csv(self) -> str:
        """Return the points of all curves as CSV."""
        lines = ["prior,n,q,sample_uniques,tau"]
        for curve in self.curves:
            figures = zip(curve.sizes, curve.q, curve.uniques, curve.tau, strict=True)
            lines += [f"{curve.prior},{n},{q:.10g},{s:.10g},{t:.10g}" for n, q, s, t in figures]
        return "\n".join(lines) + "\n"

    def face(self, most: int) -> Face:
        """Return the outcome and the sizes."""
        return Face(*self.rows(), self.sentence)


def plan_size(
    priors: Sequence[str | Prior],
    bound: float,
    *,
    population: int,
    cells: int | None = None,
    table: Table | None = None,
    measure: Measure = "q",
    points: int = 50,
) -> SizePlan:
    """Find for each prior the largest sample below a bound and the smallest that reaches it.

    Args:
        priors: names or priors, symmetric ones.
        bound: of Q or of τ̃.
        population: N.
        cells: K; or give the table.
        table: a sample at hand, from which sample uniques are expected.
        measure: ``"q"`` or ``"tau"``.
        points: how many sizes the curves have.

    >>> plan_size(["uniform"], 0.05, population=46228, cells=1108).sizes[0].largest
    9477
    """
    if not priors:
        raise RequestError("no prior is given; name one, such as uniform")
    if (cells is None) == (table is None):
        raise RequestError("give the number of cells or a sample table, one of the two")
    given = None if table is None else Sample.from_table(table, population)
    possible = cells if given is None else given.possible
    assert possible is not None
    chosen = [prior_of(item) if isinstance(item, str) else item for item in priors]
    grid = np.unique(np.linspace(1, max(population, 1), points).round().astype(np.int64))
    shared: dict[str, Any] = {"population": population, "possible": possible, "table": given}
    sizes = tuple(sample_size(prior, bound, measure=measure, **shared) for prior in chosen)
    return SizePlan(sizes, tuple(size_curve(prior, sizes=grid, **shared) for prior in chosen))
