"""Daily work in the browser: the whole way with a new ledger, finding one's way in tables, spreadsheets, batches."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import openpyxl
from tests.workbench.people import GAPS, Person, bringing, firms, patients, visiting
from tests.workbench.serving import Server

# What the server does is measured where others talk to it.

TREE = "north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n"
HIDES = "r,c,count\na,x,x\na,y,5\na,Total,8\nb,x,9\nb,y,7\nb,Total,16\nTotal,x,12\nTotal,y,12\nTotal,Total,24\n"


def crossed(path: Path) -> Path:
    """Write a cross-table as offices keep it: areas down, ages across, with totals."""
    draw = random.Random(5)
    ages = ["0-19", "20-64", "65+"]
    rows = {area: [draw.choice([1, 2, 14, 25, 38]) for _ in ages] for area in ("Ashby", "Borrow", "Cole", "Dunn")}
    lines = [",".join(["area", *ages, "Total"])]
    lines += [",".join([area, *map(str, counts), str(sum(counts))]) for area, counts in rows.items()]
    sums = [sum(column) for column in zip(*rows.values(), strict=True)]
    lines.append(",".join(["Total", *map(str, sums), str(sum(sums))]))
    path.write_text("\n".join(lines) + "\n")
    return path


def book(path: Path) -> Path:
    """Write a spreadsheet with a title above its table, a note below it, and a second sheet."""
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Data 2024"
    for row in (
        ["Patients by area"],
        [],
        ["area", "age", "count"],
        *([area, age, count] for area, age, count in (("A", "young", 30), ("A", "old", 14), ("B", "young", 1))),
        ["B", "old", 61],
        [],
        ["Source: registers"],
    ):
        sheet.append(row)
    made.create_sheet("Notes").append(["These are notes"])
    made.save(path)
    return path


def heads(person: Person, grid: str = ".grid") -> list[str]:
    """Return the labels of the rows that are shown, without those of totals."""
    found = f"{grid} [role=rowgroup] [role=rowheader]"
    told: list[str] = person.page.eval_on_selector_all(found, "nodes => nodes.map(n => n.textContent.trim())")
    return told


def columns(person: Person) -> list[str]:
    told: list[str] = person.page.eval_on_selector_all(
        ".grid .head.column > span:first-child", "nodes => nodes.map(n => n.textContent.trim())"
    )
    return told


def test_the_whole_way_with_a_ledger_that_is_not_there_yet(opened: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "office.sqlite"
    with visiting(opened, crossed(tmp_path / "patients.csv"), "--ledger", ledger) as (person, page):
        # Named at the start, it is open without a click.
        page.wait_for_selector("#use")
        assert "not begun yet" in person.text("#context")
        person.use()
        assert page.is_visible("#rules")
        assert page.locator("#rules button").bounding_box()["y"] < 400
        person.step("decide")
        page.click("#assess")
        assert "does not exist yet" in person.text("#ledger-verdict")
        assert not ledger.exists()
        excel = person.download("#excel", tmp_path)
        rows = list(openpyxl.load_workbook(excel).active.values)
        export = person.download("#export", tmp_path)
        assert len(rows) == len(export.read_text().strip().splitlines())
        page.fill("[name=who]", "Ada")
        page.click("#approve")
        page.wait_for_selector("#signing td:has-text('approved')")
        page.click("#enter")
        assert "Entered in office.sqlite" in person.text("#entered")
        assert ledger.exists()
        assert "not begun yet" not in person.text("#context")
        assert person.text("#ledger-verdict") == "Nothing was published before it, as far as office.sqlite knows."
        # The same again is checked beside it, and a button that cannot be used says why.
        page.click("#assess")
        page.wait_for_selector("#ledger-verdict")
        page.wait_for_selector("#approve")
        told = page.get_attribute("#ledger-verdict", "data-verdict")
        if told != "safe":
            assert person.text("#why-enter")


def test_a_button_that_cannot_be_used_says_why(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "tight.csv").write_text(HIDES)
    with visiting(opened, tmp_path / "tight.csv") as (person, page):
        assert page.get_attribute("#undo", "title") == "Nothing to undo"
        page.wait_for_selector("#use")
        person.step("decide")
        page.click("#assess")
        assert person.text("#why-approve") == "Too much can be worked out from it."
        assert page.get_attribute("#approve", "aria-describedby") == "why-approve"


def test_one_finds_ones_way_in_a_cross_table_with_totals(opened: Any, server: Server, tmp_path: Path) -> None:
    with bringing(opened, server, crossed(tmp_path / "crossed.csv")) as (person, page):
        page.wait_for_selector("#use")
        person.use()
        # Totals and the names of dimensions stay where they are.
        corner = person.text(".grid .headrow .rowhead").split()
        across = page.eval_on_selector("[data-tool=across]", "node => node.value")
        assert corner == ["area", across, "→"]
        assert "Total" in person.text(".grid .totalrow .rowhead")
        assert person.text(".grid .headrow .pinned").startswith("Total")
        assert heads(person) == ["Ashby", "Borrow", "Cole", "Dunn"]
        # Search keeps what fits, and says how much.
        page.fill("[data-tool=search]", "cole 65")
        assert (heads(person), columns(person)) == (["Cole"], ["65+"])
        assert "1 of 4 rows, 1 of 3 columns" in person.text(".found")
        page.fill("[data-tool=search]", "nowhere")
        assert person.text(".found") == "nothing fits"
        page.fill("[data-tool=search]", "")
        # Sorted by total, then by a column.
        totals = "nodes => nodes.map(n => Number(n.textContent.replace(/[^0-9]/g, '')))"
        page.select_option("[data-tool=sort]", "total")
        found = page.eval_on_selector_all(".grid [role=rowgroup] .pinned", totals)
        assert found == sorted(found, reverse=True)
        page.click(".grid .head.column >> nth=1")
        assert page.eval_on_selector("[data-tool=sort]", "node => node.value") == "20-64"
        page.select_option("[data-tool=sort]", "given")
        # Only sensitive cells, and from one to the next.
        page.select_option("[data-tool=filter]", "sensitive")
        sensitive = int(person.text("#sensitive"))
        assert 0 < len(heads(person)) <= 4
        page.select_option("[data-tool=filter]", "")
        seen = set()
        for _ in range(sensitive):
            page.click("[data-tool=next]")
            assert "flag" in str(page.get_attribute("#chosen-cell", "class"))
            seen.add(page.get_attribute("#chosen-cell", "aria-label"))
        assert len(seen) == sensitive
        # Pivoted, the ages are down; a reload keeps it.
        with person.keeping('"across":"area"'):
            page.select_option("[data-tool=across]", "area")
        assert columns(person) == ["Ashby", "Borrow", "Cole", "Dunn"]
        page.reload()
        page.wait_for_selector("#sensitive")
        assert heads(person) == ["0-19", "20-64", "65+"]


SEVERAL_DOWN = """async (shut) => {
  const { layOut, PLAIN } = await import("./static/layout.js");
  const area = { name: "area", labels: ["north", "n1", "n2", "south"], total: null, depths: [1, 2, 2, 1] };
  const flat = (name) => ({ name, labels: ["m", "f"], total: null, depths: null });
  const dimensions = [area, flat("sex"), flat("year")];
  const at = Array.from({ length: 16 }, (_, i) => [i >> 2, (i >> 1) & 1, i & 1]);
  const codes = [0, 1, 2].map((d) => at.map((cell) => cell[d]));
  const cells = { dimensions, codes, values: at.map((_, i) => i), hidden: [], intervals: [], decimals: 0 };
  return layOut(cells, { ...PLAIN, shut }).rows;
}"""
"""Lays out a table of three dimensions, the last across, with some rows folded, and returns the rows shown."""


def test_hierarchies_fold_and_unfold(opened: Any, server: Server, tmp_path: Path) -> None:
    (tmp_path / "districts.hrc").write_text(TREE)
    with bringing(opened, server, firms(tmp_path / "firms.csv"), tmp_path / "districts.hrc") as (person, page):
        person.cross_firms("districts.hrc", value="turnover", contributor="firm")
        page.click("#use")
        page.wait_for_selector("#sensitive")
        assert heads(person) == ["▾ north", "n1", "n2", "n3", "▾ south", "s1", "s2"]
        page.click(".grid .parts:has-text('north')")
        assert heads(person) == ["▸ north", "▾ south", "s1", "s2"]
        page.click("[data-tool=fold]")
        assert heads(person) == ["▸ north", "▸ south"]
        page.fill("[data-tool=search]", "n2")
        assert heads(person) == ["n2"]
        page.fill("[data-tool=search]", "")
        page.click(".grid [role=rowgroup] .cell >> nth=0")
        page.keyboard.press("+")
        assert heads(person)[:4] == ["▾ north", "n1", "n2", "n3"]
        page.click("[data-tool=unfold]")
        assert len(heads(person)) == 7
        # With several dimensions down the side, a row folds what is below it along any of them.
        every = [f"{area} · {sex}" for area in ("north", "n1", "n2", "south") for sex in "mf"]
        assert page.evaluate(SEVERAL_DOWN, []) == every
        assert page.evaluate(SEVERAL_DOWN, ["north · m"]) == [row for row in every if row not in ("n1 · m", "n2 · m")]
        assert page.evaluate(SEVERAL_DOWN, ["north · m", "north · f"]) == [row for row in every if row[1:2] == "o"]


def test_a_spreadsheet_with_a_title_row(opened: Any, tmp_path: Path) -> None:
    with visiting(opened, book(tmp_path / "book.xlsx")) as (person, page):
        page.wait_for_selector("#take-sheet")
        assert page.input_value("#header-row") == "3"
        person.picture("sheet")
        page.fill("#header-row", "1")
        page.keyboard.press("Tab")
        page.click("#take-sheet")
        assert "the names are probably in row 3" in person.text("#sheets .error")
        page.fill("#header-row", "3")
        page.keyboard.press("Tab")
        page.click("#take-sheet")
        page.wait_for_selector("#use")
        assert "4 rows" in person.text("#recognised")
        assert "book Data 2024.csv" in person.text("#context")
        person.use()
        assert heads(person) == ["A", "B"]


def test_fifty_thousand_cells(opened: Any, server: Server, tmp_path: Path) -> None:
    draw = random.Random(3)
    lines = [f"a{i},b{j},{draw.randint(0, 40)}" for i in range(500) for j in range(100)]
    (tmp_path / "large.csv").write_text("area,age,count\n" + "\n".join(lines) + "\n")
    with bringing(opened, server, tmp_path / "large.csv") as (person, page):
        page.wait_for_selector("#use")
        person.use()
        assert page.evaluate(GAPS) == 0
        assert len(page.query_selector_all(".grid .cell")) < 8000
        page.click("[data-tool=next]")
        page.wait_for_selector("#chosen-cell.flag")
        page.fill("[data-tool=search]", "a499 b99")
        assert (heads(person), columns(person)) == (["a499"], ["b99"])
        page.fill("[data-tool=search]", "")
        person.step("protect")
        page.wait_for_selector("#audit")
        assert page.inner_text("#audit") in ("safe", "unsafe", "incomplete")


def test_undo_survives_a_reload(opened: Any, server: Server, tmp_path: Path) -> None:
    with bringing(opened, server, patients(tmp_path / "patients.csv")) as (person, page):
        page.wait_for_selector("#use")
        person.use()
        page.fill("#rules [name=threshold]", "9")
        with person.keeping("threshold=9"):
            page.click("#rules button[type=submit]")
            person.wait_for("threshold=9")
        page.reload()
        person.wait_for("threshold=9")
        page.click("#undo")
        person.wait_for("threshold=3")


def test_several_files_are_judged_and_the_worst_comes_first(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "tight.csv").write_text(HIDES)
    (tmp_path / "plain.csv").write_text("area,count\nn,120\ns,140\n")
    files = [tmp_path / "plain.csv", patients(tmp_path / "patients.csv"), tmp_path / "tight.csv"]
    files += [firms(tmp_path / "firms.csv"), book(tmp_path / "book.xlsx")]
    with visiting(opened, *files) as (person, page):
        page.click("#batch summary")
        page.click("#batch-start")
        done = "() => document.querySelectorAll('#batch-verdicts [data-verdict]').length === 5"
        page.wait_for_function(f"{done} && !document.querySelector('#batch-verdicts [data-verdict=running]')")
        verdicts = page.eval_on_selector_all(
            "#batch-verdicts [data-verdict]", "nodes => nodes.map(n => n.dataset.verdict)"
        )
        order = ["unsafe", "withhold", "failed", "incomplete", "protect", "release", "safe"]
        assert verdicts == sorted(verdicts, key=order.index)
        assert (verdicts[0], "failed" in verdicts) == ("unsafe", True)
        page.locator("#batch-verdicts").scroll_into_view_if_needed()
        person.picture("batch")
        # What the page itself can do is told, and no option of a command line.
        told = person.text("#batch-verdicts tr:has-text('book.xlsx')")
        assert "which one is meant. Open the file to choose how it is read." in told
        assert "--" not in told
        assert page.inner_text("#batch-verdicts tbody tr >> nth=0 >> button") == "tight.csv"
        page.click("#batch-verdicts button:has-text('patients.csv')")
        page.wait_for_selector("#use")
        assert "patients.csv" in person.text("#context")


def test_the_map_fits_its_points(opened: Any, server: Server, tmp_path: Path) -> None:
    with bringing(opened, server, patients(tmp_path / "patients.csv")) as (person, page):
        page.wait_for_selector("#use")
        methods = ["random-rounding:base=3,additive=true", "random-rounding:base=5", "conventional-rounding:base=5"]
        methods += ["cell-key:bound=5,variance=3", "controlled-rounding:base=3", "table-swapping:rate=0.1", "suppress"]
        person.compare(20, *methods)
        page.wait_for_selector("#comparison[data-done]")
        person.picture("compare")
        place = """nodes => nodes.map((n) => {
            const { x, y, width, height } = n.getBBox();
            return [x + width / 2, y + height / 2];
        })"""
        points = page.eval_on_selector_all("svg.map .point .target", place)
        across = [x for x, _ in points]
        assert max(across) - min(across) > 0.55 * 760
        ticks = page.eval_on_selector_all("svg.map .tick", "nodes => nodes.map(n => n.textContent)")
        assert all(len(tick) <= 6 for tick in ticks)
        assert page.query_selector("svg.map .frontier") is not None
        assert page.query_selector("svg.map .limit") is not None
        page.hover("[data-point^='conventional']")
        assert "conventional" in str(page.text_content("svg.map .hover .first"))
        page.focus("[data-point^='suppress']")
        assert "suppress" in str(page.text_content("svg.map .hover .first"))
        # The colours are the report's.
        style = Path("src/discreet/report/templates/style.css").read_text()
        own = Path("src/discreet/workbench/static/style.css").read_text()
        for name in ("--meets: #0f6b8f", "--fails: #b9481f", "--meets: #6fc1e0", "--fails: #ff9563"):
            assert name in style
            assert name in own


def test_records_without_a_category_are_counted_or_left_out(opened: Any, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("area,sex\n" + "n,m\nn,f\n,f\ns,m\ns,f\n" * 4)
    with bringing(opened, server, file) as (person, page):
        page.click("[data-file='people.csv']")
        page.check("[data-by=area]")
        assert "make a category of it (--missing category)" in person.text(".error")
        page.select_option("[data-pick=missing]", "drop")
        person.wait_for("--missing=drop")
        page.wait_for_selector("text=4 records without a category were left out.")
        page.select_option("[data-pick=missing]", "category")
        page.wait_for_selector(".grid [role=rowheader]:has-text('Missing')")


def test_the_command_that_is_shown_before_it_runs_can_be_typed(opened: Any, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("area,sex,pct,count\nn,m,2.5,5\nn,f,7.5,15\ns,m,40.5,81\ns,f,49.5,99\n")
    with visiting(opened, file) as (person, page):
        page.fill("[name=dimensions]", "area,sex")
        page.click("text=Read it again")
        person.use()
        for step in ("compare", "decide"):
            person.step(step)
            person.wait_for("--dimensions=area,sex t.csv")
