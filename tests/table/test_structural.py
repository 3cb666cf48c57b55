"""Structural zeros: declared by list, frame, file or mask, in whole or in part."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from discreet import DataError, RequestError, Table, read_table, risk

TABLE = Table.from_array(
    [[[3, 0], [1, 0]], [[4, 5], [6, 7]]],
    {"age": ["child", "adult"], "sex": ["m", "f"], "married": ["no", "yes"]},
)
CHILD_MARRIED = [1, 3]


def test_whole_and_partial_combinations() -> None:
    whole = TABLE.with_structural_zeros(
        [
            {"age": "child", "sex": "m", "married": "yes"},
            {"age": "child", "sex": "f", "married": "yes"},
        ]
    )
    partial = TABLE.with_structural_zeros([{"married": "yes", "age": "child"}])
    assert whole == partial
    assert partial.impossible.tolist() == CHILD_MARRIED
    assert (partial.possible, partial.size, partial.total) == (6, 8, TABLE.total)
    assert TABLE.impossible.size == 0


def test_declared_again_is_declared_once() -> None:
    once = TABLE.with_structural_zeros([{"age": "child", "married": "yes"}])
    twice = once.with_structural_zeros([{"age": "child", "sex": "m", "married": "yes"}])
    assert twice == once
    assert once.with_structural_zeros([]) == once


def test_frames_may_leave_dimensions_open() -> None:
    rows = {"age": ["child"], "sex": [None], "married": ["yes"]}
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows), pl.DataFrame({"age": ["child"], "married": ["yes"]})):
        assert TABLE.with_structural_zeros(frame).impossible.tolist() == CHILD_MARRIED


def test_files(tmp_path: Path) -> None:
    (tmp_path / "zeros.csv").write_text("age,sex,married\nchild,,yes\n")
    assert TABLE.with_structural_zeros(tmp_path / "zeros.csv").impossible.tolist() == CHILD_MARRIED
    assert TABLE.with_structural_zeros(str(tmp_path / "zeros.csv")).impossible.tolist() == CHILD_MARRIED
    pl.DataFrame({"age": ["child"], "married": ["yes"]}).write_parquet(tmp_path / "zeros.parquet")
    assert TABLE.with_structural_zeros(tmp_path / "zeros.parquet").impossible.tolist() == CHILD_MARRIED
    TABLE.write(tmp_path / "t.csv")
    read = read_table(tmp_path / "t.csv", impossible=tmp_path / "zeros.csv")
    assert read.impossible.tolist() == CHILD_MARRIED


def test_the_encoding_holds_for_the_file_of_structural_zeros_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("ort;count\nZürich;0\nBern;3\nBasel;2\n".encode("latin-1"))
    (tmp_path / "zeros.csv").write_bytes("ort\nZürich\n".encode("latin-1"))
    table = read_table(tmp_path / "t.csv", encoding="latin-1", impossible=tmp_path / "zeros.csv")
    assert table.possible == 2


def test_long_files_mark_structural_zeros(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,count,possible\na,1,true\nb,0,False\nc,0, 1 \nd,0,0\n")
    assert read_table(tmp_path / "t.csv").impossible.tolist() == [1, 3]
    (tmp_path / "t.csv").write_text("x,count,possible\na,1,true\nb,0,perhaps\n")
    with pytest.raises(DataError, match=r"t\.csv: line 3: column 'possible' is 'perhaps'; it is true or false"):
        read_table(tmp_path / "t.csv")


def test_margins_of_structural_zeros() -> None:
    table = TABLE.with_structural_zeros([{"age": "child", "married": "yes"}])
    assert table.margin("age", "married").impossible.tolist() == [1]
    assert table.margin("sex", "married").impossible.size == 0
    assert table.slice(age="child").impossible.tolist() == CHILD_MARRIED
    assert table.slice(married="yes").impossible.tolist() == [0, 1]


def test_impossible_cells_are_not_zeros_of_the_risk() -> None:
    before, after = risk(TABLE), risk(TABLE.with_structural_zeros([{"age": "child", "married": "yes"}]))
    assert (before.cells, before.empty) == (8, 2)
    assert (after.cells, after.empty) == (6, 0)
    assert after.terms["zeros"] == 0 < before.terms["zeros"]


def test_people_in_impossible_cells() -> None:
    with pytest.raises(
        DataError, match=r"cell age=adult, sex=m, married=no is declared impossible, but its count is 4"
    ):
        TABLE.with_structural_zeros([{"age": "adult", "married": "no"}])
    with pytest.raises(DataError, match=r"cell x=2 is declared impossible, but its count is 5; correct the count or"):
        Table.from_array([1, 5], ["x"], impossible=[False, True])
    with pytest.raises(DataError, match=r"mask of structural zeros has shape \(1,\), the counts \(2,\)"):
        Table.from_array([1, 5], ["x"], impossible=[False])


def test_released_people_in_impossible_cells() -> None:
    original = Table.from_array([3, 4, 0], ["x"], impossible=[False, False, True])
    for released in (Table.from_array([3, 3, 1], ["x"]), Table.from_array([1, 3, 3], {"x": [3, 2, 1]})):
        with pytest.raises(DataError, match=r"cell x=3 is impossible in the original, but the released table puts"):
            risk(original, released)


def test_combinations_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"combination 1: the table has no dimension 'aeg'; did you mean 'age'\?"):
        TABLE.with_structural_zeros([{"aeg": "child"}])
    with pytest.raises(RequestError, match=r"combination 2: dimension 'age' has no category 'chidl'; did you mean"):
        TABLE.with_structural_zeros([{"age": "child", "married": "yes"}, {"age": "chidl"}])
    with pytest.raises(DataError, match=r"combination 1 names no category"):
        TABLE.with_structural_zeros([{}])
    with pytest.raises(RequestError, match="is not a frame"):
        TABLE.with_structural_zeros(3)
    (tmp_path / "zeros.csv").write_text("age,married\nchild,yes\nchild,maybe\n")
    with pytest.raises(RequestError, match=r"zeros\.csv: combination 2: dimension 'married' has no category 'maybe'"):
        TABLE.with_structural_zeros(tmp_path / "zeros.csv")
    with pytest.raises(RequestError, match=r"nothing\.csv does not exist"):
        TABLE.with_structural_zeros(tmp_path / "nothing.csv")
