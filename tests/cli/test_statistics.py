"""Statistics beside the figures, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import run

FILES = {
    "age.csv": ("age,count,mean\n0-9,x,1.33\n10+,20,2.0\nTotal,23,1.9\n", ["mean=mean, decimals=printed"], []),
    "sex.csv": (
        "sex,count,pct\nm,x,13.0%\nf,x,8.7%\no,18,78.3%\nTotal,23,100.0%\n", ["pct=percentage, over=sex"], [],
    ),
    "users.csv": (
        "group,users,records,median,mean\nA,<5,<5,1,1.33\n",
        ["mean=mean, of=records, range=1..", "median=median, of=records, range=1.."],
        ["--value", "users", "--mark", "<5=1..4"],
    ),
    "ward.csv": (
        "ward,cases\nA,x (3.3%)\nB,x\nTotal,180\n", ["p=percentage, over=ward, inside=cases"],
        ["--value", "cases"],
    ),
}  # fmt: skip
EXACT = {
    "age.csv": {"age=0-9": 3},
    "sex.csv": {"sex=m": 3, "sex=f": 2},
    "users.csv": {"group=A": 3, "records of group=A": 4},
    "ward.csv": {"ward=A": 6, "ward=B": 174},
}


@pytest.mark.parametrize("name", FILES)
def test_what_statistics_give_away(name: str, tmp_path: Path) -> None:
    text, defined, more = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    definitions = [part for one in defined for part in ("--statistic", one)]
    told = run("audit", tmp_path / name, *definitions, *more, "--json")
    assert told.code == 1, told.err
    found = json.loads(told.out)
    exact = [cell for cell in found["cells"] if cell["determined"] and cell["subject"] == "value"]
    named = {cell["proof"].split(" = ")[0].split(" ≥ ")[0]: cell["lower"] for cell in exact}
    assert (found["verdict"], named) == ("unsafe", EXACT[name])


def test_definitions_in_a_file_are_the_same(tmp_path: Path) -> None:
    text, defined, _ = FILES["sex.csv"]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    (tmp_path / "t.toml").write_text('[statistics.pct]\nkind = "percentage"\nover = ["sex"]\n', encoding="utf-8")
    by_file = run("audit", tmp_path / "t.csv", "--statistics", tmp_path / "t.toml", "--json")
    assert by_file.out == run("audit", tmp_path / "t.csv", "--statistic", defined[0], "--json").out
    both = run("audit", tmp_path / "t.csv", "--statistics", tmp_path / "t.toml", "--statistic", defined[0])
    assert (both.code, "keep one of them" in both.err) == (2, True)


def test_what_nobody_confirmed_is_refused_with_the_way_to_say_it(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(FILES["sex.csv"][0], encoding="utf-8")
    told = run("audit", tmp_path / "t.csv")
    assert (told.code, "--statistic 'pct=percentage, over=sex'" in told.err) == (2, True)


def test_inspect_shows_what_was_understood(tmp_path: Path) -> None:
    text, defined, _ = FILES["sex.csv"]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    told = run("inspect", tmp_path / "t.csv", "--statistic", defined[0])
    assert told.code == 0, told.err
    assert "pct: percentage of the figures over sex, 4 shown; 13.0% is from 12.95 to 13.05" in told.out


def test_a_statistic_that_no_file_has_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(FILES["sex.csv"][0], encoding="utf-8")
    told = run("audit", tmp_path / "a.csv", tmp_path / "b.csv", "--statistic", "rate=percentage, over=sex")
    assert (told.code, "no file has such a column" in told.err) == (2, True)
