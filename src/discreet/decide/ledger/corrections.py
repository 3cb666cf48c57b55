"""Two versions of the same figures, some of which were corrected: what a reader learns who knows which.

The true tables of both say which of the finest cells differ. All others have one value, and a figure without a
corrected cell in it says the same of both versions. With corrected cells in it,

    a figure now = rest + Σ corrected cells now,    the figure before = rest + Σ corrected cells before,

with the same rest, and a corrected cell is above what it was, or below. Put behind the equations of one version, this
is all that the other one says. Which of the two it is, a reader is taken to know: somebody who knows only that a cell
was corrected, or not even that, knows less. Without true tables, a reader is taken to know the cells that two versions
print differently, and to take all others to be as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from discreet.auditing.levels import refuse_unfit, true_values
from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.decide.ledger.entry import PublishedTable
from discreet.table.equations import Equations, Layout, equations_of, lay_out
from discreet.table.figures import Figures
from discreet.table.grid import locate
from discreet.table.kinds import UNBOUNDED
from discreet.table.overlay import places, scaled
from discreet.table.release import Release
from discreet.table.space import AdditiveAxis
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation

NEAR = 1e-9
"""Sums of floating-point numbers that differ by less than this share of them are equal: a round choice."""
Originals: TypeAlias = Sequence[Table | Tabulation]


@dataclass(frozen=True)
class TruePair:
    """The true tables behind another version of some figures, and behind one's own."""

    other: Originals
    own: Originals

    @property
    def swapped(self) -> TruePair:
        """The pair, as it is seen from the other version."""
        return TruePair(self.own, self.other)


def refuse_foreign(release: Release, title: str, originals: Originals) -> None:
    """Refuse originals that a release was not made from."""
    try:
        for one in originals:
            refuse_unfit(release, one)
    except DataError as error:
        raise DataError(f"the original of «{title}»: {error}") from None


@dataclass(frozen=True, eq=False)
class OtherVersion:
    """What another version of the figures says, laid over the equations of one.

    ``unchanged`` are its tables without the figures that have corrected cells in them. ``positions`` are the places
    that have a value in the other version beside their own, with the ranges of that value. Each of the ``sums`` is a
    place, and the corrected cells in it; without any, its values are equal. The other version ``raised`` some corrected
    cells, or lowered them (False), at least by ``least`` units. ``truth`` is its true value of every place.
    """

    title: str
    layout: Layout
    unchanged: tuple[PublishedTable, ...]
    positions: IntArray
    lower: IntArray
    upper: IntArray
    sums: tuple[tuple[int, tuple[int, ...]], ...]
    raised: tuple[tuple[int, bool], ...]
    least: int
    said: Said

    @classmethod
    def of(
        cls,
        main: Sequence[PublishedTable],
        theirs: Sequence[PublishedTable],
        pair: TruePair | None,
        every: Sequence[PublishedTable] = (),
    ) -> OtherVersion:
        """Lay the tables of another version over those of one; the pair is that of the other one, and of this one.

        ``every`` are the tables of all versions, where there are more than these two.
        """
        one, other = ([sheet.figures for sheet in side] for side in (main, theirs))
        parts = tuple(sheet.figures for sheet in every) or (*one, *other)
        layout, decimals = lay_out(parts, (), None), max(part.decimals for part in parts)
        if pair is None:
            differ = _Difference.seen(layout, decimals, other, one)
        else:
            differ = _Difference.of(layout, decimals, pair)
        # What one version shows in finer cells says more of the other's.
        changes = [_ChangedTable.of(layout, sheet.figures, differ, sheet.entry.title) for sheet in (*theirs, *main)]
        at = np.unique(np.array([place for one in changes for place in one.held], np.int64))
        # Values are never negative, unless marks say that they may be.
        signed = any((kind.said[0] or 0) < 0 for part in parts for kind in part.kinds)
        lower, upper = np.full(at.size, -UNBOUNDED if signed else 0), np.full(at.size, UNBOUNDED)
        unchanged, sums = [], list[tuple[int, tuple[int, ...]]]()
        for change in changes:
            mine = np.array(sorted(change.held), np.int64)
            sums += [(place, cells) for place, cells in change.held.items() if cells != (place,)]
            sums += [(int(i), ()) for i in np.setdiff1d(at[change.covers(at)], mine)]
        for sheet in theirs:
            scale = 10 ** (decimals - sheet.figures.decimals)
            low, high = (scaled(ends, scale) for ends in sheet.figures.ranges())
            rows = places(layout.space, layout.positions, sheet.figures)
            inside = np.isin(rows, at)
            place = np.searchsorted(at, rows[inside])
            np.maximum.at(lower, place, low[inside])
            np.minimum.at(upper, place, high[inside])
            unchanged.append(replace(sheet, figures=taken(sheet.figures, ~inside)))
        raised = differ.raised(list(dict.fromkeys(cell for one in changes for cell in one.cells)))
        found = (tuple(unchanged), at, lower, upper, tuple(dict.fromkeys(sums)), raised, differ.least, differ.said[0])
        return cls(theirs[0].entry.title, layout, *found)

    def put(self, stated: Equations) -> Equations:
        """Return the equations of one version, with the values of the other behind them."""
        first = stated.lower.size
        there = {int(place): first + k for k, place in enumerate(self.positions)}
        rests = [(place, cells) for place, cells in self.sums if cells]
        rest = {one: first + self.positions.size + k for k, one in enumerate(rests)}
        rows: list[tuple[int, ...]] = []
        for one in self.sums:
            place, cells = one
            if cells:
                rows.append((place, rest[one], *cells))
                rows.append((there[place], rest[one], *(there[cell] for cell in cells)))
            else:
                rows.append((there[place], place))
        for k, (cell, up) in enumerate(self.raised):
            ends = (there[cell], cell) if up else (cell, there[cell])
            rows.append((*ends, first + self.positions.size + len(rests) + k))
        least = np.full(len(rests), min(0, int(stated.lower.min()))), np.full(len(self.raised), self.least)
        lower = np.concatenate([self.lower, *least])
        upper = np.append(self.upper, np.full(lower.size - self.upper.size, UNBOUNDED))
        names = [f"{stated.describe(place)} in «{self.title}»" for place in self.positions.tolist()]
        names += [f"{stated.describe(place)} without its corrected cells" for place, _ in rests]
        names += [f"the correction of {stated.describe(cell)}" for cell, _ in self.raised]
        return _extended(stated, rows, lower, upper, names)


def put_together(others: Sequence[OtherVersion], stated: Equations) -> Equations:
    """Return the equations of one version, with the values of others behind them, and how these relate to each other.

    What is corrected between two others, and in neither of them as it is here, no equation of either tells.
    """
    found, there = stated, list[dict[int, int]]()
    for other in others:
        first = found.lower.size
        there.append({place: first + k for k, place in enumerate(other.positions.tolist())})
        found = other.put(found)
    first, rows, least, names = found.lower.size, list[tuple[int, ...]](), list[int](), list[str]()
    for (one, mine), (other, theirs) in combinations(zip(others, there, strict=True), 2):
        cells = ([cell for cell, _ in version.raised] for version in (one, other))
        both = np.array(sorted(set.intersection(*map(set, cells))), np.int64)
        above, below = one.said.above(other.said, both), other.said.above(one.said, both)
        for cell, up, down in zip(both.tolist(), above.tolist(), below.tolist(), strict=True):
            ends = (mine[cell], theirs[cell])
            if not up and not down:
                rows.append(ends)
                continue
            rows.append((*(ends if up else ends[::-1]), first + len(least)))
            least.append(min(one.least, other.least))
            names.append(f"the correction of {stated.describe(cell)} from «{one.title}» to «{other.title}»")
    return _extended(found, rows, np.array(least, np.int64), np.full(len(least), UNBOUNDED), names)


def _extended(
    stated: Equations, rows: Sequence[tuple[int, ...]], lower: IntArray, upper: IntArray, names: Sequence[str]
) -> Equations:
    """Return equations with more unknowns, and with rows in which the first is the sum of all others."""
    if not rows and not lower.size:
        return stated
    lengths = np.array([len(row) for row in rows], np.int64)
    return replace(
        stated,
        lower=np.append(stated.lower, lower),
        upper=np.append(stated.upper, upper),
        source=np.append(stated.source, np.full(lower.size, -1)),
        row=np.append(stated.row, np.full(lower.size, -1)),
        hidden=np.append(stated.hidden, np.zeros(lower.size, bool)),
        starts=np.append(stated.starts, stated.starts[-1] + np.cumsum(lengths)),
        columns=np.append(stated.columns, np.array([i for row in rows for i in row], np.int64)),
        signs=np.append(stated.signs, np.array([s for row in rows for s in (1, *[-1] * (len(row) - 1))], np.int64)),
        sums=(*stated.sums, *names),
    )


class Said(NamedTuple):
    """Between which values a version is known to be at every position: by its true tables, or by what it prints."""

    low: FloatArray
    high: FloatArray

    def above(self, other: Said, at: IntArray) -> BoolArray:
        """Say where this version is above another one."""
        found: BoolArray = self.low[at] > other.high[at]
        return found


@dataclass(frozen=True, eq=False)
class _Difference:
    """What the other version is known to be, and one's own. Corrected cells differ at least by so many units.

    ``values`` are those of every position by the originals of both, NaN where these do not say, if there are any.
    """

    said: tuple[Said, Said]
    values: tuple[FloatArray, ...] = ()
    least: int = 1

    @classmethod
    def of(cls, layout: Layout, decimals: int, pair: TruePair) -> _Difference:
        """Return what the originals say; integers differ by 1."""
        values: list[FloatArray] = []
        said = list[Said]()
        least = 1
        for originals in (pair.other, pair.own):
            at, told, whole = true_values(originals, layout.space, layout.positions, decimals)
            value = np.full(layout.positions.size, np.nan)
            value[at] = told
            values.append(value)
            least &= whole
            # Values that differ by no more than their last digits in a computer are equal.
            listed: FloatArray = np.nan_to_num(value)
            near = NEAR / 2 * np.maximum(np.abs(listed), 1.0)
            said.append(Said(listed - near, listed + near))
        return cls((said[0], said[1]), tuple(values), least)

    @classmethod
    def seen(cls, layout: Layout, decimals: int, others: Sequence[Figures], mine: Sequence[Figures]) -> _Difference:
        """Return what two versions print."""
        said = []
        for parts in (others, mine):
            stated = equations_of(parts, on=layout)
            unit = np.float64(10 ** (decimals - stated.decimals))
            said.append(Said(stated.lower * unit, stated.upper * unit))
        return cls((said[0], said[1]))

    def among(self, cells: IntArray, whole: int, name: str) -> BoolArray:
        """Say which cells of a table differ. What an original does not list is 0, if the others add up to its total."""
        for values in self.values:
            total = np.nan_to_num(values[cells]).sum()
            if not abs(total - values[whole]) <= NEAR * max(abs(values[whole]), 1.0):
                raise DataError(
                    f"the originals do not say what all cells of {name} are in both versions; give originals with the "
                    "dimensions and categories of the releases (in a plan, make all tables of the version that it "
                    "corrects)"
                )
        other, own = self.said
        return other.above(own, cells) | own.above(other, cells)

    def raised(self, cells: Sequence[int]) -> tuple[tuple[int, bool], ...]:
        """Say which corrected cells the other version raised, and which it lowered."""
        other, own = self.said
        return tuple(zip(cells, other.above(own, np.array(cells, np.int64)).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _ChangedTable:
    """A table of another version: where its figures are, its corrected cells, and the sums that hold such cells."""

    layout: Layout
    rows: IntArray
    cells: tuple[int, ...]
    held: dict[int, tuple[int, ...]]
    axes: dict[str, _Made]

    @classmethod
    def of(cls, layout: Layout, part: Figures, differ: _Difference, title: str) -> _ChangedTable:
        space = layout.space
        axes = {axis.name: _Made.of(axis, part) for axis in space.axes if axis.name in part.names}
        finest = space.cross({name: made.finest for name, made in axes.items()})
        at = _found(layout, finest, title)
        whole = space.cross({name: (space.axes[space.axis(name)].top(part),) for name in axes})
        differs = differ.among(at, int(_found(layout, whole, title)[0]), f"«{title}»")
        changed, cells = finest[differs], at[differs].tolist()
        held: dict[int, list[int]] = {}
        codes = np.stack(space.grid.decode(changed), axis=1).tolist() if changed.size else []
        for cell, code in zip(cells, codes, strict=True):
            around = {
                axis.name: axes[axis.name].around[place]
                for axis, place in zip(space.axes, code, strict=True)
                if axis.name in axes
            }
            for place in _found(layout, space.cross(around), title).tolist():
                held.setdefault(place, []).append(cell)
        rows = places(space, layout.positions, part)
        return cls(layout, rows, tuple(cells), {place: tuple(found) for place, found in held.items()}, axes)

    def covers(self, at: IntArray) -> BoolArray:
        """Say which positions are sums of this table's cells."""
        inside = np.ones(at.size, bool)
        codes = self.layout.space.grid.decode(self.layout.positions[at])
        for axis, code in zip(self.layout.space.axes, codes, strict=True):
            made = self.axes.get(axis.name)
            inside &= code == 0 if made is None else made.whole[code]
        return inside


@dataclass(frozen=True, eq=False)
class _Made:
    """A dimension of a table: its finest labels, and which labels of the joint axis are sums of these."""

    finest: tuple[int, ...]
    around: dict[int, tuple[int, ...]]
    whole: BoolArray

    @classmethod
    def of(cls, axis: AdditiveAxis, part: Figures) -> _Made:
        listed = axis.coded(part)[np.unique(part.codes[:, part.names.index(axis.name)])]
        finest = axis.finest(listed.tolist(), axis.top(part))
        owner = {leaf: label for label in finest for leaf in axis.under[label]}
        around: dict[int, list[int]] = {label: [] for label in finest}
        whole = np.zeros(len(axis.nodes), bool)
        for node, under in enumerate(axis.under):
            inside = {owner[leaf] for leaf in under if leaf in owner}
            whole[node] = bool(under) and sum(len(axis.under[label]) for label in inside) == len(under)
            for label in inside if whole[node] else ():
                around[label].append(node)
        return cls(finest, {label: tuple(nodes) for label, nodes in around.items()}, whole)


def _found(layout: Layout, positions: IntArray, title: str) -> IntArray:
    """Return where positions are in a layout."""
    at = locate(layout.positions, positions)
    if (at < 0).any():
        raise DataError(
            f"«{title}» and another version of it cannot be put together: not all sums of its cells are laid out; "
            "publish both with the same dimensions"
        )
    return at


def taken(part: Figures, rows: BoolArray) -> Figures:
    """Return some of a table's figures."""
    upper = None if part.upper is None else part.upper[rows]
    return replace(part, codes=part.codes[rows], values=part.values[rows], kind=part.kind[rows], upper=upper)
