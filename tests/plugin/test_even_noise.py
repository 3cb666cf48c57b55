"""A package of one file adds a protection with its kind, and everything knows it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import Outcome, refused, rows_of, start
from tests.plugin.adding import install
from tests.workbench.serving import serving

import discreet as dc

# What the tests share is made once, by the one process that runs them all.

Command = Callable[..., Outcome]
POINTS = {
    "discreet.protections": {"even-noise": "even_noise:EvenNoise"},
    "discreet.kinds": {"raised": "even_noise:Raised"},
}
BOUND = 4


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path on which Python finds the package."""
    source = Path(__file__).with_name("even_noise.py").read_text(encoding="utf-8")
    folder = install(tmp_path_factory.mktemp("site"), "even_noise", POINTS, source)
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(scope="module")
def command(path: str) -> Command:
    def run(*arguments: object) -> Outcome:
        return start(*arguments, PYTHONPATH=path, COLUMNS="200")

    return run


@pytest.fixture(scope="module")
def release(command: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("made") / "release.csv"
    done = command("protect", "even-noise", "--example", "religion", "--bound", BOUND, "-o", file)
    assert done.code == 0, done.err
    return file


def figures(release: Path) -> dict[tuple[str, str], int]:
    """Return what is published of each cell."""
    return {(row["output_area"], row["religion"]): int(row["count"]) for row in rows_of(release)}


def originals() -> dict[tuple[str, str], int]:
    """Return the true count of each cell."""
    table = dc.datasets.religion()
    areas, religions = (dimension.categories for dimension in table.dimensions)
    return {(areas[i], religions[j]): int(n) for (i, j), n in np.ndenumerate(table.to_array())}


def answer(outcome: Outcome) -> Any:
    assert outcome.code in (0, 1), outcome.err
    return json.loads(outcome.out)


def test_protect_has_a_command_made_from_its_fields(command: Command, release: Path) -> None:
    assert "even-noise" in command("protect", "--help").out
    told = command("protect", "even-noise", "--help").out
    assert "Raise every figure by 0 to a bound" in told
    assert "The largest noise. [default: 2]" in told
    rows = rows_of(release)
    assert {row["published_as"] for row in rows} == {f"raised bound={BOUND} rows={len(rows)}"}
    shown = figures(release)
    assert {shown[cell] - true for cell, true in originals().items()} == set(range(BOUND + 1))
    assert "raise figures by 1 or more" in refused(command("protect", "even-noise", "--example", "sex", "--bound", 0))


def test_audit_reads_the_kind_and_its_range(command: Command, release: Path) -> None:
    found = answer(command("audit", release, "--json"))
    shown, true = figures(release), originals()
    inner = {cell: one for one in found["cells"] if (cell := tuple(one["cell"].values())) in true}
    assert len(inner) > BOUND
    for cell, one in inner.items():
        assert max(shown[cell] - BOUND, 0) <= one["lower"] <= true[cell] <= one["upper"] <= shown[cell]
    assert any(f"raised by 0 to {BOUND}" in (one["proof"] or "") for one in found["cells"])


def test_a_reader_who_knows_the_method_is_told_its_law(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "alone.csv"
    file.write_text(f"x,count,published_as\na,20,raised bound={BOUND}\nb,2,raised bound={BOUND}\n", encoding="utf-8")
    found = answer(command("audit", file, "--law", "method", "--json"))
    assert {cell["cell"]["x"]: round(2 ** cell["bits"]) for cell in found["cells"]} == {"a": BOUND + 1, "b": 3}


def test_risk_judges_it_over_its_draws(command: Command) -> None:
    found = answer(command("risk", "--example", "religion", "--method", "even-noise:bound=3", "--draws", 50, "--json"))
    assert found["draws"] == 50
    assert found["parameters"] == {"bound": 3}


def test_compare_knows_it(command: Command, tmp_path: Path) -> None:
    asked = ["--method", "even-noise:bound=1", "--method", "even-noise:bound=3", "--draws", 20, "--audits", 1]
    found = answer(command("compare", "--example", "sex", *asked, "--record", tmp_path / "c.json", "--json"))
    points = [one for one in found["points"] if one["method"] == "even-noise"]
    assert [one["parameters"] for one in points] == [{"bound": 1}, {"bound": 3}]
    assert all(one["error"] is None and one["draws"] == 20 for one in points)


def test_assess_report_and_replay_know_it(command: Command, tmp_path: Path) -> None:
    record, report = tmp_path / "r.json", tmp_path / "r.html"
    asked = ("--method", f"even-noise:bound={BOUND}", "--record", record, "--report", report, "--json")
    found = answer(command("assess", "--example", "sex", *asked))
    assert found["protection"]["method"] == "even-noise"
    text = report.read_text(encoding="utf-8")
    assert "even-noise" in text
    assert f"raised by 0 to {BOUND}" in text
    again = command("replay", record)
    assert again.code == 0, again.err
    assert "the same to the byte" in again.out


def test_a_policy_can_list_it(command: Command, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[rules]\nthreshold = 3\n[limits]\n[[protections]]\nname = "even-noise"\nbound = 4\n', encoding="utf-8"
    )
    done = command("assess", "--example", "religion", "--policy", policy, "--record", tmp_path / "r.json", "--json")
    assert answer(done)["protection"]["method"] == "even-noise"


def test_the_ledger_keeps_it(command: Command, release: Path, tmp_path: Path) -> None:
    book = tmp_path / "book.ledger"
    assert command("ledger", "add", release, "--ledger", book, "--title", "Religion").code == 0
    found = command("ledger", "check", release, "--ledger", book, "--json")
    assert found.code in (0, 1), found.err


def test_the_workbench_offers_and_runs_it(path: str, tmp_path: Path) -> None:
    table = tmp_path / "religion.csv"
    dc.datasets.religion().write(table)
    with serving(table, env={"PYTHONPATH": path}) as server:
        offered = server.json("GET", "api/start")["commands"]["protect even-noise"]
        (bound,) = [one for one in offered["parameters"] if one["name"] == "bound"]
        assert (bound["flag"], bound["kind"], bound["default"]) == ("--bound", "integer", 2)
        job = server.run("protect even-noise", file="religion.csv", bound=3, output="release.csv")
        assert job["state"] == "done"
        assert job["result"]["parameters"] == {"bound": 3}


def test_without_the_package_its_figures_are_not_guessed_at(release: Path) -> None:
    assert "there is no kind of figure 'raised'" in refused(start("audit", release))
    asked = start("assess", "--example", "sex", "--method", "even-noise:bound=3")
    assert "there is no protection 'even-noise'" in refused(asked)
