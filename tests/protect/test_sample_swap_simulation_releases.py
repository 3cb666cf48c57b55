"""Releases by sampling, swapping and simulation pass through the audit, R2 and files like any other."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet import DataError, Kind, Table, Tabulation
from discreet.core.random import generator
from discreet.protect import (
    BernoulliSample,
    RandomSample,
    RecordSwapping,
    Simulation,
    StratifiedSample,
    TableSwapping,
)
from discreet.table.units import Largest, Level, Response

TABLE = Table.from_array([[[1, 2], [0, 3]], [[2, 0], [4, 1]], [[3, 1], [1, 2]]], ["area", "sex", "age"])
METHODS: list[Any] = [
    RandomSample(6, known_total=True),
    StratifiedSample("area", 0.5, known_total=True),
    BernoulliSample(0.3, known_total=True),
    RandomSample(6),
    RandomSample(fraction=0.3),
    StratifiedSample("area", 0.5),
    BernoulliSample(0.3),
    RecordSwapping("area", ("sex",), 0.2),
    TableSwapping(1, 0.2),
    TableSwapping(2, 0.3),
    Simulation(),
    Simulation(2, "uniform"),
    Simulation((("area", "sex"), ("age",))),
]
NAMES = [f"{method.name}-{i}" for i, method in enumerate(METHODS)]


@pytest.mark.parametrize("as_tabulation", [False, True], ids=["table", "tabulation"])
@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_audit_and_risk_take_every_release(method: Any, as_tabulation: bool) -> None:
    original = Tabulation.from_table(TABLE) if as_tabulation else TABLE
    done = method.apply(original, 1)
    release = done.release
    assert release.table == method.apply(TABLE, 1).release.table
    result = dc.risk(TABLE, release)
    assert result.before is not None
    assert 0 < result.value <= result.before + 1e-12
    found = dc.audit(release, original=TABLE)
    assert found.cells
    truth = all_counts(TABLE)
    for cell in found.cells:
        true = truth.get(tuple(sorted(cell.cell.items())), 0)
        assert cell.lower <= true <= cell.upper
    expected = dc.expected_risk(TABLE, method, draws=50, seed=1)
    assert 0 < expected.risk.mean <= expected.before + 1e-12


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_no_risk_is_stated_to_a_reader_who_knows_the_method(method: Any) -> None:
    release = method.apply(TABLE, 1).release
    for cell in dc.audit(release, law="method").cells:
        # The figures depend on each other, and no joint law is known: nothing is claimed, and the interval stands.
        assert cell.values == 1 or np.isnan(cell.bits)
        assert cell.finished


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_files_keep_what_a_reader_knows(method: Any, ending: str, tmp_path: Path) -> None:
    release = method.apply(TABLE, 1).release
    release.write(tmp_path / f"release{ending}", trial=release.trial)
    again = dc.read_release(tmp_path / f"release{ending}")
    for law in ("interval", "method"):
        before, after = (
            {f"{cell.name} {end}": getattr(cell, end) for cell in found.cells for end in ("lower", "upper", "bits")}
            for found in (dc.audit(release, law=law), dc.audit(again, law=law))
        )
        assert after == pytest.approx(before, nan_ok=True)
    assert dc.read_table(tmp_path / f"release{ending}").total == release.table.total


@pytest.mark.parametrize("method", METHODS[3:], ids=NAMES[3:])
def test_draws_are_those_of_releases(method: Any) -> None:
    support = method.support(TABLE)
    assert set(TABLE.cells) <= set(support) or method.name == "simulation"
    draws = method.draws(TABLE, generator(5), 150)
    assert draws.shape == (150, support.size)
    released = np.stack([method.apply(TABLE, seed).release.table.at(support) for seed in range(150)])
    outside = [method.apply(TABLE, seed).release.table.total - released[seed].sum() for seed in range(5)]
    assert outside == [0] * 5
    error = np.sqrt((draws.var(axis=0) + released.var(axis=0)) / 150)
    assert (np.abs(draws.mean(axis=0) - released.mean(axis=0)) <= 4.5 * error + 1e-9).all()


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_magnitudes_are_refused(method: Any) -> None:
    counts = Tabulation.from_table(TABLE)
    sums = counts.records.astype(float)
    level = Level(counts.records, None, (Largest(sums, sums[:, None]),))
    magnitudes = Tabulation(
        counts.axes, counts.margins, counts.cells, counts.records, None, (Response("income", None, sums),), level
    )
    with pytest.raises(DataError, match=r"holds sums of income; .* works on counts"):
        method.apply(magnitudes)


def test_the_law_of_one_figure_of_a_sample_is_hypergeometric() -> None:
    table = Table.from_array([2, 5, 4], ["x"])
    kind = dc.protect.random_sample(table, 5, known_total=True, seed=1).parts()[0].kinds[0]
    for f in range(6):
        likelihood = [hypergeometric(f, F, 11, 5) for F in range(12)]
        assert kind.likelihood(f, np.arange(12)) == pytest.approx(likelihood)


def hypergeometric(f: int, F: int, N: int, n: int) -> float:
    from math import comb

    return comb(F, f) * comb(N - F, n - f) / comb(N, n) if f <= n else 0.0


def test_the_likelihood_of_swapping_is_that_of_units_that_leave_and_come() -> None:
    rng, x, r = np.random.default_rng(1), 6, 0.3
    kind = Kind("swapped", fraction=r, bound=20)
    for y in (0, 3, 6, 9):
        draws = rng.binomial(x, 1 - r, 200_000) + rng.poisson(r * y, 200_000)
        chance = kind.likelihood(y, np.array([x]))[0]
        assert abs((draws == y).mean() - chance) < 5 * np.sqrt(chance / 200_000) + 1e-12
    assert kind.likelihood(0, np.arange(4)).tolist() == pytest.approx([1, 0.3, 0.09, 0.027])
    assert kind.likelihood(30, np.array([9, 10, 50, 51])).astype(bool).tolist() == [False, True, True, False]


def all_counts(table: Table) -> dict[tuple[tuple[str, str], ...], int]:
    """Return every cell and margin of a table, the slow way."""
    found: dict[tuple[tuple[str, str], ...], int] = {}
    for code, count in zip(np.ndindex(table.shape), table.to_array().ravel().tolist(), strict=True):
        labels = [dim.categories[i] for dim, i in zip(table.dimensions, code, strict=True)]
        for kept in product((False, True), repeat=len(labels)):
            names = zip(table.names, labels, kept, strict=True)
            key = tuple(sorted((name, label if keep else "Total") for name, label, keep in names))
            found[key] = found.get(key, 0) + count
    return found
