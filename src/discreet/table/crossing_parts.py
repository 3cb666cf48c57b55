"""Where respondents are along all dimensions of linked tables, and their parts of crossings that no table shows.

Tables of some dimensions each leave open what only a table of all would show. Respondents know their own part of that
too: a crossing is at least as large as what each of them contributes to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.numerics import BoolArray, FloatArray, IntArray, sorted_runs
from discreet.table.axis import Axis
from discreet.table.equations import Equations
from discreet.table.grid import Grid
from discreet.table.space import AdditiveAxis, Space
from discreet.table.stakes import Stakes, all_said, together
from discreet.table.tabulation import Tabulation
from discreet.table.units import Respondents

MANY = 200_000
"""From so many parts on, respondents are not told apart by them: everybody is taken to know the largest part of each
crossing, which is more than any of them knows."""


OUTSIDE = -1
"""The place of whoever is in none of the tables."""
UNPLACED = "what respondents in several cells contribute to crossings that no table shows was not judged"


@dataclass(frozen=True, eq=False)
class Placed:
    """Whose each entry is, its finest code along every dimension, and its amount."""

    names: tuple[str, ...]
    unit: IntArray
    codes: Mapping[str, IntArray]
    amount: FloatArray

    def _patterns(self, space: Space, positions: IntArray) -> Iterator[tuple[IntArray, IntArray, int, IntArray]]:
        """Yield positions of the same dimensions, the place of each among how many, and the place of every entry.

        Entries that are in none of the positions have a place of their own, the last.
        """
        codes = space.grid.decode(positions)
        # Along each dimension a position is everybody's, of a finest category, or of one sum of some of these.
        sorts, each, sizes = [], [], []
        for axis, code in zip(space.axes, codes, strict=True):
            every = np.arange(len(axis.nodes))
            sort_of = np.where((every == 0) | np.isin(every, axis.leaves), np.minimum(every, 1), every + 1)
            occurs = np.bincount(code, minlength=every.size) > 0
            kinds, number = np.unique(np.where(occurs, sort_of, 0), return_inverse=True)
            sorts.append(sort_of[code])
            each.append(number[code])
            sizes.append(kinds.size)
        crossed = Grid(tuple(sizes)).encode(each)
        for pattern in np.unique(crossed).tolist():
            mine = np.flatnonzero(crossed == pattern)
            shape, own, there = [], [], []
            for k, sort in enumerate(int(sort[mine[0]]) for sort in sorts):
                if sort == 1:
                    shape.append(space.shape[k])
                    own.append(self.codes[space.names[k]])
                    there.append(codes[k][mine])
                elif sort > 1:
                    shape.append(1)
                    inside = np.isin(np.arange(space.shape[k]), tuple(space.axes[k].under[sort - 1])) - 1
                    own.append(inside[self.codes[space.names[k]]])
                    there.append(np.zeros_like(mine))
            grid = Grid(tuple(shape))
            place = grid.encode(own) if own else np.zeros_like(self.unit)
            if any(column.dtype.kind == "i" for column in own):
                place[place < 0] = grid.size
            yield mine, grid.encode(there) if own else np.zeros_like(mine), grid.size, place

    def sums(self, space: Space, positions: IntArray) -> FloatArray:
        """Return what respondents contribute to positions."""
        found = np.zeros(positions.size)
        for mine, there, size, own in self._patterns(space, positions):
            found[mine] = np.bincount(own, self.amount, size + 1)[there]
        return found

    def chosen(self, mask: BoolArray) -> Placed:
        """Return some of the entries."""
        codes = {name: code[mask] for name, code in self.codes.items()}
        return Placed(self.names, self.unit[mask], codes, self.amount[mask])

    @cached_property
    def once(self) -> bool:
        """Whether nobody has two entries."""
        return bool((np.diff(self.unit) > 0).all())

    def largest(self, space: Space, positions: IntArray) -> FloatArray:
        """Return the largest contribution to positions."""
        found = np.zeros(positions.size)
        if not self.once:
            for at, _, amount in self.parts(space, positions):
                np.maximum.at(found, at, amount)
            return found
        # Numbers that came from another process have a type of their own, by which maxima take 25 times as long.
        amount = self.amount.astype(np.float64)
        for mine, there, size, own in self._patterns(space, positions):
            most = np.zeros(size + 1)
            np.maximum.at(most, own, amount)
            found[mine] = most[there]
        return found

    def parts(self, space: Space, positions: IntArray) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield position, respondent and contribution of everybody, for each combination of dimensions."""
        for mine, there, size, own in self._patterns(space, positions):
            place = np.full(size + 1, -1)
            place[there] = mine
            at = place[own]
            inside = np.flatnonzero(at >= 0)
            if self.once:
                yield at[inside], self.unit[inside], self.amount[inside]
                continue
            order, start = sorted_runs(self.unit[inside], at[inside])
            if start.size:
                first = inside[order[start]]
                yield at[first], self.unit[first], np.add.reduceat(self.amount[inside[order]], start)


def placed(tables: Sequence[Tabulation], space: Space, response: str | None) -> Placed | None:
    """Return where the respondents of linked tables are; None if tables do not say it.

    They do if respondents are kept with all dimensions crossed, or if all tables name the same respondents, each in one
    finest cell. Those in tables of a part of a dimension are among the others, unless all tables are of that part.
    """
    pieces = {axis.name for axis in space.axes if axis.parts}
    every = [table for table in tables if not any(axis.part and axis.name in pieces for axis in table.axes)]
    first = every[0].respondents if every else None
    alone = len(every) == 1 and together(every[0])
    if first is None or not all(_names_same(table, first) for table in tables):
        return None
    codes: dict[str, IntArray] = {}
    finest: set[str] = set()
    amount = _amount(every[0], response)
    if not alone and (np.diff(first.unit) <= 0).any():
        return None
    all_inside = True
    for table in every:
        if not alone and not _has_same(table, every[0], response):
            return None
        for k, axis in enumerate(table.axes):
            if axis.name not in space.names or axis.name in finest:
                continue
            there = space.axes[space.axis(axis.name)]
            code, occurs = table.places_of_respondents[k]
            where = _recoded(axis, there)
            codes[axis.name] = code if np.array_equal(where, np.arange(where.size)) else where[code]
            all_inside &= OUTSIDE not in where[occurs]
            if np.isin(where[occurs], (OUTSIDE, *there.leaves)).all():
                finest.add(axis.name)
    if not finest.issuperset(space.names):
        return None
    found = Placed(first.names, first.unit, codes, amount)
    if all_inside:
        return found
    return found.chosen(np.logical_and.reduce([code != OUTSIDE for code in codes.values()]))


def _recoded(axis: Axis, there: AdditiveAxis) -> IntArray:
    """Return the place of each code along a joint axis, or of what contains it there; 0 if it has none.

    If all tables are of one category, whoever is not below it is outside.
    """
    only = there.nodes[there.leaves[0]] if len(there.leaves) == 1 else ""
    if axis.part or there.whole == axis.total or only not in axis.places:
        found = np.array([there.places.get(label, 0) for label in axis.codes], np.int64)
        leaves = set(there.leaves)
        for code in np.flatnonzero(found[1:] == 0).tolist():
            # Where no table goes down to a category, it is a part of the finest that some table has.
            above = {there.places.get(axis.codes[node], 0) for node in axis.over[code + 1]} & leaves
            found[code + 1] = above.pop() if len(above) == 1 else 0
        return found
    found = np.full(len(axis), OUTSIDE)
    found[list(axis.under[axis.places[only]])] = there.leaves[0]
    return found


def _names_same(table: Tabulation, first: Respondents) -> bool:
    known = table.respondents
    return known is not None and (known.names is first.names or known.names == first.names)


def _has_same(table: Tabulation, other: Tabulation, response: str | None) -> bool:
    """Say whether the entries of two tables are of the same respondents and amounts."""
    one, two = table.respondents, other.respondents
    assert one is not None
    assert two is not None
    kept = all(getattr(one, name) is getattr(two, name) for name in ("unit", "amounts", "records"))
    if kept and [each.name for each in table.responses] == [each.name for each in other.responses]:
        return True
    return np.array_equal(one.unit, two.unit) and np.array_equal(_amount(table, response), _amount(other, response))


def _amount(table: Tabulation, response: str | None) -> FloatArray:
    known = table.respondents
    assert known is not None
    return known.amounts[table.response(response)] if table.responses else known.records.astype(np.float64)


def unshown(equations: Equations) -> BoolArray:
    """Say which positions no table shows, and are open."""
    found: BoolArray = (
        (equations.source < 0) & ~equations.exact & (np.arange(equations.lower.size) < equations.positions.size)
    )
    return found


def unplaced(equations: Equations, tables: Sequence[Tabulation], response: str | None) -> bool:
    """Say whether crossings are open that no table shows, and tables do not tell what respondents have in them."""
    open_ = unshown(equations)
    return bool((open_ & ~_empty(equations)).any()) and placed(tables, equations.space, response) is None


def _empty(equations: Equations) -> BoolArray:
    """Say which positions are known to be 0, sums of nothing but zeros among them."""
    zero: BoolArray = equations.exact & (equations.lower == 0)
    if equations.starts.size < 2:
        return zero
    first = equations.starts[:-1]
    whole = equations.columns[first]
    while True:
        others = np.add.reduceat(~zero[equations.columns], first, dtype=np.int64) - ~zero[whole]
        more = whole[(others == 0) & ~zero[whole]]
        if not more.size:
            return zero
        zero[more] = True


def _combinations(space: Space, positions: IntArray) -> int:
    """Return how many combinations of dimensions positions cross."""
    crossed = [code > 0 for code in space.grid.decode(positions)]
    return int(np.unique(Grid((2,) * len(crossed)).encode(crossed)).size)


def crossing_parts(
    equations: Equations, tables: Sequence[Tabulation], response: str | None, among: BoolArray | None = None
) -> tuple[Stakes | None, IntArray]:
    """Return respondents' own parts of crossings that no table shows, and what everybody is taken to know of these.

    Few parts are listed by respondent, and those of the crossings ``among`` which they are asked for; of many, the
    largest of each crossing is a lower bound for all. Values that can be negative are not bounded by anybody's part.
    """
    floor = np.full(equations.lower.size, -1, np.int64)
    open_ = unshown(equations) & (equations.lower >= 0)
    at = np.flatnonzero(open_ if among is None else open_ & among)
    where = placed(tables, equations.space, response) if at.size else None
    if where is None:
        return None, floor
    scale = 10.0**equations.decimals
    positions = equations.positions[at]
    if among is None and where.unit.size * _combinations(equations.space, positions) > MANY:
        floor[at] = np.floor(where.largest(equations.space, positions) * scale + 1e-6).astype(np.int64)
        return None, floor
    found = list(where.parts(equations.space, positions))
    if not found:
        return None, floor
    place, unit, amount = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((place, unit))
    units, number = np.unique(unit[order], return_inverse=True)
    names = all_said([where.names[i] for i in units.tolist()])
    return Stakes(names, number, at[place[order]], amount[order], np.ones(order.size, np.int64)), floor
