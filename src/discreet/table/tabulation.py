"""A tabulation: every cell and margin of a set of records, with what the sensitivity rules need to know about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, LimitError, RequestError, nearest, require
from discreet.core.numerics import AnyArray, BoolArray, FloatArray, IntArray, NumberArray, first_true
from discreet.core.text import Readable, columns, html_table
from discreet.table.axis import Axis
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.grid import Dimension, Grid, OnGrid, add_up, locate, recode
from discreet.table.hierarchy import TOTAL, Hierarchy
from discreet.table.table import Table
from discreet.table.units import ColumnChange, Columns, Frozen, Level, LevelName, Number, Respondents, Response

if TYPE_CHECKING:
    from discreet.table.arrow_files import Backend, Frame


@dataclass(frozen=True, eq=False, repr=False)
class Tabulation(OnGrid, Frozen, Readable):
    """The cells of every margin wanted, as columns: counts, sums, and the largest contributions to each.

    ``cells`` are sorted positions, row-major over the nodes of the axes, of the cells that hold records; position 0 is
    the grand total. ``margins`` lists which dimensions were crossed: a cell is among the margins if its dimensions
    that are not at their total are exactly one of them. Rules never need the records again. ``respondents`` says who
    contributed what, if the records name their contributors; without it nobody can tell who is in several cells.
    ``impossible`` is the number of cells and totals that cannot occur.

    >>> figures = Table.from_array([[3, 0], [1, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> tabulation = Tabulation.from_table(figures)
    >>> int(tabulation.records[tabulation.find(area="s")]), len(tabulation)
    (6, 8)
    """

    axes: tuple[Axis, ...]
    margins: tuple[tuple[str, ...], ...]
    cells: IntArray
    records: IntArray
    weighted: FloatArray | None
    responses: tuple[Response, ...]
    contributors: Level
    holdings: Level | None = None
    dropped: int = 0
    respondents: Respondents | None = None
    impossible: int = 0

    def __post_init__(self) -> None:
        size = self.grid.size
        if len(self.names) < len(self.axes):
            raise DataError(f"dimension names are {[axis.name for axis in self.axes]}; every name must be unique")
        super().__post_init__()
        if self.cells.size and (self.cells[0] < 0 or self.cells[-1] >= size or (np.diff(self.cells) <= 0).any()):
            raise DataError("cell positions must be sorted, unique and inside the tabulation")
        figures: dict[str, NumberArray | None] = {"records": self.records, "weighted": self.weighted}
        figures |= {response.name: response.sums for response in self.responses}
        names = [response.name for response in self.responses]
        self._check(figures, signed=names)
        for kind, level in self.levels.items():
            self._check(level.columns(kind, names))

    @cached_property
    def places_of_respondents(self) -> tuple[tuple[IntArray, BoolArray], ...]:
        """The code of every entry of the respondents along each axis, in few bytes, and which codes occur."""
        assert self.respondents is not None
        found = zip(self.axes, self.grid.decode(self.respondents.cell), strict=True)
        return tuple(
            (code.astype(np.min_scalar_type(len(axis))), np.bincount(code, minlength=len(axis)) > 0)
            for axis, code in found
        )

    def _check(self, figures: Columns, signed: Sequence[str] = ()) -> None:
        """Refuse columns without one figure per cell, and figures that no rule can judge."""
        for name, column in figures.items():
            if column is None:
                continue
            if column.shape[0] != self.cells.size:
                raise DataError(f"{self.cells.size} cells but {column.shape[0]} figures of {name}; give one per cell")
            bad = ~np.isfinite(column) if name in signed else ~(np.isfinite(column) & (column >= 0))
            if (row := first_true(bad)) is not None:
                least = "" if name in signed else " of 0 or more"
                raise DataError(f"cell {self.describe(row)}: {name} is {column[row]}; every cell needs a number{least}")

    @classmethod
    def from_table(
        cls,
        table: Table,
        *,
        hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]] | None = None,
        total: str = TOTAL,
    ) -> Tabulation:
        """Lay a frequency table out with all its margins; every person is a contributor.

        Args:
            table: the counts of the finest categories.
            hierarchies: for a dimension its tree, or several trees over it; their groups are cells too.
            total: the code of the totals of dimensions without a hierarchy.

        >>> by_region = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b"})
        >>> counts = Table.from_array([3, 1, 5], {"region": ["a1", "a2", "b1"]})
        >>> Tabulation.from_table(counts, hierarchies={"region": by_region}).records.tolist()
        [9, 4, 3, 1, 5, 5]
        """
        trees = hierarchies or {}
        require(trees, table.names, "the table has no dimension")
        axes = tuple(_axis(d, trees.get(d.name, ()), total) for d in table.dimensions)
        grid = Grid(tuple(len(axis) for axis in axes))
        maps = [[np.zeros(len(axis), np.int64), *axis.level_maps()] for axis in axes]
        codes = [
            recode(dimension.categories, axis.codes)[table.codes(dimension.name)]
            for dimension, axis in zip(table.dimensions, axes, strict=True)
        ]
        parts = []
        for levels in product(*maps):
            position = grid.encode([level[code] for level, code in zip(levels, codes, strict=True)])
            kept = position >= 0
            parts.append(add_up(position[kept], table.counts[kept], grid.size))
        cells = np.concatenate([cell for cell, _ in parts])
        counts = np.concatenate([count for _, count in parts])
        order = np.argsort(cells)
        margins = tuple(
            tuple(axis.name for i, axis in enumerate(axes) if mask >> i & 1) for mask in range(2 ** len(axes))
        )
        level = Level(counts[order], None, ())
        return cls(
            axes, margins, cells[order], counts[order], None, (), level, impossible=_impossible(table, grid, axes, maps)
        )

    @classmethod
    def from_columns(
        cls,
        axes: tuple[Axis, ...],
        margins: tuple[tuple[str, ...], ...],
        responses: Sequence[tuple[str, str | None, bool]],
        columns: Mapping[str, AnyArray],
        *,
        top: int,
        dropped: int = 0,
        respondents: Respondents | None = None,
    ) -> Tabulation:
        """Build a tabulation from columns that are named as in its file, with the positions of its cells in ``cell``.

        Each response comes with the variable by which the rules judge it, and with whether it counts people, by their
        weights. ``top`` is the number of largest contributions, ``dropped`` that of records left out.
        """
        names = [name for name, _, _ in responses]
        sums = [
            Response(name, shadow, columns[f"sum:{name}"], columns.get(f"weighted_sum:{name}"), people)
            for name, shadow, people in responses
        ]
        contributors = Level.from_columns("contributor", names, columns, top)
        holdings = Level.from_columns("holding", names, columns, top) if "holding:units" in columns else None
        counts = columns["cell"], columns["records"], columns.get("weighted")
        return cls(axes, margins, *counts, tuple(sums), contributors, holdings, dropped, respondents)

    @property
    def categories_by_name(self) -> dict[str, tuple[str, ...]]:
        """The nodes of each dimension."""
        return {axis.name: axis.codes for axis in self.axes}

    def __len__(self) -> int:
        return int(self.cells.size)

    @property
    def whole(self) -> int:
        """How many cells and totals there are, empty ones included: what every "of" counts.

        >>> Tabulation.from_table(Table.from_array([[3, 0], [1, 5]], ["a", "b"])).whole
        9
        """
        return cells_and_totals([self])

    @property
    def levels(self) -> dict[LevelName, Level]:
        """The kinds of units there are figures of."""
        return {"contributor": self.contributors, **({"holding": self.holdings} if self.holdings else {})}

    @property
    def top(self) -> int:
        """How many of the largest contributions are kept; 0 without a response."""
        return self.contributors.largest[0].top.shape[1] if self.contributors.largest else 0

    def axis(self, name: str) -> Axis:
        """Return a dimension with its nodes."""
        require([name], self.names, "the table has no dimension")
        return self.axes[self.names.index(name)]

    def response(self, name: str | None = None) -> int:
        """Return the position of a response, by default of the only one."""
        names = [response.name for response in self.responses]
        if name is None:
            if len(names) != 1:
                raise RequestError(f"the table has {len(names)} responses, {names}; name one")
            return 0
        require([name], names, "the table has no response")
        return names.index(name)

    def codes(self, name: str) -> IntArray:
        """Return the node of every cell along a dimension, as a position in its axis."""
        return self.grid.code(self.cells, self.names.index(self.axis(name).name))

    def label(self, i: int) -> dict[str, str]:
        """Return the codes of cell number i, by dimension."""
        return self.grid.label(int(self.cells[i]))

    def describe(self, i: int) -> str:
        """Return the codes of cell number i as a phrase."""
        return self.grid.describe(int(self.cells[i]))

    def find(self, fixed: Mapping[str, object] | None = None, /, **more: object) -> int:
        """Return the number of a cell; dimensions that are not named are at their total."""
        wanted = {**(fixed or {}), **more}
        require(wanted, self.names, "the table has no dimension")
        codes = [axis.dimension.code(wanted.get(axis.name, axis.total)) for axis in self.axes]
        position = self.grid.encode(codes)
        slot = int(locate(self.cells, position))
        if slot < 0:
            phrase = self.grid.describe(int(position))
            here = tuple(axis.name for axis, code in zip(self.axes, codes, strict=True) if code)
            reason = "holds no record" if here in self.margins else f"is in none of the margins {list(self.margins)}"
            raise RequestError(f"cell {phrase} {reason}; name another")
        return slot

    def inner(self, names: Sequence[str]) -> BoolArray:
        """Say which cells are the finest of a margin: at a leaf along its dimensions, at the total along others."""
        chosen = np.ones(self.cells.size, bool)
        for axis in self.axes:
            codes = self.codes(axis.name)
            chosen &= np.isin(codes, axis.leaf_codes) if axis.name in names else codes == 0
        return chosen

    def table(self, *names: str, of: Literal["records", "contributors"] = "records") -> Table:
        """Return the frequency table over some dimensions, by default all, at their finest categories.

        This is what the risk measures take. The margin over these dimensions must have been tabulated.
        """
        wanted = names or self.names
        dims = [self.axis(name) for name in wanted]
        kept = tuple(name for name in self.names if name in wanted)
        if kept not in self.margins:
            raise RequestError(f"margin {list(kept)} was not tabulated; there are {[list(m) for m in self.margins]}")
        counts = self.records if of == "records" else self.contributors.units
        # Finished tables list empty cells too.
        rows = np.flatnonzero(self.inner(wanted) & (counts > 0))
        position = self.among_leaves(rows, wanted)
        order = np.argsort(position)
        dimensions = tuple(Dimension(axis.name, axis.leaves) for axis in dims)
        return Table(dimensions, position[order], counts[rows][order], np.zeros(0, np.int64))

    def among_leaves(self, rows: IntArray, names: Sequence[str] | None = None) -> IntArray:
        """Return where finest cells are in the table of the finest categories alone, by default of all dimensions.

        >>> cells = Tabulation.from_table(Table.from_array([[3, 0], [1, 5]], ["a", "b"]))
        >>> cells.among_leaves(np.flatnonzero(cells.inner(cells.names))).tolist()
        [0, 2, 3]
        """
        axes = [self.axis(name) for name in names or self.names]
        leaves = Grid(tuple(axis.leaf_codes.size for axis in axes))
        places = [locate(axis.leaf_codes, np.arange(len(axis))) for axis in axes]
        return leaves.encode([place[self.codes(axis.name)[rows]] for place, axis in zip(places, axes, strict=True)])

    def check_publishable(self) -> None:
        """Refuse to publish from a tabulation that holds plain and weighted figures side by side."""
        if self.weighted is None:
            return
        largest = int(self.records.max(initial=0))
        raise RequestError(
            f"the table holds the figures of {largest:,} records and those of the {self.weighted.max(initial=0):,.6g} "
            "that their weights represent, and only one of them can be published; tabulate the weighted estimates "
            "(estimates=True, --estimates), or leave the weights out"
        )

    def as_part(self, totals: Mapping[str, str] | None = None, /, **more: str) -> Tabulation:
        """Declare that totals along some dimensions are of the tabulated categories only, under a name.

        A table of the east alone can then be published beside tables of the country: its total is one more sum of
        the regions, never mistaken for theirs.

        >>> east = Tabulation.from_table(Table.from_array([3, 1], {"region": ["e1", "e2"]}))
        >>> east.as_part(region="East").label(0)
        {'region': 'East'}
        """
        wanted = {**(totals or {}), **more}
        require(wanted, self.names, "the table has no dimension")
        axes = tuple(axis.as_part(wanted[axis.name]) if axis.name in wanted else axis for axis in self.axes)
        return replace(self, axes=axes)

    def totals_among(self, codes: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Return the totals that are among the codes listed for their dimension."""
        return {axis.name: axis.total for axis in self.axes if axis.total in codes.get(axis.name, ())}

    def with_empty_cells(self) -> Tabulation:
        """Return a tabulation that also lists the cells of its margins without a record, with figures of 0."""
        cells = np.unique(np.concatenate([*(self._positions(margin) for margin in self.margins), self.cells]))
        slot = locate(cells, self.cells)

        def spread(column: npt.NDArray[Number]) -> npt.NDArray[Number]:
            wide = np.zeros((cells.size, *column.shape[1:]), column.dtype)
            wide[slot] = column
            return wide

        return self.with_columns(spread, cells=cells)

    def with_columns(self, change: ColumnChange, **about: Any) -> Tabulation:
        """Return a tabulation with every column of figures changed, and other fields replaced."""
        return replace(
            self,
            **about,
            records=change(self.records),
            weighted=None if self.weighted is None else change(self.weighted),
            responses=tuple(response.mapped(change) for response in self.responses),
            contributors=self.contributors.mapped(change),
            holdings=None if self.holdings is None else self.holdings.mapped(change),
        )

    def _positions(self, margin: tuple[str, ...]) -> IntArray:
        lengths = {axis.name: len(axis) - 1 for axis in self.axes if axis.name in margin}
        if Grid(tuple(lengths.values())).size > DENSE_LIMIT:
            raise LimitError(f"margin {list(margin)} has more than {DENSE_LIMIT:,} cells; ask for a coarser one")
        return self.grid.cross([np.arange(1, len(axis)) if axis.name in lengths else [0] for axis in self.axes])

    def columns(self) -> Columns:
        """Return every figure as a column with a row per cell, named as in a file; None for none."""
        names = [response.name for response in self.responses]
        figures: dict[str, NumberArray | None] = {"records": self.records, "weighted": self.weighted}
        for response in self.responses:
            figures[f"sum:{response.name}"] = response.sums
            figures[f"weighted_sum:{response.name}"] = response.weighted_sums
        for name, level in self.levels.items():
            figures |= level.columns(name, names)
        return figures

    def to_frame(self, backend: Backend = "pandas") -> Frame:
        """Return a frame with a row per cell: a column per dimension, then every figure."""
        from discreet.table.arrow_files import frame_from_arrow
        from discreet.table.table_writer import arrow_from_cells

        return frame_from_arrow(arrow_from_cells(self.axes, self.cells, self.columns()), backend)

    def write(self, path: str | Path) -> None:
        """Write a Parquet file, which keeps everything, or a CSV file, atomically."""
        from discreet.table.table_writer import write_cells

        about = {
            "responses": [
                {"name": r.name, "shadow": r.shadow, **({"counts": True} if r.counts else {})} for r in self.responses
            ],
            "margins": [list(margin) for margin in self.margins],
            "top": self.top,
            "dropped": self.dropped,
        }
        write_cells(path, self.axes, self.cells, self.columns(), about, self.respondents)

    @property
    def headline(self) -> str:
        """What was tabulated, in a line."""
        spread = " × ".join(f"{axis.name} ({axis.leaf_codes.size})" for axis in self.axes)
        sums = "".join(f", {response.name}" for response in self.responses)
        lost = f"; {self.dropped:,} records left out" if self.dropped else ""
        empty = self.whole - int(np.count_nonzero(self.records))
        none = f", {empty:,} of them empty" if empty else ""
        cells = f"{self.whole:,} cells and totals in {len(self.margins)} margins"
        return f"Tabulation {spread}{sums}: {cells}{none}{lost}"

    def preview(self, rows: int = 12) -> tuple[list[str], list[list[str]], int]:
        """Return a header, rows and the number of label columns of a short view."""
        header = [*self.names, "records", "contributors", *(response.name for response in self.responses)]
        body = [
            [
                *self.label(i).values(),
                f"{self.records[i]:,}",
                f"{self.contributors.units[i]:,}",
                *(f"{response.sums[i]:,.6g}" for response in self.responses),
            ]
            for i in range(min(rows, len(self)))
        ]
        if len(self) > rows:
            body.append(["…"] * len(header))
        return header, body, len(self.names)

    def __str__(self) -> str:
        return f"{self.headline}\n{columns(*self.preview())}"

    def _repr_html_(self) -> str:
        return html_table(*self.preview(), caption=self.headline)


def cells_and_totals(tables: Sequence[Tabulation]) -> int:
    """Return how many cells and totals tables have, empty ones included; margins that several show count once."""
    sizes: dict[frozenset[str], int] = {}
    for table in tables:
        lengths = {axis.name: len(axis) - 1 for axis in table.axes}
        for margin in table.margins:
            size = prod(lengths[name] for name in margin)
            sizes[frozenset(margin)] = max(size, sizes.get(frozenset(margin), 0))
    return sum(sizes.values()) - max((table.impossible for table in tables), default=0)


def _impossible(table: Table, grid: Grid, axes: Sequence[Axis], maps: Sequence[Sequence[IntArray]]) -> int:
    """Return how many cells and totals hold structural zeros alone."""
    if not table.impossible.size:
        return 0
    found = 0
    codes = [
        recode(dimension.categories, axis.codes)[code]
        for dimension, axis, code in zip(table.dimensions, axes, table.grid.decode(table.impossible), strict=True)
    ]
    for levels in product(*maps):
        position = grid.encode([level[code] for level, code in zip(levels, codes, strict=True)])
        lost, times = np.unique(position[position >= 0], return_counts=True)
        below = [
            np.bincount(level[axis.leaf_codes] + 1, minlength=len(axis) + 1)[1:][node]
            for level, axis, node in zip(levels, axes, grid.decode(lost), strict=True)
        ]
        found += int(np.count_nonzero(times == np.prod(below, axis=0)))
    return found


def _axis(dimension: Dimension, trees: Hierarchy | Sequence[Hierarchy], total: str) -> Axis:
    """Return the axis of a dimension with its trees; without any, every category is directly under the total."""
    given = (trees,) if isinstance(trees, Hierarchy) else tuple(trees)
    axis = Axis(dimension.name, given or (Hierarchy.flat(dimension.categories, total=total),))
    finest = set(axis.leaves)
    for category in dimension.categories:
        if category not in finest:
            sums = category in axis.codes
            remedy = "leave it out: the hierarchy adds it up" if sums else nearest(category, axis.leaves)
            cell = f"category {category!r} of dimension {dimension.name!r}"
            raise DataError(f"{cell} is not among the finest of its hierarchy; {remedy}")
    return axis
