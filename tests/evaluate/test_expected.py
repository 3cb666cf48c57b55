"""The expected risk of random methods against slow means over single releases."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.errors import LimitError, RequestError
from discreet.evaluate.expected import expected_risk
from discreet.measures.entropy import Form, expected_transition, transition_entropy
from discreet.protect import (
    BernoulliSample,
    RandomRounding,
    RandomSample,
    RecordSwapping,
    Simulation,
    StratifiedSample,
)
from discreet.protect.base import RandomMethod
from discreet.table import Table
from discreet.utility.loss import hellinger_counts

SMALL = Table.from_array([[4, 1, 0], [2, 3, 5]], ["area", "kind"])
METHODS: list[Any] = [
    RandomRounding(3),
    RandomRounding(5),
    RandomSample(4),
    StratifiedSample("area", 0.4),
    BernoulliSample(0.5),
    Simulation(),
    Simulation(None, "uniform"),
]


def releases(method: Any, table: Table) -> list[tuple[float, Table]]:
    """Every release with its probability."""
    return [
        (float(chance), table.with_counts(method.support(table), row))
        for block, rows in method.law(table)
        for chance, row in zip(block, rows, strict=True)
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["2014", "2015"])
def test_exact_value_is_the_mean_over_all_releases(method: Any, form: Form) -> None:
    result = expected_risk(SMALL, method, exact=True, form=form)
    every = releases(method, SMALL)
    assert result.draws == len(every) == method.outcomes(SMALL)
    assert sum(chance for chance, _ in every) == pytest.approx(1.0)
    risks = [(chance, discreet.risk(SMALL, G, form=form)) for chance, G in every]
    mean = sum(chance * risk.value for chance, risk in risks)
    assert result.risk.mean == pytest.approx(mean)
    assert result.risk.sd == pytest.approx(
        np.sqrt(sum(chance * (risk.value - mean) ** 2 for chance, risk in risks)), abs=1e-9
    )
    assert result.risk.mc_error == 0.0
    for term, value in result.terms.items():
        assert value == pytest.approx(sum(chance * risk.terms[term] for chance, risk in risks))
    for item in result.slices:
        values = [(chance, risk.slice(item.dimension, item.category).value or 0.0) for chance, risk in risks]
        assert item.risk.mean == pytest.approx(sum(chance * value for chance, value in values))
    F = SMALL.to_array().ravel()
    distance = sum(chance * float(hellinger_counts(F, G.to_array().ravel())) for chance, G in every)
    assert result.hellinger.mean == pytest.approx(distance)
    assert result.utility.mean == pytest.approx(1 - distance / np.sqrt(15))


@pytest.mark.parametrize("method", METHODS)
def test_draws_agree_with_the_exact_value(method: Any) -> None:
    exact, drawn = expected_risk(SMALL, method, exact=True), expected_risk(SMALL, method, draws=20_000, seed=3)
    assert abs(drawn.risk.mean - exact.risk.mean) < 4.5 * drawn.risk.mc_error
    assert drawn.risk.sd == pytest.approx(exact.risk.sd, rel=0.05)
    assert drawn.risk.mc_error == pytest.approx(drawn.risk.sd / np.sqrt(20_000))
    for now, then in zip(drawn.slices, exact.slices, strict=True):
        assert abs(now.risk.mean - then.risk.mean) <= 4.5 * now.risk.mc_error + 1e-12
        assert abs(now.hellinger.mean - then.hellinger.mean) <= 4.5 * now.hellinger.mc_error + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_theorem_6_is_the_entropy_of_the_averaged_matrix(method: Any) -> None:
    """Against the sum over G of T(G)·E(Z^G), built release by release."""
    result = expected_risk(SMALL, method, exact=True, aggregate="transition")
    F = SMALL.to_array().ravel()
    p = F / F.sum()
    Z = np.zeros((F.size, F.size))
    for chance, G in releases(method, SMALL):
        g = G.to_array().ravel()
        # An empty release leaves everybody anywhere.
        Z += chance * (expected_transition(F, g) if g.any() else np.where(F[:, None] > 0, p[None], 0.0))
    H = -(p[p > 0] * np.log(p[p > 0])).sum()
    middle = 0.8 * (1 - H / np.log(6)) * (1 - transition_entropy(F, Z) / H)
    assert result.terms["concentration"] == pytest.approx(middle)
    mean = expected_risk(SMALL, method, exact=True)
    assert result.terms["zeros"] == pytest.approx(mean.terms["zeros"])
    # Entropy is concave: the average matrix leaves at least as much uncertain as the releases do on average.
    assert result.risk.mean <= mean.risk.mean + 1e-12
    assert np.isnan(result.risk.sd)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["risk"]["sd"] is None
    assert result.slices == ()


def test_precision_is_reached() -> None:
    result = expected_risk(SMALL, RandomRounding(3), draws=200, precision=5e-4, seed=1)
    assert result.risk.mc_error <= 5e-4
    assert result.draws % 200 == 0
    assert result.draws > 200
    coarse = expected_risk(SMALL, RandomRounding(3), draws=200, precision=0.5, seed=1)
    assert coarse.draws == 200
    with pytest.raises(LimitError, match="Monte Carlo error"):
        expected_risk(SMALL, RandomRounding(3), draws=2, precision=1e-9, seed=1)


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    table = discreet.datasets.religion()
    # Seven blocks of draws, the last one shorter.
    monkeypatch.setattr("discreet.evaluate.expected.BLOCK_CELLS", 300 * table.size)
    faces = [
        json.dumps(expected_risk(table, RandomRounding(3), draws=2_000, seed=5, workers=workers).to_dict())
        for workers in (1, 2, 3)
    ]
    assert faces[0] == faces[1] == faces[2]
    other = expected_risk(table, RandomRounding(3), draws=2_000, seed=6)
    assert json.dumps(other.to_dict()) != faces[0]


def test_bad_requests_are_refused() -> None:
    rounding = RandomRounding(3)
    with pytest.raises(RequestError, match="draws is 1"):
        expected_risk(SMALL, rounding, draws=1)
    with pytest.raises(RequestError, match="precision is 0"):
        expected_risk(SMALL, rounding, precision=0)
    with pytest.raises(RequestError, match="either precision or exact"):
        expected_risk(SMALL, rounding, precision=0.1, exact=True)
    with pytest.raises(RequestError, match="'measure' or 'transition'"):
        expected_risk(SMALL, rounding, aggregate="mean")  # type: ignore[arg-type]
    with pytest.raises(LimitError, match="different releases"):
        expected_risk(discreet.datasets.religion(), rounding, exact=True)
    many = Table.from_array(np.ones(2500, np.int64), ["k"])
    with pytest.raises(LimitError, match=r"about 10\^752 different releases"):
        expected_risk(many, rounding, exact=True)
    with pytest.raises(RequestError, match="n = 16 cannot be drawn from N = 15"):
        expected_risk(SMALL, RandomSample(16))


def test_progress_is_told_and_faces_are_readable() -> None:
    seen: list[tuple[int, int, str]] = []
    result = expected_risk(
        discreet.datasets.sex(), RandomRounding(3), exact=True, progress=lambda *args: seen.append(args)
    )
    assert seen[-1][0] == seen[-1][1] == 8192
    assert "all 8,192 releases" in str(result)
    assert "whole table" in result._repr_html_()


def test_releases_that_fill_empty_cells_are_judged_on_all_cells_they_can_fill() -> None:
    method: RandomMethod = Simulation()
    assert method.support(SMALL).tolist() == list(range(6))
    assert 2 not in SMALL.cells
    filled = [G for _, G in releases(method, SMALL) if G.at(np.array([2]))[0] > 0]
    assert filled
    swapping = RecordSwapping("area", rate=0.4)
    result = expected_risk(SMALL, swapping, draws=200, seed=2)
    slow = [discreet.risk(SMALL, swapping.apply(SMALL, seed).release).value for seed in range(200)]
    error = np.sqrt(result.risk.mc_error**2 + np.var(slow) / 200)
    assert abs(result.risk.mean - np.mean(slow)) < 4.5 * error
    with pytest.raises(RequestError, match="are not enumerated; use draws"):
        expected_risk(SMALL, swapping, exact=True)


def test_a_support_smaller_than_the_table_is_filled_up_with_empty_cells() -> None:
    class First:
        """Publishes the first cell only."""

        name = "first"

        @property
        def parameters(self) -> dict[str, object]:
            return {}

        def check(self, table: Table) -> None:
            pass

        def support(self, table: Table) -> Any:
            return np.array([0])

        def draws(self, table: Table, rng: np.random.Generator, size: int) -> Any:
            return np.full((size, 1), 4)

    result = expected_risk(SMALL, First(), draws=10, seed=1)
    assert result.risk.mean == pytest.approx(
        discreet.risk(SMALL, SMALL.with_counts(np.array([0]), np.array([4]))).value
    )
