"""The problem of controlled rounding, and the nearest solution by HiGHS: by linear, where need be by integer programs.

The relaxation of a network, such as a two-way table with at most one hierarchy, has whole corners; of others it often
has. Only where a corner is not whole does branch and bound begin. Three-way tables need not have any zero-restricted
rounding (Causey, Cox and Ernst 1985); then figures may move further, by as few bases as possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.clock import Clock
from discreet.core.highs import Program
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress, tell
from discreet.core.sparse import Rows
from discreet.protect.additive import SumEquations

CLOSE = 1e-6
"""How far a coordinate may be from an integer to count as one: ten times what HiGHS leaves by its own tolerance."""
WIDEST = 64
"""The largest radius, in bases, that is tried by integer programming. A round choice: radii are doubled, and tables
without a zero-restricted rounding nearly always have one within a base or two."""


@dataclass(frozen=True, eq=False)
class RoundingProblem:
    """Figures that are no multiples of the base, and the equations Σ sign·u = rhs between their roundings.

    u is 1 where a figure goes up and 0 where it goes down; multiples of the base stay (zero-restricted rounding, Cox
    and Ernst 1982). ``residual`` is what each figure is above its lower neighbour: u = residual/base solves the
    equations in real numbers.
    """

    sums: SumEquations
    values: IntArray
    base: int
    open: IntArray
    residual: IntArray
    rows: Rows
    rhs: IntArray

    @classmethod
    def of(cls, sums: SumEquations, values: IntArray, base: int) -> RoundingProblem:
        """State the problem of figures that add up."""
        residual = values % base
        open_ = np.flatnonzero(residual)
        rows = sums.among(open_, values.size)
        some = np.diff(rows.starts) > 0
        rhs = -sums.sums(values - residual) // base
        rows = rows._replace(starts=np.append(rows.starts[:-1][some], rows.columns.size))
        return cls(sums, values, base, open_, residual[open_], rows, rhs[some])

    @property
    def costs(self) -> IntArray:
        """How much further away the upper neighbour is than the lower; b − 2r.

        Any norm gives the same order: squares give b·(b − 2r), so one optimum serves sums of absolute and of squared
        changes.
        """
        costs: IntArray = self.base - 2 * self.residual
        return costs

    def published(self, steps: IntArray | FloatArray) -> IntArray:
        """Return all figures, with those that are no multiples so many steps above their lower neighbours."""
        values: IntArray = self.values - self.values % self.base
        values[self.open] += self.base * np.rint(steps).astype(np.int64)
        # What a solver returns is checked in integers, whatever its tolerances were.
        assert not self.sums.sums(values).any()
        return values


@dataclass(frozen=True, eq=False)
class Rounded:
    """Published figures, and how many bases beyond their neighbours they may lie.

    ``proved`` says that no rounding within the radius is nearer.
    """

    values: IntArray
    radius: int
    proved: bool


def cheapest_rounding(
    rows: Rows,
    rhs: IntArray,
    costs: FloatArray | IntArray,
    clock: Clock,
    *,
    whole: bool,
    upper: FloatArray | float = 1.0,
) -> tuple[str, FloatArray, float]:
    """Return the outcome (optimal, found, infeasible or nothing), the best point and the proved bound."""
    # Distances of whole solutions are integers.
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.99} if whole else {"presolve": "off"}
    program = Program(
        rows,
        costs=costs,
        lower=np.zeros(costs.size),
        upper=np.broadcast_to(upper, costs.size),
        sums=(rhs, rhs),
        whole=whole,
        options=options,
    )
    outcome = program.run(clock.left)
    if outcome == "infeasible":
        return outcome, program.point, np.inf
    if outcome == "optimal":
        return outcome, program.point, program.bound if whole else program.objective
    if whole and program.found:
        return "found", program.point, program.bound
    return "nothing", program.point, -np.inf


def nearest_rounding(
    problem: RoundingProblem, seconds: float, progress: Progress | None = None
) -> tuple[Rounded | None, float]:
    """Return the nearest controlled rounding, or the best found in time, and what no rounding's distance is below.

    The rounding is None where none was found in time.
    """
    clock, costs = Clock.within(seconds), problem.costs
    shift = float(problem.residual.sum())
    if not problem.open.size:
        return Rounded(problem.values, 0, True), 0.0
    tell(progress, 0, 3, "linear program")
    # Every figure that is no multiple moves to one of its neighbours at least.
    bound = float(np.minimum(problem.residual, problem.base - problem.residual).sum())
    outcome, point, least = cheapest_rounding(problem.rows, problem.rhs, costs, clock, whole=False)
    bound = max(bound, least + shift)
    if outcome == "optimal" and whole_point(point):
        return Rounded(problem.published(point), 0, True), bound
    tell(progress, 1, 3, "integer program")
    outcome, point, least = cheapest_rounding(problem.rows, problem.rhs, costs, clock, whole=True)
    bound = max(bound, least + shift) if np.isfinite(least) else bound
    if outcome in ("optimal", "found"):
        return Rounded(problem.published(point), 0, outcome == "optimal"), bound
    if outcome == "nothing":
        return None, bound
    radius = 1
    while radius <= WIDEST and not clock.late:
        tell(progress, 2, 3, f"radius of {radius + 1} bases")
        found = _relaxed(problem, radius, clock)
        if found is not None:
            return found
        radius *= 2
    return None, bound


def whole_point(point: FloatArray) -> bool:
    """Say whether all coordinates are integers."""
    return bool((np.abs(point - np.rint(point)) < CLOSE).all())


def _relaxed(problem: RoundingProblem, radius: int, clock: Clock) -> tuple[Rounded, float] | None:
    """Return the nearest additive multiples when figures may go so many bases beyond their neighbours.

    A figure moves by v + p − q bases with v in {0, 1} and p, q in 0 … radius; each of p and q adds a base to the
    distance. No figure falls below 0.
    """
    values, base, sums = problem.values, problem.base, problem.sums
    n = values.size
    residual = values % base
    floors = (values - residual) // base
    rows = Rows(
        3 * sums.starts,
        (sums.columns[:, None] + n * np.arange(3)).ravel(),
        (sums.values[:, None] * np.array([1, 1, -1])).ravel(),
    )
    gaps = -sums.sums(values - residual) // base
    costs = np.concatenate([np.where(residual > 0, base - 2 * residual, 0), np.full(2 * n, base)])
    upper = np.concatenate([(residual > 0).astype(np.float64), np.full(n, radius), np.minimum(floors, radius)])
    outcome, point, bound = cheapest_rounding(rows, gaps, costs, clock, whole=True, upper=upper)
    if outcome not in ("optimal", "found") or not sums.columns.size:
        return None
    steps = np.rint(point).astype(np.int64)
    published = values - residual + base * (steps[:n] + steps[n : 2 * n] - steps[2 * n :])
    assert not sums.sums(published).any()
    return Rounded(published, radius, outcome == "optimal"), bound + float(residual.sum())
