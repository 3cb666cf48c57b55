"""Tables found by shifts: they fit, and bounds do not depend on whether they were looked for."""

from __future__ import annotations

import numpy as np
import pytest
from tests.feasible.random_releases import release
from tests.feasible.test_engines import cube

import discreet as dc
from discreet.core.clock import Clock
from discreet.feasible.bounds import bounds
from discreet.feasible.network.orientation import oriented
from discreet.feasible.reduction import Group, reduce
from discreet.feasible.tableau import solver
from discreet.feasible.tableau.solver import Solver
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import Kind


def perturbed(shape: tuple[int, ...], seed: int, bound: int) -> Figures:
    """A table all of whose figures, sums too, are off by up to a bound."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(4, shape)
    for axis in range(len(shape)):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    shown = np.maximum(counts + rng.integers(-bound, bound + 1, counts.shape), 0)
    labels = {name: (*map(str, range(n)), "Total") for name, n in zip("abc", shape, strict=True)}
    codes = np.argwhere(np.ones(counts.shape, bool))
    kinds = (Kind("perturbed", bound=bound),)
    return Figures(labels, codes, shown.ravel(), np.zeros(shown.size, np.int64), kinds)


def any_shape(shown: Figures | list[Figures]) -> list[Group]:
    groups = reduce(equations_of(shown)).groups
    return [group for group in groups if not group.is_tree and oriented(group) is None]


def found_by_shifts(group: Group, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare a group's bounds with and without shifts; return how many tables shifts found."""
    every = np.ones(group.variables.size, np.int64)
    usual = Solver(group, every, None, Clock())
    with monkeypatch.context() as patch:
        patch.setattr(solver, "SPACIOUS", -1)
        other = Solver(group, every, None, Clock())
        tables = int(other.pool.tables[0])
    for one in (usual, other):
        one.run(1000)
    a, b = usual.found(), other.found()
    both = (a.settled > 0) & (b.settled > 0)
    assert (a.bound[both] == b.bound[both]).all()
    assert np.allclose(a.relaxed[both], b.relaxed[both], atol=1e-6)
    assert both.mean() > 0.9
    return tables


def agrees(seeds: range, monkeypatch: pytest.MonkeyPatch) -> int:
    tables = 0
    for seed in seeds:
        for shown in (perturbed((3, 3, 3), seed, 1 + seed % 3), cube(4, 3, seed, hide=0.7), release(seed)[0]):
            tables += sum(found_by_shifts(group, monkeypatch) for group in any_shape(shown))
    return tables


def test_bounds_are_the_same_with_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert agrees(range(4), monkeypatch) > 100


@pytest.mark.long
def test_many_bounds_are_the_same_with_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert agrees(range(100, 160), monkeypatch) > 2000


def test_large_perturbed_tables_are_bounded_by_shifts() -> None:
    """A tableau of more than a million entries, on which the first table alone takes minutes."""
    equations = equations_of(perturbed((14, 12, 12), 1, 2))
    found = bounds(equations, time_limit=120.0)
    assert found.finished.all()
    # Each end that is claimed is reached by a table that was checked against the equations, and by no other proof:
    # narrowing by single equations is what bounds it from outside.
    reduced = reduce(equations)
    assert (found.lower >= reduced.low).all()
    assert (found.upper <= reduced.high).all()
    assert dc.audit(perturbed((14, 12, 12), 1, 2), time_limit=120.0, proofs=0).verdict == "safe"


def test_tables_found_by_shifts_count_though_time_runs_out() -> None:
    (group,) = any_shape(perturbed((8, 8, 8), 1, 2))
    clock, every = Clock(), np.ones(group.variables.size, np.int64)
    solver = Solver(group, every, None, clock)
    clock.ring()
    solver.run(100)
    found = solver.found()
    assert found.settled.mean() > 0.9
    done = found.settled > 0
    assert (found.bound[done] == found.seen[done]).all()
