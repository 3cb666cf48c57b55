"""All tables with the same margins as one, the slow and obvious way, and draws compared with a law over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import stats

from discreet.core.numerics import FloatArray, IntArray


def same_margins(
    F: IntArray, margins: Sequence[Sequence[int]], impossible: Sequence[int] = ()
) -> list[tuple[int, ...]]:
    """Go through every way to fill the cells one by one, none above any of its margins."""
    codes = [tuple(code) for code in np.ndindex(F.shape)]
    left: dict[tuple[int, tuple[int, ...]], int] = {}
    for number, margin in enumerate(margins):
        for code, count in zip(codes, F.ravel().tolist(), strict=True):
            key = (number, tuple(code[i] for i in margin))
            left[key] = left.get(key, 0) + count
    found: list[tuple[int, ...]] = []
    row: list[int] = []

    def fill(cell: int) -> None:
        if cell == len(codes):
            if not any(left.values()):
                found.append(tuple(row))
            return
        keys = [(number, tuple(codes[cell][i] for i in margin)) for number, margin in enumerate(margins)]
        for value in range(1 if cell in impossible else min(left[key] for key in keys) + 1):
            for key in keys:
                left[key] -= value
            row.append(value)
            fill(cell + 1)
            row.pop()
            for key in keys:
                left[key] += value

    fill(0)
    return found


def slow_law(
    F: IntArray, margins: Sequence[Sequence[int]], law: str, impossible: Sequence[int] = ()
) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of every table: alike, or in proportion to 1/∏ n!."""
    tables = same_margins(F, margins, impossible)
    weights = [
        Fraction(1, math.prod(math.factorial(n) for n in table)) if law == "hypergeometric" else Fraction(1)
        for table in tables
    ]
    return {table: weight / sum(weights) for table, weight in zip(tables, weights, strict=True)}


def p_value(draws: IntArray, law: dict[tuple[int, ...], Fraction]) -> float:
    """Return the p-value of the chi-square test that draws follow a law; 0 if one of them cannot occur."""
    tables = np.array(list(law), np.int64)
    base = int(max(tables.max(), draws.max())) + 1
    scale = base ** np.arange(tables.shape[1], dtype=object)
    mark = np.array([int(s) % 2**63 for s in scale], np.uint64)
    code, seen = np.unique(draws.astype(np.uint64) @ mark, return_counts=True)
    order = np.argsort(tables.astype(np.uint64) @ mark)
    known = (tables.astype(np.uint64) @ mark)[order]
    slot = np.minimum(np.searchsorted(known, code), known.size - 1)
    if (known[slot] != code).any():
        return 0.0
    observed = np.zeros(known.size)
    observed[slot] = seen
    expected: FloatArray = np.array([float(chance) for chance in law.values()])[order] * draws.shape[0]
    # Tables that are expected fewer than five times are taken together.
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        if expected[-1] < 5 and expected.size > 1:
            observed = np.append(observed[:-2], observed[-2:].sum())
            expected = np.append(expected[:-2], expected[-2:].sum())
    if expected.size < 2:
        return 1.0
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)
