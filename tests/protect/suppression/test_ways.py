"""Circuits through tables of two dimensions: found as ways through a network, compared with a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet.core.numerics import BoolArray, FloatArray
from discreet.protect.suppression.circuits import Move, Room, workspace
from discreet.protect.suppression.problem import Problem
from discreet.protect.suppression.ways import through_network
from discreet.rules import Threshold


def problem(rng: np.random.Generator) -> Problem:
    counts = rng.poisson(2.0, rng.integers(2, 6, 2)) + 1
    labels = {name: [f"{name}{i}" for i in range(n)] for name, n in zip("rc", counts.shape, strict=True)}
    return dc.protect.Suppression(Threshold(2)).pattern(dc.Table.from_array(counts + 2, labels)).problem


def possible(p: Problem, cell: int, amount: float, hidden: BoolArray, down: FloatArray, up: FloatArray) -> bool:
    """Say by a linear program whether a cell can move by an amount while hidden cells alone move with it."""
    lower, upper = np.where(hidden, -down, 0.0), np.where(hidden, up, 0.0)
    lower[cell] = upper[cell] = amount
    none = np.zeros(p.on.starts.size - 1)
    bounds = np.stack([lower, upper], axis=1)
    return bool(linprog(np.zeros(p.size), A_eq=p.rows.dense(p.size), b_eq=none, bounds=bounds).status == 0)


@pytest.mark.parametrize("seed", range(4))
def test_a_way_is_found_exactly_where_a_linear_program_finds_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outcomes = set()
    p = problem(rng)
    for case in range(100):
        p = problem(rng) if case % 20 == 0 else p
        assert p.on.network
        work = workspace(p.size, p.on.starts.size - 1)
        hidden = rng.random(p.size) < 0.7
        down, up = (rng.integers(0, 4, p.size).astype(np.float64) for _ in range(2))
        cell, amount = int(rng.integers(p.size)), float(rng.integers(1, 5))
        cost = np.where(hidden, p.on.slight, 5.0)
        count = through_network(p.on, Move(cell, amount, 1, Room(down, up)), cost, work)
        outcomes.add(count > 0)
        assert (count > 0) == possible(p, cell, amount, hidden, down, up)
        found, moves = work.found[:count], work.moves[:count]
        shift = np.zeros(p.size)
        shift[found] = moves
        assert np.unique(found).size == count
        assert not p.rows.sums(shift).any()
        others = found[found != cell]
        assert hidden[others].all()
        assert (-down <= shift)[others].all()
        assert (shift <= up)[others].all()
        if count:
            assert shift[cell] == amount
        # Nothing is left behind for the next search.
        assert (work.came == -1).all()
        assert (work.ahead == -1).all()
        assert (work.column_of == -1).all()
        assert not work.shift.any()
    assert outcomes == {True, False}


def test_a_dense_table_needs_no_tableau() -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(3, (60, 60))
    labels = {name: [f"{name}{i}" for i in range(60)] for name in "rc"}
    seen: list[str] = []
    pattern = dc.protect.Suppression(Threshold(3)).pattern(
        dc.Table.from_array(counts, labels), progress=lambda done, whole, label: seen.append(label)
    )
    assert pattern.counts["secondary"] == 0
    assert pattern.cost == pattern.bound
    assert not any("hard to protect" in label for label in seen)


def test_tables_with_hierarchies_on_both_sides_are_no_network() -> None:
    tree = dc.Hierarchy.from_columns([("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")])
    table = dc.Table.from_array(np.arange(16).reshape(4, 4) + 1, {"r": list(tree.leaves), "c": list(tree.leaves)})
    cells = dc.Tabulation.from_table(table, hierarchies={"r": tree, "c": tree})
    assert not dc.protect.Suppression(Threshold(4)).pattern(cells).problem.on.network
