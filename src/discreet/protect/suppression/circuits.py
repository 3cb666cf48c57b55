"""The cheapest way to move a sensitive value: a circuit of cells that change together while every sum stays.

A vector d with A·d = 0 that changes one sensitive cell by what its protection level asks for, and other cells by no
more than their bounds allow, is a second table that fits everything published if all cells that it changes are
suppressed. The cheapest one solves a linear program: minimise Σ c|d|. It is found by the dual simplex method from the
empty table; equations enter the tableau when a cell in them first moves, so that only the neighbourhood of the
sensitive cell is ever looked at, however large the table is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import BoolArray, FloatArray, IntArray

ROWS, COLUMNS = 1536, 6152
"""The largest tableau; a circuit that would need more is looked for otherwise."""
EFFORT = 3e7
"""The most changes of a tableau in one search, a count that is the same on any machine. It trades the time of a search
for that of the integer program which has to find the circuit otherwise."""
FOUND, NONE, DEAR, LARGE = 0, 1, 2, 3
"""A circuit was found, there is none, none is cheap enough, or the tableau is too small."""
STEPS = 3000
STRIP = 256
TINY = 1e-9


class Instance(NamedTuple):
    """Equations over classes of cells in compressed rows and columns, how far each class can move, and its price.

    ``least`` is the room either way. Circuits of cells up to the price ``base`` are looked for first; ``most`` is the
    price of the dearest cell. A class that is hidden already costs next to nothing, which is ``slight``.
    """

    starts: IntArray
    columns: IntArray
    signs: FloatArray
    begins: IntArray
    rows: IntArray
    down: FloatArray
    up: FloatArray
    least: FloatArray
    price: IntArray
    slight: FloatArray
    primary: BoolArray
    base: float
    most: float


class Room(NamedTuple):
    """How far each class can move down and up, as one attacker sees it."""

    down: FloatArray
    up: FloatArray


class Workspace(NamedTuple):
    """The memory that all searches of one problem share; the cells that a search found and their moves stand in it.

    ``effort[0]`` counts the changes of tableaus of all searches.
    """

    tableau: FloatArray
    column_of: IntArray
    row_of: IntArray
    cell_at: IntArray
    equation_at: IntArray
    found: IntArray
    moves: FloatArray
    effort: IntArray


class _Search(NamedTuple):
    """One search: of every column the value, the price of a whole move and how far it goes; of every row its range.

    ``held`` is the row in which a column is basic, ``holds`` the column that is basic in a row, ``side`` the sign of
    its value. ``size`` holds the number of rows and columns, and how many columns of the tableau are cleared.
    """

    value: FloatArray
    slope: FloatArray
    price: FloatArray
    less: FloatArray
    more: FloatArray
    held: IntArray
    holds: IntArray
    level: FloatArray
    side: FloatArray
    low: FloatArray
    high: FloatArray
    touched: IntArray
    size: IntArray


def workspace(cells: int, equations: int) -> Workspace:
    """Return the memory that searches of one problem share."""
    return Workspace(
        np.zeros((ROWS, COLUMNS)),
        np.full(cells, -1, np.int64),
        np.full(equations, -1, np.int64),
        np.zeros(COLUMNS, np.int64),
        np.zeros(ROWS, np.int64),
        np.zeros(COLUMNS, np.int64),
        np.zeros(COLUMNS),
        np.zeros(1, np.int64),
    )


@compiled
def _new_search() -> _Search:
    size = np.array([0, 1, STRIP], np.int64)
    return _Search(
        np.zeros(COLUMNS),
        np.zeros(COLUMNS),
        np.empty(COLUMNS),
        np.empty(COLUMNS),
        np.empty(COLUMNS),
        np.full(COLUMNS, -1, np.int64),
        np.full(ROWS, -1, np.int64),
        np.zeros(ROWS),
        np.ones(ROWS),
        np.zeros(ROWS),
        np.zeros(ROWS),
        np.empty(COLUMNS, np.int64),
        size,
    )


@compiled
def _each(cell: int, cost: FloatArray, room: Room, size: float) -> float:
    """Return the cost of a whole move; a cell that can only move a part of it bears its cost all the same."""
    far = max(room.down[cell], room.up[cell])
    each: float = cost[cell] if far >= size else cost[cell] * size / max(far, TINY)
    return each


@compiled
def _enter(
    s: _Search, work: Workspace, on: Instance, who: int, size: float, cost: FloatArray, room: Room, limit: float
) -> bool:
    """Let the equations of a cell that begins to move enter the tableau; false where it is full."""
    T, column_of, row_of = work.tableau, work.column_of, work.row_of
    nr, nc, wide = s.size[0], s.size[1], s.size[2]
    full = False
    for k in range(on.begins[who], on.begins[who + 1]):
        e = on.rows[k]
        if row_of[e] >= 0:
            continue
        if nr == ROWS or nc + on.starts[e + 1] - on.starts[e] > COLUMNS - STRIP:
            full = True
            break
        T[nr, :wide] = 0.0
        s.level[nr], s.holds[nr], s.side[nr], s.low[nr], s.high[nr] = 0.0, -1, 1.0, 0.0, 0.0
        for i in range(on.starts[e], on.starts[e + 1]):
            j = on.columns[i]
            if column_of[j] < 0:
                # What alone costs more than the limit is in no circuit that does not.
                if cost[j] > limit or not np.isfinite(cost[j]):
                    continue
                column_of[j] = nc
                work.cell_at[nc], s.value[nc], s.slope[nc], s.held[nc] = j, 0.0, 0.0, -1
                s.price[nc] = _each(j, cost, room, size)
                s.less[nc], s.more[nc] = room.down[j] / size, room.up[j] / size
                nc += 1
                if nc == wide:
                    # Rows are cleared in strips: one column at a time would touch every row of the tableau.
                    T[: nr + 1, wide : wide + STRIP] = 0.0
                    wide += STRIP
            T[nr, column_of[j]] += on.signs[i]
            s.level[nr] -= on.signs[i] * s.value[column_of[j]]
        row_of[e], work.equation_at[nr] = nr, e
        nr += 1
    s.size[0], s.size[1], s.size[2] = nr, nc, wide
    return not full


@compiled
def _pivot(s: _Search, T: FloatArray, leaving: int, entering: int, target: float, way: float) -> int:
    """Exchange the basic cell of a row, which goes to its target, for another; return how many entries changed."""
    level, slope, touched = s.level, s.slope, s.touched
    nr, nc = s.size[0], s.size[1]
    effort = 0
    a = T[leaving, entering]
    step_by = -(target - level[leaving]) / a
    for i in range(nr):
        if i != leaving and T[i, entering] != 0.0:
            level[i] -= T[i, entering] * step_by
    k = s.holds[leaving]
    # Rows of the tableau are sparse: only the columns that the pivot row has are touched.
    width = 0
    for c in range(nc):
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
    for i in range(nr):
        f = T[i, entering]
        if i != leaving and f != 0.0:
            effort += width
            for t in range(width):
                T[i, touched[t]] -= f * T[leaving, touched[t]]
            T[i, entering] = 0.0
    q = slope[entering] + s.price[entering] * way
    for t in range(width):
        slope[touched[t]] -= q * T[leaving, touched[t]]
    if k >= 0:
        slope[k] = -q / a - s.price[k] * s.side[leaving]
        s.held[k], s.value[k] = -1, target
    slope[entering] = 0.0
    s.held[entering], s.holds[leaving] = leaving, entering
    level[leaving], s.side[leaving] = s.value[entering] + step_by, way
    s.low[leaving], s.high[leaving] = (0.0, s.more[entering]) if way > 0 else (-s.less[entering], 0.0)
    return effort


@compiled
def _furthest(s: _Search) -> int:
    """Return the row that is furthest from where it must be, -1 where none is off."""
    level, low, high = s.level, s.low, s.high
    leaving, worst = -1, TINY
    for i in range(s.size[0]):
        off = max(level[i] - high[i], low[i] - level[i])
        if off > worst:
            leaving, worst = i, off
    return leaving


@compiled
def _entering(s: _Search, row: FloatArray, delta: float) -> tuple[int, float, float]:
    """Return the column that moves a row most cheaply, -1 where none does, its price, and the way it goes."""
    value, slope, price, less, more, held = s.value, s.slope, s.price, s.less, s.more, s.held
    entering, best, largest, way = -1, np.inf, 0.0, 1.0
    for c in range(1, s.size[1]):
        a = row[c]
        if held[c] >= 0 or abs(a) < TINY:
            continue
        rising = delta * a < 0
        if value[c] == 0.0:
            if (more[c] if rising else less[c]) <= 0:
                continue
            rate, sign = (price[c] + slope[c], 1.0) if rising else (price[c] - slope[c], -1.0)
        elif value[c] > 0:
            if rising:
                continue
            rate, sign = -(price[c] + slope[c]), 1.0
        else:
            if not rising:
                continue
            rate, sign = slope[c] - price[c], -1.0
        ratio = max(rate, 0.0) / abs(a)
        if ratio < best - TINY or (ratio < best + TINY and abs(a) > largest + TINY):
            entering, best, largest, way = c, ratio, abs(a), sign
    return entering, best, way


@compiled
def _through_zero(s: _Search, row: FloatArray, leaving: int, best: float) -> bool:
    """Let the cell of a row that has come to zero go on beyond it, if that is cheaper than another one's move."""
    j = s.holds[leaving]
    other = s.less[j] if s.side[leaving] > 0 else s.more[j]
    if other <= 0 or 2 * s.price[j] > best:
        return False
    for c in range(s.size[1]):
        s.slope[c] += 2 * s.price[j] * s.side[leaving] * row[c]
    s.side[leaving] = -s.side[leaving]
    s.low[leaving], s.high[leaving] = (0.0, s.more[j]) if s.side[leaving] > 0 else (-s.less[j], 0.0)
    return True


@compiled
def _proof(s: _Search, work: Workspace, leaving: int) -> int:
    """Write down the equation that cannot be balanced, a sum of equations over the cells seen; return its length."""
    count = 0
    for c in range(s.size[1]):
        if abs(work.tableau[leaving, c]) > TINY:
            work.found[count], work.moves[count] = work.cell_at[c], work.tableau[leaving, c]
            count += 1
    j = s.holds[leaving]
    if j >= 0:
        work.found[count], work.moves[count] = work.cell_at[j], 1.0
        count += 1
    return count


@compiled
def _circuit(s: _Search, work: Workspace, size: float) -> int:
    """Write down the cells that move, and by how much; return how many there are."""
    count = 0
    for c in range(s.size[1]):
        v = s.value[c] if s.held[c] < 0 else s.level[s.held[c]]
        if abs(v) > 1e-7:
            work.found[count], work.moves[count] = work.cell_at[c], v * size
            count += 1
    return count


@compiled
def cheapest(
    on: Instance,
    cell: int,
    size: float,
    cost: FloatArray,
    room: Room,
    limit: float,
    work: Workspace,
    patience: float = EFFORT,
) -> tuple[int, int, float]:
    """Find the cheapest circuit in which one cell moves up by `size`.

    Cells of infinite cost do not move; others stay within their room. Returns an outcome, the number of cells that
    move, and the cost; the cells and their moves stand in the workspace. Where there is no circuit, these hold an
    equation that proves it.
    """
    T, s = work.tableau, _new_search()
    work.cell_at[0], work.column_of[cell], s.value[0] = cell, 0, 1.0
    outcome, total, count, effort = LARGE, 0.0, 0, 0
    entering, leaving, target, way = 0, -1, 0.0, 1.0
    for step in range(STEPS):
        if not _enter(s, work, on, work.cell_at[entering], size, cost, room, limit) or effort > patience:
            break
        if step > 0:
            # The pivot that the last step decided on, now that all rows are there.
            effort += _pivot(s, T, leaving, entering, target, way)
        while True:
            leaving = _furthest(s)
            if leaving < 0:
                outcome = FOUND
                break
            target = s.high[leaving] if s.level[leaving] > s.high[leaving] else s.low[leaving]
            delta = target - s.level[leaving]
            entering, best, way = _entering(s, T[leaving], delta)
            j = s.holds[leaving]
            if j >= 0 and target == 0.0 and _through_zero(s, T[leaving], leaving, best):
                total += 2 * s.price[j] * abs(delta)
                continue
            if entering < 0:
                outcome, count = NONE, _proof(s, work, leaving)
                break
            total += best * abs(delta)
            if total > limit:
                outcome = DEAR
            break
        if outcome != LARGE:
            break
    if outcome == FOUND:
        count = _circuit(s, work, size)
    for c in range(s.size[1]):
        work.column_of[work.cell_at[c]] = -1
    for i in range(s.size[0]):
        work.row_of[work.equation_at[i]] = -1
    work.effort[0] += effort
    return outcome, count, total
