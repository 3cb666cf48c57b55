"""Stratified sampling: a hypergeometric law in each stratum."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from tests.protect.sampling_law import follows

import discreet as dc
from discreet import RequestError, Table
from discreet.protect import StratifiedSample, stratified_sample
from discreet.table.kinds import Sampled

TABLE = Table.from_array([[2, 1, 0], [0, 3, 1]], {"area": ["n", "s"], "sex": ["a", "b", "c"]})


def slow_law(sizes: dict[str, int]) -> dict[tuple[int, ...], Fraction]:
    """Go through every set of people in each area, over the non-empty cells of the table in their order."""
    people = {"n": [0, 0, 1], "s": [2, 2, 2, 3]}
    found: Counter[tuple[int, ...]] = Counter()
    for north, south in product(combinations(people["n"], sizes["n"]), combinations(people["s"], sizes["s"])):
        chosen = [*north, *south]
        found[tuple(chosen.count(cell) for cell in range(4))] += 1
    return {row: Fraction(ways, found.total()) for row, ways in found.items()}


@pytest.mark.parametrize("sizes", [{"n": 2, "s": 1}, {"n": 1, "s": 3}, {"n": 0, "s": 2}, {"n": 3, "s": 4}])
def test_the_law_is_that_of_exact_enumeration(sizes: dict[str, int]) -> None:
    method, expected = StratifiedSample("area", sizes=sizes), slow_law(sizes)
    follows(method, TABLE, expected, block=2, draws=20_000, seed=1)


def test_the_law_by_another_dimension_stands_in_the_order_of_the_cells() -> None:
    method = StratifiedSample("sex", sizes={"a": 1, "b": 2, "c": 1})
    for _, rows in method.law(TABLE):
        # Cells: north a, north b, south b, south c.
        assert (rows[:, 0] == 1).all()
        assert (rows[:, 1] + rows[:, 2] == 2).all()
        assert (rows[:, 3] == 1).all()


def test_each_stratum_gets_its_share() -> None:
    table = dc.datasets.religion()
    by = table.names[0]
    release = stratified_sample(table, by, fraction=0.1, known_total=True, seed=1)
    people = table.margin(by).to_array()
    assert release.table.margin(by).to_array().tolist() == np.floor(0.1 * people + 0.5).tolist()
    assert release.table == stratified_sample(table, by, fraction=0.1, seed=1).table
    (part,) = release.parts()
    first = part.kinds[int(part.kind[0])]
    assert isinstance(first, Sampled)
    assert (first.size, round(first.fraction * first.size)) == (people[0], int(0.1 * people[0] + 0.5))
    lower, upper = part.ranges()
    stratum = part.codes[:, part.names.index(by)]
    assert (upper - lower == (people - np.floor(0.1 * people + 0.5))[stratum]).all()


def test_an_empty_stratum_is_known_to_be_empty() -> None:
    table = Table.from_array([[2, 1], [0, 0]], ["area", "sex"])
    (part,) = stratified_sample(table, "area", fraction=0.5, known_total=True, seed=1).parts()
    assert [part.kinds[int(k)].name for k in part.kind] == ["sample", "sample", "exact", "exact"]
    # Where that is not public, it is as any other: 2 are of 4 at most, and of one person, half would be 1.
    (part,) = stratified_sample(table, "area", fraction=0.5, seed=1).parts()
    told = [part.kinds[int(k)].to_dict() for k in part.kind]
    assert told == [{"name": "sample", "fraction": 0.5, "missed": n} for n in (2, 2, 0, 0)]
    (part,) = stratified_sample(table, "area", fraction=0.1, seed=1).parts()
    assert {str(part.kinds[int(k)].to_dict()["missed"]) for k in part.kind} == {"4"}
    release = stratified_sample(table, "area", sizes={"1": 1, "2": 0}, seed=1)
    assert release.kind.to_dict() == {"name": "sample"}


def test_a_stratum_that_is_sampled_as_a_whole_is_found_and_not_published() -> None:
    table = Table.from_array([[1, 0], [20, 14], [0, 0]], {"area": ["n", "s", "w"], "sex": ["m", "f"]})
    done = StratifiedSample("area", 0.5).apply(table, 1)
    (part,) = done.release.parts()
    # One in the sample is of 2 people at most, 17 of 34, and none of none.
    told = [part.kinds[int(k)].to_dict() for k in part.kind]
    assert told == [{"name": "sample", "fraction": 0.5, "missed": n} for n in (1, 1, 17, 17, 0, 0)]
    assert "Everybody of 1 of 2 strata is in the sample" in done.notes[0]
    assert "(area=n)" in done.notes[0]
    assert "Everybody" not in StratifiedSample("area", 0.1).apply(table, 1).sentence
    assert "Everybody is in the sample" in StratifiedSample("area", 1).apply(table, 1).sentence
    assert "area=n" in StratifiedSample("area", sizes={"n": 1, "s": 3, "w": 0}).apply(table, 1).notes[0]


def test_records_of_every_stratum() -> None:
    people = pa.table({"area": ["n"] * 30 + ["s"] * 50, "id": list(range(80))})
    drawn = StratifiedSample("area", fraction=0.1).records(people, 4)
    assert drawn["area"].to_pylist() == ["n"] * 3 + ["s"] * 5
    assert drawn["id"].to_pylist() == sorted(drawn["id"].to_pylist())
    sized = StratifiedSample("area", sizes={"n": 7, "s": 0}).records(people, 4)
    assert sized["area"].to_pylist() == ["n"] * 7
    seen = Counter(
        i for seed in range(400) for i in StratifiedSample("area", fraction=0.1).records(people, seed)["id"].to_pylist()
    )
    assert all(abs(seen[i] - 40) < 5 * 6 for i in range(80))


def test_bad_requests() -> None:
    with pytest.raises(RequestError, match="either one fraction"):
        StratifiedSample("area")
    with pytest.raises(RequestError, match=r"fraction is 1\.5"):
        StratifiedSample("area", 1.5)
    with pytest.raises(RequestError, match="sample size of area=n is -1"):
        StratifiedSample("area", sizes={"n": -1})
    with pytest.raises(RequestError, match="no dimension 'region'"):
        stratified_sample(TABLE, "region", fraction=0.5)
    with pytest.raises(RequestError, match="no sample size is given for area=s"):
        stratified_sample(TABLE, "area", sizes={"n": 1})
    with pytest.raises(RequestError, match="has no category 'w'"):
        stratified_sample(TABLE, "area", sizes={"w": 1, "n": 1, "s": 1})
    with pytest.raises(RequestError, match="n = 4 cannot be drawn from the N = 3 people of area=n"):
        stratified_sample(TABLE, "area", sizes={"n": 4, "s": 1})
    with pytest.raises(RequestError, match="no column 'region'"):
        StratifiedSample("region", 0.5).records(pa.table({"area": ["n"]}))
