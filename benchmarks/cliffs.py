"""Ordinary-looking tables that are hard: what each takes now, beside what it took before and what it is meant to take.

Every row is measured in a process of its own, after the same work on a small table has loaded all kernels, and is ended
after a cap (``DISCREET_CLIFF_CAP``, CPU seconds). With names of rows, only these are measured.
``DISCREET_BENCH_SECONDS`` is how long all of it may take: what is left is not measured.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

import discreet as dc
from _tools import growing, machine

CAP = int(os.environ.get("DISCREET_CLIFF_CAP", "100"))
DEADLINE = time.monotonic() + 0.85 * float(os.environ.get("DISCREET_BENCH_SECONDS", "inf"))


class Cliff(NamedTuple):
    """Work at a size, a small size of the same, and the seconds that it took before and is meant to take.

    ``expected`` is what it was last measured to take.
    """

    work: Callable[[int], str]
    size: int
    small: int
    before: str
    target: str
    expected: float


def counts(side: int, dimensions: int) -> dc.Table:
    made = np.random.default_rng(1).poisson(3, (side,) * dimensions)
    return dc.Table.from_array(made, [f"d{i}" for i in range(dimensions)])


def assessed(dimensions: int) -> Callable[[int], str]:
    return lambda side: dc.assess(counts(side, dimensions), seed=1, trial=True).verdict


def rounded(side: int) -> str:
    notes = dc.protect.ControlledRounding(5).apply(counts(side, 3)).notes
    return "; ".join(notes) or "the nearest"


def suppressed(side: int) -> str:
    found = dc.suppress(counts(side, 2), [dc.rules.Threshold(3)])
    return f"{int(found.pattern.hidden.sum()):,} hidden, cost {found.pattern.cost:,.0f}"


def behind_margins(side: int) -> str:
    """Audit all counts of a three-way table of which the two-way margins are published."""
    inner = counts(side, 3).to_array()
    figures = np.pad(inner, ((0, 1),) * 3)
    for axis in range(3):
        last = tuple(slice(None) if k != axis else -1 for k in range(3))
        figures[last] = figures.sum(axis=axis)
    shown = figures.astype(object)
    shown[:side, :side, :side] = None
    labels = [*map(str, range(side)), "Total"]
    published = dc.Figures.from_array(shown.tolist(), dict.fromkeys("abc", labels))
    found = dc.audit(published, time_limit=30, proofs=0)
    return f"{found.verdict}; {found.findings.finished.mean():.0%} of the intervals settled"


def last_of_six(side: int) -> str:
    """Check the last of the two-way tables of four variables, all suppressed, beside the others."""
    draw = np.random.default_rng(1)
    people = {name: draw.integers(0, side, 3 * side**3) for name in "abcd"}
    releases = []
    for pair in combinations("abcd", 2):
        table = np.zeros((side, side), int)
        np.add.at(table, tuple(people[name] for name in pair), 1)
        labelled = {name: [f"{name}{i}" for i in range(side)] for name in pair}
        few = dc.rules.Threshold(int(np.quantile(table, 0.1)) + 1)
        releases.append(dc.suppress(dc.Table.from_array(table, labelled), [few]).release)
    with tempfile.TemporaryDirectory() as folder:
        ledger = dc.Ledger(Path(folder) / "ledger.sqlite")
        for number, release in enumerate(releases[:-1]):
            ledger.add(release, title=f"table {number}")
        return ledger.check(releases[-1]).verdict


def firms(insiders: str) -> Callable[[int], str]:
    def work(number: int) -> str:
        from suppression import magnitude

        return ", ".join(magnitude(number, insiders)[2:6])

    return work


def five_linked(insiders: str) -> Callable[[int], str]:
    def work(number: int) -> str:
        from suppression import linked

        return ", ".join(linked(number, insiders, ("R3", "R4"))[2:6])

    return work


CLIFFS = {
    "assess 100 × 100": Cliff(assessed(2), 100, 4, "0.6", "0.6", 0.2),
    "assess 316 × 316": Cliff(assessed(2), 316, 4, "43", "6", 1.5),
    "assess 5⁴": Cliff(assessed(4), 5, 2, "70", "3", 0.1),
    "assess 15³": Cliff(assessed(3), 15, 3, "93, stopped by its limits", "10", 0.1),
    "controlled rounding 12³": Cliff(rounded, 12, 3, "16", "2", 1.0),
    "controlled rounding 15³": Cliff(rounded, 15, 3, "no end", "5", 1.4),
    "controlled rounding 20³": Cliff(rounded, 20, 3, "no end", "20", 2.5),
    "audit of 15³ behind two-way margins": Cliff(behind_margins, 15, 3, "no end in 240", "30", 14.0),
    "ledger check of the last of six tables": Cliff(last_of_six, 8, 4, "no end in 300", "20", 9.9),
    "suppress 100 × 100": Cliff(suppressed, 100, 4, "1.1", "1", 0.4),
    "suppress 316 × 316": Cliff(suppressed, 316, 4, "over 240", "12", 8.7),
    "five linked tables, 3,000 firms": Cliff(five_linked("none"), 3_000, 200, "137", "15", 13.8),
    "five linked tables, 1,000 firms, respondents": Cliff(
        five_linked("respondents"), 1_000, 200, "no pattern in 300", "30", 24.3
    ),
    "10⁵ firms, respondents": Cliff(firms("respondents"), 100_000, 500, "497", "60", 39.2),
}


def measure(name: str) -> None:
    """Measure one row in this process, and print it."""
    cliff = CLIFFS[name]
    cliff.work(cliff.small)
    begun = time.process_time()
    limit = math.ceil(begun) + CAP
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    found = cliff.work(cliff.size)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([f"{time.process_time() - begun:.1f}", f"{memory:.0f}", found]))


def measured(name: str) -> list[str]:
    """Measure one row in a process of its own, with kernels compiled from the beginning."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", name],
        env={**os.environ, "DISCREET_KERNELS": "compiled"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:
        return [f"ended after {CAP}", "–", "–"]
    if done.returncode:
        return ["–", "–", done.stderr.strip().splitlines()[-1]]
    return list(json.loads(done.stdout.splitlines()[-1]))


def main(names: Iterable[str] = CLIFFS) -> Iterator[str]:
    """Yield the section line by line."""
    yield "## Cliffs\n"
    yield machine("numpy", "scipy", "highspy") + "\n"
    yield (
        f"CPU seconds, kernels left out, each row ended after {CAP} s. Counts have a mean of 3. *Before* was measured "
        "earlier, on the same machine.\n"
    )
    # What takes longest begins first, so that both of two processes end at about the same time.
    order = sorted(names, key=lambda name: -CLIFFS[name].expected)
    with ThreadPoolExecutor(2) as pool:
        rows = (done.result() for done in as_completed([pool.submit(_row, name) for name in order]))
        yield from growing(["what", "before", "target", "now", "MiB", "found"], rows)


def _row(name: str) -> list[str]:
    found = measured(name) if time.monotonic() < DEADLINE else ["–", "–", "not reached"]
    return [name, CLIFFS[name].before, CLIFFS[name].target, *found]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2])
    else:
        for line in main(sys.argv[1:] or CLIFFS):
            print(line, flush=True)
