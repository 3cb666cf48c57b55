"""Drawing the contents of a Pólya urn with new colours, many urns at a time."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.numerics import FloatArray, IntArray

# Measured nanoseconds: one table look-up, one ball drawn, one ball laid, one entry of a table made, and for
# NumPy one colour (a gamma and a binomial number) and one new colour.
_LOOK_UP, _BALL, _LAID, _ENTRY, _COLOUR, _NEW_COLOUR = 6.0, 3.5, 0.12, 20.0, 130.0, 250.0
_USUAL_DRAWS = 1000
_BYTES_PER_ENTRY = 12
_TABLE_BYTES = 64 * 2**20
_MOST_BALLS = 2**23
_CHUNK = 2**21


def leap_ratio(counts: IntArray, theta: float, draws: int) -> float | None:
    """Return the ratio for the kernel's leap, 0 for drawing single balls, or None where NumPy is faster.

    The ratio makes the leap's expected length `draws`. The choice depends on the problem alone, never on how
    many urns are asked for.
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


def draw_with_kernel(
    base: IntArray,
    empty: IntArray,
    theta: float,
    draws: int,
    ratio: float,
    size: int,
    generator: np.random.Generator,
) -> IntArray:
    """Draw through compiled table look-ups and single balls; exact for every ratio from 0 to below 1."""
    from discreet.models import samplers

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
    start = samplers.Start(base, colours, kind, n, theta)
    with samplers.lent(generator) as words:
        samplers.urn(words, start, empty.copy(), draws, slack, shapes, ratios, out)
    return out


def draw_with_numpy(
    base: IntArray, empty: IntArray, theta: float, draws: int, size: int, generator: np.random.Generator
) -> IntArray:
    """Draw through NumPy's gamma and binomial numbers, whose time hardly depends on the number of people."""
    out = np.tile(base, (size, 1))
    rows = max(1, _CHUNK // base.size)
    for start in range(0, size, rows):
        _fill(out[start : start + rows], np.flatnonzero(base), empty, theta, draws, generator)
    return out


def _fill(
    out: IntArray,
    colours: IntArray,
    empty: IntArray,
    theta: float,
    draws: int,
    generator: np.random.Generator,
) -> None:
    """Add the draws to rows that hold the sample."""
    # Rounding leaves a crumb of probability to the last category, which must therefore be a sampled colour.
    shapes = np.concatenate([[theta], out[0, colours]])
    weights = generator.standard_gamma(shapes, size=(out.shape[0], shapes.size))
    added = _multinomial(generator, np.full(out.shape[0], draws), weights)
    new = added[:, 0]
    out[:, colours] += added[:, 1:]
    again = _split(out, new, empty, theta, generator) if theta > 0 else new
    rows = np.flatnonzero(again)
    if rows.size:
        cells = np.concatenate([empty, colours])
        contents = out[np.ix_(rows, cells)]
        contents += _multinomial(generator, again[rows], generator.standard_gamma(contents))
        out[np.ix_(rows, cells)] = contents


def _split(out: IntArray, new: IntArray, empty: IntArray, theta: float, generator: np.random.Generator) -> IntArray:
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
        j = generator.integers(i, empty.size, size=rows.size)
        cells = order[rows, j]
        order[rows, j] = order[rows, i]
        share = -np.expm1(np.log1p(-generator.random(rows.size)) / theta)
        balls = 1 + generator.binomial(left[rows] - 1, share)
        out[rows, cells] = balls
        left[rows] -= balls
    return left


def _multinomial(generator: np.random.Generator, draws: IntArray, weights: FloatArray) -> IntArray:
    """Draw one multinomial vector per row of weights."""
    return generator.multinomial(draws, weights / weights.sum(axis=1, keepdims=True))


def draw(
    base: IntArray, empty: IntArray, theta: float, draws: int, size: int, generator: np.random.Generator
) -> IntArray:
    """Return `size` rows of urn contents after `draws` draws; new colours fill the `empty` cells, which hold no ball.

    >>> rows = draw(np.array([3, 0, 0, 5]), np.array([1]), 1.0, 12, 2, np.random.default_rng(1))
    >>> rows.sum(axis=1).tolist(), rows[:, 2].tolist()
    ([20, 20], [0, 0])
    """
    if not empty.size:
        # Without a cell for it, a new colour is replaced by one in the urn: as if there were no black balls.
        theta = 0.0
    ratio = leap_ratio(base[base > 0], theta, draws)
    if ratio is None:
        return draw_with_numpy(base, empty, theta, draws, size, generator)
    return draw_with_kernel(base, empty, theta, draws, ratio, size, generator)
