"""What counts as given away in a check: limits as in an audit, and which parts of a policy a ledger can judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict

from discreet.auditing.judging import Judge
from discreet.auditing.limits import Level, Limits, Reach
from discreet.core.clock import Clock
from discreet.core.effort import WorkOptions
from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.progress import Progress
from discreet.decide.policy import Policy
from discreet.table.equations import Equations

THRESHOLD = 10
"""Counts that no release shows, and their sums, are given away if they can be worked out and are below this."""
INTERVALS = "judge intervals (--min-width in place of --policy; in a plan, a policy without a limit dr)"
"""What to do where it cannot be judged how likely values are."""
PRECISION = 0.02
"""Twice the standard error in bits at which drawing stops, as in an audit."""


class Tags(TypedDict, total=False):
    """The description of a release: the population and period of its figures, and the variable."""

    population: str
    period: str
    variable: str


class CheckOptions(Tags, WorkOptions, total=False):
    """The description of a release, what must remain uncertain, and how long the check may take."""

    width: float | None
    dr: float | None
    threshold: float | Literal["default"] | None
    apart: Sequence[Sequence[str]]
    originals: Mapping[str, object] | None
    levels: Mapping[tuple[tuple[str, str], ...], Level] | None


@dataclass(frozen=True)
class Settings:
    """What counts as given away, and how long the check may take.

    Attributes:
        threshold: counts that no release shows must not follow if they are above 0 and below this; None for all.
        limits: what must remain uncertain about protected figures, judged as in an audit.
        law: how likely values are, for 1/H: ``"interval"``, or ``"method"`` for somebody who knows the method.
        zeros: whether a 0 that follows is given away; otherwise it is only reported.
        lines: with k, no line may have all its people but k in one cell; None where that is not asked.
        amounts: whether figures are not numbers of people or firms.
        unasked: requirements of a policy that no ledger can judge, as sentences.
        policy: the policy's name.
        clock: when the whole check must end.
    """

    threshold: float | None = THRESHOLD
    limits: Limits = field(default_factory=Limits)
    law: str = "interval"
    zeros: Literal["safe", "unsafe"] = "safe"
    lines: int | None = None
    amounts: bool = False
    unasked: tuple[str, ...] = ()
    policy: str = ""
    clock: Clock = field(default_factory=Clock)
    workers: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """Refuse a threshold that no count is below, and NaN."""
        if self.threshold is not None and (isinstance(self.threshold, bool) or not self.threshold >= 1):
            raise RequestError(f"the threshold is {self.threshold!r}; give 1 or more (threshold=, --threshold)")

    @classmethod
    def of(
        cls,
        policy: str | Path | Policy | None,
        width: float | None = None,
        dr: float | None = None,
        threshold: float | Literal["default"] | None = "default",
        *,
        amounts: bool,
    ) -> Settings:
        """Return what counts as given away: by a policy, or by single limits."""
        if policy is None:
            least = float(THRESHOLD) if threshold == "default" else threshold
            return cls(None if amounts else least, Limits(width, dr), amounts=amounts)
        given = {"threshold": threshold != "default", "width": width is not None, "dr": dr is not None}
        for name in [name for name, is_given in given.items() if is_given]:
            raise RequestError(f"{name} is given beside a policy, which sets it; give one of them")
        asked = Policy.load(policy)
        limits = asked.limits.of_figures
        if amounts:
            unasked = _of_contributors(asked)
            return cls(None, limits, zeros=asked.zeros, amounts=True, unasked=unasked, policy=asked.name)
        if asked.rules.threshold is None:
            raise RequestError(
                f"policy {asked.name} has no threshold for counts (rules.threshold), by which counts that follow would "
                "be judged; add one, or give the limits one by one (threshold=, --threshold)"
            )
        lines = asked.rules.group_disclosure if asked.rules.combine == "any" else None
        return cls(asked.rules.threshold, limits, "method", asked.zeros, lines, policy=asked.name)

    def of_others(
        self, policy: str | Path | Policy | None, threshold: float | Literal["default"] | None = "default"
    ) -> Settings:
        """Return what counts as given away for amounts beside numbers, or for numbers beside amounts.

        The policy's rules on contributors were applied to the amounts' own release.
        """
        if not self.amounts:
            return replace(self, threshold=None, law="interval", lines=None, amounts=True, unasked=())
        asked = None if policy is None else Policy.load(policy).rules.threshold
        given = threshold if threshold != "default" else asked or float(THRESHOLD)
        return replace(self, threshold=given, amounts=False, unasked=())

    def judge(self, equations: Equations) -> Judge:
        """Return the judge of an audit, for an outsider who asks about single figures."""
        return Judge(
            equations,
            self.limits,
            Reach.nothing(equations.lower.size),
            law=self.law if self.limits.dr is not None else "interval",
            precision=PRECISION,
            workers=self.workers,
            progress=self.progress,
            clock=self.clock,
        )

    def top(self, scale: int) -> float:
        """Return the smallest value that is not small, in units of the last decimal."""
        return math.inf if self.threshold is None else self.threshold * scale

    def small(self, lower: IntArray, upper: IntArray, scale: int) -> BoolArray:
        """Say which values are certainly above 0, and small enough to point at somebody."""
        found: BoolArray = (lower > 0) & (upper < self.top(scale))
        return found

    def meaning(self, fewest: int) -> str:
        """Say what "safe" promises, and against whom."""
        limits, least = self.limits, 0 if self.zeros == "unsafe" else 1
        left = "keeps more than one value"
        left += "" if limits.width is None else f", in an interval at least {limits.width:g} wide"
        if limits.dr is not None:
            how = "to a reader who knows the method" if self.law == "method" else "all values equally likely"
            left += f", with a risk 1/H of at most {limits.dr:g} ({how})"
        few = f"of {least} or more" if self.threshold is None else f"from {least} to {math.ceil(self.threshold) - 1}"
        small = "no amount above 0" if self.amounts else f"no count {few}"
        limited = limits.width is not None or limits.dr is not None
        closer = ", nor is such a cell known more closely than that" if limited else ""
        parts = [
            "every figure that a release hides (possibly a 0, unless it shows zeros or says otherwise), rounds or "
            f"perturbs {left}",
            f"{small} that no release shows can be worked out for a cell, for the smallest unions of cells, or for a "
            f"cell between tables{closer}",
        ]
        if self.lines is not None:
            who = "everybody" if not self.lines else f"all but at most {self.lines} people"
            parts.append(f"no line is known to have {who} in one cell")
        people = "contributors" if self.amounts else "people"
        parts.append(
            "every change since another time or population, in categories of both, was made by "
            f"{fewest} {people} or more"
        )
        likely = "" if limits.dr is not None and self.law == "method" else " how likely each of the values left is,"
        return (
            f"Safe means, against a reader of these releases: {'; '.join(parts)}; and numbers and amounts of the same "
            f"respondents give no more away together. What respondents know from their own contributions,{likely} and "
            "the risk of each table on its own, are not judged here (assess, audit)"
        )


def _of_contributors(policy: Policy) -> tuple[str, ...]:
    """Say which rules of a policy need contributors, whom no ledger knows."""
    titles = list(dict.fromkeys(rule.title for rule in policy.judges(True, holdings=policy.rules.level == "holding")))
    titles += ["protection levels"] if policy.limits.levels != "never" and titles else []
    titles += ["what respondents work out"] if policy.insiders != "none" else []
    if not titles:
        return ()
    return (
        f"policy {policy.name} asks who contributed to amounts ({', '.join(titles)}), which no published figure says, "
        "so this is not judged; audit the releases together with the true table (discreet audit NEW OLD "
        "--original TABLE --rule …)",
    )
