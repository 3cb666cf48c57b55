"""Conventional rounding, and what all roundings share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protect.hierarchical import random_tabulation

import discreet as dc
from discreet import DataError, RequestError, Table
from discreet.protect import METHODS, conventional_rounding, random_rounding
from discreet.protect.conventional_rounding import round_nearest

ROUNDINGS = [
    "conventional-rounding",
    "random-rounding",
    "semi-controlled-rounding",
    "controlled-rounding",
    "small-count-rounding",
]


def method(name: str) -> Any:
    return METHODS[name]


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=20), st.integers(2, 12))
def test_the_nearest_multiple_and_the_upper_one_of_two(F: list[int], base: int) -> None:
    for count, rounded in zip(F, round_nearest(np.array(F), base).tolist(), strict=True):
        candidates = (count // base * base, count // base * base + base)
        assert rounded == min(candidates, key=lambda c: (abs(c - count), -c))


def test_the_kind_says_where_a_count_came_from() -> None:
    for base in range(2, 9):
        counts = np.arange(40)
        release = conventional_rounding(Table.from_array(counts, ["x"]), base)
        part = release.parts()[0]
        lower, upper = part.ranges()
        for y in np.unique(part.values):
            behind = np.flatnonzero(round_nearest(counts, base) == y)
            at = int(np.flatnonzero(part.values == y)[0])
            if behind[-1] < 39 - base:
                assert (max(lower[at], 0), upper[at]) == (behind[0], behind[-1])


def test_margins_are_rounded_by_themselves() -> None:
    table = Table.from_array([[1, 1], [1, 1]], ["area", "sex"])
    part = conventional_rounding(table, 3, margins=True).parts()[0]
    assert part.values.tolist() == [3, 3, 3, 3, 0, 0, 3, 0, 0]
    rounded = random_rounding(table, 3, margins=True, seed=2)
    values = rounded.parts()[0].values
    assert (values % 3 == 0).all()
    assert rounded.table.to_array().ravel().tolist() == values[[4, 5, 7, 8]].tolist()


@pytest.mark.parametrize("name", ROUNDINGS)
def test_every_rounding_is_judged_without_special_cases(name: str) -> None:
    rng = np.random.default_rng(3)
    table = dc.datasets.religion()
    cells = random_tabulation(rng, (4, 3), (2, 1))
    for original, counts in ((table, table), (cells, cells.table())):
        made = method(name)().apply(original, 1)
        assert dc.risk(counts, made.release).value < dc.risk(counts).value + 0.1
        assert made.release.method == name
        assert made.changes.largest == int(
            max(np.abs(part.values - _true(original, part)).max() for part in made.release.parts())
        )
        for law in ("interval", "method"):
            if law == "method" and original is table:
                continue
            found = dc.audit(made.release, law=law)
            assert found.verdict in ("safe", "unsafe", "incomplete")
        assert made.to_dict()["method"] == name
        assert made.sentence in str(made)


def _true(original: object, part: dc.Figures) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    from discreet.table.tabulation import Tabulation

    cells = Tabulation.from_table(original) if isinstance(original, Table) else original
    assert isinstance(cells, Tabulation)
    truth = {tuple(cells.label(i).values()): int(cells.records[i]) for i in range(len(cells))}
    found = []
    for row in range(len(part)):
        codes = zip(part.labels.values(), part.codes[row], strict=True)
        found.append(truth.get(tuple(labels[int(code)] for labels, code in codes), 0))
    return np.array(found, np.int64)


@pytest.mark.parametrize("name", ROUNDINGS)
def test_the_original_fits_what_is_published(name: str) -> None:
    rng = np.random.default_rng(9)
    for seed in range(10):
        cells = random_tabulation(rng, (4, 3, 2), (2, 2, 1))
        made = method(name)().apply(cells, seed)
        for part in made.release.parts():
            lower, upper = part.ranges()
            truth = _true(cells, part)
            assert ((truth >= lower) & (truth <= upper)).all()


@pytest.mark.parametrize("name", ROUNDINGS)
def test_bad_input(name: str) -> None:
    for base in (1, 0, -2, 2.5, True, None):
        with pytest.raises(RequestError, match=r"base is .*; round to an integer of 2 or more"):
            method(name)(base=base)
    with pytest.raises(DataError, match="counts nobody"):
        method(name)().apply(Table.from_array([[0, 0]], ["a", "b"]))
    import pandas as pd

    firms = dc.tabulate(pd.DataFrame({"r": ["n", "s"], "v": [1.5, 2.0]}), ["r"], value="v")
    with pytest.raises(DataError, match="holds sums of v"):
        method(name)().apply(firms)
    with pytest.raises(DataError, match=r"1\.5"):
        method(name)().apply(Table.from_array([[1.5, 2]], ["a", "b"]))


@pytest.mark.parametrize("name", ROUNDINGS)
def test_structural_zeros_stay_and_are_not_listed(name: str) -> None:
    table = Table.from_array([[4, 0, 1], [1, 2, 2]], ["a", "b"], impossible=[[False, True, False], [False] * 3])
    release = method(name)().apply(table, 1).release
    assert release.table.impossible.tolist() == [1]
    listed = {part.describe(row) for part in release.parts() for row in range(len(part))}
    assert "a=1, b=2" not in listed
    assert "a=1, b=1" in listed
