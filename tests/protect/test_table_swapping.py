"""Table swapping keeps every margin of k dimensions, whatever it moves."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import DataError, RequestError, Table
from discreet.protect import TableSwapping, table_swapping


@settings(max_examples=50)
@given(st.data())
def test_all_margins_of_k_dimensions_are_kept(data: Any) -> None:
    shape = data.draw(st.sampled_from([(3, 4), (2, 3, 2), (2, 2, 2, 3)]))
    size = int(np.prod(shape))
    counts = np.array(data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)))
    counts[0] += 1
    zeros = np.zeros(size, bool)
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        zeros[data.draw(st.sampled_from(empty.tolist()))] = True
    table = Table.from_array(counts.reshape(shape), list("abcd")[: len(shape)], impossible=zeros.reshape(shape))
    keep = data.draw(st.integers(1, len(shape) - 1))
    method = TableSwapping(keep, data.draw(st.floats(0, 1)))
    done = method.apply(table, 1)
    released = done.release.table
    for margin in combinations(table.names, keep):
        assert released.margin(*margin).to_dict() == table.margin(*margin).to_dict()
    assert done.details["moves"] <= done.details["wanted"] == method.moves(table)
    assert np.abs(released.to_array() - table.to_array()).max() <= done.details["moves"]
    assert released == method.apply(table, 1).release.table
    (part,) = done.release.parts()
    exact = np.array([part.kinds[int(k)].name == "exact" for k in part.kind])
    depth = (part.codes != 0).sum(axis=1)
    assert (exact == (depth <= keep)).all()


def test_moves_are_reported_and_few_margins_leave_room() -> None:
    table = dc.datasets.religion()
    done = TableSwapping(1, 0.2).apply(table, 2)
    assert done.details["moves"] == int(0.2 * table.total / 2)
    assert done.release.table != table
    stuck = TableSwapping(2, 1.0).apply(Table.from_array([[[1, 0], [0, 9]], [[0, 0], [0, 0]]], ["a", "b", "c"]), 1)
    assert stuck.details["moves"] == 0
    assert "leave too little room" in stuck.sentence


def test_bad_requests() -> None:
    table = Table.from_array([[3, 2], [1, 4]], ["area", "sex"])
    with pytest.raises(RequestError, match="the swap rate is 2"):
        TableSwapping(1, 2)
    with pytest.raises(RequestError, match="keep is 0"):
        TableSwapping(0)
    with pytest.raises(RequestError, match="leaves nothing to swap"):
        table_swapping(table, 2)
    with pytest.raises(DataError, match="counts nobody"):
        table_swapping(Table.from_array([[0, 0]], ["a", "b"]))
