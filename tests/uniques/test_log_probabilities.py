"""Log-probabilities against exact fractions, up to a thousand million people and cells."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.uniques import q_multinomial, q_uniform
from discreet.uniques.log_probabilities import (
    cross_difference,
    log_binomial,
    log_negative_binomial,
    log_poisson,
    log_polya,
    stirling_error,
)

BILLION = 10**9
LIMIT = Fraction(1, 10**12)


def exact_polya(x: int, a: int, b: Fraction, m: int) -> Fraction:
    """C(m,x)·(a)ₓ·(b)₍m−x₎/(a+b)₍m₎ with the gamma ratios cancelled to a + x factors, for whole a."""
    lower = prod((b + i for i in range(a)), start=Fraction(1))
    upper = prod((b + m - x + i for i in range(a + x)), start=Fraction(1))
    ways = prod((Fraction(m - i, i + 1) for i in range(x)), start=Fraction(1))
    return ways * prod((a + i for i in range(x)), start=1) * lower / upper


def relative(got: float, exact: Fraction) -> Fraction:
    return abs(Fraction(got) / exact - 1)


def test_polya_keeps_twelve_digits_up_to_a_billion() -> None:
    rng = random.Random(1)
    checked = 0
    for _ in range(400):
        a, x = rng.choice([1, 2, 3, 10, 50, 300]), rng.choice([0, 0, 1, 2, 5, 40, 300])
        b = Fraction(rng.randint(1, 10 ** rng.randint(1, 9)), rng.choice([1, 2]))
        m = rng.randint(x, max(x, 10 ** rng.randint(1, 9)))
        exact = exact_polya(x, a, b, m)
        if exact < Fraction(1, 10**290):
            continue
        checked += 1
        assert relative(float(np.exp(log_polya(x, a, float(b), m))), exact) < LIMIT
    assert checked > 250


def test_polya_with_fractional_weights() -> None:
    rng = random.Random(2)
    for _ in range(100):
        a, b = Fraction(rng.randint(1, 40), 4), Fraction(rng.randint(1, 4 * 10 ** rng.randint(1, 9)), 4)
        m = rng.randint(1, 60)
        x = rng.randint(0, m)
        top = prod((a + i for i in range(x)), start=Fraction(1)) * prod(
            (b + i for i in range(m - x)), start=Fraction(1)
        )
        exact = comb(m, x) * top / prod((a + b + i for i in range(m)), start=Fraction(1))
        if exact > Fraction(1, 10**290):
            assert relative(float(np.exp(log_polya(x, float(a), float(b), m))), exact) < LIMIT


def test_large_counts_on_a_large_cell() -> None:
    # a = 1: P(x) = b·m!/(m−x)! / ((b+m−x) … (b+m)), which for b = 1 is 1/(m+1) whatever x is.
    x = np.array([0, 1, 10**3, 10**6, 123_456_789, BILLION - 1, BILLION])
    got = np.exp(log_polya(x, 1.0, 1.0, BILLION))
    assert all(relative(float(value), Fraction(1, BILLION + 1)) < LIMIT for value in got)


def test_symmetry_of_large_cells() -> None:
    left = log_polya(500_000_123, 3e8 + 1, 2e8 + 1, BILLION)
    right = log_polya(BILLION - 500_000_123, 2e8 + 1, 3e8 + 1, BILLION)
    assert float(left) == pytest.approx(float(right), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 50), st.integers(1, 2000))
def test_polya_adds_up_to_one(m: int, a: int, b: int) -> None:
    assert np.exp(log_polya(np.arange(m + 1), a / 4, b / 4, m)).sum() == pytest.approx(1.0, rel=1e-12)


def test_binomial_keeps_twelve_digits_up_to_a_billion() -> None:
    rng = random.Random(3)
    with localcontext() as context:
        context.prec = 60
        for _ in range(300):
            k = rng.randint(2, 10 ** rng.randint(1, 9))
            m = rng.randint(0, 10 ** rng.randint(1, 9))
            x = rng.choice([0, 0, 1, 2, 30])
            if x > m:
                continue
            exact = comb(m, x) * (Decimal(1) / k) ** x * (1 - Decimal(1) / k) ** (m - x)
            if exact < Decimal("1e-290"):
                continue
            got = Decimal(float(np.exp(log_binomial(x, 1, k - 1, m))))
            assert abs(got / exact - 1) < Decimal("1e-12")


@pytest.mark.parametrize(("n", "people", "cells"), [(1, BILLION, BILLION), (10**6, BILLION, BILLION), (5, 10, 3)])
def test_closed_forms_of_q(n: int, people: int, cells: int) -> None:
    exact = Fraction((n + cells - 1) * (n + cells - 2), (people + cells - 1) * (people + cells - 2))
    assert relative(q_uniform(n, people, cells), exact) < LIMIT
    # The general law gives the same: P(no further person) with weights 2 and n + K − 2.
    assert relative(float(np.exp(log_polya(0, 2, n + cells - 2, people - n))), exact) < LIMIT
    with localcontext() as context:
        context.prec = 60
        power = (1 - Decimal(1) / cells) ** (people - n)
        assert abs(Decimal(q_multinomial(n, people, cells)) / power - 1) < Decimal("1e-12")


def test_dutch_municipality() -> None:
    assert q_uniform(8399, 46228, 1108) == pytest.approx(0.0403269, abs=5e-8)
    assert 108 * q_uniform(8399, 46228, 1108) == pytest.approx(4.3553, abs=5e-5)
    assert round(q_multinomial(8399, 46228, 1108) * 1e15, 2) == 1.46


def test_what_is_certain() -> None:
    assert log_polya([0, 1, 2], 2.0, 5.0, 0).tolist() == [0.0, -np.inf, -np.inf]
    assert log_polya([0, 3], 2.0, 0.0, 3).tolist() == [-np.inf, 0.0]
    assert log_polya([0, 3], 0.0, 2.0, 3).tolist() == [0.0, -np.inf]
    assert log_binomial([0, 3], 0.0, 2.0, 3).tolist() == [0.0, -np.inf]
    assert log_polya([-1, 4], 1.0, 2.0, 3).tolist() == [-np.inf, -np.inf]
    assert q_multinomial(3, 3, 1) == 1.0
    assert q_multinomial(2, 3, 1) == 0.0
    assert q_uniform(1, 1, 1) == 1.0


def test_small_functions() -> None:
    from scipy.special import gammaln
    from scipy.stats import nbinom, poisson

    x = np.array([0.01, 0.5, 1.0, 7.0, 15.9, 16.1, 300.0])
    direct = gammaln(x + 1) - (x + 0.5) * np.log(x) + x - 0.5 * np.log(2 * np.pi)
    assert stirling_error(x) == pytest.approx(direct, abs=1e-12)
    one = np.ones(1)
    assert cross_difference(3e9 * one + 1, 3e9 * one - 1, 3e9 * one, 3e9 * one)[0] == -1.0
    assert log_negative_binomial(7, 2.5, 3.0) == pytest.approx(nbinom.logpmf(7, 2.5, 0.25), rel=1e-12)
    assert log_negative_binomial(0, 2.5, 3.0) == pytest.approx(nbinom.logpmf(0, 2.5, 0.25), rel=1e-12)
    assert log_poisson(7, 2.5) == pytest.approx(poisson.logpmf(7, 2.5), rel=1e-12)
    assert log_poisson(0, 2.5) == -2.5
