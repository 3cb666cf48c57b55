"""What files hold, told from their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import DataError
from discreet.table.inspection import inspect_file


@pytest.mark.parametrize(
    ("text", "content", "options"),
    [
        ("area,sex,count\nn,m,3\nn,f,4\n", "table", {}),
        ("area,sex,n\nn,m,3\nn,f,4\n", "table", {"count": "n"}),
        ("area,patients\nn,3\ns,4\n", "table", {"count": "patients"}),
        ("area,sex,count\nn,m,3\nn,f,x\nn,Total,9\n", "release", {}),
        ("area\\sex,m,f\nn,3,4\ns,1,2\n", "table", {"layout": "wide"}),
        ("area,m,f,All\nn,3,4,7\ns,1,2,3\n", "table", {"layout": "wide", "total": "All"}),
        ("area,sex\nn,m\nn,m\ns,f\n", "records", {}),
        ("firm,area,turnover\nf1,n,3\nf2,n,4\nf3,s,9\n", "records", {}),
        ("area,sex,count\nn,m,3\nn,m,4\n", "records", {}),
        ("area,sex,income,age\nn,m,3,50\nn,m,4,60\nn,f,4,61\n", "records", {}),
    ],
)
def test_what_rows_are(tmp_path: Path, text: str, content: str, options: dict[str, str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = inspect_file(path, cells=True)
    assert found.content == content
    assert dict(found.options) == options
    assert (found.cells is None) == (content == "records")


def test_every_figure_is_given_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("area,sex,count\nn,m,3\nn,f,x\nn,Total,9\n")
    cells = inspect_file(path, cells=True).cells
    assert cells is not None
    assert [d["name"] for d in cells["dimensions"]] == ["area", "sex"]
    assert [d["total"] for d in cells["dimensions"]] == [None, 2]
    assert (cells["values"], cells["hidden"], cells["codes"]) == ([3, 0, 9], [1], [[0, 0, 0], [0, 1, 2]])


def test_what_is_proposed_can_be_corrected(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("area,sex,count\nn,m,3\nn,alle,7\nn,f,4\n")
    cells = inspect_file(path, cells=True, total="alle").cells
    assert cells is not None
    assert cells["dimensions"][1]["total"] == 1


def test_files_without_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("area,count\n")
    with pytest.raises(DataError, match="no rows"):
        inspect_file(path)


def test_releases_of_discreet_are_told_by_their_note(tmp_path: Path) -> None:
    import discreet as dc
    from discreet.rules import Threshold

    table = dc.Table.from_array([[2, 9, 8], [7, 6, 9], [9, 8, 5]], {"area": ["n", "w", "s"], "age": ["y", "m", "o"]})
    for form, hidden, intervals in (("marks", True, False), ("intervals", False, True)):
        made = dc.suppress(table, Threshold(3), levels=(1, 1), form=form).release  # type: ignore[arg-type]
        made.write(tmp_path / "r.parquet")
        found = inspect_file(tmp_path / "r.parquet", cells=True)
        assert (found.content, found.method) == ("release", "suppress")
        assert "a release (suppress)" in found.sentence
        assert found.cells is not None
        assert bool(found.cells["hidden"]) == hidden
        assert bool(found.cells["intervals"]) == intervals
        for _, low, high in found.cells["intervals"]:
            assert low < high


def test_depths_are_those_of_the_hierarchy(tmp_path: Path) -> None:
    from discreet import tabulate
    from discreet.table.hierarchy import Hierarchy

    (tmp_path / "r.csv").write_text("area,sex\nn1,m\nn1,f\nn2,m\ns,f\n")
    tree = Hierarchy.from_parents({"n1": "north", "n2": "north", "s": "Total"})
    tabulate(tmp_path / "r.csv", ["area", "sex"], hierarchies={"area": tree}).write(tmp_path / "t.parquet")
    cells = inspect_file(tmp_path / "t.parquet", cells=True).cells
    assert cells is not None
    area, sex = cells["dimensions"]
    assert dict(zip(area["labels"], area["depths"], strict=True)) == {"Total": 0, "north": 1, "n1": 2, "n2": 2, "s": 1}
    assert sex["depths"] is None
