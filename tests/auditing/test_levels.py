"""Protection levels: from rules, shares of the original and by hand; nothing of the original enters an interval."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from tests.auditing.examples import geurts

import discreet as dc
from discreet import Figures, Limits, Tabulation
from discreet.rules import Dominance, PPercent, Sensitivity, Threshold, sensitivity
from discreet.table.attacker import Attacker, Contribution, Fact
from discreet.tabulation import tabulate

FIRMS = pd.DataFrame(
    [
        # 330 = 300 + 20 + 10: p% 10 asks for 0, (1, 85)-dominance for 22.94 more.
        ("A", "n", "a1", 300), ("A", "n", "a2", 20), ("A", "n", "a3", 10),
        ("A", "s", "a4", 100), ("A", "s", "a5", 90), ("A", "s", "a6", 95), ("A", "s", "a7", 60),
        ("B", "n", "b1", 80), ("B", "n", "b2", 75), ("B", "n", "b3", 70), ("B", "n", "b4", 60),
        ("B", "s", "b5", 50), ("B", "s", "b6", 45), ("B", "s", "b7", 55), ("B", "s", "b8", 44),
    ],
    columns=["activity", "region", "firm", "turnover"],
)  # fmt: skip


def firms() -> Tabulation:
    return tabulate(FIRMS, ["activity", "region"], value="turnover", contributor="firm")


def hidden(cells: Tabulation, *names: dict[str, str]) -> Figures:
    mask = np.zeros(len(cells), bool)
    for name in names:
        mask[cells.find(name)] = True
    return Figures.of_tabulation(cells, hidden=mask)


SQUARE = [{"activity": a, "region": r} for a in "AB" for r in "ns"]


def judged(rule: object = None) -> Sensitivity:
    return sensitivity(firms(), [rule or Dominance(1, 85)])  # type: ignore[list-item]


def test_the_levels_of_a_rule_decide() -> None:
    found = judged()
    assert [found.tabulation.label(int(i)) for i in found.cells] == [{"activity": "A", "region": "n"}]
    assert found.upper[found.cells[0]] == pytest.approx(352.941 - 330, abs=1e-3)
    shown = hidden(firms(), *SQUARE)
    result = dc.audit(shown, sensitivity=found)
    cell = result.cell(activity="A", region="n", attacker="outsider")
    assert cell.upper >= 352.95
    assert (result.verdict, cell.verdict) == ("safe", "safe")
    # The interval is what an outsider works out; with the original it is the same.
    assert (cell.lower, cell.upper) == (dc.audit(shown).cell(activity="A", region="n").lower, cell.upper)
    # Respondents are tried too, each with what it contributed.
    assert result.cell(activity="A", region="s", attacker="respondent a1").upper == 675 - 300


def test_cells_that_miss_their_levels_are_listed_with_interval_and_proof() -> None:
    near = Figures.of_tabulation(
        firms(), hidden=np.isin(np.arange(len(firms())), [firms().find(cell) for cell in SQUARE])
    )
    ranges = [dc.table.attacker.Fact({"activity": "A", "region": "n"}, 325, 340)]
    result = dc.audit(near, sensitivity=judged(), knows=ranges)
    (wrong,) = [cell for cell in result.cells if cell.verdict == "unsafe"]
    assert wrong.faults == ("upper protection level not reached",) or set(wrong.faults) == {
        "lower protection level not reached",
        "upper protection level not reached",
    }
    assert (wrong.attacker, wrong.lower, wrong.upper) == ("outsider", 325, 340)
    assert wrong.proof
    assert "352" not in json.dumps(result.to_dict())


def test_a_sensitive_cell_in_print_is_a_finding() -> None:
    shown = Figures.of_tabulation(firms())
    result = dc.audit(shown, sensitivity=judged())
    assert result.verdict == "unsafe"
    assert result.cell(activity="A", region="n").faults == ("sensitive, but published exactly",)
    alone = hidden(firms(), {"activity": "A", "region": "n"})
    assert dc.audit(alone, sensitivity=judged()).cell(activity="A", region="n").faults == ("can be worked out exactly",)


def test_a_sensitive_margin_that_nobody_printed_is_judged_too() -> None:
    cells = tabulate(
        FIRMS[FIRMS.activity == "A"].iloc[:3], ["activity", "region"], value="turnover", contributor="firm"
    )
    inner = Figures.from_array([[330]], {"activity": ["A"], "region": ["n"]})
    result = dc.audit(inner, sensitivity=sensitivity(cells, [Dominance(1, 85)]))
    assert {cell.name for cell in result.cells if cell.verdict == "unsafe"} == {
        "activity=A, region=n",
        "activity=A",
        "region=n",
        "total",
    }


def test_cells_that_only_help_others_may_be_worked_out() -> None:
    cells = firms()
    extra = hidden(cells, *SQUARE, {"activity": "A"})
    result = dc.audit(extra, sensitivity=judged())
    helper = result.cell(activity="A")
    assert (helper.values, helper.verdict) == (1, "safe")
    assert "1 hidden figure that no rule calls sensitive can be worked out" in result.sentence
    assert dc.audit(extra).verdict == "unsafe"


def test_sensitive_cells_that_no_table_crosses_leave_the_audit_incomplete() -> None:
    cells = firms()
    only = Figures.from_array([815, 499, 1314 - 160], {"activity": ["A", "B", "Total"]}, absent="unpublished")
    mask = cells.inner(["activity"])
    only = Figures.from_array(
        [*(int(v) for v in cells.responses[0].sums[mask]), int(cells.responses[0].sums[0])],
        {"activity": ["A", "B", "Total"]},
    )
    result = dc.audit(only, sensitivity=judged())
    assert result.verdict == "incomplete"
    assert "1 sensitive cell is crossed by no published table" in result.sentence


def test_levels_by_hand_and_sliding() -> None:
    key = (("column", "1"), ("row", "1"))
    assert dc.audit(geurts(), limits=Limits(levels={key: (3, 6)})).verdict == "safe"
    for level, fault in (
        ((2, 6), "lower protection level not reached"),
        ((3, 7), "upper protection level not reached"),
        ((4, 5, 3.5), "interval narrower than the sliding protection level"),
    ):
        result = dc.audit(geurts(), limits=Limits(levels={key: level}))
        assert (result.verdict, result.cell(row=1, column=1).faults) == ("unsafe", (fault,))
    assert dc.audit(geurts(), limits=Limits(levels={key: (4, 5, 3)})).verdict == "safe"


def test_the_release_must_be_true_to_what_was_judged() -> None:
    other = FIRMS.assign(turnover=FIRMS.turnover + 1)
    wrong = sensitivity(tabulate(other, ["activity", "region"], value="turnover", contributor="firm"), [PPercent(10)])
    with pytest.raises(dc.DataError, match="was not made from this original"):
        dc.audit(hidden(firms(), *SQUARE), sensitivity=wrong)


def test_shares_of_a_tabulation() -> None:
    shown = hidden(firms(), *SQUARE)
    assert dc.audit(shown, original=firms(), protection=10, insiders="none").verdict == "safe"
    assert dc.audit(shown, original=firms(), protection=100, insiders="none").verdict == "unsafe"
    # Firm a1 knows its 300 of A in the north, and so more of A in the south than outsiders do.
    assert dc.audit(shown, original=firms(), protection=10).verdict == "unsafe"


def test_counts_against_a_threshold() -> None:
    table = dc.Table.from_array([[1, 9], [8, 7]], {"a": ["x", "y"], "b": ["m", "n"]})
    cells = Tabulation.from_table(table)
    rules = sensitivity(cells, [Threshold(3)])
    inner = np.array([cells.label(i)["a"] != "Total" and cells.label(i)["b"] != "Total" for i in range(len(cells))])
    assert dc.audit(Figures.of_tabulation(cells, hidden=inner), sensitivity=rules).verdict == "safe"
    rounded = dc.protect.random_rounding(table, base=3, seed=1)
    assert dc.audit(rounded, sensitivity=rules, limits=Limits()).cell(a="x", b="m").verdict in ("safe", "unsafe")


def test_only_the_verdict_is_the_same_verdict() -> None:
    rng = np.random.default_rng(5)
    verdicts = []
    for _ in range(40):
        truth = rng.integers(0, 8, (4, 4))
        cells = Tabulation.from_table(dc.Table.from_array(truth, ["a", "b"])).with_empty_cells()
        rules = sensitivity(cells, [Threshold(3)])
        if not rules.cells.size:
            continue
        cover = rules.sensitive | (rng.random(len(cells)) < 0.5)
        shown = Figures.of_tabulation(cells, hidden=cover, mark=dc.Kind("suppressed", least=0))
        full = dc.audit(shown, sensitivity=rules)
        quick = dc.audit(shown, sensitivity=rules, verdict_only=True)
        assert quick.verdict == full.verdict
        wrong = {cell.name: (cell.lower, cell.upper, cell.faults) for cell in full.cells if cell.verdict == "unsafe"}
        assert {c.name: (c.lower, c.upper, c.faults) for c in quick.cells if c.verdict == "unsafe"} == wrong
        assert len(quick.cells) == rules.cells.size
        verdicts.append(full.verdict)
    assert {"safe", "unsafe"} == set(verdicts)
    with pytest.raises(dc.RequestError, match=r"only protection levels are judged so .*original= and sensitivity="):
        dc.audit(geurts(), verdict_only=True)


@pytest.mark.parametrize(
    "attacker",
    [
        Attacker("one of two in a published cell", (Contribution({"r": "3", "c": "3"}, 3, 1),)),
        Attacker("knows the cell", (), (Fact({"r": "1", "c": "1"}, 8, 8),)),
        Attacker("knows the cell beside", (), (Fact({"r": "1", "c": "2"}, 8, 8),)),
    ],
    ids=lambda attacker: attacker.name,
)
def test_only_the_verdict_is_the_same_for_insiders(attacker: Attacker) -> None:
    both = {"r": [1, 2, 3, "Total"], "c": [1, 2, 3, "Total"]}
    published = Figures.from_array([[None, None, 4, 20], [None, None, 5, 20], [6, 7, 8, 21], [22, 22, 17, 61]], both)
    limits = Limits(levels={(("c", "1"), ("r", "1")): (7, 9)})
    for quick in (True, False):
        assert dc.audit(published, limits=limits, verdict_only=quick).verdict == "safe"
        assert dc.audit(published, limits=limits, attackers=[attacker], verdict_only=quick).verdict == "unsafe"


def test_that_nothing_needs_protection_is_believed_of_levels_alone() -> None:
    """A cell that can be worked out is not made safe by a list of levels without an entry."""
    alone = Figures.from_array(
        [[None, 4, 7], [2, 1, 3], [5, 5, 10]], {"row": [1, 2, "Total"], "column": [1, 2, "Total"]}
    )
    assert dc.audit(alone, limits=Limits(levels={}), verdict_only=True).verdict == "safe"
    assert dc.audit(alone, limits=Limits(levels={})).verdict == "unsafe"


def test_linked_tables_without_a_sensitive_cell_are_released_whole() -> None:
    codes = [f"{i}" for i in range(30)]
    counts = np.full((30, 30), 50)
    tables = [dc.Table.from_array(counts, {"a": codes, other: codes}) for other in ("b", "c", "d")]
    found = dc.suppress(tables, Threshold(3), levels=(1, 1))
    assert found.audit.verdict == "safe"
    assert not any(part.hidden.any() for part in found.release.parts())


def test_rules_that_find_nothing_are_an_answer() -> None:
    cells = firms()
    content = sensitivity(cells, [PPercent(1)])
    assert not content.cells.size
    result = dc.audit(Figures.of_tabulation(cells), sensitivity=content)
    assert (result.verdict, result.cells) == ("safe", ())
    assert "The rules call no cell sensitive" in result.sentence


def test_a_rule_without_levels_still_asks_that_a_cell_is_not_worked_out() -> None:
    own = sensitivity(firms(), [lambda cells: cells.value == 330])
    for quick in (False, True):
        shown = dc.audit(hidden(firms(), *SQUARE), sensitivity=own, verdict_only=quick)
        assert shown.verdict == "safe"
        alone = dc.audit(hidden(firms(), SQUARE[0]), sensitivity=own, verdict_only=quick)
        assert alone.cell(activity="A", region="n").faults == ("can be worked out exactly",)
