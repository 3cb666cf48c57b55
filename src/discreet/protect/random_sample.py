"""Simple random sampling without replacement from the people of a table.

A sample hides whether a small sample count is small in the population, and whether a sample zero is a true zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Literal

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.random import Seed, generator
from discreet.table import Release, Table
from discreet.table.kinds import Kind


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
        return Release(table.with_counts(table.cells, counts), self.name, self.parameters, kind=Kind("sample"))

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
        whole = math.comb(sum(F), self.n)
        chances: list[float] = []
        rows: list[list[int]] = []
        for ways, row in _samples(F, self.n):
            chances.append(ways / whole)
            rows.append(row)
            if len(rows) == block:
                yield np.array(chances), np.array(rows, np.int64)
                chances, rows = [], []
        if rows:
            yield np.array(chances), np.array(rows, np.int64)


def _samples(F: list[int], n: int) -> Iterator[tuple[int, list[int]]]:
    """Go through every sample table, with the number of sets of n people that have it."""
    after = list(accumulate(reversed(F), initial=0))[::-1]
    left, ways = [n] * (len(F) + 1), [1] * (len(F) + 1)
    f, high = [0] * len(F), [0] * len(F)
    i = 0
    f[0], high[0] = max(0, n - after[1]), min(F[0], n)
    # Depth first, without recursion: tables may have more cells than calls may be nested.
    while i >= 0:
        if f[i] > high[i]:
            i -= 1
            if i >= 0:
                f[i] += 1
            continue
        left[i + 1], ways[i + 1] = left[i] - f[i], ways[i] * math.comb(F[i], f[i])
        if i == len(F) - 1:
            yield ways[-1], f.copy()
            f[i] += 1
        else:
            i += 1
            f[i], high[i] = max(0, left[i] - after[i + 1]), min(F[i], left[i])


def _large(F: IntArray, n: int, rng: np.random.Generator, size: int) -> IntArray:
    """Draw cell after cell from populations of 10⁹ and more, for which NumPy has no multivariate law."""
    left, draws = np.full(size, n, np.int64), np.zeros((size, F.size), np.int64)
    rest = int(F.sum())
    for i, count in enumerate(F.tolist()):
        rest -= count
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
