"""Frames of pandas, polars and Arrow as people have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet import DataError, Figures, Release, RequestError, Table, read_release, read_table

PEOPLE = pd.DataFrame(
    {
        "area": ["n", "n", "s", "s", "s", "n"],
        "sex": ["m", "f", "m", "f", "f", "f"],
        "age": [1, 2, 1, 1, 2, 2],
    }
)
TWO_WAY = Table.from_array([[2, 1], [2, 1]], {"area": ["n", "s"], "sex": ["f", "m"]})
THREE_WAY = Table.from_array(
    [[[0, 1], [2, 0]], [[1, 1], [1, 0]]], {"area": ["n", "s"], "age": ["1", "2"], "sex": ["f", "m"]}
)
LONG = PEOPLE.groupby(["area", "sex"]).size().reset_index(name="count")


def test_crosstab() -> None:
    assert Table.from_frame(pd.crosstab(PEOPLE.area, PEOPLE.sex)) == TWO_WAY


def test_crosstab_of_several_levels() -> None:
    assert Table.from_frame(pd.crosstab([PEOPLE.area, PEOPLE.age], PEOPLE.sex)) == THREE_WAY
    across = Table.from_frame(pd.crosstab(PEOPLE.area, [PEOPLE.age, PEOPLE.sex]))
    assert across.aligned_to(THREE_WAY) == THREE_WAY


def test_crosstab_with_margins() -> None:
    total = pd.crosstab(PEOPLE.area, PEOPLE.sex, margins=True, margins_name="Total")
    assert Table.from_frame(total) == TWO_WAY
    assert Table.from_frame(pd.crosstab(PEOPLE.area, PEOPLE.sex, margins=True), total="All") == TWO_WAY


def test_margins_under_another_name_are_not_counted_as_people() -> None:
    frame = pd.crosstab(PEOPLE.area, PEOPLE.sex, margins=True)
    with pytest.raises(DataError, match=r"category 'All' of dimension 'area' is named like a margin; .*total='All'"):
        Table.from_frame(frame)
    assert Table.from_frame(frame, total=None).total == 4 * TWO_WAY.total
    one_way = pd.DataFrame({"month": ["1", "2", "sum"], "count": [1, 2, 3]})
    with pytest.raises(DataError, match="category 'sum' of dimension 'month'"):
        Table.from_frame(one_way)
    one_way.loc[2, "count"] = 4
    with pytest.raises(DataError, match="category 'sum' of dimension 'month'"):
        Table.from_frame(one_way)
    assert Table.from_frame(one_way, total=None).total == 7


def test_series() -> None:
    assert Table.from_frame(PEOPLE.groupby(["area", "sex"]).size()) == TWO_WAY
    counted = Table.from_frame(PEOPLE.value_counts(["area", "sex"]))
    assert counted.aligned_to(TWO_WAY) == TWO_WAY
    assert Table.from_frame(PEOPLE.area.value_counts(sort=False)).to_dict() == {("n",): 3, ("s",): 3}
    assert Table.from_frame(pd.Series([3, 4], index=["a", "b"])).names == ("row",)
    with pytest.raises(DataError, match=r"the dimensions are called \['count'\] and the counts 'count'"):
        Table.from_frame(pd.Series([3], index=pd.Index(["a"], name="count")))


def test_unused_categories_are_empty_cells() -> None:
    kinds = pd.CategoricalDtype(["f", "x", "m"])
    people = PEOPLE.astype({"sex": kinds})
    expected = Table.from_array([[2, 0, 1], [2, 0, 1]], {"area": ["n", "s"], "sex": ["f", "x", "m"]})
    assert Table.from_frame(people.groupby(["area", "sex"], observed=False).size()) == expected
    assert Table.from_frame(LONG.astype({"sex": kinds})) == expected
    assert Table.from_frame(pd.crosstab(people.area, people.sex, dropna=False)) == expected
    arrow = pa.Table.from_pandas(LONG.astype({"sex": kinds}))
    assert Table.from_frame(arrow) == expected
    enum = pl.DataFrame(LONG.to_dict("list")).with_columns(pl.col("sex").cast(pl.Enum(["f", "x", "m"])))
    assert Table.from_frame(enum) == expected


def test_categories_of_chunks_are_joined_by_label() -> None:
    parts = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]).dictionary_encode()]
    arrow = pa.table({"x": pa.chunked_array(parts), "y": ["1", "1", "2", "2"], "count": [1, 2, 3, 4]})
    assert Table.from_frame(arrow).to_dict() == {("a", "1"): 1, ("b", "1"): 2, ("b", "2"): 3, ("c", "2"): 4}


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: frame.set_index(["area", "sex"]),
        lambda frame: frame.set_index("area"),
        lambda frame: frame.iloc[::-1].iloc[::-1],
        lambda frame: frame.set_axis([10, 3, 7, 1]),
        lambda frame: frame.convert_dtypes(),
        lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
        lambda frame: frame.astype(object),
        lambda frame: frame.astype({"count": "uint8"}),
        lambda frame: frame.astype({"count": float}),
        lambda frame: frame.astype({"count": str}),
        lambda frame: frame.astype({"sex": "category"}),
        pa.Table.from_pandas,
        lambda frame: pl.DataFrame(frame.to_dict("list")),
        lambda frame: pl.DataFrame(frame.to_dict("list")).lazy(),
        lambda frame: pl.DataFrame(frame.to_dict("list")).cast({"sex": pl.Categorical}),
    ],
)
def test_long_frames_of_all_kinds(make: Any) -> None:
    assert Table.from_frame(make(LONG)) == TWO_WAY


def test_the_order_of_the_dimensions_can_be_chosen() -> None:
    turned = Table.from_array([[2, 2], [1, 1]], {"sex": ["f", "m"], "area": ["n", "s"]})
    assert Table.from_frame(LONG, dimensions=["sex", "area"]) == turned
    assert Table.from_frame(pd.crosstab(PEOPLE.area, PEOPLE.sex), dimensions=["sex", "area"]) == turned
    assert Table.from_frame(TWO_WAY.to_frame(layout="wide"), dimensions=["sex", "area"]) == turned


def test_columns_that_do_not_classify_can_be_left_out() -> None:
    noted = LONG.assign(remark="x")
    assert Table.from_frame(noted, dimensions=["area", "sex"]) == TWO_WAY


def test_wide_frames() -> None:
    plain = pd.DataFrame({"area": ["n", "s"], "f": [2, 2], "m": [1, 1]})
    assert Table.from_frame(plain, dimensions=["area", "sex"], layout="wide") == TWO_WAY
    assert Table.from_frame(plain).names == ("area", "column")
    assert Table.from_frame(plain.set_index("area")).names == ("area", "column")
    assert Table.from_frame(plain.set_index("area"), dimensions=["area", "sex"]) == TWO_WAY
    assert Table.from_frame(plain.iloc[[1, 0]]).to_array().tolist() == [[2, 1], [2, 1]]
    unnamed = pd.DataFrame([[2, 1], [2, 1]], index=[2001, 2002], columns=["f", "m"])
    assert Table.from_frame(unnamed).dimensions[0].categories == ("2001", "2002")
    assert Table.from_frame(pl.DataFrame({"area": ["n", "s"], "f": [2, 2], "m": [1, 1]})).names == ("area", "column")


def test_a_category_called_count_stays_a_category() -> None:
    frame = pd.crosstab(pd.Series(["n", "s"], name="area"), pd.Series(["count", "duke"], name="title"))
    assert Table.from_frame(frame).dimensions[1].categories == ("count", "duke")
    table = Table.from_array([[1, 2]], {"area": ["n"], "title": ["count", "duke"]})
    assert Table.from_frame(table.to_frame("polars", layout="wide")) == table
    alone = Table.from_array([[1], [2]], {"area": ["n", "s"], "title": ["count"]})
    assert Table.from_frame(alone.to_frame("polars", layout="wide")) == alone


def test_labels_become_texts() -> None:
    def labels(values: Any) -> tuple[str, ...]:
        return (
            Table.from_frame(pd.DataFrame({"x": values, "count": range(1, len(values) + 1)})).dimensions[0].categories
        )

    assert labels([7, 1]) == ("7", "1")
    assert labels([True, False]) == ("True", "False")
    assert labels([1.0, 2.5]) == ("1.0", "2.5")
    assert labels(["007", "7"]) == ("007", "7")
    assert labels(["a", 1]) == ("a", "1")
    assert labels(pd.cut(np.array([0, 3]), [0, 2, 4], right=False)) == ("[0, 2)", "[2, 4)")
    assert labels(pd.period_range("2020", "2021", freq="Y")) == ("2020", "2021")
    assert labels(pd.to_datetime(["2020-01-01"]).date) == ("2020-01-01",)


def test_figures_that_arrow_holds_in_other_ways() -> None:
    from decimal import Decimal

    def total(values: Any) -> int:
        return Table.from_frame(pa.table({"x": [f"{i}" for i in range(len(values))], "count": values})).total

    assert total([Decimal("3"), Decimal("4.00")]) == 7
    assert total(pa.array(["3", " 4 "])) == 7
    assert total(pa.array(["+3", "4.0"])) == 7
    assert total(pa.array(["3", "4"], pa.large_string())) == 7
    assert total(pa.array(["3", "4"], pa.string_view())) == 7
    assert total(pa.array(["3", "4"]).dictionary_encode()) == 7
    assert total(pa.array([3, 4], pa.uint64())) == 7
    assert total(pa.array([3, 4], pa.float32())) == 7
    with pytest.raises(DataError, match=r"row 0: count is True, of type bool"):
        total([True, False])
    with pytest.raises(DataError, match=r"row 0: count is missing"):
        total(pa.nulls(2))
    with pytest.raises(DataError, match=r"row 1: count is 4.50, which is fractional"):
        total([Decimal("3.00"), Decimal("4.50")])


def test_names_that_do_not_fit() -> None:
    wide = pd.crosstab(PEOPLE.area, PEOPLE.sex)
    with pytest.raises(RequestError, match=r"no dimension column 'aera'; did you mean 'area'\?"):
        Table.from_frame(LONG, dimensions=["aera", "sex"])
    with pytest.raises(RequestError, match=r"no dimension column 'aera'; did you mean 'area'\?"):
        Table.from_frame(wide, dimensions=["aera", "sex"])
    with pytest.raises(RequestError, match=r"no dimension column 'count'"):
        Table.from_frame(LONG, dimensions=["area", "count"])
    with pytest.raises(RequestError, match=r"no column 'people' of counts; .* there are: 'area', 'sex', 'count'"):
        Table.from_frame(LONG, count="people")
    with pytest.raises(RequestError, match=r"no column 'count' of counts"):
        Table.from_frame(LONG.rename(columns={"count": "n"}).iloc[1:])
    crossed = TWO_WAY.to_frame(layout="wide")
    with pytest.raises(RequestError, match=r"there are no columns \['gender'\]; .*there are: 'area', 'f', 'm', 'sex'"):
        Table.from_frame(crossed, dimensions=["area", "gender"])
    with pytest.raises(RequestError, match=r"there are no columns \['x', 'y'\]"):
        Table.from_frame(crossed, dimensions=["x", "y"], layout="wide")
    same = pd.crosstab(PEOPLE.area.rename("x"), PEOPLE.sex.rename("x"))
    with pytest.raises(DataError, match=r"\['x', 'x'\].*every name must be different"):
        Table.from_frame(same)
    with pytest.raises(DataError, match="rows and columns are both called 'column'"):
        Table.from_frame(pl.DataFrame({"column": ["n"], "m": [1], "f": [2]}))
    with pytest.raises(DataError, match="'area' is both a level of the index and a column"):
        Table.from_frame(LONG.set_index("area", drop=False))
    with pytest.raises(DataError, match="two columns are called 'x'"):
        Table.from_frame(pd.DataFrame([["a", "b", 1]], columns=["x", "x", "count"]))
    with pytest.raises(DataError, match="two columns are called 'x'"):
        Table.from_frame(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array([1])], ["x", "x", "count"]))
    with pytest.raises(DataError, match="column 1 has no name; name it, or leave it out"):
        Table.from_frame(pa.table({"": ["5"], "area": ["n"], "count": [1]}))
    with pytest.raises(DataError, match=r"needs columns of counts beside \['area'\]"):
        Table.from_frame(pl.DataFrame({"area": ["n"]}), layout="wide")


def test_what_is_not_a_frame() -> None:
    for thing in ([1, 2], None, "table.csv", {"a": 1}):
        with pytest.raises(RequestError, match="is not a frame; give a pandas, polars or Arrow frame"):
            Table.from_frame(thing)


def test_options_that_do_not_exist() -> None:
    with pytest.raises(RequestError, match="layout is 'tall'; give 'auto', 'long' or 'wide'"):
        Table.from_frame(LONG, layout="tall")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="margins is 'ignore'; give 'check' or 'recompute'"):
        Table.from_frame(LONG, margins="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_release_becomes_a_frame_of_what_is_published_and_no_more(backend: Any) -> None:
    shown = Figures.from_array([[None, 4], [5, 9]], {"area": ["n", "s"], "sex": ["m", "f"]})
    linked = Figures.from_array([7, None], {"age": ["young", "old"]})
    frame = Release.of([shown, linked]).to_frame(backend)
    rows = (
        frame.to_pylist()
        if backend == "pyarrow"
        else pa.Table.from_pandas(frame).to_pylist()
        if backend == "pandas"
        else frame.to_dicts()
    )
    assert [(row["area"], row["sex"], row["age"]) for row in rows] == [
        ("n", "m", "Total"),
        ("n", "f", "Total"),
        ("s", "m", "Total"),
        ("s", "f", "Total"),
        ("Total", "Total", "young"),
        ("Total", "Total", "old"),
    ]
    assert [row["count"] for row in rows] == [None, 4, 5, 9, 7, None]


def test_the_frame_of_intervals_shows_both_ends_and_no_figure(tmp_path: Path) -> None:
    (tmp_path / "shown.csv").write_text("area,count,lower,upper\nn,,1,4\ns,9,,\n")
    frame = read_release(tmp_path / "shown.csv").to_frame()
    assert frame["count"].isna().tolist() == [True, False]
    assert (frame["lower"][0], frame["upper"][0], frame["count"][1]) == (1, 4, 9)


@pytest.mark.parametrize("library", [pd, pl])
def test_a_table_is_read_from_a_frame_as_from_a_file(library: Any, tmp_path: Path) -> None:
    frame = library.DataFrame({"area": ["n", "n", "s"], "sex": ["m", "f", "f"], "count": [3, 1, 2]})
    read_table(frame).write(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv") == read_table(frame)


def test_a_release_is_not_taken_for_an_original() -> None:
    table = Table.from_array([[3, 0], [1, 5]], ["area", "sex"])
    release = dc.protect.random_rounding(table, base=3)
    for function in (dc.assess, dc.compare, dc.protect.random_rounding):
        with pytest.raises(RequestError, match=r"this is a release .* hand over the original, or see what the release"):
            function(release)
