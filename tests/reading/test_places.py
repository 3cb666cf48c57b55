"""Tables that are not the first thing in a file: a sheet of a workbook, names of columns below a title."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from tests.cli.running import run

import discreet as dc
from discreet.table.arrow_files import read_arrow

ROWS: list[list[object]] = [["area", "sex", "count"], ["n", "m", 5], ["n", "f", 3], ["s", "m", 4], ["s", "f", 0]]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active.title = "notes"
    made.active.append(["read me"])
    sheet = made.create_sheet("Table 1")
    for row in [["People by area and sex"], [], *ROWS]:
        sheet.append(row)
    made.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


@pytest.fixture
def titled(tmp_path: Path) -> Path:
    file = tmp_path / "titled.csv"
    text = "\n".join(",".join(map(str, row)) for row in ROWS)
    file.write_text(f"People by area and sex\n\n{text}\n", encoding="utf-8")
    return file


def test_a_sheet_and_a_header_row_are_read_as_a_file_of_their_own(book: Path, titled: Path) -> None:
    plain = titled.with_name("plain.csv")
    plain.write_text("\n".join(titled.read_text(encoding="utf-8").splitlines()[2:]) + "\n", encoding="utf-8")
    expected = dc.risk(plain)
    assert dc.risk(book, sheet="Table 1", header_row=3).value == expected.value
    assert dc.risk(titled, header_row=3).value == expected.value
    for file, how in ((book, ["--sheet", "Table 1", "--header-row", "3"]), (titled, ["--header-row", "3"])):
        shown = run("risk", file, *how)
        assert (shown.code, shown.out) == (0, run("risk", plain).out), shown.err
        assert run("audit", file, *how).code == run("audit", plain).code
        assert "a table: 4 rows" in run("inspect", file, *how).out
    release = dc.read_release(book, sheet="Table 1", header_row=3)
    assert release.parts()[0].values.tolist() == dc.read_release(plain).parts()[0].values.tolist()


def test_a_table_is_read_where_the_refusal_says_that_it_is(book: Path, titled: Path) -> None:
    with pytest.raises(dc.DataError, match=r"\(header_row=3\)"):
        dc.read_table(book, sheet="Table 1")
    assert dc.read_table(book, sheet="Table 1", header_row=3) == dc.read_table(titled, header_row=3)
    with pytest.raises(dc.RequestError, match="a frame has no sheet"):
        dc.read_table(read_arrow(titled, header_row=3), header_row=3)


def test_rows_are_counted_as_in_the_file(titled: Path) -> None:
    titled.write_text(titled.read_text(encoding="utf-8").replace("n,f,3", "n,f,"), encoding="utf-8")
    told = run("risk", titled, "--header-row", "3").err
    assert "line 5: count is empty" in told


def test_an_assessment_of_a_sheet_is_made_again(book: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    run("assess", book, "--sheet", "Table 1", "--header-row", "3", "--record", record)
    done = run("replay", record)
    assert (done.code, done.err) == (0, "")


def test_what_is_not_there_is_refused(book: Path, titled: Path, tmp_path: Path) -> None:
    assert "say which one is meant (--sheet 'Table 1')" in run("risk", book).err
    assert "has no sheet 'Tabel'; did you mean 'Table 1'?" in run("risk", book, "--sheet", "Tabel").err
    assert "is not a workbook and has no sheet 'x'" in run("risk", titled, "--sheet", "x").err
    assert "has nothing from row 30 on" in run("risk", titled, "--header-row", "30").err
    table = tmp_path / "t.parquet"
    dc.Table.from_array([[5, 3]], ["a", "b"]).write(table)
    assert "the header is said to be in row 3" in run("risk", table, "--header-row", "3").err


def test_lines_are_counted_from_the_top_of_the_file(titled: Path) -> None:
    titled.write_text("title\na,b\n1,2\n1,2,3\n", encoding="utf-8")
    with pytest.raises(dc.DataError, match="line 4 has 3 fields"):
        read_arrow(titled, header_row=2)
