"""What it costs not to publish a cell."""

from __future__ import annotations

import numpy as np

from discreet.core.errors import RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.suppression.problem import Cells
from discreet.table.tabulation import Tabulation

COSTS = ("value", "cells", "log", "contributors", "records")
"""The costs that every table has; the name of another magnitude of the table is one too."""
STEPS = 1000
"""How finely costs that are not whole are told apart."""


def costs_of(cells: Cells, cost: str, response: str | None, given: dict[int, float]) -> IntArray:
    """Return the cost of every position as a whole number, so that sums are the same on any machine.

    ``value`` is the size of the figure without its decimals, ``cells`` counts cells, ``log`` is
    1000·log2(1 + value), ``contributors`` and ``records`` count who is in the cell. Every cell costs 1 at least.
    """
    if cost == "value":
        whole = np.abs(cells.values) / 10**cells.equations.decimals
    elif cost == "cells":
        whole = np.ones(cells.values.size)
    elif cost == "log":
        whole = STEPS * np.log2(1.0 + np.abs(cells.values))
    else:
        whole = cells.gather([_column(table, cost) for table in cells.tables])
    found: IntArray = np.maximum(np.rint(whole), 1).astype(np.int64)
    factor = STEPS if cost == "log" else 1
    for i, figure in given.items():
        found[i] = max(round(figure * factor), 1)
    return found


def _column(table: Tabulation, cost: str) -> FloatArray | IntArray:
    if cost == "contributors":
        return table.contributors.units
    if cost == "records":
        return table.records
    names = [one.name for one in table.responses]
    if cost not in names:
        raise RequestError(f"there is no cost {cost!r}; {nearest(cost, [*COSTS, *names])}")
    return np.abs(table.responses[names.index(cost)].sums)
