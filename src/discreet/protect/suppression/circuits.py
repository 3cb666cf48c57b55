"""The cheapest way to move a sensitive value: a circuit of cells that change together while every sum stays.

A vector d with A·d = 0 that changes one sensitive cell by what its protection level asks for, and other cells by no
more than their bounds allow, is a second table that fits everything published if all cells that it changes are
suppressed. The cheapest one solves a linear program: minimise Σ c|d|. The dual simplex method finds it from the empty
table; equations enter the tableau when a cell in them first moves, so a search looks at the neighbourhood of the
sensitive cell alone, however large the table is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.suppression.problem import ClassEquations

ROWS, COLUMNS = 1536, 6152
"""The largest tableau, 75 MB of memory; a circuit that needs more is left to integer programming."""
EFFORT = 3e7
"""The most changes of a tableau in one search, a count that is the same on any machine. It trades the time of a search
for that of the integer program that has to find the circuit otherwise."""
FOUND, NONE, EXPENSIVE, LARGE = 0, 1, 2, 3
"""A circuit was found, there is none, none is cheap enough, or the tableau is too small."""
STEPS = 3000
"""The most exchanges of basic cells in one search, twice the rows of the largest tableau."""
STRIP = 256
"""How many columns are cleared at once."""
TINY = 1e-9
"""What is below this is 0 but for floating-point arithmetic; moves are scaled to about 1."""


class Room(NamedTuple):
    """How far each class can move down and up, as one attacker sees it."""

    down: FloatArray
    up: FloatArray


COLUMN = np.dtype([(name, np.float64) for name in ("value", "slope", "price", "less", "more")] + [("held", np.int64)])
"""Of a column of the tableau: the value of its cell, the slope of the costs, the price of a full move, how far it goes
down and up, and the row in which it is basic."""
ROW = np.dtype([(name, np.float64) for name in ("level", "low", "high", "side")] + [("holds", np.int64)])
"""Of a row: the value of its basic cell, the range of that, its sign, and the column that it holds."""


class Extent(NamedTuple):
    """How many rows and columns a tableau has, and how many of its columns are cleared."""

    rows: int
    columns: int
    cleared: int


class Scratch(NamedTuple):
    """The memory that all searches of one problem share, with the cells that a search found and their moves.

    Columns and rows are records, since compiled code counts references to every array that it hands on. ``effort[0]``
    counts the changes of tableaus of all searches.
    """

    tableau: FloatArray
    columns: Any
    rows: Any
    column_of: IntArray
    row_of: IntArray
    cell_at: IntArray
    equation_at: IntArray
    touched: IntArray
    found: IntArray
    moves: FloatArray
    effort: IntArray


def workspace(cells: int, equations: int) -> Scratch:
    """Return the memory that searches of one problem share, no more than its cells and equations can use.

    >>> workspace(4, 3).tableau.shape, workspace(10**6, 10**6).tableau.shape == (ROWS, COLUMNS)
    ((3, 512), True)
    """
    # A strip more than the columns: that is what is cleared ahead of them.
    rows, columns = min(ROWS, equations), min(COLUMNS, STRIP * (-(-cells // STRIP) + 1))
    return Scratch(
        np.zeros((rows, columns)),
        np.zeros(columns, COLUMN).view(np.recarray),
        np.zeros(rows, ROW).view(np.recarray),
        np.full(cells, -1, np.int64),
        np.full(equations, -1, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns),
        np.zeros(1, np.int64),
    )


@compiled
def _enter(
    work: Scratch,
    on: ClassEquations,
    who: int,
    size: float,
    cost: FloatArray,
    room: Room,
    limit: float,
    at: Extent,
) -> tuple[Extent, bool]:
    """Let the equations of a cell that begins to move enter the tableau; say whether it is full."""
    T, columns, rows, column_of, row_of = work.tableau, work.columns, work.rows, work.column_of, work.row_of
    nr, nc, wide = at.rows, at.columns, at.cleared
    full = False
    for k in range(on.begins[who], on.begins[who + 1]):
        e = on.rows[k]
        if row_of[e] >= 0:
            continue
        if nr == ROWS or nc + on.starts[e + 1] - on.starts[e] > COLUMNS - STRIP:
            full = True
            break
        T[nr, :wide] = 0.0
        r = rows[nr]
        r.level, r.holds, r.side, r.low, r.high = 0.0, -1, 1.0, 0.0, 0.0
        for i in range(on.starts[e], on.starts[e + 1]):
            j = on.columns[i]
            if column_of[j] < 0:
                # What alone costs more than the limit is in no circuit that does not.
                if cost[j] > limit or not np.isfinite(cost[j]):
                    continue
                column_of[j] = nc
                work.cell_at[nc] = j
                c, far = columns[nc], max(room.down[j], room.up[j])
                # A cell that can only move a part of the way bears its cost all the same.
                c.price = cost[j] if far >= size else cost[j] * size / max(far, TINY)
                c.value, c.slope, c.held = 0.0, 0.0, -1
                c.less, c.more = room.down[j] / size, room.up[j] / size
                nc += 1
                if nc == wide:
                    # Rows are cleared in strips: one column at a time would touch every row of the tableau.
                    T[: nr + 1, wide : wide + STRIP] = 0.0
                    wide += STRIP
            T[nr, column_of[j]] += on.signs[i]
            r.level -= on.signs[i] * columns[column_of[j]].value
        row_of[e], work.equation_at[nr] = nr, e
        nr += 1
    return Extent(nr, nc, wide), full


@compiled
def _pivot(work: Scratch, at: Extent, leaving: int, entering: int, target: float, way: float) -> int:
    """Exchange the basic cell of a row, which goes to its target, for another; return how many entries changed."""
    T, columns, rows, touched = work.tableau, work.columns, work.rows, work.touched
    effort = 0
    old, new = rows[leaving], columns[entering]
    a = T[leaving, entering]
    step_by = -(target - old.level) / a
    for i in range(at.rows):
        if i != leaving and T[i, entering] != 0.0:
            rows[i].level -= T[i, entering] * step_by
    k = old.holds
    # Rows of the tableau are sparse: only the columns that the pivot row has are touched.
    width = 0
    for c in range(at.columns):
        if T[leaving, c] != 0.0:
            T[leaving, c] /= a
            if c != entering:
                touched[width] = c
                width += 1
    T[leaving, entering] = 0.0
    if k >= 0:
        T[leaving, k] = 1.0 / a
        touched[width] = k
        width += 1
    for i in range(at.rows):
        f = T[i, entering]
        if i != leaving and f != 0.0:
            effort += width
            for t in range(width):
                T[i, touched[t]] -= f * T[leaving, touched[t]]
            T[i, entering] = 0.0
    q = new.slope + new.price * way
    for t in range(width):
        columns[touched[t]].slope -= q * T[leaving, touched[t]]
    if k >= 0:
        columns[k].slope = -q / a - columns[k].price * old.side
        columns[k].held, columns[k].value = -1, target
    new.slope = 0.0
    new.held, old.holds = leaving, entering
    old.level, old.side = new.value + step_by, way
    old.low, old.high = (0.0, new.more) if way > 0 else (-new.less, 0.0)
    return effort


@compiled
def _furthest(rows: Any, count: int) -> int:
    """Return the row that is furthest from where it must be, -1 where none is off."""
    leaving, worst = -1, TINY
    for i in range(count):
        off = max(rows[i].level - rows[i].high, rows[i].low - rows[i].level)
        if off > worst:
            leaving, worst = i, off
    return leaving


@compiled
def _entering(columns: Any, count: int, row: FloatArray, delta: float) -> tuple[int, float, float]:
    """Return the column that moves a row most cheaply, -1 where none does, its price, and the way it goes."""
    entering, best, largest, way = -1, np.inf, 0.0, 1.0
    for c in range(1, count):
        a = row[c]
        if abs(a) < TINY or columns[c].held >= 0:
            continue
        one = columns[c]
        rising = delta * a < 0
        if one.value == 0.0:
            if (one.more if rising else one.less) <= 0:
                continue
            rate, sign = (one.price + one.slope, 1.0) if rising else (one.price - one.slope, -1.0)
        elif one.value > 0:
            if rising:
                continue
            rate, sign = -(one.price + one.slope), 1.0
        else:
            if not rising:
                continue
            rate, sign = one.slope - one.price, -1.0
        ratio = max(rate, 0.0) / abs(a)
        if ratio < best - TINY or (ratio < best + TINY and abs(a) > largest + TINY):
            entering, best, largest, way = c, ratio, abs(a), sign
    return entering, best, way


@compiled
def _through_zero(columns: Any, count: int, row: FloatArray, own: Any, best: float) -> bool:
    """Let the cell of a row that has come to zero go on beyond it, if that is cheaper than another one's move."""
    j = columns[own.holds]
    other = j.less if own.side > 0 else j.more
    if other <= 0 or 2 * j.price > best:
        return False
    for c in range(count):
        columns[c].slope += 2 * j.price * own.side * row[c]
    own.side = -own.side
    own.low, own.high = (0.0, j.more) if own.side > 0 else (-j.less, 0.0)
    return True


@compiled
def _proof(work: Scratch, count: int, leaving: int) -> int:
    """Write down the equation that cannot be balanced, a sum of equations over the cells seen; return its length."""
    length = 0
    for c in range(count):
        if abs(work.tableau[leaving, c]) > TINY:
            work.found[length], work.moves[length] = work.cell_at[c], work.tableau[leaving, c]
            length += 1
    j = work.rows[leaving].holds
    if j >= 0:
        work.found[length], work.moves[length] = work.cell_at[j], 1.0
        length += 1
    return length


@compiled
def _circuit(work: Scratch, count: int, size: float) -> int:
    """Write down the cells that move, and by how much; return how many there are."""
    length = 0
    for c in range(count):
        one = work.columns[c]
        v = one.value if one.held < 0 else work.rows[one.held].level
        if abs(v) > 1e-7:
            work.found[length], work.moves[length] = work.cell_at[c], v * size
            length += 1
    return length


@compiled
def cheapest(
    on: ClassEquations,
    cell: int,
    size: float,
    cost: FloatArray,
    room: Room,
    limit: float,
    work: Scratch,
    patience: float = EFFORT,
) -> tuple[int, int]:
    """Find the cheapest circuit in which one cell moves up by `size`.

    Cells of infinite cost do not move; others stay within their room. Returns an outcome and the number of cells that
    move; the cells and their moves are in the workspace. Where there is no circuit, these hold an equation that proves
    it.
    """
    columns, rows, at = work.columns, work.rows, Extent(0, 1, STRIP)
    work.cell_at[0], work.column_of[cell] = cell, 0
    columns[0].value, columns[0].slope, columns[0].held = 1.0, 0.0, -1
    outcome, total, count, effort = LARGE, 0.0, 0, 0
    entering, leaving, target, way = 0, -1, 0.0, 1.0
    for step in range(STEPS):
        at, full = _enter(work, on, work.cell_at[entering], size, cost, room, limit, at)
        if full or effort > patience:
            break
        if step > 0:
            # The pivot that the last step decided on, now that all rows are there.
            effort += _pivot(work, at, leaving, entering, target, way)
        while True:
            leaving = _furthest(rows, at.rows)
            if leaving < 0:
                outcome = FOUND
                break
            own, row = rows[leaving], work.tableau[leaving]
            target = own.high if own.level > own.high else own.low
            delta = target - own.level
            entering, best, way = _entering(columns, at.columns, row, delta)
            j = own.holds
            if j >= 0 and target == 0.0 and _through_zero(columns, at.columns, row, own, best):
                total += 2 * columns[j].price * abs(delta)
                continue
            if entering < 0:
                outcome, count = NONE, _proof(work, at.columns, leaving)
                break
            total += best * abs(delta)
            if total > limit:
                outcome = EXPENSIVE
            break
        if outcome != LARGE:
            break
    if outcome == FOUND:
        count = _circuit(work, at.columns, size)
    for c in range(at.columns):
        work.column_of[work.cell_at[c]] = -1
    for i in range(at.rows):
        work.row_of[work.equation_at[i]] = -1
    work.effort[0] += effort
    return outcome, count
