"""``discreet risk``: what it prints and writes is what the library returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import rows_of, run

import discreet as dc
from discreet.protect import RandomRounding, RandomSample


def answer(*arguments: object) -> dict[str, Any]:
    outcome = run("risk", *arguments, "--json")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    data: dict[str, Any] = json.loads(outcome.out, parse_constant=lambda constant: pytest.fail(constant))
    assert (data.pop("schema"), data.pop("command")) == (1, "risk")
    return data


def plain(data: dict[str, Any]) -> Any:
    return json.loads(json.dumps(data))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    table = dc.datasets.religion()
    table.write(tmp_path / "F.csv")
    table.write(tmp_path / "F.parquet")
    table.write(tmp_path / "wide.csv", layout="wide")
    dc.protect.random_rounding(table, 3, seed=1).table.write(tmp_path / "G.csv")
    dc.protect.random_sample(table, 245, seed=1).table.write(tmp_path / "sample.csv")
    return tmp_path


def test_before_protection(files: Path) -> None:
    expected = plain(dc.risk(dc.datasets.religion()).to_dict())
    for source in ((files / "F.csv",), (files / "F.parquet",), (files / "wide.csv",), ("--example", "religion")):
        assert answer(*source) == expected
    assert expected["measure"] == "R1"
    assert expected["value"] == pytest.approx(sum(expected["terms"].values()))
    assert expected["terms"].keys() == {"zeros", "concentration", "size"}
    assert len(expected["slices"]) == 19
    for item in expected["slices"]:
        assert {"dimension", "category", "value", "terms"} <= item.keys()
        assert item["value"] == pytest.approx(sum(item["terms"].values()))


def test_after_protection(files: Path) -> None:
    F, G = dc.datasets.religion(), dc.read_table(files / "G.csv")
    data = answer(files / "F.csv", "--released", files / "G.csv")
    loss = data.pop("loss")
    assert data == plain(dc.risk(F, G).to_dict())
    assert data["measure"] == "R2"
    assert loss == plain(dc.information_loss(F, G).to_dict())
    old = answer(files / "F.csv", "--released", files / "G.csv", "--form", "2014")
    assert old["value"] == dc.risk(F, G, form="2014").value
    sampled = answer(files / "F.csv", "--released", files / "sample.csv", "--sampled")
    assert sampled["value"] == dc.risk(F, dc.read_table(files / "sample.csv")).value


def test_options_of_the_measure(files: Path) -> None:
    table = dc.datasets.religion()
    weighted = answer(files / "F.csv", "--weights", "0.2, 0.5,0.3", "--slices", "religion")
    assert weighted == plain(dc.risk(table, weights=(0.2, 0.5, 0.3), slices=["religion"]).to_dict())
    assert answer(files / "F.csv", "--slices", "")["slices"] == []


def test_options_of_reading(tmp_path: Path) -> None:
    table = dc.Table.from_array([[3, 4], [1, 0]], {"Größe": ["klein", "groß"], "sex": ["m", "f"]})
    text = "Größe;sex;people;note\nklein;m;3;x\nklein;f;4;x\ngroß;m;1;x\ngroß;f;0;x\nSumme;m;9;x\n"
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    (tmp_path / "zeros.csv").write_bytes("Größe;sex\ngroß;f\n".encode("latin-1"))
    reading = ["--count", "people", "--dimensions", "Größe, sex", "--encoding", "latin-1", "--total", "Summe"]
    assert answer(tmp_path / "t.csv", *reading, "--margins", "recompute") == plain(dc.risk(table).to_dict())
    zeros = answer(tmp_path / "t.csv", *reading, "--margins", "recompute", "--impossible", tmp_path / "zeros.csv")
    assert (zeros["cells"], zeros["empty"]) == (3, 0)
    kept = ["--count", "people", "--dimensions", "Größe,sex", "--encoding", "latin-1", "--total", ""]
    assert answer(tmp_path / "t.csv", *kept)["people"] == 17
    assert answer(tmp_path / "t.csv", *kept, "--delimiter", ";", "--layout", "long")["people"] == 17


def test_impossible_cells_of_a_bundled_table(tmp_path: Path) -> None:
    table = dc.datasets.religion()
    empty = next(i for i in range(table.size) if i not in set(table.cells.tolist()))
    label = table.label(empty)
    (tmp_path / "zeros.csv").write_text(",".join(label) + "\n" + ",".join(label.values()) + "\n")
    assert answer("--example", "religion", "--impossible", tmp_path / "zeros.csv")["cells"] == 89


def test_a_table_of_one_dimension_has_no_slices(tmp_path: Path) -> None:
    dc.Table.from_array([3, 0, 1], ["month"]).write(tmp_path / "t.csv")
    assert answer(tmp_path / "t.csv")["slices"] == []
    outcome = run("risk", tmp_path / "t.csv", "--output", tmp_path / "r.csv")
    assert outcome.code == 0
    rows = rows_of(tmp_path / "r.csv")
    assert len(rows) == 1
    assert float(rows[0]["terms_zeros"]) == pytest.approx(0.1 / 3)


def test_a_method_over_its_draws(files: Path) -> None:
    table = dc.datasets.religion()
    data = answer(files / "F.csv", "--method", "random-rounding", "--draws", 50, "--seed", 3)
    assert data == plain(dc.expected_risk(table, RandomRounding(3), draws=50, seed=3).to_dict())
    assert (data["measure"], data["method"], data["parameters"]) == ("R2", "random-rounding", {"base": 3})
    assert data["value"] == data["risk"]["mean"]
    assert data["terms"].keys() == {"zeros", "concentration", "size"}
    base = answer(files / "F.csv", "--method", "random-rounding", "--base", 5, "--draws", 50, "--seed", 3)
    assert base["parameters"] == {"base": 5}
    sample = answer(files / "F.csv", "--method", "random-sample", "--sample-size", 245, "--draws", 50, "--seed", 3)
    assert sample == plain(dc.expected_risk(table, RandomSample(245), draws=50, seed=3).to_dict())


def test_a_method_to_a_precision_or_exactly() -> None:
    table = dc.datasets.sex()
    loose = answer("--example", "sex", "--method", "random-rounding", "--draws", 20, "--seed", 1)
    precise = answer("--example", "sex", "--method", "random-rounding", "--draws", 20, "--seed", 1, "--precision", 1e-6)
    assert precise["draws"] > loose["draws"] == 20
    assert precise["risk"]["mc_error"] <= 1e-6
    exact = answer("--example", "sex", "--method", "random-rounding", "--exact")
    assert exact == plain(dc.expected_risk(table, RandomRounding(3), exact=True).to_dict())
    assert (exact["exact"], exact["draws"], exact["risk"]["mc_error"]) == (True, 8192, 0)
    assert precise["value"] == pytest.approx(exact["value"], abs=5e-5)
    matrix = answer("--example", "sex", "--method", "random-rounding", "--exact", "--aggregate", "transition")
    assert matrix["aggregate"] == "transition"
    assert matrix["risk"]["sd"] is None
    assert matrix["slices"] == []


def test_the_same_seed_gives_the_same_bytes_whatever_the_workers(files: Path) -> None:
    common = ("risk", files / "F.csv", "--method", "random-rounding", "--draws", 30_000, "--slices", "", "--json")
    one, two = (run(*common, "--seed", 7, "--workers", workers) for workers in (1, 2))
    assert one == two
    assert one.code == 0
    other = run(*common, "--seed", 8, "--workers", 2)
    assert other.out != one.out


def test_results_for_people(files: Path) -> None:
    outcome = run("risk", files / "F.csv")
    assert (outcome.code, outcome.err) == (0, "")
    result = dc.risk(dc.datasets.religion())
    lines = outcome.out.splitlines()
    assert lines[0] == dc.datasets.religion().headline
    assert lines[1] == f"R1 = {result.value:.4f} (0 = low, 1 = high)"
    assert lines[2].startswith("Driven by concentration")
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("whole table")) :]
    assert len(table) == 11
    assert table[1].split()[:2] == ["religion=3", "0.5763"]
    assert all(len(line) <= 80 for line in lines)
    assert len(run("risk", files / "F.csv", "--top", 3).out.splitlines()) == len(lines) - 7
    assert "religion=3 " not in run("risk", files / "F.csv", "--top", 0).out.split("whole table")[1]


def test_results_for_people_after_protection(files: Path) -> None:
    outcome = run("risk", files / "F.csv", "--released", files / "G.csv")
    assert outcome.out.splitlines()[1].startswith("R2 = ")
    assert "Protection lowers the risk from 0.2315 to" in " ".join(outcome.out.split())
    assert "utility 1 − HD/√N" in outcome.out
    method = run("risk", files / "F.csv", "--method", "random-rounding", "--draws", 10, "--seed", 1)
    assert "expected (0 = low, 1 = high)" in method.out
    assert "MC error" in method.out


def test_labels_are_shown_as_they_are(tmp_path: Path) -> None:
    labels = ["[bold]x[/bold]", ":cat:", "[/]", "日本"]
    dc.Table.from_array([[3, 0], [1, 9], [5, 5], [2, 2]], {"[red]": labels, "sex": ["m", "f"]}).write(
        tmp_path / "t.csv"
    )
    out = run("risk", tmp_path / "t.csv").out
    assert all(f"[red]={label}" in out for label in labels)


def test_output_as_json(files: Path) -> None:
    target = files / "r.json"
    outcome = run("risk", files / "F.csv", "--json", "--output", target)
    assert target.read_text() == outcome.out
    shown = run("risk", files / "F.csv", "-o", target)
    assert f"Written: {target}" in shown.out.replace("\n", "")
    assert target.read_text() == outcome.out


def test_output_as_text(files: Path) -> None:
    run("risk", files / "F.csv", "--output", files / "r.txt")
    assert (files / "r.txt").read_text() == f"{dc.risk(dc.datasets.religion())}\n"
    run("risk", files / "F.csv", "--released", files / "G.csv", "--output", files / "r.txt")
    F, G = dc.datasets.religion(), dc.read_table(files / "G.csv")
    assert (files / "r.txt").read_text() == f"{dc.risk(F, G)}\n\n{dc.information_loss(F, G)}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--released", "G.csv"),
        ("--method", "random-rounding", "--draws", 20, "--seed", 1),
    ],
)
def test_output_as_csv(arguments: tuple[object, ...], files: Path) -> None:
    given = [files / part if part == "G.csv" else part for part in arguments]
    data = answer(files / "F.csv", *given, "--output", files / "r.csv")
    rows = rows_of(files / "r.csv")
    assert [(row["dimension"], row["category"]) for row in rows] == [
        ("", ""),
        *((item["dimension"], item["category"]) for item in data["slices"]),
    ]
    assert [float(row["value"]) for row in rows] == [data["value"], *(item["value"] for item in data["slices"])]
    assert float(rows[0]["terms_size"]) == data["terms"]["size"]
    if "--method" not in given:
        assert float(rows[-1]["terms_zeros"]) == data["slices"][-1]["terms"]["zeros"]
        assert int(rows[1]["people"]) == data["slices"][0]["people"]


def test_undefined_slices_are_null_and_empty(tmp_path: Path) -> None:
    dc.Table.from_array([[3, 2], [0, 0]], {"area": ["n", "s"], "sex": ["m", "f"]}).write(tmp_path / "t.csv")
    data = answer(tmp_path / "t.csv", "--slices", "area", "--output", tmp_path / "r.csv")
    assert data["slices"][1] == {
        "dimension": "area", "category": "s", "value": None, "terms": None, "people": 0, "cells": 2,
    }  # fmt: skip
    rows = rows_of(tmp_path / "r.csv")
    assert rows[2]["value"] == rows[2]["terms_zeros"] == ""
    assert float(rows[1]["terms_size"]) == data["slices"][0]["terms"]["size"]
    assert "–" in str(dc.risk(dc.read_table(tmp_path / "t.csv")).rows())


def test_releases_join_by_label(files: Path) -> None:
    G = dc.read_table(files / "G.csv")
    frame = G.to_frame().sample(frac=1, random_state=1)[["religion", "count", "output_area"]]
    frame.to_csv(files / "shuffled.csv", index=False)
    common = (files / "F.csv", "--released")
    assert answer(*common, files / "shuffled.csv") == answer(*common, files / "G.csv")
