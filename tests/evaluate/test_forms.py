"""Suppressed figures shown as intervals or as made-up values say nothing that the marks do not say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.protect.suppression.oracle import counts

import discreet as dc
from discreet.core.errors import RequestError
from discreet.evaluate.forms import show_as
from discreet.rules import Threshold
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT, SUPPRESSED, UNBOUNDED, Kind
from discreet.table.release import Release
from discreet.table.tabulation import Tabulation


def linked() -> list[Tabulation]:
    rng = np.random.default_rng(11)
    whole = dc.Table.from_array(rng.integers(0, 7, (4, 4, 3)), {"a": list("pqrs"), "b": list("tuvw"), "c": list("xyz")})
    return [Tabulation.from_table(whole.margin(*pair)) for pair in (("a", "b"), ("b", "c"), ("a", "c"))]


def test_linked_tables_in_every_form() -> None:
    marks, intervals, made = (
        dc.suppress(linked(), Threshold(7), levels=(1, 1), form=form) for form in ("marks", "intervals", "synthetic")
    )
    assert [found.release.parameters["form"] for found in (marks, intervals, made)] == [
        "marks",
        "intervals",
        "synthetic",
    ]
    assert sum(int(part.hidden.sum()) for part in marks.release.parts()) > 6
    seen = {cell.name: (cell.lower, cell.upper) for cell in dc.audit(marks.release, proofs=0).cells}
    for part, shown, drawn in zip(marks.release.parts(), intervals.release.parts(), made.release.parts(), strict=True):
        assert shown.upper is not None
        for row in np.flatnonzero(part.hidden).tolist():
            name = ", ".join(label for label in part.describe(row).split(", ") if not label.endswith("=Total"))
            assert seen[name or "total"] == (shown.values[row], shown.upper[row])
            assert shown.values[row] <= drawn.values[row] <= shown.upper[row]
        assert (drawn.values[~part.hidden] == part.values[~part.hidden]).all()
    # The made-up tables add up, and agree where they share a margin: this raises if they do not.
    equations_of([Figures(p.labels, p.codes, p.values, np.zeros_like(p.kind)) for p in made.release.parts()])


def test_nothing_but_the_release_is_needed() -> None:
    table = counts(np.random.default_rng(1), (6, 5, 4), "abc")
    marks, intervals = (
        dc.suppress(table, Threshold(3), levels=(1, 1), form=form).release for form in ("marks", "intervals")
    )
    again, known = show_as(marks, "intervals").figures[0], intervals.figures[0]
    assert np.array_equal(again.values, known.values)
    assert again.upper is not None
    assert known.upper is not None
    assert np.array_equal(again.upper, known.upper)
    assert show_as(marks, "marks") is marks


def test_figures_of_other_kinds_stay_as_they_are() -> None:
    both = {"r": ("1", "2", "Total"), "c": ("1", "2", "Total")}
    codes = np.stack([axis.ravel() for axis in np.indices((3, 3))], axis=1)
    values = np.array([0, 0, 5, 0, 0, 9, 6, 9, 14])
    kind = np.array([1, 1, 0, 1, 1, 0, 2, 2, 0])
    rounded = Figures(both, codes, values, kind, kinds=(EXACT, SUPPRESSED, Kind("conventional", base=3)))
    shown = show_as(Release.of(rounded), "intervals").figures[0]
    assert [shown.kinds[k].name for k in shown.kind] == [
        *["interval"] * 2, "exact", *["interval"] * 2, "exact", "conventional", "conventional", "exact",
    ]  # fmt: skip
    assert (shown.values[6:] == values[6:]).all()
    assert shown.upper is not None
    assert shown.upper[0] == 5


def test_figures_without_an_end_stay_marked() -> None:
    open_ = Figures.from_array([[3, None, None]], {"r": [1], "c": [1, 2, "Total"]})
    assert open_.ranges()[1].max() >= UNBOUNDED
    assert show_as(Release.of(open_), "intervals").figures[0].hidden.sum() == 2


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(RequestError, match="form is 'guesses'; give 'marks', 'intervals' or 'synthetic'"):
        dc.suppress(linked(), Threshold(3), form="guesses")  # type: ignore[arg-type]
