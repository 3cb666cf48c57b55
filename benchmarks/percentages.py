"""The audit of a table of 10⁴ counts with percentages of rows and of the total beside them, against that without."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from _tools import growing, machine
from discreet.auditing.audit import audit
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.statistic import Statistic, StatisticColumn

SIZE, TURNS = 100, 5


def published(decimals: int, hidden_too: bool) -> tuple[Figures, Figures]:
    """Return a table whose counts of 1 to 4 are hidden, without and with percentages."""
    rng, n = np.random.default_rng(1), SIZE
    inner = rng.poisson(rng.gamma(1.2, 12.0, (n, n)))
    full = np.zeros((n + 1, n + 1), np.int64)
    full[:n, :n], full[n, :n], full[:n, n], full[n, n] = inner, inner.sum(0), inner.sum(1), inner.sum()
    hidden = np.zeros(full.shape, bool)
    hidden[:n, :n] = (inner > 0) & (inner < 5)
    cells = full.astype(object)
    cells[hidden] = None
    labels = {name: [*map(str, range(n)), "Total"] for name in ("row", "column")}
    plain = Figures.from_array(cells, labels, mark=Kind("suppressed", least=1, most=4))
    at = np.argwhere(np.ones(full.shape, bool) if hidden_too else ~hidden)
    columns = []
    for name, over, below in (("of row", ("column",), full[:, n:]), ("of all", ("row", "column"), full[n:, n:])):
        spec = Statistic("percentage", over=dict.fromkeys(over, ""), decimals=decimals)
        line = np.broadcast_to(below, full.shape)
        values = [spec.value(int(full[i, j]), int(line[i, j]), 0) for i, j in at.tolist()]
        columns.append(StatisticColumn(name, spec, at, np.array(values, np.int64), decimals))
    return plain, replace(plain, statistics=tuple(columns))


def compared(decimals: int, hidden_too: bool) -> list[str]:
    times: list[list[float]] = [[], []]
    several = published(decimals, hidden_too)
    for _ in range(TURNS):
        for figures, taken in zip(several, times, strict=True):
            start = time.perf_counter()
            found = audit(figures, proofs=10)
            taken.append(time.perf_counter() - start)
    without, beside = map(min, times)
    shown = "all" if hidden_too else "of counts shown"
    exact = int(found.findings.determined.sum())
    return [str(decimals), shown, f"{exact:,}", f"{without:.3f}", f"{beside:.3f}", f"{beside / without:.1f}"]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    yield "## Audit: percentages beside 10⁴ counts\n"
    yield machine("numpy", "numba") + "\n"
    yield (
        "A table of 100 × 100 counts with margins; counts of 1 to 4 are hidden. Percentages of rows and of the "
        "total stand beside all counts, or beside those that are shown. *Exact* counts the hidden counts that "
        "percentages give away. All of the audit is timed, the two in turn.\n"
    )
    compared(1, True)
    header = ["decimals", "percentages", "exact", "seconds without", "with", "ratio"]
    yield from growing(header, (compared(*case) for case in product((0, 1), (True, False))))


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
