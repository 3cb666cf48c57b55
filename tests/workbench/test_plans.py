"""Plans in the workbench: clusters as a picture, verdicts, the way into a table, and nothing beyond their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.programme.records import BUSINESS, FIRMS, firms, table
from tests.workbench.people import Person
from tests.workbench.serving import Server, serving

TABLES = table("sizes", ["district", "size"], "pizza") + table("forms", ["region", "form"], "pizza")


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workbench that was started with a plan; its records are not named."""
    folder = tmp_path_factory.mktemp("plan")
    firms(folder)
    (folder / "plan.toml").write_text(BUSINESS + FIRMS + TABLES)
    with serving(folder / "plan.toml") as server:
        yield server


def test_from_a_plan_to_a_table_of_it(opened: Any, planned: Server) -> None:
    person = Person(opened, planned.address + "?session=plans")
    page = person.page
    page.wait_for_selector("[data-plan='plan.toml'] svg.clusters circle")
    assert "2 tables, 2 to protect in 1 cluster" in person.text("[data-plan] .sentence")
    labels = page.eval_on_selector_all("svg.clusters text", "nodes => nodes.map((node) => node.firstChild.textContent)")
    assert {"pizza", "area", "size", "form", "sizes", "forms"} <= set(labels)
    assert len(page.query_selector_all("svg.clusters line")) == 1, "both tables cross the area, nothing else"
    page.click("[data-run='plan.toml']")
    assert "all may be published" in person.text("#plan-sentence")
    assert "discreet plan run" in person.command()
    person.picture("plan")
    assert person.violations() == []
    page.click("[data-table='sizes']")
    page.wait_for_selector("#recognised")
    assert "sizes.csv holds a table with hidden figures" in person.text("#recognised")
    person.step("attack")
    assert "safe" in person.text("#verdict").lower()
    person.leave()


def test_only_plans_that_were_named_at_the_start_are_run(planned: Server, tmp_path: Path) -> None:
    """An uploaded plan could name any file of the machine, which a database would read past every hook."""
    (tmp_path / "secret.csv").write_text("region,size\nn,1\n")
    text = f'[records]\nfiles = "{tmp_path / "secret.csv"}"\n' + table("T", ["region"])
    planned.upload("other.toml", text.encode())
    for command in ("plan check", "plan run"):
        assert "was not named when the workbench was started" in planned.run(command, file="other.toml")["error"]
    # A file of the same name that is sent later is not the plan.
    kept = planned.json("GET", "api/start")["plans"]
    assert kept == ["plan.toml"]
    assert "plan run" not in [step["command"] for step in planned.json("GET", "api/sessions/page")["steps"]]


def test_a_table_is_opened_only_from_the_folder_of_a_plan(planned: Server) -> None:
    for folder, name in (("..", "plan"), ("plan-x", ".."), (".temporary", "x"), ("plan-zzz", "sizes")):
        assert planned.json("POST", f"api/plans/{folder}/{name}")["status"] in (400, 404, 405)


def test_an_upload_in_place_of_the_plan_ends_its_rights(tmp_path: Path) -> None:
    firms(tmp_path, 60)
    (tmp_path / "plan.toml").write_text(BUSINESS + FIRMS + TABLES)
    with serving(tmp_path / "plan.toml") as server:
        server.upload("plan.toml", (BUSINESS + FIRMS + TABLES).encode())
        assert server.json("GET", "api/start")["plans"] == []
        assert "was not named" in server.run("plan run", file="plan.toml", output="plan-a")["error"]
