"""Statistics beside the figures: intervals against enumeration in exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.feasible.statistic_cases import Case, cases, matches, rounded
from tests.lengths import seeds

from discreet.auditing.audit import audit
from discreet.auditing.findings import SUBJECTS
from discreet.core.sparse import Rows
from discreet.feasible.integer_search import DEEP, GIVEN_UP, NODES, SmallGroup, search
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.statistic import ROUNDINGS, Statistic, StatisticColumn, admitted


def check(case: Case, *, counted: bool = True) -> int:
    """Compare the audit with what trying every table finds; return how many figures were compared.

    Where values are not counted, there are at least two wherever there are any two.
    """
    found = audit(case.parts, most=case.most, proofs=0).findings
    got = {
        int(i): (low, high, values, done)
        for i, low, high, values, done, subject in zip(
            found.at, found.lower, found.upper, found.values, found.finished, found.subject, strict=True
        )
        if SUBJECTS[subject] != "values of respondents"
    }
    size = found.equations.positions.size
    for (measure, cell), values in case.possible().items():
        names = found.equations.space.names
        labels = next(part for part in case.parts if part.measure == found.equations.measures[measure]).labels
        i = found.equations.find({name: labels[name][k] for name, k in zip(names, cell, strict=True)}) + measure * size
        low, high, count, finished = got[i]
        assert finished, case.about
        assert (low, high) == (min(values), max(values)), (case.about, cell, sorted(values))
        assert count == len(values) if counted else min(2, len(values)) <= count <= len(values), (case.about, cell)
    return len(case.hidden)


@seeds(1, 4)
def test_intervals_are_those_of_trying_every_table(seed: int) -> None:
    assert sum(check(case) for case in cases(seed, 50)) > 100


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
def test_intervals_of_many_more_tables(seed: int) -> None:
    assert sum(check(case) for case in cases(seed, 100)) > 100


@seeds(1, 2)
def test_integer_programs_find_the_same_intervals_where_groups_are_large(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SmallGroup, "suits", staticmethod(lambda group: False))
    assert sum(check(case, counted=False) for case in cases(200 + seed, 40)) > 80


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_what_rounds_to_a_printed_value_is_admitted_and_nothing_else(rounding: str) -> None:
    from fractions import Fraction

    for printed in range(-25, 26):
        found = admitted(np.array([printed]), rounding)
        low, high = Fraction(int(found.low[0]), 20), Fraction(int(found.high[0]), 20)
        for k in range(-120, 121):
            value = Fraction(k, 40)
            inside = (value > low if found.open_low[0] else value >= low) and (
                value < high if found.open_high[0] else value <= high
            )
            assert inside == matches(value, printed, 1, rounding), (value, printed)
            if rounding != "unknown":
                assert inside == (rounded(value, 1, rounding) == printed)


def test_a_contradiction_that_narrows_wide_ranges_one_by_one_is_given_up() -> None:
    """Half of 2x − 2y = 1 is no integer; each turn takes one value off ranges of a thousand million million."""
    rows = Rows(np.array([0, 2]), np.array([0, 1]), np.array([2, -2]))
    ends = np.array([[0, 0], [10**15, 10**15]])
    assert search(rows, np.array([1]), ends, np.zeros(2, np.int64), (NODES, DEEP, 10**16)) == GIVEN_UP


def test_numbers_that_no_sums_fit_are_ruled_out_at_once() -> None:
    """Ends of sums that have passed each other are not narrowed for ever."""
    column = StatisticColumn("m", Statistic("mean", rounding="down", most=3), np.array([[2], [3]]), np.array([5, 5]), 1)
    shown = Figures.from_array(
        [None, 0, 2, None], {"a": ["x", "y", "z", "Total"]}, mark=Kind("suppressed", least=0), statistics=(column,)
    )
    found = audit(shown, most=2, proofs=0).cell(a="x")
    # A mean of 0.5 to 0.6 is of two or of four, never of three.
    assert (found.lower, found.upper, found.values) == (0, 2, 2)
