"""The Pólya urn: every way of drawing it follows the law of the urn, ball by ball."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from tests.models.laws import beta_binomial_law, fit_of_rows, fit_of_values, new_colours_law, urn_law

from discreet.core.numerics import IntArray
from discreet.core.random import generator
from discreet.models.draws import draw_urn, leap_ratio, urn_by_kernel, urn_by_numpy

Way = Callable[[IntArray, IntArray, float, int, int, int], IntArray]


def leap(share: float) -> Way:
    """Leap to a share of the draws on average: too short a leap is filled up, too long a one cut back."""

    def way(base: IntArray, empty: IntArray, theta: float, draws: int, size: int, seed: int) -> IntArray:
        weight = base.sum() + theta
        ratio = share * draws / (weight + share * draws)
        return urn_by_kernel(base, empty, theta, draws, float(ratio), size, generator(seed))

    return way


def balls(base: IntArray, empty: IntArray, theta: float, draws: int, size: int, seed: int) -> IntArray:
    return urn_by_kernel(base, empty, theta, draws, 0.0, size, generator(seed))


def numpy(base: IntArray, empty: IntArray, theta: float, draws: int, size: int, seed: int) -> IntArray:
    return urn_by_numpy(base, empty, theta, draws, size, generator(seed))


WAYS = {"short leap": leap(0.4), "leap": leap(1.0), "long leap": leap(2.0), "balls": balls, "numpy": numpy}

# The last cell of the first four is impossible.
CASES = {
    "roomy": ([2, 0, 1, 0, 0, 0], [1, 3, 4], Fraction(1, 2), 6),
    "capped": ([2, 0, 1, 0, 0], [1, 3], Fraction(4), 6),
    "capped at one": ([1, 0, 0, 3], [1], Fraction(3), 7),
    "no black balls": ([2, 0, 1, 3], [1], Fraction(0), 7),
    "no empty cell": ([2, 1, 3], [], Fraction(5, 2), 8),
    "one colour": ([1, 0, 0], [1, 2], Fraction(2), 7),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_small_urns_follow_the_exact_law(case: str, way: str) -> None:
    base, empty, theta, draws = CASES[case]
    law = urn_law(base, empty, theta, draws)
    rows = WAYS[way](np.array(base), np.array(empty, np.int64), float(theta), draws, 30_000, 8)
    assert fit_of_rows(rows, law) > 1e-3


def test_a_wrong_law_is_noticed() -> None:
    """The test of fit can fail: a θ off by a tenth is seen."""
    base, empty, theta, draws = CASES["roomy"]
    rows = balls(np.array(base), np.array(empty), float(theta) * 1.1, draws, 30_000, 8)
    assert fit_of_rows(rows, urn_law(base, empty, theta, draws)) < 1e-6


@pytest.mark.parametrize("way", WAYS)
def test_an_urn_of_ordinary_size(way: str) -> None:
    """Numbers of new colours and of balls of one colour against their exact laws, n = 40, N = 340."""
    base = np.array([20, 10, 5, 3, 1, 1, *([0] * 60)])
    empty = np.arange(6, 66)
    rows = WAYS[way](base, empty, 7.5, 300, 20_000, 9)
    assert fit_of_values((rows[:, empty] > 0).sum(axis=1), new_colours_law(40, 7.5, 300)) > 1e-3
    for cell in (0, 2, 4):
        law = beta_binomial_law(300, float(base[cell]), 47.5 - base[cell])
        assert fit_of_values(rows[:, cell] - base[cell], law) > 1e-3
    new = rows[:, empty].sum(axis=1)
    assert fit_of_values(new, beta_binomial_law(300, 7.5, 40.0)) > 1e-3


def simulate(base: IntArray, empty: IntArray, theta: float, draws: int, size: int) -> IntArray:
    """Draw one ball at a time, as the urn is told."""
    source = np.random.default_rng(4)
    rows = np.tile(base, (size, 1))
    for row in rows:
        contents = [cell for cell in np.flatnonzero(base) for _ in range(base[cell])]
        free = source.permutation(empty).tolist()
        for u in source.random(draws):
            black = theta if free else 0.0
            at = int(u * (len(contents) + black))
            contents.append(contents[at] if at < len(contents) else free.pop())
        row[:] = np.bincount(contents, minlength=base.size)
    return rows


@pytest.mark.parametrize("cells", [4, 30])
def test_every_way_agrees_with_a_simulation_ball_by_ball(cells: int) -> None:
    """Repeat rates, the largest cell and the number of singles, with the cap at work (4) and idle (30)."""
    base = np.array([6, 3, 1, *([0] * cells)])
    empty = np.arange(3, 3 + cells)
    figures: dict[str, np.ndarray] = {}
    for name, rows in {
        "simulation": simulate(base, empty, 5.0, 70, 2500),
        **{way: WAYS[way](base, empty, 5.0, 70, 10_000, 5) for way in WAYS},
    }.items():
        new = rows[:, empty]
        columns = (rows**2).sum(axis=1), new.max(axis=1), (new == 1).sum(axis=1), (new**2).sum(axis=1)
        figures[name] = np.stack(columns).astype(float)
    told = figures.pop("simulation")
    for figure in figures.values():
        spread = np.sqrt(told.var(axis=1) / told.shape[1] + figure.var(axis=1) / figure.shape[1])
        assert (np.abs(told.mean(axis=1) - figure.mean(axis=1)) < 4 * spread).all()


def test_new_colours_fall_on_all_empty_cells_alike() -> None:
    base, empty = np.array([5, 0, 0, 0, 0, 4]), np.array([1, 2, 3, 4])
    for way in WAYS.values():
        filled = (way(base, empty, 1.0, 60, 20_000, 6)[:, empty] > 0).mean(axis=0)
        assert np.abs(filled - filled.mean()).max() < 4 * np.sqrt(filled.mean() / 20_000)


def test_a_large_urn_is_quick_and_follows_its_law() -> None:
    """N = 10⁹ through NumPy: means of the colours and of the number of new ones."""
    base = np.array([60, 30, 9, 1, *([0] * 400)])
    empty = np.arange(4, 404)
    draws, theta = 10**9 - 100, 4.0
    assert leap_ratio(base[base > 0], theta, draws) is None
    rows = draw_urn(base, empty, theta, draws, 4000, generator(7))
    assert (rows.sum(axis=1) == 10**9).all()
    share = base[:4] / 104
    spread = np.sqrt(share * (1 - share) / 105 / 4000)
    assert (np.abs((rows[:, :4].mean(axis=0) - base[:4]) / draws - share) < 4 * spread).all()
    # Σ θ/(n + θ + z) over the draws, by the logarithm that it is to within 1e-2.
    expected = theta * np.log((draws + 104) / 104)
    filled = (rows[:, empty] > 0).sum(axis=1)
    assert filled.mean() == pytest.approx(expected, abs=4 * np.sqrt(expected / 4000) + 0.03)


def test_the_capped_large_urn_keeps_everybody() -> None:
    base = np.array([60, 30, 9, 1, 0, 0])
    rows = urn_by_numpy(base, np.array([4, 5]), 50.0, 10**9 - 100, 500, generator(7))
    assert (rows.sum(axis=1) == 10**9).all()
    assert (rows > 0).all()


def test_the_way_depends_on_the_problem() -> None:
    religion = np.array([18, 14, 13, 9, 8, *([1] * 30)])
    ratio = leap_ratio(religion, 12.0, 2204)
    assert ratio is not None
    assert 0 < ratio < 1
    # Few balls among many colours are drawn one by one; a large population goes to NumPy.
    assert leap_ratio(np.ones(5000, np.int64), 12.0, 100) == 0
    assert leap_ratio(religion, 12.0, 10**8) is None
