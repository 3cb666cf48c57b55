"""The engines against each other: flow, tableau and HiGHS on the same groups, drawing against counting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import Bounds as Ranges
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import csr_array
from tests.lengths import few_or_long

from discreet.core.clock import Clock
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible import any_shape
from discreet.feasible.any_shape import solve_group
from discreet.feasible.bounds import bounds
from discreet.feasible.draw.counting import count_tables
from discreet.feasible.draw.random_tables import draw_tables
from discreet.feasible.group_program import GroupProgram, sparse_bounds
from discreet.feasible.network.flow import network_batch
from discreet.feasible.network.orientation import oriented
from discreet.feasible.reduction import Group, NothingFitsError, reduce
from discreet.feasible.tableau.condensing import condense
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import Kind

ZEROS_HIDDEN = Kind("suppressed", least=0)


def square(n: int, seed: int, share: float = 0.7) -> Figures:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3, (n, n))
    cells: list[list[int | None]] = [[*map(int, row), int(row.sum())] for row in counts]
    for i, j in zip(*np.nonzero(rng.random((n, n)) < share), strict=True):
        cells[i][j] = None
    labels = {"r": [*range(n), "Total"], "c": [*range(n), "Total"]}
    return Figures.from_array([*cells, [*map(int, counts.sum(axis=0)), int(counts.sum())]], labels, mark=ZEROS_HIDDEN)


def largest(shown: Figures, join: bool = True) -> Group:
    return max(reduce(equations_of(shown), join=join).groups, key=lambda group: group.variables.size)


def by_linear_programs(group: Group, found: FloatArray | IntArray, step: int) -> None:
    """Compare every ``step``-th variable's bounds with linear programs."""
    rows = csr_array(group.dense())
    for k in range(0, group.variables.size, step):
        for side, sign in ((0, 1.0), (1, -1.0)):
            costs = np.zeros(group.variables.size)
            costs[k] = sign
            answer = linprog(costs, A_eq=rows, b_eq=group.rhs, bounds=(0, None), method="highs")
            assert found[side, k] == pytest.approx(sign * answer.fun, abs=1e-6)


def drawing_agrees(group: Group, precision: float, slack: float) -> None:
    """Compare drawn bits with counted ones, and with those that one worker draws."""
    exact = np.array([law.bits for law in count_tables(group).laws])
    drawn = draw_tables(group, seed=1, precision=precision)
    assert 2 * drawn.error.max() <= precision
    assert np.abs(drawn.bits - exact).max() <= slack
    assert (draw_tables(group, seed=1, precision=precision, workers=1).bits == drawn.bits).all()


def test_large_networks_against_linear_programs() -> None:
    group = largest(square(30, 1))
    assert group.variables.size > 400
    edges = oriented(group)
    assert edges is not None
    (found,) = network_batch([(group, edges)], [np.ones(group.variables.size, np.int64)])
    by_linear_programs(group, found.bound, step=37)


@pytest.mark.parametrize("seed", range(4))
def test_three_engines_agree(seed: int) -> None:
    group = largest(square(9, seed))
    every = np.ones(group.variables.size, np.int64)
    edges = oriented(group)
    assert edges is not None
    (flow,) = network_batch([(group, edges)], [every])
    tableau = solve_group(group, every)
    sparse = sparse_bounds(group, every, Clock())
    assert (flow.bound == tableau.bound).all()
    assert (flow.bound == sparse.bound).all()


def test_drawing_agrees_with_counting_within_its_error() -> None:
    drawing_agrees(largest(square(4, 3, share=1.0), join=False), precision=0.04, slack=0.05)


def test_time_that_runs_out_leaves_certain_intervals() -> None:
    equations = equations_of(square(9, 1))
    rest, full = bounds(equations, time_limit=0.0), bounds(equations)
    assert not rest.finished.all()
    assert (rest.lower <= full.lower).all()
    assert (rest.upper >= full.upper).all()


def cube(n: int, most: int, seed: int, hide: float = 1.0) -> Figures:
    """A three-way table with all two-way margins and some or all inner cells hidden: no network."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most + 1, (n, n, n))
    hidden = np.zeros((n + 1, n + 1, n + 1), bool)
    hidden[:n, :n, :n] = rng.random(counts.shape) < hide
    for axis in range(3):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    shown = counts.astype(object)
    shown[hidden] = None
    return Figures.from_array(
        shown.tolist(), {name: [*map(str, range(n)), "Total"] for name in "abc"}, mark=ZEROS_HIDDEN
    )


def by_programs(group: Group) -> np.ndarray:
    """Bounds over whole numbers by one integer program each."""
    out = np.zeros((2, group.variables.size), np.int64)
    for k in range(group.variables.size):
        for side, sign in ((0, 1.0), (1, -1.0)):
            costs = np.zeros(group.variables.size)
            costs[k] = sign
            answer = milp(
                costs,
                constraints=LinearConstraint(group.dense(), group.rhs, group.rhs),
                bounds=Ranges(group.lower, np.where(group.upper >= 2**60, np.inf, group.upper)),
                integrality=np.ones(group.variables.size),
            )
            out[side, k] = round(sign * answer.fun)
    return out


def cube_agrees(seed: int) -> int:
    done = 0
    for group in reduce(equations_of(cube(4, 3, seed, hide=0.8))).groups:
        if group.is_tree or oriented(group) is not None:
            continue
        every = np.ones(group.variables.size, np.int64)
        found = solve_group(group, every)
        assert found.settled.all()
        assert (found.bound == by_programs(group)).all(), seed
        assert (found.bound == found.seen).all()
        assert (found.relaxed[0] <= found.bound[0] + 1e-9).all()
        assert (found.relaxed[1] >= found.bound[1] - 1e-9).all()
        done += 1
    return done


@few_or_long(("seeds", "least"), (range(3), 2), (range(100, 160), 45))
def test_three_way_tables_against_integer_programs(seeds: range, least: int) -> None:
    assert sum(map(cube_agrees, seeds)) >= least


def test_partners_move_together() -> None:
    """What is joined for the search comes back as every single bound: the same without joining, by linear programs."""
    group = largest(cube(4, 3, 2, hide=0.6))
    joined = condense(group, Clock().rung)
    assert joined.size < group.variables.size
    found = solve_group(group, np.ones(group.variables.size, np.int64))
    by_linear_programs(group, found.relaxed, step=3)


def test_large_groups_without_a_tableau(monkeypatch: pytest.MonkeyPatch) -> None:
    group = largest(cube(4, 2, 5, hide=0.7))
    every = np.ones(group.variables.size, np.int64)
    usual = solve_group(group, every)
    monkeypatch.setattr(any_shape, "LARGEST", 0)
    other = solve_group(group, every)
    assert (usual.bound == other.bound).all()
    assert other.settled.all()


def test_bounds_over_real_numbers_claim_no_more_than_tables_show() -> None:
    group = largest(cube(4, 3, 1, hide=0.8))
    every = np.ones(group.variables.size, np.int64)
    real, whole = solve_group(group, every, whole=False), solve_group(group, every)
    sure = real.settled > 0
    assert (real.bound[sure] == whole.bound[sure]).all()


@pytest.mark.parametrize(("most", "seed"), [(2, 0), (3, 1), (6, 2)])
def test_drawing_from_any_shape_agrees_with_counting(most: int, seed: int) -> None:
    group = largest(cube(3, most, seed), join=False)
    assert oriented(group) is None
    drawing_agrees(group, precision=0.03, slack=0.06)


@pytest.mark.parametrize(
    ("n", "seed"), [(30, 2), *(pytest.param(*larger, marks=pytest.mark.long) for larger in [(45, 3), (60, 4)])]
)
def test_rounds_agree_with_single_searches(n: int, seed: int) -> None:
    """Sparse tables, where rounds fail for many, and dense ones, where they settle nearly all."""
    for share in (0.15, 0.7):
        group = largest(square(n, seed, share))
        edges = oriented(group)
        assert edges is not None
        every = np.ones(group.variables.size, np.int64)
        (found,) = network_batch([(group, edges)], [every])
        by_linear_programs(group, found.bound, 97)


@pytest.mark.parametrize(("large", "said"), [(10**3, True), (10**12, False)])
def test_a_solver_of_floating_point_numbers_is_not_believed_about_large_ones(large: int, said: bool) -> None:
    both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    shown = [[None, None, large], [None, None, large], [large, large, 2 * large]]
    group = reduce(equations_of(Figures.from_array(shown, both))).groups[0]
    wrong = replace(group, rhs=group.rhs + np.eye(group.rhs.size, dtype=np.int64)[0])
    if said:
        with pytest.raises(NothingFitsError):
            GroupProgram(wrong).best(np.ones(group.variables.size), True)
    else:
        assert GroupProgram(wrong).best(np.ones(group.variables.size), True) is None
