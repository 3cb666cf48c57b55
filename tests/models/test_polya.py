"""The Pólya urn model of a sample: which θ, and what it leads to."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.core.random import generator
from discreet.models import LogLinear, PolyaUrn
from discreet.models.polya import expected_zeros
from discreet.models.theta import reciprocal_sums, solve_theta
from discreet.table import Table

SAMPLE = Table.from_array([[5, 0, 1], [3, 2, 0]], ["area", "religion"])

# Output area × religion, 2001: antal2015 Table 1.
RELIGION = np.array(
    [
        [181, 0, 0, 1, 17, 1, 1, 83, 18],
        [138, 2, 4, 2, 0, 0, 1, 36, 16],
        [130, 0, 0, 0, 22, 4, 1, 61, 40],
        [173, 0, 0, 1, 14, 4, 1, 97, 22],
        [142, 2, 5, 0, 15, 6, 1, 37, 21],
        [129, 0, 0, 0, 0, 0, 1, 69, 20],
        [118, 2, 0, 2, 24, 9, 1, 38, 20],
        [130, 0, 0, 0, 34, 1, 1, 82, 32],
        [148, 3, 0, 0, 0, 2, 1, 38, 21],
        [136, 1, 2, 0, 13, 0, 0, 55, 16],
    ]
)


def religion_sample(n: int) -> Table:
    drawn = generator(1).multivariate_hypergeometric(RELIGION.ravel(), n)
    return Table.from_array(drawn.reshape(10, 9), ["area", "religion"])


def test_theta_from_a_known_number_of_zeros() -> None:
    """Equation (5): |E| = 2 and |D| = 1 leave one new colour to expect."""
    theta = PolyaUrn(population_zeros=1).solve(SAMPLE, 100)
    assert sum(theta / (11 + theta + z) for z in range(89)) == pytest.approx(1)


def test_theta_from_an_estimated_number_of_zeros() -> None:
    """Equation (6): |D̂| is the sum of (1 − p̂)ᴺ over all cells."""
    p = LogLinear().fit(SAMPLE).probabilities
    zeros = sum((1 - x) ** 100 for x in p)
    assert expected_zeros(SAMPLE, 100) == pytest.approx(zeros)
    theta = PolyaUrn().solve(SAMPLE, 100)
    assert float(theta * reciprocal_sums(11 + theta, 89)[0]) == pytest.approx(2 - zeros)


def test_structural_zeros_count_neither_in_the_sample_nor_in_the_population() -> None:
    impossible = np.zeros((2, 4), bool)
    impossible[:, 3] = True
    wider = Table.from_array([[5, 0, 1, 0], [3, 2, 0, 0]], ["area", "religion"], impossible=impossible)
    assert expected_zeros(wider, 100) == pytest.approx(expected_zeros(SAMPLE, 100))
    assert PolyaUrn().solve(wider, 100) == pytest.approx(PolyaUrn().solve(SAMPLE, 100))
    assert PolyaUrn(population_zeros=1).new_cells(wider, 100) == 1


def test_cells_that_are_certain_or_out_of_reach() -> None:
    """p̂ = 1 is filled for sure, and cells without a sampled margin stay empty for sure."""
    certain = Table.from_array([[7, 0], [0, 0]], ["a", "b"])
    assert expected_zeros(certain, 10**9) == 3
    assert PolyaUrn().solve(certain, 10**9) == 0


def test_no_black_balls_when_all_sample_zeros_are_zeros() -> None:
    assert PolyaUrn(population_zeros=2).solve(SAMPLE, 100) == 0
    assert (PolyaUrn(population_zeros=2).population(SAMPLE, 100).draw(1, 50)[:, [1, 5]] == 0).all()


def test_the_expected_number_of_new_cells_is_reached() -> None:
    """The religion table at n = 245: on average |E| − |D| sample zeros are filled."""
    sample = religion_sample(245)
    zeros = int((RELIGION == 0).sum())
    urn = PolyaUrn(population_zeros=zeros)
    rows = urn.population(sample, 2449).draw(2, 20_000)
    filled = (rows > 0).sum(axis=1) - sample.cells.size
    assert filled.mean() == pytest.approx(urn.new_cells(sample, 2449), abs=4 * filled.std() / np.sqrt(20_000))


def test_many_samples_are_solved_at_once() -> None:
    samples = [religion_sample(n) for n in (122, 122)]
    targets = [PolyaUrn().new_cells(sample, 2449) for sample in samples]
    assert solve_theta(targets, 122, 2449).tolist() == [PolyaUrn().solve(sample, 2449) for sample in samples]


def test_a_given_theta_is_used() -> None:
    assert PolyaUrn(theta=3.5).population(SAMPLE, 100).theta == 3.5


def test_a_population_that_is_the_sample() -> None:
    assert PolyaUrn().solve(SAMPLE, 11) == 0
    assert PolyaUrn().population(SAMPLE, 11).draw(1, 3).tolist() == [SAMPLE.to_array().ravel().tolist()] * 3


def test_contradictions() -> None:
    with pytest.raises(RequestError, match=r"population_zeros is 1 and theta is 2\.0"):
        PolyaUrn(population_zeros=1, theta=2.0)
    with pytest.raises(RequestError, match="population_zeros is -1"):
        PolyaUrn(population_zeros=-1)
    with pytest.raises(RequestError, match="population_zeros is 3, but the sample has only 2 zeros"):
        PolyaUrn(population_zeros=3).solve(SAMPLE, 100)
    with pytest.raises(InfeasibleError, match=r"2 sample zeros are to be filled, but .* only N − n = 1"):
        PolyaUrn(population_zeros=0).solve(SAMPLE, 12)
    with pytest.raises(RequestError, match="population has 10 people, but the sample 11"):
        PolyaUrn().solve(SAMPLE, 10)
    with pytest.raises(DataError, match="empty"):
        PolyaUrn().solve(Table.from_array([[0, 0]], ["a", "b"]), 10)


@pytest.mark.parametrize("theta", [-1.0, float("nan"), float("inf")])
def test_impossible_numbers_of_black_balls(theta: float) -> None:
    with pytest.raises(RequestError, match="finite number of black balls"):
        PolyaUrn(theta=theta)


def test_population_zeros_may_come_from_a_model_with_interactions() -> None:
    sample = Table.from_array([[40, 0], [0, 40]], ["area", "sex"])
    own = LogLinear((("area", "sex"),))
    assert expected_zeros(sample, 1000, own) == pytest.approx(2)
    assert expected_zeros(sample, 1000) < 1e-9
    assert PolyaUrn(zeros_from=own).solve(sample, 1000) == 0
    assert PolyaUrn().solve(sample, 1000) == pytest.approx(float(solve_theta(2.0, 80, 1000)))
    assert PolyaUrn(zeros_from=LogLinear()).solve(sample, 1000) == PolyaUrn().solve(sample, 1000)
    with pytest.raises(RequestError, match="zeros_from estimates"):
        PolyaUrn(population_zeros=1, zeros_from=own)
