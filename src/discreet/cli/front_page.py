"""``discreet --help`` without what draws all other help: loading that takes ten times as long as a page of text."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from textwrap import TextWrapper
from typing import NoReturn

ABOUT = "Measure what a statistical table gives away about the people in it, before and after protection."
FIRST = "Try it: discreet assess --example religion"
OPTIONS = (
    ("--version", "", "Print the version and stop."),
    ("--install-completion", "", "Install completion for the current shell."),
    ("--show-completion", "", "Show completion for the current shell, to copy it or customize the installation."),
    ("--help", "-h", "Show this message and exit."),
)
PANELS = {
    "Start here": {
        "assess": "Say whether a table may be released: as it is, after protection, or not at all, and why.",
        "inspect": "Say what a file holds (a table, records or a release) and how it would be read.",
        "workbench": "Open the workbench: see the risk, try a protection, sign the release, in the browser.",
    },
    "Look closer": {
        "risk": "Measure the attribute-disclosure risk of a frequency table, from 0 (low) to 1 (high).",
        "rules": "Find the cells that the agency's rules call sensitive, with reasons and protection levels.",
        "audit": "Find out what can be worked out from what is published: intervals, bits, risk, and the proof of "
        "each.",
        "compare": "Compare protections on one table: risk, what can be worked out, utility, errors, and which one "
        "to take.",
        "geography": "Find who can be singled out when a territory is published in two divisions, say municipalities "
        "and grid cells.",
    },
    "Samples": {
        "estimate": "Estimate the risk R2 of a sample table over population tables that a model draws.",
        "uniques": "Estimate who in a sample is the only one of their kind in the population. discreet uniques FILE "
        "is short for discreet uniques sample FILE.",
    },
    "Make tables and releases": {
        "tabulate": "Count and add up records by the dimensions named, with every margin and the largest "
        "contributions to each cell.",
        "protect": "Turn an original table into a release that can be audited and published.",
        "plan": "Publish many tables by one command: draft a plan, see which tables are one problem, run it.",
    },
    "Keep track": {
        "report": "Write the report on an assessment or a comparison that was kept as data, without doing the work "
        "again.",
        "ledger": "Keep what has been published, and check new releases against all of it.",
        "replay": "Make an assessment, comparison or release again from its record, and compare the results byte by "
        "byte.",
    },
    "Check against the papers": {
        "study": "Replay a paper's study and compare every printed number with the computed one.",
    },
}
"""The first line of each command's help, under the titles and in the order of help."""
COMMANDS = {name: text for listed in PANELS.values() for name, text in listed.items()}
PLAIN, BOLD, DIM, NAME = "", "1", "2", "1;36"
ELSEWHERE = {"_DISCREET_COMPLETE", "TERMINAL_WIDTH", "FORCE_COLOR"}
"""What shells that complete a line, and people who want another look, set for the libraries."""
NARROWEST = 70
"""Columns below which lines are broken in ways that are left to the libraries."""


def shown(given: Sequence[str]) -> bool:
    """Print the help of all commands if nothing else is asked for, and say whether that was so."""
    width = shutil.get_terminal_size().columns
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    usual = encoding == "utf8" and os.name != "nt" and not ELSEWHERE & os.environ.keys()
    if list(given) not in ([], ["-h"], ["--help"]) or width < NARROWEST or not usual:
        return False
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") not in ("dumb", None)
    try:
        print("\n".join(page(width, coloured)), end="\n\n", flush=True)
    except BrokenPipeError:
        leave()
    return True


def leave() -> NoReturn:
    """Exit because the reader of a pipe has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)


def page(width: int, coloured: bool) -> Iterator[str]:
    """Yield the lines of the help."""

    def mark(text: str, style: str) -> str:
        return f"\033[{style}m{text}\033[0m" if coloured and style else text

    def across(text: str, style: str = PLAIN) -> str:
        return mark(f" {text}".ljust(width), style)

    def panel(title: str, rows: Sequence[tuple[Sequence[tuple[str, str]], str]]) -> Iterator[str]:
        yield mark(f"╭─ {title} ".ljust(width - 1, "─") + "╮", DIM)
        side = mark("│", DIM)
        for cells, text in rows:
            used = sum(len(cell) for cell, _ in cells)
            lines = TextWrapper(width - 4 - used, break_on_hyphens=False).wrap(text)
            for number, line in enumerate(lines):
                before = " " * used if number else "".join(mark(cell, style) for cell, style in cells)
                yield f"{side} {before}{line.ljust(width - 4 - used)} {side}"
        yield mark("╰".ljust(width - 1, "─") + "╯", DIM)

    yield across("")
    yield across("Usage: discreet [OPTIONS] COMMAND [ARGS]...", BOLD)
    yield across("")
    yield from map(across, TextWrapper(width - 2).wrap(ABOUT))
    yield across("")
    yield across(FIRST, DIM)
    yield across("")
    longest = max(len(name) for name, _, _ in OPTIONS)
    options = [(((f"{name:{longest}}  ", NAME), (f"{short:10}", NAME)), text) for name, short, text in OPTIONS]
    yield from panel("Options", options)
    longest = max(map(len, COMMANDS))
    for title, listed in PANELS.items():
        yield from panel(title, [(((f"{name:{longest}}  ", NAME),), text) for name, text in listed.items()])
