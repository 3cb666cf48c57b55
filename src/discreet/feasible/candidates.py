"""Tables claimed to fit what is published, each of them checked.

A method that hides figures knows tables that show what remains possible. None of them is trusted: a table counts only
if it satisfies every equation and every range in integers. What such tables attain needs no search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, IntArray, index_ranges
from discreet.core.sparse import Rows
from discreet.feasible.crowd import Facts
from discreet.table.equations import Equations
from discreet.table.grid import locate

AT_ONCE = 5_000_000
"""How many pairs of a figure and a fact about it are compared at once: about 200 MB."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tables claimed to fit: the values of one, and where and by how much each other table differs from it.

    ``positions`` are those of the space of the equations, sorted, and ``values`` the first table in units of the last
    of ``decimals``. The differences are in compressed rows; ``at`` counts in ``positions``.
    """

    positions: IntArray
    values: IntArray
    starts: IntArray
    at: IntArray
    by: IntArray
    decimals: int = 0


@dataclass(frozen=True, eq=False)
class Fitting:
    """Tables that fit: the values of one at all positions, and the values of the others where they differ from it.

    Table ``table`` has ``value`` at ``at``.
    """

    home: IntArray
    table: IntArray
    at: IntArray
    value: IntArray

    @property
    def seen(self) -> IntArray:
        """The least (row 0) and the largest value (row 1) of every position in any table."""
        found = np.stack([self.home, self.home])
        np.minimum.at(found[0], self.at, self.value)
        np.maximum.at(found[1], self.at, self.value)
        return found

    def doubtful(self, targets: IntArray, lower: IntArray, upper: IntArray, facts: Facts, people: int) -> BoolArray:
        """Say for every person whether it is still open that all levels are attained despite what they know.

        Levels are attained for somebody if some table that fits everything they know attains them. For a target that
        somebody knows something about, levels count as far as that leaves room.
        """
        facts = _each_once(facts, people)
        here = self.home[facts.at]
        left, concerned = np.zeros(people, bool), np.zeros(people, bool)
        concerned[facts.who] = True
        left[facts.who[(here < facts.low) | (here > facts.high)]] = True
        excluded = self._excluded(facts, people)
        order = np.argsort(self.at, kind="stable")

        def unmoved(which: IntArray, level: IntArray, sign: int) -> IntArray:
            """Return which facts are about figures that reach a level in no table that fits what the person knows."""
            sorted_ = self.at[order]
            places = facts.at[which]
            i, k = index_ranges(np.searchsorted(sorted_, places, "left"), np.searchsorted(sorted_, places, "right"))
            entry = order[k]
            fine = sign * self.value[entry] >= sign * level[i]
            fine &= ~_among(self.table[entry] * people + facts.who[which[i]], excluded)
            missed: IntArray = which[np.bincount(i[fine], minlength=which.size) == 0]
            return missed

        for ends, sign in ((lower, -1), (upper, 1)):
            goal, asked = np.zeros(self.home.size, np.int64), np.zeros(self.home.size, bool)
            goal[targets], asked[targets] = ends, True
            todo = asked & (sign * goal > sign * self.home)
            hit = np.flatnonzero(todo[self.at] & (sign * self.value >= sign * goal[self.at]))
            tables = np.bincount(self.at[hit], minlength=self.home.size)
            unseen = todo & (tables == 0)
            aware = np.bincount(facts.who[unseen[facts.at]], minlength=people)
            left |= concerned & (aware < unseen.sum())
            # Who knows nothing of a target is served by any of its tables that fits the rest of what they know.
            first = self.table[hit] * people
            i, k = index_ranges(np.searchsorted(excluded, first), np.searchsorted(excluded, first + people))
            pair, times = np.unique(self.at[hit[i]] * people + excluded[k] % people, return_counts=True)
            pair = pair[times == tables[pair // people]]
            left[pair[~_among(pair, facts.at * people + facts.who)] % people] = True
            mine = np.flatnonzero(asked[facts.at])
            level = np.clip(goal[facts.at[mine]], facts.low[mine], facts.high[mine])
            beyond = sign * level > sign * here[mine]
            left[facts.who[unmoved(mine[beyond], level[beyond], sign)]] = True
        free = np.flatnonzero(facts.free)
        never_lower, never_higher = (unmoved(free, here[free] + sign, sign) for sign in (-1, 1))
        left[facts.who[np.intersect1d(never_lower, never_higher)]] = True
        return left

    def _excluded(self, facts: Facts, people: int) -> IntArray:
        """Return the tables that do not fit what a person knows, as table × people + person, sorted."""
        order = np.argsort(facts.at, kind="stable")
        begin = np.searchsorted(facts.at[order], self.at, "left")
        end = np.searchsorted(facts.at[order], self.at, "right")
        parts = np.searchsorted(np.cumsum(end - begin), np.arange(AT_ONCE, int((end - begin).sum()), AT_ONCE))
        found = []
        for span in np.split(np.arange(self.at.size), np.unique(parts)):
            i, k = index_ranges(begin[span], end[span])
            entry, fact = span[i], order[k]
            out = (self.value[entry] < facts.low[fact]) | (self.value[entry] > facts.high[fact])
            found.append(self.table[entry[out]] * people + facts.who[fact[out]])
        return np.unique(np.concatenate(found))


def fitting(equations: Equations, candidates: Candidates) -> Fitting | None:
    """Return the tables that fit; nothing if the first does not, or leaves positions out.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    >>> hidden = equations_of(Figures.from_array([[None, None, 5], [None, None, 4], [3, 6, 9]], both))
    >>> values = np.array([9, 3, 6, 5, 2, 3, 4, 1, 3])  # of the totals first
    >>> corner = [hidden.find({"r": r, "c": c}) for r in (1, 2) for c in (1, 2)]
    >>> turn = [1, -1, -1, 1, 9, -9, -9, 9]  # by 9 would be below 0
    >>> found = fitting(
    ...     hidden, Candidates(hidden.positions, values, np.array([0, 4, 8]), np.tile(corner, 2), np.array(turn))
    ... )
    >>> found.seen[:, corner[0]].tolist()
    [2, 3]
    """
    for name in ("positions", "values", "starts", "at", "by"):
        if getattr(candidates, name).dtype.kind != "i":
            raise RequestError(f"the {name} of candidates are not integers; give an array of integers")
    count = candidates.starts.size - 1
    change = Rows(candidates.starts, candidates.at, candidates.by)
    _check(change, candidates.positions.size)
    if equations.sums or equations.decimals != candidates.decimals:
        return None
    place = locate(candidates.positions, equations.positions)
    if (place < 0).any():
        return None
    home = candidates.values[place]
    rows = Rows(equations.starts, equations.columns, equations.signs)
    # Sums of larger values could overflow 64 bits.
    most = 2**62 // int(np.diff(equations.starts).max(initial=1))
    outside = (home < equations.lower) | (home > equations.upper) | (np.abs(home) > most)
    if outside.any() or rows.sums(home).any():
        return None
    change = change.among(place, candidates.positions.size)
    change = Rows.gathered(change.of, change.columns, change.values, (count, home.size))
    table, at = change.of, change.columns
    value = home[at] + change.values.astype(np.int64)
    wrong = np.zeros(count, bool)
    wrong[table[(value < equations.lower[at]) | (value > equations.upper[at]) | (np.abs(value) > most)]] = True
    wrong |= change.times(rows.across(home.size), rows.starts.size - 1).lengths > 0
    kept = ~wrong[table]
    return Fitting(home, table[kept], at[kept], value[kept])


def _check(change: Rows, positions: int) -> None:
    """Refuse differences whose rows are out of order, or that are at no position."""
    starts, at, by = change
    if not starts.size or starts[0] or (np.diff(starts) < 0).any() or not starts[-1] == at.size == by.size:
        raise RequestError(
            f"the differences of candidates are not in compressed rows: starts must rise from 0 to {at.size:,} places, "
            f"with as many amounts, of which there are {by.size:,}; state where each table begins"
        )
    if at.size and not (at.min() >= 0 and at.max() < positions):
        wrong = int(at.min() if at.min() < 0 else at.max())
        raise RequestError(f"candidates name position {wrong:,}, but there are {positions:,}; count them from 0")


def _each_once(facts: Facts, people: int) -> Facts:
    """Return everything that a person knows about a position as one fact."""
    key, of = np.unique(facts.at * people + facts.who, return_inverse=True)
    low, high = np.full(key.size, np.iinfo(np.int64).min), np.full(key.size, np.iinfo(np.int64).max)
    np.maximum.at(low, of, facts.low)
    np.minimum.at(high, of, facts.high)
    free = np.zeros(key.size, bool)
    free[of[facts.free]] = True
    return Facts(key % people, key // people, low, high, free)


def _among(keys: IntArray, sorted_: IntArray) -> BoolArray:
    """Say which keys are among sorted ones."""
    found: BoolArray = locate(sorted_, keys) >= 0
    return found
