"""Three people in a real browser: publisher, methodologist and checker; and how fast and how readable it is."""

from __future__ import annotations

import json
import random
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from tests.workbench.people import GAPS, Person
from tests.workbench.serving import Server, serving

pytestmark = pytest.mark.xdist_group("workbench")


NAMELESS = """() => {
    const controls = document.querySelectorAll('button, input, select, textarea, a, iframe, [role=grid], svg');
    return [...controls].filter((n) => {
        const label = n.closest('label') || (n.id && document.querySelector(`label[for="${n.id}"]`));
        const hidden = n.getAttribute('aria-hidden');
        return !(n.textContent.trim() || label || n.getAttribute('aria-label') || n.title || hidden);
    }).map((n) => n.outerHTML.slice(0, 120));
}"""
FAINT = """() => {
    const part = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const light = (colour) => {
        const [r, g, b] = colour.match(/[0-9.]+/g).map((v) => part(Number(v) / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (n) => {
        for (let node = n; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor;
            if (!colour.includes('rgba(0, 0, 0, 0)')) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const texts = document.querySelectorAll('h1, h2, p, label span, button, th, td, .card b, .card span, .cell');
    return [...texts].filter((n) => n.textContent.trim() && n.offsetParent && !n.disabled).filter((n) => {
        const [a, b] = [light(getComputedStyle(n).color), light(ground(n))];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    }).map((n) => n.outerHTML.slice(0, 100));
}"""


def small_table(path: Path) -> Path:
    """A table of patients with a few small counts."""
    draw = random.Random(4)
    rows = [
        f"{area},{age},{draw.choice([0, 1, 2, 14, 25, 38, 61])}"
        for area in "ABCDEF"
        for age in ("0-19", "20-64", "65+")
    ]
    path.write_text("area,age,count\n" + "\n".join(rows) + "\n")
    return path


def test_the_publisher_reaches_a_verdict_and_exports(opened: Any, tmp_path: Path) -> None:
    table = small_table(tmp_path / "patients.csv")
    with serving() as server:
        publisher = Person(opened, server.address)
        page = publisher.page
        page.set_input_files("#file", str(table))
        assert "holds a table" in publisher.text("#recognised")
        publisher.picture("open")
        page.click("text=Straight to the verdict")
        page.click("#assess")
        assert page.get_attribute("#verdict", "data-verdict") in ("protect", "release")
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
        words = shlex.split(publisher.command())
        shown = page.get_attribute("#verdict", "data-verdict")
        saved = publisher.download("#save", tmp_path)
        publisher.leave()
    (tmp_path / "again").mkdir()
    shutil.copy(table, tmp_path / "again")
    import os

    here = os.getcwd()
    os.chdir(tmp_path / "again")
    try:
        printed = run(*words[1:], "--json")
    finally:
        os.chdir(here)
    assert json.loads(printed.out)["verdict"] == shown
    assert (tmp_path / "again" / "release.csv").read_text() == released.read_text()
    replayed = run("workbench", saved, "--replay", "--json")
    assert replayed.code == 0, replayed
    told = json.loads(replayed.out)["steps"]
    assert {step["outcome"] for step in told} == {"same"}
    assert any(step["command"].startswith("discreet assess") for step in told)
    with serving(saved) as server:
        reader = Person(opened, server.address)
        reader.page.wait_for_selector("#verdict")
        assert reader.page.get_attribute("#verdict", "data-verdict") == shown
        assert "Ada Publisher" in reader.text("#signing")
        reader.leave()


def records(path: Path) -> Path:
    """Firms in districts of two regions, few of them large."""
    draw = random.Random(7)
    lines = ["firm,district,size,turnover"]
    for i in range(160):
        district = draw.choice(["n1", "n2", "n3", "s1", "s2"])
        size = draw.choices(["small", "medium", "large"], [70, 23, 7])[0]
        lines.append(f"f{i},{district},{size},{draw.randint(1, 900)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_methodologist_compares_suppression_and_controlled_rounding(opened: Any, tmp_path: Path) -> None:
    table = records(tmp_path / "firms.csv")
    tree = tmp_path / "districts.csv"
    tree.write_text("child,parent\nn1,north\nn2,north\nn3,north\ns1,south\ns2,south\n")
    with serving(table, tree) as server:
        person = Person(opened, server.address)
        page = person.page
        page.click("[data-file='firms.csv']")
        assert "records" in person.text("#recognised")
        page.check("[data-by=district]")
        page.wait_for_selector("#use")
        page.check("[data-by=size]")
        page.wait_for_selector("[data-hierarchy=district]")
        page.select_option("[data-hierarchy=district]", "districts.csv")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('--hierarchy')")
        page.wait_for_selector(".grid [role=rowheader]:has-text('north')")
        page.evaluate("() => document.querySelector('#recognised').scrollIntoView()")
        person.picture("records")
        page.click("#use")
        page.wait_for_selector("#sensitive")
        person.step("compare")
        page.fill("#draws", "20")
        page.fill("#methods", "controlled-rounding:base=3\nsuppress\nrandom-rounding:base=3")
        page.click("#start")
        page.wait_for_selector("#comparison[data-done=yes]")
        names = page.eval_on_selector_all("[data-point]", "nodes => nodes.map(n => n.dataset.point)")
        assert any("controlled" in name for name in names)
        assert any("suppress" in name for name in names)
        assert page.get_attribute(".limit", "data-limit") == "0.5"
        page.select_option("#axis", "worst_dr")
        page.wait_for_selector(".limit[data-limit='0.7']", state="attached")
        person.picture("compare")
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
        person.leave()


def test_the_methodologist_suppresses_magnitudes(opened: Any, tmp_path: Path) -> None:
    """Turnover of firms by a hierarchy of districts: tabulated, explained, suppressed by the p% rule."""
    table = records(tmp_path / "firms.csv")
    tree = tmp_path / "districts.hrc"
    tree.write_text("north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n")
    with serving(table, tree) as server:
        person = Person(opened, server.address)
        page = person.page
        page.click("[data-file='firms.csv']")
        assert "districts.hrc" in person.text("#beside")
        page.check("[data-by=district]")
        page.wait_for_selector("#use")
        page.check("[data-by=size]")
        page.wait_for_selector("[data-hierarchy=district]")
        page.select_option("[data-hierarchy=district]", "districts.hrc")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('--hierarchy')")
        page.select_option("[data-pick=value]", "turnover")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('--value')")
        page.select_option("[data-pick=contributor]", "firm")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('--contributor')")
        page.wait_for_selector(".grid [role=rowheader]:has-text('north')")
        page.click("#use")
        page.wait_for_selector("#sensitive")
        assert "--rule=p=10" in person.command()
        # A cell that a rule calls sensitive says so on hover, and a click gives the whole arithmetic.
        cell = page.locator(".grid .cell.flag").first
        reason = cell.get_attribute("title")
        assert reason.startswith("sensitive: ")
        cell.click()
        page.wait_for_function("() => document.querySelector('#detail').dataset.explained")
        told = person.text("#detail")
        printed = json.loads(same(server, person.command()))["explain"]
        for rule in printed["rules"]:
            assert rule["reason"] in told
        assert printed["sentence"] in told
        person.picture("see")
        person.step("protect")
        page.wait_for_selector("#audit:has-text('safe')")
        assert "protect suppress" in person.command()
        made = json.loads(same(server, person.command()))
        assert person.text("#hidden") == str(made["hidden"])
        assert made["sentence"] in person.text("#sentence")
        # A release that hides figures has no R2, which is said in plain words.
        assert f"hides {made['hidden']} figures, so that it has no R2" in person.text("#no-r2")
        assert page.query_selector("#r2") is None
        page.select_option("#option-form", "intervals")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('--as=intervals')")
        page.wait_for_selector(".grid[aria-label=after] .cell:has-text('–')")
        person.leave()


def folder_of(server: Server) -> Path:
    """Return the folder of a workbench."""
    (folder,) = Path(tempfile.gettempdir()).glob(f"discreet-workbench-{server.process.pid}-*")
    return folder


def same(server: Server, command: str) -> str:
    """Run the command that a page shows, as it stands, in the folder of the session; return what it prints."""
    import os

    here = os.getcwd()
    os.chdir(folder_of(server))
    try:
        return run(*shlex.split(command)[1:], "--json").out
    finally:
        os.chdir(here)


def test_the_checker_finds_the_difference_and_rejects(opened: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "office.sqlite"
    first = tmp_path / "all.csv"
    first.write_text("area,count\nnorth,120\nsouth,90\nTotal,210\n")
    assert run("ledger", "add", first, "--ledger", ledger, "--title", "all people", "--period", "2024").code == 0
    other = tmp_path / "schools.csv"
    other.write_text("school,count\na,40\nb,33\n")
    assert run("ledger", "add", other, "--ledger", ledger, "--title", "pupils", "--population", "pupils").code == 0
    second = tmp_path / "adults.csv"
    second.write_text(
        "area,age,count\nnorth,adult,119\nnorth,child,x\nsouth,adult,60\nsouth,child,x\nTotal,adult,179\nTotal,child,x\n"
    )
    with serving(second, "--ledger", ledger) as server:
        checker = Person(opened, server.address)
        page = checker.page
        page.click("[data-file='adults.csv']")
        assert "hidden" in checker.text("#recognised")
        checker.step("see")
        page.wait_for_selector("#audit")
        assert "not a number" not in checker.text("#screen")
        for step in ("protect", "compare"):
            checker.step(step)
            assert "is a release" in checker.text("#alone")
        checker.step("attack")
        page.wait_for_selector("#verdict")
        assert page.get_attribute("#verdict", "data-verdict") == "safe"
        # Some of the earlier releases, then all of them.
        page.click("#earlier summary")
        page.check("#earlier td:has-text('pupils') input")
        page.wait_for_selector("#ledger-verdict")
        assert "1 release of the ledger was left out" in checker.text("#ledger-verdict")
        page.uncheck("#earlier td:has-text('pupils') input")
        page.wait_for_selector("#ledger-verdict", state="detached")
        page.wait_for_selector("#verdict[data-verdict=safe]")
        page.check("#earlier td:has-text('all people') input")
        page.wait_for_selector("#verdict[data-verdict=unsafe]")
        printed = json.loads(same(server, checker.command()))
        assert (printed["verdict"], printed["left_out"]) == ("unsafe", 1)
        assert printed["sentence"] in checker.text("#ledger-verdict")
        assert "--beside=" in checker.command()
        page.check("#with-ledger")
        page.wait_for_function("() => !document.querySelector('#command').textContent.includes('--beside')")
        page.fill("#period", "2024")
        page.press("#period", "Tab")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('--period=2024')")
        page.wait_for_selector("#ledger-verdict[data-verdict=unsafe]")
        assert page.get_attribute("#verdict", "data-verdict") == "unsafe"
        found = checker.text("#attack-result")
        assert "120" in found
        assert "119" in found
        assert page.query_selector(".grid .cell.flag:has-text('= 1')") is not None
        checker.picture("ledger")
        checker.step("decide")
        assert page.is_checked("input[value=alone]")
        page.click("#assess")
        page.wait_for_selector("#ledger-verdict[data-verdict=unsafe]")
        page.wait_for_selector("#reject")
        assert page.get_attribute("#verdict", "data-verdict") == "unsafe"
        assert "beside earlier releases" in checker.text("#verdict")
        assert "--max-dr=0.7" in checker.command()
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
        assert "120" not in checker.download("#audit-report", tmp_path).read_text()
        page.evaluate("() => window.scrollTo(0, 0)")
        checker.picture("decide-release")
        checker.leave()
    assert len(json.loads(run("ledger", "list", "--ledger", ledger, "--json").out)["releases"]) == 2


def test_a_release_enters_the_ledger_once_it_is_safe(opened: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "office.sqlite"
    first = tmp_path / "firms.csv"
    first.write_text("sector,count\nfood,120\nmetal,90\nTotal,210\n")
    assert run("ledger", "add", first, "--ledger", ledger, "--period", "2023", "--population", "firms").code == 0
    release = tmp_path / "areas.csv"
    cells = "n,a,x\nn,b,x\nn,Total,900\ns,a,x\ns,b,x\ns,Total,800\nTotal,a,600\nTotal,b,1100\nTotal,Total,1700\n"
    release.write_text("area,age,count\n" + cells)
    with serving(release, "--ledger", ledger) as server:
        person = Person(opened, server.address)
        page = person.page
        page.click("[data-file='areas.csv']")
        page.wait_for_selector("#use")
        person.step("decide")
        page.click("#assess")
        page.wait_for_selector("#ledger-verdict[data-verdict=safe]")
        page.click("#enter")
        page.wait_for_selector("#entered")
        person.leave()
    listed = json.loads(run("ledger", "list", "--ledger", ledger, "--json").out)["releases"]
    assert [one["title"] for one in listed] == ["firms", "areas"]


def firms_tab(folder: Path) -> Path:
    """A table of τ-ARGUS with its metadata and hierarchy, sensitive cells marked."""
    source, tree = records(folder / "firms.csv"), folder / "districts.hrc"
    tree.write_text("north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n")
    table = folder / "firms.parquet"
    by = ["--by", "district,size", "--value", "turnover", "--contributor", "firm", "--hierarchy", f"district={tree}"]
    assert run("tabulate", source, *by, "-o", table).code == 0
    assert run("rules", table, "--rule", "p=10", "-o", folder / "firms.tab").code == 0
    return folder / "firms.tab"


@pytest.mark.parametrize("uploaded", [False, True])
def test_a_table_of_argus_is_opened_with_its_metadata(opened: Any, tmp_path: Path, uploaded: bool) -> None:
    table = firms_tab(tmp_path)
    beside = sorted(tmp_path.glob("firms*.rda")) + sorted(tmp_path.glob("firms*.hrc"))
    with serving(*([] if uploaded else [table])) as server:
        person = Person(opened, server.address)
        page = person.page
        if uploaded:
            page.set_input_files("#file", [str(path) for path in (table, *beside)])
        else:
            page.click("[data-file='firms.tab']")
        assert "hidden figures" in person.text("#recognised")
        assert all(path.name in person.text("#beside") for path in beside)
        page.wait_for_selector(".grid [role=rowheader]:has-text('north')")
        assert page.query_selector(".grid .hidden-figure") is not None
        page.click("#use")
        page.wait_for_selector("#audit:has-text('unsafe')")
        page.click(".grid .cell.flag")
        page.wait_for_function("() => document.querySelector('#detail').dataset.explained")
        told = person.text("#detail")
        assert "Worked out exactly" in told
        assert "10% rule" in told
        person.step("protect")
        page.select_option("#method", "protect suppress")
        page.wait_for_selector("#audit:has-text('safe')")
        person.leave()


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
        page.click("[data-file='ages.csv']")
        page.wait_for_selector("#use")
        person.step("attack")
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
                page.wait_for_function("w => document.querySelector('#command').textContent.includes(w)", arg=word)
            page.wait_for_selector("#verdict")
            printed = json.loads(same(server, person.command()))
            assert page.get_attribute("#verdict", "data-verdict") == printed["verdict"], who
            assert printed["sentence"] in person.text("#verdict")
            shown[who] = (printed["verdict"], max(cell["upper"] - cell["lower"] for cell in printed["cells"]))
            for cell in printed["cells"][:3]:
                assert (cell["proof"] or "") in person.text("#attack-result")
            if who == "respondents":
                # Whoever is alone in a cell works out the three others.
                assert {cell["attacker"] for cell in printed["cells"]} >= {"p0", "p1", "p2", "p3"}
                assert page.query_selector(".grid .cell.flag:has-text('= 7')") is not None
        assert len(set(shown.values())) > 1
        assert shown["respondents"][0] == "unsafe"
        assert shown["holder"][0] == "unsafe"
        person.leave()


# --- seeing ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workbench with tables of 1,000 and of 100,000 cells."""
    folder = tmp_path_factory.mktemp("large")
    draw = random.Random(1)
    for name, rows, across in (("thousand", 50, 20), ("large", 1000, 100)):
        lines = [f"a{i},b{j},{draw.randint(0, 40)}" for i in range(rows) for j in range(across)]
        (folder / f"{name}.csv").write_text("area,age,count\n" + "\n".join(lines) + "\n")
    with serving(folder / "thousand.csv", folder / "large.csv") as server:
        yield server


def test_a_parameter_changes_the_table_at_once(opened: Any, thousand: Server) -> None:
    person = Person(opened, thousand.address + "?session=speed")
    page = person.page
    page.click("[data-file='thousand.csv']")
    page.wait_for_selector("#use")
    change({}, person)
    taken = []
    for base in (4, 5, 6, 7, 8):
        drawn = page.get_attribute("#result", "data-drawn")
        start = time.monotonic()
        page.fill("#option-base", str(base))
        page.wait_for_function("drawn => document.querySelector('#result').dataset.drawn !== drawn", arg=drawn)
        taken.append(time.monotonic() - start)
        page.wait_for_selector("#audit")
    person.leave()
    # benchmarks/workbench.py holds this to 0.3 s; here the machine may be busy with other tests.
    assert sorted(taken)[len(taken) // 2] < 0.9, taken


def change(_: dict[str, str], person: Person) -> None:
    """Go to random rounding and wait for the first release."""
    person.step("protect")
    person.page.select_option("#method", "protect random-rounding")
    person.page.wait_for_selector("#audit")


def test_undo_brings_the_last_parameters_back(opened: Any, thousand: Server) -> None:
    person = Person(opened, thousand.address + "?session=undo")
    page = person.page
    page.click("[data-file='thousand.csv']")
    page.wait_for_selector("#use")
    change({}, person)
    page.fill("#option-base", "7")
    page.wait_for_function("() => document.querySelector('#command').textContent.includes('--base=7')")
    page.wait_for_selector("#audit")
    page.click("#undo")
    page.wait_for_function("() => !document.querySelector('#command').textContent.includes('--base=7')")
    person.leave()


def test_quick_changes_end_with_the_last_one_and_sessions_keep_apart(opened: Any, thousand: Server) -> None:
    people = [Person(opened, f"{thousand.address}?session={name}") for name in ("ada", "bo")]
    for person in people:
        person.page.click("[data-file='thousand.csv']")
        person.page.wait_for_selector("#use")
        change({}, person)
    for base in (4, 5, 6, 7, 8, 9, 11):
        for person, more in zip(people, (0, 20), strict=True):
            person.page.fill("#option-base", str(base + more))
    for person, base, name in zip(people, (11, 31), ("ada", "bo"), strict=True):
        person.page.wait_for_function(
            "base => document.querySelector('#command').textContent.includes(`--base=${base}`)", arg=base
        )
        person.page.wait_for_selector("#audit")
        assert f"{name}-release" in person.command()
        texts = person.page.eval_on_selector_all(
            ".grid[aria-label=after] .cell", "nodes => nodes.map(node => node.textContent)"
        )
        assert len(texts) > 100
        assert all(int(text.replace(",", "")) % base == 0 for text in texts if text)
        person.leave()


def test_a_large_table_opens_soon_and_scrolls_without_gaps(opened: Any, thousand: Server) -> None:
    person = Person(opened, thousand.address + "?session=large")
    page = person.page
    start = time.monotonic()
    page.click("[data-file='large.csv']")
    page.wait_for_selector(".grid .cell")
    assert time.monotonic() - start < 4.0
    gaps = page.evaluate(GAPS)
    assert gaps == 0
    assert int(page.get_attribute(".grid", "aria-rowcount")) == 1001
    assert len(page.query_selector_all(".grid .cell")) < 8000
    person.leave()


def test_the_keyboard_reaches_and_explains_cells(opened: Any, server: Server) -> None:
    person = Person(opened, server.address + "?session=keys")
    page = person.page
    page.click("[data-file='religion.csv']")
    page.wait_for_selector("#use")
    page.keyboard.press("Alt+2")
    page.wait_for_selector("#sensitive")
    page.focus(".grid")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    chosen = page.get_attribute("#chosen-cell", "aria-label")
    assert "1, 4: 1" in chosen
    assert "sensitive" in chosen
    page.wait_for_function("() => document.querySelector('#detail').dataset.explained")
    assert "Sensitive" in person.text("#detail")
    person.leave()


def test_the_keyboard_stays_where_it_was_when_a_screen_is_drawn_anew(opened: Any, tmp_path: Path) -> None:
    with serving(records(tmp_path / "firms.csv")) as server:
        person = Person(opened, server.address)
        page = person.page
        page.click("[data-file='firms.csv']")
        page.focus("[data-by=district]")
        page.keyboard.press("Space")
        page.wait_for_selector("#use")
        page.wait_for_function("() => document.activeElement.dataset.by === 'district'")
        page.click("#use")
        page.wait_for_selector("#sensitive")
        person.step("protect")
        page.wait_for_selector("#audit")
        page.focus("#method")
        page.select_option("#method", "protect conventional-rounding")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('conventional')")
        assert page.evaluate("document.activeElement.id") == "method"
        person.step("attack")
        page.wait_for_selector("#verdict")
        page.focus("input[value=outsider]")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector("#needed")
        assert page.evaluate("document.activeElement.value") == "insider"
        person.leave()


def test_a_refused_command_is_the_one_that_is_shown(opened: Any, tmp_path: Path) -> None:
    with serving(small_table(tmp_path / "patients.csv")) as server:
        person = Person(opened, server.address)
        page = person.page
        page.click("[data-file='patients.csv']")
        page.wait_for_selector("#use")
        change({}, person)
        page.fill("#option-base", "1")
        page.wait_for_selector("#result .error")
        assert "--base=1" in person.command()
        person.leave()


def test_every_control_has_a_name_for_a_screen_reader(opened: Any, server: Server) -> None:
    person = Person(opened, server.address + "?session=labels")
    page = person.page
    page.click("[data-file='religion.csv']")
    page.wait_for_selector("#use")
    for step in ("see", "protect", "compare", "attack", "decide"):
        person.step(step)
        assert page.evaluate(NAMELESS) == [], step
    person.leave()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_it_reads_at_every_width_and_in_the_dark(opened: Any, server: Server, width: int, scheme: str) -> None:
    person = Person(opened, server.address + f"?session=look{width}{scheme}", width=width, height=844, scheme=scheme)
    page = person.page
    page.click("[data-file='religion.csv']")
    page.wait_for_selector("#use")
    for step in ("see", "protect", "compare", "attack", "decide"):
        person.step(step)
        if step == "compare":
            page.fill("#draws", "2")
            page.fill("#methods", "conventional-rounding:base=5\nrandom-rounding:base=3")
            page.click("#start")
            page.wait_for_selector("#comparison[data-done=yes]")
        page.wait_for_timeout(100)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, (step, over)
        assert page.evaluate(FAINT) == [], step
        person.picture(f"{step}-{width}-{scheme}")
    person.leave()


def test_script_in_labels_stays_text(opened: Any, server: Server) -> None:
    evil = "<img src=x onerror=window.hacked=1>"
    rows = "\n".join(
        f'"{evil}{i}",{age},{i + 1}' for i in range(3) for age in ("a", "<script>window.hacked=1</script>")
    )
    server.upload("script.csv", f"area,age,count\n{rows}\n".encode())
    person = Person(opened, server.address + "?session=script")
    page = person.page
    page.click("[data-file='script.csv']")
    page.wait_for_selector("#use")
    for step in ("see", "protect", "attack"):
        person.step(step)
        page.wait_for_timeout(300)
        assert page.evaluate("window.hacked") is None
    assert "onerror" in person.text("#screen")
    person.leave()


def test_of_a_large_release_the_figures_known_best_are_told(opened: Any, thousand: Server) -> None:
    person = Person(opened, thousand.address + "?session=best")
    page = person.page
    page.click("[data-file='large.csv']")
    page.wait_for_selector("#use")
    change({}, person)
    assert "100,000 figures were judged" in page.inner_text(".card:has(#audit)")
    assert person.text("#not-shown").startswith("The 2,000 figures known best are coloured; none of the other 98,000")
    # One that is not among them is not called published exactly.
    page.click(".grid[aria-label=after] .cell:not([class*=' r'])")
    assert "no better known than they are" in person.text("#detail")
    person.leave()


def test_a_long_comparison_survives_a_reload_and_can_be_cancelled(opened: Any, thousand: Server) -> None:
    person = Person(opened, thousand.address + "?session=long")
    page = person.page
    page.click("[data-file='thousand.csv']")
    page.wait_for_selector("#use")
    person.step("compare")
    page.fill("#draws", "20000")
    page.select_option("#more", "random-rounding:base=3")
    page.fill("#methods", "conventional-rounding:base=5\nrandom-rounding:base=3\ntable-swapping:rate=0.3")
    page.click("#start")
    page.wait_for_selector("progress")
    page.reload()
    page.wait_for_selector("progress")
    # The map fills while the rest runs.
    page.wait_for_selector("#partial [data-point^='conventional']")
    page.click("text=Cancel")
    page.wait_for_selector("#cancelled")
    assert page.query_selector("#partial [data-point^='conventional']") is not None
    person.leave()


def test_what_is_cancelled_is_taken_up_again(opened: Any, thousand: Server) -> None:
    person = Person(opened, thousand.address + "?session=resume")
    page = person.page
    page.click("[data-file='thousand.csv']")
    page.wait_for_selector("#use")
    person.step("compare")
    page.fill("#draws", "3000")
    page.fill("#methods", "conventional-rounding:base=5\nrandom-rounding:base=3")
    page.click("#start")
    page.wait_for_selector("#partial [data-point^='conventional']")
    page.click("text=Cancel")
    page.wait_for_selector("#cancelled")
    points = f"{folder_of(thousand)}/{shlex.split(person.command())[-2].partition('=')[2]}"
    kept = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(points).glob("*.json")}
    assert kept
    page.click("#start")
    page.wait_for_selector("#comparison[data-done=yes]")
    # What was finished is taken as it was, and the whole is what one go gives.
    again = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(points).glob("*.json")}
    assert len(again) > len(kept)
    assert {name: again[name] for name in kept} == kept
    words = [word for word in shlex.split(person.command()) if not word.startswith("--resume")]
    printed = json.loads(same(thousand, shlex.join(words)))
    assert printed["sentence"] in person.text("#recommendation")
    rows = page.eval_on_selector_all("#comparison tbody tr", "rows => rows.map((row) => row.innerText)")
    assert [f"{point['utility']['mean']:.4f}" in row for point, row in zip(printed["points"], rows, strict=True)] == [
        True
    ] * len(rows)
    person.leave()
