"""The prior-posterior rule: a cell is sensitive if publishing it lets a contributor estimate another too well.

domingo2002 section 2: before publication each respondent can estimate the others within q percent; a cell is sensitive
if afterwards somebody can estimate one of them within p percent. The best attacker is the second largest contributor,
the best target the largest: the attacker subtracts its own contribution, and is off by at most q percent of what the
others add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.errors import RequestError
from discreet.rules.cell_figures import CellFigures
from discreet.rules.rule import Finding, amount, finding, where_applied
from discreet.table.units import LevelName


class PriorPosterior:
    """What the p% rule and the pq rule share: how well the best informed contributors can estimate the largest."""

    p: float
    coalition: int
    level: LevelName
    weighted: bool

    @property
    def prior(self) -> float:
        """Percent within which everybody can estimate the others before publication."""
        return 100.0

    def __post_init__(self) -> None:
        """Refuse a coalition of nobody."""
        if self.coalition < 1 or self.coalition != int(self.coalition):
            raise RequestError(f"the coalition has {self.coalition} members; give 1 or more")

    def judge(self, cells: CellFigures) -> Finding:
        """Compare the attacker's uncertainty q/100 · (X − x1 − x2) with p/100 · x1, both times 100/q."""
        first, known = cells.largest(1), cells.largest(1 + self.coalition)
        rest = cells.total - known
        limit = self.p / self.prior * first
        # Multiplied out: a rest of exactly p percent is safe whatever the rounding of a quotient.
        return finding(self.prior * rest < self.p * first, rest, limit, limit - rest, limit - rest)

    def reason(self, cells: CellFigures, finding: Finding, i: int) -> str:
        """Say how well the second largest contributor, or a coalition, can estimate the largest."""
        first = float(cells.row(i).largest(1)[0])
        off = self.prior / 100 * max(float(finding.figure[i]), 0.0)
        if first == 0:
            return "nobody contributes anything"
        if cells.units[i] == 1 and not cells.weighted:
            return f"a single {self.level}: the figure itself is its contribution of {amount(first)}"
        several = f"{self.coalition} of the other {self.level}s together"
        who = f"the second largest {self.level}" if self.coalition == 1 else several
        held = "closer than" if finding.sensitive[i] else "not closer than"
        within = f"{amount(off)} ({100 * off / first:.1f}%)"
        return f"{who} can estimate the largest, {amount(first)}, to within {within}, {held} {amount(self.p)}%"

    def titled(self, name: str) -> str:
        """Return a rule's name with how many conspire, where that is more than one, and where it is applied."""
        conspire = f", coalition of {self.coalition}" if self.coalition > 1 else ""
        return f"{name}{conspire}{where_applied(self.level, self.weighted)}"


@dataclass(frozen=True)
class PQ(PriorPosterior):
    """Sensitive if q/100 · (X − x1 − x2) < p/100 · x1.

    The protection levels are p/q · x1 − (X − x1 − x2). A coalition of c contributors pools what it knows:
    x2 + … + x(c+1) take the place of x2.

    Args:
        p: percent of the largest contribution within which nobody may estimate it.
        q: percent within which everybody can estimate the others before publication.
        coalition: how many contributors pool what they know.
        level: whether contributors or holdings are judged.
        weighted: whether a contributor of weight w counts as w contributors of the same size.
    """

    p: float
    q: float
    coalition: int = 1
    level: LevelName = "contributor"
    weighted: bool = False
    name: ClassVar[str] = "pq"

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 0 < self.p < self.q <= 100:
            raise RequestError(f"p is {self.p} and q is {self.q}; give percentages with p below q, and q up to 100")
        super().__post_init__()

    @property
    def prior(self) -> float:
        """Percent within which everybody can estimate the others before publication."""
        return self.q

    @property
    def title(self) -> str:
        """The rule with its parameters."""
        return self.titled(f"pq with p = {amount(self.p)}, q = {amount(self.q)}")
