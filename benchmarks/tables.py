"""Large tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np

from _tools import growing, in_turn, machine
from discreet.core.numerics import FloatArray, IntArray
from discreet.measures.risk import risk
from discreet.table import Table

SPARSE = """
import resource, time
import numpy as np
from discreet.table import Dimension, Table
from discreet.measures.risk import risk
from discreet.utility.loss import information_loss

rng = np.random.default_rng(1)
cells = np.unique(rng.integers(0, 10**8, size=1_005_000))[:1_000_000]
dims = tuple(Dimension(name, range(100)) for name in "abcd")
none = np.zeros(0, np.int64)
F = Table(dims, cells, rng.integers(1, 20, cells.size), none)
G = F.with_counts(F.cells, np.maximum(F.counts // 3 * 3, 0))
start = time.perf_counter(); risk(F); r1 = time.perf_counter() - start
start = time.perf_counter(); information_loss(F, G); loss = time.perf_counter() - start
print(r1, loss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
"""


def numpy_r1(F: IntArray) -> list[FloatArray]:
    """R1 of the whole table and of every row and column, the obvious way on a dense array."""

    def measure(counts: FloatArray, axis: int | tuple[int, int]) -> FloatArray:
        N = counts.sum(axis=axis, keepdims=True)
        p = counts / N
        H = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=axis)
        K = counts.size if isinstance(axis, tuple) else counts.shape[axis]
        people = N.ravel() if H.ndim else N.reshape(())
        zeros = (counts == 0).sum(axis=axis) / K
        value: FloatArray = 0.1 * zeros + 0.8 * (1 - H / np.log(K)) + 0.1 * (1 + 0.5 * np.log(people)) / np.sqrt(people)
        return value

    figures = F.astype(np.float64)
    return [measure(figures, (0, 1)), measure(figures, 1), measure(figures, 0)]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    yield "## Large tables\n"
    yield machine("numpy") + "\n"
    yield from growing(["what", "discreet", "alternative", "ratio"], rows())


def rows() -> Iterator[list[str]]:
    counts = np.random.default_rng(1).integers(0, 50, size=(1000, 1000))
    large = Table.from_array(counts, ["a", "b"])
    ours, numpy = in_turn([lambda: risk(large), lambda: numpy_r1(counts)], 9)
    yield [
        "R1 with all 2,000 slices, 1,000 × 1,000",
        f"**{1e3 * ours:.0f} ms**",
        f"dense NumPy {1e3 * numpy:.0f} ms",
        f"{numpy / ours:.1f}",
    ]
    r1, loss, memory = map(
        float, subprocess.run([sys.executable, "-c", SPARSE], check=True, capture_output=True, text=True).stdout.split()
    )
    yield ["R1 with all slices, 10⁸ cells, 10⁶ filled", f"{r1:.2f} s", "dense: 0.8 GB an array", "–"]
    yield ["information loss, the same table", f"{loss:.2f} s", "dense: 0.8 GB an array", "–"]
    yield ["peak memory of both", f"{memory:.0f} MiB", "", "–"]


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
