"""Probabilities of bounds against counting in whole numbers, down to very small ones."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest

from discreet.core.errors import LimitError
from discreet.uniques.conditioning import distinct, mix, split
from discreet.uniques.convolution import CellGroup, UntouchedLaw, restricted_law
from discreet.uniques.log_probabilities import log1p_complex
from discreet.uniques.urn import Urn


def log_fraction(value: Fraction) -> float:
    """Log of a fraction whose parts are too large for a float."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    scaled = value / Fraction(2) ** shift
    return log(scaled) + shift * log(2.0)


@pytest.mark.parametrize(("people", "cells"), [(46228, 1108), (500, 400), (400, 400), (10**6, 50)])
def test_no_population_zero_under_the_uniform_prior(people: int, cells: int) -> None:
    """Stars and bars: C(N−1, K−1) of the C(N+K−1, K−1) tables have no empty cell."""
    law = restricted_law(Urn(people, float(cells), True), [CellGroup(cells, 1.0, low=1)])
    exact = Fraction(comb(people - 1, cells - 1), comb(people + cells - 1, cells - 1))
    assert law.log_probability == pytest.approx(log_fraction(exact), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize(("people", "cells", "most"), [(300, 40, 20), (300, 40, 8), (320, 40, 8), (60, 12, 59)])
def test_bounded_tables_under_the_uniform_prior(people: int, cells: int, most: int) -> None:
    law = restricted_law(Urn(people, float(cells), True), [CellGroup(cells, 1.0, high=most)])
    tables = sum(
        (-1) ** j * comb(cells, j) * comb(people - j * (most + 1) + cells - 1, cells - 1)
        for j in range(people // (most + 1) + 1)
    )
    exact = Fraction(tables, comb(people + cells - 1, cells - 1))
    assert law.log_probability == pytest.approx(log_fraction(exact), rel=1e-11, abs=1e-10)


@pytest.mark.parametrize(("people", "cells"), [(300, 40), (60, 40), (40, 40), (3000, 90)])
def test_no_population_zero_under_the_multinomial_prior(people: int, cells: int) -> None:
    """Surjections by inclusion and exclusion, in whole numbers."""
    law = restricted_law(Urn(people, float(cells), False), [CellGroup(cells, 1.0, low=1)])
    onto = sum((-1) ** j * comb(cells, j) * (cells - j) ** people for j in range(cells))
    exact = Fraction(onto, cells**people)
    assert law.log_probability == pytest.approx(log_fraction(exact), rel=1e-11, abs=1e-11)


def test_one_cell_is_the_urns_own_law() -> None:
    for reinforced in (True, False):
        urn = Urn(5000, 300.0, reinforced)
        for x in (0, 1, 17, 400):
            law = restricted_law(urn, [CellGroup(1, 2.5, low=x, high=x)])
            assert law.log_probability == pytest.approx(float(urn.log_pmf(x, 2.5)), rel=1e-11)


def test_one_free_cell_among_a_thousand_million() -> None:
    """Everybody on the bounded cells but one: the one cell counts, light as it is."""
    cells = 10**9
    urn = Urn(cells, float(cells), False)
    law = restricted_law(urn, [CellGroup(cells - 1, 1.0, unique=True), CellGroup(1, 1.0, low=1)], counting=False)
    assert law.log_probability == pytest.approx(np.log(-np.expm1(-1.0)), rel=1e-6)
    free = restricted_law(urn, [CellGroup(cells - 1, 1.0, unique=True)])
    assert free.log_probability == pytest.approx(0.0, abs=1e-6)


def test_what_cannot_be() -> None:
    urn = Urn(5, 10.0, True)
    for groups in (
        [CellGroup(3, 1.0, low=2)],
        [CellGroup(10, 1.0, high=0)],
        [CellGroup(1, 1.0, low=6)],
        [CellGroup(1, 1.0, high=-1)],
        [CellGroup(1, 0.0, low=1)],
    ):
        assert restricted_law(urn, groups).log_probability == -np.inf
    assert restricted_law(Urn(0, 10.0, True), [CellGroup(1, 1.0, low=1)]).log_probability == -np.inf
    sure = restricted_law(Urn(0, 10.0, True), [CellGroup(4, 1.0, unique=True)])
    assert (sure.log_probability, sure.start, sure.pmf.tolist()) == (0.0, 4, [1.0])
    weightless = restricted_law(urn, [CellGroup(2, 0.0, unique=True), CellGroup(0, 1.0, low=3)])
    assert (weightless.start, weightless.pmf.tolist()) == (2, [1.0])


def test_too_many_counts_for_one_cell() -> None:
    with pytest.raises(LimitError, match="25,001 different counts"):
        restricted_law(Urn(10**6, 10.0, True), [CellGroup(1, 1.0, high=25_000)])


def test_split_adds_up() -> None:
    urn = Urn(60, 40.0, True)
    groups = [CellGroup(10, 1.0, low=1), CellGroup(5, 2.0, high=3, unique=True)]
    inside, outside = split(urn, groups)
    whole = mix([(0.0, inside), (0.0, outside)])
    free = restricted_law(urn, [CellGroup(5, 2.0, unique=True)])
    assert whole.log_probability == pytest.approx(0.0, abs=1e-12)
    assert whole.pmf == pytest.approx(free.pmf, abs=1e-12)


def test_the_rare_side_of_a_split() -> None:
    """Both ways of computing a complement agree where both are good."""
    for reinforced in (True, False):
        urn = Urn(4000, 400.0, reinforced)
        for weight in (40.0, 60.0, 150.0) if reinforced else (1.0, 1.5, 2.0):
            _, outside = split(urn, [CellGroup(1, weight, low=1)])
            assert outside.log_probability == pytest.approx(float(urn.log_miss(weight)), rel=1e-7)
    _, above = split(Urn(40, 4000.0, False), [CellGroup(3, 1.0, high=4)])
    tail = np.exp(Urn(40, 4000.0, False).log_pmf(np.arange(5, 41), 1.0)).sum()
    assert above.log_probability == pytest.approx(np.log(3 * tail), rel=1e-7)


def test_mixing_nothing() -> None:
    assert mix([(0.0, UntouchedLaw(-np.inf, 0, np.zeros(1)))]).log_probability == -np.inf


def test_distinct_rows() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 50), rng.integers(0, 2, 50) / 2
    first, which = distinct(a, b)
    assert (a[first][which] == a).all()
    assert (b[first][which] == b).all()
    assert first.size == len(set(zip(a.tolist(), b.tolist(), strict=True)))
    assert distinct(np.zeros(0))[0].size == 0
    assert distinct(np.ones(4))[0].tolist() == [0]


def test_complex_logarithm() -> None:
    z = np.array([1e-9 + 1e-9j, -0.999999 + 1e-7j, 0.3 - 2.0j, -2.0 + 0.5j, -1.0 + 0.0j])
    got = np.exp(log1p_complex(z))
    assert got == pytest.approx(1.0 + z, rel=1e-12, abs=1e-150)
    assert log1p_complex(z[:1])[0].real == pytest.approx(1e-9, rel=1e-12)
