"""``discreet protect`` by swapping."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tests.cli.running import refused_protection, rows_of, run

import discreet as dc

COUNTS = "area,sex,age,count\n" + "".join(
    f"{area},{sex},{age},{n}\n"
    for (area, sex, age), n in zip(
        [(a, s, g) for a in "nws" for s in "mf" for g in "yo"], [1, 5, 6, 2, 4, 7, 0, 3, 2, 2, 9, 1], strict=True
    )
)
PEOPLE = "id,hh,area,sex\n" + "".join(f"{i},{i // 2},{'nws'[i // 2 % 3]},{'mf'[i % 2]}\n" for i in range(60))


def test_swapped_tables(counts: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "swapped.csv", dc.read_table(counts)
    outcome = run(
        "protect", "record-swapping", counts, "--area", "area", "--match", "sex", "--rate", 0.3, "--seed", 2,
        "--trial", "-o", out,
        "--json",
    )  # fmt: skip
    told = json.loads(outcome.out)
    assert told["parameters"] == {"area": "area", "match": ["sex"], "rate": 0.3}
    assert told["moved"] == 12
    assert told["moved"] == sum(told["moved_by_area"].values())
    released = dc.read_table(out)
    assert released.margin("area", "sex") == table.margin("area", "sex")
    assert released.margin("sex", "age") == table.margin("sex", "age")
    assert run("audit", out).code in (0, 1)
    out = tmp_path / "kept.parquet"
    told = json.loads(run("protect", "table-swapping", counts, "--keep-all", 2, "--rate", 0.5, "-o", out, "--json").out)
    assert told["parameters"] == {"keep": 2, "rate": 0.5}
    assert dc.read_table(out).margin("area", "age") == table.margin("area", "age")
    shown = run("protect", "record-swapping", counts, "--area", "area", "--seed", 1, "--trial").out
    assert "people changed places" in shown.replace("\n", " ")


def test_swapped_records(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "swapped.csv"
    options = ["--area", "area", "--match", "sex", "--household", "hh", "--rate", 0.4, "--seed", 1, "--trial"]
    told = json.loads(run("protect", "swap-records", people, *options, "-o", out, "--json").out)
    assert (told["units"], told["moved"]) == (30, 12)
    before, after = rows_of(people), rows_of(out)
    assert Counter(r["area"] + r["sex"] for r in before) == Counter(r["area"] + r["sex"] for r in after)
    assert [r["id"] for r in before] == [r["id"] for r in after]
    assert sum(a["area"] != b["area"] for a, b in zip(before, after, strict=True)) == 24
    again = tmp_path / "again.csv"
    run("protect", "swap-records", people, *options, "-o", again)
    assert again.read_bytes() == out.read_bytes()


def test_what_is_refused_and_what_is_found(counts: Path, people: Path, tmp_path: Path) -> None:
    assert "the swap rate is 1.5" in refused_protection("record-swapping", counts, "--area", "area", "--rate", 1.5)
    assert "no dimension 'region'" in refused_protection("record-swapping", counts, "--area", "region")
    assert "leaves nothing to swap" in refused_protection("table-swapping", counts, "--keep-all", 3)
    assert "no column 'region'" in refused_protection("swap-records", people, "--area", "region")
    alone = tmp_path / "alone.csv"
    alone.write_text("area,sex\nn,x\nw,m\ns,m\ns,m\nw,m\n", encoding="utf-8")
    told = json.loads(
        run("protect", "swap-records", alone, "--area", "area", "--match", "sex", "--rate", 1, "--json").out
    )
    assert told["areas_alone"] == ["n"]
    assert "Nobody in n has anybody to swap with" in told["sentence"]
