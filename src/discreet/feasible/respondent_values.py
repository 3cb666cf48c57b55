"""The values of few respondents, enumerated: every multiset that fits all statistics of a group.

Medians, quantiles, extremes, variances and the Gini coefficient are not sums of figures. Where a group is small, all
values that its respondents can have are tried, with whatever is known of their number and their sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.core.errors import InfeasibleError
from discreet.core.numerics import IntArray
from discreet.table.kinds import UNBOUNDED
from discreet.table.statistic import Statistic

MOST_RESPONDENTS = 20
"""The most respondents of a group whose values are enumerated: a round choice; the steps below end what takes long."""
STEPS = 200_000
"""The most values tried for one group: a fraction of a second. What would take more is left open, and called
incomplete."""


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
        """Whether it is the value of a single respondent, and rounding leaves no other."""
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
class RespondentGroup:
    """What statistics leave of the values of one group.

    ``count`` is the position of their number, ``sum_`` that of their sum or -1. ``sets`` is how many multisets of
    values fit, None where they were not enumerated, and ``only`` the one that does, if it is alone. ``alone`` is false
    where groups that overlap with it were left aside, and ``beside`` says which were taken together with it. ``loose``
    is true where ranges do not hold all that is found of counts and, where ``sum_judged``, of sums: some value between
    the ends is ruled out, or one depends on the other.
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
    beside: str = ""
    sum_judged: bool = False
    loose: bool = False

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
            found = ", ".join(f"{float(value):g}" for value in self.only)
            return f"{told or self.name}: only {found} fits{self.beside}"
        more = "" if self.alone else "; groups that overlap were not taken together"
        return f"{told}: {self.sets:,} sets of values fit{self.beside}{more}"


class StopError(Exception):
    """More values would have to be tried than are allowed."""


# --- enumeration ----------------------------------------------------------------------------------------------


def enumerated(group: RespondentGroup, low: IntArray, high: IntArray) -> RespondentGroup:
    """Try all values of a group, given the ranges of its count and its sum."""
    least, most = int(low[group.count]), int(high[group.count])
    # Whatever has statistics has respondents.
    least = max(least, 1)
    if most > MOST_RESPONDENTS:
        return replace(group, loose=least < most)
    unit = 10 ** max(one.statistic.unit for one in group.statistics)
    ends = (int(low[group.sum_]), int(high[group.sum_])) if group.sum_ >= 0 else (-UNBOUNDED, UNBOUNDED)
    steps = [STEPS]
    number, seen = 0, set()
    only: tuple[int, ...] = ()
    try:
        for n in range(least, most + 1):
            for values in multisets(n, group.statistics, unit, ends, steps):
                number, only = number + 1, values
                seen.add((n, sum(values)))
    except StopError:
        return replace(group, loose=least < most)
    if not number:
        told = ", ".join(f"{one.name} {one.text}" for one in group.statistics)
        raise InfeasibleError(
            f"no values of {least} to {most} respondents fit {group.name}: {told}; correct one of them, or say how "
            "they were rounded (rounding=, decimals=), and what values are possible (unit=, range=)"
        )
    kept = tuple(Fraction(value, unit) for value in only) if number == 1 else ()
    counts, sums = ({pair[k] for pair in seen} for k in (0, 1))
    loose = gaps(counts) or (group.sum_judged and (gaps(sums) or min(len(counts), len(sums)) > 1))
    least, most = min(counts), max(counts)
    return replace(group, sets=number, only=kept, loose=loose, counts=(least, most), sums=(min(sums), max(sums)))


def gaps(values: set[int]) -> bool:
    """Say whether some value between the ends is not among them.

    >>> gaps({2, 4}), gaps({2, 3})
    (True, False)
    """
    return max(values) - min(values) >= len(values)


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
        raise StopError
    values = [0] * n

    def place(i: int, before: int, total: int) -> Iterator[tuple[int, ...]]:
        if i == n:
            if least <= total <= most and all(fits(one, values, unit) for one in statistics):
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
                raise StopError
            values[i] = value
            yield from place(i + 1, value, total + value)

    yield from place(0, low[0], 0)


def _ranks(n: int, statistics: Sequence[Printed], unit: int) -> tuple[list[int], list[int]]:
    """Return between which units the value of each rank lies; refuse values without a least one."""
    least = [one.statistic.least for one in statistics]
    if any(end is None for end in least) and not any(one.statistic.kind == "minimum" for one in statistics):
        raise StopError
    floor = max((end for end in least if end is not None), default=-UNBOUNDED)
    most = [one.statistic.most for one in statistics if one.statistic.most is not None]
    low, high = [floor * unit if floor > -UNBOUNDED else floor] * n, [min(most) * unit if most else UNBOUNDED] * n
    for one in statistics:
        rank = rank_of(one.statistic, n)
        if rank is not None:
            low[rank] = max(low[rank], math.ceil(one.low * unit))
            high[rank] = min(high[rank], math.floor(one.high * unit))
    for i in range(1, n):
        low[i] = max(low[i], low[i - 1])
        high[n - 1 - i] = min(high[n - 1 - i], high[n - i])
    return low, high


def rank_of(statistic: Statistic, n: int) -> int | None:
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
    rank = rank_of(kind, n)
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


def fits(printed: Printed, values: Sequence[int], unit: int) -> bool:
    """Say whether sorted values in units have a statistic that rounds to what is printed."""
    value = statistic_of(printed.statistic, values, unit)
    if value is None:
        return False
    return (printed.squared() if printed.statistic.kind.startswith("deviation") else printed).admits(value)
