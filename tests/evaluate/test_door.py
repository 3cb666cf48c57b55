"""Suppression has one door, and it is audited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run

import discreet as dc
from discreet.core.errors import DataError, DiscreetError, LimitError
from discreet.evaluate import audited_suppression
from discreet.evaluate.audited_suppression import AuditedSuppression, UnsafeError
from discreet.protect import METHODS
from discreet.rules import Threshold
from discreet.table import equations
from discreet.table.blocks import lay_blocks


def row() -> dc.Table:
    return dc.Table.from_array([1, 1, 1, 10, 0], {"x": list("abcde")})


def test_nothing_under_protect_releases_what_nobody_audited() -> None:
    with pytest.raises(AttributeError, match=r"call discreet\.suppress, which has the pattern audited"):
        _ = dc.protect.suppress
    method = dc.protect.Suppression(Threshold(3))
    assert METHODS["suppress"] is dc.protect.Suppression
    with pytest.raises(dc.RequestError, match=r"publishes nothing that was not audited: call discreet\.suppress"):
        method.apply(row())
    # No other method of it returns a release, and a pattern has none.
    made = {name: getattr(method, name) for name in dir(method) if not name.startswith("_")}
    assert {name for name, one in made.items() if callable(one)} == {"apply", "pattern"}
    pattern = method.pattern(row())
    assert not any(isinstance(getattr(pattern, name), dc.Release) for name in dir(pattern) if not name.startswith("_"))


def test_where_suppression_has_no_draws_and_no_rules_of_its_own_the_errors_say_what_to_do() -> None:
    method = dc.protect.Suppression(Threshold(3))
    with pytest.raises(dc.RequestError, match=r"takes its rules from the policy.*name the method, as 'suppress'"):
        dc.compare(row(), [method])
    with pytest.raises(dc.RequestError, match=r"a type is not a method; give names"):
        dc.compare(row(), [dc.protect.RandomRounding])
    with pytest.raises(dc.RequestError, match=r"suppress leaves nothing to chance.*discreet\.suppress\(table, rules\)"):
        dc.expected_risk(row(), method)  # type: ignore[arg-type]
    with pytest.raises(dc.RequestError, match=r"conventional-rounding leaves nothing to chance.*its apply\(table\)"):
        dc.expected_risk(row(), dc.protect.ConventionalRounding(3))  # type: ignore[arg-type]
    with pytest.raises(dc.RequestError, match=r"a str is not a protection"):
        dc.expected_risk(row(), "random-rounding")  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["marks", "intervals", "synthetic"])
def test_the_positions_and_sums_of_a_table_are_laid_out_once(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stated: list[object] = []

    def counted(*given: Any) -> Any:
        stated.append(given)
        return lay_blocks(*given)

    monkeypatch.setattr(equations, "lay_blocks", counted)
    alone = dc.audit(dc.suppress(row(), Threshold(3), form=form).release)
    assert len(stated) == 2
    assert alone.verdict == "safe"


def test_a_layout_serves_no_other_table() -> None:
    table = row()
    layout = equations.equations_of(table, asked={}).layout
    assert layout is not None
    other = dc.Table.from_array([1, 1, 1, 10, 0], {"x": list("abcdf")})
    for one, asked, same in ((table, {}, True), (other, {}, False), (table, None, False)):
        found = equations.equations_of(one, asked=asked, layout=layout).layout
        assert (found is layout) == same
    assert equations.equations_of(table, about=["x"], asked={}, layout=layout).layout is not layout


@pytest.mark.parametrize("kind", [UnsafeError, LimitError])
def test_every_way_to_a_release_goes_through_the_audit(
    kind: type[DiscreetError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit is made to object: nothing comes out of any door, by Python or by the command line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audited_suppression, "faults", lambda pattern, found: [("x=a is unsafe", kind is LimitError)])
    table, policy = row(), dc.Policy.from_text('extends = "default"\n[[protections]]\nname = "suppress"\n')
    ways: list[Any] = [
        lambda: dc.suppress(table, Threshold(3)),
        lambda: dc.suppress(table, Threshold(3), form="intervals"),
        lambda: AuditedSuppression(Threshold(3)).apply(table),
        lambda: dc.assess(table, policy, protection="suppress"),
        lambda: dc.assess(table, policy, protection=dc.protect.Suppression(Threshold(3))),
    ]
    for way in ways:
        with pytest.raises(kind, match="the audit does not find the pattern safe"):
            way()
    assert dc.assess(table, policy).verdict == "withhold"
    assert dc.compare(table, ["suppress"], policy=policy, draws=2).recommended is None
    Path("row.csv").write_text("x,count\na,1\nb,1\nc,1\nd,10\ne,0\n", encoding="utf-8")
    found = run("protect", "suppress", "row.csv", "--rule", "threshold=3", "-o", "out.csv")
    assert found.code == 2
    assert run("assess", "row.csv", "--method", "suppress", "-o", "out.csv").code == 2
    assert not Path("out.csv").exists()


def test_linked_tables_whose_figures_show_that_they_share_more_than_names() -> None:
    """One man is hidden in N1, and 141 men of the north less 140 of N2 are in print."""
    districts = [[12, 1], [90, 140], [5, 4], [11, 13]]
    fine = dc.Table.from_array(districts, {"district": ["N1", "N2", "S1", "S2"], "sex": ["female", "male"]})
    north_and_south = [[102, 141], [16, 17]]
    for sides, said in (
        ({"region": ["N", "S"], "sex": ["female", "male"]}, "'district' lie inside those of 'region'"),
        ({"wealth": ["rich", "poor"], "gender": ["female", "male"]}, "'sex' and 'gender' have the same categories and"),
        ({"wealth": ["rich", "poor"], "sex": ["Female", "male"]}, "'female' and 'Female' of dimension 'sex' differ"),
    ):
        with pytest.raises(DataError, match=said):
            dc.suppress([fine, dc.Table.from_array(north_and_south, sides)], Threshold(3))
    # Where people live and where they work are not the same, though the places are.
    homes, works = ([[70, 60], [30, 80]], [[80, 40], [20, 100]])
    places = ["York", "Leeds"]
    live = dc.Table.from_array(homes, {"home": places, "sex": ["female", "male"]})
    work = dc.Table.from_array(works, {"work": places, "age": ["young", "old"]})
    assert dc.suppress([live, work], Threshold(3)).audit.verdict == "safe"
