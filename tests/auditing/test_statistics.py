"""Statistics beside the figures: the examples that everybody knows, files as they are written, and what is refused."""

from __future__ import annotations

import itertools
import statistics as plain
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.feasible.statistic_cases import matches, rounded
from tests.plain import data_of

from discreet.auditing.audit import audit
from discreet.auditing.audit_result import Audit
from discreet.core.errors import DataError, DiscreetError, InfeasibleError, RequestError
from discreet.feasible.respondent_values import Printed, multisets
from discreet.rules import Dominance
from discreet.rules.sensitivity import sensitivity
from discreet.table.attacker import Attacker, Contribution
from discreet.table.figures import Figures
from discreet.table.release_reader import read_release
from discreet.table.statistic import ROUNDINGS, Statistic, StatisticColumn, admitted
from discreet.tabulation.tabulate import tabulate

AGE = "age,count,mean\n0-9,x,1.33\n10+,20,2.0\nTotal,23,1.9\n"
SEX = "sex,count,pct\nm,x,13.0%\nf,x,8.7%\no,18,78.3%\nTotal,23,100%\n"
WARDS = "ward,cases\nA,x (3.3%)\nB,x (96.7%)\nTotal,180\n"
USERS = "group,users,records,median,mean\nA,<5,<5,1,1.33\n"
PASSED = {"rate": "percentage, of=passed, per=n"}


def audited(tmp_path: Path, text: str, **how: object) -> Audit:
    """Audit what a file publishes."""
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    return audit(read_release(tmp_path / "t.csv", **how))  # type: ignore[arg-type]


def test_a_count_beside_a_mean(tmp_path: Path) -> None:
    found = audited(tmp_path, AGE, statistics={"mean": "mean, decimals=printed"})
    assert found.verdict == "unsafe"
    assert (found.cells[0].lower, found.cells[0].upper) == (3, 3)
    assert "23 − 20 = 3" in found.cells[0].proof


def test_two_counts_beside_their_percentages(tmp_path: Path) -> None:
    found = audited(tmp_path, SEX, statistics={"pct": "percentage, over=sex, decimals=1"})
    assert [(cell.name, cell.lower, cell.upper) for cell in found.cells] == [("sex=m", 3, 3), ("sex=f", 2, 2)]
    assert found.cells[0].proof == "sex=m = 3: 13.0% of 23 is between 2.98 and 3.01, so 3"


def test_a_percentage_in_brackets(tmp_path: Path) -> None:
    found = audited(tmp_path, WARDS, value="cases", statistics={"p": "percentage, over=ward, inside=cases"})
    assert found.cell(ward="A").upper == found.cell(ward="A").lower == 6
    assert found.cell(ward="A").proof == "ward=A = 6: 3.3% of 180 is between 5.85 and 6.03, so 6"


def test_few_users_with_few_records(tmp_path: Path) -> None:
    given = {"mean": "mean, of=records, range=1..", "median": "median, of=records, range=1.."}
    found = audited(tmp_path, USERS, value="users", marks=["<5=1..4"], statistics=given)
    assert found.verdict == "unsafe"
    assert {(cell.name, cell.lower) for cell in found.cells[:2]} == {("group=A", 3), ("records of group=A", 4)}
    (respondents,) = [cell for cell in found.cells if cell.subject == "values of respondents"]
    assert respondents.proof == "mean 1.33, median 1: only 1, 1, 2 fits"


def test_the_ages_of_three_men_alone_leave_thirty_triples(tmp_path: Path) -> None:
    given = {"mean": "mean, decimals=1, range=1..125", "median": "median, range=1..125"}
    found = audited(tmp_path, "who,n,median,mean\nmen,3,30,44\n", value="n", statistics=given)
    assert found.cells[0].values == 30


def test_an_extreme_is_the_value_of_one_respondent(tmp_path: Path) -> None:
    text = "who,n,oldest\nmen,300,97\n"
    found = audited(tmp_path, text, value="n", statistics={"oldest": "maximum, range=0..125"})
    assert (found.verdict, found.cells[0].proof) == ("unsafe", "oldest 97 is the value of one respondent")
    coarse = {"oldest": "maximum, range=0..125, unit=1"}
    assert audited(tmp_path, text, value="n", statistics=coarse).verdict == "incomplete"


OF_VALUES: dict[str, Any] = {
    "mean": plain.mean, "median": plain.median, "minimum": min, "maximum": max,
    "variance": plain.variance, "variance-n": plain.pvariance,
    "deviation": lambda v: Fraction((Decimal(int(plain.variance(v) * 12)) / 12).sqrt()),
    "gini": lambda v: Fraction(sum(abs(a - b) for a in v for b in v), 2 * len(v) * sum(v)) if sum(v) else None,
    "quantile": lambda v: sorted(v)[-(-len(v) // 4) - 1],
}  # fmt: skip
"""Statistics of the values of two to four respondents, in the obvious way; a variance of so few is a twelfth."""


@pytest.mark.parametrize("seed", range(3))
def test_values_of_respondents_are_those_of_trying_all(seed: int) -> None:
    _try_all(seed, 60)


@pytest.mark.long
def test_values_of_many_more_respondents() -> None:
    for seed in range(100, 120):
        _try_all(seed, 100)


def _try_all(seed: int, count: int) -> None:
    """Compare the values that fit some printed statistics, however rounded, with all that can be tried."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, most = int(rng.integers(2, 5)), int(rng.integers(2, 9))
        truth = [Fraction(int(value)) for value in rng.integers(0, most + 1, n)]
        printed, numbers = [], []
        for kind in rng.choice(list(OF_VALUES), int(rng.integers(1, 4)), replace=False).tolist():
            true = OF_VALUES[kind](truth)
            if true is None:
                continue
            rounding = str(rng.choice(ROUNDINGS))
            number = rounded(true, 1, "conventional" if rounding == "unknown" else rounding)
            ends = admitted(np.array([number]), rounding)
            low, high = Fraction(int(ends.low[0]), 20), Fraction(int(ends.high[0]), 20)
            spec = Statistic(kind, rounding=rounding, most=most, share=Fraction(1, 4))
            shut = bool(ends.open_low[0]), bool(ends.open_high[0])
            printed.append(Printed(kind, spec, low, high, *shut, str(number / 10)))
            numbers.append((kind, number, rounding))
        if not printed:
            continue
        tried = set()
        for values in itertools.combinations_with_replacement(range(most + 1), n):
            exact = [Fraction(value) for value in values]
            got = [(OF_VALUES[kind](exact), number, rounding) for kind, number, rounding in numbers]
            if all(value is not None and matches(value, number, 1, how) for value, number, how in got):
                tried.add(values)
        assert set(multisets(n, printed, 1, (0, 10**6), [10**6])) == tried, (seed, numbers)


def test_a_standard_deviation_is_the_root_of_a_variance() -> None:
    spec = Statistic("deviation", most=9)
    one = Printed("sd", spec, Fraction(135, 100), Fraction(145, 100), False, True, "1.4")
    assert list(multisets(2, [one], 1, (0, 6), [10**4])) == [(0, 2), (1, 3), (2, 4)]


def test_side_by_side_in_a_cross_table(tmp_path: Path) -> None:
    text = "ward,men n,men %,women n,women %\nA,x,60,x,40\nB,x,50,x,50\nTotal,x,x,x,x\n"
    found = audited(tmp_path, text, marks=["x=1..9"], statistics={"p": "percentage, over=column, ending=%"})
    assert (found.cell(ward="A", column="men").lower, found.cell(ward="A", column="men").upper) == (3, 6)
    # 60% of so few is 3 of 5 or 6 of 10: what lies between is not possible.
    assert found.cell(ward="A", column="women").values == 2


def test_in_brackets_in_a_cross_table(tmp_path: Path) -> None:
    text = "ward,men,women\nA,x (60%),x (40%)\nB,7 (50%),7 (50%)\nTotal,10 (53%),9 (47%)\n"
    found = audited(tmp_path, text, layout="wide", statistics={"p": "percentage, over=column, inside=cells"})
    assert (found.cell(ward="A", column="men").lower, found.cell(ward="A", column="women").upper) == (3, 2)
    with pytest.raises(RequestError, match="stands beside a cross-table"):
        audited(tmp_path, "ward,men,women,rate\nA,3,2,60\nB,7,7,50\n", statistics={"rate": "ratio, over=ward"})


def test_numbers_and_notes_are_read_as_they_are_said_to_be_written(tmp_path: Path) -> None:
    text = "ward;n;pct\nA;x;0,4 %\nB;1 195†;99,6*\nTotal;1 200;100,0\n"
    given = {"value": "n", "numbers": "1 234,5", "notes": "*†", "delimiter": ";"}
    found = audited(tmp_path, text, statistics={"pct": "percentage, over=ward"}, **given)
    assert found.cells[0].lower == 5
    with pytest.raises(DataError, match="neither a number nor"):
        audited(tmp_path, text, statistics={"pct": "percentage, over=ward"}, value="n", delimiter=";")


def test_measures_are_judged_like_the_figures(tmp_path: Path) -> None:
    text = "school,n,passed,rate\nA,x,x,50\nB,40,30,75\nTotal,44,32,73\n"
    found = audited(tmp_path, text, value="n", statistics=PASSED)
    assert {(cell.name, cell.lower) for cell in found.cells} == {("school=A", 4), ("passed of school=A", 2)}
    assert found.cells[0].cell == {"measure": "passed", "school": "A"} or found.cells[0].cell == {"school": "A"}
    assert found.cell(measure="passed", school="A").upper == 2


@pytest.mark.parametrize(
    ("text", "how", "told"),
    [
        (SEX, {}, "looks like a statistic"),
        (SEX, {"statistics": {"pct": "percentage, over=sex"}}, "shows 0 decimals here and 1 there"),
        (SEX, {"statistics": {"pct": "percentage"}}, "nothing says what a percentage is of"),
        (SEX, {"statistics": {"pct": "percentage, over=age, decimals=1"}}, "no dimension is"),
        (SEX, {"statistics": {"pct": "percent, over=sex"}}, "did you mean 'percentage'"),
        (SEX, {"statistics": {"share": "percentage, over=sex"}}, "there is no column 'share'"),
        (SEX, {"statistics": {"pct": "percentage, of=men, over=sex, decimals=1"}}, "that no table has: 'men'"),
        (SEX, {"statistics": {"pct": "percentage, over=sex, decimals=0"}}, "said to be rounded to 0"),
        (SEX.replace("8.7", "n/a"), {"statistics": {"pct": "percentage, over=sex, decimals=1"}}, "neither a num"),
        (SEX.replace("8.7", "9.9"), {"statistics": {"pct": "percentage, over=sex, decimals=1"}}, "nothing fits"),
        (
            SEX.replace("78.3", "71"),
            {"statistics": {"pct": "percentage, over=sex, decimals=printed"}},
            "cannot be true",
        ),
        (AGE, {"statistics": {"mean": "mean, decimals=2"}}, "nothing fits|cannot be true"),
        ("s,n,m\na,3,2\n", {"value": "n", "statistics": {"m": "median, range=5..9"}}, "no values of 3 to 3"),
    ],
)
def test_what_is_not_said_or_cannot_be_is_refused(tmp_path: Path, text: str, how: dict[str, object], told: str) -> None:
    with pytest.raises(DiscreetError, match=told):
        audited(tmp_path, text, **how)


def test_a_rate_is_per_the_figures_of_another_table(tmp_path: Path) -> None:
    (tmp_path / "births.csv").write_text("area,births,rate\nn,x,10.2\ns,x,9.7\nTotal,15,10.0\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("area,people\nn,880\ns,620\nTotal,1500\n", encoding="utf-8")
    given = {"rate": "rate, per=people"}
    births = read_release(tmp_path / "births.csv", value="births", statistics=given)
    people = read_release(tmp_path / "people.csv", value="people", measure="people")
    found = audit([births, people])
    assert [(cell.name, cell.lower, cell.upper) for cell in found.cells] == [("area=n", 9, 9), ("area=s", 6, 6)]
    assert found.cells[0].proof == "area=n = 9: rate 10.2 per 880 is between 8.93 and 9.02, so 9"
    with pytest.raises(RequestError, match="that no table has: 'people'"):
        audit(births)


def test_insiders_sums_and_levels_are_judged_with_statistics() -> None:
    both = {"r": ["x", "y", "z", "Total"], "c": ["m", "f", "Total"]}
    true = [[3, 6, 9], [4, 9, 13], [5, 5, 10], [12, 20, 32]]
    hidden: list[list[int | None]] = [[None] * 3, [None] * 3, [None, None, 10], [12, 20, 32]]
    spec = Statistic("percentage", over={"c": ""}, decimals=0)
    column = StatisticColumn("pct", spec, np.array([[0, 0], [1, 1]]), np.array([33, 69]))
    shown = replace(Figures.from_array(hidden, both), statistics=(column,))
    fitting = []
    for a, b, c, d in itertools.product(range(13), range(21), range(13), range(21)):
        z = 12 - a - c, 20 - b - d
        if min(z) >= 0 and sum(z) == 10 and spec.value(a, a + b, 0) == 33 and spec.value(d, c + d, 0) == 69:
            fitting.append({"m": a, "both": a + c})
    insider = Attacker("a", (Contribution({"r": "x", "c": "m"}, 2, 1),))
    found = audit(shown, attackers=[insider], sums={"both": [{"r": "x", "c": "m"}, {"r": "y", "c": "m"}]})
    (asked,) = [cell for cell in found.cells if cell.name == "both"]
    assert {asked.lower, asked.upper} == {one["both"] for one in fitting} == {7}
    other = found.cell("a", r="x", c="m")
    assert (other.lower, other.upper) == (0, max(one["m"] for one in fitting) - 2)
    truth = Figures.from_array(true, both)
    full, quick = (audit(shown, original=truth, protection=20, verdict_only=only) for only in (False, True))
    assert full.counts == quick.counts == {"safe": 1, "unsafe": 7, "incomplete": 0}


def test_an_interval_in_brackets_is_not_judged(tmp_path: Path) -> None:
    text = "sex,count\nm,12 [10.1–14.5]\nf,x\nTotal,23\n"
    found = audited(tmp_path, text, statistics={"ci": "other, inside=count"})
    assert (found.verdict, found.cells[0].lower) == ("unsafe", 11)
    assert "not judged: ci" in found.sentence


def test_a_statistic_of_which_nothing_is_said_is_never_safe(tmp_path: Path) -> None:
    text = "sex,count,ci\nm,x,4\nf,x,5\nTotal,23,9\n"
    found = audited(tmp_path, text, statistics={"ci": "other"})
    assert found.verdict == "incomplete"
    assert "not judged: ci" in found.sentence


def test_laws_that_do_not_weigh_statistics_call_nothing_safe(tmp_path: Path) -> None:
    wide = "sex,count,pct\nm,x,13\nf,x,9\no,180,78\nTotal,230,100\n"
    (tmp_path / "t.csv").write_text(wide, encoding="utf-8")
    shown = read_release(tmp_path / "t.csv", statistics={"pct": "percentage, over=sex"})
    found = audit(shown)
    assert found.verdict == "safe"
    for law in ("tables", "method"):
        weighed = audit(shown, law=law)
        assert weighed.verdict == "incomplete"
        assert f"the law '{law}' does not weigh statistics" in weighed.sentence
        assert np.isnan(weighed.findings.bits).all()
        assert np.array_equal(weighed.findings.lower, found.findings.lower)


def test_a_contradiction_names_the_statistic(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"pct 78\.0% at sex=o cannot be true where .*sex=o is 18"):
        audited(tmp_path, SEX.replace("78.3", "78.0"), statistics={"pct": "percentage, over=sex, decimals=1"})


def test_a_mean_is_as_sensitive_as_the_sum_that_it_gives_away(tmp_path: Path) -> None:
    firms = {"act": list("aaabbbbccc"), "turnover": [1000, 20, 30, 200, 210, 190, 150, 100, 120, 110]}
    table = tabulate(pa.table(firms | {"firm": list("qrstuvwxyz")}), by=["act"], value="turnover", contributor="firm")
    dominated = sensitivity(table, [Dominance(1, 85)])
    rows = "act,value,count,mean\na,x,3,{}\nb,750,4,188\nc,x,3,x\nTotal,2130,10,213\n"
    for shown, verdict in (("350", "unsafe"), ("x", "safe")):
        (tmp_path / "t.csv").write_text(rows.format(shown), encoding="utf-8")
        release = read_release(
            tmp_path / "t.csv", value="value", least=1, statistics={"mean": "mean, of=value, per=count"}
        )
        found = audit(release, sensitivity=dominated, original=table, insiders="none")
        assert found.verdict == verdict
    assert "a mean of 350" not in found.cell(act="a").proof


def test_a_statistic_of_one_respondent_is_that_respondents_value(tmp_path: Path) -> None:
    found = audited(
        tmp_path, "who,n,mean\nmen,1,44\nwomen,30,51\n", value="n", statistics={"mean": "mean, range=0..125"}
    )
    assert found.verdict == "unsafe"
    assert [cell.proof for cell in found.cells if cell.verdict == "unsafe"] == ["mean 44: only 44 fits"]


@pytest.mark.parametrize(
    ("rows", "rules", "ends"),
    [
        # Half of all: 1 of 2, 2 of 4 or 3 of 6; where fewer than 6 have no percentage, 3 of 6.
        ("m,c,50\nf,c,\nTotal,x,\n", "", (1.0, 3.0)),
        ("m,c,50\nf,c,\nTotal,x,\n", ", threshold=6", (3.0, 3.0)),
        # None or one of 201 to 220 is printed as 0; where 0% is not published, one.
        ("m,d,0\nf,d,\nTotal,d,\n", "", (0.0, 1.0)),
        ("m,d,0\nf,d,\nTotal,d,\n", ", extremes=no", (1.0, 1.0)),
    ],
)
def test_what_is_published_says_that_it_was_not_held_back(
    rows: str, rules: str, ends: tuple[float, float], tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(f"sex,count,pct\n{rows}")
    defined = {"pct": f"percentage, over=sex, decimals=0{rules}"}
    shown = read_release(tmp_path / "t.csv", statistics=defined, marks=["x=..", "c=1..3", "d=0..220"])
    found = audit(shown).cell(sex="m")
    assert (found.lower, found.upper) == ends


def test_a_ratio_has_no_extremes_to_hold_back() -> None:
    with pytest.raises(RequestError, match="0 and 100 per cent of a whole"):
        Statistic.of_text("ratio, over=sex:m, extremes=no")


@pytest.mark.parametrize(
    ("mean", "values"),
    [("1.5", 1), ("2.0", 1), ("0.0", 1), ("0.5", 1), ("1.0", None)],
)
def test_a_mean_at_the_end_of_the_range_says_all_values(mean: str, values: int | None, tmp_path: Path) -> None:
    """Two respondents with values from 0 to 2: a mean of 1 is that of 0 and 2, or of 1 and 1."""
    (tmp_path / "t.csv").write_text(f"group,count,mean,median\nA,2,{mean},\nB,3,,1\n")
    defined = {"mean": "mean, decimals=1, range=0..2", "median": "median, decimals=0, range=0..2"}
    found = audit(read_release(tmp_path / "t.csv", statistics=defined))
    ways = {row["cell"]["group"]: row["values"] for row in data_of(found)["cells"]}
    assert (ways.get("A"), ways["B"]) == (values, 4)
    assert found.verdict == ("safe" if values is None else "unsafe")


def test_a_proof_that_rests_on_another_one_says_so_whole(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,count,pct\nm,x,3.3\nf,x,x\nTotal,180,100.0\n", encoding="utf-8")
    found = audit(read_release(tmp_path / "t.csv", statistics={"pct": "percentage, over=sex"}))
    behind = "[total] − [sex=m] = 180 − 6 = 174 (sex=m: 3.3% of 180 is between 5.85 and 6.03, so 6)"
    assert found.cell(sex="f").proof == f"sex=f ≥ {behind}; sex=f ≤ {behind}"


def test_where_somebody_has_a_sum_somebody_is_counted(tmp_path: Path) -> None:
    """Two people in two cells with sums of 3 and 5: one in each, though equations leave 0 to 2."""
    text = "a,value,n,mean\nx,x,x,x\ny,5,x,x\nz,3,x,1.0\nTotal,11,5,2.2\n"
    given: dict[str, Any] = {"value": "value", "statistics": {"mean": "mean, of=value, per=n, threshold=3"}}
    found = audited(tmp_path, text, least=0, **given)
    assert "ums tell where somebody is counted" in found.sentence
    assert {cell.name: cell.verdict for cell in found.cells if cell.name.startswith("n of")} == {
        "n of a=x": "incomplete",
        "n of a=y": "incomplete",
        "n of a=z": "unsafe",
    }
    sure = audited(tmp_path, text, least=1, **given)
    assert "somebody is counted" not in sure.sentence
    assert {cell.verdict for cell in sure.cells} == {"unsafe"}
