"""A programme of many tables, killed at ten random moments and shared out to two workers: the same bytes or not.

    python benchmarks/programme_killed.py [RECORDS [VALUES [KILLS]]]

The register and the plan are those of ``programme.py``, 30 tables for each value. One run ends undisturbed. Another is
killed by SIGKILL at random moments and started again each time; of a third, the clusters of tables are worked on by two
processes of a local Dask cluster. All files of the three are compared, those that a run keeps for itself among them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import numpy as np

from _tools import growing, machine
from programme import CROSSED, plan, register

SEED = 2**127 + 1


def started(folder: Path, to: str, place: str = "threads") -> subprocess.Popen[bytes]:
    """Start a run of the plan that writes into a folder of its own."""
    asked = ("plan", "run", "plan.toml", "-o", to, "--workers", "2", "--seed", str(SEED))
    return subprocess.Popen(
        [sys.executable, "-m", "discreet", *asked],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DISCREET_PARALLEL": place},
    )


def finished(work: subprocess.Popen[bytes]) -> None:
    """Wait for a run that nobody kills."""
    if work.wait() != 0:
        raise RuntimeError(f"the run ended with code {work.returncode}")


def contents(folder: Path) -> dict[str, str]:
    """Return the hashes of all files in a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def compared(whole: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Say whether two folders hold the same bytes, or which files differ."""
    apart = [name for name in sorted({*whole, *other}) if whole.get(name) != other.get(name)]
    return f"{len(apart)} files differ, as {apart[0]}" if apart else "the same bytes"


def used(process: int) -> float:
    """Return the CPU seconds of a process of Linux, which go on as it does, however busy the machine is."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def killed(folder: Path, kills: int, seconds: float) -> Iterator[list[str]]:
    """Kill runs at random moments within so many CPU seconds of each start; say when, and what was kept by then.

    A programme that has ended before is begun anew.
    """
    draw, done = np.random.default_rng(8), 0
    while done < kills:
        moment = draw.uniform(0.5, seconds)
        work = started(folder, "killed")
        while work.poll() is None and used(work.pid) < moment:
            time.sleep(0.01)
        work.send_signal(signal.SIGKILL)
        ended = work.wait() != -signal.SIGKILL
        kept = len(list((folder / "killed" / ".plan").glob("*.json")))
        written = len(list((folder / "killed").glob("*.csv")))
        yield [f"{moment:.1f}", "had ended before" if ended else "killed", f"{kept}", f"{written}"]
        done += not ended
        if ended:
            rmtree(folder / "killed")
    finished(started(folder, "killed"))


def on_two_workers(folder: Path) -> None:
    """Run the plan on a local Dask cluster of two processes."""
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        finished(started(folder, "dask", f"dask:{cluster.scheduler_address}"))


def main(records: int, values: int, kills: int) -> Iterator[str]:
    """Yield the report, each part as soon as it is known."""
    yield f"## {values * len(CROSSED)} tables of {records:,} records, killed {kills} times and on two workers\n"
    yield machine("numpy", "duckdb", "numba", "dask") + "\n"
    with TemporaryDirectory() as made:
        folder = Path(made)
        register(folder / "register.parquet", records, values)
        (folder / "plan.toml").write_text(plan(values))
        before = os.times()
        finished(started(folder, "whole"))
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        whole = contents(folder / "whole")
        yield f"{cpu:,.0f} CPU seconds undisturbed, {len(whole)} files.\n"
        header = ["CPU seconds after the start", "", "clusters kept", "tables written"]
        # Long enough for a cluster to be finished now and then, short enough for most runs to be killed.
        seconds = cpu * (1 / values + 2 / max(kills, 1))
        yield from growing(header, killed(folder, kills, seconds))
        yield f"Killed and resumed: {compared(whole, contents(folder / 'killed'))}.\n"
        on_two_workers(folder)
        yield f"On two workers of Dask: {compared(whole, contents(folder / 'dask'))}."


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    for line in main(*(given + [1_000_000, 10, 10][len(given) :])):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
