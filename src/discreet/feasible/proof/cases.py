"""The arithmetic of proofs: sums of equations, what ranges leave of them, and cases where integers are needed.

In a proof by cases a value is at most n or at least n + 1, and each case is closed by a sum of equations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, FloatArray, as_fractions
from discreet.feasible.bounds import Bounds
from discreet.feasible.contradiction import least_repair
from discreet.feasible.reduction import Group, NothingFitsError
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

MOST = 40
"""The most cases of a proof: a round choice, more than anybody reads."""
CLOSE = 1e-6
"""How far from an integer a value may be."""
Range: TypeAlias = tuple[int, int]


def combine(equations: Equations, position: int, multipliers: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Return the multiples g of all positions that sum to a position's value once equations are taken off."""
    terms, denominator = _combine(equations, position, multipliers)
    return {column: Fraction(value, denominator) for column, value in terms.items() if value}


def _combine(equations: Equations, position: int, multipliers: Mapping[int, Fraction]) -> tuple[dict[int, int], int]:
    """Return the same as integers over a common denominator, which add up in a fraction of the time."""
    denominator = math.lcm(*(y.denominator for y in multipliers.values()))
    terms = {position: denominator}
    for e, y in multipliers.items():
        if y:
            _take_off(terms, *_row(equations, e), y.numerator * (denominator // y.denominator))
    return terms, denominator


def _row(equations: Equations, equation: int) -> tuple[list[int], list[int]]:
    row = slice(int(equations.starts[equation]), int(equations.starts[equation + 1]))
    return equations.columns[row].tolist(), equations.signs[row].tolist()


def _take_off(terms: dict[int, int], columns: list[int], signs: list[int], times: int) -> None:
    for column, sign in zip(columns, signs, strict=True):
        terms[column] = terms.get(column, 0) - times * sign


def evaluate(
    equations: Equations, terms: Mapping[int, Fraction], upper: bool, narrowed: Mapping[int, Range] | None = None
) -> Fraction | None:
    """Return the bound that the ranges of the terms leave, some of them narrowed; None where one of them has no end."""
    total = Fraction(0)
    for i, g in terms.items():
        low, high = (narrowed or {}).get(i, (int(equations.lower[i]), int(equations.upper[i])))
        end = high if (g > 0) == upper else low
        if abs(end) >= UNBOUNDED:
            return None
        total += g * end
    return total


def inwards(value: Fraction, upper: bool) -> int:
    """Return the nearest integer inside a bound."""
    return math.floor(value) if upper else math.ceil(value)


def expand(
    equations: Equations, derived: Iterable[tuple[int, int]], position: int, multipliers: Mapping[int, Fraction]
) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    """Replace determined values by the equations that they follow from; return all multipliers and what they leave."""
    found = dict(multipliers)
    terms, denominator = _combine(equations, position, multipliers)
    for variable, equation in reversed(tuple(derived)):
        if not terms.get(variable):
            continue
        columns, signs = _row(equations, equation)
        sign = signs[columns.index(variable)]
        if terms[variable] % sign:
            denominator *= abs(sign)
            terms = {column: value * abs(sign) for column, value in terms.items()}
        times = terms[variable] // sign
        found[equation] = found.get(equation, Fraction(0)) + Fraction(times, denominator)
        _take_off(terms, columns, signs, times)
    return found, {column: Fraction(value, denominator) for column, value in terms.items() if value}


def nonzero(multiples: Mapping[int, Fraction]) -> tuple[tuple[int, Fraction], ...]:
    """Return multiples that are not 0, in the order of what they are of."""
    return tuple(sorted((i, value) for i, value in multiples.items() if value))


def fractions(y: FloatArray) -> list[Fraction]:
    """Return multipliers as fractions with a small common denominator, if there is one."""
    small = as_fractions(np.asarray(y))
    if small is None:
        return [Fraction(float(value)).limit_denominator(1000) for value in y]
    return [Fraction(int(value), small[1]) for value in small[0]]


@dataclass(frozen=True)
class Closed:
    """A case that multiples of the equations close: with the ranges of the case, they prove the bound."""

    multipliers: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Split:
    """Either the value at a position is at most ``value``, or it is larger."""

    position: int
    value: int
    below: Cases
    above: Cases


Cases: TypeAlias = "Closed | Split"


def holds(
    equations: Equations,
    cases: Cases,
    position: int,
    upper: bool,
    bound: int,
    narrowed: Mapping[int, Range] | None = None,
) -> bool:
    """Check by arithmetic that every case proves a bound on the value at a position."""
    ranges = dict(narrowed or {})
    if isinstance(cases, Closed):
        value = evaluate(equations, combine(equations, position, dict(cases.multipliers)), upper, ranges)
        return value is not None and (inwards(value, upper) <= bound if upper else inwards(value, upper) >= bound)
    low, high = ranges.get(cases.position, _range(equations, cases.position))
    return all(
        holds(equations, part, position, upper, bound, ranges | {cases.position: ends})
        for part, ends in ((cases.below, (low, cases.value)), (cases.above, (cases.value + 1, high)))
    )


def conditions(cases: Cases) -> list[list[tuple[int, str, int]]]:
    """Return what is assumed in each case, as position, sign and value."""
    if isinstance(cases, Closed):
        return [[]]
    low, high = (cases.position, "≤", cases.value), (cases.position, "≥", cases.value + 1)
    return [[low, *rest] for rest in conditions(cases.below)] + [[high, *rest] for rest in conditions(cases.above)]


def _range(equations: Equations, position: int) -> Range:
    return int(equations.lower[position]), int(equations.upper[position])


def split(
    found: Bounds, group: Group, position: int, *, upper: bool, bound: int, deadline: float | None = None
) -> Cases | None:
    """Return cases that prove a bound over integers, None where they are too many or about sums of figures.

    None too where they are not closed by the deadline, a time by ``time.monotonic()``.
    """
    size = np.bincount(found.reduction.leader, minlength=found.reduction.leader.size)
    if size[found.reduction.leader[position]] > 1:
        return None
    # Cases are made of single figures other than the one in question.
    single = (size[group.variables] == 1) & (group.variables != position)
    return _Splitting(found, group, position, upper, bound, single, Clock(deadline)).visit({}, None)


class _Splitting:
    """Branches until every case is closed."""

    def __init__(
        self, found: Bounds, group: Group, position: int, upper: bool, bound: int, single: BoolArray, clock: Clock
    ) -> None:
        from discreet.feasible.group_program import GroupProgram

        self.found, self.group, self.position, self.upper, self.bound = found, group, position, upper, bound
        self.single, self.left, self.clock = single, MOST, clock
        self.model, self.k = GroupProgram(group), int(np.flatnonzero(group.variables == position)[0])

    def visit(self, narrowed: dict[int, Range], before: list[Fraction] | None) -> Cases | None:
        """Close a case, or split it further."""
        seconds = self.clock.left
        if self.left == 0 or seconds == 0.0:
            return None
        self.model.program.set_ranges(np.arange(self.group.variables.size), *self._ends(narrowed))
        try:
            x = self.model.extreme(self.k, self.upper, seconds)
        except NothingFitsError:
            return self._closed_by_ray(narrowed, before)
        if x is None:
            return None
        y = fractions(self.model.program.multipliers)
        closed = self._closed(narrowed, y)
        if closed is not None:
            return closed
        off = np.where(self.single, np.abs(x - np.rint(x)), 0.0)
        k = int(off.argmax())
        if off[k] < CLOSE:
            return None
        at, value = int(self.group.variables[k]), int(np.floor(x[k]))
        low, high = narrowed.get(at, _range(self.found.equations, at))
        below = self.visit(narrowed | {at: (low, value)}, y)
        above = None if below is None else self.visit(narrowed | {at: (value + 1, high)}, y)
        return None if below is None or above is None else Split(at, value, below, above)

    def _ends(self, narrowed: dict[int, Range]) -> tuple[FloatArray, FloatArray]:
        """Return the ranges of the group's unknowns in a case."""
        low, high = self.group.lower.astype(np.float64), self.group.upper.astype(np.float64)
        for k, at in enumerate(self.group.variables.tolist()):
            if at in narrowed:
                low[k], high[k] = narrowed[at]
        return low, np.where(high >= UNBOUNDED, np.inf, high)

    def _closed(self, narrowed: dict[int, Range], y: list[Fraction]) -> Closed | None:
        """Return the case as closed if multipliers of the group's equations prove the bound in it."""
        equations = self.found.equations
        multipliers = dict(zip(self.group.equations.tolist(), y, strict=True))
        closed = Closed(nonzero(expand(equations, self.found.reduction.derived, self.position, multipliers)[0]))
        if not holds(equations, closed, self.position, self.upper, self.bound, narrowed):
            return None
        self.left -= 1
        return closed

    def _closed_by_ray(self, narrowed: dict[int, Range], before: list[Fraction] | None) -> Closed | None:
        """Close a case in which nothing fits: the equations that show this may be added as often as is needed."""
        if before is None:
            return None
        short = least_repair(self.group.rows, self.group.rhs.astype(np.float64), self._ends(narrowed), self.clock.left)
        if short is None:
            return None
        direction = fractions(short[1])
        for times in (1, 4, 16, 256, 4096):
            for sign in (1, -1):
                closed = self._closed(narrowed, [y + sign * times * d for y, d in zip(before, direction, strict=True)])
                if closed is not None:
                    return closed
        return None
