"""The papers' printed numbers, from quick replays; the full ones are in validation/."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest

import discreet
from discreet.core.errors import RequestError
from discreet.studies import antal2014, antal2015, get
from discreet.studies.comparison import PaperComparison, Study, StudyEffort, published
from discreet.studies.own_samples import simulate_samples

# What the tests share is made once, by the one process that runs them all.


@pytest.fixture(scope="module")
def study2014() -> Study:
    return antal2014.replay(StudyEffort(draws=2000))


@pytest.fixture(scope="module")
def study2015() -> Study:
    return antal2015.replay(StudyEffort(samples=60, draws=40))


def test_all_83_printed_r1_to_four_decimals(study2014: Study) -> None:
    rows = [row for row in study2014.comparisons if row.group == "R1"]
    assert len(rows) == 83
    assert all(row.error == 0.0 and abs(row.difference) <= 0.00005 + 1e-9 for row in rows)
    assert all(f"{row.computed:.4f}" == f"{row.printed:.4f}" for row in rows)


def test_all_83_hellinger_distances_within_four_standard_errors(study2014: Study) -> None:
    rows = [row for row in study2014.comparisons if row.group.startswith("HD")]
    assert len(rows) == 83
    assert all(abs(row.difference) <= 4 * row.error + 0.00005 for row in rows)


def test_r2_follows_from_3_6_or_from_the_printed_variant(study2014: Study) -> None:
    rows = [row for row in study2014.comparisons if row.group.startswith("R2")]
    assert len(rows) == 83
    assert all(row.follows_variant for row in rows)
    assert all(row.verdict == "reproduced" for row in rows if "Table 3" in row.label)
    apart = [(row.variant - row.printed) / math.hypot(row.variant_error, 1e-4 / 12**0.5) for row in rows if row.variant]
    assert len(apart) == 83
    assert max(map(abs, apart)) < 3.5
    # χ² on 83 degrees of freedom lies between 44 and 135 with probability 0.999; by (3.6) it is above 100,000.
    assert 44 < sum(z * z for z in apart) < 135
    whole = {row.label[10:11]: row for row in rows if "whole" in row.label}
    for number, computed, variant in (("1", 0.0373, 0.0458), ("2", 0.0265, 0.0295), ("4", 0.0306, 0.0327)):
        assert whole[number].computed == pytest.approx(computed, abs=0.0003)
        assert whole[number].variant == pytest.approx(variant, abs=0.0003)
        assert whole[number].verdict == "explained"
    report = study2014.to_markdown()
    assert all(row.label in report for row in rows)


def test_all_249_figures_of_2014_are_reproduced_or_explained() -> None:
    study = get("antal2014")(seed=1)
    verdicts = [row.verdict for row in study.comparisons]
    assert [verdicts.count(verdict) for verdict in ("reproduced", "explained", "differs")] == [192, 57, 0]
    assert study.sentence.startswith("192 of 249 printed numbers are reproduced, 57 are explained")


def test_every_printed_mean_and_deviation_of_table_2(study2015: Study) -> None:
    means = [row for row in study2015.comparisons if row.group == "mean of R2"]
    assert len(means) == 14
    assert len(study2015.comparisons) == 28
    assert study2015.reproduced
    _, header, rows = study2015.extra[0]
    assert len(rows) == 2
    assert len(header) == len(rows[0])


def test_samples_and_populations_of_table_2() -> None:
    religion = discreet.datasets.religion()
    assert [antal2015.lookup_values(religion, fraction).sample for fraction in (0.1, 0.05)] == [245, 122]
    assert religion.possible - religion.cells.size == 25


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads() -> None:
    faces = [
        json.dumps(antal2015.replay(StudyEffort(4, 4, seed=3, workers=workers)).to_dict()) for workers in (1, 2, 3)
    ]
    assert faces[0] == faces[1] == faces[2]
    assert json.dumps(antal2015.replay(StudyEffort(4, 4, seed=4)).to_dict()) != faces[0]


def test_a_wrong_number_is_called_different() -> None:
    good, wrong = PaperComparison("a", "x", 0.1234, 0.12344), PaperComparison("a", "y", 0.1234, 0.12346)
    noisy = PaperComparison("a", "z", 0.12, 0.13, error=0.0026)
    explained = PaperComparison("a", "v", 0.12, 0.13, variant=0.12004)
    missed = PaperComparison("a", "w", 0.12, 0.13, variant=0.1203, variant_error=0.00005)
    assert [row.verdict for row in (good, wrong, noisy, explained, missed)] == [
        "reproduced",
        "differs",
        "reproduced",
        "explained",
        "differs",
    ]
    study = Study("s", "t", "c", {}, (good, wrong))
    assert not study.reproduced
    assert "1 differ" in study.sentence
    assert study.differing() == [wrong]
    assert Study("s", "t", "c", {}, (good, explained)).reproduced


def test_reports_are_written_whole(tmp_path: Path, study2014: Study) -> None:
    study2014.write(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.md", "results.csv", "results.json"}
    assert json.loads((tmp_path / "out/results.json").read_text())["reproduced"] is True
    assert len((tmp_path / "out/results.csv").read_text().splitlines()) == 250


def test_unknown_papers_and_sizes_are_refused() -> None:
    with pytest.raises(RequestError, match="did you mean 'antal201"):
        get("antal201")
    with pytest.raises(RequestError, match="samples is 1"):
        antal2015.replay(StudyEffort(samples=1))


STORED = Path(__file__).parents[2] / "validation"


@pytest.mark.parametrize("paper", ["antal2014", "cohen2009"])
def test_stored_reports_are_those_of_a_replay(paper: str) -> None:
    """Every computed number, also those by the printed variant, is pinned by the stored report."""
    study = get(paper)(seed=1)
    rows = list(csv.DictReader(io.StringIO((STORED / paper / "results.csv").read_text())))
    assert [row["label"] for row in rows] == [row.label for row in study.comparisons]
    assert [float(row["computed"]) for row in rows] == pytest.approx([r.computed for r in study.comparisons], rel=1e-9)
    variants = [0.0 if row.variant is None else row.variant for row in study.comparisons]
    assert [float(row["variant"] or 0) for row in rows] == pytest.approx(variants, rel=1e-9)
    assert [row["verdict"] for row in rows] == [row.verdict for row in study.comparisons]
    report = (STORED / paper / "report.md").read_text()
    assert report.split("## Every printed number")[0] == study.to_markdown().split("## Every printed number")[0]


def test_the_stored_report_of_the_long_replay_is_whole(study2015: Study) -> None:
    data = json.loads((STORED / "antal2015/results.json").read_text())
    assert data["settings"] == {"samples": 1000, "draws": 1000, "seed": 1}
    assert data["reproduced"] is True
    assert [row["label"] for row in data["comparisons"]] == [row.label for row in study2015.comparisons]
    assert data["comparisons"][0].keys() == study2015.comparisons[0].to_dict().keys()
    for now, then in zip(study2015.comparisons, data["comparisons"], strict=True):
        assert abs(now.computed - then["computed"]) <= 5 * (now.error + then["error"])


def test_printed_tables_are_complete() -> None:
    assert [len(published(f"antal2014-table{i}")) for i in (1, 2, 3, 4)] == [28, 22, 13, 20]
    assert len(published("antal2015-table2")) == 8


def test_the_simulation_on_a_table_of_ones_own_agrees_with_the_paper() -> None:
    """On the paper's own table it is the rows of the real population, up to Monte Carlo error."""
    found = simulate_samples(discreet.datasets.religion(), StudyEffort(samples=60, draws=40, seed=1), fractions=[0.1])
    printed = {
        row["model"]: row
        for row in published("antal2015-table2")
        if row["population"] == "real" and float(row["sampling_fraction"]) == 0.1
    }
    for one, name in zip(found.estimates, ("log-linear", "Polya urn"), strict=True):
        line = next(row for key, row in printed.items() if key.lower().startswith(name.lower()[:5]))
        assert one.original == pytest.approx(float(line["original_mean"]), abs=4 * one.original_sd / 60**0.5)
        assert one.estimated == pytest.approx(float(line["estimated_mean"]), abs=4 * one.estimated_sd / 60**0.5)
    alone = StudyEffort(samples=60, draws=40, seed=1, workers=1)
    again = simulate_samples(discreet.datasets.religion(), alone, fractions=[0.1])
    assert again == found
    with pytest.raises(RequestError, match="sampling fraction is 2"):
        simulate_samples(discreet.datasets.religion(), StudyEffort(), fractions=[2.0])
