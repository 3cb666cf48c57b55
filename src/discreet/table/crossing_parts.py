"""Where respondents are along all dimensions of linked tables, and their parts of crossings that no table shows.

Tables of some dimensions each leave open what only a table of all would show. Respondents know their own part of that
too: a crossing is at least as large as what each of them contributes to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import BoolArray, FloatArray, IntArray, sorted_runs
from discreet.table.equations import Equations
from discreet.table.grid import Grid
from discreet.table.space import Space
from discreet.table.stakes import Stakes, said, together
from discreet.table.tabulation import Tabulation

MANY = 200_000
"""From so many parts on, respondents are not told apart by them: everybody is taken to know the largest part of each
crossing, which is more than any of them knows."""


UNPLACED = "what respondents in several cells contribute to crossings that no table shows was not judged"


@dataclass(frozen=True, eq=False)
class Placed:
    """Whose each entry is, its finest code along every dimension, and its amount."""

    names: tuple[str, ...]
    unit: IntArray
    codes: Mapping[str, IntArray]
    amount: FloatArray

    def _patterns(self, space: Space, positions: IntArray) -> Iterator[tuple[IntArray, Grid, IntArray, list[int]]]:
        """Yield positions of the same dimensions, a grid of these, the place of each there, and these dimensions.

        Subtotals are left out.
        """
        codes = space.grid.decode(positions)
        crossed = Grid((2,) * len(codes)).encode([code > 0 for code in codes])
        finest = np.ones(positions.size, bool)
        for axis, code in zip(space.axes, codes, strict=True):
            finest &= np.isin(code, (0, *axis.leaves))
        for pattern in np.unique(crossed[finest]).tolist():
            mine = np.flatnonzero(finest & (crossed == pattern))
            axes = [k for k, code in enumerate(codes) if code[mine[0]] > 0]
            grid = Grid(tuple(space.shape[k] for k in axes))
            there = grid.encode([codes[k][mine] for k in axes]) if axes else np.zeros_like(mine)
            yield mine, grid, there, axes

    def _own(self, space: Space, grid: Grid, axes: Sequence[int]) -> IntArray:
        """Return the place of every entry in a grid of some dimensions."""
        return grid.encode([self.codes[space.names[k]] for k in axes]) if axes else np.zeros_like(self.unit)

    def sums(self, space: Space, positions: IntArray) -> FloatArray:
        """Return what respondents contribute to positions; NaN at subtotals."""
        found = np.full(positions.size, np.nan)
        for mine, grid, there, axes in self._patterns(space, positions):
            found[mine] = np.bincount(self._own(space, grid, axes), self.amount, grid.size)[there]
        return found

    @property
    def once(self) -> bool:
        """Whether nobody has two entries."""
        return bool((np.diff(self.unit) > 0).all())

    def largest(self, space: Space, positions: IntArray) -> FloatArray:
        """Return the largest contribution to positions, 0 at subtotals."""
        found = np.zeros(positions.size)
        if not self.once:
            for at, _, amount in self.parts(space, positions):
                np.maximum.at(found, at, amount)
            return found
        order = np.argsort(self.amount, kind="stable")
        for mine, grid, there, axes in self._patterns(space, positions):
            most = np.zeros(grid.size)
            # Of several entries for one place the last stays, which is the largest.
            most[self._own(space, grid, axes)[order]] = self.amount[order]
            found[mine] = np.maximum(most[there], 0)
        return found

    def count(self, space: Space, positions: IntArray) -> int:
        """Return how many parts there can be: everybody's, for each combination of dimensions."""
        return self.unit.size * sum(1 for _ in self._patterns(space, positions))

    def parts(self, space: Space, positions: IntArray) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield position, respondent and contribution of everybody, for each combination of dimensions."""
        for mine, grid, there, axes in self._patterns(space, positions):
            place = np.full(grid.size, -1)
            place[there] = mine
            at = place[self._own(space, grid, axes)]
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
    finest cell.
    """
    first = tables[0].respondents if tables else None
    alone = len(tables) == 1 and together(tables[0])
    if first is None or any(axis.part for table in tables for axis in table.axes):
        return None
    codes: dict[str, IntArray] = {}
    finest: set[str] = set()
    for table in tables:
        known = table.respondents
        if known is None or (known.names is not first.names and known.names != first.names):
            return None
        same = np.array_equal(known.unit, first.unit) and np.array_equal(
            _amount(table, response), _amount(tables[0], response)
        )
        if not alone and (not same or not np.array_equal(known.unit, np.arange(len(known)))):
            return None
        for k, axis in enumerate(table.axes):
            if axis.name not in space.names or axis.name in finest:
                continue
            there = space.axes[space.axis(axis.name)]
            if there.parts:
                continue
            code, occurs = table.places_of_respondents[k]
            where = np.array([there.places.get(label, 0) for label in axis.codes], np.int64)
            codes[axis.name] = where[code]
            if np.isin(where[occurs], there.leaves).all():
                finest.add(axis.name)
    if not finest.issuperset(space.names):
        return None
    return Placed(first.names, first.unit, codes, _amount(tables[0], response))


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
    return bool(unshown(equations).any()) and placed(tables, equations.space, response) is None


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
    if among is None and where.count(equations.space, positions) > MANY:
        floor[at] = np.floor(where.largest(equations.space, positions) * scale + 1e-6).astype(np.int64)
        return None, floor
    found = list(where.parts(equations.space, positions))
    if not found:
        return None, floor
    place, unit, amount = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((place, unit))
    units, number = np.unique(unit[order], return_inverse=True)
    names = tuple(said(where.names[i]) for i in units.tolist())
    return Stakes(names, number, at[place[order]], amount[order], np.ones(order.size, np.int64)), floor
