"""f-divergences against their definition, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet import DataError, RequestError
from discreet.core.numerics import FloatArray
from discreet.utility import DIVERGENCES, Divergence, f_divergence

counts = st.lists(st.integers(0, 20), min_size=2, max_size=8)


def slow(F: list[int], G: list[int], f: Callable[[float], float], slope: float) -> float:
    """Σ q f(p/q) with shares in exact fractions; q = 0 costs p times the slope at infinity."""
    value = 0.0
    for a, b in zip(F, G, strict=True):
        p, q = Fraction(a, sum(F)), Fraction(b, sum(G))
        if q:
            value += float(q) * f(float(p / q))
        elif p:
            value += float(p) * slope
    return value


def slow_xlogx(x: float) -> float:
    return x * math.log(x) if x else 0.0


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8))
def test_named_divergences(cells: list[tuple[int, int]]) -> None:
    F, G = [a for a, _ in cells], [b for _, b in cells]
    assume(sum(F) > 0)
    assume(sum(G) > 0)
    kl = slow(F, G, slow_xlogx, math.inf)
    assert f_divergence(F, G, "kl") == pytest.approx(kl, abs=1e-12)
    assert math.isinf(kl) == any(a and not b for a, b in cells)
    hellinger = slow(F, G, lambda x: 1 - math.sqrt(x), 0.0)
    assert f_divergence(F, G, "hellinger") == pytest.approx(max(hellinger, 0), abs=1e-12)
    assert 0 <= f_divergence(F, G, "hellinger") <= 1
    # HD² is one half of the squared distance of the roots.
    distance = 0.5 * sum((math.sqrt(a / sum(F)) - math.sqrt(b / sum(G))) ** 2 for a, b in cells)
    assert f_divergence(F, G, "hellinger") == pytest.approx(distance, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8))
def test_divergences_of_ones_own_function(cells: list[tuple[int, int]]) -> None:
    F, G = [a for a, _ in cells], [b for _, b in cells]
    assume(sum(F) > 0)
    assume(sum(G) > 0)
    variation = Divergence(lambda x: 0.5 * np.abs(x - 1), 0.5)
    half = 0.5 * sum(abs(a / sum(F) - b / sum(G)) for a, b in cells)
    assert f_divergence(F, G, variation) == pytest.approx(half, abs=1e-12)
    triangle = Divergence(lambda x: np.square(x - 1) / (x + 1), 1.0)
    expected = slow(F, G, lambda x: (x - 1) ** 2 / (x + 1), 1.0)
    assert f_divergence(F, G, triangle) == pytest.approx(expected, abs=1e-12)


def chi_square(x: FloatArray) -> FloatArray:
    return np.square(x - 1)


def test_a_function_without_a_slope() -> None:
    assert f_divergence([1, 3], [2, 2], chi_square) == pytest.approx(0.25)
    assert f_divergence([1, 0], [1, 1], chi_square) == pytest.approx(1.0)
    with pytest.raises(RequestError, match=r"cells with 0\.25 of the original are empty in the release, .*slope=limit"):
        f_divergence([1, 3], [0, 2], chi_square)
    assert f_divergence([1, 3], [0, 2], Divergence(chi_square, math.inf)) == math.inf


def test_examples_by_hand() -> None:
    assert f_divergence([1, 1], [1, 3], "kl") == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))
    assert f_divergence([1, 0], [1, 1], "kl") == pytest.approx(math.log(2))
    assert f_divergence([1, 1], [1, 0], "kl") == math.inf
    assert f_divergence([1, 0], [0, 1], "hellinger") == pytest.approx(1)
    assert f_divergence([[1, 2], [3, 4]], [[2, 4], [6, 8]], "kl") == 0


@given(counts)
def test_a_release_equal_to_its_original_loses_nothing(F: list[int]) -> None:
    assume(sum(F) > 0)
    for name in DIVERGENCES:
        assert f_divergence(F, F, name) == pytest.approx(0, abs=1e-15)
        assert f_divergence(F, [7 * count for count in F], name) == pytest.approx(0, abs=1e-15)


def test_what_is_not_a_distribution() -> None:
    with pytest.raises(DataError, match="the original has 2 cells, the release 3"):
        f_divergence([1, 2], [1, 2, 3], "kl")
    for bad in ([0, 0], [-1, 2], [math.nan, 1], [math.inf, 1]):
        with pytest.raises(DataError, match="the original has negative, missing or no counts"):
            f_divergence(bad, [1, 2], "kl")
        with pytest.raises(DataError, match="the release has negative, missing or no counts"):
            f_divergence([1, 2], bad, "kl")
    with pytest.raises(RequestError, match=r"there is no divergence 'helinger'; did you mean 'hellinger'\?"):
        f_divergence([1, 2], [1, 2], "helinger")
