"""How time and memory grow: every command on tables of 10³ to 10⁶ cells, each in a process, each size with a cap.

``DISCREET_GROWTH`` names the cells (``1e3,1e4``), ``DISCREET_GROWTH_CAP`` the CPU seconds that a point may take.
``DISCREET_BENCH_SECONDS`` is how long all of it may take: commands that take long come last, and what is left is not
measured. With names of commands, only these are measured.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import discreet as dc
from _tools import growing, machine, processor_seconds
from instances import nested

SIZES = [round(float(size)) for size in os.environ.get("DISCREET_GROWTH", "1e3,1e4,1e5,1e6").split(",")]
CAP = int(os.environ.get("DISCREET_GROWTH_CAP", "60"))
PATIENCE = 20.0 * CAP
"""What searches are given on the clock: enough that on a busy machine, too, the cap on CPU seconds ends them."""
DEADLINE = time.time() + 0.8 * float(os.environ.get("DISCREET_BENCH_SECONDS", "1e9"))
"""When no further point is begun; the rest of the time is for those that have begun."""
PICTURE = Path(__file__).with_name("growth.svg")
WARM = 1_000
"""The cells of the table on which everything is imported and compiled before the clock starts."""


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
    "nested": nested,
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


def sampled(original: dc.Table) -> object:
    return dc.protect.random_sample(original, fraction=0.1, seed=1)


def merged(original: dc.Table) -> object:
    """Merge half of the categories of a dimension."""
    categories = original.dimensions[0].categories
    return dc.protect.redesign(original, merge={"d0": {"others": categories[: len(categories) // 2]}})


def compared(original: dc.Table) -> object:
    """Compare all protections of the default grid, few times each."""
    return dc.compare(original, draws=2, audits=1, seed=1, time_limit=PATIENCE)


def lost(original: dc.Table) -> object:
    return dc.information_loss(original, dc.protect.random_rounding(original, base=3, seed=1))


COMMANDS: dict[str, tuple[str, Callable[..., object]]] = {
    "risk": ("two-way", dc.risk),
    "rules": ("two-way", lambda made: dc.sensitivity(made, [dc.rules.Threshold(3)])),
    "tabulate": ("two-way", tabulated),
    "information loss": ("two-way", lost),
    "protect hide-and-round": ("two-way", lambda made: dc.protect.hide_and_round(made, limit=3, base=5)),
    "protect conventional-rounding": ("two-way", lambda made: dc.protect.conventional_rounding(made, base=5)),
    "protect redesign": ("two-way", merged),
    "geography": ("sparse", lambda made: dc.geography(made, 3, time_limit=PATIENCE)),
    "protect random-rounding": ("two-way", lambda made: dc.protect.random_rounding(made, base=3, seed=1)),
    "protect small-count-rounding": ("two-way", lambda made: dc.protect.small_count_rounding(made, base=3)),
    "protect table-swapping": ("two-way", lambda made: dc.protect.table_swapping(made, rate=0.1, seed=1)),
    "protect simulation": ("two-way", lambda made: dc.protect.simulation(made, seed=1)),
    "protect random-sample": ("two-way", sampled),
    "protect cell-key": ("two-way", lambda made: assessed(made, "cell-key:bound=5,variance=3")),
    "audit": ("two-way", audited),
    "ledger check": ("two-way", checked),
    "estimate": ("two-way", lambda made: dc.estimate(made, 10 * made.total, model="polya", draws=20, seed=1)),
    "uniques": ("sparse", lambda made: dc.population_uniques(made, 10 * made.total)),
    **{f"assess, {form}": (form, assessed) for form in ("two-way", "three-way", "four-way", "sparse", "hierarchy")},
    "assess controlled rounding": ("two-way", lambda made: assessed(made, "controlled-rounding")),
    "protect suppress, nested": ("nested", suppressed),
    "protect suppress, linked": ("linked", suppressed),
    "protect suppress, hierarchy": ("hierarchy", suppressed),
    "protect suppress": ("two-way", suppressed),
    "compare": ("two-way", compared),
    "assess controlled rounding, three-way": ("three-way", lambda made: assessed(made, "controlled-rounding")),
}


def measure(command: str, until: float) -> None:
    """Measure a command at one size after the other in this process, and print each point."""
    form, work = COMMANDS[command]
    work(FORMS[form](WARM))
    for size in SIZES:
        if time.time() > until:
            break
        original = FORMS[form](size)
        limit = math.ceil(time.process_time()) + CAP
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        seconds = processor_seconds(lambda original=original: work(original))  # type: ignore[misc]
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]), flush=True)


def points(command: str) -> list[Point]:
    """Measure a command in a process of its own, as far as it comes; what the cap ended is infinite."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", command, str(DEADLINE)],
        env={**os.environ, "DISCREET_KERNELS": "compiled"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [Point(*json.loads(line)) for line in done.stdout.splitlines()]
    if done.returncode > 0:
        raise RuntimeError(f"{command}: {done.stderr.strip().splitlines()[-1]}")
    return [*found, Point(math.inf, math.nan)] if done.returncode else found


def exponent(points: list[Point]) -> float:
    """Return the exponent of time in cells between the last two sizes that ended."""
    ended = [(math.log(size), math.log(max(one.seconds, 1e-4))) for size, one in zip(SIZES, points, strict=False)]
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


def rows(commands: Iterable[str]) -> Iterator[list[str]]:
    """Yield what every command takes at each size, two commands at a time; the picture grows with them."""
    found: dict[str, list[Point]] = {}
    with ThreadPoolExecutor(2) as pool:
        for command, measured in zip(commands, pool.map(points, commands), strict=True):
            found[command] = measured
            draw(found)
            shown = [f"{one.seconds:.3g}" if math.isfinite(one.seconds) else f"over {CAP}" for one in measured]
            memory = max((one.memory for one in measured if math.isfinite(one.seconds)), default=math.nan)
            left = ["–"] * (len(SIZES) - len(shown))
            yield [command, *shown, *left, f"{exponent(measured):.2f}", f"{memory:.0f}"]


def main(commands: Iterable[str] = tuple(COMMANDS)) -> Iterator[str]:
    """Yield the section line by line."""
    yield "## Growth\n"
    yield machine("numpy", "numba") + "\n"
    yield (
        "CPU seconds of each command on counts of mean 3 (0.1 where sparse), imports and loading of kernels left out; "
        f"what takes longer than {CAP} s at one size is ended there. *Nested* is a three-way table with groups of ten "
        "in two of its dimensions, skewed counts and all margins, of which counts below 3 are suppressed. The exponent "
        "is that between the last two sizes that ended; points that were not measured are dashes.\n"
    )
    yield from growing(["command", *(f"{size:,} cells" for size in SIZES), "exponent", "peak MiB"], rows(commands))
    yield "![CPU seconds against cells](growth.svg)"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], float(sys.argv[3]))
    else:
        for line in main(sys.argv[1:] or tuple(COMMANDS)):
            print(line, flush=True)
