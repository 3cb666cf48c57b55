"""Assessing and comparing: whole paths, from a table or records to a verdict, against the times that are promised."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from _tools import growing, machine

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.decide.firms import firms, hierarchies

import discreet as dc

GRID = [
    {"name": "random-rounding", "base": [2, 3, 4, 5, 10]},
    {"name": "conventional-rounding", "base": [2, 3, 4, 5, 10]},
    {"name": "semi-controlled-rounding", "base": [3, 5]},
    {"name": "controlled-rounding", "base": [3, 5]},
    {"name": "small-count-rounding", "base": [3, 5, 10]},
    {"name": "cell-key", "bound": [3], "variance": [1, 2]},
    {"name": "cell-key", "bound": [5], "variance": [2, 3, 4]},
    {"name": "table-swapping", "rate": [0.02, 0.05, 0.1, 0.2]},
    {"name": "bernoulli-sample", "rate": [0.9, 0.5]},
    {"name": "simulation"},
    {"name": "redesign", "merge": {"religion": {"6-8": ["6", "7", "8"]}}},
]
"""Thirty methods."""


def counts() -> str:
    """Assess a table of 10,000 cells with random rounding."""
    rng = np.random.default_rng(0)
    original = dc.Table.from_array(rng.poisson(rng.gamma(0.5, 12, (100, 100))), ["row", "column"])
    found = dc.assess(original, protection="random-rounding:base=3", seed=1, trial=True)
    assert found.sensitivity is not None
    return f"{found.verdict}; {found.sensitivity.cells.size:,} sensitive cells"


def census() -> str:
    """Compare thirty methods on the religion table, over 1,000 draws each."""
    found = dc.compare(dc.datasets.religion(), GRID, draws=1000, seed=1)
    assert len(found.points) == 31
    assert found.recommended is not None
    return f"{len(found.points) - 1} methods; take {found.points[found.recommended].point.title}"


def business() -> str:
    """Assess 100,000 firms from records to a report: rules, protection, audit."""
    found = dc.assess(
        firms(100_000),
        "business",
        by=["activity", "region"],
        value="turnover",
        contributor="firm",
        holding="holding",
        hierarchies=hierarchies(),
        seed=1,
        trial=True,
        name="firms",
    )
    with tempfile.TemporaryDirectory() as folder:
        size = found.report(Path(folder) / "firms.html").stat().st_size
    assert found.sensitivity is not None
    made = found.evidence.release.method if found.evidence else "none"
    return f"{found.verdict} by {made}; {found.sensitivity.cells.size:,} sensitive cells; report of {size / 1e6:.1f} MB"


def rows() -> Iterator[list[str]]:
    """Yield what each work takes."""
    works: list[tuple[str, Callable[[], str], float]] = [
        ("10,000 cells, random rounding", counts, 5),
        ("30 methods on the religion table, 1,000 draws each", census, 60),
        ("100,000 firms: records, rules, protection, audit, report", business, 120),
    ]
    for name, work, promised in works:
        wall, busy = time.perf_counter(), time.process_time()
        told = work()
        seconds, cpu = time.perf_counter() - wall, time.process_time() - busy
        yield [name, f"{seconds:.1f}", f"{cpu:.1f}", f"{promised:g}", told]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    yield "## Assessing and comparing\n"
    yield machine("numpy", "scipy", "highspy") + "\n"
    yield "First runs: what is compiled there is included.\n"
    yield from growing(["work", "seconds", "CPU seconds", "promised", "outcome"], rows())


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
