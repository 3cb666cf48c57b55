"""The engines against each other: flow, tableau and HiGHS on the same groups, drawing against counting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.feasible.bounds import bounds
from discreet.feasible.chain import draw_tables
from discreet.feasible.counting import count_tables
from discreet.feasible.general import solve_group
from discreet.feasible.highs import sparse_bounds
from discreet.feasible.kernels import network_batch, oriented
from discreet.feasible.reduction import Group, reduce
from discreet.table.equations import equations_of
from discreet.table.figures import Figures


def square(n: int, seed: int, share: float = 0.7) -> Figures:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3, (n, n))
    cells: list[list[int | None]] = [[*map(int, row), int(row.sum())] for row in counts]
    for i, j in zip(*np.nonzero(rng.random((n, n)) < share), strict=True):
        cells[i][j] = None
    labels = {"r": [*range(n), "Total"], "c": [*range(n), "Total"]}
    return Figures.from_array([*cells, [*map(int, counts.sum(axis=0)), int(counts.sum())]], labels)


def largest(shown: Figures, join: bool = True) -> Group:
    return max(reduce(equations_of(shown), join=join).groups, key=lambda group: group.variables.size)


def test_large_networks_against_linear_programs() -> None:
    group = largest(square(30, 1))
    assert group.variables.size > 400
    edges = oriented(group)
    assert edges is not None
    (found,) = network_batch([(group, edges)], [np.ones(group.variables.size, np.int64)])
    assert found is not None
    for k in range(0, group.variables.size, 37):
        for side, sign in ((0, 1.0), (1, -1.0)):
            costs = np.zeros(group.variables.size)
            costs[k] = sign
            answer = linprog(costs, A_eq=group.dense(), b_eq=group.rhs, bounds=(0, None), method="highs")
            assert found[side, k] == pytest.approx(sign * answer.fun, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_three_engines_agree(seed: int) -> None:
    group = largest(square(9, seed))
    every = np.ones(group.variables.size, np.int64)
    edges = oriented(group)
    assert edges is not None
    (flow,) = network_batch([(group, edges)], [every])
    tableau = solve_group(group, every)
    sparse = sparse_bounds(group, every, None)
    assert flow is not None
    assert (flow == tableau.bound).all()
    assert (flow == sparse.bound).all()


def test_drawing_agrees_with_counting_within_its_error() -> None:
    group = largest(square(4, 3, share=1.0), join=False)
    exact = np.array([law.bits for law in count_tables(group).laws])
    drawn = draw_tables(group, seed=1, precision=0.04)
    assert 2 * drawn.error.max() <= 0.04
    assert np.abs(drawn.bits - exact).max() <= 0.05
    assert (draw_tables(group, seed=1, precision=0.04, workers=1).bits == drawn.bits).all()


def test_time_that_runs_out_leaves_certain_intervals() -> None:
    equations = equations_of(square(9, 1))
    rest, full = bounds(equations, time_limit=0.0), bounds(equations)
    assert not rest.finished.all()
    assert (rest.lower <= full.lower).all()
    assert (rest.upper >= full.upper).all()
