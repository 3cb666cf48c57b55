"""Simple random sampling against the hypergeometric law in exact fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import discreet as dc
from discreet import RequestError, Table, Tabulation, datasets
from discreet.core.random import generator
from discreet.protect import BernoulliSample, RandomSample, StratifiedSample, random_sample

counts = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)


def slow_law(F: list[int], n: int) -> dict[tuple[int, ...], Fraction]:
    """Go through every set of n people."""
    people = [cell for cell, count in enumerate(F) for _ in range(count)]
    seen = Counter(tuple(chosen.count(cell) for cell in range(len(F))) for chosen in combinations(people, n))
    return {row: Fraction(ways, seen.total()) for row, ways in seen.items()}


@given(counts, st.data())
def test_the_law_is_that_of_exact_enumeration(F: list[int], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, min(sum(F), 6)))
    table, method = Table.from_array(F, ["x"]), RandomSample(n)
    expected = slow_law([count for count in F if count], n)
    found: dict[tuple[int, ...], float] = {}
    for chances, rows in method.law(table, block=3):
        assert len(rows) <= 3
        found |= {tuple(row): chance for row, chance in zip(rows.tolist(), chances.tolist(), strict=True)}
    assert found.keys() == expected.keys()
    assert all(found[row] == pytest.approx(float(chance), rel=1e-12) for row, chance in expected.items())
    assert sum(found.values()) == pytest.approx(1)
    assert method.outcomes(table) == len(expected)


@pytest.mark.parametrize("n", [1, 3, 7, 11])
def test_draws_follow_the_law(n: int) -> None:
    F = [1, 2, 3, 5]
    table = Table.from_array(F, ["x"])
    law = slow_law(F, n)
    draws = RandomSample(n).draws(table, generator(n), 20_000)
    assert (draws.sum(axis=1) == n).all()
    rows, seen = np.unique(draws, axis=0, return_counts=True)
    observed = {tuple(row): count for row, count in zip(rows.tolist(), seen.tolist(), strict=True)}
    assert observed.keys() <= law.keys()
    if len(law) > 1:
        wanted = [20_000 * float(chance) for chance in law.values()]
        assert stats.chisquare([observed.get(row, 0) for row in law], wanted).pvalue > 1e-4


@pytest.mark.parametrize("F", [[2_000_000, 1_000_000, 7], [600_000_000, 400_000_000, 5], [700_000_000, 600_000_000]])
def test_large_populations(F: list[int]) -> None:
    n, size = 1000, 2000
    draws = RandomSample(n).draws(Table.from_array(F, ["x"]), generator(3), size)
    assert draws.shape == (size, len(F))
    assert (draws.sum(axis=1) == n).all()
    N = sum(F)
    for i, count in enumerate(F):
        p = count / N
        deviation = np.sqrt(n * p * (1 - p) * (N - n) / (N - 1) / size)
        assert abs(draws[:, i].mean() - n * p) < 4.5 * deviation + 1e-9


def test_populations_that_are_too_large() -> None:
    with pytest.raises(RequestError, match=r"5,000,000,000 people against the others is too large to sample"):
        RandomSample(3).draws(Table.from_array([10, 5_000_000_000], ["x"]), generator(1), 2)


def test_many_cells_are_enumerated_without_end() -> None:
    table = Table.from_array(np.ones(1500), ["x"])
    assert RandomSample(1).outcomes(table) == 1500
    blocks = list(RandomSample(1).law(table))
    assert sum(len(rows) for _, rows in blocks) == 1500
    assert sum(float(chances.sum()) for chances, _ in blocks) == pytest.approx(1)


def test_all_and_nearly_all_people() -> None:
    table = datasets.religion()
    assert random_sample(table, table.total, seed=1).table == table
    nearly = random_sample(table, table.total - 1, seed=1).table
    assert nearly.total == table.total - 1
    assert RandomSample(table.total).outcomes(table) == 1


def test_releases_are_reproducible_and_tell_neither_original_nor_seed() -> None:
    table = datasets.religion()
    release = random_sample(table, 245, seed=5)
    assert release == random_sample(table, 245, seed=5)
    assert release.table != random_sample(table, 245, seed=6).table
    assert (release.table.to_array() <= table.to_array()).all()
    assert (release.method, dict(release.parameters)) == ("random-sample", {"n": 245})
    held = [value for value in vars(release).values() if isinstance(value, Table)]
    assert held == [release.table]
    assert release.table != table
    assert "seed" not in {*vars(release), *release.parameters}
    assert release.table.dimensions == table.dimensions
    assert random_sample(table, np.int64(245), seed=5).parameters == {"n": 245}


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3"])
def test_sizes_that_are_none(n: object) -> None:
    with pytest.raises(RequestError, match=r"sample size n is .*; give an integer of 1 or more"):
        RandomSample(n)  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", [{}, {"n": 3, "fraction": 0.1}])
def test_a_size_or_a_share_is_asked_for(asked: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="either the size of the sample"):
        RandomSample(**asked)


def test_a_share_is_a_sample_of_so_many_people() -> None:
    table = Table.from_array([30, 45, 72], ["x"])
    shared = RandomSample(fraction=0.1)
    assert shared.apply(table, 5).release.table == RandomSample(15).apply(table, 5).release.table
    assert shared.outcomes(table) == RandomSample(15).outcomes(table)
    assert RandomSample(fraction=0.001).people(147) == 1
    assert dict(shared.apply(table, 5).release.parameters) == {"fraction": 0.1}
    assert random_sample(table, fraction=0.1, seed=5).table.total == 15


@pytest.mark.parametrize("as_tabulation", [False, True])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_no_figure_of_the_population_is_in_a_release_unless_it_is_public(
    ending: str, as_tabulation: bool, tmp_path: Path
) -> None:
    table = Table.from_array([[211, 35], [7, 219]], ["area", "sex"])
    original = Tabulation.from_table(table) if as_tabulation else table
    secret = [472, 246, 226, 47 / 472, 0.1 * 472]
    methods: list[Any] = [
        RandomSample(47),
        RandomSample(fraction=0.1),
        BernoulliSample(0.1),
        StratifiedSample("area", 0.1),
        StratifiedSample("area", sizes={"1": 30, "2": 20}),
    ]
    for method in methods:
        release = method.apply(original, 2**100 + 1).release
        kinds = {kind for part in release.parts() for kind in part.kinds}
        assert {kind.to_dict().get("size", 0) for kind in kinds} == {0}
        assert {kind.to_dict().get("fraction", 0) for kind in kinds} <= {0, 0.1}
        assert not set(map(str, secret)) & set(map(str, release.parameters.values()))
        (file,) = release.write(tmp_path / f"release{ending}")
        if ending == ".csv":
            told = {row.split(",")[-1].strip('"') for row in file.read_text().splitlines()[1:]}
            # A tenth that is 47 is one of 474 people at most, 25 of 254, and 23 of 234, as every reader can tell.
            missed = {"", *(f" missed={n}" for n in (474 - 47, 254 - 25, 234 - 23, 254 - 25 + 234 - 23))}
            allowed = {f"sample{share}{most}" for share in ("", " fraction=0.1") for most in missed}
            assert {text.partition(" rows=")[0] for text in told} <= allowed
        again = dc.read_release(file)
        assert {kind.to_dict().get("size", 0) for part in again.parts() for kind in part.kinds} == {0}


def test_the_law_of_one_figure_with_a_known_share_is_binomial() -> None:
    release = random_sample(Table.from_array([20, 50, 40], ["x"]), fraction=0.1, seed=1)
    for cell in dc.audit(release).cells:
        f = int(release.table.to_array()[int(cell.cell["x"]) - 1])
        likelihood = [comb(F, f) * 0.1**f * 0.9 ** (F - f) for F in range(f, 300)]
        assert release.kind.likelihood(f, np.arange(f, 300))[:104] == pytest.approx(likelihood[:104])
        # A tenth that is 11 is one of 114 people at most.
        assert (cell.lower, cell.upper) == (f, f + 114 - 11)


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
def test_readers_who_know_the_share_know_how_many_were_left_out_at_most(fraction: float) -> None:
    """Enumerate the populations of which the sample can be this share, and all counts that fit."""
    for counts in ([1, 3], [2, 0], [4, 6], [1, 1]):
        method = RandomSample(fraction=fraction)
        release = method.apply(Table.from_array(counts, ["x"]), 2**100 + 1).release
        drawn = release.table.to_array()
        sizes = [size for size in range(1, 400) if method.people(size) == drawn.sum()]
        figures = release.parts()[0]
        lower, upper = figures.ranges()
        shown = {int(figures.codes[k, 0]): k for k in range(len(figures))}
        for place, k in shown.items():
            assert (lower[k], upper[k]) == (drawn[place], drawn[place] + max(sizes) - drawn.sum())
        assert sum(counts) in sizes


def test_a_sample_of_everybody_is_the_table_itself() -> None:
    table = Table.from_array([2, 5], ["x"])
    low, high = random_sample(table, fraction=1, seed=1).kind.range(np.array([2, 5]))
    assert (low.tolist(), high.tolist()) == ([2, 5], [2, 5])
    for method in (RandomSample(7), RandomSample(fraction=0.95), BernoulliSample(1)):
        assert "Everybody is in the sample" in method.apply(table, 1).sentence
    assert "Everybody" not in RandomSample(6).apply(table, 1).sentence


def test_samples_larger_than_the_table() -> None:
    table = Table.from_array([3, 4], ["x"])
    method = RandomSample(8)
    message = r"a sample of n = 8 cannot be drawn from N = 7 people; lower n"
    with pytest.raises(RequestError, match=message):
        random_sample(table, 8)
    with pytest.raises(RequestError, match=message):
        method.outcomes(table)
    with pytest.raises(RequestError, match=message):
        list(method.law(table))
    with pytest.raises(RequestError, match=message):
        method.draws(table, generator(1), 3)


def test_records_are_drawn_alike_and_come_back_as_they_were() -> None:
    people = pa.table({"id": list(range(40)), "sex": ["m", "f"] * 20})
    drawn = RandomSample(10).records(people, 1)
    assert drawn.num_rows == 10
    assert drawn["id"].to_pylist() == sorted(set(drawn["id"].to_pylist()))
    assert drawn.equals(RandomSample(10).records(people, 1))
    seen = Counter(i for seed in range(400) for i in RandomSample(10).records(people, seed)["id"].to_pylist())
    assert all(abs(seen[i] - 100) < 5 * 8.7 for i in range(40))
    pandas = people.to_pandas()
    assert RandomSample(10).records(pandas, 1)["id"].tolist() == drawn["id"].to_pylist()
    with pytest.raises(RequestError, match="n = 41 cannot be drawn from N = 40"):
        RandomSample(41).records(people)


def test_a_reader_knows_the_hypergeometric_law_of_every_cell() -> None:
    F, n = [3, 5, 6], 6
    release = random_sample(Table.from_array(F, ["x"]), n, known_total=True, seed=2)
    N = sum(F)
    for f in range(n + 1):
        expected = [comb(x, f) * comb(N - x, n - f) / comb(N, n) for x in range(N + 1)]
        np.testing.assert_allclose(release.kind.likelihood(f, np.arange(N + 1)), expected, atol=1e-12)
    low, high = release.kind.range(release.table.to_array())
    assert ((low <= F) & (high >= F)).all()
    # The same law, by drawing: how often cell x of size 5 has f people in the sample.
    law = slow_law(F, n)
    for f in range(n + 1):
        chance = sum(p for row, p in law.items() if row[1] == f)
        assert release.kind.likelihood(f, np.array([5]))[0] == pytest.approx(float(chance))


def test_a_tabulation_is_sampled_with_all_its_margins() -> None:
    table = datasets.religion()
    release = random_sample(Tabulation.from_table(table), 245, seed=5)
    assert release.table == random_sample(table, 245, seed=5).table
    (part,) = release.parts()
    assert part.values[(part.codes == 0).all(axis=1)].tolist() == [245]
