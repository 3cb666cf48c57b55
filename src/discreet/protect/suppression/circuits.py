"""The cheapest way to move a sensitive value: a circuit of cells that change together while every sum stays.

A vector d with A·d = 0 that changes one sensitive cell by what its protection level asks for, and other cells by no
more than their bounds allow, is a second table that fits everything published if all cells that it changes are
suppressed. The cheapest one solves a linear program: minimise Σ c|d|. The dual simplex method finds it from the empty
table; equations enter the tableau when a cell in them first moves, so a search looks at the neighbourhood of the
sensitive cell alone, however large the table is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.suppression.problem import ClassEquations

ROWS, COLUMNS = 1536, 6152
"""The largest tableau, 75 MB of memory; a circuit that needs more is left to integer programming."""
EFFORT = 1e8
"""The most changes of a tableau in one search, a count that is the same on any machine. It trades the time of a search
for that of the integer program that has to find the circuit otherwise."""
CHANGES, RELEASES = 0, 1
"""What is counted over all searches: changes of tableaus, and releases that were kept."""
FOUND, NONE, EXPENSIVE, LARGE = 0, 1, 2, 3
"""A circuit was found, there is none, none is cheap enough, or the tableau is too small."""
STEPS = 3000
"""The most exchanges of basic cells in one search, twice the rows of the largest tableau."""
STRIP = 256
"""How many columns are cleared at once."""
ALL = 2**62
"""As many cells of a sum as it has."""
TINY = 1e-9
"""What is below this is 0 but for floating-point arithmetic; moves are scaled to about 1."""


class Room(NamedTuple):
    """How far each class can move down and up, as one attacker sees it."""

    down: FloatArray
    up: FloatArray


class Move(NamedTuple):
    """What a circuit has to do: move a class by an amount one way, with the room that all classes have."""

    cell: int
    amount: float
    way: int
    room: Room


class CircuitLimits(NamedTuple):
    """How far a search goes.

    A circuit costs no more than ``price``; of a sum that enters the tableau, no more cells than ``beside`` enter with
    it; and the tableau is changed no more often than ``changes`` says.
    """

    price: float
    beside: int
    changes: float


VALUE, SLOPE, PRICE, LESS, MORE = range(5)
"""Of a column of the tableau: the value of its cell, the slope of the costs, the price of a full move, and how far it
goes down and up."""
LEVEL, LOW, HIGH, SIDE, STEEP = 0, 1, 5, 6, 7
"""Of a row: the value of its basic cell, the range of that, its sign, and the sum of the squares of its entries with 1
for the basic cell; price and ends stand as in columns."""


class Extent(NamedTuple):
    """How many rows and columns a tableau has, how many columns have been cleared, and how many are spare.

    ``dear`` says that a cell was left out that costs more than the limit, but could move.
    """

    rows: int
    columns: int
    cleared: int
    spare: int
    dear: bool


class CircuitTableau(NamedTuple):
    """Basic cells, one to a row, as sums of the others, which have a column each.

    ``column`` and ``row`` have a line for each property; ``aside`` and ``basic`` are the cells of columns and rows, -1
    in a row that has none yet. ``filled`` lists the columns in which a row has entries.
    """

    entries: FloatArray
    column: FloatArray
    row: FloatArray
    aside: IntArray
    basic: IntArray
    filled: IntArray


class Scratch(NamedTuple):
    """The memory that all searches of one problem share, with the cells that a search found and their moves.

    ``column_of`` and ``row_of`` say where a cell that has not moved yet and an equation are, ``spare`` which columns
    are free for others. ``shift``, ``came``, ``ahead`` and ``queue`` are for ways through a network: how far cells have
    moved, by which cell a side of an equation was reached and by which it leads to the end, and in which order.
    ``balance`` adds up what a circuit changes in each equation, and ``tally`` counts changes of tableaus and releases.
    """

    tableau: CircuitTableau
    column_of: IntArray
    row_of: IntArray
    equation_at: IntArray
    spare: IntArray
    found: IntArray
    moves: FloatArray
    shift: FloatArray
    came: IntArray
    ahead: IntArray
    queue: IntArray
    balance: FloatArray
    tally: IntArray


def workspace(cells: int, equations: int) -> Scratch:
    """Return the memory that searches of one problem share, no more than its cells and equations can use.

    >>> small, large = workspace(4, 3).tableau, workspace(10**6, 10**6).tableau
    >>> small.entries.shape, large.entries.shape == (ROWS, COLUMNS)
    ((3, 520), True)
    """
    # A strip is cleared ahead of the columns; rows that do not begin at multiples of it share no lines of the cache.
    rows, columns = min(ROWS, equations), min(COLUMNS, STRIP * (-(-cells // STRIP) + 1) + 8)
    tableau = CircuitTableau(
        np.zeros((rows, columns)),
        np.zeros((5, columns)),
        np.zeros((8, rows)),
        np.zeros(columns, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(columns, np.int64),
    )
    seen = max(columns + 2 * equations, cells)
    return Scratch(
        tableau,
        column_of=np.full(cells, -1, np.int64),
        row_of=np.full(equations, -1, np.int64),
        equation_at=np.zeros(rows, np.int64),
        spare=np.zeros(columns, np.int64),
        found=np.zeros(seen, np.int64),
        moves=np.zeros(seen),
        shift=np.zeros(cells),
        came=np.full(2 * equations, -1, np.int64),
        ahead=np.full(2 * equations, -1, np.int64),
        queue=np.zeros(2 * equations, np.int64),
        balance=np.zeros(equations),
        tally=np.zeros(2, np.int64),
    )


@compiled
def _enter(
    work: Scratch,
    on: ClassEquations,
    who: int,
    size: float,
    cost: FloatArray,
    room: Room,
    most: CircuitLimits,
    at: Extent,
) -> tuple[Extent, bool]:
    """Let the equations of a cell that begins to move enter the tableau; say whether it is full.

    Where not all of their cells are taken, it is those that follow the cell that moves.
    """
    (T, column, row, aside, basic, _), column_of, row_of = work.tableau, work.column_of, work.row_of
    nr, nc, wide, spare, dear = at
    full = False
    for k in range(on.begins[who], on.begins[who + 1]):
        e = on.rows[k]
        if row_of[e] >= 0:
            continue
        if nr == ROWS:
            full = True
            break
        T[nr, :wide] = 0.0
        level, fresh, length = 0.0, 0, on.starts[e + 1] - on.starts[e]
        first = 0 if most.beside >= length else np.searchsorted(on.columns[on.starts[e] : on.starts[e + 1]], who)
        for turn in range(first, first + length):
            i = on.starts[e] + turn % length
            j = on.columns[i]
            if column_of[j] < 0:
                # What alone costs more than the limit is in no circuit that does not.
                if cost[j] > most.price or not np.isfinite(cost[j]):
                    dear = dear or (np.isfinite(cost[j]) and max(room.down[j], room.up[j]) > 0)
                    continue
                if most.beside < ALL and (fresh == most.beside or _left_out(on, j, e, row_of)):
                    dear = True
                    continue
                if spare == 0 and nc == COLUMNS - STRIP:
                    full = True
                    break
                fresh += 1
                if spare > 0:
                    spare -= 1
                    c = work.spare[spare]
                else:
                    c = nc
                    nc += 1
                column_of[j], aside[c] = c, j
                far = max(room.down[j], room.up[j])
                # A cell that can only move a part of the way bears its cost all the same.
                column[PRICE, c] = cost[j] if far >= size else cost[j] * size / max(far, TINY)
                column[VALUE, c], column[SLOPE, c] = 0.0, 0.0
                column[LESS, c], column[MORE, c] = room.down[j] / size, room.up[j] / size
                if nc == wide:
                    # Rows are cleared in strips: one column at a time would touch every row of the tableau.
                    T[: nr + 1, wide : wide + STRIP] = 0.0
                    wide += STRIP
            T[nr, column_of[j]] += on.signs[i]
            level -= on.signs[i] * column[VALUE, column_of[j]]
        row[LEVEL, nr], row[LOW, nr], row[HIGH, nr], row[SIDE, nr], basic[nr] = level, 0.0, 0.0, 1.0, -1
        row[STEEP, nr] = 1.0 + on.starts[e + 1] - on.starts[e]
        row_of[e], work.equation_at[nr] = nr, e
        nr += 1
    return Extent(nr, nc, wide, spare, dear), full


@compiled
def _left_out(on: ClassEquations, j: int, e: int, row_of: IntArray) -> bool:
    """Say whether a cell is in another equation of the tableau, which came in without it."""
    found = False
    for k in range(on.begins[j], on.begins[j + 1]):
        found = found or (on.rows[k] != e and row_of[on.rows[k]] >= 0)
    return found


@compiled
def _subtract(T: FloatArray, i: int, times: float, other: int, filled: IntArray) -> float:
    """Subtract a multiple of another row from one, where that has entries; return by how much the squares grow."""
    grown = 0.0
    for k in range(filled.size):
        c = filled[k]
        before = T[i, c]
        after = before - times * T[other, c]
        if abs(after) < TINY:
            after = 0.0
        T[i, c] = after
        grown += after * after - before * before
    return grown


@compiled
def _pivot(tableau: CircuitTableau, at: Extent, leaving: int, entering: int, target: float, way: float) -> int:
    """Exchange the basic cell of a row, which goes to its target, for that of a column; return how much changed."""
    T, column, row, aside, basic, filled = tableau
    a, effort, count, steep = T[leaving, entering], 0, 0, 1.0
    step_by = -(target - row[LEVEL, leaving]) / a
    q = column[SLOPE, entering] + column[PRICE, entering] * way
    held = basic[leaving] >= 0
    # The cell that leaves takes the column of the one that enters; where a row had none, the column is spare.
    T[leaving, entering] = 1.0 if held else 0.0
    for c in range(at.columns):
        if T[leaving, c] != 0.0:
            T[leaving, c] /= a
            steep += T[leaving, c] ** 2
            filled[count] = c
            count += 1
    row[STEEP, leaving] = steep
    # Cut once: machine code counts who refers to an array with every cut, and rows are many.
    places = filled[:count]
    for i in range(at.rows):
        f = T[i, entering]
        if i != leaving and f != 0.0:
            row[LEVEL, i] -= f * step_by
            T[i, entering] = 0.0
            row[STEEP, i] = max(row[STEEP, i] - f * f + _subtract(T, i, f, leaving, places), 1.0)
            effort += count
    for k in range(count):
        column[SLOPE, filled[k]] -= q * T[leaving, filled[k]]
    column[SLOPE, entering] = -q / a - row[PRICE, leaving] * row[SIDE, leaving] if held else 0.0
    row[LEVEL, leaving] = column[VALUE, entering] + step_by
    column[VALUE, entering] = target if held else 0.0
    for k in range(PRICE, MORE + 1):
        row[k, leaving], column[k, entering] = column[k, entering], row[k, leaving]
    cell = aside[entering]
    if held:
        aside[entering] = basic[leaving]
    basic[leaving] = cell
    _turn(row, leaving, way)
    return effort


@compiled
def _turn(row: FloatArray, i: int, way: float) -> None:
    """Let the cell that a row holds move one way from zero."""
    row[SIDE, i] = way
    row[LOW, i], row[HIGH, i] = (0.0, row[MORE, i]) if way > 0 else (-row[LESS, i], 0.0)


@compiled
def _furthest(row: FloatArray, count: int) -> int:
    """Return the row that is furthest from where it must be, in all directions at once; -1 where none is off.

    Distances are divided by the length of the row (dual steepest edge): that takes fewer exchanges, and leaves sparser
    rows, than the difference alone.
    """
    leaving, worst = -1, 0.0
    for i in range(count):
        off = max(row[LEVEL, i] - row[HIGH, i], row[LOW, i] - row[LEVEL, i])
        if off > TINY and off * off > worst * row[STEEP, i]:
            leaving, worst = i, off * off / row[STEEP, i]
    return leaving


@compiled
def _entering(T: FloatArray, column: FloatArray, count: int, leaving: int, delta: float) -> tuple[int, float, float]:
    """Return the column that moves a row most cheaply, -1 where none does, its price, and the way it goes."""
    entering, best, largest, way = -1, np.inf, 0.0, 1.0
    # The first column is the cell that is asked about.
    for c in range(1, count):
        a = T[leaving, c]
        if abs(a) < TINY:
            continue
        rising, value = delta * a < 0, column[VALUE, c]
        if value == 0.0:
            if (column[MORE, c] if rising else column[LESS, c]) <= 0:
                continue
            sign = 1.0 if rising else -1.0
            rate = column[PRICE, c] + sign * column[SLOPE, c]
        elif value > 0:
            if rising:
                continue
            rate, sign = -(column[PRICE, c] + column[SLOPE, c]), 1.0
        else:
            if not rising:
                continue
            rate, sign = column[SLOPE, c] - column[PRICE, c], -1.0
        ratio = max(rate, 0.0) / abs(a)
        if ratio < best - TINY or (ratio < best + TINY and abs(a) > largest + TINY):
            entering, best, largest, way = c, ratio, abs(a), sign
    return entering, best, way


@compiled
def _through_zero(tableau: CircuitTableau, count: int, leaving: int, best: float) -> bool:
    """Let the cell of a row that has come to zero go on beyond it, if that is cheaper than another one's move."""
    T, column, row = tableau.entries, tableau.column, tableau.row
    price, side = row[PRICE, leaving], row[SIDE, leaving]
    if (row[LESS, leaving] if side > 0 else row[MORE, leaving]) <= 0 or 2 * price > best:
        return False
    for c in range(count):
        column[SLOPE, c] += 2 * price * side * T[leaving, c]
    _turn(row, leaving, -side)
    return True


@compiled
def _proof(work: Scratch, count: int, leaving: int) -> int:
    """Write down the equation that cannot be balanced, a sum of equations over the cells seen; return its length."""
    T, _, _, aside, basic, _ = work.tableau
    length = 0
    for c in range(count):
        if abs(T[leaving, c]) > TINY:
            work.found[length], work.moves[length] = aside[c], T[leaving, c]
            length += 1
    if basic[leaving] >= 0:
        work.found[length], work.moves[length] = basic[leaving], 1.0
        length += 1
    return length


@compiled
def _circuit(work: Scratch, at: Extent, size: float) -> int:
    """Write down the cells that move, and by how much; return how many there are."""
    _, column, row, aside, basic, _ = work.tableau
    length = 0
    for c in range(at.columns + at.rows):
        i = c - at.columns
        cell, v = (aside[c], column[VALUE, c]) if i < 0 else (basic[i], row[LEVEL, i])
        if cell >= 0 and abs(v) > 1e-7:
            work.found[length], work.moves[length] = cell, v * size
            length += 1
    return length


@compiled
def _clear(work: Scratch, at: Extent) -> None:
    """Forget where cells and equations are."""
    for c in range(at.columns):
        work.column_of[work.tableau.aside[c]] = -1
    for i in range(at.rows):
        work.row_of[work.equation_at[i]] = -1
        if work.tableau.basic[i] >= 0:
            work.column_of[work.tableau.basic[i]] = -1


@compiled
def cheapest(
    on: ClassEquations,
    cell: int,
    size: float,
    cost: FloatArray,
    room: Room,
    most: CircuitLimits,
    work: Scratch,
) -> tuple[int, int]:
    """Find the cheapest circuit in which one cell moves up by `size`.

    Cells of infinite cost do not move; others stay within their room. Returns an outcome and the number of cells that
    move; the cells and their moves are in the workspace. Where there is no circuit, these hold an equation that proves
    it.
    """
    (T, column, row, aside, basic, _), at = work.tableau, Extent(0, 1, STRIP, 0, False)
    aside[0], work.column_of[cell], column[VALUE, 0], column[SLOPE, 0], column[PRICE, 0] = cell, 0, 1.0, 0.0, 0.0
    outcome, total, count, effort = LARGE, 0.0, 0, 0
    entering, leaving, target, way = 0, -1, 0.0, 1.0
    for step in range(STEPS):
        at, full = _enter(work, on, aside[entering], size, cost, room, most, at)
        if full or effort > most.changes:
            break
        if step > 0:
            # The pivot that the last step decided on, now that all rows are there.
            if basic[leaving] < 0:
                work.spare[at.spare] = entering
                at = Extent(at.rows, at.columns, at.cleared, at.spare + 1, at.dear)
            effort += _pivot(work.tableau, at, leaving, entering, target, way)
        while True:
            leaving = _furthest(row, at.rows)
            if leaving < 0:
                outcome = FOUND
                break
            target = row[HIGH, leaving] if row[LEVEL, leaving] > row[HIGH, leaving] else row[LOW, leaving]
            delta = target - row[LEVEL, leaving]
            entering, best, way = _entering(T, column, at.columns, leaving, delta)
            held = basic[leaving] >= 0
            if held and target == 0.0 and _through_zero(work.tableau, at.columns, leaving, best):
                total += 2 * row[PRICE, leaving] * abs(delta)
                continue
            if entering < 0:
                outcome, count = EXPENSIVE if at.dear else NONE, _proof(work, at.columns, leaving)
                break
            total += best * abs(delta)
            if total > most.price:
                outcome = EXPENSIVE
            break
        if outcome != LARGE:
            break
    if outcome == FOUND:
        count = _circuit(work, at, size)
    _clear(work, at)
    work.tally[CHANGES] += effort
    return outcome, count
