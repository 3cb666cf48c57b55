"""Joined published tables: where every cell, subtotal and total can lie if all of them hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray, first_true
from discreet.core.sparse import Rows, starts_of
from discreet.core.text import decimal_text
from discreet.table.figures import Figures
from discreet.table.grid import locate
from discreet.table.kinds import UNBOUNDED
from discreet.table.space import AdditiveAxis, Space, covered

AT_ONCE = 4_000_000
"""How many figures are added up at once: 32 MB."""

LATE = 1e-9
"""Two sums that differ by less than this share of them differ by rounding: a round choice."""


class Overlay:
    """Ranges of positions while published tables are joined.

    ``source`` and ``row`` say which table reveals most about a position, and where; ``hidden`` whether one hides it.
    """

    def __init__(
        self, space: Space, parts: tuple[Figures, ...], positions: IntArray, decimals: int, least: int, most: int | None
    ) -> None:
        """Start with what is known about every value: that it lies between the least and the most.

        A least above 0 applies to hidden or changed figures: an exact 0 beside them is a 0.
        """
        self.space, self.parts, self.positions, self.decimals = space, parts, positions, decimals
        self.above, least = least if least > 0 else -UNBOUNDED, min(least, 0)
        # A sum is bounded by its cells; only values that may be negative need the number of cells for it.
        self.lower = np.full(positions.size, least if least >= 0 else max(least * positions.size, -UNBOUNDED))
        self.upper = np.full(positions.size, UNBOUNDED)
        inner = np.ones(positions.size, bool)
        for axis, code in zip(space.axes, space.grid.decode(positions), strict=True):
            inner &= np.isin(code, axis.leaves)
        self.lower[inner] = least
        if most is not None:
            self.upper[inner] = most
        self.source, self.row = np.full(positions.size, -1), np.full(positions.size, -1)
        self.cleared = np.full(positions.size, -1)
        self.hidden = np.zeros(positions.size, bool)
        self.floor = int(self.lower.min())

    def add(self, number: int, part: Figures) -> None:
        """Add one table to what is known."""
        self._refuse_unit(part)
        at = places(self.space, self.positions, part)
        scale = 10 ** (self.decimals - part.decimals)
        low, high = part.ranges()
        low, high = scaled(low, scale), scaled(high, scale)
        low = np.where(low == high, low, np.maximum(low, self.above))
        shown = ~part.hidden
        values = part.values * scale
        if (row := first_true(shown & (high < self.floor))) is not None:
            raise DataError(
                f"{part.name}: cell {part.describe(row)} is {part.text(row)}, which is below the least value "
                f"{decimal_text(self.floor, self.decimals)}; correct it, or say how low values may be (least=, --least)"
            )
        clash = (np.maximum(low, self.lower[at]) > np.minimum(high, self.upper[at])) & shown
        if (row := first_true(clash)) is not None:
            self._refuse(part, row, int(at[row]))
        self.lower[at] = np.maximum(self.lower[at], low)
        self.upper[at] = np.minimum(self.upper[at], high)
        self.hidden[at] |= part.hidden
        # The table that says most about a position is the one to cite.
        first = (self.source[at] < 0) | (shown & (self.lower[at] == self.upper[at]) & (values == self.lower[at]))
        self.source[at[first]], self.row[at[first]] = number, np.flatnonzero(first)
        if covered(part, self.parts):
            # Of a table of a part, nobody is in categories that its hierarchies omit.
            axes = {axis.name: axis for axis in self.space.axes if axis.name in part.names}
            inside = {name: axis.under[axis.top(part)] for name, axis in axes.items()}
            for name, axis in axes.items():
                codes = {code for tree in part.hierarchies.get(name, ()) for code in tree.codes[1:]}
                left = inside[name].difference(*(axis.under[axis.code(code)] for code in codes)) if codes else ()
                if left:
                    labels = {other: sorted(left if other == name else found) for other, found in inside.items()}
                    self._clear(part, locate(self.positions, self.space.cross(labels)))
        if part.absent == "empty":
            self._clear(part, locate(self.positions, left_empty(self.space, self.positions, part, at)))

    def _refuse_unit(self, part: Figures) -> None:
        """Refuse a table in another unit: thousands and units do not add up, nor do two currencies."""
        other = next((one for one in self.parts if one.unit and part.unit and one.unit != part.unit), None)
        if other is not None:
            raise DataError(
                f"figures of {part.name} are said to be in another unit ({part.unit}) than those of {other.name} "
                f"({other.unit}); write both in the same unit, and say the same in both"
            )

    def _clear(self, part: Figures, missing: IntArray) -> None:
        """Record that a table has nobody at some positions, as far as these are stated."""
        missing = missing[missing >= 0]
        wrong = missing[(self.lower[missing] > 0) | (self.upper[missing] < 0)]
        if wrong.size:
            i = int(wrong[0])
            raise DataError(
                f"{part.name} has no row for cell {self.space.describe(int(self.positions[i]))}, so it is empty there, "
                f"but another table has it between {self.lower[i]} and {self.upper[i]}; list the cell, or say that "
                'cells without a row are not published (absent="unpublished", --absent unpublished)'
            )
        self.lower[missing] = self.upper[missing] = 0
        self.cleared[missing] = next(i for i, one in enumerate(self.parts) if one is part)

    def _refuse(self, part: Figures, row: int, at: int) -> None:
        other = self.parts[int(self.source[at])] if self.source[at] >= 0 else None
        if other is None and self.cleared[at] >= 0:
            raise DataError(
                f"cell {part.describe(row)} is {part.text(row)} in {part.name}, but "
                f"{self.parts[int(self.cleared[at])].name} has no row for it, so it is empty there; list the cell, say "
                'that cells without a row are not published (absent="unpublished", --absent unpublished), or, where it '
                "is a total of some categories, say so (Hierarchy.as_part, --part)"
            )
        if other is None:
            raise DataError(
                f"{part.name}: cell {part.describe(row)} is {part.text(row)}, outside the range from {self.lower[at]} "
                f"to {self.upper[at]} that every value lies in"
            )
        told = (
            f"cell {part.describe(row)} is {part.text(row)} in {part.name}, but {other.text(int(self.row[at]))} in "
            f"{other.name}"
        )
        here, there = (one.values[i] / 10**one.decimals for one, i in ((part, row), (other, int(self.row[at]))))
        if part.decimals and abs(here - there) < LATE * abs(here):
            raise DataError(
                f"{told}: they differ in a late decimal, as sums of amounts with many decimals do; round the amounts "
                "of the records (in a plan, decimals = 2 under [records]), or correct one of them"
            )
        raise DataError(
            f"{told}; correct one of them, or, where one is a total of some categories only, give that a code of "
            "its own and say so (Tabulation.as_part, Hierarchy.as_part, --part)"
        )


def places(space: Space, positions: IntArray, part: Figures) -> IntArray:
    """Return where the rows of a table are among the positions."""
    columns = dict(zip(part.names, part.codes.T, strict=True))
    nothing = np.zeros(len(part), np.int64)
    position = space.grid.encode(
        [axis.coded(part)[columns[axis.name]] if axis.name in columns else nothing for axis in space.axes]
    )
    if np.unique(position).size < position.size:
        raise DataError(f"{part.name}: the total is given under two names; keep one of them")
    return locate(positions, position)


def left_empty(space: Space, positions: IntArray, part: Figures, at: IntArray) -> IntArray:
    """Return the inner cells that a table does not list as they are empty; its rows are ``at`` some positions."""
    tops = {axis.name: axis.top(part) for axis in space.axes if axis.name in part.names}
    return empty_cells(space, tops, positions[at], part.ranges())


def scaled(values: IntArray, scale: int) -> IntArray:
    """Return ends of ranges in smaller units; missing bounds stay missing."""
    return values if scale == 1 else np.where(np.abs(values) >= UNBOUNDED, values, values * scale)


def only_open(
    starts: IntArray, columns: IntArray, signs: IntArray, state: Overlay
) -> tuple[IntArray, IntArray, IntArray]:
    """Check the equations among exact figures, and keep those in which something is not exact, each once."""
    exact = state.lower == state.upper
    rows = starts.size - 1
    if not rows:
        return starts, columns, signs
    known = exact[columns]
    value = np.where(known, state.lower[columns], 0) * signs
    off = np.add.reduceat(value, starts[:-1])
    unknown = np.add.reduceat((~known).astype(np.int64), starts[:-1])
    wrong = np.flatnonzero((unknown == 0) & (off != 0))
    if wrong.size:
        e = int(wrong[0])
        parent = int(columns[starts[e]])
        stated = int(state.lower[parent])
        name = state.space.describe(int(state.positions[parent]))
        left = wrong.size - 1
        more = f" (nor {'does 1 other sum' if left == 1 else f'do {left:,} other sums'} add up)" if left else ""
        remedy = (
            'or say that cells without a row are not published (absent="unpublished", --absent unpublished), and list '
            "categories without any row in a hierarchy (hierarchies=, --hierarchy)"
            if int(off[e]) > 0
            else "or, where some rows are groups of others, say which (hierarchies=, --hierarchy), or read the "
            "release's Parquet file, which keeps that"
        )
        raise DataError(
            f"margin '{name}' is {decimal_text(stated, state.decimals)}, but its cells sum to "
            f"{decimal_text(stated - int(off[e]), state.decimals)}{more}; correct the figures, {remedy}"
        )
    keep = unknown > 0
    # Linked blocks state the sums of the margins that they share once each.
    mark = np.random.default_rng(0).integers(1, 2**62, state.positions.size, dtype=np.uint64)
    digest = np.add.reduceat(mark[columns] * signs.astype(np.uint64), starts[:-1])
    first = np.zeros(rows, bool)
    first[np.unique(digest, return_index=True)[1]] = True
    keep &= first
    entries = np.repeat(keep, np.diff(starts))
    return starts_of(np.diff(starts)[keep]), columns[entries], signs[entries]


def empty_cells(space: Space, tops: Mapping[str, int], listed: IntArray, ranges: tuple[IntArray, IntArray]) -> IntArray:
    """Return the positions of the cells without a row that are empty, none if no such cell has a row.

    They are the finest cells that the table tells apart, which may be sums of the finest ones of other tables. A sum
    above 0 without a row for any of its cells is not published below: those are not empty. Where no category of a group
    has a row anywhere, the table does not tell them apart, and they are empty only where the group is.

    Args:
        space: the labels of every dimension.
        tops: the dimensions of the table, and the place of its total along each: only cells in it can be left out.
        listed: the positions that have a row.
        ranges: what their figures are at least and at most.

    >>> axis = AdditiveAxis("x", ("Total", "g", "h", "a", "b", "c", "d"), ((0, (1, 2)), (1, (3, 4)), (2, (5, 6))))
    >>> empty_cells(Space((axis,)), {"x": 0}, np.arange(4), (np.ones(4), np.ones(4))).tolist()
    [4]
    >>> empty_cells(Space((axis,)), {"x": 0}, np.arange(2), (np.ones(2), np.ones(2))).tolist()
    [2]
    >>> empty_cells(Space((axis,)), {"x": 2}, np.arange(4), (np.ones(4), np.ones(4))).tolist()
    []
    """
    axes = [axis for axis in space.axes if axis.name in tops]
    leaves = [axis.leaves if not (top := tops[axis.name]) else tuple(sorted(axis.under[top])) for axis in axes]
    codes = [np.unique(space.grid.code(listed, space.names.index(axis.name))).tolist() for axis in axes]
    told = [axis.finest(seen, tops[axis.name]) for axis, seen in zip(axes, codes, strict=True)]
    low, high = ranges
    above_zero = listed[low > 0]
    if told == leaves:
        return _empty_among(space, axes, leaves, listed, above_zero)
    groups = space.cross({axis.name: below for axis, below in zip(axes, told, strict=True)})
    open_below = np.union1d(above_zero, np.intersect1d(listed[high > 0], groups))
    return np.union1d(
        _empty_among(space, axes, leaves, listed, open_below), _empty_among(space, axes, told, listed, above_zero)
    )


def _empty_among(
    space: Space,
    axes: Sequence[AdditiveAxis],
    labels: Sequence[tuple[int, ...]],
    listed: IntArray,
    above_zero: IntArray,
) -> IntArray:
    """Return the crossings of some labels that have no row and are empty."""
    inner = space.cross({axis.name: below for axis, below in zip(axes, labels, strict=True)})
    given = np.isin(inner, listed)
    if given.all() or not given.any():
        return np.zeros(0, np.int64)
    made = [_below(axis, below) for axis, below in zip(axes, labels, strict=True)]
    codes = [space.grid.code(above_zero, space.names.index(axis.name)) for axis in axes]
    # Counted along one dimension after the other: how many of the cells with a row every sum has.
    count = given.reshape([len(below) for below in labels]).astype(np.int64)
    for k, incidence in enumerate(made):
        count = _along(incidence, count, k)
    bare = np.zeros(count.shape, np.int64)
    bare[tuple(codes)] = count[tuple(codes)] == 0
    for k, (incidence, below) in enumerate(zip(made, labels, strict=True)):
        bare = _along(incidence.across(len(below)), bare, k)
    found: IntArray = inner[~given & (bare.ravel() == 0)]
    return found


def _below(axis: AdditiveAxis, leaves: tuple[int, ...]) -> Rows:
    """Return which leaves (columns) each label (row) is made of."""
    above = [axis.above(axis.nodes[leaf]) for leaf in leaves]
    column = np.repeat(np.arange(len(above)), [len(nodes) for nodes in above])
    row = np.array([node for nodes in above for node in nodes], np.int64)
    return Rows.gathered(row, column, np.ones(row.size, np.int64), (len(axis.nodes), len(above)))


def _along(rows: Rows, cells: IntArray, axis: int) -> IntArray:
    """Return the sums of cells along an axis: one for each row, over the cells in it."""
    first = np.moveaxis(cells, axis, 0)
    flat = first.reshape(first.shape[0], -1)
    found = np.zeros((rows.starts.size - 1, flat.shape[1]), np.int64)
    held = rows.lengths > 0
    step = max(1, AT_ONCE // max(rows.columns.size, 1))
    for at in range(0, flat.shape[1], step) if held.any() else ():
        found[held, at : at + step] = np.add.reduceat(flat[rows.columns, at : at + step], rows.starts[:-1][held])
    return np.moveaxis(found.reshape(-1, *first.shape[1:]), 0, axis)
