from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.firms import firms
from tests.lengths import seeds

import discreet as dc
from discreet.core.errors import RequestError
from discreet.decide.compare import Comparison, efficient
from discreet.decide.compared_methods import grid_of
from discreet.decide.policy import Policy

GRID: list[Any] = [
    {"name": "random-rounding", "base": [3, 5]},
    "conventional-rounding:base=5",
    {"name": "small-count-rounding"},
]


TABLE = dc.Table.from_array(dc.datasets.religion().to_array()[:5, :5], ["area", "religion"])
"""A corner of the census table, small enough to be compared again and again."""


def compared(**more: Any) -> Comparison:
    return dc.compare(TABLE, GRID, **{"draws": 150, "audits": 2, "seed": 1, **more})


@pytest.fixture(scope="module")
def whole() -> Comparison:
    return compared()


@seeds(40, 200)
def test_the_frontier_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = [(float(r), float(u)) for r, u in rng.integers(0, 5, (int(rng.integers(1, 9)), 2)) / 4]
    found = {points[i] for i in efficient(points)}

    def beaten(a: tuple[float, float], b: tuple[float, float]) -> bool:
        return b[0] <= a[0] and b[1] >= a[1] and b != a

    assert found == {a for a in points if not any(beaten(a, b) for b in points)}
    assert [points[i][1] for i in efficient(points)] == sorted(points[i][1] for i in efficient(points))


def test_figures_are_those_of_the_single_functions(whole: Comparison) -> None:
    table, found = TABLE, whole
    by_title = {point.point.title: point for point in found.points}
    fixed = by_title["conventional-rounding, base 5"]
    release = dc.protect.conventional_rounding(table, 5)
    assert fixed.figure("r2") == dc.risk(table, release).value
    assert fixed.figure("utility") == dc.information_loss(table, release).utility
    assert fixed.figures["r2"] is not None
    assert fixed.figures["r2"].mc_error == 0
    drawn = by_title["random-rounding, base 3"]
    expected = dc.expected_risk(table, dc.protect.RandomRounding(3), draws=2000, seed=5)
    for name, other in (
        ("r2", expected.risk),
        ("utility", expected.utility),
        ("mean_absolute_error", expected.mean_absolute_error),
    ):
        one = drawn.figures[name]
        assert one is not None
        assert one.mc_error > 0
        assert abs(one.mean - other.mean) < 5 * np.hypot(one.mc_error, other.mc_error)
    none = by_title["none (as it is)"]
    assert none.figure("r2") == pytest.approx(dc.risk(table).value, abs=1e-12)
    assert none.figure("determined") == 1
    assert none.figure("worst_dr") == np.inf


def test_the_recommendation_meets_the_policy_at_the_highest_utility(whole: Comparison) -> None:
    found = whole
    best = found.recommended
    assert best is not None
    fit = [point for point in found.points if not point.faults]
    assert found.points[best].figure("utility") == max(point.figure("utility") or 0 for point in fit)
    assert 0 < len(fit) < len(found.points)
    strict = compared(policy=Policy.from_text('extends = "default"\n[limits]\nr2 = 0.01'))
    assert strict.recommended is None
    assert "none of them meets" in strict.sentence
    assert all("R2 of" in " ".join(point.faults) for point in strict.points)


def test_results_do_not_depend_on_workers_order_or_company(whole: Comparison) -> None:
    first, second = compared(workers=1), compared(workers=2)
    assert json.dumps(first.to_dict()) == json.dumps(whole.to_dict())
    assert json.dumps(first.to_dict()) == json.dumps(second.to_dict())
    alone = dc.compare(TABLE, GRID[:1], draws=150, audits=2, seed=1)
    assert [p.to_dict() for p in alone.points] == [p.to_dict() for p in first.points[:3]]
    assert compared(seed=2).points[1] != first.points[1]


def test_an_interrupted_comparison_goes_on_where_it_stopped(tmp_path: Path, whole: Comparison) -> None:
    done: list[tuple[int, int]] = []

    def stop(count: int, total: int, label: str) -> None:
        done.append((count, total))
        if count == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compared(resume=tmp_path, progress=stop, workers=1)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 3
    assert not [file for file in kept if file.suffix == ".part"]
    stamps = {file: file.stat().st_mtime_ns for file in kept}
    again = compared(resume=tmp_path)
    assert json.dumps(again.to_dict()) == json.dumps(whole.to_dict())
    assert {file: file.stat().st_mtime_ns for file in kept} == stamps
    kept[0].write_text("{ damaged", encoding="utf-8")
    assert json.dumps(compared(resume=tmp_path).to_dict()) == json.dumps(whole.to_dict())
    before = len(list(tmp_path.iterdir()))
    compared(resume=tmp_path, seed=2)
    assert len(list(tmp_path.iterdir())) == 2 * before


def test_what_was_kept_belongs_to_one_table_and_one_set_of_rules(tmp_path: Path) -> None:
    compared(resume=tmp_path)
    count = len(list(tmp_path.iterdir()))
    compared(resume=tmp_path, policy=Policy.from_text('extends = "default"\ntitle = "the same"'))
    assert len(list(tmp_path.iterdir())) == count
    compared(resume=tmp_path, policy=Policy.from_text('extends = "default"\n[rules]\nthreshold = 4'))
    assert len(list(tmp_path.iterdir())) == 2 * count


def test_a_killed_comparison_leaves_whole_files_only(tmp_path: Path) -> None:
    code = (
        "import discreet as dc, sys, os\n"
        "n = 0\n"
        "def stop(done, total, label):\n"
        "    if done == 2: os.kill(os.getpid(), 9)\n"
        "dc.compare(dc.datasets.sex(), [{'name': 'random-rounding', 'base': [3, 5, 10]}], draws=50, audits=1, seed=1,"
        f" resume={str(tmp_path)!r}, progress=stop, workers=1)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    kept = list(tmp_path.glob("*.json"))
    assert len(kept) == 2
    for file in kept:
        json.loads(file.read_text(encoding="utf-8"))


def test_a_method_that_cannot_be_applied_says_why() -> None:
    found = dc.compare(
        dc.datasets.sex(),
        ['redesign:merge={"nothing":{"a":["b"]}}'][:0] or [{"name": "redesign", "merge": {"colour": {"x": ["1"]}}}],
        seed=1,
    )
    assert "colour" in found.points[1].error
    assert found.points[1].faults == (found.points[1].error,)
    json.dumps(found.to_dict(), allow_nan=False)


def test_grids_are_products_and_come_from_files(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text('[[methods]]\nname = "cell-key"\nbound = [3, 5]\nvariance = [1, 2]\n', encoding="utf-8")
    found = dc.compare(dc.datasets.sex(), file, draws=20, audits=1, seed=1)
    titles = [point.point.title for point in found.points[1:]]
    assert titles == [f"cell-key, bound {b}, variance {v}" for b, v in product([3, 5], [1, 2])]
    file.write_text("[[method]]\n", encoding="utf-8")
    with pytest.raises(RequestError, match="a grid has"):
        dc.compare(dc.datasets.sex(), file)
    for wrong in ([{"base": 3}], ["random-rounding:basis=3"], ["roundin"], [3], []):
        with pytest.raises(RequestError):
            dc.compare(dc.datasets.sex(), wrong)
    with pytest.raises(RequestError, match="draws is 1"):
        dc.compare(dc.datasets.sex(), draws=1)


def test_faces(whole: Comparison) -> None:
    found = whole
    assert "take this" in str(found)
    rows = found.to_csv().splitlines()
    assert len(rows) == 1 + len(found.points)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["kind"] == "comparison"
    assert [point["recommended"] for point in data["points"]].count(True) == 1
    assert [i for i, point in enumerate(data["points"]) if point["efficient"]] == sorted(found.frontier)


@pytest.mark.parametrize(
    "name", ["sex", *(pytest.param(n, marks=pytest.mark.long) for n in ("country_of_birth", "mode_of_travel"))]
)
def test_the_usual_protections_of_the_census_tables(name: str) -> None:
    found = dc.compare(dc.datasets.load(name), draws=50, audits=1, seed=1)
    assert len(found.points) > 10
    assert found.recommended is not None
    assert not [point.error for point in found.points if point.error]


def test_what_leaves_figures_nearly_unchanged_is_not_recommended() -> None:
    two = dc.Table.from_array([[7, 2], [8, 9]], ["a", "b"])
    for table in (dc.datasets.religion(), two):
        found = dc.compare(table, draws=20, audits=1, seed=1)
        sampled = next(p for p in found.points if p.point.title == "bernoulli-sample, rate 0.9")
        assert "the disclosure risk cannot be shown" in sampled.faults
        # Being protected tells on a table of four cells: an assessment withholds it, and nothing is recommended.
        assert (found.recommended is None) == (table is two)
        if found.recommended is not None:
            best = found.points[found.recommended].point
            assert found.policy.proposes(best.name, dict(best.parameters), False)
            # One that the policy does not list keeps more; the sentence says so.
            assert "random-rounding, base 3 also meets the policy" in found.sentence


def test_a_method_that_is_listed_for_magnitudes_only_is_not_allowed_for_counts() -> None:
    text = 'allow = "listed"\n[rules]\nthreshold = 3\n[[protections]]\nname = "suppress"\nonly = "magnitudes"\n'
    found = dc.compare(dc.datasets.religion(), ["suppress"], policy=Policy.from_text(text), seed=1)
    assert found.recommended is None
    assert "does not allow suppress" in found.points[1].faults[0]
    judged = dc.assess(dc.datasets.religion(), Policy.from_text(text), protection="suppress", seed=1, trial=True)
    assert judged.verdict == "withhold"


@pytest.mark.parametrize(
    ("which", "policy"),
    [
        pytest.param(which, policy, marks=pytest.mark.long if which == "religion" and policy != "default" else ())
        for which in ("religion", "sex", "firms")
        for policy in ("default", "census", "business", "health", "safe-output")
    ],
)
def test_assess_and_compare_recommend_the_same(which: str, policy: str) -> None:
    table: Any = getattr(dc.datasets, which)() if which != "firms" else dc.tabulate(
        firms(300).assign(section=lambda f: f["activity"].str[0]), ["section"], value="turnover", contributor="firm"
    )  # fmt: skip
    assessed = dc.assess(table, policy, seed=2**100)
    compared = dc.compare(table, policy=policy, draws=4, audits=1, seed=1)
    best = compared.recommended
    if assessed.verdict == "withhold":
        assert best is None
    else:
        assert best is not None
        assert assessed.release is not None
        point = compared.points[best].point
        assert point.name == assessed.release.method
        stated = {**dict(assessed.release.parameters), "additive": None}
        assert all(stated[key] == value for key, value in point.parameters.items() if stated.get(key) is not None)


def test_one_method_is_a_grid_like_a_list_of_it() -> None:
    method = dc.protect.RandomRounding(3)
    assert grid_of(method, Policy(), False) == grid_of([method], Policy(), False)
    with pytest.raises(RequestError, match="a int is not a method"):
        grid_of(3, Policy(), False)


def test_a_grid_of_ones_own_is_judged_by_what_it_keeps() -> None:
    found = dc.compare(dc.datasets.religion(), ["random-rounding:base=5", "random-rounding:base=10"], draws=4, seed=1)
    assert found.recommended == 1
    assert "keeps most of the table" in found.sentence


def test_the_worst_risk_is_the_one_that_the_policy_objects_to() -> None:
    table = dc.Table.from_array(
        [[812, 145, 31], [640, 98, 2], [455, 61, 14], [390, 73, 1]], {"area": list("nsew"), "health": list("gfb")}
    )
    grid = ["cell-key:bound=3,variance=1.5", "conventional-rounding:base=3", "small-count-rounding:base=3"]
    found = dc.compare(table, grid, draws=20, audits=8, seed=2**100)
    objected = {point.point.title: " ".join(point.faults) for point in found.points}
    assert "the disclosure risk is unbounded, as a value is known" in objected["none (as it is)"]
    checked = 0
    for point in found.points:
        told = re.search(r"a disclosure risk of ([\d.]+) is above", " ".join(point.faults))
        if told:
            assert float(point.worst_dr) == pytest.approx(float(told[1]), abs=6e-4)
            checked += 1
        # Infinite is what is known; what is not shown has no figure.
        assert (point.worst_dr == "∞") == bool(point.extremes["known"])
        assert (point.worst_dr == "–") == ("the disclosure risk cannot be shown" in point.faults)
    assert checked > 1
