"""What the screens do while people change their minds, and how fast they are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workbench.people import GAPS, Person, answer, bringing, patients, person_at, said, tables
from tests.workbench.serving import Server, serving

from discreet.core.proof_text import proof_lines


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory, patiently: dict[str, str]) -> Iterator[Server]:
    """A workbench with tables of 1,000 and of 100,000 cells."""
    folder = tmp_path_factory.mktemp("large")
    with serving(*tables(folder), env=patiently) as server:
        yield server


def test_a_parameter_changes_the_table(opened: Any, thousand: Server) -> None:
    with person_at(opened, thousand, "speed") as (person, page):
        person.open("thousand.csv")
        person.round_randomly()
        for base in (4, 5, 6, 7, 8):
            drawn = page.get_attribute("#result", "data-drawn")
            page.fill("#option-base", str(base))
            page.wait_for_function("drawn => document.querySelector('#result').dataset.drawn !== drawn", arg=drawn)
            page.wait_for_selector("#audit")
            assert f"--base={base}" in person.command()


def test_undo_brings_the_last_parameters_back(opened: Any, thousand: Server) -> None:
    with person_at(opened, thousand, "undo") as (person, page):
        person.open("thousand.csv")
        person.round_randomly()
        page.fill("#option-base", "7")
        person.wait_for("--base=7")
        page.wait_for_selector("#audit")
        page.click("#undo")
        person.wait_for("--base=7", gone=True)


def test_quick_changes_end_with_the_last_one_and_sessions_keep_apart(opened: Any, thousand: Server) -> None:
    people = [Person(opened, f"{thousand.address}?session={name}") for name in ("ada", "bo")]
    for person in people:
        person.open("thousand.csv")
        person.round_randomly()
    for base in (4, 5, 6, 7, 8, 9, 11):
        for person, more in zip(people, (0, 20), strict=True):
            person.page.fill("#option-base", str(base + more))
    for person, base, name in zip(people, (11, 31), ("ada", "bo"), strict=True):
        person.wait_for(f"--base={base}")
        person.page.wait_for_selector("#audit")
        assert f"{name}-release" in person.command()
        texts = person.page.eval_on_selector_all(
            ".grid[aria-label=after] .cell", "nodes => nodes.map(node => node.textContent)"
        )
        assert len(texts) > 100
        assert all(int(text.replace(",", "")) % base == 0 for text in texts if text)
        person.leave()


@pytest.mark.long
def test_a_large_table_opens_and_scrolls_without_gaps(opened: Any, thousand: Server) -> None:
    with person_at(opened, thousand, "large") as (_, page):
        page.click("[data-file='large.csv']")
        # A thousand rows, the header, and the sums.
        page.wait_for_selector(".grid[aria-rowcount='1002'] .cell")
        assert page.evaluate(GAPS) == 0
        assert len(page.query_selector_all(".grid .cell")) < 8000


def test_a_refused_command_is_the_one_that_is_shown(opened: Any, server: Server, tmp_path: Path) -> None:
    with bringing(opened, server, patients(tmp_path / "patients.csv")) as (person, page):
        person.open("patients.csv")
        person.round_randomly()
        page.fill("#option-base", "1")
        page.wait_for_selector("#result .error")
        assert "--base=1" in person.command()


def test_script_in_labels_stays_text(opened: Any, server: Server) -> None:
    evil = "<img src=x onerror=window.hacked=1>"
    rows = "\n".join(
        f'"{evil}{i}",{age},{(i + 1) ** 2}' for i in range(3) for age in ("a", "<script>window.hacked=1</script>")
    )
    server.upload("script.csv", f"area,age,count\n{rows}\n".encode())
    with person_at(opened, server, "script") as (person, page):
        person.open("script.csv")
        for step in ("see", "protect", "attack"):
            person.step(step)
            page.wait_for_timeout(300)
            assert page.evaluate("window.hacked") is None
        assert "onerror" in person.text("#screen")


def test_of_a_large_release_the_figures_known_best_are_told(opened: Any, thousand: Server) -> None:
    with person_at(opened, thousand, "best") as (person, page):
        person.open("large.csv")
        person.round_randomly()
        assert "100,000 figures were judged" in page.inner_text(".card:has(#audit)")
        assert person.text("#not-shown").startswith(
            "The 2,000 figures known best are coloured; none of the other 98,000"
        )
        # One that is not among them is not called published exactly.
        page.click(".grid[aria-label=after] [role=rowgroup] .cell:not(.pinned, [class*=' r'])")
        assert "no better known than they are" in person.text("#detail")


def test_a_long_comparison_survives_a_reload_and_can_be_cancelled(opened: Any, thousand: Server) -> None:
    with person_at(opened, thousand, "long") as (person, page):
        person.open("thousand.csv")
        person.step("compare")
        page.select_option("#more", "random-rounding:base=3")
        with thousand.held():
            person.compare(20, "conventional-rounding:base=5", "random-rounding:base=3", "patient")
            page.wait_for_selector("progress")
            page.reload()
            page.wait_for_selector("progress")
            # The map fills while the rest runs.
            page.wait_for_selector("#partial [data-point^='conventional']")
            page.click("text=Cancel")
            page.wait_for_selector("#cancelled")
        assert page.query_selector("#partial [data-point^='conventional']") is not None


def test_what_is_cancelled_is_taken_up_again(
    opened: Any, thousand: Server, patience: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(patience)
    with bringing(opened, thousand, patients(tmp_path / "patients.csv")) as (person, page):
        with thousand.held():
            person.compare(20, "conventional-rounding:base=5", "patient", "table-swapping:rate=0.3")
            page.wait_for_selector("#partial [data-point^='conventional']")
            page.click("text=Cancel")
            page.wait_for_selector("#cancelled")
        points = f"{thousand.folder}/{shlex.split(person.command())[-2].partition('=')[2]}"
        kept = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(points).glob("*.json")}
        assert kept
        page.click("#start")
        page.wait_for_selector("#comparison[data-done=yes]")
        # What was finished is taken as it was, and the whole is what one go gives.
        again = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(points).glob("*.json")}
        assert len(again) > len(kept)
        assert {name: again[name] for name in kept} == kept
        words = [word for word in shlex.split(person.command()) if not word.startswith("--resume")]
        printed = answer(thousand.folder, shlex.join(words))
        assert said(printed) in person.text("#recommendation")
        rows = page.eval_on_selector_all("#comparison tbody tr", "rows => rows.map((row) => row.innerText)")
        assert [
            f"{point['utility']['mean']:.4f}" in row for point, row in zip(printed["points"], rows, strict=True)
        ] == [True] * len(rows)


def test_attackers_of_every_kind_see_what_the_command_prints(opened: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "ages.csv", tmp_path / "areas.csv"
    first.write_text("area,age,count\nn,a,x\nn,b,x\nn,Total,12\ns,a,x\ns,b,x\ns,Total,30\nTotal,a,20\nTotal,b,22\n")
    second.write_text(first.read_text().replace("n,a,x", "n,a,7").replace("n,b,x", "n,b,5"))
    people = tmp_path / "people.csv"
    parts = [("n", "a", 7), ("n", "b", 5), ("s", "a", 13), ("s", "b", 17)]
    people.write_text("person,area,age,amount\n" + "".join(f"p{k},{x},{y},{v}\n" for k, (x, y, v) in enumerate(parts)))
    with serving(first, second, people) as server:
        person = Person(opened, server.address)
        page = person.page
        person.open("ages.csv")
        person.step("attack")
        fields = page.locator("form.options label > span:first-child").all_text_contents()
        assert fields[:2] == ["least width of an interval", "largest disclosure risk (1/H)"]
        shown = {}
        for who, field, text in (
            ("outsider", None, ""),
            ("insider", "#option-insider", "area=n,age=a:6"),
            ("coalition", "#option-coalition", "area=n,age=a:3\narea=n,age=b:2"),
            ("respondents", "#option-contributions", "people.csv"),
            ("holder", "[data-linked='areas.csv']", ""),
        ):
            before = person.command()
            if who == "holder":
                page.check(field)
            elif field is not None:
                page.check(f"input[value={who}]")
                # Nothing is said of an attacker before it is known what they know.
                page.wait_for_selector("#needed")
                assert page.query_selector("#verdict") is None
                if who == "respondents":
                    page.select_option(field, text)
                    page.fill("#option-contributor", "person")
                    page.fill("#option-contribution", "amount")
                else:
                    page.fill(field, text)
            if field is not None:
                page.wait_for_function("old => document.querySelector('#command').textContent !== old", arg=before)
                words = {"insider": "--insider=a", "coalition": "--coalition=a", "holder": "areas.csv"}
                word = words.get(who, "--contribution=amount")
                person.wait_for(word)
            page.wait_for_selector("#verdict")
            printed = answer(server.folder, person.command())
            assert page.get_attribute("#verdict", "data-verdict") == printed["verdict"], who
            assert said(printed) in person.text("#verdict")
            shown[who] = (printed["verdict"], max(cell["upper"] - cell["lower"] for cell in printed["cells"]))
            for cell in printed["cells"][:3]:
                name = re.split(" [≥≤] ", cell["proof"] or "")[0]
                assert "; ".join(proof_lines(cell["proof"], name)) in person.text("#attack-result")
            if who == "respondents":
                # Whoever is alone in a cell works out the three others.
                assert {cell["attacker"] for cell in printed["cells"]} >= {"p0", "p1", "p2", "p3"}
                assert page.query_selector(".grid .cell.flag:has-text('= 7')") is not None
        assert len(set(shown.values())) > 1
        assert shown["respondents"][0] == "unsafe"
        assert shown["holder"][0] == "unsafe"
        person.leave()
