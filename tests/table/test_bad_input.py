"""Every fault in the data gets an error that names the place, both figures and the remedy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import DataError, RequestError, Table, information_loss, read_table, risk


@pytest.mark.parametrize(
    ("count", "message"),
    [
        ("-3", r"line 3: count is -3, which is negative; counts are 0 or more"),
        ("-0.5", r"line 3: count is -0.5, which is negative"),
        ("2.5", r"line 3: count is 2.5, which is fractional; counts are integers"),
        ("nan", r"line 3: count is 'nan' \(not a number\); write 0 if nobody is in the cell"),
        ("inf", r"line 3: count is 'inf', which is infinite"),
        ("-inf", r"line 3: count is '-inf', which is infinite"),
        ("many", r"line 3: count is 'many', which is not a number; give integers without separators"),
        ("..", r"line 3: count is '\.\.', which is not a number; .*suppressed figure"),
        ('"1,234"', r"line 3: count is '1,234', where the comma could separate thousands or decimals"),
        ("1e3", r"line 3: count is '1e3', which is not written as an integer; write its digits only"),
        ("1_000", r"line 3: count is '1_000', which is not written as an integer"),
        ("", r"line 3: count is empty; write 0 if nobody is in the cell"),
        ("  ", r"line 3: count is empty"),
        ("1000000000000000000", r"line 3: count is 1000000000000000000, which is too large"),
        ("9" * 400, r"line 3: count is '9{400}', which is infinite"),
    ],
)
def test_counts_in_files(count: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"area,sex,count\nn,m,5\nn,f,{count}\ns,m,1\n")
    with pytest.raises(DataError, match=rf"t\.csv: {message}"):
        read_table(path)
    wide = tmp_path / "w.csv"
    wide.write_text(f"area\\sex,m,f\nn,5,1\ns,1,{count}\n")
    with pytest.raises(
        DataError, match=rf"w\.csv: {message.replace('line 3', chr(39).join(['line 3, column ', 'f', '']))}"
    ):
        read_table(wide)


def test_the_number_of_faulty_rows_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,count\nn,5\ns,x\ne,-1\nw,\n")
    with pytest.raises(DataError, match=r"line 3: count is 'x', .* \(and 2 more such rows\)"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (-3, r"count -3(\.0)? is negative; counts are 0 or more"),
        (2.5, r"count 2\.5 is fractional"),
        (math.nan, r"count nan is missing \(NaN\); write 0"),
        (math.inf, r"count inf is infinite"),
        (2.0**60, r"count 1\.15.*e\+18 is too large to be an exact count"),
    ],
)
def test_counts_in_arrays_dicts_and_frames(count: float, message: str) -> None:
    with pytest.raises(DataError, match=rf"cell area=n, sex=f: {message}"):
        Table.from_array([[5, count]], {"area": ["n"], "sex": ["m", "f"]})
    with pytest.raises(DataError, match=rf"entry 2 \(area=n, sex=f\): {message}"):
        Table.from_dict({("n", "m"): 5, ("n", "f"): count}, ["area", "sex"])  # type: ignore[dict-item]
    columns: dict[str, Any] = {"area": ["n", "n"], "sex": ["m", "f"], "count": [5, count]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns, strict=False), pa.table(pd.DataFrame(columns))):
        with pytest.raises(DataError, match=rf"row 1 \(area=n, sex=f\): {message}"):
            Table.from_frame(frame)


def test_further_counts_in_arrays() -> None:
    with pytest.raises(DataError, match=r"cell x=2: count is 'many', a text"):
        Table.from_array(np.array([1, "many"]), ["x"])
    with pytest.raises(DataError, match=r"cell x=1: count is '1', a text"):
        Table.from_array(["1", "2"], ["x"])
    with pytest.raises(DataError, match=r"cell x=2: count is missing"):
        Table.from_array(np.array([1, None]), ["x"])
    with pytest.raises(DataError, match=r"cell x=1: count is True, which is not a number"):
        Table.from_array([True, False], ["x"])
    with pytest.raises(DataError, match=r"cell x=2: count -1 is negative; counts are 0 or more \(and 1 more like it\)"):
        Table.from_array([1, -1, -2], ["x"])
    with pytest.raises(DataError, match=rf"cell x=2: count {2**80} is too large"):
        Table.from_array([1, 2**80], ["x"])
    with pytest.raises(DataError, match=r"cell x=1: count 18446744073709551615 is too large"):
        Table.from_array(np.array([2**64 - 1, 0], np.uint64), ["x"])
    with pytest.raises(DataError, match=r"the counts add up to 9\.22e\+18, more than can be added exactly"):
        Table.from_array([2**62, 2**62], ["x"])
    with pytest.raises(DataError, match=r"cell x=1: count is \(1\+0j\), which is not a number"):
        Table.from_array([1 + 0j], ["x"])
    with pytest.raises(DataError, match=r"entry 1 \(x=a\): count is \[1, 2\], which is not a number"):
        Table.from_dict({"a": [1, 2]}, ["x"])  # type: ignore[dict-item]


def test_text_counts_in_frames() -> None:
    for frame in (
        pd.DataFrame({"x": ["a", "b"], "count": [1, "many"]}),
        pl.DataFrame({"x": ["a", "b"], "count": ["1", "many"]}),
        pa.table({"x": ["a", "b"], "count": ["1", "many"]}),
    ):
        with pytest.raises(DataError, match=r"row 1: count is 'many', which is not a number"):
            Table.from_frame(frame)
    for missing in (
        pd.DataFrame({"x": ["a", "b"], "count": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"x": ["a", "b"], "count": [1, None]}),
    ):
        with pytest.raises(DataError, match=r"row 1: count is missing; write 0 if nobody is in the cell"):
            Table.from_frame(missing)
    with pytest.raises(DataError, match=r"row \d \(area=s, sex=f\): count nan is missing"):
        Table.from_frame(
            pd.DataFrame({"area": ["n", "n", "s"], "sex": ["m", "f", "m"], "n": 1}).pivot(
                index="area", columns="sex", values="n"
            )
        )


def test_arrays_that_do_not_fit_their_dimensions() -> None:
    with pytest.raises(DataError, match=r"the array has 2 axes, but 1 dimensions are named: \['area'\]"):
        Table.from_array([[1, 2]], ["area"])
    with pytest.raises(DataError, match=r"dimension 'sex' has 1 categories, but the array has 2 along it"):
        Table.from_array([[1, 2]], {"area": ["n"], "sex": ["m"]})
    with pytest.raises(DataError, match=r"the array's rows have different lengths"):
        Table.from_array([[1, 2], [3]], ["area", "sex"])
    with pytest.raises(DataError, match=r"cell \('n',\) has 1 labels, but the dimensions are \['area', 'sex'\]"):
        Table.from_dict({("n",): 3}, ["area", "sex"])
    with pytest.raises(RequestError, match=r"dimension 'sex' has no category 'x'; there are: 'm', 'f'"):
        Table.from_dict({("n", "x"): 3}, {"area": ["n"], "sex": ["m", "f"]})


def test_empty_tables(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the array is empty \(shape \(0,\)\)"):
        Table.from_array([], ["x"])
    with pytest.raises(DataError, match=r"the array is empty \(shape \(2, 0\)\)"):
        Table.from_array([[], []], ["x", "y"])
    with pytest.raises(DataError, match="the dict is empty"):
        Table.from_dict({}, ["x"])
    with pytest.raises(DataError, match="there are no rows"):
        Table.from_frame(pl.DataFrame({"x": [], "count": []}))
    for content in ("", "\n \n"):
        (tmp_path / "t.csv").write_text(content)
        with pytest.raises(DataError, match=r"t\.csv is empty; a table needs at least one cell"):
            read_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("area,sex,count\n")
    with pytest.raises(DataError, match=r"t\.csv: there are no rows"):
        read_table(tmp_path / "t.csv")
    pq.write_table(
        pa.table({"x": pa.array([], pa.string()), "count": pa.array([], pa.int64())}), tmp_path / "t.parquet"
    )
    with pytest.raises(DataError, match=r"t\.parquet: there are no rows"):
        read_table(tmp_path / "t.parquet")


def test_tables_without_a_risk() -> None:
    nobody = Table.from_array([[0, 0]], ["x", "y"])
    with pytest.raises(DataError, match="1 cell that can occur; the risk compares cells"):
        risk(Table.from_array([5], ["x"]))
    with pytest.raises(DataError, match="1 cell that can occur"):
        risk(Table.from_array([5, 0], ["x"], impossible=[False, True]))
    with pytest.raises(DataError, match=r"counts nobody \(every cell is 0\); there is no risk to measure"):
        risk(nobody)
    with pytest.raises(DataError, match=r"counts nobody .*; there is nothing to lose"):
        information_loss(nobody, nobody)


def test_duplicate_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,sex,count\nn,m,5\ns,m,1\nn,m,7\n")
    with pytest.raises(
        DataError,
        match=r"t\.csv: line 4 \(area=n, sex=m\): the cell was given before, at line 2, with count 5, now 7; keep one",
    ):
        read_table(tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"row 1 \(x=a\): the cell was given before, at row 0, with count 0, now 0"):
        Table.from_frame(pl.DataFrame({"x": ["a", "a"], "count": [0, 0]}))
    with pytest.raises(DataError, match=r"entry 2 \(x=1\): the cell was given before, at entry 1"):
        Table.from_dict({1: 4, "1": 5}, ["x"])
    (tmp_path / "w.csv").write_text("area\\sex,m,f\nn,5,1\nn,7,1\n")
    with pytest.raises(
        DataError, match=r"line 3, column 'm' \(area=n, sex=m\): the cell was given before, at line 2, col"
    ):
        read_table(tmp_path / "w.csv")


def test_rows_without_a_label(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,sex,count\nn,m,5\n,m,1\n")
    with pytest.raises(DataError, match=r"t\.csv: line 3: dimension 'area' has an empty category; label every row"):
        read_table(tmp_path / "t.csv")
    for frame in (pd.DataFrame({"x": ["a", None], "count": [1, 2]}), pl.DataFrame({"x": ["a", None], "count": [1, 2]})):
        with pytest.raises(DataError, match=r"row 1: dimension 'x' has no category there; label every row"):
            Table.from_frame(frame)
    with pytest.raises(DataError, match=r"entry 2: dimension 'x' has an empty category"):
        Table.from_dict({"a": 4, None: 5}, ["x"])
    with pytest.raises(DataError, match=r"dimension 'x' is of type .*list.*; label it with texts or numbers"):
        Table.from_frame(pl.DataFrame({"x": [[1], [2]], "count": [1, 2]}))


def test_columns_that_are_missing_or_unknown(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("area,sex,people\nn,m,5\nn,f,1\n")
    with pytest.raises(RequestError, match=r"t\.csv: there is no column 'count' of counts; .*'area', 'sex', 'people'"):
        read_table(path)
    assert read_table(path, count="people").total == 6
    with pytest.raises(RequestError, match=r"t\.csv: there is no dimension column 'aera'; did you mean 'area'\?"):
        read_table(path, count="people", dimensions=["aera"])
    path.write_text("count\n5\n1\n")
    with pytest.raises(DataError, match=r"t\.csv: there is no dimension beside the column of counts 'count'"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"area,sex,count\nn,m,5\nn,f\n", r"t\.csv: line 3 has 2 fields, but the header has 3"),
        (b"area,sex,count\nn,m,5,9\n", r"t\.csv: line 2 has 4 fields, but the header has 3"),
        (b"area,area,count\nn,m,5\n", r"t\.csv: two columns are called 'area'"),
        (b"area,,count\nn,m,5\n", r"t\.csv: column 2 has no name in line 1; name every column$"),
        (
            b"area,count,\nn,5,\n",
            r"column 3 has no name in line 1; name every column, or take the separator at the end",
        ),
        (b",area,count\n0,n,5\n7,s,4\n", r"t\.csv: column 1 has no name; name it, or leave it out"),
        (
            "ort,count\nBern,1\nZürich,5\n".encode("latin-1"),
            r"t\.csv: line 3 has a byte \(0xfc\) that is not utf-8; save",
        ),
        (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", r"t\.csv: line 1 has a byte \(0x89\) that is not utf-8"),
        (b"a,count\nx,\x001\n", r"t\.csv: line 2 has a byte 0x00, which no text contains"),
        ("a,count\nx,1\n".encode("utf-16-le"), r"t\.csv: line 1 has a byte 0x00, .*utf-16"),
        (b'area,count\n"n,5\ns,4\n', r"t\.csv"),
        (b"just some words\n", r"t\.csv: there are no rows"),
        (b"just some words\nand more\n", r"t\.csv: there is no column 'count' of counts"),
        (b"PAR1 no csv at all, 1\n", r"t\.csv: there are no rows"),
    ],
)
def test_files_that_are_not_tables(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises((DataError, RequestError), match=message):
        read_table(tmp_path / "t.csv")


def test_parquet_files_that_are_not(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    Table.from_array([[1, 2]], ["x", "y"]).write(path)
    content = path.read_bytes()
    for broken in (content[:-10], content[: len(content) // 2], content[4:], b"garbage" * 50, b"PAR1PAR1", b"x"):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=r"t\.parquet is not a whole Parquet file \(.*\); write it again"):
            read_table(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"t\.parquet is empty"):
        read_table(path)
    pq.write_table(pa.table({"x": [{"a": 1}], "count": [1]}), path)
    with pytest.raises(DataError, match=r"t\.parquet: column 'x' is of type struct"):
        read_table(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"nothing\.csv does not exist; check the name and the folder"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(RequestError, match=r"is a folder; name a CSV or Parquet file"):
        read_table(tmp_path)
    (tmp_path / "t.ods").write_text("x")
    with pytest.raises(RequestError, match=r"t\.ods: '\.ods' is not a format that is read; give a \.csv, \.parquet or"):
        read_table(tmp_path / "t.ods")
    (tmp_path / "t.csv").write_text("x,count\na,1\n")
    for encoding in ("utf-99", "hex"):
        with pytest.raises(RequestError, match=rf"encoding '{encoding}' is not known; for example utf-8"):
            read_table(tmp_path / "t.csv", encoding=encoding)
    with pytest.raises(RequestError, match=r"t\.csv: layout is 'tall'"):
        read_table(tmp_path / "t.csv", layout="tall")  # type: ignore[arg-type]


def test_releases_that_do_not_fit_their_original() -> None:
    F = Table.from_array([[3, 0], [1, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    for G, message in (
        (
            Table.from_array([[3, 0], [1, 5]], {"area": ["n", "s"], "sex": ["m", "x"]}),
            "category 'x' of dimension 'sex'",
        ),
        (Table.from_array([[3, 0], [1, 5]], {"area": ["n", "s"], "age": ["m", "f"]}), "dimensions differ"),
        (Table.from_array([3, 5], {"area": ["n", "s"]}), "dimensions differ"),
    ):
        with pytest.raises(DataError, match=message):
            risk(F, G)
        with pytest.raises(DataError, match=message):
            information_loss(F, G)


def test_samples_larger_than_their_population() -> None:
    F = Table.from_array([[3, 0], [1, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    G = Table.from_array([[2, 0], [4, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    with pytest.raises(
        DataError,
        match=r"cell area=s, sex=m has 4 people in the sample, but 1 in the population; a sample cannot exceed",
    ):
        risk(F, G, sampled=True)
    assert risk(F, G).measure == "R2"
