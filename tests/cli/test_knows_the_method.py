"""What the command line says to a reader who knows the method and how it was chosen is what Python says, and holds."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import pytest
from tests.cli.running import run

import discreet as dc


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(counts: list[int], file: str = "t.csv") -> None:
    rows = [f"{label},{count}" for label, count in zip("abcdefgh", counts, strict=False)]
    Path(file).write_text("\n".join(["x,count", *rows]) + "\n", encoding="utf-8")


@pytest.mark.parametrize("method", ["controlled-rounding:base=3", "small-count-rounding:base=3"])
def test_no_risk_is_claimed_of_methods_that_look_at_all_cells(method: str) -> None:
    write([1, 2, 0, 9, 14, 7])
    told = run("assess", "t.csv", "--method", method)
    assert told.code == 1
    text = " ".join(told.out.split())
    assert "to a reader who knows the method cannot be shown" in text
    assert "disclosure risk 1/H of a sensitive cell to a reader who knows the method is" not in text
    found = dc.assess("t.csv", protection=method)
    assert found.verdict == "withhold"
    assert [check.name for check in found.checks if not check.passed] == ["dr"]


def chance(count: int, printed: int) -> float:
    """Return how likely random rounding to base 3 prints a figure."""
    low = count // 3 * 3
    return {low: (3 - count + low) / 3, low + 3: (count - low) / 3}.get(printed, 0.0)


def entropy(weights: dict[int, float]) -> float:
    total = sum(weights.values())
    return -sum(w / total * math.log2(w / total) for w in weights.values() if w)


def test_a_risk_with_margins_is_joint() -> None:
    write([1, 4, 2])
    assert run("protect", "random-rounding", "t.csv", "--with-margins", "--seed", 5, "--trial", "-o", "r.csv").code == 0
    rows = [line.replace('"', "").split(",") for line in Path("r.csv").read_text(encoding="utf-8").splitlines()[1:]]
    printed = {row[0]: int(row[1]) for row in rows}
    total = printed.pop("Total")
    left: list[dict[int, float]] = [{} for _ in printed]
    for counts in product(*(range(max(y - 2, 0), y + 3) for y in printed.values())):
        weight = math.prod(map(chance, counts, printed.values())) * chance(sum(counts), total)
        for one, count in zip(left, counts, strict=True):
            one[count] = one.get(count, 0.0) + weight
    told = json.loads(run("audit", "r.csv", "--law", "method", "--json").out)["cells"]
    bits = {next(iter(cell["cell"].values())): cell["bits"] for cell in told}
    asked = {next(iter(cell.cell.values())): cell.bits for cell in dc.audit("r.csv", law="method").cells}
    for label, one in zip(printed, left, strict=True):
        assert bits[label] == pytest.approx(entropy(one)) == asked[label]


def test_that_a_table_was_protected_tells_that_it_holds_a_small_count() -> None:
    """Of 1, 9, 12 only the first can be small: it is 1 or 2, once readers know that there is one."""
    write([1, 9, 12])
    rules = '[rules]\nthreshold = 3\np_percent = "none"\n[limits]\ndr = 0.7\nr2 = "none"\n'
    protection = '[[protections]]\nname = "random-rounding"\nbase = 3\nadditive = true\n'
    for as_is, verdict in (("if-safe", "withhold"), ("never", "protect")):
        head = "" if as_is == "if-safe" else f'as_is = "{as_is}"\n'
        Path("p.toml").write_text(head + rules + protection, encoding="utf-8")
        told = run("assess", "t.csv", "--policy", "p.toml", "--json")
        assert told.code == (verdict == "withhold")
        assert json.loads(told.out)["verdict"] == dc.assess("t.csv", "p.toml").verdict == verdict


def test_what_was_known_before_is_bounded_by_rounded_figures_too() -> None:
    write([1, 4, 2])
    assert run("protect", "random-rounding", "t.csv", "--seed", 5, "--trial", "-o", "r.csv").code == 0
    told = [cell["prior_dr"] for cell in json.loads(run("audit", "r.csv", "--json").out)["cells"]]
    assert told == [cell.prior_dr for cell in dc.audit("r.csv").cells]
    assert all(one is not None for one in told)
