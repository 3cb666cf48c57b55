"""What respondents know of sensitive cells: what is published, with all that they contributed to any cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.auditing.audit import UNNAMED
from discreet.auditing.audit import audit as run_audit
from discreet.auditing.findings import RANK, SUBJECTS, Findings, faults
from discreet.auditing.limits import Limits
from discreet.core.numerics import IntArray
from discreet.decide.known import STATES, Known
from discreet.rules.sensitivity import Sensitivity
from discreet.table.release import Release
from discreet.table.stakes import ONE_CELL, contributes

if TYPE_CHECKING:
    from discreet.decide.policy import Policy
    from discreet.decide.subject import Subject


@dataclass(frozen=True)
class Inside:
    """Whether respondents were tried, and what is to be said of what they know.

    ``cells`` numbers the sensitive cells of which one of them knows too much.
    """

    passed: bool
    text: str
    cells: tuple[int, ...] = ()


def respondents_know(
    subject: Subject,
    policy: Policy,
    release: Release,
    found: Sensitivity,
    known: Known,
    asked: Mapping[str, Any],
    levels: Mapping[Any, Any],
    judged: Any,
    **running: Any,
) -> tuple[Known, Inside | None]:
    """Return what the best informed reader knows of every sensitive cell, and what is to be said of respondents.

    Args:
        subject: the original.
        policy: whether respondents are judged.
        release: what is published.
        found: the sensitive cells.
        known: what an outsider knows of them.
        asked: the crossing and the sums that the audit is asked about, and tables that are said to fit.
        levels: what intervals must reach, by cell.
        judged: returns the entry of an audit for each cell.
        running: time limit, workers and progress.
    """
    if not contributes(subject.tabulation) or not known.cell.size:
        return known, None
    if policy.insiders == "none":
        told = "what respondents work out with their own contributions was not judged, as the policy says (insiders)"
        return known, Inside(True, told)
    if (known.state == STATES.index("exact")).all():
        return known, None
    tried = run_audit(
        release,
        limits=Limits(policy.limits.width, levels=levels),
        contributions=subject.tabulation,
        insiders=policy.insiders,
        response=subject.response,
        verdict_only=True,
        proofs=0,
        **asked,
        **running,
    )
    if UNNAMED in tried.note:
        open_ = known.state > STATES.index("determined")
        state = np.where(open_, STATES.index("unfinished"), known.state)
        return replace(known, state=state), Inside(False, UNNAMED, tuple(np.flatnonzero(open_).tolist()))
    columns = tried.findings
    rows = columns.order[(columns.who[columns.order] > 0) & (columns.rank[columns.order] != RANK["safe"])]
    worst = _chosen(columns, rows)
    position = found.tabulation.cells[known.cell]
    entry = judged(subject, replace(tried, findings=worst), position, known.cell)
    named = subject.tabulation.respondents is not None
    narrowed = _narrowed(known, worst, entry, policy.limits.of_figures)
    return narrowed, _said(worst, entry, len(columns.attackers) - 1, named)


def _narrowed(known: Known, worst: Findings, entry: IntArray, limits: Limits) -> Known:
    """Return what is known with what the best informed respondent knows of each cell."""
    has = entry >= 0
    rows = entry[has]
    of_cell = worst.subject[rows] == SUBJECTS.index("value")
    single, finished = worst.determined[rows], worst.finished[rows]
    state, lower, upper, bits = (getattr(known, name).copy() for name in ("state", "lower", "upper", "bits"))
    names = [STATES.index(name) for name in ("determined", "interval", "unfinished")]
    state[has] = np.minimum(state[has], np.select([single, finished], names[:2], names[2]))
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
