"""Merging categories by hand and by level: the coarser original, the release, the audit and the risk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.plain import data_of

import discreet as dc
from discreet.core.errors import DataError, RequestError
from discreet.protect.redesign import Redesign, redesign, to_levels
from discreet.table import Table
from discreet.table.coarsen import coarsened_table, coarsened_tabulation, recoding_of
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation

TABLE_1 = {
    "2,3": [80, 253, 54, 0, 0],
    "4": [641, 3694, 2062, 746, 0],
    "5": [592, 0, 329, 1537, 1440],
    "6": [57, 406, 946, 845, 2027],
    "7": [78, 0, 890, 1719, 1743],
}
"""domingo2002 Table 1 with values that fit in place of its suppressed cells; rows 5 and 6 add up to Table 2."""


def paper() -> Table:
    return Table.from_array(list(TABLE_1.values()), {"activity": list(TABLE_1), "size": list("45678")})


def test_the_example_of_the_paper() -> None:
    table = paper()
    release = redesign(table, {"activity": {"5,6": ["5", "6"]}})
    assert release.table.shape == (4, 5)
    assert release.table.slice(activity="5,6").counts.tolist() == [649, 406, 1275, 2382, 3467]
    result = dc.audit(release, about=["activity", "size"], sums={"all of 5": [{"activity": "5"}]})
    for activity in "56":
        found = [result.cell(activity=activity, size=size) for size in "45678"]
        assert [(c.lower, c.upper) for c in found] == [(0, 649), (0, 406), (0, 1275), (0, 2382), (0, 3467)]
    whole = next(c for c in result.cells if c.cell == {"sum": "all of 5"})
    assert (whole.lower, whole.upper) == (0, 8179)
    full = redesign(Tabulation.from_table(table), {"activity": {"5,6": ["5", "6"]}})
    again = dc.audit(full, about=["activity", "size"])
    assert again.cell(activity="6", size="8").upper == 3467


def test_the_risk_is_that_of_the_merged_table(tmp_path: Path) -> None:
    table = paper()
    release = redesign(table, {"activity": {"5,6": ["5", "6"]}, "size": {"small": ["4", "5", "6"]}})
    after = dc.risk(table, release)
    coarse = coarsened_table(table, recoding_of(release))
    assert after.value == pytest.approx(dc.risk(coarse).value)
    assert after.before == pytest.approx(dc.risk(table).value)
    assert after.cells == 12
    assert {part.dimension for part in after.slices} == {"activity", "size"}
    # Rounding on top of merging is compared on the merged categories too.
    rounded = dc.protect.random_rounding(coarse, 100, seed=1)
    both = dc.Release(rounded.table, "both", {"recoding": recoding_of(release)}, kind=rounded.kind)
    assert dc.risk(table, both).value < after.value
    release.write(tmp_path / "merged.parquet")
    assert dc.risk(table, dc.read_release(tmp_path / "merged.parquet")).value == pytest.approx(after.value)
    with pytest.raises(DataError, match="category '5,6'"):
        dc.risk(table, release.table)


def test_what_it_costs() -> None:
    table = paper()
    done = Redesign.of({"activity": {"5": "5,6", "6": "5,6"}}).apply(table)
    p, q = table.counts / table.total, coarsened_table(table, done.release.parameters["recoding"]).counts / table.total  # type: ignore[arg-type]
    lost = -(p * np.log(p)).sum() + (q * np.log(q)).sum()
    cost = data_of(done)["cost"]
    assert cost["merges"] == 1
    assert cost["entropy"] == pytest.approx(lost)
    assert "activity: 5 categories became 4 (5, 6 are '5,6')" in done.sentence
    assert done.changes.changed == 0
    assert done.changes.figures == 20


# --- coarser originals ----------------------------------------------------------------------------------------


def test_merged_tables_agree_with_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        shape = tuple(rng.integers(1, 5, int(rng.integers(1, 4))))
        counts = rng.integers(0, 4, shape)
        mask = (counts == 0) & (rng.random(shape) < 0.5)
        table = Table.from_array(counts, [f"d{i}" for i in range(len(shape))], impossible=mask)
        recoding = {
            d.name: {c: f"g{rng.integers(0, 3)}" for c in d.categories if rng.random() < 0.7} for d in table.dimensions
        }
        sums: dict[tuple[str, ...], int] = {}
        open_: set[tuple[str, ...]] = set()
        for place in np.ndindex(*shape):
            cell = tuple(table.label(int(np.ravel_multi_index(place, shape))).values())
            group = tuple(recoding[n].get(c, c) for n, c in zip(table.names, cell, strict=True))
            sums[group] = sums.get(group, 0) + int(counts[place])
            if not mask[place]:
                open_.add(group)
        coarse = coarsened_table(table, recoding)
        assert coarse.to_dict() == {cell: n for cell, n in sums.items() if n}
        assert {tuple(coarse.label(int(i)).values()) for i in coarse.impossible} == set(sums) - open_


def firms(rows: int, seed: int, *, repeated: bool) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    firm = rng.integers(0, 20, rows) if repeated else np.arange(rows)
    return pd.DataFrame(
        {
            "region": rng.choice(["a1", "a2", "a3", "b1", "b2"], rows),
            "size": rng.choice(["1", "2", "3"], rows),
            "firm": firm,
            "group": rng.integers(0, 6, 20)[firm] if repeated else firm,
            "w": rng.integers(1, 4, rows),
            "x": rng.integers(1, 100, rows),
        }
    )


TREE = Hierarchy.from_parents({"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b"})
COAST = Hierarchy.from_parents({"a1": "coast", "b1": "coast"})


def tabulated(frame: pd.DataFrame, trees: Any, **more: Any) -> Tabulation:
    given: dict[str, Any] = {"value": "x", "contributor": "firm", "holding": "group", "weight": "w", "top": 3}
    return dc.tabulate(frame, ["region", "size"], **given, hierarchies=trees, **more)


@pytest.mark.parametrize("seed", range(4))
def test_merged_tabulations_are_those_of_recoded_records(seed: int) -> None:
    frame = firms(60, seed, repeated=False)
    cells = tabulated(frame, {"region": [TREE, COAST]})
    for mapping, trees in [
        # Two categories of one group: the group stays, and so does nothing of the coast, which is cut in two.
        ({"a1": "a12", "a2": "a12"}, [Hierarchy.from_parents({"a12": "a", "a3": "a", "b1": "b", "b2": "b"})]),
        # A whole group becomes a category.
        ({"b1": "b", "b2": "b"}, [Hierarchy.from_parents([("a1", "a"), ("a2", "a"), ("a3", "a"), ("b", None)])]),
        # Across the groups: these are not published any more, and the coast is one of the new categories.
        (
            {"a1": "front", "b1": "front", "a2": "back", "b2": "back"},
            [Hierarchy.flat(["front", "back", "a3"])],
        ),
    ]:
        coarse = coarsened_tabulation(cells, {"region": mapping})
        recoded = tabulated(frame.assign(region=frame.region.replace(mapping)), {"region": trees})
        assert {a.name: set(a.codes) for a in coarse.axes} == {a.name: set(a.codes) for a in recoded.axes}
        for i in range(len(recoded)):
            j = coarse.find(recoded.label(i))
            assert coarse.records[j] == recoded.records[i]
            assert coarse.weighted is not None
            assert recoded.weighted is not None
            assert coarse.weighted[j] == recoded.weighted[i]
            assert coarse.responses[0].sums[j] == recoded.responses[0].sums[i]
            for one, other in zip(coarse.levels.values(), recoded.levels.values(), strict=True):
                assert one.units[j] == other.units[i]
                np.testing.assert_array_equal(one.largest[0].top[j], other.largest[0].top[i])
                assert one.largest[0].total[j] == other.largest[0].total[i]
        assert len(coarse) == len(recoded)


def test_contributors_in_several_categories_are_not_added_up() -> None:
    frame = firms(80, 3, repeated=True)
    cells = tabulated(frame, {"region": TREE})
    with pytest.raises(DataError, match="contributors have records in several categories of 'region'"):
        coarsened_tabulation(cells, {"region": {"a1": "a12", "a2": "a12"}})
    # A group of the hierarchy has right figures of its own.
    coarse = coarsened_tabulation(cells, to_levels(cells, {"region": 1}))
    recoded = tabulated(frame.assign(region=frame.region.str[0]), {})
    for i in range(len(recoded)):
        j = coarse.find(recoded.label(i))
        assert coarse.contributors.units[j] == recoded.contributors.units[i]
        np.testing.assert_array_equal(coarse.contributors.largest[0].top[j], recoded.contributors.largest[0].top[i])


def test_levels() -> None:
    counts = Table.from_array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]], {"region": TREE.leaves, "sex": ["m", "f"]})
    cells = Tabulation.from_table(counts, hierarchies={"region": TREE})
    release = redesign(cells, levels={"region": 1})
    assert release.table.to_dict()["a", "m"] == 9
    assert dc.risk(counts, release).cells == 4
    result = dc.audit(release, about=["region", "sex"])
    assert result.cell(region="a2", sex="f").upper == 12
    whole = redesign(cells, levels={"region": 0})
    assert whole.table.shape == (1, 2)
    magnitudes = tabulated(firms(60, 2, repeated=False), {"region": TREE}, estimates=True)
    sums = redesign(magnitudes, levels={"region": 1})
    assert sums.inner is None
    assert dc.audit(sums, about=["region", "size"]).cell(region="a1", size="1").lower == 0


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (
            {"merge": {"activity": {"5,6": ["5", "9"]}}},
            "merged, but dimension 'activity' has no category '9'",
        ),
        ({"merge": {"actvity": {"5,6": ["5", "6"]}}}, "no dimension 'actvity'.*did you mean 'activity'"),
        ({"merge": {"activity": {"x": ["5", "6"], "y": ["6", "7"]}}}, "'6' is in the groups 'x' and 'y'"),
        ({"merge": {"activity": {"5": ["5", "6"]}}}, "is called '5', as one of the categories"),
        ({"merge": {"activity": {"4": ["5", "6"]}}}, "is called '4', as one of the categories"),
        ({"merge": {"activity": {"x": "56"}}}, "list its categories"),
        ({"merge": {"activity": {"x": []}}}, "list its categories"),
        ({"levels": {"activity": 1}}, "'activity' has no hierarchy"),
        ({}, "nothing is to be merged"),
    ],
)
def test_merges_that_make_no_sense(ask: dict[str, Any], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        redesign(paper(), **ask)


def test_more_bad_requests() -> None:
    counts = Table.from_array([1, 2, 3, 4, 5], {"region": TREE.leaves})
    cells = Tabulation.from_table(counts, hierarchies={"region": TREE})
    with pytest.raises(RequestError, match=r"levels 0 \(its total\) to 2; level is 3"):
        redesign(cells, levels={"region": 3})
    with pytest.raises(RequestError, match="recoded twice"):
        redesign(cells, {"region": {"x": ["a1", "a2"]}}, levels={"region": 1})
    with pytest.raises(RequestError, match="name of a larger one"):
        redesign(cells, {"region": {"a": ["a1", "a2"]}})
    with pytest.raises(DataError, match="counts nobody"):
        redesign(Table.from_array([0, 0], ["x"]), {"x": {"both": ["1", "2"]}})
    with pytest.raises(DataError, match="states the recoding"):
        dc.risk(counts, dc.Release(counts, "odd", {"recoding": "region"}))
    with pytest.raises(DataError, match="table of the merged categories has 1 cell"):
        dc.risk(counts, redesign(counts, {"region": {"all": list(TREE.leaves)}}))
    assert hash(Redesign.of({"x": {"1": "a"}})) == hash(Redesign.of({"x": {"1": "a"}}))


def test_a_rise_by_merging_is_told_as_a_rise() -> None:
    """R2 of a redesign is R1 of the merged table, which can exceed R1 of the original."""
    even = dc.Table.from_array(np.full((2, 4), 100), ["sex", "area"])
    release = dc.protect.redesign(even, {"area": {"1-3": ["1", "2", "3"]}})
    found = dc.risk(even, release)
    figures = (found.before or 0, found.merged or 0, found.value)
    assert [round(value, 4) for value in figures] == [0.0154, 0.0908, 0.0908]
    assert found.merged == dc.risk(dc.Table.from_array([[300, 100], [300, 100]], ["sex", "area"])).value
    assert "Merging categories raises the risk from 0.0154 to 0.0908 (492% higher)" in found.sentence
    assert "lowers" not in found.sentence
    assert data_of(found)["merged"] == found.merged
    assessed = dc.assess(
        even, protection={"name": "redesign", "merge": {"area": {"1-3": ["1", "2", "3"]}}}, seed=1, trial=True
    )
    assert ["R1 on the merged categories", "0.0908"] in assessed.figures()
    assert "Merging categories raises the risk" in str(assessed)


def test_merging_and_protection_are_told_apart() -> None:
    table = dc.Table.from_array([[30, 29, 31, 28], [27, 33, 1, 5]], ["sex", "area"])
    merged = dc.protect.redesign(table, {"area": {"1-3": ["1", "2", "3"]}})
    assert merged.table is not None
    rounded = dc.protect.random_rounding(merged.table, 5, seed=1)
    both = dc.Release(rounded.table, "both", merged.parameters, rounded.figures)
    found = dc.risk(table, both)
    assert found.before is not None
    assert found.merged is not None
    assert found.value < found.merged
    assert "Merging categories " in found.sentence
    assert (
        f"Protection of the merged table lowers the risk from {found.merged:.4f} to {found.value:.4f}" in found.sentence
    )


def test_r2_never_exceeds_r1_on_the_merged_categories() -> None:
    rng, rises = np.random.default_rng(3), 0
    for _ in range(60):
        table = dc.Table.from_array(rng.poisson(rng.choice([1, 4, 40]), (3, 5)) + 1, ["a", "b"])
        merged = dc.protect.redesign(table, {"b": {"x": list(rng.choice(list("12345"), 3, replace=False))}})
        found = dc.risk(table, merged)
        assert found.before is not None
        assert found.merged == pytest.approx(found.value)
        rises += found.value > found.before
        assert ("raises" in found.sentence) == (found.value > found.before)
    assert rises > 10
