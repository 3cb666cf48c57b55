"""Run every benchmark, each in a process and a time of its own, and write RESULTS.md: half an hour at most.

Parts that generate tables are run at three seeds, or go through them by themselves. Every part prints its rows as they
are measured: one that does not end in its time is ended, keeps them, and is named. With the names of parts, only these
are run, each as long as it takes, and their sections take the place of those in RESULTS.md.
"""

from __future__ import annotations

import importlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from _tools import table
from discreet.core.files import write_text

SEEDS = (0, 1, 2)
"""What is added to the seeds of generated tables (DISCREET_BENCH_SEED)."""


class Part(NamedTuple):
    """The seconds that a part is given for one seed, and its seeds."""

    seconds: int
    seeds: tuple[int, ...] = SEEDS[:1]


PARTS = {
    "start": Part(80),
    "replay": Part(35),
    "tables": Part(5),
    "uniques": Part(25),
    "tabulation": Part(60),
    "tabulation:spark": Part(70),
    "audit": Part(28, SEEDS),
    "audit:larger": Part(75),
    "percentages": Part(6),
    "rounding": Part(18, SEEDS),
    "rounding:larger": Part(55),
    "cell_key": Part(20),
    "simulation": Part(30),
    "suppression": Part(235),
    "suppression:proofs": Part(240),
    "suppression:largest": Part(90),
    "suppression:firms": Part(35),
    "assess": Part(60),
    "workbench": Part(50),
    "cliffs": Part(130),
    "growth": Part(300),
}
"""Modules, or functions of modules, with their budget: what each was measured to take where nothing else ran, and about
a fifth more."""
WHOLE = 1740
"""The most seconds of all parts together; what is more than their budgets goes to parts that need more than theirs."""
RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
HEAD = """# Benchmark results

Times are the best of a few, taken in turn in one run on a shared machine; read the ratios. `make bench` writes this
file; parts that generate tables come at three seeds. What takes longer is in [LARGER.md](LARGER.md).
"""


class Done(NamedTuple):
    """The section of a part, and what it took."""

    text: str
    clock: float
    processor: float
    ended: str


def runs() -> list[tuple[str, int]]:
    """Return every part with what is added to its seeds."""
    return [(name, seed) for name, part in PARTS.items() for seed in part.seeds]


def limit_of(number: int, took: float) -> float:
    """Return the most seconds of a part: its budget, and what those after it do not need of the time that is left."""
    budgets = [PARTS[name].seconds for name, _ in runs()[number:]]
    return max(WHOLE - took - sum(budgets[1:]), 1.0)


def part(name: str, seed: int, limit: float) -> Done:
    """Run one part in a process of its own, and return its section, as far as it came."""
    # A part that measures many points leaves out the last ones rather than be ended.
    environment = {**os.environ, "DISCREET_BENCH_SEED": str(seed), "DISCREET_BENCH_SECONDS": str(limit)}
    begun, used = time.monotonic(), _processor()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        command = [sys.executable, __file__, "--print", name]
        process = subprocess.Popen(command, env=environment, stdout=printed, start_new_session=True)
        try:
            ended = "failed" if process.wait(limit) else ""
        except subprocess.TimeoutExpired:
            ended = f"was ended after {limit:.0f} seconds"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with peers and points that it had begun
            process.wait()
        printed.seek(0)
        heading, _, rest = printed.read().strip().partition("\n")
    title = f"{heading or f'## {name}'}{f', seed {seed}' if len(PARTS[name].seeds) > 1 else ''}"
    text = "\n\n".join(
        filter(None, [title, rest.strip(), f"This part {ended}; the rest was not reached." * bool(ended)])
    )
    return Done(text, time.monotonic() - begun, _processor() - used, ended)


def _processor() -> float:
    """Return the CPU seconds of all parts so far."""
    spent = os.times()
    return spent.children_user + spent.children_system


def took(done: dict[tuple[str, int], Done]) -> str:
    """Return what every part took, and which were ended."""
    rows = []
    for name, part in PARTS.items():
        own = [found for (of, _), found in done.items() if of == name]
        times = f"{len(own)} × " if len(own) > 1 else ""
        clock, processor = (max((getattr(one, what) for one in own), default=0.0) for what in ("clock", "processor"))
        ended = "; ".join(dict.fromkeys(one.ended for one in own if one.ended))
        rows.append([f"`{name}`", f"{times}{part.seconds}", f"{clock:.0f}", f"{processor:.0f}", ended or "–"])
    whole = sum(one.clock for one in done.values())
    return "\n\n".join(
        [
            "## What the parts took",
            f"Seconds on the clock and of the processors, the most of all seeds; {whole:.0f} on the clock in all, of "
            f"{WHOLE}. What a part does not need of its budget is there for those after it.",
            table(["part", "budget", "clock", "processors", "ended"], rows),
        ]
    )


def printed(name: str) -> None:
    """Run a part in this process, and print its section as it grows."""
    module, _, function = name.partition(":")
    for text in getattr(importlib.import_module(module), function or "main")():
        print(text, flush=True)


def alone(names: list[str]) -> None:
    """Run some parts, each as long as it takes, and put their sections into RESULTS.md."""
    for name in names:
        for seed in PARTS[name].seeds:
            done = part(name, seed, math.inf)
            if done.ended:
                raise SystemExit(f"{name} {done.ended}: its section stays as it was")
            title, _, rest = done.text.partition("\n")
            own = f"{title[3:]}\n\nMeasured by itself, as long as it took.\n\n{rest.strip()}"
            sections = RESULTS.read_text(encoding="utf-8").strip().split("\n\n## ")
            titles = [section.partition("\n")[0] for section in sections]
            at = titles.index(title[3:]) if title[3:] in titles else len(sections)
            sections[at : at + 1] = [own]
            write_text(RESULTS, "\n\n## ".join(sections) + "\n")


def whole() -> None:
    """Run all parts in their time, and write RESULTS.md after each: what is measured is kept if a later one is lost."""
    done: dict[tuple[str, int], Done] = {}
    begun = time.monotonic()
    for number, (name, seed) in enumerate(runs()):
        passed = time.monotonic() - begun
        print(f"== {name}, seed {seed}, after {passed:.0f} seconds", file=sys.stderr, flush=True)
        done[name, seed] = part(name, seed, limit_of(number, passed))
        sections = [HEAD.strip(), *(one.text for one in done.values()), took(done)]
        write_text(RESULTS, "\n\n".join(sections) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--print"]:
        printed(sys.argv[2])
    elif sys.argv[1:]:
        alone(sys.argv[1:])
    else:
        whole()
