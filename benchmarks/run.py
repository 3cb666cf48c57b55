"""Run every benchmark, each in a process and a time of its own, and write RESULTS.md: half an hour at most.

Parts that generate tables are run at three seeds. A part that does not end in its time is ended, and says so below what
it had measured by then. With the names of parts, these are run in this process, as long as they take, and printed.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from discreet.core.files import write_text

SECONDS = {
    "start": 30,
    "replay": 60,
    "tables": 60,
    "uniques": 60,
    "tabulation": 90,
    "audit": 100,
    "percentages": 40,
    "rounding": 60,
    "cell_key": 60,
    "simulation": 60,
    "suppression": 140,
    "assess": 100,
    "workbench": 60,
    "growth": 170,
    "cliffs": 100,
}
"""The most seconds of each part, for one seed: all of them together take less than half an hour."""
SEEDED = ("audit", "rounding", "suppression")
SEEDS = (0, 1, 2)
"""What is added to the seeds of generated tables (DISCREET_BENCH_SEED)."""
HEAD = """# Benchmark results

Times are the best of a few, taken in turn in one run on a shared machine; read the ratios. `make bench` writes this
file; parts that generate tables come once for each of three seeds.
"""


def runs() -> list[tuple[str, int]]:
    """Return every part with what is added to its seeds."""
    return [(name, seed) for name in SECONDS for seed in (SEEDS if name in SEEDED else SEEDS[:1])]


def part(name: str, seed: int) -> str:
    """Run one part in a process of its own, and return its section, as far as it came."""
    limit, begun = SECONDS[name], time.monotonic()
    # A part that measures many points leaves out the last ones rather than be ended.
    environment = {**os.environ, "DISCREET_BENCH_SEED": str(seed), "DISCREET_BENCH_SECONDS": str(limit)}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        try:
            done = subprocess.run(
                [sys.executable, __file__, name], env=environment, timeout=limit, stdout=printed, check=False
            )
            ended = f"Failed after {time.monotonic() - begun:.0f} seconds." if done.returncode else ""
        except subprocess.TimeoutExpired:
            ended = f"Ended after {limit} seconds; the rest was not reached."
        printed.seek(0)
        heading, _, rest = printed.read().strip().partition("\n")
    title = f"{heading or f'## {name}'}{f', seed {seed}' if name in SEEDED else ''}"
    return "\n\n".join(filter(None, [title, rest.strip(), ended]))


def main() -> None:
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            made = importlib.import_module(name).main()
            for text in [made] if isinstance(made, str) else made:
                print(text, flush=True)
        return
    results = Path(__file__).resolve().parent / "RESULTS.md"
    sections = [HEAD.strip()]
    for name, seed in runs():
        print(f"== {name}, seed {seed}", file=sys.stderr, flush=True)
        sections.append(part(name, seed))
        # After every part: what was measured is kept if a later part is stopped.
        write_text(results, "\n\n".join(sections) + "\n")


if __name__ == "__main__":
    main()
