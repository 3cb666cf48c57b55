"""Log-gamma and the mean of an inverse, against exact values and SciPy."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from discreet.core.numerics import log_gamma, mean_inverse, xlogy


def test_log_gamma_of_integers_is_the_log_of_a_factorial() -> None:
    n = np.arange(1, 400)
    exact = np.array([math.log(math.factorial(int(one) - 1)) for one in n])
    np.testing.assert_allclose(log_gamma(n), exact, rtol=1e-14, atol=0)


def test_log_gamma_of_halves_is_that_of_double_factorials() -> None:
    # Γ(k + ½) = (2k)!/(4^k·k!)·√π
    exact = [
        math.log(Fraction(math.factorial(2 * k), 4**k * math.factorial(k))) + 0.5 * math.log(math.pi) for k in range(80)
    ]
    np.testing.assert_allclose(log_gamma(np.arange(80) + 0.5), exact, rtol=1e-14, atol=1e-15)


def test_log_gamma_agrees_with_scipy_and_keeps_shapes() -> None:
    rng = np.random.default_rng(1)
    x = np.exp(rng.uniform(np.log(1e-8), np.log(1e15), (200, 50)))
    np.testing.assert_allclose(log_gamma(x), special.gammaln(x), rtol=1e-14, atol=4e-15)
    assert log_gamma(x).shape == x.shape
    for one in (3.5, 16.0, 1e6):
        assert float(log_gamma(one)) == pytest.approx(math.lgamma(one), rel=1e-14)


def test_the_mean_of_an_inverse_is_its_series() -> None:
    """E 1/(f + K) = Σ e^{−m}·m^k/k!/(f + k), added up with 50 digits."""
    with localcontext() as digits:
        digits.prec = 50
        for f in (1, 2, 7, 155):
            for m in (Decimal(0), Decimal("0.125"), Decimal(3), Decimal(40), Decimal("386.25")):
                term, total = (-m).exp(), Decimal(0)
                for k in range(900):
                    total += term / (f + k)
                    term *= m / (k + 1)
                assert float(mean_inverse(f, float(m))) == pytest.approx(float(total), rel=1e-15)


def test_the_mean_of_an_inverse_agrees_with_scipy() -> None:
    rng = np.random.default_rng(2)
    f, m = rng.integers(1, 300, 2000), np.exp(rng.uniform(np.log(1e-6), np.log(500), 2000))
    # SciPy loses three digits where f and m are in the hundreds; the series above does not.
    np.testing.assert_allclose(mean_inverse(f, m), special.hyp1f1(1.0, f + 1.0, -m) / f, rtol=1e-12)
    # Of large means, 1/m·(1 + (1 − f)/m + …)
    np.testing.assert_allclose(mean_inverse(3, np.array([1e9])), [1e-9 * (1 - 2e-9)], rtol=1e-15)


def test_x_log_y_is_that_of_scipy() -> None:
    x, y = np.array([0.0, 0.0, 2.0, 2.0]), np.array([0.0, 1.0, 0.0, 3.0])
    assert xlogy(x, y).tolist() == special.xlogy(x, y).tolist()
