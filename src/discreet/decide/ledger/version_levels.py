"""Protection levels across versions: how closely a reader of all of them, who knows what was corrected, knows cells.

The equations are those of all versions together. A cell that misses its level by what was published before and by the
corrections alone misses it whatever the new version hides; any other one can be mended by hiding more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from discreet.auditing.judging import Ends
from discreet.auditing.levels import reach_of
from discreet.auditing.limits import FAULTS, Level, Limits
from discreet.core.clock import Clock
from discreet.core.errors import RequestError
from discreet.core.text import many, number_text
from discreet.decide.ledger.check_result import LedgerFinding, between
from discreet.decide.ledger.corrections import OtherVersion, TruePair, put_together, taken
from discreet.decide.ledger.entry import PublishedTable
from discreet.decide.ledger.joined_tables import faults_of, lay
from discreet.decide.ledger.joint import Joint
from discreet.decide.ledger.revision import TOGETHER, as_of, not_joined
from discreet.decide.ledger.settings import Settings
from discreet.table.equations import Equations, equations_of

CellLevels: TypeAlias = Mapping[tuple[tuple[str, str], ...], Level]
NAMED = 5
"""How many cells a text names."""
UNTOLD = (
    "whether sensitive cells keep their protection levels to a reader of all versions was not shown, as nothing says "
    "what was corrected; give the true tables of all (--original FILE; originals=; in a plan of [records], records of "
    "[previous])"
)
"""What is left open without true tables."""
UNPLACED = "the protection levels of {} could not be judged beside other versions: no table has the dimensions of {}"
"""What is left open where levels are stated for cells that are in no equation."""


@dataclass(frozen=True)
class LevelsMissed:
    """What hiding more can mend or nobody judged, and in words which cells miss their levels whatever is hidden."""

    joint: Joint = field(default_factory=Joint)
    closer: tuple[str, ...] = ()


def levels_missed(
    new: Sequence[PublishedTable],
    old: Sequence[Sequence[PublishedTable]],
    originals: Sequence[TruePair],
    levels: CellLevels,
    settings: Settings,
) -> LevelsMissed:
    """Return which cells of a new version do not keep their levels to a reader of older ones, too.

    ``originals`` are the true tables behind each older one, and behind the new one. The reader knows of each two
    versions which of the finest cells went up, and which down.
    """
    limits = Limits()
    clock = Clock.within(TOGETHER) if settings.clock.deadline is None else settings.clock
    settings = replace(settings, limits=limits, clock=clock)
    about = new[0].entry
    laid = lay(as_of([sheet for sheets in (*old, new) for sheet in sheets], about.population, about.period))
    if open_ := not_joined(laid, settings):
        return LevelsMissed(Joint(unjudged=(open_,)))
    ends = np.cumsum([0, *(len(sheets) for sheets in (*old, new))]).tolist()
    *theirs, main = (laid[start:end] for start, end in pairwise(ends))
    others = [OtherVersion.of(main, one, pair, laid) for one, pair in zip(theirs, originals, strict=True)]
    both, alone = (_stated(others, main, shown=shown) for shown in (True, False))
    known, lost = _placed(both, levels)
    judge = replace(settings.judge(both), reach=reach_of(both, known, None, None, None))
    targets = np.flatnonzero(~np.isnan(judge.reach.low))
    found = judge.verdict_only(both, targets).findings
    wrong = found.faults.any(axis=1)
    missed = found.taken(np.flatnonzero(wrong))
    bounded = judge.bound(alone, missed.at)
    left = Ends.of(bounded, missed.at)
    without = left.low / judge.scale, left.high / judge.scale
    exact, *short = (missed.faults[:, FAULTS.index(name)] for name in ("exact", "lower", "upper"))
    low, high = (side | exact for side in short)
    # Nothing more may follow about an end that is too close.
    same = (~low | (missed.lower == without[0])) & (~high | (missed.upper == without[1]))
    sure = missed.finished & bounded.finished[missed.at]
    titles = tuple(dict.fromkeys(sheet.entry.title for sheet in laid))
    findings, closer = [], []
    for k in np.flatnonzero(sure).tolist():
        i = int(missed.at[k])
        name, ends = both.describe(i), (float(missed.lower[k]), float(missed.upper[k]))
        if same[k]:
            closer.append(f"{name} {_said(*ends, low=bool(low[k]), high=bool(high[k]))}")
            continue
        why = faults_of(missed, k)
        text = f"{name} {_said(*ends)} by all versions of «{about.title}» together; {why}"
        before = float(without[0][k]), float(without[1][k])
        findings.append(LedgerFinding(both.cell(i), name, *ends, before, "together", why, titles, (), text))
    unfinished = int(np.count_nonzero(~found.finished & ~wrong) + np.count_nonzero(~sure))
    unjudged = (UNPLACED.format(many(len(lost), "sensitive cell"), lost[0]),) if lost else ()
    return LevelsMissed(Joint(tuple(findings), unfinished, unjudged), _told(closer))


def _stated(others: Sequence[OtherVersion], main: Sequence[PublishedTable], *, shown: bool) -> Equations:
    """State all versions together, with the figures of the new one or without them."""
    mine = [part if shown else taken(part, np.zeros(len(part), bool)) for part in (one.figures for one in main)]
    parts = [*(sheet.figures for other in others for sheet in other.unchanged), *mine]
    plain = [replace(part, statistics=()) for part in parts]
    return put_together(others, equations_of(plain, on=others[0].layout))


def _placed(equations: Equations, levels: CellLevels) -> tuple[CellLevels, list[str]]:
    """Return the levels of cells that equations state, and the names of the others."""
    found, lost = dict(levels), []
    for cell in levels:
        try:
            equations.find(dict(cell))
        except RequestError:
            del found[cell]
            lost.append(", ".join(f"{name}={code}" for name, code in cell))
    return found, lost


def _said(lower: float, upper: float, *, low: bool = True, high: bool = True) -> str:
    """Say what is known of a cell: of one end of its interval, or of both."""
    if low and high:
        return f"{'=' if lower == upper else 'between'} {between(lower, upper)}"
    return f"at least {number_text(lower)}" if low else f"at most {number_text(upper)}"


def _told(closer: Sequence[str]) -> tuple[str, ...]:
    """Name the cells that are known too closely whatever is hidden."""
    if not closer:
        return ()
    more = f"; and {len(closer) - NAMED:,} more" if len(closer) > NAMED else ""
    return (
        "Readers of all versions know more closely than protection levels allow from what was printed before, whatever "
        f"is hidden now: {'; '.join(closer[:NAMED])}{more} ({many(len(closer), 'sensitive cell')}). Nothing closer "
        "follows with this version",
    )
