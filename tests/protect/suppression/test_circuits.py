"""The cheapest circuit through a table of three dimensions, compared with a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.measuring import first_measured

import discreet as dc
from discreet.core.numerics import FloatArray
from discreet.protect.suppression.circuits import FOUND, NONE, Room, cheapest, workspace
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
    for _ in first_measured(range(40)):
        down, up = (rng.integers(0, 4, p.size).astype(np.float64) for _ in range(2))
        cell, size = int(rng.integers(p.size)), float(rng.integers(1, 4))
        cost = rng.integers(1, 20, p.size).astype(np.float64)
        # A cell that can only move a part of the way bears its cost all the same.
        price = cost / np.clip(np.maximum(down, up), 1e-9, size)
        price[cell] = 0.0
        outcome, count = cheapest(p.on, cell, size, cost, Room(down, up), np.inf, work)
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
