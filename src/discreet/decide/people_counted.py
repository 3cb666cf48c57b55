"""What people work out who know that they are counted: their own cell is not 0.

Where zeros are published everybody knows that. Where a published figure leaves 0 possible, those counted in it know
more than other readers, about their own cell and about all that published sums tie to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from discreet.auditing.audit import audit as run_audit
from discreet.auditing.audit_result import Audit
from discreet.auditing.findings import RANK, Findings
from discreet.auditing.limits import Limits
from discreet.core.effort import Effort
from discreet.core.errors import InfeasibleError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import row_of
from discreet.decide.choice import Outsider
from discreet.decide.known_cells import STATES, Inside, Known, Listed, known_to_some, not_judged, sensitive_entries
from discreet.decide.subject import Case
from discreet.table.attacker import Attacker, Fact
from discreet.table.crossing_parts import unshown
from discreet.table.equations import Equations
from discreet.table.release import Release
from discreet.table.stakes import contributes

MANY = 500
"""More cells than that are not tried one by one: each takes an audit of all that is tied to it. A
round choice, as is the next."""
NOBODY = "nobody who knows that they are counted learns too much about a sensitive cell from it"
FEW = 64
"""More cells of a crossing that no table shows are not tried one by one: each takes an audit of all linked tables."""
BESIDES = (
    "from their cells in the tables, nobody who knows that they are counted learns too much about a sensitive cell; "
    "what people learn from their own cell of crossings that no table shows was not judged, as these are too many"
)
LEFT_ASIDE = "what people learn from knowing that they are counted was not judged, as the policy says (insiders)"
UNTRIED = (
    "what people learn from knowing that they are counted was not judged: together they know too much, and there are "
    "too many, in {:,} cells, to try them one by one"
)
RIVAL = "a figure that may be small is known too closely by somebody who knows that they are counted: {} by {}"


def people_know(
    case: Case, listed: Listed, reader: Outsider | None, known: Known, effort: Effort
) -> tuple[Known, Inside | None]:
    """Return what the best informed person counted knows about every sensitive cell, and a note on them.

    ``reader`` is not counted, and ``known`` is what they know.
    Every cell is tried in which somebody may be as far as readers can see, and every figure judged that may be small:
    so passing depends on what is published only. What all people know together comes first: if that leaves everything
    open, so does what any one of them knows.
    """
    if reader is None or contributes(case.subject.tabulation) or not known.cell.size:
        return known, None
    outside = reader.audited.findings
    equations = outside.equations
    finest = _finest(equations)
    rows, open_ = _may_be_anywhere(outside), _crossings(equations)
    # Where the crossing of all dimensions is laid out, what people know of its sums follows from it.
    laid = bool((open_ & finest).any())
    crossed = np.flatnonzero(open_ & finest if laid else open_)
    if not (rows.size or crossed.size) or (known.state == STATES.index("exact")).all():
        return known, None
    if case.policy.insiders == "none":
        return known, Inside(True, LEFT_ASIDE)
    entry = sensitive_entries(case, reader.audited)
    secret = np.zeros(equations.lower.size, bool)
    secret[np.r_[outside.at[entry[entry >= 0]], outside.at[reader.may_be_small()]]] = True
    about, limits = listed.about(), Limits(case.policy.limits.width)
    asked = partial(run_audit, about=about, sums=listed.sums(), limits=limits, proofs=0, **effort.searching())

    def ask(release: Release, knows: Sequence[Fact] = (), **options: Any) -> Audit:
        return asked(release, knows=[*listed.inhabited, *knows], **options)

    homes, several = np.r_[outside.at[rows], crossed], len(listed.parts) > 1
    if _open_to_all(listed.told, _not_zero(equations, homes), secret, ask):
        return known, Inside(True, NOBODY)
    if several and crossed.size and (not laid or crossed.size > FEW):
        # What cannot be judged of crossings is not claimed.
        shown = _not_zero(equations, outside.at[rows])
        if not shown or _open_to_all(listed.told, shown, secret, ask):
            return known, Inside(True, BESIDES)
    people = crossed if several else homes[finest[homes]]
    if about or (several and not laid) or people.size > (FEW if several else MANY):
        return not_judged(known, UNTRIED.format(homes.size))
    if crossed.size:
        people = _may_hold_somebody(listed.told, equations, people, ask)
    facts = _not_zero(equations, people)
    attackers = [
        Attacker(f"somebody in {equations.describe(int(at))}", knows=(fact,))
        for at, fact in zip(people, facts, strict=True)
    ]
    tried = ask(listed.told, attackers=attackers)
    learned = secret[tried.findings.at] & _of_others(tried.findings, people)
    told, inside = known_to_some(case, known, tried, learned, named=True)
    return told, inside if inside.cells else _rivals(tried, learned)


def _not_zero(equations: Equations, at: IntArray) -> list[Fact]:
    """Return what people know who are counted at positions."""
    return [Fact.nonzero(equations.cell(int(i))) for i in at]


def _may_hold_somebody(release: Release, equations: Equations, at: IntArray, ask: Callable[..., Audit]) -> IntArray:
    """Return the crossings, among some that no table shows, in which somebody may be as far as readers can see."""
    leaves = {axis.name: tuple(axis.nodes[leaf] for leaf in axis.leaves) for axis in equations.space.axes}
    found = ask(release, about=leaves).findings
    there = found.equations.positions[found.at[(found.at < found.equations.positions.size) & (found.upper >= 1)]]
    return at[np.isin(equations.positions[at], there)]


def _may_be_anywhere(outside: Findings) -> IntArray:
    """Return the findings on figures that may be 0, may hold somebody, and stand in a published sum with others."""
    equations = outside.equations
    tied = np.zeros(equations.lower.size, bool)
    if equations.columns.size:
        # Sums that are only asked about tie nothing together.
        stated = np.maximum.reduceat(equations.columns, equations.starts[:-1]) < equations.stated
        tied[equations.columns[stated[row_of(equations.starts)]]] = True
    tied[equations.positions.size :] = False
    return np.flatnonzero((outside.who == 0) & ~(outside.lower >= 1) & (outside.upper >= 1) & tied[outside.at])


def _crossings(equations: Equations) -> BoolArray:
    """Say which positions may be 0, and cross dimensions that no table crosses."""
    found = unshown(equations) & (equations.lower < 1)
    codes = equations.space.grid.decode(equations.positions)
    for part in equations.parts:
        other = [code > 0 for name, code in zip(equations.space.names, codes, strict=True) if name not in part.names]
        found[: equations.positions.size] &= np.logical_or.reduce([codes[0] < 0, *other])
    return found


def _open_to_all(release: Release, facts: list[Fact], secret: BoolArray, ask: Callable[..., Audit]) -> bool:
    """Say whether everything secret stays open to readers who know that nobody's cell is 0.

    What they know exactly beforehand is not among the findings, and not open.
    """
    try:
        columns = ask(release, knows=facts).findings
    except InfeasibleError:  # somebody may be in each of the cells, but not in all of them
        return False
    return bool(np.isin(np.flatnonzero(secret), columns.at[columns.rank == RANK["safe"]]).all())


def _finest(equations: Equations) -> BoolArray:
    """Say which positions are finest cells."""
    found = np.zeros(equations.lower.size, bool)
    codes = equations.space.grid.decode(equations.positions)
    inner = [np.isin(code, axis.leaves) for axis, code in zip(equations.space.axes, codes, strict=True)]
    found[: equations.positions.size] = np.logical_and.reduce(inner)
    return found


def _of_others(columns: Findings, homes: IntArray) -> BoolArray:
    """Say which entries tell people in cells, the attackers of an audit in this order, something about others.

    Of a sum that they are in themselves people know that it is not 0; that they are alone in it tells them of nobody.
    """
    equations = columns.equations
    stated = columns.at < equations.positions.size
    own, mine = stated & (columns.who > 0), np.maximum(columns.who - 1, 0)
    decode, at = equations.space.grid.decode, equations.positions
    places = zip(decode(at[homes]), decode(at[np.where(stated, columns.at, 0)]), equations.space.axes, strict=True)
    for home, code, axis in places:
        over = np.zeros((len(axis.nodes),) * 2, bool)
        for one in np.unique(home).tolist():
            over[one, list(axis.above(axis.nodes[one]))] = True
        own &= over[home[mine], code]
    others: BoolArray = ~own | (columns.determined & (columns.lower > 1))
    return others


def _rivals(tried: Audit, learned: BoolArray) -> Inside:
    """Return the note on figures that may be small and are not."""
    columns = tried.findings
    kept = learned & (columns.who > 0) & (columns.rank != RANK["safe"])
    if not kept.any():
        return Inside(True, NOBODY)
    worst = columns.order[kept[columns.order]][0]
    cell, who = columns.equations.describe(int(columns.at[worst])), columns.attackers[int(columns.who[worst])]
    return Inside(False, RIVAL.format(cell, who))
