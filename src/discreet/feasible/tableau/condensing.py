"""A group solved for what its equations determine, with values that move together joined.

Where two hidden values share a sum with nothing else, one is the sum less the other: their ranges are one range. Nearly
half of the unknowns of a suppressed table are such partners, and need no search of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import row_of
from discreet.feasible.reduction import Group
from discreet.feasible.tableau.simplex import FAILED, LATE, NOTHING_FITS, solve
from discreet.table.kinds import UNBOUNDED

Values = TypeVar("Values", IntArray, FloatArray)


class StuckError(Exception):
    """The search on the tableau went wrong; another solver has to do it."""


class NothingError(Exception):
    """No table fits the equations of a group."""


class LateError(Exception):
    """Time ran out before anything was found about a group."""


@dataclass(frozen=True, eq=False)
class Condensed:
    """Unknowns that stand for all: unknown j of the group is offset[j] + sign[j]·(unknown of[j] here).

    The first ``scale.size`` unknowns are solved for: scale·x + Σ solved[c]·x[scale.size + c] = start, in whole numbers.
    """

    of: IntArray
    sign: IntArray
    offset: IntArray
    solved: IntArray
    scale: IntArray
    start: IntArray

    @property
    def size(self) -> int:
        """How many unknowns are left."""
        return int(self.scale.size + self.solved.shape[0])

    def inwards(self, ends: IntArray) -> IntArray:
        """Return ranges that hold for every partner, from ranges (lower and upper) of the group's unknowns."""
        low, high = np.full(self.size, -UNBOUNDED), np.full(self.size, UNBOUNDED)
        plus = self.sign > 0
        free_low, free_high = ends[0] <= -UNBOUNDED, ends[1] >= UNBOUNDED
        down = np.where(plus, ends[0] - self.offset, self.offset - ends[1])
        up = np.where(plus, ends[1] - self.offset, self.offset - ends[0])
        np.maximum.at(low, self.of, np.where(np.where(plus, free_low, free_high), -UNBOUNDED, down))
        np.minimum.at(high, self.of, np.where(np.where(plus, free_high, free_low), UNBOUNDED, up))
        return np.stack([low, high])

    def goals(self, ends: IntArray) -> IntArray:
        """Return the furthest goals of all partners."""
        swapped = self.inwards(ends[::-1])
        return swapped[::-1]

    def outwards(self, ends: IntArray | FloatArray) -> IntArray | FloatArray:
        """Return what ranges (lower and upper) of the unknowns here say of the group's."""
        low, high = ends[0][self.of], ends[1][self.of]
        plus = self.sign > 0
        shifted = np.stack(
            [
                np.where(plus, self.offset + low, self.offset - high),
                np.where(plus, self.offset + high, self.offset - low),
            ]
        )
        free = np.abs(np.stack([np.where(plus, low, high), np.where(plus, high, low)])) >= UNBOUNDED
        return np.where(free, np.array([[-UNBOUNDED], [UNBOUNDED]]), shifted)

    def swap(self, sides: IntArray) -> IntArray:
        """Return what is said of the two sides of the unknowns here for the group's."""
        plus = self.sign > 0
        return np.where(plus, sides[:, self.of], sides[::-1, self.of])

    def inner(self, table: Values) -> Values:
        """Return the values here of a table of the group's unknowns."""
        found = np.zeros_like(table, shape=self.size)
        found[self.of] = self.sign * (table - self.offset)
        return found

    def outer(self, table: IntArray) -> IntArray:
        """Return the values of the group's unknowns of a table here."""
        return self.offset + self.sign * table[self.of]


def condense(group: Group, stop: IntArray) -> Condensed:
    """Solve the equations of a group in whole numbers, and join unknowns that move together, until told to stop."""
    n, m = group.variables.size, group.rhs.size
    M = np.zeros((m, n + 1), np.int64)
    M[row_of(group.starts), group.columns] = group.signs
    M[:, n] = group.rhs
    pivots = np.zeros(m, np.int64)
    code = solve(M, np.minimum(group.most - group.least, 100), pivots, stop)
    if code == NOTHING_FITS:
        raise NothingError
    if code == LATE:
        raise LateError
    if code == FAILED:
        raise StuckError
    rows = np.flatnonzero(pivots >= 0)
    basis = pivots[rows]
    other = np.ones(n, bool)
    other[basis] = False
    beside = np.flatnonzero(other)
    solved, scale, start = M[np.ix_(rows, beside)], M[rows, basis], M[rows, n]
    # Rows that are the same but for their sign are told by a random combination of their entries.
    mark = np.random.default_rng(4).integers(1, 2**62, beside.size, dtype=np.uint64)
    digest = (solved.astype(np.uint64) * mark).sum(axis=1, dtype=np.uint64)
    whole = scale == 1
    own = np.where(whole, np.minimum(digest, -digest), np.arange(rows.size).astype(np.uint64))
    # x = start - Σ solved·x: a row with one entry of -1 is a copy of that unknown.
    keys = np.concatenate([own, np.minimum(mark, -mark)])
    facing = np.concatenate([np.where(whole, digest != own, False), -mark > mark])
    head = np.full(keys.size, -1)
    order = np.concatenate([rows.size + np.arange(beside.size), np.arange(rows.size)])
    _, first, which = np.unique(keys[order], return_index=True, return_inverse=True)
    head[order] = order[first][which]
    alone = np.concatenate([~whole, np.zeros(beside.size, bool)])
    head[alone] = np.flatnonzero(alone)
    flip = np.where(facing == facing[head], 1, -1)
    constant = np.concatenate([start, np.zeros(beside.size, np.int64)])
    # Copies of a row: x = constant - ΣT·x, and its head the same with sign `flip`.
    offset = constant - flip * constant[head]
    kept_rows = np.flatnonzero(head[: rows.size] == np.arange(rows.size))
    place = np.full(keys.size, -1)
    place[kept_rows] = np.arange(kept_rows.size)
    place[rows.size :] = kept_rows.size + np.arange(beside.size)
    everywhere = np.concatenate([basis, beside])
    of, sign, by = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    of[everywhere], sign[everywhere], by[everywhere] = place[head], flip, offset
    return Condensed(of, sign, by, np.ascontiguousarray(solved[kept_rows].T), scale[kept_rows], start[kept_rows])
