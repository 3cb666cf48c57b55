"""The report in a real browser: no errors, no requests, readable on screens of any width, printable, usable by keys."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.report import examples
from tests.report.pdf_text import page_texts
from tests.workbench import people

from discreet.report import write_report

# What the tests share is made once, by the one process that runs them all.

REPORTS = ("religion", "withheld", "firms", "large", "comparison", "public", "intervals")
EDITIONS = {"public": "public", "intervals": "public-intervals"}


def data_of(name: str) -> dict[str, Any]:
    if name in ("firms", *EDITIONS):
        return examples.firms().to_dict()  # type: ignore[no-any-return]
    return getattr(examples, name)()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    return {
        name: write_report(data_of(name), folder / f"{name}.html", edition=EDITIONS.get(name, "internal"))
        for name in REPORTS
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with people.browser() as opened:
        yield opened


class Watched:
    """A page with all that went wrong on it."""

    def __init__(self, browser: Browser, report: Path, width: int = 1280, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(600_000)  # whatever else the machine is doing
        self.address = report.as_uri()
        self.said: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.address)
        self.page.wait_for_load_state("networkidle")

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Nothing was said, and nothing but the file itself was asked for."""
        self.context.close()
        if kind is None:
            assert self.said == []
            assert [url for url in self.requests if not url.startswith("data:")] == [self.address]


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *((name, width, "light") for name in REPORTS for width in (1280, 390)),
        ("religion", 1280, "dark"),
        ("comparison", 390, "dark"),
    ],
)
def test_every_report_opens_quietly_and_fits(
    browser: Browser, reports: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    with Watched(browser, reports[name], width, color_scheme=scheme) as page:
        wide, tall = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert wide <= width
        assert tall > 900
        # Texts keep a size that can be read, and stay inside the page or inside a box that scrolls.
        sizes = page.evaluate(
            "[...document.querySelectorAll('p, td, th, dd, li, select')].filter(e => e.offsetParent)"
            ".map(e => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert min(sizes) >= 11
        outside = page.evaluate(
            "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1"
            " && !e.closest('.scroll')).map(e => e.outerHTML.slice(0, 80))"
        )
        assert outside == []
        assert page.locator("#verdict h2").is_visible()
        if name == "comparison":
            assert page.locator(".map svg .method").count() == 14
            assert page.locator(".map > svg").is_visible()
        else:
            assert page.locator(".heat .page:not(.off) td[class^=k]").first.is_visible()
        assert page.locator(".stamp").count() == (0 if name in EDITIONS else 1)


ALL_RULES: dict[str, Any] = {}
ON_COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
"""The rules of axe-core that see whether a page is light or dark."""


@pytest.mark.parametrize(
    ("scheme", "widths", "rules"),
    [
        pytest.param("light", (1280, 390), ALL_RULES, id="light"),
        pytest.param("dark", (1280,), ON_COLOURS, id="dark"),
        pytest.param("dark", (1280, 390), ALL_RULES, marks=pytest.mark.long, id="dark-all"),
    ],
)
@pytest.mark.parametrize("name", ["religion", "withheld", "firms", "comparison", "public", "intervals"])
def test_axe_finds_nothing(
    browser: Browser, reports: dict[str, Path], name: str, scheme: str, widths: tuple[int, ...], rules: dict[str, Any]
) -> None:
    """On a wide and a narrow screen, with a cell chosen where there are cells to choose."""
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    for width in widths:
        with Watched(browser, reports[name], width, color_scheme=scheme) as page:
            page.evaluate(script)
            if page.locator("td[data-d]").count():
                page.locator("td[data-d]").first.click()
            found = page.evaluate(
                "async (rules) => { const made = await axe.run(document, rules); return [made.passes.length,"
                " ...made.violations.map((v) => `${v.id}: ${v.nodes[0].html}`)]; }",
                rules,
            )
            assert found[0] > 0
            assert found[1:] == []


def test_texts_are_copied(browser: Browser, reports: dict[str, Path]) -> None:
    with Watched(browser, reports["firms"]) as page:
        page.locator("#texts .copy").last.click()
        said = page.evaluate("getSelection().toString()")
        assert said.startswith("Your answers stay with us")
        assert page.locator("#texts .copy").last.inner_text() in ("Copied", "Selected")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_on_every_step_can_be_read(browser: Browser, reports: dict[str, Path], scheme: str) -> None:
    """The contrast of figures with the colour of their cell is at least 4.5, as WCAG 2 asks (level AA)."""
    with Watched(browser, reports["religion"], color_scheme=scheme) as page:
        found = page.evaluate(
            """() => {
              const light = (text) => {
                const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(Number).map((v) => v / 255)
                  .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const row = document.querySelector(".heat tbody tr");
              return [1, 2, 3, 4, 5].map((step) => {
                const cell = row.insertCell();
                cell.className = "k" + step;
                const style = getComputedStyle(cell);
                const [a, b] = [light(style.backgroundColor), light(style.color)];
                return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), a];
              });
            }"""
        )
        assert min(contrast for contrast, _ in found) >= 4.5
        lights = [light for _, light in found]
        # Lightness alone tells the steps apart, whatever colours a reader sees.
        assert lights == sorted(lights, reverse=scheme == "light")
        assert all(abs(a - b) > 0.015 for a, b in pairwise(lights))


def test_cells_open_by_pointer_and_by_keys(browser: Browser, reports: dict[str, Path]) -> None:
    data = examples.religion()
    row = data["cells"][0]
    name = ", ".join(f"{k} {v}" for k, v in row["cell"].items())
    with Watched(browser, reports["religion"]) as page:
        panel = page.locator("#panel")
        cell = page.locator('td[data-d="0"]')
        other = page.locator('td[data-d="5"]')
        other.hover()
        assert name not in (panel.inner_text())
        cell.hover()
        shown = panel.inner_text()
        assert name in shown
        assert row["reason"][1:] in shown
        assert f"{row['lower']} to {row['upper']}" in shown
        assert panel.locator("svg rect").count() == 1
        # A click keeps the cell while the pointer goes on; another click lets it go.
        cell.click()
        other.hover()
        assert name in panel.inner_text()
        page.keyboard.press("Escape")
        other.hover()
        assert name not in panel.inner_text()
        # Keys: the grid is one stop; arrows move inside it.
        page.locator('.heat td[tabindex="0"]').first.focus()
        first = page.evaluate("document.activeElement.cellIndex + ',' + document.activeElement.parentElement.rowIndex")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        moved = page.evaluate("document.activeElement.cellIndex + ',' + document.activeElement.parentElement.rowIndex")
        assert [int(b) - int(a) for a, b in zip(first.split(","), moved.split(","), strict=True)] == [1, 1]
        focused = page.evaluate("document.activeElement.dataset.d")
        detail = page.evaluate(f"JSON.parse(document.getElementById('details').textContent)[{focused}].name")
        assert detail in panel.inner_text()
        page.keyboard.press("Enter")
        assert page.locator("td.chosen").count() == 1


def test_on_a_narrow_screen_the_panel_is_a_sheet(browser: Browser, reports: dict[str, Path]) -> None:
    with Watched(browser, reports["religion"], 390, has_touch=True) as page:
        assert not page.locator("#panel").is_visible()
        page.locator("td[data-d]").first.tap()
        assert page.locator("#panel").is_visible()
        box = page.locator("#panel").bounding_box()
        assert box is not None
        assert box["width"] == 390
        page.locator("#panel .close").click()
        assert not page.locator("#panel").is_visible()


def test_large_tables_are_paged(browser: Browser, reports: dict[str, Path]) -> None:
    with Watched(browser, reports["large"]) as page:
        assert page.locator(".page:not(.off)").count() == 1
        before = page.locator(".page:not(.off)").get_attribute("data-page")
        page.locator(".pager .on").click()
        assert page.locator(".page:not(.off)").get_attribute("data-page") == str(int(before or 0) + 1)
        page.locator(".pager select").select_option("7")
        assert page.locator(".page:not(.off)").get_attribute("data-page") == "7"
        page.locator(".pager .back").click()
        assert page.locator(".page:not(.off)").get_attribute("data-page") == "6"
        button = page.locator(".chart .unfold").first
        rows = page.locator(".chart").first.locator("tbody tr:visible").count()
        button.click()
        assert page.locator(".chart").first.locator("tbody tr:visible").count() > rows


def test_methods_on_the_map_explain_themselves(browser: Browser, reports: dict[str, Path]) -> None:
    with Watched(browser, reports["comparison"]) as page:
        page.locator(".method.take").hover()
        assert "random-rounding, base 7" in page.locator(".bubble").inner_text()
        page.mouse.move(0, 0)
        assert page.locator(".bubble").count() == 0
        page.locator(".method").nth(2).focus()
        assert "base 4" in page.locator(".bubble").inner_text()


@pytest.mark.parametrize("name", ["religion", "public", pytest.param("large", marks=pytest.mark.long)])
def test_printed_pages_carry_their_mark(reports: dict[str, Path], tmp_path: Path, name: str) -> None:
    edition = "public" if name == "public" else "internal"
    path = write_report(data_of(name), tmp_path / "report.pdf", edition=edition)
    pages = ["".join(text.split()) for text in page_texts(path)]
    assert len(pages) >= 2
    for number, text in enumerate(pages, 1):
        assert f"Page{number}of{len(pages)}" in text
        if name == "public":
            assert "CONFIDENTIAL" not in text
            assert "Publicedition" in text
        else:
            assert text.count("CONFIDENTIAL") >= 2  # above and below
    words = "".join(pages)
    assert ("Publishedafterprotection" if name == "public" else "Releaseafterprotection") in words
