"""The cheapest circuit through a table of three dimensions, compared with a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.suppression.circuits import (
    ALL,
    COLUMNS,
    EFFORT,
    EXPENSIVE,
    FOUND,
    NONE,
    CircuitLimits,
    Room,
    cheapest,
    workspace,
)
from discreet.protect.suppression.meeting import DemandColumns, serves
from discreet.protect.suppression.problem import Problem
from discreet.rules import Threshold


def problem(rng: np.random.Generator) -> Problem:
    counts = rng.poisson(2.0, rng.integers(2, 4, 3)) + 3
    labels = {name: [f"{name}{i}" for i in range(n)] for name, n in zip("rcd", counts.shape, strict=True)}
    return dc.protect.Suppression(Threshold(2)).pattern(dc.Table.from_array(counts, labels)).problem


def least(p: Problem, cell: int, size: float, price: FloatArray, room: Room) -> float | None:
    """Return by a linear program what moving a cell costs at least, None where it cannot move so far."""
    lower, upper = -room.down, room.up.copy()
    lower[cell] = upper[cell] = size
    bounds = np.concatenate([np.stack([np.zeros(p.size), upper], 1), np.stack([np.zeros(p.size), -lower], 1)])
    bounds[cell], bounds[p.size + cell] = size, 0.0
    both = np.hstack([p.rows.dense(p.size), -p.rows.dense(p.size)])
    found = linprog(np.concatenate([price, price]), A_eq=both, b_eq=np.zeros(both.shape[0]), bounds=bounds)
    return float(found.fun) if found.status == 0 else None


@pytest.mark.parametrize("seed", range(3))
def test_no_linear_program_finds_a_cheaper_circuit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outcomes = set()
    p = problem(rng)
    work = workspace(p.size, p.on.starts.size - 1)
    for _ in range(40):
        down, up = (rng.integers(0, 4, p.size).astype(np.float64) for _ in range(2))
        cell, size = int(rng.integers(p.size)), float(rng.integers(1, 4))
        cost = rng.integers(1, 20, p.size).astype(np.float64)
        # A cell that can only move a part of the way bears its cost all the same.
        price = cost / np.clip(np.maximum(down, up), 1e-9, size)
        price[cell] = 0.0
        outcome, count = cheapest(p.on, cell, size, cost, Room(down, up), CircuitLimits(np.inf, ALL, EFFORT), work)
        outcomes.add(outcome)
        expected = least(p, cell, size, price, Room(down, up))
        assert outcome == (NONE if expected is None else FOUND)
        found, moves = work.found[:count].copy(), work.moves[:count].copy()
        shift = np.zeros(p.size)
        np.add.at(shift, found, moves)
        if expected is None:
            # A sum of equations that the cell would break, however far the others move.
            others = np.where(shift / shift[cell] > 0, down, up) * np.abs(shift / shift[cell])
            others[cell] = 0.0
            assert others.sum() < size
            assert np.linalg.matrix_rank(np.vstack([p.rows.dense(p.size), shift])) == np.linalg.matrix_rank(
                p.rows.dense(p.size)
            )
        else:
            assert float(np.abs(shift) @ price) == pytest.approx(expected)
            np.testing.assert_allclose(p.rows.sums(shift), 0.0, atol=1e-9)
    assert outcomes == {FOUND, NONE}


def test_where_none_is_said_to_exist_a_higher_limit_finds_none() -> None:
    """No circuit at a limit is none at all; where a cell that could move is too dear, the answer is another."""
    rng = np.random.default_rng(5)
    p = problem(rng)
    work = workspace(p.size, p.on.starts.size - 1)
    pairs = set()
    for _ in range(150):
        down, up = (rng.integers(0, 3, p.size).astype(np.float64) for _ in range(2))
        cell, size = int(rng.integers(p.size)), float(rng.integers(1, 3))
        cost = rng.integers(1, 20, p.size).astype(np.float64)
        cost[rng.random(p.size) < 0.2] = np.inf
        limited, free = (
            cheapest(p.on, cell, size, cost, Room(down, up), CircuitLimits(most, ALL, EFFORT), work)[0]
            for most in (rng.uniform(5, 150), np.inf)
        )
        assert (limited, free) not in ((NONE, FOUND), (FOUND, NONE), (FOUND, EXPENSIVE))
        pairs.add((limited, free))
    assert {(NONE, NONE), (EXPENSIVE, FOUND), (EXPENSIVE, NONE), (FOUND, FOUND)} <= pairs


def test_among_a_few_cells_of_every_sum_circuits_are_circuits_and_none_is_denied() -> None:
    """Where only some cells of a sum enter, what is found keeps all sums, and a failure is no proof."""
    rng = np.random.default_rng(7)
    p = problem(rng)
    work = workspace(p.size, p.on.starts.size - 1)
    found = {1: 0, 2: 0, 3: 0}
    for _ in range(150):
        down, up = (rng.integers(0, 4, p.size).astype(np.float64) for _ in range(2))
        cell, size = int(rng.integers(p.size)), float(rng.integers(1, 3))
        cost = rng.integers(1, 20, p.size).astype(np.float64)
        for beside in found:
            outcome, count = cheapest(
                p.on, cell, size, cost, Room(down, up), CircuitLimits(np.inf, beside, EFFORT), work
            )
            if outcome == NONE:
                assert (
                    cheapest(p.on, cell, size, cost, Room(down, up), CircuitLimits(np.inf, ALL, EFFORT), work)[0]
                    == NONE
                )
            if outcome != FOUND:
                continue
            shift = np.zeros(p.size)
            np.add.at(shift, work.found[:count], work.moves[:count])
            assert shift[cell] == pytest.approx(size)
            others = np.arange(p.size) != cell
            assert ((shift <= up + 1e-9) & (shift >= -down - 1e-9))[others].all()
            np.testing.assert_allclose(p.rows.sums(shift), 0.0, atol=1e-9)
            found[beside] += 1
    assert 0 < found[1] < found[3]


def possible(table: IntArray, to: int, asked: DemandColumns) -> bool:
    """Say whether a table moves the cell of the only demand far enough one way, as its attacker sees it."""
    at = asked.known_cell
    inside = (table[at] >= -asked.known_down) & (table[at] <= asked.known_up)
    return bool(inside.all() and table[asked.cell[0]] * to >= asked.size[0])


def test_a_circuit_serves_whoever_does_not_undo_it() -> None:
    """Whether a circuit serves a demand, against the tables that the demand's attacker takes to be possible."""
    served, size, facts = 0, 6, 2
    for seed in range(400):
        rng = np.random.default_rng(seed)
        cells = rng.permutation(size)[:4]
        moves = rng.choice([-3, -2, -1, 1, 2, 3], cells.size)
        wanted, way = rng.integers(-1, 2, 2).tolist()
        cell, amount, way_wanted, attacker = (
            np.array([item], np.int64) for item in (rng.integers(size), rng.integers(1, 4), wanted, 1)
        )
        known_cell = rng.integers(0, size, facts)
        down, up = rng.integers(0, 4, (2, facts)).astype(np.float64)
        start = np.array([0, 0, facts])
        asked = DemandColumns(cell, amount, way_wanted, attacker, start, known_cell, down, up)
        place, shift = np.full(size, -1), np.zeros(size, np.int64)
        place[cells], shift[cells] = np.arange(cells.size), moves
        turn = int(serves(0, way, moves.astype(np.float64), place, asked))
        # A circuit stands for tables: one that leads both ways for two.
        tables = [shift * one for one in ((1, -1) if way == 0 else (way,))]
        ways = (1, -1) if wanted == 0 else (wanted,)
        assert (turn != 0) == all(any(possible(table, to, asked) for table in tables) for to in ways), seed
        if turn:
            # It is written down as the demand counts: up even where it asks for down.
            assert all(possible(shift * turn * to, to, asked) for to in ways), seed
            served += 1
    assert served > 20


def wide(rows: int, columns: int, dear: int) -> dc.Table:
    """Return counts of 5 in every tenth column, where some are sensitive, each alone in its sums; others are dear."""
    counts = np.tile(np.where(np.arange(columns) % 10, dear, 5), (rows, 1))
    counts[np.arange(rows - 1), 100 * np.arange(1, rows)] = 2
    labels = {name: [f"{name}{i}" for i in range(n)] for name, n in zip("rc", counts.shape, strict=True)}
    return dc.Table.from_array(counts, labels)


def test_a_sum_fills_the_tableau_by_what_enters_of_it() -> None:
    """Sums longer than the tableau, few cells of which cost little enough."""
    p = dc.protect.Suppression(Threshold(3)).pattern(wide(4, COLUMNS + 10, 10**6)).problem
    cell = int(np.flatnonzero(p.on.primary)[0])
    most = CircuitLimits(100.0, ALL, EFFORT)
    work = workspace(p.size, p.on.starts.size - 1)
    outcome, count = cheapest(p.on, cell, 1.0, p.on.price.astype(np.float64), Room(p.on.least, p.on.least), most, work)
    assert outcome == FOUND
    assert count >= 4


def test_sums_that_fill_the_tableau_need_no_integer_program() -> None:
    seen: list[str] = []
    counts = wide(4, COLUMNS // 2, 5)
    pattern = dc.protect.Suppression(Threshold(3)).pattern(counts, progress=lambda *now: seen.append(now[2]))
    assert not any("hard to protect" in label for label in seen)
    # Three sensitive cells in rows and columns of their own take a cell each in those, at the least.
    assert pattern.counts["secondary"] <= 9
