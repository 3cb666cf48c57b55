"""Compiled samplers of population tables; imported only when a population is drawn.

All kernels are in this one file because Numba's cache notices a change of a kernel's own file only. They
release the interpreter lock, keep no state, and read random numbers from the four words of an SFC64 generator, which
they advance exactly as ``Generator.random()`` would. They are plain loops over arrays prepared outside, because
array expressions take seconds to compile.

Small distributions are drawn from alias tables (Walker 1977): one uniform number, one comparison and no
search, whatever the distribution. A uniform number has 53 bits, so values whose weight is below 1e-17 of the
mode's are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray

Words = npt.NDArray[np.uint64]
Short = npt.NDArray[np.int32]

NEGLIGIBLE = 1e-17
"""Weights below this share of the largest are left out, a tenth of the last digit. That was measured to be less than
1e-18 of a Poisson law with mean 1,000,000, and 1e-13 of a logarithmic law with ratio 0.99999, the longest tail."""


@contextmanager
def lent(generator: np.random.Generator) -> Iterator[Words]:
    """Hand out the four words of an SFC64 generator and take them back advanced.

    A kernel that steps the words itself draws a uniform number in 2 ns; through ``Generator.random()`` it takes 7 ns.
    Generators of another kind seed an SFC64 stream of their own, and so move on as well.

    >>> generator = np.random.Generator(np.random.SFC64(1))
    >>> with lent(generator) as words:
    ...     words.size
    4
    """
    bits = generator.bit_generator
    if not isinstance(bits, np.random.SFC64):
        bits = np.random.SFC64(generator.integers(0, 2**32, size=8, dtype=np.uint32))
    state = bits.state
    words = np.array(state["state"]["state"], dtype=np.uint64)
    try:
        yield words
    finally:
        state["state"]["state"] = words
        bits.state = state


class Tables(NamedTuple):
    """Alias tables of many distributions in common arrays.

    Table i has ``lengths[i]`` slots from position ``starts[i]`` on, for the values from ``lows[i]`` on. Each
    holds its own value up to ``cut`` (counted from the table's start) and ``alias`` from there on.
    """

    starts: IntArray
    lows: IntArray
    lengths: IntArray
    cut: FloatArray
    alias: Short


@compiled
def uniform(words: Words) -> float:
    """Return the generator's next double in [0, 1)."""
    result = words[0] + words[1] + words[3]
    words[3] += np.uint64(1)
    words[0] = words[1] ^ (words[1] >> np.uint64(11))
    words[1] = words[2] + (words[2] << np.uint64(3))
    words[2] = ((words[2] << np.uint64(24)) | (words[2] >> np.uint64(40))) + result
    return float((result >> np.uint64(11)) * (1.0 / 9007199254740992.0))


@compiled
def fill_alias(weights: FloatArray, length: int, start: int, cut: FloatArray, alias: Short, stack: IntArray) -> None:
    """Write the alias table of the first `length` weights from position `start` on, using up the weights."""
    if length == 0:
        return
    total = 0.0
    for i in range(length):
        total += weights[i]
    scale = length / total
    small, large = 0, length
    for i in range(length):
        weights[i] *= scale
        if weights[i] < 1.0:
            stack[small] = i
            small += 1
        else:
            large -= 1
            stack[large] = i
    while small > 0 and large < length:
        small -= 1
        giver, taker = stack[large], stack[small]
        cut[start + taker] = taker + weights[taker]
        alias[start + taker] = giver
        weights[giver] -= 1.0 - weights[taker]
        if weights[giver] < 1.0:
            large += 1
            stack[small] = giver
            small += 1
    # What is left on either side is full up to rounding.
    for i in range(length):
        if i < small or i >= large:
            cut[start + stack[i]] = stack[i] + 1.0
            alias[start + stack[i]] = stack[i]


@compiled
def walk(shape: float, ratio: float, weights: FloatArray, write: bool) -> tuple[int, int]:
    """Walk outwards from the mode of a count distribution to where its weights are negligible.

    - shape > 0: negative binomial, mean shape·ratio/(1 − ratio), w(k+1)/w(k) = (k + shape)/(k + 1)·ratio;
    - shape = 0: Poisson, mean ratio, w(k+1)/w(k) = ratio/(k + 1);
    - shape < 0: logarithmic from 1 on, w(k+1)/w(k) = k/(k + 1)·ratio.

    Returns:
        the smallest value and the number of values; their weights are written if asked for.
    """
    mode, least, slope, constant = 0, 0, ratio, shape * ratio
    if shape > 1.0:
        mode = int((shape - 1.0) * ratio / (1.0 - ratio))
    elif shape == 0.0:
        mode, slope, constant = int(ratio), 0.0, ratio
    elif shape < 0.0:
        mode, least, constant = 1, 1, 0.0
    low, weight = mode, 1.0
    while low > least:
        weight *= low / (constant + slope * (low - 1))
        if weight < NEGLIGIBLE:
            break
        low -= 1
    k, weight = mode, 1.0
    if write:
        while k >= low:
            weights[k - low] = weight
            weight *= k / (constant + slope * (k - 1))
            k -= 1
        k, weight = mode, 1.0
        while weight >= NEGLIGIBLE:
            weights[k - low] = weight
            weight *= (constant + slope * k) / (k + 1)
            k += 1
    else:
        while weight >= NEGLIGIBLE:
            weight *= (constant + slope * k) / (k + 1)
            k += 1
    return low, k - low


@compiled
def tabulate(shapes: FloatArray, ratios: FloatArray) -> Tables:
    """Return alias tables of many count distributions, see :func:`walk`."""
    starts, lows = np.empty(shapes.size, np.int64), np.empty(shapes.size, np.int64)
    lengths = np.empty(shapes.size, np.int64)
    end, longest = 0, 0
    weights = np.empty(0)
    for i in range(shapes.size):
        starts[i] = end
        lows[i], lengths[i] = walk(shapes[i], ratios[i], weights, False)
        end += lengths[i]
        longest = max(longest, lengths[i])
    cut, alias = np.empty(end), np.empty(end, np.int32)
    weights, stack = np.empty(longest), np.empty(longest, np.int64)
    for i in range(shapes.size):
        walk(shapes[i], ratios[i], weights, True)
        fill_alias(weights, lengths[i], starts[i], cut, alias, stack)
    return Tables(starts, lows, lengths, cut, alias)


@compiled
def pick(words: Words, tables: Tables, i: int) -> int:
    """Draw from the i-th table."""
    u = uniform(words) * tables.lengths[i]
    slot = int(u)
    at = tables.starts[i] + slot
    return int(tables.lows[i] + (slot if u < tables.cut[at] else tables.alias[at]))


class Weighted(NamedTuple):
    """Cells, and the weights by which one of them is drawn; a sampler uses the weights up."""

    cells: IntArray
    weights: FloatArray


class MultinomialCells(NamedTuple):
    """A multinomial's cells: ``heavy`` ones with a mean of their own, the ``rest`` with one together, and all."""

    means: FloatArray
    heavy: IntArray
    rest: Weighted
    every: Weighted


@compiled
def multinomial(words: Words, base: IntArray, draws: int, split: MultinomialCells, out: IntArray) -> None:
    """Fill every row of `out` with base + Multinomial(draws; p).

    The cells in `heavy` get independent Poisson counts with the given means, proportional to p, and the cells in `rest`
    together one. Given its sum t, such a vector is Multinomial(t; p). A vector whose sum exceeds `draws` is thrown
    away; what is missing from any other is drawn one by one from all cells by their weights, and so is the split of the
    rest. Rows are exact for every scale of the means; it decides only how much is thrown away and how much is missing.
    """
    means, heavy, rest, every = split.means, split.heavy, split.rest, split.every
    tables = tabulate(np.zeros(means.size), means)
    cut, alias = np.empty(every.cells.size), np.empty(every.cells.size, np.int32)
    fill_alias(every.weights, cut.size, 0, cut, alias, np.empty(cut.size, np.int64))
    rest_cut, rest_alias = np.empty(rest.cells.size), np.empty(rest.cells.size, np.int32)
    fill_alias(rest.weights, rest_cut.size, 0, rest_cut, rest_alias, np.empty(rest_cut.size, np.int64))
    added = np.empty(means.size, np.int64)
    for row in range(out.shape[0]):
        total = draws + 1
        while total > draws:
            total = 0
            for i in range(means.size):
                added[i] = pick(words, tables, i)
                total += added[i]
        for i in range(base.size):
            out[row, i] = base[i]
        for i in range(heavy.size):
            out[row, heavy[i]] += added[i]
        if rest.cells.size > 0:
            scatter(words, rest.cells, rest_cut, rest_alias, added[heavy.size], out, row)
        scatter(words, every.cells, cut, alias, draws - total, out, row)


@compiled
def scatter(words: Words, cells: IntArray, cut: FloatArray, alias: Short, balls: int, out: IntArray, row: int) -> None:
    """Drop balls one by one on cells, by their alias table."""
    for _ in range(balls):
        u = uniform(words) * cells.size
        slot = int(u)
        out[row, cells[slot if u < cut[slot] else alias[slot]]] += 1


@compiled
def lay(owner: Short, start: int, balls: int, colour: int) -> int:
    """Give a run of balls their colour and return where the next run starts."""
    # Indices without a sign need no test for negative ones, which would keep the loop from being vectorised.
    at, value = np.uint64(start), np.int32(colour)
    for j in range(np.uint64(balls)):
        owner[at + j] = value
    return start + balls


class Start(NamedTuple):
    """An urn before the draws: n balls of the sample, the colours that they have, and θ black ones.

    ``kind`` is the table from which the balls of each colour are drawn: colours of equal counts share one. ``shapes``
    and ``ratios`` describe the tables, and ``slack`` is the room for a leap that lands beyond the mark.
    """

    base: IntArray
    colours: IntArray
    kind: IntArray
    n: int
    theta: float
    shapes: FloatArray
    ratios: FloatArray
    slack: int


@compiled
def urn(words: Words, start: Start, cells: IntArray, draws: int, out: IntArray) -> None:
    """Fill every row of `out` with the contents of a Pólya urn after `draws` draws, black balls left out.

    Without shapes the balls are drawn one by one. With shapes the urn first leaps to about the right number
    of draws and is then corrected by single balls: see :func:`leap` and :func:`settle`. Rows are exact for
    every ratio; it decides only how many corrections there are.

    New colours go to `cells`, chosen uniformly without replacement. If there are more new colours than cells,
    see :func:`cap`.
    """
    base, colours, n, size, slack = start.base, start.colours, start.n, start.base.size, start.slack
    tables = tabulate(start.shapes, start.ratios)
    # owner[j] is the colour of ball j: a cell, or a number from `size` on for a new colour. The first n balls
    # are the sample's and stay from row to row.
    owner = np.empty(n + draws + slack, np.int32)
    balls = 0
    for i in range(size):
        balls = lay(owner, balls, base[i], i)
    count = np.empty(size + draws + slack + 1, np.int64)
    for row in range(out.shape[0]):
        for i in range(size):
            count[i] = base[i]
        balls, last = n, size
        if start.shapes.size > 0:
            balls = -1
            while balls < 0:
                balls, last = leap(words, start, n + draws + slack, tables, count)
            balls = n
            for i in range(colours.size):
                balls = lay(owner, balls, count[colours[i]] - base[colours[i]], colours[i])
            for i in range(size, last):
                balls = lay(owner, balls, count[i], i)
        last = settle(words, owner, count, n, balls, n + draws, last, start.theta)
        fresh = 0
        for i in range(size, last):
            if count[i] > 0:
                count[size + fresh] = count[i]
                fresh += 1
        if fresh > cells.size:
            cap(words, owner, count, base, n, fresh, cells)
        else:
            for i in range(fresh):
                j = i + int(uniform(words) * (cells.size - i))
                cells[i], cells[j] = cells[j], cells[i]
                count[cells[i]] = count[size + i]
        for i in range(size):
            out[row, i] = count[i]


@compiled
def leap(words: Words, start: Start, most: int, tables: Tables, count: IntArray) -> tuple[int, int]:
    """Draw the urn's contents after a random number of draws.

    Colour i gets a negative binomial number of balls with shape baseᵢ, and Poisson(−θ·log(1 − ratio)) new
    colours get logarithmic numbers of balls. Given the sum t this is the urn after t draws: the numbers of
    balls added to the colours and to all new ones together are Dirichlet-multinomial, and the new colours
    are an Ewens(θ) partition, as the numbers of new colours with j balls are independent Poisson(θ·ratioʲ/j).

    The tables are those of the colours' kinds, of the number of new colours, and of a new colour's balls.

    Returns:
        the number of balls, or −1 when it exceeds `most`, and the number after the last new colour.
    """
    balls, last = 0, start.base.size
    for i in range(start.colours.size):
        colour = start.colours[i]
        count[colour] = start.base[colour] + pick(words, tables, start.kind[i])
        balls += count[colour]
    if start.theta > 0.0:
        table = tables.lengths.size - 2
        for _ in range(pick(words, tables, table)):
            count[last] = pick(words, tables, table + 1)
            balls += count[last]
            if balls > most:
                break
            last += 1
    return (balls if balls <= most else -1), last


@compiled
def settle(
    words: Words, owner: Short, count: IntArray, n: int, balls: int, wanted: int, last: int, theta: float
) -> int:
    """Take out or add single balls until their number is the one wanted.

    Taking out added balls at random is exact because their colours are exchangeable; adding is the urn's way.

    Returns:
        the number after the last new colour.
    """
    while balls > wanted:
        j = n + int(uniform(words) * (balls - n))
        balls -= 1
        count[owner[j]] -= 1
        owner[j] = owner[balls]
    while balls < wanted:
        u = uniform(words) * (balls + theta)
        if u < balls:
            colour = owner[int(u)]
        else:
            colour = np.int32(last)
            count[colour] = 0
            last += 1
        owner[balls] = colour
        count[colour] += 1
        balls += 1
    return last


@compiled
def cap(words: Words, owner: Short, count: IntArray, base: IntArray, n: int, fresh: int, cells: IntArray) -> None:
    """Keep as many new colours as there are cells for them, and give the balls of the others to colours kept.

    The oldest new colours are kept. Given their sizes, colours appear in the order in which the new balls,
    well shuffled, show them. The balls of the others are drawn again from the urn, now without black balls.
    """
    size = base.size
    balls = n
    for i in range(size, size + fresh):
        balls = lay(owner, balls, count[i], i)
    shown, again = 0, balls - n
    for i in range(n, balls):
        if shown == cells.size:
            break
        j = i + int(uniform(words) * (balls - i))
        colour = owner[j]
        owner[j] = owner[i]
        if count[colour] > 0:
            j = shown + int(uniform(words) * (cells.size - shown))
            cells[shown], cells[j] = cells[j], cells[shown]
            count[cells[shown]] = count[colour]
            again -= count[colour]
            count[colour] = 0
            shown += 1
    balls = n
    for i in range(size):
        balls = lay(owner, balls, count[i] - base[i], i)
    settle(words, owner, count, n, balls, balls + again, size, 0.0)
