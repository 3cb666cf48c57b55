"""Log-linear models of tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.models import LogLinear
from discreet.table import Table

SAMPLE = Table.from_array([[5, 0, 1], [3, 2, 0]], ["area", "religion"])


def three_way(seed: int = 1) -> Table:
    counts = np.random.default_rng(seed).integers(1, 20, (3, 2, 4))
    return Table.from_array(counts, ["age", "sex", "area"])


def test_independence_is_the_default() -> None:
    fitted = LogLinear().fit(SAMPLE)
    assert fitted.expected == pytest.approx(np.outer([6, 5], [8, 2, 1]) / 11)
    assert fitted.probabilities == pytest.approx(fitted.expected.ravel() / 11)
    assert fitted.margins == (("area",), ("religion",))


def test_the_saturated_model_is_the_table() -> None:
    fitted = LogLinear((("religion", "area"),)).fit(SAMPLE)
    assert fitted.expected == pytest.approx(SAMPLE.to_array())
    assert fitted.margins == (("area", "religion"),)


def test_no_margin_is_the_uniform_model() -> None:
    assert LogLinear(()).fit(SAMPLE).probabilities == pytest.approx(np.full(6, 1 / 6))


def test_a_dimension_that_no_margin_names_is_spread_evenly() -> None:
    assert LogLinear((("area",),)).fit(SAMPLE).expected == pytest.approx(np.array([[2.0] * 3, [5 / 3] * 3]))


def test_all_pairs_reproduce_the_pairs() -> None:
    table = three_way()
    pairs = tuple(itertools.combinations(table.names, 2))
    fitted = LogLinear(pairs, tolerance=1e-12).fit(table)
    counts = table.to_array()
    for axis in range(3):
        assert fitted.expected.sum(axis=axis) == pytest.approx(counts.sum(axis=axis))
    assert fitted.gap <= 1e-12
    assert fitted.iterations > 1


def test_structural_zeros_get_nobody_and_the_margins_hold() -> None:
    counts = np.array([[9, 0, 4], [3, 2, 0], [1, 5, 2]])
    impossible = np.array([[False, True, False], [False, False, True], [False, False, False]])
    table = Table.from_array(counts, ["age", "status"], impossible=impossible)
    fitted = LogLinear().fit(table)
    assert (fitted.expected[impossible] == 0).all()
    assert fitted.expected.sum(axis=0) == pytest.approx(counts.sum(axis=0))
    assert fitted.expected.sum(axis=1) == pytest.approx(counts.sum(axis=1))
    # Quasi-independence: a product of a row and a column factor wherever a cell is possible.
    corner = fitted.expected[np.ix_([0, 2], [0, 2])]
    assert corner[0, 0] * corner[1, 1] == pytest.approx(corner[0, 1] * corner[1, 0])


def test_margins_may_be_any_sequences_of_names() -> None:
    assert LogLinear([["area"], ["religion"]]).fit(SAMPLE).margins == (  # type: ignore[arg-type]
        ("area",),
        ("religion",),
    )


def test_an_unknown_dimension() -> None:
    with pytest.raises(RequestError, match=r"no dimension 'regoin'; .*'area', 'religion'"):
        LogLinear((("area", "regoin"),)).fit(SAMPLE)
    with pytest.raises(RequestError, match="did you mean 'religion'"):
        LogLinear((("religon",),)).fit(SAMPLE)


def test_a_name_in_place_of_names() -> None:
    with pytest.raises(RequestError, match=r"write it as the sequence \('area',\)"):
        LogLinear(("area", "religion"))  # type: ignore[arg-type]


@pytest.mark.parametrize(("tolerance", "cycles"), [(0.0, 10), (float("nan"), 10), (1e-6, 0)])
def test_unusable_limits(tolerance: float, cycles: int) -> None:
    with pytest.raises(RequestError, match="both must be positive"):
        LogLinear(tolerance=tolerance, max_iterations=cycles)


def test_nobody_can_be_fitted() -> None:
    with pytest.raises(DataError, match="empty"):
        LogLinear().fit(Table.from_array([[0, 0], [0, 0]], ["a", "b"]))


def test_a_fit_that_does_not_arrive_names_the_margin() -> None:
    pairs = tuple(itertools.combinations(("age", "sex", "area"), 2))
    with pytest.raises(LimitError, match=r"margin 'age' × 'area' is still off by .* after 1 cycles"):
        LogLinear(pairs, tolerance=1e-14, max_iterations=1).fit(three_way())


def test_the_population_uses_the_fit_or_the_probabilities_given() -> None:
    assert LogLinear().population(SAMPLE, 100).probabilities == pytest.approx(LogLinear().fit(SAMPLE).probabilities)
    known = np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    population = LogLinear().population(SAMPLE, 10_000, probabilities=known)
    assert population.probabilities == pytest.approx(known)
    mean = population.draw(1, 500).mean(axis=0)
    expected = SAMPLE.to_array().ravel() + 9989 * known
    assert (np.abs(mean - expected) < 4 * np.sqrt(9989 * known / 500)).all()
