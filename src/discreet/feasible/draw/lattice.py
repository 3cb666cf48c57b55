"""Uniform draws of the tables that fit equations of any shape, by a Markov chain over whole-number moves.

The equations are solved for as many unknowns as they determine. Each unknown that they leave open gives a move: one
unit of it, and what the others change with it. Every difference between two tables that fit is a sum of such moves. A
step draws a few moves, without regard to the table, adds them up, and shifts the table along the sum by an amount drawn
evenly from all that fit (hit and run). Any sum of moves can be drawn, so any table can follow any other, and since no
direction is preferred the chain settles on the uniform law. How fast it does so is not known beforehand: chains from
different tables are compared, and the error that is stated is the one between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.clock import Clock
from discreet.core.compiled import compiled
from discreet.core.errors import LimitError
from discreet.core.numerics import IntArray
from discreet.feasible.group_program import GroupProgram
from discreet.feasible.reduction import Group
from discreet.feasible.tableau.condensing import LateError, StuckError
from discreet.feasible.tableau.solver import Solver

EFFORT = 100
MORE = 0.4
"""The chance that one more move is added to a step."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """A group's unknowns that stand for all (``of``), their ranges, the moves between tables, and tables far apart."""

    of: IntArray
    least: IntArray
    most: IntArray
    starts: IntArray
    columns: IntArray
    rates: IntArray
    tables: tuple[IntArray, ...]
    clock: Clock

    def walk(
        self,
        x: IntArray,
        offset: IntArray,
        counts: IntArray,
        draws: int,
        thin: int,
        burn: int,
        rng: np.random.Generator,
    ) -> None:
        """Run a chain from a table, which is left at its last one, and count the values at every `thin`-th step."""
        _walk(
            self.starts, self.columns, self.rates, self.least, self.most, x, offset, counts, draws, thin, burn, rng,
            self.clock.rung,
        )  # fmt: skip


def lattice_of(group: Group, count: int, rng: np.random.Generator, clock: Clock) -> Lattice:
    """Return the moves between the tables of a group, and some tables in which one unknown is extreme.

    Raises:
        LimitError: the equations cannot be solved in whole numbers, or no first table was found in time.
    """
    n = group.variables.size
    try:
        solver = Solver(group, np.zeros(n, np.int64), None, clock)
        if not solver.has_table:
            x = GroupProgram(group, whole=True).best(np.zeros(n), True, clock.left)
            if x is not None:
                solver.give(np.rint(x).astype(np.int64))
        if not solver.has_table or (solver.joined.scale != 1).any():
            raise StuckError
    except (StuckError, LateError):
        raise LimitError(
            f"{n} hidden values that depend on each other are too many to count the tables, and no way was found to "
            "draw from them; use the law 'interval'"
        ) from None
    joined, solved = solver.joined, solver.joined.solved
    d, r = solved.shape
    c, i = np.nonzero(solved)
    # Each open unknown leads its own move.
    counts = np.bincount(c, minlength=d) + 1
    starts = np.concatenate([[0], np.cumsum(counts)])
    columns, rates = np.zeros(starts[-1], np.int64), np.zeros(starts[-1], np.int64)
    rest = np.ones(starts[-1], bool)
    rest[starts[:-1]] = False
    columns[starts[:-1]], rates[starts[:-1]] = r + np.arange(d), 1
    columns[rest], rates[rest] = i, -solved[c, i]
    outer, tables = solver.bound.copy(), []
    for k in rng.integers(0, r + d, count).tolist():
        solver.wanted[:] = 0
        solver.wanted[k] = 1
        solver.run(EFFORT)
        tables.append(solver.pool.table.copy())
    return Lattice(joined.of, outer[0], outer[1], starts, columns, rates, tuple(tables), clock)


@compiled
def _walk(
    starts: IntArray,
    columns: IntArray,
    rates: IntArray,
    least: IntArray,
    most: IntArray,
    x: IntArray,
    offset: IntArray,
    counts: IntArray,
    draws: int,
    thin: int,
    burn: int,
    rng: np.random.Generator,
    stop: IntArray,
) -> None:
    n, d = x.size, starts.size - 1
    step, touched = np.zeros(n, np.int64), np.zeros(n, np.int64)
    inside = np.zeros(n, np.bool_)
    for turn in range(burn + draws * thin):
        if stop[0] != 0:
            return
        count = 0
        while True:
            c = rng.integers(0, d)
            sign = 1 if rng.random() < 0.5 else -1
            for k in range(starts[c], starts[c + 1]):
                j = columns[k]
                if not inside[j]:
                    inside[j] = True
                    touched[count] = j
                    count += 1
                step[j] += sign * rates[k]
            if rng.random() >= MORE:
                break
        up, down = np.int64(2**60), np.int64(2**60)
        moved = False
        for k in range(count):
            j = touched[k]
            if step[j] > 0:
                up, down = min(up, (most[j] - x[j]) // step[j]), min(down, (x[j] - least[j]) // step[j])
                moved = True
            elif step[j] < 0:
                up, down = min(up, (x[j] - least[j]) // -step[j]), min(down, (most[j] - x[j]) // -step[j])
                moved = True
        shift = rng.integers(-down, up + 1) if moved else 0
        for k in range(count):
            j = touched[k]
            x[j] += shift * step[j]
            step[j] = 0
            inside[j] = False
        if turn >= burn and (turn - burn) % thin == 0:
            for j in range(n):
                counts[offset[j] + x[j] - least[j]] += 1
