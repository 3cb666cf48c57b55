"""The rules against worked examples, against brute force, and against each other."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plain import data_of

from discreet.core.errors import DataError, RequestError
from discreet.rules import (
    PQ,
    RULES,
    CellFigures,
    CustomRule,
    Dominance,
    Finding,
    PPercent,
    Threshold,
    cell_figures,
    explain,
    sensitivity,
)
from discreet.table.tabulation import Tabulation
from discreet.tabulation import tabulate


def table_of(*cells: list[float], weights: list[list[float]] | None = None, top: int = 3) -> Tabulation:
    """A one-way table whose cells have the contributions given."""
    data: dict[str, Any] = {
        "cell": [str(i) for i, cell in enumerate(cells) for _ in cell],
        "x": pa.array([float(x) for cell in cells for x in cell], pa.float64()),
    }
    if weights is not None:
        data["w"] = pa.array([w for cell in weights for w in cell], pa.float64())
    return tabulate(
        pa.table(data),
        ["cell"],
        value="x",
        weight="w" if weights else None,
        margins=[["cell"]],
        top=top,
        engine="reference",
    )


# --- worked examples --------------------------------------------------------------------------------------


def test_dominance_of_300_in_330() -> None:
    found = sensitivity(table_of([300, 20, 10]), [Dominance(1, 85)])
    assert found.sensitive.tolist() == [True]
    assert 330 + found.upper[0] == pytest.approx(352.94, abs=0.005)
    assert found.findings[0].excess[0] == pytest.approx(100 * 300 / 330 - 85)


def test_dominance_misses_what_the_second_contributor_knows() -> None:
    table = table_of([50_000, 49_000, 1_000])
    assert not sensitivity(table, [Dominance(1, 90)]).sensitive[0]
    found = sensitivity(table, [PPercent(10)])
    assert found.sensitive[0]
    assert "to within 1,000 (2.0%)" in found.reason(0)


def test_example_1_of_domingo2002() -> None:
    table = table_of([59, 40, 1], [61, 20, 19])
    assert sensitivity(table, [Dominance(1, 60)]).sensitive.tolist() == [False, True]
    first, second = (explain(table, {"cell": str(i)}, [Dominance(1, 60)]) for i in (0, 1))
    assert (first.bound, first.largest) == (60.0, 59.0)
    assert (second.bound, second.largest) == (80.0, 61.0)
    assert not first.sensitive
    assert second.sensitive
    assert "100 − 40 = 60 for the largest, which is 59" in str(first)
    assert "100 − 20 = 80 for the largest, which is 61" in str(second)


def test_pq_with_q_100_is_the_p_percent_rule() -> None:
    table = table_of([59, 40, 1], [61, 20, 19], [5, 5, 0.5], [7])
    ours, other = sensitivity(table, [PPercent(12)]), sensitivity(table, [PQ(12, 100)])
    assert ours.sensitive.tolist() == other.sensitive.tolist()
    assert ours.upper.tolist() == other.upper.tolist()


@pytest.mark.parametrize(
    ("rule", "cell", "sensitive"),
    [
        # Exactly at the limit is safe: more than k percent, closer than p percent, fewer than m.
        (Dominance(1, 85), [85, 10, 5], False),
        (Dominance(1, 85), [85.001, 10, 4.999], True),
        (PPercent(10), [100, 50, 10], False),
        (PPercent(10), [100, 50, 9.999], True),
        (PQ(10, 50), [100, 50, 20], False),
        (PQ(10, 50), [100, 50, 19.999], True),
        (Threshold(3), [1, 1, 1], False),
        (Threshold(3), [1, 1], True),
        # One and two contributors are always sensitive to inference, nobody who contributes nothing is.
        (PPercent(1), [5], True),
        (PPercent(1), [5, 4], True),
        (PPercent(50), [0, 0, 0], False),
        (Dominance(1, 50), [0, 0, 0], False),
        (PPercent(10, coalition=2), [100, 50, 40, 5], True),
        (PPercent(10, coalition=1), [100, 50, 40, 5], False),
    ],
)
def test_limits(rule: Any, cell: list[float], sensitive: bool) -> None:
    assert sensitivity(table_of(cell), [rule]).sensitive.tolist() == [sensitive]


# --- brute force ------------------------------------------------------------------------------------------


def alike(xs: list[float], ws: list[float]) -> list[tuple[Fraction, Fraction]]:
    """Contributions with their weights, the largest first."""
    return sorted(((Fraction(x), Fraction(w)) for x, w in zip(xs, ws, strict=True)), reverse=True)


def of_the_largest(units: list[tuple[Fraction, Fraction]], places: int) -> Fraction:
    """What the contributors in the first places add up to, taking a sliver of a place at a time."""
    found, left = Fraction(0), Fraction(places)
    for x, w in units:
        taken = min(w, left)
        found, left = found + taken * x, left - taken
    return found


cells = st.lists(st.tuples(st.integers(0, 60), st.integers(4, 20).map(lambda i: i / 4)), min_size=1, max_size=6)


@given(
    cell=cells,
    n=st.integers(1, 3),
    k=st.integers(1, 99),
    p=st.integers(1, 49),
    q=st.integers(50, 100),
    heavy=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_rules_against_brute_force(cell: list[tuple[int, float]], n: int, k: int, p: int, q: int, heavy: bool) -> None:
    xs, ws = [float(x) for x, _ in cell], [w if heavy else 1.0 for _, w in cell]
    table = table_of(xs, weights=[ws])
    units = alike(xs, ws)
    total = sum((x * w for x, w in units), Fraction(0))
    first, both, top = (of_the_largest(units, places) for places in (1, 2, n))
    rest = total - both
    expected = {
        "dominance": (top > total * k / 100, 100 * top / k - total),
        "p_percent": (rest < first * p / 100, first * p / 100 - rest),
        "pq": (rest * q < first * p, first * p / q - rest),
        "threshold": (total > 0 and sum(ws) < n + 1, Fraction(30, 100) * total),
    }
    rules: dict[str, Any] = {
        "dominance": Dominance(n, k, weighted=heavy),
        "p_percent": PPercent(p, weighted=heavy),
        "pq": PQ(p, q, weighted=heavy),
        "threshold": Threshold(n + 1, weighted=heavy),
    }
    for name, rule in rules.items():
        sensitive, level = expected[name]
        found = sensitivity(table, [rule])
        assert bool(found.sensitive[0]) == sensitive, name
        assert found.upper[0] == pytest.approx(float(level) if sensitive else 0.0, abs=1e-9), name
        assert found.lower[0] == found.upper[0]
        assert (found.findings[0].excess[0] > 0) == sensitive or name == "threshold"


@given(xs=st.lists(st.integers(0, 50).map(float), min_size=1, max_size=5), times=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_a_whole_weight_counts_as_so_many_alike_contributors(xs: list[float], times: int) -> None:
    once = table_of(xs, weights=[[float(times)] * len(xs)])
    often = table_of([x for x in xs for _ in range(times)])
    chosen: list[tuple[Any, tuple[float, ...]]] = [
        (Dominance, (2, 70)),
        (PPercent, (15,)),
        (PQ, (10, 60)),
        (Threshold, (4,)),
    ]
    for rule, parameters in chosen:
        heavy = sensitivity(once, [rule(*parameters, weighted=True)])
        plain = sensitivity(often, [rule(*parameters)])
        assert heavy.sensitive.tolist() == plain.sensitive.tolist()
        assert heavy.upper[0] == pytest.approx(plain.upper[0])


# --- combining --------------------------------------------------------------------------------------------


def test_any_and_all() -> None:
    table = table_of([59, 40, 1], [61, 20, 19], [50, 30, 15, 5], [90, 1, 1])
    rules: list[Any] = [Dominance(1, 60), PPercent(10)]
    some = sensitivity(table, rules)
    every = sensitivity(table, rules, combine="all")
    assert some.sensitive.tolist() == [True, True, False, True]
    assert every.sensitive.tolist() == [False, False, False, True]
    assert some.upper[3] == max(found.upper[3] for found in some.findings)
    assert some.upper[2] == 0
    assert [rule.name for rule, _, _ in some.broken(0)] == ["p_percent"]
    assert some.statuses == {"safe": 1, "sensitive": 3, "empty": 0}


def test_rules_of_ones_own() -> None:
    def large(cells: CellFigures) -> Any:
        return cells.value > 100

    table = table_of([59, 40, 1], [61, 20, 20])
    found = sensitivity(table, [large])
    assert found.sensitive.tolist() == [False, True]
    assert np.isnan(found.upper[1])
    assert data_of(found)["sensitive"][0]["upper"] is None
    assert data_of(found)["sensitive"][0]["rules"] == ["large"]

    def half(cells: CellFigures) -> Finding:
        one = cells.total > 0
        return Finding(one, cells.total, cells.total, cells.total, cells.total / 4, cells.total / 2)

    both = sensitivity(table, [CustomRule(half, "half"), large])
    assert both.upper.tolist() == [50.0, 50.5]
    assert both.lower.tolist() == [25.0, 25.25]
    with pytest.raises(RequestError, match="rule 'wrong' returned int64"):
        sensitivity(table, [CustomRule(lambda cells: np.array([1, 2]), "wrong")])


def test_entry_in_the_registry() -> None:
    assert set(RULES) == {"threshold", "dominance", "p_percent", "pq"}
    assert RULES["p_percent"](10) == PPercent(10)
    with pytest.raises(RequestError, match="no rule 'p_precent'; did you mean 'p_percent'"):
        RULES["p_precent"](10)


# --- zeros, shadows, levels -------------------------------------------------------------------------------


def test_policy_for_zeros() -> None:
    records = pa.table({"a": ["x", "x", "y"], "b": ["u", "u", "v"], "t": [0.0, 0.0, 5.0]})
    table = tabulate(records, ["a", "b"], value="t", margins=[["a", "b"]])
    wide = table.with_empty_cells()
    assert sensitivity(wide, [Threshold(2)]).cells.size == 1
    found = sensitivity(wide, [Threshold(2, zeros="unsafe")])
    assert [tuple(wide.label(int(i)).values()) for i in found.cells] == [("x", "u"), ("x", "v"), ("y", "u"), ("y", "v")]
    assert "all of 2 contributors contribute 0" in found.reason(int(wide.find(a="x", b="u")))


def test_shadow_variable_is_judged_instead() -> None:
    records = pa.table({"c": ["a"] * 3, "tax": [1.0, 1.0, 1.0], "turnover": [98.0, 1.0, 1.0]})
    plain = tabulate(records, ["c"], value="tax", margins=[["c"]])
    shadowed = tabulate(records, ["c"], value="tax", shadow="turnover", margins=[["c"]])
    assert not sensitivity(plain, [Dominance(1, 90)]).sensitive[0]
    assert sensitivity(shadowed, [Dominance(1, 90)]).sensitive[0]
    assert shadowed.responses[0].sums.tolist() == [3.0]


def test_negative_contributions_count_by_their_size() -> None:
    table = table_of([-90, 80, 5])
    figures = cell_figures(table)
    assert figures.value.tolist() == [-5.0]
    assert figures.total.tolist() == [175.0]
    assert sensitivity(table, [PPercent(10)]).sensitive[0]


def test_holdings_pool_what_their_members_contribute() -> None:
    records = pa.table({"c": ["a"] * 4, "id": [1, 2, 3, 4], "h": ["g", "g", "g", None], "x": [30.0, 30.0, 30.0, 10.0]})
    table = tabulate(records, ["c"], value="x", contributor="id", holding="h", margins=[["c"]])
    assert not sensitivity(table, [Threshold(3)]).sensitive[0]
    assert sensitivity(table, [Threshold(3, level="holding")]).sensitive[0]
    assert not sensitivity(table, [Dominance(1, 80)]).sensitive[0]
    assert sensitivity(table, [Dominance(1, 80, level="holding")]).sensitive[0]


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dominance(0, 85), "give 1 contributor or more"),
        (lambda: Dominance(1, 100), "give a percentage between 0 and 100"),
        (lambda: PPercent(0), "give a percentage above 0"),
        (lambda: PQ(50, 10), "with p below q"),
        (lambda: PPercent(10, coalition=0), "give 1 or more"),
        (lambda: Threshold(0), "give 1 or more contributors"),
        (lambda: Threshold(3, zeros="maybe"), "'safe' or 'unsafe'"),  # type: ignore[arg-type]
        (lambda: Threshold(3, safety_range=120), "from 0 to 100"),
    ],
)
def test_parameters_out_of_range(make: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        make()


def test_what_the_table_does_not_know() -> None:
    table = table_of([1, 2, 3], top=2)
    with pytest.raises(RequestError, match=r"keeps 2; tabulate again with more of them \(top=3\)"):
        sensitivity(table, [Dominance(3, 85)])
    with pytest.raises(RequestError, match="the table has no holdings"):
        sensitivity(table, [PPercent(10, level="holding")])
    with pytest.raises(RequestError, match="the table has no weights"):
        sensitivity(table, [PPercent(10, weighted=True)])
    with pytest.raises(RequestError, match="no response 'y'"):
        sensitivity(table, [PPercent(10)], response="y")
    with pytest.raises(RequestError, match="no rule is given"):
        sensitivity(table, [])
    with pytest.raises(RequestError, match="combine is 'some'"):
        sensitivity(table, [PPercent(10)], combine="some")  # type: ignore[arg-type]
    counts = tabulate(pa.table({"c": ["a", "b"]}), ["c"])
    with pytest.raises(RequestError, match="the table has counts only"):
        sensitivity(counts, [PPercent(10)])


def test_weights_below_one_need_a_longer_list() -> None:
    table = table_of([9, 8, 7, 6], weights=[[0.5, 0.5, 0.5, 0.5]], top=2)
    with pytest.raises(DataError, match="weights below 1"):
        sensitivity(table, [PPercent(10, weighted=True)])
    longer = table_of([9, 8, 7, 6], weights=[[0.5, 0.5, 0.5, 0.5]], top=4)
    # Two contributors in all: 9 and 8 share the first place, 7 and 6 the second, and nothing is left.
    assert sensitivity(longer, [PPercent(10, weighted=True)]).upper[0] == pytest.approx(0.85)
