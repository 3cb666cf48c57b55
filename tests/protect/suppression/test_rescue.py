"""Circuits by linear and integer programming, against one integer program over the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, hstack

from discreet.core.errors import InfeasibleError
from discreet.core.highs import Program
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import Rows
from discreet.protect.suppression import rescue
from discreet.protect.suppression.demands import BOTH, DOWN, UP
from discreet.protect.suppression.fast import FastSearch
from discreet.protect.suppression.insider_knowledge import knowledge_of
from discreet.protect.suppression.problem import Problem
from discreet.protect.suppression.suppression import Suppression
from discreet.rules import Threshold
from discreet.table import Table

NOBODY = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


def problem_of(seed: int, typical: float) -> Problem | None:
    rng = np.random.default_rng(seed)
    values = np.rint(rng.lognormal(np.log(typical), 1.0, (3, 3, 3))).astype(np.int64) * (rng.random((3, 3, 3)) < 0.8)
    names = {name: [f"{name}{i}" for i in range(3)] for name in "abc"}
    method = Suppression(Threshold(2), levels=(1, 1))
    try:
        return method.pattern(Table.from_array(values, names)).problem
    except InfeasibleError:
        return None


def matrix_of(problem: Problem) -> csr_array:
    shape = (problem.on.starts.size - 1, problem.size)
    return csr_array((problem.on.signs, problem.on.columns, problem.on.starts), shape=shape)


def exists(problem: Problem, cell: int, size: int, way: int) -> bool:
    """Say whether a table of whole numbers fits in which a cell has moved so far."""
    matrix = matrix_of(problem)
    down, up = (problem.on.up, problem.on.down) if way < 0 else (problem.on.down, problem.on.up)
    if way == 0:
        down = up = np.minimum(down, up)
    low, high = np.zeros(2 * problem.size), np.concatenate([up, down])
    low[cell], high[problem.size + cell] = size, 0.0
    if size > high[cell]:
        return False
    found = milp(
        np.ones(2 * problem.size),
        constraints=LinearConstraint(hstack([matrix, -matrix]), 0, 0),
        bounds=Bounds(low, high),
        integrality=1,
    )
    return bool(found.success)


def check(problem: Problem, cell: int, size: int, way: int, cells: IntArray, moves: IntArray) -> None:
    move = np.zeros(problem.size, np.int64)
    move[cells] = moves
    assert move[cell] >= size
    assert not (matrix_of(problem).astype(np.int64) @ move).any()
    down, up = (problem.on.up, problem.on.down) if way < 0 else (problem.on.down, problem.on.up)
    if way == 0:
        down = up = np.minimum(down, up)
    assert (move <= up).all()
    assert (-move <= down).all()


def compare(typical: float) -> None:
    rng = np.random.default_rng(int(typical))
    seen = {True: 0, False: 0}
    for seed in range(12):
        problem = problem_of(seed, typical)
        if problem is None:
            continue
        for cell in rng.permutation(problem.size)[:6].tolist():
            way = int(rng.integers(-1, 2))
            size = int(rng.integers(1, 2 + int(1.2 * min(problem.on.down[cell], problem.on.up[cell], 2 * typical))))
            room = problem.on.down[cell] if way < 0 else problem.on.up[cell]
            if size > (min(problem.on.down[cell], problem.on.up[cell]) if way == 0 else room):
                continue
            cost = np.where(rng.random(problem.size) < 0.5, 1e-3, np.maximum(problem.on.price, 1))
            found = rescue.rescue(problem, cell, size, way, cost, NOBODY, np.zeros(0, np.int64))
            possible = exists(problem, cell, size, way)
            assert (found is not None) == possible, (seed, cell, size, way)
            seen[possible] += 1
            if found is not None:
                check(problem, cell, size, way, *found)
    assert seen[True] > 30


@pytest.mark.parametrize("typical", [2, 40, 4_000, 3_000_000])
def test_circuits_are_found_exactly_where_there_are_some(typical: float) -> None:
    compare(typical)


@pytest.mark.parametrize("typical", [2, 4_000])
def test_integer_programming_finds_them_where_moves_are_broken(typical: float, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = []

    class Broken(Program):
        def __init__(self, rows: Rows, **given: Any) -> None:
            self.whole = given["whole"]
            programs.append(self.whole)
            super().__init__(rows, **given)

        @property
        def point(self) -> FloatArray:
            value = super().point
            return value if self.whole else value + 0.3 * (np.arange(value.size) < value.size // 2)

    monkeypatch.setattr(rescue, "Program", Broken)
    compare(typical)
    assert programs.count(True) > 30


FRACTIONAL = (16, 41, 44, 48, 65, 75)
"""Seeds of tables in which the cheapest circuit over real numbers has moves of a half."""


def sparse_table(seed: int) -> tuple[Problem, int]:
    """Return a table of few counts, and one of its cells that can move both ways."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 7, (4, 4, 4)) * (rng.random((4, 4, 4)) < 0.5)
    names = {name: [f"{name}{i}" for i in range(4)] for name in "abc"}
    problem = Suppression(Threshold(2), levels=(1, 1)).pattern(Table.from_array(values, names)).problem
    return problem, int(rng.choice(np.flatnonzero(problem.on.least)))


def test_cells_with_fractional_moves_are_left_out_before_integer_programming(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = rescue.BARRED
    integer_programs = dict.fromkeys((0, usual), 0)

    class Counted(Program):
        def __init__(self, rows: Rows, **given: Any) -> None:
            integer_programs[rescue.BARRED] += bool(given["whole"])
            super().__init__(rows, **given)

    monkeypatch.setattr(rescue, "Program", Counted)
    for seed in FRACTIONAL:
        problem, cell = sparse_table(seed)
        cost = np.asarray(problem.on.price + 1.0, np.float64)
        for most in integer_programs:
            monkeypatch.setattr(rescue, "BARRED", most)
            found = rescue.rescue(problem, cell, 1, 0, cost, NOBODY, np.zeros(0, np.int64))
            assert found is not None
            assert exists(problem, cell, 1, 0)
            check(problem, cell, 1, 0, *found)
    assert integer_programs[0] >= len(FRACTIONAL)
    assert integer_programs[usual] == 0


def test_a_circuit_serves_every_demand_that_it_can() -> None:
    problem = problem_of(3, 40)
    assert problem is not None
    cells = np.flatnonzero(problem.on.least > 2)
    search = FastSearch(problem, knowledge_of(problem.cells, "none", (), None, problem.demands.sensitive))
    for k, cell in enumerate(cells.tolist()):
        search.ask(cell, 1 + k % 2, (BOTH, UP, DOWN)[k % 3], 0)
    search._grow()
    rescued = []
    for q in range(len(search.cell)):
        if search.where[q, 1] == 0:
            assert search._rescue(q)
            rescued.append(q)
            # The slow twin: every demand alike that a multiple by ±1 of the circuit meets has got it.
            move = np.zeros(problem.size, np.int64)
            move[search.circuit(q)[0]] = search.circuit(q)[1]
            for other, (cell, size, way) in enumerate(zip(search.cell, search.size, search.way, strict=True)):
                if way == search.way[q] and max(move[cell], -move[cell] if way == BOTH else 0) >= size:
                    assert search.where[other, 1] > 0
    assert len(rescued) < len(search.cell)
    for q in range(len(search.cell)):
        check(problem, search.cell[q], search.size[q], search.way[q], *search.circuit(q))
        assert search.hidden[search.circuit(q)[0]].all()
