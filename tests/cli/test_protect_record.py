"""Every command that writes a release writes a record where it is asked for, from which the release is made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, run
from tests.cli.test_own_files import METHODS, TREE

import discreet as dc

PEOPLE = "area,sex,age\n" + "".join(f"{'nsew'[i % 4]},{'mf'[i % 2]},{20 + 7 * i % 60}\n" for i in range(60))


@pytest.fixture
def religion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    dc.datasets.religion().write("religion.csv")
    Path("area.hrc").write_text(TREE, encoding="utf-8")
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    return "religion.csv"


@pytest.mark.parametrize("method", METHODS)
def test_a_release_is_made_again(method: str, religion: str) -> None:
    name, *options = METHODS[method]
    made = run("protect", name, religion, *options, "-o", "release.csv", "--record", "release.record.json", "--json")
    assert json.loads(made.out)["written"] == ["release.csv", "release.record.json"]
    before = Path("release.csv").read_bytes()
    outcome = run("replay", "release.record.json", "--json")
    assert outcome.code == 0, outcome
    assert json.loads(outcome.out)["identical"]
    assert Path("release.csv").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ["sample-records", "people.csv", "--fraction", "0.3"],
        ["swap-records", "people.csv", "--area", "area", "--match", "sex", "--rate", "0.3"],
        ["random-rounding", "people.csv", "--by", "area,sex", "--additive"],
        ["random-rounding", "--example", "sex", "--seed", str(2**100)],
        ["suppress", "religion.csv", "--rule=threshold=3", "--hierarchy=output_area=area.hrc", "--status", "kept.csv"],
    ],
    ids=lambda command: command[0],
)
def test_records_and_companions(command: list[str], religion: str) -> None:
    for form in (["-o", "new.parquet", "--record", "my.json"], ["--output=new.parquet", "--record=my.json"]):
        assert run("protect", *command, *form).code == 0
        Path("kept.csv").write_text("untouched", encoding="utf-8")
        assert run("replay", "my.json").code == 0, run("replay", "my.json")
        assert Path("kept.csv").read_text(encoding="utf-8") == "untouched"


def test_linked_tables_name_the_files_that_were_written(religion: str) -> None:
    Path("a.csv").write_text("activity,size,count\nA,s,5\nA,m,7\nB,s,2\nB,m,9\n", encoding="utf-8")
    Path("b.csv").write_text("activity,region,count\nA,N,8\nA,S,4\nB,N,6\nB,S,5\n", encoding="utf-8")
    linked = (
        "protect",
        "random-rounding",
        "a.csv",
        "--linked",
        "b.csv",
        "--with-margins",
        "-o",
        "lin.csv",
        "--record",
        "lin.record.json",
    )
    made = json.loads(run(*linked, "--json").out)
    assert made["written"] == ["lin-1.csv", "lin-2.csv", "lin.record.json"]
    assert made["output"] is None
    assert all(Path(name).exists() for name in made["written"])
    assert run("replay", "lin.record.json").code == 0


def test_another_original_is_noticed(religion: str, tmp_path: Path) -> None:
    run(
        "protect",
        "conventional-rounding",
        religion,
        "--base",
        "5",
        "-o",
        "release.csv",
        "--record",
        "release.record.json",
    )
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    Path("release.record.json").rename(folder / "release.record.json")
    Path(religion).rename(folder / "religion.csv")
    assert run("replay", folder / "release.record.json").code == 0
    text = (folder / "religion.csv").read_text(encoding="utf-8")
    (folder / "religion.csv").write_text(text.replace(",181", ",191"), encoding="utf-8")
    outcome = run("replay", folder / "release.record.json")
    assert outcome.code == 1
    assert "was changed" in outcome.out
    (folder / "religion.csv").unlink()
    assert "put it beside the record" in refused(run("replay", folder / "release.record.json"))


def test_a_record_needs_a_release(religion: str) -> None:
    refused(run("protect", "conventional-rounding", religion, "--record", "r.json"))
    run("protect", "conventional-rounding", religion, "-o", "release.csv")
    assert not list(Path().glob("*.json"))
    run("protect", "conventional-rounding", religion, "-o", "release.csv", "--record", "release.record.json")
    with pytest.raises(dc.RequestError, match="discreet replay"):
        dc.replay("release.record.json")
