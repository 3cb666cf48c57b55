"""Log-probabilities of urns that stay exact to twelve digits for a billion people and cells.

A population seen through a sample is an urn: the N − n people not sampled fall, one after the other, on the
cells. In a *reinforced* urn every person makes a cell heavier (the Pólya urn, that is, the
Dirichlet-multinomial law); in a plain one the weights never change (the multinomial law). Differences of
log-gamma lose seven digits at 10⁹, so the laws are written here with Stirling's remainder and the deviance
y·log(y/m) + m − y, as C. Loader (2000, "Fast and accurate computation of binomial probabilities") does for the
binomial, and the one difference that cancels is formed with exact products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray, log_gamma, stirling_series

Pair = tuple[FloatArray, FloatArray]
_HALF_LOG_2PI = 0.91893853320467274178
_SPLITTER = 134217729.0  # 2^27 + 1, splits a float64 into two halves whose products are exact


def stirling_error(x: FloatArray) -> FloatArray:
    """Return log Γ(x+1) − (x+½)·log x + x − ½·log 2π for x > 0.

    >>> float(stirling_error(np.array([1e9]))[0]) * 12e9
    1.0
    """
    small = np.where(x < 16.0, x, 1.0)
    direct = log_gamma(small + 1.0) - (small + 0.5) * np.log(small) + small - _HALF_LOG_2PI
    return np.where(x < 16.0, direct, stirling_series(np.maximum(x, 16.0)))


def deviance(y: FloatArray, mean: FloatArray, difference: FloatArray) -> FloatArray:
    """Return y·log(y/m) + m − y, where the difference y − m is handed in because it cancels when m is near y."""
    v = difference / (y + mean)
    close = np.abs(v) < 0.1
    # y·log(y/m) − (y−m) = (y−m)·v + 2y·(v³/3 + v⁵/5 + …) with v = (y−m)/(y+m)
    v2 = np.where(close, v * v, 0.0)
    series = np.zeros_like(v2)
    for k in range(8, 0, -1):
        series = v2 * (series + 1.0 / (2 * k + 1))
    far = y * np.log(np.where(close, 1.0, y / mean)) - difference
    return np.where(close, difference * v + 2.0 * y * v * series, far)


def cross_difference(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """Return a·b − c·d, correct to the last digits even when both products are near 10¹⁸ and almost equal.

    >>> one = np.ones(1)
    >>> float(cross_difference(1e9 * one + 1, 1e9 * one - 1, 1e9 * one, 1e9 * one)[0])
    -1.0
    """
    high, low = _product(a, b)
    high2, low2 = _product(c, d)
    return (high - high2) + (low - low2)


def _product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a·b as an unevaluated sum of two floats (Dekker's product)."""
    product = a * b
    a_high = _SPLITTER * a - (_SPLITTER * a - a)
    b_high = _SPLITTER * b - (_SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, rest


def log_polya(x: npt.ArrayLike, weight: npt.ArrayLike, others: npt.ArrayLike, balls: npt.ArrayLike) -> FloatArray:
    """Log-probability that x of the balls of a reinforced urn fall on a cell: the beta-binomial law.

    With a = weight, b = others and M = balls, P(x) = C(M,x)·(a)ₓ·(b)₍M−x₎ / (a+b)₍M₎, where (a)ₓ is the rising
    factorial. It is evaluated as a product of negative binomials, NB(x;a)·NB(M−x;b)/NB(M;a+b), all with the
    success probability (a+b)/(a+b+M) that makes the last one central.

    >>> round(float(np.exp(log_polya(0, 2.0, 2.0, 1))), 12)
    0.5
    """

    def law(x: FloatArray, a: FloatArray, b: FloatArray, m: FloatArray) -> FloatArray:
        difference = cross_difference(a, m, x, a + b) / (a + b + m)
        return (
            _negative_binomial(x, a, difference, a + b, m)
            + _negative_binomial(m - x, b, -difference, a + b, m)
            - _negative_binomial(m, a + b, np.zeros_like(m), a + b, m)
        )

    return _unless_certain(law, x, weight, others, balls)


def log_binomial(x: npt.ArrayLike, weight: npt.ArrayLike, others: npt.ArrayLike, balls: npt.ArrayLike) -> FloatArray:
    """Log-probability that x of the balls of a plain urn fall on a cell: Binomial(balls, weight/(weight+others)).

    >>> round(float(np.exp(log_binomial(0, 1, 1107, 37829))), 18)
    1.465e-15
    """

    def law(x: FloatArray, a: FloatArray, b: FloatArray, m: FloatArray) -> FloatArray:
        rest = m - x
        difference = cross_difference(x, a + b, m, a) / (a + b)
        within = (x > 0) & (rest > 0)
        inner_x, inner_rest = np.where(within, x, 1.0), np.where(within, rest, 1.0)
        means = m * (a / (a + b)), m * (b / (a + b))
        inner = _loader(0.0, m, (inner_x, inner_rest), means, difference)
        return np.where(within, inner, np.where(x > 0, -m * np.log1p(b / a), -m * np.log1p(a / b)))

    return _unless_certain(law, x, weight, others, balls)


def _unless_certain(law: Callable[..., FloatArray], *given: npt.ArrayLike) -> FloatArray:
    """Return a law of x, a, b and m, but 0 or −∞ if nothing is left to chance: no balls, or a weight of zero."""
    x, a, b, m = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in given))
    sure = (m == 0) | (a == 0) | (b == 0)
    outcome = sure & np.where((b == 0) & (m > 0), x == m, x == 0)
    usual = ~sure & (x >= 0) & (x <= m)
    found = law(*(np.where(usual, value, 1.0) for value in (x, a, b, m)))
    return np.where(usual, found, np.where(outcome, 0.0, -np.inf))


def _loader(
    start: FloatArray | float, total: FloatArray, parts: Pair, means: Pair, difference: FloatArray
) -> FloatArray:
    """Add the log-probability of a split in two to a start; the difference is that of the first part from its mean."""
    return (
        start
        + stirling_error(total)
        - stirling_error(parts[0])
        - stirling_error(parts[1])
        - deviance(parts[0], means[0], difference)
        - deviance(parts[1], means[1], -difference)
        + 0.5 * np.log(total / parts[0] / parts[1])
        - _HALF_LOG_2PI
    )


def _negative_binomial(
    x: FloatArray, r: FloatArray, difference: FloatArray, whole: FloatArray, balls: FloatArray
) -> FloatArray:
    """Log NB(x; r, p) with p = whole/(whole+balls), given difference = r − (r+x)·p."""
    positive = np.where(x > 0, x, 1.0)
    spread = np.where(x > 0, r + x, r + 1.0)
    means = spread * (whole / (whole + balls)), spread * (balls / (whole + balls))
    body = _loader(np.log(r / spread), spread, (r, positive), means, difference)
    empty = -r * np.log1p(balls / whole)
    return np.where(x > 0, body, empty)


def log_negative_binomial(x: float, r: float, odds: float) -> float:
    """Log of Γ(r+x)/(Γ(r)·x!)·(1−t)^r·t^x with t = odds/(1+odds): x balls expected at r·odds.

    >>> round(float(np.exp(log_negative_binomial(2, 1.0, 1.0))), 12)
    0.125
    """
    if x == 0:
        return float(-r * np.log1p(odds))
    spread = r + x
    means = spread * np.array([1.0, odds]) / (1.0 + odds)
    shift = (r * odds - x) / (1.0 + odds)
    remainder = stirling_error(np.array([spread, r, x], np.float64))
    distance = deviance(np.array([r, x], np.float64), means, np.array([shift, -shift])).sum()
    normal = 0.5 * np.log(r / spread / x) - _HALF_LOG_2PI
    return float(remainder[0] - remainder[1] - remainder[2] - distance + normal)


def log_poisson(x: float, mean: float) -> float:
    """Log of the Poisson probability of x.

    >>> round(float(np.exp(log_poisson(0, 2.0))), 6)
    0.135335
    """
    if x == 0:
        return -mean
    figure = np.array([x], np.float64)
    distance = deviance(figure, np.array([mean]), np.array([x - mean]))[0]
    return float(-stirling_error(figure)[0] - distance - 0.5 * np.log(x) - _HALF_LOG_2PI)


def log1p_complex(z: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """Return log(1+z) with a real part that keeps its digits near z = 0 and near z = −1; log 0 is −350."""
    squared = z.real * (2.0 + z.real) + z.imag * z.imag
    near = np.abs(squared) < 0.5
    modulus = np.where(near, 1.0, np.maximum(np.hypot(1.0 + z.real, z.imag), 1e-152))
    real = np.where(near, 0.5 * np.log1p(np.where(near, squared, 0.0)), np.log(modulus))
    return real + 1j * np.arctan2(z.imag, 1.0 + z.real)
