"""Estimated R2 of sample tables, and the look-ups behind it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.core.random import generator, spawn
from discreet.measures.entropy import r2_terms
from discreet.measures.estimate import estimate
from discreet.measures.lookup import SampleLookup
from discreet.models import LogLinear, PolyaUrn
from discreet.table import Table

RELIGION = discreet.datasets.religion()
SAMPLE = discreet.protect.random_sample(RELIGION, 245, seed=1).table


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 60), st.integers(0, 500))
def test_lookups_give_what_the_formula_gives(seed: int, cells: int, n: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    f = rng.multinomial(n, rng.dirichlet(np.full(cells, 0.3)))
    F = f + rng.multinomial(more, rng.dirichlet(np.full(cells, 0.3)), size=5)
    lookup = SampleLookup.build(n + more, n, f)
    for form in ("2014", "2015"):
        direct = r2_terms(F, f[None], np.array([cells]), form=form)[:, 0]
        assert np.allclose(lookup.terms(f, F, cells, form), direct, atol=1e-11)
        # Columns of impossible cells are not cells.
        wide_f, wide_F = np.r_[f, 0, 0], np.c_[F, np.zeros((5, 2), int)]
        assert np.allclose(lookup.terms(wide_f, wide_F, cells, form), direct, atol=1e-11)


@pytest.mark.parametrize("model", [LogLinear(), PolyaUrn(), PolyaUrn(population_zeros=25)])
def test_the_estimate_is_the_mean_over_drawn_populations(model: LogLinear | PolyaUrn) -> None:
    """Against single calls of the measure on the same draws."""
    result = estimate(SAMPLE, 2449, model=model, draws=40, seed=7)
    drawn = model.population(SAMPLE, 2449).draw(spawn(7, 1)[0], 40)
    risks = [
        discreet.risk(Table.from_array(F.reshape(RELIGION.shape), _labels(RELIGION)), SAMPLE, sampled=True)
        for F in drawn
    ]
    values = np.array([risk.value for risk in risks])
    assert result.mean == pytest.approx(values.mean())
    assert result.sd == pytest.approx(values.std(ddof=1))
    assert result.mc_error == pytest.approx(values.std(ddof=1) / np.sqrt(40))
    for term, value in result.terms.items():
        assert value == pytest.approx(np.mean([risk.terms[term] for risk in risks]))
    for item in result.slices:
        every = [risk.slice(item.dimension, item.category).value for risk in risks]
        if None in every:
            assert item.mean is None
        else:
            numbers = np.array(every, dtype=float)
            assert item.mean == pytest.approx(numbers.mean())
            assert item.sd == pytest.approx(numbers.std(ddof=1), abs=1e-12)


def _labels(table: Table) -> dict[str, tuple[str, ...]]:
    return {dimension.name: dimension.categories for dimension in table.dimensions}


def test_names_and_objects_of_models_agree() -> None:
    by_name = estimate(SAMPLE, 2449, model="polya", draws=50, seed=1)
    by_object = estimate(SAMPLE, 2449, model=PolyaUrn(), draws=50, seed=1)
    assert by_name.to_dict() == by_object.to_dict()
    assert by_name.details["theta"] == pytest.approx(PolyaUrn().solve(SAMPLE, 2449))
    assert estimate(SAMPLE, 2449, draws=50, seed=1).details == {"margins": [["output_area"], ["religion"]]}


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads() -> None:
    for model in ("loglinear", "polya"):
        faces = [
            json.dumps(estimate(SAMPLE, 2449, model=model, draws=50_000, seed=5, slices=(), workers=w).to_dict())
            for w in (1, 2, 3)
        ]
        assert faces[0] == faces[1] == faces[2]


def test_three_dimensions_with_chosen_margins_and_structural_zeros() -> None:
    rng = generator(3)
    counts = rng.poisson(2.0, size=(3, 4, 2))
    counts[0, 0] = 0
    mask = np.zeros(counts.shape, bool)
    mask[0, 0] = True
    sample = Table.from_array(counts, ["a", "b", "c"], impossible=mask)
    for model in (LogLinear((("a", "b"), ("b", "c"))), PolyaUrn()):
        result = estimate(sample, 1000, model=model, draws=100, seed=1)
        assert 0 < result.mean < 1
        assert len(result.slices) == 9


def test_a_billion_people() -> None:
    sample = Table.from_array([[50, 20, 0], [3, 0, 40]], ["a", "b"])
    for model in ("loglinear", "polya"):
        result = estimate(sample, 10**9, model=model, draws=100, seed=1)
        assert 0 < result.mean < 1
        assert result.sd >= 0


def test_everybody_sampled_leaves_r1() -> None:
    for model in ("loglinear", "polya"):
        result = estimate(RELIGION, 2449, model=model, draws=2, seed=1)
        assert result.mean == pytest.approx(discreet.risk(RELIGION).value)
        assert result.sd == 0.0


def test_bad_requests_are_refused() -> None:
    with pytest.raises(RequestError, match="population has 100 people, but the sample 245"):
        estimate(SAMPLE, 100)
    with pytest.raises(RequestError, match="did you mean 'polya'"):
        estimate(SAMPLE, 2449, model="poly")
    with pytest.raises(RequestError, match="draws is 1"):
        estimate(SAMPLE, 2449, draws=1)
    with pytest.raises(DataError, match="counts nobody"):
        estimate(Table.from_array([0, 0], ["a"]), 10)
    with pytest.raises(RequestError, match="no dimension 'sex'"):
        estimate(SAMPLE, 2449, model=LogLinear((("sex",),)))
    with pytest.raises(InfeasibleError):
        estimate(Table.from_array([1] + [0] * 50, ["a"]), 3, model=PolyaUrn(population_zeros=0))


def test_faces_are_readable() -> None:
    result = estimate(SAMPLE, 2449, draws=50, seed=1)
    assert "A sample of 245 out of 2,449 people" in str(result)
    assert "whole table" in result._repr_html_()
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["measure"] == "R2"
