from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.core.errors import DataError, RequestError
from discreet.decide.provenance import read_record


def written(folder: Path, **more: Any) -> Path:
    table = folder / "religion.csv"
    dc.datasets.religion().write(table)
    record = folder / "religion.record.json"
    dc.assess(table, seed=3, trial=True, **more).write_record(record)
    return record


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"protection": "none"},
        {"protection": "cell-key:bound=3,variance=1"},
        {"protection": {"name": "small-count-rounding", "base": 5}, "policy": "census"},
        {"population": 10_000, "draws": 50},
    ],
)
def test_a_record_is_reproduced_to_the_byte(tmp_path: Path, more: dict[str, Any]) -> None:
    record = written(tmp_path, **more)
    found = dc.replay(record)
    assert found.same
    assert found.identical
    assert found.differences == ()
    assert dc.replay(record, workers=1).same
    assert "Reproduced" in str(found)
    assert "Reproduced" in found._repr_html_()


@pytest.mark.parametrize(
    ("grid", "more"),
    [
        (
            ["random-rounding:base=3", {"name": "controlled-rounding", "base": [3, 5]}, "cell-key:bound=3,variance=1"],
            {},
        ),
        ([{"name": "random-rounding", "base": 5}], {"policy": "census", "workers": 1}),
        ([dc.protect.RandomRounding(5)], {"time_limit": None}),
    ],
)
def test_the_record_of_a_comparison_is_reproduced_to_the_byte(
    tmp_path: Path, grid: list[Any], more: dict[str, Any]
) -> None:
    table, record = tmp_path / "religion.csv", tmp_path / "religion.comparison.record.json"
    dc.datasets.religion().write(table)
    made = dc.compare(table, grid, draws=40, audits=2, seed=3, **more)
    made.write_record(record)
    found = dc.replay(record, workers=2)
    assert (found.same, found.identical, found.differences) == (True, True, ())
    assert made.recommended is not None
    assert found.verdict == f"take {made.points[made.recommended].point.title}"
    kept = read_record(record)
    assert kept["request"]["points"][0] == {"name": "none", "parameters": {}}
    assert "record" not in kept["results"]
    text = record.read_text(encoding="utf-8")
    record.write_text(text.replace('"seed": 3', '"seed": 4'), encoding="utf-8")
    other = dc.replay(record)
    assert other.same == all(one.draws == 1 for one in made.points)
    assert not other.identical or other.same


def test_the_record_of_a_comparison_that_recommends_nothing(tmp_path: Path) -> None:
    record = tmp_path / "r.json"
    dc.compare(dc.datasets.religion(), ["none"], seed=1).write_record(record)
    found = dc.replay(record, dc.datasets.religion())
    assert found.same
    assert found.verdict == "take none of them"


def test_the_record_names_inputs_versions_policy_seed_and_results(tmp_path: Path) -> None:
    data = read_record(written(tmp_path))
    assert data["versions"]["discreet"] == dc.__version__
    assert {"numpy", "scipy", "highspy", "python"} <= set(data["versions"])
    assert data["input"]["files"][0]["sha256"]
    assert data["input"]["files"][0]["role"] == "original"
    assert data["request"]["seed"] == 3
    assert data["policy"]["rules"]["threshold"] == 3
    assert data["results"]["verdict"] == "protect"


def test_a_changed_original_is_named(tmp_path: Path) -> None:
    record = written(tmp_path)
    table = tmp_path / "religion.csv"
    text = table.read_text(encoding="utf-8")
    line = text.splitlines()[1]
    table.write_text(text.replace(line, line.rsplit(",", 1)[0] + ",77"), encoding="utf-8")
    found = dc.replay(record)
    assert not found.same
    assert any("religion.csv was changed" in text for text in found.differences)
    assert any("the original is another one" in text for text in found.differences)
    assert any(text.startswith("results.") for text in found.differences)


def test_an_original_that_lies_elsewhere_is_handed_over(tmp_path: Path) -> None:
    record = written(tmp_path)
    moved = tmp_path / "elsewhere" / "other.csv"
    moved.parent.mkdir()
    (tmp_path / "religion.csv").rename(moved)
    with pytest.raises(RequestError, match=r"religion\.csv, the original of .* does not exist"):
        dc.replay(record)
    assert dc.replay(record, moved).same
    moved.rename(tmp_path / "religion.csv")
    folder = tmp_path / "moved"
    folder.mkdir()
    for name in ("religion.csv", "religion.record.json"):
        (tmp_path / name).rename(folder / name)
    assert dc.replay(folder / "religion.record.json").same


def test_a_table_in_memory_is_handed_over_again(tmp_path: Path) -> None:
    record = tmp_path / "r.json"
    dc.assess(dc.datasets.sex(), seed=1, trial=True, policy="safe-output").write_record(record)
    with pytest.raises(RequestError, match="was not in a file"):
        dc.replay(record)
    assert dc.replay(record, dc.datasets.sex()).same
    assert not dc.replay(record, dc.datasets.religion()).same


def test_a_judged_release_is_read_again(tmp_path: Path) -> None:
    table = dc.datasets.religion()
    table.write(tmp_path / "t.csv")
    rounded = dc.protect.random_rounding(table, 3, seed=1).table
    for name, shown, kind in (("exact", table, dc.Kind()), ("random", rounded, dc.Kind("random", base=3))):
        file = tmp_path / f"{name}.csv"
        shown.write(file)
        source = dc.assess(tmp_path / "t.csv", protection=dc.read_release(file, kind=kind), seed=1, trial=True)
        assert source.source is not None
        assert source.verdict in ("release", "withhold")


def test_damaged_foreign_and_newer_records_are_refused(tmp_path: Path) -> None:
    record = written(tmp_path)
    data = json.loads(record.read_text(encoding="utf-8"))
    other = tmp_path / "other.json"
    cases = [
        ("{", "not JSON"),
        ("[1]", "is not a record"),
        (json.dumps({**data, "record": 99}), "version 99"),
        (
            json.dumps({**data, "results": {**data["results"], "verdict": "release"}}),
            "was changed after it was written",
        ),
    ]
    for text, what in cases:
        other.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=what):
            dc.replay(other)
    with pytest.raises(RequestError, match="does not exist"):
        dc.replay(tmp_path / "none.json")


def test_another_version_of_a_package_is_noted(tmp_path: Path) -> None:
    record = written(tmp_path)
    data = json.loads(record.read_text(encoding="utf-8"))
    data["versions"]["numpy"] = "1.0"
    record.write_text(json.dumps(data), encoding="utf-8")
    found = dc.replay(record)
    assert found.same
    assert not found.identical
    assert any("numpy is" in note for note in found.notes)
