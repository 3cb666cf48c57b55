"""Theorems 2.1 and 2.2, their generalisation and the richer priors, against Bayes' rule over all populations."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from tests.uniques import oracle
from tests.uniques.oracle import Counts

from discreet.core.errors import RequestError
from discreet.uniques.events import Event, at_least, at_least_one_zero, at_most
from discreet.uniques.exact_posterior import UrnPosterior, q_multinomial, q_uniform
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import DirichletMultinomial, Mixture, Multinomial, Prior, Uniform, UrnPrior
from discreet.uniques.sample import Sample

PriorWeight = Callable[[Counts], Fraction]
CLOSE = 1e-12


def families(cells: int) -> dict[str, tuple[UrnPrior, PriorWeight]]:
    """Priors of the urn family with their exact twins."""
    one, half = [Fraction(1)] * cells, [Fraction(1, 2)] * cells
    informative = [Fraction(i + 1, 2) for i in range(cells)]
    floats = [float(a) for a in informative]
    return {
        "uniform": (Uniform(), oracle.dirichlet_multinomial(one)),
        "multinomial": (Multinomial(), oracle.multinomial(one)),
        "half": (DirichletMultinomial(0.5), oracle.dirichlet_multinomial(half)),
        "informative": (DirichletMultinomial(floats), oracle.dirichlet_multinomial(informative)),
        "unequal": (Multinomial(floats), oracle.multinomial(informative)),
    }


def compare(
    prior: Prior, weights: dict[Counts, Fraction], sample: Counts, people: int, most: int | None = None
) -> bool:
    """Check P(F_i = j | f) for every cell and j up to ``most``, and the law of τ; False for impossible data."""
    exact = oracle.posterior(weights, sample)
    if exact is None:
        return False
    given = Sample.from_counts(sample, people)
    known = posterior(given, prior, method="exact")
    filled = [i for i, f in enumerate(sample) if f]
    laws = [oracle.cell_law(exact, cell, people) for cell in filled]
    for j in range(people + 1 if most is None else most + 1):
        wanted = [float(law[j]) for law in laws]
        assert known.probability(j) == pytest.approx(wanted, abs=CLOSE), (prior.name, sample, j)
    law = known.untouched(given.counts == 1)
    got = np.zeros(given.uniques + 1)
    got[law.start : law.start + law.pmf.size] = law.pmf[: got.size - law.start]
    assert got == pytest.approx([float(p) for p in oracle.tau_law(exact, sample)], abs=CLOSE)
    return True


@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("people", range(1, 9))
def test_theorems_2_1_and_2_2_hold_exactly(cells: int, people: int) -> None:
    """(2.4) and (2.6) as fractions equal (2.3), summed over all populations, for every sample unique there is."""
    for name, weight in (
        ("uniform", oracle.dirichlet_multinomial([Fraction(1)] * cells)),
        ("multinomial", oracle.multinomial([Fraction(1)] * cells)),
    ):
        weights = {table: weight(table) for table in oracle.all_tables(cells, people)}
        for n in range(1, people + 1):
            if name == "uniform":
                top, bottom = (n + cells - 1) * (n + cells - 2), (people + cells - 1) * (people + cells - 2)
                q = Fraction(top, bottom) if bottom else Fraction(1)
                assert q_uniform(n, people, cells) == pytest.approx(float(q), rel=CLOSE)
            else:
                q = Fraction(cells - 1, cells) ** (people - n)
                assert q_multinomial(n, people, cells) == pytest.approx(float(q), rel=CLOSE)
            for sample in oracle.all_tables(cells, n):
                if 1 in sample:
                    exact = oracle.posterior(weights, sample)
                    assert exact is not None
                    assert oracle.cell_law(exact, sample.index(1), people)[1] == q


@pytest.mark.parametrize("name", ["uniform", "multinomial", "half", "informative", "unequal"])
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_every_posterior_by_enumeration(name: str, cells: int) -> None:
    for people in (1, 2, 3, 5) if cells < 4 else (3, 5):
        prior, weight = families(cells)[name]
        weights = {table: weight(table) for table in oracle.all_tables(cells, people)}
        for n in range(1, people + 1):
            for sample in oracle.all_tables(cells, n):
                assert compare(prior, weights, sample, people)


@pytest.mark.parametrize("name", ["uniform", "multinomial", "half", "informative", "unequal"])
def test_empty_cells_by_enumeration(name: str) -> None:
    cells, people = 3, 5
    prior, weight = families(cells)[name]
    weights = {table: weight(table) for table in oracle.all_tables(cells, people)}
    for sample in oracle.all_tables(cells, 3):
        exact = oracle.posterior(weights, sample)
        known = posterior(Sample.from_counts(sample, people), prior)
        assert isinstance(known, UrnPosterior)
        for cell in [i for i, f in enumerate(sample) if f == 0]:
            assert exact is not None
            law = [float(p) for p in oracle.cell_law(exact, cell, people)]
            found = known.empty_probability(np.arange(people + 1), np.full(people + 1, cell))
            assert found == pytest.approx(law, rel=CLOSE, abs=1e-300)
    with pytest.raises(RequestError, match="position 0 is not that of an empty cell"):
        posterior(Sample.from_counts([1, 0], 4), Uniform()).empty_probability(0, 0)  # type: ignore[attr-defined]


def events(cells: int) -> list[Event]:
    everything = list(range(cells))
    return [
        at_least_one_zero(),
        at_most([0], 1),
        at_least([cells - 1]),
        ~at_most(everything, 2),
        at_least(everything, 2),
        Event("bounds by cell", np.arange(cells), low=np.arange(cells) % 2, high=np.arange(cells) + 1),
    ]


def holds(event: Event, table: Counts) -> bool:
    cells = np.arange(len(table)) if event.cells is None else event.cells
    counts = np.array(table)[cells]
    inside = bool((counts >= event.low).all() and (event.high is None or (counts <= event.high).all()))
    return inside == event.inside


def enumerate_mixtures(cells: int, people: int, every: bool) -> int:
    """Compare all mixtures; ``every`` sample of this size, or those that differ and all three weights."""
    checked = 0
    for name, (base, weight) in families(cells).items():
        for event in events(cells):
            for gamma in (Fraction(1, 3),) if every else (Fraction(0), Fraction(1, 3), Fraction(1)):
                mixed = oracle.mixture(weight, partial(holds, event), gamma, cells, people)
                if mixed is None:
                    continue
                weights = {table: mixed(table) for table in oracle.all_tables(cells, people)}
                for n in range(1, people + 1) if every else (1, (people + 1) // 2):
                    samples = oracle.all_tables(cells, n)
                    if not every and name in ("uniform", "multinomial", "half"):
                        samples = tuple(s for s in samples if s == tuple(sorted(s)) or s[0] == 1)
                    for sample in samples:
                        prior = Mixture(float(gamma), event, base)
                        checked += compare(prior, weights, sample, people, 1 if every else None)
    return checked


@pytest.mark.parametrize(("cells", "people"), [(1, 3), (2, 4), (3, 3), (4, 2)])
def test_richer_priors_by_enumeration(cells: int, people: int) -> None:
    assert enumerate_mixtures(cells, people, every=False) > 20


@pytest.mark.long
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("people", range(1, 9))
def test_richer_priors_by_full_enumeration(cells: int, people: int) -> None:
    assert enumerate_mixtures(cells, people, every=True) > 2 * cells * people or cells == 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["uniform", "multinomial", "half", "informative", "unequal"])
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("people", range(1, 9))
def test_every_posterior_by_full_enumeration(name: str, cells: int, people: int) -> None:
    prior, weight = families(cells)[name]
    weights = {table: weight(table) for table in oracle.all_tables(cells, people)}
    for n in range(1, people + 1):
        for sample in oracle.all_tables(cells, n):
            assert compare(prior, weights, sample, people)
