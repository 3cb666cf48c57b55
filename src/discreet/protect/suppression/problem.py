"""The problem of suppression, stated once over all cells of one table or of several linked ones.

Every position of the linked tables is a cell with a value, a cost and bounds; every sum is an equation. Cells that no
attacker can tell apart, because all that lies between them is zero and published, form one class: they are suppressed
together or not at all. The result is a sparse system over these classes.

Statistics of true values that are published beside the figures are inequalities Σ factor·value ≥ least. Each is an
equation with one class more, what is left over of it: in no table, hidden from everybody, and never below 0. So a
circuit keeps every printed statistic as it keeps every sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError, RequestError
from discreet.core.numerics import BoolArray, FloatArray, IntArray, each_once, first_true, whole_where_near
from discreet.core.sparse import Rows, components, digests, row_of
from discreet.protect.suppression.completion import fit, spread, true_values
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.statistic import StatisticColumn
from discreet.table.tabulation import Tabulation
from discreet.table.taken_apart import refuse_same

Beside: TypeAlias = tuple[StatisticColumn, ...]
"""The statistics beside one table."""
SLIGHT = 1e-3
"""The cost of a cell that is suppressed already: far below any price, which is 1 or more, but enough to prefer short
circuits."""


@dataclass(frozen=True, eq=False)
class Cells:
    """All positions of linked tables: true values in units of the last decimal, bounds, and where each table has them.

    ``listed`` is true where a table shows the position; other positions are hidden anyway.
    """

    equations: Equations
    tables: tuple[Tabulation, ...]
    places: tuple[IntArray, ...]
    values: IntArray
    lower: IntArray
    upper: IntArray
    listed: BoolArray

    def units(self, amounts: FloatArray) -> IntArray:
        """Return amounts in units of the last decimal, rounded down."""
        return np.floor(whole_where_near(amounts * 10.0**self.equations.decimals)).astype(np.int64)

    def gather(self, columns: Sequence[npt.ArrayLike]) -> FloatArray:
        """Return one figure per position from one column per table; the largest where tables share a position."""
        whole = np.zeros(self.values.size)
        for place, column in zip(self.places, columns, strict=True):
            whole[place] = np.fmax(whole[place], np.asarray(column, np.float64))
        return whole


@dataclass(frozen=True, eq=False)
class Demands:
    """What must remain possible: for each demanded cell, how far it can move down, up, and over all.

    Cells that are ``kept`` hidden are not sensitive: nothing is asked of them against insiders.
    """

    sensitive: BoolArray
    kept: BoolArray
    lower: IntArray
    upper: IntArray
    sliding: IntArray

    @property
    def hidden(self) -> BoolArray:
        """The cells that every pattern hides."""
        return self.sensitive | self.kept


class ClassEquations(NamedTuple):
    """Equations over classes of cells in compressed rows and columns, how far each class can move, and its price.

    ``least`` is the room in both directions. Circuits of cells up to the price ``base`` are looked for first; ``most``
    is the price of the most expensive cell. A class that is hidden already costs next to nothing, which is ``slight``.
    ``network`` says that no class is in more than two equations, and moves with weight 1 in each.
    """

    starts: IntArray
    columns: IntArray
    signs: FloatArray
    begins: IntArray
    rows: IntArray
    weights: FloatArray
    down: FloatArray
    up: FloatArray
    least: FloatArray
    price: IntArray
    slight: FloatArray
    primary: BoolArray
    base: float
    most: float
    network: bool


@dataclass(frozen=True, eq=False)
class Problem:
    """Classes of cells, the system of their equations, and what must remain possible.

    ``member`` gives the class of every position, -1 where it cannot move. ``free`` classes are in no table, and cost
    nothing; those ``kept`` are hidden without being sensitive. ``lower``, ``upper`` and ``sliding`` are the levels of
    classes. The last classes are ``left`` over of what
    statistics say.
    """

    cells: Cells
    demands: Demands
    member: IntArray
    on: ClassEquations
    free: BoolArray
    kept: BoolArray
    lower: IntArray
    upper: IntArray
    sliding: IntArray
    left: int = 0

    @property
    def size(self) -> int:
        """The number of classes."""
        return int(self.on.price.size)

    @property
    def always(self) -> BoolArray:
        """The classes that every pattern hides: sensitive ones, those kept hidden, and what no table shows."""
        return self.on.primary | self.kept | self.free

    @property
    def rows(self) -> Rows:
        """The equations as sparse rows."""
        return Rows(self.on.starts, self.on.columns, self.on.signs)

    def positions(self, chosen: BoolArray) -> BoolArray:
        """Return which positions belong to the chosen classes and are shown by some table."""
        inside = self.member >= 0
        inside[inside] = chosen[self.member[inside]]
        return inside & self.cells.listed

    def cell(self, k: int) -> str:
        """Return the cell of a class as a phrase; of several, the first that a table shows."""
        at = np.flatnonzero((self.member == k) & self.cells.listed)
        return self.cells.equations.describe(int(at[0] if at.size else np.flatnonzero(self.member == k)[0]))


def lay_out(
    tables: Sequence[Tabulation],
    response: str | None,
    least: float,
    above_zero: bool = False,
    statistics: Sequence[Beside] = (),
    clock: Clock | None = None,
) -> Cells:
    """Join linked tables and check that they add up and agree.

    ``above_zero`` says that zeros are always published, so readers know that no hidden figure is 0. A ``least`` above 0
    is what they know of hidden figures beyond that. ``statistics`` of the true values are published beside the figures
    of each table.
    """
    exact = [Figures.of_tabulation(table, response=response, name=name_of(table, tables)) for table in tables]
    refuse_same(exact)
    if statistics:
        exact = [replace(part, statistics=beside) for part, beside in zip(exact, statistics, strict=True)]
    open_ = [replace(part, values=np.zeros_like(part.values), kind=np.ones_like(part.kind)) for part in exact]
    stated = equations_of(exact, least=min(least, 0.0), asked={})
    equations = equations_of(open_, least=min(least, 0.0), asked={}, layout=stated.layout)
    counted = None if statistics else true_values(stated, tables, response)
    values = fit(stated, spread(stated), clock) if counted is None else counted
    listed = np.zeros(values.size, bool)
    places = tuple(equations.rows_of(part) for part in exact)
    for place in places:
        listed[place] = True
    lower = equations.lower
    if least >= 0:
        floor = max(equations.units(least), int(above_zero))
        none = (equations.exact & (lower == 0)) | (listed & (values == 0) & above_zero)
        lower = equations.floors(np.where(listed & (values != 0), np.maximum(lower, floor), lower), none)
    small = np.flatnonzero(values < lower)
    if small.size:
        i = int(small[0])
        raise RequestError(
            f"readers are said to know that hidden values are at least {least:g}, but cell {equations.describe(i)} is "
            f"{equations.text(int(values[i]))}; give a smaller least (least=, --least)"
        )
    return Cells(equations, tuple(tables), places, values, lower, equations.upper, listed)


def name_of(table: Tabulation, tables: Sequence[Tabulation]) -> str:
    """Return the name of a table among those released together."""
    return " × ".join(table.names) if len(tables) > 1 else "release"


def state(cells: Cells, demands: Demands, cost: IntArray, published: BoolArray, zeros: bool) -> Problem:
    """Reduce the equations to the cells that can move.

    Positions that are ``published`` must be; ``zeros`` says whether zeros may be suppressed, as sensitive ones are in
    any case.
    """
    equations = cells.equations
    _refuse_clash(equations, published & demands.hidden)
    can = ~equations.exact & ~published
    if not zeros:
        can &= (cells.values != 0) | demands.hidden | ~cells.listed
    merged, leader, stuck = _merged(equations, can)
    can &= ~stuck[leader]
    kept = each_once(leader[can], can.size)
    rows = merged.among(kept, can.size)
    member = np.full(can.size, -1)
    member[can] = np.searchsorted(kept, leader[can])
    inside = np.flatnonzero(member >= 0)
    of = member[inside]

    def most(column: IntArray | BoolArray) -> IntArray:
        found = np.zeros(kept.size, np.int64)
        np.maximum.at(found, of, column[inside])
        return found

    def room(column: IntArray) -> FloatArray:
        found = np.full(kept.size, UNBOUNDED)
        np.minimum.at(found, of, column[inside])
        far: FloatArray = np.minimum(found, 2**52).astype(np.float64)
        return far

    down = room(cells.values - cells.lower)
    up = room(np.where(cells.upper >= UNBOUNDED, UNBOUNDED, cells.upper - cells.values))
    price = np.zeros(kept.size, np.int64)
    np.add.at(price, of, np.where(cells.listed, np.maximum(cost, 1), 0)[inside])
    primary, free = most(demands.sensitive) > 0, most(cells.listed) == 0
    stays = (most(demands.kept) > 0) & ~primary
    levels = [most(level) for level in (demands.lower, demands.upper, demands.sliding)]
    rows, down, up = _with_statistics(cells, member, rows, down, up)
    left = down.size - kept.size
    across = rows.across(down.size)
    nothing = np.zeros(left, np.int64)
    price, primary, free = np.append(price, nothing), np.append(primary, nothing > 0), np.append(free, nothing == 0)
    # A fixed hash of the place makes small costs differ, in the same way on any machine.
    spread = (np.arange(down.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)) / 2**24
    others = price[~free & ~primary]
    base, highest = (float(np.quantile(others, 0.1)), float(others.max())) if others.size else (1.0, 1.0)
    system = ClassEquations(
        starts=rows.starts,
        columns=rows.columns,
        signs=rows.values.astype(np.float64),
        begins=across.starts,
        rows=across.columns,
        weights=across.values.astype(np.float64),
        down=down,
        up=up,
        least=np.minimum(down, up),
        price=price,
        slight=SLIGHT * (1.0 + spread),
        primary=primary,
        base=base,
        most=highest,
        network=bool(across.lengths.max(initial=0) <= 2 and (np.abs(rows.values) == 1).all()),
    )
    lower, upper, sliding = (np.append(level, nothing) for level in levels)
    return Problem(cells, demands, member, system, free, np.append(stays, nothing > 0), lower, upper, sliding, left)


def _with_statistics(
    cells: Cells, member: IntArray, rows: Rows, down: FloatArray, up: FloatArray
) -> tuple[Rows, FloatArray, FloatArray]:
    """Return the equations with those of statistics, and how far classes can move, those left over behind the others.

    A statistic about a single class is a bound on it.
    """
    said, count = cells.equations.inequalities, down.size
    if said is None or not said.size:
        return rows, down, up
    over = said.rows.sums(cells.values) - said.least
    if (wrong := first_true(over < 0)) is not None:
        raise RequestError(
            f"statistic {wrong + 1} of {said.size} contradicts the figures that it is of; correct its definition"
        )
    moves = member[said.rows.columns] >= 0
    where, at = said.rows.of[moves], member[said.rows.columns[moves]]
    stated = Rows.gathered(where, at, said.rows.values[moves], (said.size, count))
    length = stated.lengths
    first = stated.starts[:-1][length == 1]
    one, by, room = stated.columns[first], stated.values[first], over[length == 1]
    down, up = down.copy(), up.copy()
    np.minimum.at(down, one[by > 0], (room // np.abs(by))[by > 0])
    np.minimum.at(up, one[by < 0], (room // np.abs(by))[by < 0])
    several = np.flatnonzero(length > 1)
    stated = stated.taken(several)
    row, new = np.arange(several.size), count + np.arange(several.size)
    whole = Rows.gathered(
        np.concatenate([rows.of, rows.starts.size - 1 + stated.of, rows.starts.size - 1 + row]),
        np.concatenate([rows.columns, stated.columns, new]),
        np.concatenate([rows.values, stated.values, np.full(row.size, -1)]),
        (rows.starts.size - 1 + row.size, count + row.size),
    )
    return whole, np.append(down, over[several]), np.append(up, np.full(row.size, 2.0**52))


def _refuse_clash(equations: Equations, both: BoolArray) -> None:
    if both.any():
        raise InfeasibleError(
            f"cell {equations.describe(int(both.argmax()))} is sensitive and must be published; let it be suppressed, "
            "or take it out of the rules"
        )


def _merged(equations: Equations, can: BoolArray) -> tuple[Rows, IntArray, BoolArray]:
    """Return the equations over classes of cells that are always equal, each once, and the first cell of each class.

    A cell that is alone in an equation cannot move and leaves all others; this is repeated until nothing changes. The
    last array says which first cells are stuck.
    """
    n = can.size
    count = equations.starts.size - 1
    row = row_of(equations.starts)
    leader = np.arange(n)
    stuck = np.zeros(n, bool)
    while True:
        entry = can[equations.columns] & ~stuck[leader[equations.columns]]
        rows = Rows.gathered(row[entry], leader[equations.columns[entry]], equations.signs[entry], (count, n))
        length = rows.lengths
        alone = rows.columns[rows.starts[:-1][length == 1]]
        if alone.size:
            stuck[alone] = True
            continue
        begin = rows.starts[:-1][length == 2]
        a, b = rows.columns[begin], rows.columns[begin + 1]
        equal = rows.values[begin] * rows.values[begin + 1] < 0
        if not equal.any():
            break
        which = components(a[equal], b[equal], n)[1]
        first = np.full(n, n)
        np.minimum.at(first, which, np.arange(n))
        leader = first[which][leader]
    digest = digests(rows.of, rows.columns, rows.values, count, seed=0)
    once = np.unique(np.minimum(digest, np.uint64(0) - digest), return_index=True)[1]
    once = np.sort(once[length[once] > 0])
    return rows.taken(once), leader, stuck
