"""Compare a method's law and draws with every sample and its exact chance."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.random import generator
from discreet.protect import BernoulliSample, StratifiedSample
from discreet.table import Table


def follows(
    method: BernoulliSample | StratifiedSample,
    table: Table,
    expected: Mapping[tuple[int, ...], Fraction | int],
    *,
    block: int,
    draws: int,
    seed: int,
) -> None:
    """Check the law in blocks, the number of outcomes, and how often draws hit each of them."""
    found: dict[tuple[int, ...], float] = {}
    for chances, rows in method.law(table, block=block):
        assert len(rows) <= block
        found |= dict(zip(map(tuple, rows.tolist()), chances.tolist(), strict=True))
    assert found.keys() == expected.keys()
    assert all(found[row] == pytest.approx(float(chance)) for row, chance in expected.items())
    assert method.outcomes(table) == len(expected)
    rows, seen = np.unique(method.draws(table, generator(seed), draws), axis=0, return_counts=True)
    for row, count in zip(rows.tolist(), seen.tolist(), strict=True):
        chance = float(expected[tuple(row)])
        assert abs(count - draws * chance) <= 5 * np.sqrt(draws * chance * (1 - chance)) + 1e-9
