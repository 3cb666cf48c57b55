"""``discreet protect redesign``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import refused, rows_of, run
from tests.protect.redesign.test_redesign import paper

import discreet as dc


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    paper().write("table.csv")
    Path("activity.hrc").write_text("low\n@2,3\n@4\nhigh\n@5\n@6\n@7\n")
    return tmp_path


def test_by_hand(folder: Path) -> None:
    outcome = run("protect", "redesign", "table.csv", "--merge", "activity:5,6=5+6", "-o", "out.csv", "--json")
    assert outcome.code == 0, outcome.err
    data = json.loads(outcome.out)
    assert data["parameters"]["recoding"]["activity"]["6"] == "5,6"
    assert data["changed"] == 0
    assert data["cost"]["merges"] == 1
    rows = {(row["activity"], row["size"]): int(row["count"]) for row in rows_of(folder / "out.csv")}
    assert len(rows) == 20
    assert rows["5,6", "4"] == 649
    asked = ("--merged", "activity:5,6=5+6", "--about", "activity,size", "--absent", "unpublished", "--json")
    audited = json.loads(run("audit", "out.csv", *asked).out)
    widest = {c["upper"] for c in audited["cells"] if c["cell"]["activity"] == "5"}
    assert widest == {649, 406, 1275, 2382, 3467}


def test_by_level(folder: Path) -> None:
    outcome = run(
        *("protect", "redesign", "table.csv", "--hierarchy", "activity=activity.hrc", "--level", "activity=1"),
        *("-o", "out.parquet"),
    )
    assert outcome.code == 0, outcome.err
    release = dc.read_release("out.parquet")
    assert release.table.dimensions[0].categories == ("low", "high")
    assert dc.risk(paper(), release).cells == 10


def test_advised_by_rules_and_by_risk(folder: Path) -> None:
    outcome = run("protect", "redesign", "table.csv", "--rule", "threshold=60", "-o", "out.csv", "--json")
    data = json.loads(outcome.out)
    assert data["advice"]["proven"]
    assert [step["score"] for step in data["advice"]["frontier"]] == [2, 1, 0]
    assert data["cost"]["merges"] == data["advice"]["chosen"]["merges"] == 2
    shown = run("protect", "redesign", "table.csv", "--rule", "threshold=60")
    assert "entropy lost" in shown.out
    assert "2 merges: the score falls from 2 to 0, at the cost of" in " ".join(shown.out.split())
    assert "no cheaper recoding does" in " ".join(shown.out.split())
    risky = json.loads(run("protect", "redesign", "table.csv", "--max-r1", 0.1, "--json").out)
    assert risky["advice"]["chosen"]["score"] <= 0.1
    held = run("protect", "redesign", "table.csv", "--rule", "threshold=60", "--allow", "size=none", "--json")
    assert "size" not in json.loads(held.out)["parameters"]["recoding"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "say what to merge"),
        (["--merge", "activity:5,6=5+6", "--rule", "threshold=3"], "say what to merge"),
        (["--rule", "threshold=3", "--max-r1", 0.1], "two goals"),
        (["--max-r1", 0.1, "--max-violations", 1], "counts what rules find"),
        (["--merge", "activity=5"], "'activity=5' does not say what to merge; give DIMENSION:GROUP=PART+PART"),
        (["--merge", "activity:x=5+9"], "no category '9'"),
        (["--level", "activity=one"], "a level is an integer"),
        (["--level", "activity=1"], "no hierarchy"),
        (
            ["--rule", "threshold=60", "--allow", "activity=neighbours", "--order", "activity=2"],
            "list every category once",
        ),
        (["--rule", "threshold=60", "--allow", "activity"], "--allow is 'activity'"),
        (["--rule", "threshold=1"], "Nothing needs to be merged"),
        (["--rule", "threshold=30000"], "no recoding that was tried"),
    ],
)
def test_bad_requests(arguments: list[object], reason: str, folder: Path) -> None:
    assert reason in refused(run("protect", "redesign", "table.csv", *arguments, "-o", "out.csv"))
    assert not Path("out.csv").exists()


def test_neighbours_without_an_order(folder: Path) -> None:
    dc.Table.from_array([1, 5, 1], {"colour": ["red", "green", "blue"]}).write("colours.csv")
    reason = refused(run("protect", "redesign", "colours.csv", "--rule", "threshold=3", "--allow", "colour=neighbours"))
    assert "'colour' has no order" in reason


def test_a_rise_by_merging_is_told_as_a_rise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dc.Table.from_array(np.full((2, 4), 100), ["sex", "area"]).write("even.csv")
    assert run("protect", "redesign", "even.csv", "--merge", "area:x=1+2+3", "-o", "merged.parquet").code == 0
    told = " ".join(run("risk", "even.csv", "--released", "merged.parquet").out.split())
    merging = '[[protections]]\nname = "redesign"\nmerge = { area = { x = ["1", "2", "3"] } }\n'
    Path("own.toml").write_text(f'as_is = "never"\n[limits]\nr2 = 0.5\n{merging}', encoding="utf-8")
    assessed = " ".join(run("assess", "even.csv", "--policy", "own.toml", "--seed", 1, "--trial").out.split())
    for text in (told, assessed):
        assert "Merging categories raises the risk from 0.0154 to 0.0908 (492% higher)" in text
        assert "lowers" not in text
