"""Names the published figures that contradict each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import parts, row_of
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

SHOWN = 12
SECONDS, MOST_ROWS = 5.0, 5_000
"""How long, and among how many equations, fewer figures that conflict are looked for."""
PATIENCE = 20.0
"""Seconds in which figures that can be left out are looked for."""


@dataclass(frozen=True)
class Conflict:
    """Positions whose published ranges contradict each other.

    ``smallest`` says that no fewer figures contradict each other; otherwise time ran out before that was known.
    ``needed`` says that none of them can be left out; otherwise time ran out even before that.
    """

    figures: tuple[int, ...]
    smallest: bool
    needed: bool = True


def explain(equations: Equations) -> InfeasibleError:
    """Return an error that names a smallest set of figures that cannot all be true.

    Without any one of them the others could be true together. It is found by asking which figures have to move, least
    in sum, for the equations to hold, and then by letting go of figures one after another as long as the rest still
    conflicts. Whether fewer figures conflict is then asked for some seconds. An irreducible subsystem by HiGHS (getIis)
    takes a fiftieth of the time, but names as few in 2 of 30 spoiled tables only.
    """
    found = conflict(equations)
    named = [
        f"{equations.describe(i)} = {equations.text(int(equations.lower[i]))}"
        if equations.lower[i] == equations.upper[i]
        else f"{equations.describe(i)} between {equations.text(int(equations.lower[i]))} and "
        f"{equations.text(int(equations.upper[i]))}"
        for i in found.figures
    ]
    shown = "; ".join(named[:SHOWN]) + (f"; and {len(named) - SHOWN} more" if len(named) > SHOWN else "")
    rest = "none of them can be left out; fewer others may too" if found.needed else "some of them may do alone"
    size = "no fewer do" if found.smallest else rest
    return InfeasibleError(
        f"no table fits what is published: {len(named)} figures contradict each other, {size} ({shown}); correct one "
        "of them, or say how they were changed (rounded, perturbed)"
    )


def conflict(equations: Equations, seconds: float = SECONDS) -> Conflict:
    """Return published figures that contradict each other, the fewest that do if that is found in time."""
    clock = Clock.within(PATIENCE)
    involved, rows = _around(equations, clock)
    stated = _stated(equations, involved)
    kept = list(_moved(equations, stated, rows, clock))
    for i in list(kept):
        if clock.late:
            break
        rest = [k for k in kept if k != i]
        if not _fits(equations, rest, rows, clock):
            kept = rest
    needed = not clock.late
    # Fewer figures may conflict through equations that lie elsewhere.
    everywhere = np.arange(equations.starts.size - 1)
    fewest = None
    if everywhere.size <= MOST_ROWS:
        stated = _stated(equations, np.unique(equations.columns))
        fewest = _fewest(equations, stated, everywhere, kept, Clock.within(seconds))
    return Conflict(tuple(kept if fewest is None else fewest), fewest is not None, needed or fewest is not None)


def _stated(equations: Equations, involved: IntArray) -> IntArray:
    """Return the positions of which something is published or known."""
    stated = involved[(equations.source[involved] >= 0) | (equations.lower[involved] == equations.upper[involved])]
    open_: IntArray = stated[~(equations.hidden[stated] & (equations.upper[stated] >= UNBOUNDED))]
    return open_


def _fewest(equations: Equations, stated: IntArray, rows: IntArray, known: list[int], clock: Clock) -> list[int] | None:
    """Return the fewest figures that conflict, the known ones where no fewer do; None where time runs out.

    Any set of figures without which the rest can be true has one in common with every conflict. So the smallest choice
    that has one of each such set found so far is tried: if it conflicts, nothing smaller does; if not, the figures that
    stand against it are one more set (implicit hitting sets).
    """
    sets: list[list[int]] = []
    while True:
        chosen = _hitting(sets, clock)
        if chosen is None:
            return None
        if len(chosen) >= len(known):
            return known
        against = _against(equations, stated, rows, chosen, clock)
        if against is None:
            return None
        if not against:
            return chosen
        sets.append(against)


def _hitting(sets: list[list[int]], clock: Clock) -> list[int] | None:
    """Return the fewest figures with one of each set, None where time runs out."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not sets:
        return []
    figures = sorted({i for one in sets for i in one})
    matrix = np.array([[float(i in set(one)) for i in figures] for one in sets])
    if clock.late:
        return None
    answer = milp(
        np.ones(len(figures)),
        constraints=LinearConstraint(matrix, 1.0, np.inf),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(figures)),
        options={"time_limit": clock.left},
    )
    if answer.status != 0:
        return None
    return [i for i, taken in zip(figures, answer.x, strict=True) if taken > 0.5]


def _against(
    equations: Equations, stated: IntArray, rows: IntArray, chosen: list[int], clock: Clock
) -> list[int] | None:
    """Return the fewest figures to let go of for the chosen ones to be true; none if they conflict; None if late."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack, vstack

    columns, _, matrix = _program(equations, rows)
    others = np.flatnonzero(np.isin(columns, stated) & ~np.isin(columns, chosen))
    n, k = columns.size, others.size
    held = np.isin(columns, chosen)
    low, high = equations.lower[columns].astype(float), equations.upper[columns].astype(float)
    free = high >= UNBOUNDED
    most = 4 * float(np.abs(np.concatenate([low, high[~free], [1.0]])).max()) * max(rows.size, 1)
    floor = float(min(0, int(equations.lower.min())))
    one = csr_array((np.ones(k), (np.arange(k), others)), shape=(k, n))
    slack = csr_array((np.full(k, most), (np.arange(k), np.arange(k))), shape=(k, k))
    equal = hstack([matrix, csr_array((rows.size, k))])
    zero = np.zeros(rows.size)
    ends = vstack([hstack([one, slack]), hstack([one, -slack])])
    top = np.where(free[others], np.inf, high[others])
    constraints = [
        LinearConstraint(equal, zero, zero),
        LinearConstraint(
            ends, np.concatenate([low[others], np.full(k, -np.inf)]), np.concatenate([np.full(k, np.inf), top])
        ),
    ]
    if clock.late:
        return None
    answer = milp(
        np.concatenate([np.zeros(n), np.ones(k)]),
        constraints=constraints,
        bounds=Bounds(
            np.concatenate([np.where(held, low, floor), np.zeros(k)]),
            np.concatenate([np.where(held & ~free, high, np.inf), np.ones(k)]),
        ),
        integrality=np.ones(n + k),
        options={"time_limit": clock.left},
    )
    if answer.status == 2:
        return []
    if answer.status != 0:
        return None
    return [int(columns[others[j]]) for j in range(k) if answer.x[n + j] > 0.5]


def _around(equations: Equations, clock: Clock) -> tuple[IntArray, IntArray]:
    """Return the positions and equations of the first connected part that nothing fits."""
    row = row_of(equations.starts)
    moving = np.flatnonzero(equations.lower[equations.columns] != equations.upper[equations.columns])
    size = equations.lower.size
    _, of_row, _ = parts(row[moving], equations.columns[moving], equations.starts.size - 1, size)
    for part in np.unique(of_row):
        rows = np.flatnonzero(of_row == part)
        columns = np.unique(equations.columns[np.isin(row, rows)])
        if not _fits(equations, columns.tolist(), rows, clock):
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


def _fits(equations: Equations, figures: list[int], rows: IntArray, clock: Clock) -> bool:
    """Say whether some whole values fit the ranges of these figures, all others being free, or may where it is late."""
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
        options={"time_limit": max(clock.left or 0.0, 0.01)},
    )
    return bool(answer.status != 2)


def _moved(equations: Equations, stated: IntArray, rows: IntArray, clock: Clock) -> list[int]:
    """Return a set of figures that conflict, started from the multipliers of the least repair."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, hstack

    columns, _, matrix = _program(equations, rows)
    zero = np.zeros(rows.size)
    stuck = hstack([matrix, eye_array(rows.size), -eye_array(rows.size)])
    cost = np.concatenate([np.zeros(columns.size), np.ones(2 * rows.size)])
    high = [None if u >= UNBOUNDED else float(u) for u in equations.upper[columns]]
    ranges = [*zip(equations.lower[columns].astype(float), high, strict=True), *[(0, None)] * (2 * rows.size)]
    left = {"time_limit": max(clock.left or 0.0, 0.01)}
    answer = linprog(cost, A_eq=stuck, b_eq=zero, bounds=ranges, method="highs", options=left)
    if answer.status == 0 and answer.fun > 1e-7:
        y: FloatArray = np.asarray(answer.eqlin.marginals)
        pull = np.abs(matrix.T @ y) > 1e-9  # type: ignore[attr-defined]
        first: list[int] = columns[pull & np.isin(columns, stated)].tolist()
        if not _fits(equations, first, rows, clock):
            return first
    every: list[int] = columns[np.isin(columns, stated)].tolist()
    return every
