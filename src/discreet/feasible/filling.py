"""Tables that fit, filled greedily: where only totals are published, they attain outer bounds without a search.

A group states sums of sums: cells are parts of hidden figures, these of others, and at the top are figures that are
published. Raising a cell raises every hidden sum that it is in, and uses up every published one. Cells are raised one
after the other as far as what is published allows, those first on which a bound depends. With one-way totals alone this
always uses up everything (the northwest corner rule, in any number of dimensions); in general it may not, and then
nothing is shown. Every table is checked against all equations and ranges.
"""

from __future__ import annotations

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import row_of
from discreet.feasible.reduction import NOT_SEEN, SIGN, Found, Group
from discreet.table.kinds import UNBOUNDED

LARGEST = 20_000
"""The most unknowns of a group whose cells are looked at one by one: a second of work."""
FAILURES = 8
"""How many tables in a row may not fit before no more are tried: greed does not suit the group then."""
AT_FIRST = 2
"""The same before any table has fitted, as hardly any does where the sums of planes through a cube are published."""


def filled(group: Group, wanted: IntArray, clock: Clock) -> Found | None:
    """Return outer bounds with the tables that attain them, None where not all that is wanted is settled so."""
    if group.mixed or group.variables.size > LARGEST:
        return None
    cells = _Cells.of(group)
    if cells is None:
        return None
    outer = np.stack([group.least, group.most])
    seen = -SIGN * np.full(group.variables.size, NOT_SEEN)
    failed, most = 0, AT_FIRST
    for k in np.flatnonzero(wanted).tolist():
        for side in (1, 0):
            if (SIGN[side] * seen[side, k] >= SIGN[side] * outer[side, k]).all() or abs(outer[side, k]) >= UNBOUNDED:
                continue
            if clock.late:
                return None
            table = cells.table(cells.order(k, bool(side)))
            if table is None:
                failed += 1
                if failed > most:
                    return None
                continue
            failed, most = 0, FAILURES
            np.minimum(seen[0], table, out=seen[0])
            np.maximum(seen[1], table, out=seen[1])
    done = (SIGN * seen >= SIGN * outer) & (np.abs(outer) < UNBOUNDED)
    if not done[:, wanted > 0].all():
        return None
    return Found(outer, outer.astype(np.float64), seen, np.ones_like(outer))


class _Cells:
    """The cells of a group, those that are part of each hidden sum (``within``) and of each published one."""

    def __init__(self, group: Group, cells: IntArray, within: BoolArray, by_sum: BoolArray) -> None:
        self.group, self.within, self.by_sum = group, within, by_sum
        self.uses = np.ascontiguousarray(by_sum.T)
        self.sums, self.parts = np.nonzero(within)
        self.lower, self.upper = group.lower[cells], group.upper[cells]
        # What is left of every published sum where each cell is as low as it can be.
        self.left = -group.rhs[_published(group)] - self.lower @ self.uses
        self.free = self.uses.any(axis=1) & (self.lower < self.upper)

    @classmethod
    def of(cls, group: Group) -> _Cells | None:
        """Find the cells, and what each is part of; None where a sum has an unknown of another kind."""
        if (group.lower < 0).any():
            return None
        row, whole = row_of(group.starts), group.signs > 0
        if (np.bincount(row[whole], minlength=group.rhs.size) > 1).any():
            return None
        sums = np.zeros(group.variables.size, bool)
        sums[group.columns[whole]] = True
        cells = np.flatnonzero(~sums)
        above = np.full(group.rhs.size, -1)
        above[row[whole]] = group.columns[whole]
        within = np.zeros((group.variables.size, cells.size), bool)
        within[cells, np.arange(cells.size)] = True
        # A part is in every sum that its wholes are in: from sum to sum until nothing is added.
        parts = list(zip(row[~whole].tolist(), group.columns[~whole].tolist(), strict=True))
        before = -1
        while before != (before := int(np.count_nonzero(within))):
            for e, part in parts:
                if above[e] >= 0:
                    within[above[e]] |= within[part]
        by_sum = np.zeros((group.rhs.size, cells.size), bool)
        for e, part in parts:
            if above[e] < 0:
                by_sum[e] |= within[part]
        return cls(group, cells, within, by_sum[_published(group)])

    def order(self, k: int, high: bool) -> IntArray:
        """Return the cells in the order in which they are raised to make an unknown large, or small."""
        member = self.within[k]
        if high:
            return np.argsort(~member, kind="stable")
        near = (self.uses & self.uses[member].any(axis=0)).any(axis=1)
        return np.argsort(np.where(member, 2, np.where(near, 0, 1)), kind="stable")

    def table(self, order: IntArray) -> IntArray | None:
        """Raise the cells one after the other; return the table of all unknowns if it fits."""
        x, left = self.lower.copy(), self.left.copy()
        # A cell can be raised as long as every published sum that it is in has something left.
        alive = (self.free & ~self.by_sum[left <= 0].any(axis=0))[order]
        while alive.any() and left.any():
            place = int(np.argmax(alive))
            i = order[place]
            own = np.flatnonzero(self.uses[i])
            by = min(int(left[own].min()), int(self.upper[i] - x[i]))
            x[i] += by
            left[own] -= by
            alive[place] = False
            for e in own[left[own] <= 0].tolist():
                alive &= ~self.by_sum[e, order]
        if left.any():
            return None
        # Known parts of hidden sums are not added up here; a table that lacks them does not fit.
        table = np.zeros(self.group.variables.size, np.int64)
        np.add.at(table, self.sums, x[self.parts])
        return table if self.group.fits(table) else None


def _published(group: Group) -> BoolArray:
    """Say which equations are of a published sum: all their unknowns are parts."""
    whole = np.zeros(group.rhs.size, bool)
    whole[row_of(group.starts)[group.signs > 0]] = True
    return ~whole
