"""The law of τ: against ball-by-ball chains, against drawing, and by how often its intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import LimitError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table import Table
from discreet.uniques import convolution
from discreet.uniques.conditioning import CountBounds
from discreet.uniques.convolution import CellGroup, rare_law, restricted_law
from discreet.uniques.drawn_posterior import DrawnPosterior
from discreet.uniques.events import at_least, at_least_one_zero, at_most
from discreet.uniques.exact_posterior import UrnPosterior
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import DirichletMultinomial, Mixture, Multinomial, Prior, Uniform, UrnPrior
from discreet.uniques.sample import Sample
from discreet.uniques.tau import tau, tau_by_slice, tau_of
from discreet.uniques.urn import Urn

DUTCH = Sample.from_counts([1] * 108 + [8291], population=46228, possible=1108)


def chain(balls: int, cells: int, weight: float, total: float, reinforced: bool) -> FloatArray:
    """The number of untouched cells, ball by ball: sums of positive terms, so nothing can cancel."""
    law = np.zeros(cells + 1)
    law[cells] = 1.0
    untouched = np.arange(cells + 1)
    for ball in range(balls):
        hit = untouched * weight / (total + (ball if reinforced else 0))
        moved = law * hit
        law = law - moved
        law[:-1] += moved[1:]
    return law


def spread_out(law: convolution.UntouchedLaw, size: int) -> FloatArray:
    result = np.zeros(size)
    result[law.start : law.start + law.pmf.size] = law.pmf
    return result


@pytest.mark.parametrize("reinforced", [True, False])
@pytest.mark.parametrize(
    ("balls", "cells", "weight", "total"),
    [
        (0, 3, 2.0, 9.0),
        (1, 1, 2.0, 2.0),
        (5, 3, 2.0, 10.0),
        (500, 20, 2.0, 60.0),
        (37829, 108, 2.0, 9507.0),
        (300, 40, 1.0, 100.0),
        (400, 400, 2.0, 800.0),
        (3000, 600, 1.5, 4000.0),
        (20, 700, 1.5, 4000.0),
    ],
)
def test_convolution_equals_the_chain(balls: int, cells: int, weight: float, total: float, reinforced: bool) -> None:
    law = restricted_law(Urn(balls, total, reinforced), [CellGroup(cells, weight, unique=True)])
    wanted = chain(balls, cells, weight, total, reinforced)
    assert spread_out(law, cells + 1) == pytest.approx(wanted, abs=1e-12)
    assert law.log_probability == pytest.approx(0.0, abs=1e-12)


def test_inclusion_and_exclusion_equals_the_chain() -> None:
    law = rare_law(Urn(200, 30.0, True), CellGroup(5, 2.0, unique=True))
    assert spread_out(law, 6) == pytest.approx(chain(200, 5, 2.0, 30.0, True), abs=1e-12)


def test_a_handful_of_cells_in_a_huge_population() -> None:
    result = tau(Sample.from_counts([1, 1, 3, 2], population=10**9), Uniform(), method="exact")
    assert result.mean == pytest.approx(2 * 10 * 9 / ((10**9 + 3) * (10**9 + 2)), rel=1e-12)
    assert result.probability(0) == pytest.approx(1.0)
    # Convolution gives up here, and with many untouched cells inclusion and exclusion does too.
    with pytest.raises(LimitError, match="alternating"):
        rare_law(Urn(100, 2000.0, True), CellGroup(300, 2.0, unique=True))


def test_moments_of_a_million_uniques() -> None:
    """Mean and variance in closed form: P(one untouched) and P(two given ones untouched)."""
    for urn, weight in ((Urn(10**8, 1.02e8, True), 2.0), (Urn(10**8, 1e8, False), 1.0)):
        s = 10**6
        law = restricted_law(urn, [CellGroup(s, weight, unique=True)])
        u = law.start + np.arange(law.pmf.size)
        one, two = np.exp(urn.log_miss(weight)), np.exp(urn.log_miss(2 * weight))
        mean = float(u @ law.pmf)
        assert mean == pytest.approx(s * one, rel=1e-11)
        variance = s * one * (1 - one) + s * (s - 1) * (two - one**2)
        assert float(law.pmf @ (u - mean) ** 2) == pytest.approx(variance, rel=1e-6)


def test_groups_of_unequal_weights() -> None:
    """Two groups together have the mean and variance of their pairs."""
    urn = Urn(400, 300.0, True)
    groups = [CellGroup(30, 1.5, unique=True), CellGroup(20, 4.0, unique=True)]
    law = restricted_law(urn, groups)
    u = law.start + np.arange(law.pmf.size)
    first = sum(g.count * np.exp(urn.log_miss(g.weight)) for g in groups)
    pairs = sum(
        (a.count * (b.count - (a is b))) * np.exp(urn.log_miss(a.weight + b.weight)) for a in groups for b in groups
    )
    mean = float(u @ law.pmf)
    assert mean == pytest.approx(first, rel=1e-12)
    assert float(law.pmf @ (u * (u - 1.0))) == pytest.approx(pairs, rel=1e-10)


def test_dutch_municipality() -> None:
    result = tau(DUTCH, Uniform())
    assert result.mean == pytest.approx(4.3553, abs=5e-5)
    assert (result.low, result.high, result.method) == (1, 8, "exact")
    assert sum(result.probability(u) for u in range(109)) == pytest.approx(1.0)
    assert result.interval(0.5) == (3, 6)
    assert tau(DUTCH, Multinomial()).mean == pytest.approx(108 * 1.4647190726e-15, rel=1e-9)


def test_cholesterol_table() -> None:
    """Table 1 of cohen2009: one sample unique, the woman hired three to five years ago."""
    years = ["0-1", "1-3", "3-5", "5-7", ">7"]
    table = Table.from_array([[4, 8, 1, 15, 12], [6, 7, 5, 11, 9]], {"sex": ["women", "men"], "years": years})
    n, people, cells = 78, 400, 10
    known = posterior(Sample.from_table(table, people), Uniform())
    assert [table.label(int(c)) for c in known.sample.unique_cells] == [{"sex": "women", "years": "3-5"}]
    assert known.q[0] == pytest.approx(
        (n + cells - 1) * (n + cells - 2) / ((people + cells - 1) * (people + cells - 2))
    )
    by = tau_by_slice(table, people, Uniform())
    where = {(s.dimension, s.category): s.tau.mean for s in by.slices if s.tau.sample_uniques}
    assert where == {("sex", "women"): by.total.mean, ("years", "3-5"): by.total.mean}
    assert by.total.probability(1) == pytest.approx(known.q[0], rel=1e-12)
    assert posterior(Sample.from_table(table, n), Uniform()).q.tolist() == [1.0]


def test_structural_zeros_do_not_count_and_sampling_zeros_do() -> None:
    counts = [[1, 0], [3, 2]]
    with_zero = Table.from_array(counts, ["a", "b"], impossible=[[False, True], [False, False]])
    q = posterior(Sample.from_table(with_zero, 50), Uniform()).q[0]
    assert q == pytest.approx(8 * 7 / (52 * 51))
    assert posterior(Sample.from_table(Table.from_array(counts, ["a", "b"]), 50), Uniform()).q[0] == pytest.approx(
        9 * 8 / (53 * 52)
    )
    # The parameter of an impossible cell is not part of an informative prior either.
    informed = posterior(Sample.from_table(with_zero, 50), DirichletMultinomial([[1.0, 99.0], [1.0, 1.0]]))
    assert informed.q[0] == pytest.approx(q)


def test_slices_share_the_uniques_and_the_total_has_them_all() -> None:
    rng = np.random.default_rng(4)
    table = Table.from_array(rng.poisson(0.7, (4, 5, 6)), ["a", "b", "c"])
    for prior in (Uniform(), DirichletMultinomial(rng.gamma(2.0, 1.0, table.shape))):
        by = tau_by_slice(table, 600, prior)
        for name in table.names:
            mine = [s.tau for s in by.slices if s.dimension == name]
            assert sum(t.mean for t in mine) == pytest.approx(by.total.mean)
            assert sum(t.sample_uniques for t in mine) == by.total.sample_uniques
            assert sum(t.cells.size for t in mine) == by.total.sample_uniques
        one = next(s for s in by.slices if s.dimension == "b")
        alone = tau(
            Sample.from_table(table, 600),
            prior,
            cells=table.codes("b") == table.dimensions[1].code(one.category),
        )
        assert alone.mean == pytest.approx(one.tau.mean)
        assert (alone.low, alone.high) == (one.tau.low, one.tau.high)


def test_no_uniques() -> None:
    result = tau(Sample.from_counts([4, 2], population=30), Uniform())
    assert (result.mean, result.sd, result.low, result.high) == (0.0, 0.0, 0, 0)
    assert result.to_dict()["q"] is None


@pytest.mark.parametrize(
    "prior",
    [
        Uniform(),
        DirichletMultinomial(np.linspace(0.5, 2.0, 12)),
        Mixture(0.3, at_least_one_zero(), Uniform()),
        Mixture(0.8, at_most([0, 1, 5], 3), Multinomial()),
        Mixture(0.6, at_least([9, 11]), DirichletMultinomial(0.5)),
    ],
)
def test_drawing_agrees_with_the_exact_posterior(prior: Prior) -> None:
    sample = Sample.from_counts([1, 1, 2, 1, 0, 1, 4, 1, 3, 0, 1, 0], population=40)
    exact = posterior(sample, prior, method="exact")
    drawn = posterior(sample, prior, method="draw", draws=40_000, seed=7)
    assert isinstance(drawn, DrawnPosterior)
    truth, value = tau_of(exact), tau_of(drawn)
    assert value.mc_error is not None
    assert 0 < value.mc_error < 0.1
    assert abs(value.mean - truth.mean) < 4 * value.mc_error
    assert value.sd == pytest.approx(truth.sd, rel=0.05)
    for j in (1, 2, 3):
        estimate, error = drawn.estimate(j)
        assert (np.abs(estimate - exact.probability(j)) < 4.5 * error + 1e-9).all()
    assert tau_of(posterior(sample, prior, method="draw", draws=500, seed=7)).mean == pytest.approx(
        tau_of(posterior(sample, prior, method="draw", draws=500, seed=7)).mean, abs=0
    )


def test_what_is_too_large_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    sample = Sample.from_counts(rng.poisson(1.0, 200), population=2000)
    prior = DirichletMultinomial(rng.gamma(2.0, 1.0, 200))
    exact = tau(sample, prior)
    monkeypatch.setattr(convolution, "BUDGET", 1000)
    with pytest.raises(LimitError, match=r"function values|frequencies"):
        tau(sample, prior, method="exact")
    drawn = tau(sample, prior, draws=20_000, seed=1)
    assert drawn.method == "Monte Carlo"
    assert drawn.mc_error == 0.0  # the mean is in closed form
    assert drawn.mean == pytest.approx(exact.mean, rel=1e-12)
    assert drawn.sd == pytest.approx(exact.sd, rel=0.05)
    assert abs(drawn.low - exact.low) <= 1
    assert abs(drawn.high - exact.high) <= 1


def test_an_event_that_is_too_rare_to_draw() -> None:
    sample = Sample.from_counts([1, 2, 3], population=6000)
    balanced = Mixture(0.5, at_most([0, 1, 2], 2000), Multinomial())  # holds for (2000, 2000, 2000) alone
    with pytest.raises(LimitError, match="too rare"):
        posterior(sample, balanced, method="draw", draws=50, seed=1)


def draw_population(prior: Prior, cells: int, people: int, rng: np.random.Generator) -> IntArray:
    """A population from the prior itself; a mixture by rejection from its base."""
    if isinstance(prior, Mixture):
        wanted = rng.random() < prior.gamma
        while True:
            table = draw_population(prior.base, cells, people, rng)
            where = np.arange(cells) if prior.event.cells is None else prior.event.cells
            high = people if prior.event.high is None else prior.event.high
            inside = bool(((table[where] >= prior.event.low) & (table[where] <= high)).all())
            if (inside == prior.event.inside) == wanted:
                return table
    if isinstance(prior, Multinomial):
        return rng.multinomial(people, np.full(cells, 1 / cells))
    assert isinstance(prior, Uniform | DirichletMultinomial)
    weights = np.broadcast_to(prior.weights, (cells,))
    return rng.multinomial(people, rng.dirichlet(weights))


def bounds_of(sample: Sample, prior: Prior) -> list[CellGroup]:
    base = prior.base if isinstance(prior, Mixture) else prior
    assert isinstance(base, UrnPrior)
    bounds = CountBounds.of(sample, base, prior.event if isinstance(prior, Mixture) else None)
    return bounds.after(sample, base.after(sample)[1], sample.counts == 1).groups()


@pytest.mark.parametrize(
    ("prior", "cells", "people", "n"),
    [
        (Uniform(), 40, 120, 45),
        (Multinomial(), 60, 100, 50),
        (DirichletMultinomial(0.4), 80, 120, 50),
        (DirichletMultinomial(np.repeat([0.2, 0.5, 2.0], 13)), 39, 100, 40),
        (Mixture(0.7, at_least_one_zero(), Multinomial()), 12, 40, 15),
        (Mixture(0.4, at_most(np.arange(6), 3), Uniform()), 20, 60, 25),
    ],
    ids=["uniform", "multinomial", "dirichlet", "informative", "zeros", "bounded"],
)
def test_credible_intervals_cover(prior: Prior, cells: int, people: int, n: int) -> None:
    """Over populations from the prior, the posterior's 90% interval holds τ 90% of the time.

    τ is discrete, so the place of τ in its law is made continuous: P(τ' < τ) + V·P(τ' = τ) with V uniform is
    uniform when the law is right, and lies between 5% and 95% with probability 90% exactly.
    """
    rng = np.random.default_rng(11)
    runs = 2000
    inside = covered = 0
    laws: dict[tuple[CellGroup, ...], FloatArray] = {}
    for _ in range(runs):
        population = draw_population(prior, cells, people, rng)
        counts = rng.multivariate_hypergeometric(population, n)
        sample = Sample.from_counts(counts, people)
        truth = int(((counts == 1) & (population == 1)).sum())
        # The law depends on the groups of alike cells alone, so that samples alike in this share it.
        alike = tuple(bounds_of(sample, prior))
        if alike not in laws:
            law = posterior(sample, prior, method="exact").untouched(sample.counts == 1)
            laws[alike] = spread_out(law, sample.uniques + 1)
        pmf = laws[alike]
        place = pmf[:truth].sum() + rng.random() * pmf[truth]
        inside += 0.05 <= place <= 0.95
        below = np.cumsum(pmf)
        covered += bool((pmf[:truth].sum() <= 0.95) and (below[truth] >= 0.05))
    error = np.sqrt(0.9 * 0.1 / runs)
    assert abs(inside / runs - 0.9) < 4 * error
    assert covered / runs > 0.9 - 4 * error


def test_interval_holds_at_least_its_level() -> None:
    result = tau(DUTCH, Uniform(), level=0.8)
    held = sum(result.probability(u) for u in range(result.low, result.high + 1))
    below = sum(result.probability(u) for u in range(result.low))
    above = sum(result.probability(u) for u in range(result.high + 1, 109))
    assert held >= 0.8
    assert max(below, above) <= 0.1
    with pytest.raises(RequestError, match="level is 1"):
        tau(DUTCH, Uniform(), level=1.0)


def test_mean_and_deviation_of_a_cell() -> None:
    sample = Sample.from_counts([1, 4, 0, 2], population=20)
    for prior in (Uniform(), Multinomial(), DirichletMultinomial([0.5, 1.0, 2.0, 3.0])):
        known = posterior(sample, prior)
        assert isinstance(known, UrnPosterior)
        law = np.array([known.probability(j) for j in range(21)])
        j = np.arange(21)[:, None]
        mean = (j * law).sum(axis=0)
        assert known.mean() == pytest.approx(mean)
        assert known.sd() == pytest.approx(np.sqrt(((j - mean) ** 2 * law).sum(axis=0)))


def test_rare_complements_keep_their_digits() -> None:
    """Weight on "a population zero" where the base makes one all but impossible: exactly one cell is empty then."""
    sample = Sample.from_counts([1, 30, 30, 30, 30, 0], population=2000)
    everything = Mixture(1.0, at_least_one_zero(), Multinomial())
    # Given that the one empty cell stays empty, the others share the unseen people.
    wanted = (4 / 5) ** (2000 - 121)
    assert posterior(sample, everything).q[0] == pytest.approx(wanted, rel=1e-6)


def test_a_mixture_that_is_too_large_is_drawn() -> None:
    """A bound that allows 30,001 counts is not added up exactly; drawing takes over and states its error."""
    sample = Sample.from_counts([1, 1, 4, 2], population=60_000)
    prior = Mixture(0.5, at_most([2], 30_000), Uniform())
    with pytest.raises(LimitError, match="different counts"):
        posterior(sample, prior, method="exact")
    known = posterior(sample, prior, draws=4000, seed=3)
    assert isinstance(known, DrawnPosterior)
    result = tau_of(known)
    assert result.method == "Monte Carlo"
    assert result.mean < 0.01
    with pytest.raises(RequestError, match="draws is 0"):
        posterior(sample, prior, draws=0)
