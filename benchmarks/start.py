"""The first minutes: CPU seconds of every command on a table of 100 cells, at its first use and later.

``python benchmarks/start.py PYTHON`` measures the commands of another environment, such as one without any extra.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path

import numpy as np

from _tools import growing, machine

RULE = ("--rule", "threshold=3")
COMMANDS = {
    "--help": ("--help",),
    "inspect": ("inspect", "t.csv"),
    "risk": ("risk", "t.csv"),
    "rules": ("rules", "t.csv", *RULE),
    "tabulate": ("tabulate", "people.csv", "--by", "area,group", "-o", "tabulated.parquet"),
    "protect suppress": ("protect", "suppress", "t.csv", *RULE, "-o", "release.csv"),
    "protect controlled-rounding": ("protect", "controlled-rounding", "t.csv", "--base", "3", "-o", "rounded.csv"),
    "protect small-count-rounding": ("protect", "small-count-rounding", "t.csv", "--base", "3", "-o", "small.csv"),
    "protect random-rounding": ("protect", "random-rounding", "t.csv", "--base", "3", "-o", "random.csv"),
    "protect cell-key": ("protect", "cell-key", "t.csv", "--bound", "2", "--variance", "1", "-o", "keyed.csv"),
    "protect simulation": ("protect", "simulation", "t.csv", "-o", "simulated.csv"),
    "protect sample-records": ("protect", "sample-records", "people.csv", "--fraction", "0.1", "-o", "sample.csv"),
    "audit": ("audit", "release.csv"),
    "assess": ("assess", "t.csv", "--record", "record.json", "--report", "data.json"),
    "report": ("report", "data.json", "-o", "report.html"),
    "replay": ("replay", "record.json"),
    "estimate": ("estimate", "t.csv", "-N", "10000"),
    "estimate --model polya": ("estimate", "t.csv", "-N", "10000", "--model", "polya"),
    "uniques": ("uniques", "t.csv", "-N", "10000"),
    "ledger add": ("ledger", "add", "release.csv"),
    "ledger check": ("ledger", "check", "rounded.csv"),
    "compare": ("compare", "t.csv", "-o", "compared.json"),
}
BEFORE = {
    "protect suppress": ("50", "2.3", "1.5"),
    "audit": ("20", "2.1", "1.5"),
    "assess": ("26", "2.1", "1.5"),
    "estimate": ("7", "1.4", "1.5"),
    "compare": ("over 73", "–", "–"),
    "risk": ("–", "–", "0.4"),
    "--help": ("–", "–", "0.2"),
}
"""What commands took when every kernel was compiled, with an empty cache and with a full one, and the aim."""


def seconds(python: str, folder: Path, arguments: tuple[str, ...], cache: Path) -> float:
    """Return the CPU seconds of Python with these arguments, in a process of its own, which must end as commands do."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [python, *arguments], cwd=folder, env=environment, capture_output=True, check=False, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 1), done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(folder: Path) -> None:
    """Write a table of 100 cells, and its people as records."""
    counts = np.random.default_rng(3).negative_binomial(1, 0.08, (10, 10))
    cells = [(i, j) for i in range(10) for j in range(10)]
    lines = [f"a{i},g{j},{counts[i, j]}" for i, j in cells]
    (folder / "t.csv").write_text("\n".join(["area,group,count", *lines]) + "\n")
    people = [f"a{i},g{j}" for i, j in cells for _ in range(counts[i, j])]
    (folder / "people.csv").write_text("\n".join(["area,group", *people]) + "\n")


def rows(python: str, folder: Path, until: float) -> Iterator[list[str]]:
    """Yield what each command takes at first, and the best of what it takes later.

    Later uses are measured up to three times, as long as there is time for all commands.
    """
    begun = time.monotonic()
    for number, (label, arguments) in enumerate(COMMANDS.items(), start=1):
        own = begun + (until - begun) * number / len(COMMANDS)

        def spent(label: str = label, arguments: tuple[str, ...] = arguments) -> float:
            return seconds(python, folder, ("-m", "discreet", *arguments), folder / label)

        first, again = spent(), inf
        for turn in range(0 if label == "ledger add" else 3):
            if turn == 0 or time.monotonic() < own:
                again = min(again, spent())
        before = BEFORE.get(label, ("–", "–", "–"))
        yield [f"`{label}`", *before, f"{first:.2f}", f"{again:.2f}" if again < inf else "–"]


def main(python: str = sys.executable) -> Iterator[str]:
    """Yield the section line by line."""
    until = time.monotonic() + 0.7 * float(os.environ.get("DISCREET_BENCH_SECONDS", "600"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        compiler = subprocess.run([python, "-c", "import numba"], capture_output=True, check=False).returncode == 0
        bare = min(seconds(python, folder, ("-c", "import numpy"), folder) for _ in range(4))
        yield "## Start\n"
        yield (
            f"{machine('numpy', 'pyarrow')}. CPU seconds of whole commands on a table of 100 cells, "
            f"{'with' if compiler else 'without'} the compiler in the environment; the best of up to three later "
            f"uses. Importing NumPy alone takes {bare:.2f} beside what else runs here. *Before*, every kernel was "
            "compiled on its first use and loaded from the disk after that; now kernels are interpreted while work is "
            "small.\n"
        )
        heads = ["command", "before, first", "before, again", "aim", "first", "again"]
        yield from growing(heads, rows(python, folder, until))


if __name__ == "__main__":
    for line in main(*sys.argv[1:2]):
        print(line, flush=True)
