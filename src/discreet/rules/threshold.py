"""The threshold rule: a cell with too few contributors is sensitive.

The attacker knows who is in the cell: with one contributor its figure is published, and with two each can subtract
its own. domingo2002 section 2: sensitive if the number of respondents is less than a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discreet.core.errors import RequestError
from discreet.rules.cell_figures import CellFigures
from discreet.rules.rule import Finding, amount, where_applied
from discreet.table.units import LevelName


@dataclass(frozen=True)
class Threshold:
    """Sensitive if there are fewer than ``minimum`` contributors.

    The protection levels of a sum are ``safety_range`` percent of it, as the rule itself knows no interval; those of a
    count f let it reach the minimum, m − f, and as far below, but not below 0.

    Args:
        minimum: m, the smallest safe number of contributors.
        zeros: whether a cell that nobody is in, or whose contributions are all 0, is ``"safe"``, or ``"unsafe"``
            because it says of everybody that they have none.
        safety_range: percent of the cell's value.
        level: whether contributors or holdings are counted.
        weighted: whether weights are added instead.
    """

    minimum: float
    zeros: Literal["safe", "unsafe"] = "safe"
    safety_range: float = 30.0
    level: LevelName = "contributor"
    weighted: bool = False
    name: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        """Check the parameters."""
        if isinstance(self.minimum, bool) or not self.minimum >= 1:
            raise RequestError(f"threshold is {self.minimum}; give 1 or more contributors")
        if self.zeros not in ("safe", "unsafe"):
            raise RequestError(f"zeros is {self.zeros!r}; give 'safe' or 'unsafe'")
        if not 0 <= self.safety_range <= 100:
            raise RequestError(f"the safety range is {self.safety_range}; give a percentage from 0 to 100")

    @property
    def title(self) -> str:
        """The rule with its parameters."""
        return f"threshold {amount(self.minimum)}{where_applied(self.level, self.weighted)}"

    def judge(self, cells: CellFigures) -> Finding:
        """Judge every cell.

        >>> from discreet.table import Table
        >>> from discreet.table.tabulation import Tabulation
        >>> from discreet.rules.cell_figures import cell_figures
        >>> cells = cell_figures(Tabulation.from_table(Table.from_array([2, 9], ["x"])))
        >>> Threshold(3).judge(cells).sensitive.tolist()
        [False, True, False]
        """
        nothing = (cells.count == 0) | (cells.total == 0)
        few = (cells.count < self.minimum) & ~nothing
        sensitive = few | nothing if self.zeros == "unsafe" else few
        limit = np.full(cells.count.shape, float(self.minimum))
        excess = limit - cells.count
        if cells.tabulation.responses:
            lower = upper = self.safety_range / 100 * np.abs(cells.value)
        else:
            upper = np.maximum(excess, 0.0)
            lower = np.minimum(upper, cells.value)
        return Finding(
            sensitive, cells.count, limit, excess, np.where(sensitive, lower, 0.0), np.where(sensitive, upper, 0.0)
        )

    def reason(self, cells: CellFigures, finding: Finding, i: int) -> str:
        """Say how many contributors there are."""
        number = float(cells.count[i])
        count = f"{amount(number)} {'weighted ' if self.weighted else ''}{self.level}{'' if number == 1 else 's'}"
        if cells.count[i] > 0 and cells.total[i] == 0 and cells.tabulation.responses:
            known = f"all of {count} contribute 0"
            return f"{known}, which would be known of each" if finding.sensitive[i] else known
        if finding.sensitive[i]:
            return f"{count}, fewer than {amount(self.minimum)}"
        if cells.count[i] == 0:
            return "nobody is in it"
        return f"{count}, at least {amount(self.minimum)}"
