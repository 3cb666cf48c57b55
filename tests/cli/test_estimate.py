"""``discreet estimate`` and ``discreet study``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, rows_of, run

import discreet as dc
from discreet.models import LogLinear, PolyaUrn


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    dc.protect.random_sample(dc.datasets.religion(), 245, seed=1).table.write(tmp_path / "f.csv")
    return tmp_path / "f.csv"


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ([], LogLinear()),
        (["--model", "loglinear"], LogLinear()),
        (["--fit", "output_area,religion"], LogLinear((("output_area", "religion"),))),
        (["--fit", "output_area", "--fit", "religion"], LogLinear((("output_area",), ("religion",)))),
        (["--model", "polya"], PolyaUrn()),
        (["--model", "polya", "--population-zeros", "25"], PolyaUrn(population_zeros=25)),
        (
            ["--model", "polya", "--fit", "output_area,religion"],
            PolyaUrn(zeros_from=LogLinear((("output_area", "religion"),))),
        ),
    ],
)
def test_json_is_what_the_library_returns(options: list[str], model: LogLinear | PolyaUrn, sample: Path) -> None:
    outcome = run("estimate", sample, "-N", 2449, *options, "--draws", 40, "--seed", 5, "--json")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    data = json.loads(outcome.out)
    expected = dc.estimate(dc.read_table(sample), 2449, model=model, draws=40, seed=5).to_dict()
    assert data == {"schema": 1, "command": "estimate", **json.loads(json.dumps(expected))}
    assert (data["measure"], data["draws"]) == ("R2", 40)
    assert {"model", "mean", "sd", "mc_error"} <= data.keys()


def test_the_same_seed_gives_the_same_bytes_whatever_the_workers(sample: Path) -> None:
    for model in ("loglinear", "polya"):
        common = (
            "estimate",
            sample,
            "--population-size",
            2449,
            "--model",
            model,
            "--draws",
            30_000,
            "--seed",
            7,
            "--json",
        )
        one, two = (run(*common, "--slices", "", "--workers", workers) for workers in (1, 2))
        assert one == two
        assert one.code == 0


def test_results_for_people_and_files(sample: Path) -> None:
    target = sample.with_name("r.csv")
    outcome = run("estimate", sample, "-N", 2449, "--draws", 20, "--seed", 1, "--output", target, "--top", 2)
    assert outcome.out.splitlines()[1].startswith("R2 = ")
    assert "A sample of 245 out of 2,449 people" in outcome.out
    assert sum(line.startswith(("religion=", "output_area=")) for line in outcome.out.splitlines()) >= 2
    rows = rows_of(target)
    assert len(rows) == 20
    assert {"dimension", "category", "mean", "sd", "mc_error"} <= rows[0].keys()
    assert float(rows[0]["mean"]) > 0


def test_requests_that_do_not_fit(sample: Path) -> None:
    def reason(*arguments: object) -> str:
        target = sample.with_name("r.json")
        message = refused(run("estimate", sample, *arguments, "--output", target))
        assert not target.exists()
        return message

    assert "the population has 244 people, but the sample 245" in reason("-N", 244)
    assert "the population has -5 people, but the sample 245" in reason("-N", -5)
    assert "there is no population model 'poisson'" in reason("-N", 2449, "--model", "poisson")
    assert "did you mean 'polya'" in reason("-N", 2449, "--model", "poly")
    given = ("-N", 2449, "--model", "polya", "--fit", "religion")
    assert "--fit estimates how many cells" in reason(*given, "--population-zeros", 25)
    assert "--population-zeros and --theta belong to --model polya" in reason("-N", 2449, "--population-zeros", 3)
    assert "no dimension 'area'" in reason("-N", 2449, "--fit", "area")
    assert "no dimension 'area'" in reason("-N", 2449, "--slices", "area")
    for draws in (0, 1):
        assert f"draws is {draws}; a Monte Carlo error needs 2 or more" in reason("-N", 2449, "--draws", draws)
    assert "sum to 1.1, not to 1" in reason("-N", 2449, "--weights", "0.2,0.8,0.1")
    assert "form is '2016'" in reason("-N", 2449, "--form", "2016")


def test_samples_that_cannot_be_measured(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("area,sex,count\nn,m,0\nn,f,0\n")
    assert "f.csv: the sample table counts nobody" in refused(run("estimate", tmp_path / "f.csv", "-N", 10))
    (tmp_path / "f.csv").write_text("area,sex,count\nn,m,3\n")
    assert "f.csv: the sample table has 1 cell" in refused(run("estimate", tmp_path / "f.csv", "-N", 10))


@pytest.mark.parametrize(
    ("paper", "options"),
    [("antal2014", ["--draws", "200"]), ("antal2015", ["--samples", "3", "--draws", "4"])],
)
def test_studies_write_their_report(paper: str, options: list[str], tmp_path: Path) -> None:
    folder = tmp_path / paper
    outcome = run("study", paper, *options, "--seed", 2, "--json", "--output", folder)
    data = json.loads(outcome.out)
    assert outcome.err == ""
    assert outcome.code == (0 if data["reproduced"] else 1)
    assert sorted(path.name for path in folder.iterdir()) == ["report.md", "results.csv", "results.json"]
    written = json.loads((folder / "results.json").read_text())
    assert (data["command"], written["comparisons"]) == ("study", data["comparisons"])
    assert run("study", paper, *options, "--seed", 2, "--json", "--workers", 1).out == outcome.out
    people = run("study", paper, *options, "--seed", 2)
    assert data["sentence"].split(",")[0] in " ".join(people.out.split())


def test_studies_that_do_not_fit(tmp_path: Path) -> None:
    assert "there is no study 'antal2013'; did you mean" in refused(run("study", "antal2013"))
    assert "draws is 1" in refused(run("study", "antal2014", "--draws", 1, "--output", tmp_path / "report"))
    assert "samples is 1" in refused(run("study", "antal2015", "--samples", 1, "--output", tmp_path / "report"))
    message = refused(run("study", "antal2014", "--output", tmp_path / "missing" / "report"))
    assert "cannot be a folder for the report" in message
    (tmp_path / "file").write_text("")
    assert "cannot be a folder" in refused(run("study", "antal2014", "--output", tmp_path / "file"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
