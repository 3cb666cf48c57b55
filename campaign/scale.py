"""How much time and memory large inputs take, and whether time limits hold there: CPU seconds and MB of processes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from campaign.outcomes import Tally

SIDE = 1000
"""A table of a million cells has so many rows and columns."""
LEDGERS = (1_000, 10_000, 100_000)
SHARE, SECONDS = 0.2, 2.0
"""A time limit holds if a command ends within it and this share of it, or these seconds."""


@dataclass(frozen=True)
class Run:
    """What one command took: seconds of CPU, on the clock, and memory at most."""

    code: int
    cpu: float
    wall: float
    memory: int


def scale(folder: Path) -> tuple[Tally, list[tuple[str, str]]]:
    """Run everything; return what failed, and a row for each command with what it took."""
    tally = Tally()
    rows = _ledgers(folder, tally)
    draw = random.Random(1)
    cells = (f"r{i},c{j},{draw.choice((0, 1, 2, 3, 4, 5, 7))}\n" for i in range(SIDE) for j in range(SIDE))
    with (folder / "million.csv").open("w", encoding="utf-8") as stream:
        stream.write("a,b,count\n")
        stream.writelines(cells)
    for name, words in {
        "risk": ["risk", "million.csv"],
        "protect random-rounding": ["protect", "random-rounding", "million.csv", "-o", "rounded.parquet"],
        "audit of the rounded table": ["audit", "rounded.parquet"],
        "assess": ["assess", "million.csv"],
    }.items():
        run = _run(words, folder)
        tally.note("a million cells", "" if run.code in (0, 1) else f"{name} ended in {run.code}")
        rows.append((f"{name}, 10⁶ cells", f"{run.cpu:.0f} CPU s, {run.memory:,} MB"))
    start = _run(["--version"], folder).wall
    for limit, words in (
        (5, ["assess", "million.csv"]),
        (5, ["protect", "suppress", "million.csv", "--rule=threshold=3"]),
        (5, ["audit", "rounded.parquet"]),
        (5, ["compare", "million.csv"]),
        (20, ["ledger", "check", "new.csv", "--ledger=100000.sqlite", "--population=new", "--period=2030"]),
        (1, ["ledger", "check", "new.csv", "--ledger=100000.sqlite", "--population=new", "--period=2030"]),
    ):
        run = _run([*words, "--time-limit", str(limit)], folder)
        late = run.wall - start > limit + max(SHARE * limit, SECONDS)
        told = f"{' '.join(words)} took {run.wall:.1f} s of {limit}, {start:.1f} of them to start"
        tally.note("time limits", told if late or run.code not in (0, 1, 2) else "")
        rows.append(
            (f"{words[0]} {words[1]}, limit {limit} s", f"over after {run.wall - start:.1f} s, code {run.code}")
        )
    return tally, rows


def _run(words: Sequence[str], folder: Path) -> Run:
    begun = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-m", "discreet", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu = used.ru_utime + used.ru_stime
    return Run(child.returncode, cpu, time.monotonic() - begun, used.ru_maxrss // 1024)


def _ledgers(folder: Path, tally: Tally) -> list[tuple[str, str]]:
    """Check one release beside ledgers of growing size, of which a hundredth share its dimension."""
    (folder / "new.csv").write_text("area,count\na,500\nb,900\n", encoding="utf-8")
    rows = []
    for size in LEDGERS:
        write_ledger(folder / f"{size}.sqlite", size)
        words = ["ledger", "check", "new.csv", f"--ledger={size}.sqlite", "--population=new", "--period=2030"]
        run = _run(words, folder)
        tally.note("ledgers", "" if run.code == 0 and run.cpu < 10 else f"{size} releases: {run}")
        related = size // 100
        rows.append((f"ledger check beside {size:,} releases, {related:,} related", f"{run.cpu:.1f} CPU s"))
    return rows


def write_ledger(path: Path, size: int) -> None:
    """Write a ledger of so many releases at once, as if they had been added one by one."""
    from discreet.decide.ledger.entry import Entry
    from discreet.decide.ledger.history import Head, Stored, addition, event, said_of
    from discreet.decide.ledger.packing import compressed, digest, packed
    from discreet.decide.ledger.store import Store
    from discreet.table.figures import Figures
    from discreet.table.release import Release

    store, head = Store(path, create=True), Head()
    with store.writing():
        for i in range(size):
            name = "area" if i % 100 == 0 else f"d{i % 5000}"
            text = packed(Release.of(Figures.from_array([100 + i % 7, 200 + i % 5], {name: ["a", "b"]}, name="t")))
            entry = Entry(
                "", f"t{i}", "2024-05-31", "as published", (name,), 2, 0, f"p{i % 1000}", str(1000 + i // 1000)
            )
            mark = digest(text, said_of(entry))
            entry = replace(entry, id=mark[:10])
            store.keep(entry.id, compressed(text))
            made = event(head, addition(entry, Stored(mark, len(text))), None)
            store.append(head.events + 1, made)
            head = Head(head.events + 1, made.digest)
    store.close()
