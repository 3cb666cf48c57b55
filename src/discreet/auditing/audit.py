"""The audit of a release: feasibility intervals, risk and verdict for every figure that is not published exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from discreet.auditing.audit_result import Audit
from discreet.auditing.common_step import (
    candidates_in,
    common_step,
    equations_in,
    in_doubt,
    judge_in,
    knowledge_in,
    told_in_steps,
)
from discreet.auditing.counted_sums import with_sums_of_nobody
from discreet.auditing.findings import RANK, Verdict, joined
from discreet.auditing.judging import Judge, Sheet
from discreet.auditing.knowledge import Knowledge, contributors, knowing_crossings, knowledge_of, respondents
from discreet.auditing.laws import LAWS
from discreet.auditing.levels import reach_of
from discreet.auditing.limits import AuditCriterion, Limits
from discreet.auditing.question import alone, ask, sums_of, targets_of, unpublished
from discreet.auditing.terms import AuditOptions, Terms
from discreet.core.clock import Clock
from discreet.core.errors import DataError, InfeasibleError, RequestError, require
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.text import choices, listed
from discreet.feasible.candidates import Candidates, Fitting, fitting
from discreet.feasible.implied_statistics import without_implied
from discreet.feasible.respondent_groups import unjudged, with_respondents
from discreet.feasible.respondent_values import RespondentGroup
from discreet.feasible.statistic_ranges import with_statistics
from discreet.reading.original import is_frame
from discreet.reading.published import open_release, open_truth
from discreet.rules.sensitivity import Sensitivity
from discreet.table.attacker import Attacker, Fact
from discreet.table.contributions import Contributions
from discreet.table.crossing_parts import UNPLACED, crossing_parts, unplaced
from discreet.table.equations import Equations
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release, draws_of, parts_of
from discreet.table.spelling import DIFFERENT, other_spellings, renamed
from discreet.table.stakes import ONE_CELL, contributes, in_one_cell
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation
from discreet.table.taken_apart import doubts, in_one_spelling

Insiders: TypeAlias = Literal["auto", "none", "singletons", "respondents"]
INSIDERS = ("auto", "none", "singletons", "respondents")
CROSSED = 2_000
"""The most cells of a crossing that no table shows which are asked about unasked: a second or so."""
UNNAMED = (
    "some respondents are in several cells, and the table does not say who is in which, so what they work out "
    "could not be judged; tabulate the records with the column that says whose they are (contributor=, "
    "--contributor), or leave insiders aside knowingly (insiders='none', --insiders none)"
)
UNSAID = (
    "nothing says whether hidden figures can be 0, and they are taken to be 0 or more; where zeros are always "
    "published, readers know that they are not (least=1, --least 1)"
)
IF_SHOWN = (
    "what readers know too closely if zeros are always published is not called safe; say whether they are (--least 1, "
    "or --least 0 if zeros are hidden too; in Python a mark says it: Kind('suppressed', least=0))"
)
BETWEEN = (
    "what the tables together tell about cells of {}, which none of them shows, was not asked, as there are {:,}; ask "
    "(about=, --about {})"
)
CROSSING = "the tables together tell about {}, which none of them shows: {}; see all such cells (about=, --about {})"
TOTALLESS = (
    "no total of {} is published, and nothing bounds some hidden figures from above; if a category is a total, say so "
    "(total=, --total)"
)
UNWEIGHED = (
    "the law '{}' does not weigh statistics that say more than the figures shown beside them, so how likely values are "
    "is not known; intervals take them in (law='interval', --law interval)"
)
LOOSE = (
    "statistics of respondents' values leave gaps in numbers of respondents or sums, or tie them to each other, so "
    "hidden figures may be known more closely than their intervals say"
)
UNCOUNTED = (
    "sums tell where somebody is counted, so hidden figures may be known more closely than their intervals say; where "
    "zeros are always published, say so (least=1, --least 1)"
)
TIED = (
    "a reader who solves all steps of the protection together may know figures more closely than their intervals say, "
    "and none is called safe"
)
UNJUDGED = "these statistics have no definition, so what they give away was not judged:"


def audit(
    releases: Any,
    *,
    about: Sequence[str] | Mapping[str, Sequence[object]] = (),
    sums: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
    attackers: Sequence[Attacker] = (),
    contributions: Contributions | Tabulation | Sequence[Tabulation] | None = None,
    insiders: Insiders = "auto",
    law: str = "interval",
    limits: Limits | None = None,
    **options: Unpack[AuditOptions],
) -> Audit:
    """Find out what readers can work out from what is published, and whether that is too much.

    Every hidden, rounded, perturbed or merged figure gets the smallest and the largest value that fit everything
    published, the remaining uncertainty H(X | Y = y) in bits, the disclosure risk DR = 1/H (domingo2002 (2)), and the
    published figures that prove the interval. None of this needs the original.

    Args:
        releases: one release or several linked ones, or files or frames of them; dimensions of the same name are the
            same dimension.
        about: dimensions whose finest crossing is judged even if no table shows it; with their categories where no
            table has them.
        sums: further sums of cells to ask about, by name.
        attackers: insiders, coalitions and holdings, each judged in addition to the outsider.
        contributions: who contributed how much to which cell. Every respondent is one attacker who knows all their own
            contributions; those who contribute less than another to the same sums are skipped. With listed
            contributions, the contribution of the only contributor to a sum is judged; anyone alone in a sum or one of
            two is always tried, and so is the second largest contributor of every sum under ``Limits(within=p)``. With
            tabulations, the contributions of others are judged in sensitive cells only. The default is the tabulation
            given as the original, or the one that the rules judged.
        insiders: which respondents are tried: those who are known (``"auto"``, ``"respondents"``), those who are alone
            in a cell (``"singletons"``), or ``"none"``, which the verdict mentions.
        law: how likely values are: ``"interval"``, ``"tables"`` or ``"method"``.
        limits: what counts as safe; by default, that nothing can be worked out exactly.
        options: those below.

    Keyword Args:
        response: the published magnitude, where the tabulation has several.
        knows: what everybody knows beforehand, as :class:`~discreet.table.attacker.Fact`.
        original: the true table, or a file or frame of it. It sets protection levels and is compared with the release;
            none of its values enters an interval.
        protection: per cent of the original value by which intervals must extend to either side.
        sensitivity: what the rules say of the original (:func:`~discreet.rules.sensitivity.sensitivity`): each
            sensitive cell must reach the levels of its rules, and other hidden figures need no protection.
        verdict_only: judge only whether protection levels are reached, and compute intervals only for figures that miss
            theirs; much faster on large tables.
        candidates: tables claimed to fit, used when only the verdict is asked for. Each is checked against every
            equation and range; one that passes shows possible values without a search.
        apart: pairs of dimensions of different releases that have the same categories and are not the same; any other
            such pair leaves the verdict incomplete.
        layout: the layout of equations stated for the same tables; for other tables it is built again.
        least: a lower bound on every value; counts and amounts are not negative.
        most: an upper bound on the value of every finest cell.
        relaxed: accept intervals over real numbers; much faster on large tables of three and more dimensions. Figures
            whose interval may be narrower over integers are marked unfinished and never called safe.
        time_limit: seconds; figures unfinished by then are marked so, and never safe.
        proofs: how many of the worst figures get a proof; None for all.
        precision: for the law ``"tables"``, twice the standard error in bits at which drawing stops.
        seed: makes drawing reproducible.
        workers: threads.
        progress: called as the work advances.

    >>> both = {"row": [1, 2, 3, "Total"], "column": [1, 2, "Total"]}
    >>> geurts = Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both)
    >>> found = audit(geurts).cell(row=1, column=1)
    >>> found.lower, found.upper, found.bits, found.dr
    (3.0, 6.0, 2.0, 0.5)
    """
    LAWS.check(law)
    terms = _terms(options, limits)
    same: dict[str, Any] = {"sums": sums, "attackers": attackers, "contributions": contributions}
    same |= {"about": about, "insiders": insiders, "law": law, "limits": limits, **options}
    effort = _effort(terms)
    limits, original, sensitivity = limits or Limits(), open_truth(terms.original), terms.sensitivity
    least, most = terms.least, terms.most
    response = terms.response or (None if sensitivity is None else sensitivity.response)
    tables, *told = _tables_of(insiders, contributions, original, sensitivity)
    if limits.within is not None and not isinstance(contributions, Contributions):
        raise RequestError("within is about contributions; give them too (contributions=, --contributions)")
    releases = _opened(releases)
    under_one_name, noticed = _under_one_name(releases, terms.apart)
    published = _of_one_variable(without_implied(under_one_name))
    told += [*noticed, *([UNSAID] if least == 0 and any(part.unsaid for part in published) else [])]
    parts = (*published, *unpublished(about, published))
    in_question = sums_of(parts, _cells(sums or {}, limits, attackers, terms.knows), sensitivity)
    stated: Any = {"between": not terms.verdict_only, "layout": terms.layout}
    equations, crossing, asked = ask(parts, about, sums or {}, least, most, in_question, **stated)
    told += [UNWEIGHED.format(law)] * (equations.measured is not None and not LAWS[law].even)
    equations, groups = with_respondents(with_statistics(replace(equations, draws=draws_of(releases))))
    silent = unjudged(equations)
    told += [LOOSE] * any(group.loose for group in groups) + [f"{UNJUDGED} {', '.join(silent)}"] * bool(silent)
    # That no cell needs protection is believed of a verdict on levels alone.
    demanded = limits.levels if terms.verdict_only else limits.levels or None
    reach = reach_of(equations, demanded, original, terms.protection, sensitivity)
    everybody = _of_everybody(equations, terms.knows)
    listed, singles = _contributors(everybody, contributions, limits)
    known = [*(knowledge_of(everybody, attacker) for attacker in attackers), *listed]
    inside, fits = everybody, _fitting(everybody, terms.candidates) if terms.verdict_only else None
    if tables:
        secret = np.isfinite(reach.low) if reach.sensitive is None and limits.levels is not None else reach.sensitive
        named, inside = _respondents(everybody, tables, response, secret, insiders != "singletons", fits)
        known, told = [*known, *named], [*told, *[UNPLACED] * unplaced(everybody, tables, response)]
    judge = Judge(
        equations,
        limits,
        reach,
        ("outsider", *(one.name for one in known)),
        law=law,
        **effort,
        prior_bits=_prior_bits(equations, least, most),
        singles=singles,
        fitting=fits,
    )
    targets = np.union1d(targets_of(everybody, asked, reach), singles)
    linked = len(published) > 1 and targets.size and equations.measured is None
    ends = partial(alone, parts, equations, crossing, asked, judge.bound, least, most) if linked else lambda: None
    sheets = _sheets(judge, everybody, inside, known, targets, groups, terms.verdict_only, ends)
    if (left_open := with_sums_of_nobody(sheets, parts_of(releases), equations)) is not None:
        sheets = left_open
        told.append(UNCOUNTED)
    criterion = AuditCriterion(limits, terms.protection, None if sensitivity is None else _titles(sensitivity))
    found = _result(sheets, judge, published, terms.proofs, criterion, "; ".join(filter(None, told)))
    again = partial(audit, **{**same, "time_limit": judge.clock.left, "proofs": 0})
    whole = not crossing and not sums and reach.sensitive is None and limits.levels is None and not terms.verdict_only
    if found.verdict == "safe":
        found = _asked_further(found, releases, equations if whole else None, again)
    step = common_step(published) if found.verdict == "safe" else 1
    return found if step == 1 else _in_steps(step, found, judge, (everybody, inside), known, targets, terms.candidates)


def _in_steps(
    step: int,
    found: Audit,
    judge: Judge,
    every: tuple[Equations, Equations],
    known: list[Knowledge],
    targets: IntArray,
    candidates: Candidates | None,
) -> Audit:
    """Return a safe audit, or an incomplete one if a reader who counts in steps works something out."""
    everybody, inside = (equations_in(step, one) for one in every)
    stepping = judge_in(step, judge)
    try:
        known = knowledge_in(step, known)
        told = [stepping.outsider(everybody, targets)]
        whom = in_doubt(stepping, everybody, known, targets, candidates and candidates_in(step, candidates))
        told += stepping.insiders(inside, known, targets, told[0], whom) if whom.size else []
    except (DataError, InfeasibleError):
        return found  # some hidden amount is no multiple
    findings = joined([sheet.findings for sheet in told])
    note = told_in_steps(step, findings, everybody.decimals)
    if not note:
        return found
    size, mine = everybody.lower.size, found.findings
    wrong = (findings.who * size + findings.at)[findings.rank != RANK["safe"]]
    open_ = replace(mine, finished=mine.finished & ~np.isin(mine.who * size + mine.at, wrong))
    return replace(found, verdict="incomplete", findings=open_, note="; ".join(filter(None, [found.note, note])))


def _sheets(
    judge: Judge,
    everybody: Equations,
    inside: Equations,
    known: list[Knowledge],
    targets: IntArray,
    groups: Sequence[RespondentGroup],
    verdict_only: bool,
    by_itself: Callable[[], FloatArray | None],
) -> list[Sheet]:
    """Judge what the outsider works out, what follows for groups of respondents, and what those learn who know more."""
    if verdict_only:
        sheets = [judge.verdict_only(everybody, targets := targets[_with_levels(judge)[targets]])]
        whom = judge.suspects(everybody, known, targets) if known else np.zeros(0, np.int64)
    else:
        # What all tables leave comes first; what each leaves on its own is worked out in the time that remains.
        bounded = judge.bound(everybody, targets)
        sheets, whom = [judge.judged(bounded, targets, by_itself())], np.arange(len(known))
    sheets += [judge.respondents(groups)] if groups else []
    return sheets + (judge.insiders(inside, known, targets, sheets[0], whom) if whom.size else [])


def _asked_further(
    found: Audit,
    releases: Sequence[Release | Figures | Table],
    equations: Equations | None,
    again: partial[Audit],
) -> Audit:
    """Return a safe audit, after asking about the crossing of the tables of equations, and what zeros tell if shown."""
    if equations is not None:
        found = _between(found, equations, lambda names: again(releases, about=names, law="interval"))
    if UNSAID not in found.note or found.verdict != "safe":
        return found
    return _if_zeros_are_shown(found, releases, again)


def _between(found: Audit, equations: Equations, again: Callable[[list[str]], Audit]) -> Audit:
    """Return an audit that says what follows for the crossing of linked tables, if none of them shows it.

    Cells that no table shows can be worked out from tables that hide something, as from others.
    """
    axes = equations.space.axes
    names = [axis.name for axis in axes]
    if any(set(part.names) == set(names) for part in equations.parts):
        return found
    size = math.prod(len(axis.leaves) for axis in axes)
    other = again(names) if size <= CROSSED else None
    if other is not None and other.verdict == "safe":
        return found
    note = BETWEEN.format(listed(names), size, ",".join(names))
    if other is not None:
        worst = other.worst(1)[0]
        open_ = IF_SHOWN if IF_SHOWN in other.note else "not finished in time"
        note = CROSSING.format(worst.name, "; ".join(worst.faults) or open_, ",".join(names))
    notes = "; ".join(filter(None, [found.note, note]))
    return replace(found, verdict="incomplete" if other is None else other.verdict, note=notes)


def _if_zeros_are_shown(found: Audit, releases: Sequence[Release | Figures | Table], again: partial[Audit]) -> Audit:
    """Return an audit that calls nothing safe that a reader knows too closely if zeros are always published."""
    marked = [_marked(one, 1) for one in releases]
    silent = [k for k, (one, new) in enumerate(zip(releases, marked, strict=True)) if new is not one]
    other = _unless_contradicted(again, marked)
    if other is None and len(silent) == 1:
        # By the figures or the original some hidden figure is 0, so zeros are not always published.
        return found
    if other is None:
        # Some release hides zeros; others may still show all of theirs.
        seconds = again.keywords["time_limit"]
        for k in silent:
            if _unless_contradicted(audit, marked[k], insiders="none", proofs=0, time_limit=seconds) is None:
                marked[k] = _marked(releases[k], 0)
        other = _unless_contradicted(again, marked)
    if other is not None and other.verdict == "safe":
        return found
    mine = found.findings
    known = np.ones(len(mine), bool)
    if other is not None:
        theirs = other.findings
        size, wrong = mine.equations.lower.size, theirs.rank != RANK["safe"]
        known = np.isin(mine.who * size + mine.at, (theirs.who * size + theirs.at)[wrong])
    findings = replace(mine, finished=mine.finished & ~known)
    return replace(found, verdict="incomplete", findings=findings, note=f"{found.note}; {IF_SHOWN}")


def _marked(release: Release | Figures | Table, least: int) -> Release | Figures | Table:
    """Return a release with marks that say what is at least behind them, where they say nothing."""
    return release if isinstance(release, Table) else release.marked(least)


def _unless_contradicted(audit: Callable[..., Audit], *releases: object, **options: object) -> Audit | None:
    """Return the audit of releases, None if they contradict themselves, each other, or their original."""
    try:
        return audit(*releases, **options)
    except (DataError, InfeasibleError):
        return None


def _respondents(
    everybody: Equations,
    tables: Sequence[Tabulation],
    response: str | None,
    secret: BoolArray | None,
    several: bool,
    fits: Fitting | None,
) -> tuple[list[Knowledge], Equations]:
    """Return what the respondents of tables know, and the equations with what they know of crossings."""
    crossed, floor = crossing_parts(everybody, tables, response)
    more, inside = knowing_crossings(everybody, floor)
    if more and fits is not None and (fits.home >= floor).all():
        # Nobody's part contradicts the first of the tables that fit, so only what others change can.
        changed = np.isin(np.arange(everybody.lower.size), fits.at)
        crossed, more = crossing_parts(everybody, tables, response, changed)[0], []
    return [*respondents(everybody, tables, response, secret, several=several, crossed=crossed), *more], inside


def _titles(sensitivity: Sensitivity) -> tuple[str, ...]:
    """Return what the rules are called, each once."""
    return tuple(dict.fromkeys(rule.title for rule in sensitivity.rules))


def _of_one_variable(parts: tuple[Figures, ...]) -> tuple[Figures, ...]:
    """Return the tables; refuse different variables, because the number and the amount of a cell are not equal."""
    called = {part.figure: part for part in parts if not part.measure}
    if len(called) > 1:
        (one, mine), (other, theirs), *_ = called.items()
        raise RequestError(
            f"{mine.name} holds {one!r} and {theirs.name} {other!r}; tables are audited together if they add up the "
            "same: give the columns the same name if they do. Audit numbers and amounts one by one, and check what "
            "they tell about each other in a ledger (Ledger.check(variable=), discreet ledger check --variable)"
        )
    return parts


def _effort(terms: Terms) -> dict[str, Any]:
    """Return how a judge works."""
    names = ("relaxed", "precision", "seed", "workers", "progress")
    return {"clock": Clock.within(terms.time_limit)} | {name: getattr(terms, name) for name in names}


def _terms(options: AuditOptions, limits: object) -> Terms:
    """Return what an audit was asked for; what it does not take is refused."""
    require(options, [one.name for one in fields(Terms)], "audit has no argument")
    if not isinstance(limits, Limits | None):
        raise RequestError(f"limits is {limits!r}; give limits, as dc.Limits(dr=0.7)")
    return Terms(**options)


def _contributors(everybody: Equations, contributions: object, limits: Limits) -> tuple[list[Knowledge], IntArray]:
    """Return what the listed contributors know, and the sums to which only one of them contributed."""
    if not isinstance(contributions, Contributions):
        return [], np.zeros(0, np.int64)
    return contributors(everybody, contributions, close=limits.within is not None)


def _fitting(equations: Equations, candidates: Candidates | None) -> Fitting | None:
    """Return which of the tables claimed to fit really do; they say nothing about statistics."""
    return fitting(equations, candidates) if candidates is not None and equations.measured is None else None


def _cells(
    sums: Mapping[str, Sequence[Mapping[str, object]]],
    limits: Limits,
    attackers: Sequence[Attacker],
    knows: Sequence[Fact],
) -> list[Mapping[str, object]]:
    """Return the cells in question, whether or not a table shows them."""
    cells: list[Mapping[str, object]] = [cell for group in sums.values() for cell in group]
    cells += [dict(cell) for cell in limits.levels or ()]
    for attacker in attackers:
        cells += [item.cell for item in attacker.contributions] + [item.cell for item in attacker.knows]
    return cells + [fact.cell for fact in knows]


def _with_levels(judge: Judge) -> BoolArray:
    """Return the positions whose levels are to be judged."""
    reach = judge.reach
    asked = np.isfinite(reach.low)
    if reach.sensitive is None and judge.limits.levels is None and not asked.any():
        raise RequestError(
            "only protection levels are judged so (verdict_only=, --verdict-only), and none are given; give the "
            "original with the rules (original= and sensitivity=, --original and --rule), or with a share of it "
            "(original= and protection=, --original and --protection)"
        )
    if reach.sensitive is not None:
        asked |= reach.sensitive
    asked[judge.singles] = True
    return asked


def _opened(given: object) -> list[Release | Figures | Table]:
    """Return one release, or several in any order, opened where they are files or frames."""
    single = isinstance(given, Release | Figures | Table | str | Path) or is_frame(given)
    found = [open_release(one) for one in (given if isinstance(given, Iterable) and not single else [given])]
    strange = next((one for one in found if not isinstance(one, Release | Figures | Table)), None)
    if strange is not None:
        raise RequestError(f"{type(strange).__name__} is not a release; give a release, or a file or frame of one")
    return found


def _tables_of(
    insiders: Insiders, contributions: object, original: object, sensitivity: Sensitivity | None
) -> tuple[tuple[Tabulation, ...], str]:
    """Return the tabulations whose respondents are tried, and a note on those who are not."""
    if insiders not in INSIDERS:
        raise RequestError(f"insiders is {insiders!r}; give {choices(INSIDERS)}")
    if insiders == "none" and contributions is not None:
        raise RequestError("contributions are given, but insiders are 'none'; leave out one of them")
    if isinstance(contributions, Contributions):
        return (), ""
    given: Any = contributions
    if given is None:
        given = original if isinstance(original, Tabulation) else sensitivity.tabulation if sensitivity else ()
    tables = (given,) if isinstance(given, Tabulation) else tuple(given)
    if insiders in ("auto", "none"):
        tables = tuple(table for table in tables if contributes(table))
    if insiders == "none":
        return (), "what respondents work out with their own contributions was not judged (insiders 'none')"
    if all(table.respondents is not None for table in tables):
        return tables, ""
    apart = all(table.respondents is not None or in_one_cell(table) for table in tables)
    return tables, ONE_CELL if apart else UNNAMED


def _result(
    sheets: list[Sheet],
    judge: Judge,
    published: Sequence[Figures],
    proofs: int | None,
    criterion: AuditCriterion,
    told: str,
) -> Audit:
    """Concatenate all findings, judge them together, and prove the worst."""
    findings = joined([sheet.findings for sheet in sheets])
    first = np.cumsum([0, *(len(sheet.findings) for sheet in sheets)])
    written: dict[int, str] = {}
    for k in findings.order[:proofs].tolist():
        if judge.clock.late:
            break
        number = int(np.searchsorted(first, k, side="right")) - 1
        written[k] = sheets[number].proof(k - int(first[number]), judge.clock)
    notes = [note for note in (sheets[0].note, told, TIED if judge.tied else "") if note]
    bare = _without_total(published) if np.isinf(findings.upper).any() else []
    if bare:
        notes.append(TOTALLESS.format(listed(bare)))
    unseen = judge.reach.unseen
    if unseen:
        notes.append(
            f"{unseen:,} sensitive {'cell is' if unseen == 1 else 'cells are'} crossed by no published table and could "
            "not be judged; ask about their dimensions (about=, --about)"
        )
    idle = int((findings.determined & ~findings.faults.any(axis=1) & findings.finished).sum())
    if idle:
        notes.append(
            f"{idle:,} hidden {'figure' if idle == 1 else 'figures'} that no rule calls sensitive can be worked out"
        )
    unsettled = (UNNAMED, UNJUDGED, LOOSE, UNCOUNTED, DIFFERENT, UNPLACED)
    whole = not unseen and not judge.tied and not any(text in told for text in unsettled)
    ranks = set(findings.rank.tolist()) | (set() if whole else {RANK["incomplete"]})
    # Where nothing was worked out, nothing was shown to be safe, unless rules say that nothing has to be.
    fine = ranks == {RANK["safe"]}
    if judge.reach.sensitive is not None and not judge.reach.sensitive.any() and whole:
        notes.append("the rules call no cell sensitive")
        fine = ranks <= {RANK["safe"]}
    verdict: Verdict = "unsafe" if RANK["unsafe"] in ranks else "safe" if fine else "incomplete"
    shown = sum(int((~part.hidden).sum()) for part in published)
    return Audit(verdict, findings, judge.law, shown, sheets[0].tables, "; ".join(notes), written, criterion)


def _of_everybody(equations: Equations, knows: Sequence[Fact]) -> Equations:
    """Return the equations narrowed by what everybody knows beforehand."""
    if not knows:
        return equations
    facts = knowledge_of(equations, Attacker("everybody", (), tuple(knows)))
    ranges: dict[int, tuple[int, int]] = {}
    for i, low, high in zip(facts.at.tolist(), facts.low.tolist(), facts.high.tolist(), strict=True):
        before = ranges.get(i, (-UNBOUNDED, UNBOUNDED))
        ranges[i] = (max(before[0], low), min(before[1], high))
    return equations.with_ranges(ranges)


def _prior_bits(equations: Equations, least: float, most: float | None) -> float:
    """Return log2 of the number of values that a cell can have before anything is published: domingo2002 (1).

    All values between ``least`` and ``most`` are then equally likely. Without ``most``, they go up to the largest value
    that any figure in print allows: the figure itself where it is exact, the upper end of its range where it is
    rounded, perturbed or a mark with a known range. The result is infinite where nothing in print gives a bound.
    """
    scale = 10**equations.decimals
    if most is None:
        bounded = (equations.source >= 0) & (equations.upper < UNBOUNDED)
        if not bounded.any():
            return float("inf")
        most = float(equations.upper[bounded].max()) / scale
    return float(np.log2(max(most - least, 0) * scale + 1))


def _without_total(published: Sequence[Figures]) -> list[str]:
    """Return the dimensions that no table has a total of, although it hides figures."""
    found: dict[str, bool] = {}
    for part in published:
        for name, labels in part.labels.items() if part.hidden.any() else ():
            found[name] = found.get(name, False) or any(part.is_total(name, label) for label in labels)
    return [repr(name) for name, known in found.items() if not known]


def _under_one_name(
    releases: Sequence[Release | Figures | Table], apart: Sequence[Sequence[str]]
) -> tuple[tuple[Figures, ...], list[str]]:
    """Return all tables with one spelling of each dimension, and what is to be said of names."""
    each = [parts_of(one) for one in releases]
    names = other_spellings([list(dict.fromkeys(name for part in some for name in part.names)) for some in each])
    told = [f"dimension {name!r} was taken to be {kept!r}" for name, kept in names.items()]
    each = [tuple(renamed(part, names) for part in some) for some in each]
    if len(each) > 1:
        every, spelled = in_one_spelling([part for some in each for part in some])
        each = [tuple(every.pop(0) for _ in some) for some in each]
        told += spelled
    told += dict.fromkeys(
        text for k, some in enumerate(each) for other in each[:k] for text in doubts(other, some, apart)
    )
    return tuple(part for some in each for part in some), told
