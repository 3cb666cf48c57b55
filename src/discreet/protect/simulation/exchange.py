"""Single moves on the inner counts of a table that keep its margins and never make a count negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.table.grid import Grid

TRIES = 1000
"""How often, for every move, another one is tried where a count would become negative."""


@compiled
def odd(corner: int) -> bool:
    """Say whether a corner takes an odd number of groups from the other one; these gain, the others lose."""
    bits = 0
    for bit in range(8):
        bits ^= corner >> bit & 1
    return bits > 0


@compiled
def _exchange(
    x: IntArray,
    people: IntArray,
    possible: Any,
    part: IntArray,
    groups: IntArray,
    moves: int,
    tries: int,
    rng: np.random.Generator,
) -> int:
    """Make moves between the values of two people at a time; return how many were made."""
    where = np.zeros(256, np.int64)
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
            for c in range(corners):
                where[corners + c] = where[c] + b
                where[c] += a
            corners *= 2
        if not fits:
            continue
        for c in range(corners):
            if not (possible[where[c]] if odd(c) else x[where[c]] > 0):
                fits = False
        if not fits:
            continue
        for c in range(corners):
            x[where[c]] += 1 if odd(c) else -1
        made += 1
    return made


def exchange(
    x: IntArray,
    shape: tuple[int, ...],
    families: Sequence[Sequence[Sequence[int]]],
    impossible: IntArray,
    moves: int,
    rng: np.random.Generator,
) -> int:
    """Make a number of moves on a flat table in place, or as many as are found; return how many."""
    grid = Grid(shape)
    codes = grid.decode(np.arange(x.size))
    part = np.zeros((len(families), max(len(groups) for groups in families), x.size), np.int64)
    for f, groups in enumerate(families):
        for g, axes in enumerate(groups):
            part[f, g] = grid.encode([code if i in axes else np.zeros_like(code) for i, code in enumerate(codes)])
    people = np.repeat(np.arange(x.size), x)
    possible = np.ones(x.size, bool)
    possible[impossible] = False
    lengths = np.array([len(groups) for groups in families], np.int64)
    return int(_exchange(x, people, possible, part, lengths, moves, TRIES * moves, rng))
