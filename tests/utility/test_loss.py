"""Information loss: worked examples, and every figure against its definition."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet import Table, datasets, information_loss
from discreet.protect import random_rounding
from discreet.utility.loss import cramers_v, hellinger_counts


def slow_cramers_v(counts: list[list[int]]) -> float:
    """√(χ²/(N·(min(r, c) − 1))) with χ² = Σ (n − e)²/e, over the rows and columns that are not empty."""
    rows = [line for line in counts if any(line)]
    rows = [list(column) for column in zip(*(c for c in zip(*rows, strict=True) if any(c)), strict=True)]
    N = sum(map(sum, rows))
    smaller = min(len(rows), len(rows[0])) if rows else 0
    if smaller < 2:
        return math.nan
    across = [sum(column) for column in zip(*rows, strict=True)]
    chi = sum(
        (n - sum(line) * total / N) ** 2 / (sum(line) * total / N)
        for line in rows
        for n, total in zip(line, across, strict=True)
    )
    return math.sqrt(chi / (N * (smaller - 1)))


def test_the_worked_hellinger_example() -> None:
    loss = information_loss(Table.from_array([1, 2, 3, 4, 5, 6], ["k"]), Table.from_array([0, 3, 3, 3, 6, 6], ["k"]))
    assert loss.hellinger == pytest.approx(0.780502, abs=5e-7)
    assert loss.utility == pytest.approx(0.829681, abs=5e-7)
    assert loss.hellinger_distribution == pytest.approx(loss.hellinger / math.sqrt(21))
    assert loss.kl == math.inf
    assert loss.mean_absolute_error == pytest.approx(4 / 6)
    assert loss.mean_squared_error == pytest.approx(4 / 6)
    assert loss.reciprocal_mse == pytest.approx(6 / 4)
    assert (loss.changed, loss.cells) == (4, 6)
    assert loss.associations == ()


def test_errors_by_hand() -> None:
    F = Table.from_array([[3, 0], [1, 5]], ["area", "sex"])
    G = Table.from_array([[6, 0], [0, 3]], ["area", "sex"])
    loss = information_loss(F, G)
    assert loss.mean_absolute_error == (3 + 0 + 1 + 2) / 4
    assert loss.mean_squared_error == (9 + 0 + 1 + 4) / 4
    assert loss.reciprocal_mse == pytest.approx(4 / 14)
    impossible = Table.from_array([[3, 0], [1, 5]], ["area", "sex"], impossible=[[False, True], [False, False]])
    assert information_loss(impossible, G).mean_absolute_error == 6 / 3
    assert information_loss(impossible, G).cells == 3


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4))
def test_cramers_v(counts: list[list[int]]) -> None:
    expected = slow_cramers_v(counts)
    found = cramers_v(Table.from_array(counts, ["a", "b"]))
    assert found == pytest.approx(expected, abs=1e-7, nan_ok=True)


def test_cramers_v_of_known_tables() -> None:
    assert cramers_v(Table.from_array([[5, 0], [0, 5]], ["a", "b"])) == 1
    assert cramers_v(Table.from_array([[1, 2], [2, 4]], ["a", "b"])) == pytest.approx(0, abs=1e-8)
    assert cramers_v(Table.from_array([[10, 20], [30, 40]], ["a", "b"])) == pytest.approx(
        math.sqrt(0.7936507936507936 / 100)
    )
    assert math.isnan(cramers_v(Table.from_array([[1, 2]], ["a", "b"])))
    assert math.isnan(cramers_v(Table.from_array([[0, 0], [0, 0]], ["a", "b"])))


cells = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=8, max_size=8)


@given(cells)
def test_all_figures_against_their_definitions(pairs: list[tuple[int, int]]) -> None:
    F, G = [a for a, _ in pairs], [b for _, b in pairs]
    assume(sum(F) > 0)
    dims = ["a", "b", "c"]
    original = Table.from_array(np.reshape(F, (2, 2, 2)), dims)
    loss = information_loss(original, Table.from_array(np.reshape(G, (2, 2, 2)), dims))
    distance = math.sqrt(0.5 * sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in pairs))
    assert loss.hellinger == pytest.approx(distance)
    assert loss.utility == pytest.approx(1 - distance / math.sqrt(sum(F)))
    assert loss.mean_absolute_error == pytest.approx(sum(abs(a - b) for a, b in pairs) / 8)
    assert loss.mean_squared_error == pytest.approx(sum((a - b) ** 2 for a, b in pairs) / 8)
    assert loss.changed == sum(a != b for a, b in pairs)
    if sum(G) == 0:
        assert loss.hellinger_distribution is None
        assert loss.kl == math.inf
    else:
        shares = [(a / sum(F), b / sum(G)) for a, b in pairs]
        apart = math.sqrt(0.5 * sum((math.sqrt(p) - math.sqrt(q)) ** 2 for p, q in shares))
        assert loss.hellinger_distribution == pytest.approx(apart, abs=1e-7)
    assert [item.dimensions for item in loss.associations] == [("a", "b"), ("a", "c"), ("b", "c")]
    for item, axis in zip(loss.associations, (2, 1, 0), strict=True):
        for counts, found in ((F, item.before), (G, item.after)):
            margin = np.reshape(counts, (2, 2, 2)).sum(axis=axis).tolist()
            assert found == pytest.approx(slow_cramers_v(margin), abs=1e-7, nan_ok=True)
        assert item.change == pytest.approx(item.after - item.before, nan_ok=True)


@given(cells)
def test_figures_join_by_label(pairs: list[tuple[int, int]]) -> None:
    F, G = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    assume(F.sum() > 0)
    original = Table.from_array(F.reshape(2, 4), {"x": "ab", "y": "cdef"})
    straight = Table.from_array(G.reshape(2, 4), {"x": "ab", "y": "cdef"})
    turned = Table.from_array(G.reshape(2, 4).T[::-1, ::-1], {"y": "fedc", "x": "ba"})
    assert information_loss(original, turned).to_dict() == information_loss(original, straight).to_dict()


def test_nothing_lost() -> None:
    table = datasets.religion()
    loss = information_loss(table, table)
    assert (loss.hellinger, loss.kl, loss.mean_squared_error, loss.changed) == (0, 0, 0, 0)
    assert loss.utility == 1
    assert loss.reciprocal_mse == math.inf
    assert all(item.change == 0 for item in loss.associations)


def test_an_empty_release_loses_all() -> None:
    table = Table.from_array([3, 4], ["x"])
    loss = information_loss(table, Table.from_array([0, 0], ["x"]))
    assert loss.hellinger == pytest.approx(math.sqrt(3.5))
    assert loss.hellinger_distribution is None
    assert loss.kl == math.inf


def test_plain_data_is_json_and_faces_tell_the_figures() -> None:
    loss = information_loss(datasets.religion(), random_rounding(datasets.religion(), seed=1))
    data = json.loads(json.dumps(loss.to_dict(), allow_nan=False))
    assert data["hellinger"] == loss.hellinger
    assert data["kl"] is None
    assert data["cramers_v"][0]["dimensions"] == ["output_area", "religion"]
    assert str(loss) == repr(loss)
    assert str(loss).startswith(f"{loss.changed} of 90 inner cells changed; a figure is off by")
    assert f"{loss.utility:.4f}" in str(loss)
    assert "Cramér&#x27;s V output_area × religion" in loss._repr_html_()


def test_kernels_take_many_draws() -> None:
    F = np.array([1, 4, 9])
    G = np.array([[1, 4, 9], [4, 4, 4]])
    np.testing.assert_allclose(hellinger_counts(F, G), [0, math.sqrt(0.5 * (1 + 1))])
