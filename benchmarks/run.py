"""Run every benchmark, each in a process and a time of its own, and write RESULTS.md: half an hour at most.

Parts that generate tables are run at three seeds, or go through them by themselves. A part that does not end in its
time is ended, and says so below what it had measured by then. With the names of parts, these are run in this process,
as long as they take, and printed.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from discreet.core.files import write_text

SEEDS = (0, 1, 2)
"""What is added to the seeds of generated tables (DISCREET_BENCH_SEED)."""


class Part(NamedTuple):
    """The most seconds of a part, for one seed, and its seeds."""

    seconds: int
    seeds: tuple[int, ...] = SEEDS[:1]


PARTS = {
    "start": Part(100),
    "replay": Part(50),
    "tables": Part(10),
    "uniques": Part(25),
    "tabulation": Part(80),
    "tabulation:spark": Part(80),
    "audit": Part(30, SEEDS),
    "audit:larger": Part(100),
    "percentages": Part(20),
    "rounding": Part(40, SEEDS),
    "cell_key": Part(30),
    "simulation": Part(30),
    "suppression": Part(255),
    "suppression:proofs": Part(270),
    "suppression:largest": Part(150),
    "suppression:firms": Part(70),
    "assess": Part(60),
    "workbench": Part(40),
    "cliffs": Part(100),
    "growth": Part(50),
}
"""Modules, or functions of modules. The last one also has the time that the others do not take."""
WHOLE = 1770
"""The most seconds of all parts together."""
HEAD = """# Benchmark results

Times are the best of a few, taken in turn in one run on a shared machine; read the ratios. `make bench` writes this
file; parts that generate tables come at three seeds. What takes longer is in [LARGER.md](LARGER.md).
"""


def runs() -> list[tuple[str, int]]:
    """Return every part with what is added to its seeds."""
    return [(name, seed) for name, part in PARTS.items() for seed in part.seeds]


def part(name: str, seed: int, limit: float) -> str:
    """Run one part in a process of its own, and return its section, as far as it came."""
    # A part that measures many points leaves out the last ones rather than be ended.
    environment = {**os.environ, "DISCREET_BENCH_SEED": str(seed), "DISCREET_BENCH_SECONDS": str(limit)}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        command = [sys.executable, __file__, name]
        process = subprocess.Popen(command, env=environment, stdout=printed, start_new_session=True)
        try:
            ended = "It failed; the rest was not reached." if process.wait(limit) else ""
        except subprocess.TimeoutExpired:
            ended = f"Ended after {limit:.0f} seconds; the rest was not reached."
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with peers and points that it had begun
            process.wait()
        printed.seek(0)
        heading, _, rest = printed.read().strip().partition("\n")
    title = f"{heading or f'## {name}'}{f', seed {seed}' if len(PARTS[name].seeds) > 1 else ''}"
    return "\n\n".join(filter(None, [title, rest.strip(), ended]))


def main() -> None:
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            module, _, function = name.partition(":")
            made = getattr(importlib.import_module(module), function or "main")()
            for text in [made] if isinstance(made, str) else made:
                print(text, flush=True)
        return
    results = Path(__file__).resolve().parent / "RESULTS.md"
    sections, begun = [HEAD.strip()], time.monotonic()
    for name, seed in (planned := runs()):
        took = time.monotonic() - begun
        print(f"== {name}, seed {seed}, after {took:.0f} seconds", file=sys.stderr, flush=True)
        last = (name, seed) == planned[-1]
        sections.append(part(name, seed, max(PARTS[name].seconds, WHOLE - took if last else 0)))
        # After every part: what was measured is kept if a later part is stopped.
        write_text(results, "\n\n".join(sections) + "\n")


if __name__ == "__main__":
    main()
