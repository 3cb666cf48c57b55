"""How much time and memory large inputs take, and whether time limits hold there: CPU seconds and MB of processes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from campaign.outcomes import Tally
from campaign.processes import run

SIDE = 1000
"""A table of a million cells has so many rows and columns."""
MEMORY = 2_000
"""The most MB that a command may take for them."""
LEDGERS = (1_000, 10_000, 100_000)
CHECK = 10.0
"""The CPU seconds that a check may take beside any of them."""
SHARE, SECONDS = 0.2, 2.0
"""A time limit holds if a command ends within it and this share of it, or these seconds."""
TRIES = 3
"""How often a time limit is tried if it is not kept: a machine that is busy with other work may keep nobody's time."""
SIZES = {"hundred": 10, "thousand": 32, "million": SIDE}
"""Tables by their rows and columns."""
LIMITED: tuple[tuple[int, list[str]], ...] = (
    *(
        (5, [*words, f"{size}/table.csv"])
        for size in SIZES
        for words in (
            ["assess"],
            ["protect", "suppress", "--rule=threshold=3"],
            ["protect", "suppress", "--rule=threshold=3", "--search=optimal"],
            ["protect", "controlled-rounding"],
            ["protect", "tabular-adjustment", "--rule=threshold=3"],
            ["compare"],
        )
    ),
    *((5, ["geography", "--threshold=10", f"{size}.csv"]) for size in SIZES),
    *((5, ["plan", "run", f"--output=plan-{size}", size]) for size in SIZES),
    (5, ["audit", "rounded.parquet"]),
    (1, ["ledger", "check", "new.csv", "--ledger=100000.sqlite", "--population=new", "--period=2030"]),
    (20, ["ledger", "check", "zones.csv", "--ledger=100000.sqlite", "--population=new", "--period=2030"]),
)
"""Commands with a time limit that most of them cannot keep by finishing, and the limit."""


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
    for name, side in SIZES.items():
        (folder / name).mkdir()
        cells = (f"r{i},c{j},{draw.choice((0, 1, 2, 3, 4, 5, 7))}\n" for i in range(side) for j in range(side))
        with (folder / name / "table.csv").open("w", encoding="utf-8") as stream:
            stream.write("a,b,count\n")
            stream.writelines(cells)
        _write_territory(folder / f"{name}.csv", side * side // 3, draw)
    for name, words in {
        "risk": ["risk", "million/table.csv"],
        "protect random-rounding": ["protect", "random-rounding", "million/table.csv", "-o", "rounded.parquet"],
        "audit of the rounded table": ["audit", "rounded.parquet"],
        "assess": ["assess", "million/table.csv"],
    }.items():
        took = measured(words, folder)
        fine = took.code in (0, 1) and took.memory <= MEMORY
        tally.note("a million cells", "" if fine else f"{name} ended in {took.code} and took {took.memory:,} MB")
        rows.append((f"{name}, 10⁶ cells", f"{took.cpu:.0f} CPU s, {took.memory:,} MB"))
    for limit, words in LIMITED:
        for _ in range(TRIES):
            ended = run([*words, "--time-limit", str(limit)], folder)
            late = ended.seconds > limit + max(SHARE * limit, SECONDS)
            if not late:
                break
        told = f"{' '.join(words)} took {ended.seconds:.1f} s of {limit}"
        tally.note("time limits", told if late or ended.code not in (0, 1, 2) else "")
        said = "done" if ended.code in (0, 1) else "given up"
        rows.append((f"{_name(words)}, limit {limit} s", f"{said} after {ended.seconds:.1f} s"))
    return tally, rows


def _write_territory(path: Path, zones: int, draw: random.Random) -> None:
    """Write a territory that is divided twice into so many zones, of which each overlaps a few."""
    pairs = {(i, max(0, min(zones - 1, i + draw.randint(-3, 3)))) for _ in range(3) for i in range(zones)}
    with path.open("w", encoding="utf-8") as stream:
        stream.write("area,grid,count\n")
        stream.writelines(f"a{i},g{j},{draw.choice((1, 1, 2, 3, 5, 20, 40, 60))}\n" for i, j in sorted(pairs))


def _name(words: Sequence[str]) -> str:
    """Return what a command does, in the words that matter.

    >>> _name(["protect", "suppress", "--rule=threshold=3", "--search=optimal", "million/table.csv"])
    'protect suppress --search=optimal, million'
    """
    told = [
        word for word in words if not word.startswith(("--rule", "--threshold", "--ledger", "--pop", "--per", "--out"))
    ]
    return f"{' '.join(told[:-1])}, {told[-1].removesuffix('/table.csv').removesuffix('.csv')}"


def measured(words: Sequence[str], folder: Path) -> Run:
    """Run a command in a process of its own; return what it took."""
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
    """Check one release beside ledgers of growing size, of which a hundredth share its dimension; then all others."""
    for name, dimension in (("new", "area"), ("zones", "zone")):
        (folder / f"{name}.csv").write_text(f"{dimension},count\na,500\nb,900\n", encoding="utf-8")
    rows = []
    for size in LEDGERS:
        write_ledger(folder / f"{size}.sqlite", size)
        for name, related in (("new", size // 100), ("zones", size - size // 100)):
            words = ["ledger", "check", f"{name}.csv", f"--ledger={size}.sqlite", "--population=new"]
            took = measured([*words, "--period=2030"], folder)
            tally.note("ledgers", f"{size} releases: {took}" if took.code or took.cpu >= CHECK else "")
            rows.append((f"ledger check beside {size:,} releases, {related:,} related", f"{took.cpu:.1f} CPU s"))
    return rows


def write_ledger(path: Path, size: int) -> None:
    """Write a ledger of so many releases at once, as if they had been added one by one."""
    from discreet.decide.ledger.entry import Entry
    from discreet.decide.ledger.history import Head, Stored, addition, event, said_of
    from discreet.decide.ledger.packing import compressed, digest, packed
    from discreet.decide.ledger.store import Store
    from discreet.table.figures import Figures
    from discreet.table.release import Release

    @lru_cache
    def shown(name: str, first: int, second: int) -> tuple[bytes, bytes]:
        text = packed(Release.of(Figures.from_array([first, second], {name: ["a", "b"]}, name="t")))
        return text, compressed(text)

    store, head = Store(path, create=True), Head()
    with store.writing():
        for i in range(size):
            name = "area" if i % 100 == 0 else "zone"
            text, body = shown(name, 100 + i % 7, 200 + i % 5)
            entry = Entry(
                "", f"t{i}", "2024-05-31", "as published", (name,), 2, 0, f"p{i % 1000}", str(1000 + i // 1000)
            )
            mark = digest(text, said_of(entry))
            entry = replace(entry, id=mark[:10])
            store.keep(entry.id, body)
            made = event(head, addition(entry, Stored(mark, len(text))), None)
            store.append(head.events + 1, made)
            head = Head(head.events + 1, made.digest)
    store.close()
