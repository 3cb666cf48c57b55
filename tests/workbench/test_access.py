"""People who use the keyboard, a screen reader, a small screen or the dark, or who see fewer colours."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from tests.workbench.people import bringing, firms, patients, person_at, visiting
from tests.workbench.serving import Server
from tests.workbench.test_daily import book

# What the server does is measured where others talk to it.

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
LIGHTNESS = """() => [1, 2, 3, 4, 5].map((k) => {
    const cell = document.createElement('i');
    cell.style.backgroundColor = `var(--r${k})`;
    document.body.append(cell);
    const [r, g, b] = getComputedStyle(cell).backgroundColor.match(/[0-9.]+/g).map(Number);
    cell.remove();
    return [r, g, b];
})"""
SIGHT = {
    "all colours": ((0.2126, 0.7152, 0.0722),) * 3,
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""How people see red, green and blue who lack one kind of cones (Machado, Oliveira and Fernandes 2009)."""


def test_the_keyboard_reaches_and_explains_cells(opened: Any, server: Server) -> None:
    with person_at(opened, server, "keys") as (person, page):
        person.open("religion.csv")
        page.keyboard.press("Alt+2")
        page.wait_for_selector("#sensitive")
        page.focus(".grid")
        for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp"):
            page.keyboard.press(key)
        chosen = page.get_attribute("#chosen-cell", "aria-label")
        assert "1, 4: 1" in chosen
        assert "sensitive" in chosen
        person.wait_for_reasons()
        assert "Sensitive" in person.text("#detail")


def test_the_keyboard_stays_where_it_was_when_a_screen_is_drawn_anew(
    opened: Any, server: Server, tmp_path: Path
) -> None:
    with bringing(opened, server, firms(tmp_path / "firms.csv")) as (person, page):
        page.click("[data-file='firms.csv']")
        page.focus("[data-by=district]")
        page.keyboard.press("Space")
        page.wait_for_selector("#use")
        page.wait_for_function("() => document.activeElement.dataset.by === 'district'")
        person.use()
        person.step("protect")
        page.wait_for_selector("#audit")
        page.focus("#method")
        page.select_option("#method", "protect conventional-rounding")
        person.wait_for("conventional")
        assert page.evaluate("document.activeElement.id") == "method"
        person.step("attack")
        page.wait_for_selector("#verdict")
        page.focus("input[value=outsider]")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector("#needed")
        assert page.evaluate("document.activeElement.value") == "insider"


@pytest.mark.parametrize("width", [1280, 390])
def test_every_control_has_a_name_and_reads_at_every_width_and_in_the_dark(
    opened: Any, server: Server, width: int
) -> None:
    with person_at(opened, server, f"look{width}", width=width, height=844) as (person, page):
        person.open("religion.csv")
        for step in ("see", "protect", "compare", "attack", "decide"):
            person.step(step)
            assert page.evaluate(NAMELESS) == [], step
            if step == "compare":
                person.compare(2, "conventional-rounding:base=5", "random-rounding:base=3")
                page.wait_for_selector("#comparison[data-done=yes]")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.wait_for_timeout(100)
                over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert over <= 0, (step, scheme, over)
                assert page.evaluate(FAINT) == [], (step, scheme)
                person.picture(f"{step}-{width}-{scheme}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_risk_keep_their_order_for_everybody(opened: Any, server: Server, scheme: str) -> None:
    with person_at(opened, server, f"colours{scheme}", scheme=scheme) as (_, page):
        colours = page.evaluate(LIGHTNESS)
    for sight, rows in SIGHT.items():
        light = []
        for colour in colours:
            linear = [(v / 255 / 12.92) if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
            seen = [sum(weight * v for weight, v in zip(row, linear, strict=True)) for row in rows]
            light.append(sum(weight * v for weight, v in zip((0.2126, 0.7152, 0.0722), seen, strict=True)))
        steps = [b - a for a, b in itertools.pairwise(light)]
        assert all(step < -0.01 for step in steps) or all(step > 0.004 for step in steps), (sight, light)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_axe_finds_nothing_on_any_screen(opened: Any, tmp_path: Path, scheme: str) -> None:
    (tmp_path / "districts.hrc").write_text("north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n")
    files = [patients(tmp_path / "patients.csv"), firms(tmp_path / "firms.csv"), tmp_path / "districts.hrc"]
    with visiting(
        opened, *files, book(tmp_path / "book.xlsx"), "--ledger", tmp_path / "office.sqlite", scheme=scheme
    ) as (person, page):
        page.wait_for_selector("#use")
        found = {"open": person.violations()}
        page.click("[data-file='book.xlsx']")
        page.wait_for_selector("#take-sheet")
        found["sheet"] = person.violations()
        person.cross_firms("districts.hrc", value="turnover", contributor="firm")
        found["records"] = person.violations()
        person.use()
        page.click("[data-tool=next]")
        person.wait_for_reasons()
        found["see"] = person.violations()
        person.step("protect")
        page.wait_for_selector("#audit")
        page.click(".grid[aria-label=after] .cell >> nth=3")
        found["protect"] = person.violations()
        person.step("attack")
        page.wait_for_selector("#verdict")
        found["attack"] = person.violations()
        person.step("decide")
        page.click("#assess")
        page.wait_for_selector("#approve")
        page.click("#look")
        found["decide"] = person.violations()
        person.step("open")
        person.open("patients.csv")
        page.click("#batch summary")
        found["batch"] = person.violations()
        person.compare(20, "suppress", "random-rounding:base=3")
        page.wait_for_selector("#comparison[data-done]")
        found["compare"] = person.violations()
        assert found == {screen: [] for screen in found}
