"""What respondents know of sensitive cells: what is published, with all that they contributed to any cell."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from discreet.auditing.audit import UNNAMED
from discreet.auditing.audit import audit as run_audit
from discreet.auditing.findings import RANK, SUBJECTS, Findings, faults
from discreet.auditing.limits import Limits
from discreet.core.numerics import IntArray
from discreet.decide.known_cells import STATES, Known, entries, states
from discreet.decide.subject import Case
from discreet.table.release import Release
from discreet.table.stakes import ONE_CELL, contributes


@dataclass(frozen=True)
class Inside:
    """Whether respondents were tried, and what is to be said of what they know.

    ``cells`` numbers the sensitive cells of which one of them knows too much.
    """

    passed: bool
    text: str
    cells: tuple[int, ...] = ()


def respondents_know(case: Case, release: Release, known: Known, **asked: Any) -> tuple[Known, Inside | None]:
    """Return what the best informed reader knows of every sensitive cell, and what is to be said of respondents.

    Args:
        case: the original, and whether the policy judges respondents.
        release: what is published.
        known: what an outsider knows of the sensitive cells.
        asked: what the audit is asked, tables that are said to fit, and how long it may take.
    """
    subject, policy = case.subject, case.policy
    if case.found is None or not contributes(subject.tabulation) or not known.cell.size:
        return known, None
    if policy.insiders == "none":
        told = "what respondents work out with their own contributions was not judged, as the policy says (insiders)"
        return known, Inside(True, told)
    if (known.state == STATES.index("exact")).all():
        return known, None
    tried = run_audit(
        release,
        limits=Limits(policy.limits.width, levels=case.levels(every=True)),
        contributions=subject.tabulation,
        insiders=policy.insiders,
        response=subject.response,
        verdict_only=True,
        proofs=0,
        **asked,
    )
    if UNNAMED in tried.note:
        open_ = known.state > STATES.index("determined")
        state = np.where(open_, STATES.index("unfinished"), known.state)
        return replace(known, state=state), Inside(False, UNNAMED, tuple(np.flatnonzero(open_).tolist()))
    columns = tried.findings
    rows = columns.order[(columns.who[columns.order] > 0) & (columns.rank[columns.order] != RANK["safe"])]
    worst = _chosen(columns, rows)
    entry = entries(case, replace(tried, findings=worst))
    named = subject.tabulation.respondents is not None
    narrowed = _narrowed(known, worst, entry, policy.limits.of_figures)
    return narrowed, _said(worst, entry, len(columns.attackers) - 1, named)


def _narrowed(known: Known, worst: Findings, entry: IntArray, limits: Limits) -> Known:
    """Return what is known with what the best informed respondent knows of each cell."""
    has = entry >= 0
    rows = entry[has]
    of_cell = worst.subject[rows] == SUBJECTS.index("value")
    state, lower, upper, bits = (getattr(known, name).copy() for name in ("state", "lower", "upper", "bits"))
    state[has] = np.minimum(state[has], states(worst.determined[rows], worst.finished[rows]))
    lower[has] = np.where(of_cell, np.fmax(lower[has], worst.lower[rows]), lower[has])
    upper[has] = np.where(of_cell, np.fmin(upper[has], worst.upper[rows]), upper[has])
    bits[has] = np.fmin(bits[has], np.maximum(worst.bits[rows], 0.0))
    unasked = np.full(lower.size, np.nan)
    again = limits.broken(lower, upper, np.full(lower.size, np.inf), bits, (unasked,) * 3)
    wrong = known.faults | faults(lower.size, **again)
    return replace(known, state=state, lower=lower, upper=upper, bits=bits, faults=wrong)


def _said(worst: Findings, entry: IntArray, tried: int, named: bool) -> Inside:
    bad = np.flatnonzero(entry >= 0)
    many = f"{tried:,} respondent{'' if tried == 1 else 's'}"
    if not bad.size:
        told = f"{many} were tried with all that they contributed; none of them knows a sensitive cell too closely"
        return Inside(True, told if named else f"{told} ({ONE_CELL})")
    first = int(entry[bad[0]])
    who, cell = worst.attackers[int(worst.who[first])], worst.equations.describe(int(worst.at[first]))
    cells = f"{bad.size:,} sensitive cell{' is' if bad.size == 1 else 's are'}"
    text = f"{cells} known too closely by a respondent with all that it contributed: cell {cell} by {who}, for one"
    return Inside(False, text, tuple(bad.tolist()))


def _chosen(columns: Findings, rows: IntArray) -> Findings:
    """Return some entries of findings, in the order given."""
    kept = {}
    for item in fields(columns):
        value = getattr(columns, item.name)
        kept[item.name] = value[..., rows] if item.name == "alone" else value
        if isinstance(value, np.ndarray) and item.name != "alone":
            kept[item.name] = value[rows]
    return Findings(**kept)
