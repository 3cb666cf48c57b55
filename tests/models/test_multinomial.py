"""Sample + multinomial draws: both samplers follow the exact law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.models.laws import fit_of_rows, fit_of_values, multinomial_law

from discreet.core.numerics import IntArray
from discreet.core.random import generator
from discreet.models.draws import draw_multinomial, multinomial_by_numpy, multinomial_by_tables, tables_mean

BASE = np.array([1, 0, 0, 2, 0])
# One heavy cell or more, light ones, and one that is impossible, for about 10 draws.
P = np.array([0.55, 0.05, 0.0, 0.32, 0.08])


@pytest.mark.parametrize("mean", [2.0, 5.0, 9.0, 12.0])
def test_tables_follow_the_exact_law_whatever_the_mean(mean: float) -> None:
    rows = multinomial_by_tables(BASE, P, 9, mean, 60_000, generator(11))
    assert fit_of_rows(rows, multinomial_law(BASE.tolist(), P.tolist(), 9)) > 1e-3


def test_numpy_follows_the_exact_law() -> None:
    rows = multinomial_by_numpy(BASE, P, 9, 60_000, generator(12))
    assert fit_of_rows(rows, multinomial_law(BASE.tolist(), P.tolist(), 9)) > 1e-3


def test_a_wrong_law_is_noticed() -> None:
    """The test of fit can fail: a probability off by 0.01 is seen."""
    wrong = P + np.array([0.01, 0, 0, -0.01, 0])
    rows = multinomial_by_numpy(BASE, wrong, 9, 60_000, generator(12))
    assert fit_of_rows(rows, multinomial_law(BASE.tolist(), P.tolist(), 9)) < 1e-6


def binomial(draws: int, p: float) -> np.ndarray:
    k = np.arange(draws + 1)
    log = [math.lgamma(draws + 1) - math.lgamma(x + 1) - math.lgamma(draws - x + 1) for x in k]
    law: np.ndarray = np.exp(np.array(log) + k * math.log(p) + (draws - k) * math.log1p(-p))
    return law


def test_the_margins_and_the_covariances_of_a_table_of_ordinary_size() -> None:
    p = np.random.default_rng(5).dirichlet(np.full(90, 0.4))
    draws, size = 2204, 40_000
    mean = tables_mean(p, draws)
    assert mean is not None
    rows = multinomial_by_tables(np.zeros(90, np.int64), p, draws, mean, size, generator(1))
    assert (rows.sum(axis=1) == draws).all()
    largest, second = np.argsort(p)[[-1, -2]]
    for cell in (largest, second, np.argsort(p)[45]):
        assert fit_of_values(rows[:, cell], binomial(draws, float(p[cell]))) > 1e-3
    covariance = np.cov(rows[:, largest], rows[:, second])[0, 1]
    exact = -draws * p[largest] * p[second]
    spread = draws * math.sqrt(p[largest] * p[second]) / math.sqrt(size)
    assert abs(covariance - exact) < 4 * spread


def test_the_light_cells_of_a_sparse_table() -> None:
    """More cells than people: nearly all cells are light and filled one by one."""
    p = np.random.default_rng(6).dirichlet(np.full(2000, 1.0))
    mean = tables_mean(p, 300)
    assert mean is not None
    rows = multinomial_by_tables(np.zeros(2000, np.int64), p, 300, mean, 20_000, generator(2))
    groups = p.reshape(20, 100).sum(axis=1)
    for i in (0, 7):
        values = rows[:, 100 * i : 100 * (i + 1)].sum(axis=1)
        assert fit_of_values(values, binomial(300, float(groups[i]))) > 1e-3


def test_large_problems_go_to_numpy_and_small_ones_to_tables() -> None:
    p = np.full(90, 1 / 90)
    assert tables_mean(p, 2204) is not None
    assert tables_mean(p, 10**9) is None


def test_a_population_of_a_thousand_million() -> None:
    p = np.array([0.25, 0.75 - 1e-7, 0.0, 1e-7, 0.0])
    rows = draw_multinomial(np.zeros(5, np.int64), p, 10**9, 200, generator(3))
    assert (rows.sum(axis=1) == 10**9).all()
    assert not rows[:, [2, 4]].any()
    spread = np.sqrt(10**9 * p * (1 - p) / 200)
    assert (np.abs(rows.mean(axis=0) - 10**9 * p) <= 4 * spread + 1e-9).all()


def test_certainty() -> None:
    """With one possible cell every table is the same, on both ways."""
    base, p = np.array([3, 0]), np.array([0.0, 1.0])
    ways: list[IntArray] = [
        multinomial_by_numpy(base, p, 5, 4, generator(0)),
        multinomial_by_tables(base, p, 5, 4.0, 4, generator(0)),
    ]
    for rows in ways:
        assert rows.tolist() == [[3, 5]] * 4
