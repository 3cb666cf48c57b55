"""The number of black balls of a Pólya urn that brings a given number of new colours.

Written by hand because the difference of two digamma functions cancels: SciPy's digamma and root finder give the same
15 digits where the sample is a small part of the population, but 10 where ten people of a million are not in it. SciPy
is needed for nothing else here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.core.errors import InfeasibleError, RequestError
from discreet.core.numerics import FloatArray

# B₂ₖ/(2k) of the asymptotic series of the digamma function; from x = 30 on five terms leave less than 1e-19.
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
_START = 30
_STEPS = 200
"""The most Newton steps: halving alone would reach the last digit in as many, and a few are usually enough."""


def reciprocal_sums(start: npt.ArrayLike, terms: int) -> tuple[FloatArray, FloatArray]:
    """Return Σ 1/(start + z) and Σ 1/(start + z)² over z = 0, …, terms − 1, to full precision.

    The first is ψ(start + terms) − ψ(start). Terms are added one by one until start + z reaches 30; the rest is the
    difference of two asymptotic series, in a form in which nothing cancels, however few or many terms there are.

    >>> first, second = reciprocal_sums(2.0, 3)
    >>> bool(np.isclose(first, 1 / 2 + 1 / 3 + 1 / 4)), bool(np.isclose(second, 1 / 4 + 1 / 9 + 1 / 16))
    (True, True)
    """
    low = np.asarray(start, dtype=np.float64)
    first, second = np.zeros_like(low), np.zeros_like(low)
    single = np.clip(np.ceil(_START - low), 0, terms)
    for z in range(int(single.max(initial=0))):
        term = np.where(z < single, 1.0 / (low + z), 0.0)
        first = first + term
        second = second + term * term
    rest = terms - single
    a = low + single
    b = a + rest
    p, q = 1.0 / a, 1.0 / b
    difference = rest * p * q
    first = first + np.log1p(rest * p) + difference / 2
    second = second + difference * (1 + (p + q) / 2)
    # p²ᵏ − q²ᵏ and p²ᵏ⁺¹ − q²ᵏ⁺¹ as p − q times the sum of the mixed products.
    even, odd = p + q, p * p + p * q + q * q
    for k, coefficient in enumerate(_SERIES, start=1):
        first = first + coefficient * difference * even
        second = second + 2 * k * coefficient * difference * odd
        even = even * p * p + q ** (2 * k) * (p + q)
        odd = odd * p * p + q ** (2 * k + 1) * (p + q)
    return first, second


def solve_theta(new_cells: npt.ArrayLike, sample: int, population: int) -> FloatArray:
    """Return the θ for which the urn is expected to fill a given number of sample zeros.

    Solves |E| − |D| = θ·(ψ(N + θ) − ψ(n + θ)), antal2015 (5), for one target or many; a target of 0 or less gives
    θ = 0. As a function of 1/θ the reciprocal of the right-hand side is increasing, concave and nearly a straight line:
    Newton's method from an upper bound of θ falls monotonically to the solution.

    Raises:
        InfeasibleError: when more cells are to be filled than people are left to fill them.

    >>> theta = solve_theta([5.0, 27.0, -1.0], 245, 2449)
    >>> np.round(theta * reciprocal_sums(245 + theta, 2449 - 245)[0], 9).tolist()
    [5.0, 27.0, 0.0]
    """
    wanted = np.asarray(new_cells, dtype=np.float64)
    draws = population - sample
    if sample < 1 or draws < 0:
        raise RequestError(f"the sample has {sample} and the population {population} people; 1 ≤ n ≤ N is needed")
    if np.isnan(wanted).any():
        raise RequestError("the number of cells to fill is not a number; give |E| − |D|")
    most = float(wanted.max(initial=0))
    if most > 0 and most >= draws:
        raise InfeasibleError(
            f"{most:.6g} sample zeros are to be filled, but outside the sample there are only N − n = {draws:,}; "
            "state a larger number of population zeros, or θ itself"
        )
    result = np.zeros_like(wanted)
    positive = wanted > 0
    result[positive] = _newton(wanted[positive], sample, population)
    return result


def _newton(wanted: FloatArray, sample: int, population: int) -> FloatArray:
    """Solve for targets strictly between 0 and N − n."""
    draws = population - sample
    # Every term θ/(θ + c) has n ≤ c ≤ N − 1, which bounds θ from both sides.
    high = wanted / (draws - wanted) * (population - 1)
    low = wanted / (draws - wanted) * sample
    theta = high.copy()
    moving = np.ones(theta.shape, bool)
    for _ in range(_STEPS):
        first, second = reciprocal_sums(sample + theta, draws)
        value = theta * first
        slope = theta * (first - theta * second)
        low, high = np.where(value <= wanted, theta, low), np.where(value >= wanted, theta, high)
        with np.errstate(all="ignore"):
            step = theta / (1 - (wanted - value) * value / (wanted * slope))
        # Rounding can spoil the slope when nearly everybody fills a cell of their own; halving cannot fail.
        inside = (step >= low) & (step <= high)
        step = np.where(inside, step, np.sqrt(low) * np.sqrt(high))
        # A solution once found is left alone: it must not depend on what else is solved for.
        still = np.abs(step - theta) > 4e-16 * theta
        theta = np.where(moving, step, theta)
        moving &= still
        if not moving.any():
            break
    return theta
