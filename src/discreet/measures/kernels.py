"""Compiled loops of the risk measures; imported only where many tables are judged."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.compiled import compiled, spend
from discreet.core.numerics import FloatArray, IntArray


@compiled
def r2_by_lookup(
    F: IntArray, f: IntArray, row: IntArray, values: FloatArray, N: int, n: int, K: int, rising: bool
) -> FloatArray:
    """Return R2's unweighted terms for each table (row of F), from tabulated parts of both entropies.

    Compiled twin of ``entropy.r2_terms`` for a sample f that every table contains. The unmatched mass
    R = Σ max(0, n·F − N·f)/(n·N) is added up in integers: for proportional tables it is exactly 0. `rising` asks for
    the form of 2014.
    """
    terms = np.empty((F.shape[0], 3))
    scale = 1.0 / (float(n) * float(N))
    terms[:, 2] = (1.0 + 0.5 * math.log(N)) / math.sqrt(N)
    impossible = F.shape[1] - K
    sample_zeros = -impossible
    for i in range(F.shape[1]):
        sample_zeros += f[i] == 0
    for k in range(F.shape[0]):
        logs, parts = 0.0, 0.0
        apart, zeros = 0, -impossible
        for i in range(F.shape[1]):
            count = F[k, i]
            logs += values[row[i], count, 0]
            parts += values[row[i], count, 1]
            apart += max(n * count - N * f[i], 0)
            zeros += count == 0
        share = entropy_term(logs, parts, apart * scale, N, K, rising)
        terms[k, 0], terms[k, 1] = (zeros / K) ** (sample_zeros / zeros) if zeros > 0 else 0.0, share
    return terms


@compiled
def entropy_term(logs: float, parts: float, R: float, N: int, K: int, rising: bool) -> float:
    """Return the second term of R2 from a table's sums."""
    H = max(math.log(N) - logs / N, 0.0)
    left = max((R * math.log(R) if R > 0.0 else 0.0) - parts, 0.0)
    share = min(left / H, 1.0) if H > 0.0 else 0.0
    spread = min(max(1.0 - H / math.log(K), 0.0), 1.0)
    return spread * (share if rising else 1.0 - share)


@r2_by_lookup.in_arrays
def _r2_by_lookup(
    F: IntArray, f: IntArray, row: IntArray, values: FloatArray, N: int, n: int, K: int, rising: bool
) -> FloatArray:
    """The same, for small amounts of work; cumulative sums add in the order of the loop."""
    spend(F.size // 20 + 5 * F.shape[0])
    scale, impossible = 1.0 / (float(n) * float(N)), F.shape[1] - K
    sample_zeros = int(np.count_nonzero(f == 0)) - impossible
    sums = np.cumsum(values[row, F], axis=1)[:, -1].tolist()
    aparts = np.maximum(n * F - N * f, 0).sum(axis=1).tolist()
    empty = (np.count_nonzero(F == 0, axis=1) - impossible).tolist()
    terms = np.empty((F.shape[0], 3))
    terms[:, 2] = (1.0 + 0.5 * math.log(N)) / math.sqrt(N)
    terms[:, 0] = [(zeros / K) ** (sample_zeros / zeros) if zeros > 0 else 0.0 for zeros in empty]
    terms[:, 1] = [
        entropy_term.function(logs, parts, apart * scale, N, K, rising)
        for (logs, parts), apart in zip(sums, aparts, strict=True)
    ]
    return terms
