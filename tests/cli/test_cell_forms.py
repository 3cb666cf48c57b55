"""How people write cells: shown by inspect, refused by audit and assess until confirmed, then read exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, run

BRACKETS = "ward,cases\nA,19 (6.1%)\nB,<5 (1.0%)\nC,[REDACTED]\nTotal,311 (100.0%)\n"
CROSSED = "ward,men,women\nA,19 (6.1%),x (1.3%)\nB,x (1.3%),284 (91.3%)\n"
INTERVAL = "ward,count,rate\nA,x,12.4 [10.1–14.5]\nB,120,48.0 [45.0–51.9]\nTotal,x,60.4 [58.0–62.0]\n"
NUMBERS = "ward;count;pct\nA;1 234;3,5*\nB;<5;0,0\nC;[REDACTED];96,5†\nTotal;35 257;100,0\n"
SIDE = "ward,men n,men %,women n,women %\nA,3,30.0,7,70.0\nB,x,13.0,20,87.0\n"
OPTIONS = {
    "brackets": [
        *("--value", "cases", "--mark", "<5=1..4", "--mark", "[REDACTED]=.."),
        *("--statistic", "p=percentage, over=ward, inside=cases"),
    ],
    "crossed": ["--layout", "wide", "--statistic", "p=percentage, over=ward+column, inside=cells"],
    "interval": ["--statistic", "rate=rate, per=250, times=100", "--statistic", "ci=other, inside=rate"],
    "numbers": [
        *("--numbers", "1 234,5", "--notes", "*†", "--mark", "<5=1..4", "--mark", "[REDACTED]=.."),
        *("--statistic", "pct=percentage, over=ward"),
    ],
    "side": ["--statistic", "p=percentage, over=column, ending=%"],
}
FILES = {"brackets": BRACKETS, "crossed": CROSSED, "interval": INTERVAL, "numbers": NUMBERS, "side": SIDE}
SHOWN = {
    "brackets": ["19 (6.1%) is a figure with a statistic", "inside=cases", "--mark '[REDACTED]=..'"],
    "crossed": ["--layout wide", "inside=cells"],
    "interval": ["12.4 [10.1–14.5] is a value with an interval", "inside=rate"],
    "numbers": ["--numbers '1 234,5'", "--mark '<5=1..4'", "--mark '[REDACTED]=..'", "--notes '*†'"],
}


def written(folder: Path, name: str) -> Path:
    (folder / "t.csv").write_text(FILES[name], encoding="utf-8")
    return folder / "t.csv"


@pytest.mark.parametrize("name", SHOWN)
def test_inspect_shows_the_form_and_what_confirms_it(name: str, tmp_path: Path) -> None:
    told = run("inspect", written(tmp_path, name), "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["content"] == "release"
    for text in SHOWN[name]:
        assert any(text in line for line in found["statistics"]), text


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["audit", "assess"])
def test_nothing_is_guessed_in_a_decision(name: str, command: str, tmp_path: Path) -> None:
    refused(run(command, written(tmp_path, name)))


@pytest.mark.parametrize("name", FILES)
def test_what_is_confirmed_is_shown_as_understood_and_judged(name: str, tmp_path: Path) -> None:
    file = written(tmp_path, name)
    shown = run("inspect", file, *(("--count" if one == "--value" else one) for one in OPTIONS[name]), "--json")
    assert shown.code == 0, shown.err
    assert any("shown" in line for line in json.loads(shown.out)["statistics"])
    told = run("audit", file, *OPTIONS[name], "--json")
    verdict = json.loads(told.out)["verdict"]
    assert (verdict, told.code) == {
        "brackets": ("unsafe", 1),
        "crossed": ("unsafe", 1),
        "interval": ("unsafe", 1),
        "numbers": ("safe", 0),
        "side": ("unsafe", 1),
    }[name]


def test_an_interval_behind_a_statistic_leaves_the_verdict_incomplete_at_best(tmp_path: Path) -> None:
    text = "ward,count,rate\nA,x,12.3 [10.1–14.5]\nB,x,[REDACTED]\nTotal,x,60.3 [58.0–62.0]\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    more = ["--mark", "x", "--mark", "[REDACTED]", "--statistic", "ci=other, inside=rate"]
    told = run("audit", tmp_path / "t.csv", *more, "--statistic", "rate=rate, per=2500000", "--json")
    assert json.loads(told.out)["verdict"] == "incomplete"
    assert told.code != 0


def test_records_are_records(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("area,age\nn,<5\nn,<5\ns,5-9\n", encoding="utf-8")
    assert json.loads(run("inspect", tmp_path / "r.csv", "--json").out)["content"] == "records"
