"""Releases that describe the same values again: a revision, or another release that prints nearly the same figures.

A revision corrects some figures and leaves most as they were. Where nothing that both say contradicts, they are put
into one set of equations like any others. Where something does, a figure that one release hides and the other prints is
known, up to the revision: what both leave of a protected figure is put together, and where ranges do not meet, it was
corrected, and nothing follows. What is known in this way is put into either release, and its other protected figures
are bounded again.

The same is asked of releases about other times or populations if at least half of the figures that both print are
equal: a reader who takes a hidden figure for the one that the other release prints may well be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from discreet.auditing.findings import Findings
from discreet.core.errors import DataError, InfeasibleError
from discreet.core.numerics import IntArray
from discreet.decide.ledger.entry import Sheet
from discreet.decide.ledger.findings import Finding, between
from discreet.decide.ledger.joined_tables import JoinedTables, faults_of, lay
from discreet.decide.ledger.joint import Joint, joint_findings
from discreet.decide.ledger.settings import Settings
from discreet.feasible.bounds import Bounds
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED


def alike(new: Sequence[Sheet], old: Sequence[Sheet]) -> str:
    """Say how many figures two releases both print alike, if these are half of them or more; nothing otherwise."""
    same, both = _equal([sheet.figures for sheet in new], [sheet.figures for sheet in old])
    return f"{same:,} of {both:,} figures above 0 that both print are equal" if same and 2 * same >= both else ""


def same_values(
    new: Sequence[Sheet], earlier: Sequence[Sheet], old: Sequence[Sheet], settings: Settings, why: str
) -> Joint:
    """Return what follows if an older release describes the same values as a new one and those beside it.

    Args:
        new: the tables of the new release.
        earlier: those of earlier releases about the same population and time.
        old: those of the older release.
        settings: what counts as given away.
        why: the reason for taking the values to be the same.
    """
    about = new[0].entry
    entry = replace(old[0].entry, population=about.population, period=about.period)
    theirs = [replace(sheet, entry=entry) for sheet in old]
    try:
        return joint_findings(new, [*earlier, *theirs], settings)
    except (DataError, InfeasibleError):
        # Some figures were corrected.
        pass
    found = carried([*earlier, *new], theirs, settings, why)
    if earlier and found.findings:
        known = {(f.name, f.lower, f.upper) for f in carried(earlier, theirs, settings, why).findings}
        more = tuple(f for f in found.findings if (f.name, f.lower, f.upper) not in known)
        found = replace(found, findings=more)
    others = _not_repeated([*earlier, *new], theirs)
    if not others:
        return found
    text = (
        f"«{entry.title}» and «{about.title}» were taken to describe the same values ({why}), but contradict each "
        f"other, and the later one does not repeat {_and(others)}, so that their differences could not be checked; "
        "publish that anew with the corrected figures, and check it first"
    )
    return replace(found, unjudged=(*found.unjudged, text))


def _not_repeated(new: Sequence[Sheet], old: Sequence[Sheet]) -> list[str]:
    """Return the dimensions of the older tables whose cells are not all in a newer one."""
    found = []
    for sheet in old:
        part = sheet.figures
        if not any(
            all(
                name in other.figures.names and set(part.labels[name]) - {part.total} <= set(other.figures.labels[name])
                for name in part.names
            )
            for other in new
        ):
            found.append(" × ".join(part.names))
    return list(dict.fromkeys(found))


def carried(new: Sequence[Sheet], old: Sequence[Sheet], settings: Settings, why: str) -> Joint:
    """Return the protected figures that either side gives away if the other describes the same values."""
    every = [sheet.figures for sheet in (*new, *old)]
    if not any((ends[0] < ends[1]).any() for ends in (part.ranges() for part in every)):
        return Joint()
    pair = [JoinedTables(lay(sheets), settings) for sheets in (new, old)]
    titles = tuple(dict.fromkeys(sheet.entry.title for sheet in (*old, *new)))
    if pair[0].scale != pair[1].scale:
        text = (
            f"{_names(titles)} were taken to describe the same values ({why}) but print different numbers of decimals, "
            "so that hidden figures could not be compared; publish them with the same decimals"
        )
        return Joint(unjudged=(text,))
    here, there = _shared(*pair)
    lower = np.maximum(pair[0].found.lower[here], pair[1].found.lower[there])
    upper = np.minimum(pair[0].found.upper[here], pair[1].found.upper[there])
    seen: dict[str, Finding] = {}
    clash = False
    for work, at, other in ((pair[0], here, pair[1]), (pair[1], there, pair[0])):
        meets = work.protected[at] & (lower <= upper)
        put = _put(work, at[meets], lower[meets], upper[meets])
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
    texts = [
        f"{_names(titles)} were taken to describe the same values ({why}), but some were corrected, and nobody can "
        "tell which, so that what follows from the others together could not be judged; hide in the later one what the "
        "first hid, and nothing else"
    ]
    return Joint(tuple(seen.values()), sum(work.unfinished() for work in pair), tuple(texts if clash else ()))


def _finding(
    work: JoinedTables, other: JoinedTables, found: Bounds, judged: Findings, k: int, titles: tuple[str, ...], why: str
) -> Finding:
    """Return a figure that is known too well, with what either side says of it."""
    i = int(judged.at[k])
    ends, left = work.ends(i, found), work.ends(i)
    at = int(other.equations.locate(_positions(work, other, np.array([i])))[0])
    theirs = other.ends(at) if at >= 0 else None
    printed = (
        f"{between(*ends)} by {_titles(other)}"
        if theirs == ends
        else f"what is left of it with the figures of {_titles(other)} put in"
    )
    name = work.equations.describe(i)
    relation = "=" if ends[0] == ends[1] else "between"
    text = f"{name} {relation} {between(*ends)}: between {between(*left)} by {_titles(work)}, {printed}; {why}"
    return Finding(work.equations.cell(i), name, *ends, left, "together", faults_of(judged, k), titles, (), text)


def _titles(work: JoinedTables) -> str:
    return _names(tuple(dict.fromkeys(sheet.entry.title for sheet in work.sheets)))


def _names(titles: Sequence[str]) -> str:
    return _and([f"«{title}»" for title in titles])


def _and(texts: Sequence[str]) -> str:
    """Return texts as a phrase.

    >>> _and(["a"]), _and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _positions(work: JoinedTables, other: JoinedTables, at: IntArray) -> IntArray:
    return work.equations.space.translate(work.equations.positions[at], other.equations.space)


def _shared(new: JoinedTables, old: JoinedTables) -> tuple[IntArray, IntArray]:
    """Return where the positions stand that both releases have."""
    there = old.equations.locate(_positions(new, old, np.arange(new.equations.positions.size)))
    here = np.flatnonzero(there >= 0)
    return here, there[here]


def _equal(new: Sequence[Figures], old: Sequence[Figures]) -> tuple[int, int]:
    """Return how many figures above 0 tables of the same dimensions both print, and how many of these are equal.

    Figures that were made alike, by rounding to the same base for one, are equal if they are printed so; others if
    one value can be behind both.
    """
    same = both = 0
    for mine, theirs in product(new, old):
        if set(mine.names) != set(theirs.names):
            continue
        size = 1
        places = np.zeros(len(mine), np.int64), np.zeros(len(theirs), np.int64)
        for name in mine.names:
            code = {label: k for k, label in enumerate(dict.fromkeys((*mine.labels[name], *theirs.labels[name])))}
            for part, place in zip((mine, theirs), places, strict=True):
                column = np.array([code[label] for label in part.labels[name]])[part.codes[:, part.names.index(name)]]
                place += size * column
            size *= len(code)
        unit = max(mine.decimals, theirs.decimals)
        scales = [float(10 ** (unit - part.decimals)) for part in (mine, theirs)]
        ends = [np.array(part.ranges()) * scale for part, scale in zip((mine, theirs), scales, strict=True)]
        values = [part.values * scale for part, scale in zip((mine, theirs), scales, strict=True)]
        printed = [
            np.flatnonzero(~part.hidden & (ranges[1] - ranges[0] < UNBOUNDED) & (value > 0))
            for part, ranges, value in zip((mine, theirs), ends, values, strict=True)
        ]
        _, at, by = np.intersect1d(places[0][printed[0]], places[1][printed[1]], return_indices=True)
        at, by = printed[0][at], printed[1][by]
        kinds = {kind: k for k, kind in enumerate(dict.fromkeys((*mine.kinds, *theirs.kinds)))}
        made = [np.array([kinds[kind] for kind in part.kinds])[part.kind] for part in (mine, theirs)]
        meet = (ends[0][0][at] <= ends[1][1][by]) & (ends[1][0][by] <= ends[0][1][at])
        meet &= (values[0][at] == values[1][by]) | (made[0][at] != made[1][by])
        both += at.size
        same += int(np.count_nonzero(meet))
    return same, both


def _put(work: JoinedTables, at: IntArray, lower: IntArray, upper: IntArray) -> Bounds:
    """Return what is left of figures with other ranges put in place of their own."""
    low, high = work.found.lower.copy(), work.found.upper.copy()
    low[at], high[at] = lower, upper
    return replace(work.found, lower=low, upper=high)


def _again(work: JoinedTables, put: Bounds) -> Bounds | None:
    """Return the bounds of all protected figures once narrower ranges of some are put in; None where that cannot be."""
    closer = np.flatnonzero((put.lower != work.found.lower) | (put.upper != work.found.upper))
    if not closer.size:
        return put
    narrower = {int(i): (int(put.lower[i]), int(put.upper[i])) for i in closer}
    try:
        return work.judge.bound(work.equations.with_ranges(narrower), np.flatnonzero(work.protected))
    except InfeasibleError:
        return None
