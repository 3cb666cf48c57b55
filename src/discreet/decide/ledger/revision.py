"""Releases that describe the same values again: a revision, or another release that prints nearly the same figures.

A revision corrects some figures and keeps most. If the two do not contradict each other, they are put into one set of
equations like any others. If they do, a figure that one release hides and the other prints is known, up to the
revision: the ranges that both leave for a protected figure are intersected, and where they are disjoint, the figure was
corrected, and nothing follows. What is learned in this way is put into either release, and its other protected figures
are bounded again. With the true tables of both, which say what was corrected, all of it is one set of equations.

Releases about other times or populations are treated in the same way if at least half of the figures that both print
are equal, or of those of single categories that follow from both by adding up: a reader who takes a hidden figure for
the one that the other release prints may well be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from discreet.auditing.findings import Findings
from discreet.core.clock import Clock
from discreet.core.errors import DataError, InfeasibleError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import listed
from discreet.decide.ledger.check_result import LedgerFinding, between
from discreet.decide.ledger.corrections import Originals, OtherVersion, TruePair
from discreet.decide.ledger.entry import PublishedTable
from discreet.decide.ledger.joined_tables import JoinedTables, faults_of, lay
from discreet.decide.ledger.joint import Joint, findings_of, joint_findings, of_unrelated
from discreet.decide.ledger.settings import INTERVALS, Settings
from discreet.feasible.bounds import Bounds
from discreet.table.blocks import blocks_of
from discreet.table.figures import Figures
from discreet.table.grid import Grid, recode
from discreet.table.kinds import UNBOUNDED, Kind
from discreet.table.space import space_of
from discreet.table.taken_apart import totals_of

TOGETHER = 60.0
"""Seconds for bounding two versions together by default: 80 × 80 cells take 15, and larger tables are worth waiting for
only if somebody says so."""
REVISED = "a later release revises the other"
TRUE_TABLES = "--original FILE; originals=; in a plan, records of [previous]"
"""How true tables are given."""
SEVERAL = 2
"""So many figures that only follow from both must be equal: a total of everybody may be equal by chance."""


def alike(new: Sequence[PublishedTable], old: Sequence[PublishedTable]) -> str:
    """Say how many figures two releases print equally, if they are at least half; otherwise nothing.

    So it is with figures of single categories, if several are equal that they print or that follow by adding up.
    """
    mine, theirs = ([sheet.figures for sheet in side] for side in (new, old))
    same, both = _equal(mine, theirs)
    if same and 2 * same >= both:
        return f"{same:,} of {both:,} figures above 0 that both print are equal"
    same, both = _equal_sums(mine, theirs)
    if same >= SEVERAL and 2 * same >= both:
        return f"{same:,} of {both:,} figures of single categories that follow from both are equal"
    return ""


def same_values(
    new: Sequence[PublishedTable],
    earlier: Sequence[PublishedTable],
    old: Sequence[PublishedTable],
    settings: Settings,
    why: str,
    *,
    stated: bool = True,
    originals: TruePair | None = None,
) -> Joint:
    """Return what follows if an older release describes the same values as a new one with ``earlier`` ones.

    ``why`` is the reason for taking the values to be the same; ``stated`` says that this was declared. ``originals``
    say what was corrected; without them, nobody is taken to know.
    """
    about = new[0].entry
    entry = replace(old[0].entry, population=about.population, period=about.period)
    theirs = [replace(sheet, entry=entry) for sheet in old]
    told = Joint() if originals is None else corrected_findings(new, earlier, theirs, settings, originals)
    try:
        return told | joint_findings(new, [*earlier, *theirs], settings, same=stated)
    except (DataError, InfeasibleError):
        # Some figures were corrected.
        if originals is not None:
            return told
    found = carried([*earlier, *new], theirs, settings, why)
    if earlier and found.findings:
        known = {_said(f) for f in carried(earlier, theirs, settings, why).findings}
        more = tuple(f for f in found.findings if _said(f) not in known)
        found = replace(found, findings=more)
    try:
        found = _added(found, corrected_findings(new, earlier, theirs, settings, None), why)
    except (DataError, InfeasibleError):
        # Figures that some release hides were corrected too.
        if stated:
            found |= Joint(unjudged=(_of_nobody([*theirs, *earlier, *new], why),))
    # What no newer table has all cells of.
    left = [s.figures for s in old if not any(_repeats(other.figures, s.figures) for other in (*earlier, *new))]
    others = list(dict.fromkeys(" × ".join(part.names) for part in left))
    if not others:
        return found
    text = (
        f"«{entry.title}» and «{about.title}» were taken to describe the same values ({why}), but contradict each "
        f"other, and the later one does not repeat {listed(others)}, so their differences could not be checked; give "
        f"the true tables of both ({TRUE_TABLES}), or publish that anew, with the corrected figures, in one release "
        "with the others"
    )
    return replace(found, unjudged=(*found.unjudged, text))


def corrected_findings(
    new: Sequence[PublishedTable],
    earlier: Sequence[PublishedTable],
    old: Sequence[PublishedTable],
    settings: Settings,
    originals: TruePair | None,
) -> Joint:
    """Return what both versions give away of either, to a reader who knows which finest cells went up, and which down.

    Without originals, these are the ones that both print differently.
    """
    if settings.clock.deadline is None:
        settings = replace(settings, clock=Clock.within(TOGETHER))
    laid = lay([*old, *earlier, *new])
    first, others, now = laid[: len(old)], laid[len(old) : len(laid) - len(new)], laid[len(laid) - len(new) :]
    if open_ := not_joined(laid, settings):
        return Joint(unjudged=(open_,))
    of_new = OtherVersion.of([*others, *now], first, originals)
    found = findings_of(now, [*others, *of_new.unchanged], settings, others=(of_new,), whole=first)
    of_old = OtherVersion.of(first, [*others, *now], originals and originals.swapped)
    before = findings_of(of_old.unchanged, first, settings, others=(of_old,), whole=now)
    found = _added(found, before, f"its value in «{old[0].entry.title}»")
    return found | Joint(unjudged=tuple(of_unrelated(laid, new, [*old, *earlier])))


def versions_findings(
    new: Sequence[PublishedTable],
    earlier: Sequence[PublishedTable],
    old: Sequence[Sequence[PublishedTable]],
    settings: Settings,
    originals: Sequence[TruePair],
) -> Joint:
    """Return what older versions and a new one give away of each, and nobody knows without the new one.

    ``originals`` are the true tables behind each older one, and behind the new one, if there are any. The reader knows
    of each two versions which of the finest cells one of them raised, and which it lowered: without originals, those
    that the two print differently.
    """
    truth = [*(pair.other for pair in originals), *(pair.own for pair in originals[:1])]
    if settings.clock.deadline is None:
        settings = replace(settings, clock=Clock.within(TOGETHER))
    try:
        found = _of_versions([*old, [*earlier, *new]], len(new), settings, truth)
        # What older versions tell, and what they tell with other releases as new as this one.
        there = [_of_versions(old, len(old[-1]), settings, truth[:-1])]
        there += [_of_versions([*old, earlier], len(earlier), settings, truth)] if earlier else []
    except (DataError, InfeasibleError):
        if originals:
            raise
        # Figures that some version hides were corrected too.
        return Joint(unjudged=(_of_nobody([sheet for sheets in (*old, earlier, new) for sheet in sheets], REVISED),))
    told = Joint()
    for k, one in enumerate(found):
        # What is known of one version says nothing of the others, whatever they are called.
        known = {_said(f) for past in there for f in (past[k].findings if k < len(past) else ())}
        told |= replace(one, findings=tuple(f for f in one.findings if _said(f) not in known))
    return told


def _of_versions(
    given: Sequence[Sequence[PublishedTable]], new: int, settings: Settings, truth: Sequence[Originals]
) -> list[Joint]:
    """Return for each of several versions what all give away of it together; so many of the last tables are new."""
    if len(given) == 1:
        return []
    about = given[-1][-1].entry
    laid = lay(as_of([sheet for sheets in given for sheet in sheets], about.population, about.period))
    if open_ := not_joined(laid, settings):
        return [Joint(unjudged=(open_,))]
    ends = np.cumsum([0, *(len(sheets) for sheets in given)]).tolist()
    versions = [laid[start:end] for start, end in pairwise(ends)]
    found = []
    for k, main in enumerate(versions):
        others = {
            i: OtherVersion.of(main, theirs, TruePair(truth[i], truth[k]) if truth else None, laid)
            for i, theirs in enumerate(versions)
            if i != k
        }
        *past, now = (others[i].unchanged if i in others else main for i in range(len(versions)))
        beside = len(now) - new if main is versions[-1] else 0
        before = [sheet for sheets in (*past, now[:beside]) for sheet in sheets]
        told = findings_of(now[beside:], before, settings, others=tuple(others.values()))
        found.append(_because(told, f"all versions of «{main[0].entry.title}» together"))
    return found


def _said(found: LedgerFinding) -> tuple[str, float, float]:
    """Return what is known of a figure."""
    return found.name, found.lower, found.upper


def as_of(sheets: Sequence[PublishedTable], population: str, period: str) -> list[PublishedTable]:
    """Return tables of older versions as tables about the same people and time as the new one."""
    return [replace(s, entry=replace(s.entry, population=population, period=period)) for s in sheets]


def _added(found: Joint, other: Joint, why: str) -> Joint:
    """Return findings with those of others that say something else, or that it is news, and why that is."""
    known = {_said(f) for f in found.findings}
    news = {_said(f) for f in found.findings if f.cause != "before"}
    more = _because(other, why)
    findings = tuple(f for f in more.findings if _said(f) not in (known if f.cause == "before" else news))
    return found | replace(more, findings=findings)


def _because(found: Joint, why: str) -> Joint:
    """Return findings with a reason more."""
    told = (replace(f, reason=f"{f.reason}; {why}", subtraction=f"{f.subtraction}; {why}") for f in found.findings)
    return replace(found, findings=tuple(told))


def not_joined(sheets: Sequence[PublishedTable], settings: Settings) -> str:
    """Say why two versions cannot be put into one set of equations."""
    parts = [sheet.figures for sheet in sheets]
    titles = _names(sheet.entry.title for sheet in sheets)
    if beside := next((one.name for part in parts for one in part.statistics if len(one)), None):
        return f"what {beside} of {titles} says of both versions could not be judged; leave it out of one of them"
    if settings.limits.dr is not None and any(kind.weighs for part in parts for kind in part.kinds):
        return (
            f"{titles} were drawn at random, and how likely the values are that both versions leave could not be "
            f"judged; {INTERVALS}"
        )
    space = space_of(parts)
    crossed = [frozenset(part.names) for part in parts]
    blocks = blocks_of(crossed, {axis.name: len(axis.nodes) for axis in space.axes})
    if any(not any(block <= names for names in crossed) for block in blocks):
        return (
            f"the tables of {titles} cross in a circle, so two versions of them could not be put together; publish a "
            "table of all their dimensions with the later one, whose inner figures may all be hidden"
        )
    return ""


def _repeats(new: Figures, old: Figures) -> bool:
    cells = {name: set(labels) - {old.total} for name, labels in old.labels.items()}
    return all(name in new.names and labels <= set(new.labels[name]) for name, labels in cells.items())


def carried(new: Sequence[PublishedTable], old: Sequence[PublishedTable], settings: Settings, why: str) -> Joint:
    """Return the protected figures that either side gives away if the other describes the same values."""
    every = [sheet.figures for sheet in (*new, *old)]
    if not any((ends[0] < ends[1]).any() for ends in (part.ranges() for part in every)):
        return Joint()
    pair = [JoinedTables(lay(sheets), settings) for sheets in (new, old)]
    titles = tuple(dict.fromkeys(sheet.entry.title for sheet in (*old, *new)))
    if pair[0].scale != pair[1].scale:
        text = (
            f"{_names(titles)} were taken to describe the same values ({why}) but print different numbers of decimals, "
            "so hidden figures could not be compared; publish them with the same decimals"
        )
        return Joint(unjudged=(text,))
    everywhere = np.arange(pair[0].equations.positions.size)
    there = pair[1].equations.locate(_positions(pair[0], pair[1], everywhere))
    here, there = everywhere[there >= 0], there[there >= 0]
    lower = np.maximum(pair[0].found.lower[here], pair[1].found.lower[there])
    upper = np.minimum(pair[0].found.upper[here], pair[1].found.upper[there])
    seen: dict[str, LedgerFinding] = {}
    clash = False
    for work, at, other in ((pair[0], here, pair[1]), (pair[1], there, pair[0])):
        meets = work.protected[at] & (lower <= upper)
        low, high = work.found.lower.copy(), work.found.upper.copy()
        low[at[meets]], high[at[meets]] = lower[meets], upper[meets]
        put = replace(work.found, lower=low, upper=high)
        again = _again(work, put)
        clash |= again is None
        found = put if again is None else again
        judged = work.judge.judged(found, np.flatnonzero(work.protected)).findings
        for k in np.flatnonzero(judged.faults.any(axis=1)).tolist():
            i = int(judged.at[k])
            if work.wrong[i]:
                continue
            name = work.equations.describe(i)
            if name not in seen or not seen[name].exact:
                seen[name] = _finding(work, other, found, judged, k, titles, why)
    texts = [_of_nobody([*old, *new], why)]
    return Joint(tuple(seen.values()), sum(work.unfinished() for work in pair), tuple(texts if clash else ()))


def _of_nobody(sheets: Sequence[PublishedTable], why: str) -> str:
    """Say that nobody can tell which figures were corrected, and how to have them judged."""
    titles = _names(sheet.entry.title for sheet in sheets)
    name = "" if why == REVISED else "name the release that the later one corrects (--revises ID, revises=), and "
    return (
        f"{titles} were taken to describe the same values ({why}), but figures were corrected that some of them hide, "
        f"so what follows from the others together could not be judged; {name}give the true tables of both, which say "
        f"what was corrected ({TRUE_TABLES})"
    )


def _finding(
    work: JoinedTables, other: JoinedTables, found: Bounds, judged: Findings, k: int, titles: tuple[str, ...], why: str
) -> LedgerFinding:
    """Return a figure that is known too well, with what either side says about it."""
    i = int(judged.at[k])
    ends, left = work.ends(i, found), work.ends(i)
    at = int(other.equations.locate(_positions(work, other, np.array([i])))[0])
    theirs = other.ends(at) if at >= 0 else None
    mine, others = (_names(sheet.entry.title for sheet in one.sheets) for one in (work, other))
    put = f"what is left of it with the figures of {others} put in"
    printed = f"{between(*ends)} by {others}" if theirs == ends else put
    name = work.equations.describe(i)
    relation = "=" if ends[0] == ends[1] else "between"
    text = f"{name} {relation} {between(*ends)}: between {between(*left)} by {mine}, {printed}; {why}"
    return LedgerFinding(work.equations.cell(i), name, *ends, left, "together", faults_of(judged, k), titles, (), text)


def _names(titles: Iterable[str]) -> str:
    return listed([f"«{title}»" for title in dict.fromkeys(titles)])


def _positions(work: JoinedTables, other: JoinedTables, at: IntArray) -> IntArray:
    return work.equations.space.translate(work.equations.positions[at], other.equations.space)


def _equal(new: Sequence[Figures], old: Sequence[Figures]) -> tuple[int, int]:
    """Return how many figures above 0 tables of the same dimensions both print, and how many of these are equal.

    Figures made in the same way, such as by rounding to the same base, are equal if they are printed equally; others if
    one value can be behind both.
    """
    same = both = 0
    for mine, theirs in product(new, old):
        if set(mine.names) == set(theirs.names):
            grid, unit, kinds = shared_grid(mine, theirs)
            one, other = (PrintedFigures.of(part, grid, unit, kinds) for part in (mine, theirs))
            _, at, by = np.intersect1d(one.place, other.place, return_indices=True)
            meet = (one.lower[at] <= other.upper[by]) & (other.lower[by] <= one.upper[at])
            meet &= (one.value[at] == other.value[by]) | (one.kind[at] != other.kind[by])
            both += at.size
            same += int(np.count_nonzero(meet))
    return same, both


def _equal_sums(new: Sequence[Figures], old: Sequence[Figures]) -> tuple[int, int]:
    """Return how many figures above 0 of single categories are known from both, and how many of these are equal."""
    same = both = 0
    for mine, theirs in product(new, old):
        for name in set(mine.names) & set(theirs.names):
            one, other = (totals_of(part, name) for part in (mine, theirs))
            units = 10**theirs.decimals, 10**mine.decimals
            known = [label for label in one if one[label] > 0 and other.get(label, 0) > 0]
            both += len(known)
            same += sum(one[label] * units[0] == other[label] * units[1] for label in known)
    return same, both


def shared_grid(mine: Figures, theirs: Figures) -> tuple[Grid, int, list[Kind]]:
    """Return the cells of two tables of the same dimensions, the most decimals, and all kinds of figures."""
    labels = {name: list(dict.fromkeys((*mine.labels[name], *theirs.labels[name]))) for name in mine.names}
    return Grid.of(labels), max(mine.decimals, theirs.decimals), list(dict.fromkeys((*mine.kinds, *theirs.kinds)))


class PrintedFigures(NamedTuple):
    """The figures above 0 that a table prints: where, in which range, which value, and how they were made."""

    place: IntArray
    lower: FloatArray
    upper: FloatArray
    value: FloatArray
    kind: IntArray

    @classmethod
    def of(
        cls, part: Figures, grid: Grid, decimals: int, kinds: Sequence[Kind], *, every: bool = False
    ) -> PrintedFigures:
        """Return the figures of a table above 0, or ``every`` figure, in a grid that two tables share."""
        scale = float(10 ** (decimals - part.decimals))
        codes = zip(part.names, part.codes.T, strict=True)
        columns = {name: recode(part.labels[name], grid.labels[name])[code] for name, code in codes}
        lower, upper, value = (x.astype(np.float64) * scale for x in (*part.ranges(), part.values))
        kind = np.array([kinds.index(kind) for kind in part.kinds])[part.kind]
        shown = (~part.hidden & (upper - lower < UNBOUNDED) & (value > 0)) | every
        place = grid.encode([columns[name] for name in grid.labels])
        return cls(place[shown], lower[shown], upper[shown], value[shown], kind[shown])


def _again(work: JoinedTables, put: Bounds) -> Bounds | None:
    """Return the bounds of all protected figures, given narrower ranges of some; None if these are impossible."""
    closer = np.flatnonzero((put.lower != work.found.lower) | (put.upper != work.found.upper))
    if not closer.size:
        return put
    narrower = {int(i): (int(put.lower[i]), int(put.upper[i])) for i in closer}
    try:
        return work.judge.bound(work.equations.with_ranges(narrower), np.flatnonzero(work.protected))
    except InfeasibleError:
        return None
