"""Plans, maps, workbooks and other published files, as somebody would write them who means harm."""

from __future__ import annotations

import csv
import json
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import openpyxl
import pytest
from tests.cli.running import run

import discreet as dc
from discreet.table.presentation import Presentation

SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("//x","y")'
PEOPLE = "area,sex\n" + "".join(f"{'abcd'[i % 4]},{'mf'[i % 3 % 2]}\n" for i in range(120))
PLAN = (
    'title = "people"\npolicy = "census"\n[records]\nfiles = ["people.csv"]\n'
    '[[tables]]\nname = "T1"\nby = ["area", "sex"]\n'
)
TABLE = "area,sex,count\n" + "".join(
    f"{a},{s},{7 * i + 3 * j + 1}\n" for i, a in enumerate("abc") for j, s in enumerate("mf")
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("table.csv").write_text(TABLE, encoding="utf-8")


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def planned(more: str = "", old: str = "", new: str = "") -> None:
    Path("plan.toml").write_text(PLAN.replace(old, new) + more, encoding="utf-8")


def refused(*words: object) -> str:
    done = run(*words)
    assert done.code == 2, done
    assert done.err.count("\n") == 1
    assert done.err.startswith("discreet: ")
    return done.err


def files() -> set[str]:
    return {str(path) for path in Path("..").rglob("*") if path.is_file()}


# --- plans --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["../elsewhere", "/{}/elsewhere", "link/inside", "a/../../elsewhere"])
def test_a_plan_writes_nothing_outside_its_folder(folder: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path("link").symlink_to(tmp_path / "elsewhere")
    planned(f'[output]\nfolder = "{folder.format(tmp_path)}"\n')
    before = files()
    assert "outside the folder of the plan" in refused("plan", "run", "plan.toml")
    assert files() == before


def test_who_runs_a_plan_may_say_that_it_writes_elsewhere() -> None:
    planned('[output]\nfolder = "../elsewhere"\n')
    assert run("plan", "run", "plan.toml", "-o", "../chosen").code == 0
    assert Path("../chosen/T1.csv").exists()
    assert not Path("../elsewhere").exists()


@pytest.mark.parametrize("name", ["../T1", "a/b", ".hidden", "a\\b", "T\x1b1", "..", "T1\n"])
def test_names_of_tables_lead_nowhere(name: str) -> None:
    planned(old='"T1"', new=json.dumps(name))
    before = files()
    refused("plan", "run", "plan.toml")
    assert files() == before


@pytest.mark.parametrize("column", ["../evil", "/evil", "T1"])
def test_workbooks_of_clusters_lead_nowhere(column: str) -> None:
    rows = PEOPLE.splitlines()
    Path("people.csv").write_text("\n".join([f"{rows[0]},{column}", *(f"{row},5" for row in rows[1:])]) + "\n")
    planned('[output]\nworkbook = true\nformats = ["xlsx"]\n', old="by =", new=f'value = "{column}"\nby =')
    before = files()
    assert "workbook of cluster" in refused("plan", "run", "plan.toml")
    assert files() == before


@pytest.mark.parametrize(
    "rows",
    [
        "n," + "x" * 200_000,
        "n,a\0b",
        "n,\x1b[31mred",
        "n,a\u202eb",
        "n,Same\ns,Same",
        "n",
        "n,a\nn,b",
        'n,"open',
    ],
)
def test_labels_that_make_no_sense_are_refused_before_anything_is_written(rows: str) -> None:
    Path("people.csv").write_text("area\n" + "n\n" * 40 + "s\n" * 50, encoding="utf-8")
    Path("labels.csv").write_text(f"code,label\n{rows}\n", encoding="utf-8")
    Path("plan.toml").write_text(
        '[records]\nfiles = "people.csv"\n[dimensions.area]\ncolumns = ["area"]\nlabels = "labels.csv"\n'
        '[output]\nfolder = "out"\nformats = ["csv", "xlsx"]\n[[tables]]\nname = "T1"\nby = ["area"]\n',
        encoding="utf-8",
    )
    done = run("plan", "run", "plan.toml")
    if rows == 'n,"open':
        # The end of a file closes a quotation.
        assert done.code == 0, done
        return
    assert (done.code, done.err.count("\n")) == (2, 1), done
    assert "labels.csv" in done.err
    assert not Path("out").exists()


def test_a_table_that_cannot_be_written_in_one_format_is_written_in_none() -> None:
    Path("people.csv").write_text("area\n" + "n\n" * 40 + "s\n" * 50, encoding="utf-8")
    Path("plan.toml").write_text(
        '[records]\nfiles = "people.csv"\n[output]\nfolder = "out"\nformats = ["csv", "xlsx"]\n'
        '[output.presentation.labels.area]\nn = "Total"\n[[tables]]\nname = "T1"\nby = ["area"]\n',
        encoding="utf-8",
    )
    assert "are shown as 'Total'" in refused("plan", "run", "plan.toml")
    assert sorted(path.name for path in Path("out").iterdir()) == [".plan"]


@pytest.mark.parametrize("key", ["title", "period", "vintage", "population"])
def test_texts_that_cannot_be_printed_are_refused(key: str) -> None:
    Path("plan.toml").write_text(f'{key} = "a\\u001b[2Jb"\n' + PLAN.replace('title = "people"\n', ""), encoding="utf-8")
    assert "can be printed" in refused("plan", "check", "plan.toml")


def test_what_a_plan_keeps_is_for_its_owner_alone(umask: None) -> None:
    planned()
    assert run("plan", "run", "plan.toml").code == 0
    for path in (Path("published"), *Path("published").rglob("*")):
        if path.name not in ("published", "T1.csv"):
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    assert {"record.json", "report.html"} <= {path.name for path in Path("published").iterdir()}


def test_a_link_in_place_of_an_output_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "kept.txt"
    target.write_text("mine")
    Path("published").mkdir()
    for name in ("T1.csv", "record.json", "report.html"):
        Path("published", name).symlink_to(target)
    planned()
    assert run("plan", "run", "plan.toml").code == 0
    assert target.read_text() == "mine"


def test_texts_of_a_plan_do_not_become_markup() -> None:
    planned(old='"people"', new=f'"{SCRIPT}"')
    assert run("plan", "run", "plan.toml").code == 0
    page = Path("published/report.html").read_text(encoding="utf-8")
    assert "&lt;script" in page
    assert "<script" not in page


@pytest.mark.parametrize("damage", ["{", "[]", "null", '{"kept": [1]}'])
def test_the_record_of_an_earlier_run_that_is_damaged(damage: str) -> None:
    planned()
    assert run("plan", "run", "plan.toml", "-o", "first").code == 0
    Path("first/record.json").write_text(damage, encoding="utf-8")
    # What was finished is made again; as the last run of another plan it is refused.
    assert run("plan", "run", "plan.toml", "-o", "first").code == 0
    Path("first/record.json").write_text(damage, encoding="utf-8")
    planned(old='policy = "census"', new='policy = "business"\nprotection = "suppress"')
    refused("plan", "run", "plan.toml", "-o", "second", "--previous", "first")


@pytest.mark.parametrize("damage", ["{", "[]", "null", "{}"])
def test_what_is_kept_of_a_cluster_and_is_damaged(damage: str) -> None:
    planned()
    assert run("plan", "run", "plan.toml").code == 0
    Path("published/record.json").unlink()
    Path("published/.plan/count.json").write_text(damage, encoding="utf-8")
    done = run("plan", "run", "plan.toml")
    assert done.code in (0, 2), done
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM people; COPY (SELECT 1) TO '../evil.csv'",
        "SELECT column0 AS area, column0 AS sex FROM read_csv('../secret.txt', header = false)",
        "SELECT * FROM leak",
        "SELECT * FROM people; ATTACH '../other.duckdb'",
        "SELECT * FROM people; SET enable_external_access = true",
    ],
)
def test_a_query_reads_its_database_and_nothing_else(query: str) -> None:
    Path("../secret.txt").write_text("a,b\nc,d\n", encoding="utf-8")
    with duckdb.connect("people.duckdb") as book:
        book.execute("CREATE TABLE people AS SELECT * FROM read_csv('people.csv')")
        book.execute(
            "CREATE VIEW leak AS SELECT column0 AS area, column1 AS sex FROM read_csv('../secret.txt', header = false)"
        )
    before = files()
    with pytest.raises(dc.DiscreetError):
        dc.tabulate("people.duckdb", ["area"], query=query)
    planned(old='files = ["people.csv"]', new=f'files = "people.duckdb"\nquery = "{query}"')
    refused("plan", "run", "plan.toml")
    assert {name for name in files() - before if ".plan" not in name and not name.endswith("plan.toml")} == set()
    assert len(dc.tabulate("people.duckdb", ["area"], query="SELECT * FROM people WHERE sex = 'm'")) == 5


# --- records ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["protect", "random-rounding", "table.csv", "-o", "../evil.csv"],
        ["protect", "random-rounding", "table.csv", "--output=../evil.csv"],
        ["protect", "random-rounding", "table.csv", "-o../evil.csv"],
        ["protect", "random-rounding", "table.csv", "-ho", "../evil.csv"],
        ["protect", "random-rounding", "table.csv", "--record", "../evil.json"],
        ["assess", "table.csv", "--report", "../evil.html"],
        ["ledger", "add", "table.csv", "--ledger", "../evil.sqlite"],
        [],
    ],
)
def test_a_record_that_is_made_again_writes_no_other_file(arguments: list[str]) -> None:
    assert run("protect", "random-rounding", "table.csv", "-o", "r.csv", "--record", "r.json").code == 0
    record = json.loads(Path("r.json").read_text(encoding="utf-8"))
    record["request"]["arguments"] = arguments
    Path("r.json").write_text(json.dumps(record), encoding="utf-8")
    before = files()
    assert "is not a protection" in refused("replay", "r.json")
    assert files() == before


def test_a_record_without_its_kind_is_damaged() -> None:
    assert run("assess", "table.csv", "--record", "r.json").code in (0, 1)
    record = json.loads(Path("r.json").read_text(encoding="utf-8"))
    del record["kind"]
    Path("r.json").write_text(json.dumps(record), encoding="utf-8")
    assert "is damaged" in refused("replay", "r.json")


# --- maps ---------------------------------------------------------------------------------------------------


def test_names_in_shapes_do_not_become_markup() -> None:
    names = [f"{SCRIPT}{i}" for i in range(4)] + ['"onload="alert(1)"']
    rows = [f'"{name.replace(chr(34), chr(34) * 2)}",g{i % 2},{3 + i}' for i, name in enumerate(names)]
    Path("cells.csv").write_text("\n".join(["area,grid,count", *rows]) + "\n", encoding="utf-8")
    shapes = {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"code": name, "name": SCRIPT},
                "geometry": {"type": "Polygon", "coordinates": [[[i, 0], [i + 1, 0], [i + 1, 1], [i, 0]]]},
            }
            for i, name in enumerate(names)
        ],
    }
    Path("zones.geojson").write_text(json.dumps(shapes), encoding="utf-8")
    for target in ("map.svg", "map.html"):
        done = run("geography", "cells.csv", "--shapes=area=zones.geojson", f"--map={target}")
        assert done.code in (0, 1, 2), done
        if done.code < 2:
            text = Path(target).read_text(encoding="utf-8")
            assert "<script>alert" not in text
            assert '"onload=' not in text
            assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"type": "FeatureCollection"}', '{"features": [{"geometry": null}]}', '{"features": {"a": 1}}'],
)
def test_shapes_that_are_none(text: str) -> None:
    Path("zones.geojson").write_text(text, encoding="utf-8")
    refused("geography", "table.csv", "--shapes=area=zones.geojson", "--map=m.svg")
    assert not Path("m.svg").exists()


# --- published files ----------------------------------------------------------------------------------------


def hostile_release() -> dc.Release:
    table = dc.Table.from_array([[4, 9], [7, 12]], {FORMULA: ["+cmd", "@x"], "sex": ["=1+1", "\tm"]})
    return dc.protect.conventional_rounding(table, base=5)


STYLE = {
    "title": FORMULA,
    "source": "+cmd",
    "period": "@2025",
    "notes": ["=1+1", "-2+3"],
    "labels": {"sex": {"=1+1": "=2+2"}},
    "dataflow": "=X:Y(1.0)",
}


def test_a_workbook_holds_no_formula_nothing_hidden_and_nobody() -> None:
    release = hostile_release()
    release.write("r.xlsx", style=Presentation.from_dict(STYLE))
    book = openpyxl.load_workbook("r.xlsx")
    for sheet in book.worksheets:
        assert sheet.sheet_state == "visible"
        assert not [name for name, row in sheet.row_dimensions.items() if row.hidden]
        assert not [name for name, column in sheet.column_dimensions.items() if column.hidden]
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            assert cell.data_type != "f"
            assert cell.comment is None
            assert not str(cell.value or "").startswith(("=", "+", "-", "@", "\t"))
    about = book.properties
    assert {about.creator or "", about.lastModifiedBy or ""} <= {"", "discreet", "openpyxl"}
    with zipfile.ZipFile("r.xlsx") as parts:
        assert not [name for name in parts.namelist() if "vba" in name.lower() or "externalLink" in name]
    again = dc.read_release("r.xlsx")
    assert again.parts()[0].labels == release.parts()[0].labels
    assert again.parts()[0].values.tolist() == release.parts()[0].values.tolist()


@pytest.mark.parametrize("form", ["csv", "flags", "sdmx-csv"])
def test_text_files_hold_no_formula_and_come_back(form: str) -> None:
    release = hostile_release()
    release.write("r.csv", style=Presentation.from_dict({**STYLE, "format": form}))
    for line in Path("r.csv").read_text(encoding="utf-8").splitlines():
        for field in next(iter(csv.reader([line]))):
            assert not field.startswith(("=", "+", "@", "\t")), field
    again = dc.read_release("r.csv")
    assert {name: set(found) for name, found in again.parts()[0].labels.items()} == {
        name: set(found) for name, found in release.parts()[0].labels.items()
    }


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_not_taken_for_the_table(state: str) -> None:
    book = openpyxl.Workbook()
    book.active.title = "shown"
    hidden = book.create_sheet("other", 0)
    for sheet, n in ((book["shown"], 9), (hidden, 1)):
        for row in (["area", "count"], ["a", n], ["b", 7]):
            sheet.append(row)
    hidden.sheet_state = state
    book.save("t.xlsx")
    done = run("risk", "t.xlsx", "--json")
    if done.code == 0:
        assert dc.read_table("t.xlsx").total == 16
    else:
        assert "sheet" in done.err


@pytest.mark.parametrize(
    "text",
    [
        'symbols = {suppressed = "=x"}',
        'symbols = {suppressed = "9"}',
        "title = 5",
        'notes = [["a"]]',
        'columns = ["nowhere", 3]',
        'format = "exe"',
        'file = "../evil.csv"',
        "[labels]\nsex = 5",
        "title = ",
    ],
)
def test_presentations_that_make_no_sense(text: str) -> None:
    Path("layout.toml").write_text(text, encoding="utf-8")
    before = files()
    refused("protect", "random-rounding", "table.csv", "--presentation=layout.toml", "-o", "r.xlsx")
    assert files() == before


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "other"])
def test_a_head_of_a_ledger_that_is_none(damage: str) -> None:
    if damage != "missing":
        assert run("ledger", "add", "table.csv", "--published-as", "exact", "--ledger", "book.sqlite").code == 0
        whole = Path("book.sqlite").read_bytes()
        Path("book.sqlite").write_bytes({"empty": b"", "cut": whole[:5000], "other": b"x" * 4096}[damage])
    before = files()
    refused("assess", "table.csv", "--report", "r.html", "--head-of", "book.sqlite")
    assert {name for name in files() - before if not name.endswith(".sqlite-journal")} == set()


@pytest.mark.parametrize(
    "step", ["", ":", "none", "random-sample:n=5", "table-swapping:rate=nan", "table-swapping:x=1", "chain"]
)
def test_steps_that_are_none(step: str) -> None:
    refused("protect", "chain", "table.csv", f"--step={step}", "--step=random-rounding", "-o", "c.csv")
    assert not Path("c.csv").exists()
