"""The attacker's equations: every published figure and every additive relation between them, over all linked tables.

A position is a cell, a subtotal or a total. Each has a range: a single value if it is published exactly, a few if it is
rounded, everything if it is hidden. Each equation says that a position is the sum of others along one dimension. So
hidden figures meet only where they share a total, and fall into small groups.

Statistics beside the figures bound sums of them. Other measures of the same cells, such as the sums behind means, have
positions of their own behind those of the figures, with the same equations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.core.errors import InfeasibleError, LimitError, RequestError, require
from discreet.core.numerics import BoolArray, IntArray, sorted_union, whole_where_near
from discreet.core.sparse import starts_of
from discreet.core.text import Readable, decimal_text, grouped_text
from discreet.table.blocks import Asked, lay_blocks, relations_of
from discreet.table.figures import Figures
from discreet.table.grid import locate
from discreet.table.kinds import UNBOUNDED, Kind
from discreet.table.overlay import Overlay, only_open, places
from discreet.table.release import Published, parts_of
from discreet.table.space import Space, space_of
from discreet.table.statistic import StatisticColumn
from discreet.table.statistic_rows import Inequalities, MeasuredPositions

LARGEST = 30_000_000
"""The most positions that are laid out: a round figure, about 2 GB of ranges and sources."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The positions of linked tables and all sums among them in compressed rows, whatever figures are published."""

    parts: tuple[Figures, ...]
    space: Space
    positions: IntArray
    sums: tuple[IntArray, IntArray, IntArray]

    def serves(self, parts: Sequence[Figures], about: Sequence[str], asked: Asked | None) -> bool:
        """Say whether it fits these tables too: the same cells, with all sums that are asked about."""
        if about or asked is None or len(parts) != len(self.parts):
            return False
        for mine, part in zip(self.parts, parts, strict=True):
            same = (mine.labels, mine.total, mine.hierarchies) == (part.labels, part.total, part.hierarchies)
            if not same or not np.array_equal(mine.codes, part.codes):
                return False
        axes = {axis.name: axis for axis in self.space.axes}
        wanted = [{name: [axes[name].code(x) for x in found] for name, found in one.items()} for one in asked.values()]
        return all((locate(self.positions, self.space.cross(codes)) >= 0).all() for codes in wanted)


@dataclass(frozen=True, eq=False, repr=False)
class Equations(Readable):
    """Ranges of all positions, and equations Σ sign·value = 0 among them in compressed rows.

    ``positions`` are sorted. ``source`` is the published table that shows a position, -1 for none, and ``row`` its
    place there. ``hidden`` is true where a table marks the position as suppressed. ``draws`` numbers the releases that
    the tables belong to, whose random draws are independent; empty for a single release.

    Each of the ``measures`` has all positions, one measure after the other. ``inequalities`` are what statistics say,
    and ``reasons`` tell why the range of a position is narrower at its lower or upper end than its own figure says.
    ``unjudged`` are columns of statistics whose meaning is unknown.
    """

    space: Space
    parts: tuple[Figures, ...]
    positions: IntArray
    lower: IntArray
    upper: IntArray
    source: IntArray
    row: IntArray
    hidden: BoolArray
    starts: IntArray
    columns: IntArray
    signs: IntArray
    decimals: int = 0
    sums: tuple[str, ...] = ()
    draws: tuple[int, ...] = ()
    layout: Layout | None = None
    measures: tuple[str, ...] = ("",)
    measured: MeasuredPositions | None = None
    inequalities: Inequalities | None = None
    reasons: Mapping[tuple[int, bool], Callable[[], str]] = field(default_factory=dict)
    unjudged: tuple[str, ...] = ()

    @property
    def stated(self) -> int:
        """How many positions all measures have; sums that are asked about follow."""
        return self.positions.size * len(self.measures)

    @property
    def statistics(self) -> tuple[StatisticColumn, ...]:
        """The columns of statistics beside the figures."""
        return () if self.measured is None else self.measured.columns

    @property
    def exact(self) -> BoolArray:
        """Whether the range of each position holds a single value."""
        same: BoolArray = self.lower == self.upper
        return same

    def find(self, cell: Mapping[str, object]) -> int:
        """Return the index of a cell among the positions; the label of ``measure`` is that of another measure."""
        labels = dict(cell)
        measure = str(labels.pop("measure", "")) if len(self.measures) > 1 else ""
        require([measure], self.measures, "what is published has no measure")
        position = self.space.position(labels)
        at = int(locate(self.positions, np.array(position)))
        if at < 0:
            raise RequestError(
                f"cell {self.space.describe(position)} is crossed by no published table; ask about the dimensions "
                "together (about=, --about)"
            )
        return at + self.measures.index(measure) * self.positions.size

    def locate(self, positions: IntArray) -> IntArray:
        """Return the indices of positions of the space, -1 where none is stated."""
        return locate(self.positions, positions)

    def rows_of(self, part: Figures) -> IntArray:
        """Return where the rows of a published table are among the positions."""
        measure = self.measures.index(part.measure) if part.measure else 0
        return places(self.space, self.positions, part) + measure * self.positions.size

    def describe(self, i: int) -> str:
        """Return a position as a phrase."""
        if i >= self.stated:
            return self.sums[i - self.stated]
        measure, place = divmod(i, self.positions.size)
        cell = self.space.describe(int(self.positions[place]))
        return f"{self.measures[measure]} of {cell}" if measure else cell

    def cell(self, i: int) -> dict[str, str]:
        """Return the labels of a position by dimension."""
        if i >= self.stated:
            return {"sum": self.sums[i - self.stated]}
        measure, place = divmod(i, self.positions.size)
        labels = self.space.label(int(self.positions[place]))
        return {"measure": self.measures[measure], **labels} if measure else labels

    def text(self, value: float) -> str:
        """Return a value in units of the last decimal as people read it, with separators between thousands."""
        return grouped_text(self.plain(value))

    def plain(self, value: float) -> str:
        """Return a value in units of the last decimal as programs read it."""
        if abs(value) >= UNBOUNDED:
            return "∞" if value > 0 else "-∞"
        if float(value).is_integer():
            return decimal_text(int(value), self.decimals)
        return f"{value / 10**self.decimals:.{self.decimals + 2}f}"

    def units(self, value: float) -> int:
        """Return a value in units of the last decimal published."""
        scaled = float(whole_where_near(float(value) * 10**self.decimals))
        if not scaled.is_integer():
            raise RequestError(f"{value} has more decimals than are published ({self.decimals}); round it")
        return int(scaled)

    def kind(self, i: int) -> Kind | None:
        """Return how a position is published, None where no table shows it."""
        if i >= self.source.size or self.source[i] < 0:
            return None
        part = self.parts[int(self.source[i])]
        return part.kinds[int(part.kind[int(self.row[i])])]

    def figures_at(self, at: IntArray) -> tuple[IntArray, list[Kind], IntArray]:
        """Return the number of the kind of each figure (as many as there are for none), all kinds, and the figures."""
        kinds = [kind for part in self.parts for kind in part.kinds]
        code, value = np.full(at.size, len(kinds)), np.zeros(at.size, np.int64)
        first = 0
        for number, part in enumerate(self.parts):
            mine = np.flatnonzero(self.source[at] == number)
            rows = self.row[at[mine]]
            code[mine] = first + part.kind[rows]
            value[mine] = part.values[rows] * 10 ** (self.decimals - part.decimals)
            first += len(part.kinds)
        return code, kinds, value

    def drawn_again(self) -> dict[int, list[tuple[Kind, int]]]:
        """Return what further releases show, by draws of their own, at positions that one shows already."""
        again: dict[int, dict[int, tuple[Kind, int]]] = {}
        draws = np.array(self.draws, np.int64)
        for number, (part, draw) in enumerate(zip(self.parts, self.draws, strict=False)):
            at, values = self.rows_of(part), part.values * 10 ** (self.decimals - part.decimals)
            weighs = np.array([kind.weighs for kind in part.kinds])[part.kind]
            shared = np.flatnonzero(weighs & (self.source[at] >= 0) & (self.source[at] != number))
            first = np.minimum(self.source[at[shared]], draws.size - 1)
            differ = values[shared] != self.figures_at(at[shared])[2]
            # Whatever is said of the draws, figures that differ were not drawn together.
            apart = draws[first] != draw
            own = apart | np.isin(first, first[differ])
            for row, other in zip(shared[own].tolist(), apart[own].tolist(), strict=True):
                found = again.setdefault(int(at[row]), {})
                # The tables of one release show one draw, however many of them show the figure.
                found[draw if other else -1 - number] = (part.kinds[int(part.kind[row])], int(values[row]))
        return {i: list(found.values()) for i, found in again.items()}

    def published_value(self, i: int) -> int:
        """Return the figure at a position, in units of the last decimal."""
        part = self.parts[int(self.source[i])]
        return int(int(part.values[int(self.row[i])]) * 10 ** (self.decimals - part.decimals))

    def with_ranges(self, ranges: Mapping[int, tuple[int, int]]) -> Equations:
        """Return the equations of somebody who knows more: the given ranges narrow those of the positions."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for i, (low, high) in ranges.items():
            lower[i], upper[i] = max(int(lower[i]), low), min(int(upper[i]), high)
            if lower[i] > upper[i]:
                raise InfeasibleError(
                    f"cell {self.describe(i)} would lie between {self.text(low)} and {self.text(high)}, but what is "
                    f"published leaves {self.text(int(self.lower[i]))} to {self.text(int(self.upper[i]))}; correct "
                    "what the attacker is said to know"
                )
        return replace(self, lower=lower, upper=upper)

    def floors(self, lower: IntArray, zero: BoolArray | None = None) -> IntArray:
        """Return a lower bound on every position, given those of single ones, and which are known to be 0.

        A sum is at least the sum of its parts' bounds, and a part is at least the sum's bound if all others are 0.

        >>> shown = Figures.from_array([None, None, None], {"x": ["a", "b", "Total"]})
        >>> equations_of(shown).floors(np.array([0, 1, 1])).tolist()
        [2, 1, 1]
        >>> equations_of(shown).floors(np.array([3, 1, 0]), np.array([False, False, True])).tolist()
        [3, 3, 0]
        """
        least = lower.copy()
        if self.starts.size < 2:
            return least
        first = self.starts[:-1]
        equation = np.repeat(np.arange(first.size), np.diff(self.starts))
        whole, part = self.columns[first], np.ones(self.columns.size, bool)
        part[first] = False
        none = np.zeros(least.size, bool) if zero is None else zero.copy()
        while True:
            before, empty = least.copy(), none.copy()
            counts = part & ~none[self.columns]
            number = np.add.reduceat(counts.astype(np.int64), first)
            none[whole[number == 0]] = True
            none[self.columns[part & none[whole[equation]] & (least[self.columns] >= 0)]] = True
            sums = np.add.reduceat(np.where(counts, least[self.columns], 0), first)
            np.maximum.at(least, whole, np.maximum(sums, -UNBOUNDED))
            only = np.flatnonzero(counts & (number[equation] == 1))
            np.maximum.at(least, self.columns[only], least[whole[equation[only]]])
            if np.array_equal(before, least) and np.array_equal(empty, none):
                return least

    def with_sums(self, sums: Sequence[tuple[Sequence[int], str]]) -> Equations:
        """Return the equations with more positions behind the others, each the sum of some, asked about like cells."""
        several = [list(cells) for cells, _ in sums]
        first, count = self.lower.size, len(several)
        low = [max(sum(self.lower[cells].tolist()), -UNBOUNDED) for cells in several]
        high = [min(sum(self.upper[cells].tolist()), UNBOUNDED) for cells in several]
        columns = [column for k, cells in enumerate(several) for column in (first + k, *cells)]
        signs = [sign for cells in several for sign in (1, *[-1] * len(cells))]
        lengths = np.array([1 + len(cells) for cells in several], np.int64)
        return replace(
            self,
            lower=np.append(self.lower, np.array(low, np.int64)),
            upper=np.append(self.upper, np.array(high, np.int64)),
            source=np.append(self.source, np.full(count, -1)),
            row=np.append(self.row, np.full(count, -1)),
            hidden=np.append(self.hidden, np.zeros(count, bool)),
            starts=np.append(self.starts, self.starts[-1] + np.cumsum(lengths)),
            columns=np.append(self.columns, np.array(columns, np.int64)),
            signs=np.append(self.signs, np.array(signs, np.int64)),
            sums=(*self.sums, *(name for _, name in sums)),
        )

    def __str__(self) -> str:
        hidden = int((~self.exact).sum())
        return f"{self.starts.size - 1:,} equations over {self.lower.size:,} positions, {hidden:,} of them not exact"


def equations_of(
    releases: Published | Iterable[Published],
    *,
    about: Sequence[str] = (),
    least: float = 0,
    most: float | None = None,
    asked: Asked | None = None,
    layout: Layout | None = None,
    on: Layout | None = None,
) -> Equations:
    """State what is published about the cells of one or several linked tables.

    Args:
        releases: what is published; dimensions of the same name are the same dimension.
        about: dimensions whose crossing is asked about, though no table may show it.
        least: a lower bound on every value, in the published unit; counts are never negative. A bound above 0 applies
            to hidden or changed figures: published zeros stay zeros.
        most: what the value of every finest cell is at most.
        asked: sums that will be asked about, shown by a table or not: by the dimensions that they cross, the
            labels along each. Sums that neither a table nor this needs are then left out, which saves much if
            margins are not published, or if tables form a cycle. None for all.
        layout: the layout of the same tables with other figures, to be reused.
        on: a layout of these and other tables, which is used unchanged: positions that only others show are unknown.

    >>> both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    >>> shown = Figures.from_array([[3, None, 5], [4, None, 9], [7, 7, 14]], both)
    >>> equations_of(shown)
    3 equations over 9 positions, 2 of them not exact
    """
    parts = parts_of(releases)
    beside = any(part.statistics or part.measure for part in parts)
    if beside:
        # A statistic may be of sums that no table shows.
        asked = None
    if on is not None:
        layout = on
    elif layout is None or not layout.serves(parts, about, asked):
        layout = lay_out(parts, about, asked)
    decimals = max(part.decimals for part in parts)
    # Marks that say that values may be negative say it of all values.
    told = [(kind.said[0] or 0) / 10**part.decimals for part in parts for kind in part.kinds]
    least = min([least, *(one for one in told if one < 0)])
    # Values are integers of the last decimal: at least 0.5 of a count is at least 1, at most 3.5 is at most 3.
    ends = (
        math.ceil(whole_where_near(least * 10**decimals)),
        None if most is None else math.floor(whole_where_near(most * 10**decimals)),
    )
    measured = MeasuredPositions(layout.space, layout.positions, parts, _same_decimals(parts)) if beside else None
    measures = ("",) if measured is None else measured.measures
    states = _laid_over(layout, parts, decimals, ends, measured)
    several = [only_open(*layout.sums, state) for state in states]
    rows = several[0]
    if len(several) > 1:
        # The positions of each measure come after those before.
        lengths = np.concatenate([np.diff(starts) for starts, _, _ in several])
        columns = [columns + number * layout.positions.size for number, (_, columns, _) in enumerate(several)]
        rows = starts_of(lengths), np.concatenate(columns), np.concatenate([signs for _, _, signs in several])
    lower, upper, source, row, hidden = (
        np.concatenate([getattr(state, name) for state in states])
        for name in ("lower", "upper", "source", "row", "hidden")
    )
    return Equations(
        layout.space,
        parts,
        layout.positions,
        lower,
        upper,
        source,
        row,
        hidden,
        *rows,
        decimals=decimals,
        layout=layout,
        measures=measures,
        measured=measured,
        inequalities=None if measured is None else measured.inequalities(),
    )


def _laid_over(
    layout: Layout,
    parts: tuple[Figures, ...],
    decimals: int,
    ends: tuple[int, int | None],
    measured: MeasuredPositions | None,
) -> list[Overlay]:
    """Return what tables say about every position, for each measure."""
    states: list[Overlay] = []
    for number, measure in enumerate(("",) if measured is None else measured.measures):
        unpublished = measured is not None and number >= measured.published
        states.append(Overlay(layout.space, parts, layout.positions, decimals, *((0, None) if unpublished else ends)))
        for i, part in enumerate(parts):
            if part.measure == measure and not unpublished:
                states[-1].add(i, part)
        if measured is not None and unpublished:
            measured.confine(number, states)
    return states


def _same_decimals(parts: Sequence[Figures]) -> int:
    """Return the decimals of tables beside which there are statistics; refuse measures in different units."""
    found = {part.decimals: part for part in parts}
    if len(found) > 1:
        one, other = list(found.values())[:2]
        raise RequestError(
            f"{one.measure or one.figure} has {one.decimals} decimals and {other.measure or other.figure} "
            f"{other.decimals}; statistics are judged over integers in one unit: give both with the same decimals"
        )
    return next(iter(found))


def lay_out(parts: tuple[Figures, ...], about: Sequence[str], asked: Asked | None) -> Layout:
    """Lay out the positions and sums of linked tables."""
    space = space_of(parts)
    require(about, space.names, "what is published has no dimension")
    blocks = lay_blocks(space, parts, about, asked)
    grids = []
    for block in blocks:
        size = math.prod(len(axis.stated) for axis in block.axes.values())
        if size > LARGEST:
            raise LimitError(
                f"{' × '.join(block.axes)} has {size:,} cells, more than {LARGEST:,}; ask about fewer dimensions"
            )
        grids.append(space.cross({name: axis.stated for name, axis in block.axes.items()}))
    positions = grids[0] if len(grids) == 1 else sorted_union(*grids)
    return Layout(parts, space, positions, relations_of(blocks, grids, positions))
