"""Stratified sampling: a simple random sample within every category of one dimension.

Small areas can be sampled at a higher rate than large ones, to give each its own figures. A reader knows the requested
share or sample sizes; the strata's own sizes only if these are public.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.errors import RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.base import Original, Protected
from discreet.protect.checks import check_integer, check_share
from discreet.protect.random_sample import count_samples, draw_samples, sample_law
from discreet.protect.record_rows import column_codes
from discreet.protect.sampling import FRACTION, PUBLISH_TOTAL, UNSTATED, Sampling, changed, crossed
from discreet.protect.usage import in_one_call, option
from discreet.table import Dimension, Release, Table
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT, SUPPRESSED, Sampled


@dataclass(frozen=True)
class StratifiedSample(Sampling):
    """Draw a simple random sample within every category of one dimension, of a share or of a size of its own.

    Attributes:
        by: the dimension, or the column of records, whose categories are the strata.
        fraction: the share of every stratum's people; each sample size is rounded to an integer.
        sizes: the sample size of every stratum instead, by category.
        known_total: the number of people of every stratum is public: the release states it, and the audit counts on it.

    >>> table = Table.from_array([[4, 6], [20, 0]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> StratifiedSample("area", fraction=0.5).apply(table, 1).release.table.margin("area").counts.tolist()
    [5, 10]
    """

    by: str = field(metadata=option("The dimension whose categories are sampled one by one.", "--strata"))
    fraction: float | None = field(default=None, metadata=FRACTION)
    sizes: Mapping[str, int] | None = field(
        default=None, metadata=option("CATEGORY=N for every stratum, instead of a fraction.", "--size")
    )
    known_total: bool = field(default=False, metadata=PUBLISH_TOTAL)
    name: ClassVar[str] = "stratified-sample"
    told: ClassVar[tuple[str, ...]] = ("by", "fraction", "sizes")
    examples: ClassVar[Mapping[str, str]] = {
        "t.csv --strata area --fraction 0.1 -o s.csv": "a tenth of every area",
        "t.csv --strata sex --size m=50 --size f=60 -o s.csv": "sizes of each",
    }

    def __post_init__(self) -> None:
        if (self.fraction is None) == (self.sizes is None):
            raise RequestError("give either one fraction for all strata, or the sizes of all strata")
        if self.fraction is not None:
            check_share(self.fraction, "the sampling fraction", above=True)
        for label, n in (self.sizes or {}).items():
            check_integer(n, f"the sample size of {self.by}={label}", 0)

    def check(self, table: Table) -> None:
        """Refuse a table that counts nobody, and a stratum that does not exist or is smaller than its sample."""
        super().check(table)
        self._sizes(table)

    def renewed(self, original: Original, table: Table, rng: np.random.Generator) -> Protected:
        """Draw one sample."""
        people, n = self._people(table), self._sizes(table)
        counts = self.draws(table, rng, 1)[0]
        notes = self._findings(table, people, n)
        if not self.known_total and self.fraction in (None, 1):
            # An empty stratum is treated as all others: that nobody is in it is a figure too.
            return self.sampled(original, table, counts, notes)
        notes = notes if self.known_total else (*notes, UNSTATED)
        inner = table.with_counts(table.cells, counts)
        stated = [self._kind(take, N) for take, N in zip(n.tolist(), people.tolist(), strict=True)]
        # In a stratum that is known to have nobody, every cell is known to be empty.
        kinds = tuple(kind if N or not self.known_total else EXACT for kind, N in zip(stated, people, strict=True))
        if isinstance(original, Table):
            plain = Figures.of_table(inner, Sampled(), name=self.name)
            stratum = plain.codes[:, table.axis(self.by)]
            figures = replace(plain, kind=stratum, kinds=(*kinds, SUPPRESSED))
            return changed(table, counts, Release(inner, self.name, self.parameters, (figures,)), notes)
        group = table.codes(self.by, np.arange(table.size))
        missed = sum(
            kind.size - take if kind.size else kind.missed or 0 for kind, take in zip(stated, n.tolist(), strict=True)
        )
        return self.release(original, inner, kinds, Sampled(missed=missed), group=group, notes=notes)

    def _kind(self, take: int, people: int) -> Sampled:
        """Return what a reader knows about the counts of a stratum, of whose people so many are in the sample."""
        if self.known_total:
            return Sampled(fraction=take / people if people else 0, size=people)
        return Sampled(fraction=self.share, missed=self.left_out(take))

    def _findings(self, table: Table, people: IntArray, n: IntArray) -> tuple[str, ...]:
        """Say which strata are sampled completely, although less was requested: their counts are the true ones."""
        whole = np.flatnonzero((people > 0) & (n == people))
        if not whole.size or self.fraction == 1:
            return ()
        labels = table.dimensions[table.axis(self.by)].categories
        shown = ", ".join(labels[i] for i in whole[:3].tolist()) + (" …" if whole.size > 3 else "")
        return (
            f"Everybody of {whole.size:,} of {np.count_nonzero(people):,} strata is in the sample, so their counts "
            f"are the true ones ({self.by}={shown}); merge small strata, or sample less of them.",
        )

    def rows(self, arrow: pa.Table, rng: np.random.Generator) -> IntArray:
        """Return a simple random sample of the records of each stratum."""
        codes, labels = column_codes(arrow, self.by)
        people = np.bincount(codes, minlength=len(labels))
        n = self._wanted(Dimension(self.by, tuple(labels)), people)
        # A random key for every record; the smallest keys of each stratum are its sample.
        order = np.lexsort((rng.random(arrow.num_rows), codes))
        place = np.arange(arrow.num_rows) - np.repeat(np.cumsum(people) - people, people)
        return np.sort(order[place < n[codes[order]]])

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return sample counts of the table's non-empty cells, one draw per row."""
        drawn = np.zeros((size, table.counts.size), np.int64)
        for here, n in self._strata(table):
            if n:
                drawn[:, here] = draw_samples(table.counts[here], n, rng, size)
        return drawn

    def outcomes(self, table: Table) -> int:
        """Return the number of different sample tables."""
        return math.prod(count_samples(table.counts[here], n) for here, n in self._strata(table))

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Enumerate the sample tables, each with its probability T(f), in blocks of rows."""
        strata = list(self._strata(table))
        parts = [next(sample_law(table.counts[here], n, count_samples(table.counts[here], n))) for here, n in strata]
        back = np.argsort(np.concatenate([here for here, _ in strata]))
        for chance, ordered in crossed(parts, block):
            yield chance, ordered[:, back]

    def _strata(self, table: Table) -> Iterator[tuple[IntArray, int]]:
        """Enumerate the filled cells of every stratum, with its sample size."""
        n, stratum = self._sizes(table), table.codes(self.by)
        for code in np.unique(stratum).tolist():
            yield np.flatnonzero(stratum == code), int(n[code])

    def _people(self, table: Table) -> IntArray:
        found: IntArray = table.sums([self.by], table.counts)[0].astype(np.int64)
        return found

    def _sizes(self, table: Table) -> IntArray:
        return self._wanted(table.dimensions[table.axis(self.by)], self._people(table))

    def _wanted(self, strata: Dimension, people: IntArray) -> IntArray:
        """Return the sample size of every stratum."""
        if self.fraction is not None:
            rounded: IntArray = np.floor(self.fraction * people + 0.5).astype(np.int64)
            return rounded
        sizes = {str(label): int(n) for label, n in (self.sizes or {}).items()}
        for label in sizes:
            if label not in strata.categories:
                raise RequestError(f"{self.by!r} has no category {label!r}; {nearest(label, strata.categories)}")
        lacking = next((label for label in strata.categories if label not in sizes), None)
        if lacking is not None:
            raise RequestError(f"no sample size is given for {self.by}={lacking}; give one, 0 for none")
        n = np.array([sizes[label] for label in strata.categories], np.int64)
        over = np.flatnonzero(n > people)
        if over.size:
            i = int(over[0])
            raise RequestError(
                f"a sample of n = {n[i]:,} cannot be drawn from the N = {people[i]:,} people of "
                f"{self.by}={strata.categories[i]}; lower n"
            )
        return n


stratified_sample = in_one_call(StratifiedSample)
