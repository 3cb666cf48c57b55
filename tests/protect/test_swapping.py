"""Record swapping: what stays, what moves, who comes first, and who has nobody to swap with."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import DataError, RequestError, Table
from discreet.core.random import generator
from discreet.protect import RecordSwapping, record_swapping, swap_records
from discreet.protect.swapping import swap_and_count
from discreet.protect.swapping.pairs import Units, areas_alone, choose

NAMES = ["area", "sex", "age", "origin"]


def tables() -> Any:
    def built(data: Any) -> Table:
        shape = data.draw(st.sampled_from([(2, 3), (3, 2, 2), (4, 2, 3), (3, 2, 2, 2)]))
        size = int(np.prod(shape))
        counts = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))).reshape(shape)
        counts[0].flat[0] += 1
        counts[1].flat[0] += 1
        return Table.from_array(counts, NAMES[: len(shape)])

    return built


@settings(max_examples=60)
@given(st.data())
def test_matched_margins_are_kept_exactly(data: Any) -> None:
    table = tables()(data)
    others = [name for name in table.names if name != "area"]
    match = tuple(data.draw(st.lists(st.sampled_from(others), unique=True, max_size=len(others))))
    rate, seed = data.draw(st.floats(0, 1)), data.draw(st.integers(0, 1000))
    method = RecordSwapping("area", match, rate, threshold=data.draw(st.integers(1, 4)))
    done = method.apply(table, seed)
    released = done.release.table
    assert released.margin(*others) == table.margin(*others)
    assert released.margin("area", *match) == table.margin("area", *match)
    report = done.details
    assert report["moved"] == sum(report["moved_by_area"].values()) <= report["target"] <= rate * table.total + 1e-9
    assert report["moved"] % 2 == 0
    assert released == method.apply(table, seed).release.table
    # Nobody knows more than the truth allows: every original figure lies in the range of its published one.
    (part,) = done.release.parts()
    lower, upper = part.ranges()
    truth = {cell.describe(i): int(cell.values[i]) for cell in [all_figures(table)] for i in range(len(cell))}
    true = np.array([truth.get(part.describe(i), 0) for i in range(len(part))])
    assert ((lower <= true) & (true <= upper)).all()
    # When a unit is left unmatched, nobody outside its area shares its match any more.
    if report["moved"] < report["target"]:
        assert report["unmatched_by_area"] or report["risky"] == report["risky_moved"]


def all_figures(table: Table) -> dc.Figures:
    return dc.Figures.of_tabulation(dc.Tabulation.from_table(table))


def test_pairs_are_of_different_areas_with_the_same_match_and_risky_ones_first() -> None:
    rng = np.random.default_rng(1)
    for seed in range(50):
        size = int(rng.integers(2, 60))
        units = Units(
            rng.integers(0, 4, size),
            rng.integers(0, 3, size),
            rng.integers(1, 6, size),
            rng.integers(0, 5, size),
            ("a", "b", "c", "d"),
        )
        pairs = int(rng.integers(0, size // 2 + 1))
        swaps = choose(units, pairs, 3, generator(seed))
        moved = np.flatnonzero(swaps.partner >= 0)
        assert moved.size <= 2 * pairs
        mates = swaps.partner[moved]
        assert (swaps.partner[mates] == moved).all()
        assert (units.area[moved] != units.area[mates]).all()
        assert (units.match[moved] == units.match[mates]).all()
        stayed = np.flatnonzero((swaps.partner < 0) & (units.alike < 3))
        if moved.size < 2 * pairs:
            # Not enough pairs: those who stay have nobody left in another area.
            for u in np.flatnonzero(swaps.partner < 0):
                rest = (swaps.partner < 0) & (units.match == units.match[u]) & (units.area != units.area[u])
                assert not rest.any()
            assert set(stayed) == set(np.flatnonzero(swaps.unmatched))
        else:
            # A pair of two safe units is only made once every risky unit had its turn.
            safe = (units.alike[moved] >= 3) & (units.alike[mates] >= 3)
            if safe.any():
                assert set(stayed) == set(np.flatnonzero(swaps.unmatched))
        slow = tuple(
            area
            for i, area in enumerate(units.areas)
            if (units.area == i).any()
            and not any(
                units.match[u] == units.match[v] and units.area[v] != i
                for u in np.flatnonzero(units.area == i)
                for v in range(size)
            )
        )
        assert areas_alone(units) == slow


def test_uniques_move_before_others() -> None:
    table = Table.from_array([[1, 50], [1, 50], [0, 50]], {"area": ["n", "m", "s"], "sex": ["m", "f"]})
    done = RecordSwapping("area", rate=0.03, threshold=2).apply(table, 3)
    assert (done.details["risky"], done.details["risky_moved"]) == (2, 2)


def test_a_partner_is_drawn_evenly_from_all_that_are_alike() -> None:
    # One risky person in area 0; ten and thirty alike ones in areas 1 and 2.
    units = Units(
        np.repeat([0, 1, 2], [1, 10, 30]), np.zeros(41, int), np.repeat([1, 9], [1, 40]), np.arange(41), ("a", "b", "c")
    )
    to = Counter(int(units.area[choose(units, 1, 2, generator(seed)).partner[0]]) for seed in range(2000))
    assert abs(to[1] - 500) < 5 * np.sqrt(2000 * 0.25 * 0.75)
    who = Counter(int(choose(units, 1, 2, generator(seed)).partner[0]) for seed in range(2000))
    assert len(who) == 40


def test_an_area_with_nobody_to_swap_with_is_reported() -> None:
    table = Table.from_array([[1, 0], [0, 6], [0, 8]], {"area": ["n", "m", "s"], "sex": ["m", "f"]})
    done = RecordSwapping("area", ("sex",), rate=0.5).apply(table, 1)
    assert done.details["areas_alone"] == ["n"]
    assert done.details["unmatched_by_area"] == {"n": 1}
    assert "Nobody in n has anybody to swap with" in done.sentence
    assert (
        "1 of the risky people has nobody like them in another area to swap with, in area n; match on less"
        in done.sentence
    )
    one = Table.from_array([[3, 2], [0, 0]], ["area", "sex"])
    with pytest.raises(DataError, match="nobody to swap with: of the areas of 'area', only 1 has people"):
        record_swapping(one, "area")


def people(seed: int = 1, size: int = 400) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(size)],
            "region": rng.choice(["north", "south"], size).tolist(),
            "sex": rng.choice(["m", "f"], size).tolist(),
            "age": rng.choice(["young", "mid", "old"], size, p=[0.45, 0.5, 0.05]).tolist(),
            "income": rng.integers(1, 1000, size).tolist(),
        }
    )


def test_records_move_with_what_belongs_to_the_area_and_nothing_else() -> None:
    before = people()
    before = before.append_column(
        "postcode", pa.array([f"{r[0]}{i % 7}" for i, r in enumerate(before["region"].to_pylist())])
    )
    method = RecordSwapping("region", ("sex",), 0.2, ("age",), 10, carry=("postcode",))
    done = swap_records(before, method, 4)
    after = done.records
    for name in ("id", "sex", "age", "income"):
        assert after[name].equals(before[name])
    moved = [i for i in range(400) if after["region"][i] != before["region"][i]]
    assert len(moved) == done.report.moved == 80
    assert all(p[0] == r[0] for p, r in zip(after["postcode"].to_pylist(), after["region"].to_pylist(), strict=True))
    assert Counter(after["postcode"].to_pylist()) == Counter(before["postcode"].to_pylist())
    assert after.equals(swap_records(before, method, 4).records)
    assert not after.equals(swap_records(before, method, 5).records)
    assert after.column_names == before.column_names
    json.dumps(done.to_dict())


def test_frames_come_back_as_they_were_and_the_order_of_rows_does_not_matter() -> None:
    before = people(2)
    method = RecordSwapping("region", ("sex",), 0.3, ("sex", "age"))
    after = swap_records(before, method, 1).records
    pandas = swap_records(before.to_pandas(), method, 1).records
    assert pandas["region"].tolist() == after["region"].to_pylist()
    by = ["region", "sex", "age"]
    order = np.random.default_rng(1).permutation(400)
    shuffled = swap_records(before.take(order), method, 1).records
    count = dc.count_records
    categories = {d.name: d.categories for d in count(after, by).table.dimensions}
    assert count(after, by).table == count(shuffled, by, categories=categories).table
    # The table of the records is swapped like the records of the table.
    done = swap_and_count(before, method, by, 1)
    assert done.release.table == count(after, by, categories=categories).table.aligned_to(done.release.table)
    assert done.release.table.margin("sex", "age") == count(before, ["sex", "age"]).table.aligned_to(
        done.release.table.margin("sex", "age")
    )


def rows_in(frame: pa.Table, columns: list[str]) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(frame[name].to_pylist() for name in columns), strict=True))


def test_households_move_as_a_whole_and_match_member_by_member() -> None:
    rng = np.random.default_rng(3)
    household = np.repeat(np.arange(150), rng.integers(1, 5, 150))
    region = np.array(["n", "m", "s"])[rng.integers(0, 3, 150)][household]
    before = pa.table(
        {
            "hh": household.astype(str),
            "region": region,
            "sex": rng.choice(["m", "f"], household.size),
            "age": rng.integers(0, 9, household.size).astype(str),
        }
    )
    method = RecordSwapping("region", ("sex",), 0.2, ("age",), 3, household="hh")
    done = swap_records(before, method, 1)
    after = done.records
    places = {
        h: {r for g, r in zip(after["hh"].to_pylist(), after["region"].to_pylist(), strict=True) if g == h}
        for h in {*after["hh"].to_pylist()}
    }
    assert all(len(found) == 1 for found in places.values())
    moved = {
        h
        for h, a, b in zip(
            before["hh"].to_pylist(), before["region"].to_pylist(), after["region"].to_pylist(), strict=True
        )
        if a != b
    }
    assert len(moved) == done.report.moved > 0
    for columns in (["region", "sex"], ["sex", "age"]):
        assert rows_in(after, columns) == rows_in(before, columns)
    assert "households changed places" in str(done)
    torn_places = before["region"].to_pylist()
    torn_places[int(np.flatnonzero(np.bincount(household)[household] > 1)[0])] = "elsewhere"
    with pytest.raises(DataError, match="a household has one place"):
        swap_records(before.set_column(1, "region", pa.array(torn_places)), method)
    with pytest.raises(DataError, match="is not a column of households"):
        swap_records(people(1, 1200), RecordSwapping("region", household="sex"))


def test_bad_requests() -> None:
    table = Table.from_array([[3, 2], [1, 4]], ["area", "sex"])
    for rate in (-0.1, 1.1, float("nan"), "0.5", True):
        with pytest.raises(RequestError, match=r"the swap rate is .*; give a number between 0 and 1"):
            RecordSwapping("area", rate=rate)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="threshold of risk is 0"):
        RecordSwapping("area", threshold=0)
    with pytest.raises(RequestError, match="match is 'sex', one name"):
        RecordSwapping("area", "sex")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="cannot match on it"):
        RecordSwapping("area", ("area",))
    with pytest.raises(RequestError, match="no dimension 'region'"):
        record_swapping(table, "region")
    with pytest.raises(RequestError, match="swap records"):
        RecordSwapping("area", household="hh").apply(table)
    with pytest.raises(RequestError, match="there is no column 'regoin'; did you mean 'region'"):
        swap_records(people(), RecordSwapping("regoin"))
    with pytest.raises(RequestError, match="there is no column 'colour'"):
        swap_records(people(), RecordSwapping("region", ("colour",)))
    with pytest.raises(DataError, match="there are no records"):
        swap_records(people().slice(0, 0), RecordSwapping("region"))
    zeros = Table.from_array([[0, 5], [5, 5]], ["area", "sex"], impossible=[[True, False], [False, False]])
    with pytest.raises(DataError, match="is a structural zero; match on the dimensions"):
        record_swapping(zeros, "area", rate=1.0, seed=1)
    assert record_swapping(table, "area", rate=0, seed=1).table == table
