"""A browser, and what a person does in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

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


@contextmanager
def browser() -> Iterator[Any]:
    """Start Debian's chromium without a window."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium")
    assert found is not None, "chromium is missing; make test installs it"
    with sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
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
        self.page.set_default_timeout(180_000)
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
            self.page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))

    def leave(self) -> None:
        """Close the page; nothing may have gone wrong, left this machine, or been told in an address."""
        assert self.complaints == []
        assert self.foreign == []
        asked = {name for address in self.addresses for name in parse_qs(urlsplit(address).query)}
        assert asked <= {"wait", "name", "session"}
        self.context.close()
