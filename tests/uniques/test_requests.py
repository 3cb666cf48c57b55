"""What is refused, with what words; and the faces of the results."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.plain import data_of

from discreet.core.errors import DataError, RequestError
from discreet.table import Table
from discreet.uniques.events import Event, at_least, at_least_one_zero, at_most
from discreet.uniques.exact_posterior import q_multinomial, q_uniform
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import DirichletMultinomial, Mixture, Multinomial, Uniform
from discreet.uniques.sample import Sample
from discreet.uniques.tau import tau, tau_by_slice

SAMPLE = Sample.from_counts([1, 2, 0, 1], population=12)


def test_more_people_in_the_sample_than_in_the_population() -> None:
    with pytest.raises(RequestError, match="sample has 4 people, but the population only 3"):
        Sample.from_counts([1, 2, 0, 1], population=3)
    with pytest.raises(RequestError, match="sample has 9 people"):
        Sample.from_table(Table.from_array([4, 5], ["a"]), 8)
    for q in (q_uniform, q_multinomial):
        with pytest.raises(RequestError, match="1 ≤ n ≤ N"):
            q(5, 4, 3)
        with pytest.raises(RequestError, match="K is 0"):
            q(3, 4, 0)


def test_fewer_cells_than_hold_somebody() -> None:
    with pytest.raises(RequestError, match="3 cells are not empty, but only 2 are said to be possible"):
        Sample.from_counts([1, 2, 0, 1], population=12, possible=2)
    with pytest.raises(RequestError, match="3 cells are not empty"):
        Sample(np.arange(3), np.array([1, 2, 1]), 12, 2)
    assert Sample.from_counts([1, 2, 0, 1], population=12, possible=3).empty == 0


@pytest.mark.parametrize("counts", [[1, -2], [1.5, 2.0]])
def test_counts_that_are_none(counts: list[float]) -> None:
    with pytest.raises(DataError, match=r"0 or more|fractional"):
        Sample.from_counts(counts, population=12)
    with pytest.raises(DataError, match="sorted and different"):
        Sample(np.array([3, 1]), np.array([1, 1]), 12, 4)
    with pytest.raises(DataError, match="leave empty cells out"):
        Sample(np.arange(2), np.array([1, 0]), 12, 4)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan")])
def test_gamma_outside_the_unit_interval(gamma: float) -> None:
    with pytest.raises(RequestError, match="gamma is"):
        Mixture(gamma, at_least_one_zero())


def test_a_prior_that_gives_the_data_probability_zero() -> None:
    with pytest.raises(RequestError, match="data probability zero"):
        posterior(SAMPLE, DirichletMultinomial([1.0, 0.0, 1.0, 1.0]))
    with pytest.raises(RequestError, match="data probability zero"):
        posterior(SAMPLE, Multinomial([0.5, 0.5, 0.0, 0.0]))
    contradicted = Mixture(1.0, at_most([1], 1), Uniform())
    with pytest.raises(RequestError, match="data probability zero"):
        posterior(SAMPLE, contradicted)
    with pytest.raises(RequestError, match="data probability zero"):
        posterior(SAMPLE, contradicted, method="draw", draws=500, seed=1)
    assert posterior(SAMPLE, Mixture(0.99, at_most([1], 1), Uniform())).q[0] > 0
    # A weight of 0 is fine where nobody was seen.
    assert posterior(SAMPLE, DirichletMultinomial([1.0, 1.0, 0.0, 1.0])).q[0] > 0


def test_weight_on_an_empty_set_of_populations() -> None:
    few = Sample.from_counts([1, 1, 0, 0, 0, 0], population=4)
    with pytest.raises(RequestError, match=r"no population of 4 people on 6 cells.*set gamma to 1"):
        posterior(few, Mixture(0.5, at_least_one_zero()))
    assert posterior(few, Mixture(1.0, at_least_one_zero())).q == pytest.approx(posterior(few, Uniform()).q)
    with pytest.raises(RequestError, match="set gamma to 0"):
        posterior(few, Mixture(0.5, at_least([0, 1, 2, 3, 4])))


def test_bad_parameters() -> None:
    with pytest.raises(RequestError, match="alpha must be"):
        DirichletMultinomial(0.0)
    with pytest.raises(RequestError, match="alpha must be"):
        DirichletMultinomial([1.0, float("nan")])
    with pytest.raises(RequestError, match="probabilities must be"):
        Multinomial([-0.5, 0.5])
    with pytest.raises(RequestError, match="2 parameters, but the table 4"):
        posterior(SAMPLE, DirichletMultinomial([1.0, 2.0]))
    table = Table.from_array([1, 0], ["a"], impossible=[False, True])
    with pytest.raises(RequestError, match="every possible cell the weight 0"):
        posterior(Sample.from_table(table, 5), Multinomial([0.0, 1.0]))


def test_bad_events() -> None:
    with pytest.raises(RequestError, match="names position 4"):
        posterior(SAMPLE, Mixture(0.5, at_most([4], 3)))
    table = Table.from_array([1, 0], ["a"], impossible=[False, True])
    with pytest.raises(RequestError, match="names position 1"):
        posterior(Sample.from_table(table, 5), Mixture(0.5, at_most([1], 3)))
    with pytest.raises(RequestError, match="names a cell twice"):
        at_least([1, 1])
    with pytest.raises(RequestError, match="integers"):
        at_least([])
    with pytest.raises(RequestError, match="negative bound"):
        at_most([1], -1)
    with pytest.raises(RequestError, match="allows no count"):
        Event("nothing", np.array([0]), low=3, high=2)
    with pytest.raises(RequestError, match="cell by cell"):
        Event("all", None, low=np.array([1, 2]))
    assert (~at_least([1])).label == "not (F ≥ 1 in 1 cell)"


def test_bad_methods() -> None:
    with pytest.raises(RequestError, match="'guess'"):
        posterior(SAMPLE, Uniform(), method="guess")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="draws is 1"):
        posterior(SAMPLE, Uniform(), method="draw", draws=1)


def test_faces() -> None:
    result = tau(SAMPLE, Uniform())
    shown = json.loads(json.dumps(data_of(result)))
    assert shown["interval"] == [result.low, result.high]
    assert shown["q"] == pytest.approx(result.q[0])
    assert "τ̃" in str(result)
    assert result._repr_html_().startswith("<table>")
    known = posterior(SAMPLE, DirichletMultinomial([1.0, 2.0, 3.0, 4.0]))
    assert [row["cell"] for row in json.loads(json.dumps(data_of(known)))["q"]] == [0, 3]
    assert " to " in str(known)
    assert known._repr_html_().startswith("<table>")
    drawn = tau(SAMPLE, Uniform(), method="draw", draws=100, seed=1)
    assert "100 draws" in str(drawn)
    unequal = data_of(tau(SAMPLE, DirichletMultinomial([1.0, 2.0, 3.0, 4.0])))["q"]
    assert len(unequal) == 2
    table = Table.from_array([[1, 0], [3, 1]], ["a", "b"])
    by = tau_by_slice(table, 20, Uniform(), dimensions=["b"])
    assert [row["category"] for row in json.loads(json.dumps(data_of(by)))["slices"]] == ["1", "2"]
    assert "b=1" in str(by)
    assert by._repr_html_().startswith("<table>")


def test_every_public_name_is_documented() -> None:
    import discreet.uniques as package

    for name in package.__all__:
        assert getattr(package, name).__doc__, name
