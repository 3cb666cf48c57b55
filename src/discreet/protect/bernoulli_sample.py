"""Bernoulli sampling: everybody is in the sample with the same probability, independently of all others.

The size of the sample is random. Where the number of all people is public, the sample is a simple random one given its
size, which everybody sees; otherwise a reader knows the rate alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.base import Original, Protected, check_anybody, drawn
from discreet.protect.inner_counts import PUBLISH_TOTAL, check_share, counts_of
from discreet.protect.random_sample import sampled
from discreet.protect.record_rows import arrow_records, like
from discreet.protect.stratified_sample import crossed
from discreet.protect.usage import Usage, option
from discreet.reading.reads import reads_original
from discreet.table import Release, Table


@dataclass(frozen=True)
class BernoulliSample:
    """A sample in which everybody is with probability ``rate``: each cell's count is binomial.

    Attributes:
        rate: the probability of everybody.
        known_total: the number of all people is public, so that the release states it and the audit counts on it.

    >>> BernoulliSample(0.5).outcomes(Table.from_array([1, 5], ["month"]))
    12
    """

    rate: float = field(metadata=option("The probability of everybody to be in the sample."))
    known_total: bool = field(default=False, metadata=PUBLISH_TOTAL)
    name: ClassVar[str] = "bernoulli-sample"
    usage: ClassVar[Usage] = Usage(
        "Take everybody into the sample with the same probability, independently of all others.",
        {"discreet protect bernoulli-sample table.csv --rate 0.1 -o s.csv": "everybody with probability 0.1"},
    )

    def __post_init__(self) -> None:
        """Check the rate."""
        check_share(self.rate, "the sampling rate", above=True)

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        return {"rate": float(self.rate)}

    def check(self, table: Table) -> None:
        """Refuse a table in which nobody is; every other can be sampled from."""
        check_anybody(table)

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled in the sample: those that are in the original."""
        return table.cells

    @drawn
    def apply(self, original: Original, seed: Seed = None, *, progress: Progress | None = None) -> Protected:
        """Draw one sample."""
        table = counts_of(original, self.name)
        check_anybody(table)
        counts = self.draws(table, generator(seed), 1)[0]
        share = float(self.rate)
        return sampled(original, table, counts, self.name, self.parameters, share, known_total=self.known_total)

    def records(self, records: Any, seed: Seed = None) -> Any:
        """Return every record of a frame or file with probability ``rate``, in the order of the file."""
        arrow = arrow_records(records)
        return like(records, arrow.take(np.flatnonzero(generator(seed).random(arrow.num_rows) < self.rate)))

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return sample counts of the table's non-empty cells, one draw per row."""
        return rng.binomial(table.counts, self.rate, size=(size, table.counts.size))

    def outcomes(self, table: Table) -> int:
        """Return how many different sample tables there are."""
        return math.prod(count + 1 for count in table.counts.tolist()) if self.rate < 1 else 1

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Go through every sample table with its probability T(f), in blocks of rows."""
        parts = []
        for count in table.counts.tolist():
            f = np.arange(count + 1) if self.rate < 1 else np.array([count])
            ways = np.array([math.comb(count, k) for k in f.tolist()], np.float64)
            parts.append((ways * self.rate**f * (1 - self.rate) ** (count - f), f[:, None]))
        yield from crossed(parts, block)


@reads_original
def bernoulli_sample(original: Original, rate: float, *, known_total: bool = False, seed: Seed = None) -> Release:
    """Take everybody into a sample with probability ``rate`` and return the sample's table.

    >>> bernoulli_sample(Table.from_array([[10, 50], [60, 20]], ["area", "sex"]), 0.1, seed=1).table.total
    16
    """
    return BernoulliSample(rate, known_total).apply(original, seed).release
