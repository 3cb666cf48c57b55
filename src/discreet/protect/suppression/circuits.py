"""The cheapest way to move a sensitive value: a circuit of cells that change together while every sum stays.

A vector d with A·d = 0 that changes one sensitive cell by what its protection level asks for, and other cells by no
more than their bounds allow, is a second table that fits everything published if all cells that it changes are
suppressed. The cheapest one solves a linear program: minimise Σ c|d|. It is found by the dual simplex method from the
empty table; equations enter the tableau when a cell in them first moves, so that only the neighbourhood of the
sensitive cell is ever looked at, however large the table is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.compiled import compiled

ROWS, COLUMNS = 1536, 6152
"""The largest tableau; a circuit that would need more is looked for otherwise."""
EFFORT = 3e7
"""The most changes of a tableau in one search, a count that is the same on any machine."""
FOUND, NONE, DEAR, LARGE = 0, 1, 2, 3
"""A circuit was found, there is none, none is cheap enough, or the tableau is too small."""
STEPS = 3000
STRIP = 256
TINY = 1e-9


def workspace(cells: int, equations: int) -> tuple[Any, ...]:
    """Return the memory that searches of one problem share."""
    return (
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
def _each(cell: int, cost: Any, down: Any, up: Any, size: float) -> float:
    """Return the cost of a whole move; a cell that can only move a part of it bears its cost all the same."""
    room = max(down[cell], up[cell])
    each: float = cost[cell] if room >= size else cost[cell] * size / max(room, TINY)
    return each


@compiled
def cheapest(
    cell: int,
    size: float,
    starts: Any,
    columns: Any,
    signs: Any,
    begins: Any,
    rows: Any,
    cost: Any,
    down: Any,
    up: Any,
    limit: float,
    work: Any,
    patience: float = EFFORT,
) -> tuple[int, int, float]:
    """Find the cheapest circuit in which one cell moves up by `size`.

    Cells of infinite cost do not move; others stay within [-down, up]. Returns an outcome, the number of cells that
    move, and the cost; the cells and their moves stand in the workspace. Where there is no circuit, these hold an
    equation that proves it. The last array of the workspace counts the effort of all searches.
    """
    T, column_of, row_of, cell_at, equation_at, found, moves, spent = work
    value, slope = np.zeros(COLUMNS), np.zeros(COLUMNS)
    held = np.full(COLUMNS, -1, np.int64)
    holds, level, side = np.full(ROWS, -1, np.int64), np.zeros(ROWS), np.ones(ROWS)
    # Of every column the price of a whole move and how far it can go, of every row the range of its cell: read often.
    price, less, more = np.empty(COLUMNS), np.empty(COLUMNS), np.empty(COLUMNS)
    low, high = np.zeros(ROWS), np.zeros(ROWS)
    touched = np.empty(COLUMNS, np.int64)
    nr, nc, wide = 0, 1, STRIP
    cell_at[0], column_of[cell], value[0] = cell, 0, 1.0
    outcome, total, count = LARGE, 0.0, 0
    entering, leaving, target, way = 0, -1, 0.0, 1.0
    effort = 0
    for step in range(STEPS):
        # Equations of a cell that begins to move enter the tableau.
        who = cell_at[entering]
        full = False
        for k in range(begins[who], begins[who + 1]):
            e = rows[k]
            if row_of[e] >= 0:
                continue
            if nr == ROWS or nc + starts[e + 1] - starts[e] > COLUMNS - STRIP:
                full = True
                break
            T[nr, :wide] = 0.0
            level[nr], holds[nr], side[nr], low[nr], high[nr] = 0.0, -1, 1.0, 0.0, 0.0
            for i in range(starts[e], starts[e + 1]):
                j = columns[i]
                if column_of[j] < 0:
                    # What alone costs more than the limit is in no circuit that does not.
                    if cost[j] > limit or not np.isfinite(cost[j]):
                        continue
                    column_of[j] = nc
                    cell_at[nc], value[nc], slope[nc], held[nc] = j, 0.0, 0.0, -1
                    price[nc] = _each(j, cost, down, up, size)
                    less[nc], more[nc] = down[j] / size, up[j] / size
                    nc += 1
                    if nc == wide:
                        # Rows are cleared in strips: one column at a time would touch every row of the tableau.
                        T[: nr + 1, wide : wide + STRIP] = 0.0
                        wide += STRIP
                T[nr, column_of[j]] += signs[i]
                level[nr] -= signs[i] * value[column_of[j]]
            row_of[e], equation_at[nr] = nr, e
            nr += 1
        if full or effort > patience:
            break
        if step > 0:
            # The pivot that the last step decided on, now that all rows are there.
            a = T[leaving, entering]
            step_by = -(target - level[leaving]) / a
            for i in range(nr):
                if i != leaving and T[i, entering] != 0.0:
                    level[i] -= T[i, entering] * step_by
            k = holds[leaving]
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
            q = slope[entering] + price[entering] * way
            for t in range(width):
                slope[touched[t]] -= q * T[leaving, touched[t]]
            if k >= 0:
                slope[k] = -q / a - price[k] * side[leaving]
                held[k], value[k] = -1, target
            slope[entering] = 0.0
            held[entering], holds[leaving] = leaving, entering
            level[leaving], side[leaving] = value[entering] + step_by, way
            low[leaving], high[leaving] = (0.0, more[entering]) if way > 0 else (-less[entering], 0.0)
        # The equation or cell that is furthest from where it must be.
        while True:
            leaving, worst = -1, TINY
            for i in range(nr):
                off = max(level[i] - high[i], low[i] - level[i])
                if off > worst:
                    leaving, worst = i, off
            if leaving < 0:
                outcome = FOUND
                break
            target = high[leaving] if level[leaving] > high[leaving] else low[leaving]
            delta = target - level[leaving]
            entering, best, largest, way = -1, np.inf, 0.0, 1.0
            for c in range(1, nc):
                a = T[leaving, c]
                if held[c] >= 0 or abs(a) < TINY:
                    continue
                rising = delta * a < 0
                if value[c] == 0.0:
                    if (more[c] if rising else less[c]) <= 0:
                        continue
                    rate, s = (price[c] + slope[c], 1.0) if rising else (price[c] - slope[c], -1.0)
                elif value[c] > 0:
                    if rising:
                        continue
                    rate, s = -(price[c] + slope[c]), 1.0
                else:
                    if not rising:
                        continue
                    rate, s = slope[c] - price[c], -1.0
                ratio = max(rate, 0.0) / abs(a)
                if ratio < best - TINY or (ratio < best + TINY and abs(a) > largest + TINY):
                    entering, best, largest, way = c, ratio, abs(a), s
            j = holds[leaving]
            if j >= 0 and target == 0.0:
                other = less[j] if side[leaving] > 0 else more[j]
                if other > 0 and 2 * price[j] <= best:
                    # The cell goes on through zero.
                    for c in range(nc):
                        slope[c] += 2 * price[j] * side[leaving] * T[leaving, c]
                    side[leaving] = -side[leaving]
                    low[leaving], high[leaving] = (0.0, more[j]) if side[leaving] > 0 else (-less[j], 0.0)
                    total += 2 * price[j] * abs(delta)
                    continue
            if entering < 0:
                # The equation that cannot be balanced is the proof: a sum of equations, over the cells seen so far.
                outcome = NONE
                for c in range(nc):
                    if abs(T[leaving, c]) > TINY:
                        found[count], moves[count] = cell_at[c], T[leaving, c]
                        count += 1
                if j >= 0:
                    found[count], moves[count] = cell_at[j], 1.0
                    count += 1
                break
            total += best * abs(delta)
            if total > limit:
                outcome = DEAR
                entering = -1
            break
        if outcome != LARGE:
            break
    if outcome == FOUND:
        for c in range(nc):
            v = value[c] if held[c] < 0 else level[held[c]]
            if abs(v) > 1e-7:
                found[count], moves[count] = cell_at[c], v * size
                count += 1
    for c in range(nc):
        column_of[cell_at[c]] = -1
    for i in range(nr):
        row_of[equation_at[i]] = -1
    spent[0] += effort
    return outcome, count, total
