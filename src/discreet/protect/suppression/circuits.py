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

ROWS, COLUMNS = 1536, 6144
"""The largest tableau; a circuit that would need more is looked for otherwise."""
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
) -> tuple[int, int, float]:
    """Find the cheapest circuit in which one cell moves up by `size`.

    Cells of infinite cost do not move; others stay within [-down, up]. Returns an outcome, the number of cells that
    move, and the cost; the cells and their moves stand in the last two arrays of the workspace. Where there is no
    circuit, these hold an equation that proves it.
    """
    T, column_of, row_of, cell_at, equation_at, found, moves = work
    value, slope = np.zeros(COLUMNS), np.zeros(COLUMNS)
    held = np.full(COLUMNS, -1, np.int64)
    holds, level, side = np.full(ROWS, -1, np.int64), np.zeros(ROWS), np.ones(ROWS)
    nr, nc, wide = 0, 1, STRIP
    cell_at[0], column_of[cell], value[0] = cell, 0, 1.0
    outcome, total, count = LARGE, 0.0, 0
    entering, leaving, target, way = 0, -1, 0.0, 1.0
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
            level[nr], holds[nr], side[nr] = 0.0, -1, 1.0
            for i in range(starts[e], starts[e + 1]):
                j = columns[i]
                if column_of[j] < 0:
                    # What alone costs more than the limit is in no circuit that does not.
                    if cost[j] > limit or not np.isfinite(cost[j]):
                        continue
                    column_of[j] = nc
                    cell_at[nc], value[nc], slope[nc], held[nc] = j, 0.0, 0.0, -1
                    nc += 1
                    if nc == wide:
                        # Rows are cleared in strips: one column at a time would touch every row of the tableau.
                        T[: nr + 1, wide : wide + STRIP] = 0.0
                        wide += STRIP
                T[nr, column_of[j]] += signs[i]
                level[nr] -= signs[i] * value[column_of[j]]
            row_of[e], equation_at[nr] = nr, e
            nr += 1
        if full:
            break
        if step > 0:
            # The pivot that the last step decided on, now that all rows are there.
            a = T[leaving, entering]
            t = -(target - level[leaving]) / a
            for i in range(nr):
                if i != leaving and T[i, entering] != 0.0:
                    level[i] -= T[i, entering] * t
            k = holds[leaving]
            T[leaving, :nc] /= a
            T[leaving, entering] = 0.0
            if k >= 0:
                T[leaving, k] = 1.0 / a
            for i in range(nr):
                f = T[i, entering]
                if i != leaving and f != 0.0:
                    for c in range(nc):
                        T[i, c] -= f * T[leaving, c]
                    T[i, entering] = 0.0
            own = _each(cell_at[entering], cost, down, up, size) * way
            q = slope[entering] + own
            for c in range(nc):
                slope[c] -= q * T[leaving, c]
            if k >= 0:
                old = _each(cell_at[k], cost, down, up, size) * side[leaving]
                slope[k] = -q / a - old
                held[k], value[k] = -1, target
            slope[entering] = 0.0
            held[entering], holds[leaving] = leaving, entering
            level[leaving], side[leaving] = value[entering] + t, way
        # The equation or cell that is furthest from where it must be.
        while True:
            leaving, target, worst = -1, 0.0, TINY
            for i in range(nr):
                v, j = level[i], holds[i]
                aim = 0.0
                if j >= 0:
                    if side[i] > 0:
                        aim = min(max(v, 0.0), up[cell_at[j]] / size)
                    else:
                        aim = max(min(v, 0.0), -down[cell_at[j]] / size)
                if abs(v - aim) > worst:
                    leaving, target, worst = i, aim, abs(v - aim)
            if leaving < 0:
                outcome = FOUND
                break
            delta = target - level[leaving]
            entering, best, largest, way = -1, np.inf, 0.0, 1.0
            for c in range(1, nc):
                a = T[leaving, c]
                if held[c] >= 0 or abs(a) < TINY:
                    continue
                j = cell_at[c]
                rising = delta * a < 0
                each = _each(j, cost, down, up, size)
                if value[c] == 0.0:
                    if (up[j] if rising else down[j]) <= 0:
                        continue
                    rate, s = (each + slope[c], 1.0) if rising else (each - slope[c], -1.0)
                elif value[c] > 0:
                    if rising:
                        continue
                    rate, s = -(each + slope[c]), 1.0
                else:
                    if not rising:
                        continue
                    rate, s = slope[c] - each, -1.0
                ratio = max(rate, 0.0) / abs(a)
                if ratio < best - TINY or (ratio < best + TINY and abs(a) > largest + TINY):
                    entering, best, largest, way = c, ratio, abs(a), s
            j = holds[leaving]
            if j >= 0 and target == 0.0:
                other = down[cell_at[j]] if side[leaving] > 0 else up[cell_at[j]]
                each = _each(cell_at[j], cost, down, up, size)
                if other > 0 and 2 * each <= best:
                    # The cell goes on through zero.
                    for c in range(nc):
                        slope[c] += 2 * each * side[leaving] * T[leaving, c]
                    side[leaving] = -side[leaving]
                    total += 2 * each * abs(delta)
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
    return outcome, count, total
