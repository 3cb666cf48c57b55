"""Bernoulli sampling: everybody is in the sample with the same probability, independently of all others.

The size of the sample is random. If the number of all people is public, the sample is a simple random one given its
size, which everybody sees; otherwise a reader knows only the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.checks import check_share
from discreet.protect.sampling import PUBLISH_TOTAL, Sampling, crossed
from discreet.protect.usage import in_one_call, option
from discreet.table import Table


@dataclass(frozen=True)
class BernoulliSample(Sampling):
    """Take everybody into the sample with the same probability, independently of all others.

    Each cell's count is binomial.

    Attributes:
        rate: the probability of everybody.
        known_total: the number of all people is public: the release states it, and the audit counts on it.

    >>> BernoulliSample(0.5).outcomes(Table.from_array([1, 5], ["month"]))
    12
    """

    rate: float = field(metadata=option("Everybody's probability of being in the sample."))
    known_total: bool = field(default=False, metadata=PUBLISH_TOTAL)
    name: ClassVar[str] = "bernoulli-sample"
    told: ClassVar[tuple[str, ...]] = ("rate",)
    examples: ClassVar[Mapping[str, str]] = {"table.csv --rate 0.1 -o s.csv": "everybody with probability 0.1"}

    def __post_init__(self) -> None:
        check_share(self.rate, "the sampling rate", above=True)

    @property
    def share(self) -> float:
        """The rate, which the release states."""
        return float(self.rate)

    def rows(self, arrow: pa.Table, rng: np.random.Generator) -> IntArray:
        """Return every record with probability ``rate``."""
        return np.flatnonzero(rng.random(arrow.num_rows) < self.rate)

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return sample counts of the table's non-empty cells, one draw per row."""
        return rng.binomial(table.counts, self.rate, size=(size, table.counts.size))

    def outcomes(self, table: Table) -> int:
        """Return the number of different sample tables."""
        return math.prod(count + 1 for count in table.counts.tolist()) if self.rate < 1 else 1

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Enumerate the sample tables, each with its probability T(f), in blocks of rows."""
        parts = []
        for count in table.counts.tolist():
            f = np.arange(count + 1) if self.rate < 1 else np.array([count])
            ways = np.array([math.comb(count, k) for k in f.tolist()], np.float64)
            parts.append((ways * self.rate**f * (1 - self.rate) ** (count - f), f[:, None]))
        yield from crossed(parts, block)


bernoulli_sample = in_one_call(BernoulliSample)
