"""Both methods against all patterns of small random tables; nothing that is returned ever fails the audit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.feasible.oracle import world
from tests.lengths import few_or_long
from tests.protect.suppression.oracle import MOST, Case, Stated, best, is_safe, small_case, stated

from discreet.core.errors import InfeasibleError
from discreet.evaluate.audited_suppression import Suppressed, certify, faults, inspect
from discreet.protect.suppression import scip
from discreet.protect.suppression.primary import Wish
from discreet.protect.suppression.suppression import Suppression, Zeros, marked
from discreet.table import Table
from discreet.table.tabulation import Tabulation

CROWDS = range(1100, 1125)
"""Among these tables, some have a circuit that several insiders undo."""
IMPOSSIBLE = (676, 1196, 1509)
"""Tables that cannot be protected, which are rare."""


def both_methods(case: Case, s: Stated, seed: int) -> list[Suppressed]:
    """Hold the fast and the optimal method against all patterns; return what they release, nothing where none can."""
    expected = best(case, s)
    exact = replace(case.method, method="optimal")
    if expected is None:
        for method in (case.method, exact):
            with pytest.raises(InfeasibleError):
                method.pattern(case.tables)
        return []
    quick, proved = (certify(method, case.tables, workers=1) for method in (case.method, exact))
    for found in (quick, proved):
        assert is_safe(s, found.pattern.positions), seed
    assert quick.pattern.bound <= expected[0] <= quick.pattern.cost, seed
    assert (proved.pattern.cost, proved.pattern.bound) == (expected[0], expected[0]), seed
    return [quick, proved]


def compare(seed: int, zeros: Zeros, monkeypatch: pytest.MonkeyPatch) -> str:
    """Check one case, every other one without SCIP; return what kind of case it was."""
    monkeypatch.setattr(scip, "available", lambda: seed % 2 == 0)
    case = small_case(seed)
    if case is None:
        return "none"
    case = replace(case, method=replace(case.method, zeros=zeros))
    s = stated(case)
    if s.candidates.size > min(MOST, 13):
        return "large"
    if not both_methods(case, s, seed):
        return "infeasible"
    return "insiders" if len(s.known) else "linked" if len(case.tables) > 1 else "single"


@few_or_long("number", 24, 120)
def test_methods_against_all_patterns(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = (*IMPOSSIBLE, *range(number), *CROWDS[: number // 4])
    kinds = [compare(seed, "published", monkeypatch) for seed in seeds]
    assert kinds.count("single") > number // 3
    assert kinds.count("insiders") > number // 8
    assert kinds.count("linked") > number // 60
    assert kinds.count("infeasible") >= len(IMPOSSIBLE)


@few_or_long("number", 12, 50)
def test_methods_against_all_patterns_where_zeros_may_be_hidden(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [compare(seed, "suppressible", monkeypatch) for seed in range(300, 300 + number)]
    assert kinds.count("single") > 0.3 * number
    assert kinds.count("insiders") > number // 12


@pytest.mark.long
def test_methods_against_all_patterns_of_many_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [compare(seed, "published", monkeypatch) for seed in (*range(120, 260), *range(1_000, 17_000))]
    kinds += [compare(seed, "suppressible", monkeypatch) for seed in (*range(350, 400), *range(17_000, 22_000))]
    assert len(kinds) - kinds.count("none") - kinds.count("large") > 10_000


@few_or_long(("number", "least"), (24, 8), (60, 20))
def test_the_oracle_against_every_table_that_fits(number: int, least: int) -> None:
    checked = 0
    for seed in range(number):
        case = small_case(seed, insiders=False)
        if case is None or len(case.tables) > 1:
            continue
        pattern = case.method
        try:
            found = pattern.pattern(case.tables)
        except InfeasibleError:
            continue
        figures = marked(pattern, found).release.parts()[0]
        whole, trees = world([figures])
        if len(whole.cells) > 9 or found.problem.cells.values[0] > 22:
            continue
        tables = np.array(list(whole.tables(int(found.problem.cells.values[0]))))
        cells, demands = found.problem.cells, found.problem.demands
        for i in np.flatnonzero(demands.sensitive).tolist():
            sums = tables[:, whole.members(cells.equations.cell(i), trees)].sum(axis=1)
            value = int(cells.values[i])
            assert sums.min() <= value - demands.lower[i]
            assert sums.max() >= value + demands.upper[i]
            assert sums.max() - sums.min() >= demands.sliding[i]
            checked += 1
    assert checked > least


def test_the_audit_objects_to_a_pattern_that_is_not_enough() -> None:
    case = next(c for c in map(small_case, range(40)) if c is not None and stated(c).demands.sensitive.any())
    found = case.method.pattern(case.tables)
    alone = replace(found, hidden=found.problem.on.primary.copy())
    release = marked(case.method, alone).release
    assert found.counts["secondary"] > 0
    assert inspect(alone, release).verdict == "unsafe"


@pytest.fixture(params=[True, False], ids=["told", "untold"])
def told(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the audit is told the tables by which a method proves its pattern."""
    if not request.param:
        monkeypatch.setattr("discreet.evaluate.audited_suppression.candidates_of", lambda pattern: None)
    return bool(request.param)


@pytest.mark.usefixtures("told")
@few_or_long("number", 24, 120)
def test_the_audit_against_the_oracle_where_insiders_were_forgotten(number: int) -> None:
    verdicts = []
    for seed in range(number):
        case = small_case(seed, insiders=True)
        if case is None:
            continue
        careless = replace(case.method, insiders="none")
        try:
            found = careless.pattern(case.tables)
        except InfeasibleError:
            continue
        s = stated(replace(case, method=replace(case.method, insiders="respondents")))
        judged = replace(found, known=s.known)
        fine = not faults(judged, inspect(judged, marked(careless, found).release))
        assert fine == is_safe(s, found.positions), seed
        verdicts.append(fine)
    assert min(verdicts.count(True), verdicts.count(False)) > number // 6


@pytest.mark.usefixtures("told")
@few_or_long("number", 12, 150)
def test_the_audit_against_the_oracle_where_cells_were_published_after_all(number: int) -> None:
    verdicts = []
    for seed in range(number):
        case = small_case(seed)
        if case is None:
            continue
        s = stated(case)
        try:
            found = case.method.pattern(case.tables)
        except InfeasibleError:
            continue
        secondary = np.flatnonzero(found.hidden & ~found.problem.on.primary & ~found.problem.free)
        if not secondary.size:
            continue
        rng = np.random.default_rng(seed)
        hidden = found.hidden.copy()
        hidden[rng.choice(secondary, rng.integers(0, 2))] = False
        # Others are suppressed instead, so that some patterns are safe in another way than the method's.
        hidden |= (rng.random(hidden.size) < 0.3) & ~found.hidden
        judged = replace(found, hidden=hidden)
        fine = not faults(judged, inspect(judged, marked(case.method, judged).release))
        assert fine == is_safe(s, judged.positions), seed
        verdicts.append(fine)
    assert min(verdicts.count(True), verdicts.count(False)) > number // 8


def test_large_amounts_in_three_dimensions() -> None:
    hidden = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shape = (4, 3, 3)
        values = np.rint(rng.lognormal(16, 1.5, shape)).astype(np.int64) * (rng.random(shape) < 0.9)
        table = Table.from_array(
            values, {name: [f"{name}{i}" for i in range(n)] for name, n in zip("abc", shape, strict=True)}
        )
        cells = Tabulation.from_table(table)
        small = np.flatnonzero((cells.records > 0) & (cells.records < 2_000_000))
        wishes = [
            Wish(cells.label(int(i)), "suppress", lower=cells.records[i] // 7 + 1, upper=cells.records[i] // 7 + 1)
            for i in small
        ]
        method = Suppression(wishes=tuple(wishes))
        try:
            found = certify(method, cells, workers=1)
        except InfeasibleError:
            continue
        hidden += found.pattern.counts["secondary"]
        s = stated(Case((cells,), method))
        assert is_safe(s, found.pattern.positions), seed
    assert hidden > 50
