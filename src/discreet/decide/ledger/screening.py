"""Many earlier releases compared with a new one at once: which of them need a closer look.

Offices publish the same table month after month. Such releases differ in their values alone: what they share is laid
out once, and their values are rows of one array. A release is quiet if a comparison with it can reveal nothing,
whatever is behind its figures: most of these differ from the new ones, every change was made by many people, and no
small count would follow if one population were inside the other. All others are compared one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product, starmap
from typing import NamedTuple, TypeAlias

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.decide.ledger.change import ReleasePair, values_of
from discreet.decide.ledger.entry import Entry, PublishedTable, sheets_of
from discreet.decide.ledger.packing import unpacked
from discreet.decide.ledger.revision import SEVERAL, PrintedFigures, shared_grid
from discreet.decide.ledger.settings import Settings
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.taken_apart import category_rows, totals_of

VALUES = re.compile(rb'"values":\[([-0-9,]*)\]')
"""The values in a packed release; inside a text, quotation marks have a backslash before them."""
EXACT = 2**50
"""Figures below this, and sums of them, are exact in floating point."""
WORTH = 3
"""The fewest releases of a shape for which laying it out pays: a round choice."""
MOST = 1_500
"""The most figures of a table that is compared in a batch: with larger ones, batching saves nothing."""


@dataclass(frozen=True, eq=False)
class NewRelease:
    """The new release: its tables and those published with it in each world, its equations, and how it is judged."""

    worlds: Sequence[Sequence[PublishedTable]]
    laid: Sequence[Equations]
    rules: Settings
    fewest: int
    names: Mapping[str, str]


def quiet(new: NewRelease, entries: Sequence[Entry], texts: Sequence[bytes], inside: BoolArray) -> BoolArray:
    """Say for which earlier releases a comparison reveals nothing.

    ``inside`` says which ones may have a population inside that of the new one, or the other way round.
    """
    found = np.zeros(len(entries), bool)
    for where, columns, shape in _families(new, entries, texts):
        found[where] = shape.is_quiet(columns, inside[where])
    return found


def _families(
    new: NewRelease, entries: Sequence[Entry], texts: Sequence[bytes]
) -> Iterator[tuple[IntArray, list[IntArray], _Shape]]:
    """Yield releases that differ only in their values: which, the values of each table, and what they share."""
    members: dict[tuple[bytes, ...], list[int]] = {}
    values: list[list[bytes]] = []
    for number, text in enumerate(texts):
        pieces = VALUES.split(text)
        values.append(pieces[1::2])
        sizes = (b"%d" % one.count(b",") for one in pieces[1::2])
        members.setdefault((*pieces[::2], *sizes), []).append(number)
    for numbers in members.values():
        if len(numbers) < WORTH:
            continue
        shape = _Shape.of(new, entries[numbers[0]], texts[numbers[0]])
        if shape is None or len(shape.tables) != len(values[numbers[0]]):
            continue
        columns = []
        for part, table in enumerate(shape.tables):
            joined = b",".join(values[number][part] for number in numbers)
            columns.append(np.array(joined.split(b","), np.int64).reshape(len(numbers), len(table)))
        yield np.array(numbers), columns, shape


@dataclass(frozen=True, eq=False)
class _Shape:
    """What releases share that differ only in their values."""

    new: NewRelease
    tables: Sequence[Figures]
    laid: Sequence[_LaidTable]

    @classmethod
    def of(cls, new: NewRelease, entry: Entry, text: bytes) -> _Shape | None:
        """Return the shape of a release; None if it is not simple enough."""
        tables = [sheet.figures for sheet in sheets_of(unpacked(text), entry, new.names)]
        if any(part.statistics or part.upper is not None or not 0 < len(part) <= MOST for part in tables):
            return None
        try:
            laid = [_LaidTable.of(part) for part in tables]
        except DiscreetError:
            return None
        plain = [one for one in laid if one is not None]
        return cls(new, tables, plain) if len(plain) == len(laid) else None

    def is_quiet(self, values: Sequence[IntArray], inside: BoolArray) -> BoolArray:
        """Say for which releases, by their values, a comparison reveals nothing."""
        try:
            ranges = [_ranges(part, own) for part, own in zip(self.tables, values, strict=True)]
        except DiscreetError:
            return np.zeros(inside.size, bool)
        loud = np.zeros(inside.size, bool)
        for own in values:
            loud |= np.abs(own).max(axis=1) >= EXACT
        for mine in self.new.worlds:
            loud |= self._alike(mine, values, ranges) | self._sums_alike(mine, ranges)
        for table, ends in zip(self.laid, starmap(_open_ended, ranges), strict=True):
            loud |= ~table.adds_up(ends)
            for new in self.new.laid:
                loud |= _Comparison(table, new, ends, self.new.rules).loud(self.new.fewest, inside)
        return ~loud

    def _alike(self, mine: Sequence[PublishedTable], values: Sequence[IntArray], ranges: Sequence[Ranges]) -> BoolArray:
        """Say which releases print at least half of the common figures like the new one."""
        same = both = np.zeros(len(values[0]), np.int64)
        for sheet, number in product(mine, range(len(self.tables))):
            part = self.tables[number]
            if set(sheet.figures.names) != set(part.names):
                continue
            grid, unit, kinds = shared_grid(sheet.figures, part)
            one = PrintedFigures.of(sheet.figures, grid, unit, kinds)
            other = PrintedFigures.of(part, grid, unit, kinds, every=True)
            _, at, by = np.intersect1d(one.place, other.place, return_indices=True)
            scale = float(10 ** (unit - part.decimals))
            value, lower, upper = (side[:, by] * scale for side in (values[number], *ranges[number]))
            shown = (value > 0) & (upper - lower < UNBOUNDED)
            meet = shown & (one.lower[at] <= upper) & (lower <= one.upper[at])
            meet &= (one.value[at] == value) | (one.kind[at] != other.kind[by])
            both = both + np.count_nonzero(shown, axis=1)
            same = same + np.count_nonzero(meet, axis=1)
        found: BoolArray = (same > 0) & (2 * same >= both)
        return found

    def _sums_alike(self, mine: Sequence[PublishedTable], ranges: Sequence[Ranges]) -> BoolArray:
        """Say which releases may have at least half of the figures of single categories like the new one."""
        same = both = np.zeros(len(ranges[0][0]), np.int64)
        for sheet, number in product(mine, range(len(self.tables))):
            part = self.tables[number]
            for name in set(sheet.figures.names) & set(part.names):
                known = totals_of(sheet.figures, name)
                for label, (printed, cells) in category_rows(part, name).items():
                    rows = printed if printed.size else cells
                    value = known.get(label, 0) * 10**part.decimals
                    if value <= 0 or not rows.size:
                        continue
                    unit = 10**sheet.figures.decimals
                    lower, upper = (side[:, rows].sum(axis=1) * unit for side in ranges[number])
                    both = both + ((lower == upper) & (lower > 0))
                    same = same + ((lower <= value) & (value <= upper))
        found: BoolArray = (same >= SEVERAL) & (2 * same >= both)
        return found


Ranges: TypeAlias = tuple[FloatArray, FloatArray]
"""The least and the largest value behind each figure of each release."""


def _ranges(part: Figures, values: IntArray) -> Ranges:
    lower, upper = np.zeros(values.shape), np.zeros(values.shape)
    for number, kind in enumerate(part.kinds):
        rows = part.kind == number
        for side, ends in zip((lower, upper), kind.range(values[:, rows].ravel()), strict=True):
            side[:, rows] = ends.reshape(len(values), -1)
    return lower, upper


def _open_ended(lower: FloatArray, upper: FloatArray) -> Ranges:
    return np.where(lower <= -UNBOUNDED, -np.inf, lower), np.where(upper >= UNBOUNDED, np.inf, upper)


@dataclass(frozen=True, eq=False)
class _LaidTable:
    """A table with all its finest cells: ``finest`` are their rows, ``sums`` those of all others."""

    equations: Equations
    codes: IntArray
    finest: IntArray
    sums: IntArray

    @classmethod
    def of(cls, part: Figures) -> _LaidTable | None:
        """Lay out a table; None if finest cells are missing, or if it covers only a part of a dimension."""
        equations = equations_of(part)
        axes = equations.space.axes
        if any(axis.parts or axis.pieces or axis.kept is not None for axis in axes):
            return None
        rows = equations.rows_of(part)
        codes = np.stack(equations.space.grid.decode(equations.positions[rows]), axis=1)
        leaf = np.all([np.isin(codes[:, k], axis.leaves) for k, axis in enumerate(axes)], axis=0)
        if np.count_nonzero(leaf) != np.prod([len(axis.leaves) for axis in axes]):
            return None
        return cls(equations, codes, np.flatnonzero(leaf), np.flatnonzero(~leaf))

    def adds_up(self, ranges: Ranges) -> BoolArray:
        """Say in which releases every sum can equal that of its finest cells."""
        fine = np.ones(len(ranges[0]), bool)
        for row in self.sums.tolist():
            inside = np.ones(self.finest.size, bool)
            for k, axis in enumerate(self.equations.space.axes):
                inside &= np.isin(self.codes[self.finest, k], list(axis.under[self.codes[row, k]]))
            lower, upper = (side[:, self.finest[inside]].sum(axis=1) for side in ranges)
            fine &= (lower <= ranges[1][:, row]) & (ranges[0][:, row] <= upper)
        return fine


class _Moved(NamedTuple):
    """Bounds on how much cells changed, and where both values are known."""

    least: FloatArray
    most: FloatArray
    exact: BoolArray


@dataclass(frozen=True, eq=False)
class _Comparison:
    """An earlier table and a new one, for the values of many releases at once."""

    table: _LaidTable
    new: Equations
    ranges: Ranges
    rules: Settings

    @property
    def unit(self) -> int:
        """How many units of the last decimal make one."""
        return int(10 ** max(self.table.equations.decimals, self.new.decimals))

    def loud(self, fewest: int, inside: BoolArray) -> BoolArray:
        """Say with which releases a comparison may reveal something."""
        pair = ReleasePair(self.table.equations, self.new)
        if not pair.covered:
            # Categories that only one of them has are left to the comparison one by one.
            return np.ones(inside.size, bool)
        names, found = tuple(pair.common), np.zeros(inside.size, bool)
        if names:
            finest = self._moved(names, pair.common)
            found |= self._changed(finest, names, pair.common, fewest)
            # Margins say more where not all of the finest cells are known.
            hidden = ~finest.exact.all(axis=1)
            fewer = (some for k in range(len(names) - 1, 0, -1) for some in combinations(names, k))
            for some in fewer if hidden.any() else ():
                found |= hidden & self._changed(self._moved(some, pair.common), some, pair.common, fewest)
        if not inside.any():
            return found
        asked = dict.fromkeys([names, *((name,) for name in names), ()])
        faces = [self._moved(face, pair.common) for face in asked]
        lost, gained = (
            np.any([(face.exact & (sign * face.most < 0)).any(axis=1) for face in faces], axis=0) for sign in (1, -1)
        )
        top = self.rules.top(self.unit)
        for face in faces:
            small = (face.least < top) & (face.most > -top) & ((face.least != 0) | (face.most != 0))
            found |= inside & ~(lost & gained) & small.any(axis=1)
        return found

    def _changed(
        self, moved: _Moved, names: Sequence[str], labels: Mapping[str, Sequence[str]], fewest: int
    ) -> BoolArray:
        """Say in which releases a few people may have changed a crossing, or a category in it."""
        sizes = [len(labels[name]) for name in names]
        codes = np.indices(sizes).reshape(len(sizes), -1)
        parts = [np.ones(codes.shape[1], bool)]
        parts += [codes[k] == code for k, size in enumerate(sizes) if len(sizes) > 1 for code in range(size)]
        few = [_few(moved.least[:, part], moved.most[:, part], fewest, self.rules.amounts) for part in parts]
        found: BoolArray = np.any(few, axis=0)
        return found

    def _moved(self, names: Sequence[str], labels: Mapping[str, Sequence[str]]) -> _Moved:
        """Return how much the cells of some dimensions changed: sums of finest cells, of which none is missing."""
        old = self.table.equations
        place, size = np.zeros(self.table.finest.size, np.int64), 1
        for name in names:
            order = {label: i for i, label in enumerate(labels[name])}
            axis = old.space.axis(name)
            numbers = np.array([order.get(label, 0) for label in old.space.axes[axis].nodes])
            place = place * len(order) + numbers[self.table.codes[self.table.finest, axis]]
            size *= len(order)
        rows = self.table.finest[np.argsort(place, kind="stable")]
        scale = self.unit // 10**old.decimals
        before = [side[:, rows].reshape(len(side), size, -1).sum(axis=2) * scale for side in self.ranges]
        found = values_of(self.new, names, [labels[name] for name in names], self.rules.clock.left)
        low, high = _open_ended(*(end.astype(np.float64) for end in found))
        low, high = (end * (self.unit // 10**self.new.decimals) for end in (low, high))
        return _Moved(low - before[1], high - before[0], (low == high) & (before[0] == before[1]))


def _few(least: FloatArray, most: FloatArray, fewest: int, amounts: bool) -> BoolArray:
    """Say where a change may have been made by a few people, counted as :mod:`discreet.decide.ledger.change` does."""
    gains, losses = np.maximum(least, 0), np.maximum(-most, 0)
    people = np.maximum(*((side > 0 if amounts else side).sum(axis=1) for side in (gains, losses)))
    found: BoolArray = (people < fewest) & ((least != 0) | (most != 0)).any(axis=1)
    if amounts:
        # Amounts that nearly all changed tell nobody apart.
        found &= 2 * np.count_nonzero((least > 0) | (most < 0), axis=1) <= least.shape[1]
    return found
