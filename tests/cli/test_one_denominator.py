"""Every "x of N" about a table counts the same: all its cells and totals, empty ones included."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.running import run

import discreet as dc
from discreet.report.html import html_report
from discreet.table.tabulation import Tabulation

COUNTS = (812, 145, 31, 640, 98, 2, 455, 61, 14, 390, 73, 0)
"""Twelve inner cells, one of them empty: twenty with their totals, of which nineteen are not empty."""


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [(area, health) for area in ("North", "South", "East", "West") for health in ("good", "fair", "bad")]
    rows = [f"{area},{health},{count}" for (area, health), count in zip(cells, COUNTS, strict=True)]
    Path("t.csv").write_text("\n".join(["area,health,count", *rows]) + "\n")


def shares(text: str) -> set[tuple[str, str]]:
    """Return every number that something is "of", with what it counts."""
    return set(re.findall(r"\d+ of (\d+) ([a-z]+ (?:and totals|cells)|[a-z]+)", " ".join(text.split())))


@pytest.mark.parametrize(
    "line",
    [
        "rules t.csv --rule threshold=3",
        "rules t.csv --rule threshold=3,zeros=unsafe",
        "protect suppress t.csv --rule threshold=3 -o hidden.csv",
        "protect controlled-rounding t.csv --base 3 -o rounded.csv",
        "protect hide-and-round t.csv --hide-up-to 2 --base 5 -o both.csv",
        "assess t.csv",
        "assess t.csv --policy business",
    ],
)
def test_commands_count_cells_and_totals(line: str) -> None:
    found = run(*line.split())
    assert found.code in (0, 1), found.err
    assert shares(found.out) == {("20", "cells and totals")}


@pytest.mark.parametrize("line", ["protect random-rounding t.csv --base 3 -o drawn.csv", "risk t.csv"])
def test_what_is_of_inner_cells_alone_says_so(line: str) -> None:
    found = run(*line.split())
    assert shares(found.out) <= {("12", "inner cells")}
    assert "12 inner cells" in found.out


def test_programs_read_the_same_number() -> None:
    rules = json.loads(run("rules", "t.csv", "--rule", "threshold=3", "--json").out)
    assert rules["cells"] == sum(rules["statuses"].values()) == 20
    hidden = json.loads(run("protect", "suppress", "t.csv", "--rule", "threshold=3", "-o", "h.csv", "--json").out)
    assert hidden["figures"] == hidden["published"] + sum(hidden["suppressed"].values()) == 20


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_ledgers_count_what_files_list(end: str) -> None:
    run("protect", "suppress", "t.csv", "--rule", "threshold=3", "-o", f"h{end}")
    assert "20 figures, 4 hidden" in run("ledger", "add", f"h{end}").out
    release = dc.suppress("t.csv", "threshold=3").release
    assert release is not None
    assert "19" not in str(release)


def test_python_and_the_report_count_the_same() -> None:
    original = dc.read_table("t.csv")
    assert str(dc.sensitivity(original, "threshold=3")).startswith("1 of 20 cells and totals is sensitive (5.0%)")
    assert Tabulation.from_table(original).headline.endswith("20 cells and totals in 4 margins, 1 of them empty")
    found = dc.assess(original, name="t")
    assert shares(str(found)) == {("20", "cells and totals")}
    kept = html_report({**found.to_dict(), "edition": "internal"})
    page = re.sub(r"<(script|style|svg).*?</\1>|<[^>]+>", " ", kept, flags=re.DOTALL)
    assert "20 cells and totals" in page
    assert {one for one in shares(page) if one[1] != "sensitive cells"} == {("20", "cells and totals")}
