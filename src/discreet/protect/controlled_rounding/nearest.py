"""The problem of controlled rounding, and the nearest solution by HiGHS: by linear and, if necessary, integer programs.

The relaxation of a network, such as a two-way table with at most one hierarchy, has integer corners; so do many others.
Branch and bound starts only if a corner is not integer. Three-way tables need not have any zero-restricted rounding
(Causey, Cox and Ernst 1985); then figures may move further, by as few bases as possible.
"""

from __future__ import annotations

from collections.abc import Callable
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
MANY = 2_000
"""With more figures than this, an interior-point method finds the corner of a table that is not a network: of
20 × 20 × 20 cells in a tenth of the time that the simplex method takes."""
FEW = 250
"""The best rounding is proved by default if the linear program leaves at most this many figures between their
neighbours: a second for 10 × 10 × 10 cells, where 12 × 12 × 12 take half a minute and larger tables do not finish."""


@dataclass(frozen=True, eq=False)
class RoundingProblem:
    """Figures that are not multiples of the base, and the equations Σ sign·u = rhs between their roundings.

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
    def least(self) -> float:
        """A lower bound on the distance: figures that are not multiples move to one of their neighbours, or further."""
        return float(np.minimum(self.residual, self.base - self.residual).sum())

    def distance(self, rounded: Rounded) -> int:
        """Return the sum of all changes."""
        return int(np.abs(rounded.values - self.values).sum())

    @property
    def costs(self) -> IntArray:
        """How much further away the upper neighbour is than the lower; b − 2r.

        Any norm gives the same order: squares give b·(b − 2r), so one optimum serves sums of absolute and of squared
        changes.
        """
        costs: IntArray = self.base - 2 * self.residual
        return costs

    def published(self, steps: IntArray | FloatArray) -> IntArray:
        """Return all figures, with those that are not multiples this many steps above their lower neighbours."""
        values: IntArray = self.values - self.values % self.base
        values[self.open] += self.base * np.rint(steps).astype(np.int64)
        # What a solver returns is checked in integers, whatever its tolerances were.
        assert not self.sums.sums(values).any()
        return values


@dataclass(frozen=True, eq=False)
class Rounded:
    """Published figures, and how many bases beyond their neighbours they may lie.

    ``proved`` says that no rounding within the radius is nearer, ``impossible`` that none is within neighbours.
    """

    values: IntArray
    radius: int
    proved: bool
    impossible: bool = False


@dataclass(frozen=True, eq=False)
class Corner:
    """A corner of the linear program, with an entry for every figure.

    ``point`` says what share of a base each is above its lower neighbour, None where time ran out; ``price`` what it
    costs at least to turn each; no zero-restricted rounding has a distance below the ``bound``.
    """

    point: FloatArray | None
    price: FloatArray
    bound: float


Local = Callable[[Corner], Rounded]
"""A search for a rounding near a corner, which always returns one."""


def rounding_program(
    rows: Rows, rhs: IntArray, costs: FloatArray | IntArray, *, whole: bool, upper: FloatArray | float = 1.0
) -> Program:
    """Return the program of the cheapest rounding."""
    # Distances of whole solutions are integers.
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.99} if whole else {"presolve": "off"}
    return Program(
        rows,
        costs=costs,
        lower=np.zeros(costs.size),
        upper=np.broadcast_to(upper, costs.size),
        sums=(rhs, rhs),
        whole=whole,
        options=options,
    )


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
    program = rounding_program(rows, rhs, costs, whole=whole, upper=upper)
    outcome = program.run(clock.left)
    if outcome == "infeasible":
        return outcome, program.point, np.inf
    if outcome == "optimal":
        return outcome, program.point, program.bound if whole else program.objective
    if whole and program.found:
        return "found", program.point, program.bound
    return "nothing", program.point, -np.inf


def nearest_rounding(
    problem: RoundingProblem,
    seconds: float,
    progress: Progress | None = None,
    *,
    local: Local | None = None,
    exact: bool = False,
) -> tuple[Rounded | None, float]:
    """Return the nearest controlled rounding, or the best found in time, and a lower bound on the distance.

    If the linear program leaves more figures between their neighbours than an integer program settles quickly, a
    ``local`` search is used unless ``exact`` is set. Without one, the rounding is None if none was found in time.
    """
    clock = Clock.within(seconds)
    if not problem.open.size:
        return Rounded(problem.values, 0, True), 0.0
    tell(progress, 0, 3, "linear program")
    corner = _corner(problem, clock)
    point = None if corner.point is None else corner.point[problem.open]
    if point is not None and whole_point(point):
        return Rounded(problem.published(point), 0, True), corner.bound
    few = point is not None and np.count_nonzero(np.abs(point - np.rint(point)) >= CLOSE) <= FEW
    found, bound = None, corner.bound
    if few or exact or local is None:
        found, bound = _proved(problem, corner, clock, progress)
    if local is not None and (found is None or not (found.proved or found.radius)):
        near = local(corner)
        if found is None or (near.radius, problem.distance(near)) < (found.radius, problem.distance(found)):
            found = near
    # Figures that may lie beyond their neighbours can be nearer together.
    return found, problem.least if found is not None and found.radius and not found.proved else bound


def _corner(problem: RoundingProblem, clock: Clock) -> Corner:
    """Solve the linear program."""
    program = rounding_program(problem.rows, problem.rhs, problem.costs, whole=False)
    if problem.open.size > MANY and np.bincount(problem.rows.columns).max() > 2:
        program.set_options(solver="ipm")
    found = program.run(clock.left) == "optimal"
    point, price = np.zeros(problem.values.size), np.zeros(problem.values.size)
    if not found:
        return Corner(None, price, problem.least)
    point[problem.open], price[problem.open] = program.point, np.abs(program.reduced_costs)
    return Corner(point, price, max(problem.least, program.objective + float(problem.residual.sum())))


def _proved(
    problem: RoundingProblem, corner: Corner, clock: Clock, progress: Progress | None
) -> tuple[Rounded | None, float]:
    """Return the nearest rounding by branch and bound, as far as it gets in time, and the bound that it proves."""
    tell(progress, 1, 3, "integer program")
    outcome, point, least = cheapest_rounding(problem.rows, problem.rhs, problem.costs, clock, whole=True)
    bound = corner.bound
    if np.isfinite(least):
        bound = max(bound, least + float(problem.residual.sum()))
    if outcome in ("optimal", "found"):
        return Rounded(problem.published(point), 0, outcome == "optimal"), bound
    radius = 1
    while outcome == "infeasible" and radius <= WIDEST and not clock.late:
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
    """Return the nearest additive multiples when figures may go this many bases beyond their neighbours.

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
    return Rounded(published, radius, outcome == "optimal", impossible=True), bound + float(residual.sum())
