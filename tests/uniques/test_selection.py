"""Choosing a model: the criteria find the model that made the table."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from tests.uniques import simulated

from discreet.core.errors import RequestError
from discreet.table import Table
from discreet.uniques import choose, forward_selection

NAMES = list("abcd")
MAIN = tuple((name,) for name in NAMES)
PAIRS = tuple(combinations(NAMES, 2))


def hits(tables: int, seed: int) -> int:
    """How often the model that made a sparse table is chosen; every other table has interactions."""
    rng = np.random.default_rng(seed)
    right = 0
    for i in range(tables):
        interactions = i % 2 == 1
        _, sample = simulated.draw(simulated.rates(rng, interactions), simulated.FRACTION, rng)
        found = choose(Table.from_array(sample, NAMES), fractions=simulated.FRACTION)
        right += found.chosen.model == (PAIRS if interactions else MAIN)
    return right


@pytest.mark.parametrize("seed", [1, 2])
def test_the_true_model_is_chosen_in_nine_tables_of_ten(seed: int) -> None:
    assert hits(200, seed) >= 180


def test_forward_selection_finds_the_one_interaction() -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        rate = simulated.rates(rng, interactions=False)
        effect = rng.normal(0.0, 1.5, (simulated.SHAPE[0], 1, simulated.SHAPE[2], 1))
        rate = rate * np.exp(effect)
        _, sample = simulated.draw(rate * (simulated.PEOPLE / rate.sum()), simulated.FRACTION, rng)
        found = forward_selection(Table.from_array(sample, NAMES), fractions=simulated.FRACTION)
        assert found.fits
        assert ("a", "c") in found.chosen.model
        assert found.path[0].model == MAIN
        assert found.path[0].b2.z > 1.96 >= found.chosen.b2.z
        assert len(found.path) <= 3


def test_forward_selection_stays_with_main_effects_when_they_do() -> None:
    rng = np.random.default_rng(6)
    _, sample = simulated.draw(simulated.rates(rng, interactions=False), simulated.FRACTION, rng)
    table = Table.from_array(sample, NAMES)
    found = forward_selection(table, fractions=simulated.FRACTION)
    assert found.chosen.model == MAIN
    assert len(found.path) == 1


def test_workers_do_not_change_the_choice() -> None:
    rng = np.random.default_rng(7)
    _, sample = simulated.draw(simulated.rates(rng, interactions=True), simulated.FRACTION, rng)
    table = Table.from_array(sample, NAMES)
    steps: list[int] = []
    one = forward_selection(
        table,
        fractions=0.1,
        workers=1,
        criterion="b1",
        progress=lambda done, total, label: steps.append(done),
    )
    two = forward_selection(table, fractions=0.1, workers=2, criterion="b1")
    assert one.to_dict() == two.to_dict()
    assert steps == list(range(1, len(one.path)))


def test_when_nothing_fits_the_closest_is_taken() -> None:
    rng = np.random.default_rng(8)
    _, sample = simulated.draw(simulated.rates(rng, interactions=True), simulated.FRACTION, rng)
    found = choose(Table.from_array(sample, NAMES), ["main"], fractions=simulated.FRACTION)
    assert not found.fits
    assert found.chosen.model == MAIN


def test_bad_requests_and_faces() -> None:
    table = Table.from_array([[9, 1, 0], [0, 8, 1], [1, 0, 7]], ["area", "trade"])
    with pytest.raises(RequestError, match="'b3'"):
        choose(table, population=270, criterion="b3")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="limit is 0"):
        forward_selection(table, population=270, limit=0)
    with pytest.raises(RequestError, match="no model"):
        choose(table, [], population=270)
    found = forward_selection(table, population=270)
    shown = json.loads(json.dumps(found.to_dict()))
    assert len(shown["path"]) == len(found.path) == 2
    assert "chosen" in str(found)
    assert found._repr_html_().startswith("<table>")
