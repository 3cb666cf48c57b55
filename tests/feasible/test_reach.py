"""Levels that must be attained, against every table that fits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from tests.feasible.random_releases import release
from tests.feasible.test_brute_force import listed

from discreet.core.errors import RequestError
from discreet.feasible.reach import OUT_OF_REACH, REACHED, UNDECIDED, reach_levels
from discreet.feasible.tableau import solver
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED


def compare(seed: int) -> int:
    if (all_ := listed(seed)) is None:
        return 0
    _, equations, tables, place, trees = all_
    every = np.arange(equations.lower.size)
    values = [tables[:, place.members(equations.cell(i), trees)].sum(axis=1) for i in every.tolist()]
    least, most = np.array([v.min() for v in values]), np.array([v.max() for v in values])
    rng = np.random.default_rng(seed)
    # Levels on both sides of what is possible, and well inside.
    low, high = least + rng.integers(-1, 3, every.size), most + rng.integers(-2, 2, every.size)
    answer = reach_levels(equations, every, low, high, workers=1)
    assert (answer.lower == np.where(least <= low, REACHED, OUT_OF_REACH)).all(), seed
    assert (answer.upper == np.where(most >= high, REACHED, OUT_OF_REACH)).all(), seed
    return 1


@pytest.mark.parametrize("block", range(3))
def test_levels_equal_the_list_of_all_tables(block: int) -> None:
    assert sum(compare(seed) for seed in range(100 * block, 100 * block + 100)) >= 80


def test_levels_by_rounded_programs_equal_the_list_of_all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MANY", 0)
    monkeypatch.setattr(solver, "TURNS", 1)
    assert sum(compare(seed) for seed in range(300, 400)) >= 80


@pytest.mark.parametrize("seed", range(6))
def test_levels_of_large_amounts_equal_integer_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MANY", 0)
    monkeypatch.setattr(solver, "TURNS", 2)
    rng = np.random.default_rng(seed)
    labels = {name: [*map(str, range(size)), "Total"] for name, size in (("a", 5), ("b", 4), ("c", 3))}
    inner = np.rint(rng.lognormal(6, 2, (5, 4, 3))).astype(np.int64)
    whole = inner
    for axis in range(3):
        whole = np.concatenate([whole, whole.sum(axis=axis, keepdims=True)], axis=axis)
    shown = whole.astype(object)
    shown[rng.random(whole.shape) < 0.45] = None
    equations = equations_of(Figures.from_array(shown, labels))
    open_ = np.flatnonzero(equations.lower != equations.upper)[:40]
    value = np.array([whole[tuple(labels[n].index(v) for n, v in equations.cell(i).items())] for i in open_.tolist()])
    away = np.rint(value * rng.uniform(0, 0.8, value.size)).astype(np.int64)
    answer = reach_levels(equations, open_, value - away, value + away)
    rows = np.repeat(np.arange(equations.starts.size - 1), np.diff(equations.starts))
    matrix = csr_array((equations.signs, (rows, equations.columns)), shape=(rows[-1] + 1, equations.lower.size))
    top = np.where(equations.upper >= UNBOUNDED, np.inf, equations.upper)
    for i, low, high, down, up in zip(open_, value - away, value + away, answer.lower, answer.upper, strict=True):
        for sign, level, said in ((1, low, down), (-1, high, up)):
            costs = np.zeros(top.size)
            costs[i] = sign
            best = milp(
                costs, constraints=LinearConstraint(matrix, 0, 0), bounds=Bounds(equations.lower, top), integrality=1
            )
            assert best.success
            reached = round(sign * best.fun) * sign <= level * sign
            assert said == (REACHED if reached else OUT_OF_REACH), (seed, equations.describe(int(i)), sign)


@pytest.mark.long
@pytest.mark.parametrize("block", range(6))
def test_levels_of_thousands_of_releases(block: int) -> None:
    assert sum(compare(seed) for seed in range(6000 + 500 * block, 6500 + 500 * block)) >= 400


def test_without_time_nothing_is_called_reached() -> None:
    parts, names = release(11)
    equations = equations_of(parts, about=names)
    every = np.arange(equations.lower.size)
    full = reach_levels(equations, every, equations.lower, np.minimum(equations.upper, 50))
    none = reach_levels(equations, every, equations.lower, np.minimum(equations.upper, 50), time_limit=0.0)
    sure = none.lower != UNDECIDED
    assert (none.lower[sure] == full.lower[sure]).all()


def test_every_target_needs_its_levels() -> None:
    parts, names = release(11)
    equations = equations_of(parts, about=names)
    with pytest.raises(RequestError, match="2 targets have 1 levels"):
        reach_levels(equations, [0, 1], [0], [1])
