"""B₁ and B₂: their derivatives, their mean and variance when the model holds, their sign when it does not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.uniques import simulated

from discreet.uniques.criteria import alone, criteria, matched


@pytest.mark.parametrize("function", [alone, matched])
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.7])
def test_derivatives(function: object, fraction: float) -> None:
    assert callable(function)
    rate = np.array([0.001, 0.03, 0.05, 0.0556, 0.06, 0.4, 1.0, 5.0, 40.0])
    share = np.array([fraction])
    step = 1e-4 * rate
    value, slope, curvature = function(rate, share)
    up, down = function(rate + step, share), function(rate - step, share)
    assert slope == pytest.approx((up[0] - down[0]) / (2 * step), rel=1e-6)
    assert curvature == pytest.approx((up[1] - down[1]) / (2 * step), rel=1e-6)
    assert (np.diff(value) < 0).all()


def test_values_by_summing_over_the_population_count() -> None:
    """Given f = 1, F − 1 is Poisson((1−π)λ)."""
    from scipy.stats import poisson

    for rate, fraction in ((0.02, 0.1), (0.7, 0.3), (12.0, 0.05)):
        rest = np.arange(400)
        law = poisson.pmf(rest, (1 - fraction) * rate)
        share = np.array([fraction])
        assert alone(np.array([rate]), share)[0][0] == pytest.approx(law[0])
        assert matched(np.array([rate]), share)[0][0] == pytest.approx((law / (1 + rest)).sum())


def test_the_printed_form_of_b1() -> None:
    rng = np.random.default_rng(1)
    rate, fraction = rng.gamma(1.0, 3.0, 50), rng.uniform(0.05, 0.5, 50)
    counts = rng.poisson(fraction * rate).astype(float)
    r = counts - fraction * rate
    printed = rate * np.exp(-rate) * (1 - fraction) * (r + (1 - fraction) * (r**2 - counts) / (2 * fraction))
    b1, _ = criteria(counts, rate, fraction)
    assert b1.value == pytest.approx(printed.sum(), rel=1e-12)
    assert b1.robust_variance == pytest.approx((printed**2).sum(), rel=1e-12)


def test_mean_zero_and_stated_variance_under_the_model() -> None:
    rng = np.random.default_rng(2)
    rate = simulated.rates(rng, interactions=True).ravel()
    fraction = np.array([simulated.FRACTION])
    values = np.array(
        [
            [(b.value, b.variance, b.robust_variance) for b in criteria(counts.astype(float), rate, fraction)]
            for counts in rng.poisson(fraction * rate, (1500, rate.size))
        ]
    )
    means, deviations = values.mean(axis=0), values.std(axis=0)
    for j in range(2):
        assert abs(means[j, 0]) < 4 * deviations[j, 0] / np.sqrt(1500)
        assert deviations[j, 0] ** 2 == pytest.approx(means[j, 1], rel=0.15)
        assert means[j, 2] == pytest.approx(means[j, 1], rel=0.15)


def test_positive_when_interactions_are_left_out() -> None:
    rng = np.random.default_rng(3)
    axes = range(len(simulated.SHAPE))
    for _ in range(5):
        rate = simulated.rates(rng, interactions=True)
        independent = np.ones(simulated.SHAPE) * rate.sum()
        for axis in axes:
            share = rate.sum(axis=tuple(other for other in axes if other != axis)) / rate.sum()
            independent = independent * share.reshape([-1 if other == axis else 1 for other in axes])
        counts = rng.poisson(simulated.FRACTION * rate).astype(float)
        for b in criteria(counts.ravel(), independent.ravel(), np.array([simulated.FRACTION])):
            assert b.z > 5


def test_negative_when_the_model_follows_the_counts() -> None:
    counts = np.random.default_rng(4).poisson(0.5, 2000).astype(float)
    for b in criteria(counts, np.maximum(counts, 0.05) / 0.1, np.array([0.1])):
        assert b.z < 0


def test_nothing_to_tell() -> None:
    b1, b2 = criteria(np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([1.0]))
    assert (b1.value, b1.z, b2.robust_z) == (0.0, 0.0, 0.0)
    assert set(b1.to_dict()) == {"value", "variance", "robust_variance", "z", "robust_z"}
