"""The workbench in a real browser, against the times that are promised."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _tools import growing, machine

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.workbench.people import GAPS, Person, browser, tables
from tests.workbench.serving import Server, crowd, serving

TIMES = 9
"""How often each step is taken; the median is judged."""
DRAWN = """() => {
    window.times = [];
    document.querySelector('#option-base').addEventListener('input', () => { window.begun = performance.now(); }, true);
    const painted = () => requestAnimationFrame(() => setTimeout(() => {
        window.times.push((performance.now() - window.begun) / 1000);
    }));
    new MutationObserver(painted).observe(document.querySelector('#result'), { attributeFilter: ['data-drawn'] });
}"""
"""Notes the seconds from a key to the frame in which the release is painted."""


def middle(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def start(opened: Any, paths: list[Path]) -> list[float]:
    """Seconds from the command to a page that can be used."""
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        with serving(*paths) as server:
            person = Person(opened, server.address)
            taken.append(time.perf_counter() - begun)
            person.leave()
    return taken


def redraw(opened: Any, server: Server) -> list[float]:
    """Seconds from a changed parameter to the painted release, on 1,000 cells."""
    person = Person(opened, f"{server.address}?session=redraw")
    page = person.page
    person.open("thousand.csv")
    person.round_randomly()
    page.evaluate(DRAWN)
    for base in range(4, 5 + TIMES):
        page.fill("#option-base", str(base))
        page.wait_for_function("count => window.times.length >= count", arg=base - 3)
        page.wait_for_selector("#audit")
    taken: list[float] = page.evaluate("window.times")
    person.leave()
    return taken[1:]


def large(opened: Any, server: Server) -> tuple[list[float], int]:
    """Seconds to open 100,000 cells, and blank places found while scrolling through them."""
    taken, gaps = [], 0
    for number in range(3):
        person = Person(opened, f"{server.address}?session=large{number}")
        begun = time.perf_counter()
        person.page.click("[data-file='large.csv']")
        person.page.wait_for_selector(".grid[aria-rowcount='1002'] .cell")
        taken.append(time.perf_counter() - begun)
        gaps += int(person.page.evaluate(GAPS))
        person.leave()
    return taken, gaps


def waits(gaps: list[int]) -> Iterator[list[str]]:
    """Yield how long each step is waited for, and note the blank places seen while scrolling."""
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        paths = tables(Path(folder))
        yield _row("start to a page that can be used", 3.0, start(opened, paths))
        with serving(*paths) as server:
            yield _row("a parameter changed, 1,000 cells painted again", 0.3, redraw(opened, server))
            shown, blank = large(opened, server)
            gaps.append(blank)
            yield _row("100,000 cells opened", 3.0, shown)
            yield _row("19 people ask for a risk while one compares", 1.0, crowd(server, "thousand.csv"))


def _row(what: str, promised: float, times: list[float]) -> list[str]:
    kept = "yes" if middle(times) < promised else "NO"
    return [what, f"{promised:.1f} s", f"**{middle(times):.2f} s**", f"{max(times):.2f} s", kept]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    yield "## The workbench: how long people wait\n"
    yield machine("fastapi", "uvicorn", "playwright") + "\n"
    yield "Measured in Chromium without a graphics card.\n"
    gaps: list[int] = []
    yield from growing(["what", "promised", "median", "longest", "kept"], waits(gaps))
    yield f"Scrolling through the 100,000 cells showed {sum(gaps) or 'no'} blank places."


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
