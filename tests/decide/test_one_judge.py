"""One judge: audit, assessment, comparison, ledger and workbench give the same answer to the same question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.cli.running import run
from tests.lengths import few_or_long, seeds
from tests.workbench.serving import Server, serving

import discreet as dc
from discreet.auditing.audit import audit
from discreet.auditing.audit_result import Audit
from discreet.auditing.limits import FAULTS, Limits
from discreet.decide.ledger import Ledger, LedgerCheck
from discreet.decide.policy import Policy
from discreet.rules import Threshold
from discreet.table import Table
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release import Release

AXES = {"r": ["a", "b", "c", "Total"], "c": ["u", "v", "w", "Total"]}
LIMITS: list[dict[str, Any]] = [{}, {"width": 2.0}, {"dr": 0.7}, {"width": 3.0, "dr": 0.6}]


def whole(inner: np.ndarray) -> np.ndarray:
    full = np.zeros((4, 4), np.int64)
    full[:3, :3] = inner
    full[3, :3], full[:3, 3], full[3, 3] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    return full


def release_of(seed: int) -> Release:
    """Return a random table: some figures hidden, or all rounded, and some of these hidden as well."""
    draw = np.random.default_rng(seed)
    full = whole(draw.integers(0, 7, (3, 3)))
    hidden = draw.random((4, 4)) < draw.choice([0.2, 0.4, 0.6])
    hidden[3, 3] = False
    way = seed % 4
    least = int(draw.integers(0, 2))
    hidden &= full >= least
    kinds: tuple[Kind, ...]
    if way == 0:
        kinds = (Kind(), Kind("suppressed", least=least or None))
        values, kind = full, hidden.astype(np.int64)
    elif way == 1:
        kinds = (Kind("conventional", base=3),)
        values, kind = (full + 1) // 3 * 3, np.zeros((4, 4), np.int64)
    else:
        low = full // 3 * 3
        kinds = (Kind("random", base=3), Kind("suppressed", least=least or None))
        values = np.where(draw.random((4, 4)) * 3 < full - low, low + 3, low)
        kind = hidden.astype(np.int64) * (way == 3)
    codes = np.array([(i, j) for i in range(4) for j in range(4)])
    labels = {name: tuple(found) for name, found in AXES.items()}
    return Release.of(Figures(labels, codes, values.ravel(), kind.ravel(), kinds, name="t"))


def asked_of(checked: LedgerCheck, part: Figures) -> dict[str, tuple[float, float, str]]:
    """Return the findings on figures that the release does not show exactly."""
    lower, upper = part.ranges()
    open_ = {
        tuple(part.labels[name][code] for name, code in zip(part.names, row, strict=True))
        for row in part.codes[lower < upper].tolist()
    }
    return {
        f.name: (f.lower, f.upper, f.reason)
        for f in checked.findings
        if not f.units and tuple(f.cell.values()) in open_
    }


@seeds(32, 120)
def test_a_ledger_that_holds_only_it_says_what_an_audit_says(tmp_path: Path, seed: int) -> None:
    release, limits = release_of(seed), LIMITS[seed // 4 % len(LIMITS)]
    found = audit(release, limits=Limits(**limits))
    wrong = {entry.name: (entry.lower, entry.upper, "; ".join(entry.faults)) for entry in found.cells if entry.faults}
    empty = Ledger(tmp_path / "empty.sqlite")
    checked = empty.check(release, **limits)
    assert asked_of(checked, release.parts()[0]) == wrong
    assert {f.cause for f in checked.findings} <= {"itself"}
    if found.verdict == "unsafe":
        assert checked.verdict == "unsafe"
    elif found.verdict == "safe" and not checked.new:
        assert checked.verdict == "safe"
    # Once it is published, the same is known from it, and is not new.
    empty.add(release, title="t")
    again = empty.check(release, title="again", **limits)
    assert asked_of(again, release.parts()[0]) == wrong
    assert {f.cause for f in again.findings if f.sensitive} <= {"before"}
    # So few random figures that are all equal may be another draw that came out alike, and that would tell more.
    assert again.verdict == ("incomplete" if seed % 4 > 1 else "safe")


METHODS = (
    "suppress",
    "conventional-rounding:base=3",
    "random-rounding:base=3",
    "random-rounding:base=3,additive=true",
    "controlled-rounding:base=3",
    "hide-and-round:limit=2,base=3",
    "small-count-rounding:base=3",
    "cell-key:bound=3,variance=2",
    "cell-key:bound=3,variance=2,additive=true",
)
CHANCE = ("random-rounding", "controlled-rounding", "cell-key")
ASKED: list[dict[str, Any]] = [{"width": 2.0}, {"dr": 0.7}, {"width": 3.0, "dr": 0.6}, {}]
CHECKS = {
    "rules": ("shown",),
    "determined": ("exact",),
    "width": ("width",),
    "levels": ("lower", "upper", "sliding"),
    "dr": ("dr",),
}
"""The checks of an assessment, and the faults that each looks for."""


def original_of(seed: int) -> Table:
    inner = np.random.default_rng(seed).integers(0, 7, (3, 3))
    inner[0, 0] = 1
    return Table.from_array(inner, ["r", "c"])


def policy_of(limits: dict[str, Any]) -> Policy:
    asked = {"rules": {"threshold": 3}, "limits": {**limits, "levels": "always"}, "allow": "any"}
    return Policy.model_validate({"name": "asked", "protections": [{"name": "suppress"}], **asked})


def of_one(names: set[str]) -> set[str]:
    """Return the faults of a figure as an audit tells them: of what is known exactly, nothing else is said."""
    return names & {"exact", "shown"} or names


def by_name(faults: np.ndarray) -> set[str]:
    return of_one({name for name, wrong in zip(FAULTS, faults.tolist(), strict=True) if wrong})


def cells_of(found: Audit) -> dict[str, tuple[float, float, set[str], bool]]:
    """Return ends, faults and whether it was finished, of every figure that was audited."""
    f = found.findings
    return {
        f.equations.describe(int(f.at[k])): (float(f.lower[k]), float(f.upper[k]), by_name(f.faults[k]), finished)
        for k, finished in enumerate(f.finished.tolist())
    }


@seeds(36, 72)
def test_every_door_gives_the_same_answer(tmp_path: Path, seed: int) -> None:
    original, method = original_of(seed), METHODS[seed % len(METHODS)]
    limits = ASKED[seed // len(METHODS) % len(ASKED)]
    policy = policy_of(limits)
    made = dc.assess(original, policy, protection=method, seed=1, trial=True)
    assert made.evidence is not None
    release = made.evidence.release
    law = "method" if "dr" in limits else "interval"
    sensitive = dc.sensitivity(made.subject.tabulation, [Threshold(3)])

    # An audit of what the rules call sensitive, and an assessment: the same intervals and the same faults.
    audited = cells_of(dc.audit(release, sensitivity=sensitive, limits=Limits(**limits), law=law))
    assessed = dc.assess(original, policy, protection=release, seed=1, trial=True)
    assert assessed.evidence is not None
    known = assessed.evidence.known
    told: dict[str, set[str]] = {}
    for k, i in enumerate(known.cell.tolist()):
        label = {n: c for n, c in sensitive.tabulation.label(i).items() if c != "Total"}
        name = ", ".join(f"{n}={c}" for n, c in label.items()) or "total"
        told[name] = by_name(known.faults[k])
        if name in audited:
            lower, upper, faults, finished = audited[name]
            assert (lower, upper, faults) == (known.lower[k], known.upper[k], told[name]), name
            assert finished == (bool(faults) or not np.isnan(known.bits[k]) or "dr" not in limits)
    checks = {check.name: check for check in assessed.checks}
    for name, looked_for in CHECKS.items():
        if name in checks:
            dark = np.isnan(known.bits) if name == "dr" else np.zeros(len(told), bool)
            wrong = sum(bool(known.wrong(*looked_for)[k] or dark[k]) for k in range(len(told)))
            assert len(checks[name].cells) == wrong, name
            assert checks[name].passed <= (wrong == 0), name
    if all(not faults and finished for _, _, faults, finished in audited.values()):
        assert all(check.passed for check in assessed.checks)

    # An audit without rules, and a check against a ledger of nothing else: the same figures for the same reasons.
    plain = dc.audit(release, limits=Limits(**limits), law=law)
    wrong_there = {one.name: (one.lower, one.upper, "; ".join(one.faults)) for one in plain.cells if one.faults}
    checked = Ledger(tmp_path / "empty.sqlite").check(release, policy=policy)
    assert asked_of(checked, release.parts()[0]) == wrong_there
    if plain.verdict == "unsafe":
        assert checked.verdict == "unsafe"

    # A comparison objects to what an assessment objects to, where both make the same release.
    if not method.startswith(CHANCE):
        point = dc.compare(original, [method], policy=policy, draws=2, audits=1, seed=1).points[1]
        assert list(point.faults) == [check.brief for check in made.checks if not check.passed]


def test_the_command_line_and_the_workbench_answer_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger(tmp_path / "office.sqlite") as book:
        book.add(release_of(0), title="others", population="others")
    with serving("--ledger", tmp_path / "office.sqlite") as server:
        for number in (0, 1, 3, 7):
            folder = tmp_path / str(number)
            folder.mkdir()
            monkeypatch.chdir(folder)
            answered_alike(METHODS[number], server, tmp_path / "office.sqlite")


def answered_alike(method: str, server: Server, ledger: Path) -> None:
    original = original_of(5)
    limits: dict[str, Any] = {"width": 3.0, "dr": 0.6}
    policy = policy_of(limits)
    made = dc.assess(original, policy, protection=method, seed=2**100 + 1)
    assert made.evidence is not None
    release = made.evidence.release
    original.write("original.csv")
    release.write("release.parquet")
    levels = '[rules]\nthreshold = 3\n[limits]\nwidth = 3\ndr = 0.6\nlevels = "always"\n'
    Path("asked.toml").write_text(f'allow = "any"\n{levels}[[protections]]\nname = "suppress"\n', encoding="utf-8")
    commands: dict[str, dict[str, Any]] = {
        "audit": {
            "releases": ["release.parquet"],
            "original": "original.csv",
            "rule": ["threshold=3"],
            "min_width": 3.0,
            "max_dr": 0.6,
            "law": "method",
        },
        "assess": {
            "file": "original.csv",
            "policy": "asked.toml",
            "release": "release.parquet",
            "trial": True,
            "seed": 1,
        },
        "ledger check": {
            "release": "release.parquet",
            "ledger": str(ledger),
            "policy": "asked.toml",
            "population": "these",
        },
        "compare": {"file": "original.csv", "policy": "asked.toml", "method": [method], "audits": 1, "seed": 1},
    }
    printed = {}
    for name in ("original.csv", "release.parquet", "asked.toml"):
        server.upload(name, Path(name).read_bytes())
    for command, values in commands.items():
        job = server.run(command, **{key: value for key, value in values.items() if key != "ledger"})
        assert job.get("state") == "done", job
        spelled = {"release": "released"} if command == "assess" else {}
        flags = [f"--{spelled.get(key, key).replace('_', '-')}" for key in values]
        words: list[object] = [*command.split()]
        for flag, value in zip(flags, values.values(), strict=True):
            several = value if isinstance(value, list) else [value]
            named = flag not in ("--releases", "--file") and (command, flag) != ("ledger check", "--release")
            for one in several:
                words += [flag] * named + [one] * (one is not True)
        printed[command] = json.loads(run(*words, "--json").out)
        shown = job["result"]
        for told in (printed[command], shown):
            told.pop("record", None)
        assert shown == printed[command], command
    sensitive = dc.sensitivity(made.subject.tabulation, [Threshold(3)])
    audited = dc.audit(release, sensitivity=sensitive, limits=Limits(**limits), law="method")
    assert printed["audit"]["verdict"] == audited.verdict
    assert [one["faults"] for one in printed["audit"]["cells"]] == [list(one.faults) for one in audited.cells]
    again = dc.assess(original, policy, protection=release, seed=1, trial=True)
    assert printed["assess"]["verdict"] == again.verdict
    assert printed["assess"]["checks"] == [one.to_dict() for one in again.checks]
    checked = Ledger("empty.sqlite").check(release, policy=policy)
    assert printed["ledger check"]["verdict"] == checked.verdict
    assert [one["reason"] for one in printed["ledger check"]["findings"]] == [one.reason for one in checked.findings]
    if not method.startswith(CHANCE):
        point = printed["compare"]["points"][1]
        assert point["faults"] == [one.brief for one in made.checks if not one.passed]


@few_or_long(("number", "least"), (8, 1), (20, 4))
def test_respondents_are_judged_by_the_same_limits(number: int, least: int) -> None:
    narrow = 0
    for seed in range(number):
        rng = np.random.default_rng(seed)
        columns = {"r": rng.integers(1, 4, 24), "a": rng.integers(1, 4, 24), "firm": rng.integers(0, 14, 24)}
        records = pd.DataFrame({**columns, "v": rng.integers(1, 60, 24)})
        tabulated = dc.tabulate(records, ["r", "a"], value="v", contributor="firm")
        rules = {"rules": {"threshold": 3, "p_percent": 10}, "limits": {"width": 30.0, "levels": "never"}}
        policy = Policy.model_validate({**rules, "allow": "any", "protections": [{"name": "suppress"}]})
        release = dc.suppress(tabulated, [Threshold(3)], insiders="none", levels=(1, 1)).release
        assessed = dc.assess(tabulated, policy, protection=release, seed=1, trial=True)
        sensitive, evidence = assessed.sensitivity, assessed.evidence
        assert sensitive is not None
        assert evidence is not None
        audited = dc.audit(release, sensitivity=sensitive, limits=Limits(width=30.0), contributions=tabulated).findings
        faults = [FAULTS.index(name) for name in ("exact", "width")]
        wrong = audited.faults[:, faults].any(axis=1) & (audited.who > 0)
        by_audit = {audited.equations.describe(int(i)) for i in audited.at[wrong]}
        names = {}
        for k, i in enumerate(evidence.known.cell.tolist()):
            label = {name: code for name, code in sensitive.tabulation.label(i).items() if code != "Total"}
            names[k] = ", ".join(f"{name}={code}" for name, code in label.items()) or "total"
        told = [check.cells for check in assessed.checks if check.name == "insiders"]
        assert {names[k] for cells in told for k in cells} == by_audit & set(names.values())
        outside = audited.faults[:, faults].any(axis=1) & (audited.who == 0)
        by_outsider = {audited.equations.describe(int(i)) for i in audited.at[outside]}
        narrow += bool((by_audit & set(names.values())) - by_outsider)
    assert narrow >= least
