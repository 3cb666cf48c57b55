"""Bounds of unknown values in large groups, and over integers, by HiGHS.

One model serves all unknowns of a group: only the objective changes, and the primal simplex method goes on from the
last corner. Every corner is used for all unknowns: most bounds need no search of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.core.clock import Clock
from discreet.core.highs import Program
from discreet.core.numerics import FloatArray, IntArray, NumberArray, as_fractions
from discreet.feasible.reduction import NOT_SEEN, SIGN, Found, Group, NothingFitsError
from discreet.table.kinds import UNBOUNDED

CLOSE = 1e-6
"""How far from an integer a value may be: about ten times the tolerance of HiGHS."""
CORNERS = {
    "presolve": "off",
    "simplex_strategy": 4,
    # Perturbed bounds help one hard problem, and cost time on thousands of easy ones.
    "primal_simplex_bound_perturbation_multiplier": 0.0,
    "dual_simplex_cost_perturbation_multiplier": 0.0,
}
INTEGERS = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.5}
LARGE = 10**9
"""Numbers from here on exceed the tolerances of floating-point solvers: that nothing fits is not believed of them."""


class GroupProgram:
    """A group as a linear or integer program."""

    def __init__(self, group: Group, whole: bool = False) -> None:
        self.group = group
        self.program = Program(
            group.rows,
            costs=np.zeros(group.variables.size),
            lower=group.lower,
            upper=np.where(group.upper >= UNBOUNDED, np.inf, group.upper),
            sums=(group.rhs, group.rhs),
            whole=whole,
            options=INTEGERS if whole else CORNERS,
        )
        known = np.abs(np.concatenate([group.lower, group.upper, group.rhs]))
        self.exact = int(known[known < UNBOUNDED].max(initial=0)) < LARGE

    def best(self, costs: FloatArray, largest: bool, seconds: float | None = None) -> FloatArray | None:
        """Return a best solution, or None where the objective has no bound, time ran out, or none was found.

        Raises:
            NothingFitsError: none exists; of large numbers the solver cannot tell.
        """
        self.program.set_costs(costs, largest=largest)
        outcome = self.program.run(seconds)
        if outcome == "infeasible" and self.exact:
            raise NothingFitsError
        return self.program.point if outcome == "optimal" else None

    def extreme(self, k: int | None, upper: bool, seconds: float | None = None) -> FloatArray | None:
        """Return a solution in which unknown k is as small or as large as it can be; any one without k."""
        costs = np.zeros(self.group.variables.size)
        if k is not None:
            costs[k] = 1.0
        return self.best(costs, upper, seconds)


class RangeProgram:
    """A group over real numbers, in ranges that change from one question to the next.

    Values keep a little away from the ends of their ranges where they can: then rounding leaves them inside.
    """

    MARGIN = 8
    """The most that a value keeps from either end of its range, a round choice; a narrow range leaves an eighth of its
    width."""

    def __init__(self, group: Group) -> None:
        # One model for each width of the margin: from one question to the next, little changes in either.
        self.models = [(GroupProgram(group), np.full((2, group.variables.size), np.nan)) for _ in range(2)]
        for model, _ in self.models:
            model.program.set_options(simplex_strategy=1)

    def attain(self, ranges: IntArray, seconds: float) -> FloatArray | None:
        """Return values that fit and lie in the given ranges; None where there are none, or time ran out."""
        least, most = ranges.astype(np.float64)
        most = np.where(ranges[1] >= UNBOUNDED, np.inf, most)
        for (model, before), widest in zip(self.models, (self.MARGIN, 0), strict=True):
            margin = np.minimum((most - least) / 8, widest)
            ends = np.stack([least + margin, most - margin])
            changed = np.flatnonzero((ends != before).any(axis=0))
            model.program.set_ranges(changed, *ends[:, changed])
            before[:] = ends
            if model.program.run(seconds) == "optimal":
                return model.program.point
        return None


def widen(ends: NumberArray, values: NumberArray) -> None:
    """Let the least (row 0) and the largest values seen (row 1) reach some more values."""
    np.minimum(ends[0], values, out=ends[0])
    np.maximum(ends[1], values, out=ends[1])


def proved(group: Group, y: FloatArray, k: int, upper: bool) -> int | None:
    """Return the integer bound on an unknown that multipliers of the equations prove, whatever they are."""
    small = as_fractions(y)
    if small is None:
        return None
    Y, D = small
    g = np.zeros(group.variables.size, np.int64)
    g[k] = D
    np.subtract.at(g, group.columns, np.repeat(Y, np.diff(group.starts)) * group.signs)
    ends = np.where((g > 0) == upper, group.upper, group.lower)
    used = g != 0
    if (np.abs(ends[used]) >= UNBOUNDED).any():
        return None
    value = int((Y * group.rhs).sum() + (g[used] * ends[used]).sum())
    return value // D if upper else -((-value) // D)


def sparse_bounds(
    group: Group, wanted: IntArray, clock: Clock, tick: Callable[[int], None] = lambda count: None
) -> Found:
    """Bound the wanted unknowns of a large group over real numbers; nothing is marked as settled."""
    search = _Corners(group, clock)
    search.sweep()
    for k in np.flatnonzero(wanted).tolist():
        search.bound_both(k)
        tick(1)
    return Found(search.bound, search.relaxed, search.seen, np.zeros_like(search.bound))


class _Corners:
    """The search for the bounds of one group, and what the corners that it has visited show about all unknowns."""

    def __init__(self, group: Group, clock: Clock) -> None:
        n = group.variables.size
        self.group, self.clock = group, clock
        self.bound = np.stack([group.least, group.most])
        self.relaxed = self.bound.astype(np.float64)
        self.seen = -SIGN * np.full(n, NOT_SEEN)
        self.reached = -SIGN * np.full(n, np.inf)
        self.model = GroupProgram(group)
        self.at: FloatArray | None = None
        self.bases: list[object] = []
        self.nearest = np.full((2, n), -1)

    def note(self, x: FloatArray) -> None:
        """Learn from a corner: how far it goes for every unknown, and whether its values are integers."""
        further = SIGN * x > SIGN * self.reached + CLOSE
        widen(self.reached, x)
        if further.any():
            self.bases.append(self.model.program.solver.getBasis())
            self.nearest[further] = len(self.bases) - 1
        table = np.rint(x).astype(np.int64)
        if np.abs(x - table).max() <= CLOSE and self.group.fits(table):
            widen(self.seen, table)

    def sweep(self) -> None:
        """Visit corners at which many unknowns attain their outer bounds at once."""
        for side in (0, 1):
            sign, before = (1 if side else -1), -1
            while not self.clock.late:
                short = sign * self.reached[side] < sign * self.bound[side] - CLOSE
                missing = short & (np.abs(self.bound[side]) < UNBOUNDED)
                count = int(missing.sum())
                if not count or (before >= 0 and count > 0.97 * before):
                    break
                before = count
                x = self.model.best(missing.astype(np.float64), bool(side), self.clock.left)
                if x is None:
                    break
                self.note(x)

    def bound_both(self, k: int) -> None:
        """Find the bounds of one unknown, unless some corner attains what single equations allow."""
        for side in (0, 1):
            sign = 1 if side else -1
            if sign * self.reached[side, k] >= sign * self.relaxed[side, k] - CLOSE or self.clock.late:
                continue
            near = int(self.nearest[side, k])
            if near >= 0 and (self.at is None or sign * (self.reached[side, k] - self.at[k]) > 0.5):
                self.model.program.solver.setBasis(self.bases[near])
            x = self.model.extreme(k, bool(side), self.clock.left)
            if x is None:
                continue
            self.at = x
            self.note(x)
            sure = proved(self.group, self.model.program.multipliers, k, bool(side))
            self.relaxed[side, k] = x[k]
            if sure is None:
                sure = math.floor(x[k] + CLOSE) if side else math.ceil(x[k] - CLOSE)
            self.bound[side, k] = sure
