"""Margins, slices and reordered tables against NumPy on dense arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.table.strategies import tables

from discreet import DataError, Dimension, LimitError, RequestError, Table

often = settings(max_examples=80, deadline=None)


def mask(table: Table) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    flat = np.zeros(table.size, bool)
    flat[table.impossible] = True
    return flat.reshape(table.shape)


@given(tables(), st.data())
@often
def test_margins(table: Table, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(table.names), min_size=1, unique=True))
    margin = table.margin(*names)
    axes = [table.names.index(name) for name in names]
    others = tuple(axis for axis in range(len(table.shape)) if axis not in axes)
    order = tuple(np.argsort(np.argsort(axes)).tolist())
    assert margin.names == tuple(names)
    assert np.array_equal(margin.to_array(), np.transpose(table.to_array().sum(axis=others), order))
    assert np.array_equal(mask(margin), np.transpose(mask(table).all(axis=others), order))
    assert margin.total == table.total


@given(tables(), st.data())
@often
def test_slices(table: Table, data: st.DataObject) -> None:
    fixed = data.draw(
        st.lists(st.sampled_from(table.names), min_size=1, max_size=max(len(table.names) - 1, 1), unique=True)
    )
    chosen = {name: data.draw(st.sampled_from(table.dimensions[table.axis(name)].categories)) for name in fixed}
    if len(chosen) == len(table.names):
        with pytest.raises(RequestError, match="fix some but not all of the dimensions"):
            table.slice(chosen)
        return
    part = table.slice(chosen)
    where = tuple(
        dimension.categories.index(chosen[dimension.name]) if dimension.name in chosen else slice(None)
        for dimension in table.dimensions
    )
    assert part.names == tuple(name for name in table.names if name not in chosen)
    assert np.array_equal(part.to_array(), table.to_array()[where])
    assert np.array_equal(mask(part), mask(table)[where])


@given(tables(), st.data())
@often
def test_sums_and_cells_of_slices(table: Table, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(table.names))
    others = tuple(axis for axis, other in enumerate(table.names) if other != name)
    dense = table.to_array()
    assert np.array_equal(table.sums([name], table.counts)[0], dense.sum(axis=others))
    assert np.array_equal(table.sums([name])[0], (dense > 0).sum(axis=others))
    assert np.array_equal(table.slice_cells(name), (~mask(table)).sum(axis=others))
    assert table.possible == int((~mask(table)).sum())


@given(tables(), st.data())
@often
def test_positions_and_labels(table: Table, data: st.DataObject) -> None:
    positions = np.array(data.draw(st.lists(st.integers(0, table.size - 1), max_size=5)), np.int64)
    assert table.at(positions).tolist() == table.to_array().ravel()[positions].tolist()
    for position in positions.tolist():
        label = table.label(position)
        codes = [d.categories.index(label[d.name]) for d in table.dimensions]
        assert int(np.ravel_multi_index(codes, table.shape)) == position
        for name, code in zip(table.names, codes, strict=True):
            assert table.codes(name, np.array([position])).tolist() == [code]


@given(tables(), st.data())
@often
def test_reordered_tables_align(table: Table, data: st.DataObject) -> None:
    axes = data.draw(st.permutations(range(len(table.shape))))
    codes = [data.draw(st.permutations(range(len(table.dimensions[axis])))) for axis in axes]
    dimensions = {
        table.dimensions[axis].name: [table.dimensions[axis].categories[code] for code in order]
        for axis, order in zip(axes, codes, strict=True)
    }
    grid = np.ix_(*codes)
    shuffled = Table.from_array(
        table.to_array().transpose(axes)[grid], dimensions, impossible=mask(table).transpose(axes)[grid]
    )
    assert shuffled.to_dict().keys() == {tuple(key[axis] for axis in axes) for key in table.to_dict()}
    assert shuffled.aligned_to(table) == table
    assert table.aligned_to(shuffled) == shuffled


def test_aligned_tables_keep_their_own_structural_zeros() -> None:
    original = Table.from_array([[0, 2]], {"area": ["n"], "sex": ["m", "f"]}, impossible=[[True, False]])
    plain = Table.from_array([[2, 0]], {"area": ["n"], "sex": ["f", "m"]})
    assert plain.aligned_to(original).impossible.size == 0
    assert plain.aligned_to(original).to_array().tolist() == [[0, 2]]


def test_tables_on_other_categories_do_not_align() -> None:
    table = Table.from_array([[1, 2]], {"area": ["n"], "sex": ["m", "f"]})
    with pytest.raises(DataError, match=r"dimensions differ: \['area', 'sex'\] in the original, \['area', 'age'\]"):
        Table.from_array([[1, 2]], {"area": ["n"], "age": ["m", "f"]}).aligned_to(table)
    with pytest.raises(DataError, match=r"category 'x' of dimension 'sex' is in the released table but not in the or"):
        Table.from_array([[1, 2]], {"area": ["n"], "sex": ["m", "x"]}).aligned_to(table)
    with pytest.raises(DataError, match=r"category 'f' of dimension 'sex' is in the original but not in the released"):
        Table.from_array([[1]], {"area": ["n"], "sex": ["m"]}).aligned_to(table)
    with pytest.raises(DataError, match="rename the columns"):
        Table.from_array([1], {"area": ["n"]}).aligned_to(table)


def test_many_categories_align_quickly() -> None:
    # Comparing every label with every other would take minutes.
    labels = [f"label {i}" for i in range(100_000)]
    table = Table.from_array(np.ones(100_000), {"x": labels})
    assert Table.from_array(np.ones(100_000), {"x": labels[::-1]}).aligned_to(table) == table


def test_requests_for_parts_that_do_not_exist() -> None:
    table = Table.from_array([[1, 2]], {"area": ["n"], "sex": ["male", "female"]})
    with pytest.raises(RequestError, match="name the dimensions to keep"):
        table.margin()
    with pytest.raises(RequestError, match=r"no dimension 'aera'; did you mean 'area'\? There are: 'area', 'sex'"):
        table.margin("aera")
    with pytest.raises(DataError, match="every name must be unique"):
        table.margin("area", "area")
    with pytest.raises(RequestError, match="fix some but not all"):
        table.slice()
    with pytest.raises(RequestError, match=r"'sex' has no category 'mael'; did you mean 'male'\?"):
        table.slice(sex="mael")
    with pytest.raises(RequestError, match="no dimension 'age'"):
        table.slice(age="1")
    with pytest.raises(RequestError, match="no dimension 'age'"):
        table.codes("age")


def test_numbers_name_categories_too() -> None:
    table = Table.from_array([[1, 2], [3, 4]], ["area", "sex"])
    assert table.slice(area=2).counts.tolist() == [3, 4]
    assert table.slice({"area": 1}).counts.tolist() == [1, 2]


def test_dense_arrays_have_a_limit() -> None:
    table = Table.from_dict({(0, 0, 0): 1}, {name: range(1000) for name in "xyz"})
    with pytest.raises(LimitError, match=r"1,000,000,000 cells, more than the 50,000,000"):
        table.to_array()
    with pytest.raises(LimitError, match="zeros=False"):
        table.to_frame()
    assert len(table.to_frame(zeros=False)) == 1


def test_positions_have_a_limit() -> None:
    dimensions = {f"d{i}": range(1000) for i in range(7)}
    with pytest.raises(LimitError, match="1e\\+21 cells"):
        Table.from_dict({(0,) * 7: 1}, dimensions)


def test_dimensions() -> None:
    assert Dimension("sex", (1, 2)) == Dimension("sex", ("1", "2"))
    assert hash(Dimension("sex", (1, 2))) == hash(Dimension("sex", ("1", "2")))
    assert len(Dimension("sex", "mf")) == 2
    with pytest.raises(DataError, match="dimension name is ''"):
        Dimension("", ["a"])
    with pytest.raises(DataError, match="dimension name is 7"):
        Dimension(7, ["a"])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'sex' has no categories"):
        Dimension("sex", [])
    with pytest.raises(DataError, match="'sex' lists category '1' twice"):
        Dimension("sex", [1, "1"])
    with pytest.raises(DataError, match="category 2 of dimension 'sex' is empty"):
        Dimension("sex", ["m", ""])
