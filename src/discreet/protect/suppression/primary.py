"""Primary suppressions, how wide the interval of each must stay, and what every cell costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from discreet.core.errors import RequestError, nearest
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.protect.suppression.problem import Cells, Demands
from discreet.rules.rule import Judge
from discreet.rules.sensitivity import Combine, sensitivity
from discreet.table.figures import units_of
from discreet.table.kinds import UNBOUNDED
from discreet.table.tabulation import Tabulation

Status: TypeAlias = Literal["publish", "suppress", "hide"]
COSTS = ("value", "cells", "log", "contributors", "records")
"""The costs available for every table; the name of another magnitude of the table works too."""
STEPS = 1000
"""The precision of costs that are not integers: three decimals, a round choice."""


@dataclass(frozen=True)
class Wish:
    """A decision made about a cell in advance: that it must be published, suppressed or hidden, its levels, its cost.

    A cell that must be suppressed keeps an interval that reaches ``lower`` below and ``upper`` above its value and is
    ``sliding`` wide; where none of these is given, nobody must be able to work it out exactly. A cell to ``hide`` is
    not sensitive, and stays hidden for another reason, as that it was before: only those must not work it out who have
    nothing but the tables.

    >>> Wish({"region": "North"}, "suppress", lower=5, upper=5).status
    'suppress'
    """

    cell: Mapping[str, str]
    status: Status | None = None
    lower: float = 0.0
    upper: float = 0.0
    sliding: float = 0.0
    cost: float | None = None

    def __post_init__(self) -> None:
        """Check and freeze."""
        object.__setattr__(self, "cell", MappingProxyType({str(k): str(v) for k, v in self.cell.items()}))
        if self.status not in (None, *get_args(Status)):
            raise RequestError(f"the status of a cell is {self.status!r}; it is 'publish', 'suppress' or 'hide'")
        given = {f"{name} level": getattr(self, name) for name in ("lower", "upper", "sliding")}
        for name, number in {**given, "cost": self.cost or 0.0}.items():
            if not number >= 0:
                raise RequestError(f"the {name} of cell {dict(self.cell)} is {number}; give 0 or more")
        if any(given.values()) and self.status != "suppress":
            said = "no status" if self.status is None else f"the status {self.status!r}"
            raise RequestError(
                f"cell {dict(self.cell)} has protection levels and {said}; levels are those of a cell that must be "
                "suppressed: give it the status 'suppress', or take the levels out"
            )


class Primary(NamedTuple):
    """The sensitive cells of one table, with levels in the unit published."""

    sensitive: BoolArray
    lower: FloatArray
    upper: FloatArray
    sliding: FloatArray


def primary(
    table: Tabulation,
    rules: Sequence[Judge],
    combine: Combine,
    response: str | None,
    risk: float | None,
    levels: tuple[float, float] | None,
) -> Primary:
    """Judge the cells of one table by rules and by a bound on the disclosure risk.

    Publishing X says about every contribution to it that it lies between 0 and X, which leaves log2(X + 1) bits:
    DR = 1/log2(X + 1), domingo2002 (1) and (2), in units of the last decimal. A cell above the bound is sensitive, and
    its interval must hold the number of values that the bound asks for, 2^(1/DR).
    """
    none = np.zeros(len(table))
    found = sensitivity(table, list(rules), response=response, combine=combine) if rules else None
    sensitive = np.zeros(len(table), bool) if found is None else found.sensitive.copy()
    lower, upper = (none, none) if found is None else (np.nan_to_num(found.lower), np.nan_to_num(found.upper))
    if levels is not None:
        lower, upper = (np.where(sensitive, level, 0.0) for level in levels)
    sliding = none.copy()
    if risk is not None:
        units, decimals = units_of(table, response)
        # So many equally likely values must be left to keep the disclosure risk 1/log₂ of their number.
        values = int(np.ceil(2.0 ** (1.0 / risk) - 1e-9))
        close = (units != 0) & (np.abs(units) + 1 < values)
        sensitive |= close
        sliding[sensitive] = (values - 1) / 10**decimals
    return Primary(sensitive, lower, upper, sliding)


def demands_of(
    cells: Cells, found: Sequence[Primary], wishes: Sequence[Wish], *, above_zero: bool = False
) -> tuple[Demands, BoolArray, dict[int, float]]:
    """Return what must remain possible at every position, what must be published, and the costs that are given."""
    scale = 10**cells.equations.decimals
    judged, lower, upper, sliding = (cells.gather(columns) for columns in zip(*found, strict=True))
    sensitive = judged > 0
    published, kept = np.zeros((2, cells.values.size), bool)
    costs: dict[int, float] = {}
    for wish in wishes:
        i = cells.equations.find(wish.cell)
        if not cells.listed[i]:
            raise RequestError(f"cell {cells.equations.describe(i)} is in none of the tables; name a cell that is")
        if wish.cost is not None:
            costs[i] = wish.cost
        if wish.status == "publish":
            published[i] = True
        elif wish.status == "suppress":
            sensitive[i] = True
            lower[i], upper[i] = max(lower[i], wish.lower), max(upper[i], wish.upper)
            sliding[i] = max(sliding[i], wish.sliding)
        kept[i] |= wish.status == "hide"
    kept &= ~sensitive
    hidden = sensitive | kept
    none = np.flatnonzero(hidden & (cells.values == 0) & above_zero)
    if none.size:
        raise RequestError(
            f"cell {cells.equations.describe(int(none[0]))} is 0 and must be suppressed, but zeros are published; let "
            "zeros be suppressible (zeros=, --zeros), so a mark can mean one"
        )

    def units(level: FloatArray) -> IntArray:
        return np.where(sensitive, np.ceil(level * scale - 1e-6), 0).astype(np.int64)

    # No interval reaches beyond what values can be at all.
    room_up = np.where(cells.upper >= UNBOUNDED, UNBOUNDED, cells.upper - cells.values)
    low, high = np.minimum(units(lower), cells.values - cells.lower), np.minimum(units(upper), room_up)
    # A sensitive value must not be worked out exactly, whatever its levels are.
    wide = np.where(hidden, np.maximum(units(sliding), 1), 0)
    return Demands(sensitive, kept, low, high, np.where(wide > low + high, wide, 0)), published, costs


def costs_of(cells: Cells, cost: str, response: str | None, given: dict[int, float]) -> IntArray:
    """Return the cost of every position as an integer, to make sums the same on any machine.

    ``value`` is the size of the figure without its decimals, ``cells`` counts cells, ``log`` is
    1000·log2(1 + value), ``contributors`` and ``records`` count those in the cell. Every cell costs at least 1.
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
