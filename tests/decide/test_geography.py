"""Differences of unions of zones: exact against brute force, mended, drawn, and asked for by a command."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from itertools import chain, combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import refused, run

import discreet as dc
from discreet import DataError, RequestError, Table
from discreet.decide.geography.differences import differences_of, geography
from discreet.decide.geography.directed_cuts import CutSearch
from discreet.decide.geography.drawing import svg_map
from discreet.decide.geography.mending import coarser
from discreet.decide.geography.quadtree import Quadtree
from discreet.decide.geography.shapes import grid_of_squares, read_shapes, squares
from discreet.decide.geography.territory import Territory

territories = st.builds(
    lambda shape, values: Table.from_array(
        np.array(values[: shape[0] * shape[1]]).reshape(shape),
        {"area": [f"a{i}" for i in range(shape[0])], "grid": [f"g{i}" for i in range(shape[1])]},
    ),
    st.tuples(st.integers(1, 4), st.integers(1, 5)),
    st.lists(st.sampled_from((0, 0, 0, 1, 2, 3, 5, 40)), min_size=20, max_size=20),
).filter(lambda table: table.total > 0)
"""Small territories in which few zones overlap."""


def brute_force(territory: Territory, threshold: int) -> set[frozenset[int]]:
    """Return the smallest sets of pairs that are a union of one division less a union of the other inside it."""
    found: set[frozenset[int]] = set()
    sets = [
        [
            frozenset(np.flatnonzero(np.isin(territory.pairs[:, division], chosen)).tolist())
            for chosen in chain.from_iterable(
                combinations(range(len(territory.zones[division])), size)
                for size in range(len(territory.zones[division]) + 1)
            )
        ]
        for division in (0, 1)
    ]
    for one in sets[0]:
        for other in sets[1]:
            for whole, part in ((one, other), (other, one)):
                if part <= whole and 0 < int(territory.people[sorted(whole - part)].sum()) < threshold:
                    found.add(whole - part)
    return {union for union in found if not any(other < union for other in found)}


@given(table=territories, threshold=st.integers(2, 12))
@settings(max_examples=60, deadline=None)
def test_all_differences_and_no_others(table: Table, threshold: int) -> None:
    territory = Territory.of(table)
    wanted = brute_force(territory, threshold)
    result = differences_of(territory, threshold)
    assert result.complete
    assert {frozenset(one.pairs) for one in result.found if one.people < threshold} == wanted
    # Larger ones are told if everybody in them is alone in their pair.
    larger = [one.pairs for one in result.found if one.people >= threshold]
    assert all((territory.people[list(pairs)] == 1).all() for pairs in larger)
    held = set().union(*wanted, *larger)
    assert result.people == int(territory.people[sorted(held)].sum())
    search = CutSearch(territory, threshold)
    for pair in range(len(territory.people)):
        through = [union for union in wanted if pair in union]
        cut = search.least(pair)
        assert (cut is not None) == bool(through)
        if cut is not None:
            assert frozenset(cut[0]) in wanted
            assert cut[1] == min(int(territory.people[sorted(union)].sum()) for union in through)


@given(table=territories, threshold=st.integers(2, 12), division=st.sampled_from((0, 1)))
@settings(max_examples=30, deadline=None)
def test_coarser_zones_leave_only_what_they_cannot_mend(table: Table, threshold: int, division: int) -> None:
    before = geography(table, threshold)
    mended = coarser(before, table.names[division])
    now = mended.after.territory
    assert int(now.people.sum()) == int(table.total)
    small = {frozenset(one.pairs) for one in mended.after.found if one.people < threshold}
    assert brute_force(now, threshold) == small
    for one in mended.after.found:
        sides = [{now.node(number)[0] for number in side.tolist()} for side in now.sides(one.pairs)]
        assert not all(division in side for side in sides)
    assert mended.after.people <= before.people
    recoded = dc.protect.redesign(table, mended.recoding).table if any(mended.recoding.values()) else table
    assert geography(recoded, threshold).people == mended.after.people


def test_the_search_goes_on_by_cuts_where_the_list_of_sums_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    table = dc.datasets.territory()
    whole = geography(table, 10)
    from discreet.decide.geography import differences
    from discreet.decide.ledger.sums import KnownSums

    monkeypatch.setattr(differences, "smallest_sums", lambda *given, **more: KnownSums((), False))
    again = geography(table, 10)
    assert whole.complete
    assert not again.complete
    assert (again.people, again.exposed.tolist()) == (whole.people, whole.exposed.tolist())
    assert {one.pairs for one in again.found} <= {one.pairs for one in whole.found}


def test_a_pair_of_zones_and_beyond() -> None:
    table = Table.from_array([[50, 2, 0], [0, 30, 20], [0, 0, 40]], {"area": list("nsw"), "grid": list("abc")})
    found = geography(table, 5)
    assert [one.arithmetic for one in found.found] == ["area n (52) − grid a (50) = 2"]
    assert found.to_dict()["people_by_zones"] == {"2": 2}
    assert "2 of 142 people are in differences of unions of area and grid below 5: 1 difference" in str(found)
    assert geography(table, 2).sentence == "No difference of unions of area and grid has from 1 to 1 people."
    with pytest.raises(RequestError, match="two divisions, not 3"):
        geography(Table.from_array(np.ones((2, 2, 2), int), ["x", "y", "z"]))
    with pytest.raises(RequestError, match="the threshold is 1"):
        geography(table, 1)
    wide = Table.from_array(np.ones((2, 2, 2), int) * 9, ["x", "y", "sex"])
    assert geography(wide, 10, divisions=["x", "y"]).people == 0


def test_a_grid_of_several_resolutions() -> None:
    cells = [f"RES100mN{y * 100}E{x * 100}" for y in range(4) for x in range(4)]
    people = np.full((1, 16), 20)
    people[0, 0] = 2
    table = Table.from_array(people, {"area": ["all"], "grid": cells})
    found = geography(table, 5)
    mended = coarser(found, "grid", Quadtree.of(cells))
    merged = {zone: group for zone, group in mended.groups.items() if zone != group}
    assert set(merged.values()) == {"RES200mN0E0"}
    assert len(merged) == 4
    assert mended.to_dict()["zones"] == [16, 13]
    assert mended.to_csv().splitlines()[:2] == ["grid,group", "RES100mN0E0,RES200mN0E0"]
    assert Quadtree.of(["1kmN3E4", "1kmN2E4"]) is not None
    assert Quadtree.of(["x"]) is None
    with pytest.raises(DataError, match="one resolution"):
        Quadtree.of(["RES100mN0E0", "RES200mN0E0"])
    with pytest.raises(RequestError, match="has no cell 'RES100mN0E0'"):
        coarser(found, "grid", Quadtree.of(["RES100mN900E0"]))


def geojson(path: Path, shapes: dict[str, list[list[list[float]]]]) -> Path:
    features = [
        {"type": "Feature", "properties": {"code": zone}, "geometry": {"type": "Polygon", "coordinates": rings}}
        for zone, rings in shapes.items()
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def test_maps(tmp_path: Path) -> None:
    table = Table.from_array([[50, 2, 0], [0, 30, 20]], {"area": ["n", "<s>"], "grid": list("abc")})
    found = geography(table, 5)
    with pytest.raises(RequestError, match="nothing says where the zones are"):
        svg_map(found)
    box = [[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]]]
    file = geojson(tmp_path / "a.geojson", {"n": box, "<s>": [[[2.0, 0.0], [4.0, 0.0], [4.0, 2.0]]]})
    shapes = read_shapes(file, ["n", "<s>"])
    drawing = svg_map(found, {"area": shapes})
    root = ET.fromstring(drawing)
    assert root.tag.endswith("svg")
    assert drawing.count("<path") == 2
    assert "area &lt;s&gt;: 50 people, 0 of them singled out" in drawing
    assert "n (52) − grid a (50) = 2" in drawing
    tree = grid_of_squares({"n": shapes["n"]})
    assert tree is not None
    assert squares(tree)["n"][0][2] == (2, 2)
    assert grid_of_squares(shapes) is None
    for text, message in (
        ("{", "not a GeoJSON file"),
        ('{"features": []}', "no property of its features names a zone"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            read_shapes(file, ["n"])
    geojson(file, {"n": [[["x", 0]]]})  # type: ignore[list-item]
    with pytest.raises(DataError, match="not a polygon of numbers"):
        read_shapes(file, ["n"])


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("geography", "--example", "territory", "--threshold", "5", "--json", "--coarsen", "grid")
    assert done.code == 1
    data = json.loads(done.out)
    assert (data["people"], data["coarser"]["left"]) == (18, [])
    files = ("--map", "m.svg", "--groups", "g.csv", "-o", "d.csv")
    shown = run("geography", "--example", "territory", "--threshold", "5", "--coarsen", "grid", *files)
    assert "10 of 55 zones of grid are merged into 3; no difference below 5 is left." in shown.out
    assert ET.fromstring(Path("m.svg").read_text(encoding="utf-8")).tag.endswith("svg")
    assert len(Path("d.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(data["differences"])
    assert {oct(Path(name).stat().st_mode & 0o777) for name in ("m.svg", "g.csv", "d.csv")} == {"0o600"}
    Path("far.csv").write_text("area,cell,count\nn,a,90\ns,b,80\n", encoding="utf-8")
    assert run("geography", "far.csv").code == 0
    for asked, message in (
        (("--groups", "h.csv"), "--coarsen"),
        (("--coarsen", "cell"), "there is no division 'cell'"),
        (("--shapes", "x=y.geojson"), "there is no division 'x'"),
        (("--shapes", "grid=none.geojson"), "none.geojson cannot be read"),
        (("--divisions", "grid,grid"), "two divisions, not 1"),
    ):
        assert message in refused(run("geography", "--example", "territory", *asked))


def test_ten_people_in_ten_overlaps_are_one_in_each() -> None:
    array = np.tile([1, 50, 50], (10, 1))
    table = Table.from_array(array, {"area": [f"a{k}" for k in range(10)], "grid": list("bcd")})
    found = geography(table, 10)
    assert [one.arithmetic for one in found.found] == ["grid b (10) = 10, one in each of 10 overlaps"]
    assert (found.safe, found.people, found.beyond_zones) == (False, 10, 10)
    assert "below 10 or with one person in each overlap" in found.sentence
    assert not coarser(found, "grid").after.found


@pytest.mark.parametrize("seed", range(60))
def test_no_small_pair_is_known_to_a_reader_who_knows_where_somebody_lives(seed: int) -> None:
    """Go through all tables that fit the zones' figures, with somebody in every pair that somebody lives in."""
    rng = np.random.default_rng(seed)
    array = np.where(rng.random((3, 3)) < 0.8, rng.choice([1, 1, 1, 2, 3], (3, 3)), 0) + np.diag([0, 1, 2])
    if not (array.sum(axis=0).all() and array.sum(axis=1).all()):
        return
    found = geography(Table.from_array(array, {"area": list("abc"), "grid": list("xyz")}), 2)
    rows = [
        [row for row in product(*(range(1, 8) if n else (0,) for n in line)) if sum(row) == line.sum()]
        for line in array
    ]
    fit = [np.array(one) for one in product(*rows) if (np.sum(one, axis=0) == array.sum(axis=0)).all()]
    known = [cell for cell in np.argwhere(array == 1).tolist() if len({int(one[tuple(cell)]) for one in fit}) == 1]
    assert found.safe == (not known)
    alone = [pair for one in found.found if one.people >= 2 for pair in one.pairs]
    assert all(found.territory.pairs[pair].tolist() in known for pair in alone)
