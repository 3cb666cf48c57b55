"""Controlled rounding: additive, zero-restricted, nearest, and unbiased where asked to be."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.protect.hierarchical import brute_force_distance, check_additive, random_tabulation

import discreet as dc
from discreet import InfeasibleError, RequestError, Table
from discreet.core.random import generator
from discreet.protect import ControlledRounding, controlled_rounding
from discreet.protect.additive import sums_of
from discreet.protect.controlled_rounding.cycles import round_flow
from discreet.protect.controlled_rounding.nearest import RoundingProblem, nearest_rounding
from discreet.protect.controlled_rounding.unbiased import mixture, network_of, round_network
from discreet.table.tabulation import Tabulation

WORKED = [[1, 0], [3, 3], [12, 20]]


def problem_of(cells: Tabulation, base: int) -> RoundingProblem:
    full = cells.with_empty_cells()
    return RoundingProblem.of(sums_of(full), full.records, base)


def test_the_worked_example() -> None:
    table = Table.from_array(WORKED, ["row", "column"])
    made = ControlledRounding(5).apply(table)
    cells = Tabulation.from_table(table).with_empty_cells()
    # 40, columns 15 and 25, then the rows 5, 5 and 30 with their cells: the answer that is printed.
    printed = np.array([40, 15, 25, 5, 5, 0, 5, 0, 5, 30, 10, 20])
    assert not sums_of(cells).sums(printed).any()
    assert (np.abs(printed - cells.records) < 5).all()
    assert made.details["cost"] <= np.abs(printed - cells.records).sum()
    assert made.details["cost"] == brute_force_distance(Tabulation.from_table(table), 5)


def check_rounding(rng: np.random.Generator, cases: int) -> int:
    """Round random hierarchical tables; return how many of them had no zero-restricted rounding."""
    relaxed = 0
    for _ in range(cases):
        d = int(rng.integers(1, 4))
        shape = tuple(int(n) for n in rng.integers(2, 6, d))
        cells = random_tabulation(rng, shape, tuple(int(n) for n in rng.integers(1, 4, d)))
        base = int(rng.integers(2, 11))
        made = ControlledRounding(base, time_limit=20).apply(cells)
        values, truth = made.release.parts()[0].values, cells.with_empty_cells().records
        check_additive(cells, values)
        assert (values % base == 0).all()
        assert (values >= 0).all()
        if made.details["zero_restricted"]:
            assert (np.abs(values - truth) < base).all()
            assert made.release.parts()[0].kinds[0].name == "controlled"
        else:
            relaxed += 1
            assert d > 1
            assert "No zero-restricted rounding exists" in made.notes[0]
            # The least number of whole bases that no figure reaches, less 1: what is stated is not how far one moved.
            bound = made.release.parts()[0].kinds[0].to_dict()["bound"]
            assert isinstance(bound, int)
            assert (bound + 1) % base == 0
            assert 0 <= bound - np.abs(values - truth).max() < base <= bound
    return relaxed


def test_random_tables_with_hierarchies_are_additive_and_zero_restricted() -> None:
    assert check_rounding(np.random.default_rng(1), 250) < 30


@pytest.mark.long
def test_thousands_of_random_tables() -> None:
    assert check_rounding(np.random.default_rng(2), 5000) < 500


def check_optimum(rng: np.random.Generator, cases: int) -> int:
    without = 0
    shapes = [(4,), (2, 3), (3, 3), (2, 2, 2), (2, 4)]
    for case in range(cases):
        shape = shapes[case % len(shapes)]
        cells = random_tabulation(rng, shape, tuple(int(n) for n in rng.integers(1, 4, len(shape))))
        base = int(rng.integers(2, 6))
        made, best = ControlledRounding(base).apply(cells), brute_force_distance(cells, base)
        assert made.details["zero_restricted"] == (best is not None)
        without += best is None
        if best is not None:
            assert made.details["cost"] == best
            assert made.details["gap"] == 0
    return without


def test_small_tables_have_the_distance_of_brute_force() -> None:
    check_optimum(np.random.default_rng(3), 60)


@pytest.mark.long
def test_many_small_tables_have_the_distance_of_brute_force() -> None:
    assert check_optimum(np.random.default_rng(4), 2000) > 0


def without_rounding() -> Tabulation:
    """Return a three-way table that has no zero-restricted rounding to base 2, as every way to round it shows."""
    rng = np.random.default_rng(0)
    while True:
        cells = random_tabulation(rng, (2, 2, 2), (1, 1, 1), mean=1.0)
        if brute_force_distance(cells, 2) is None:
            return cells


def test_a_three_way_table_without_a_zero_restricted_rounding() -> None:
    cells = without_rounding()
    made = ControlledRounding(2).apply(cells)
    assert made.details["radius"] == 1
    assert "No zero-restricted rounding exists" in made.notes[0]
    check_additive(cells, made.release.parts()[0].values)


def test_two_way_tables_with_one_hierarchy_are_networks() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        cells = random_tabulation(rng, (6, 5), (3, 1))
        problem = problem_of(cells, 3)
        assert network_of(problem) is not None
        found, bound = nearest_rounding(problem, 10)
        assert found is not None
        assert found.proved
        assert np.abs(found.values - cells.with_empty_cells().records).sum() == pytest.approx(bound)


def enumerated_mean(problem: RoundingProblem) -> list[Fraction]:
    """Go through every number that decides a cycle: multiples of all sums that can occur."""
    edges = network_of(problem)
    assert edges is not None
    # What a cycle can rise and fall by add up to the base at most.
    span = math.lcm(*range(2, problem.base + 1))
    steps = problem.open.size
    total = np.zeros(steps, np.int64)
    # A cycle fixes at least one edge; few numbers decide, and the others are never looked at.
    deciding = min(steps, 4)
    for numbers in product(range(span), repeat=deciding):
        flow = problem.residual.copy()
        random = np.array([*numbers, *[0] * (steps - deciding)], np.uint64)
        round_flow(*edges, flow, problem.base, problem.rhs.size + 1, random)
        assert ((flow == 0) | (flow == problem.base)).all()
        total += flow
    return [Fraction(int(up), problem.base * span**deciding) for up in total]


@pytest.mark.parametrize(
    ("array", "base"),
    [([[1, 1], [1, 1]], 2), ([[1, 2], [2, 1]], 3), ([[1, 0], [0, 2]], 3), ([[1, 1], [1, 2]], 3), ([[3, 2]], 4)],
)
def test_unbiased_rounding_of_networks_by_exact_enumeration(array: list[list[int]], base: int) -> None:
    problem = problem_of(Tabulation.from_table(Table.from_array(array, ["a", "b"])), base)
    assert enumerated_mean(problem) == [Fraction(int(r), base) for r in problem.residual]


def test_unbiased_rounding_of_networks_over_draws() -> None:
    rng = np.random.default_rng(6)
    cells = random_tabulation(rng, (4, 3), (3, 1))
    problem = problem_of(cells, 5)
    edges = network_of(problem)
    assert edges is not None
    draws = generator(1)
    ups = np.mean([round_network(problem, edges, draws) for _ in range(8000)], axis=0)
    share = problem.residual / 5
    assert (np.abs(ups - share) < 5 * np.sqrt(share * (1 - share) / 8000)).all()


def test_unbiased_rounding_of_other_tables_is_a_mixture() -> None:
    rng = np.random.default_rng(7)
    met = {"mixture": 0, "none": 0}
    for _ in range(12):
        cells = random_tabulation(rng, (3, 2, 2), (2, 1, 1), mean=2.0)
        base = int(rng.integers(2, 5))
        problem = problem_of(cells, base)
        if network_of(problem) is not None:
            continue
        try:
            points, weights = mixture(problem, 30.0)
        except InfeasibleError:
            met["none"] += 1
            continue
        met["mixture"] += 1
        assert weights.sum() == pytest.approx(1)
        np.testing.assert_allclose(weights @ points, problem.residual / base, atol=1e-7)
        for point in points:
            assert not problem.sums.sums(problem.published(point)).any()
    assert met["mixture"] > 0


def test_unbiased_releases() -> None:
    table = dc.datasets.religion()
    release = controlled_rounding(table, 3, unbiased=True, seed=4)
    again = controlled_rounding(table, 3, unbiased=True, seed=4)
    assert release.table == again.table
    assert np.array_equal(release.parts()[0].values, again.parts()[0].values)
    assert release.table != controlled_rounding(table, 3, unbiased=True, seed=5).table
    # Single figures follow the law of random rounding, but not independently of each other.
    assert release.parts()[0].kinds[0].name == "controlled"
    assert np.abs(release.table.to_array() - table.to_array()).max() < 3
    impossible = without_rounding()
    with pytest.raises(InfeasibleError, match="without bias"):
        controlled_rounding(impossible, 2, unbiased=True)


def test_linked_margins_without_the_finest_cells() -> None:
    import pandas as pd

    rng = np.random.default_rng(8)
    people = pd.DataFrame({name: rng.integers(0, 4, 300).astype(str) for name in "abc"})
    cells = dc.tabulate(people, list("abc"), margins=[["a", "b"], ["b", "c"], ["b"]])
    made = ControlledRounding(5).apply(cells)
    assert made.release.inner is None
    values = made.release.parts()[0].values
    full = cells.with_empty_cells()
    assert (np.abs(values - full.records) < 5).all()
    sums = sums_of(full)
    assert sums.starts.size - 1 == 4 + 4
    assert not sums.sums(values).any()


def test_when_time_runs_out_inner_cells_are_rounded_and_margins_follow() -> None:
    cells = random_tabulation(np.random.default_rng(11), (9, 8, 6), (3, 3, 2))
    made = ControlledRounding(7, time_limit=0.02).apply(cells)
    values = made.release.parts()[0].values
    check_additive(cells, values)
    if not made.details["zero_restricted"]:
        assert "No zero-restricted rounding was found" in made.notes[0]
        assert 0 < made.details["gap"] < 1


def test_multiples_stay() -> None:
    table = Table.from_array([[5, 10], [0, 15]], ["a", "b"])
    made = ControlledRounding(5).apply(table)
    assert made.changes.changed == 0
    assert made.details["cost"] == 0
    with pytest.raises(RequestError, match="time limit is 0"):
        ControlledRounding(5, time_limit=0)
