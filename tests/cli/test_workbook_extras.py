"""A workbook for publication that holds more than values is not called safe: readers open it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import openpyxl.chart
import openpyxl.comments
import pytest
from openpyxl.packaging.custom import IntProperty
from openpyxl.workbook.defined_name import DefinedName
from tests.cli.running import refused, run

import discreet as dc
from discreet.core.errors import DataError

ROWS = ["n,a,x", "n,b,x", "n,Total,13", "s,a,x", "s,b,x", "s,Total,15", "Total,a,10", "Total,b,18", "Total,Total,28"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def book() -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    for text in ("area,kind,count", *ROWS):
        made.active.append([int(part) if part.isdecimal() else part for part in text.split(",")])
    return made


def commented(made: openpyxl.Workbook) -> None:
    made.active["C2"].comment = openpyxl.comments.Comment("was 3", "me")


def sheet_behind(made: openpyxl.Workbook, state: str = "hidden") -> None:
    made.create_sheet("original").append(["n", "a", 3])
    made["original"].sheet_state = state


def charted(made: openpyxl.Workbook) -> None:
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(made.active, min_col=3, min_row=1, max_row=3), titles_from_data=True)
    made.active.add_chart(chart, "H2")


def named(made: openpyxl.Workbook) -> None:
    made.defined_names["cells"] = DefinedName("cells", attr_text="Sheet!$A$1:$C$4")
    made.defined_names["original"] = DefinedName("original", attr_text="{3,10}")


@pytest.mark.parametrize(
    ("add", "named"),
    [
        (commented, "comments"),
        (sheet_behind, "hidden sheets"),
        (lambda made: sheet_behind(made, "veryHidden"), "hidden sheets"),
        (charted, "charts with their data"),
        (named, "names for numbers or texts"),
        (lambda made: made.custom_doc_props.append(IntProperty(name="n a", value=3)), "document properties that are"),
    ],
)
def test_what_readers_can_open_is_refused(add: Callable[[openpyxl.Workbook], None], named: str) -> None:
    made = book()
    made.save("plain.xlsx")
    add(made)
    made.save("more.xlsx")
    assert run("audit", "plain.xlsx", "--least", "1").out.startswith("safe")
    for command in (
        ("audit", "more.xlsx", "--least", "1", "--sheet", "Sheet"),
        ("ledger", "add", "more.xlsx", "--ledger", "l.sqlite", "--title", "first", "--sheet", "Sheet"),
    ):
        assert f"holds {named}" in refused(run(*command))
    with pytest.raises(DataError, match=f"holds {named}"):
        dc.read_release("more.xlsx", sheet="Sheet")


@pytest.mark.parametrize(
    ("place", "content", "told"),
    [
        (
            "xl/worksheets/sheet1.xml",
            '<scenarios><scenario name="old"><inputCells r="C2" val="3"/></scenario></scenarios>',
            "scenarios with",
        ),
        ("customXml/item1.xml", "<DataMashup>UEsDBA==</DataMashup>".encode("utf-16"), "queries with their data"),
    ],
)
def test_values_that_no_sheet_shows(place: str, content: str | bytes, told: str) -> None:
    book().save("plain.xlsx")
    with zipfile.ZipFile("plain.xlsx") as old, zipfile.ZipFile("more.xlsx", "w") as new:
        for name in old.namelist():
            sheet = old.read(name)
            end = b"</sheetData>"
            new.writestr(name, sheet.replace(end, end + str(content).encode()) if name == place else sheet)
        if isinstance(content, bytes):
            new.writestr(place, content)
    assert run("audit", "plain.xlsx", "--least", "1").out.startswith("safe")
    assert f"holds {told}" in refused(run("audit", "more.xlsx", "--least", "1"))


@pytest.mark.parametrize(("formula", "tells"), [("=SUM(C2:C3)", False), ("=3+10", True), ("=original!C2+C3", True)])
def test_formulas_that_contain_figures(formula: str, tells: bool) -> None:
    made = book()
    made.active["C4"] = formula
    made.save("plain.xlsx")
    # As a spreadsheet program saves it: the formula with its value.
    with zipfile.ZipFile("plain.xlsx") as old, zipfile.ZipFile("saved.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b"</f><v />", b"</f><v>13</v>").replace(b"</f><v/>", b"</f><v>13</v>"))
    if tells:
        assert "formulas with numbers or texts in them" in refused(run("audit", "saved.xlsx", "--least", "1"))
    else:
        assert run("audit", "saved.xlsx", "--least", "1").out.startswith("safe")


def test_a_release_of_ones_own_to_which_something_was_added() -> None:
    Path("t.csv").write_text("area,sex,count\nn,m,1\nn,f,30\ns,m,22\ns,f,41\nw,m,12\nw,f,9\n", encoding="utf-8")
    assert run("protect", "suppress", "t.csv", "--rule", "threshold=3", "-o", "r.xlsx").code == 0
    assert run("audit", "r.xlsx").code == 0
    made = openpyxl.load_workbook("r.xlsx")
    sheet_behind(made)
    made.save("r.xlsx")
    assert "holds hidden sheets" in refused(run("audit", "r.xlsx"))
    assert "holds hidden sheets" in refused(run("assess", "t.csv", "--released", "r.xlsx"))
    for place, said in (
        ("more!A1", "sheet 'more' was added"),
        ("Table 1!K2", "sheet 'Table 1' is not as discreet wrote"),
    ):
        title, cell = place.split("!")
        Path("r.xlsx").unlink()
        assert run("protect", "suppress", "t.csv", "--rule", "threshold=3", "-o", "r.xlsx").code == 0
        made = openpyxl.load_workbook("r.xlsx")
        (made[title] if title in made.sheetnames else made.create_sheet(title))[cell] = 1
        made.save("r.xlsx")
        assert said in refused(run("audit", "r.xlsx"))
