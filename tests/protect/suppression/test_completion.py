"""Cells that no table shows are filled with whole numbers that fit, and wishes are met as nearly as can be."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DataError, LimitError
from discreet.core.highs import Outcome, Program
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import Rows
from discreet.protect.suppression import completion
from discreet.protect.suppression.completion import fit
from discreet.table import Table
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.tabulation import Tabulation

PAIRS = (("a", "b"), ("b", "c"), ("a", "c"))


def circle(inner: IntArray, pairs: tuple[tuple[str, ...], ...] = PAIRS) -> Equations:
    """State the two-way margins of a three-way table; no table shows its cells."""
    whole = Table.from_array(inner, {n: [f"{n}{i}" for i in range(s)] for n, s in zip("abc", inner.shape, strict=True)})
    margins = [Tabulation.from_table(whole.margin(*pair)) for pair in pairs]
    return equations_of([Figures.of_tabulation(margin) for margin in margins])


def off(equations: Equations, values: IntArray) -> int:
    """Return by how much equations and ranges are missed in all."""
    row = np.repeat(np.arange(equations.starts.size - 1), np.diff(equations.starts))
    sums = np.zeros(equations.starts.size - 1, np.int64)
    np.add.at(sums, row, equations.signs * values[equations.columns])
    outside = np.maximum(equations.lower - values, 0) + np.maximum(values - equations.upper, 0)
    return int(np.abs(sums).sum() + outside.sum())


def everything(equations: Equations, most: int) -> IntArray:
    """Return all tables that fit, found by going through the cells one by one."""
    open_ = np.flatnonzero(~equations.exact)
    whole = np.tile(equations.lower, ((most + 1) ** open_.size, 1))
    whole[:, open_] = np.indices((most + 1,) * open_.size).reshape(open_.size, -1).T
    good = ((equations.lower <= whole) & (whole <= equations.upper)).all(axis=1)
    for begin, end in itertools.pairwise(equations.starts.tolist()):
        good &= whole[:, equations.columns[begin:end]] @ equations.signs[begin:end] == 0
    return whole[good]


def test_what_is_filled_in_fits() -> None:
    rng = np.random.default_rng(3)
    open_ = 0
    for _ in range(60):
        inner = rng.integers(0, 9, rng.integers(2, 5, 3))
        stated = circle(inner * (rng.random(inner.shape) < 0.7), PAIRS[: rng.integers(2, 4)])
        found = fit(stated)
        assert off(stated, found) == 0
        assert (found[stated.exact] == stated.lower[stated.exact]).all()
        wanted = rng.integers(0, 9, found.size)
        assert off(stated, fit(stated, wanted)) == 0
        open_ += int((~stated.exact).sum())
    assert open_ > 500


def test_no_table_is_nearer_to_what_is_wanted() -> None:
    rng = np.random.default_rng(4)
    some = 0
    for _ in range(12):
        stated = circle(rng.integers(1, 3, (2, 2, 2)))
        every = everything(stated, 4)
        some += len(every) > 1
        wanted = rng.integers(0, 5, stated.lower.size)
        open_ = ~stated.exact
        away = np.abs(every - wanted)[:, open_].sum(axis=1)
        assert np.abs(fit(stated, wanted) - wanted)[open_].sum() == away.min()
    assert some > 8


def test_whole_numbers_are_asked_for_where_real_ones_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Watched(Program):
        def __init__(self, rows: Rows, **given: Any) -> None:
            asked.append(given["whole"])
            super().__init__(rows, **given)

    monkeypatch.setattr(completion, "Program", Watched)
    rng = np.random.default_rng(5)
    for _ in range(6):
        stated = circle(rng.integers(0, 5, (6, 6, 6)))
        assert off(stated, fit(stated, rng.integers(0, 5, stated.lower.size))) == 0
    assert any(asked)
    assert not all(asked)


def test_whole_numbers_are_looked_for_everywhere_where_none_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[float] = []

    class Off(Program):
        """Finds values that are never whole."""

        def __init__(self, rows: Rows, **given: Any) -> None:
            self.given, self.off = given, 0.75
            super().__init__(rows, **given)

        @property
        def point(self) -> FloatArray:
            return super().point + self.off

    class NoneNear(Off):
        """Finds whole values at the second attempt only."""

        def run(self, seconds: float | None = None) -> Outcome:
            if self.given["whole"]:
                whole.append(self.given["upper"].max())
                self.off = 0.0
            return "infeasible" if len(whole) == 1 else super().run(seconds)

    monkeypatch.setattr(completion, "Program", NoneNear)
    stated = circle(np.random.default_rng(5).integers(0, 5, (3, 3, 3)))
    assert off(stated, fit(stated)) == 0
    assert len(whole) == 2
    assert whole[0] < whole[1]
    monkeypatch.setattr(completion, "Program", Off)
    with pytest.raises(LimitError, match="no values were found"):
        fit(stated)


def test_parts_that_share_nothing_are_filled_apart() -> None:
    both = {"r": [1, 2, 3, 4, "Total"], "c": [1, 2, "Total"]}
    shown = [[None, None, 7], [None, None, 3], [None, None, 5], [None, None, 9], [14, 10, 24]]
    stated = equations_of(Figures.from_array(shown, both))
    lower, upper = stated.lower.copy(), stated.upper.copy()
    # The sums of the first two rows are known in each column, so that the others do not touch them.
    at = [stated.find({"r": str(r), "c": "1"}) for r in (1, 2, 3, 4)]
    lower[at[0]] = upper[at[0]] = 4
    lower[at[1]] = upper[at[1]] = 1
    values, open_ = completion._settled(replace(stated, lower=lower, upper=upper))
    assert int(open_.sum()) == 4
    assert values[stated.find({"r": "2", "c": "2"})] == 2
    assert len(list(completion._parts(stated, values, open_))) == 1
    whole = stated.lower.size
    twice = replace(
        stated,
        lower=np.tile(stated.lower, 2),
        upper=np.tile(stated.upper, 2),
        columns=np.concatenate([stated.columns, stated.columns + whole]),
        signs=np.tile(stated.signs, 2),
        starts=np.concatenate([stated.starts, stated.starts[-1] + stated.starts[1:]]),
    )
    parts = list(completion._parts(twice, twice.lower, ~twice.exact))
    assert [part.at.size for part in parts] == [8, 8]
    wanted = np.random.default_rng(1).integers(0, 9, 2 * whole)
    assert np.array_equal(fit(twice, wanted)[:whole], fit(stated, wanted[:whole]))
    assert np.array_equal(fit(twice, wanted)[whole:], fit(stated, wanted[whole:]))


def test_values_without_an_end_go_where_they_are_wanted() -> None:
    both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    stated = equations_of(Figures.from_array([[None, None, 5], [None, None, 9], [7, 7, 14]], both))
    free = replace(
        stated,
        lower=np.where(stated.exact, stated.lower, -UNBOUNDED),
        upper=np.where(stated.exact, stated.upper, UNBOUNDED),
    )
    wanted = np.full(9, -3)
    assert fit(free, wanted)[free.hidden][0] == -3
    assert off(free, fit(free, wanted)) == off(free, fit(free)) == 0


def test_tables_of_other_records_are_refused() -> None:
    both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    stated = equations_of(Figures.from_array([[None, None, 5], [None, None, 9], [7, 7, 14]], both))
    low = stated.lower.copy()
    low[stated.find({"r": "1", "c": "1"})] = 6
    with pytest.raises(DataError, match="no table fits all linked tables together"):
        fit(replace(stated, lower=low))
    at = stated.find({"r": "1", "c": "1"})
    low, high = stated.lower.copy(), stated.upper.copy()
    low[at] = high[at] = 6
    with pytest.raises(DataError, match="r=1 is not the sum of what they leave for its cells"):
        fit(replace(stated, lower=low, upper=high))
