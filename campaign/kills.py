"""Commands that are killed at random moments: what they had acknowledged is there, and no file is half there."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

from campaign.hostile_inputs import TABLE
from campaign.outcomes import Tally
from campaign.processes import run

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
        took = run([word.format(f"{name} whole") for word in words], folder).seconds
        for number in range(each):
            title = f"{name} {number}"
            ended = run([word.format(title) for word in words], folder, kill_after=took * draw.uniform(0, 1.05))
            if name == "ledger" and ended.code == 0:
                added.add(title)
            tally.note(f"kills of {name}", _left(folder, added if name == "ledger" else set()))
            if name == "plan" and draw.random() < 0.7:
                # Otherwise the next run goes on with what this one kept.
                shutil.rmtree(folder / "planned", ignore_errors=True)
                (folder / "plan.sqlite").unlink(missing_ok=True)
        again = run([word.format(f"{name} again") for word in words], folder).code
        tally.note(f"{name} after kills", "" if again in (0, 1) else f"the next {name} ended in {again}")
        orphans = [path.name for path in folder.rglob("*") if path.suffix in (".part", ".pending")]
        tally.note(f"{name} after kills", f"left behind: {orphans}" if orphans else "")
    return tally


def _left(folder: Path, added: set[str]) -> str:
    """Say what is wrong with what a killed command left."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
        for path in folder.glob("*.parquet"):
            pq.read_table(path)
        for path in folder.glob("*.sqlite"):
            with Ledger(path, create=False) as book:
                book.verify()
                kept |= {entry.title for entry in book.entries()}
        if lost := added - kept:
            return f"lost: {sorted(lost)}"
    except (DiscreetError, ValueError, pa.ArrowException) as error:
        return str(error)
    return ""
