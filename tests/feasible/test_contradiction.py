"""Figures that contradict each other, against all subsets of them."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from tests.feasible.oracle import world
from tests.feasible.random_releases import release
from tests.feasible.test_brute_force import all_tables
from tests.lengths import few_or_long

from discreet.core.errors import InfeasibleError
from discreet.feasible import contradiction
from discreet.feasible.bounds import bounds
from discreet.feasible.contradiction import conflict
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED


def spoiled(seed: int) -> Equations | None:
    """A release with one figure moved so far that nothing fits, None where something still does."""
    parts, names = release(seed)
    equations = equations_of(parts, about=names)
    rng = np.random.default_rng(seed)
    shown = np.flatnonzero((equations.source >= 0) & (equations.upper < UNBOUNDED))
    i = int(rng.choice(shown))
    equations.lower[i] += 7
    equations.upper[i] += 7
    try:
        bounds(equations, workers=1)
    except InfeasibleError:
        return equations
    return None


def true_together(equations: Equations, figures: tuple[int, ...]) -> bool:
    """Say whether figures can be true when all others are free."""
    free = np.full(equations.lower.size, UNBOUNDED)
    low = np.zeros_like(equations.lower)
    low[list(figures)], free[list(figures)] = equations.lower[list(figures)], equations.upper[list(figures)]
    loose = Equations(
        **{name: getattr(equations, name) for name in equations.__dataclass_fields__} | {"lower": low, "upper": free}
    )
    try:
        bounds(loose, workers=1)
    except InfeasibleError:
        return False
    return True


def compare(seed: int) -> int:
    equations = spoiled(seed)
    if equations is None:
        return 0
    found = conflict(equations)
    assert found.smallest
    assert not true_together(equations, found.figures), seed
    for left_out in found.figures:
        assert true_together(equations, tuple(i for i in found.figures if i != left_out)), seed
    shown = np.flatnonzero((equations.source >= 0) & (equations.upper < UNBOUNDED))
    size = len(found.figures)
    if size <= 3 and shown.size <= 14:
        for fewer in itertools.combinations(shown.tolist(), size - 1):
            assert true_together(equations, fewer), (seed, fewer)
    return 1


@few_or_long(("seeds", "least"), (range(15), 6), (range(15, 500), 180))
def test_no_fewer_figures_conflict(seeds: range, least: int) -> None:
    assert sum(map(compare, seeds)) >= least


def test_the_error_says_that_no_fewer_do() -> None:
    both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    shown = Figures.from_array([[3, None, 5], [4, None, None], [7, 1, 8]], both)
    with pytest.raises(InfeasibleError, match="3 figures contradict each other, no fewer do"):
        bounds(equations_of(shown))


def test_without_time_the_set_is_called_irreducible_only() -> None:
    for seed in range(40):
        equations = spoiled(seed)
        if equations is not None and len(conflict(equations).figures) > 2:
            found = conflict(equations, seconds=0.0)
            assert not found.smallest
            assert not true_together(equations, found.figures)
            return
    pytest.fail("no release with three figures in conflict")


def test_releases_that_fit_have_no_conflict() -> None:
    parts, _ = release(3)
    place, _ = world(parts)
    assert all_tables(place) is not None
    bounds(equations_of(parts))


def test_a_mark_that_says_that_somebody_is_there_is_named() -> None:
    shown = Figures.from_array([None, 0, 5, 5], {"area": ["n", "s", "w", "Total"]})
    with pytest.raises(InfeasibleError, match=r"3 figures contradict .* \(total = 5; area=n at least 1; area=w = 5\)"):
        bounds(equations_of(shown))


def test_figures_are_named_once_somebody_reads_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(equations: Equations) -> contradiction.Conflict:
        asked.append(equations)
        return conflict(equations)

    monkeypatch.setattr(contradiction, "conflict", counted)
    equations = next(made for made in map(spoiled, range(100)) if made is not None)
    with pytest.raises(InfeasibleError) as raised:
        bounds(equations, workers=1)
    assert not asked
    told = str(raised.value)
    assert "contradict each other, no fewer do" in told
    # Another process is told the same, and nothing is searched for again.
    assert str(pickle.loads(pickle.dumps(raised.value))) == told == str(raised.value)
    assert told in repr(raised.value)
    assert len(asked) == 1
