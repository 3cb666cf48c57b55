"""Checks the built documentation for what the strict build lets through."""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright

REMOTE_ASSET = re.compile(r"""<(?:script|img|iframe|link|source)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^>]*>""")
CUT = """[...document.querySelectorAll(".formula, .md-content img")].filter((e) => e.scrollWidth > e.clientWidth + 1
  || e.getBoundingClientRect().right > e.closest(".md-content").getBoundingClientRect().right + 1)
  .map((e) => (e.textContent || e.src).slice(0, 60))"""
PLAIN_LINK = re.compile(r'rel="?(?:canonical|prev|next|edit)\b')


def pages(entry: object) -> Iterator[str]:
    """The files that a navigation entry names."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        for value in entry.values():
            yield from pages(value)
    elif isinstance(entry, list):
        for value in entry:
            yield from pages(value)


def faults(log: Path) -> Iterator[str]:
    """One line for each thing that is wrong."""
    docs, site = Path("docs"), Path("site")
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith("griffe:") or "WARNING" in line:
            yield f"the build warns: {line}"
    listed = set(pages(yaml.safe_load(Path("mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    present = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    for name in sorted(listed - present):
        yield f"mkdocs.yml lists {name}, but docs/{name} does not exist"
    for name in sorted(present - listed):
        yield f"docs/{name} exists, but mkdocs.yml does not list it"
    for page in sorted(site.rglob("*.html")):
        for tag in REMOTE_ASSET.findall(page.read_text(encoding="utf-8")):
            if not PLAIN_LINK.search(tag):
                yield f"{page} loads something from the network: {tag}"
    if not (site / "index.html").exists():
        yield "the build wrote no site/index.html"


def cut(site: Path) -> Iterator[str]:
    """One line for each formula or drawing that does not fit a page 1280 pixels wide, in either scheme."""
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
            page.set_default_timeout(600_000)  # a busy machine is no fault of a page
            for file in sorted(site.rglob("*.html")):
                if 'class="formula"' in file.read_text(encoding="utf-8") or file.parent.name in ("theory", "tutorials"):
                    page.goto(file.resolve().as_uri())
                    wide = page.evaluate(CUT)
                    yield from (f"{file} is cut at 1280 pixels ({scheme}): {text}" for text in wide)
                    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
                    if (scheme == "dark") != (sum(map(int, re.findall(r"\d+", ground)[:3])) < 300):
                        yield f"{file} does not follow the {scheme} scheme: its ground is {ground}"
            page.close()
        browser.close()


def main() -> int:
    """Prints the faults; 1 if there is any."""
    found = [*faults(Path(sys.argv[1])), *cut(Path("site"))]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
