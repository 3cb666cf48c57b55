"""The (n,k)-dominance rule: a cell that few contributors dominate is sensitive.

domingo2002 section 2: sensitive if the contributions of n or fewer respondents are more than a fraction k of the
cell's total. It looks at concentration, not at what a contributor can infer; see :mod:`discreet.rules.explain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.rules.cell_figures import CellFigures
from discreet.rules.rule import Finding, amount, finding, where_applied
from discreet.table.units import LevelName


@dataclass(frozen=True)
class Dominance:
    """Sensitive if x1 + … + xn > k/100 · X.

    The upper bound that anybody can compute must reach 100/k · (x1 + … + xn), of which the largest would be k percent:
    the protection levels are 100/k · (x1 + … + xn) − X.

    Args:
        n: how many of the largest contributors are added up.
        k: percent of the cell's total.
        level: whether contributors or holdings are judged.
        weighted: whether a contributor of weight w counts as w contributors of the same size.
    """

    n: int
    k: float
    level: LevelName = "contributor"
    weighted: bool = False
    name: ClassVar[str] = "dominance"

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.n < 1 or self.n != int(self.n):
            raise RequestError(f"the n of the dominance rule is {self.n}; give 1 contributor or more")
        if not 0 < self.k < 100:
            raise RequestError(f"the k of the dominance rule is {self.k}; give a percentage between 0 and 100")

    @property
    def title(self) -> str:
        """The rule with its parameters."""
        return f"({self.n}, {amount(self.k)})-dominance{where_applied(self.level, self.weighted)}"

    def judge(self, cells: CellFigures) -> Finding:
        """Judge every cell."""
        largest = cells.largest(self.n)
        some = cells.total > 0
        share = 100 * largest / np.where(some, cells.total, 1.0)
        # Products instead of shares: 85 of 100 is not more than 85 percent, whatever the rounding of a quotient.
        sensitive = 100 * largest > self.k * cells.total
        limit = np.full(share.shape, float(self.k))
        return finding(sensitive, share, limit, share - limit, 100 / self.k * largest - cells.total)

    def reason(self, cells: CellFigures, finding: Finding, i: int) -> str:
        """Say what share the largest contributors have."""
        who = f"the largest {self.level}" if self.n == 1 else f"the {self.n} largest {self.level}s"
        makes = "makes up" if self.n == 1 else "make up"
        held = "more than" if finding.sensitive[i] else "not more than"
        return f"{who} {makes} {finding.figure[i]:.1f}% of {amount(float(cells.total[i]))}, {held} {amount(self.k)}%"
