"""Files as people write them: an index, codes that sort as texts, codes beside their labels, many decimals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from tests.cli.running import run
from tests.lengths import seeds

import discreet as dc
from discreet.reading.original import open_original
from discreet.reading.reading import Reading
from discreet.table.columns import natural_order
from discreet.table.figures import families_of, units_of


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_index_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, ",area,sex,count\n0,n,m,3\n1,n,f,4\n2,s,m,5\n3,s,f,1\n")
    assert dc.read_table(path).names == ("area", "sex")
    # It may be what tells rows apart, or be no numbering.
    for rows in ("0,n,m,3\n1,n,m,4\n", "0,n,m,3\n2,n,f,4\n"):
        with pytest.raises(dc.DataError, match="column 1 has no name"):
            dc.read_table(written(tmp_path, f",area,sex,count\n{rows}"))


def test_codes_that_were_sorted_as_texts_are_counted(tmp_path: Path) -> None:
    table = dc.read_table(written(tmp_path, "area,count\n1,3\n10,4\n11,5\n2,6\nTotal,18\n"))
    assert table.to_dict() == {("1",): 3, ("2",): 6, ("10",): 4, ("11",): 5}
    assert table.dimensions[0].categories == ("1", "2", "10", "11")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["2", "1", "10"], None),
        (["1", "2", "10"], None),
        (["small", "medium", "large"], None),
        (["a1", "a10", "a2", "b1"], ["a1", "a2", "a10", "b1"]),
        (["0-9", "10-19", "100+", "20-29"], ["0-9", "10-19", "20-29", "100+"]),
        (["01", "02", "10"], None),
    ],
)
def test_natural_order(labels: list[str], expected: list[str] | None) -> None:
    order = natural_order(labels)
    assert (None if order is None else [labels[i] for i in order]) == expected


@pytest.mark.parametrize("seed", range(200))
def test_natural_order_is_a_permutation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = sorted({f"{'ab'[rng.integers(2)]}{rng.integers(200)}" for _ in range(12)})
    order = natural_order(labels)
    if order is not None:
        assert sorted(order) == list(range(len(labels)))
        found = [labels[i] for i in order]
        assert found == sorted(labels, key=lambda text: (text[0], int(text[1:])))


@pytest.mark.parametrize(("code", "label"), [("code", "label"), ("area_code", "area_name"), ("NACE", "NACE label")])
def test_codes_and_what_is_called_their_label_are_one_dimension(tmp_path: Path, code: str, label: str) -> None:
    rows = "".join(f"0{i},name {i},{sex},{i + 3}\n" for i in range(3) for sex in "mf")
    path = written(tmp_path, f"{label},{code},sex,count\n{rows}")
    both = dc.read_table(path)
    assert both.names == (code, "sex")
    assert both.size == 6
    assert dc.read_release(path).parts()[0].names == (code, "sex")
    assert run("inspect", path).code == 0
    assert dc.read_table(path, dimensions=[code, label, "sex"]).size == 18
    # A label that two codes share is still one; labels of which a code has two classify further.
    shared = written(tmp_path, f"{code},{label},sex,count\n{rows.replace('name 1', 'name 2')}")
    assert dc.read_table(shared).names == (code, "sex")
    split = written(tmp_path, f"{code},{label},sex,count\n{rows}00,another,m,1\n")
    assert dc.read_table(split).names == (code, label, "sex")


def test_codes_beside_labels_of_another_name_are_noticed(tmp_path: Path) -> None:
    rows = "".join(f"{i},name {i},{sex},{i + 3}\n" for i in range(3) for sex in "mf")
    path = written(tmp_path, f"code,town,sex,count\n{rows}")
    with pytest.raises(dc.RequestError, match=r"'code' and 'town' say the same.*dimensions=\['code', 'sex'\]"):
        dc.read_table(path)
    assert dc.read_table(path, dimensions=["code", "sex"]).possible == 6
    assert dc.read_table(path, dimensions=["code", "town", "sex"]).size == 18


@seeds(4, 20)
def test_amounts_with_many_decimals_add_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.choice(list("xyz"), 60), "b": rng.choice(list("uvw"), 60), "c": rng.choice(["p", "q"], 60)}
    )
    cells = dc.tabulate(frame.assign(amount=rng.pareto(1.5, 60) * 1e4), ["a", "b", "c"], value="amount")
    units, decimals = units_of(cells)
    assert decimals == 6
    assert np.abs(units / 1e6 - cells.responses[0].sums).max() < 1e-4
    for _, _, rows, slot in families_of(cells):
        sums = np.bincount(slot, weights=units[rows], minlength=units.size)
        assert (sums[np.unique(slot)] == units[np.unique(slot)]).all()
    assert dc.suppress(cells, [dc.rules.PPercent(10)]).release is not None


def test_thousands_may_be_separated_where_that_leaves_no_doubt(tmp_path: Path) -> None:
    rows = ["n,1 234 567", "s,1\u00a0000", "e,12\u202f345", "w,9'876", "o,7"]
    (tmp_path / "t.csv").write_text("\n".join(["area,count", *rows]), encoding="utf-8")
    assert sorted(dc.read_table(tmp_path / "t.csv").to_array().tolist()) == [7, 1000, 9876, 12345, 1234567]
    for odd in ("12 34", "1 2345", "1 234'567 8", "1 234.5"):
        (tmp_path / "odd.csv").write_text(f"area,count\nn,{odd}\ns,3\n")
        with pytest.raises(dc.DataError, match="which is not a number"):
            dc.read_table(tmp_path / "odd.csv")


@pytest.mark.parametrize(
    ("entry", "decimal", "count"),
    [("1,234", ".", 1234), ("1.234", ",", 1234), ("1.000", ",", 1000), ("1,234,567", ".", 1234567), ("12,0", ",", 12)],
)
def test_a_point_or_comma_that_may_separate_thousands_is_asked_about(
    entry: str, decimal: str, count: int, tmp_path: Path
) -> None:
    long = written(tmp_path, f'area;count\nn;"{entry}"\ns;3\n')
    wide = tmp_path / "wide.csv"
    wide.write_text(f";men;women\nn;{entry};4\ns;3;5\n", encoding="utf-8")
    if "," not in entry or len(entry) > 4:
        with pytest.raises(dc.DataError, match=rf"'{entry}', where the .* could separate thousands .*{decimal}"):
            dc.read_table(long)
    assert dc.read_table(long, decimal=decimal).to_array().tolist() == [count, 3]
    assert dc.read_table(wide, decimal=decimal).to_array().tolist() == [[count, 4], [3, 5]]
    assert run("risk", long, "--decimal", decimal).code == 0
    if entry != "1.000":
        with pytest.raises(dc.DataError):
            dc.read_table(long, decimal=",."[decimal == ","])


def test_counts_that_all_have_decimals_may_have_three(tmp_path: Path) -> None:
    assert dc.read_table(written(tmp_path, "area,count\nn,1.000\ns,250.000\n")).total == 251


def test_blanks_around_names_and_entries_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "Area , Age, Count \n North , young, 3 \nSouth\t, old,\u00a04\n")
    table = dc.read_table(path)
    assert table.categories_by_name == {"Area": ("North", "South"), "Age": ("young", "old")}
    assert table.to_array().tolist() == [[3, 0], [0, 4]]
    with pytest.raises(dc.DataError, match="two columns are called 'Area'"):
        dc.read_table(written(tmp_path, "Area,Area ,count\nn,m,3\n"))
    with pytest.raises(dc.DataError, match="given before"):
        dc.read_table(written(tmp_path, "area,count\nn,3\nn ,4\n"))


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_blanks_in_records_make_no_category(engine: str, tmp_path: Path) -> None:
    path = written(tmp_path, "region , id,\tturnover\nn , a , 10\nn,a ,20 \n s,b,5\n")
    found = dc.tabulate(path, ["region"], value="turnover", contributor="id", engine=engine)
    assert {found.label(i)["region"]: found.responses[0].sums[i] for i in range(3)} == {"Total": 35, "n": 30, "s": 5}
    with pytest.raises(dc.DataError, match="'region' is empty"):
        dc.tabulate(written(tmp_path, "region,turnover\n  ,10\nn,3\n"), ["region"], value="turnover")


@pytest.mark.parametrize("name", ["Count", "COUNT", "Freq"])
def test_counts_are_found_in_any_case(name: str, tmp_path: Path) -> None:
    assert dc.read_table(written(tmp_path, f"area,{name}\nn,3\ns,4\n")).total == 7
    assert dc.read_release(written(tmp_path, f"area,{name}\nn,3\ns,x\n")).parts()[0].hidden.sum() == 1


@pytest.mark.parametrize(
    ("entries", "total"),
    [("1.234,50;2,5", 1237.0), ("1,234.50;1,000;2.5", 2237.0), ("1.234.567,25;-12.000", 1222567.25)],
)
def test_amounts_with_both_signs_leave_no_doubt(entries: str, total: float, tmp_path: Path) -> None:
    rows = "\n".join(f"n;{entry}" for entry in entries.split(";"))
    found = dc.tabulate(written(tmp_path, f"region;turnover\n{rows}\n"), ["region"], value="turnover")
    assert found.responses[0].sums[0] == total


def test_amounts_that_leave_doubt_are_read_as_stated(tmp_path: Path) -> None:
    path = written(tmp_path, 'region;turnover\nn;"1,234"\nn;7\n')
    for decimal, total in ((".", 1241.0), (",", 8.234)):
        found = dc.tabulate(path, ["region"], value="turnover", decimal=decimal)
        assert found.responses[0].sums[0] == pytest.approx(total)
    with pytest.raises(dc.DataError, match=r"'turnover' is '1\.5', which is not a number"):
        dc.tabulate(written(tmp_path, "region;turnover\nn;1.5\n"), ["region"], value="turnover", decimal=",")


def test_a_worksheet_with_a_title_and_a_source(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    rows = [["Table 1: residents"], [], [None, "young", "old"], ["North", 30, 14], ["South", 8, 61], [], ["Source: us"]]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    told = run("risk", tmp_path / "t.xlsx")
    assert told.code == 2
    assert "row 3 fills a column that row 1 does not name; the names are probably in row 3 (--header-row 3)" in told.err
    assert open_original(tmp_path / "t.xlsx", Reading(header_row=3)).table().to_array().tolist() == [[30, 14], [8, 61]]
