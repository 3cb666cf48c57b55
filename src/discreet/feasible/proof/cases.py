"""Proofs that need whole numbers: a value is at most n or at least n + 1, and each case is closed by arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import FloatArray
from discreet.feasible.bounds import Bounds
from discreet.feasible.proof.combination import Range, combine, evaluate, expand, fractions, inwards
from discreet.feasible.reduction import Group
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

MOST = 40
"""How many cases a proof may have."""
CLOSE = 1e-6


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
    """Return cases that prove a bound over whole numbers, None where they are too many or stand for sums of figures.

    None too where they are not closed by the deadline, a time by ``time.monotonic()``.
    """
    size = np.bincount(found.reduction.leader, minlength=found.reduction.leader.size)
    if size[found.reduction.leader[position]] > 1:
        return None
    search = _Splitting(found, group, position, upper, bound, size[group.variables] == 1, deadline)
    return search.visit({}, None)


class _Splitting:
    """Branches until every case is closed."""

    def __init__(
        self,
        found: Bounds,
        group: Group,
        position: int,
        upper: bool,
        bound: int,
        single: np.ndarray,
        deadline: float | None,
    ) -> None:
        from discreet.feasible.group_program import GroupProgram

        self.found, self.group, self.position, self.upper, self.bound = found, group, position, upper, bound
        self.single, self.left, self.clock = single, MOST, Clock(deadline)
        self.model = GroupProgram(group)
        self.costs = np.zeros(group.variables.size)
        self.costs[int(np.flatnonzero(group.variables == position)[0])] = 1.0

    def visit(self, narrowed: dict[int, Range], before: list[Fraction] | None) -> Cases | None:
        """Close a case, or split it further."""
        from discreet.feasible.group_program import NothingFitsError

        seconds = self.clock.left
        if self.left == 0 or seconds == 0.0:
            return None
        self._ranges(narrowed)
        try:
            x = self.model.best(self.costs, self.upper, seconds)
        except NothingFitsError:
            return self._closed_by_ray(narrowed, before)
        if x is None:
            return None
        y = fractions(self.model.program.multipliers)
        closed = self._closed(narrowed, y)
        if closed is not None:
            return closed
        off = np.where(self.single & (self.costs == 0), np.abs(x - np.rint(x)), 0.0)
        k = int(off.argmax())
        if off[k] < CLOSE:
            return None
        at, value = int(self.group.variables[k]), int(np.floor(x[k]))
        low, high = narrowed.get(at, _range(self.found.equations, at))
        below = self.visit(narrowed | {at: (low, value)}, y)
        above = None if below is None else self.visit(narrowed | {at: (value + 1, high)}, y)
        return None if below is None or above is None else Split(at, value, below, above)

    def _ranges(self, narrowed: dict[int, Range]) -> None:
        """Give the ranges of a case to the model."""
        low, high = self._ends(narrowed)
        self.model.program.set_ranges(np.arange(low.size), low, high)

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
        multipliers = {e: value for e, value in zip(self.group.equations.tolist(), y, strict=True) if value}
        expand(equations, self.found.reduction.derived, self.position, multipliers)
        closed = Closed(tuple(sorted((e, value) for e, value in multipliers.items() if value)))
        if not holds(equations, closed, self.position, self.upper, self.bound, narrowed):
            return None
        self.left -= 1
        return closed

    def _closed_by_ray(self, narrowed: dict[int, Range], before: list[Fraction] | None) -> Closed | None:
        """Close a case in which nothing fits: the equations that show this may be added as often as is needed."""
        if before is None:
            return None
        shortfall = self._shortfall(narrowed)
        if shortfall is None:
            return None
        direction = fractions(shortfall)
        for times in (1, 4, 16, 256, 4096):
            for sign in (1, -1):
                closed = self._closed(narrowed, [y + sign * times * d for y, d in zip(before, direction, strict=True)])
                if closed is not None:
                    return closed
        return None

    def _shortfall(self, narrowed: dict[int, Range]) -> FloatArray | None:
        """Return multipliers that show that nothing fits: those of the least that the equations have to be off by."""
        from scipy.optimize import linprog
        from scipy.sparse import eye_array, hstack

        g, seconds = self.group, self.clock.left
        m, n = g.rhs.size, g.variables.size
        matrix = g.rows.matrix(n).astype(np.float64)
        ranges = [*zip(*self._ends(narrowed), strict=True), *[(0, None)] * (2 * m)]
        answer = linprog(
            np.concatenate([np.zeros(n), np.ones(2 * m)]),
            A_eq=hstack([matrix, eye_array(m), -eye_array(m)]),
            b_eq=g.rhs.astype(np.float64),
            bounds=ranges,
            method="highs",
            options={} if seconds is None else {"time_limit": max(seconds, 0.01)},
        )
        return np.asarray(answer.eqlin.marginals) if answer.status == 0 else None
