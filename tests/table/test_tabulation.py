"""Tabulations: what they answer, files that give back what was written, files that are damaged."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from tests.tabulation.strategies import Case, cases
from tests.tabulation.test_agreement import LONG

from discreet.core.errors import DataError, RequestError
from discreet.table import Table
from discreet.table.hierarchy import Hierarchy
from discreet.table.table_reader import read_table, read_tabulation
from discreet.table.tabulation import Tabulation
from discreet.tabulation import tabulate

often = settings(max_examples=40, deadline=None, suppress_health_check=[*LONG, HealthCheck.function_scoped_fixture])


def firms() -> Tabulation:
    records = pa.table(
        {
            "region": ["n", "n", "n", "s", "s"],
            "activity": ["a", "a", "b", "a", "b"],
            "id": [1, 2, 1, 3, 4],
            "group": ["g", None, "g", "g", None],
            "w": [1.0, 2.0, 1.0, 1.0, 3.0],
            "turnover": [59.0, 40.0, 1.0, 7.0, -2.0],
        }
    )
    return tabulate(records, ["region", "activity"], value="turnover", contributor="id", holding="group", weight="w")


@given(case=cases())
@often
def test_parquet_gives_back_what_was_written(case: Case, tmp_path: Path) -> None:
    try:
        written = tabulate(case.records, case.spec, engine="reference")
    except DataError:
        return
    written.write(tmp_path / "t.parquet")
    assert read_tabulation(tmp_path / "t.parquet") == written


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_are_equal_and_frozen(how: Any) -> None:
    again = how(firms())
    assert again == firms()
    assert not again.cells.flags.writeable
    assert not again.contributors.largest[0].top.flags.writeable


def test_tables_for_the_measures(tmp_path: Path) -> None:
    cells = firms()
    assert cells.table().to_dict() == {("n", "a"): 2, ("n", "b"): 1, ("s", "a"): 1, ("s", "b"): 1}
    assert cells.table("activity").to_dict() == {("a",): 3, ("b",): 2}
    assert cells.table("activity", of="contributors").to_dict() == {("a",): 3, ("b",): 2}
    assert cells.table("region", of="contributors").to_dict() == {("n",): 2, ("s",): 2}
    cells.write(tmp_path / "t.parquet")
    with pytest.raises(RequestError, match="only one of them can be published"):
        read_table(tmp_path / "t.parquet")
    plain = Tabulation.from_table(cells.table())
    plain.write(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet") == cells.table()
    assert read_table(tmp_path / "t.parquet", dimensions=["activity"]) == cells.table("activity")


def test_cells_are_found_by_their_codes() -> None:
    cells = firms()
    i = cells.find(region="n")
    assert cells.label(i) == {"region": "n", "activity": "Total"}
    # Firm 1 has two records in the north, so that its contribution there is 60, and 59 in activity a.
    assert cells.contributors.units[i] == 2
    assert cells.contributors.largest[0].top[i].tolist() == [60.0, 40.0]
    assert cells.contributors.largest[0].top[cells.find(region="n", activity="a")].tolist() == [59.0, 40.0]
    total = cells.find()
    assert cells.holdings is not None
    assert cells.holdings.units[total] == 3
    assert cells.holdings.largest[0].top[total].tolist() == [67.0, 40.0]
    assert cells.holdings.largest[0].total[total] == 67 + 40 + 2
    assert cells.responses[0].sums[total] == 105
    with pytest.raises(RequestError, match="no category 'x'"):
        cells.find(region="x")
    with pytest.raises(RequestError, match="no dimension 'regoin'; did you mean 'region'"):
        cells.find(regoin="n")


def test_cells_that_were_not_tabulated() -> None:
    records = pa.table({"a": ["x", "y"], "b": ["u", "v"]})
    cells = tabulate(records, ["a", "b"], margins=[["a"]])
    with pytest.raises(RequestError, match=r"in none of the margins"):
        cells.find(b="u")
    with pytest.raises(RequestError, match=r"margin \['a', 'b'\] was not tabulated"):
        cells.table()
    full = tabulate(records, ["a", "b"])
    with pytest.raises(RequestError, match="holds no record"):
        full.find(a="x", b="v")
    wide = full.with_empty_cells()
    assert wide.records[wide.find(a="x", b="v")] == 0
    assert len(wide) == 9


def test_frequency_tables_become_tabulations() -> None:
    table = Table.from_array([[3, 0], [1, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    cells = Tabulation.from_table(table)
    assert cells.table() == table
    assert cells.records[cells.find(sex="f")] == 5


def test_frames_and_csv(tmp_path: Path) -> None:
    cells = firms()
    frame = cells.to_frame("pyarrow")
    assert frame.num_rows == len(cells)
    assert frame.column_names[:4] == ["region", "activity", "records", "weighted"]
    assert "holding:weighted_top2:turnover" in frame.column_names
    cells.write(tmp_path / "t.csv")
    assert (
        (tmp_path / "t.csv")
        .read_text()
        .splitlines()[0]
        .startswith('"region","activity","records","weighted","sum:turnover"')
    )
    with pytest.raises(RequestError, match=r"'\.xls' is not a format"):
        cells.write(tmp_path / "t.xls")


def damage(path: Path, **changes: Any) -> None:
    arrow = pq.read_table(path)
    note = json.loads(arrow.schema.metadata[b"discreet"]) | changes
    pq.write_table(arrow.replace_schema_metadata({b"discreet": json.dumps(note).encode()}), path)


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    firms().write(path)
    damage(path, schema=99)
    with pytest.raises(DataError, match=r"t\.parquet: written in version 99 of the format, but version 2"):
        read_tabulation(path)
    firms().write(path)
    damage(path, responses=[{"name": "profit", "shadow": None}])
    with pytest.raises(DataError, match="own note about its cells is damaged"):
        read_tabulation(path)
    Table.from_array([1, 2], ["x"]).write(path)
    with pytest.raises(DataError, match="holds a plain table"):
        read_tabulation(path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match="is not a whole Parquet file"):
        read_tabulation(path)


def test_columns_must_have_a_figure_per_cell() -> None:
    cells = firms()
    with pytest.raises(DataError, match="9 cells but 2 figures of records"):
        Tabulation(cells.axes, cells.margins, cells.cells, np.array([1, 2]), None, (), cells.contributors)


def test_a_table_with_hierarchies_is_the_tabulation_of_its_people() -> None:
    by_group = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b"})
    by_coast = Hierarchy.from_parents({"a1": "coast", "b1": "coast"})
    rng = np.random.default_rng(1)
    people = pa.table({"region": rng.choice(["a1", "a2", "b1", "b2"], 60), "sex": rng.choice(["m", "f"], 60)})
    trees = {"region": [by_group, by_coast]}
    expected = tabulate(people, ["region", "sex"], hierarchies=trees, engine="reference")
    made = Tabulation.from_table(expected.table(), hierarchies=trees)
    assert made.axes == expected.axes
    assert np.array_equal(made.cells, expected.cells)
    assert np.array_equal(made.records, expected.records)
    assert set(made.margins) == set(expected.margins)
    with pytest.raises(DataError, match="'c1' of dimension 'region' is not among the finest"):
        Tabulation.from_table(Table.from_array([1], {"region": ["c1"]}), hierarchies={"region": by_group})
    with pytest.raises(RequestError, match="no dimension 'regoin'"):
        Tabulation.from_table(expected.table(), hierarchies={"regoin": by_group})
