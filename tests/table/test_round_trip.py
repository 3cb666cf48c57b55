"""What goes into a table comes out again, by every door."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.table.strategies import tables

from discreet import Dimension, RequestError, Table, datasets, read_table
from discreet.core.formula_texts import RUNS

Backend = Literal["pandas", "polars", "pyarrow"]
backends = st.sampled_from(("pandas", "polars", "pyarrow"))
often = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def categories(table: Table) -> dict[str, tuple[str, ...]]:
    return {dimension.name: dimension.categories for dimension in table.dimensions}


def wide_says_all(table: Table) -> bool:
    """Say whether no label can be taken for the name of a dimension."""
    *rows, last = table.dimensions
    if len(rows) == 1:
        return rows[0].name not in last.categories and "\\" not in rows[0].name + last.name
    return not set(table.names) & set(last.categories)


def _plain(text: str) -> str:
    """Return a text without the blanks around it; those that a spreadsheet might run as a formula are kept in front."""
    return text.rstrip() if re.match(RUNS, text) and text.strip() else text.strip()


def without_blanks(table: Table) -> Table:
    """Return a table as a CSV file gives it back: without the blanks around its labels, which must still differ."""
    plain = [(_plain(one.name), [_plain(label) for label in one.categories]) for one in table.dimensions]
    assume(all(all(labels) and len(set(labels)) == len(labels) for _, labels in plain))
    assume(all(name for name, _ in plain) and len({name for name, _ in plain}) == len(plain))
    dimensions = tuple(Dimension(name, tuple(labels)) for name, labels in plain)
    return Table(dimensions, table.cells, table.counts, table.impossible)


def is_again(read: Table, expected: Table) -> bool:
    """Categories that were sorted as texts are put into the order in which people count."""
    return read.aligned_to(expected) == expected


@given(tables())
@often
def test_dense_arrays(table: Table) -> None:
    mask = np.zeros(table.size, bool)
    mask[table.impossible] = True
    again = Table.from_array(table.to_array(), categories(table), impossible=mask.reshape(table.shape))
    assert again == table
    assert hash(again) == hash(table)


@given(tables(structural=False))
@often
def test_dicts(table: Table) -> None:
    assume(table.total > 0)
    counts = table.to_dict()
    assert all(count > 0 for count in counts.values())
    assert Table.from_dict(counts, categories(table)) == table


@given(tables(), backends, st.booleans())
@often
def test_long_frames(table: Table, backend: Backend, zeros: bool) -> None:
    frame = table.to_frame(backend, zeros=zeros, count="people")
    assume(len(frame) > 0)
    # A backslash in the first header is how a cross-table names both of its dimensions.
    layout: Literal["auto", "long"] = "long" if "\\" in table.names[0] else "auto"
    # Odd labels can make a dimension look like a statistic, so the columns that classify are named.
    again = Table.from_frame(frame, count="people", dimensions=table.names, total=None, layout=layout)
    if zeros:
        assert again.aligned_to(table) == table
    else:
        # Categories that nobody is in, and that no structural zero names, are not listed.
        assert again.to_dict() == table.to_dict()
        assert again.impossible.size == table.impossible.size


@given(tables(structural=False), backends)
@often
def test_wide_frames(table: Table, backend: Backend) -> None:
    assume(len(table.shape) > 1 and wide_says_all(table))
    frame = table.to_frame(backend, layout="wide")
    # A single row dimension leaves room in the first header to name the other; several have to be named.
    names = None if len(table.shape) == 2 else table.names
    layout: Literal["auto", "wide"] = "auto" if names is None else "wide"
    stripped = tuple(Dimension(dimension.name.strip(), dimension.categories) for dimension in table.dimensions)
    again = Table.from_frame(frame, dimensions=names, layout=layout, total=None)
    expected = Table(stripped, table.cells, table.counts, table.impossible)
    assert is_again(again, expected)


@given(table=tables())
@often
def test_csv(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    table.write(path, count="people")
    layout: Literal["auto", "long"] = "long" if "\\" in table.names[0] else "auto"
    expected = without_blanks(table)
    read = read_table(path, count="people", dimensions=expected.names, total=None, layout=layout)
    assert is_again(read, expected)


@given(table=tables(structural=False, max_dimensions=3))
@often
def test_wide_csv(table: Table, tmp_path: Path) -> None:
    assume(len(table.shape) > 1 and wide_says_all(table))
    assume(all(label.strip() for label in table.dimensions[-1].categories))
    path = tmp_path / "table.csv"
    table.write(path, layout="wide")
    expected = without_blanks(table)
    assume(wide_says_all(expected))
    again = read_table(path, dimensions=expected.names, layout="wide", total=None)
    assert is_again(again, expected)


@given(table=tables())
@often
def test_parquet(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table.write(path, count="people")
    # The file knows its own categories, so that even those named like a margin stay categories.
    assert read_table(path) == table
    reordered = read_table(path, dimensions=table.names[::-1])
    assert reordered.aligned_to(table) == table


def test_parquet_of_an_empty_table_keeps_its_categories(tmp_path: Path) -> None:
    table = Table.from_array([[0, 0], [0, 0]], {"area": ["n", "s"], "sex": ["m", "f"]})
    table.write(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet") == table


def test_parquet_of_other_programs(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    frame = pa.table({"area": ["n", "n", "s"], "sex": [1, 2, 1], "count": pa.array([3, 0, 2], pa.uint8())})
    pq.write_table(frame, tmp_path / "t.parquet")
    expected = Table.from_array([[3, 0], [2, 0]], {"area": ["n", "s"], "sex": ["1", "2"]})
    assert read_table(tmp_path / "t.parquet") == expected


def test_parquet_costs_what_its_non_empty_cells_cost(tmp_path: Path) -> None:
    table = Table.from_dict({("1", "2", "3"): 4}, {name: range(1000) for name in "xyz"})
    table.write(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet") == table
    assert (tmp_path / "t.parquet").stat().st_size < 100_000


@pytest.mark.parametrize("name", datasets.NAMES)
@pytest.mark.parametrize("suffix", [".csv", ".txt", ".parquet", ".CSV"])
def test_bundled_tables(name: str, suffix: str, tmp_path: Path) -> None:
    table = datasets.load(name)
    table.write(tmp_path / f"t{suffix}")
    assert read_table(tmp_path / f"t{suffix}") == table
    table.write(tmp_path / f"wide{suffix}", layout="wide")
    assert read_table(tmp_path / f"wide{suffix}") == table


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_copies_are_equal_and_frozen(how: Any) -> None:
    table = datasets.sex()
    again = how(table)
    assert again == table
    assert not again.counts.flags.writeable
    assert not again.cells.flags.writeable


def test_the_column_of_counts_needs_a_name_of_its_own(tmp_path: Path) -> None:
    table = Table.from_array([1, 2], ["count"])
    with pytest.raises(RequestError, match=r"dimension 'count' has the name of a column of figures; .*count='people'"):
        table.write(tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []
    table.write(tmp_path / "t.csv", count="people")
    assert read_table(tmp_path / "t.csv", count="people") == table


def test_the_mark_of_structural_zeros_needs_a_name_of_its_own() -> None:
    table = Table.from_array([1, 0], ["possible"], impossible=[False, True])
    with pytest.raises(RequestError, match="dimension 'possible' has the name of a column"):
        table.to_frame()
    without = Table.from_array([1, 0], ["possible"])
    assert Table.from_frame(without.to_frame(), dimensions=["possible"]) == without


def test_wide_layout_refuses_what_it_cannot_say() -> None:
    with pytest.raises(RequestError, match="two dimensions or more"):
        Table.from_array([1, 2], ["month"]).to_frame(layout="wide")
    clash = Table.from_array([[[1, 2]]], {"area": ["n"], "age": ["1"], "sex": ["m", "area"]})
    with pytest.raises(RequestError, match=r"category 'area' of 'sex' is also the header"):
        clash.to_frame(layout="wide")
    with pytest.raises(RequestError, match="backslash"):
        Table.from_array([[1, 2]], ["a\\b", "sex"]).to_frame(layout="wide")


def test_unknown_layouts_and_backends() -> None:
    table = datasets.sex()
    with pytest.raises(RequestError, match="layout is 'tall'; give 'long' or 'wide'"):
        table.to_frame(layout="tall")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="backend is 'duckdb'; give 'pandas', 'polars' or 'pyarrow'"):
        table.to_frame("duckdb")  # type: ignore[arg-type]


def test_frames_are_of_the_kind_asked_for() -> None:
    import polars as pl

    table = Table.from_array([[3, 0], [1, 5]], ["area", "sex"])
    assert isinstance(table.to_frame("pandas"), pd.DataFrame)
    assert isinstance(table.to_frame("polars"), pl.DataFrame)
    assert isinstance(table.to_frame("pyarrow"), pa.Table)
    assert list(table.to_frame().columns) == ["area", "sex", "count"]
    assert table.to_frame("pyarrow", layout="wide").column_names == ["area\\sex", "1", "2"]
    assert len(table.to_frame()) == 4
    assert len(table.to_frame(zeros=False)) == 3
