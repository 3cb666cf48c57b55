"""Suppression by the files of τ-ARGUS: statuses of a table, and apriori files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, rows_of, run

RDA = """   <SEPARATOR> ";"
Size
    <RECODEABLE>
    <TOTCODE> "Total"
Region
    <RECODEABLE>
    <TOTCODE> "Total"
Turnover
    <NUMERIC>
    <DECIMALS> 0
Freq
    <FREQUENCY>
Status
    <STATUS>
Low
    <NUMERIC> <LOWERPL>
Up
    <NUMERIC> <UPPERPL>
"""
CELLS = {
    (size, region): 10 * (3 * i + j + 1) for i, size in enumerate((" 2", " 4", " 5")) for j, region in enumerate("NSW")
}


@pytest.fixture
def tab(tmp_path: Path) -> Path:
    """A table in which one cell is unsafe, with codes that are padded as τ-ARGUS pads them."""
    rows = []
    for size in ("Total", " 2", " 4", " 5"):
        for region in ("Total", "N", "S", "W"):
            inside = [v for (s, r), v in CELLS.items() if size in (s, "Total") and region in (r, "Total")]
            mark = ("U", 4, 6) if (size, region) == (" 2", "N") else ("S", 0, 0)
            rows.append(f'"{size}";"{region}";{sum(inside)};{2 * len(inside)};{mark[0]};{mark[1]};{mark[2]}')
    (tmp_path / "t.rda").write_text(RDA, encoding="utf-8")
    (tmp_path / "t.tab").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "t.tab"


def hidden(tab: Path, *more: object) -> set[tuple[str, str]]:
    out = tab.with_name("out.csv")
    outcome = run("protect", "suppress", tab, *more, "-o", out)
    assert outcome.code == 0, outcome.err
    return {(row["Size"], row["Region"]) for row in rows_of(out) if row["value"] == "x"}


def test_statuses_say_what_is_sensitive_where_no_rule_is_given(tab: Path) -> None:
    status = tab.with_name("status.csv")
    assert (" 2", "N") in hidden(tab, "--status", status)
    row = next(row for row in rows_of(status) if row["status"] == "primary")
    assert (row["Size"], row["Region"], row["lower"], row["upper"]) == (" 2", "N", "4", "6")


def test_rules_go_before_statuses(tab: Path) -> None:
    outcome = run("protect", "suppress", tab, "--rule", "threshold=1", "--json")
    assert (outcome.code, json.loads(outcome.out)["hidden"]) == (0, 0)


def test_an_apriori_file(tab: Path) -> None:
    wishes = tab.with_name("w.hst")
    wishes.write_text("4;S;u\n4;S;pl;7;8\n5;S;p\n2;S;c;1000\n", encoding="utf-8")
    status = tab.with_name("status.csv")
    found = hidden(tab, "--apriori", wishes, "--status", status)
    assert {(" 2", "N"), (" 4", "S")} <= found
    assert (" 5", "S") not in found
    row = next(row for row in rows_of(status) if (row["Size"], row["Region"]) == (" 4", "S"))
    assert (row["status"], row["lower"], row["upper"]) == ("primary", "7", "8")


@pytest.mark.parametrize("line", ["4;S;s", "4;S;pl;7", "4;S;c;much", "4;S", "9;S;u"])
def test_lines_that_are_wrong_are_named(line: str, tab: Path) -> None:
    wishes = tab.with_name("w.hst")
    wishes.write_text(f"2;N;u\n{line}\n", encoding="utf-8")
    told = refused(run("protect", "suppress", tab, "--apriori", wishes, "-o", tab.with_name("o.csv")))
    assert "line 2" in told or "'9'" in told
    assert not tab.with_name("o.csv").exists()


@pytest.mark.parametrize("second", ["2;N;p", "2;N;p\n2;N;c;5"])
def test_a_cell_is_not_both_hidden_and_published(second: str, tab: Path) -> None:
    wishes = tab.with_name("w.hst")
    wishes.write_text(f"2;N;pl;9;9\n{second}\n", encoding="utf-8")
    told = refused(run("protect", "suppress", tab, "--apriori", wishes, "-o", tab.with_name("o.csv")))
    assert "line 2 is '2;N;p', but a line before it says that the cell must be suppressed" in told
    assert not tab.with_name("o.csv").exists()


def test_levels_without_a_status_are_not_passed_over(tab: Path) -> None:
    """They would leave the cell with less than was asked for, or open, and a verdict of safe."""
    wishes = tab.with_name("w.csv")
    wishes.write_text("Size,Region,status,lower,upper\n 2,N,,9,9\n", encoding="utf-8")
    told = refused(run("protect", "suppress", tab, "--apriori", wishes, "-o", tab.with_name("o.csv")))
    assert "has protection levels and no status" in told
    assert not tab.with_name("o.csv").exists()


def test_margins_are_recomputed_where_asked(tab: Path) -> None:
    tab.write_text(tab.read_text(encoding="utf-8").replace('"Total";"Total";450', '"Total";"Total";459'), "utf-8")
    assert "--margins recompute" in refused(run("inspect", tab, "--json"))
    assert "459" not in run("inspect", tab, "--margins", "recompute", "--figures", "--json").out
    assert (" 2", "N") in hidden(tab, "--margins", "recompute")
