"""domingo2002 sections 3 and 4, and the other worked examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.auditing.examples import SIZES, TABLE_2, geurts, table_1

import discreet as dc
from discreet import Attacker, Figures, Hierarchy, Kind, Limits, Release, Table
from discreet.auditing.audit_result import Audit, CellAudit
from discreet.table.attacker import Contribution, Fact
from discreet.table.contributions import Contributions
from discreet.table.equations import equations_of


def test_cell_suppression() -> None:
    result = dc.audit(table_1())
    assert {(c.cell["activity"], c.cell["size"]): (c.lower, c.upper) for c in result.cells} == {
        ("5", "5"): (0, 406),
        ("5", "7"): (1131, 1537),
        ("6", "5"): (0, 406),
        ("6", "7"): (845, 1251),
    }
    assert {c.values for c in result.cells} == {407}
    assert all(c.dr == pytest.approx(1 / math.log2(407)) == pytest.approx(0.1153, abs=1e-4) for c in result.cells)
    assert result.cells[0].prior_bits == pytest.approx(math.log2(20140))
    assert result.verdict == "safe"
    proof = result.cell(activity="5", size="7").proof
    assert "= 3,898 − 592 − 329 − 1,440 = 1,537" in proof
    assert all(law.bits == pytest.approx(math.log2(407)) for law in dc.audit(table_1(), law="tables").cells)
    assert dc.audit(table_1(), law="tables").tables == 407


@pytest.mark.parametrize(("base", "published", "low", "high"), [(5, 10, 8, 12), (4, 8, 6, 9), (10, 0, 0, 4)])
def test_conventional_rounding_without_margins(base: int, published: int, low: int, high: int) -> None:
    shown = Figures.from_array([published], {"x": ["1"]}, kind=Kind("conventional", base=base))
    cell = dc.audit(shown).cells[0]
    assert (cell.lower, cell.upper, cell.values) == (low, high, high - low + 1)
    assert cell.dr == pytest.approx(1 / math.log2(high - low + 1))


def test_rounding_with_margins_is_narrower() -> None:
    labels = {"r": ("1", "2", "Total")}
    rounded, exact = Kind("conventional", base=5), Kind()
    apart = dc.audit(Figures.from_array([5, 5], {"r": ["1", "2"]}, kind=rounded))
    assert [(c.lower, c.upper) for c in apart.cells] == [(3, 7), (3, 7)]
    values, kinds = np.array([5, 5, 14]), np.array([0, 0, 2])
    both = Figures(labels, np.array([[0], [1], [2]]), values, kinds, (rounded, Kind("suppressed"), exact))
    assert [(c.lower, c.upper) for c in dc.audit(both).cells] == [(7, 7), (7, 7)]
    assert dc.audit(both).verdict == "unsafe"


def test_controlled_rounding_publishes_margins_that_add_up() -> None:
    shown = Figures.from_array(
        [[5, 0, 5], [0, 5, 5], [10, 20, 30], [15, 25, 40]],
        {"r": [1, 2, 3, "Total"], "c": [1, 2, "Total"]},
        kind=Kind("controlled", base=5),
    )
    truth = {("1", "1"): 1, ("1", "2"): 0, ("2", "1"): 3, ("2", "2"): 3, ("3", "1"): 12, ("3", "2"): 20}
    for (r, c), value in truth.items():
        cell = dc.audit(shown).cell(r=r, c=c)
        assert cell.lower <= value <= cell.upper


def test_redesign() -> None:
    trees = {
        "activity": (
            Hierarchy.from_parents([(a, None) for a in ("2,3", "4", "5,6", "7")] + [("5", "5,6"), ("6", "5,6")]),
        )
    }
    labels = {"activity": list(TABLE_2), "size": SIZES}
    shown = Figures.from_array(list(TABLE_2.values()), labels, hierarchies=trees, absent="unpublished")
    result = dc.audit(shown, about=["activity", "size"])
    for activity in ("5", "6"):
        found = [result.cell(activity=activity, size=size) for size in SIZES[:-1]]
        assert [(c.lower, c.upper) for c in found] == [(0, 649), (0, 406), (0, 1275), (0, 2382), (0, 3467)]
    total = dc.audit(shown, sums={"all of 5": [{"activity": "5"}]}).cells
    assert [(c.lower, c.upper) for c in total if c.cell == {"sum": "all of 5"}] == [(0, 8179)]


def three_way() -> tuple[np.ndarray, dict[str, list[str]]]:
    truth = np.array([[[3, 1, 0], [2, 0, 4]], [[0, 5, 1], [1, 2, 2]], [[6, 0, 0], [0, 1, 0]]])
    return truth, {"activity": ["a", "b", "c"], "size": ["s", "l"], "region": ["n", "m", "o"]}


def linked(*pairs: str) -> list[Figures]:
    truth, labels = three_way()
    names = list(labels)
    parts = []
    for pair in pairs:
        kept = [name for name in names if name[0] in pair]
        axis = tuple(i for i, name in enumerate(names) if name not in kept)
        parts.append(Figures.from_array(truth.sum(axis=axis).tolist(), {n: labels[n] for n in kept}, name=pair))
    return parts


def test_linked_tables_in_three_scenarios() -> None:
    truth, labels = three_way()
    first, second, third = (dc.audit(linked(*p), about=labels) for p in (["as"], ["as", "ar"], ["as", "ar", "sr"]))
    a_s, a_r = truth.sum(axis=2), truth.sum(axis=1)
    a = truth.sum(axis=(1, 2))
    widths = []
    for i, j, k in np.ndindex(*truth.shape):
        cell = {"activity": labels["activity"][i], "size": labels["size"][j], "region": labels["region"][k]}
        one, two, three = (cell_of(result, cell) for result in (first, second, third))
        assert (one.lower, one.upper) == (0, a_s[i, j])
        bound = (max(0, a_s[i, j] + a_r[i, k] - a[i]), min(a_s[i, j], a_r[i, k]))
        assert (two.lower, two.upper) == bound
        assert two.lower <= three.lower <= truth[i, j, k] <= three.upper <= two.upper
        widths.append((two.upper - two.lower) - (three.upper - three.lower))
    assert sum(widths) > 0
    assert third.verdict == "unsafe"


def cell_of(result: Audit, cell: dict[str, str]) -> CellAudit:
    return next(c for c in result.cells if dict(c.cell) == cell)


def test_insider_of_the_paper() -> None:
    shown = Figures.from_array([1000, None], {"x": ["1", "2"]}, kind=Kind("conventional", base=10))
    result = dc.audit(shown, attackers=[Attacker.insider({"x": "1"}, 400)])
    outside, inside = result.cell("outsider", x="1"), result.cell("insider", x="1")
    assert (outside.lower, outside.upper) == (995, 1004)
    assert (inside.lower, inside.upper, inside.values) == (595, 604, 10)


def test_example_of_dominance() -> None:
    """(59, 40, 1) leaves the largest at most 60 to the second, (61, 20, 19) at most 80."""
    for own, others, most in ((40, 2, 60), (20, 2, 80)):
        shown = Figures.from_array([100], {"x": ["1"]})
        seen = dc.audit(
            [shown], attackers=[Attacker.insider({"x": "1"}, own, others=others)], sums={"all": [{"x": "1"}]}
        )
        assert seen.cell("insider", x="1").upper == most


def test_coalition_and_holding() -> None:
    cell = {"x": "1"}
    pair = Attacker.coalition([Attacker.insider(cell, 30, others=2), Attacker.insider(cell, 20, others=2)])
    assert pair.contributions == (Contribution(cell, 50, 1),)


def test_somebody_alone_undoes_the_protection_of_another_cell() -> None:
    shown = Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]})
    assert dc.audit(shown).verdict == "safe"
    people = Contributions.from_rows([({"x": "1"}, "A", 4), *(({"x": "2"}, name, 1) for name in "BCDEF")])
    result = dc.audit(shown, contributions=people)
    assert result.verdict == "unsafe"
    assert result.cell("A", x="2").lower == result.cell("A", x="2").upper == 5


def test_prior_knowledge() -> None:
    shown = Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]})
    cell = dc.audit(shown, knows=[Fact.nonzero({"x": "1"}), Fact({"x": "2"}, upper=6)]).cell(x="1")
    assert (cell.lower, cell.upper) == (3, 9)
    near = dc.audit(shown, knows=[Fact.within({"x": "1"}, about=4, percent=25)]).cell(x="2")
    assert (near.lower, near.upper) == (4, 6)


def test_geurts() -> None:
    result = dc.audit(geurts(), law="tables")
    cell = result.cell(row=1, column=1)
    assert (cell.lower, cell.upper, cell.bits, cell.dr, result.tables) == (3, 6, 2, 0.5, 4)


def test_differencing_names_the_cells_and_shows_the_subtraction() -> None:
    inner, outer = [[50, 54], [128, 140], [39, 49]], [[52, 55], [130, 140], [39, 49]]
    tree = Hierarchy.from_parents({"old town": "city", "new part": "city", "city": "Total"})
    labels = {"age": ["1", "2", "3"], "sex": ["m", "f"]}
    parts = [
        Figures.from_array(
            [rows], {"place": [place], **labels}, hierarchies={"place": (tree,)}, name=place, absent="unpublished"
        )
        for place, rows in (("old town", inner), ("city", outer))
    ]
    assert dc.audit(parts[1], about=["place", "age", "sex"]).cell(place="new part", age="1", sex="m").upper == 52
    result = dc.audit(parts, about=["place", "age", "sex"])
    found = {(c.cell["age"], c.cell["sex"]): c for c in result.cells if c.cell["place"] == "new part"}
    assert [found[a, s].lower for a in "123" for s in "mf"] == [2, 1, 2, 0, 0, 0]
    assert all(c.values == 1 for c in found.values())
    assert "= 52 − 50 = 2" in found["1", "m"].proof
    assert result.verdict == "unsafe"


def test_other_tables_narrow_what_one_table_hides() -> None:
    labels = {"x": ["1", "2", "Total"], "y": ["1", "2", "Total"]}
    first = Figures.from_array([[None, None, 8], [None, None, 5], [6, 7, 13]], labels, name="first")
    second = Figures.from_array([[2]], {"x": ["1"], "y": ["1"]}, name="second", absent="unpublished")
    cell = dc.audit([first, second]).cell(x="1", y="2")
    assert (cell.lower, cell.upper, cell.alone) == (6, 6, (2, 7))
    assert cell.by_linking
    shown = dc.audit([first, second]).cell(x="1", y="1")
    assert shown.verdict == "unsafe"
    assert "published" in shown.proof


def test_releases_of_our_own_protections() -> None:
    table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    rounded = dc.protect.random_rounding(table, base=3, seed=1)
    for cell in dc.audit(rounded, law="method").cells:
        true = table.at(
            np.array([np.ravel_multi_index((int(cell.cell["area"]) - 1, int(cell.cell["sex"]) - 1), (2, 2))])
        )
        assert cell.lower <= true <= cell.upper
        assert cell.bits < math.log2(cell.values)
    sample = dc.protect.random_sample(table, 6, seed=1, known_total=True)
    # Whoever knows that 6 of 14 were sampled knows that a cell has at most 8 more than the sample.
    assert all(cell.upper == cell.lower + 8 for cell in dc.audit(sample).cells)
    assert dc.audit(Release(table, "as published")).cells == ()


def test_decimals() -> None:
    shown = Figures.from_array([None, None, 125], {"x": ["1", "2", "Total"]}, decimals=1)
    cell = dc.audit(shown).cells[0]
    assert (cell.lower, cell.upper, cell.values) == (0, 12.5, 126)


def test_limits_and_time() -> None:
    assert dc.audit(geurts(), limits=Limits(width=3)).verdict == "safe"
    assert dc.audit(geurts(), limits=Limits(width=4)).verdict == "unsafe"
    assert dc.audit(geurts(), limits=Limits(dr=0.4)).verdict == "unsafe"
    hurried = dc.audit(geurts(), time_limit=0.0)
    assert hurried.verdict == "incomplete"
    assert all(c.verdict == "incomplete" and not c.finished for c in hurried.cells)
    complete = {c.name: c for c in dc.audit(geurts()).cells}
    assert all(c.lower <= complete[c.name].lower and c.upper >= complete[c.name].upper for c in hurried.cells)


def test_protection_levels_of_the_original() -> None:
    both = {"row": [1, 2, 3, "Total"], "column": [1, 2, "Total"]}
    truth = Figures.from_array([[5, 2, 7], [1, 2, 3], [3, 3, 6], [9, 7, 16]], both, name="original")
    assert dc.audit(geurts(), original=truth, protection=20).verdict == "safe"
    assert dc.audit(geurts(), original=truth, protection=50).verdict == "unsafe"
    other = Figures.from_array([[5, 2, 7], [1, 2, 3], [3, 4, 7], [9, 8, 17]], both, name="original")
    with pytest.raises(dc.DataError, match="was not made from this original"):
        dc.audit(geurts(), original=other)


def test_the_original_is_neither_needed_nor_shown() -> None:
    a = dc.audit(geurts())
    both = {"row": [1, 2, 3, "Total"], "column": [1, 2, "Total"]}
    truth = Figures.from_array([[4, 3, 7], [2, 1, 3], [3, 3, 6], [9, 7, 16]], both)
    b = dc.audit(geurts(), original=truth)
    assert a.to_dict() == b.to_dict()


def test_linked_tables_are_not_crossed_in_full() -> None:
    """Six tables that share one dimension need their own cells, not the 4 × 12⁶ of their crossing."""
    rng = np.random.default_rng(1)
    parts = []
    for number in range(6):
        counts = rng.multinomial(50, np.ones(12) / 12, size=4)
        rows: list[list[int | None]] = [[*map(int, row), 50] for row in counts]
        rows[0][0] = rows[0][1] = rows[1][0] = rows[1][1] = None
        labels = {"region": ["1", "2", "3", "4"], f"v{number}": [*map(str, range(12)), "Total"]}
        parts.append(Figures.from_array(rows, labels, name=f"table {number}"))
    equations = equations_of(parts)
    assert equations.positions.size == 5 + 6 * 5 * 12
    assert len(dc.audit(parts).cells) == 24
