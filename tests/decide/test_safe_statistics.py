"""Statistics that are published wherever that is safe: what the audit objects to, asked for cheaply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.auditing.audit import audit
from discreet.auditing.findings import RANK
from discreet.auditing.judging import Judge
from discreet.auditing.limits import Limits
from discreet.core.clock import Clock
from discreet.core.effort import Effort
from discreet.core.errors import DiscreetError
from discreet.core.numerics import IntArray
from discreet.decide import safe_statistics
from discreet.decide.policy import Policy
from discreet.decide.protections import make_method
from discreet.decide.safe_statistics import SafeStatistics, apply_beside, with_safe
from discreet.decide.subject import Case, Subject
from discreet.table.published_statistics import with_published
from discreet.table.release import Release
from discreet.table.table import Table

POLICY = {"rules": {"threshold": 3}, "protections": [{"name": "suppress"}]}


DEFINED = (
    "percentage, over=b, decimals=0",
    "percentage, over=a+b, decimals=1",
    "ratio, over=a, decimals=1",
    "percentage, over=a+b, decimals=0, rounding=down, step=20",
)


def case_of(seed: int, limits: dict[str, object], which: int) -> Case:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.exponential(9.0, (3, 3))) + 1
    labels = {"a": list("xyz"), "b": list("uvw")}
    wanted = {"s": f"{DEFINED[which]}, where=safe"}
    policy = Policy.model_validate({**POLICY, "limits": limits})
    return with_safe(Case.of(Subject.of(Table.from_array(counts.tolist(), labels)), policy, wanted), Effort())


def released(case: Case) -> Release | None:
    """Suppress a table, and put all statistics of its true values beside it."""
    beside = case.beside
    assert isinstance(beside, SafeStatistics)
    try:
        plain = make_method("suppress", {}, case.found).apply(case.subject.original).release
    except DiscreetError:
        return None
    (part,) = plain.parts()
    every = tuple(beside._true(part, column) for column in beside.truth.statistics)
    return replace(plain, figures=(replace(part, statistics=every),))


@pytest.mark.parametrize("limits", [{"levels": "always"}, {"levels": "never"}, {"levels": "never", "width": 2}])
def test_objections_are_those_of_the_whole_audit(limits: dict[str, object]) -> None:
    objected = 0
    for seed in range(12):
        case = case_of(seed, limits, seed % 3)
        beside, release = case.beside, released(case)
        if release is None:
            continue
        assert isinstance(beside, SafeStatistics)
        found = audit(release, limits=Limits(beside.limits.width, levels=case.levels()), proofs=0).findings
        bad = found.at[found.rank != RANK["safe"]]
        (part,) = release.parts()
        codes = {tuple(one) for one in safe_statistics._codes(found.equations, part, bad).tolist()}
        assert beside._objections(release) == (codes or None), seed
        objected += bool(codes)
    assert objected > 0


def test_only_what_may_be_known_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    bounds = Judge.bound

    def counted(self: Judge, equations: object, targets: IntArray) -> object:
        asked.append(int(targets.size))
        return bounds(self, equations, targets)  # type: ignore[arg-type]

    made = [(case, released(case)) for case in (case_of(seed, {"levels": "never"}, 3) for seed in range(6))]
    monkeypatch.setattr(Judge, "bound", counted)
    cheap = 0
    for case, release in made:
        assert isinstance(case.beside, SafeStatistics)
        asked.clear()
        if release is not None and release.parts()[0].hidden.any() and case.beside._objections(release) is None:
            cheap += not sum(asked)
    assert cheap


def test_all_audits_of_a_choice_share_one_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def timed(*arguments: object, time_limit: float, **options: object) -> object:
        given.append(time_limit)
        return audit(*arguments, time_limit=time_limit, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(safe_statistics, "audit", timed)
    beside = case_of(1, {}, 2).beside
    assert isinstance(beside, SafeStatistics)
    case = replace(case_of(1, {}, 2), beside=replace(beside, effort=Effort(1000.0)))
    method = make_method("suppress", {}, case.found)
    apply_beside(case, method, case.subject.original)
    assert len(given) > 1
    assert given == sorted(given, reverse=True)
    assert 1000.0 >= given[0] > given[-1]


def test_what_is_not_judged_in_time_is_held_back() -> None:
    beside = case_of(0, {}, 3).beside
    assert isinstance(beside, SafeStatistics)
    case = replace(case_of(0, {}, 3), beside=replace(beside, effort=Effort(clock=Clock.within(0.0))))
    made = make_method("suppress", {}, case.found).apply(case.subject.original)
    assert case.beside is not None
    (late,), (whole,) = case.beside.beside(made.release).parts(), beside.beside(made.release).parts()
    shown = with_published(made.release, {"s": DEFINED[3]}).parts()[0]
    assert len(late.statistics[0]) == len(shown.statistics[0]) < len(whole.statistics[0])
