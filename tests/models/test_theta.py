"""θ against exact sums, and its limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InfeasibleError, RequestError
from discreet.models.theta import reciprocal_sums, solve_theta


def exact_new_cells(theta: Fraction, n: int, N: int) -> Fraction:
    return sum((theta / (n + theta + z) for z in range(N - n)), Fraction(0))


@pytest.mark.parametrize(("start", "terms"), [(1.0, 1), (1.0, 60), (0.25, 7), (29.5, 3), (31.0, 4), (500.0, 250)])
def test_reciprocal_sums_are_exact(start: float, terms: int) -> None:
    first, second = reciprocal_sums(start, terms)
    exact = [Fraction(start) + z for z in range(terms)]
    assert float(first) == pytest.approx(float(sum(1 / x for x in exact)), rel=4e-16)
    assert float(second) == pytest.approx(float(sum(1 / x**2 for x in exact)), rel=1e-14)


def test_reciprocal_sums_without_terms_or_with_few_far_out() -> None:
    assert float(reciprocal_sums(5.0, 0)[0]) == 0.0
    # Here a difference of two digamma values would keep six digits only.
    assert float(reciprocal_sums(1e9, 3)[0]) == pytest.approx(3e-9 * (1 - 1e-9), rel=1e-15)


@pytest.mark.parametrize(("n", "N", "cells"), [(1, 2, "0.5"), (3, 12, "2.5"), (10, 60, "12"), (25, 80, "54.9")])
def test_theta_against_bisection_with_exact_sums(n: int, N: int, cells: str) -> None:
    wanted = Fraction(cells)
    low, high = Fraction(0), Fraction(10**6)
    for _ in range(70):
        middle = Fraction(float((low + high) / 2))
        low, high = (middle, high) if exact_new_cells(middle, n, N) < wanted else (low, middle)
    assert float(solve_theta(float(wanted), n, N)) == pytest.approx(float(high), rel=1e-13)


def test_theta_for_many_targets_is_theta_for_each() -> None:
    targets = np.linspace(-3, 60, 200)
    together = solve_theta(targets, 122, 2449)
    assert together.tolist() == [float(solve_theta(target, 122, 2449)) for target in targets]
    assert (np.diff(together[targets > 0]) > 0).all()


def test_theta_of_large_populations() -> None:
    """θ·log((N + θ)/(n + θ)) is the equation's limit when n and N are large."""
    n, N = 10**6, 10**9
    theta = float(solve_theta(5e5, n, N))
    assert theta * math.log((N + theta) / (n + theta)) == pytest.approx(5e5, rel=1e-6)
    # A small target makes θ the target over the difference of harmonic numbers.
    harmonic = math.log(N) - 0.5 / N + 0.57721566490153286
    assert float(solve_theta(1e-9, 1, N)) == pytest.approx(1e-9 / harmonic, rel=1e-9)
    # And one near N − n makes nearly every draw black: θ ≈ Σ(n + z)/(N − n − target).
    draws = 1000
    theta = float(solve_theta(draws - 1e-3, 50, 50 + draws))
    assert theta == pytest.approx(sum(50 + z for z in range(draws)) / 1e-3, rel=1e-3)


@settings(deadline=None)
@given(
    n=st.integers(1, 10**6),
    draws=st.integers(1, 10**9),
    share=st.floats(1e-12, 1 - 1e-9),
)
def test_theta_solves_the_equation(n: int, draws: int, share: float) -> None:
    wanted = share * draws
    theta = solve_theta(wanted, n, n + draws)
    assert float(theta * reciprocal_sums(n + theta, draws)[0]) == pytest.approx(wanted, rel=2e-14)


@pytest.mark.parametrize("target", [0.0, -0.5, -100.0])
def test_nothing_to_fill_needs_no_black_balls(target: float) -> None:
    assert float(solve_theta(target, 10, 100)) == 0.0


def test_more_cells_than_people() -> None:
    with pytest.raises(InfeasibleError, match=r"90 sample zeros .* N − n = 90"):
        solve_theta(90.0, 10, 100)
    with pytest.raises(InfeasibleError, match=r"91\.5 sample zeros"):
        solve_theta([3.0, 91.5], 10, 100)


def test_unusable_figures() -> None:
    with pytest.raises(RequestError, match="1 ≤ n ≤ N"):
        solve_theta(1.0, 0, 100)
    with pytest.raises(RequestError, match="not a number"):
        solve_theta([1.0, math.nan], 10, 100)
