"""Levels that must be attained, against every table that fits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.feasible.oracle import world
from tests.feasible.random_releases import release
from tests.feasible.test_brute_force import all_tables

from discreet.core.errors import RequestError
from discreet.feasible.levels import OUT_OF_REACH, REACHED, UNDECIDED, reach_levels
from discreet.table.equations import equations_of


def compare(seed: int) -> int:
    parts, names = release(seed)
    place, trees = world(parts)
    tables = all_tables(place)
    if tables is None:
        return 0
    equations = equations_of(parts, about=names)
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
