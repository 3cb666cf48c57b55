"""One notation for sensitivity rules in all commands."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from tests.cli.running import refused, rows_of, run

import discreet as dc
from discreet.cli.app import app
from discreet.core.errors import RequestError
from discreet.rules import PQ, RULES, Dominance, PPercent, Threshold
from discreet.rules.rule_texts import EXAMPLES, SHORT, rules_and_group, rules_of


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("p=10", [PPercent(10)]),
        ("p=7.5,coalition=2", [PPercent(7.5, 2)]),
        ("pq=10,50", [PQ(10, 50)]),
        (" pq = 10 , 50 , weighted = yes @holding", [PQ(10, 50, level="holding", weighted=True)]),
        ("dominance=2,85@both", [Dominance(2, 85), Dominance(2, 85, level="holding")]),
        ("dominance=1,60,weighted=no@contributor", [Dominance(1, 60)]),
        ("threshold=3", [Threshold(3)]),
        ("threshold=3,zeros=unsafe,safety_range=20@holding", [Threshold(3, "unsafe", 20, level="holding")]),
    ],
)
def test_every_rule_with_all_that_can_be_said_of_it(text: str, rules: list[Any]) -> None:
    assert rules_of([text]) == rules


def test_each_rule_and_setting_has_a_text() -> None:
    assert {SHORT.get(name, name) for name in EXAMPLES} == {*RULES, "group"}
    for name, text in EXAMPLES.items():
        found, group = rules_and_group([text])
        assert ([rule.name for rule in found], group) == (
            ([], 0) if name == "group" else ([SHORT.get(name, name)], None)
        )
    from discreet.rules.rule_texts import SETTINGS

    own = {
        p.name for rule in RULES.values() for p in inspect.signature(rule).parameters.values() if p.default != p.empty
    }
    assert own == {*SETTINGS, "level"}
    assert rules_and_group(None) == ([], None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("q=3", "there is no rule 'q'"),
        ("treshold=3", "did you mean 'threshold'"),
        ("p_percent=10", "there are: 'p', 'pq', 'dominance', 'threshold', 'group'"),
        ("p", "give a rule with its numbers, as p=10"),
        ("p=", "give a rule with its numbers, as p=10"),
        ("p:10", "give a rule with its numbers"),
        ("=10", "give a rule with its numbers"),
        ("p=ten", "give a rule with its numbers, as p=10"),
        ("p=nan", "give a rule with its numbers"),
        ("threshold=inf", "give a rule with its numbers"),
        ("p=coalition=2,10", "give a rule with its numbers"),
        ("p=10,2", "with 2; p takes 1 number (p), as p=10"),
        ("pq=10", "with 1; pq takes 2 numbers (p, q), as pq=10,50"),
        ("dominance=2,85,3", "with 3; dominance takes 2 numbers (n, k), as dominance=2,85"),
        ("threshold=3,5", "with 2; threshold takes 1 number (minimum), as threshold=3"),
        ("dominance=2.5,85", "the n of the dominance rule is 2.5"),
        ("p=200", "p is 200; give a percentage"),
        ("p=10@holdings", "there is no level 'holdings'; did you mean 'holding'"),
        ("p=10@", "there is no level ''"),
        ("p=10,zeros=unsafe", "p has no zeros"),
        ("threshold=3,zeros=maybe", "zeros is 'maybe'"),
        ("p=10,coalitions=2", "no setting 'coalitions'; did you mean 'coalition'"),
        ("p=10,coalition=two", "coalition is 'two'; give a number"),
        ("p=10,coalition=1.5", "the coalition has 1.5 members"),
        ("p=10,weighted=1", "weighted is '1'; it is yes or no"),
        ("group=0", "are found by discreet rules"),
        ("group=0.5", "group takes one integer"),
        ("group=-1", "group takes one integer"),
        ("group=0@holding", "group takes one integer"),
    ],
)
def test_what_is_no_rule_is_refused(text: str, reason: str) -> None:
    with pytest.raises(RequestError) as caught:
        rules_of([text])
    assert reason in str(caught.value)


def test_group_disclosure_is_given_once() -> None:
    with pytest.raises(RequestError, match="group=0 is given too"):
        rules_and_group(["group=0", "group=1"])


def _commands(group: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    if not hasattr(group, "commands"):
        return [(path, group)]
    return [found for name, one in group.commands.items() for found in _commands(one, (*path, name))]


def test_commands_that_take_rules_take_them_alike() -> None:
    taking = {}
    for path, command in _commands(typer.main.get_command(app)):
        options = {name: one for one in command.params for name in one.opts}
        if "--rule" in options:
            taking[" ".join(path)] = options["--rule"]
        if path != ("rules",):
            assert not {"--p-percent", "--pq", "--dominance"} & set(options), path
    assert set(taking) == {
        *("rules", "audit", "protect suppress", "protect tabular-adjustment", "protect redesign"),
    }
    assert len({one.help for one in taking.values()}) == 1
    assert all(one.multiple for one in taking.values())


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    """Firms of three holdings: alone they are many, together few."""
    path = tmp_path / "firms.csv"
    rows = ["n,a,f1,h1,50", "n,a,f2,h1,30", "n,a,f3,h2,40", "n,b,f4,h1,20", "n,b,f5,h2,25", "n,b,f6,h3,30"]
    rows += ["s,a,f7,h1,50", "s,a,f8,h2,60", "s,a,f9,h3,70", "s,b,f10,h1,20", "s,b,f11,h2,25", "s,b,f12,h3,30"]
    path.write_text("region,activity,id,group,turnover\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_level_of_holdings_is_stated_alike(firms: Path, tmp_path: Path) -> None:
    asked = ["--by", "region,activity", "--value", "turnover", "--contributor", "id", "--holding", "group"]
    table, shown = tmp_path / "t.parquet", tmp_path / "shown.csv"
    assert run("tabulate", firms, *asked, "-o", table).code == 0
    alone = json.loads(run("rules", table, "--rule", "threshold=3", "--json").out)
    assert alone["sensitive"] == []
    held = json.loads(run("rules", table, "--rule", "threshold=3@holding", "--json").out)
    assert [list(one["cell"].values()) for one in held["sensitive"]] == [["n", "a"]]
    suppressed = run("protect", "suppress", table, "--rule", "threshold=3@both", "-o", shown, "--json")
    assert suppressed.code == 0, suppressed.err
    assert json.loads(suppressed.out)["suppressed"] == {"primary": 1, "secondary": 3}
    audited = run("audit", shown, "--original", table, "--rule", "threshold=3@holding", "--json")
    assert (audited.code, json.loads(audited.out)["verdict"]) == (0, "safe"), audited.err
    moved = run("protect", "tabular-adjustment", table, "--rule", "threshold=3,safety_range=10@holding", "-o", shown)
    assert moved.code == 0, moved.err
    found = {(row["region"], row["activity"]): float(row["value"]) for row in rows_of(shown)}
    assert abs(found["n", "a"] - 120) >= 12
    merged = run("protect", "redesign", table, "--rule", "threshold=3@holding", "--json")
    assert merged.code == 0, merged.err
    assert "no rule 'q'" in refused(run("protect", "redesign", table, "--rule", "q=3"))
    assert "found by discreet rules" in refused(run("protect", "suppress", table, "--rule", "group=0"))


def test_unsafe_zeros_count_in_every_command(tmp_path: Path) -> None:
    table, shown = tmp_path / "t.csv", tmp_path / "shown.csv"
    table.write_text("area,ill,count\nn,no,9\ns,no,8\ns,yes,7\nw,no,9\nw,yes,9\n", encoding="utf-8")
    shown.write_text(table.read_text("utf-8").replace("s,no,8", "s,no,x").replace("s,yes,7", "s,yes,x"), "utf-8")
    rule = ("--rule", "threshold=3,zeros=unsafe")
    told = json.loads(run("rules", table, *rule, "--json").out)
    assert [list(one["cell"].values()) for one in told["sensitive"]] == [["n", "yes"]]
    audited = run("audit", shown, "--original", table, *rule, "--total", "", "--json")
    assert audited.code == 1
    assert ["n", "yes"] in [list(one["cell"].values()) for one in json.loads(audited.out)["cells"] if one["faults"]]
    assert "Nothing needs to be merged" in refused(run("protect", "redesign", table, "--rule", "threshold=3"))
    merged = run("protect", "redesign", table, *rule, "--json")
    assert merged.code == 0, merged.err


COUNTS = pd.DataFrame({"area": list("aabbcc"), "sex": list("mfmfmf"), "count": [2, 9, 8, 7, 6, 9]})


def test_functions_take_what_the_command_line_takes() -> None:
    by_text, by_rule = (dc.suppress(COUNTS, rules) for rules in ("threshold=3", Threshold(3)))
    assert by_text.pattern.positions.tolist() == by_rule.pattern.positions.tolist()
    assert dc.sensitivity(COUNTS, ["threshold=3", Threshold(8)]).rules == (Threshold(3), Threshold(8))
    assert dc.protect.violations("threshold=8")(dc.Table.from_frame(COUNTS)) == 3
    text: Any = "p=10"
    assert dc.protect.TabularAdjustment(text).rules == (PPercent(10),)


@pytest.mark.parametrize(
    ("given", "named", "reason"),
    [
        ({"threshold": 3}, {}, r"rules has \{'threshold': 3\}; give rules such as 'threshold=3'"),
        (3, {}, "rules has 3; give rules such as 'threshold=3'"),
        (["threshold=3", None], {}, "rules has None; give rules such as 'threshold=3'"),
        ("treshold=3", {}, "^rules is 'treshold=3': there is no rule 'treshold'; did you mean 'threshold'"),
        ("group=0", {}, "are found by discreet rules"),
        ((), {"threshold": 3}, "threshold is a rule, not an option; give it as a text, rules='threshold=3'"),
        ("threshold=3", {"methd": "fast"}, "there is no argument 'methd'; did you mean 'method'"),
    ],
)
def test_functions_say_what_they_take(given: Any, named: dict[str, Any], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        dc.suppress(COUNTS, given, **named)


def test_names_of_other_rooms_are_pointed_to() -> None:
    with pytest.raises(AttributeError, match=r"it is discreet\.rules\.Threshold$"):
        _ = dc.Threshold
    with pytest.raises(AttributeError, match=r"it is discreet\.protect\.random_rounding$"):
        _ = dc.random_rounding
    assert dir(dc.protect) == sorted(dc.protect.__all__)
