"""Amounts in steps: a reader who takes hidden amounts for multiples of the step of all others is not told "safe"."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.auditing.common_step import common_step
from discreet.core.errors import DiscreetError
from discreet.core.numerics import IntArray
from discreet.decide.ledger import Ledger
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release import Release

ROWS, COLUMNS = ["a", "b", "c", "Total"], ["x", "y", "z", "Total"]


def table(seed: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Return amounts with their margins, in steps, and which inner ones are hidden."""
    draw = np.random.default_rng(seed)
    inner = draw.integers(1, 4, (3, 3))
    whole = np.zeros((4, 4), np.int64)
    whole[:3, :3] = inner
    whole[3, :3], whole[:3, 3], whole[3, 3] = inner.sum(0), inner.sum(1), inner.sum()
    hidden = np.zeros((4, 4), bool)
    hidden.flat[draw.choice([0, 1, 2, 4, 5, 6, 8, 9, 10], 4, replace=False)] = True
    return whole * step, hidden


def published(amounts: np.ndarray, hidden: np.ndarray, figure: str = "turnover") -> Figures:
    cells = [
        [None if gone else int(v) for v, gone in zip(*row, strict=True)] for row in zip(amounts, hidden, strict=True)
    ]
    return Figures.from_array(cells, {"row": ROWS, "column": COLUMNS}, mark=Kind("suppressed", least=1), figure=figure)


def possible(amounts: np.ndarray, hidden: np.ndarray, step: int) -> list[set[int]]:
    """Enumerate all multiples of the step that fit, for every hidden amount."""
    places = [tuple(place) for place in np.argwhere(hidden)]
    found: list[set[int]] = [set() for _ in places]
    most = amounts[3, 3] // step
    for values in itertools.product(range(1, min(most, 9) + 1), repeat=len(places)):
        tried = amounts[:3, :3].copy()
        for place, value in zip(places, values, strict=True):
            tried[place] = value * step
        if (tried.sum(0) == amounts[3, :3]).all() and (tried.sum(1) == amounts[:3, 3]).all():
            for one, value in zip(found, values, strict=True):
                one.add(value)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_safe_says_what_enumerating_multiples_says(seed: int) -> None:
    step = (10, 25, 1000)[seed % 3]
    amounts, hidden = table(seed, step)
    found = dc.audit(published(amounts, hidden))
    exact = any(len(values) == 1 for values in possible(amounts, hidden, step))
    assert (found.verdict == "safe") == (not exact)


@pytest.mark.parametrize("seed", range(30))
def test_widths_and_risks_are_those_that_enumerating_multiples_leaves(seed: int) -> None:
    step = (10, 25, 1000)[seed % 3]
    amounts, hidden = table(seed, step)
    left = possible(amounts, hidden, step)
    for limits, enough in (
        (dc.Limits(width=2 * step), min(max(values) - min(values) for values in left) >= 2),
        (dc.Limits(dr=0.7), min(len(values) for values in left) >= 3),
    ):
        assert (dc.audit(published(amounts, hidden), limits=limits).verdict == "safe") == enough


def test_a_ledger_asks_what_an_audit_asks(tmp_path: Path) -> None:
    verdicts = []
    for seed in (0, 3, 14, 20):
        amounts, hidden = table(seed, 10)
        release = Release.of(published(amounts, hidden))
        ledger = Ledger(tmp_path / f"{seed}.sqlite")
        alone = ledger.check(release, title="Alone", variable="turnover")
        assert alone.verdict == dc.audit(release).verdict
        verdicts.append(alone.verdict)
        # What could be worked out before does not count against a release that adds nothing.
        ledger.add(release, title="First", variable="turnover")
        assert ledger.check(release, title="Again", variable="turnover").verdict == "safe"
    assert verdicts == ["unsafe", "safe", "safe", "incomplete"]


def test_a_simple_random_sample_is_known_by_its_weight() -> None:
    amounts = np.array([[10, 10, 90, 110], [10, 10, 80, 100], [20, 20, 170, 210]])
    cells = [[None, None, None, 110], [None, None, None, 100], [None, None, 170, 210]]
    labels = {"area": ["a", "b", "Total"], "age": ["x", "y", "z", "Total"]}
    shown = Figures.from_array(cells, labels, mark=Kind("suppressed", least=1), figure="weighted")
    found = dc.audit(shown)
    assert found.verdict == "incomplete"
    assert "multiples of 10" in found.note
    assert "is 20" in found.note
    records = {"area": [], "age": [], "person": [], "w": []}  # type: dict[str, list[object]]
    for i, j in itertools.product(range(2), range(3)):
        for _ in range(int(amounts[i, j]) // 10):
            row = {"area": "ab"[i], "age": "xyz"[j], "person": f"p{len(records['w'])}", "w": 10}
            for name, value in row.items():
                records[name].append(value)
    import pandas as pd

    counted = dc.tabulate(pd.DataFrame(records), ["area", "age"], contributor="person", weight="w", estimates=True)
    with pytest.raises(DiscreetError, match="multiples of 10"):
        dc.suppress(counted, "threshold=2")


def test_counts_and_few_values_have_no_step() -> None:
    amounts, hidden = table(1, 2)
    assert common_step([published(amounts, hidden)]) in (1, 2)
    assert common_step([published(amounts, hidden, figure="count")]) == 1
    assert common_step([Figures.from_array([20, 30], {"x": ["a", "b"]}, figure="turnover")]) == 1
    assert common_step([Figures.from_array([7, 14, None], {"x": ["a", "b", "c"]}, figure="turnover")]) == 1


def test_a_hidden_amount_that_is_no_multiple_leaves_the_verdict() -> None:
    labels = {"row": ["a", "b", "c", "Total"], "column": ["x", "y", "Total"]}
    shown = [[None, None, 100], [None, None, 300], [200, 400, 600], [500, 500, 1000]]
    figures = Figures.from_array(shown, labels, mark=Kind("suppressed", least=1), figure="turnover")
    assert dc.audit(figures).verdict == "safe", "two amounts above 0 that add up to one step are no multiples"


def test_who_is_not_in_doubt_by_candidates_works_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suppression shows tables that count in steps; those whom they settle are judged one by one here."""
    module = importlib.import_module("discreet.auditing.audit")
    quick, counted = module.in_doubt, []

    def counting(*given: Any) -> IntArray:
        found: IntArray = quick(*given)
        counted.append((found.size, len(given[2])))
        return found

    def everybody(*given: Any) -> IntArray:
        return np.arange(len(given[2]))

    outcomes = []
    for seed in (9, 12, 13):
        draw = np.random.default_rng(seed)
        places = [(f"r{i}", f"s{k}") for i in range(3) for k in range(3) for _ in range(int(draw.integers(1, 4)))]
        rows = [(f"f{i}", *place, 10 * int(draw.integers(1, 3))) for i, place in enumerate(places)]
        firms = pd.DataFrame(rows, columns=["firm", "region", "size", "turnover"])
        how: dict[str, Any] = {"by": ["region", "size"], "value": "turnover", "contributor": "firm"}
        told = []
        for judge in (counting, everybody):
            monkeypatch.setattr(module, "in_doubt", judge)
            try:
                found = dc.suppress(firms, "p=10", insiders="respondents", **how)
                told.append(f"{found.audit.verdict}: {found.audit.note}")
            except DiscreetError as error:
                told.append(str(error))
        assert told[0] == told[1]
        outcomes.append(told[0])
    assert any(some < all_ for some, all_ in counted)
    assert len({one == "safe: " for one in outcomes}) == 2
