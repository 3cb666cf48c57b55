"""The nearest controlled rounding by HiGHS: a linear program where that suffices, an integer program where not.

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
from discreet.protect.controlled_rounding.rounding_problem import RoundingProblem

CLOSE = 1e-6
WIDEST = 64
"""The largest radius, in bases, that is tried by integer programming."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """Published figures, and how many bases beyond their neighbours they may lie.

    ``proved`` says that no rounding within the radius is nearer.
    """

    values: IntArray
    radius: int
    proved: bool


def cheapest_rounding(
    problem: RoundingProblem,
    costs: FloatArray | IntArray,
    clock: Clock,
    *,
    whole: bool,
    upper: FloatArray | None = None,
) -> tuple[str, FloatArray, float]:
    """Return the outcome (optimal, found, infeasible or nothing), the best point and the proved bound."""
    n = problem.open.size
    # Distances of whole solutions are whole numbers.
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.99} if whole else {"presolve": "off"}
    program = Program(
        Rows(problem.starts, problem.columns, problem.signs),
        costs=costs,
        lower=np.zeros(n),
        upper=np.ones(n) if upper is None else upper,
        sums=(problem.rhs, problem.rhs),
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
    outcome, point, least = cheapest_rounding(problem, costs, clock, whole=False)
    bound = max(bound, least + shift)
    if outcome == "optimal" and whole_point(point):
        return _checked(problem, point, True), bound
    tell(progress, 1, 3, "integer program")
    outcome, point, least = cheapest_rounding(problem, costs, clock, whole=True)
    bound = max(bound, least + shift) if np.isfinite(least) else bound
    if outcome in ("optimal", "found"):
        return _checked(problem, point, outcome == "optimal"), bound
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
    """Say whether all coordinates are whole numbers."""
    return bool((np.abs(point - np.rint(point)) < CLOSE).all())


def _relaxed(problem: RoundingProblem, radius: int, clock: Clock) -> tuple[Rounded, float] | None:
    """Return the nearest additive multiples when figures may go so many bases beyond their neighbours.

    A figure moves by v + p − q bases with v in {0, 1} and p, q in 0 … radius; each of p and q adds a base to the
    distance. No figure falls below 0.
    """
    values, base, sums = problem.values, problem.base, problem.sums
    n = values.size
    residual = values % base
    every = np.arange(n)
    gaps = -sums.gaps(values - residual) // base
    floors = (values - residual) // base
    wide = RoundingProblem(
        sums,
        values,
        base,
        np.arange(3 * n),
        np.concatenate([residual, np.zeros(2 * n, np.int64)]),
        3 * sums.starts,
        (np.stack([sums.columns, sums.columns + n, sums.columns + 2 * n], axis=1)).ravel(),
        (np.stack([sums.signs, sums.signs, -sums.signs], axis=1)).ravel(),
        gaps,
    )
    costs = np.concatenate([np.where(residual > 0, base - 2 * residual, 0), np.full(2 * n, base)])
    upper = np.concatenate([(residual > 0).astype(np.float64), np.full(n, radius), np.minimum(floors, radius)])
    outcome, point, bound = cheapest_rounding(wide, costs, clock, whole=True, upper=upper)
    if outcome not in ("optimal", "found") or not sums.columns.size:
        return None
    steps = np.rint(point).astype(np.int64)
    moved = steps[every] + steps[every + n] - steps[every + 2 * n]
    published = values - residual + base * moved
    assert not sums.gaps(published).any()
    return Rounded(published, radius, outcome == "optimal"), bound + float(residual.sum())


def _checked(problem: RoundingProblem, point: FloatArray, proved: bool) -> Rounded:
    steps = np.rint(point).astype(np.int64)
    published = problem.published(steps)
    # What a solver returns is checked in whole numbers, whatever its tolerances were.
    assert not problem.sums.gaps(published).any()
    return Rounded(published, 0, proved)
