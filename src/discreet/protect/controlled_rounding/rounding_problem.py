"""The problem of controlled rounding: which figures go up and which go down so that all sums hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import IntArray
from discreet.protect.additive import Sums


@dataclass(frozen=True, eq=False)
class RoundingProblem:
    """Figures that are no multiples of the base, and the equations Σ sign·u = rhs between their roundings.

    u is 1 where a figure goes up and 0 where it goes down; multiples of the base stay (zero-restricted rounding, Cox
    and Ernst 1982). ``residual`` is what each figure is above its lower neighbour, so that u = residual/base solves
    the equations in real numbers.
    """

    sums: Sums
    values: IntArray
    base: int
    open: IntArray
    residual: IntArray
    starts: IntArray
    columns: IntArray
    signs: IntArray
    rhs: IntArray

    @classmethod
    def of(cls, sums: Sums, values: IntArray, base: int) -> RoundingProblem:
        """State the problem of figures that add up."""
        residual = values % base
        open_ = np.flatnonzero(residual)
        place = np.full(values.size, -1)
        place[open_] = np.arange(open_.size)
        kept = place[sums.columns] >= 0
        count = np.bincount(sums.row[kept], minlength=sums.starts.size - 1)
        rhs = -sums.gaps(values - residual) // base
        some = count > 0
        return cls(
            sums,
            values,
            base,
            open_,
            residual[open_],
            np.concatenate([[0], np.cumsum(count[some])]).astype(np.int64),
            place[sums.columns[kept]],
            sums.signs[kept],
            rhs[some],
        )

    @property
    def costs(self) -> IntArray:
        """How much further away the upper neighbour is than the lower; b − 2r.

        Any norm gives the same order: squares give b·(b − 2r), so that one optimum serves both sums of absolute and of
        squared changes.
        """
        costs: IntArray = self.base - 2 * self.residual
        return costs

    def published(self, steps: IntArray) -> IntArray:
        """Return all figures, where those that are no multiples stand so many steps above their lower neighbours."""
        values: IntArray = self.values - self.values % self.base
        values[self.open] += self.base * steps
        return values
