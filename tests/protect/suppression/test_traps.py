"""Patterns that look safe and are not: the traps of cell suppression."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.core.errors import InfeasibleError
from discreet.protect import Wish
from discreet.rules import PPercent, Threshold
from discreet.table.attacker import Attacker
from discreet.table.tabulation import Tabulation


def firms(rows: list[tuple[str, str, float]], **more: list[str]) -> Tabulation:
    frame = pd.DataFrame(rows, columns=["branch", "size", "x"]).assign(**more)
    frame["firm"] = [f"f{i}" for i in range(len(frame))]
    holding = {"holding": "group"} if "group" in more else {}
    return dc.tabulate(frame, ["branch", "size"], value="x", contributor="firm", **holding)  # type: ignore[arg-type]


def many(branch: str, size: str, amount: float = 20.0) -> list[tuple[str, str, float]]:
    return [(branch, size, amount + k) for k in range(5)]


def hidden_cells(found: object) -> set[tuple[str, ...]]:
    release = found.release.parts()[0]  # type: ignore[attr-defined]
    rows = np.flatnonzero(release.hidden)
    return {
        tuple(release.labels[n][int(c)] for n, c in zip(release.names, release.codes[r], strict=True)) for r in rows
    }


def interval(found: object, attacker: Attacker, **cell: str) -> tuple[float, float]:
    seen = dc.audit(found.release, attackers=[attacker]).cells  # type: ignore[attr-defined]
    mine = [c for c in seen if c.attacker in (attacker.name, "outsider") and {**c.cell, **cell} == dict(c.cell)]
    return max(c.lower for c in mine), min(c.upper for c in mine)


def test_three_singletons_in_one_row() -> None:
    rows = [("a", "s", 10.0), ("a", "m", 11.0), ("a", "l", 12.0), *many("a", "xl")]
    rows += [row for b in "bc" for s in ("s", "m", "l", "xl") for row in many(b, s)]
    found = dc.suppress(firms(rows), Threshold(2, safety_range=20))
    for mine, value in (("s", 10.0), ("m", 11.0), ("l", 12.0)):
        knows = Attacker.insider({"branch": "a", "size": mine}, value, others=0, name=mine)
        for other, true in (("s", 10.0), ("m", 11.0), ("l", 12.0)):
            if other != mine:
                low, high = interval(found, knows, branch="a", size=other)
                assert low <= 0.8 * true
                assert high >= 1.2 * true


def test_two_singletons_in_a_row_do_not_protect_each_other() -> None:
    rows = [("a", "s", 10.0), ("a", "m", 11.0), *many("a", "l")]
    rows += [("b", "s", 5.0), ("b", "m", 6.0), *many("b", "l"), *many("c", "s"), *many("c", "m"), *many("c", "l")]
    alone = dc.suppress(firms(rows), Threshold(2, safety_range=20), insiders="none")
    assert hidden_cells(alone) == {("a", "s"), ("a", "m"), ("b", "s"), ("b", "m")}
    together = dc.suppress(firms(rows), Threshold(2, safety_range=20), insiders="singletons")
    assert hidden_cells(together) > hidden_cells(alone)
    knows = Attacker.insider({"branch": "a", "size": "s"}, 10.0, others=0, name="f0")
    low, high = interval(together, knows, branch="a", size="m")
    assert (low, high) != (11.0, 11.0)
    assert low <= 8.8
    assert high >= 13.2
    assert interval(alone, knows, branch="a", size="m") == (11.0, 11.0)


def test_two_contributors_see_through_a_cell_that_looks_wide() -> None:
    rows = [("a", "s", 90.0), ("a", "s", 10.0), ("a", "m", 95.0), ("a", "m", 3.0), *many("a", "l")]
    rows += [("b", "s", 1.0), ("b", "s", 99.0), ("b", "m", 60.0), ("b", "m", 40.0), *many("b", "l")]
    rows += [row for s in ("s", "m", "l") for row in many("c", s)]
    table = firms(rows)
    blind, seeing = (dc.suppress(table, PPercent(10), insiders=who) for who in ("none", "respondents"))
    # Whoever put 99 of 100 into b × s knows that it moves by 1 at most, and so the whole cycle.
    knows = Attacker.insider({"branch": "b", "size": "s"}, 99.0, others=1, name="big")
    value, level = 98.0, 0.1 * 95
    low, high = interval(seeing, knows, branch="a", size="m")
    assert low <= value - level
    assert high >= value + level
    assert seeing.pattern.cost >= blind.pattern.cost
    assert seeing.audit.verdict == "safe"


def test_a_holding_counts_as_one() -> None:
    rows = [("a", "s", 30.0), ("a", "s", 30.0), ("a", "s", 30.0), *many("a", "m"), *many("b", "s"), *many("b", "m")]
    groups = ["h1"] * 3 + [f"g{i}" for i in range(len(rows) - 3)]
    table = firms(rows, group=groups)
    assert dc.suppress(table, Threshold(2)).pattern.counts["primary"] == 0
    found = dc.suppress(table, Threshold(2, level="holding"))
    assert found.pattern.counts["primary"] == 1
    assert ("a", "s") in hidden_cells(found)


def test_a_row_with_one_figure_that_is_not_zero() -> None:
    table = dc.Table.from_array([[2, 0, 0], [7, 6, 9], [9, 8, 5]], {"r": list("abc"), "c": list("xyz")})
    found = dc.suppress(table, wishes=(Wish({"r": "a", "c": "x"}, "suppress", lower=1, upper=1),))
    hidden = hidden_cells(found)
    # The total of the row is the cell itself: both go, or the cell is in print.
    assert {("a", "x"), ("a", "Total")} <= hidden
    assert found.audit.verdict == "safe"
    assert "equals sensitive cell" in found.pattern.reason(found.pattern.problem.cells.equations.find({"r": "a"}))


def test_a_single_sensitive_cell_in_an_empty_row_needs_a_total() -> None:
    table = dc.Table.from_array([[2, 0, 0], [7, 6, 9], [9, 8, 5]], {"r": list("abc"), "c": list("xyz")})
    wishes = (Wish({"r": "a", "c": "x"}, "suppress", lower=1, upper=0), Wish({"r": "a"}, "publish"))
    with pytest.raises(InfeasibleError, match=r"cell r=a, c=x cannot be protected.*these are published: r=a; let zer"):
        dc.suppress(table, wishes=wishes)
    # The total is named; zeros that may be suppressed are another way out, which the error proposes.
    found = dc.suppress(table, wishes=wishes, zeros="suppressible")
    assert {("a", "x"), ("a", "y")} <= hidden_cells(found) or {("a", "x"), ("a", "z")} <= hidden_cells(found)
    assert ("a", "Total") in hidden_cells(dc.suppress(table, wishes=wishes[:1]))
    # Neither zeros nor the total: above its value the cell cannot go.
    above = (Wish({"r": "a", "c": "x"}, "suppress", lower=0, upper=1), Wish({"r": "a"}, "publish"))
    with pytest.raises(InfeasibleError, match=r"cannot be protected by \+1 while these are published: r=a; allow"):
        dc.suppress(table, wishes=above, zeros="suppressible")


def test_everything_forced_to_be_published() -> None:
    table = dc.Table.from_array([[2, 5], [7, 6]], {"r": list("ab"), "c": list("xy")})
    everything = [{"r": r, "c": c} for r in ("a", "b", "Total") for c in ("x", "y", "Total")]
    wishes = tuple(Wish(cell, "publish") for cell in everything if cell != {"r": "a", "c": "x"})
    with pytest.raises(InfeasibleError, match=r"cannot be protected.*while these are published: "):
        dc.suppress(table, Threshold(3), levels=(1, 1), wishes=wishes)
    with pytest.raises(InfeasibleError, match="sensitive and must be published"):
        dc.suppress(table, Threshold(3), wishes=(Wish({"r": "a", "c": "x"}, "publish"),))


def linked_pair() -> tuple[Tabulation, Tabulation]:
    counts = np.array([[[2, 7], [9, 8]], [[8, 9], [1, 7]], [[9, 6], [8, 9]]])
    whole = dc.Table.from_array(counts, {"a": list("pqr"), "b": ["u", "v"], "c": ["x", "y"]})
    ab, ac = (Tabulation.from_table(whole.margin("a", other)) for other in "bc")
    return ab, ac


def test_linked_tables_that_are_safe_apart_and_unsafe_together() -> None:
    by_b = dc.Table.from_array([[2, 17, 16], [9, 8, 12]], {"a": ["p", "q"], "b": ["u", "v", "w"]})
    by_c = dc.Table.from_array([[20, 15], [14, 15]], {"a": ["p", "q"], "c": ["x", "y"]})
    wish = Wish({"a": "p", "b": "u"}, "suppress", lower=1, upper=1)
    totals = tuple(Wish({"b": b}, "publish") for b in "uvw") + tuple(Wish({"b": b, "a": "q"}, "publish") for b in "uvw")
    # Alone, a total over b can go; the other table prints the same total.
    first = dc.suppress(by_b, wishes=(wish, *totals[:3], Wish({"a": "q", "b": "v"}, "publish")), cost="cells")
    second = Tabulation.from_table(by_c)
    joint = dc.audit([first.release, dc.Release.of(dc.Figures.of_tabulation(second))])
    apart = {tuple(c.cell.values()): (c.lower, c.upper) for c in dc.audit(first.release).cells}
    both = {(c.cell["a"], c.cell["b"]): (c.lower, c.upper) for c in joint.cells if c.cell["c"] == "Total"}
    assert any(both[key] != apart[key] for key in both) or hidden_cells(first) == set(both)
    found = dc.suppress([by_b, by_c], wishes=(wish,), cost="cells")
    assert dc.audit(found.release).verdict == "safe"
    assert len(found.release.parts()) == 2


def test_a_total_that_another_table_prints() -> None:
    # In by_b the row a = p has two figures; suppressing one of them and the row's total would do, were it not for by_c.
    by_b = dc.Table.from_array([[2, 0], [9, 30]], {"a": ["p", "q"], "b": ["u", "v"]})
    by_c = dc.Table.from_array([[1, 1], [20, 19]], {"a": ["p", "q"], "c": ["x", "y"]})
    wish = Wish({"a": "p", "b": "u"}, "suppress", lower=1, upper=1)
    apart = dc.suppress(by_b, wishes=(wish,))
    assert ("p", "Total") in hidden_cells(apart)
    joint = dc.audit([apart.release, dc.Release.of(dc.Figures.of_tabulation(Tabulation.from_table(by_c)))])
    assert joint.verdict == "unsafe"
    found = dc.suppress([by_b, by_c], wishes=(wish,))
    shown = {part.names: part for part in found.release.parts()}
    other = shown[("a", "c")]
    total = [i for i in range(len(other)) if other.describe(i) == "a=p, c=Total"]
    assert other.hidden[total].all()
    assert found.audit.verdict == "safe"
    # Every hidden figure is open, though the tables together tell a crossing that nobody asked to be kept.
    audited = dc.audit(found.release)
    assert {cell.verdict for cell in audited.cells} == {"safe"}
    assert "a=p, b=u, c=x, which none of them shows" in audited.sentence


def test_zeros_and_ones() -> None:
    table = dc.Table.from_array([[1, 0, 4], [0, 1, 6], [5, 7, 1]], {"r": list("abc"), "c": list("xyz")})
    for zeros in ("published", "suppressible"):
        found = dc.suppress(table, Threshold(2), levels=(1, 1), zeros=zeros)
        assert found.audit.verdict == "safe"
        seen = {c.name: (c.lower, c.upper) for c in dc.audit(found.release).cells}
        for cell in ("r=a, c=x", "r=b, c=y", "r=c, c=z"):
            # Where zeros are in print, no mark stands for one.
            assert seen[cell][0] == (1 if zeros == "published" else 0)
            assert seen[cell][1] >= 2
        assert (("a", "y") in hidden_cells(found)) <= (zeros == "suppressible")
    unsafe = dc.suppress(table, Threshold(2, zeros="unsafe"), levels=(0, 1))
    assert {("a", "y"), ("b", "x")} <= hidden_cells(unsafe)


def test_negative_values() -> None:
    rows = [
        ("a", "s", -10.0),
        ("a", "m", 11.0),
        *many("a", "l"),
        *many("b", "s", -30),
        *many("b", "m"),
        *many("b", "l"),
    ]
    table = firms(rows)
    found = dc.suppress(table, Threshold(2, safety_range=50), least=-1000, insiders="singletons")
    # The marks say it themselves.
    for result in (dc.audit(found.release, least=-1000), dc.audit(found.release)):
        cell = result.cell(branch="a", size="s")
        assert cell.lower <= -15
        assert cell.upper >= -5
