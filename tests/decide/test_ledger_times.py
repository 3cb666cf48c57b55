"""Periods inside each other: what a year and its quarters give away, if their figures add up."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from discreet.decide.ledger import Ledger
from discreet.decide.ledger.times import days
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release import Release

QUARTERS = {1: (12, 20), 2: (10, 25), 4: (14, 18)}


def births(*figures: int | None) -> Release:
    mark = Kind("suppressed", least=0)
    shown = [*figures, None if None in figures else sum(one or 0 for one in figures)]
    return Release.of(Figures.from_array(shown, {"area": ["n", "s", "Total"]}, mark=mark))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    found = Ledger(tmp_path / "ledger.sqlite")
    for quarter, figures in QUARTERS.items():
        found.add(births(*figures), title=f"Q{quarter}", population="births", period=f"2024-Q{quarter}")
    return found


def test_three_quarters_and_the_year_tell_the_fourth(ledger: Ledger) -> None:
    found = ledger.check(births(37, 90), title="Year", population="births", period="2024")
    assert found.verdict == "incomplete"
    assert "area=n, time=2024-07-01 to 2024-09-30" in found.sentence
    assert "= 37 − 12 − 10 − 14 = 1 follows" in found.sentence


def test_so_do_the_year_and_a_quarter_that_hides_its_figures(ledger: Ledger) -> None:
    ledger.add(births(57, 90), title="Year", population="births", period="2024")
    found = ledger.check(births(None, None), population="births", period="Q3 2024")
    assert found.verdict == "incomplete"
    assert "area=n, time=Q3 2024" in found.sentence or "area=s, time=Q3 2024" in found.sentence


def test_figures_that_do_not_add_up_and_those_of_a_day_tell_nothing(ledger: Ledger) -> None:
    # Fewer than in its quarters: residents, not births.
    assert ledger.check(births(20, 30), population="births", period="2024").verdict == "safe"
    assert ledger.check(births(37, 90), population="births", period="on 2024-12-31").verdict == "safe"
    assert ledger.check(births(97, 90), population="births", period="2024").verdict == "safe"
    assert ledger.check(births(37, 90), population="births", period="2025").verdict == "safe"


def test_sums_over_twelve_months_that_overlap(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add(births(50, 90), title="to June", population="births", period="2023-07 to 2024-06")
    ledger.add(births(21, 30), title="2023-Q3", population="births", period="2023-Q3")
    # Three months later: what came less what went is 30 − 50, and 21 of those that went are known.
    found = ledger.check(births(30, 90), population="births", period="2023-10 to 2024-09")
    assert found.verdict == "incomplete"
    assert "time=2024-07-01 to 2024-09-30 = " in found.sentence
    assert "= 1 follows" in found.sentence


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024", "2024-01-01 to 2024-12-31"),
        ("2024-Q2", "Q2/2024"),
        ("2024-H1", "2024-01..2024-06"),
        ("2024-M02", "February 2024"),
        ("2024-02", "Feb. 2024"),
        ("2024-W01", "2024-01-01 to 2024-01-07"),
        ("2020-2024", "2020 to 2024"),
        ("31.12.2024", "2024-12-31"),
    ],
)
def test_ways_of_writing_a_period(one: str, other: str) -> None:
    assert days(one) == days(other) is not None


@pytest.mark.parametrize("text", ["", "on 2024-12-31", "census", "2024-Q5", "2024-13", "2024-02-30", "wave 3"])
def test_texts_that_are_no_period(text: str) -> None:
    assert days(text) is None


@pytest.mark.parametrize("seed", range(12))
def test_every_quarter_that_follows_is_found(seed: int, tmp_path: Path) -> None:
    """Enumerate what is behind the figures of four quarters and the year, of which some are hidden."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, 4)
    hidden = rng.random(4) < 0.5
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for k in range(4):
        shown = [None if hidden[k] else int(truth[k])]
        figures = Figures.from_array(shown, {"area": ["n"]}, mark=Kind("suppressed", least=0))
        ledger.add(Release.of(figures), title=f"Q{k + 1}", population="births", period=f"2024-Q{k + 1}")
    year = Release.of(Figures.from_array([int(truth.sum())], {"area": ["n"]}))
    found = ledger.check(year, population="births", period="2024", fewest=1, threshold=1)
    fit = [
        values
        for values in itertools.product(range(int(truth.sum()) + 1), repeat=4)
        if sum(values) == truth.sum() and all(hidden[k] or values[k] == truth[k] for k in range(4))
    ]
    exact = any(hidden[k] and len({values[k] for values in fit}) == 1 for k in range(4))
    assert found.verdict == ("incomplete" if exact else "safe")


def test_quarters_that_hide_figures_above_zero_and_the_year(tmp_path: Path) -> None:
    """Two hidden quarters of a year have 2 births together: one each, if zeros are always published."""
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def told(figure: int | None, other: int = 9) -> Release:
        return Release.of(Figures.from_array([figure, other], {"area": ["n", "s"]}))

    for period, release in {
        "2024-Q1": told(9),
        "2024": told(13, 36),
        "2024-Q4": told(None),
        "2024-Q2": told(2),
    }.items():
        ledger.add(release, title=period, population="births", period=period)
    found = ledger.check(told(None), title="Q3", population="births", period="2024-Q3", threshold=3)
    assert found.verdict == "incomplete"
    assert "if zeros are always published" in found.sentence
