"""The evidence about one release: what is sensitive, what can be worked out of it, what is left of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.auditing.audit import audit as run_audit
from discreet.auditing.findings import faults
from discreet.auditing.levels import least_known
from discreet.auditing.limits import Limits
from discreet.auditing.result import Audit
from discreet.core.errors import DataError
from discreet.core.numerics import FloatArray, IntArray, disclosure_risk
from discreet.core.progress import Progress
from discreet.decide.choice import ASKED, Choice, Reasons, may_be_small, only_small, told_by_passing
from discreet.decide.insiders import Inside, respondents_know
from discreet.decide.known import STATES, Known, Rivals
from discreet.decide.policy import Policy
from discreet.decide.subject import Subject
from discreet.feasible.candidates import Candidates
from discreet.measures.result import Risk
from discreet.measures.risk import risk
from discreet.rules.sensitivity import Sensitivity, sensitivity
from discreet.table.figures import Figures
from discreet.table.grid import locate, recode
from discreet.table.release import Release
from discreet.table.space import WHOLE, space_of
from discreet.utility.loss import InformationLoss, information_loss

PROOFS = 200
"""How many of the worst figures get a written proof."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that was found about one release.

    ``told`` is true where readers who know the policy may learn more from its passing than the figures tell.
    """

    release: Release
    known: Known
    audit: Audit
    risk: Risk | None
    loss: InformationLoss | None
    utility: float
    inside: Inside | None = None
    told: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def sensitive_cells(subject: Subject, policy: Policy) -> Sensitivity | None:
    """Judge every cell by the policy's rules; None where it has none for such a table."""
    if subject.table is not None and not subject.table.total:
        raise DataError("every count of the table is 0, so that there is nobody to protect; check the column of counts")
    cells = subject.tabulation.with_empty_cells() if policy.zeros == "unsafe" else subject.tabulation
    judges = policy.judges_of(cells)
    if not judges:
        return None
    found = sensitivity(cells, judges, response=subject.response, combine=policy.rules.combine)
    if subject.table is None or not subject.table.impossible.size:
        return found
    # What cannot occur tells nothing by not occurring.
    return replace(found, sensitive=found.sensitive & ~np.isin(cells.cells, subject.impossible()))


def gather(
    subject: Subject,
    policy: Policy,
    release: Release,
    found: Sensitivity | None,
    *,
    candidates: Candidates | None = None,
    time_limit: float | None = None,
    proofs: int = PROOFS,
    workers: int | None = None,
    progress: Progress | None = None,
    choice: Choice = ASKED,
) -> Evidence:
    """Audit a release, and measure its risk and what it lost; readers know how it came to be published (``choice``)."""
    cells = np.zeros(0, np.int64) if found is None else found.cells
    listed = _Listed.of(subject, release)
    sums = _unpublished(subject, listed, found, cells)
    levels = {} if found is None or not wants_levels(policy, subject) else _levels(subject, found)
    audited = run_audit(
        release,
        about=_about(subject, listed) if cells.size else (),
        sums=sums,
        limits=Limits(levels=levels),
        # What nothing is asked of is not counted, which can take long.
        law="interval" if subject.magnitudes or policy.limits.dr is None else "method",
        time_limit=time_limit,
        proofs=proofs,
        workers=workers,
        progress=progress,
    )
    possible = subject.table.possible if subject.table is not None and subject.table.total else 0
    told = not subject.magnitudes and told_by_passing(audited, policy, choice, possible)
    known = _known(subject, policy, release, listed, found, cells, audited, choice, possible)
    inside = None
    if found is not None:
        asked = {"about": _about(subject, listed) if cells.size else (), "sums": sums, "candidates": candidates}
        running = {"time_limit": time_limit, "workers": workers, "progress": progress}
        least = _levels(subject, found, wants_levels(policy, subject))
        known, inside = respondents_know(subject, policy, release, found, known, asked, least, _judged, **running)
    measured = loss = None
    if subject.table is not None and subject.table.total:
        if subject.table.possible > 1:
            measured = risk(subject.table, release, weights=policy.weights)
        loss = information_loss(subject.table, release)
    utility = loss.utility if loss is not None else _kept(subject, release)
    return Evidence(release, known, audited, measured, loss, utility, inside, told)


def wants_levels(policy: Policy, subject: Subject) -> bool:
    """Say whether intervals must reach the protection levels of the rules."""
    return policy.limits.levels == "always" or (policy.limits.levels == "magnitudes" and subject.magnitudes)


def reach(subject: Subject, found: Sensitivity) -> tuple[FloatArray, FloatArray]:
    """Return the values that the intervals of the sensitive cells must reach; NaN where no rule knows a level."""
    value = found.figures[0].value[found.cells]
    # A cell cannot be less than nothing, so that no interval can be asked to reach below 0.
    return np.maximum(value - found.lower[found.cells], np.minimum(value, 0.0)), value + found.upper[found.cells]


def _levels(
    subject: Subject, found: Sensitivity, wanted: bool | None = None
) -> dict[tuple[tuple[str, str], ...], tuple[float, float]]:
    """Return the levels of the cells that have some; with `wanted`, of all, the value itself where none are wanted."""
    low, high = reach(subject, found)
    if wanted is not None:
        value = found.figures[0].value[found.cells]
        none = np.isnan(low) | np.isnan(high) | (not wanted)
        low, high = np.where(none, value, low), np.where(none, value, high)
    return {
        tuple(sorted(_label(found, int(i)).items())): (a, b)
        for i, a, b in zip(found.cells, low.tolist(), high.tolist(), strict=True)
        if not math.isnan(b)
    }


def _label(found: Sensitivity, i: int) -> dict[str, str]:
    """Return the labels of a cell as audits write them: whatever the total is called."""
    totals = {axis.name: axis.total for axis in found.tabulation.axes}
    return {name: WHOLE if code == totals[name] else code for name, code in found.tabulation.label(i).items()}


@dataclass(frozen=True, eq=False)
class _Listed:
    """What a release lists: the position of every figure, whether it is exact, and where it stands."""

    parts: tuple[Figures, ...]
    place: IntArray
    exact: Any
    added: Any
    part: IntArray
    row: IntArray
    empty: bool

    @classmethod
    def of(cls, subject: Subject, release: Release) -> _Listed:
        parts = release.parts()
        places = [subject.positions(part) for part in parts]
        exact = [lower == upper for lower, upper in (part.ranges() for part in parts)]
        added = [np.array([kind.summed for kind in part.kinds])[part.kind] for part in parts]
        names = set(subject.tabulation.names)
        return cls(
            parts,
            np.concatenate(places),
            np.concatenate(exact),
            np.concatenate(added),
            np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
            np.concatenate([np.arange(len(part)) for part in parts]),
            any(part.absent == "empty" and set(part.names) == names for part in parts),
        )

    def find(self, position: IntArray) -> IntArray:
        """Return the figure at each position, -1 where none is listed."""
        return locate(self.place, position, np.argsort(self.place, kind="stable"))

    def text(self, figure: int) -> str:
        """Return a figure as it is published."""
        return self.parts[int(self.part[figure])].text(int(self.row[figure]))

    def value(self, figure: int) -> float:
        """Return a figure in the unit that is published."""
        part = self.parts[int(self.part[figure])]
        return float(part.values[int(self.row[figure])] / 10**part.decimals)


def _unpublished(
    subject: Subject, listed: _Listed, found: Sensitivity | None, cells: IntArray
) -> dict[str, list[dict[str, str]]]:
    """Return the sensitive cells that no table lists, but that follow from those that do, as sums to ask about."""
    if found is None or not cells.size:
        return {}
    figure = listed.find(found.tabulation.cells[cells])
    # Sums of published figures are not asked about by the audit itself, which leaves them out.
    missing = cells[(figure < 0) | listed.added[figure]]
    if not missing.size:
        return {}
    nodes = {axis.name: set(axis.nodes) for axis in space_of(listed.parts).axes}
    nodes |= {name: set(leaves) for name, leaves in _about(subject, listed).items() if name not in nodes}
    wanted = {}
    for i in missing.tolist():
        label = _label(found, i)
        if all(code == WHOLE or code in nodes.get(name, ()) for name, code in label.items()):
            wanted[f"cell {i}"] = [{name: code for name, code in label.items() if name in nodes}]
    return wanted


def _about(subject: Subject, listed: _Listed) -> dict[str, tuple[str, ...]]:
    """Return the crossing to ask about where no published table shows all dimensions."""
    names = {name for part in listed.parts for name in part.names}
    if names >= set(subject.tabulation.names):
        return {}
    return {axis.name: axis.leaves for axis in subject.tabulation.axes}


def _known(
    subject: Subject,
    policy: Policy,
    release: Release,
    listed: _Listed,
    found: Sensitivity | None,
    cells: IntArray,
    audited: Audit,
    choice: Choice,
    possible: int,
) -> Known:
    """Put together what a reader knows of every sensitive cell."""
    n = cells.size
    none = np.zeros(0)
    if found is None or not n:
        nothing = np.zeros(0, np.int64)
        return Known(cells, nothing, none, none, none, (), nothing, nothing, none.astype(bool), faults(0), (none, none))
    position = found.tabulation.cells[cells]
    figure = listed.find(position)
    judged = _judged(subject, audited, position, cells)
    state = np.full(n, STATES.index("unfinished"))
    lower, upper, values = np.zeros(n), np.full(n, np.inf), np.full(n, np.inf)
    bits, bound = np.full(n, np.nan), np.zeros(n, bool)
    has = judged >= 0
    rows, columns = judged[has], audited.findings
    lower[has], upper[has], values[has] = columns.lower[rows], columns.upper[rows], columns.values[rows]
    if subject.magnitudes or policy.limits.dr is not None:
        bits[has], bound[has] = columns.bits[rows], columns.bound[rows]
    reasons = None
    if not subject.magnitudes and policy.limits.dr is not None:
        reasons = Reasons.of(audited, policy, choice, possible)
        bits[has], bound[has] = reasons.bits(rows, bits[has]), bound[has] | reasons.bounds
    small = only_small(audited, policy) if choice.protected and not subject.magnitudes else -1
    if small >= 0:
        k = np.flatnonzero(judged == small)
        lower[k] = np.maximum(lower[k], 0.0 if policy.zeros == "unsafe" else 1.0)
        upper[k] = np.minimum(upper[k], np.ceil(policy.rules.threshold or np.inf) - 1)
    # What no audit speaks of is exact, or empty because it is not listed; of the rest nothing is known to be safe.
    plain = ~has & np.where(figure >= 0, listed.exact[figure], listed.empty)
    value = np.array([listed.value(int(i)) if i >= 0 else 0.0 for i in figure[plain]])
    state[plain], bits[plain] = STATES.index("exact"), 0.0
    lower[plain] = upper[plain] = value
    # What the choice tells can leave a single value, too.
    values[lower == upper] = 1.0
    shown = tuple(listed.text(int(i)) if i >= 0 else "not published" for i in figure)
    rank = np.argsort(np.searchsorted(cells, np.array(found.worst(), np.int64)))
    unasked = np.full(n, np.nan)
    must = reach(subject, found)
    # No interval can be asked to reach below what everybody knows: zeros are shown, so that hidden counts are above 0.
    inside = columns.at[rows] < columns.equations.positions.size
    floor = least_known(columns.equations)[np.where(inside, columns.at[rows], 0)] / 10**columns.equations.decimals
    must[0][has] = np.where(inside, np.maximum(must[0][has], floor), must[0][has])
    asked = (*must, unasked) if wants_levels(policy, subject) else (unasked,) * 3
    wrong = policy.limits.of_figures.broken(lower, upper, values, bits, asked)
    names = [STATES.index(name) for name in ("determined", "interval", "unfinished")]
    state[has] = np.select([wrong["exact"][has], columns.finished[rows]], names[:2], names[2])
    wrong |= {"exact": wrong["exact"] & ~plain, "shown": plain}
    rivals = _rivals(policy, release, audited, judged, reasons) if not subject.magnitudes else Rivals()
    return Known(cells, state, lower, upper, bits, shown, judged, rank, bound, faults(n, **wrong), must, rivals)


def _rivals(policy: Policy, release: Release, audited: Audit, judged: IntArray, reasons: Reasons | None) -> Rivals:
    """Judge the figures that may be sensitive and are not, and what the sums of published figures tell."""
    columns, limits = audited.findings, policy.limits.of_figures
    rows = np.setdiff1d(may_be_small(audited, policy), judged)
    bits = columns.bits[rows] if reasons is None else reasons.bits(rows, columns.bits[rows])
    lower, upper, unasked = columns.lower[rows], columns.upper[rows], np.full(rows.size, np.nan)
    wrong = limits.broken(lower, upper, columns.values[rows], bits, (unasked,) * 3)
    if reasons is not None:
        bits = np.append(bits, reasons.bits_of_sums(release))
    wrong["dr"] = ~limits.shown(bits)
    broken = frozenset(name for name, at_fault in wrong.items() if at_fault.any())
    dr = 0.0 if limits.dr is None else float(disclosure_risk(bits).max(initial=0.0))
    return Rivals(dr, float((upper - lower).min(initial=np.inf)), broken)


def _judged(subject: Subject, audited: Audit, position: IntArray, cells: IntArray) -> IntArray:
    """Return the entry of the audit that judges each cell, -1 where there is none."""
    columns = audited.findings
    if not len(columns):
        return np.full(cells.size, -1)
    equations = columns.equations
    inside = columns.at < equations.positions.size
    place = np.full(columns.at.size, -1)
    here, codes = subject.tabulation, {}
    for axis in equations.space.axes:
        if axis.name in here.names:
            own = here.axis(axis.name)
            codes[axis.name] = recode([own.total if label == WHOLE else label for label in axis.nodes], own.codes)
    place[inside] = equations.space.grid.translate(equations.positions[columns.at[inside]], here.grid, codes)
    result = locate(place, position, np.argsort(place, kind="stable"))
    named = {f"cell {int(i)}": k for k, i in enumerate(cells)}
    for entry in np.flatnonzero(~inside).tolist():
        k = named.get(equations.describe(int(columns.at[entry])))
        if k is not None:
            result[k] = entry
    return result


def _kept(subject: Subject, release: Release) -> float:
    """Return the share of the published amounts that is left: 1 less what is hidden or moved, over all figures."""
    values, decimals = subject.values()
    truth = np.abs(values) / 10**decimals
    total = float(truth.sum())
    if not total:
        return 1.0
    shown = np.full(truth.size, np.nan)
    for part in release.parts():
        slot = locate(subject.tabulation.cells, subject.positions(part))
        fits = (slot >= 0) & ~part.hidden
        shown[slot[fits]] = part.values[fits] / 10**part.decimals
    signed = values / 10**decimals
    lost = np.where(np.isnan(shown), truth, np.minimum(np.abs(shown - signed), truth))
    return 1 - float(lost.sum()) / total
