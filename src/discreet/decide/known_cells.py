"""What readers know about every sensitive cell: an outsider, and respondents with all their contributions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.auditing.audit import UNNAMED
from discreet.auditing.audit import audit as run_audit
from discreet.auditing.audit_result import Audit
from discreet.auditing.findings import RANK, SUBJECTS, Findings, faults
from discreet.auditing.levels import least_known
from discreet.auditing.limits import FAULTS, Limits
from discreet.core.effort import Effort
from discreet.core.numerics import BoolArray, FloatArray, IntArray, disclosure_risk
from discreet.core.text import many
from discreet.decide.choice import Outsider, Reasons
from discreet.decide.subject import Case
from discreet.feasible.candidates import Candidates
from discreet.table.attacker import Fact
from discreet.table.crossing_parts import UNPLACED
from discreet.table.figures import Figures
from discreet.table.grid import locate, recode
from discreet.table.release import Release
from discreet.table.space import WHOLE, space_of
from discreet.table.stakes import ONE_CELL, contributes

STATES = ("exact", "determined", "unfinished", "interval")
"""What a reader knows about a sensitive cell, the worst first; "unfinished" includes what the audit did not judge."""


@dataclass(frozen=True)
class Rivals:
    """The figures other than the sensitive cells that may be sensitive as far as a reader can tell.

    Limits hold for them too: passing reveals nothing about which ones are. ``dr`` is the largest 1/H, NaN where
    it is not shown, ``width`` the least width, and ``broken`` names the limits that are not kept.
    """

    dr: float = 0.0
    width: float = math.inf
    broken: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Known:
    """What a reader knows of every sensitive cell, as columns.

    ``cell`` numbers the cells of the tabulation, ``shown`` is how each is published, ``entry`` the row of the audit
    that judges it, -1 where none does, and ``rank`` its place among the sensitive cells, the most sensitive first.
    ``bits`` is what a reader lacks who knows the method and uses all figures jointly, NaN where that is not shown; for
    magnitudes, what the interval leaves if its values are equally likely. ``bound`` is true if the bits are a lower
    bound. ``faults`` says what the policy objects to, in the columns of :data:`~discreet.auditing.limits.FAULTS`, and
    ``must`` what the intervals must reach where levels are asked for. ``rivals`` are the other figures that may be
    sensitive.
    """

    cell: IntArray
    state: IntArray
    lower: FloatArray
    upper: FloatArray
    bits: FloatArray
    shown: tuple[str, ...]
    entry: IntArray
    rank: IntArray
    bound: BoolArray
    faults: BoolArray
    must: tuple[FloatArray, FloatArray]
    rivals: Rivals = Rivals()

    @property
    def dr(self) -> FloatArray:
        """The disclosure risk 1/H of each; infinite where the value is known, NaN where it is not shown."""
        return disclosure_risk(self.bits)

    def wrong(self, *names: str) -> BoolArray:
        """Say for each cell whether it has one of the faults."""
        return np.asarray(self.faults[:, [FAULTS.index(name) for name in names]].any(axis=1), bool)

    @property
    def width(self) -> FloatArray:
        """The width of each interval."""
        wide: FloatArray = self.upper - self.lower
        return wide

    def count(self, *states: str) -> int:
        """Return how many cells are in one of the states."""
        return int(np.isin(self.state, [STATES.index(state) for state in states]).sum())

    def worst(self) -> IntArray:
        """Return the order in which cells are listed: the best known first."""
        return np.lexsort((self.rank, self.width, np.nan_to_num(self.bits, posinf=np.inf), self.state))


@dataclass(frozen=True, eq=False)
class Listed:
    """What a release lists: the position of every figure, whether it is exact or a sum of others, and where it is.

    ``told`` is the release without such sums, which reveal nothing more; ``figure`` is the figure of every sensitive
    cell, -1 where none is listed, and ``empty`` says whether cells without a row are empty. ``inhabited`` is what
    readers know of categories that are listed because somebody is in them.
    """

    case: Case
    parts: tuple[Figures, ...]
    told: Release
    exact: BoolArray
    added: BoolArray
    part: IntArray
    row: IntArray
    figure: IntArray
    empty: bool
    inhabited: tuple[Fact, ...] = ()

    @classmethod
    def of(cls, case: Case, release: Release) -> Listed:
        """Find the figures of a release among the cells of a table."""
        parts, subject = release.parts(), case.subject
        told = tuple(part.telling() for part in parts)
        added = np.concatenate([np.array([kind.summed for kind in part.kinds])[part.kind] for part in parts])
        exact = np.concatenate([lower == upper for lower, upper in (part.ranges() for part in parts)]) & ~added
        place = np.concatenate([subject.positions(part) for part in parts])
        names = set(subject.tabulation.names)
        return cls(
            case,
            parts,
            replace(release, figures=told),
            exact,
            added,
            np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
            np.concatenate([np.arange(len(part)) for part in parts]),
            locate(place, case.positions, np.argsort(place, kind="stable")),
            any(part.absent == "empty" and set(part.names) == names for part in parts),
        )

    def text(self, figure: int) -> str:
        """Return a figure as it is published."""
        return self.parts[int(self.part[figure])].text(int(self.row[figure])) if figure >= 0 else "not published"

    def value(self, figure: int) -> float:
        """Return a figure in the unit that is published, 0 for a cell that is not listed."""
        part = self.parts[int(self.part[figure])]
        return float(part.values[int(self.row[figure])] / 10**part.decimals) if figure >= 0 else 0.0

    def about(self) -> dict[str, tuple[str, ...]]:
        """Return the crossing to ask about where no published table shows all dimensions."""
        axes = self.case.subject.tabulation.axes
        shown = {name for part in self.parts for name in part.names}
        if not self.case.cells.size or all(axis.name in shown for axis in axes):
            return {}
        return {axis.name: axis.leaves for axis in axes}

    def sums(self) -> dict[str, list[dict[str, str]]]:
        """Return the sensitive cells that no table lists, but that follow from those that do, as sums to ask about."""
        # Sums of published figures are not asked about by the audit itself, which leaves them out.
        missing = self.case.cells[(self.figure < 0) | self.added[self.figure]]
        if not missing.size:
            return {}
        nodes = {axis.name: set(axis.nodes) for axis in space_of(self.parts).axes}
        nodes |= {name: set(leaves) for name, leaves in self.about().items() if name not in nodes}
        wanted = {}
        for i, label in zip(missing.tolist(), self.case.labels(missing), strict=True):
            if all(code == WHOLE or code in nodes.get(name, ()) for name, code in label.items()):
                wanted[f"cell {i}"] = [{name: code for name, code in label.items() if name in nodes}]
        return wanted


def known_cells(case: Case, listed: Listed, audited: Audit, reader: Outsider | None) -> Known:
    """Put together what a reader knows about every sensitive cell; for magnitudes, one who knows the figures only."""
    policy, columns, figure, n = case.policy, audited.findings, listed.figure, case.cells.size
    if case.found is None or not n:
        none, nothing = np.zeros(0), np.zeros(0, np.int64)
        return Known(nothing, nothing, none, none, none, (), nothing, nothing, none > 0, faults(0), (none, none))
    entry = sensitive_entries(case, audited)
    has = entry >= 0
    rows = entry[has]
    lower, upper, values = np.zeros(n), np.full(n, np.inf), np.full(n, np.inf)
    lower[has], upper[has], values[has] = columns.lower[rows], columns.upper[rows], columns.values[rows]
    bits, bound = np.full(n, np.nan), np.zeros(n, bool)
    if reader is None or policy.limits.dr is not None:
        bits[has], bound[has] = columns.bits[rows], columns.bound[rows]
    reasons = None
    if reader is not None and policy.limits.dr is not None:
        reasons = Reasons.of(reader)
        bits[has], bound[has] = reasons.bits(rows, bits[has]), bound[has] | reasons.bounds
    small = -1 if reader is None else reader.only_small
    if small >= 0:
        k = np.flatnonzero(entry == small)
        lower[k] = np.maximum(lower[k], 0.0 if policy.zeros == "unsafe" else 1.0)
        upper[k] = np.minimum(upper[k], np.ceil(policy.rules.threshold or np.inf) - 1)
    # What no audit speaks of is exact, or empty because it is not listed; of the rest nothing is known to be safe.
    plain = ~has & np.where(figure >= 0, listed.exact[figure], listed.empty)
    lower[plain] = upper[plain] = np.array([listed.value(int(i)) for i in figure[plain]])
    bits[plain] = 0.0
    # What the choice tells can leave a single value, too.
    values[lower == upper] = 1.0
    must = case.reach()
    # No interval can be asked to reach below what everybody knows: zeros are shown, so hidden counts are above 0.
    inside = columns.at[rows] < columns.equations.positions.size
    floor = least_known(columns.equations)[np.where(inside, columns.at[rows], 0)] / 10**columns.equations.decimals
    must[0][has] = np.where(inside, np.maximum(must[0][has], floor), must[0][has])
    unasked = np.full(n, np.nan)
    asked = (*must, unasked) if case.wants_levels else (unasked,) * 3
    # Where only levels were judged, what is finished reaches them, and may reach further.
    reached = np.isnan(lower) & np.isnan(upper) & ~np.isnan(must[0]) & ~np.isnan(must[1])
    reached[has] &= columns.finished[rows]
    lower[reached], upper[reached] = must[0][reached], must[1][reached]
    values[reached] = upper[reached] - lower[reached] + 1
    bits[reached], bound[reached] = np.log2(values[reached]), True
    wrong = policy.limits.of_figures.broken(lower, upper, values, bits, asked)
    state = np.full(n, STATES.index("unfinished"))
    state[plain] = STATES.index("exact")
    state[has] = _states(wrong["exact"][has], columns.finished[rows])
    wrong |= {"exact": wrong["exact"] & ~plain, "shown": plain}
    rank = np.argsort(np.searchsorted(case.cells, np.array(case.found.worst(), np.int64)))
    shown = tuple(listed.text(int(i)) for i in figure)
    rivals = Rivals() if reader is None else _rivals(reader, listed.told, entry, reasons)
    return Known(case.cells, state, lower, upper, bits, shown, entry, rank, bound, faults(n, **wrong), must, rivals)


def _states(single: BoolArray, finished: BoolArray) -> IntArray:
    """Return what is known about cells that an audit judged: a single value, an interval, or nothing certain."""
    names = [STATES.index(name) for name in ("determined", "interval", "unfinished")]
    return np.select([single, finished], names[:2], names[2])


def _rivals(reader: Outsider, release: Release, entry: IntArray, reasons: Reasons | None) -> Rivals:
    """Judge the figures that may be sensitive but are not, and what the sums of published figures reveal."""
    columns, limits = reader.audited.findings, reader.policy.limits.of_figures
    rows = np.setdiff1d(reader.may_be_small(), entry)
    bits = columns.bits[rows] if reasons is None else reasons.bits(rows, columns.bits[rows])
    lower, upper, unasked = columns.lower[rows], columns.upper[rows], np.full(rows.size, np.nan)
    wrong = limits.broken(lower, upper, columns.values[rows], bits, (unasked,) * 3)
    if reasons is not None:
        bits = np.append(bits, reasons.bits_of_sums(release))
    wrong["dr"] = ~limits.shown(bits)
    broken = frozenset(name for name, at_fault in wrong.items() if at_fault.any())
    dr = 0.0 if limits.dr is None else float(disclosure_risk(bits).max(initial=0.0))
    return Rivals(dr, float((upper - lower).min(initial=np.inf)), broken)


def sensitive_entries(case: Case, audited: Audit) -> IntArray:
    """Return the entry of an audit that judges each sensitive cell, -1 where there is none."""
    columns, cells = audited.findings, case.cells
    if not len(columns):
        return np.full(cells.size, -1)
    equations = columns.equations
    inside = columns.at < equations.positions.size
    place = np.full(columns.at.size, -1)
    here, codes = case.subject.tabulation, {}
    for axis in equations.space.axes:
        if axis.name in here.names:
            own = here.axis(axis.name)
            codes[axis.name] = recode([own.total if label == WHOLE else label for label in axis.nodes], own.codes)
    place[inside] = equations.space.grid.translate(equations.positions[columns.at[inside]], here.grid, codes)
    result = locate(place, case.positions, np.argsort(place, kind="stable"))
    named = {f"cell {int(i)}": k for k, i in enumerate(cells)}
    for row in np.flatnonzero(~inside).tolist():
        k = named.get(equations.describe(int(columns.at[row])))
        if k is not None:
            result[k] = row
    return result


@dataclass(frozen=True)
class Inside:
    """Whether respondents were considered, and a note on what they know.

    ``cells`` numbers the sensitive cells about which one of them knows too much, or may, if what they know was not
    ``judged``.
    """

    passed: bool
    text: str
    cells: tuple[int, ...] = ()
    judged: bool = True


PLACED = {
    UNNAMED: (
        "for one table, tabulate the records with the column that says whose they are (contributor=, --contributor); "
        "for several, run a plan over the records with that column"
    ),
    UNPLACED: (
        "run a plan over the records, which tell who is where, or publish with them one table that crosses all of "
        "their dimensions"
    ),
}
"""What to do where respondents cannot be judged, and still are to be."""
ASIDE = (
    'or state that they are not judged, which every verdict then says (in a policy file of your own, insiders = "none" '
    "above its first table)"
)
LEFT_ASIDE = "what respondents work out with their own contributions was not judged, as the policy says (insiders)"


def respondents_know(
    case: Case, listed: Listed, known: Known, candidates: Candidates | None, effort: Effort
) -> tuple[Known, Inside | None]:
    """Return what the best informed reader knows about every sensitive cell, and a note on respondents.

    ``known`` is what an outsider knows, and ``candidates`` are tables claimed to fit.
    """
    subject, policy = case.subject, case.policy
    if case.found is None or not contributes(subject.tabulation) or not known.cell.size:
        return known, None
    if policy.insiders == "none":
        return known, Inside(True, LEFT_ASIDE)
    if (known.state == STATES.index("exact")).all():
        return known, None
    tried = run_audit(
        listed.told,
        limits=Limits(policy.limits.width, levels=case.levels(every=True)),
        contributions=subject.tabulation,
        insiders=policy.insiders,
        response=subject.response,
        verdict_only=True,
        proofs=0,
        candidates=candidates,
        about=listed.about(),
        sums=listed.sums(),
        **effort.searching(),
    )
    if (unjudged := next((note for note in PLACED if note in tried.note), None)) is not None:
        return not_judged(known, f"{unjudged.partition(';')[0]}; {PLACED[unjudged]}, {ASIDE}")
    every = np.ones(len(tried.findings), bool)
    return known_to_some(case, known, tried, every, named=subject.tabulation.respondents is not None)


def not_judged(known: Known, why: str) -> tuple[Known, Inside]:
    """Return what is known if attackers could not be judged: nothing that was open is shown to be safe."""
    open_ = known.state > STATES.index("determined")
    state = np.where(open_, STATES.index("unfinished"), known.state)
    return replace(known, state=state), Inside(False, why, tuple(np.flatnonzero(open_).tolist()), judged=False)


def known_to_some(case: Case, known: Known, tried: Audit, judged: BoolArray, *, named: bool) -> tuple[Known, Inside]:
    """Return what the best informed attacker knows by the ``judged`` entries of an audit, and a note on them."""
    columns = tried.findings
    kept = judged & (columns.who > 0) & (columns.rank != RANK["safe"])
    worst = columns.taken(columns.order[kept[columns.order]])
    entry = sensitive_entries(case, replace(tried, findings=worst))
    narrowed = _narrowed(known, worst, entry, case.policy.limits.of_figures)
    return narrowed, _said(worst, entry, len(columns.attackers) - 1, named)


def _narrowed(known: Known, worst: Findings, entry: IntArray, limits: Limits) -> Known:
    """Return what is known, narrowed by what the best informed respondent knows about each cell."""
    has = entry >= 0
    rows = entry[has]
    of_cell = worst.subject[rows] == SUBJECTS.index("value")
    state, lower, upper, bits = (getattr(known, name).copy() for name in ("state", "lower", "upper", "bits"))
    state[has] = np.minimum(state[has], _states(worst.determined[rows], worst.finished[rows]))
    lower[has] = np.where(of_cell, np.fmax(lower[has], worst.lower[rows]), lower[has])
    upper[has] = np.where(of_cell, np.fmin(upper[has], worst.upper[rows]), upper[has])
    bits[has] = np.fmin(bits[has], np.maximum(worst.bits[rows], 0.0))
    unasked = np.full(lower.size, np.nan)
    again = limits.broken(lower, upper, np.full(lower.size, np.inf), bits, (unasked,) * 3)
    wrong = known.faults | faults(lower.size, **again)
    return replace(known, state=state, lower=lower, upper=upper, bits=bits, faults=wrong)


def _said(worst: Findings, entry: IntArray, tried: int, named: bool) -> Inside:
    bad = np.flatnonzero(entry >= 0)
    if not bad.size:
        who = many(tried, "respondent")
        told = f"{who} were tried with all that they contributed; none of them knows a sensitive cell too closely"
        return Inside(True, told if named else f"{told} ({ONE_CELL})")
    first = int(entry[bad[0]])
    who, cell = worst.attackers[int(worst.who[first])], worst.equations.describe(int(worst.at[first]))
    cells = f"{bad.size:,} sensitive cell{' is' if bad.size == 1 else 's are'}"
    text = f"{cells} known too closely by a respondent with all that it contributed: cell {cell} by {who}, for one"
    return Inside(False, text, tuple(bad.tolist()))
