"""The p% rule: the prior-posterior rule when nothing is known beforehand (q = 100); domingo2002 section 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.errors import RequestError
from discreet.rules.figures import CellFigures
from discreet.rules.pq import check_coalition, estimate_too_close, say_how_close, together
from discreet.rules.rule import Finding, amount, where_applied
from discreet.table.units import LevelName


@dataclass(frozen=True)
class PPercent:
    """Sensitive if X − x1 − x2 < p/100 · x1: the second largest contributor knows the largest within p percent.

    The protection levels are p/100 · x1 − (X − x1 − x2). A coalition of c contributors pools what it knows:
    x2 + … + x(c+1) take the place of x2.

    Args:
        p: percent of the largest contribution within which nobody may estimate it.
        coalition: how many contributors pool what they know.
        level: whether contributors or holdings are looked at.
        weighted: whether weights count as alike contributors.
    """

    p: float
    coalition: int = 1
    level: LevelName = "contributor"
    weighted: bool = False
    name: ClassVar[str] = "p_percent"

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 0 < self.p <= 100:
            raise RequestError(f"p is {self.p}; give a percentage above 0, up to 100")
        check_coalition(self.coalition)

    @property
    def title(self) -> str:
        """The rule with its parameters."""
        return f"{amount(self.p)}% rule{together(self.coalition)}{where_applied(self)}"

    def judge(self, cells: CellFigures) -> Finding:
        """Judge every cell."""
        return estimate_too_close(cells, self.p, 100.0, self.coalition)

    def reason(self, cells: CellFigures, finding: Finding, i: int) -> str:
        """Say how well the largest contribution can be estimated."""
        return say_how_close(cells, finding, i, self.p, 100.0, self.coalition, self.level)
