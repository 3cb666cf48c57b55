"""Names the published figures that contradict each other."""

from __future__ import annotations

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

SHOWN = 12


def explain(equations: Equations) -> InfeasibleError:
    """Return an error that names a smallest set of figures that cannot all be true.

    Without any one of them the others could be true together. It is found by asking which figures have to move, least
    in sum, for the equations to hold, and then by letting go of figures one after another as long as the rest still
    conflicts.
    """
    figures = conflict(equations)
    parts = [
        f"{equations.describe(i)} = {equations.text(int(equations.lower[i]))}"
        if equations.lower[i] == equations.upper[i]
        else f"{equations.describe(i)} between {equations.text(int(equations.lower[i]))} and "
        f"{equations.text(int(equations.upper[i]))}"
        for i in figures
    ]
    shown = "; ".join(parts[:SHOWN]) + (f"; and {len(parts) - SHOWN} more" if len(parts) > SHOWN else "")
    return InfeasibleError(
        f"no table fits what is published: {len(parts)} figures contradict each other ({shown}); correct one of them, "
        "or say how they were changed (rounded, perturbed)"
    )


def conflict(equations: Equations) -> list[int]:
    """Return positions whose published ranges contradict each other, none of which can be left out."""
    involved, rows = _around(equations)
    stated = involved[(equations.source[involved] >= 0) | (equations.lower[involved] == equations.upper[involved])]
    stated = stated[~(equations.hidden[stated] & (equations.upper[stated] >= UNBOUNDED))]
    kept = list(_moved(equations, stated, rows))
    for i in list(kept):
        rest = [k for k in kept if k != i]
        if not _fits(equations, rest, rows):
            kept = rest
    return kept


def _around(equations: Equations) -> tuple[IntArray, IntArray]:
    """Return the positions and equations of the first connected part that nothing fits."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row = np.repeat(np.arange(equations.starts.size - 1), np.diff(equations.starts))
    moving = np.flatnonzero(equations.lower[equations.columns] != equations.upper[equations.columns])
    size = equations.lower.size + equations.starts.size - 1
    links = coo_array(
        (np.ones(moving.size, np.int8), (equations.columns[moving], equations.lower.size + row[moving])),
        shape=(size, size),
    )
    _, label = connected_components(links.tocsr(), directed=False)
    of_row = label[equations.lower.size :]
    for part in np.unique(of_row):
        rows = np.flatnonzero(of_row == part)
        columns = np.unique(equations.columns[np.isin(row, rows)])
        if not _fits(equations, columns.tolist(), rows):
            return columns, rows
    everything = np.arange(equations.starts.size - 1)
    return np.unique(equations.columns), everything


def _program(equations: Equations, rows: IntArray) -> tuple[IntArray, IntArray, object]:
    from scipy.sparse import csr_array

    entries = np.concatenate([np.arange(equations.starts[r], equations.starts[r + 1]) for r in rows])
    columns, place = np.unique(equations.columns[entries], return_inverse=True)
    lengths = np.diff(equations.starts)[rows]
    row = np.repeat(np.arange(rows.size), lengths)
    matrix = csr_array((equations.signs[entries].astype(float), (row, place)), shape=(rows.size, columns.size))
    return columns, lengths, matrix


def _fits(equations: Equations, figures: list[int], rows: IntArray) -> bool:
    """Say whether some whole values fit the ranges of these figures, all others being free."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    columns, _, matrix = _program(equations, rows)
    chosen = np.isin(columns, figures)
    floor = min(0, int(equations.lower.min()))
    low = np.where(chosen, equations.lower[columns], floor).astype(float)
    high = np.where(chosen & (equations.upper[columns] < UNBOUNDED), equations.upper[columns], np.inf).astype(float)
    zero = np.zeros(rows.size)
    answer = milp(
        np.zeros(columns.size),
        constraints=LinearConstraint(matrix, zero, zero),
        bounds=Bounds(low, high),
        integrality=np.ones(columns.size),
    )
    return bool(answer.status != 2)


def _moved(equations: Equations, stated: IntArray, rows: IntArray) -> list[int]:
    """Return a set of figures that conflict, started from the multipliers of the least repair."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, hstack

    columns, _, matrix = _program(equations, rows)
    zero = np.zeros(rows.size)
    stuck = hstack([matrix, eye_array(rows.size), -eye_array(rows.size)])
    cost = np.concatenate([np.zeros(columns.size), np.ones(2 * rows.size)])
    high = [None if u >= UNBOUNDED else float(u) for u in equations.upper[columns]]
    ranges = [*zip(equations.lower[columns].astype(float), high, strict=True), *[(0, None)] * (2 * rows.size)]
    answer = linprog(cost, A_eq=stuck, b_eq=zero, bounds=ranges, method="highs")
    if answer.status == 0 and answer.fun > 1e-7:
        y: FloatArray = np.asarray(answer.eqlin.marginals)
        pull = np.abs(matrix.T @ y) > 1e-9  # type: ignore[attr-defined]
        first = [int(i) for i in columns[pull] if i in set(stated.tolist())]
        if not _fits(equations, first, rows):
            return first
    return [int(i) for i in columns if i in set(stated.tolist())]
