"""The papers' properties of R1 and R2, over random tables of any shape."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import discreet
from discreet.core.numerics import IntArray
from discreet.measures.entropy import Form, conditional_entropy, entropy
from discreet.table import Table

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5).filter(lambda s: math.prod(s) > 1)
COUNTS = st.one_of(st.integers(0, 5), st.integers(0, 2000), st.integers(0, 10**12))
FORMS: st.SearchStrategy[Form] = st.sampled_from(["2014", "2015"])
WEIGHTS = st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(0, 10)).filter(any)


def arrays() -> st.SearchStrategy[IntArray]:
    return SHAPES.flatmap(lambda shape: hnp.arrays(np.int64, shape, elements=COUNTS)).filter(np.any)


def pairs() -> st.SearchStrategy[tuple[IntArray, IntArray]]:
    def both(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[IntArray, IntArray]]:
        one = hnp.arrays(np.int64, shape, elements=COUNTS)
        return st.tuples(one.filter(np.any), one)

    return SHAPES.flatmap(both)


def table(array: IntArray) -> Table:
    return Table.from_array(array, [f"d{i}" for i in range(array.ndim)])


def scaled(w: tuple[int, int, int]) -> tuple[float, float, float]:
    return (w[0] / sum(w), w[1] / sum(w), w[2] / sum(w))


def ln(x: Decimal) -> Decimal:
    return x.ln()


def slow_entropy(F: list[int]) -> Decimal:
    N = Decimal(sum(F))
    return -sum((f / N * ln(f / N) for f in F if f), Decimal(0))


def slow_size(N: int) -> Decimal:
    root = Decimal(N).sqrt()
    return -(1 / root) * ln(1 / (Decimal(1).exp() * root))


def slow_r1(F: list[int], w: tuple[float, float, float]) -> float:
    """R1 as printed, with fifty digits."""
    K, zeros = len(F), Decimal(sum(f == 0 for f in F)) / len(F)
    with localcontext(prec=50):
        terms = zeros, 1 - slow_entropy(F) / ln(Decimal(K)), slow_size(sum(F))
        return float(sum((Decimal(a) * b for a, b in zip(w, terms, strict=True)), Decimal(0)))


def slow_r2(F: list[int], G: list[int], w: tuple[float, float, float], form: Form) -> float:
    """R2 as printed, with (3.6) in whole numbers and fifty digits."""
    K, N, M = len(F), sum(F), sum(G)
    D, E = {i for i in range(K) if F[i] == 0}, {i for i in range(K) if G[i] == 0}
    with localcontext(prec=50):
        first = (Decimal(len(D)) / K) ** (Decimal(len(D | E)) / len(D & E)) if D & E else Decimal(0)
        H = slow_entropy(F)
        middle = Decimal(0)
        if M > 0:
            low = [min(M * f, N * g) for f, g in zip(F, G, strict=True)]
            R, both, HXY = N * M - sum(low), Decimal(N * M), Decimal(0)
            for f, g, m in zip(F, G, low, strict=True):
                HXY -= m / both * ln(Decimal(m) / (N * g)) if m else 0
                HXY -= (M * f - m) / both * ln(Decimal(M * f - m) / R) if M * f > m else 0
                HXY -= (N * g - m) / both * ln(Decimal(N * g - m) / (N * g)) if N * g > m else 0
            share = HXY / H if H > 0 else Decimal(0)
            middle = (1 - H / ln(Decimal(K))) * (1 - share if form == "2015" else share)
        terms = first, middle, slow_size(N)
        return float(sum((Decimal(a) * b for a, b in zip(w, terms, strict=True)), Decimal(0)))


def rounding(F: list[int]) -> float:
    """What double precision leaves uncertain: H(X|Y)/H(X) is ill-conditioned when nearly all sit in one cell."""
    H = float(slow_entropy(F))
    return 1e-12 + (2e-15 / H if H > 0 else 0.0)


@given(arrays(), WEIGHTS)
def test_r1_is_the_printed_formula(array: IntArray, raw: tuple[int, int, int]) -> None:
    w = scaled(raw)
    result = discreet.risk(table(array), weights=w)
    assert result.value == pytest.approx(slow_r1(array.ravel().tolist(), w), abs=1e-12)
    assert sum(result.terms.values()) == pytest.approx(result.value, abs=1e-15)
    for part in result.slices:
        for item in part:
            F = np.take(array, part.categories.index(item.category), axis=int(item.dimension[1:])).ravel().tolist()
            if item.value is None:
                assert sum(F) == 0 or len(F) == 1
            else:
                assert item.value == pytest.approx(slow_r1(F, w), abs=1e-12)


@given(pairs(), WEIGHTS, FORMS)
def test_r2_is_the_printed_formula(both: tuple[IntArray, IntArray], raw: tuple[int, int, int], form: Form) -> None:
    F, G = both
    w = scaled(raw)
    result = discreet.risk(table(F), table(G), weights=w, form=form)
    f, g = F.ravel().tolist(), G.ravel().tolist()
    assert result.value == pytest.approx(slow_r2(f, g, w, form), abs=rounding(f))
    for part in result.slices:
        for i, item in enumerate(part):
            axis = int(item.dimension[1:])
            f, g = np.take(F, i, axis=axis).ravel().tolist(), np.take(G, i, axis=axis).ravel().tolist()
            if item.value is not None:
                assert item.value == pytest.approx(slow_r2(f, g, w, form), abs=rounding(f))


@given(pairs(), WEIGHTS)
def test_r2_never_exceeds_r1(both: tuple[IntArray, IntArray], raw: tuple[int, int, int]) -> None:
    F, G = table(both[0]), table(both[1])
    forms: tuple[Form, Form] = ("2014", "2015")
    for form in forms:
        before, after = (
            discreet.risk(F, weights=scaled(raw)),
            discreet.risk(F, G, weights=scaled(raw), form=form),
        )
        assert after.value <= before.value + 1e-12
        assert after.before == pytest.approx(before.value)
        for now, then in zip(after.slices, before.slices, strict=True):
            same = np.isnan(now.values) == np.isnan(then.values)
            assert same.all()
            assert (np.nan_to_num(now.values) <= np.nan_to_num(then.values) + 1e-12).all()


@given(arrays())
def test_a_release_equal_to_its_original_keeps_the_risk(array: IntArray) -> None:
    F = table(array)
    after, before = discreet.risk(F, F), discreet.risk(F)
    assert after.value == pytest.approx(before.value, abs=1e-12)
    for now, then in zip(after.slices, before.slices, strict=True):
        assert np.allclose(now.values, then.values, atol=1e-12, equal_nan=True)


@given(pairs())
def test_conditional_entropy_never_exceeds_entropy(both: tuple[IntArray, IntArray]) -> None:
    F, G = both[0].ravel(), both[1].ravel()
    assume(G.any())
    H, remaining = entropy(F)[0], conditional_entropy(F, G)[0]
    assert 0.0 <= remaining <= H + 1e-9
    assert conditional_entropy(F, F)[0] == 0.0
    assert math.log(F.size) + 1e-12 >= H


@given(st.integers(2, 2000), st.integers(1, 10**9), st.integers(0, 10**6))
def test_property_1a_one_populated_cell_is_as_risky_as_a_table_gets(K: int, count: int, where: int) -> None:
    counts = np.zeros(K, np.int64)
    counts[where % K] = count
    alone = discreet.risk(table(counts))
    assert alone.terms["concentration"] == pytest.approx(0.8)
    assert alone.terms["zeros"] == pytest.approx(0.1 * (K - 1) / K)
    if count > 1:
        # Any other table with as many people is less risky.
        spread = counts.copy()
        spread[where % K] -= 1
        spread[(where + 1) % K] += 1
        assert discreet.risk(table(spread)).value < alone.value


@given(arrays())
def test_property_1a_moving_everybody_into_one_cell_raises_the_risk(array: IntArray) -> None:
    gathered = np.zeros(array.size, np.int64)
    gathered[0] = array.sum()
    assert discreet.risk(table(gathered)).value >= discreet.risk(table(array.ravel())).value - 1e-12


@given(arrays())
def test_property_1b_an_even_spread_is_least_risky(array: IntArray) -> None:
    K, N = array.size, int(array.sum())
    assume(N >= K)
    even = np.full(K, N // K)
    even[: N % K] += 1
    low = discreet.risk(table(even))
    assert low.value <= discreet.risk(table(array.ravel())).value + 1e-12
    if N % K == 0:
        assert low.terms["zeros"] == 0.0
        assert low.terms["concentration"] == pytest.approx(0.0, abs=1e-12)


@given(arrays(), st.integers(2, 50))
def test_property_2_larger_counts_are_less_risky(array: IntArray, factor: int) -> None:
    few, many = discreet.risk(table(array)), discreet.risk(table(array * factor))
    assert many.value < few.value
    assert many.terms["size"] < few.terms["size"]


@given(st.integers(1, 10**9), st.integers(2, 5000), st.integers(1, 5000))
def test_property_3_more_zeros_around_one_cell_are_riskier(count: int, K: int, more: int) -> None:
    def alone(cells: int) -> float:
        return discreet.risk(table(np.r_[count, np.zeros(cells - 1, np.int64)])).value

    assert alone(K + more) > alone(K)


@given(pairs(), WEIGHTS, FORMS)
def test_property_4_bounded_by_0_and_1(both: tuple[IntArray, IntArray], raw: tuple[int, int, int], form: Form) -> None:
    F, G = table(both[0]), table(both[1])
    for result in (
        discreet.risk(F, weights=scaled(raw)),
        discreet.risk(F, G, weights=scaled(raw), form=form),
    ):
        values = [
            result.value,
            *(item.value for part in result.slices for item in part if item.value is not None),
        ]
        assert all(-1e-12 <= value <= 1 + 1e-12 for value in values)


@given(pairs(), st.lists(st.integers(0, 700), min_size=1, max_size=9))
def test_structural_zeros_are_no_cells(both: tuple[IntArray, IntArray], places: list[int]) -> None:
    """A table with impossible cells has the risk of the table without them."""
    F, G = both[0].ravel(), both[1].ravel()
    mask = np.zeros(F.size + len(places), bool)
    mask[[place % mask.size for place in places]] = True
    F, G = np.insert(F, 0, np.zeros(len(places), int)), np.insert(G, 0, np.zeros(len(places), int))
    F[mask], G[mask] = 0, 0
    assume((~mask).sum() > 1 and F.any())
    names = ["k"]
    whole, bare = Table.from_array(F, names, impossible=mask), Table.from_array(F[~mask], names)
    released = Table.from_array(G, names), Table.from_array(G[~mask], names)
    assert discreet.risk(whole).value == pytest.approx(discreet.risk(bare).value)
    assert discreet.risk(whole, released[0]).value == pytest.approx(discreet.risk(bare, released[1]).value)
