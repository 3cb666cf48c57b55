"""Small numerical functions that the measures share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
NumberArray = FloatArray | IntArray
AnyArray = npt.NDArray[Any]


def xlogx(x: npt.ArrayLike) -> FloatArray:
    """Return x·log x with 0·log 0 = 0, natural logarithm.

    >>> xlogx([0.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    values = np.asarray(x, dtype=np.float64)
    return values * np.log(np.where(values > 0, values, 1.0))


def xlogy(x: NumberArray, y: FloatArray | float) -> FloatArray:
    """Return x·log y with 0 wherever x is 0, whatever y is, and −∞ where only y is 0.

    >>> xlogy(np.array([0.0, 2.0]), np.array([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(x * np.log(np.where(x > 0, y, 1.0)), np.float64)


def log_gamma(x: npt.ArrayLike) -> FloatArray:
    """Return log Γ(x) for x > 0: (x−½)·log x − x + ½·log 2π and Stirling's series from 16 on, below one by one.

    >>> log_gamma([1.0, 5.0, 171.0]).round(10).tolist() == [0.0, round(math.log(24), 10), round(math.lgamma(171), 10)]
    True
    """
    values = np.asarray(x, np.float64)
    large = np.maximum(values, 16.0)
    found = (large - 0.5) * np.log(large) - large + 0.5 * math.log(2 * math.pi) + stirling_series(large)
    small = values < 16.0
    if small.any():
        below, where = np.unique(values[small], return_inverse=True)
        found = np.where(small, 0.0, found)
        found[small] = np.array([math.lgamma(one) for one in below.tolist()])[where]
    return found


def stirling_series(x: FloatArray) -> FloatArray:
    """Return log Γ(x+1) − (x+½)·log x + x − ½·log 2π, which is 1/(12x) − 1/(360x³) + …, for x of 16 or more."""
    inverse = 1.0 / (x * x)
    series = 1.0 / 12 - inverse * (1.0 / 360 - inverse * (1.0 / 1260 - inverse * (1.0 / 1680 - inverse * (1.0 / 1188))))
    return series / x


def mean_inverse(f: npt.ArrayLike, mean: npt.ArrayLike) -> FloatArray:
    """Return E 1/(f + K) = ₁F₁(1; f+1; −m)/f for f > 0 and K with a Poisson law of mean m.

    It is the continued fraction 1/(f+m − m/(f+1+m − 2m/(f+2+m − 3m/(f+3+m − …)))): of its terms k·m over the product
    of two neighbours none is above 1/4, so each level adds a factor of 4 or more to the precision.

    >>> mean_inverse([2.0, 1.0], [0.0, 1.0]).round(12).tolist() == [0.5, round(1 - math.exp(-1), 12)]
    True
    """
    base = np.asarray(f, np.float64) + np.asarray(mean, np.float64)
    below = base + 60.0
    for k in range(60, 0, -1):
        below = base + (k - 1) - k * np.asarray(mean, np.float64) / below
    return 1.0 / below


def first_true(mask: BoolArray) -> int | None:
    """Return the place of the first true entry, None if there is none.

    >>> first_true(np.array([False, True, True])), first_true(np.zeros(2, bool))
    (1, None)
    """
    return int(np.argmax(mask)) if mask.any() else None


def sorted_union(*sorted_arrays: IntArray) -> IntArray:
    """Return the values of sorted arrays without repeats, still sorted.

    >>> sorted_union(np.array([1, 4]), np.array([2, 4]), np.array([0])).tolist()
    [0, 1, 2, 4]
    """
    # A stable sort recognises the runs and merges them; hashing, as np.unique does, is ten times slower.
    every = np.sort(np.concatenate(sorted_arrays), kind="stable")
    return every[np.diff(every, prepend=every[0] - 1) > 0] if every.size else every


def disclosure_risk(bits: FloatArray | float) -> FloatArray:
    """Return DR = 1/H of an uncertainty H in bits, domingo2002 (2); infinite where nothing is left open.

    >>> disclosure_risk(np.array([2.0, 0.0, np.nan])).tolist()
    [0.5, inf, nan]
    """
    lacking = np.asarray(bits, np.float64)
    with np.errstate(divide="ignore"):
        return np.where(lacking <= 0, np.inf, 1.0 / np.where(lacking <= 0, 1.0, lacking))


def whole_where_near(x: npt.ArrayLike) -> FloatArray:
    """Return numbers, rounded where they differ from an integer by no more than floating-point error.

    Amounts in decimals are not exact: 1165019.1474 × 10⁴ is 11650191474.000002.

    >>> whole_where_near([1165019.1474 * 10**4, 2.5, np.nan, -np.inf]).tolist()
    [11650191474.0, 2.5, nan, -inf]
    """
    values = np.asarray(x, dtype=np.float64)
    near = np.rint(values)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values - near) <= 1e-6 + 4e-16 * np.abs(values), near, values)


def as_fractions(y: FloatArray) -> tuple[IntArray, int] | None:
    """Return numbers as integer numerators over their least common denominator; None if that is too large.

    Multipliers of equations between figures are nearly always multiples of a sixtieth.

    >>> as_fractions(np.array([0.5, 1 / 3]))
    (array([3, 2]), 6)
    """
    for denominator in range(1, 61):
        numerators = np.rint(y * denominator)
        if (np.abs(y * denominator - numerators) < 1e-5).all():
            return numerators.astype(np.int64), denominator
    return None


def index_ranges(begin: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """Return every index of ranges [begin, end), with the number of its range before it.

    >>> [column.tolist() for column in index_ranges(np.array([3, 0]), np.array([5, 1]))]
    [[0, 0, 1], [3, 4, 0]]
    """
    count = end - begin
    number = np.repeat(np.arange(count.size), count)
    return number, begin[number] + np.arange(number.size) - np.repeat(np.cumsum(count) - count, count)


def each_once(numbers: IntArray, size: int) -> IntArray:
    """Return numbers below a size in order, each once; of many, this is faster than sorting them.

    >>> each_once(np.array([4, 1, 4]), 5).tolist()
    [1, 4]
    """
    among = np.zeros(size, bool)
    among[numbers] = True
    return np.flatnonzero(among)


def sorted_runs(*keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return the order that sorts rows by their keys, the first key leading, and where in it each combination begins.

    >>> [column.tolist() for column in sorted_runs(np.array([2, 1, 2]), np.array([5, 9, 5]))]
    [[1, 0, 2], [0, 1]]
    """
    same, behind = (np.full(max(keys[0].size - 1, 0), start) for start in (True, False))
    for key in keys:
        step = np.diff(key)
        behind |= same & (step < 0)
        same &= step == 0
    order = np.arange(keys[0].size)
    if behind.any():
        order = np.lexsort(keys[::-1])
        same[:] = True
        for key in keys:
            same &= np.diff(key[order]) == 0
    return order, np.flatnonzero(np.r_[np.full(min(order.size, 1), True), ~same])
