"""``discreet protect``: reading, rounding, writing, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import refused, refused_protection, rows_of, run

import discreet as dc

COUNTS = "area,sex,count\nn,m,1\nn,f,5\nw,m,6\nw,f,2\ns,m,4\ns,f,7\n"


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("conventional-rounding", ["--base", 5]),
        ("random-rounding", ["--base", 3, "--seed", 1, "--trial"]),
        ("random-rounding", ["--base", 3, "--seed", 1, "--trial", "--with-margins"]),
        ("semi-controlled-rounding", ["--totals", "area", "--seed", 1, "--trial"]),
        ("controlled-rounding", ["--base", 5]),
        ("controlled-rounding", ["--unbiased", "--seed", 1, "--trial"]),
        ("small-count-rounding", ["--base", 3]),
    ],
)
def test_every_rounding_writes_a_release_that_the_audit_reads(
    counts: Path, tmp_path: Path, method: str, more: list[object]
) -> None:
    out = tmp_path / "release.csv"
    outcome = run("protect", method, counts, *more, "-o", out, "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert told["method"] == method
    assert told["output"] == str(out)
    assert 0 < told["utility"] <= 1
    assert {"parameters", "changed", "sentence", "notes", "largest", "distance"} <= told.keys()
    assert "seed" not in told["parameters"]
    released = {(row["area"], row["sex"]): int(row["count"]) for row in rows_of(out)}
    truth = [line.split(",") for line in COUNTS.splitlines()[1:]]
    moved = [abs(released[area, sex] - int(count)) for area, sex, count in truth]
    assert sum(m > 0 for m in moved) == told["loss"]["changed"]
    assert run("audit", out).code in (0, 1)
    again = tmp_path / "again.csv"
    run("protect", method, counts, *more, "-o", again)
    assert again.read_bytes() == out.read_bytes()
    people = run("protect", method, counts, *more)
    assert method in people.out
    assert "Nothing is written" in people.out


def test_records_and_hierarchies(tmp_path: Path, counts: Path) -> None:
    tree = tmp_path / "area.csv"
    tree.write_text("level1,level2\nnorth,n\nnorth,w\nsouth,s\n", encoding="utf-8")
    out = tmp_path / "r.csv"
    outcome = run("protect", "controlled-rounding", counts, "--hierarchy", f"area={tree}", "-o", out)
    assert outcome.code == 0, outcome.err
    rows = rows_of(out)
    value = {(row["area"], row["sex"]): int(row["count"]) for row in rows}
    assert value["north", "m"] == value["n", "m"] + value["w", "m"]
    assert value["Total", "Total"] == value["north", "Total"] + value["south", "Total"]
    people = tmp_path / "people.csv"
    people.write_text("area,sex\n" + "n,m\n" * 4 + "n,f\n" * 2 + "s,f\n" * 7, encoding="utf-8")
    outcome = run("protect", "small-count-rounding", people, "--by", "area,sex", "-o", out, "--json")
    assert json.loads(outcome.out)["rounded"] == 1
    assert {row["count"] for row in rows_of(out)} & {"1", "2"} == set()


def test_adjustment_of_magnitudes_from_records_and_from_a_tabulation(tmp_path: Path) -> None:
    firms = tmp_path / "firms.csv"
    lines = [f"{'ns'[i % 2]},{'abc'[i % 3]},{v}" for i, v in enumerate([90, 8, 2, 40, 30, 20, 10, 55, 44, 33, 22, 11])]
    firms.write_text("region,activity,turnover\n" + "\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "adjusted.csv"
    asked = ["--rule", "p=20", "--json", "-o", out]
    outcome = run("protect", "tabular-adjustment", firms, "--by", "region,activity", "--value", "turnover", *asked)
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert told["sensitive"] > 0
    assert told["gap"] == pytest.approx(0)
    table = tmp_path / "t.parquet"
    assert run("tabulate", firms, "--by", "region,activity", "--value", "turnover", "-o", table).code == 0
    other = tmp_path / "other.csv"
    assert run("protect", "tabular-adjustment", table, "--rule", "p=20", "-o", other).code == 0
    assert other.read_text() == out.read_text()
    released = {(r["region"], r["activity"]): int(r["value"]) for r in rows_of(out)}
    assert released["Total", "Total"] == sum(released[r, a] for r in "ns" for a in "abc")


def test_the_column_of_magnitudes_is_called_value_and_read_back(tmp_path: Path) -> None:
    firms = tmp_path / "firms.csv"
    lines = [f"{'ns'[i % 2]},{'abc'[i % 3]},{v}" for i, v in enumerate([90, 8, 2, 40, 30, 20, 10, 55, 44, 33, 22, 11])]
    firms.write_text("region,activity,turnover\n" + "\n".join(lines) + "\n", encoding="utf-8")
    asked = ["--by", "region,activity", "--value", "turnover"]
    for ending in (".csv", ".parquet"):
        for method in ("tabular-adjustment", "suppress"):
            out = tmp_path / f"{method}{ending}"
            outcome = run("protect", method, firms, *asked, "--rule", "p=20", "-o", out)
            assert outcome.code == 0, outcome.err
            if ending == ".csv":
                assert "value" in rows_of(out)[0]
                assert "count" not in rows_of(out)[0]
            (part,) = dc.read_release(out).parts()
            assert set(part.names) == {"region", "activity"}
            assert run("audit", out).code in (0, 1)


@pytest.mark.parametrize(
    "asked",
    [
        "random-rounding",
        "conventional-rounding",
        "semi-controlled-rounding",
        "controlled-rounding",
        "small-count-rounding",
        "hide-and-round",
        "tabular-adjustment --rule p=10",
        "random-sample --sample-size 2",
        "random-sample --fraction 0.1",
        "stratified-sample --strata area --fraction 0.1",
        "bernoulli-sample --rate 0.1",
        "record-swapping --area area --match sex --rate 0.1",
        "table-swapping",
        "simulation",
        "cell-key",
        "redesign --merge area:x=n+w",
        "redesign --rule threshold=3",
        "suppress --rule threshold=3",
    ],
)
def test_a_table_of_zeros_is_refused_by_every_method_alike(asked: str, tmp_path: Path) -> None:
    file, out = tmp_path / "t.csv", tmp_path / "r.csv"
    file.write_text("area,sex,count\nn,m,0\nn,f,0\nw,m,0\nw,f,0\n", encoding="utf-8")
    method, *more = asked.split()
    said = refused(run("protect", method, file, *more, "-o", out))
    assert said.endswith("the table counts nobody (every cell is 0); there is nothing to protect")
    assert not out.exists()


@pytest.mark.parametrize("method", ["random-rounding", "conventional-rounding", "cell-key"])
def test_margins_that_are_left_out_are_named(method: str, tmp_path: Path) -> None:
    wide, out = tmp_path / "wide.csv", tmp_path / "r.csv"
    wide.write_text("area\\sex,m,f,Total\nn,1,5,6\nw,6,2,8\nTotal,7,7,14\n", encoding="utf-8")
    told = json.loads(run("protect", method, wide, "-o", out, "--json").out)
    assert any("--with-margins" in note for note in told["notes"])
    assert all("Total" not in row.values() for row in rows_of(out))
    told = json.loads(run("protect", method, wide, "-o", out, "--with-margins", "--json").out)
    assert not any("--with-margins" in note for note in told["notes"])
    assert any("Total" in row.values() for row in rows_of(out))


def test_parquet_keeps_how_the_figures_were_made(counts: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.parquet"
    assert run("protect", "controlled-rounding", counts, "--base", 3, "-o", out).code == 0
    release = dc.read_release(out)
    assert release.method == "controlled-rounding"
    assert release.parts()[0].kinds[0].to_dict()["base"] == 3
    assert np.abs(release.table.to_array() - dc.read_table(counts).to_array()).max() < 3


def test_what_is_refused_leaves_nothing_behind(counts: Path, tmp_path: Path) -> None:
    assert "base is 1; round to an integer" in refused_protection("random-rounding", counts, "--base", 1)
    assert "time limit is 0" in refused_protection("controlled-rounding", counts, "--time-limit", 0)
    assert "did you mean 'area'" in refused_protection("semi-controlled-rounding", counts, "--totals", "aera")
    assert "give one (--rule p=10)" in refused_protection("tabular-adjustment", counts)
    assert "--by" in refused_protection("random-rounding", counts, "--contributor", "id")
    assert "a table holds counts" in refused_protection("random-rounding", counts, "--value", "turnover")
    assert "give it as region=nuts.hrc" in refused_protection("random-rounding", counts, "--hierarchy", "area")
    assert "name one table" in refused_protection("random-rounding")
    assert "there is no option --seed" in refused_protection("conventional-rounding", counts, "--seed", 1)
    assert "there is no command 'scrambling'" in refused(run("protect", "scrambling", counts))
    halves = tmp_path / "halves.csv"
    halves.write_text(COUNTS.replace("n,m,1", "n,m,1.5"), encoding="utf-8")
    assert "1.5" in refused_protection("random-rounding", halves)
    assert "is the table that is read" in refused(run("protect", "random-rounding", counts, "-o", counts))
    assert "'.xls' is not written" in refused(run("protect", "random-rounding", counts, "-o", tmp_path / "r.xls"))
    assert counts.read_text(encoding="utf-8") == COUNTS
    strange = tmp_path / "tree.csv"
    strange.write_text("level1,level2\nnorth,n\nsouth,s\n", encoding="utf-8")
    assert "'w' of dimension 'area'" in refused_protection(
        "controlled-rounding", counts, "--hierarchy", f"area={strange}"
    )
