"""Spreadsheets that are opened and handed out."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.workbench.test_daily import book

from discreet.workbench import sheets


def ask(*arguments: str) -> Any:
    code, out, error = sheets.perform(list(arguments), lambda done, total, label: None)
    return json.loads(out) if code == 0 else error


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, *rows: list[Any]) -> str:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path


def test_the_table_of_a_sheet_is_found_and_taken() -> None:
    book(Path("book.xlsx"))
    found = ask("sheets", "book.xlsx")
    assert [(one["sheet"], one["header"], one["height"]) for one in found["sheets"]] == [
        ("Data 2024", 3, 9),
        ("Notes", 1, 1),
    ]
    made = openpyxl.load_workbook("book.xlsx")
    made.move_sheet("Notes", -1)
    made.save("turned.xlsx")
    assert [one["sheet"] for one in ask("sheets", "turned.xlsx")["sheets"]] == ["Data 2024", "Notes"]
    taken = ask("sheet", "book.xlsx", "Data 2024", "3", "data.csv")
    assert taken == {"name": "data.csv", "rows": 4, "left_out": 1}
    assert Path("data.csv").read_text() == "area,age,count\nA,young,30\nA,old,14\nB,young,1\nB,old,61\n"


NO_TABLES = [
    ("Nowhere", "1", "has no sheet 'Nowhere'"),
    ("Data 2024", "99", "row 99 is not a row"),
    ("Data 2024", "0", "row 0 is not a row"),
    ("Data 2024", "1", "row 3 fills a column that row 1 does not name; the names are probably in row 3"),
    ("Notes", "1", "no rows below"),
]


@pytest.mark.parametrize(("sheet", "header", "told"), NO_TABLES)
def test_what_is_no_table_is_refused(sheet: str, header: str, told: str) -> None:
    book(Path("book.xlsx"))
    assert told in ask("sheet", "book.xlsx", sheet, header, "data.csv")
    assert not Path("data.csv").exists()


def test_a_column_without_a_name_is_refused() -> None:
    write("odd.xlsx", ["area", None, "count"], ["n", None, 3], ["s", "x", 4])
    assert "sheet 'Sheet': row 3 fills a column that row 1 does not name; name it there" in ask(
        "sheet", "odd.xlsx", "Sheet", "1", "o.csv"
    )


def test_a_formula_without_a_value_is_refused() -> None:
    write("formula.xlsx", ["area", "count"], ["n", 3], ["s", "=B2+1"])
    assert "B3 of sheet 'Sheet' is a formula without its value" in ask("sheet", "formula.xlsx", "Sheet", "1", "o.csv")
    assert "formula without its value" in ask("sheets", "formula.xlsx")


def test_damaged_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("bad.xlsx").write_bytes(b"PK\x03\x04 not a workbook")
    assert "not a whole Excel file" in ask("sheets", "bad.xlsx")
    with zipfile.ZipFile("bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 2**21)
    monkeypatch.setattr("discreet.table.arrow_files.LARGEST", 2**20)
    assert "unpacks to" in ask("sheets", "bomb.xlsx")
    write("empty.xlsx", [None])
    assert "is empty" in ask("sheets", "empty.xlsx")


def test_excel_files_hold_the_same_figures_and_run_nothing() -> None:
    Path("release.csv").write_text("area,code,count\n=1+1,007,3\n@x,12,x\nn,5,2.5\n")
    assert ask("excel", "release.csv", "release.xlsx") == {"name": "release.xlsx", "rows": 3}
    page = openpyxl.load_workbook("release.xlsx").active
    assert list(page.values) == [("area", "code", "count"), ("=1+1", "007", 3), ("@x", 12, "x"), ("n", 5, 2.5)]
    assert page["A2"].data_type == "s"
