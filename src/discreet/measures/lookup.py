"""R2 of many population tables against one sample table, by look-up.

With the sample fixed, H(X) and H(X|Y) are sums over cells of functions of the population count alone, plus one
term in the unmatched mass R. Cells with the same sample count share their function, and counts are
integers, so a table of values replaces every logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import FloatArray, IntArray, xlogx, xlogy
from discreet.measures.entropy import Form

LIMIT = 4_000_000
"""The largest number of values that are tabulated: a round choice, 32 MB."""


@dataclass(frozen=True, eq=False)
class SampleLookup:
    """Values of F·log F and of the cell's part of −H(X|Y), for every sample count and population count.

    ``values[row, F]`` belongs to the sample count ``counts[row]``; with p = F/N, q = f/n, m = min(p, q) its parts
    are F·log F and m·log(m/q) + (p−m)·log(p−m) + (q−m)·log((q−m)/q); antal2014 (3.6) divided by N·M.
    """

    population: int
    sample: int
    counts: IntArray
    values: FloatArray

    @staticmethod
    def fits(population: int, distinct: int) -> bool:
        """Whether the values are few enough to be tabulated."""
        return (population + 1) * distinct <= LIMIT

    @classmethod
    def build(cls, population: int, sample: int, counts: IntArray) -> SampleLookup:
        """Tabulate for a population size N, a sample size n and the sample counts that occur."""
        distinct = np.unique(counts)
        F = np.arange(population + 1, dtype=np.float64)
        p, q = F / population, (distinct / sample)[:, None]
        m = np.minimum(p, q)
        safe = np.where(q > 0, q, 1.0)
        inner = xlogy(m, m / safe) + xlogx(p - m) + xlogy(q - m, (q - m) / safe)
        values = np.empty((distinct.size, F.size, 2))
        values[:, :, 0], values[:, :, 1] = xlogx(F), inner
        values.flags.writeable = False
        return cls(population, sample, distinct, values)

    def terms(self, f: IntArray, F: IntArray, K: int, form: Form = "2015") -> FloatArray:
        """Return R2's three unweighted terms for every row of population tables F against the sample f.

        Columns may include impossible cells, which are empty in every table; K does not count them.
        """
        from discreet.measures.kernels import r2_by_lookup

        row = np.searchsorted(self.counts, f)
        return r2_by_lookup(F, f, row, self.values, self.population, self.sample, K, form == "2014")
