"""The p% rule: the prior-posterior rule when nothing is known beforehand (q = 100); domingo2002 section 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.errors import RequestError
from discreet.rules.pq import PriorPosterior
from discreet.rules.rule import amount
from discreet.table.units import LevelName


@dataclass(frozen=True)
class PPercent(PriorPosterior):
    """Sensitive if X − x1 − x2 < p/100 · x1: the second largest contributor knows the largest within p percent.

    The protection levels are p/100 · x1 − (X − x1 − x2). A coalition of c contributors pools what it knows:
    x2 + … + x(c+1) take the place of x2.

    Args:
        p: percent of the largest contribution within which nobody may estimate it.
        coalition: how many contributors pool what they know.
        level: whether contributors or holdings are judged.
        weighted: whether a contributor of weight w counts as w contributors of the same size.
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
        super().__post_init__()

    @property
    def title(self) -> str:
        """The rule with its parameters."""
        return self.titled(f"{amount(self.p)}% rule")
