"""Three people in a real browser: publisher, methodologist and checker."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.cli.running import run
from tests.workbench.people import Person, answer, bringing, firms, patients, said, visiting
from tests.workbench.serving import Server, serving

# What the server does is measured where others talk to it.


def test_the_publisher_reaches_a_verdict_and_exports(opened: Any, tmp_path: Path) -> None:
    table = patients(tmp_path / "patients.csv")
    with serving() as server:
        publisher = Person(opened, server.address)
        page = publisher.page
        page.set_input_files("#file", str(table))
        assert "holds a table" in publisher.text("#recognised")
        publisher.picture("open")
        page.click("text=Straight to the verdict")
        page.click("#assess")
        assert page.get_attribute("#verdict", "data-verdict") in ("protect", "release")
        worst = publisher.text("section:has(> h2:text('Worst cells'))")
        assert worst.count("rounded at random to base 3") == 1  # a reason is given once
        assert "as above" in worst
        publisher.picture("decide")
        released = publisher.download("#export", tmp_path)
        report = publisher.download("#internal", tmp_path)
        page.click("#public")
        page.wait_for_selector("#public-report")
        public = publisher.download("#public-report", tmp_path)
        for who in ("Ada Publisher", "Bo Second"):
            page.fill("input[name=who]", who)
            page.click("#approve")
            page.wait_for_selector(f"#signing td:has-text('{who}')")
        assert "Two people have signed" in publisher.text("#signing")
        assert "confidential" in report.read_text(encoding="utf-8").lower()
        assert "confidential" not in public.read_text(encoding="utf-8").lower()
        assert released.read_text().splitlines()[0].startswith('"area","age","count"')
        # A reload changes nothing, and what is shown is what the command prints.
        page.reload()
        page.wait_for_selector("#verdict")
        command = publisher.command()
        shown = page.get_attribute("#verdict", "data-verdict")
        saved = publisher.download("#save", tmp_path)
        publisher.leave()
    (tmp_path / "again").mkdir()
    shutil.copy(table, tmp_path / "again")
    told = answer(tmp_path / "again", command)
    assert told["verdict"] == shown
    assert (tmp_path / "again" / "release.csv").read_text() == released.read_text()
    replayed = run("workbench", saved, "--replay", "--json")
    assert replayed.code == 0, replayed
    steps = json.loads(replayed.out)["steps"]
    assert {step["outcome"] for step in steps} == {"same"}
    assert any(step["command"].startswith("discreet assess") for step in steps)
    with serving(saved) as server:
        reader = Person(opened, server.address)
        reader.page.wait_for_selector("#verdict")
        assert reader.page.get_attribute("#verdict", "data-verdict") == shown
        assert "Ada Publisher" in reader.text("#signing")
        reader.leave()


def test_the_methodologist_compares_suppression_and_controlled_rounding(
    opened: Any, server: Server, tmp_path: Path
) -> None:
    table = firms(tmp_path / "firms.csv")
    tree = tmp_path / "districts.csv"
    tree.write_text("child,parent\nn1,north\nn2,north\nn3,north\ns1,south\ns2,south\n")
    with bringing(opened, server, table, tree) as (person, page):
        person.cross_firms("districts.csv")
        page.evaluate("() => document.querySelector('#recognised').scrollIntoView()")
        person.picture("records")
        person.use()
        person.compare(20, "controlled-rounding:base=3", "suppress", "random-rounding:base=3")
        page.wait_for_selector("#comparison[data-done=yes]")
        names = page.eval_on_selector_all("[data-point]", "nodes => nodes.map(n => n.dataset.point)")
        assert any("controlled" in name for name in names)
        assert any("suppress" in name for name in names)
        assert page.get_attribute(".limit", "data-limit") == "0.5"
        page.select_option("#axis", "worst_dr")
        page.wait_for_selector(".limit[data-limit='0.7']", state="attached")
        page.click("[data-point^='suppress']")
        page.wait_for_selector("#hidden")
        assert "protect suppress" in person.command()
        assert "--rule=threshold=3" in person.command()
        page.wait_for_selector("#audit:has-text('safe')")
        assert page.query_selector(".grid[aria-label=after] .hidden-figure") is not None
        page.click(".grid[aria-label=after] .hidden-figure")
        known = person.text("#detail")
        for part in ("outsider", "Between", "bits", "risk"):
            assert part in known
        person.picture("protect")
        person.step("compare")
        page.click("[data-point*='controlled']")
        page.wait_for_selector("#changed")
        assert "controlled-rounding" in person.command()
        page.wait_for_selector(".grid[aria-label=after] [role=rowheader]:has-text('north')")
        person.step("decide")
        page.check("input[value=release]")
        page.click("#assess")
        page.wait_for_selector("#verdict")
        report = person.download("#internal", tmp_path)
        assert report.stat().st_size > 10_000


def test_the_methodologist_suppresses_magnitudes(opened: Any, server: Server, tmp_path: Path) -> None:
    """Turnover of firms by a hierarchy of districts: tabulated, explained, suppressed by the p% rule."""
    table = firms(tmp_path / "firms.csv")
    tree = tmp_path / "districts.hrc"
    tree.write_text("north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n")
    with bringing(opened, server, table, tree) as (person, page):
        person.cross_firms("districts.hrc", value="turnover", contributor="firm")
        assert "districts.hrc" in person.text("#beside")
        person.use()
        assert "--rule=p=10" in person.command()
        # A cell that a rule calls sensitive says so on hover, and a click gives the whole arithmetic.
        cell = page.locator(".grid .cell.flag").first
        reason = cell.get_attribute("title")
        assert reason.startswith("sensitive: ")
        cell.click()
        person.wait_for_reasons()
        told = person.text("#detail")
        printed = answer(server.folder, person.command())["explain"]
        for rule in printed["rules"]:
            assert rule["reason"] in told
        assert said(printed) in told
        person.picture("see")
        person.step("protect")
        page.wait_for_selector("#audit:has-text('safe')")
        assert "protect suppress" in person.command()
        made = answer(server.folder, person.command())
        assert person.text("#hidden") == str(made["hidden"])
        assert said(made) in person.text("#sentence")
        # A release that hides figures has no R2, which is said in plain words.
        assert f"hides {made['hidden']} figures, so it has no R2" in person.text("#no-r2")
        assert page.query_selector("#r2") is None
        page.select_option("#option-form", "intervals")
        person.wait_for("--as=intervals")
        page.wait_for_selector(".grid[aria-label=after] .cell:has-text('–')")


def enter(ledger: Path, name: str, text: str, *about: str) -> None:
    """Write a release beside a ledger, and enter it."""
    release = ledger.with_name(name)
    release.write_text(text)
    assert run("ledger", "add", release, "--ledger", ledger, *about).code == 0


def test_the_checker_finds_the_difference_and_rejects(opened: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "office.sqlite"
    enter(
        ledger, "all.csv", "area,count\nnorth,120\nsouth,90\nTotal,210\n", "--title", "all people", "--period", "2024"
    )
    enter(ledger, "schools.csv", "school,count\na,40\nb,33\n", "--title", "pupils", "--population", "pupils")
    second = tmp_path / "adults.csv"
    second.write_text(
        "area,age,count\nnorth,adult,119\nnorth,child,x\nsouth,adult,60\nsouth,child,x\nTotal,adult,179\nTotal,child,x\n"
    )
    with serving(second, "--ledger", ledger) as server:
        person = Person(opened, server.address)
        page = person.page
        page.click("[data-file='adults.csv']")
        assert "hidden" in person.text("#recognised")
        person.step("see")
        page.wait_for_selector("#audit")
        assert "not a number" not in person.text("#screen")
        for step in ("protect", "compare"):
            person.step(step)
            assert "is a release" in person.text("#alone")
        person.step("attack")
        page.wait_for_selector("#verdict")
        assert page.get_attribute("#verdict", "data-verdict") == "safe"
        # Some of the earlier releases, then all of them.
        page.click("#earlier summary")
        page.check("#earlier td:has-text('pupils') input")
        page.wait_for_selector("#ledger-verdict")
        assert "1 release of the ledger was left out" in person.text("#ledger-verdict")
        page.uncheck("#earlier td:has-text('pupils') input")
        page.wait_for_selector("#ledger-verdict", state="detached")
        page.wait_for_selector("#verdict[data-verdict=safe]")
        page.check("#earlier td:has-text('all people') input")
        page.wait_for_selector("#verdict[data-verdict=unsafe]")
        printed = answer(server.folder, person.command())
        assert (printed["verdict"], printed["left_out"]) == ("unsafe", 1)
        assert said(printed) in person.text("#ledger-verdict")
        assert "--beside=" in person.command()
        page.check("#with-ledger")
        person.wait_for("--beside", gone=True)
        page.fill("#period", "2024")
        page.press("#period", "Tab")
        person.wait_for("--period=2024")
        page.wait_for_selector("#ledger-verdict[data-verdict=unsafe]")
        assert page.get_attribute("#verdict", "data-verdict") == "unsafe"
        found = person.text("#attack-result")
        assert "120" in found
        assert "119" in found
        assert page.query_selector(".grid .cell.flag:has-text('= 1')") is not None
        person.picture("ledger")
        person.step("decide")
        assert page.is_checked("input[value=alone]")
        page.click("#assess")
        page.wait_for_selector("#ledger-verdict[data-verdict=unsafe]")
        page.wait_for_selector("#reject")
        assert page.get_attribute("#verdict", "data-verdict") == "unsafe"
        assert "beside earlier releases" in person.text("#verdict")
        # A policy's limit on the disclosure risk is about a reader who knows the method, here as everywhere.
        assert "--max-dr=0.7" in person.command()
        assert "--law=method" in person.command()
        assert answer(server.folder, person.command())["verdict"] == "incomplete"
        page.select_option("#policy", "health")
        page.click("#assess")
        page.wait_for_selector("#reject")
        page.wait_for_selector("#verdict[data-verdict=unsafe]")
        assert "--min-width=2" in person.command()
        assert page.is_disabled("#enter")
        assert page.is_disabled("#approve")
        # Verdict, entry and signature follow what the ledger says, whichever way it changes.
        for period, verdict, closed in (("2020", "safe", False), ("2024", "unsafe", True)):
            page.fill("#period", period)
            page.press("#period", "Tab")
            page.wait_for_selector(f"#ledger-verdict[data-verdict={verdict}]")
            page.wait_for_selector(f"#verdict[data-verdict={verdict}]")
            page.wait_for_selector(f"#approve:{'disabled' if closed else 'enabled'}")
            assert page.is_disabled("#enter") is closed
        page.fill("input[name=who]", "Bo Checker")
        page.fill("textarea[name=comment]", "differences with last year's table")
        page.click("#reject")
        page.wait_for_selector("#signing td:has-text('rejected')")
        assert "120" not in person.download("#audit-report", tmp_path).read_text()
        page.evaluate("() => window.scrollTo(0, 0)")
        person.picture("decide-release")
        person.leave()
    assert len(json.loads(run("ledger", "list", "--ledger", ledger, "--json").out)["releases"]) == 2


def test_a_release_enters_the_ledger_once_it_is_safe(opened: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "office.sqlite"
    enter(
        ledger,
        "firms.csv",
        "sector,count\nfood,120\nmetal,90\nTotal,210\n",
        "--period",
        "2023",
        "--population",
        "firms",
    )
    release = tmp_path / "areas.csv"
    cells = "n,a,x\nn,b,x\nn,Total,900\ns,a,x\ns,b,x\ns,Total,800\nTotal,a,600\nTotal,b,1100\nTotal,Total,1700\n"
    release.write_text("area,age,count\n" + cells)
    with visiting(opened, release, "--ledger", ledger) as (person, page):
        person.open("areas.csv")
        person.step("decide")
        page.click("#assess")
        page.wait_for_selector("#ledger-verdict[data-verdict=safe]")
        page.click("#enter")
        page.wait_for_selector("#entered")
    listed = json.loads(run("ledger", "list", "--ledger", ledger, "--json").out)["releases"]
    assert [one["title"] for one in listed] == ["firms", "areas"]


def test_what_the_ledger_could_not_judge_is_told_and_closes_the_entry(opened: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "office.sqlite"
    enter(ledger, "cities.csv", "geo,count\ncity,300\nrest,700\nTotal,1000\n", "--title", "cities", "--period", "2024")
    release = tmp_path / "coasts.csv"
    release.write_text("geo,age,count\ncoast,a,x\ncoast,b,x\ncoast,Total,320\nland,a,x\nland,b,x\nland,Total,680\n")
    with visiting(opened, release, "--ledger", ledger) as (person, page):
        person.open("coasts.csv")
        person.step("decide")
        page.click("#assess")
        page.wait_for_selector("#ledger-verdict[data-verdict=incomplete]")
        told = person.text("#ledger-verdict")
        assert "Not everything could be judged" in told
        assert "Not judged: dimension geo has other categories in «cities»" in told
        assert "Safe means, against a reader of these releases" in told
        page.wait_for_selector("#verdict[data-verdict=incomplete]")
        assert page.is_disabled("#enter")
        assert page.is_disabled("#approve")
