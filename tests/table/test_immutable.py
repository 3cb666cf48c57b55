"""Tables and releases cannot be changed, and equal ones are equal."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from discreet import DataError, Release, Table, datasets
from discreet.table.axis import Axis
from discreet.table.hierarchy import Hierarchy


def test_attributes_and_arrays_are_frozen() -> None:
    table = datasets.sex()
    with pytest.raises(FrozenInstanceError):
        table.counts = np.zeros(1, np.int64)  # type: ignore[misc]
    for array in (table.cells, table.counts, table.impossible):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    with pytest.raises(FrozenInstanceError):
        table.dimensions[0].name = "x"  # type: ignore[misc]


def test_callers_keep_no_way_in() -> None:
    source = np.array([[1, 2], [3, 4]])
    table = Table.from_array(source, ["area", "sex"])
    source[:] = 99
    assert table.counts.tolist() == [1, 2, 3, 4]
    cells, counts = np.arange(2), np.array([5, 6])
    direct = Table(table.dimensions, cells, counts, np.zeros(0, np.int64))
    cells[0], counts[0] = 3, 99
    assert direct.to_dict() == {("1", "1"): 5, ("1", "2"): 6}
    dense = table.to_array()
    dense[:] = 0
    assert table.total == 10


def test_equality_and_hash() -> None:
    table = Table.from_array([[1, 0], [3, 4]], ["area", "sex"])
    same = Table.from_dict({(1, 1): 1, (2, 2): 4, (2, 1): 3}, {"area": [1, 2], "sex": [1, 2]})
    assert table == same
    assert len({table, same}) == 1
    others = [
        Table.from_array([[1, 0], [3, 5]], ["area", "sex"]),
        Table.from_array([[1, 3], [0, 4]], ["area", "sex"]),
        Table.from_array([[1, 0], [3, 4]], ["area", "age"]),
        Table.from_array([[1, 0], [3, 4]], {"area": [1, 2], "sex": [1, 3]}),
        Table.from_array([[1, 0], [3, 4]], ["area", "sex"], impossible=[[False, True], [False, False]]),
    ]
    assert all(table != other for other in others)
    assert len({table, *others}) == 6
    assert table != "table"


def test_the_constructor_checks_what_it_is_given() -> None:
    dims = Table.from_array([[1, 2], [3, 4]], ["area", "sex"]).dimensions
    none = np.zeros(0, np.int64)
    one, two = np.array([1]), np.array([1, 1])
    with pytest.raises(DataError, match="has no dimensions"):
        Table((), none, none, none)
    with pytest.raises(DataError, match="every name must be unique"):
        Table((dims[0], dims[0]), none, none, none)
    for cells in (np.array([1, 0]), np.array([1, 1]), np.array([3, 4]), np.array([-1, 2])):
        with pytest.raises(DataError, match="sorted, unique and inside"):
            Table(dims, cells, two, none)
    with pytest.raises(DataError, match="2 cells but 1 counts"):
        Table(dims, np.array([0, 1]), one, none)
    with pytest.raises(DataError, match="cell area=1, sex=2 has count 0; stored counts must be 1 or more"):
        Table(dims, one, np.array([0]), none)
    with pytest.raises(DataError, match="cell area=1, sex=2 is declared impossible, but its count is 1"):
        Table(dims, one, one, one)
    with pytest.raises(DataError, match="counts is of type float64"):
        Table(dims, one, np.array([1.5]), none)


def test_releases_are_frozen_and_copied_whole() -> None:
    parameters: dict[str, object] = {"base": 3}
    release = Release(datasets.sex(), "random-rounding", parameters)
    parameters["base"] = 5
    assert release.parameters == {"base": 3}
    with pytest.raises(TypeError):
        release.parameters["base"] = 5  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        release.method = "x"  # type: ignore[misc]
    for again in (copy.deepcopy(release), pickle.loads(pickle.dumps(release))):
        assert again == release
        assert again.table.counts.flags.writeable is False


def test_the_finest_categories_are_found_once_and_cannot_be_changed() -> None:
    axis = Axis("region", (Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b"}),))
    assert axis.leaf_codes is axis.leaf_codes
    assert axis.leaves == ("a1", "a2", "b1")
    with pytest.raises(ValueError, match="read-only"):
        axis.leaf_codes[0] = 0
    for again in (pickle.loads(pickle.dumps(axis)), copy.deepcopy(axis)):
        assert again == axis
        assert hash(again) == hash(axis)
        assert again.leaf_codes.tolist() == axis.leaf_codes.tolist()
