"""``discreet protect`` by sampling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, refused_protection, rows_of, run

import discreet as dc

COUNTS = "area,sex,count\nn,m,10\nn,f,50\nw,m,60\nw,f,20\n"
PEOPLE = "id,area,sex\n" + "".join(f"{i},{'n' if i < 40 else 's'},{'mf'[i % 2]}\n" for i in range(100))


@pytest.mark.parametrize(
    ("method", "more", "expected"),
    [
        ("random-sample", ["--sample-size", 14], dc.protect.RandomSample(14)),
        ("random-sample", ["--fraction", 0.1], dc.protect.RandomSample(fraction=0.1)),
        ("stratified-sample", ["--strata", "area", "--fraction", 0.1], dc.protect.StratifiedSample("area", 0.1)),
        (
            "stratified-sample",
            ["--strata", "sex", "--size", "m=5", "--size", "f=6"],
            dc.protect.StratifiedSample("sex", sizes={"m": 5, "f": 6}),
        ),
        ("bernoulli-sample", ["--rate", 0.2], dc.protect.BernoulliSample(0.2)),
    ],
)
def test_samples_of_tables(
    counts: Path, tmp_path: Path, method: str, more: list[object], expected: dc.protect.RandomSample
) -> None:
    out = tmp_path / "sample.csv"
    outcome = run("protect", method, counts, *more, "--seed", 3, "--trial", "-o", out, "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert (told["method"], told["parameters"]) == (method, expected.parameters)
    table = dc.read_table(counts)
    assert dc.read_table(out) == expected.apply(table, 3).release.table
    assert run("audit", out, "--law", "method").code in (0, 1)
    shown = run("protect", method, counts, *more, "--seed", 3, "--trial").out
    assert "the total went from 140" in " ".join(shown.split())


def test_the_total_is_published_only_if_it_is_said_to_be_public(counts: Path, tmp_path: Path) -> None:
    out = tmp_path / "sample.csv"

    def told(method: str, *more: object) -> set[str]:
        assert run("protect", method, counts, *more, "-o", out).code == 0
        return {row["published_as"].removesuffix(" rows=4") for row in rows_of(out)}

    assert told("random-sample", "--sample-size", 14) == {"sample"}
    assert told("random-sample", "--fraction", 0.1) == {"sample fraction=0.1 missed=130"}
    by_area = told("stratified-sample", "--strata", "area", "--fraction", 0.1)
    assert by_area == {"sample fraction=0.1 missed=58", "sample fraction=0.1 missed=76"}
    assert told("bernoulli-sample", "--rate", 0.1) == {"sample fraction=0.1"}
    assert told("random-sample", "--sample-size", 14, "--publish-total") == {"sample fraction=0.1 size=140"}
    strata = told("stratified-sample", "--strata", "area", "--fraction", 0.1, "--publish-total")
    assert strata == {"sample fraction=0.1 size=60", "sample fraction=0.1 size=80"}
    assert "--publish-total" in run("protect", "random-sample", counts, "--sample-size", 14).out.replace("\n", " ")


def test_assess_takes_a_share(counts: Path) -> None:
    outcome = run(
        "assess",
        counts,
        "--method",
        "random-sample:fraction=0.1",
        "--seed",
        1,
        "--trial",
        "--record",
        counts.with_suffix(".json"),
    )
    assert outcome.code in (0, 1), outcome.err


def test_samples_of_records(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "sample.csv"
    told = json.loads(
        run("protect", "sample-records", people, "--sample-size", 10, "--seed", 1, "--trial", "-o", out, "--json").out
    )
    assert (told["method"], told["sampled"], told["records"]) == ("random-sample", 10, 100)
    assert len({row["id"] for row in rows_of(out)}) == 10
    run("protect", "sample-records", people, "--strata", "area", "--fraction", 0.1, "-o", out)
    assert [row["area"] for row in rows_of(out)] == ["n"] * 4 + ["s"] * 6
    run("protect", "sample-records", people, "--rate", 1, "-o", tmp_path / "all.parquet")
    assert dc.read_records(tmp_path / "all.parquet", ["area"]).table.counts.tolist() == [40, 60]
    assert "10 of 100 records are in the sample" in run("protect", "sample-records", people, "--fraction", 0.1).out


def test_what_is_refused(counts: Path, people: Path, tmp_path: Path) -> None:
    assert "n = 141 cannot be drawn from N = 140" in refused_protection("random-sample", counts, "--sample-size", 141)
    assert "either the size of the sample" in refused_protection("random-sample", counts)
    assert "the sampling fraction is 1.5" in refused_protection("random-sample", counts, "--fraction", 1.5)
    assert "the sampling rate is 0" in refused_protection("bernoulli-sample", counts, "--rate", 0)
    assert "no dimension 'region'" in refused_protection(
        "stratified-sample", counts, "--strata", "region", "--fraction", 0.1
    )
    assert "give it as CATEGORY=N" in refused_protection("stratified-sample", counts, "--strata", "sex", "--size", "m")
    assert "give it alone" in refused_protection("sample-records", people, "--rate", 0.1, "--sample-size", 5)
    assert "no column 'region'" in refused_protection("sample-records", people, "--strata", "region", "--fraction", 0.1)
    assert "not --sample-size" in refused_protection("sample-records", people, "--strata", "area", "--sample-size", 5)
    assert "name the column of strata" in refused_protection(
        "sample-records", people, "--size", "n=5", "--sample-size", 3
    )
    assert "n = 101 cannot be drawn from N = 100" in refused_protection("sample-records", people, "--sample-size", 101)
    assert "is the table that is read" in refused(
        run("protect", "sample-records", people, "--sample-size", 5, "-o", people)
    )
