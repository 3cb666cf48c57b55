"""The prior-posterior rule: a cell is sensitive if publishing it lets a contributor estimate another too well.

domingo2002 section 2: before publication each respondent can estimate the others within q percent; sensitive if after
it somebody can estimate one of them within p percent. The best attacker is the second largest contributor, the best
target the largest: the attacker subtracts its own contribution, and is off by at most q percent of what the others add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.errors import RequestError
from discreet.rules.figures import CellFigures
from discreet.rules.rule import Finding, amount, finding, where_applied
from discreet.table.units import LevelName


@dataclass(frozen=True)
class PQ:
    """Sensitive if q/100 · (X − x1 − x2) < p/100 · x1.

    The protection levels are p/q · x1 − (X − x1 − x2). A coalition of c contributors pools what it knows:
    x2 + … + x(c+1) take the place of x2.

    Args:
        p: percent of the largest contribution within which nobody may estimate it.
        q: percent within which everybody can estimate the others before publication.
        coalition: how many contributors pool what they know.
        level: whether contributors or holdings are looked at.
        weighted: whether weights count as alike contributors.
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
        check_coalition(self.coalition)

    @property
    def title(self) -> str:
        """The rule with its parameters."""
        return f"pq with p = {amount(self.p)}, q = {amount(self.q)}{together(self.coalition)}{where_applied(self)}"

    def judge(self, cells: CellFigures) -> Finding:
        """Judge every cell."""
        return estimate_too_close(cells, self.p, self.q, self.coalition)

    def reason(self, cells: CellFigures, finding: Finding, i: int) -> str:
        """Say how well the largest contribution can be estimated."""
        return say_how_close(cells, finding, i, self.p, self.q, self.coalition, self.level)


def check_coalition(coalition: int) -> None:
    """Refuse a coalition of nobody."""
    if coalition < 1 or coalition != int(coalition):
        raise RequestError(f"the coalition has {coalition} members; give 1 or more")


def estimate_too_close(cells: CellFigures, p: float, q: float, coalition: int) -> Finding:
    """Compare the attacker's uncertainty q/100 · (X − x1 − x2) with p/100 · x1, both times 100/q."""
    first, known = cells.largest(1), cells.largest(1 + coalition)
    rest = cells.total - known
    limit = p / q * first
    # Multiplied out, so that a rest of exactly p percent is safe whatever the rounding of a quotient.
    sensitive = q * rest < p * first
    return finding(sensitive, rest, limit, limit - rest, limit - rest)


def say_how_close(cells: CellFigures, found: Finding, i: int, p: float, q: float, coalition: int, level: str) -> str:
    """Say how well the second largest contributor, or a coalition, can estimate the largest."""
    first = float(cells.row(i).largest(1)[0])
    off = q / 100 * max(float(found.figure[i]), 0.0)
    if first == 0:
        return "nobody contributes anything"
    if cells.units[i] == 1 and not cells.weighted:
        return f"a single {level}: the figure itself is its contribution of {amount(first)}"
    who = f"the second largest {level}" if coalition == 1 else f"{coalition} of the other {level}s together"
    held = "closer than" if found.sensitive[i] else "not closer than"
    within = f"{amount(off)} ({100 * off / first:.1f}%)"
    return f"{who} can estimate the largest, {amount(first)}, to within {within}, {held} {amount(p)}%"


def together(coalition: int) -> str:
    """Return how many conspire, where that is more than one."""
    return f", coalition of {coalition}" if coalition > 1 else ""
