"""The values of few respondents, enumerated: every multiset that fits all statistics of a group.

Medians, quantiles, extremes, variances and the Gini coefficient are no sums of figures. Where a group is small, all
values that its respondents can have are tried, with whatever is known of their number and their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError
from discreet.core.numerics import IntArray
from discreet.feasible.contradiction import reduced
from discreet.table.equations import Equations
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.statistic import OTHER, Statistic, StatisticColumn

MOST_RESPONDENTS = 20
"""The most respondents of a group whose values are enumerated."""
STEPS = 200_000
"""Values that are tried for one group: a fraction of a second. What takes more is left open, and called incomplete."""


@dataclass(frozen=True)
class Printed:
    """One statistic of a group, and the values that it was rounded from; an end may be open."""

    name: str
    statistic: Statistic
    low: Fraction
    high: Fraction
    open_low: bool
    open_high: bool
    text: str

    def admits(self, value: Fraction) -> bool:
        """Say whether a value rounds to what is printed."""
        above = value > self.low if self.open_low else value >= self.low
        return above and (value < self.high if self.open_high else value <= self.high)

    @property
    def single(self) -> bool:
        """Whether it is the value of one respondent, and rounding leaves no other."""
        if self.statistic.kind not in ("minimum", "maximum"):
            return False
        unit = 10**self.statistic.unit
        near = range(math.ceil(self.low * unit), math.floor(self.high * unit) + 1)
        return sum(self.admits(Fraction(value, unit)) for value in near[:3]) == 1

    def squared(self) -> Printed:
        """Return what a standard deviation says of the variance."""
        low = max(self.low, Fraction(0))
        return replace(self, low=low**2, high=self.high**2, open_low=self.open_low and self.low >= 0)


@dataclass(frozen=True)
class Respondents:
    """What statistics leave of the values of one group.

    ``count`` is the position of their number, ``sum_`` that of their sum or -1. ``sets`` is how many multisets of
    values fit, None where they were not enumerated, and ``only`` the one that does, if it is alone.
    """

    name: str
    count: int
    sum_: int
    statistics: tuple[Printed, ...]
    sets: int | None
    only: tuple[Fraction, ...] = ()
    counts: tuple[int, int] = (0, 0)
    sums: tuple[int, int] = (0, 0)
    alone: bool = True

    @property
    def single(self) -> tuple[Printed, ...]:
        """The statistics that are the value of one respondent."""
        return tuple(one for one in self.statistics if one.single)

    @property
    def words(self) -> str:
        """What is left, in words."""
        told = ", ".join(f"{one.name} {one.text}" for one in self.statistics)
        if self.single:
            return f"{self.single[0].name} {self.single[0].text} is the value of one respondent"
        if self.sets is None:
            return f"{told}: too many respondents or values to enumerate"
        if self.sets == 1:
            return f"{told}: only {', '.join(f'{float(value):g}' for value in self.only)} fits"
        more = "" if self.alone else "; groups that overlap were not taken together"
        return f"{told}: {self.sets:,} sets of values fit{more}"


class _StopError(Exception):
    """More values would have to be tried than are allowed."""


def with_respondents(equations: Equations, clock: Clock | None = None) -> tuple[Equations, tuple[Respondents, ...]]:
    """Return the equations with what few respondents' values leave of counts and sums, and what is left of the values.

    Raises:
        InfeasibleError: statistics contradict each other, or the figures.
    """
    if not any(column.statistic.of_values for column in equations.statistics) or equations.measured is None:
        return equations, ()
    left = reduced(equations)
    low, high = left.members(left.low, left.high)
    lower, upper, reasons = equations.lower.copy(), equations.upper.copy(), dict(equations.reasons)
    found = []
    for group in _groups(equations):
        one = group if clock is not None and clock.late else _enumerated(group, low, high)
        found.append(one)
        if one.sets is None:
            continue
        for at, ends in ((one.count, one.counts), (one.sum_, one.sums)):
            for side, (old, end) in enumerate(zip((low, high), ends, strict=True)):
                if at >= 0 and (end > old[at] if side == 0 else end < old[at]):
                    (lower, upper)[side][at] = end
                    reasons[at, bool(side)] = _because(one)
    return replace(equations, lower=lower, upper=upper, reasons=reasons), tuple(found)


def _because(one: Respondents) -> Callable[[], str]:
    return lambda: one.words


def unjudged(equations: Equations) -> list[str]:
    """Return the columns of statistics of which nothing is said, and so nothing is judged."""
    silent = [column.name for column in equations.statistics if column.statistic.kind == OTHER and len(column)]
    return [*equations.unjudged, *silent]


# --- groups ---------------------------------------------------------------------------------------------------


def _groups(equations: Equations) -> Iterator[Respondents]:
    """Yield every cell with statistics of values that are not linear, with all that is printed of it."""
    gathered: dict[tuple[str, int, int], list[Printed]] = {}
    for part in equations.parts:
        for column in part.statistics:
            if column.statistic.of_values or column.statistic.kind == "mean":
                _gather(equations, part, column, gathered)
    cells = [key for key, printed in gathered.items() if any(not one.statistic.linear for one in printed)]
    for key in cells:
        variable, count, sum_ = key
        overlaps = any(
            other != key and other[0] == variable and _overlap(equations, count, other[1]) for other in gathered
        )
        name = f"{variable} of {equations.describe(count)}"
        yield Respondents(name, count, sum_, tuple(gathered[key]), None, alone=not overlaps)


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


# --- enumeration ----------------------------------------------------------------------------------------------


def _enumerated(group: Respondents, low: IntArray, high: IntArray) -> Respondents:
    """Try all values of a group, given the ranges of its count and its sum."""
    least, most = int(low[group.count]), int(high[group.count])
    # Whatever has statistics has respondents.
    least = max(least, 1)
    if most > MOST_RESPONDENTS:
        return group
    unit = 10 ** max(one.statistic.unit for one in group.statistics)
    ends = (int(low[group.sum_]), int(high[group.sum_])) if group.sum_ >= 0 else (-UNBOUNDED, UNBOUNDED)
    steps = [STEPS]
    number, counts, sums = 0, [UNBOUNDED, -1], [UNBOUNDED, -UNBOUNDED]
    only: tuple[int, ...] = ()
    try:
        for n in range(least, most + 1):
            for values in multisets(n, group.statistics, unit, ends, steps):
                number, only = number + 1, values
                counts = [min(counts[0], n), max(counts[1], n)]
                sums = [min(sums[0], sum(values)), max(sums[1], sum(values))]
    except _StopError:
        return group
    if not number:
        told = ", ".join(f"{one.name} {one.text}" for one in group.statistics)
        raise InfeasibleError(
            f"no values of {least} to {most} respondents fit {group.name}: {told}; correct one of them, or say how "
            "they were rounded (rounding=, decimals=), and what values are possible (unit=, range=)"
        )
    kept = tuple(Fraction(value, unit) for value in only) if number == 1 else ()
    return replace(group, sets=number, only=kept, counts=(counts[0], counts[1]), sums=(sums[0], sums[1]))


def multisets(
    n: int, statistics: Sequence[Printed], unit: int, sums: tuple[int, int], steps: list[int]
) -> Iterator[tuple[int, ...]]:
    """Yield all values of n respondents, in units and in order, that fit statistics and lie in a range of sums.

    ``steps`` holds how many values may still be tried.

    >>> median = Printed("median", Statistic("median"), Fraction(1, 2), Fraction(3, 2), False, True, "1")
    >>> list(multisets(3, [median], 1, (4, 4), [100]))
    [(0, 1, 3), (1, 1, 2)]
    """
    low, high = _ranks(n, statistics, unit)
    least, most = sums
    for one in statistics:
        if one.statistic.kind == "mean":
            least = max(least, math.ceil(one.low * n * unit))
            most = min(most, math.floor(one.high * n * unit))
    if most >= UNBOUNDED and high[-1] >= UNBOUNDED:
        raise _StopError
    values = [0] * n

    def place(i: int, before: int, total: int) -> Iterator[tuple[int, ...]]:
        if i == n:
            if least <= total <= most and all(_fits(one, values, unit) for one in statistics):
                yield tuple(values)
            return
        first = max(low[i], before)
        # All that follow are at least as large, and at most as large as their ranks allow.
        last = min(high[i], (most - total) // (n - i) if most < UNBOUNDED else high[i])
        if i == n - 1:
            first = max(first, least - total)
        elif high[-1] < UNBOUNDED:
            first = max(first, least - total - sum(high[i + 1 :]))
        for value in range(first, last + 1):
            steps[0] -= 1
            if steps[0] < 0:
                raise _StopError
            values[i] = value
            yield from place(i + 1, value, total + value)

    yield from place(0, low[0], 0)


def _ranks(n: int, statistics: Sequence[Printed], unit: int) -> tuple[list[int], list[int]]:
    """Return between which units the value of each rank lies; refuse values without a least one."""
    least = [one.statistic.least for one in statistics]
    if any(end is None for end in least) and not any(one.statistic.kind == "minimum" for one in statistics):
        raise _StopError
    floor = max((end for end in least if end is not None), default=-UNBOUNDED)
    most = [one.statistic.most for one in statistics if one.statistic.most is not None]
    low, high = [floor * unit if floor > -UNBOUNDED else floor] * n, [min(most) * unit if most else UNBOUNDED] * n
    for one in statistics:
        rank = _rank(one.statistic, n)
        if rank is not None:
            low[rank] = max(low[rank], math.ceil(one.low * unit))
            high[rank] = min(high[rank], math.floor(one.high * unit))
    for i in range(1, n):
        low[i] = max(low[i], low[i - 1])
        high[n - 1 - i] = min(high[n - 1 - i], high[n - i])
    return low, high


def _rank(statistic: Statistic, n: int) -> int | None:
    """Return the rank whose value a statistic is, None where it is of several."""
    if statistic.kind == "minimum":
        return 0
    if statistic.kind == "maximum":
        return n - 1
    if statistic.kind == "median":
        return n // 2 if n % 2 else None
    if statistic.kind == "quantile":
        # The smallest value that at least this share of respondents do not exceed.
        return math.ceil(statistic.share * n) - 1
    return None


def statistic_of(kind: Statistic, values: Sequence[int], unit: int) -> Fraction | None:
    """Return a statistic of sorted values in units, the square of a standard deviation; None where there is none."""
    n, total = len(values), sum(values)
    rank = _rank(kind, n)
    if rank is not None:
        return Fraction(values[rank], unit)
    if kind.kind == "median":
        return Fraction(values[n // 2 - 1] + values[n // 2], 2 * unit)
    if kind.kind == "mean":
        return Fraction(total, n * unit)
    if kind.kind == "gini":
        weighted = sum((2 * i - n + 1) * value for i, value in enumerate(values))
        return Fraction(weighted, n * total) if total > 0 else None
    degrees = n if kind.kind.endswith("-n") else n - 1
    squares = sum(value * value for value in values) - Fraction(total * total, n)
    return squares / (degrees * unit**2) if degrees else None


def _fits(printed: Printed, values: Sequence[int], unit: int) -> bool:
    value = statistic_of(printed.statistic, values, unit)
    if value is None:
        return False
    return (printed.squared() if printed.statistic.kind.startswith("deviation") else printed).admits(value)
