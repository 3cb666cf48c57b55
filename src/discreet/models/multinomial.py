"""Drawing sample + Multinomial(N − n; p), many tables at a time."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.numerics import FloatArray, IntArray

# Measured nanoseconds: one table look-up, one ball, one entry of a table made, one binomial of NumPy.
_LOOK_UP, _BALL, _ENTRY, _BINOMIAL = 6.0, 3.5, 20.0, 90.0
_USUAL_DRAWS = 1000
_LIGHT = 1.0
_BYTES_PER_ENTRY = 12
_TABLE_BYTES = 64 * 2**20
_CHUNK = 2**22


def tables_mean(p: FloatArray, draws: int) -> float | None:
    """Return the mean of the Poisson total for table look-ups, or None where NumPy's sampler is faster.

    The total must not exceed `draws`. With a mean c standard deviations below, a share Φ(c) of the vectors is
    kept and (c + φ(c)/Φ(c))·√draws balls are missing on average; c minimises the time this takes. The choice
    depends on the problem alone, never on how many tables are asked for.
    """
    expected = draws * p
    heavy = expected > _LIGHT
    light = float(expected[~heavy].sum())
    means = np.append(expected[heavy], light)
    groups = means.size
    # A weight falls to 1e-17 about 13 + 9·√mean above and 9·√mean below the mean, but not below 0.
    reach = 9 * np.sqrt(means)
    entries = float((13 + reach + np.minimum(means, reach)).sum()) + 2 * p.size
    root = math.sqrt(draws)
    best, mean = math.inf, 0.0
    for quarter in range(17):
        c = quarter / 4
        kept = 0.5 * math.erfc(-c / math.sqrt(2))
        missing = root * (c + math.exp(-c * c / 2) / math.sqrt(2 * math.pi) / kept)
        time = groups * _LOOK_UP / kept + missing * _BALL
        if time < best and (c == 0 or draws - c * root > draws / 2):
            best, mean = time, draws - c * root
    time = best + light * _BALL + entries * _ENTRY / _USUAL_DRAWS
    small = entries * _BYTES_PER_ENTRY <= _TABLE_BYTES and p.size < 2**31
    return mean if small and time < p.size * _BINOMIAL else None


def draw_with_tables(
    base: IntArray, p: FloatArray, draws: int, mean: float, size: int, generator: np.random.Generator
) -> IntArray:
    """Draw through compiled table look-ups; exact for every mean between 0 and about `draws`."""
    from discreet.models import samplers

    cells = np.flatnonzero(p)
    light = mean * p[cells] <= _LIGHT
    heavy, rest = cells[~light], cells[light]
    means = mean * p[heavy]
    if rest.size:
        means = np.append(means, mean * p[rest].sum())
    out = np.empty((size, base.size), np.int64)
    light_ones, every = samplers.Weighted(rest, p[rest]), samplers.Weighted(cells, p[cells])
    with samplers.lent(generator) as words:
        samplers.multinomial(words, base, draws, means, heavy, light_ones, every, out)
    return out


def draw_with_numpy(base: IntArray, p: FloatArray, draws: int, size: int, generator: np.random.Generator) -> IntArray:
    """Draw through NumPy's binomials, whose time hardly depends on the number of people."""
    # Rounding leaves a crumb of probability to the last category, which must therefore be a possible one.
    chosen = np.flatnonzero(p)
    shares = p[chosen] / p[chosen].sum()
    out = np.tile(base, (size, 1))
    rows = max(1, _CHUNK // chosen.size)
    for start in range(0, size, rows):
        part = out[start : start + rows]
        part[:, chosen] += generator.multinomial(draws, shares, size=part.shape[0])
    return out


def draw(base: IntArray, p: FloatArray, draws: int, size: int, generator: np.random.Generator) -> IntArray:
    """Return `size` rows of base + Multinomial(draws; p).

    >>> rows = draw(np.array([1, 0, 2]), np.array([0.5, 0.0, 0.5]), 10, 3, np.random.default_rng(1))
    >>> rows.sum(axis=1).tolist(), rows[:, 1].tolist()
    ([13, 13, 13], [0, 0, 0])
    """
    mean = tables_mean(p[p > 0], draws)
    if mean is None:
        return draw_with_numpy(base, p, draws, size, generator)
    return draw_with_tables(base, p, draws, mean, size, generator)
