"""Inequalities that every safe pattern satisfies, from the attacker's problem (Fischetti and Salazar 2000).

Let w be a sum of equations in which the sensitive cell p has the coefficient 1. Then d_p = −Σ w_j·d_j for any table
that fits, so d_p can reach the level L only if the suppressed cells among the others can move far enough together:
Σ |w_j|·(how far j can move)·y_j ≥ L, where y_j is 1 if j is suppressed. Coefficients above what is missing are cut down
to it. Where the attacker's linear program has no solution, its dual gives the w whose inequality is violated.

A sliding level asks how far apart the least and the largest value of a cell can be. Which side gives how much is open,
so no circuit settles it: linear programs give both ends, and their duals together the cut Σ (a⁺ + a⁻)·y ≥ s.
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.sparse import parts, row_of
from discreet.protect.suppression.circuits import ALL, EFFORT, NONE, CircuitLimits, Room, Scratch, cheapest
from discreet.protect.suppression.meeting import CircuitSearch
from discreet.protect.suppression.problem import Problem

SHORT = 1e-4
"""The violation from which a cut is worth adding: well above the tolerances of solvers, 1e-6."""


@compiled
def cut_of(
    p: int, amount: float, count: int, room: Room, fixed: BoolArray, work: Scratch, coefficient: FloatArray
) -> tuple[int, bool]:
    """Turn an equation into an inequality Σ a·y ≥ 1; the cells and coefficients replace the equation.

    Returns the number of cells, and false where those that are hidden in any case suffice.
    """
    found, moves, down, up = work.found, work.moves, room.down, room.up
    own = 0.0
    for i in range(count):
        if found[i] == p:
            own += moves[i]
    if abs(own) < 1e-7:
        return 0, False
    missing = amount
    for i in range(count):
        j = found[i]
        if j != p and fixed[j]:
            w = moves[i] / own
            missing -= w * down[j] if w > 0 else -w * up[j]
    if missing <= 1e-6 * amount:
        return 0, False
    kept = 0
    for i in range(count):
        j = found[i]
        if j == p or fixed[j]:
            continue
        w = moves[i] / own
        far = w * down[j] if w > 0 else -w * up[j]
        if far > 1e-9:
            found[kept], coefficient[kept] = j, min(far / missing, 1.0)
            kept += 1
    return kept, True


@compiled
def separate(
    order: IntArray, search: CircuitSearch, y: FloatArray, fixed: BoolArray, sharp: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """Find inequalities that a point y violates, one for each demand that it does not meet.

    With ``sharp`` no cell is taken to move further than the demand asks for, which finds more where y is fractional.
    Returns compressed rows of cells and coefficients.
    """
    on, asked, work = search.on, search.asked, search.work
    down, up, mode, known_cell = on.down, on.up, asked.way, asked.known_cell
    less, more = np.empty(down.size), np.empty(down.size)
    first = np.zeros(order.size + 1, np.int64)
    cells, values = np.empty(4096, np.int64), np.empty(4096)
    coefficient = np.empty(work.found.size)
    lines, end = 0, 0
    last_mode, last_amount = 0, -1.0
    for q in order:
        p, amount = asked.cell[q], float(asked.size[q])
        a, b = (down, up) if mode[q] > 0 else (up, down)
        if mode[q] != last_mode or amount != last_amount:
            last_mode, last_amount = mode[q], amount
            for j in range(down.size):
                part = 1.0 if fixed[j] else y[j]
                low, high = (min(a[j], amount), min(b[j], amount)) if sharp else (a[j], b[j])
                less[j], more[j] = low * part, high * part
        begin, stop = asked.known_start[asked.attacker[q]], asked.known_start[asked.attacker[q] + 1]
        known = known_cell[begin:stop]
        kept_less, kept_more, kept_a, kept_b = less[known], more[known], a[known], b[known]
        for i in range(begin, stop):
            j = known_cell[i]
            low, high = asked.known_down[i], asked.known_up[i]
            if mode[q] <= 0:
                low, high = high, low
            part = 1.0 if fixed[j] else y[j]
            less[j], more[j] = min(less[j], low * part), min(more[j], high * part)
            a[j], b[j] = min(a[j], low), min(b[j], high)
        outcome, count = cheapest(on, p, amount, on.slight, Room(less, more), CircuitLimits(np.inf, ALL, EFFORT), work)
        kept, fine = 0, False
        if outcome == NONE:
            kept, fine = cut_of(p, amount, count, Room(a, b), fixed, work, coefficient)
        less[known], more[known], a[known], b[known] = kept_less, kept_more, kept_a, kept_b
        covered = 0.0
        for i in range(kept):
            covered += coefficient[i] * y[work.found[i]]
        if not fine or covered > 1.0 - SHORT:
            continue
        if end + kept > cells.size:
            more_room = end + 2 * kept
            cells = np.append(cells[:end], np.empty(more_room, np.int64))
            values = np.append(values[:end], np.empty(more_room))
        cells[end : end + kept], values[end : end + kept] = work.found[:kept], coefficient[:kept]
        end += kept
        lines += 1
        first[lines] = end
    return first[: lines + 1], cells[:end], values[:end]


def sliding_cut(
    problem: Problem, cell: int, wide: int, chosen: BoolArray, fixed: BoolArray
) -> tuple[IntArray, FloatArray] | None:
    """Return a cut that a pattern violates because a cell cannot slide far enough; None where it can."""
    on = problem.on
    keep = chosen[on.columns]
    part = parts(row_of(on.starts)[keep], on.columns[keep], on.starts.size - 1, problem.size)[2]
    linked = np.flatnonzero((part == part[cell]) & chosen)
    (high, above), (low, below) = (_end(problem, cell, way, linked, wide) for way in (1.0, -1.0))
    if high + low >= wide - 1e-6:
        return None
    room = above + below
    missing = wide - float(room[fixed].sum())
    cells = np.flatnonzero(~fixed & (room > 1e-9))
    return cells, np.minimum(room[cells] / missing, 1.0)


def _end(problem: Problem, cell: int, way: float, linked: IntArray, wide: int) -> tuple[float, FloatArray]:
    """Return how far a cell can go in one direction, and what suppressing each other cell would add to that."""
    inside = problem.rows.among(linked, problem.size)
    rows = np.flatnonzero(inside.lengths)
    cost = np.zeros(linked.size)
    at = int(np.searchsorted(linked, cell))
    cost[at] = -way
    down, up = problem.on.down[linked], problem.on.up[linked]
    # More than the level asks for is never needed of the cell itself.
    down[at], up[at] = min(down[at], wide), min(up[at], wide)
    program = Program(
        inside.taken(rows),
        costs=cost,
        lower=np.where(down >= 2**52, -np.inf, -down),
        upper=np.where(up >= 2**52, np.inf, up),
        sums=(np.zeros(rows.size), np.zeros(rows.size)),
    )
    program.run()
    weight = np.zeros(problem.size)
    weight[cell] = way
    if rows.size:
        weight += problem.rows.taken(rows).combined(program.multipliers, problem.size)
    weight[np.abs(weight) < 1e-9] = 0.0
    room = np.where(weight > 0, weight * problem.on.up, -weight * problem.on.down)
    room[cell] = np.abs(weight[cell]) * (up[at] if weight[cell] > 0 else down[at])
    return -program.objective, np.minimum(room, float(wide))
