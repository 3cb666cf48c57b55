"""A programme of many tables by one command, beside a command for each table.

    python benchmarks/programme.py [RECORDS [VALUES]]

A register of firms with three hierarchies and twelve other dimensions: region and activity by each of these, the pairs
of hierarchies, and three pairs of others, for each value, so that 10 values are 300 tables in 10 clusters. One command
tabulates, protects, audits and reports all of them. Beside it, six tables are made the way they are made one by one:
``discreet tabulate`` from the same records with the hierarchies, then ``discreet assess`` of that table with a release
and a report, once before the one command and once after it, as the load of a machine changes. Each stands for the
tables of its shape: a hierarchy by a column (24 of 30, two are run, and their mean counts), three pairs of hierarchies,
and pairs of columns (3 of 30).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from _tools import machine, table

NESTED = {"region": (4, 3, 3), "activity": (5, 3, 3), "size": (3, 3)}
FLAT = {f"f{k:02}": 2 + k % 3 for k in range(12)}
CROSSED = [
    *((one, other) for one in ("region", "activity") for other in FLAT),
    *combinations(NESTED, 2),
    *(("f00", "f01"), ("f02", "f03"), ("f04", "f05")),
]
SINGLE = {
    ("region", "f00"): 12,
    ("activity", "f06"): 12,
    ("region", "activity"): 1,
    ("region", "size"): 1,
    ("activity", "size"): 1,
    ("f00", "f01"): 3,
}
"""Which tables are made one by one, and for how many of each value they stand."""


def register(path: Path, records: int, values: int) -> None:
    """Write a register of firms, each with an id."""
    draw = np.random.default_rng(1)
    columns: dict[str, object] = {"id": np.arange(records)}
    for name, sizes in NESTED.items():
        code = np.array([name[0]] * records, dtype=object)
        for depth, size in enumerate(sizes, start=1):
            weights = 1 / np.arange(1, size + 1)
            code = code + draw.choice(list("0123456789"[:size]), records, p=weights / weights.sum()).astype(object)
            columns[f"{name}{depth}"] = code
    for name, size in FLAT.items():
        columns[name] = np.char.add("c", draw.choice(size, records).astype(str))
    for k in range(values):
        columns[f"v{k}"] = np.rint(draw.lognormal(5, 2, records)) + 1
    pq.write_table(pa.table(columns), path)


def plan(values: int) -> str:
    """Return the plan of all tables."""
    parts = ['title = "register"\npolicy = "business"\n[records]\nfiles = "register.parquet"\ncontributor = "id"\n']
    for name, sizes in NESTED.items():
        listed = ", ".join(f'"{name}{depth}"' for depth in range(1, len(sizes) + 1))
        parts.append(f"[dimensions.{name}]\ncolumns = [{listed}]\n")
    for k in range(values):
        for by in CROSSED:
            listed = ", ".join(f'"{name}"' for name in by)
            parts.append(f'[[tables]]\nname = "v{k} {" ".join(by)}"\nby = [{listed}]\nvalue = "v{k}"\n')
    return "\n".join(parts)


def seconds(folder: Path, *arguments: str) -> tuple[float, str]:
    """Return the CPU seconds of a command, those of its children among them, and what it printed."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    after = os.times()
    if done.returncode > 1:
        raise RuntimeError(done.stderr)
    return after.children_user + after.children_system - before.children_user - before.children_system, done.stdout


def alone(folder: Path, by: tuple[str, ...]) -> float:
    """Return the CPU seconds of one table by itself: tabulated with its hierarchies, then assessed and reported."""
    nested = {name: "/".join(f"{name}{depth + 1}" for depth in range(len(sizes))) for name, sizes in NESTED.items()}
    crossed = ",".join(f"{name}={nested[name]}" if name in nested else name for name in by)
    asked = ("--by", crossed, "--value", "v0", "--contributor", "id", "-o", "one.parquet")
    made, _ = seconds(folder, "tabulate", "register.parquet", *asked)
    told = ("--policy", "business", "-o", "one.csv", "--report", "one.html")
    return made + seconds(folder, "assess", "one.parquet", *told)[0]


def main(records: int, values: int) -> str:
    """Return the report."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        register(folder / "register.parquet", records, values)
        (folder / "plan.toml").write_text(plan(values))
        tables = values * len(CROSSED)
        before = {by: alone(folder, by) for by in SINGLE}
        start = time.perf_counter()
        one, told = seconds(folder, "plan", "run", "plan.toml")
        wall = time.perf_counter() - start
        again, _ = seconds(folder, "plan", "run", "plan.toml")
        single = {by: (before[by] + alone(folder, by)) / 2 for by in SINGLE}
    every = values * sum(count * single[by] for by, count in SINGLE.items())
    rows = [
        ["one command", f"{one:,.1f}", ""],
        ["again, nothing changed", f"{again:,.1f}", ""],
        *([" × ".join(by), f"{single[by]:,.1f}", f"by itself; stands for {n * values}"] for by, n in SINGLE.items()),
        [f"{tables} tables one by one", f"{every:,.1f}", "calculated from these"],
        ["ratio", f"1:{every / one:,.1f}", ""],
    ]
    return "\n\n".join(
        [
            f"## A programme of {tables} tables of {records:,} records",
            machine("numpy", "duckdb", "numba"),
            f"CPU seconds; {wall:,.0f} s on the clock. {told.splitlines()[0]}",
            table(["", "seconds", ""], rows),
        ]
    )


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    sys.stdout.write(main(*(given or [1_000_000, 10])[:2], *([10] if len(given) == 1 else [])) + "\n")
