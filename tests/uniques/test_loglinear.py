"""τ₁ and τ₂: on the population's scale, with unequal fractions and weights, per cell and per record."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.uniques import simulated

from discreet.core.errors import DataError, RequestError
from discreet.models import LogLinear
from discreet.table import Table
from discreet.uniques import fit_rates, loglinear_risk, risk_of
from discreet.uniques.loglinear_tau import consistency_warning, margins_of


def test_homogeneous_cells_and_the_mistake_of_the_scale() -> None:
    """1,600 cells with λ = 2, sampled at π = 0.1: the estimate holds, the sample-scale rate is far off."""
    rng = np.random.default_rng(8)
    differences, wrong, estimates, truths = [], [], [], []
    for _ in range(40):
        population, sample = simulated.draw(np.full((40, 40), 2.0), 0.1, rng)
        table = Table.from_array(sample, ["a", "b"])
        result = loglinear_risk(table, [()], population=int(population.sum()))
        unique = sample == 1
        truth1 = int((unique & (population == 1)).sum())
        truth2 = float((1.0 / population[unique]).sum())
        estimates.append((result.tau1, result.tau2))
        truths.append((truth1, truth2))
        differences.append((result.tau1 - truth1, result.tau2 - truth2))
        fitted = LogLinear(((),)).fit(table).expected.ravel()[table.cells]
        wrong.append(np.exp(-0.9 * fitted[table.counts == 1]).sum())  # πλ where λ belongs
    error = np.std(differences, axis=0) / np.sqrt(len(differences))
    assert (np.abs(np.mean(differences, axis=0)) < 4 * error).all()
    expected = 1600 * 0.2 * np.exp(-0.2) * np.exp(-1.8)  # cells · P(f = 1) · P(F = 1 | f = 1)
    assert np.mean(estimates, axis=0)[0] == pytest.approx(expected, rel=0.05)
    assert 4 < np.mean(wrong) / np.mean(truths, axis=0)[0] < 6


def test_estimates_hold_under_the_true_model() -> None:
    rng = np.random.default_rng(9)
    differences = []
    for _ in range(20):
        population, sample = simulated.draw(simulated.rates(rng, interactions=False), simulated.FRACTION, rng)
        result = loglinear_risk(Table.from_array(sample, list("abcd")), fractions=simulated.FRACTION)
        unique = sample == 1
        truth = ((population == 1) & unique).sum(), (1.0 / population[unique]).sum()
        differences.append((result.tau1 - truth[0], result.tau2 - truth[1]))
    error = np.std(differences, axis=0) / np.sqrt(len(differences))
    assert (np.abs(np.mean(differences, axis=0)) < 4 * error).all()


def test_the_fit_is_the_models_fit_over_the_fraction() -> None:
    rng = np.random.default_rng(1)
    table = Table.from_array(rng.poisson(2.0, (3, 4, 5)), list("abc"))
    for margins in ("main", "two-way"):
        names = margins_of(table, margins)
        expected = LogLinear(names).fit(table).expected.ravel()
        fitted = fit_rates(table, margins, population=1000)
        assert fitted.rate * table.total / 1000 == pytest.approx(expected, rel=1e-6)
        assert fitted.fitted_to == "unweighted"
    assert fit_rates(table, [["a", "b"], ["c"]], population=1000).margins == (("a", "b"), ("c",))


def test_unequal_fractions_are_an_offset() -> None:
    """A stratum sampled twice as much has twice the counts of the same population."""
    population = np.outer([100.0, 300.0], [10.0, 20.0, 30.0])
    fractions = np.array([[0.2] * 3, [0.1] * 3])
    table = Table.from_array((population * fractions).astype(int), ["stratum", "trade"])
    fitted = fit_rates(table, "main", fractions=fractions)
    assert fitted.rate == pytest.approx(population.ravel(), rel=1e-6)
    varied = np.array([[0.2, 0.1, 0.3], [0.1, 0.2, 0.1]])
    table = Table.from_array((population * varied).astype(int), ["stratum", "trade"])
    assert fit_rates(table, "main", fractions=varied).rate == pytest.approx(population.ravel(), rel=1e-6)


def test_weighted_counts_are_on_the_populations_scale() -> None:
    counts = np.array([[1, 2], [3, 2]])
    weights = np.array([[30.0, 20.0], [60.0, 40.0]])
    table = Table.from_array(counts, ["a", "b"])
    fitted = fit_rates(table, "main", weighted=weights)
    assert fitted.rate == pytest.approx(np.outer([50, 100], [90, 60]).ravel() / 150, rel=1e-6)
    # Fitted sample counts over fitted population counts, cell by cell.
    sampled = np.outer(counts.sum(axis=1), counts.sum(axis=0)).ravel() / counts.sum()
    assert fitted.fraction == pytest.approx(sampled / fitted.rate, rel=1e-6)
    result = risk_of(fitted)
    assert result.fitted_to == "weighted"
    assert result.tau1 == pytest.approx(np.exp(-(1 - fitted.fraction[0]) * 30), rel=1e-6)
    own = fit_rates(table, "main", weighted=weights, fractions=counts / weights)
    assert own.rate == pytest.approx(fitted.rate)
    assert risk_of(own).tau1 == pytest.approx(np.exp(-(1 - 1 / 30) * 30), rel=1e-6)


def test_risks_of_cells_and_records() -> None:
    from scipy.stats import poisson

    table = Table.from_array([[1, 3, 0], [2, 1, 7]], ["a", "b"])
    result = loglinear_risk(table, "two-way", population=70)  # saturated: πλ = f
    further = np.arange(500)
    for cell, f, r1, r2 in zip(result.cells, result.counts, result.alone, result.matched, strict=True):
        law = poisson.pmf(further, 0.8 * f * 5)
        assert r1 == pytest.approx(law[0] if f == 1 else 0.0), cell
        assert r2 == pytest.approx((law / (f + further)).sum()), cell
    assert result.tau1 == pytest.approx(result.alone.sum())
    assert result.tau2 == pytest.approx(result.matched[result.counts == 1].sum())
    first, second = result.records([0, 4, 5, 5])
    assert first.tolist() == [result.alone[0], result.alone[3], 0.0, 0.0]
    assert second[2] == second[3] == result.matched[4]
    with pytest.raises(DataError, match="position 2 holds nobody"):
        result.records([2])


def test_structural_zeros_stay_out_of_the_fit_and_of_the_criteria() -> None:
    counts, mask = np.array([[4, 0], [2, 6]]), np.array([[False, True], [False, False]])
    fitted = fit_rates(Table.from_array(counts, ["a", "b"], impossible=mask), population=120)
    assert fitted.rate[1] == 0.0
    assert fitted.rate.reshape(2, 2).sum(axis=0) == pytest.approx([60, 60])


def test_a_census_has_no_doubt() -> None:
    table = Table.from_array([[1, 2], [1, 4]], ["a", "b"])
    result = loglinear_risk(table, population=8)
    assert (result.tau1, result.tau2) == (2.0, 2.0)
    assert result.warning is None


def test_warning_where_no_estimator_is_consistent() -> None:
    assert consistency_warning(1000, 0.2) is None
    assert "1/log n = 0.145" in str(consistency_warning(1000, 0.1))
    assert consistency_warning(1, 0.001) is None
    table = Table.from_array(np.ones((20, 20), int), ["a", "b"])
    assert loglinear_risk(table, population=40_000).warning is not None
    assert "warning" in str(loglinear_risk(table, population=40_000))


def test_bad_requests() -> None:
    table = Table.from_array([[1, 2], [1, 4]], ["a", "b"])
    with pytest.raises(RequestError, match="population has 7 people, but the sample 8"):
        loglinear_risk(table, population=7)
    with pytest.raises(RequestError, match="give the population's size"):
        loglinear_risk(table)
    with pytest.raises(RequestError, match="one of the two"):
        loglinear_risk(table, population=10, fractions=0.5)
    with pytest.raises(RequestError, match="fraction is 0; give fractions above 0 and at most 1"):
        loglinear_risk(table, fractions=0.0)
    with pytest.raises(RequestError, match="3 sampling fractions for 4"):
        loglinear_risk(table, fractions=[0.1, 0.2, 0.3])
    with pytest.raises(RequestError, match="'all'"):
        loglinear_risk(table, "all", population=10)
    with pytest.raises(RequestError, match="no dimension 'c'"):
        loglinear_risk(table, [["c"]], population=10)
    with pytest.raises(RequestError, match="3 weighted counts"):
        loglinear_risk(table, weighted=[1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="negative or missing"):
        loglinear_risk(table, weighted=[[1.0, -2.0], [1.0, 1.0]])
    with pytest.raises(DataError, match="a=2, b=1 has weight 0 but 1"):
        loglinear_risk(table, weighted=[[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(DataError, match="empty"):
        loglinear_risk(Table.from_array([[0, 0]], ["a", "b"]), population=10)


def test_faces() -> None:
    result = loglinear_risk(Table.from_array([[1, 2], [1, 4]], ["a", "b"]), population=20)
    shown = json.loads(json.dumps(result.to_dict()))
    assert shown["model"] == [["a"], ["b"]]
    assert shown["fitted_to"] == "unweighted"
    assert "[a] [b]" in str(result)
    assert result._repr_html_().startswith("<table>")


def test_unequal_weights_under_the_true_model() -> None:
    """Two strata sampled at 5% and 30%: main effects hold, so B is about 0 and τ₁ about the truth."""
    rng = np.random.default_rng(7)
    shape, fractions = (2, 12, 15, 10), np.array([0.05, 0.3])
    zs, estimated, true = [], [], []
    for _ in range(20):
        shares = [rng.dirichlet(np.full(length, 3.0)) for length in shape[1:]]
        mean = 6000 * np.einsum("i,j,k->ijk", *shares)
        F = rng.poisson(np.stack([mean, mean]))
        f = rng.binomial(F, fractions[:, None, None, None])
        table = Table.from_array(f, ["stratum", "a", "b", "c"])
        weighted = f / fractions[:, None, None, None]
        result = loglinear_risk(table, "main", weighted=weighted)
        zs.append(result.b2.z)
        estimated.append(result.tau1)
        true.append(int(((f == 1) & (F == 1)).sum()))
    assert abs(np.mean(zs)) < 1.0
    assert np.mean(estimated) == pytest.approx(np.mean(true), rel=0.1)


def test_weights_must_add_up_to_the_population() -> None:
    """Weights scaled to a mean of 1 would put λ on the sample's scale."""
    table = Table.from_array([[1, 3], [2, 6]], ["area", "sex"])
    with pytest.raises(DataError, match=r"weights add up to 12, but the population has 120 people"):
        loglinear_risk(table, population=120, weighted=table.to_array())
    even = loglinear_risk(table, population=120, weighted=10.0 * table.to_array())
    assert even.tau1 == pytest.approx(loglinear_risk(table, population=120).tau1)
