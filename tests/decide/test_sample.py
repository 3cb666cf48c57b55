"""Samples: judged by the rules like any table, and by all models of the population that the data do not reject."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import run
from tests.lengths import few_or_long

import discreet as dc
from discreet.core.errors import RequestError
from discreet.decide.assess_sample import SampleEvidence
from discreet.decide.assessment import Assessment
from discreet.decide.policy import Policy
from discreet.models import LogLinear, PolyaUrn
from discreet.table import Table

NAMES = ["a", "b", "c"]


def policy(**parts: Any) -> Policy:
    return Policy.model_validate({"protections": [{"name": "random-rounding", "base": 3}], **parts})


def evidence(found: Assessment) -> SampleEvidence:
    assert isinstance(found.sample, SampleEvidence)
    return found.sample


def whole_population() -> Table:
    """Everybody, n = N = 119, one of them alone."""
    counts = np.full((4, 5), 6)
    counts[0, 0], counts[1, 1] = 1, 10
    return Table.from_array(counts, NAMES[:2])


def near_diagonal() -> tuple[Table, Table]:
    """Return a population with nearly everybody on the diagonal, and a sample of it without small counts."""
    population = np.zeros((4, 4, 4), int)
    population[range(4), range(4), range(4)] = [5000, 5200, 4900, 5100]
    population[0, 0, 1] = population[1, 2, 2] = population[3, 3, 0] = 20
    sample = np.zeros((4, 4, 4), int)
    sample[range(4), range(4), range(4)] = [74, 78, 72, 76]
    return Table.from_array(population, NAMES), Table.from_array(sample, NAMES)


def test_a_sample_of_everybody_is_the_population() -> None:
    table = whole_population()
    assert table.total == 119
    # Where a single cell can be the small one, being protected points at it; not where all tables are protected.
    alike = Policy.from_text('extends = "default"\nas_is = "never"')
    for asked, verdict in (("default", "withhold"), (alike, "protect")):
        found = dc.assess(table, asked, population=119, seed=1, trial=True)
        plain = dc.assess(table, asked, seed=1, trial=True)
        assert found.verdict == plain.verdict == verdict
        assert [one.text for one in found.checks[:-1]] == [one.text for one in plain.checks]
        assert "holds all 119 people" in found.checks[-1].text
    summed: Any = np.int64(119)
    assert dc.assess(table, population=summed, protection="none", seed=1, trial=True).verdict == "withhold"


def test_a_sample_of_everybody_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole_population().write("all.csv")
    found = run("assess", "all.csv", "--population-size", 119, "--as-is", "--seed", 1, "--trial")
    assert found.code == 1
    assert "published exactly" in found.out
    assert run("assess", "all.csv", "--population-size", 118, "--seed", 1, "--trial").code == 2


def test_a_model_that_the_sample_rejects_does_not_decide() -> None:
    population, sample = near_diagonal()
    true = dc.risk(population, sample, sampled=True).value
    assert true > 0.5
    assert dc.estimate(sample, population.total, draws=50, seed=1).mean < 0.02
    only_r2 = policy(limits={"r2": 0.5})
    found = dc.assess(sample, only_r2, population=population.total, draws=50, seed=1, trial=True)
    assert found.verdict == "withhold"
    first = evidence(found).models[0]
    assert first.name == "independence [a] [b] [c]"
    assert first.rejected
    assert first.goodness.g2 > 900
    assert evidence(found).risk.mean > true
    assert evidence(found).unexplained
    assert "reject every model" in found.reasons[0]


def test_a_rejected_model_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    population, sample = near_diagonal()
    sample.write("sample.csv")
    asked = ("assess", "sample.csv", "--population-size", population.total, "--draws", 50, "--seed", 1, "--trial")
    found = run(*asked, "--report", "report.md")
    assert found.code == 1
    assert found.out.startswith("WITHHOLD")
    assert "reject every model" in found.out
    rows = {line.split()[0]: line for line in found.out.splitlines() if "±" in line and line[0] != "±"}
    assert list(rows) == ["independence", "log-linear", "the", "Pólya"]
    assert "G² = 1,663 on 54 df" in rows["independence"]
    report = Path("report.md").read_text(encoding="utf-8")
    assert "rejected: it does not fit the counts" in report
    assert "Pólya urn, zeros from the sample's own pattern" in report
    data = json.loads(run(*asked, "--json").out)["sample"]
    assert data["every_model_rejected"]
    assert [one["rejected"] is None for one in data["models"]] == [False, False, True]
    told = run("estimate", "sample.csv", "-N", population.total, "--draws", 20, "--seed", 1)
    assert "rejects this model" in " ".join(told.out.split())


def test_the_worst_model_that_is_not_rejected_decides_and_model_error_is_added() -> None:
    sample = dc.protect.random_sample(dc.datasets.religion(), 245, seed=1).table
    asked: dict[str, Any] = {"population": 2449, "draws": 100, "seed": 1, "trial": True, "protection": "none"}
    found = dc.assess(sample, policy(limits={"r2": 0.99}), **asked)
    told = evidence(found)
    means = {name: one.mean for view in told.accepted for name, one in view.estimates}
    worst = {name: one.mean + 2 * (one.sd + one.mc_error) for view in told.accepted for name, one in view.estimates}
    assert worst[told.named] == max(worst.values())
    assert told.risk.mean == means[told.named]
    assert told.model_error == (max(means.values()) - min(means.values())) / 2 > 0
    check = {one.name: one for one in found.checks}["r2"]
    assert check.value == pytest.approx(worst[told.named] + told.model_error)
    for view in told.models:
        again = dc.estimate(sample, 2449, model=LogLinear(view.margins), draws=100, seed=1)
        assert view.risk.mean == again.mean
        if view.urn is not None:
            urn = PolyaUrn(zeros_from=LogLinear(view.margins))
            assert view.urn.mean == dc.estimate(sample, 2449, model=urn, draws=100, seed=1).mean
    assert found.verdict == "release"
    assert check.value is not None
    below = policy(limits={"r2": check.value - 1e-6})
    assert dc.assess(sample, below, **asked).verdict == "withhold"
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.to_dict()["kind"] == "sample"


def test_all_estimates_of_population_uniques_count() -> None:
    rng = np.random.default_rng(4)
    p = np.multiply.outer(rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(6)))
    sample = Table.from_array(rng.multinomial(90, p.ravel()).reshape(p.shape), NAMES[:2])
    asked: dict[str, Any] = {"population": 900, "draws": 50, "seed": 1, "trial": True, "protection": "none"}
    told = evidence(dc.assess(sample, policy(limits={"tau": 1}), **asked))
    uniques = dc.population_uniques(sample, 900, seed=1)
    priors = max(view.tau.total.mean for view in uniques.priors.values())
    models = max(view.uniques.tau1 for view in told.accepted)
    urns = max(view.urn_tau for view in told.accepted if view.urn_tau is not None)
    assert not told.unexplained
    assert told.tau == max(priors, models, urns) > priors
    for limit, verdict in ((told.tau + 0.01, "release"), (told.tau - 0.01, "withhold")):
        found = dc.assess(sample, policy(limits={"tau": limit}), **asked)
        assert found.verdict == verdict
        assert "alone in the population" in found.reasons[-1]


@few_or_long("size", 5_000, 20_000)
def test_the_urn_leaves_a_unique_alone_as_often_as_it_does_when_drawn(size: int) -> None:
    sample = Table.from_array([[1, 8, 9], [7, 1, 0]], NAMES[:2])
    urn = PolyaUrn(theta=2.0).population(sample, 60)
    drawn = urn.draw(seed=1, size=size)
    alone = (drawn[:, 0] == 1).mean()
    assert alone == pytest.approx((26 + 2 - 1) / (60 + 2 - 1), abs=0.015)


def test_where_no_model_holds_every_sample_unique_counts() -> None:
    counts = 40 * np.eye(5, dtype=int)
    counts[0, 1] = counts[2, 3] = 1
    sample = Table.from_array(counts, NAMES[:2])
    found = dc.assess(
        sample, policy(limits={"tau": 1}), population=20_200, draws=50, protection="none", seed=1, trial=True
    )
    assert evidence(found).unexplained
    assert evidence(found).tau == 2
    assert found.verdict == "withhold"


def test_rules_apply_to_samples_and_protection_hides_what_they_forbid() -> None:
    sample = dc.protect.random_sample(dc.datasets.religion(), 245, seed=1).table
    ruled = policy(rules={"threshold": 3}, limits={"r2": 0.5, "tau": 1})
    asked: dict[str, Any] = {"population": 2449, "draws": 50, "seed": 1, "trial": True}
    as_it_is = dc.assess(sample, ruled, protection="none", **asked)
    assert as_it_is.verdict == "withhold"
    assert not {one.name: one for one in as_it_is.checks}["rules"].passed
    found = dc.assess(sample, ruled, **asked)
    assert found.verdict == "protect"
    assert found.release is not None
    tau = {one.name: one for one in found.checks}["tau"]
    assert tau.value == 0
    assert "of which 0 can be recognised" in tau.text
    # Without a rule on small counts nothing says that a unique is hidden.
    loose = dc.assess(sample, policy(limits={"tau": 0.5}), protection="random-rounding:base=3", **asked)
    assert loose.verdict == "withhold"
    assert ({one.name: one for one in loose.checks}["tau"].value or 0) > 0.5


def test_requests_that_cannot_be_answered() -> None:
    sample = dc.protect.random_sample(dc.datasets.religion(), 245, seed=1).table
    with pytest.raises(RequestError, match="neither a limit r2 nor a limit tau"):
        dc.assess(sample, policy(), population=2449)
    with pytest.raises(RequestError, match="the population includes the sample"):
        dc.assess(sample, policy(limits={"r2": 0.5}), population=200)


def populations(shapes: Sequence[tuple[int, ...]]) -> Iterator[tuple[str, Table, Table]]:
    """Yield populations of every sort with a sample of each: independent, tied in pairs, in threes, near-diagonal."""
    rng = np.random.default_rng(15)
    for shape in shapes:
        for kind in ("independent", "pairs", "threes", "diagonal", "skewed"):
            for size, share in ((1000, 0.3), (5000, 0.02), (50_000, 0.2)):
                p = rng.dirichlet(np.full(np.prod(shape), 0.1)).reshape(shape)
                if kind == "independent":
                    p = np.ones(())
                    for length in shape:
                        p = np.multiply.outer(p, rng.dirichlet(np.ones(length)))
                elif kind == "pairs":
                    tie = [rng.normal(0, 1, [n if i != j else 1 for i, n in enumerate(shape)]) for j in range(3)]
                    p = np.exp(sum(tie[: len(shape)]))
                elif kind == "threes":
                    p = np.exp(rng.normal(0, 1.5, shape))
                elif kind == "diagonal":
                    at = np.stack([axis / (n - 1) for axis, n in zip(np.indices(shape), shape, strict=True)])
                    p = np.where(np.ptp(at, axis=0) < 0.15, 1.0, 0.004 * rng.random(shape))
                counts = rng.multinomial(size, np.ravel(p) / p.sum())
                drawn = rng.multivariate_hypergeometric(counts, int(size * share))
                whole, part = (Table.from_array(x.reshape(shape), NAMES[: len(shape)]) for x in (counts, drawn))
                yield kind, whole, part


@few_or_long(("shapes", "least"), ([(6, 8)], 5), ([(4, 4, 4), (6, 8)], 10))
def test_no_release_where_the_true_risk_is_above_the_limits(shapes: list[tuple[int, ...]], least: int) -> None:
    limits = {"r2": 0.3, "tau": 1}
    above, released = 0, 0
    for kind, population, sample in populations(shapes):
        found = dc.assess(
            sample, policy(limits=limits), population=population.total, protection="none", draws=50, seed=1, trial=True
        )
        true = dc.risk(population, sample, sampled=True).value
        assert true <= evidence(found).risk.mean + evidence(found).error, (kind, population.shape, true)
        # What a sample of this size is expected to hold of them.
        alone = int((population.counts == 1).sum()) * sample.total / population.total
        risky = true > limits["r2"] or (alone > limits["tau"] and (sample.counts == 1).any())
        above += risky
        released += found.verdict == "release"
        assert not (risky and found.verdict == "release"), (kind, population.shape, true, alone)
    assert above >= least
    assert released >= least // 3


@few_or_long(("cases", "least"), (12, 2), (40, 8))
def test_the_one_population_there_is_lies_within_what_counts(cases: int, least: int) -> None:
    rng = np.random.default_rng(3)
    beyond = {"counts": 0, "mean": 0}
    for _ in range(cases):
        counts = rng.multinomial(100, rng.dirichlet(np.full(12, 0.4)))
        drawn = rng.multivariate_hypergeometric(counts, 85)
        population, sample = (Table.from_array(x.reshape(3, 4), NAMES[:2]) for x in (counts, drawn))
        true = dc.risk(population, sample, sampled=True).value
        asked: dict[str, Any] = {"population": 100, "protection": "none", "draws": 50, "seed": 1, "trial": True}
        told = evidence(dc.assess(sample, policy(limits={"r2": 0.99}), **asked))
        beyond["counts"] += true > told.risk.mean + told.error
        beyond["mean"] += true > told.risk.mean + told.model_error + 2 * told.risk.mc_error
    # The sample's own pattern errs on the safe side, and two deviations are added to it.
    assert beyond["counts"] <= 1
    assert beyond["mean"] >= least
