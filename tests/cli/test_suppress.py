"""``discreet protect suppress``: publishes only what may be, and keeps the rest in files of the agency's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, rows_of, run

import discreet as dc
from discreet.rules import Threshold

COUNTS = [[2, 9, 8], [7, 6, 9], [9, 8, 5]]


def table() -> dc.Table:
    return dc.Table.from_array(COUNTS, {"area": list("abc"), "age": list("xyz")})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    table().write(path)
    return path


def test_release_status_and_tab(file: Path, tmp_path: Path) -> None:
    out, status, tab = tmp_path / "release.csv", tmp_path / "why.csv", tmp_path / "t.tab"
    outcome = run("protect", "suppress", file, "--rule", "threshold=3", "-o", out, "--status", status, "--tab", tab)
    assert (outcome.code, outcome.err) == (0, "")
    assert "The audit finds it safe against outsiders." in outcome.out
    released = {(row["area"], row["age"]): row["count"] for row in rows_of(out)}
    assert sum(value == "x" for value in released.values()) == 4
    assert released["a", "x"] == "x"
    why = rows_of(status)
    assert [row["status"] for row in why if row["area"] == "a" and row["age"] == "x"] == ["primary"]
    assert all(row["reason"] for row in why if row["status"] != "published")
    assert {(r["area"], r["age"]) for r in why if r["status"] != "published"} == {
        key for key, value in released.items() if value == "x"
    }
    # What τ-ARGUS would read hides the same cells.
    assert run("audit", tab).code == 0
    assert run("audit", out).code == 0


def test_json_agrees_with_the_library(file: Path) -> None:
    outcome = run(
        "protect", "suppress", file, "--rule", "threshold=3", "--search", "optimal", "--cost", "cells", "--json"
    )
    data = json.loads(outcome.out)
    found = dc.suppress(table(), Threshold(3), method="optimal", cost="cells").pattern
    assert data["suppressed"] == {"primary": 1, "secondary": found.counts["secondary"]}
    assert (data["cost"], data["bound"], data["gap"], data["optimal"]) == (found.cost, found.bound, 0.0, True)
    assert data["method"] == "suppress"
    assert data["parameters"] == {"method": "optimal", "cost": "cells", "form": "marks"}


def test_apriori_levels_and_risk(file: Path, tmp_path: Path) -> None:
    wishes = tmp_path / "wishes.csv"
    wishes.write_text("area,age,status,cost,lower,upper\nb,y,publish,,,\nc,z,suppress,,2,2\n")
    out = tmp_path / "release.csv"
    assert (
        run(
            "protect",
            "suppress",
            file,
            "--apriori",
            wishes,
            "--rule",
            "threshold=3",
            "--protection-levels",
            "1",
            "-o",
            out,
        ).code
        == 0
    )
    released = {(row["area"], row["age"]): row["count"] for row in rows_of(out)}
    assert released["b", "y"] == "6"
    assert released["c", "z"] == "x"
    assert run("protect", "suppress", file, "--max-dr", "0.5", "-o", out).code == 0


def test_linked_tables_and_intervals(tmp_path: Path) -> None:
    first, second = tmp_path / "ab.csv", tmp_path / "ac.csv"
    dc.Table.from_array([[2, 7], [9, 30]], {"a": ["p", "q"], "b": ["u", "v"]}).write(first)
    dc.Table.from_array([[4, 5], [20, 19]], {"a": ["p", "q"], "c": ["x", "y"]}).write(second)
    out = tmp_path / "release.csv"
    outcome = run(
        "protect", "suppress", first, "--linked", second, "--rule", "threshold=3", "--as", "intervals", "-o", out
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    names = [tmp_path / "release-1.csv", tmp_path / "release-2.csv"]
    assert all(name.exists() for name in names)
    shown = [row for row in rows_of(names[0]) if row["lower"]]
    assert len(shown) == 4
    assert all(float(row["lower"]) < float(row["upper"]) for row in shown)


def test_nothing_is_written_when_it_is_refused(file: Path, tmp_path: Path) -> None:
    out, status = tmp_path / "release.csv", tmp_path / "why.csv"
    wishes = tmp_path / "wishes.csv"
    rows = [f"{r},{c},publish" for r in ("a", "b", "c", "Total") for c in ("x", "y", "z", "Total")]
    wishes.write_text("area,age,status\n" + "\n".join(row for row in rows if row != "a,x,publish") + "\n")
    reason = refused(
        run("protect", "suppress", file, "--rule", "threshold=3", "--apriori", wishes, "-o", out, "--status", status)
    )
    assert "cell area=a, age=x cannot be protected" in reason
    assert "while these are published" in reason
    assert not out.exists()
    assert not status.exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "nothing says which cells are sensitive"),
        (("--rule", "treshold=3"), "did you mean 'threshold'"),
        (("--rule", "threshold=three"), "--rule is 'threshold=three'"),
        (("--rule", "threshold=3", "--search", "best"), "--search is 'best'; give 'fast' or 'optimal'"),
        (("--rule", "threshold=3", "--protection-levels", "a"), "--protection-levels is 'a'"),
        (("--rule", "threshold=3", "--cost", "weight"), "there is no cost 'weight'"),
        (("--rule", "threshold=3", "--as", "dots"), "--as is 'dots'"),
        (("--rule", "p=10"), "the table has counts only"),
    ],
)
def test_bad_requests(file: Path, arguments: tuple[str, ...], reason: str) -> None:
    assert reason in refused(run("protect", "suppress", file, *arguments))
