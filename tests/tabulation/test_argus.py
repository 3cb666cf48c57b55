"""Files of τ-ARGUS: small ones of the shapes that its manual describes, read and written back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import DataError, RequestError
from discreet.rules import Dominance, PPercent, sensitivity
from discreet.table.hierarchy import Hierarchy
from discreet.tabulation import tabulate
from discreet.tabulation.argus_microdata import read_microdata
from discreet.tabulation.argus_tab import read_tab, write_tab
from discreet.tabulation.rda import read_rda

HRC = "Nr\n@ 1\n@ 2\nZd \n@ 3\n"
RDA = """   <SEPARATOR> ";"
Size "99"
    <RECODEABLE>
    <TOTCODE> "Total"
Region "99"
    <RECODEABLE>
    <TOTCODE> "Total"
    <HIERARCHICAL>
    <HIERCODELIST> "C:\\data\\region.hrc"
    <HIERLEADSTRING> "@"
Sales
    <NUMERIC>
    <DECIMALS> 2
Freq
    <FREQUENCY>
Cost
    <NUMERIC> <COSTVAR>
Top1
    <MAXSCORE>
Top2
    <MAXSCORE>
Status
    <STATUS>
Low
    <NUMERIC> <LOWERPL>
High
    <NUMERIC> <UPPERPL>
"""
TAB = """"Total";"Total";100,50;9;100,50;40,25;30,00;S;0,01;0,01
"Total";"Nr";60,25;5;60,25;40,25;10,00;S;0;0
"Total";" 1";50,25;3;50,25;40,25;10,00;U;5,5;6,5
"Total";" 2";10,00;2;10,00;9,00;1,00;U;1;1
"Total";"Zd";35,25;3;35,25;30,00;5,00;S;0;0
"Total";" 3";35,25;3;35,25;30,00;5,00;S;0;0
"Total";"99";5,00;1;5,00;5,00;0;U;1;1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "region.hrc").write_text(HRC)
    (tmp_path / "t.rda").write_text(RDA)
    (tmp_path / "t.tab").write_text(TAB)
    return tmp_path


def test_a_contribution_that_is_not_the_cell_is_refused_with_the_column_it_is_of(folder: Path) -> None:
    (folder / "t.tab").write_text(TAB.replace("5,00;1;5,00;5,00;0", "5,00;1;6,00;5,00;0"))
    (folder / "t.rda").write_text(RDA.replace("Cost\n    <NUMERIC> <COSTVAR>", "Tax\n    <NUMERIC> <SHADOW>"))
    told = r"Region=99 \(Tax\): its only contribution is 5, but the cell adds up to 6; correct one of them"
    with pytest.raises(DataError, match=told):
        read_tab(folder / "t.tab")


def test_tables(folder: Path) -> None:
    found = read_tab(folder / "t.tab")
    cells = found.tabulation
    assert cells.margins == ((), ("Region",))
    # Code 99 is not in the hierarchy file, and becomes a child of the total.
    assert cells.axis("Region").hierarchies[0].children("Total") == ("Nr", "Zd", "99")
    i = cells.find(Region=" 1")
    assert (cells.responses[0].sums[i], cells.records[i]) == (50.25, 3)
    assert cells.contributors.largest[0].top[i].tolist() == [40.25, 10.0]
    assert found.status is not None
    assert found.status[i] == "U"
    assert found.lower is not None
    assert found.upper is not None
    assert found.cost is not None
    assert (found.lower[i], found.upper[i], found.cost[i]) == (5.5, 6.5, 50.25)
    assert sensitivity(cells, [PPercent(10)]).sensitive[i]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("60,25;5;", "61,25;5;", "Sales of margin 'Size=Total, Region=Nr' is 61.25, but its cells .* sum to 60.25"),
        ("60,25;5;", "60,25;6;", "frequency of margin 'Size=Total, Region=Nr' is 6, but its cells .* sum to 5"),
        ("60,25;5;", "60,25;5,5;", r"t\.tab: line 2: frequency 5.5 is not a count"),
        ("60,25;5;", "sixty;5;", r"t\.tab: line 2: 'Sales' is 'sixty', which is not a number"),
        ('"Total";" 2"', '"Total";" 1"', r"t\.tab: line 4: the cell was given before"),
        ("60,25;5;", "5;", r"t\.tab: line 2 has 9 fields, but the metadata name 10"),
        (TAB, "", r"t\.tab is empty"),
    ],
)
def test_faulty_tables(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "t.tab").write_text(TAB.replace(old, new))
    with pytest.raises(DataError, match=message):
        read_tab(folder / "t.tab")


def test_sums_are_recomputed_on_request(folder: Path) -> None:
    (folder / "t.tab").write_text(TAB.replace("60,25;5;", "61,25;5;"))
    for recompute, expected in ((True, 60.25), (False, 61.25)):
        cells = read_tab(folder / "t.tab", check=False, recompute=recompute).tabulation
        assert cells.responses[0].sums[cells.find(Region="Nr")] == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('   <SEPARATOR> ";"\n', "", "variable 'Size' has no place"),
        ('<SEPARATOR> ";"', "<SEPARATOR>", "<SEPARATOR> names no character"),
        ('Size "99"\n', "", "<RECODEABLE> comes before any variable"),
        ('Size "99"', 'Size "99', "line 2 has a quote that does not end"),
        ("region.hrc", "none.hrc", r"hierarchy file .*none\.hrc of 'Region' does not exist"),
        ("<FREQUENCY>", "<NUMERIC>", "needs <RECODEABLE> variables and one <FREQUENCY>"),
        (RDA, "", "names no variable"),
    ],
)
def test_faulty_metadata(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "t.rda").write_text(RDA.replace(old, new))
    with pytest.raises((DataError, RequestError), match=message):
        read_tab(folder / "t.tab")


def test_written_tables_are_read_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    records = pa.table(
        {
            "region": rng.choice([" 1", " 2", " 3", "99"], 60),
            "size": rng.choice(["s", "l"], 60),
            "x": (rng.pareto(1, 60) * 100).round(2),
        }
    )
    tree = Hierarchy.from_hrc(HRC)
    cells = tabulate(records, ["region", "size"], value="x", hierarchies={"region": tree}, outside="total", top=3)
    found = sensitivity(cells, [PPercent(10), Dominance(3, 90)])
    written = write_tab(cells, tmp_path / "t.tab", sensitive=found.sensitive, lower=found.lower, upper=found.upper)
    assert [path.name for path in written] == ["t_region.hrc", "t.rda", "t.tab"]
    again = read_tab(tmp_path / "t.tab")
    assert np.array_equal(again.tabulation.cells, cells.cells)
    assert again.tabulation.axes == cells.axes
    assert np.array_equal(again.tabulation.responses[0].sums, cells.responses[0].sums)
    assert np.array_equal(again.tabulation.contributors.largest[0].top, cells.contributors.largest[0].top)
    assert again.status == tuple("U" if unsafe else "S" for unsafe in found.sensitive)
    assert again.upper is not None
    assert np.array_equal(again.upper, found.upper)
    same = sensitivity(again.tabulation, [PPercent(10), Dominance(3, 90)])
    assert np.array_equal(same.sensitive, found.sensitive)


def test_two_hierarchies_do_not_fit_into_a_tab_file(tmp_path: Path) -> None:
    trees = [Hierarchy.from_parents({"a": "g"}), Hierarchy.from_parents({"a": "h"})]
    cells = tabulate(pa.table({"d": ["a"]}), ["d"], hierarchies={"d": trees})
    with pytest.raises(RequestError, match=r"2 hierarchies, but a \.tab file has room for one"):
        write_tab(cells, tmp_path / "t.tab")
    assert list(tmp_path.iterdir()) == []


def test_records_at_fixed_places(tmp_path: Path) -> None:
    (tmp_path / "region.hrc").write_text(HRC)
    (tmp_path / "r.asc").write_text(" 1s  10.5 1\n 2l   4.0 2\n 3s   1.5 1\n99l   2.0 1\n")
    (tmp_path / "r.rda").write_text(
        "Region 1 2 99\n  <RECODEABLE>\n  <HIERARCHICAL>\n  <HIERCODELIST> region.hrc\n"
        "Size 3 1\n  <RECODEABLE>\nSales 4 6\n  <NUMERIC>\nW 10 2\n  <WEIGHT>\n"
    )
    data = read_microdata(tmp_path / "r.asc")
    source, dimensions = data.prepared(["Region", "Size"])
    cells = tabulate(source, dimensions, value="Sales", weight="W")
    assert cells.responses[0].sums[cells.find(Region="Nr")] == 14.5
    assert cells.records[cells.find(Region="99")] == 1
    assert cells.weighted is not None
    assert cells.weighted[cells.find()] == 5
    with pytest.raises(RequestError, match="no variable 'Regoin'; did you mean 'Region'"):
        data.prepared(["Regoin"])
    (tmp_path / "r.asc").write_text(" 1s  10.5 1\n 2l\n")
    with pytest.raises(DataError, match=r"r\.asc: line 2 has 3 characters, but 'Sales' begins at 4"):
        read_microdata(tmp_path / "r.asc")


def test_separated_records_and_levels_by_digits(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("Act;Sales\nA1;1,5\nA2;2,5\nB1;4\n")
    (tmp_path / "r.rda").write_text(
        '<SEPARATOR> ";"\nAct 2 "ZZ"\n <RECODEABLE>\n <HIERARCHICAL>\n <HIERLEVELS> 1 1 0 0 0\nSales 5\n <NUMERIC>\n'
    )
    assert read_rda(tmp_path / "r.rda").variables[0].missing == ("ZZ",)
    source, dimensions = read_microdata(tmp_path / "r.csv").prepared(["Act"])
    cells = tabulate(source, dimensions, value="Sales")
    assert cells.axes[0].codes == ("Total", "A", "A1", "A2", "B", "B1")
    assert cells.responses[0].sums.tolist() == [8.0, 4.0, 1.5, 2.5, 4.0, 4.0]
    (tmp_path / "r.csv").write_text("A1;1,5\nA2\n")
    with pytest.raises(DataError, match=r"r\.csv: line 2 has 1 fields, but the metadata name 2"):
        read_microdata(tmp_path / "r.csv")
