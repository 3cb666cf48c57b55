"""Survey weights: every command that takes them publishes weighted estimates, or refuses them; none mixes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.cli.running import Outcome, run

import discreet as dc
from discreet.core.errors import DiscreetError, RequestError
from discreet.protect import METHODS
from discreet.table.figures import Figures
from discreet.table.release_reader import read_release

RECORDS = ("--by", "region,activity", "--value", "turnover", "--contributor", "firm", "--weight", "w")
# What each method needs to run at all; each reads the records, and all but those of counts publish sums.
COMMANDS: dict[str, tuple[Any, ...]] = {
    "suppress": ("--rule", "p=10", "--rule", "threshold=3"),
    "tabular-adjustment": ("--rule", "threshold=3"),
    "conventional-rounding": (),
    "random-rounding": (),
    "semi-controlled-rounding": (),
    "controlled-rounding": (),
    "small-count-rounding": (),
    "hide-and-round": (),
    "cell-key": (),
    "redesign": ("--merge", "region=south+east"),
    "random-sample": ("--sample-size", 20),
    "bernoulli-sample": ("--rate", 0.5),
    "table-swapping": ("--rate", 0.1),
}

NEEDED: dict[str, dict[str, Any]] = {
    "tabular-adjustment": {"rules": [dc.rules.Threshold(3)]},
    "random-sample": {"n": 20},
    "stratified-sample": {"by": "region", "fraction": 0.5},
    "bernoulli-sample": {"rate": 0.5},
    "record-swapping": {"area": "region"},
    "table-swapping": {"rate": 0.1},
    "redesign": {"groups": (("region", (("south", "rest"), ("east", "rest"))),)},
    "suppress": {"rules": [dc.rules.Threshold(3)]},
    "chain": {"steps": (dc.protect.TableSwapping(rate=0.1), dc.protect.RandomRounding(3))},
}


def firms() -> pd.DataFrame:
    rng = np.random.default_rng(9)
    regions, activities = ["north", "south", "east"], ["a", "b", "c", "d"]
    size = 120
    return pd.DataFrame(
        {
            "firm": [f"f{i}" for i in range(size)],
            "region": rng.choice(regions, size, p=[0.6, 0.3, 0.1]),
            "activity": rng.choice(activities, size, p=[0.5, 0.3, 0.15, 0.05]),
            "turnover": np.round(rng.lognormal(3, 1.5, size), 1),
            "w": np.round(rng.uniform(1, 9, size), 3),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    firms().to_csv("firms.csv", index=False)
    return tmp_path


def estimate() -> float:
    data = firms()
    return float((np.floor(data["turnover"] * data["w"] * 100 + 0.5) / 100).sum())


def total_of(path: str) -> float:
    rows = list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))
    found = [row for row in rows if row["region"] == row["activity"] == "Total"]
    return float(found[0]["value"])


def refused(found: Outcome, *words: str) -> None:
    assert found.code == 2
    for word in words:
        assert word in found.err.replace("\n", " ")
    assert not Path("out.csv").exists()


def test_suppression_publishes_protects_and_audits_the_weighted_total(folder: Path) -> None:
    found = run(
        "protect", "suppress", "firms.csv", *RECORDS, "--rule", "p=10", "--rule", "threshold=3", "-o", "out.csv"
    )
    assert found.code == 0, found.err
    assert total_of("out.csv") == pytest.approx(estimate())
    assert estimate() > 3 * firms()["turnover"].sum()
    audited = run("audit", "out.csv", "--count", "value", "--json")
    cells = json.loads(audited.out)["cells"]
    data = firms()
    data["x"] = np.floor(data["turnover"] * data["w"] * 100 + 0.5) / 100
    assert cells
    for cell in cells:
        place = cell["cell"]
        true = data[[(row == pd.Series(place)).all() for _, row in data[list(place)].iterrows()]]["x"].sum()
        assert cell["lower"] - 1e-6 <= true <= (np.inf if cell["upper"] is None else cell["upper"]) + 1e-6


def test_weighting_beforehand_gives_the_same_release(folder: Path) -> None:
    data = firms()
    data["turnover"] = np.floor(data["turnover"] * data["w"] * 100 + 0.5) / 100
    data.drop(columns="w").to_csv("weighted.csv", index=False)
    rules = ("--rule", "p=10", "--rule", "threshold=3")
    for command in (("protect", "suppress"), ("protect", "tabular-adjustment")):
        assert run(*command, "firms.csv", *RECORDS, *rules, "-o", "one.csv").code == 0
        assert run(*command, "weighted.csv", *RECORDS[:-2], *rules, "-o", "two.csv").code == 0
        assert Path("one.csv").read_text() == Path("two.csv").read_text()
        Path("one.csv").unlink()
        Path("two.csv").unlink()


@pytest.mark.parametrize("method", COMMANDS)
def test_every_protection_carries_weights_or_refuses_them(method: str, folder: Path) -> None:
    found = run("protect", method, "firms.csv", *RECORDS, *COMMANDS[method], "-o", "out.csv")
    if found.code == 0:
        assert total_of("out.csv") == pytest.approx(estimate(), rel=0.1)
    else:
        refused(found)
    counts = run("protect", method, "firms.csv", *RECORDS[:2], *RECORDS[-2:], *COMMANDS[method], "-o", "counts.csv")
    if counts.code == 0:
        assert total_of("counts.csv") == pytest.approx(firms()["w"].sum(), rel=0.1)
    else:
        assert counts.code == 2
        assert not Path("counts.csv").exists()


def test_assess_judges_and_releases_weighted_figures(folder: Path) -> None:
    given = ("assess", "firms.csv", *RECORDS, "--policy", "business", "--seed", 1, "--trial")
    found = run(*given, "-o", "out.csv", "--json", "--record", "firms.record.json")
    assert found.code == 0, found.err
    data = json.loads(found.out)
    assert data["verdict"] == "protect"
    assert total_of("out.csv") == pytest.approx(estimate())
    assert data["cells"]
    for cell in data["cells"]:
        upper = np.inf if cell["upper"] is None else cell["upper"]
        assert cell["lower"] - 1e-6 <= float(str(cell["original"]).replace(",", "")) <= upper + 1e-6
    assert run("replay", "firms.record.json").code == 0
    sampled = run(*given, "--population-size", 5000)
    assert sampled.code == 2
    assert "a sample is judged by its counts" in sampled.err


def test_compare_judges_weighted_figures(folder: Path) -> None:
    given = (
        "compare",
        "firms.csv",
        *RECORDS,
        "--policy",
        "business",
        "--method",
        "suppress",
        "--draws",
        2,
        "--seed",
        1,
    )
    found = run(*given, "--json", "--record", "firms.comparison.record.json")
    assert found.code == 0, found.err
    assert run("replay", "firms.comparison.record.json").code == 0
    data = firms()
    data["turnover"] = np.floor(data["turnover"] * data["w"] * 100 + 0.5) / 100
    data.drop(columns="w").to_csv("firms.csv", index=False)
    beforehand = run(*(word for word in given if word not in ("--weight", "w")), "--json")
    assert json.loads(found.out)["points"] == json.loads(beforehand.out)["points"]


def test_plain_and_weighted_figures_side_by_side_are_not_published(folder: Path) -> None:
    given = ("tabulate", "firms.csv", *RECORDS)
    assert run(*given, "-o", "both.parquet").code == 0
    told = ("estimates", "leave the weights out")
    refused(run(*given, "-o", "both.tab"), *told)
    assert not Path("both.tab").exists()
    refused(run("protect", "suppress", "both.parquet", "--rule", "p=10", "-o", "out.csv"), *told)
    refused(run("assess", "both.parquet", "--policy", "business", "-o", "out.csv"), *told)
    refused(run("compare", "both.parquet", "--policy", "business"), *told)
    refused(run("audit", "firms.csv", "--original", "both.parquet", "--dimensions", "region,activity"))
    refused(run("risk", "both.parquet"), *told)
    refused(run("estimate", "both.parquet", "--population-size", 5000), *told)
    for method, more in COMMANDS.items():
        refused(run("protect", method, "both.parquet", *more, "-o", "out.csv"))
    # The rules read both, and say which they judge.
    plain = run("rules", "both.parquet", "--rule", "p=10", "--json")
    weighted = run("rules", "both.parquet", "--rule", "p=10,weighted=yes", "--json")
    assert (plain.code, weighted.code) == (0, 0)
    assert json.loads(plain.out) != json.loads(weighted.out)
    assert run(*given, "--estimates", "-o", "estimates.parquet").code == 0
    assert run("protect", "suppress", "estimates.parquet", "--rule", "p=10", "-o", "out.csv").code == 0
    assert total_of("out.csv") == pytest.approx(estimate())
    found = run("rules", "estimates.parquet", "--rule", "p=10,weighted=yes")
    assert found.code == 2
    assert "weighted contributions" in " ".join(found.err.split())


def test_estimates_need_weights_and_record_keys_refuse_them(folder: Path) -> None:
    refused(run("tabulate", "firms.csv", *RECORDS[:-2], "--estimates", "-o", "out.csv"), "name the column of weights")
    Path("secret.txt").write_text("a secret of some length, for tests")
    keys = ("--secret", "secret.txt", "--identify", "firm")
    refused(run("protect", "cell-key", "firms.csv", *RECORDS, *keys, "-o", "out.csv"), "leave --weight out")
    refused(run("protect", "suppress", "firms.csv", "--weight", "w", "--rule", "p=10", "-o", "out.csv"), "--by")


def test_uniques_carry_weights(folder: Path) -> None:
    given = ("uniques", "firms.csv", "--by", "region,activity", "-N", round(firms()["w"].sum()), "--json")
    plain, weighted = (json.loads(run(*given, *more).out)["loglinear"] for more in ((), ("--weight", "w")))
    assert (plain["fitted_to"], weighted["fitted_to"]) == ("unweighted", "weighted")
    assert plain["tau1"] != weighted["tau1"]


def test_the_front_door_carries_weights_or_refuses_them() -> None:
    data, by = firms(), ["region", "activity"]
    given: dict[str, Any] = {"value": "turnover", "contributor": "firm", "weight": "w"}
    both = dc.tabulate(data, by, **given)
    assert both.weighted is not None
    counts = dc.tabulate(data, by, weight="w")
    for name, method in METHODS.items():
        made: Any = method(**NEEDED.get(name, {}))
        # Suppression has one door, which is audited and comes below.
        told = "one of them can be published" if name != "suppress" else "call discreet.suppress"
        with pytest.raises(RequestError, match=told):
            made.apply(counts, 1)
        with pytest.raises(DiscreetError):
            made.apply(both, 1)
    for work in (
        lambda: dc.suppress(both, [dc.rules.Threshold(3)]),
        lambda: dc.assess(both),
        lambda: dc.compare(both),
        lambda: Figures.of_tabulation(both),
    ):
        with pytest.raises(RequestError, match="only one of them can be published"):
            work()
    estimates = dc.tabulate(data, by, **given, estimates=True)
    assert estimates.responses[0].sums[0] == pytest.approx(estimate())
    assert estimates.weighted is None
    found = dc.assess(data, "business", by=by, **given, seed=1, trial=True)
    assert found.release is not None
    assert found.subject.amounts()[0] == pytest.approx(estimate())
    compared = dc.compare(data, ["suppress"], policy="business", by=by, **given, draws=2, audits=1, seed=1)
    assert compared.subject.amounts()[0] == pytest.approx(estimate())
    people = dc.tabulate(data, by, weight="w", estimates=True)
    assert people.responses[0].name == "w"
    assert people.responses[0].sums[0] == pytest.approx(data["w"].sum(), abs=1)


def test_sums_of_weights_without_end_add_up(tmp_path: Path) -> None:
    data = firms()
    data["w"] = 1 / 3 + np.arange(len(data)) / 7
    data["turnover"] *= 1e6
    cells = dc.tabulate(data, ["region", "activity"], value="turnover", weight="w", estimates=True)
    figures = Figures.of_tabulation(cells)
    assert figures.decimals <= 2
    release = dc.suppress(cells, [dc.rules.PPercent(10)]).release
    release.write(tmp_path / "r.csv", value="value")
    assert dc.audit(read_release(tmp_path / "r.csv", value="value")).verdict == "safe"
