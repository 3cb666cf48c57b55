"""How far intervals that are not finished may be off: never less than they are."""

from __future__ import annotations

import numpy as np
import pytest
from tests.feasible.random_releases import release
from tests.feasible.test_engines import cube

import discreet as dc
from discreet.feasible.bounds import Bounds, bounds
from discreet.table.equations import Equations, equations_of


def within(loose: Bounds, exact: Bounds) -> int:
    """Check the ends of unfinished intervals; return how many are off, and said to be less off than they are wide."""
    assert exact.finished.all()
    assert not exact.off.any()
    assert (loose.off[loose.finished] == 0).all()
    far = np.maximum(exact.lower - loose.lower, loose.upper - exact.upper)
    assert (far <= loose.off).all()
    return int((~loose.finished & (loose.off < loose.upper - loose.lower)).sum())


def systems(seeds: range) -> list[Equations]:
    made = [equations_of(release(seed)[0]) for seed in seeds]
    return made + [equations_of(cube(4, 3, seed)) for seed in seeds[::6]]


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 400), marks=pytest.mark.long)])
def test_intervals_are_no_further_off_than_said(seeds: range) -> None:
    told = 0
    for equations in systems(seeds):
        exact = bounds(equations)
        told += within(bounds(equations, relaxed=True), exact)
        within(bounds(equations, time_limit=0.0), exact)
    assert told


def test_an_audit_says_how_far_off_it_may_be() -> None:
    found = dc.audit(cube(3, 2, 1), time_limit=0.0, proofs=0)
    far = np.nanmax(found.findings.off)
    assert found.verdict == "incomplete"
    assert f"may be too wide by {far:.0f} at either end" in found.sentence
