"""Measures that means are computed from: numbers of records and other sums, suppressed and audited by the same rules.

A mean times its number is the sum. So a mean is published where sum and number both are, and adds nothing to them. The
number of records beside a sum is judged by the rules for counts, another sum by those for magnitudes: a mean of a cell
that one contributor dominates is hidden because its sum is. What is sensitive in either is suppressed, and the audit
certifies each. Fitting numbers and fitting sums are compatible
(:mod:`~discreet.decide.ledger.numbers_and_amounts`): both are stated for the same crossing, empty cells have no row,
and no mark hides a 0, which is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from discreet.auditing.audit import audit
from discreet.auditing.findings import RANK
from discreet.auditing.limits import Limits
from discreet.core.errors import InfeasibleError, RequestError, require
from discreet.decide.policy import Policy
from discreet.evaluate.audited_suppression import AuditedSuppression
from discreet.protect.suppression import Suppression
from discreet.rules.group_disclosure import GroupDisclosure
from discreet.rules.threshold import Threshold
from discreet.table.figures import Figures
from discreet.table.statistic import Statistic
from discreet.table.tabulation import Tabulation

RECORDS = "records"
"""The name of the number of records in definitions."""
Protects: TypeAlias = Callable[[Tabulation, str | None], AuditedSuppression]
"""Returns how a measure is suppressed: that of a response, or the number of records of a tabulation without one."""


class MeasuresBeside(NamedTuple):
    """Measures beside the figures: the true ones and the published ones."""

    true: tuple[Figures, ...] = ()
    published: tuple[Figures, ...] = ()


def measures_beside(
    cells: Tabulation,
    figure: str | None,
    wanted: Mapping[str, Statistic],
    protects: Protects,
    width: float | None = None,
) -> MeasuresBeside:
    """Return what statistics are computed from beside the figures, protected.

    ``figure`` is the published response, None for counts, which have no measures beside them. Intervals
    of hidden figures must be as wide as ``width``.
    """
    needed = dict.fromkeys(name for one in wanted.values() for name in one.measures if name != figure)
    if figure is None or not needed:
        return MeasuresBeside()
    responses = [one.name for one in cells.responses]
    require(needed, [RECORDS, *responses], "a statistic is computed from what the table does not have:")
    true: list[Figures] = []
    published: list[Figures] = []
    for name in needed:
        own, response = (cells, name) if name in responses else (counted(cells), None)
        (part,) = protects(own, response).apply(own).release.parts()
        _refuse_narrow(part, name, width)
        whole = Figures.of_tabulation(own, response=response)
        for one, several in ((whole, true), (part, published)):
            several.append(replace(one, name=name, measure=name, figure=name))
    return MeasuresBeside(tuple(true), tuple(published))


def counted(cells: Tabulation) -> Tabulation:
    """Return the numbers of records of a tabulation of sums."""
    holdings = None if cells.holdings is None else replace(cells.holdings, largest=())
    level = replace(cells.contributors, largest=())
    return replace(cells, responses=(), contributors=level, holdings=holdings, respondents=None)


def by_policy(policy: Policy) -> Protects:
    """Return how measures are suppressed under a policy: by its rules for numbers, or for magnitudes."""

    def protects(cells: Tabulation, response: str | None) -> AuditedSuppression:
        rules = policy.judges_of(cells)
        if not rules:
            raise _unsaid(f"the policy {policy.name!r}", "threshold = 3 under [rules]")
        return AuditedSuppression(tuple(rules), combine=policy.rules.combine, response=response)

    return protects


def by_method(method: object) -> Protects:
    """Return how measures are suppressed beside a method's figures: by those of its rules that apply to them."""

    def protects(cells: Tabulation, response: str | None) -> AuditedSuppression:
        if not isinstance(method, Suppression):
            raise RequestError(
                "means are published beside suppressed sums; protect these by suppression (discreet protect suppress), "
                "or leave out the statistic"
            )
        if not method.above_zero:
            raise RequestError(
                "where marks may hide zeros or losses, numbers tell which do, and that is not judged; let zeros be "
                "published, with no least value below 0 (discreet protect suppress --zeros, --least), or leave out the "
                "mean"
            )
        rules = tuple(rule for rule in method.rules if response or isinstance(rule, Threshold | GroupDisclosure))
        if not rules:
            raise _unsaid("no rule", "--rule threshold=3")
        return AuditedSuppression.of(
            replace(method, rules=rules, response=response, wishes=(), attackers=(), levels=None, cost="value")
        )

    return protects


def _refuse_narrow(part: Figures, name: str, width: float | None) -> None:
    """Refuse a measure with a hidden figure that can be narrowed down too far."""
    if width is None:
        return
    found = audit(part, limits=Limits(width), proofs=0).findings
    bad = found.at[found.rank != RANK["safe"]]
    if bad.size:
        raise InfeasibleError(
            f"{name} at {found.equations.describe(int(bad[0]))} is known to within less than {width:g}, the least "
            "width of the policy; leave out the mean, or ask for less"
        )


def _unsaid(who: str, rule: str) -> RequestError:
    return RequestError(
        f"a mean publishes the number of records too, and {who} says which numbers are sensitive; add one, as {rule}, "
        "or leave out the mean"
    )
