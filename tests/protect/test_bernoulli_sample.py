"""Bernoulli sampling: independent binomial counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pyarrow as pa
import pytest
from tests.protect.sampling_law import follows

from discreet import RequestError, Table
from discreet.protect import BernoulliSample, bernoulli_sample
from discreet.table.kinds import Sampled

TABLE = Table.from_array([2, 0, 1, 3], ["x"])


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_the_law_is_binomial_in_every_cell(rate: Fraction) -> None:
    method = BernoulliSample(float(rate))
    expected: dict[tuple[int, ...], Fraction | int] = {
        row: chance
        for row in product(range(3), range(2), range(4))
        if (chance := prod([comb(F, f) * rate**f * (1 - rate) ** (F - f) for F, f in zip((2, 1, 3), row, strict=True)]))
    }
    follows(method, TABLE, expected, block=5, draws=40_000, seed=2)


def test_given_its_size_it_is_a_simple_random_sample() -> None:
    release = bernoulli_sample(TABLE, 0.5, known_total=True, seed=3)
    n = release.table.total
    assert isinstance(release.kind, Sampled)
    assert (release.kind.name, release.kind.size, round(release.kind.fraction * 6)) == ("sample", 6, n)
    assert dict(release.parameters) == {"rate": 0.5}
    assert release.table == bernoulli_sample(TABLE, 0.5, seed=3).table


def test_a_reader_is_told_the_rate_and_neither_the_total_nor_the_share_that_was_drawn() -> None:
    done = BernoulliSample(0.5).apply(TABLE, 3)
    assert done.release.kind.to_dict() == {"name": "sample", "fraction": 0.5}
    # Binomial: of x people y are in the sample.
    for y in range(4):
        expected = [comb(x, y) * 0.5**x for x in range(8)]
        np.testing.assert_allclose(done.release.kind.likelihood(y, np.arange(8)), expected, atol=1e-12)
    assert "(known_total=)" in done.sentence
    assert "known_total" not in BernoulliSample(0.5, known_total=True).apply(TABLE, 3).sentence


def test_records() -> None:
    people = pa.table({"id": list(range(5000))})
    drawn = BernoulliSample(0.2).records(people, 1)
    assert abs(drawn.num_rows - 1000) < 5 * 28.3
    assert drawn["id"].to_pylist() == sorted(set(drawn["id"].to_pylist()))
    assert BernoulliSample(1).records(people, 1).equals(people)


@pytest.mark.parametrize("rate", [0, -0.1, 1.01, float("nan"), True, "0.5", None])
def test_rates_that_are_none(rate: object) -> None:
    with pytest.raises(RequestError, match="the sampling rate is"):
        BernoulliSample(rate)  # type: ignore[arg-type]
