"""Sample sizes against a plain search over every n, and expected sample uniques against enumeration."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from tests.uniques import oracle

from discreet.core.errors import RequestError
from discreet.uniques.events import at_least_one_zero
from discreet.uniques.exact_posterior import q_multinomial, q_uniform
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import DirichletMultinomial, Mixture, Multinomial, Prior, Uniform
from discreet.uniques.sample import Sample
from discreet.uniques.sample_size import sample_size, size_curve

PRIORS: list[Prior] = [Uniform(), Multinomial(), DirichletMultinomial(0.5)]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
@pytest.mark.parametrize("bound", [0.001, 0.05, 0.5, 0.9, 1.0])
def test_q_crosses_its_bound_where_a_search_finds_it(prior: Prior, bound: float) -> None:
    people, cells = 300, 40
    q = size_curve(prior, population=people, possible=cells, sizes=np.arange(1, people + 1)).q
    assert (np.diff(q) >= 0).all()
    found = sample_size(prior, bound, population=people, possible=cells)
    first = int(np.flatnonzero(q >= bound)[0]) + 1
    assert (found.largest, found.needed) == (first - 1, first)


def test_q_of_the_curve_is_q_of_the_theorems_and_of_samples() -> None:
    people, cells = 90, 12
    n = np.arange(1, people + 1)
    for prior, closed in ((Uniform(), q_uniform), (Multinomial(), q_multinomial)):
        curve = size_curve(prior, population=people, possible=cells, sizes=n)
        assert curve.q == pytest.approx([closed(int(i), people, cells) for i in n], rel=1e-12)
    half = DirichletMultinomial(0.5)
    sample = Sample.from_counts([1, 4, 2], population=people, possible=cells)
    curve = size_curve(half, population=people, possible=cells, sizes=[7])
    assert curve.q[0] == pytest.approx(posterior(sample, half).q[0], rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_uniques_expected_by_the_prior(prior: Prior) -> None:
    """K·P(f = 1); and τ̃ is linear in n, because each population unique is sampled with probability n/N."""
    people, cells = 60, 15
    curve = size_curve(prior, population=people, possible=cells)
    slope = curve.tau / curve.sizes
    assert slope == pytest.approx(np.full(slope.size, slope[0]), rel=1e-9)
    census = curve.uniques[-1]
    assert curve.tau[-1] == pytest.approx(census)
    if isinstance(prior, Uniform):
        # 1 in the first cell leaves N−1 people for K−1 cells.
        exact = Fraction(cells * comb(people - 1 + cells - 2, cells - 2), comb(people + cells - 1, cells - 1))
        assert census == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_tau_crosses_its_bound_where_a_search_finds_it(prior: Prior) -> None:
    people, cells = 200, 40
    tau = size_curve(prior, population=people, possible=cells, sizes=np.arange(1, people + 1)).tau
    bound = float(tau[70] * 1.0001)
    found = sample_size(prior, bound, population=people, possible=cells, measure="tau")
    assert (found.largest, found.needed) == (71, 72)
    never = sample_size(prior, float(tau[-1] * 1.01), population=people, possible=cells, measure="tau")
    assert (never.largest, never.needed) == (people, None)


def test_uniques_expected_by_a_table_by_enumeration() -> None:
    counts, people = (1, 1, 2, 0), 8
    given = Sample.from_counts(counts, population=people)
    curve = size_curve(Uniform(), population=people, possible=4, sizes=[1, 2, 3, 4, 5, 6, 8], table=given)
    assert curve.basis == "the given table"
    wanted = []
    for n in (1, 2, 3, 4):  # people left out at random
        total = Fraction(0)
        for kept in oracle.all_tables(4, n):
            ways = np.prod([comb(f, k) for f, k in zip(counts, kept, strict=True)], dtype=object)
            total += Fraction(int(ways), comb(4, n)) * kept.count(1)
        wanted.append(total)
    for n in (5, 6, 8):  # people added as the posterior expects
        weight = oracle.dirichlet_multinomial([Fraction(f + 1) for f in counts])
        more = oracle.all_tables(4, n - 4)
        mass = sum(weight(t) for t in more)
        hits = (weight(t) * sum(a + b == 1 for a, b in zip(t, counts, strict=True)) for t in more)
        wanted.append(sum(hits, Fraction(0)) / mass)
    assert curve.uniques == pytest.approx([float(w) for w in wanted], rel=1e-12)
    assert curve.uniques[3] == 2.0


@pytest.mark.parametrize("people", [200, 30_000])
def test_tau_over_a_table_need_not_rise(people: int) -> None:
    """All cells hold two people: some are unique in a smaller sample, none in the whole one."""
    given = Sample.from_counts([2] * 40, population=people)
    sizes = np.arange(1, 81)
    tau = size_curve(Uniform(), population=people, possible=40, sizes=sizes, table=given).tau
    assert tau[-1] == 0.0
    bound = float(tau.max() * 0.5)
    found = sample_size(Uniform(), bound, population=people, possible=40, measure="tau", table=given)
    assert found.needed == int(np.flatnonzero(tau >= bound)[0]) + 1


def test_a_billion_people() -> None:
    found = sample_size(Uniform(), 0.5, population=10**9, possible=10**9)
    assert found.needed is not None
    assert q_uniform(found.needed, 10**9, 10**9) >= 0.5 > q_uniform(found.largest, 10**9, 10**9)


def test_no_sample_is_small_enough() -> None:
    found = sample_size(Uniform(), 1e-6, population=50, possible=40)
    assert (found.largest, found.needed) == (0, 1)
    assert "none" in str(found)


def test_bad_requests() -> None:
    with pytest.raises(RequestError, match=r"bound is 1\.5"):
        sample_size(Uniform(), 1.5, population=50, possible=40)
    with pytest.raises(RequestError, match="bound is 0"):
        sample_size(Uniform(), 0, population=50, possible=40, measure="tau")
    with pytest.raises(RequestError, match="measure"):
        sample_size(Uniform(), 0.5, population=50, possible=40, measure="risk")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="symmetric"):
        sample_size(Mixture(0.5, at_least_one_zero()), 0.5, population=50, possible=40)
    with pytest.raises(RequestError, match="symmetric"):
        sample_size(Multinomial([0.5, 0.5]), 0.5, population=50, possible=2)
    with pytest.raises(RequestError, match="K is 0"):
        sample_size(Uniform(), 0.5, population=50, possible=0)
    with pytest.raises(RequestError, match="from 1 to"):
        size_curve(Uniform(), population=50, possible=40, sizes=[0])
    with pytest.raises(RequestError, match="give the same"):
        size_curve(Uniform(), population=50, possible=40, table=Sample.from_counts([1, 2], 50))


def test_faces() -> None:
    size = sample_size(Uniform(), 0.05, population=46228, possible=1108)
    assert json.loads(json.dumps(size.to_dict()))["needed"] == 9478
    assert "9,477" in str(size)
    assert size._repr_html_().startswith("<table>")
    curve = size_curve(Uniform(), population=100, possible=20, sizes=[10, 50])
    assert json.loads(json.dumps(curve.to_dict()))["n"] == [10, 50]
    assert len(str(curve).splitlines()) == 4
    assert curve._repr_html_().startswith("<table>")
