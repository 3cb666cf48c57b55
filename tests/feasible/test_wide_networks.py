"""Bounds of large networks whose ranges are wide: many at once, not a path for each."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.compiled import Kernel
from discreet.feasible.bounds import bounds
from discreet.feasible.network import flow
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures

PLENTY = 10**12


def square(side: int) -> Equations:
    """A square table of skewed counts with its margins; 1 to 3 are hidden."""
    weights = np.multiply.outer(np.arange(1, side + 1) ** -0.5, np.arange(1, side + 1) ** -0.5)
    counts = np.random.default_rng(side).poisson(weights / weights.mean() * 6)
    counts = np.concatenate([counts, counts.sum(axis=0, keepdims=True)])
    counts = np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
    shown = counts.astype(object)
    hidden = np.isin(counts, (1, 2, 3))
    hidden[-1], hidden[:, -1] = False, False
    shown[hidden] = None
    labels = (*map(str, range(side)), "Total")
    return equations_of(Figures.from_array(shown.tolist(), {"r": labels, "c": labels}))


def turns(side: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Return how many turns of loops each hidden cell takes."""
    kernel = Kernel(flow.network_bounds.function)
    kernel._granted = PLENTY
    monkeypatch.setattr(flow, "network_bounds", kernel)
    equations = square(side)
    wanted = np.flatnonzero(equations.hidden)
    assert bounds(equations, wanted, workers=1).finished[wanted].all()
    assert kernel._granted < PLENTY
    return (PLENTY - kernel._granted) / wanted.size


def test_work_grows_with_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KERNELS", "auto")
    small, large = turns(40, monkeypatch), turns(80, monkeypatch)
    assert large < 1.5 * small
