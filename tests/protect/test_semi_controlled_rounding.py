"""Semi-controlled rounding against every place where its selection can begin, and every order of the parts."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protect.hierarchical import random_tabulation

import discreet as dc
from discreet import RequestError, Table
from discreet.core.random import generator
from discreet.protect import SemiControlledRounding, semi_controlled_rounding
from discreet.protect.semi_controlled_rounding import round_parts


class Scripted:
    """Stands in for a generator: the order of the parts and where the selection begins are given."""

    def __init__(self, order: tuple[int, ...], begin: int) -> None:
        self.order, self.begin = order, begin

    def random(self, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        keys = np.empty(size)
        keys[list(self.order)] = np.arange(size)
        return keys

    def integers(
        self, low: int, span: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        assert (self.begin < span).all()
        return np.full(span.shape, self.begin)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), st.integers(2, 5))
def test_parts_are_unbiased_given_a_total_that_is(parts: list[int], base: int) -> None:
    x = np.array(parts)
    total = int(x.sum())
    r = total % base
    mean: Any = np.zeros(x.size, object) + Fraction(0)
    for up, chance in ((False, Fraction(base - r, base)), (True, Fraction(r, base))):
        if not chance:
            continue
        whole = np.array([total - r + (base if up else 0)])
        span = r if up else base - r
        orders = list(permutations(range(x.size)))
        for order, begin in product(orders, range(span)):
            rng = Scripted(order, begin)
            rounded = round_parts(x, np.zeros(x.size, np.int64), whole, base, rng)  # type: ignore[arg-type]
            assert rounded.sum() == whole[0]
            assert (rounded % base == 0).all()
            assert (np.abs(rounded - x) < base).all()
            mean = mean + rounded.astype(object) * (chance / (len(orders) * span))
    assert mean.tolist() == parts


def test_kept_totals_are_neighbours_and_sums_with_hierarchies() -> None:
    rng = np.random.default_rng(5)
    for seed in range(40):
        cells = random_tabulation(rng, (5, 4, 2), (3, 1, 1))
        base = int(rng.integers(2, 7))
        release = semi_controlled_rounding(cells, base, totals=["d0", "d2"], seed=seed)
        full = cells.with_empty_cells()
        values = release.parts()[0].values
        assert (values % base == 0).all()
        assert (np.abs(values - full.records) < base).all()
        kept = (full.codes("d1") == 0) & (
            (full.codes("d2") == 0) | np.isin(full.codes("d0"), cells.axis("d0").leaf_codes)
        )
        inner = full.inner(full.names)
        codes = np.stack([full.codes(name) for name in full.names], axis=1)
        for row in np.flatnonzero(kept):
            under = np.ones(len(full), bool)
            for d, axis in enumerate(full.axes):
                under &= np.isin(codes[:, d], sorted(axis.under[codes[row, d]]))
            assert values[row] == values[inner & under].sum()


def test_draws_are_unbiased_and_add_up() -> None:
    table = Table.from_array([[1, 5, 7], [6, 2, 1], [1, 1, 0]], ["area", "sex"])
    method = SemiControlledRounding(4, ("area",))
    draws = method.draws(table, generator(1), 60_000)
    residual = table.counts % 4 / 4
    error = 4 * np.sqrt(residual * (1 - residual) / 60_000)
    assert (np.abs(draws.mean(axis=0) - table.counts) <= 4.5 * error).all()
    areas = np.stack([draws[:, table.codes("area") == i].sum(axis=1) for i in range(3)], axis=1)
    assert (np.abs(areas - [13, 9, 2]) < 4).all()
    assert (np.abs(draws.sum(axis=1) - 24) < 4).all()
    assert np.array_equal(method.support(table), table.cells)
    assert dc.expected_risk(table, method, draws=200, seed=1).risk.mean > 0


def test_requests() -> None:
    table = Table.from_array([[1, 2], [3, 4]], ["area", "sex"])
    with pytest.raises(RequestError, match="no dimension 'aera'; did you mean 'area'"):
        semi_controlled_rounding(table, totals=["aera"])
    with pytest.raises(RequestError, match="name every dimension once"):
        SemiControlledRounding(3, ("area", "area"))
    with pytest.raises(RequestError, match="not enumerated"):
        dc.expected_risk(table, SemiControlledRounding(3), exact=True)
    release = semi_controlled_rounding(table, totals="area", seed=1)
    assert dict(release.parameters) == {"base": 3, "totals": ["area"]}
    assert dc.audit(release).verdict in ("safe", "unsafe")
