"""A browser, and what a person does in it."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from tests.workbench.serving import Server, serving

PICTURES = os.environ.get("DISCREET_PICTURES")
"""A folder for pictures of the screens, where they are wanted."""
GAPS = """async () => {
    const box = document.querySelector('.gridbox');
    box.scrollIntoView();
    let gaps = 0;
    for (let k = 1; k <= 40; k += 1) {
        box.scrollTop = (k / 40) * (box.scrollHeight - box.clientHeight);
        box.scrollLeft = ((k * 7) % 40) / 40 * (box.scrollWidth - box.clientWidth);
        await new Promise(requestAnimationFrame);
        const area = box.getBoundingClientRect();
        const bottom = Math.min(area.bottom, window.innerHeight - 60);
        for (let y = area.top + 45; y < bottom - 20; y += 60)
            for (let x = area.left + 140; x < area.right - 40; x += 120)
                if (!document.elementFromPoint(x, y)?.closest('.cell, .head')) gaps += 1;
    }
    return gaps;
}"""
"""Scrolls through the table and returns how many of the places looked at were blank."""

UNSEEN = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
)
"""What a browser starts for its own window, which nobody sees, and asks the network for. The page behind the address
bar alone takes a fifth of the work of a visit."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    f"--disable-features={','.join(UNSEEN)}",
)
AXE = """async () => (await axe.run(document)).violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`)"""
"""Runs axe-core with all its rules."""


@contextmanager
def browser() -> Iterator[Any]:
    """Start Debian's chromium without a window."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium")
    assert found is not None, "chromium is missing; make test installs it"
    with sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield opened
        finally:
            opened.close()


class Person:
    """Somebody at the workbench, who notices every complaint and every request that leaves this machine."""

    def __init__(
        self, opened: Any, address: str, *, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> None:
        self.context = opened.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        self.page = self.context.new_page()
        # What is waited for comes to stay, so only a fault waits as long as this, on the busiest machine.
        self.page.set_default_timeout(600_000)
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        host = address.split("/")[2]
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "request",
            lambda r: None if host in r.url or r.url[:5] in ("data:", "blob:") else self.foreign.append(r.url),
        )
        self.addresses: list[str] = []
        self.page.on("request", lambda r: self.addresses.append(r.url))
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready=yes]")

    def step(self, name: str) -> None:
        """Go to a screen."""
        self.page.click(f"[data-step={name}]")
        self.page.wait_for_selector(f"#screen[data-ready={name}]")

    def open(self, name: str) -> None:
        """Choose a file that is there, and wait until it can be used."""
        self.page.click(f"[data-file='{name}']")
        self.page.wait_for_selector("#use")

    def bring(self, *files: Path) -> None:
        """Open files from elsewhere, and wait until the first can be used."""
        self.page.set_input_files("#file", [str(file) for file in files])
        self.page.wait_for_selector(f"[data-file='{files[0].name}'][aria-pressed=true]")
        self.page.wait_for_selector("#recognised")

    def use(self) -> None:
        """Go on with what was opened."""
        self.page.click("#use")
        self.page.wait_for_selector("#sensitive")

    def cross_firms(self, tree: str, **picks: str) -> None:
        """Cross the firms by district and size, with a tree of districts and with columns picked for other parts."""
        page = self.page
        page.click("[data-file='firms.csv']")
        assert "records" in self.text("#recognised")
        page.check("[data-by=district]")
        page.wait_for_selector("#use")
        page.check("[data-by=size]")
        page.wait_for_selector("[data-hierarchy=district]")
        page.select_option("[data-hierarchy=district]", tree)
        self.wait_for("--hierarchy")
        for part, column in picks.items():
            page.select_option(f"[data-pick={part}]", column)
            self.wait_for(f"--{part}")
        page.wait_for_selector(".grid [role=rowheader]:has-text('north')")

    def round_randomly(self) -> None:
        """Go to random rounding and wait for the first release."""
        self.step("protect")
        self.page.select_option("#method", "protect random-rounding")
        self.page.wait_for_selector("#audit")

    def compare(self, draws: int, *methods: str) -> None:
        """Start a comparison of methods."""
        self.step("compare")
        self.page.fill("#draws", str(draws))
        self.page.fill("#methods", "\n".join(methods))
        self.page.click("#start")

    def wait_for(self, word: str, *, gone: bool = False) -> None:
        """Wait until the command that does the same says something, or says it no more."""
        self.page.wait_for_function(
            "([word, gone]) => document.querySelector('#command').textContent.includes(word) !== gone", arg=[word, gone]
        )

    @contextmanager
    def keeping(self, part: str) -> Iterator[None]:
        """Do something, and wait until the server keeps a state of the page that says so."""
        with self.page.expect_response(lambda r: r.request.method == "PUT" and part in (r.request.post_data or "")):
            yield

    def wait_for_reasons(self) -> None:
        """Wait until the chosen cell is explained."""
        self.page.wait_for_function("() => document.querySelector('#detail').dataset.explained")

    def text(self, selector: str) -> str:
        """Return what stands somewhere."""
        self.page.wait_for_selector(selector)
        return str(self.page.inner_text(selector))

    def command(self) -> str:
        """Return the command that does the same."""
        return str(self.page.inner_text("#command"))

    def download(self, selector: str, folder: Path) -> Path:
        """Take a file from the page."""
        with self.page.expect_download() as waiting:
            self.page.click(selector)
        path = folder / str(waiting.value.suggested_filename)
        waiting.value.save_as(path)
        return path

    def picture(self, name: str) -> None:
        """Keep a picture of the screen where one is wanted."""
        if PICTURES:
            self.page.wait_for_selector("#toast:not(.on)", state="attached")
            self.page.wait_for_timeout(300)
            self.page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))

    def violations(self) -> list[str]:
        """Return what axe-core finds on the screen, each rule with a node that breaks it."""
        script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        self.page.evaluate(f"{script}\n;0")
        found: list[str] = self.page.evaluate(AXE)
        return found

    def leave(self) -> None:
        """Close the page; nothing may have gone wrong, left this machine, or been told in an address."""
        assert self.complaints == [], self.complaints
        assert self.foreign == []
        asked = {name for address in self.addresses for name in parse_qs(urlsplit(address).query)}
        assert asked <= {"wait", "name", "session"}
        self.context.close()


@contextmanager
def person_at(opened: Any, server: Server, session: str = "", **seen: Any) -> Iterator[tuple[Person, Any]]:
    """Go to a running workbench, and leave it at the end; return the person and their page."""
    person = Person(opened, server.address + (f"?session={session}" if session else ""), **seen)
    yield person, person.page
    person.leave()


@contextmanager
def bringing(opened: Any, server: Server, *files: Path) -> Iterator[tuple[Person, Any]]:
    """Go to a running workbench in a session of one's own, with files of one's own."""
    with person_at(opened, server, uuid4().hex) as (person, page):
        person.bring(*files)
        yield person, page


@contextmanager
def visiting(opened: Any, *arguments: object, **seen: Any) -> Iterator[tuple[Person, Any]]:
    """Start a workbench for one person, who leaves it at the end."""
    with serving(*arguments) as server, person_at(opened, server, **seen) as found:
        yield found


def said(printed: Any) -> str:
    """Return the sentence of an answer as the page says it: without options of the command line."""
    return re.sub(r" \(--[^()]*\)", "", printed["sentence"])


def answer(folder: Path, command: str) -> Any:
    """Run the command that a page shows, as it stands, in a folder; return what it prints for programs."""
    from tests.cli.running import run

    with chdir(folder):
        return json.loads(run(*shlex.split(command)[1:], "--json").out)


def patients(path: Path) -> Path:
    """Write a table of patients with a few small counts."""
    draw = random.Random(4)
    rows = [
        f"{area},{age},{draw.choice([0, 1, 2, 14, 25, 38, 61])}"
        for area in "ABCDEF"
        for age in ("0-19", "20-64", "65+")
    ]
    path.write_text("area,age,count\n" + "\n".join(rows) + "\n")
    return path


def firms(path: Path) -> Path:
    """Write records of firms in districts of two regions, few of them large."""
    draw = random.Random(7)
    lines = ["firm,district,size,turnover"]
    for i in range(160):
        district = draw.choice(["n1", "n2", "n3", "s1", "s2"])
        size = draw.choices(["small", "medium", "large"], [70, 23, 7])[0]
        lines.append(f"f{i},{district},{size},{draw.randint(1, 900)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def tables(folder: Path) -> list[Path]:
    """Write tables of 1,000 and of 100,000 cells: thousand.csv and large.csv."""
    draw = random.Random(1)
    made = []
    for name, rows, across in (("thousand", 50, 20), ("large", 1000, 100)):
        lines = [f"a{i},b{j},{draw.randint(0, 40)}" for i in range(rows) for j in range(across)]
        made.append(folder / f"{name}.csv")
        made[-1].write_text("area,age,count\n" + "\n".join(lines) + "\n")
    return made
