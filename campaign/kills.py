"""Commands that are killed at random moments: what they had acknowledged is there, and no file is half there."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from campaign.hostile_inputs import TABLE
from campaign.outcomes import Tally

COMMANDS: dict[str, list[str]] = {
    "ledger": ["ledger", "add", "table.csv", "--title", "{}", "--ledger", "book.sqlite", "--original", "table.csv"],
    "compare": ["compare", "table.csv", "--method=random-rounding", "--draws=200", "--resume=kept", "-o", "made.json"],
    "report": ["assess", "table.csv", "--report", "report.html", "--record", "record.json", "-o", "release.csv"],
    "plan": ["plan", "run", "plan.toml", "-o", "planned", "--publish"],
    "tabulate": ["tabulate", "table.csv", "--by", "area", "--value", "count", "-o", "cells.parquet"],
}


PEOPLE = "area,sex,age\n" + "".join(f"{'abcd'[i % 4]},{'mf'[i % 3 % 2]},{10 * (i % 5)}\n" for i in range(120))
PLAN = """title = "people"
policy = "census"
period = "2025"
ledger = "plan.sqlite"
[records]
files = ["people.csv"]
[[tables]]
name = "T1"
by = ["area", "sex"]
[[tables]]
name = "T2"
by = ["area", "age"]
"""


def kills(folder: Path, each: int, seed: int) -> Tally:
    """Kill every command so many times, then look at what is left."""
    tally, draw = Tally(), random.Random(seed)
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    added: set[str] = set()
    for name, words in COMMANDS.items():
        took = _run(words, folder, f"{name} whole", None)[1]
        for number in range(each):
            title = f"{name} {number}"
            code, _ = _run(words, folder, title, took * draw.uniform(0.2, 1.05))
            if name == "ledger" and code == 0:
                added.add(title)
            tally.note(f"kills of {name}", _left(folder, added if name == "ledger" else set()))
            if name == "plan" and draw.random() < 0.7:
                # Otherwise the next run goes on with what this one kept.
                shutil.rmtree(folder / "planned", ignore_errors=True)
                (folder / "plan.sqlite").unlink(missing_ok=True)
        again = _run(words, folder, f"{name} again", None)[0]
        tally.note(f"kills of {name}", "" if again in (0, 1) else f"the next {name} ended in {again}")
        if orphans := [path.name for path in folder.rglob("*") if path.suffix in (".part", ".pending")]:
            tally.note(f"kills of {name}", f"left behind: {orphans}")
    return tally


def _run(words: list[str], folder: Path, title: str, seconds: float | None) -> tuple[int, float]:
    """Run a command, and kill it after some seconds; return its exit code and how long it took."""
    begun = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-m", "discreet", *(word.format(title) for word in words)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    return child.returncode, time.monotonic() - begun


def _left(folder: Path, added: set[str]) -> str:
    """Say what is wrong with what a killed command left."""
    from discreet import read_release
    from discreet.core.errors import DiscreetError
    from discreet.decide.ledger import Ledger

    try:
        for path in folder.rglob("*.json"):
            json.loads(path.read_text(encoding="utf-8"))
        for path in [*folder.glob("release.csv"), *folder.glob("planned/*.csv")]:
            read_release(path)
        for path in folder.rglob("*.html"):
            if "</html>" not in path.read_text(encoding="utf-8"):
                return f"half a report: {path.name}"
        kept: set[str] = set()
        for path in folder.glob("*.sqlite"):
            with Ledger(path, create=False) as book:
                book.verify()
                kept |= {entry.title for entry in book.entries()}
        if lost := added - kept:
            return f"lost: {sorted(lost)}"
    except (DiscreetError, ValueError) as error:
        return str(error)
    return ""
