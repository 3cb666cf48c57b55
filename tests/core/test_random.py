"""Random streams: reproducible, independent, and never shared by accident."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet import RequestError
from discreet.core.random import generator, spawn


def numbers(rng: np.random.Generator, n: int = 4) -> list[int]:
    return [int(x) for x in rng.integers(2**62, size=n)]


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert numbers(generator(7)) == numbers(generator(7))
    assert numbers(generator(np.int64(7))) == numbers(generator(7))  # type: ignore[arg-type]
    assert numbers(generator(np.random.SeedSequence(7))) == numbers(generator(7))
    assert numbers(generator(7)) != numbers(generator(8))
    assert numbers(generator(None)) != numbers(generator(None))


def test_a_generator_is_handed_back() -> None:
    rng = np.random.default_rng(1)
    assert generator(rng) is rng


def test_streams_are_reproducible_and_differ() -> None:
    first, again = spawn(7, 5), spawn(7, 5)
    drawn = [numbers(rng) for rng in first]
    assert drawn == [numbers(rng) for rng in again]
    assert len({tuple(row) for row in drawn}) == 5
    assert tuple(numbers(generator(7))) not in {tuple(row) for row in drawn}


def test_the_number_of_streams_does_not_change_the_first_ones() -> None:
    assert [numbers(rng) for rng in spawn(7, 2)] == [numbers(rng) for rng in spawn(7, 5)][:2]


def test_spawning_does_not_use_up_a_sequence() -> None:
    sequence = np.random.SeedSequence(7)
    first = [numbers(rng) for rng in spawn(sequence, 3)]
    assert first == [numbers(rng) for rng in spawn(sequence, 3)]
    assert first == [numbers(rng) for rng in spawn(7, 3)]
    child = np.random.SeedSequence(7).spawn(1)[0]
    assert [numbers(rng) for rng in spawn(child, 3)] != first


def test_a_generator_spawns_new_streams_each_time() -> None:
    rng = np.random.default_rng(7)
    first, second = [numbers(r) for r in spawn(rng, 2)], [numbers(r) for r in spawn(rng, 2)]
    assert not {tuple(row) for row in first} & {tuple(row) for row in second}


def test_streams_are_uncorrelated() -> None:
    draws = np.array([rng.standard_normal(4000) for rng in spawn(3, 20)])
    apart = np.corrcoef(draws)[np.triu_indices(20, 1)]
    # 190 correlations with deviation 1/√4000 each.
    assert np.abs(apart).max() < 4.5 / np.sqrt(4000)
    assert spawn(3, 0) == []


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_seeds_that_are_none(seed: Any) -> None:
    with pytest.raises(RequestError, match=r"seed is .*; give an integer, 0 or more"):
        generator(seed)
    with pytest.raises(RequestError, match=r"seed is .*; give an integer, 0 or more"):
        spawn(seed, 2)
