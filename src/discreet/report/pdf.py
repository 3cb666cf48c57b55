"""The report as PDF, printed by Chromium without a window and without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from discreet.core.errors import LimitError, RequestError
from discreet.core.files import ScratchFolder, write_whole

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-pdf-header-footer",
)
PATIENCE = 120
"""Seconds that printing may take, a round choice: a browser that takes longer hangs."""


def find_chromium() -> str:
    """Return the browser that prints; ``DISCREET_CHROMIUM`` names one."""
    named = os.environ.get("DISCREET_CHROMIUM")
    found = shutil.which(named) if named else next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        what = f"DISCREET_CHROMIUM names {named!r}, which is not there" if named else "Chromium was not found"
        raise RequestError(f"{what}; it prints the PDF: install chromium, or write .html and print it from any browser")
    return found


def write_pdf(document: str, path: Path, browser: str, *, private: bool = False) -> None:
    """Print an HTML document, atomically; nothing is left in a temporary folder."""
    with ScratchFolder() as folder:
        page = Path(folder) / "report.html"
        page.write_text(document, encoding="utf-8")
        made = Path(folder) / "report.pdf"
        # Root cannot run the browser's sandbox; the page is our own and its policy forbids every request.
        root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
        command = [browser, *FLAGS, *root, f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}", page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            raise LimitError(f"{browser} did not print the report in {PATIENCE} s; write .html instead") from None
        except OSError as error:
            raise RequestError(f"{browser} cannot be started ({error.strerror}); write .html instead") from None
        if not made.exists() or made.stat().st_size == 0:
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise RequestError(f"{browser} printed nothing ({last}); write .html instead")
        write_whole(path, lambda part: shutil.copyfile(made, part), private=private)
