from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import run
from tests.plain import data_of

import discreet as dc
from discreet.core.errors import DataError, RequestError
from discreet.decide.policy import Policy
from discreet.decide.policy_texts import profiles
from discreet.decide.verdict import RANK
from discreet.protect import METHODS
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release import Release
from discreet.table.tabulation import Tabulation

CENSUS = ("country_of_birth", "mode_of_travel", "sex", "religion")
CORNER = dc.Table.from_array(dc.datasets.religion().to_array()[:5, :5], ["area", "religion"])
"""A part of a census table, for tests that judge it several times."""


def policy(**parts: Any) -> Policy:
    methods = [{"name": "random-rounding", "base": 3}, {"name": "random-rounding", "base": 5}]
    return Policy.model_validate({"protections": methods, **parts})


@pytest.mark.parametrize("name", CENSUS)
def test_the_census_tables_get_a_verdict_with_reasons(name: str) -> None:
    table = dc.datasets.load(name)
    found = dc.assess(table, seed=1, trial=True, name=name)
    small = int(((table.counts > 0) & (table.counts < 3)).sum())
    assert found.verdict == ("protect" if small else "release")
    assert found.before is not None
    assert found.before.value == dc.risk(table).value
    assert found.evidence is not None
    assert found.evidence.risk is not None
    assert found.evidence.risk.value <= found.before.value
    assert found.reasons
    assert found.verdict in str(found).lower()
    for one in found.checks:
        assert f"\n {'✓' if one.passed else '✗'} {one.text}" in str(found)
    json.dumps(data_of(found), allow_nan=False)
    if small:
        assert found.release is not None
        assert found.evidence.utility == dc.information_loss(table, found.release).utility
        assert dc.audit(found.release).verdict == "safe"


def tables() -> st.SearchStrategy[dc.Table]:
    cell = st.integers(0, 6)
    rows = st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(cell, min_size=3, max_size=3), min_size=n, max_size=n))
    return rows.filter(lambda r: np.sum(r) > 0).map(lambda r: dc.Table.from_array(r, ["a", "b"]))


@settings(max_examples=25, deadline=None)
@given(table=tables(), threshold=st.integers(1, 8), zeros=st.sampled_from(["safe", "unsafe"]))
def test_a_table_with_a_sensitive_cell_is_never_released_as_it_is(table: dc.Table, threshold: int, zeros: str) -> None:
    rules = policy(rules={"threshold": threshold}, zeros=zeros)
    cells = Tabulation.from_table(table).with_empty_cells()
    sensitive = dc.sensitivity(cells, rules.judges_of(cells)).cells.size
    for protection in ("none", "propose", dc.Release(table)):
        found = dc.assess(table, rules, protection=protection, seed=1, trial=True)
        assert (found.verdict == "release") == (sensitive == 0)
        if found.verdict == "release":
            assert found.release is not None
            assert found.release.table == table


PAIRS = given(
    table=tables(),
    threshold=st.integers(1, 6),
    more=st.integers(0, 5),
    r2=st.floats(0.01, 1),
    share=st.floats(0.1, 1),
    dr=st.floats(0.2, 3),
    width=st.integers(0, 5),
    wider=st.integers(0, 5),
    fewer=st.booleans(),
    zeros=st.booleans(),
    group=st.booleans(),
    seed=st.integers(0, 5),
)


def never_better(
    table: dc.Table,
    threshold: int,
    more: int,
    r2: float,
    share: float,
    dr: float,
    width: int,
    wider: int,
    fewer: bool,
    zeros: bool,
    group: bool,
    seed: int,
) -> None:
    loose = policy(rules={"threshold": threshold}, limits={"r2": r2, "dr": dr, "width": width})
    rules: dict[str, Any] = {"threshold": threshold + more} | ({"group_disclosure": 0} if group else {})
    limits = {"r2": max(r2 * share, 1e-6), "dr": dr * share, "width": width + wider}
    strict = policy(rules=rules, limits=limits, zeros="unsafe" if zeros else "safe")
    if fewer:
        strict = strict.model_copy(update={"protections": strict.protections[:1]})
    rounded = dc.protect.random_rounding(table, 3, seed=seed)
    for protection in ("propose", "none", "random-rounding:base=3", rounded):
        # Being protected tells less under a rule that calls more cells sensitive; tables protected alike tell nothing.
        alike = {"as_is": "never"} if protection == "propose" else {}
        before, after = (
            dc.assess(table, one.model_copy(update=alike), protection=protection, seed=seed, trial=True).verdict
            for one in (loose, strict)
        )
        assert RANK[after] >= RANK[before], (protection, before, after)
    hiding = [{"name": "suppress", "insiders": "none"}]
    loose, strict = (Policy.model_validate({**data_of(one), "protections": hiding}) for one in (loose, strict))
    # Other rules hide other cells, so that a release may follow from stricter ones; the table as it is never does.
    verdicts = [dc.assess(table, one, seed=seed, trial=True).verdict for one in (loose, strict)]
    assert verdicts[1] != "release" or verdicts[0] == "release"


@settings(max_examples=8, deadline=None)
@PAIRS
def test_a_stricter_policy_never_turns_a_verdict_to_the_better(**case: Any) -> None:
    never_better(**case)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@PAIRS
def test_a_stricter_policy_never_turns_a_verdict_to_the_better_in_many_cases(**case: Any) -> None:
    never_better(**case)


def test_worst_cells_come_first_each_with_its_proof() -> None:
    both = {"row": ["1", "2", "3", "Total"], "column": ["1", "2", "Total"]}
    table = dc.Table.from_array([[5, 2], [1, 2], [3, 3]], {"row": ["1", "2", "3"], "column": ["1", "2"]})
    shown = dc.Figures.from_array([[5, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both)
    found = dc.assess(table, policy(rules={"threshold": 3}), protection=dc.Release.of(shown))
    assert found.verdict == "withhold"
    assert found.release is None
    cells = found.cells()
    assert {cell["name"] for cell in cells} == {"row=1, column=2", "row=2, column=1", "row=2, column=2"}
    for cell in cells:
        assert cell["state"] == "determined"
        assert cell["lower"] == cell["upper"] == cell["original"]
        assert cell["proof"]
    assert "can be worked out exactly" in found.reasons[0]
    exact = dc.assess(table, policy(rules={"threshold": 3}), protection="none")
    assert [cell["proof"] for cell in exact.cells(1)] == ["published as 1"]


def test_a_margin_that_is_not_published_is_judged_through_its_cells() -> None:
    table = dc.Table.from_array([[1, 1], [9, 9]], ["a", "b"])
    found = dc.assess(table, policy(rules={"threshold": 3}), protection="random-rounding:base=3", seed=1, trial=True)
    margin = next(cell for cell in found.cells() if cell["name"] == "a=1")
    assert margin["state"] == "interval"
    assert margin["published"] == "not published"
    inner = [cell for cell in found.cells() if cell["name"].startswith("a=1, ")]
    assert margin["upper"] == sum(cell["upper"] for cell in inner)


def brute_force_interval(base: int, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Enumerate every count that rounds up or down to each released one; return the smallest and the largest."""
    fits = {
        shown: [count for count in range(shown + 2 * base) if shown in (count // base * base, -(-count // base) * base)]
        for shown in np.unique(released).tolist()
    }
    return np.vectorize(lambda shown: min(fits[shown]))(released), np.vectorize(lambda shown: max(fits[shown]))(
        released
    )


def test_intervals_of_rounded_cells_are_those_of_brute_force() -> None:
    table = dc.datasets.religion()
    found = dc.assess(table, policy(rules={"threshold": 3}), protection="random-rounding:base=3", seed=4, trial=True)
    assert found.release is not None
    lower, upper = brute_force_interval(3, found.release.table.to_array())
    for cell in found.cells(None):
        codes = [table.dimensions[i].code(label) for i, label in enumerate(cell["cell"].values())]
        assert (cell["lower"], cell["upper"]) == (lower[*codes], upper[*codes])


def test_a_method_that_the_policy_does_not_allow_is_never_enough() -> None:
    table = CORNER
    found = dc.assess(table, policy(rules={"threshold": 3}), protection="small-count-rounding")
    assert found.verdict == "withhold"
    assert "does not allow small-count-rounding" in found.reasons[0]
    assert (
        dc.assess(table, policy(rules={"threshold": 3}, allow="any"), protection="small-count-rounding").verdict
        == "protect"
    )
    compared = dc.compare(table, ["small-count-rounding"], policy=policy(rules={"threshold": 3}), draws=4, seed=1)
    assert compared.recommended is None


def test_margins_alone_are_judged_by_what_they_leave_of_the_cells() -> None:
    table = dc.Table.from_array([[1, 0], [5, 9]], ["a", "b"])
    for name, margins, verdict in (("a", [1, 14], "withhold"), ("b", [6, 9], "release")):
        shown = dc.Figures.from_array(margins, {name: ["1", "2"]})
        found = dc.assess(table, policy(rules={"threshold": 2}), protection=dc.Release.of(shown))
        cell = next(cell for cell in found.cells() if cell["name"] == "a=1, b=1")
        assert (cell["lower"], cell["upper"]) == (0, margins[0])
        assert found.verdict == verdict


def test_cells_that_cannot_occur_are_not_sensitive() -> None:
    table = dc.Table.from_array([[5, 0], [5, 9]], ["a", "b"])
    assert dc.assess(table, policy(zeros="unsafe"), protection="none").verdict == "withhold"
    known = table.with_structural_zeros([{"a": "1", "b": "2"}])
    assert dc.assess(known, policy(zeros="unsafe"), protection="none").verdict == "release"


def test_group_disclosure_makes_a_cell_sensitive() -> None:
    table = dc.Table.from_array([[0, 9], [8, 9]], ["a", "b"])
    assert dc.assess(table, policy(rules={"threshold": 3}), protection="none").verdict == "release"
    found = dc.assess(table, policy(rules={"threshold": 3, "group_disclosure": 0}), protection="none")
    assert found.verdict == "withhold"
    assert {"a=1, b=2"} <= {cell["name"] for cell in found.cells()}


@pytest.mark.parametrize("backend", [pd, pl])
def test_frames_come_back_as_they_came(backend: Any) -> None:
    long = backend.DataFrame({"area": ["n", "n", "s", "s"], "sex": ["m", "f", "m", "f"], "count": [1, 8, 9, 7]})
    found = dc.assess(long, policy(rules={"threshold": 3}), seed=1, trial=True)
    assert found.verdict == "protect"
    back = found.to_frame()
    assert type(back) is type(long)
    assert set(back.columns) == {"area", "sex", "count"}
    assert found.release is not None
    assert int(back["count"].sum()) == found.release.table.total
    assert all(value % 3 == 0 for value in back["count"].to_list())


def test_records_without_any_option_are_counted(tmp_path: Path) -> None:
    people = pd.DataFrame({"area": ["n"] * 9 + ["s"] * 9 + ["n"], "ill": ["no"] * 9 + ["yes"] * 9 + ["yes"]})
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    for handed in (people, file, str(file)):
        found = dc.assess(handed, policy(rules={"threshold": 3}), seed=1, trial=True)
        assert found.verdict == "protect"
        assert found.subject.table is not None
        assert found.subject.table.total == 19
        assert found.source is not None
        assert "counted by area, ill" in found.source.note


def test_what_cannot_be_assessed_is_refused(tmp_path: Path) -> None:
    table = dc.datasets.sex()
    with pytest.raises(RequestError, match="there is no protection 'random-roundin'"):
        dc.assess(table, protection="random-roundin:base=3")
    with pytest.raises(RequestError, match="no parameter 'basis'"):
        dc.assess(table, protection={"name": "random-rounding", "basis": 3})
    with pytest.raises(RequestError, match="is not NAME:KEY=VALUE"):
        dc.assess(table, protection="random-rounding:3")
    with pytest.raises(RequestError, match="does not exist"):
        dc.assess(tmp_path / "none.csv")
    with pytest.raises(RequestError, match="a table is given"):
        dc.assess(table, by=["sex"])
    with pytest.raises(RequestError, match="seed is -1"):
        dc.assess(table, seed=-1)
    marks = tmp_path / "published.csv"
    marks.write_text("a,b,count\n1,1,x\n1,2,5\n", encoding="utf-8")
    with pytest.raises(DataError, match="'x'"):
        dc.assess(marks)
    with pytest.raises((DataError, RequestError)):
        dc.assess(pd.DataFrame({"id": range(200), "x": np.arange(200) * 1.5}))


def test_the_same_seed_gives_the_same_bytes_whatever_the_workers() -> None:
    table = dc.datasets.religion()
    first, second = (data_of(dc.assess(table, seed=7, trial=True, workers=n)) for n in (1, 2))
    assert json.dumps(first) == json.dumps(second)
    other = data_of(dc.assess(table, seed=8, trial=True))
    assert other["release"] != first["release"]
    drawn = dc.assess(table)
    again = dc.assess(table, seed=drawn.record["request"]["seed"])
    assert data_of(again)["release"] == data_of(drawn)["release"]


def test_the_release_holds_no_seed_and_no_original_figure() -> None:
    table = dc.Table.from_array([[1, 5], [8, 13]], ["a", "b"])
    data: Any = dc.assess(
        table, policy(rules={"threshold": 3}), protection="random-rounding:base=3", seed=3, trial=True
    ).to_dict()
    assert "seed" not in json.dumps(data["release"])
    shown = {value for part in data["release"]["figures"] for value in part["values"]}
    assert not shown & {1, 5, 8, 13}


def test_every_method_of_the_registry_is_found_by_name() -> None:
    from discreet.decide.protections import make_method

    needed: dict[str, dict[str, Any]] = {
        "random-sample": {"n": 5},
        "stratified-sample": {"by": "a", "fraction": 0.5},
        "bernoulli-sample": {"rate": 0.5},
        "record-swapping": {"area": "a"},
        "redesign": {"merge": {"a": {"1+2": ["1", "2"]}}},
        "chain": {"steps": ["table-swapping:rate=0.1", {"name": "random-rounding", "base": 3}]},
    }
    for name in METHODS:
        method = make_method(name, needed.get(name, {}), (dc.rules.Threshold(3),))
        assert method.name == name
        if name in needed:
            with pytest.raises(RequestError):
                make_method(name, {}, (dc.rules.Threshold(3),))


@pytest.mark.parametrize(
    "protection", ["bernoulli-sample:rate=0.95", "table-swapping:rate=0.02", "cell-key:bound=5,variance=0.01"]
)
def test_what_is_published_nearly_unchanged_is_withheld(protection: str) -> None:
    found = dc.assess(dc.datasets.religion(), protection=protection, seed=1, trial=True)
    assert found.verdict == "withhold"
    assert [one.name for one in found.checks if not one.passed] == ["dr"]
    assert "to a reader who knows the method" in found.reasons[0]


@pytest.mark.parametrize("profile", list(profiles()))
@pytest.mark.parametrize("name", dc.datasets.NAMES)
def test_the_protections_of_a_profile_meet_it(profile: str, name: str) -> None:
    found = dc.assess(dc.datasets.load(name), profile, seed=5, trial=True)
    if (profile, name) == ("business", "country_of_birth"):
        # Suppression shows zeros, and with them that all people of one country live in one area.
        assert [one.name for one in found.checks if not one.passed] == ["lines"]
        return
    assert found.verdict == ("release" if name == "sex" else "protect")
    if found.verdict == "release":
        return
    tried = [one for one in found.candidates if one.utility is not None]
    # The first that meets the policy is taken, and those behind it are not looked at.
    assert [one.meets for one in tried] == [False] * (len(tried) - 1) + [True], [one.text for one in tried]
    left = [one.text for one in found.candidates if one.utility is None]
    assert all("not tried" in text for text in left)


@pytest.mark.parametrize("profile", list(profiles()))
def test_most_tables_of_generated_records_can_be_released(profile: str) -> None:
    rng = np.random.default_rng(7)
    verdicts = []
    for seed in range(8):
        people = 400
        shares = [rng.dirichlet(np.full(k, 2.0)) for k in (5, 6)]
        columns = {name: rng.choice(p.size, people, p=p).astype(str) for name, p in zip("ab", shares, strict=True)}
        cells = dc.tabulate(pd.DataFrame(columns), by=["a", "b"], engine="reference", workers=1)
        verdicts.append(dc.assess(cells, profile, seed=seed, trial=True).verdict)
    assert "protect" in verdicts
    assert verdicts.count("withhold") <= 1, verdicts


def test_disclosure_risk_is_stated_only_where_it_is_shown() -> None:
    table = dc.datasets.religion()
    for protection, shown in (
        ("random-rounding:base=3,additive=true", True),
        ("cell-key:bound=5,variance=3,additive=true", True),
        ("small-count-rounding:base=3", False),
        ("controlled-rounding:base=3", False),
        ("suppress", False),
        ("bernoulli-sample:rate=0.95", False),
    ):
        found = dc.assess(table, protection=protection, seed=1, trial=True, time_limit=3600)
        assert found.evidence is not None
        assert bool(np.isnan(found.evidence.known.bits).any()) != shown, protection
        assert found.verdict == ("protect" if shown else "withhold"), protection
        (risk,) = (one for one in found.checks if one.name == "dr")
        assert risk.passed == shown
        assert risk.reader == "method"
        assert ("cannot be shown" in risk.text) != shown
        if shown:
            assert risk.value is not None
            (printed,) = re.findall(r"is (?:at most )?(\d\.\d{4}); the limit", risk.text)
            assert 0 <= float(printed) - risk.value < 1e-4, "what is said to be the most is rounded up"


@pytest.mark.parametrize(
    ("protection", "seen"),
    [
        ("suppress", True),
        ("hide-and-round:limit=3,base=5", True),
        ("random-rounding:base=3", False),
        ("conventional-rounding:base=3", False),
    ],
)
def test_a_line_that_readers_see_to_have_all_its_people_in_one_cell_is_not_safe(protection: str, seen: bool) -> None:
    """Where nobody of area n is printed beside a hidden count, everybody there is: that count need not be known."""
    asked = policy(as_is="never", rules={"threshold": 3, "group_disclosure": 0})
    areas, sexes = {"area": list("nsw"), "sex": list("mf")}, np.array([[14, 0], [20, 11], [9, 30]])
    found = dc.assess(dc.Table.from_array(sexes, areas), asked, protection=protection, seed=1, trial=True)
    (line,) = (one for one in found.checks if one.name == "lines")
    assert line.passed != seen
    assert ("1 cell holds everybody in its line; readers see that it does" in found.reasons) == seen
    # A line of sums that the release may not print: everybody of area n has sex m, at either age.
    ages = {**areas, "age": ["young", "old"]}
    both = np.stack([sexes // 2, sexes - sexes // 2], axis=2)
    found = dc.assess(dc.Table.from_array(both, ages), asked, protection=protection, seed=1, trial=True)
    assert [one.passed for one in found.checks if one.name == "lines"] == [not seen]


LINES = '[rules]\nthreshold = {}\ngroup_disclosure = {}\n[[protections]]\nname = "suppress"\n'


def test_merging_that_brings_all_people_of_a_line_into_one_cell_is_not_safe(tmp_path: Path) -> None:
    """Nobody of area n has job a: where b and c are merged, everybody there is in one published cell."""
    (tmp_path / "own.toml").write_text(LINES.format(3, 0))
    table = dc.Table.from_array([[0, 5, 4], [20, 11, 4], [9, 30, 6]], {"area": list("nsw"), "job": list("abc")})
    whole, file = tmp_path / "whole.csv", tmp_path / "merged.csv"
    table.write(whole)
    for group, seen in ((["b", "c"], True), (["a", "c"], False)):
        dc.protect.redesign(table, merge={"job": {"both": group}}).write(file)
        found = run("assess", whole, "--policy", tmp_path / "own.toml", "--released", file)
        assert (found.code == 1) == seen, found.out
        told = "readers see that area=n, job=both, as published, holds everybody in its line"
        assert (told in " ".join(found.out.split())) == seen


@pytest.mark.parametrize(("coalition", "alone", "verdict", "told"), [
    (0, False, "release", "no row, column or other line of the table has everybody in one cell"),
    (0, True, "withhold", "1 cell holds everybody in its line; readers see that it does"),
    (1, False, "withhold", "was not judged: weighted figures do not say how many people few are"),
])  # fmt: skip
def test_lines_of_weighted_counts_are_judged_or_said_not_to_be(
    tmp_path: Path, coalition: int, alone: bool, verdict: str, told: str
) -> None:
    (tmp_path / "own.toml").write_text(LINES.format(3, coalition))
    counts = {"na": 0, "nb": 5, "nc": 0 if alone else 4, "sa": 20, "sb": 11, "sc": 4, "wa": 9, "wb": 30, "wc": 6}
    rows = [f"{cell[0]},{cell[1]},{1.5 + i % 2}" for cell, count in counts.items() for i in range(count)]
    (tmp_path / "people.csv").write_text("\n".join(["area,job,w", *rows]) + "\n")
    found = dc.assess(
        tmp_path / "people.csv", by=["area", "job"], weight="w", policy=str(tmp_path / "own.toml"), seed=1, trial=True
    )
    assert found.verdict == verdict
    (line,) = (one for one in found.checks if one.name == "lines")
    assert told in line.text


def test_full_lines_of_weighted_counts_beside_cells_that_rules_call_sensitive(tmp_path: Path) -> None:
    """Everybody in n has job b, and four other cells and totals are below the threshold."""
    counts = {"nb": 5, "sa": 20, "sb": 11, "sc": 4, "wa": 9, "wb": 30, "wc": 6}
    rows = [f"{cell[0]},{cell[1]},{1.5 + i % 2}" for cell, count in counts.items() for i in range(count)]
    (tmp_path / "people.csv").write_text("\n".join(["area,job,w", *rows]) + "\n")
    file = tmp_path / "people.csv"
    found = dc.assess(file, by=["area", "job"], weight="w", policy="health", seed=1, trial=True)
    assert found.verdict == "withhold"
    assert "1 cell holds everybody in its line; readers see that it does" in found.reasons
    plain = dc.assess(file, by=["area", "job"], policy="default", protection="none", seed=1, trial=True)
    weighted = dc.assess(file, by=["area", "job"], weight="w", policy="default", protection="none", seed=1, trial=True)
    assert [check.text for check in plain.checks if check.name == "lines"] == [
        check.text for check in weighted.checks if check.name == "lines"
    ]


def test_a_line_is_full_where_all_others_together_are_few(tmp_path: Path) -> None:
    """Of b and c in area n, either may be 1; both are 1 together at most, so all there but one are in a."""
    (tmp_path / "own.toml").write_text(f'insiders = "none"\n{LINES.format(1, 1)}')
    labels = {"area": list("nswx"), "job": list("abc")}
    dc.Table.from_array([[7, 1, 0], [3, 0, 0], [9, 8, 7], [9, 8, 7]], labels).write(tmp_path / "whole.csv")
    rows = [[None, None, None, 8], [None, None, None, 3], [9, 8, 7, 24], [9, 8, 7, 24], [28, None, None, 59]]
    full = {name: [*found, "Total"] for name, found in labels.items()}
    shown = Figures.from_array(rows, full, mark=Kind("suppressed", least=0))
    Release(None, "suppress", figures=(shown,)).write(tmp_path / "shown.csv")
    asked = ("--policy", tmp_path / "own.toml", "--released", tmp_path / "shown.csv")
    found = " ".join(run("assess", tmp_path / "whole.csv", *asked).out.split())
    assert "WITHHOLD" in found
    assert "2 cells each hold all but at most 1 people in a line; 2 of 2 are known exactly, or seen to do so" in found


def test_lines_with_everybody_in_one_cell_are_looked_for_by_default_and_told_of_otherwise() -> None:
    table = dc.Table.from_array([[0, 9], [8, 9]], ["a", "b"])
    found = dc.assess(table, protection="none")
    assert found.verdict == "withhold"
    assert "2 cells each hold everybody in a line; 2 of 2 are known exactly, or seen to do so" in found.reasons
    rounded = dc.assess(table, protection="random-rounding:base=3", seed=1, trial=True)
    assert "2 cells each hold everybody in a line; none of them is known exactly, or seen to do so" in rounded.reasons
    assert "group disclosure" not in dc.assess(dc.datasets.religion(), seed=1, trial=True).reasons[0]
    for asked in ({"rules": {"threshold": 3}}, {"limits": {"r2": 1.0}}):
        found = dc.assess(table, policy(**asked), protection="none")
        assert found.verdict == "release"
        assert "(group disclosure) were not looked for" in found.sentence


def test_a_table_of_one_cell_keeps_everything_and_has_no_r2() -> None:
    found = dc.assess(dc.Table.from_array([[7]], ["a", "b"]))
    assert found.verdict == "release"
    assert found.evidence is not None
    assert found.evidence.utility == 1
    assert any("R2 does not apply" in one.text for one in found.checks)


def test_a_table_of_nobody_is_refused() -> None:
    nobody = dc.Table.from_array([[0, 0], [0, 0]], ["a", "b"])
    for work in (dc.assess, dc.compare):
        with pytest.raises(DataError, match="every count of the table is 0"):
            work(nobody)


def test_records_that_are_not_recognised_are_told_of_by(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("id,area,ill\n1,n,no\n2,n,yes\n3,n,no\n", encoding="utf-8")
    with pytest.raises((DataError, RequestError), match="by="):
        dc.assess(file)


def test_what_time_ran_out_for_is_said_and_never_called_safe() -> None:
    table = dc.datasets.religion()
    found = dc.assess(table, seed=1, trial=True, time_limit=0.0)
    assert found.release is not None
    assert (found.verdict, found.release.method) == ("protect", "random-rounding")
    alone = dc.assess(table, protection="controlled-rounding:base=3", seed=1, trial=True, time_limit=0.0)
    assert alone.verdict == "withhold"
    assert "the audit could not finish 21 sensitive cells, so they are not called safe" in " ".join(alone.reasons)


def test_the_time_limit_is_stated_and_reaches_searches_and_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.decide import evidence
    from discreet.protect import ControlledRounding

    searches: list[float] = []
    audits: list[float] = []
    apply, audit = ControlledRounding.apply, dc.audit

    def timed_apply(self: ControlledRounding, *given: Any, **named: Any) -> Any:
        searches.append(self.time_limit)
        return apply(self, *given, **named)

    def timed_audit(*given: Any, **named: Any) -> Any:
        audits.append(named["time_limit"])
        return audit(*given, **named)

    monkeypatch.setattr(ControlledRounding, "apply", timed_apply)
    monkeypatch.setattr(evidence, "run_audit", timed_audit)
    table = CORNER
    proposing = Policy.from_text(
        'extends = "default"\n[limits]\ndr = "none"\n[[protections]]\nname = "controlled-rounding"'
    )
    assert dc.assess(table, proposing, seed=1, trial=True).record["request"]["time_limit"] == 60.0
    dc.assess(table, proposing, seed=1, trial=True, time_limit=7.0)
    dc.assess(table, seed=1, trial=True, time_limit=7.0, protection="controlled-rounding:base=3,time_limit=2")
    dc.compare(table, ["controlled-rounding:base=3"], seed=1, time_limit=5.0)
    assert searches == [60.0, 7.0, 2, 5.0]
    assert set(audits) == {60.0, 7.0, 5.0}


@pytest.mark.parametrize("profile", ["default", "census", "health", "safe-output", "business"])
def test_generated_records_end_in_something_that_can_be_released(tmp_path: Path, profile: str) -> None:
    rng = np.random.default_rng(5)
    n = 1000
    columns = [rng.integers(1, 9, n), rng.integers(1, 3, n), rng.zipf(1.6, n).clip(1, 12)]
    columns += [rng.lognormal(5, 1, n).astype(int), np.arange(n)]
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    file = tmp_path / "records.csv"
    file.write_text("\n".join(["age,sex,area,turnover,firm", *rows, ""]), encoding="utf-8")
    reading: dict[str, Any] = {"by": ["age", "area"]}
    words = ["--by", "age,area"]
    if profile == "business":
        reading |= {"value": "turnover", "contributor": "firm"}
        words += ["--value", "turnover", "--contributor", "firm"]
    found = dc.assess(file, profile, **reading)
    assert found.verdict == "protect"
    assert found.release is not None
    assert found.sensitivity is not None
    assert found.sensitivity.cells.size > 5
    done = run("assess", file, *words, "--policy", profile, "--record", tmp_path / "r.json", "-o", tmp_path / "out.csv")
    assert done.code == 0
    assert done.out.startswith("PROTECT")
    assert (tmp_path / "out.csv").exists()


def test_a_release_that_shows_nothing_is_told_as_that() -> None:
    shown = dc.Figures.from_array([None, None], {"a": ["1", "2"]})
    table = dc.Table.from_array([4, 9], ["a"])
    (said,) = (one for one in dc.assess(table, protection=dc.Release.of(shown)).checks if one.name == "left")
    assert said.text == "all figures are hidden, so nothing is left to publish; a coarser table keeps more"
    half = dc.Release.of(dc.Figures.from_array([4, None], {"a": ["1", "2"]}))
    assert all(one.name != "left" for one in dc.assess(table, protection=half).checks)


def test_a_table_withheld_for_being_protected_names_the_policy_that_lets_it_pass() -> None:
    """One small count is all that can have been the reason, so readers know that the 3 in print is a 1 or a 2."""
    table = dc.Table.from_array([[1234, 5678], [2, 1045]], ["a", "b"])
    found = dc.assess(table, seed=2, trial=True)
    assert found.verdict == "withhold"
    assert 'under a policy that protects every table (as_is = "never") this release would pass' in found.sentence
    never = Policy.load("default").model_copy(update={"as_is": "never"})
    again = dc.assess(table, never, seed=2, trial=True)
    assert again.verdict == "protect"
    assert "as_is" not in again.sentence


def test_a_misspelt_argument_is_suggested() -> None:
    misspelt: dict[str, Any] = {"polcy": "census"}
    with pytest.raises(dc.RequestError, match="there is no argument 'polcy'; did you mean 'policy'"):
        dc.assess(dc.datasets.religion(), **misspelt)


@pytest.mark.parametrize("profile", ["default", "census", "health", "safe-output", "business"])
def test_weighted_counts_end_in_something_that_can_be_released(tmp_path: Path, profile: str) -> None:
    """What counts are rounded by does not go with weights; weighted counts are hidden, as amounts are."""
    rng = np.random.default_rng(3)
    areas, jobs = rng.choice(list("nnnnsssswwweb"), 90), rng.choice(list("aaaaaaabbbc"), 90)
    rows = [f"{i},{a},{b},{rng.choice(['3.7', '8.5', '20'])}" for i, (a, b) in enumerate(zip(areas, jobs, strict=True))]
    (tmp_path / "q.csv").write_text("\n".join(["person,area,job,w", *rows, ""]))
    found = dc.assess(tmp_path / "q.csv", profile, by=["area", "job"], weight="w", contributor="person")
    assert found.verdict == "protect"
    assert found.release is not None
    assert dc.audit(found.release).verdict == "safe"


def test_one_weight_for_everybody_is_named_with_the_way_that_works(tmp_path: Path) -> None:
    """Few multiples of the one weight fit, often one: more time would not help, units of it do."""
    counts = {
        "ah": 1,
        "as": 8,
        "aw": 15,
        "bh": 4,
        "bs": 7,
        "bw": 15,
        "eh": 3,
        "es": 6,
        "ew": 19,
        "nh": 3,
        "ns": 8,
        "nw": 42,
        "sh": 1,
        "ss": 14,
        "sw": 17,
        "wh": 1,
        "ws": 10,
        "ww": 26,
    }
    cells = [cell for cell, count in counts.items() for _ in range(count)]
    for name, weight in (("weighted", "12.5"), ("units", "1")):
        rows = [f"{i},{cell[0]},{cell[1]},{weight}" for i, cell in enumerate(cells)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["person,area,job,w", *rows, ""]))
    asked: dict[str, Any] = {"by": ["area", "job"], "weight": "w", "contributor": "person"}
    found = dc.assess(tmp_path / "weighted.csv", protection="suppress", **asked)
    assert found.verdict == "withhold"
    told = " ".join(found.reasons)
    assert "give amounts or weights in units of 12.5, and multiply what is published" in told
    assert "more time" not in told
    assert dc.assess(tmp_path / "units.csv", **asked).verdict == "protect"
