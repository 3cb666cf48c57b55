"""What a rule sees of a cell: counts, totals and the largest contributions, at one level, weighted or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.tabulation import Tabulation
from discreet.table.units import LevelName


@dataclass(frozen=True, eq=False)
class CellFigures:
    """The figures of one response in every cell of a tabulation, at the level of contributors or holdings.

    Attributes:
        weighted: whether a contributor of weight w counts as w contributors of the same size.
        units: the number of units.
        value: the figure that would be published: the sum of the response, or the number of records.
        count: the number of units, or the sum of their weights.
        total: X, the sum of the contributions' absolute values.
        top: the largest contributions, a row per cell; no columns without a response.
        weights: how many contributors of its size each of them counts for; None where each counts for itself.
    """

    tabulation: Tabulation
    level: LevelName
    weighted: bool
    units: IntArray
    value: FloatArray
    count: FloatArray
    total: FloatArray
    top: FloatArray
    weights: FloatArray | None

    def largest(self, n: int) -> FloatArray:
        """Return x1 + … + xn of every cell: the sum of its n largest contributions.

        With weights, a unit of weight 2.5 fills two and a half of the n places.
        """
        if not self.tabulation.responses:
            raise RequestError(
                "this rule judges contributions, but the table has counts only; give records and the amount to add up "
                "(value=, --by and --value), or judge counts (threshold=3)"
            )
        if n > self.top.shape[1]:
            raise RequestError(
                f"the {n} largest contributions are needed, but the table keeps {self.top.shape[1]}; tabulate again "
                f"with more of them (top={n}, --largest {n}), or take rules that need no more; where a plan reads a "
                "finished table, name as many of its columns (largest)"
            )
        if self.weights is None:
            sums: FloatArray = self.top[:, :n].sum(axis=1)
            return sums
        before = np.cumsum(self.weights, axis=1) - self.weights
        places = np.clip(n - before, 0.0, self.weights)
        short = (self.weights.sum(axis=1) < n) & (self.units > self.top.shape[1])
        if short.any():
            cell = self.tabulation.describe(int(np.argmax(short)))
            raise DataError(
                f"cell {cell}: the largest contributions that are kept have weights below 1 and count for fewer than "
                f"{n} contributors; tabulate again with more of them (top={2 * self.top.shape[1]}, "
                f"--largest {2 * self.top.shape[1]})"
            )
        filled: FloatArray = (places * self.top).sum(axis=1)
        return filled

    def row(self, i: int) -> CellFigures:
        """Return the figures of cell number i alone."""
        columns = {name: getattr(self, name) for name in ("units", "value", "count", "total", "top", "weights")}
        return replace(self, **{name: one[i : i + 1] for name, one in columns.items() if one is not None})


def cell_figures(
    tabulation: Tabulation, response: str | None = None, *, level: LevelName = "contributor", weighted: bool = False
) -> CellFigures:
    """Return what a rule sees of a tabulation."""
    if level not in tabulation.levels:
        if level not in ("contributor", "holding"):
            raise RequestError(f"level is {level!r}; give 'contributor' or 'holding'")
        raise RequestError("the table has no holdings; tabulate again with a holding column (holding=, --holding)")
    units = tabulation.levels[level]
    if weighted and units.weighted_units is None:
        raise RequestError(
            "the table has no weights; tabulate again with a weight column (weight=, --weight), or "
            "leave weighted=yes out: "
            "weighted estimates are judged by the weighted contributions to them"
        )
    count = units.weighted_units if weighted and units.weighted_units is not None else units.units.astype(np.float64)
    if not tabulation.responses:
        if response is not None:
            tabulation.response(response)
        records = tabulation.weighted if weighted and tabulation.weighted is not None else tabulation.records
        total = value = records.astype(np.float64)
        top, weights = np.zeros((len(tabulation), 0)), None
    else:
        at = tabulation.response(response)
        largest, magnitude = units.largest[at], tabulation.responses[at]
        value, total, top, weights = magnitude.sums, largest.total, largest.top, None
        if weighted:
            assert largest.weighted_top is not None
            assert largest.weighted_total is not None
            assert magnitude.weighted_sums is not None
            value, total, some = magnitude.weighted_sums, largest.weighted_total, top > 0
            # A contributor of 0 fills a place without adding anything.
            weights = np.where(some, largest.weighted_top / np.where(some, top, 1.0), 1.0)
    return CellFigures(tabulation, level, weighted, units.units, value, count, total, top, weights)
