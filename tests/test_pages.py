"""Every page with commands runs from top to bottom, and prints what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.pages import Command, execute, pages_with_commands, prepare, steps

PAGES = pages_with_commands()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    prepare(folder)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in files.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    names: dict[str, object] = {"__name__": "example"}
    entry = ""
    for step in steps(PAGES[page]):
        if isinstance(step, str):
            exec(compile(step, page, "exec"), names)
            continue
        done = execute(step, entry)
        assert not step.shown or step.agrees(done), f"{page}: {step.line} prints\n{done.out}"
        added = re.match(r"Added (\w+)", done.out)
        entry = added[1] if added else entry


def test_what_differs_is_seen() -> None:
    from tests.cli.running import Outcome

    shown = Command("discreet risk a.csv", "R1 = 0.5\n…\nWritten: a.json")
    assert shown.agrees(Outcome(0, "R1 =\n0.5\nmore of it\nWritten: a.json\n", ""))
    for other in ("R1 = 0.6\nWritten: a.json", "R1 = 0.5\nWritten: b.json", "R1 = 0.5\nWritten: a.json and more"):
        assert not shown.agrees(Outcome(0, other, ""))


def test_most_pages_of_the_guide_are_run() -> None:
    assert len(PAGES) >= 18
    named = ("tutorials/census", "tutorials/business", "guide/audit", "guide/ledger")
    assert {f"docs/{name}.md" for name in named} <= PAGES.keys()
