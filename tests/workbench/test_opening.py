"""Opening files in a real browser, and what See tells of the table that was opened."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from tests.workbench.people import firms, person_at, visiting
from tests.workbench.serving import Server

# What the server does is measured where others talk to it.

DROP = """([name, text]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], name));
    document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true }));
}"""


def test_a_dropped_file_is_read_and_can_be_read_otherwise(opened: Any, server: Server) -> None:
    text = "area,sex,count\nn,f,7\nn,m,8\ns,f,9\ns,m,10\n"
    with person_at(opened, server, "dropped") as (person, page):
        page.evaluate(DROP, ["people.csv", text])
        page.wait_for_selector("#recognised")
        assert page.get_attribute("[data-file='people.csv']", "aria-pressed") == "true"
        page.click("summary:has-text('Not right?')")
        for name, given in {"layout": "long", "count": "count", "dimensions": "sex,area"}.items():
            page.fill(f"input[name={name}]", given)
        page.click("text=Read it again")
        person.wait_for("--dimensions=sex,area")
        page.wait_for_selector(".grid [role=gridcell]:has-text('10')")
        page.click("#use")
        page.wait_for_selector(".terms")
        assert "--dimensions=sex,area" in person.command() or "--dimensions sex,area" in person.command()


def test_an_example_shows_the_risk_of_rows_and_columns_and_its_three_terms(opened: Any) -> None:
    measured = json.loads(run("risk", "--example", "religion", "--json").out)
    with visiting(opened) as (person, page):
        page.click("[data-example=religion]")
        person.use()
        page.wait_for_selector(".terms")
        terms = ", ".join(f"{name} {measured['terms'][name]:.4f}" for name in ("zeros", "concentration", "size"))
        assert terms in [node.get_attribute("aria-label") for node in page.query_selector_all(".terms")]
        shown = person.text(".grid")
        for dimension in ("output_area", "religion"):
            first = next(one for one in measured["slices"] if one["dimension"] == dimension)
            assert f"{first['value']:.4f}" in shown, first
        assert shlex.split(person.command())[0] == "discreet"


def firms_tab(folder: Path) -> Path:
    """A table of τ-ARGUS with its metadata and hierarchy, sensitive cells marked."""
    source, tree = firms(folder / "firms.csv"), folder / "districts.hrc"
    tree.write_text("north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n")
    table = folder / "firms.parquet"
    by = ["--by", "district,size", "--value", "turnover", "--contributor", "firm", "--hierarchy", f"district={tree}"]
    assert run("tabulate", source, *by, "-o", table).code == 0
    assert run("rules", table, "--rule", "p=10", "-o", folder / "firms.tab").code == 0
    return folder / "firms.tab"


@pytest.mark.parametrize("uploaded", [False, True])
def test_a_table_of_argus_is_opened_with_its_metadata(
    opened: Any, server: Server, tmp_path: Path, uploaded: bool
) -> None:
    table = firms_tab(tmp_path)
    beside = sorted(tmp_path.glob("firms*.rda")) + sorted(tmp_path.glob("firms*.hrc"))
    with person_at(opened, server, "argus") if uploaded else visiting(opened, table) as (person, page):
        if uploaded:
            person.bring(table, *beside)
        else:
            page.click("[data-file='firms.tab']")
        assert "hidden figures" in person.text("#recognised")
        assert all(path.name in person.text("#beside") for path in beside)
        page.wait_for_selector(".grid [role=rowheader]:has-text('north')")
        assert page.query_selector(".grid .hidden-figure") is not None
        page.click("#use")
        page.wait_for_selector("#audit:has-text('unsafe')")
        page.click(".grid .cell.flag")
        person.wait_for_reasons()
        told = person.text("#detail")
        assert "Worked out exactly" in told
        assert "10% rule" in told
        person.step("protect")
        page.select_option("#method", "protect suppress")
        page.wait_for_selector("#audit:has-text('safe')")
