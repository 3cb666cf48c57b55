"""Circuits in whole numbers by linear and integer programming, for demands that take other searches too long."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.errors import LimitError
from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.sparse import Rows, row_of
from discreet.protect.suppression.problem import Problem

STEPS = (4, 6, 1_000_000)
"""How many equations away from the cell circuits may lead, one attempt after another."""
NODES = 2_000
"""The effort of one attempt, counted in nodes so that it is the same on any machine."""
FINE = 1024
"""The most steps by which an amount is moved in the first attempt."""
PARTS = 12
"""What steps of large amounts are multiples of: moves by halves, thirds, quarters or sixths of a step are whole."""
TRIES = 3
"""How often a circuit is replaced by a cheaper one."""
GAP = 0.05
"""How far from the cheapest a circuit may be."""
CLOSE = 1e-5
"""How near to a whole number a move must be to be taken for it; whether all sums stay is then checked exactly."""


def rescue(
    problem: Problem,
    cell: int,
    size: int,
    way: int,
    cost: FloatArray,
    known: tuple[IntArray, FloatArray, FloatArray],
    hint: IntArray,
) -> tuple[IntArray, IntArray] | None:
    """Return a circuit of whole numbers that moves a class by at least `size`, or None where there is none.

    Moves are given as the demand counts them: up for a demand that asks for down, too. It is looked for among the
    cells of ``hint`` first: those of a circuit with broken moves.
    """
    down, up = problem.down.copy(), problem.up.copy()
    at, less, more = known
    down[at], up[at] = np.minimum(down[at], less), np.minimum(up[at], more)
    if way == 0:
        down = up = np.minimum(down, up)
    elif way < 0:
        down, up = up, down
    # Large amounts are moved in coarse steps: parts of them are whole, and integer programming, which comes last, is
    # lost among whole numbers of many digits.
    unit = PARTS if size >= PARTS * PARTS else 1
    while size > unit * FINE:
        unit *= 2
    coarser = [(unit * more, False) for more in (1, 5, 35) if 1 < unit * more <= size // PARTS]
    for step, whole in (*coarser, (unit, True), *([(1, True)] if unit > 1 else [])):
        steps = -(-size // step)
        if step == 1 or steps * step <= min(up[cell], down[cell] if way == 0 else np.inf):
            bounds = (_steps(down, step), _steps(up, step))
            found = _search(problem, cell, steps, cost, bounds, hint, step, whole)
            if found is not None:
                return found
    return None


def _steps(room: FloatArray, step: int) -> FloatArray:
    """Return how many steps cells can move; what has no bound stays without."""
    return np.where(room >= 2**52, room, np.floor(room / step))


def _search(
    problem: Problem,
    cell: int,
    size: int,
    cost: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    hint: IntArray,
    step: int,
    whole: bool,
) -> tuple[IntArray, IntArray] | None:
    """Look for a circuit among the cells of the hint, those suppressed already, and then further and further away.

    Once there is one, integer programs are not asked for another further away: they take long there.
    """

    def within(region: BoolArray) -> tuple[IntArray, IntArray] | None:
        region[cell] = True
        return _solve(problem, np.flatnonzero(region), cell, size, cost, bounds, step, whole and best is None)

    def price(found: tuple[IntArray, IntArray]) -> int:
        return int(problem.price[found[0][~hidden[found[0]]]].sum())

    hidden = (cost < problem.price) | (problem.free & np.isfinite(cost))
    best: tuple[IntArray, IntArray] | None = None
    if hint.size:
        near = np.zeros(problem.size, bool)
        near[hint] = True
        best = within(near)
    if best is None or price(best) > 0:
        best = within(hidden.copy()) or best
    region = np.zeros(problem.size, bool)
    region[cell] = True
    done, before = 0, 0
    for steps in STEPS:
        # More than the sensitive cell itself is much to pay: it may be had for less further away.
        if best is not None and price(best) <= max(problem.price[cell], 1):
            break
        while done < steps:
            grown = _wider(problem, region, np.isfinite(cost))
            done += 1
            if int(grown.sum()) == int(region.sum()):
                done = steps
            region = grown
        if int(region.sum()) == before or (best is not None and steps == STEPS[-1]):
            continue
        before = int(region.sum())
        found = within(region)
        if found is not None and (best is None or price(found) < price(best)):
            best = found
    return best


def _wider(problem: Problem, region: BoolArray, usable: BoolArray) -> BoolArray:
    """Return a region with all usable classes that share an equation with it."""
    row = row_of(problem.starts)
    touched = np.zeros(problem.starts.size - 1, bool)
    touched[row[region[problem.columns]]] = True
    grown = region.copy()
    grown[problem.columns[touched[row]]] = True
    return grown & (usable | region)


def _solve(
    problem: Problem,
    cells: IntArray,
    cell: int,
    size: int,
    cost: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    step: int,
    whole: bool,
) -> tuple[IntArray, IntArray] | None:
    """Return a cheap circuit within some cells, None where there is none.

    It is one over real numbers if its moves are whole; integer programming is asked only where ``whole`` says so.
    """
    from scipy.sparse import hstack

    down, up = bounds
    matrix = problem.system.matrix(problem.size)[:, cells]
    matrix = matrix[np.diff(matrix.indptr) > 0]
    both = hstack([matrix, -matrix]).tocsr()
    n = cells.size
    at = int(np.searchsorted(cells, cell))
    # A cell that can only move a part of the way bears its cost all the same.
    each = cost[cells] / np.clip(np.maximum(down[cells], up[cells]), 1.0, float(size))
    # A solver tells costs apart that are not too different: what is next to nothing costs a billionth of the dearest.
    each = np.maximum(each / each.max() * 1e6, 1e-3)
    lower, upper = np.zeros(2 * n), np.concatenate([up[cells], down[cells]])
    # Nothing has to move a thousand times as far as the sensitive cell, and solvers lose their way in large ranges.
    upper = np.minimum(upper, 1000.0 * size)
    lower[at], upper[at], upper[n + at] = size, max(size, upper[at]), 0.0
    move = None
    for integers in (False, True) if whole else (False,):
        zero = np.zeros(both.shape[0])
        program = Program(
            Rows(both.indptr, both.indices, both.data),
            costs=np.concatenate([each, each]),
            lower=lower,
            upper=upper,
            sums=(zero, zero),
            whole=integers,
            options={"mip_max_nodes": NODES, "mip_max_improving_sols": TRIES, "mip_rel_gap": GAP},
        )
        if program.run() == "infeasible":
            return None
        if program.found:
            moves = program.point[:n] - program.point[n:]
            move = _whole((np.rint(moves) if integers else moves) * step, matrix)
        if move is not None:
            return cells[move != 0], move[move != 0]
    if whole:
        raise LimitError(
            f"no table of whole numbers was found in which cell {problem.cell(cell)} moves by {size * step}; lower its "
            "protection level, or let zeros be suppressed"
        )
    return None


def _whole(moves: FloatArray, matrix: Any) -> IntArray | None:
    """Return moves as whole numbers if they are, and all sums stay."""
    move = np.rint(moves).astype(np.int64)
    if np.abs(moves - move).max(initial=0.0) > CLOSE * max(1.0, float(np.abs(moves).max(initial=0.0)) / 1000):
        return None
    return move if not (matrix.astype(np.int64) @ move).any() else None
