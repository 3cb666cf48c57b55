"""Compiled moves between tables with the same margins: single ones, and a Markov chain of them.

A move takes two values for each group of dimensions, and shifts the corners of the box that they span: those that take
an odd number of second values by as much as the others, the other way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled, spend
from discreet.core.numerics import BoolArray, FloatArray, IntArray

FAR = 2**60
"""A line without an upper end."""
LONG = 500
"""Lines that are longer than this to a side of their likeliest table are not listed, but walked in Metropolis steps. A
round choice: listing costs as many ratios, and lines of small counts are far shorter."""
AT_A_TIME = 1024
"""The most pairs of people that are drawn at a time where moves are not compiled: a round choice."""
CORNERS = 256
"""Moves have at most this many corners: there are at most 8 dimensions."""


class Weighing(NamedTuple):
    """What a table weighs: 1/∏ n! or 1, times a price for every unit below zero or in a structural zero."""

    possible: BoolArray
    factorial: bool
    price: float


class Families(NamedTuple):
    """Families of moves: where the entries of each begin and how many groups it has, and the offsets of each entry.

    The first entry of a family is its fixed dimensions, the others are its groups.
    """

    rows: IntArray
    sizes: IntArray
    begin: IntArray
    offsets: IntArray


class Pairs(NamedTuple):
    """The cells of the people, which cells are possible, and the moves between the values of two people.

    ``part`` holds what each group of dimensions of a family adds to the position of a cell, and ``groups`` how many
    groups each family has.
    """

    people: IntArray
    possible: BoolArray
    part: IntArray
    groups: IntArray


@compiled
def odd(corner: int) -> bool:
    """Say whether a corner takes an odd number of second values."""
    bits = 0
    for bit in range(8):
        bits ^= corner >> bit & 1
    return bits > 0


@compiled
def move(x: IntArray, where: IntArray, shift: int) -> None:
    """Shift the corners of a move."""
    for c in range(where.size):
        x[where[c]] += -shift if odd(c) else shift


@compiled
def spread(where: IntArray, corners: int, first: int, second: int) -> int:
    """Double the corners, by a first and a second value of one more group; return how many there are."""
    for c in range(corners):
        where[corners + c] = where[c] + second
        where[c] += first
    return 2 * corners


@compiled
def exchange(x: IntArray, pairs: Pairs, moves: int, tries: int, rng: np.random.Generator) -> int:
    """Make moves of one between the values of two people at a time, none below zero; return how many were made."""
    people, possible, part, groups = pairs
    where = np.zeros(CORNERS, np.int64)
    made = 0
    for _ in range(tries):
        if made == moves:
            break
        f = rng.integers(0, part.shape[0])
        one, other = people[rng.integers(0, people.size)], people[rng.integers(0, people.size)]
        corners, fits = 1, True
        where[0] = 0
        for g in range(groups[f]):
            a, b = part[f, g, one], part[f, g, other]
            if a == b:
                fits = False
                break
            corners = spread(where, corners, a, b)
        if not fits:
            continue
        for c in range(corners):
            if not (possible[where[c]] if odd(c) else x[where[c]] > 0):
                fits = False
        if fits:
            move(x, where[:corners], -1)
            made += 1
    return made


@exchange.in_arrays
def exchange_many(x: IntArray, pairs: Pairs, moves: int, tries: int, rng: np.random.Generator) -> int:
    """Make the same moves, with many pairs of people drawn at a time."""
    people, possible, part, groups = pairs
    counts, allowed, used = x.tolist(), possible.tolist(), range(part.shape[1])
    first, second = _even_and_odd(part.shape[1])
    bounds, made = np.array([part.shape[0], people.size, people.size]), 0
    while tries and made < moves:
        before = rng.bit_generator.state
        drawn = rng.integers(0, bounds, size=(min(tries, AT_A_TIME, 16 + 8 * (moves - made)), 3))
        f, one, other = drawn[:, 0], people[drawn[:, 1]], people[drawn[:, 2]]
        ends = [(part[f, g, one], part[f, g, other]) for g in used]
        fits = np.all([(a != b) | (groups[f] <= g) for g, (a, b) in zip(used, ends, strict=True)], axis=0)
        spend(2 * int(fits.sum()))
        where = np.zeros((1, drawn.shape[0]), np.int64)
        for a, b in ends:
            where = np.concatenate([where + a, where + b])
        tries -= drawn.shape[0]
        for k, size in zip(np.flatnonzero(fits).tolist(), groups[f[fits]].tolist(), strict=True):
            corners = where[: 2**size, k].tolist()
            leave, enter = [corners[c] for c in first[size]], [corners[c] for c in second[size]]
            if all(counts[i] > 0 for i in leave) and all(allowed[i] for i in enter):
                for i, j in zip(leave, enter, strict=True):
                    counts[i] -= 1
                    counts[j] += 1
                made += 1
                if made == moves:
                    # Leave the stream where single draws would.
                    rng.bit_generator.state = before
                    rng.integers(0, bounds, size=(k + 1, 3))
                    break
    x[:] = counts
    return made


def _even_and_odd(most: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return, for moves of so many groups, the corners that take an even number of second values, and the others."""
    parity = [c.bit_count() % 2 for c in range(2**most)]
    even, odds = ([[c for c in range(2**g) if parity[c] == p] for g in range(most + 1)] for p in (0, 1))
    return even, odds


@compiled
def pick(families: Families, where: IntArray, rng: np.random.Generator) -> int:
    """Pick a move uniformly, whatever the table; return how many corners it has."""
    f = rng.integers(0, families.rows.shape[0])
    start, groups = families.rows[f, 0], families.rows[f, 1]
    where[0] = families.offsets[families.begin[start] + rng.integers(0, families.sizes[start])]
    corners = 1
    for g in range(start + 1, start + 1 + groups):
        a = rng.integers(0, families.sizes[g])
        b = rng.integers(0, families.sizes[g] - 1)
        b += b >= a
        offsets = families.offsets[families.begin[g] :]
        corners = spread(where, corners, offsets[a], offsets[b])
    return corners


@compiled
def room(x: IntArray, where: IntArray) -> tuple[int, int]:
    """Return how far a move can be made down and up before a count is below zero."""
    down, up = FAR, FAR
    for c in range(where.size):
        if odd(c):
            up = min(up, int(x[where[c]]))
        else:
            down = min(down, int(x[where[c]]))
    return down, up


@compiled
def debt(x: IntArray, where: IntArray, possible: BoolArray) -> int:
    """Return the units of some cells that are below zero, or in structural zeros."""
    units = 0
    for c in range(where.size):
        i = where[c]
        units += max(-x[i], 0) if possible[i] else abs(x[i])
    return units


@compiled
def cell_ratio(x: int, possible: bool, law: Weighing) -> float:
    """Return the weight of x + 1 over that of x, at one cell."""
    if not possible:
        return 1.0 / law.price if x < 0 else law.price
    if x < 0:
        return 1.0 / law.price
    return 1.0 / (x + 1.0) if law.factorial else 1.0


@compiled
def line_ratio(x: IntArray, where: IntArray, shift: int, law: Weighing) -> float:
    """Return the weight of the table shifted by one more over that of the one shifted by `shift`."""
    ratio = 1.0
    for c in range(where.size):
        i = where[c]
        if odd(c):
            ratio /= cell_ratio(x[i] - shift - 1, law.possible[i], law)
        else:
            ratio *= cell_ratio(x[i] + shift, law.possible[i], law)
    return ratio


@compiled
def metropolis(x: IntArray, where: IntArray, law: Weighing, down: int, up: int, rng: np.random.Generator) -> int:
    """Return a shift of up to 100 to either side, accepted or 0."""
    shift = int(rng.integers(1, 101)) * (1 if rng.random() < 0.5 else -1)
    if shift > up or shift < -down:
        return 0
    ratio = 1.0
    if shift > 0:
        for k in range(shift):
            ratio *= line_ratio(x, where, k, law)
    else:
        for k in range(-shift):
            ratio /= line_ratio(x, where, -k - 1, law)
    return shift if rng.random() < ratio else 0


@compiled
def drawn_shift(
    x: IntArray, where: IntArray, law: Weighing, down: int, up: int, weights: FloatArray, rng: np.random.Generator
) -> int:
    """Draw a table on the line of a move by its weight; return its shift."""
    # Climb to the likeliest table on the line, the lowest of several: weights fall off to both sides (log-concave),
    # and the line is listed the same way from wherever the chain is on it.
    mode = 0
    while mode < up and line_ratio(x, where, mode, law) > 1.0:
        mode += 1
    while mode > -down and line_ratio(x, where, mode - 1, law) <= 1.0:
        mode -= 1
    total, above, w = 1.0, 0, 1.0
    weights[0] = 1.0
    while mode + above < up and w > 1e-17 and above < LONG:
        w *= line_ratio(x, where, mode + above, law)
        above += 1
        weights[above] = w
        total += w
    low, w = 0, 1.0
    while mode - low > -down and w > 1e-17 and low < LONG:
        w /= line_ratio(x, where, mode - low - 1, law)
        low += 1
        weights[LONG + low] = w
        total += w
    if above == LONG or low == LONG:
        # A line is long wherever the chain is on it: a step of its own, accepted or not.
        return metropolis(x, where, law, down, up, rng)
    u = rng.random() * total
    for k in range(above + 1):
        u -= weights[k]
        if u <= 0.0:
            return mode + k
    for k in range(1, low + 1):
        u -= weights[LONG + k]
        if u <= 0.0:
            return mode - k
    return mode


@compiled
def walk(x: IntArray, law: Weighing, families: Families, steps: int, rng: np.random.Generator) -> int:
    """Take a number of steps between tables without negative counts; return it, or -1 where they are not reached."""
    weights, where = np.zeros(2 * LONG + 1), np.zeros(CORNERS, np.int64)
    hard = law.price == 0.0
    below = debt(x, np.arange(x.size), law.possible)
    taken, tried = 0, 0
    # A step counts when it leaves a table without negative counts, and ends at the next such table: the chain watched
    # on these tables alone. Stopping at the first of them after a fixed time would favour those that are entered often.
    while taken < steps or below > 0:
        tried += 1
        if below == 0:
            taken += 1
        if tried > 50 * steps + 100_000_000:
            return -1
        here = where[: pick(families, where, rng)]
        down, up = FAR, FAR
        if hard:
            down, up = room(x, here)
            if up + down == 0:
                continue
            if not law.factorial:
                move(x, here, int(rng.integers(-down, up + 1)))
                continue
        shift = drawn_shift(x, here, law, down, up, weights, rng)
        if not hard:
            below -= debt(x, here, law.possible)
        move(x, here, shift)
        if not hard:
            below += debt(x, here, law.possible)
    return taken
