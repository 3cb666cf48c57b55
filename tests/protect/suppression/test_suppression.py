"""What the methods promise beside safety: one pattern everywhere, minimal, explained, publishable in three forms."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.lengths import few_or_long
from tests.protect.suppression.oracle import counts, is_safe, small_case, stated

import discreet as dc
from discreet.core.clock import Clock
from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.core.numerics import IntArray
from discreet.decide.protections import make_method
from discreet.evaluate.audited_suppression import AuditedSuppression, Suppressed, UnsafeError, certify
from discreet.protect import METHODS, Suppression, Wish
from discreet.protect.suppression import fast as fast_search
from discreet.protect.suppression.insider_knowledge import NOBODY
from discreet.protect.suppression.meeting import meet
from discreet.protect.suppression.pattern import Pattern
from discreet.protect.suppression.problem import Problem
from discreet.rules import PPercent, Threshold
from discreet.table.attacker import Attacker, Fact
from discreet.table.tabulation import Tabulation


def table() -> dc.Table:
    return dc.Table.from_array([[2, 9, 8], [7, 6, 9], [9, 8, 5]], {"area": list("abc"), "age": list("xyz")})


def large(seed: int = 1) -> Tabulation:
    rng = np.random.default_rng(seed)
    return counts(rng, (5, 5, 2), "abc")


@cache
def marked_once() -> Suppressed:
    """Return a large table with its suppressed cells marked, for all tests that look at it."""
    return dc.suppress(large(), Threshold(3), levels=(1, 1))


@cache
def proved_once() -> tuple[Suppressed, list[tuple[int, int, str]]]:
    """Return the cheapest pattern of another one, and what was told on the way."""
    told: list[tuple[int, int, str]] = []
    found = dc.suppress(
        large(3), Threshold(4), levels=(1, 1), method="optimal", progress=lambda *state: told.append(state)
    )
    return found, told


def owed(problem: Problem, cell: int) -> int:
    """Add up, over the sums in which a cell is the only hidden one, the price of the cheapest other."""
    on, total = problem.on, 0
    for equation in on.rows[on.begins[cell] : on.begins[cell + 1]]:
        others = [int(c) for c in on.columns[on.starts[equation] : on.starts[equation + 1]] if c != cell]
        if others and not any(problem.always[c] for c in others):
            total += min(int(on.price[c]) for c in others)
    return total


def test_every_demand_is_searched_for_once_and_those_that_owe_most_first(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, asked = marked_once().pattern.problem, []

    def noted(order: IntArray, *rest: Any) -> Any:
        asked.extend(order.tolist())
        return meet(order, *rest)

    monkeypatch.setattr(fast_search, "meet", noted)
    search = fast_search.FastSearch(problem, NOBODY)
    search.ask_outsider()
    search.meet()
    assert sorted(asked) == list(range(len(search.cell)))
    owing = [owed(problem, search.cell[q]) for q in asked]
    assert len(set(owing)) > 2
    assert owing == sorted(owing, reverse=True)


def test_it_is_registered_and_released_through_its_audit_only() -> None:
    assert METHODS["suppress"] is Suppression
    with pytest.raises(AttributeError, match=r"call discreet\.suppress, which has the pattern audited"):
        _ = dc.protect.suppress
    with pytest.raises(dc.RequestError, match=r"publishes nothing that was not audited: call discreet\.suppress"):
        METHODS["suppress"](Threshold(3)).apply(table())
    assert "suppress" not in dc.protect.__all__
    made = make_method("suppress", {"levels": [1, 1]}, [Threshold(3)])
    assert isinstance(made, AuditedSuppression)
    assert made.apply(table()).details["audit"] == "safe"
    release = dc.suppress(table(), Threshold(3), levels=(1, 1)).release
    assert release.method == "suppress"
    assert release.inner is None
    assert int(release.parts()[0].hidden.sum()) == 4
    # No original value of a hidden cell, and nothing about the rules, is in the release.
    assert (release.parts()[0].values[release.parts()[0].hidden] == 0).all()
    assert dict(release.parameters) == {"method": "fast", "cost": "value", "form": "marks"}


@few_or_long("number", 10, 30)
def test_no_single_cell_can_be_released(number: int) -> None:
    tried = 0
    some = [(seed, None) for seed in range(300, 300 + number)]
    for seed, insiders in [*some, *((seed, True) for seed in range(40, 40 + 11 * number // 3))]:
        case = small_case(seed, insiders=insiders)
        # How a sliding level is shared between both sides is fixed before cells are released.
        if case is None or case.method.risk is not None:
            continue
        try:
            found = case.method.pattern(case.tables)
        except InfeasibleError:
            continue
        s = stated(case)
        classes = np.flatnonzero(found.hidden & ~found.problem.on.primary & ~found.problem.free)
        for k in classes.tolist():
            fewer = found.hidden.copy()
            fewer[k] = False
            assert not is_safe(s, found.problem.positions(fewer)), seed
            tried += 1
    assert tried > number


def test_the_same_input_gives_the_same_pattern_in_another_process() -> None:
    here = marked_once().pattern
    code = (
        "from tests.protect.suppression.test_suppression import large\n"
        "from discreet.protect import Suppression\n"
        "from discreet.rules import Threshold\n"
        "import numpy as np\n"
        "found = Suppression(Threshold(3), levels=(1, 1)).pattern(large())\n"
        "print(np.flatnonzero(found.positions).tolist())\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False, cwd=os.getcwd()
    )
    assert done.stdout.strip() == str(np.flatnonzero(here.positions).tolist()), done.stderr


def test_costs() -> None:
    firms = pd.DataFrame(
        {
            "r": ["a"] * 3 + ["b"] * 6 + ["a"] * 4 + ["b"] * 2,
            "c": ["x"] * 3 + ["x"] * 6 + ["y"] * 4 + ["y"] * 2,
            "v": [90, 5, 5] + [10] * 6 + [25] * 4 + [500, 480],
            "w": range(15),
        }
    )
    cells = dc.tabulate(firms, ["r", "c"], value=["v", "w"])
    chosen = {}
    for cost in ("value", "cells", "log", "contributors", "records", "w"):
        method = Suppression(
            wishes=(Wish({"r": "a", "c": "x"}, "suppress", lower=1, upper=1),), cost=cost, response="v", insiders="none"
        )
        found = method.pattern(cells)
        column = {
            "value": np.abs(found.problem.cells.values),
            "cells": np.ones(9),
            "log": np.rint(1000 * np.log2(1 + np.abs(found.problem.cells.values))),
            "contributors": cells.contributors.units,
            "records": cells.records,
            "w": np.rint(cells.responses[1].sums),
        }[cost]
        chosen[cost] = found.cost
        assert found.cost == int(np.maximum(column, 1)[found.positions].sum())
    assert chosen["cells"] == 4
    with pytest.raises(RequestError, match="there is no cost 'price'"):
        Suppression(Threshold(3), cost="price", response="v").pattern(cells)


def test_a_dear_cell_is_avoided_and_a_wish_is_kept() -> None:
    plain = Suppression(Threshold(3), levels=(1, 1)).pattern(table())
    equations = plain.problem.cells.equations
    at = equations.find({"area": "b", "age": "y"})
    assert plain.positions[at]
    for wish in (Wish({"area": "b", "age": "y"}, cost=1000), Wish({"area": "b", "age": "y"}, "publish")):
        other = Suppression(Threshold(3), (wish,), levels=(1, 1)).pattern(table())
        assert not other.positions[at]
        assert other.counts["secondary"] >= 3
    forced = Suppression(Threshold(3), (Wish({"area": "c", "age": "z"}, "suppress"),), levels=(1, 1)).pattern(table())
    assert forced.status[equations.find({"area": "c", "age": "z"})] == 1


@pytest.mark.parametrize("method", ["fast", "optimal"])
def test_cells_kept_hidden_are_not_sensitive_and_no_reader_of_the_tables_works_them_out(method: Any) -> None:
    draw = np.random.default_rng(2)
    cells = Tabulation.from_table(table()) if method == "optimal" else large(2)
    plain = Suppression(Threshold(3), levels=(1, 1)).pattern(cells)
    equations = plain.problem.cells.equations
    shown = np.flatnonzero((plain.status == 0) & plain.problem.cells.listed & (plain.problem.cells.values > 0))
    asked = draw.choice(shown[shown > 0], 2, replace=False).tolist()
    wishes = tuple(Wish(equations.cell(i), "hide") for i in asked)
    found = dc.suppress(cells, Threshold(3), levels=(1, 1), wishes=wishes, method=method)
    assert found.pattern.counts["primary"] == plain.counts["primary"]
    assert (found.pattern.status[asked] == 2).all()
    assert all(found.pattern.reason(i) for i in asked)
    left = {one.name: one for one in dc.audit(found.release, insiders="none").cells}
    assert all(left[equations.describe(i)].lower < left[equations.describe(i)].upper for i in asked)
    refused = Suppression(Threshold(3), (*wishes, Wish(wishes[0].cell, "publish")), levels=(1, 1))
    with pytest.raises(InfeasibleError, match="must be published"):
        refused.pattern(cells)


def test_what_is_kept_hidden_is_told_where_no_cell_is_sensitive() -> None:
    counts = dc.Table.from_array([[30, 40], [50, 60]], {"area": ["a", "b"], "age": ["x", "y"]})
    found = Suppression(Threshold(3), (Wish({"area": "a", "age": "x"}, "hide"),)).pattern(counts)
    assert found.sentence.startswith("0 sensitive cells and 4 others are suppressed")


def test_respondents_may_work_out_what_is_kept_hidden(tmp_path: Path) -> None:
    """The one firm of size s2 in a region knows what is hidden beside it, which is no reason to hide more."""
    sizes = {"s0": (40, 90), "s1": (6, 90), "s2": (1, 300)}
    firms = [
        (r, s, each + k) for r in range(4) for s, (n, each) in sizes.items() for k in range(n) if s != "s2" or r < 2
    ]
    lines = [f"{i},r{r},{s},{amount + 7 * r}" for i, (r, s, amount) in enumerate(firms)]
    (tmp_path / "firms.csv").write_text("\n".join(["id,region,size,v", *lines]) + "\n")
    cells = dc.tabulate(tmp_path / "firms.csv", ["region", "size"], value="v", contributor="id")
    method = Suppression(Threshold(3), insiders="respondents")
    plain = method.pattern(cells)
    beside = [{"region": r, "size": "s1"} for r in ("r0", "r1")]
    kept, must = (
        replace(method, wishes=tuple(Wish(cell, status) for cell in beside)).pattern(cells)
        for status in ("hide", "suppress")
    )
    assert (kept.positions == plain.positions).all()
    assert must.cost > kept.cost == plain.cost
    assert kept.sentence == plain.sentence


def test_a_bound_on_the_risk() -> None:
    found = dc.suppress(table(), risk=0.5)
    cells = [c for c in dc.audit(found.release).cells if c.name == "area=a, age=x"]
    # 1/log2(2 + 1) = 0.63 is above the bound; four values bring it down to 0.5.
    assert cells[0].values >= 4
    assert cells[0].dr <= 0.5
    assert found.pattern.counts["primary"] == 1


def test_intervals_and_made_up_values() -> None:
    marks = marked_once()
    intervals, made = (
        dc.suppress(large(), Threshold(3), levels=(1, 1), form=form) for form in ("intervals", "synthetic")
    )
    hidden = marks.release.parts()[0].hidden
    true = marks.pattern.problem.cells.values[marks.pattern.problem.cells.places[0]]
    seen = {c.name: (c.lower, c.upper) for c in dc.audit(marks.release, proofs=0).cells}
    figures = intervals.release.parts()[0]
    assert figures.upper is not None
    assert (figures.values[hidden] <= true[hidden]).all()
    assert (true[hidden] <= figures.upper[hidden]).all()
    for row in np.flatnonzero(hidden).tolist():
        name = ", ".join(part for part in figures.describe(row).split(", ") if not part.endswith("=Total"))
        assert seen[name or "total"] == (figures.values[row], figures.upper[row])
    # Made-up values lie in the intervals, keep every sum, and are not the truth.
    shown = made.release.parts()[0]
    assert (figures.values[hidden] <= shown.values[hidden]).all()
    assert (shown.values[hidden] <= figures.upper[hidden]).all()
    assert (shown.values[~hidden] == true[~hidden]).all()
    assert (shown.values[hidden] != true[hidden]).any()
    problem = marks.pattern.problem
    whole = problem.cells.values.copy()
    whole[problem.cells.places[0]] = shown.values
    equations = problem.cells.equations
    sums = np.add.reduceat(equations.signs * whole[equations.columns], equations.starts[:-1])
    assert not sums.any()


def test_every_suppression_has_a_reason() -> None:
    pattern = marked_once().pattern
    names = {pattern.problem.cells.equations.describe(int(i)) for i in np.flatnonzero(pattern.status == 1)}
    for i in np.flatnonzero(pattern.positions).tolist():
        reason = pattern.reason(i)
        if pattern.status[i] == 1:
            assert reason.startswith("sensitive; can be anything from")
        else:
            assert reason.startswith("equals sensitive") or any(name in reason for name in names)
    assert pattern.reason(int(np.flatnonzero(~pattern.positions)[0])) == ""
    assert sum(pattern.counts.values()) == int(pattern.problem.cells.listed.sum())
    assert pattern.bound <= pattern.cost


def test_the_proof_tells_how_far_it_is_and_the_gap() -> None:
    found, told = proved_once()
    proved = [(done, total, text) for done, total, text in told if "gap" in text]
    assert found.pattern.cost == found.pattern.bound
    assert len(proved) > 1
    assert all(0 <= done <= total and text.endswith("%") for done, total, text in proved)
    assert proved[0][0] < proved[-1][0]


class Rung(Clock):
    @classmethod
    def within(cls, seconds: float | None) -> Clock:
        return Clock(0.0)


def test_a_time_limit_returns_a_safe_pattern_with_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as late:
        # All time is gone once there is a first pattern.
        late.setattr("discreet.protect.suppression.optimal.Clock", Rung)
        found = dc.suppress(large(3), Threshold(4), levels=(1, 1), method="optimal", time_limit=1000.0)
    assert found.pattern.limited
    assert found.pattern.bound < found.pattern.cost
    full, _ = proved_once()
    assert found.pattern.bound <= full.pattern.bound == full.pattern.cost <= found.pattern.cost


def test_named_attackers() -> None:
    counts_ = dc.Table.from_array([[20, 30, 40], [25, 35, 45], [50, 60, 70]], {"r": list("abc"), "c": list("xyz")})
    wish = Wish({"r": "a", "c": "x"}, "suppress", lower=5, upper=5)
    plain = dc.suppress(counts_, wishes=(wish,))
    equations = plain.pattern.problem.cells.equations
    at = int(np.flatnonzero(plain.pattern.status == 2)[0])
    used, value = equations.cell(at), int(plain.pattern.problem.cells.values[at])
    close = Attacker("spy", (), (Fact(used, value - 1, value + 1),))
    found = dc.suppress(counts_, wishes=(wish,), attackers=(close,))
    assert found.pattern.cost > plain.pattern.cost
    cell = [c for c in dc.audit(found.release, attackers=[close]).cells if c.name == "r=a, c=x"]
    assert all(c.lower <= 15 and c.upper >= 25 for c in cell)
    with pytest.raises(DataError, match="spy is said to know"):
        dc.suppress(counts_, wishes=(wish,), attackers=(Attacker("spy", (), (Fact(used, 0, 1),)),))


def test_what_an_attacker_knows_that_leaves_nothing_to_protect_is_named() -> None:
    counts_ = dc.Table.from_array([[20, 30], [25, 35]], {"r": list("ab"), "c": list("xy")})
    wish = Wish({"r": "a", "c": "x"}, "suppress", lower=5, upper=5)
    known = {"a": 50, "b": 60}
    facts = [Fact({"r": row, "c": "Total"}, value, value) for row, value in known.items()]
    facts += [Fact({"r": "a", "c": "y"}, 30, 30), Fact({"r": "b", "c": "y"}, 35, 35)]
    told = r"against the spy: whatever is suppressed, what they know of r=a(, c=Total)?; r=a, c=y determines it more"
    with pytest.raises(InfeasibleError, match=told):
        dc.suppress(counts_, wishes=(wish,), attackers=(Attacker("spy", (), tuple(facts)),))


def test_linked_tables_in_a_circle() -> None:
    rng = np.random.default_rng(5)
    whole = dc.Table.from_array(rng.integers(0, 7, (3, 3, 3)), {n: list("pqr") for n in "abc"})
    pairs = [Tabulation.from_table(whole.margin(*pair)) for pair in (("a", "b"), ("b", "c"), ("a", "c"))]
    found = dc.suppress(pairs, Threshold(6), levels=(1, 1))
    assert len(found.release.parts()) == 3
    assert found.audit.verdict == "safe"


def test_refusals() -> None:
    with pytest.raises(RequestError, match="nothing says which cells are sensitive"):
        Suppression()
    with pytest.raises(RequestError, match="method is 'best'"):
        Suppression(Threshold(3), method="best")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="status of a cell is 'keep'; it is 'publish', 'suppress' or 'hide'"):
        Wish({"r": "a"}, "keep")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="level of cell"):
        Wish({"r": "a"}, "suppress", lower=-1)
    with pytest.raises(RequestError, match="has no category 'q'"):
        dc.suppress(table(), wishes=(Wish({"area": "q"}, "suppress"),))
    with pytest.raises(RequestError, match="is not a frame"):
        dc.suppress([3], Threshold(3))
    with pytest.raises(RequestError, match="bound on the risk"):
        Suppression(risk=0)


def test_a_pattern_that_fails_the_audit_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Pattern.positions.func  # type: ignore[attr-defined]

    def leak(self: Pattern) -> object:
        hidden = whole(self).copy()
        hidden[np.flatnonzero(hidden & ~self.problem.demands.sensitive)[:1]] = False
        return hidden

    monkeypatch.setattr(Pattern, "positions", property(leak))
    with pytest.raises(UnsafeError, match="the audit does not find the pattern safe"):
        certify(Suppression(Threshold(3), levels=(1, 1)), table())


def test_nothing_sensitive() -> None:
    found = dc.suppress(table(), Threshold(1))
    assert found.pattern.counts == {"published": 16, "primary": 0, "secondary": 0}
    assert "nothing is suppressed" in str(found)


def test_p_percent_levels_hold_in_a_table_of_firms() -> None:
    rng = np.random.default_rng(8)
    n = 400
    firms = pd.DataFrame(
        {
            "branch": rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.2, 0.07, 0.03]),
            "region": rng.choice(list("uvwx"), n, p=[0.5, 0.3, 0.15, 0.05]),
            "turnover": np.round(rng.lognormal(3, 1.5, n)),
            "firm": np.arange(n),
            "group": rng.integers(0, 200, n),
        }
    )
    cells = dc.tabulate(firms, ["branch", "region"], value="turnover", contributor="firm", holding="group")
    for method in ("fast", "optimal"):
        found = dc.suppress(cells, PPercent(10, level="holding"), method=method)
        sensitive = dc.sensitivity(cells, [PPercent(10, level="holding")])
        assert found.pattern.counts["primary"] == int(sensitive.sensitive.sum()) > 0
        for cell in dc.audit(found.release, proofs=0).cells:
            at = cells.find({k: v for k, v in cell.cell.items() if v != "Total"})
            value = float(cells.responses[0].sums[at])
            assert cell.lower <= value - np.nan_to_num(sensitive.lower[at])
            assert cell.upper >= value + np.nan_to_num(sensitive.upper[at])


def test_a_pattern_refuses_a_circuit_that_changes_a_sum_beside_others_that_do_not() -> None:
    found = Suppression(Threshold(3), levels=(1, 1)).pattern(table())
    first = found.circuits[0]
    replace(found, circuits=(first, first)).check()
    other = first.moves.copy()
    other[first.cells != first.cell] = 0
    with pytest.raises(AssertionError, match="changes a sum"):
        replace(found, circuits=(first, replace(first, moves=other), first)).check()
