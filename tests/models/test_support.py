"""Cells that margins leave no choice but to be empty."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.core.errors import InfeasibleError
from discreet.models import LogLinear
from discreet.models.ipf import fillable, fit
from discreet.table import Table


def enumerate_fillable(support: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Walk through all tables with the rows and columns of the given one; their corners are whole numbers."""
    filled = np.zeros(support.shape, bool)

    def rows(i: int, left: np.ndarray, table: list[tuple[int, ...]]) -> None:
        if i == len(counts):
            if not left.any():
                filled[np.array(table) > 0] = True
            return
        choices = [range(int(c) + 1) if can else range(1) for c, can in zip(left, support[i], strict=True)]
        for row in itertools.product(*choices):
            if sum(row) == counts[i].sum():
                rows(i + 1, left - row, [*table, row])

    rows(0, counts.sum(axis=0), [])
    return filled


@pytest.mark.parametrize("seed", range(25))
def test_against_all_tables(seed: int) -> None:
    source = np.random.default_rng(seed)
    support = source.random((3, 3)) < 0.7
    support[0, 0] = True
    counts = source.integers(0, 3, (3, 3)) * support
    counts[0, 0] += 1
    margins = [((0,), counts.sum(axis=1).astype(float)), ((1,), counts.sum(axis=0).astype(float))]
    assert fillable(support, margins).tolist() == enumerate_fillable(support, counts).tolist()


def test_a_model_that_must_leave_cells_empty_is_fitted() -> None:
    """All pairs of a 2 × 2 × 2 table with two opposite zeros have one table only: the table itself."""
    counts = np.array([[[0, 3], [2, 5]], [[4, 1], [6, 0]]])
    table = Table.from_array(counts, ["a", "b", "c"])
    fitted = LogLinear((("a", "b"), ("b", "c"), ("a", "c"))).fit(table)
    assert fitted.expected == pytest.approx(counts, abs=1e-6)
    assert fitted.expected[0, 0, 0] == fitted.expected[1, 1, 1] == 0


def test_blocks_that_a_structural_zero_tears_apart() -> None:
    counts = np.array([[5, 0, 0], [0, 2, 0], [0, 3, 7]])
    never = np.array([[False, False, False], [True, False, False], [True, False, False]])
    fitted = LogLinear().fit(Table.from_array(counts, ["a", "b"], impossible=never))
    block = np.outer([2, 10], [5, 7]) / 12
    assert fitted.expected == pytest.approx(np.array([[5, 0, 0], [0, *block[0]], [0, *block[1]]]))


def test_the_fit_is_the_limit_of_endless_fitting() -> None:
    counts = np.random.default_rng(31).integers(0, 3, (3, 3, 3)).astype(float)
    pairs = [((a, b), counts.sum(axis=3 - a - b)) for a, b in itertools.combinations(range(3), 2)]
    endless = np.ones(counts.shape)
    for _ in range(6_000):
        for (a, b), target in pairs:
            sums = endless.sum(axis=3 - a - b)
            ratio = np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
            endless *= np.expand_dims(ratio, 3 - a - b)
    fitted = fit(np.ones(counts.shape), pairs)
    assert fitted.iterations < 500
    assert fitted.values == pytest.approx(endless, abs=1e-3)
    assert ((fitted.values == 0) & (endless > 0)).any(), "the example has no cell that must be empty"


def test_margins_that_contradict_each_other() -> None:
    """Any two of these agree, yet no table has all three: a goes with b and b with c, but a against c."""
    together = np.array([[3.0, 1.0], [1.0, 3.0]])
    margins = [((0, 1), together), ((1, 2), together), ((0, 2), np.array([[0.5, 3.5], [3.5, 0.5]]))]
    with pytest.raises(InfeasibleError, match="no table without negative cells has all these margins"):
        fit(np.ones((2, 2, 2)), margins)
