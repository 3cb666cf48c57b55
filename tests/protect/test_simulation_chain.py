"""The Markov chain: its law, its reach and its diagnostics."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.protect.fibers import p_value, same_margins, slow_law

import discreet as dc
from discreet import LimitError, Table
from discreet.core.random import generator
from discreet.protect import Simulation
from discreet.protect.simulation import walk
from discreet.protect.simulation.diagnostics import diagnose
from discreet.protect.simulation.margin_model import Model
from discreet.protect.simulation.walk import MarkovChain

NONE = np.zeros(0, np.int64)


def latin() -> Any:
    cube = np.zeros((3, 3, 3), np.int64)
    for i, j in product(range(3), repeat=2):
        cube[i, j, (i + j) % 3] = 1
    return cube


def visited(F: Any, margins: Any, law: str, draws: int, apart: int, seed: int, impossible: Any = NONE) -> Any:
    """Return tables of one chain, so far apart that they are nearly independent."""
    chain = MarkovChain(F.ravel(), F.shape, Model.of(F.ndim, margins), law, impossible)
    x, rng = F.ravel().copy(), generator(seed)
    kept = np.zeros((draws, x.size), np.int64)
    for k in range(draws):
        chain.walk(x, apart, rng)
        kept[k] = x
    return kept


@pytest.mark.parametrize("law", ["hypergeometric", "uniform"])
@pytest.mark.parametrize(
    ("counts", "margins"),
    [
        ([[3, 1, 2], [0, 2, 1]], [(0,), (1,)]),
        ([[[1, 1], [0, 2]], [[1, 0], [1, 1]]], [(0, 1), (1, 2)]),
        ([[[1, 0, 1], [0, 1, 0]], [[0, 1, 0], [1, 0, 1]]], [(0, 1), (1, 2), (0, 2)]),
        ([[[2, 1], [0, 2]], [[1, 0], [1, 1]]], [(0,), (1,), (2,)]),
    ],
)
def test_chains_settle_on_the_enumerated_law(counts: Any, margins: Any, law: str) -> None:
    F = np.array(counts)
    assert p_value(visited(F, margins, law, 3_000, 100, 1), slow_law(F, margins, law)) > 1e-4


def test_moves_alone_cut_latin_squares_off_and_prices_below_zero_connect_them() -> None:
    F, margins = latin(), [(0, 1), (1, 2), (0, 2)]
    chain = MarkovChain(F.ravel(), F.shape, Model.of(3, margins), "uniform", NONE)
    assert chain.price > 0
    assert "below zero" in chain.connected
    law = slow_law(F, margins, "uniform")
    assert len(law) == 12
    assert p_value(visited(F, margins, "uniform", 3_000, 400, 3), law) > 1e-4
    # Without going below zero none of the twelve is ever left.
    chain.price = 0.0
    x = F.ravel().copy()
    chain.walk(x, 20_000, generator(1))
    assert (x == F.ravel()).all()


def test_structural_zeros_can_be_passed_but_are_never_returned() -> None:
    F = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0]])
    zeros = np.array([0, 4, 8])
    law = slow_law(F, [(0,), (1,)], "uniform", zeros.tolist())
    # Only a move around all six cells keeps the diagonal empty, which no basic move does.
    assert len(law) == 4
    assert p_value(visited(F, [(0,), (1,)], "uniform", 2_000, 200, 4, zeros), law) > 1e-4


def test_long_lines_are_walked_in_steps_that_keep_the_law() -> None:
    F = np.array([[3000, 3000], [3000, 3000]])
    kept = visited(F, [(0,), (1,)], "hypergeometric", 1_500, 30, 5)[:, 0]
    # The hypergeometric law has the mean 3000 and this deviation.
    deviation = np.sqrt(3000 * 0.5 * 6000 / (12_000 - 1))
    assert abs(kept.mean() - 3000) < 5 * deviation / np.sqrt(1_500)
    assert abs(kept.std() / deviation - 1) < 0.1
    even = visited(F, [(0,), (1,)], "uniform", 3_000, 10, 6)[:, 0]
    assert abs(even.mean() - 3000) < 5 * 6001 / np.sqrt(12 * 3_000)
    assert (np.histogram(even, 10, (0, 6001))[0] > 220).all()


def test_priced_lines_longer_than_the_look_up_keep_the_law() -> None:
    # A structural zero makes the chain one of prices; the free 2 × 2 part has a line of 601 tables.
    F = np.array([[300, 300, 0], [300, 300, 0], [0, 0, 5]])
    zeros = np.array([2, 5, 6, 7])
    kept = visited(F, [(0,), (1,)], "uniform", 1_500, 150, 7, zeros)
    assert (kept[:, zeros] == 0).all()
    assert abs(kept[:, 0].mean() - 300) < 40
    assert (np.histogram(kept[:, 0], 4, (0, 601))[0] > 270).all()


def test_diagnostics_tell_mixed_chains_from_others() -> None:
    rng = np.random.default_rng(1)
    white = rng.normal(size=(4, 400, 3))
    rhat, effective = diagnose(white)
    assert rhat < 1.02
    assert 1000 < effective < 2500
    apart = white + np.arange(4)[:, None, None]
    assert diagnose(apart)[0] > 1.5
    slow = np.zeros((4, 400, 1))
    for k in range(1, 400):
        slow[:, k] = 0.9 * slow[:, k - 1] + rng.normal(size=(4, 1))
    # An autoregression of 0.9 is worth a nineteenth of its draws.
    assert 1600 / 19 / 2.5 < diagnose(slow)[1] < 1600 / 19 * 2.5
    assert diagnose(np.ones((4, 10, 2))) == (1.0, 40.0)
    assert diagnose(np.arange(4.0)[:, None, None] * np.ones((4, 10, 1))) == (np.inf, 1.0)


def test_a_release_states_its_chain_and_does_not_depend_on_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table.from_array(generator(1).poisson(4, (4, 3, 3)), ["a", "b", "c"])
    method = Simulation(2, "uniform", "chain")
    done = method.apply(table, 7)
    stated = done.details["chain"]
    assert stated["split_rhat"] <= walk.MIXED
    assert stated["effective"] >= stated["draws"] / 4
    assert stated["chains"] == 4
    assert "split R̂" in done.sentence
    for name in (("a", "b"), ("b", "c"), ("a", "c")):
        assert done.release.table.margin(*name) == table.margin(*name)
    assert done.release.table != table
    assert method.apply(table, 7).release.table == done.release.table
    assert method.apply(table, 8).release.table != done.release.table


def test_chains_that_do_not_mix_release_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "LONGEST", 100_000)
    monkeypatch.setattr(walk, "MIXED", 1.0)
    with pytest.raises(LimitError, match="the chains do not agree"):
        Simulation(None, "uniform", "chain").apply(dc.datasets.religion(), 1)


def test_uniform_draws_of_a_table_too_large_to_count() -> None:
    table = dc.datasets.religion()
    done = Simulation(None, "uniform").apply(table, 1)
    assert done.details["engine"] == "chain"
    assert "Markov basis" in done.details["chain"]["connected"]
    assert all(done.release.table.margin(name) == table.margin(name) for name in table.names)


def test_the_oracle_itself() -> None:
    assert same_margins(np.array([[1, 1], [1, 1]]), [(0,), (1,)]) == [(0, 2, 2, 0), (1, 1, 1, 1), (2, 0, 0, 2)]
