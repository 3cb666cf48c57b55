"""Drawing population tables, many at a time: sample + Multinomial(N − n; p), and a Pólya urn with new colours.

Each law is drawn through compiled look-up tables or through NumPy, whichever is expected to take less time. The choice
depends on the problem alone, never on how many tables are asked for: the same seed gives the same tables.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.numerics import FloatArray, IntArray

Rng = np.random.Generator

# Measured nanoseconds: one table look-up, one ball drawn, one ball laid, one entry of a table made; and for NumPy one
# binomial, one colour (a gamma and a binomial number) and one new colour.
_LOOK_UP, _BALL, _LAID, _ENTRY = 6.0, 3.5, 0.12, 20.0
_BINOMIAL, _COLOUR, _NEW_COLOUR = 90.0, 130.0, 250.0
_USUAL_DRAWS = 1000
"""The number of tables over which the cost of making look-up tables is spread: as many as an estimate draws."""
_LIGHT = 1.0
"""Cells that expect fewer people share one look-up: with less than one ball each, single balls are cheaper."""
_BYTES_PER_ENTRY, _TABLE_BYTES = 12, 64 * 2**20
"""Look-up tables larger than this, a round choice, would leave every cache."""
_MOST_BALLS, _CHUNK = 2**23, 2**22
"""Balls that an urn may hold, 32 MB, and figures that NumPy draws at a time; round choices."""


def tables_mean(p: FloatArray, draws: int) -> float | None:
    """Return the mean of the Poisson total for table look-ups, or None where NumPy's sampler is faster.

    The total must not exceed `draws`. With a mean c standard deviations below, a share Φ(c) of the vectors is
    kept and (c + φ(c)/Φ(c))·√draws balls are missing on average; c minimises the time this takes.
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


def multinomial_by_tables(base: IntArray, p: FloatArray, draws: int, mean: float, size: int, rng: Rng) -> IntArray:
    """Draw through compiled table look-ups; exact for every mean between 0 and about `draws`."""
    from discreet.models import row_draws, samplers  # noqa: F401  the first stands in for kernels of the second

    cells = np.flatnonzero(p)
    light = mean * p[cells] <= _LIGHT
    heavy, rest = cells[~light], cells[light]
    means = mean * p[heavy]
    if rest.size:
        means = np.append(means, mean * p[rest].sum())
    out = np.empty((size, base.size), np.int64)
    split = samplers.MultinomialCells(
        means, heavy, samplers.Weighted(rest, p[rest]), samplers.Weighted(cells, p[cells])
    )
    with samplers.lent(rng) as words:
        samplers.multinomial(words, base, draws, split, out)
    return out


def multinomial_by_numpy(base: IntArray, p: FloatArray, draws: int, size: int, rng: Rng) -> IntArray:
    """Draw through NumPy's binomials, whose time hardly depends on the number of people."""
    # Rounding leaves a crumb of probability to the last category, which must therefore be a possible one.
    chosen = np.flatnonzero(p)
    shares = p[chosen] / p[chosen].sum()
    out = np.tile(base, (size, 1))
    rows = max(1, _CHUNK // chosen.size)
    for start in range(0, size, rows):
        part = out[start : start + rows]
        part[:, chosen] += rng.multinomial(draws, shares, size=part.shape[0])
    return out


def draw_multinomial(base: IntArray, p: FloatArray, draws: int, size: int, rng: Rng) -> IntArray:
    """Return `size` rows of base + Multinomial(draws; p).

    >>> rows = draw_multinomial(np.array([1, 0, 2]), np.array([0.5, 0.0, 0.5]), 10, 3, np.random.default_rng(1))
    >>> rows.sum(axis=1).tolist(), rows[:, 1].tolist()
    ([13, 13, 13], [0, 0, 0])
    """
    mean = tables_mean(p[p > 0], draws)
    if mean is None:
        return multinomial_by_numpy(base, p, draws, size, rng)
    return multinomial_by_tables(base, p, draws, mean, size, rng)


def leap_ratio(counts: IntArray, theta: float, draws: int) -> float | None:
    """Return the ratio for the kernel's leap, 0 for drawing single balls, or None where NumPy is faster.

    The ratio makes the leap's expected length `draws`.
    """
    sample = float(counts.sum())
    odds = draws / (sample + theta)
    deviation = math.sqrt(draws * (1 + odds))
    new = theta * math.log1p(odds)
    if sample + draws + 8 * deviation > _MOST_BALLS:
        return None
    ratio = odds / (1 + odds)
    kinds = np.unique(counts)
    # Tails fall by `ratio` a step, and 39 = −log(1e-17); about the mode they fall like a normal law's.
    tail = 39 / math.log1p(1 / odds)
    spread = float(np.sqrt(kinds * ratio).sum()) * (1 + odds)
    entries = (kinds.size + 1) * tail + 9 * spread + 26 + 18 * math.sqrt(new)
    look_ups = (counts.size + 2 * new) * _LOOK_UP + entries * _ENTRY / _USUAL_DRAWS
    leap = look_ups + draws * _LAID + 0.8 * deviation * _BALL
    if entries * _BYTES_PER_ENTRY > _TABLE_BYTES:
        leap = math.inf
    balls = draws * _BALL
    numpy = counts.size * _COLOUR + new * _NEW_COLOUR
    if min(leap, balls) > numpy:
        return None
    return ratio if leap < balls else 0.0


def urn_by_kernel(
    base: IntArray, empty: IntArray, theta: float, draws: int, ratio: float, size: int, rng: Rng
) -> IntArray:
    """Draw through compiled table look-ups and single balls; exact for every ratio from 0 to below 1."""
    from discreet.models import row_draws, samplers  # noqa: F401  the first stands in for kernels of the second

    n = int(base.sum())
    colours = np.flatnonzero(base)
    kinds, kind = np.unique(base[colours], return_inverse=True)
    shapes, ratios, slack = np.empty(0), np.empty(0), 0
    if ratio > 0:
        shapes = np.concatenate([kinds, [0.0, -1.0]])
        ratios = np.full(shapes.size, ratio)
        ratios[-2] = -theta * math.log1p(-ratio)
        # A leap that lands far beyond the mark is repeated; the room for it is only a matter of memory.
        slack = 64 + int(8 * math.sqrt(draws * (n + theta + draws) / (n + theta)))
    out = np.empty((size, base.size), np.int64)
    start = samplers.Start(base, colours, kind, n, theta, shapes, ratios, slack)
    with samplers.lent(rng) as words:
        samplers.urn(words, start, empty.copy(), draws, out)
    return out


def urn_by_numpy(base: IntArray, empty: IntArray, theta: float, draws: int, size: int, rng: Rng) -> IntArray:
    """Draw through NumPy's gamma and binomial numbers, whose time hardly depends on the number of people."""
    out = np.tile(base, (size, 1))
    rows = max(1, _CHUNK // 2 // base.size)
    for start in range(0, size, rows):
        _fill(out[start : start + rows], np.flatnonzero(base), empty, theta, draws, rng)
    return out


def _fill(out: IntArray, colours: IntArray, empty: IntArray, theta: float, draws: int, rng: Rng) -> None:
    """Add the draws to rows that hold the sample."""
    # Rounding leaves a crumb of probability to the last category, which must therefore be a sampled colour.
    shapes = np.concatenate([[theta], out[0, colours]])
    weights = rng.standard_gamma(shapes, size=(out.shape[0], shapes.size))
    added = _multinomials(rng, np.full(out.shape[0], draws), weights)
    new = added[:, 0]
    out[:, colours] += added[:, 1:]
    again = _split(out, new, empty, theta, rng) if theta > 0 else new
    rows = np.flatnonzero(again)
    if rows.size:
        cells = np.concatenate([empty, colours])
        contents = out[np.ix_(rows, cells)]
        contents += _multinomials(rng, again[rows], rng.standard_gamma(contents))
        out[np.ix_(rows, cells)] = contents


def _split(out: IntArray, new: IntArray, empty: IntArray, theta: float, rng: Rng) -> IntArray:
    """Give each row's new balls to new colours in empty cells.

    Of m new balls the oldest colour has 1 + Binomial(m − 1, Beta(1, θ)); the rest are split in the same way.

    Returns:
        the balls of colours for which there is no empty cell left.
    """
    left = new.copy()
    order = np.tile(empty, (out.shape[0], 1))
    for i in range(empty.size):
        rows = np.flatnonzero(left)
        if not rows.size:
            break
        j = rng.integers(i, empty.size, size=rows.size)
        cells = order[rows, j]
        order[rows, j] = order[rows, i]
        share = -np.expm1(np.log1p(-rng.random(rows.size)) / theta)
        balls = 1 + rng.binomial(left[rows] - 1, share)
        out[rows, cells] = balls
        left[rows] -= balls
    return left


def _multinomials(rng: Rng, draws: IntArray, weights: FloatArray) -> IntArray:
    """Draw one multinomial vector per row of weights."""
    return rng.multinomial(draws, weights / weights.sum(axis=1, keepdims=True))


def draw_urn(base: IntArray, empty: IntArray, theta: float, draws: int, size: int, rng: Rng) -> IntArray:
    """Return `size` rows of urn contents after `draws` draws; new colours fill the `empty` cells, which hold no ball.

    >>> rows = draw_urn(np.array([3, 0, 0, 5]), np.array([1]), 1.0, 12, 2, np.random.default_rng(1))
    >>> rows.sum(axis=1).tolist(), rows[:, 2].tolist()
    ([20, 20], [0, 0])
    """
    if not empty.size:
        # Without a cell for it, a new colour is replaced by one in the urn: as if there were no black balls.
        theta = 0.0
    ratio = leap_ratio(base[base > 0], theta, draws)
    if ratio is None:
        return urn_by_numpy(base, empty, theta, draws, size, rng)
    return urn_by_kernel(base, empty, theta, draws, ratio, size, rng)
