"""The evidence about one release: what can be worked out from it, and how much of the table it keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from discreet.auditing.audit import audit as run_audit
from discreet.auditing.audit_result import Audit
from discreet.auditing.full_lines import lines_told
from discreet.auditing.levels import located
from discreet.auditing.limits import Limits
from discreet.auditing.terms import PROOFS
from discreet.core.clock import Clock
from discreet.core.effort import Effort
from discreet.core.numerics import BoolArray
from discreet.decide.choice import ASKED, Choice, Outsider
from discreet.decide.inhabited import inhabited_categories
from discreet.decide.known_cells import Inside, Known, Listed, known_cells, respondents_know
from discreet.decide.people_counted import people_know
from discreet.decide.released_statistics import unsafe_beside
from discreet.decide.subject import Case, Subject
from discreet.feasible.candidates import Candidates
from discreet.feasible.implied_statistics import without_implied
from discreet.measures.risk import risk_after
from discreet.measures.risk_result import Risk
from discreet.table.figures import Figures
from discreet.table.grid import locate
from discreet.table.release import Release
from discreet.utility.loss import InformationLoss, information_loss
from discreet.utility.statistic_loss import StatisticLoss

MANY = 20_000
"""From so many positions on, those that no table shows among them, the tables of a plan are judged by levels alone."""


@dataclass(frozen=True, eq=False)
class ToldLines:
    """Lines of which readers can tell that everybody in them, or all but a few, is in one cell.

    ``cells`` says which sensitive cells these are; ``others`` names such cells that are not sensitive in the original,
    as those of merged categories, and ``unfinished`` says how many lines could not be judged in time.
    """

    cells: BoolArray
    others: tuple[str, ...]
    unfinished: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that was found about one release.

    ``told`` is true if readers who know the policy may learn more from its passing than from the figures, and
    ``reader`` says against whom intervals hold, a key of :data:`~discreet.decide.verdict.READERS`. ``exact`` is the
    share of the release's figures that are published exactly or can be worked out. ``statistics`` says how much it
    keeps of the statistics wanted beside it, and ``objections`` what the audit finds wrong with the published ones.
    ``lines`` are those of which readers can tell that all people, or all but a few, are in one cell, and ``inhabited``
    are categories that the figures leave at 0 and that readers know not to be empty.
    """

    release: Release
    known: Known
    audit: Audit
    risk: Risk | None
    loss: InformationLoss | None
    utility: float
    inside: Inside | None
    told: bool
    reader: str
    exact: float
    statistics: tuple[StatisticLoss, ...] = ()
    objections: tuple[str, ...] = ()
    lines: ToldLines | None = None
    inhabited: tuple[str, ...] = ()


def gather(
    case: Case,
    release: Release,
    effort: Effort,
    *,
    candidates: Candidates | None = None,
    proofs: int = PROOFS,
    choice: Choice = ASKED,
) -> Evidence:
    """Audit a release, and measure its risk and loss; readers know how it came to be published (``choice``)."""
    subject, policy = case.subject, case.policy
    release = release if case.beside is None else case.beside.beside(release)
    # What follows from the figures tells nothing; it is checked against them and left out.
    listed = Listed.of(case, _told(case, release))
    limits = policy.limits
    # Intervals beside so many unknowns take too long: what tables that fit show of the levels is enough.
    brief = candidates is not None and candidates.positions.size > MANY and subject.magnitudes and case.wants_levels
    brief &= "none" in subject.forms and limits.dr is None and limits.width is None
    ask = partial(
        run_audit,
        listed.told,
        limits=Limits(levels=case.levels(every=brief)),
        # What nothing is asked of is not counted, which can take long.
        law="interval" if subject.magnitudes or policy.limits.dr is None else "method",
        proofs=proofs,
        # Of linked tables as they are nothing is hidden, and what no table shows is not asked about.
        verdict_only=brief or ("none" in subject.forms and release.method == "none"),
        candidates=candidates if brief else None,
        about=listed.about(),
        sums=listed.sums(),
        **effort.searching(),
    )
    audited = ask()
    if inhabited := inhabited_categories(case, audited):
        listed = replace(listed, inhabited=inhabited)
        audited = ask(knows=inhabited)
    reader = None if subject.magnitudes else Outsider.of(audited, policy, choice, case.possible)
    told = reader is not None and reader.told
    known = known_cells(case, listed, audited, reader)
    known, inside = respondents_know(case, listed, known, candidates, effort)
    if inside is None:
        known, inside = people_know(case, listed, reader, known, effort)
    measured = loss = None
    if subject.table is not None:
        if case.before is not None:
            along = tuple(slices.dimension for slices in case.before.slices)
            measured = risk_after(subject.table, release, case.before, along)
        loss = information_loss(subject.table, release)
    utility = _kept(subject, listed.parts) if loss is None else loss.utility
    exact = (int(listed.exact.sum()) + int(audited.findings.determined.sum())) / max(listed.exact.size, 1)
    who = "figures" if told or not all(_stated(part) for part in listed.parts) else "method"
    kept = () if case.beside is None else case.beside.lost(release)
    return Evidence(
        release,
        known,
        audited,
        measured,
        loss,
        utility,
        inside,
        told,
        who,
        min(exact, 1.0),
        kept,
        unsafe_beside(audited),
        _lines(case, audited, effort),
        tuple(f"{name}={code}" for fact in listed.inhabited for name, code in fact.cell.items()),
    )


def _lines(case: Case, audited: Audit, effort: Effort) -> ToldLines | None:
    """Find the lines whose people are all in one cell as far as readers can tell; None if the policy does not ask."""
    coalition, subject = case.policy.rules.group_disclosure, case.subject
    if coalition is None or not case.judges_lines:
        return None
    told = lines_told(audited, subject.tabulation, subject.amounts(), coalition, Clock.within(effort.seconds))
    place, full = np.zeros(0, np.int64), case.full_lines
    if full is not None and case.found is not None:
        place = np.where(full, located(told.equations, case.found.tabulation), -1)[case.cells]
    known = {line.whole for line in told.found if line.cell in place}
    others = dict.fromkeys(told.equations.describe(line.cell) for line in told.found if line.whole not in known)
    return ToldLines(np.isin(place, [line.cell for line in told.found]), tuple(others), told.unfinished)


def _told(case: Case, release: Release) -> Release:
    """Return a release without statistics that follow from figures shown beside them."""
    if not any(part.statistics for part in release.parts()):
        return release
    if case.beside is not None:
        return case.beside.told(release)
    return replace(release, figures=without_implied(release.parts()))


def _stated(part: Figures) -> bool:
    """Say whether every figure was made independently: knowing the method then reveals nothing more."""
    known = [stated or kind.summed for stated, kind in zip(part.stated, part.kinds, strict=True)]
    return all(known[i] for i in np.unique(part.kind))


def _kept(subject: Subject, parts: tuple[Figures, ...]) -> float:
    """Return the share of the amounts that is kept: 1 less the share that is hidden or moved, over all figures."""
    amounts = subject.amounts()
    truth = np.abs(amounts)
    total = float(truth.sum())
    if not total:
        return 1.0
    shown = np.full(truth.size, np.nan)
    for part in parts:
        slot = locate(subject.tabulation.cells, subject.positions(part))
        fits = (slot >= 0) & ~part.hidden
        shown[slot[fits]] = part.values[fits] / 10**part.decimals
    lost = np.where(np.isnan(shown), truth, np.minimum(np.abs(shown - amounts), truth))
    return 1 - float(lost.sum()) / total
