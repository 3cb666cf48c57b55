"""What protection costs the statistics beside a table: how many are published, and how far they are from the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.json_types import Json
from discreet.core.numerics import IntArray
from discreet.table.figures import Figures
from discreet.table.grid import Grid, locate, recode
from discreet.table.statistic import StatisticColumn


@dataclass(frozen=True)
class StatisticLoss:
    """What a release keeps of one statistic.

    Attributes:
        name: the column.
        definition: what it is.
        wanted: how many there would be if the table were published unprotected.
        shown: how many are published.
        error: mean absolute difference from the true ones, in the unit of the statistic; None where none is shown.

    >>> print(StatisticLoss("pct", "percentage of the figures over sex", 4, 3, 0.5))
    pct: 3 of 4 are published, 0.5 from the truth on average
    """

    name: str
    definition: str
    wanted: int
    shown: int
    error: float | None

    @property
    def kept(self) -> float:
        """The share that is published."""
        return self.shown / self.wanted if self.wanted else 1.0

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return vars(self)

    def __str__(self) -> str:
        far = "" if self.error is None else f", {self.error:.2g} from the truth on average"
        return f"{self.name}: {self.shown:,} of {self.wanted:,} are published{far if self.error else ''}"


def statistic_loss(true: Figures, published: Figures) -> tuple[StatisticLoss, ...]:
    """Return what a published table keeps of every statistic of the true one."""
    own = {column.name: column for column in published.statistics}
    return tuple(_lost(true, published, column, own.get(column.name)) for column in true.statistics)


def _lost(true: Figures, published: Figures, column: StatisticColumn, shown: StatisticColumn | None) -> StatisticLoss:
    about = (column.name, str(column.statistic), len(column))
    if shown is None or not len(shown):
        return StatisticLoss(*about, 0, None)
    truth = column.values / 10**column.decimals
    grid = Grid.of(true.labels)
    place = grid.encode(list(column.codes.T))
    at = locate(place, grid.encode(_recoded(true, published, shown)), np.argsort(place, kind="stable"))
    found = at >= 0
    one = shown.statistic
    # The best reading of a range is its middle.
    middle = one.step / 2 if one.step > 1 and one.rounding == "down" else 0.0
    error = np.abs((shown.values[found] + middle) / 10**shown.decimals - truth[at[found]])
    return StatisticLoss(*about, int(found.sum()), float(error.mean()) if error.size else None)


def _recoded(true: Figures, published: Figures, shown: StatisticColumn) -> list[IntArray]:
    """Return the cells of published statistics in the labels of the true table, -1 where it has none."""
    columns = []
    for name, labels in true.labels.items():
        if name not in published.labels:
            columns.append(np.full(len(shown), -1))
            continue
        theirs = [true.total if published.is_total(name, label) else label for label in published.labels[name]]
        columns.append(recode(theirs, list(labels))[shown.codes[:, published.names.index(name)]])
    return columns
