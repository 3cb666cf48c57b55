"""Releases that describe the same values again: a revision, or another release that prints nearly the same figures.

A revision corrects some figures and leaves most as they were. So a figure that one release hides and the other prints
is known, up to the revision. Each release is bounded by itself, and what both leave of a protected figure is put
together: where ranges meet, the figure lies in both; where they do not, it was revised, and nothing follows. What is
known in this way is put into either release, and its other protected figures are bounded again.

The same holds for releases about other times or populations if most of the figures that both print are equal: a reader
who takes a hidden figure for the one that the other release prints is right more often than not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.core.numerics import IntArray
from discreet.decide.ledger.findings import Finding, between
from discreet.decide.ledger.joint import Settings, Sheet, Work, lay, told_ends
from discreet.feasible.bounds import bounds
from discreet.table.figures import Figures

FEWEST = 4
"""How many figures above 0 both releases must print before it is said that most are equal."""


def carried(new: Sequence[Sheet], old: Sequence[Sheet], settings: Settings, *, stated: bool) -> tuple[Finding, ...]:
    """Return the protected figures that either release gives away if the other describes the same values.

    Args:
        new: the tables of one release.
        old: the tables of the other.
        settings: what counts as given away.
        stated: whether one is said to revise the other; otherwise most figures that both print must be equal.
    """
    every = [sheet.figures for sheet in (*new, *old)]
    if not any((ends[0] < ends[1]).any() for ends in (part.ranges() for part in every)):
        return ()
    same, both = _alike([sheet.figures for sheet in new], [sheet.figures for sheet in old])
    if not stated and not (both >= FEWEST and 2 * same > both):
        return ()
    why = (
        "one release revises the other, and what it does not correct stays as it was"
        if stated
        else f"{same:,} of {both:,} figures above 0 that both releases print are equal"
    )
    pair = [Work(lay(sheets), settings) for sheets in (new, old)]
    if pair[0].scale != pair[1].scale:
        return ()
    here, there = _shared(*pair)
    lower = np.maximum(pair[0].found.lower[here], pair[1].found.lower[there])
    upper = np.minimum(pair[0].found.upper[here], pair[1].found.upper[there])
    titles = tuple(dict.fromkeys(sheet.entry.title for sheet in (*old, *new)))
    seen: dict[str, Finding] = {}
    for work, at, other, where in ((pair[0], here, pair[1], there), (pair[1], there, pair[0], here)):
        meets = work.protected[at] & (lower <= upper)
        found = [(int(i), int(lo), int(hi)) for i, lo, hi in zip(at[meets], lower[meets], upper[meets], strict=True)]
        by = dict(zip(at[meets].tolist(), where[meets].tolist(), strict=True))
        for i, lo, hi in [*found, *_again(work, found)]:
            own = _fault(work, int(work.found.lower[i]), int(work.found.upper[i]))
            if own or not (fault := _fault(work, lo, hi)):
                continue
            ends, left = told_ends(lo, hi, work.scale), told_ends(*_ends(work, i), work.scale)
            title = work.sheets[0].entry.title
            printed = (
                f"{between(*told_ends(*_ends(other, by[i]), work.scale))} by «{other.sheets[0].entry.title}»"
                if i in by and _ends(other, by[i]) == (lo, hi)
                else f"what is left of it with the figures of «{other.sheets[0].entry.title}» put in"
            )
            name = work.equations.describe(i)
            relation = "=" if lo == hi else "between"
            text = f"{name} {relation} {between(*ends)}: between {between(*left)} by «{title}», {printed}; {why}"
            if name not in seen or not seen[name].exact:
                seen[name] = Finding(work.equations.cell(i), name, *ends, left, "together", fault, titles, (), text)
    return tuple(seen.values())


def _shared(new: Work, old: Work) -> tuple[IntArray, IntArray]:
    """Return where the positions stand that both releases have."""
    positions = new.equations.space.translate(new.equations.positions, old.equations.space)
    there = old.equations.locate(positions)
    here = np.flatnonzero(there >= 0)
    return here, there[here]


def _alike(new: Sequence[Figures], old: Sequence[Figures]) -> tuple[int, int]:
    """Return how many figures above 0 tables of the same dimensions both print, and how many of these are equal."""
    same = both = 0
    for mine, theirs in product(new, old):
        if set(mine.names) != set(theirs.names) or mine.decimals != theirs.decimals:
            continue
        size = 1
        places = np.zeros(len(mine), np.int64), np.zeros(len(theirs), np.int64)
        for name in mine.names:
            code = {label: k for k, label in enumerate(dict.fromkeys((*mine.labels[name], *theirs.labels[name])))}
            for part, place in zip((mine, theirs), places, strict=True):
                column = np.array([code[label] for label in part.labels[name]])[part.codes[:, part.names.index(name)]]
                place += size * column
            size *= len(code)
        printed = [np.flatnonzero((ends[0] == ends[1]) & (ends[0] > 0)) for ends in (mine.ranges(), theirs.ranges())]
        _, at, by = np.intersect1d(places[0][printed[0]], places[1][printed[1]], return_indices=True)
        both += at.size
        same += int(np.count_nonzero(mine.values[printed[0]][at] == theirs.values[printed[1]][by]))
    return same, both


def _again(work: Work, known: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the bounds of all protected figures once ranges of some are put in; none where that cannot be."""
    narrower = {i: (lo, hi) for i, lo, hi in known if (lo, hi) != _ends(work, i)}
    if not narrower:
        return []
    targets = np.flatnonzero(work.protected)
    s = work.settings
    try:
        found = bounds(
            work.equations.with_ranges(narrower),
            targets,
            time_limit=s.time_limit,
            workers=s.workers,
            progress=s.progress,
        )
    except InfeasibleError:
        # Some of these were revised; which, nobody can tell.
        return []
    return [(int(i), int(found.lower[i]), int(found.upper[i])) for i in targets]


def _ends(work: Work, i: int) -> tuple[int, int]:
    return int(work.found.lower[i]), int(work.found.upper[i])


def _fault(work: Work, lower: int, upper: int) -> str:
    """Say what is wrong with a protected figure between two ends, nothing if it is safe."""
    return work.settings.reason(float(upper - lower + 1), work.scale)
