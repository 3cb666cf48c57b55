"""How time and memory grow: every command on tables of 10³ to 10⁶ cells, each point in a process with a cap of its own.

``DISCREET_GROWTH`` names the cells (``1e3,1e4``), ``DISCREET_GROWTH_CAP`` the CPU seconds that a point may take.
``DISCREET_BENCH_SECONDS`` is how long all of it may take: small tables come first, and what is left is not measured.
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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import discreet as dc
from _tools import machine, table

SIZES = [round(float(size)) for size in os.environ.get("DISCREET_GROWTH", "1e3,1e4,1e5,1e6").split(",")]
CAP = int(os.environ.get("DISCREET_GROWTH_CAP", "60"))
PATIENCE = 20.0 * CAP
"""What searches are given on the clock: enough that on a busy machine, too, the cap on CPU seconds ends them."""
DEADLINE = time.monotonic() + 0.85 * float(os.environ.get("DISCREET_BENCH_SECONDS", "inf"))
"""When no further point is begun; the rest of the time is for the last one and the picture."""
PICTURE = Path(__file__).with_name("growth.svg")
WARM = 10_000
"""The most cells of the table on which everything is imported, and kernels are loaded that pay at this size, before the
clock starts."""


class Point(NamedTuple):
    """CPU seconds and the peak of memory in MiB; seconds are infinite where the cap ended the work."""

    seconds: float
    memory: float


def flat(dimensions: int, mean: float = 3.0) -> Callable[[int], dc.Table]:
    """Tables of so many dimensions, with counts of a mean."""

    def made(cells: int) -> dc.Table:
        side = max(2, round(cells ** (1 / dimensions)))
        counts = np.random.default_rng(1).poisson(mean, (side,) * dimensions)
        counts.flat[0] += 1
        return dc.Table.from_array(counts, [f"d{i}" for i in range(dimensions)])

    return made


def grouped(cells: int) -> dc.Tabulation:
    """A two-way table with groups of ten along its first dimension."""
    counts = flat(2)(cells)
    codes = [str(code) for code in counts.dimensions[0].categories]
    groups = {code: f"group {i // 10}" for i, code in enumerate(codes)}
    return dc.Tabulation.from_table(counts, hierarchies={"d0": dc.Hierarchy.from_parents(groups)})


def linked(cells: int) -> list[dc.Table]:
    """Two tables of the same people that share a dimension, with half of the cells each."""
    side = max(2, round((cells / 2) ** 0.5))
    people = np.random.default_rng(1).integers(0, side, (3, 3 * side * side))
    made = []
    for other, name in ((1, "b"), (2, "c")):
        counts = np.bincount(people[0] * side + people[other], minlength=side * side).reshape(side, side)
        made.append(dc.Table.from_array(counts, ["a", name]))
    return made


FORMS: dict[str, Callable[[int], object]] = {
    "two-way": flat(2),
    "three-way": flat(3),
    "four-way": flat(4),
    "sparse": flat(2, 0.1),
    "hierarchy": grouped,
    "linked": linked,
}


def assessed(original: object, protection: object = "propose") -> object:
    return dc.assess(original, protection=protection, seed=1, trial=True, time_limit=PATIENCE)  # type: ignore[arg-type]


def checked(original: dc.Table) -> object:
    """Add a rounded release to a ledger, and check the same table rounded otherwise."""
    releases = [dc.protect.random_rounding(original, base=3, additive=True, seed=2**100 + k) for k in (1, 2)]
    with tempfile.TemporaryDirectory() as folder:
        ledger = dc.Ledger(Path(folder) / "ledger.db")
        ledger.add(releases[0], title="first")
        return ledger.check(releases[1], time_limit=PATIENCE)


def audited(original: dc.Table) -> object:
    made = dc.protect.random_rounding(original, base=3, additive=True, seed=1)
    return dc.audit(made, time_limit=PATIENCE, proofs=0)


def suppressed(original: object) -> object:
    return dc.suppress(original, [dc.rules.Threshold(3)], time_limit=PATIENCE)


def tabulated(original: dc.Table) -> object:
    """Tabulate as many records as there are cells."""
    codes = np.random.default_rng(1).integers(0, 50, (3, original.size))
    return dc.tabulate(pa.table({name: codes[i] for i, name in enumerate("abc")}), ["a", "b", "c"])


COMMANDS: dict[str, tuple[str, Callable[..., object]]] = {
    **{f"assess, {form}": (form, assessed) for form in FORMS if form != "linked"},
    "assess controlled rounding": ("two-way", lambda made: assessed(made, "controlled-rounding")),
    "assess controlled rounding, three-way": ("three-way", lambda made: assessed(made, "controlled-rounding")),
    "risk": ("two-way", dc.risk),
    "rules": ("two-way", lambda made: dc.sensitivity(made, [dc.rules.Threshold(3)])),
    "tabulate": ("two-way", tabulated),
    "protect random-rounding": ("two-way", lambda made: dc.protect.random_rounding(made, base=3, seed=1)),
    "protect cell-key": ("two-way", lambda made: assessed(made, "cell-key:bound=5,variance=3")),
    "protect suppress": ("two-way", suppressed),
    "protect suppress, hierarchy": ("hierarchy", suppressed),
    "protect suppress, linked": ("linked", suppressed),
    "audit": ("two-way", audited),
    "ledger check": ("two-way", checked),
    "estimate": ("two-way", lambda made: dc.estimate(made, 10 * made.total, model="polya", draws=20, seed=1)),
    "uniques": ("sparse", lambda made: dc.population_uniques(made, 10 * made.total)),
}


def measure(command: str, cells: int) -> None:
    """Measure one point in this process, and print it."""
    form, work = COMMANDS[command]
    work(FORMS[form](min(cells, WARM)))
    original = FORMS[form](cells)
    begun = time.process_time()
    work(original)
    seconds = time.process_time() - begun
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def point(command: str, cells: int) -> Point:
    """Measure one point in a process of its own."""
    limit = CAP + 60  # for imports, the table and kernels

    def capped() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    done = subprocess.run(
        [sys.executable, __file__, command, str(cells)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=capped,
    )
    if done.returncode < 0:
        return Point(math.inf, math.nan)
    if done.returncode:
        raise RuntimeError(f"{command}, {cells:,} cells: {done.stderr.strip().splitlines()[-1]}")
    return Point(*json.loads(done.stdout.splitlines()[-1]))


def grown() -> dict[str, list[Point]]:
    """Measure all commands at one size after the other, two at a time.

    What the cap ended is not measured on larger tables.
    """
    found: dict[str, list[Point]] = {command: [] for command in COMMANDS}
    for number, size in enumerate(SIZES):

        def measured(command: str, size: int = size) -> None:
            if time.monotonic() < DEADLINE:
                found[command].append(point(command, size))
                print(f"{command}, {size:,} cells: {found[command][-1].seconds:.2f} s", file=sys.stderr, flush=True)

        going = [c for c, points in found.items() if len(points) == number and not (points and _ended(points[-1]))]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(measured, going))
    return found


def _ended(one: Point) -> bool:
    return one.seconds > CAP


def exponent(points: list[Point]) -> float:
    """Return the exponent of time in cells between the last two sizes that ended."""
    ended = [(math.log(size), math.log(max(one.seconds, 1e-3))) for size, one in zip(SIZES, points, strict=False)]
    ended = [one for one in ended if math.isfinite(one[1])][-2:]
    return (ended[1][1] - ended[0][1]) / (ended[1][0] - ended[0][0]) if len(ended) == 2 else math.nan


def draw(found: dict[str, list[Point]]) -> None:
    """Draw seconds against cells."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "growth"
    figure, axes = plt.subplots(figsize=(8, 6))
    for number, (command, points) in enumerate(found.items()):
        ended = [(size, one.seconds) for size, one in zip(SIZES, points, strict=False) if math.isfinite(one.seconds)]
        if ended:
            axes.plot(*zip(*ended, strict=True), marker="os^v"[number % 4], label=command, linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="cells", ylabel="CPU seconds")
    axes.legend(fontsize="x-small", ncols=2)
    figure.savefig(PICTURE, metadata={"Date": None})
    plt.close(figure)


def main() -> str:
    found = grown()
    draw(found)
    rows = []
    for command, points in found.items():
        shown = [f"{one.seconds:.2f}" if math.isfinite(one.seconds) else f"over {CAP}" for one in points]
        memory = max((one.memory for one in points if math.isfinite(one.seconds)), default=math.nan)
        rows.append([command, *shown, *["–"] * (len(SIZES) - len(shown)), f"{exponent(points):.2f}", f"{memory:.0f}"])
    header = ["command", *(f"{size:,} cells" for size in SIZES), "exponent", "peak MiB"]
    return "\n\n".join(
        [
            "## Growth",
            machine("numpy", "numba"),
            "CPU seconds of each command on counts of mean 3 (0.1 where sparse), imports and loading of kernels left "
            f"out; each point in a process of its own, ended after {CAP} s. The exponent is that between the last two "
            "sizes that ended; points that were not measured are dashes.",
            table(header, rows),
            "![CPU seconds against cells](growth.svg)",
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(sys.argv[1], int(sys.argv[2]))
    else:
        print(main())
