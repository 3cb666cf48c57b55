"""``discreet uniques``, ``discreet uniques size`` and ``discreet study cohen2009``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import refused, rows_of, run

import discreet as dc


@pytest.fixture
def table(tmp_path: Path) -> Path:
    dc.datasets.cholesterol().write(tmp_path / "f.csv")
    return tmp_path / "f.csv"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    lines = [f"{rng.integers(6)},{rng.integers(8)},{rng.uniform(5, 15):.3f}" for _ in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job,w", *lines]) + "\n")
    return tmp_path / "people.csv"


@pytest.mark.parametrize("command", [("uniques",), ("uniques", "sample")])
def test_json_is_what_the_library_returns(command: tuple[str, ...], table: Path) -> None:
    outcome = run(*command, table, "--population-size", 400, "--b", 30, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    expected = dc.population_uniques(dc.read_table(table), 400, b=30).to_dict()
    assert data == {"schema": 1, "command": "uniques", **json.loads(json.dumps(expected))}
    assert {"sample_uniques", "cells"} <= data.keys()
    assert {"q", "tau", "interval"} <= data["priors"]["uniform"].keys() & data["priors"]["multinomial"].keys()
    assert {"model", "tau1", "tau2", "b1", "b2"} <= data["loglinear"].keys()


def test_records_with_weights_and_their_risk(people: Path) -> None:
    target = people.with_name("risk.csv")
    outcome = run("uniques", people, "--by", "age,job", "-N", 600, "--weight", "w", "--record-risks", target)
    assert outcome.code == 0, outcome.err
    assert "weighted counts" in outcome.out
    assert "Riskiest sample uniques" in outcome.out
    rows = rows_of(target)
    assert len(rows) == 60
    records = dc.read_records(people, ["age", "job"], weight="w")
    result = dc.population_uniques(records, 600)
    assert [float(row["alone"]) for row in rows] == pytest.approx(result.record_risk()[:, 0].tolist())


def test_files_of_results(table: Path) -> None:
    for name, start in (("r.json", "{"), ("r.txt", "1 of 78"), ("r.csv", "sex,years,count,alone")):
        target = table.with_name(name)
        assert run("uniques", table, "-N", 400, "-o", target).code == 0
        assert target.read_text().startswith(start)


def test_impossible_combinations_change_k(table: Path) -> None:
    combinations = table.with_name("zeros.csv")
    wide = dc.Table.from_array([[4, 0], [1, 7]], {"a": ["x", "y"], "b": ["m", "n"]})
    wide.write(table)
    combinations.write_text("a,b\nx,n\n")
    data = json.loads(
        run("uniques", table, "-N", 40, "--impossible", combinations, "--loglinear", "none", "--json").out
    )
    assert data["cells"] == 3
    assert data["loglinear"] is None


def test_sizes_curves_and_plots(tmp_path: Path, table: Path) -> None:
    picture = tmp_path / "curve.svg"
    common = ("uniques", "size", "--population-size", 46228, "--cells", 1108, "--at-most", 0.05)
    outcome = run(*common, "--curve", "--plot", picture)
    assert outcome.code == 0, outcome.err
    assert "at most 9,477 people" in outcome.out.replace("\n", " ")
    assert "9,478" in outcome.out
    assert picture.read_text().startswith("<?xml")
    data = json.loads(run(*common, "--json").out)
    assert data["priors"]["multinomial"]["largest"] == 42910
    given = json.loads(run("uniques", "size", "-N", 400, "--table", table, "--at-most", 0.2, "--json").out)
    assert given["priors"]["uniform"]["basis"] == "the given table"


def test_help_shows_examples() -> None:
    for command in (("uniques", "sample"), ("uniques", "size")):
        assert "Examples" in run(*command, "--help").out
    assert "size" in run("uniques", "--help").out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-N", 50), "the sample has 78 people, but the population only 50"),
        (("-N", 400, "--b", "-1"), "the loss b is -1"),
        (("-N", 400, "--prior", "unifrom"), "did you mean 'uniform'"),
        (("-N", 400, "--loglinear", "best"), "select, main, two-way or none"),
        (("-N", 400, "--fit", "sex", "--loglinear", "main"), "either --loglinear or --fit"),
        (("-N", 400, "--fit", "seks"), "no dimension 'seks'"),
        (("-N", 400, "--weight", "w"), "--by"),
        (("-N", 400, "--record-risks", "r.csv"), "needs --by"),
        (("-N", 400, "--credible", "2"), "level"),
        (("-N", 400, "--output", "x.pdf"), ".json, .csv or .txt"),
        ((), "population"),
    ],
)
def test_bad_requests_are_refused(options: tuple[object, ...], reason: str, table: Path) -> None:
    assert reason in refused(run("uniques", table, *options))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-N", 100, "--at-most", 0.1), "--cells"),
        (("-N", 100, "--cells", 5, "--at-most", 0), "--at-most is 0"),
        (("-N", 100, "--cells", 5, "--at-most", 2), "at most 1"),
        (("-N", 0, "--cells", 5, "--at-most", 0.1), "the population is 0"),
        (("-N", 100, "--cells", 5, "--at-most", 0.1, "--criterion", "r1"), "'q' or 'tau'"),
        (("-N", 100, "--cells", 5, "--at-most", 0.1, "--plot", "a.gif"), ".svg or .png"),
    ],
)
def test_bad_sizes_are_refused(
    options: tuple[object, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert reason in refused(run("uniques", "size", *options))
    assert list(tmp_path.iterdir()) == []


def test_the_study_of_cohen2009(tmp_path: Path) -> None:
    outcome = run("study", "cohen2009", "--draws", 200, "--output", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    report = (tmp_path / "out/report.md").read_text()
    assert "0.0403269" in report
    assert "4.3553" in report
    assert "1.46472e-15" in report
    assert "--samples is not used" in run("study", "cohen2009", "--draws", 200, "--samples", 3).err


def test_the_sizes_of_the_paper_are_enough() -> None:
    outcome = run("uniques", "sizes", "-N", 46228, "-n", 8399, "-K", 1108, "-s", 108, "--json")
    found = json.loads(outcome.out)["priors"]
    assert round(found["uniform"]["tau"], 2) == 4.36
    assert found["uniform"]["interval"] == [1, 8]


def test_mixtures_from_sizes_are_those_of_the_table(tmp_path: Path) -> None:
    import discreet as dc

    table = dc.Table.from_array([[4, 8, 1, 15, 12], [6, 0, 5, 11, 0]], ["sex", "years"])
    table.write(tmp_path / "t.csv")
    mixed = ("--prior", "zeros:0.9", "--prior", "zeros:0.2:dirichlet:2")
    whole = json.loads(run("uniques", tmp_path / "t.csv", "-N", 400, *mixed, "--json").out)["priors"]
    told = run("uniques", "sizes", "-N", 400, "-n", 62, "-K", 10, "-s", 1, "--filled", 8, *mixed, "--json")
    sizes = json.loads(told.out)["priors"]
    assert set(whole) == set(sizes)
    for name, one in sizes.items():
        total = whole[name].get("total", whole[name])
        assert one["tau"] == pytest.approx(total["tau"])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["-n", 78, "-s", 1, "--prior", "zeros:0.9"], "--filled"),
        (["-n", 78, "-s", 1, "--filled", 90], "cannot fill 90 cells"),
        (["-n", 2, "-s", 1], "cannot fill"),
        (["-n", 78, "-s", 1, "--prior", "zeros:0.9:zeros:0.5", "--filled", 3], "mixture over a mixture"),
        (["-n", 78, "-s", 1, "--prior", "zeros:2", "--filled", 3], "gamma is 2"),
        (["-n", 78, "-s", 1, "--prior", "dirichlet:2:1"], "more than its number"),
    ],
)
def test_sizes_that_cannot_be(given: list[object], reason: str) -> None:
    assert reason in refused(run("uniques", "sizes", "-N", 400, "-K", 20, *given))
