"""The first minutes: CPU seconds of commands on a table of 90 cells, with kernels as they are and all compiled."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from _tools import machine, table

COMMANDS = {
    "--help": ("--help",),
    "risk": ("risk", "t.csv"),
    "rules": ("rules", "t.csv", "--rule", "threshold=3"),
    "protect suppress": ("protect", "suppress", "t.csv", "--rule", "threshold=3", "-o", "release.csv"),
    "audit": ("audit", "release.csv"),
    "assess": ("assess", "t.csv"),
    "estimate": ("estimate", "t.csv", "-N", "10000"),
    "estimate, urn": ("estimate", "t.csv", "-N", "10000", "--model", "polya"),
    "uniques": ("uniques", "t.csv", "-N", "10000"),
    "compare": ("compare", "t.csv", "-o", "compared"),
}


def seconds(folder: Path, arguments: tuple[str, ...], cache: Path, kernels: str) -> float:
    """Return the CPU seconds of a command in a process of its own."""
    environment = {**os.environ, "DISCREET_KERNELS": kernels, "NUMBA_CACHE_DIR": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "discreet", *arguments], cwd=folder, env=environment, capture_output=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> str:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = np.random.default_rng(3).negative_binomial(1, 0.08, (10, 9))
        lines = [f"a{i},g{j},{counts[i, j]}" for i in range(10) for j in range(9)]
        (folder / "t.csv").write_text("\n".join(["area,group,count", *lines]) + "\n")
        for label, arguments in COMMANDS.items():
            kept = folder / label / "kept"
            taken = [
                seconds(folder, arguments, folder / label / "none", "auto"),
                min(seconds(folder, arguments, folder / label / "none", "auto") for _ in range(2)),
                seconds(folder, arguments, kept, "compiled"),
                min(seconds(folder, arguments, kept, "compiled") for _ in range(2)),
            ]
            rows.append([f"`{label}`", *(f"{one:.2f}" for one in taken)])
    heads = ["command", "first", "again", "all compiled, first", "all compiled, again"]
    return "\n".join(
        [
            "## Start",
            "",
            f"{machine('numpy', 'scipy', 'pyarrow', 'numba')}. CPU seconds of whole commands on a table of 90 cells.",
            "Kernels are interpreted while work is small; with `DISCREET_KERNELS=compiled` all are compiled on first",
            "use and loaded from the disk after that.",
            "",
            table(heads, rows),
        ]
    )


if __name__ == "__main__":
    print(main())
