"""The audit of contributions: who is alone or one of two is found, and each is tried as attacker."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet import Figures, Hierarchy, Kind, Limits
from discreet.auditing.knowledge import respondents
from discreet.table.contributions import Contributions, read_contributions
from discreet.table.equations import equations_of
from discreet.tabulation.tabulate import tabulate

X = {"x": ["1", "2", "3", "Total"]}


def firms(*rows: tuple[str, str, float], coalitions: tuple[tuple[str, ...], ...] = ()) -> Contributions:
    return Contributions.from_rows([({"x": x}, who, v) for x, who, v in rows], coalitions)


ROWS = (("1", "A", 400), ("1", "B", 600), ("2", "C", 50), ("2", "D", 30), ("2", "E", 20), ("3", "F", 7))


def test_a_full_publication_gives_two_contributors_to_each_other() -> None:
    shown = Figures.from_array([1000, 100, 7, 1107], X)
    plain = dc.audit(shown)
    assert (plain.verdict, plain.cells) == ("incomplete", ())
    assert "(contributions=)" in plain.sentence
    result = dc.audit(shown, contributions=firms(*ROWS))
    assert result.verdict == "unsafe"
    a = result.cell("A", x="1")
    assert (a.lower, a.upper, a.values, a.subject) == (600, 600, 1, "largest other contributor")
    assert "less the own contribution of 400" in a.proof
    assert result.cell("B", x="1").lower == 400
    # F is alone: it has nobody in its cell to learn about, but everybody learns about F. C, D and E are three.
    (only,) = [cell for cell in result.cells if cell.cell == {"x": "3"}]
    assert (only.attacker, only.subject, only.verdict) == ("outsider", "only contributor", "unsafe")
    assert {cell.attacker for cell in result.cells if cell.cell == {"x": "2"}} == set()


def test_the_second_largest_estimates_the_largest_best() -> None:
    """X = 100,000 with 50,000 and 49,000: dominance (1, 90) is content, yet the largest is known within 2%."""
    shown = Figures.from_array([100_000], {"x": ["1"]})
    rows = firms(("1", "A", 50_000), ("1", "B", 49_000), ("1", "C", 1_000))
    for percent, verdict in ((1.9, "safe"), (2.1, "unsafe")):
        result = dc.audit(shown, contributions=rows, limits=Limits(within=percent))
        assert result.verdict == verdict
        cell = result.cell("B", x="1")
        assert (cell.lower, cell.upper) == (25_500, 51_000)
    assert dc.audit(shown, contributions=rows, limits=Limits(within=5)).cell("B", x="1").faults == (
        "known to within less than 5% by another contributor",
    )
    with pytest.raises(dc.RequestError, match="within is about contributions"):
        dc.audit(shown, limits=Limits(within=5))


@pytest.mark.parametrize("seed", range(30))
def test_within_agrees_with_the_p_percent_rule(seed: int) -> None:
    """In a cell that is published, nobody knows another within p% exactly where the p% rule is content."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 60, int(rng.integers(3, 7)))
    p = float(rng.integers(1, 60))
    rows = firms(*(("1", f"f{i}", float(v)) for i, v in enumerate(values)))
    shown = Figures.from_array([int(values.sum())], {"x": ["1"]})
    first, second, *_ = sorted(values.tolist(), reverse=True)
    sensitive = values.sum() - first - second < p / 100 * first
    found = dc.audit(shown, contributions=rows, limits=Limits(within=p))
    assert (found.verdict == "unsafe") == sensitive


def test_margins_have_contributors_too() -> None:
    tree = Hierarchy.from_parents({"1": "g", "2": "g", "g": "Total", "3": "Total"})
    labels = {"x": ["g", "3", "Total"]}
    shown = Figures.from_array([1000, 100, 1100], labels, hierarchies={"x": (tree,)}, absent="unpublished")
    rows = firms(("1", "A", 400), ("2", "B", 600), ("3", "C", 50), ("3", "D", 30), ("3", "E", 20))
    result = dc.audit(shown, contributions=rows)
    assert (result.cell("A", x="g").lower, result.cell("A", x="g").upper) == (600, 600)


def test_holdings_and_coalitions(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("x,respondent,holding,value\n1,A,H,30\n1,B,H,20\n1,C,,50\n2,D,,7\n2,E,,8\n2,F,,9\n")
    shown = Figures.from_array([100, 24], {"x": ["1", "2"]})
    result = dc.audit(shown, contributions=read_contributions(path))
    assert {cell.attacker for cell in result.cells} == {"H", "C"}
    assert (result.cell("C", x="1").upper, result.cell("H", x="1").upper) == (50, 50)
    together = dc.audit(shown, contributions=read_contributions(path, coalitions=[["D", "E"]]))
    assert (together.cell("D + E", x="2").lower, together.cell("D + E", x="2").upper) == (9, 9)
    with pytest.raises(dc.RequestError, match="no contributor 'Z'"):
        read_contributions(path, coalitions=[["D", "Z"]])
    # F is alone in 1 and in 2, and would be two readers who each know half of that.
    path.write_text("x,respondent,holding,value\n1,F,g,30\n2,F,,20\n3,C,,50\n")
    with pytest.raises(dc.DataError, match="'F' of column 'respondent' is in holding 'g' and in no holding"):
        read_contributions(path)


def test_rounded_totals_leave_the_papers_interval() -> None:
    shown = Figures.from_array([1000], {"x": ["1"]}, kind=Kind("conventional", base=10))
    cell = dc.audit(shown, contributions=firms(("1", "A", 400), ("1", "B", 600))).cell("A", x="1")
    assert (cell.lower, cell.upper) == (595, 604)


@pytest.mark.parametrize("seed", range(25))
def test_everybody_against_the_list_of_all_tables(seed: int) -> None:
    """For random contributions and hidden cells, what each attacker works out is what the list of tables leaves."""
    rng = np.random.default_rng(seed)
    cells = [(str(i), str(j)) for i in range(2) for j in range(2)]
    rows = [(cell, f"f{rng.integers(5)}", int(rng.integers(1, 4))) for cell in cells for _ in range(rng.integers(1, 4))]
    truth = {cell: sum(v for c, _, v in rows if c == cell) for cell in cells}
    grid = np.array([[truth[str(i), str(j)] for j in range(2)] for i in range(2)])
    full = np.block([[grid, grid.sum(1, keepdims=True)], [grid.sum(0, keepdims=True), grid.sum()]]).tolist()
    hide = [(i, j) for i in range(3) for j in range(3) if rng.random() < 0.5]
    for i, j in hide:
        full[i][j] = None
    labels = {"a": ["0", "1", "Total"], "b": ["0", "1", "Total"]}
    shown = Figures.from_array(full, labels)
    people = Contributions.from_rows([({"a": a, "b": b}, who, v) for (a, b), who, v in rows])
    result = dc.audit(shown, contributions=people, most=10, proofs=0)
    tables = list(fitting(full))
    places = {(a, b): inside(a, b) for a in labels["a"] for b in labels["b"]}
    owns = {
        who: {
            place: sum(v for (i, j), w, v in rows if w == who and (int(i), int(j)) in members)
            for place, members in places.items()
        }
        for who in {w for _, w, _ in rows}
    }
    units = {place: {w for (i, j), w, _ in rows if (int(i), int(j)) in members} for place, members in places.items()}
    seen = 0
    for cell in result.cells:
        if cell.attacker == "outsider":
            continue
        mine = owns[cell.attacker]
        known = [
            t for t in tables
            if all(
                (v := sum(t[m] for m in places[p])) >= own and (len(units[p]) > 1 or v == own)
                for p, own in mine.items() if own
            )
        ]  # fmt: skip
        place = (cell.cell["a"], cell.cell["b"])
        values = [sum(t[m] for m in places[place]) for t in known]
        if cell.subject == "value":
            assert (cell.lower, cell.upper) == (min(values), max(values))
        else:
            others = len(units[place]) - 1
            assert cell.lower == -(-(min(values) - mine[place]) // others)
            assert cell.upper == max(values) - mine[place]
        seen += 1
    close = {w for place, who in units.items() if len(who) <= 2 for w in who}
    # Who shares every sum with two others or more learns about figures, not about one other contributor.
    assert all(cell.subject == "value" for cell in result.cells if cell.attacker not in close | {"outsider"})
    assert seen or not any(len(who) == 2 for who in units.values())


def inside(a: str, b: str) -> list[tuple[int, int]]:
    return [(i, j) for i in range(2) for j in range(2) if a in (str(i), "Total") and b in (str(j), "Total")]


def fits(table: np.ndarray, full: list[list[int | None]]) -> bool:
    whole = np.block([[table, table.sum(1, keepdims=True)], [table.sum(0, keepdims=True), table.sum()]])
    return all(full[i][j] is None or full[i][j] == whole[i, j] for i in range(3) for j in range(3))


def fitting(full: list[list[int | None]]):  # type: ignore[no-untyped-def]
    ranges = [range(11) if full[i][j] is None else [full[i][j]] for i in range(2) for j in range(2)]
    for cells in itertools.product(*ranges):
        table = np.array(cells).reshape(2, 2)
        if fits(table, full):
            yield table


def test_many_attackers_are_tried_together() -> None:
    """A hundred pairs in a table of two columns, each with hidden neighbours."""
    rng = np.random.default_rng(1)
    n = 25
    grid = rng.integers(2, 50, (n, 2))
    labels = {"r": [*map(str, range(n)), "Total"], "c": ["0", "1", "Total"]}
    full = np.block([[grid, grid.sum(1, keepdims=True)], [grid.sum(0, keepdims=True), grid.sum()]]).tolist()
    for i in range(n):
        full[i][0] = full[i][1] = None
    rows = [({"r": str(i), "c": str(j)}, f"{i}.{j}.{k}", v) for i in range(n) for j in range(2)
            for k, v in enumerate((1, grid[i, j] - 1))]  # fmt: skip
    result = dc.audit(Figures.from_array(full, labels), contributions=Contributions.from_rows(rows), proofs=3)
    assert len({cell.attacker for cell in result.cells}) == 4 * n + 1


def test_contributions_that_cannot_be(tmp_path: Path) -> None:
    shown = Figures.from_array([1000, 100, 7, 1107], X)
    with pytest.raises(dc.DataError, match="cell x=1 add up to 900, but what is published says 1,000"):
        dc.audit(shown, contributions=firms(("1", "A", 400), ("1", "B", 500), *ROWS[2:]))
    with pytest.raises(dc.DataError, match="more decimals than are published"):
        dc.audit(shown, contributions=firms(("1", "A", 400.5), ("1", "B", 599.5), *ROWS[2:]))
    with pytest.raises(dc.DataError, match="A contributes -1"):
        firms(("1", "A", -1))
    with pytest.raises(dc.RequestError, match="no column 'x'"):
        dc.audit(shown, contributions=Contributions.from_rows([({"y": "1"}, "A", 1)]))
    with pytest.raises(dc.RequestError, match="no category '9'"):
        dc.audit(shown, contributions=firms(*ROWS, ("9", "Q", 1)))
    path = tmp_path / "firms.csv"
    path.write_text("x,respondent,value\n1,A,much\n")
    with pytest.raises(dc.DataError, match=r"firms.csv: line 2: the value is 'much'"):
        read_contributions(path)


@pytest.mark.parametrize(("other", "learns"), [("b", False), ("c", True)])
def test_a_zero_that_is_printed_is_news_to_nobody(other: str, learns: bool) -> None:
    """Anybody can work out g; that the other one contributed 0 is printed if that one is alone in its cell."""
    tree = Hierarchy.from_parents({"b": "g", "c": "g", "g": "Total", "d": "h", "h": "Total", "e": "Total"})
    rows = pa.table({"x": ["c", other, "d", "e", "e"], "t": [96, 0, 40, 70, 3], "id": list("PQRST")})
    made = tabulate(rows, ["x"], value="t", contributor="id", hierarchies={"x": tree})
    labels = {"x": ["b", "c", "g", "d", "h", "e", "Total"]}
    shown = Figures.from_array([0, None, None, 40, 40, 73, 209], labels, hierarchies={"x": (tree,)})
    found = dc.audit(shown, contributions=replace(made, respondents=None))
    told = [entry.cell["x"] for entry in found.cells if entry.attacker == "respondent of x=c"]
    assert told == (["g", "c"] if learns else [])


def test_everybody_knows_their_own_part_of_a_crossing_that_no_table_shows(tmp_path: Path) -> None:
    """K has 2 of a2, b2 and c1, and b1 has no c2. Of the 8 of a2, 1 at least is with b1, so that 5 at most have c2."""
    shown = {
        "bc": "Total,Total,24\nTotal,c1,x\nTotal,c2,x\nb1,Total,x\nb1,c1,x\nb2,Total,x\nb2,c1,x\nb2,c2,x\n",
        "ac": "Total,Total,24\na1,Total,16\na2,Total,8\nTotal,c1,x\na1,c1,x\na2,c1,x\nTotal,c2,x\na1,c2,x\na2,c2,x\n",
        "ab": "Total,Total,24\na1,Total,16\na2,Total,8\nTotal,b1,x\na2,b1,x\nTotal,b2,x\na1,b2,16\na2,b2,x\n",
    }
    files = [tmp_path / f"{name}.csv" for name in shown]
    for file, (names, body) in zip(files, shown.items(), strict=True):
        file.write_text(f"{','.join(names)},count\n{body}")
    parts = {"122": "F2 H5", "211": "G2 J2", "222": "G1", "221": "H1 K2", "121": "H3 J1 K5"}
    given = [
        ({name: f"{name}{code}" for name, code in zip("abc", cell, strict=True)}, part[0], float(part[1:]))
        for cell, some in parts.items()
        for part in some.split()
    ]
    found = dc.audit(
        [dc.read_release(file, least=1) for file in files], contributions=Contributions.from_rows(given), proofs=0
    )
    ends = {(one.attacker, one.name): (one.lower, one.upper) for one in found.cells}
    assert ends["K", "c=c2, a=a2"] == (1, 5)
    assert ends["outsider", "c=c2, a=a2"] == (1, 7)


def test_a_zero_in_print_counts_in_the_units_of_each_table() -> None:
    """The firm with 0 is not alone in its holding, which one of the tables counts: somebody else has put in 10."""
    tree = Hierarchy.from_parents({"b": "g", "c": "g", "g": "Total", "e": "Total"})
    rows = pa.table({"x": ["c", "b", "c", "e"], "t": [96, 0, 10, 70], "id": list("PQRS"), "of": list("PHHS")})
    made = [
        replace(
            tabulate(rows, ["x"], value="t", contributor="id", hierarchies={"x": tree}, holding=of), respondents=None
        )
        for of in (None, "of")
    ]
    shown = Figures.from_array(
        [0, None, None, None, 176], {"x": ["b", "c", "g", "e", "Total"]}, hierarchies={"x": (tree,)}
    )
    equations = equations_of(shown)
    known = respondents(equations, made, None, None, several=True)
    (largest,) = (one for one in known if one.name == "respondent of x=c")
    others = dict(zip((equations.describe(int(i)) for i in largest.at), largest.others.tolist(), strict=True))
    assert others["x=g"] == 1
