"""Amounts that are all multiples of one step: what a reader works out who takes the hidden ones for multiples too.

Amounts in thousands that are written out are multiples of 1,000; weighted counts of a simple random sample are
multiples of the one weight. Two hidden amounts above 0 that add up to two steps are one step each, though their
feasibility interval holds many values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.auditing.findings import RANK, Findings
from discreet.auditing.judging import Judge
from discreet.auditing.knowledge import Knowledge
from discreet.auditing.limits import Limits, Reach
from discreet.core.numerics import IntArray
from discreet.core.sparse import row_of
from discreet.core.text import decimal_text
from discreet.feasible.candidates import Candidates, fitting
from discreet.table.equations import Equations
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT, UNBOUNDED

CHANCE = 1_000
"""Values are multiples of a step by design if chance makes them so less than once in so many tables."""
STEPS = "all amounts shown are multiples of"
IN_STEPS = (
    STEPS + " {0}, and to a reader who takes the hidden ones for multiples too {1} is {2}; give amounts or weights in "
    "units of {0}, and multiply what is published"
)


def common_step(parts: Sequence[Figures]) -> int:
    """Return the step of which all amounts shown are multiples, in units of the last decimal; 1 if there is none.

    Counts are in steps of 1 by what they are. Few values may have a common divisor by chance.

    >>> amounts = Figures.from_array([2000, 5000, 9000, 16000], {"x": ["a", "b", "c", "Total"]}, figure="turnover")
    >>> common_step([amounts])
    1000
    """
    if any(part.figure == "count" or part.measure or part.statistics for part in parts):
        return 1
    decimals = max(part.decimals for part in parts)
    shown = [part.values[part.where(lambda kind: kind == EXACT)] * 10 ** (decimals - part.decimals) for part in parts]
    distinct = np.unique(np.abs(np.concatenate(shown)))
    distinct = distinct[distinct > 0]
    step = int(np.gcd.reduce(distinct)) if distinct.size else 1
    return step if distinct.size * math.log(step) >= math.log(CHANCE) else 1


def equations_in(step: int, equations: Equations) -> Equations:
    """Return equations whose values count steps."""
    return replace(
        equations, lower=_least(equations.lower, step), upper=_most(equations.upper, step), inequalities=None
    )


def knowledge_in(step: int, known: Sequence[Knowledge]) -> list[Knowledge]:
    """Return what attackers know, in steps."""
    return [
        replace(
            one,
            low=_least(one.low, step),
            high=_most(one.high, step),
            own=np.where(one.own < 0, one.own, -(-one.own // step)),
            rival=one.rival / step,
        )
        for one in known
    ]


def judge_in(step: int, judge: Judge) -> Judge:
    """Return a judge of values that count steps, who asks for widths and risks, but not for levels.

    An amount of one step could reach no level below it.
    """
    limits = judge.limits
    reach, asked = judge.reach, judge.limits.levels is not None
    secret = np.isfinite(reach.low) if reach.sensitive is None and asked else reach.sensitive
    return replace(
        judge,
        equations=equations_in(step, judge.equations),
        limits=Limits(width=None if limits.width is None else limits.width / step, dr=limits.dr),
        reach=replace(Reach.nothing(reach.low.size), sensitive=secret),
        law="interval",
        fitting=None,
        # Without limits, all that counts is which amounts have a single value.
        apart=math.inf if limits.width is None and limits.dr is None else None,
    )


def candidates_in(step: int, candidates: Candidates) -> Candidates | None:
    """Return tables that count in steps, if the first one does; the others differ from it by as little as possible.

    What moves by several units in some direction, and fits, fits if it moves by one step that is no longer.
    """
    if (candidates.values % step).any():
        return None
    table = row_of(candidates.starts)
    together = np.zeros(candidates.starts.size - 1, np.int64)
    np.gcd.at(together, table, np.abs(candidates.by))
    return replace(candidates, values=candidates.values // step, by=candidates.by // together[table])


def in_doubt(
    judge: Judge, equations: Equations, known: Sequence[Knowledge], targets: IntArray, candidates: Candidates | None
) -> IntArray:
    """Return the attackers for whom no candidate shows that every target has several values.

    Everybody is in doubt if more is asked than that, or if candidates do not fit.
    """
    fits = None if judge.apart is None or candidates is None else fitting(equations, candidates)
    if fits is None or not known:
        return np.arange(len(known))
    reach = judge.reach
    targets = targets if reach.sensitive is None else targets[reach.sensitive[targets]]
    home, most = fits.home[targets], fits.seen[1][targets]
    low, high = reach.low.copy(), reach.high.copy()
    # One table with another value is enough; all of them are checked.
    low[targets], high[targets] = np.where(most > home, home, home - 1), np.where(most > home, home + 1, home)
    asking = replace(judge, limits=Limits(), reach=replace(reach, low=low, high=high), fitting=fits)
    # Of their own cells, attackers are asked about the others in them, and of what they know otherwise one by one.
    return asking.suspects(equations, known, targets)


def told_in_steps(step: int, findings: Findings, decimals: int) -> str:
    """Return what a reader who counts in steps works out; nothing if that is nothing."""
    if not (findings.rank != RANK["safe"]).any():
        return ""
    worst = int(findings.order[0])
    ends = [f"{end * step:,.10g}" for end in (findings.lower[worst], findings.upper[worst])]
    name = findings.equations.describe(int(findings.at[worst]))
    return IN_STEPS.format(decimal_text(step, decimals), name, ends[0] if ends[0] == ends[1] else " to ".join(ends))


def _least(values: IntArray, step: int) -> IntArray:
    """Return lower ends in steps, rounded up; ends that are open stay open."""
    found: IntArray = np.where(np.abs(values) >= UNBOUNDED, values, -(-values // step))
    return found


def _most(values: IntArray, step: int) -> IntArray:
    """Return upper ends in steps, rounded down; ends that are open stay open."""
    found: IntArray = np.where(np.abs(values) >= UNBOUNDED, values, values // step)
    return found
