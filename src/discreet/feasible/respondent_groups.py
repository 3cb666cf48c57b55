"""Groups of few respondents: which cells have statistics of values, which overlap, and what is left of the values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import IntArray
from discreet.feasible.contradiction import reduced
from discreet.feasible.overlapping_groups import taken_together
from discreet.feasible.respondent_values import Printed, RespondentGroup, enumerated
from discreet.table.equations import Equations
from discreet.table.figures import Figures
from discreet.table.statistic import OTHER, StatisticColumn

Key = tuple[str, int, int]
"""The variable of a group, and the positions of its count and of its sum."""
Ranges = dict[int, tuple[int, int]]
"""The ends of counts and sums, by their positions."""


def with_respondents(equations: Equations, clock: Clock | None = None) -> tuple[Equations, tuple[RespondentGroup, ...]]:
    """Return the equations with what few respondents' values leave of counts and sums, and what is left of the values.

    Raises:
        InfeasibleError: statistics contradict each other, or the figures.
    """
    if not any(column.statistic.of_values for column in equations.statistics) or equations.measured is None:
        return equations, ()
    left = reduced(equations)
    low, high = left.members(left.low, left.high)
    lower, upper, reasons = equations.lower.copy(), equations.upper.copy(), dict(equations.reasons)
    found: list[RespondentGroup] = []
    for groups, ranges, words in _judged(equations, low, high, clock):
        found += groups
        for at, ends in ranges.items():
            for side, (old, end) in enumerate(zip((low, high), ends, strict=True)):
                if end > old[at] if side == 0 else end < old[at]:
                    (lower, upper)[side][at] = end
                    reasons[at, bool(side)] = partial(str, words)
    return replace(equations, lower=lower, upper=upper, reasons=reasons), tuple(found)


def unjudged(equations: Equations) -> list[str]:
    """Return the columns of statistics without a definition, which are not judged."""
    silent = [column.name for column in equations.statistics if column.statistic.kind == OTHER and len(column)]
    return [*equations.unjudged, *silent]


# --- groups ---------------------------------------------------------------------------------------------------


def _judged(
    equations: Equations, low: IntArray, high: IntArray, clock: Clock | None
) -> Iterator[tuple[Sequence[RespondentGroup], Ranges, str]]:
    """Yield what is left of groups, of their counts and their sums, and why; overlapping ones are judged together."""
    gathered: dict[Key, list[Printed]] = {}
    for part in equations.parts:
        for column in part.statistics:
            if column.statistic.of_values or column.statistic.kind == "mean":
                _gather(equations, part, column, gathered)
    open_ = {key[0] for key in gathered if _is_open(equations, key, low, high)}
    for keys in _clusters(equations, list(gathered), open_):
        groups = [_group(equations, key, gathered[key], keys) for key in keys]
        asked = [k for k, one in enumerate(groups) if _is_asked(one, low, high)]
        if not asked:
            continue
        late = clock is not None and clock.late
        if len(groups) > 1 and not late and (found := taken_together(equations, groups, low, high, asked)) is not None:
            yield *found, "values of respondents that fit all statistics of groups that overlap"
            continue
        for k in asked:
            one = replace(groups[k], loose=True) if late else enumerated(groups[k], low, high)
            # Counts that are open in several groups may be tied to each other.
            one = replace(one, loose=one.loose or (len(keys) > 1 and keys[k][0] in open_))
            known = {} if one.sets is None else {one.count: one.counts, one.sum_: one.sums}
            yield [one], {at: ends for at, ends in known.items() if at >= 0}, one.words


def _group(equations: Equations, key: Key, printed: Sequence[Printed], others: Sequence[Key]) -> RespondentGroup:
    variable, count, sum_ = key
    alone = not any(_overlap(equations, count, other[1]) for other in others if other != key)
    name, judged = f"{variable} of {equations.describe(count)}", _sum_judged(equations, sum_)
    return RespondentGroup(name, count, sum_, tuple(printed), None, alone=alone, sum_judged=judged)


def _sum_judged(equations: Equations, sum_: int) -> bool:
    """Say whether the sum of a group is a published figure, and not one that nobody shows."""
    published = 0 if equations.measured is None else equations.measured.published
    return 0 <= sum_ < published * equations.positions.size


def _is_open(equations: Equations, key: Key, low: IntArray, high: IntArray) -> bool:
    """Say whether the number of respondents of a group, or their published sum, is not known."""
    _, count, sum_ = key
    return bool(low[count] < high[count] or (_sum_judged(equations, sum_) and low[sum_] < high[sum_]))


def _is_asked(group: RespondentGroup, low: IntArray, high: IntArray) -> bool:
    """Say whether values are asked about: where something else than a mean is printed, or a mean may say them all.

    It does of one respondent, and where all of them, but for one unit of one of them, have the least or the largest
    value that there is: any other sum is that of several values.
    """
    if any(not one.statistic.linear for one in group.statistics) or int(high[group.count]) == 1:
        return True
    count, sum_ = group.count, group.sum_
    if sum_ < 0 or low[count] < high[count] or low[sum_] < high[sum_]:
        return False
    one, n, total = group.statistics[0].statistic, int(low[count]), int(low[sum_])
    least, most = (None if end is None else n * end * 10**one.unit for end in (one.least, one.most))
    return (least is not None and total <= least + 1) or (most is not None and total >= most - 1)


def _clusters(equations: Equations, keys: list[Key], open_: set[str]) -> list[list[Key]]:
    """Return the groups of each variable together that overlap, also through others, or whose counts are open."""
    found: list[list[Key]] = []
    for key in keys:
        near = [
            one
            for one in found
            if any(key[0] == k[0] and (key[0] in open_ or _overlap(equations, key[1], k[1])) for k in one)
        ]
        found = [one for one in found if one not in near]
        found.append([*(k for one in near for k in one), key])
    return found


def _gather(
    equations: Equations,
    part: Figures,
    column: StatisticColumn,
    gathered: dict[tuple[str, int, int], list[Printed]],
) -> None:
    measured, statistic = equations.measured, column.statistic
    if measured is None:
        return
    variable = statistic.of or statistic.variable
    counts = measured.variables(part, column.codes, measured.measure(part, statistic.per), {})
    named = statistic.of or (statistic.sum_name if statistic.sum_name in equations.measures else "")
    sums = np.full(counts.size, -1)
    if named:
        number = equations.measures.index(named) if not statistic.of else measured.measure(part, named)
        sums = measured.variables(part, column.codes, number, {})
    ends, per = column.admitted, 2 * 10**column.decimals
    for row, (count, sum_) in enumerate(zip(counts.tolist(), sums.tolist(), strict=True)):
        low, high = Fraction(int(ends.low[row]), per), Fraction(int(ends.high[row]), per)
        opened = bool(ends.open_low[row]), bool(ends.open_high[row])
        printed = Printed(column.name, statistic, low, high, *opened, column.text(row))
        gathered.setdefault((variable, count, sum_), []).append(printed)


def _overlap(equations: Equations, one: int, other: int) -> bool:
    """Say whether two cells can have respondents in common: unless some dimension keeps them apart."""
    size = equations.positions.size
    codes = [equations.space.grid.decode(equations.positions[[i % size]]) for i in (one, other)]
    for axis, mine, theirs in zip(equations.space.axes, *codes, strict=True):
        if not axis.under[int(mine[0])] & axis.under[int(theirs[0])]:
            return False
    return True
