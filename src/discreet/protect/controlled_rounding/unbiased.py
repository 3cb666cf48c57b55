"""Controlled rounding at random, with every figure's expectation the figure itself.

Networks are rounded along cycles (Cox 1987, A constructive procedure for unbiased controlled rounding). Other tables
are written as a mixture of controlled roundings whose mean is the table, found column by column, and one is drawn
from it; a table for which there is no such mixture cannot be rounded without bias, and is refused.
"""

from __future__ import annotations

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError, LimitError
from discreet.core.highs import Program
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress, tell
from discreet.core.sparse import Rows
from discreet.protect.controlled_rounding.nearest import RoundingProblem, cheapest_rounding, whole_point

EXACT = 1e-9
"""How far the mean of a mixture may be from the figures, as a share of the base, due to floating-point rounding."""


def network_of(problem: RoundingProblem) -> tuple[IntArray, IntArray] | None:
    """Return the ends of every open figure as an edge between equations, None where they form no network."""
    from discreet.feasible.network.orientation import orient

    n, m, (starts, columns, signs) = problem.open.size, problem.rhs.size, problem.rows
    if np.bincount(columns, minlength=n).min(initial=1) == 0:
        return None
    tail, head, flip = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(m, np.int64)
    return (tail, head) if orient(starts, columns, signs.astype(np.int64), tail, head, flip) else None


def unbiased_rounding(
    problem: RoundingProblem, rng: np.random.Generator, seconds: float, progress: Progress | None = None
) -> IntArray:
    """Return published figures, drawn with the figure itself as the mean of each."""
    if not problem.open.size:
        return problem.values
    edges = network_of(problem)
    if edges is not None:
        return problem.published(round_network(problem, edges, rng))
    points, weights = mixture(problem, seconds, progress)
    return problem.published(points[rng.choice(len(points), p=weights / weights.sum())])


def round_network(problem: RoundingProblem, edges: tuple[IntArray, IntArray], rng: np.random.Generator) -> IntArray:
    """Return which figures of a network go up."""
    from discreet.protect.controlled_rounding.cycles import round_flow

    # The walk depends on the order of the edges; a random one spreads what goes up together.
    order = rng.permutation(problem.open.size)
    flow = problem.residual[order].copy()
    random = rng.integers(0, 2**64, flow.size, dtype=np.uint64)
    round_flow(edges[0][order], edges[1][order], flow, problem.base, problem.rhs.size + 1, random)
    return flow[np.argsort(order)] // problem.base


def mixture(problem: RoundingProblem, seconds: float, progress: Progress | None = None) -> tuple[IntArray, FloatArray]:
    """Return controlled roundings (rows) and weights whose mean is the table, found by generating columns.

    The master program asks for weights with the least deviation of the mean; its prices name the rounding that helps
    most, found by linear programming, or by integer programming if that has no integer corner.
    """
    clock = Clock.within(seconds)
    target = problem.residual / problem.base
    master = _Master(target)
    master.add(_best(problem, problem.costs.astype(np.float64), clock))
    count = 1
    while True:
        off, weights, prices, level = master.solve()
        if off < EXACT:
            return np.array(master.points, np.int64), weights
        tell(progress, count, count + 1, "roundings in the mixture")
        point = _best(problem, -prices, clock)
        if prices @ point + level < EXACT:
            raise InfeasibleError(
                "no lottery over zero-restricted controlled roundings has this table as its mean, so it cannot be "
                "rounded without bias; round it without unbiased, or publish fewer margins or hierarchies"
            )
        master.add(point)
        count += 1


def _best(problem: RoundingProblem, costs: FloatArray, clock: Clock) -> IntArray:
    """Return the cheapest controlled rounding."""
    outcome, point, _ = cheapest_rounding(problem.rows, problem.rhs, costs, clock, whole=False)
    if outcome != "optimal" or not whole_point(point):
        outcome, point, _ = cheapest_rounding(problem.rows, problem.rhs, costs, clock, whole=True)
    if outcome == "infeasible":
        raise InfeasibleError(
            "the table has no zero-restricted controlled rounding, so it cannot be rounded without bias; round it "
            "without unbiased, which lets figures move further"
        )
    if outcome not in ("optimal", "found") or clock.late:
        raise LimitError(
            f"no unbiased lottery over the {problem.open.size:,} figures was found in time; raise the time limit, "
            "round without unbiased, or publish at most two dimensions with one hierarchy"
        )
    return np.rint(point).astype(np.int64)


class _Master:
    """Weights of the roundings found so far with the least deviation of their mean from the table."""

    def __init__(self, target: FloatArray) -> None:
        self.n = n = target.size
        self.points: list[IntArray] = []
        self.program = Program(options={"presolve": "off"})
        sums, none = np.append(target, 1.0), np.zeros(0, np.int64)
        self.program.add_rows(sums, sums, Rows(np.zeros(n + 2, np.int64), none, none))
        # How much too low and too high the mean of every figure is.
        off = Rows(np.arange(2 * n + 1), np.repeat(np.arange(n), 2), np.tile([1.0, -1.0], n))
        self.program.add_columns(np.ones(2 * n), np.zeros(2 * n), np.full(2 * n, np.inf), off)

    def add(self, point: IntArray) -> None:
        self.points.append(point)
        rows = np.append(np.flatnonzero(point), self.n)
        none, column = np.zeros(1), Rows(np.array([0, rows.size]), rows, np.ones(rows.size))
        self.program.add_columns(none, none, np.full(1, np.inf), column)

    def solve(self) -> tuple[float, FloatArray, FloatArray, float]:
        """Return the deviation, the weights, the price of every figure and that of the weights' sum."""
        self.program.run()
        dual = self.program.multipliers
        weights = np.maximum(self.program.point[2 * self.n :], 0.0)
        return self.program.objective, weights, dual[: self.n], float(dual[self.n])
