"""Random rounding against its law in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet import DataError, RequestError, Table, datasets
from discreet.core.random import generator
from discreet.protect import METHODS, RandomRounding, random_rounding
from discreet.protect.random_rounding import BLOCK, round_once, round_randomly

counts = st.lists(st.integers(0, 12), min_size=1, max_size=6).filter(any)
bases = st.integers(2, 7)


def slow_law(F: list[int], base: int) -> dict[tuple[int, ...], Fraction]:
    """Go through every way to round every count, up with probability r/b."""
    law: dict[tuple[int, ...], Fraction] = {}
    for ups in product((False, True), repeat=len(F)):
        chance, row = Fraction(1), []
        for count, up in zip(F, ups, strict=True):
            residual = count % base
            chance *= Fraction(residual, base) if up else 1 - Fraction(residual, base)
            row.append(count - residual + (base if up else 0))
        if chance:
            law[tuple(row)] = law.get(tuple(row), Fraction(0)) + chance
    return law


def whole_law(F: list[int], base: int, block: int = 4096) -> dict[tuple[int, ...], float]:
    table = Table.from_array(F, ["x"])
    found: dict[tuple[int, ...], float] = {}
    for chances, rows in RandomRounding(base).law(table, block):
        assert chances.shape == (len(rows),)
        assert len(rows) <= block
        for chance, row in zip(chances.tolist(), rows.tolist(), strict=True):
            assert tuple(row) not in found
            found[tuple(row)] = chance
    return found


@given(counts, bases)
def test_the_law_is_that_of_exact_enumeration(F: list[int], base: int) -> None:
    filled = [count for count in F if count]
    expected, found = slow_law(filled, base), whole_law(F, base, block=3)
    assert found.keys() == expected.keys()
    assert all(found[row] == pytest.approx(float(chance), rel=1e-12) for row, chance in expected.items())
    assert sum(found.values()) == pytest.approx(1)
    assert RandomRounding(base).outcomes(Table.from_array(F, ["x"])) == len(expected)


@given(counts, bases)
def test_it_is_unbiased(F: list[int], base: int) -> None:
    filled = [count for count in F if count]
    law = slow_law(filled, base)
    for i, count in enumerate(filled):
        assert sum(chance * row[i] for row, chance in law.items()) == count
    mean = sum(np.array(row) * chance for row, chance in whole_law(F, base).items())
    np.testing.assert_allclose(mean, filled)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=20).filter(any), bases, st.integers(0, 2**32))
def test_a_release_moves_no_count_by_a_base(F: list[int], base: int, seed: int) -> None:
    table = Table.from_array(F, ["x"])
    G = random_rounding(table, base, seed=seed).table.to_array()
    assert (G % base == 0).all()
    assert (np.abs(G - table.to_array()) < base).all()
    assert (G[table.to_array() % base == 0] == table.to_array()[table.to_array() % base == 0]).all()


@pytest.mark.parametrize("base", range(2, 8))
def test_draws_follow_the_law(base: int) -> None:
    F = [1, 2, 5, 10, 11]
    table = Table.from_array(F, ["x"])
    law = slow_law(F, base)
    draws = RandomRounding(base).draws(table, generator(base), 20_000)
    rows, seen = np.unique(draws, axis=0, return_counts=True)
    observed = {tuple(row): n for row, n in zip(rows.tolist(), seen.tolist(), strict=True)}
    assert observed.keys() <= law.keys()
    outcome = stats.chisquare(
        [observed.get(row, 0) for row in law], [20_000 * float(chance) for chance in law.values()]
    )
    assert outcome.pvalue > 1e-4


def test_base_3_has_the_probabilities_of_antal2014() -> None:
    assert whole_law([1], 3) == {(0,): pytest.approx(2 / 3), (3,): pytest.approx(1 / 3)}
    assert whole_law([2], 3) == {(0,): pytest.approx(1 / 3), (3,): pytest.approx(2 / 3)}
    assert whole_law([3], 3) == {(3,): 1.0}


def test_releases_are_reproducible_and_tell_neither_original_nor_seed() -> None:
    table = datasets.religion()
    release = random_rounding(table, base=3, seed=5)
    assert release == random_rounding(table, base=3, seed=5)
    assert release.table != random_rounding(table, base=3, seed=6).table
    assert release.table.dimensions == table.dimensions
    assert (release.method, dict(release.parameters)) == ("random-rounding", {"base": 3})
    held = [value for value in vars(release).values() if isinstance(value, Table)]
    assert held == [release.table]
    assert release.table != table
    assert "seed" not in {*vars(release), *release.parameters}
    assert random_rounding(table, base=np.int64(3), seed=5).parameters == {"base": 3}


def test_the_number_of_releases_may_be_large() -> None:
    for cells in (62, 63, 64, 2000):
        assert RandomRounding(3).outcomes(Table.from_array(np.ones(cells), ["x"])) == 2**cells


def test_structural_zeros_stay() -> None:
    table = Table.from_array([4, 0, 0], ["x"], impossible=[False, True, False])
    assert random_rounding(table, seed=1).table.impossible.tolist() == [1]


def test_counts_may_vanish() -> None:
    table = Table.from_array([1, 1], ["x"])
    released = [random_rounding(table, seed=seed).table.total for seed in range(40)]
    assert set(released) == {0, 3, 6}


@pytest.mark.parametrize("base", [1, 0, -3, 2.5, True, "3", None])
def test_bases_that_are_none(base: object) -> None:
    with pytest.raises(RequestError, match=r"base is .*; round to an integer of 2 or more"):
        RandomRounding(base)  # type: ignore[arg-type]


def test_nobody_to_round() -> None:
    with pytest.raises(DataError, match="counts nobody"):
        random_rounding(Table.from_array([0, 0], ["x"]))


def test_the_registry_names_every_method() -> None:
    assert all(method.name == name for name, method in METHODS.items())
    assert METHODS["random-rounding"] is RandomRounding


def test_large_tables_are_rounded_alike_by_any_number_of_workers() -> None:
    F = np.random.default_rng(1).integers(0, 1000, 3 * BLOCK + 17)
    whole = round_once(F, 7, 5, workers=1)
    assert np.array_equal(whole, round_once(F, 7, 5, workers=3))
    assert (whole % 7 == 0).all()
    assert (np.abs(whole - F) < 7).all()
    residual = F % 7
    for r in range(7):
        up = (whole > F)[residual == r].mean()
        assert abs(up - r / 7) < 5 * np.sqrt(0.25 / (residual == r).sum())


@pytest.mark.parametrize("base", [2, 255, 256, 257, 65_535, 65_536, 65_537, 2**40])
def test_bases_of_any_size_are_unbiased(base: int) -> None:
    rng = generator(base)
    for residual in (1, base // 2, base - 1):
        F = np.full(40_000, 3 * base + residual)
        rounded = round_randomly(F, base, rng, 1)[0]
        assert set(np.unique(rounded).tolist()) <= {3 * base, 4 * base}
        share = residual / base
        assert abs((rounded > F).mean() - share) < 5 * np.sqrt(share * (1 - share) / F.size) + 1e-9
