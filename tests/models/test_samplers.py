"""The pieces of the compiled samplers: the stream of random numbers and the tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.numerics import FloatArray
from discreet.core.random import generator
from discreet.models import samplers


def test_the_words_are_the_generator_s_own_stream() -> None:
    """A kernel draws what Generator.random() would, and leaves the generator where that would."""
    ours, numpy = generator(3), generator(3)
    drawn = np.empty(1000)
    with samplers.lent(ours) as words:
        drawn[:] = [samplers.uniform(words) for _ in drawn]
    assert np.array_equal(drawn, numpy.random(1000))
    assert ours.random() == numpy.random()


def test_other_generators_lend_a_stream_of_their_own() -> None:
    """A PCG64 generator moves on, so that two loans differ and the same seed repeats both."""

    def two_loans() -> list[FloatArray]:
        source = np.random.default_rng(1)
        loans = []
        for _ in range(2):
            drawn = np.empty(5)
            with samplers.lent(source) as words:
                drawn[:] = [samplers.uniform(words) for _ in drawn]
            loans.append(drawn)
        return loans

    first, second = two_loans()
    assert not np.array_equal(first, second)
    assert np.array_equal(two_loans(), [first, second])


def table_law(shape: float, ratio: float) -> tuple[int, FloatArray]:
    """Add up the slots of an alias table to the law that it draws from."""
    tables = samplers.tabulate(np.array([shape]), np.array([ratio]))
    length = int(tables.lengths[0])
    own = tables.cut - np.arange(length)
    law = own + np.bincount(tables.alias, weights=1 - own, minlength=length)
    return int(tables.lows[0]), law / length


@pytest.mark.parametrize("mean", [1e-6, 0.3, 1.0, 7.5, 100.0, 5000.5])
def test_poisson_tables(mean: float) -> None:
    low, law = table_law(0.0, mean)
    k = np.arange(low, low + law.size)
    exact = np.array([math.exp(x * math.log(mean) - mean - math.lgamma(x + 1)) for x in k])
    assert law == pytest.approx(exact, rel=1e-9, abs=1e-14)
    assert law.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("shape", [1, 2, 3, 40, 1000])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.9, 0.99])
def test_negative_binomial_tables(shape: int, ratio: float) -> None:
    low, law = table_law(float(shape), ratio)
    exact = np.array(
        [
            math.exp(
                math.lgamma(x + shape)
                - math.lgamma(x + 1)
                - math.lgamma(shape)
                + shape * math.log1p(-ratio)
                + x * math.log(ratio)
            )
            for x in range(low, low + law.size)
        ]
    )
    assert law == pytest.approx(exact, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.99])
def test_logarithmic_tables(ratio: float) -> None:
    low, law = table_law(-1.0, ratio)
    assert low == 1
    k = np.arange(1, law.size + 1)
    assert law == pytest.approx(-(ratio**k) / k / math.log1p(-ratio), rel=1e-9, abs=1e-14)
