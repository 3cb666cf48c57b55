"""The problem of controlled rounding: which figures go up and which go down with all sums intact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.sparse import Rows
from discreet.protect.additive import Sums


@dataclass(frozen=True, eq=False)
class RoundingProblem:
    """Figures that are no multiples of the base, and the equations Σ sign·u = rhs between their roundings.

    u is 1 where a figure goes up and 0 where it goes down; multiples of the base stay (zero-restricted rounding, Cox
    and Ernst 1982). ``residual`` is what each figure is above its lower neighbour: u = residual/base solves the
    equations in real numbers.
    """

    sums: Sums
    values: IntArray
    base: int
    open: IntArray
    residual: IntArray
    rows: Rows
    rhs: IntArray

    @classmethod
    def of(cls, sums: Sums, values: IntArray, base: int) -> RoundingProblem:
        """State the problem of figures that add up."""
        residual = values % base
        open_ = np.flatnonzero(residual)
        rows = sums.among(open_)
        some = np.diff(rows.starts) > 0
        rhs = -sums.gaps(values - residual) // base
        rows = rows._replace(starts=np.append(rows.starts[:-1][some], rows.columns.size))
        return cls(sums, values, base, open_, residual[open_], rows, rhs[some])

    @property
    def costs(self) -> IntArray:
        """How much further away the upper neighbour is than the lower; b − 2r.

        Any norm gives the same order: squares give b·(b − 2r), so one optimum serves sums of absolute and of squared
        changes.
        """
        costs: IntArray = self.base - 2 * self.residual
        return costs

    def published(self, steps: IntArray) -> IntArray:
        """Return all figures, with those that are no multiples so many steps above their lower neighbours."""
        values: IntArray = self.values - self.values % self.base
        values[self.open] += self.base * steps
        return values
