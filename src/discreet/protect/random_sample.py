"""Simple random sampling without replacement from the people of a table, or from records.

A sample hides whether a small sample count is small in the population, and whether a sample zero is a true zero. The
release states what was asked for, n or the fraction; it states the population's size only where that is public.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.checks import check_integer, check_share
from discreet.protect.sampling import FRACTION, PUBLISH_TOTAL, Sampling
from discreet.protect.usage import in_one_call, option
from discreet.table import Table


@dataclass(frozen=True)
class RandomSample(Sampling):
    """Draw a simple random sample without replacement: every set of n people is equally likely.

    Counts are multivariate hypergeometric.

    Attributes:
        n: how many people are in the sample.
        fraction: their share of all people instead; n is rounded to an integer, at least 1.
        known_total: the number of all people is public: the release states it, and the audit counts on it. Without it
            a release states what was asked for alone: n does not give the population's size away, and a fraction q
            gives it to within 1/q.

    >>> RandomSample(2).outcomes(Table.from_array([1, 5], ["month"]))
    2
    """

    n: int | None = field(default=None, metadata=option("How many people are in the sample.", "--sample-size"))
    fraction: float | None = field(default=None, metadata=FRACTION)
    known_total: bool = field(default=False, metadata=PUBLISH_TOTAL)
    name: ClassVar[str] = "random-sample"
    told: ClassVar[tuple[str, ...]] = ("n", "fraction")
    examples: ClassVar[Mapping[str, str]] = {
        "religion.csv --sample-size 245 -o sample.csv": "245 people",
        "people.csv --by area,sex --fraction 0.1 -o s.csv": "a tenth, all margins",
    }

    def __post_init__(self) -> None:
        if (self.n is None) == (self.fraction is None):
            raise RequestError(
                "give either the size of the sample (n=, --sample-size) or its share of all people "
                "(fraction=, --fraction)"
            )
        if self.fraction is None:
            check_integer(self.n, "the sample size n")
        else:
            check_share(self.fraction, "the sampling fraction", above=True)

    def people(self, total: int) -> int:
        """Return how many of these people are in the sample; refuse a sample larger than the population.

        >>> RandomSample(fraction=0.1).people(472)
        47
        """
        if self.fraction is not None:
            return max(int(self.fraction * total + 0.5), 1)
        n = int(self.n or 0)
        if n > total:
            raise RequestError(f"a sample of n = {n:,} cannot be drawn from N = {total:,} people; lower n")
        return n

    def check(self, table: Table) -> None:
        """Refuse a table that counts nobody, and a sample larger than the table."""
        super().check(table)
        self.people(table.total)

    def rows(self, arrow: pa.Table, rng: np.random.Generator) -> IntArray:
        """Return n records, every set of n being equally likely."""
        return np.sort(rng.choice(arrow.num_rows, self.people(arrow.num_rows), replace=False, shuffle=False))

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return sample counts of the table's non-empty cells, one draw per row."""
        self.check(table)
        return draw_samples(table.counts, self.people(table.total), rng, size)

    def outcomes(self, table: Table) -> int:
        """Return the number of different sample tables."""
        self.check(table)
        return count_samples(table.counts, self.people(table.total))

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Enumerate the sample tables, each with its probability T(f), in blocks of rows."""
        self.check(table)
        return sample_law(table.counts, self.people(table.total), block)


def draw_samples(F: IntArray, n: int, rng: np.random.Generator, size: int) -> IntArray:
    """Return the counts of simple random samples of n people, one per row."""
    N = int(F.sum())
    if N >= 1_000_000_000:
        return _large(F, n, rng, size)
    # "count" lays out one entry per person, and is several times faster where that fits in memory.
    method: Literal["count", "marginals"] = "count" if N <= 1_000_000 else "marginals"
    return rng.multivariate_hypergeometric(F, n, size=size, method=method)


def count_samples(F: IntArray, n: int) -> int:
    """Return the number of different tables that a sample of n people can have.

    >>> count_samples(np.array([1, 5]), 2)
    2
    """
    ways = [1] + [0] * n
    for count in F.tolist():
        running = list(accumulate(ways, initial=0))
        ways = [running[t + 1] - running[max(t - count, 0)] for t in range(n + 1)]
    return ways[n]


def sample_law(F: IntArray, n: int, block: int) -> Iterator[tuple[FloatArray, IntArray]]:
    """Enumerate the tables of a sample of n people, each with its probability, in blocks of rows."""
    whole, samples = math.comb(int(F.sum()), n), _samples(F.tolist(), n)
    while found := list(islice(samples, block)):
        yield np.array([ways / whole for ways, _ in found]), np.array([row for _, row in found], np.int64)


def _samples(F: list[int], n: int) -> Iterator[tuple[int, list[int]]]:
    """Enumerate the sample tables, each with the number of sets of n people that have it."""
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
        if rest and max(count, rest) >= 1_000_000_000:
            raise RequestError(
                f"a cell of {max(count, rest):,} people against the others is too large to sample from exactly; "
                "sample the slices one by one"
            )
        draws[:, i] = rng.hypergeometric(count, rest, left) if rest else left
        left = left - draws[:, i]
    return draws


random_sample = in_one_call(RandomSample)
