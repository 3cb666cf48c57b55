"""A group solved for what its equations determine, with values that move together joined.

Where two hidden values share a sum with nothing else, one is the sum less the other: their ranges are one range. Nearly
half of the unknowns of a suppressed table are such partners, and need no search of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.reduction import SIGN, Group, NothingFitsError, StuckError, UnfinishedError
from discreet.feasible.tableau.simplex import FAILED, FITS, LATE, NOTHING_FITS
from discreet.table.kinds import UNBOUNDED

HUGE = 2**40
"""Entries beyond this end the elimination: products of two must fit into 64 bits with room for sums."""
Values = TypeVar("Values", IntArray, FloatArray)


@dataclass(frozen=True, eq=False)
class Condensed:
    """Unknowns that stand for all: unknown j of the group is offset[j] + sign[j]·(unknown of[j] here).

    The first ``scale.size`` unknowns are solved for: scale·x + Σ solved[c]·x[scale.size + c] = start, in integers.
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
        mine = np.where(self.sign > 0, ends, ends[::-1])
        here = np.where(np.abs(mine) >= UNBOUNDED, SIGN * UNBOUNDED, self.sign * (mine - self.offset))
        found: IntArray = SIGN * np.full(self.size, UNBOUNDED)
        np.maximum.at(found[0], self.of, here[0])
        np.minimum.at(found[1], self.of, here[1])
        return found

    def goals(self, ends: IntArray) -> IntArray:
        """Return the furthest goals of all partners."""
        swapped = self.inwards(ends[::-1])
        return swapped[::-1]

    def outwards(self, ends: Values) -> Values:
        """Return what ranges (lower and upper) of the unknowns here say of the group's."""
        mine = self.swap(ends)
        return np.where(np.abs(mine) >= UNBOUNDED, SIGN * UNBOUNDED, self.offset + self.sign * mine)

    def swap(self, sides: Values) -> Values:
        """Return what is said of the two sides of the unknowns here for the group's."""
        return np.where(self.sign > 0, sides[:, self.of], sides[::-1, self.of])

    def inner(self, table: Values) -> Values:
        """Return the values here of a table of the group's unknowns."""
        found = np.zeros_like(table, shape=self.size)
        found[self.of] = self.sign * (table - self.offset)
        return found

    def outer(self, table: IntArray) -> IntArray:
        """Return the values of the group's unknowns of a table here."""
        return self.offset + self.sign * table[self.of]


def accept(code: int) -> None:
    """Raise what an outcome of a kernel means, if it is not FITS."""
    if code == NOTHING_FITS:
        raise NothingFitsError
    if code == LATE:
        raise UnfinishedError
    if code == FAILED:
        raise StuckError


@compiled
def _eliminate(M: IntArray, width: IntArray, pivots: IntArray, stop: IntArray) -> int:
    """Solve equations (the last column has their right-hand sides) in integers, in place.

    Each row is solved for one unknown, `pivots` says which, -1 for equations that follow from others. Short rows and
    unknowns in few equations come first, to keep rows short. Returns a state of fit, FAILED where numbers grow too
    large, LATE when it is told to stop.
    """
    m, n = M.shape[0], M.shape[1] - 1
    length, used = np.zeros(m, np.int64), np.zeros(n, np.int64)
    for i in range(m):
        for j in range(n):
            if M[i, j] != 0:
                length[i] += 1
                used[j] += 1
    pivots[:] = -1
    done = np.zeros(m, np.bool_)
    spot = np.zeros(n + 1, np.int64)
    for _ in range(m):
        if stop[0] != 0:
            return LATE
        p, shortest = -1, n + 2
        for i in range(m):
            if not done[i] and length[i] < shortest:
                p, shortest = i, length[i]
        done[p] = True
        q, best, count = -1, np.inf, 0
        for j in range(n):
            if M[p, j] != 0:
                spot[count] = j
                count += 1
                cost = 1e9 * abs(M[p, j]) + used[j] - 1e-3 * min(width[j], 100)
                if cost < best:
                    q, best = j, cost
        if q < 0:
            if M[p, n] != 0:
                return NOTHING_FITS
            continue
        pivots[p] = q
        if M[p, n] != 0:
            spot[count] = n
            count += 1
        if M[p, q] < 0:
            for c in range(count):
                M[p, spot[c]] = -M[p, spot[c]]
        for i in range(m):
            if i != p and M[i, q] != 0:
                length[i] = _clear(M[i], M[p], q, spot[:count])
                if length[i] < 0:
                    return FAILED
    return FITS


@compiled
def _clear(row: IntArray, by: IntArray, q: int, spot: IntArray) -> int:
    """Take the unknown q out of a row by one with entries at `spot`; return how many are left, -1 if too large."""
    n = row.size - 1
    pivot, factor = by[q], row[q]
    if pivot == 1:
        for j in spot:
            row[j] -= factor * by[j]
    else:
        common = math.gcd(pivot, factor)
        times, take = pivot // common, factor // common
        row *= times
        for j in spot:
            row[j] -= take * by[j]
        common = 0
        for j in range(n + 1):
            if row[j] != 0:
                common = math.gcd(common, row[j])
                if common == 1:
                    break
        if common > 1:
            row //= common
    left = 0
    for j in range(n):
        if row[j] != 0:
            left += 1
            if abs(row[j]) > HUGE:
                return -1
    return left


def condense(group: Group, stop: IntArray) -> Condensed:
    """Solve the equations of a group in integers, and join unknowns that move together, until told to stop."""
    n, m = group.variables.size, group.rhs.size
    M = np.column_stack([group.dense(), group.rhs])
    pivots = np.zeros(m, np.int64)
    accept(_eliminate(M, np.minimum(group.most - group.least, 100), pivots, stop))
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
