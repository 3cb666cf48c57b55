"""Simple random sampling without replacement from the people of a table.

A sample hides whether a small sample count is small in the population, and whether a sample zero is a true zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.random import Seed, generator
from discreet.table import Release, Table


@dataclass(frozen=True)
class RandomSample:
    """A sample of n people, every set of n being equally likely: counts are multivariate hypergeometric.

    >>> RandomSample(2).outcomes(Table.from_array([1, 5], ["month"]))
    2
    """

    n: int
    name: ClassVar[str] = "random-sample"

    def __post_init__(self) -> None:
        """Check the sample size."""
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or self.n < 1:
            raise RequestError(f"the sample size n is {self.n!r}; give a whole number of 1 or more")

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        return {"n": int(self.n)}

    def check(self, table: Table) -> None:
        """Refuse a sample larger than the table."""
        if self.n > table.total:
            raise RequestError(f"a sample of n = {self.n:,} cannot be drawn from N = {table.total:,} people; lower n")

    def release(self, table: Table, seed: Seed = None) -> Release:
        """Draw one sample."""
        self.check(table)
        counts = self.draws(table, generator(seed), 1)[0]
        return Release(table.with_counts(table.cells, counts), self.name, self.parameters)

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return sample counts of the table's non-empty cells, one draw per row."""
        self.check(table)
        # "count" lays out one entry per person, and is several times faster where that fits in memory.
        method: Literal["count", "marginals"] = "count" if table.total <= 1_000_000 else "marginals"
        if table.total >= 1_000_000_000:
            return _large(table.counts, self.n, rng, size)
        return rng.multivariate_hypergeometric(table.counts, self.n, size=size, method=method)

    def outcomes(self, table: Table) -> int:
        """Return how many different sample tables there are."""
        self.check(table)
        ways = [1] + [0] * self.n
        for count in table.counts.tolist():
            running = [0]
            for value in ways:
                running.append(running[-1] + value)
            ways = [running[t + 1] - running[max(t - count, 0)] for t in range(self.n + 1)]
        return ways[self.n]

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Go through every sample table with its probability T(f), in blocks of rows."""
        self.check(table)
        F = table.counts.tolist()
        after = [sum(F[i:]) for i in range(len(F) + 1)]
        whole = math.comb(after[0], self.n)

        def tables(i: int, left: int, ways: int) -> Iterator[tuple[int, list[int]]]:
            if i == len(F):
                yield ways, []
                return
            for f in range(max(0, left - after[i + 1]), min(F[i], left) + 1):
                for total, rest in tables(i + 1, left - f, ways * math.comb(F[i], f)):
                    yield total, [f, *rest]

        chances: list[float] = []
        rows: list[list[int]] = []
        for ways, row in tables(0, self.n, 1):
            chances.append(ways / whole)
            rows.append(row)
            if len(rows) == block:
                yield np.array(chances), np.array(rows, np.int64)
                chances, rows = [], []
        if rows:
            yield np.array(chances), np.array(rows, np.int64)


def _large(F: IntArray, n: int, rng: np.random.Generator, size: int) -> IntArray:
    """Draw cell after cell from populations of 10⁹ and more, for which NumPy has no multivariate law."""
    left, draws = np.full(size, n, np.int64), np.zeros((size, F.size), np.int64)
    rest = int(F.sum())
    for i, count in enumerate(F.tolist()):
        rest -= count
        # Swapping the roles of cell and sample leaves the law as it is, and keeps the arguments in range.
        draws[:, i] = left if rest == 0 else _hypergeometric(rng, count, rest, left)
        left = left - draws[:, i]
    return draws


def _hypergeometric(rng: np.random.Generator, good: int, bad: int, sample: IntArray) -> IntArray:
    if good >= 1_000_000_000 or bad >= 1_000_000_000:
        raise RequestError(
            f"a cell of {max(good, bad):,} people against the others is too large to sample from exactly; "
            "sample the slices one by one"
        )
    return rng.hypergeometric(good, bad, sample)


def random_sample(table: Table, n: int, *, seed: Seed = None) -> Release:
    """Draw a simple random sample of n people without replacement and return its table.

    >>> random_sample(Table.from_array([[10, 50], [60, 20]], ["area", "sex"]), 14, seed=1).table.total
    14
    """
    return RandomSample(n).release(table, seed)
