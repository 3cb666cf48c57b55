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
from discreet.protect.simulation import move_kernels


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


@pytest.mark.parametrize("keep", [1, 2])
def test_the_reader_knows_which_share_was_moved(keep: int) -> None:
    table = Table.from_array(np.random.default_rng(3).integers(5, 40, (5, 4, 6)), ["a", "b", "c"])
    method = TableSwapping(keep, 0.1)
    done = method.apply(table, 1)
    (part,) = done.release.parts()
    inner = part.kinds[int(part.kind[(part.codes != 0).all(axis=1)][0])]
    fraction = inner.to_dict()["fraction"]
    assert fraction == 2**keep * done.details["moves"] / table.total == pytest.approx(0.1, abs=0.002)
    # A cell loses about that share of its people: what leaves is half of what a move changes, over many draws.
    rng = np.random.default_rng(5)
    change = method.draws(table, rng, 400) - table.to_array().ravel()
    # Leavers and comers are both of mean r·x, so that the change has a variance of about 2·r·x, and less for repeats.
    spread = change.var(axis=0).sum() / (2 * table.total)
    assert spread == pytest.approx(fraction, rel=0.15)


def test_moves_that_the_margins_prevent_are_not_counted_as_protection() -> None:
    table = Table.from_array([[[1, 0], [0, 9]], [[0, 0], [0, 0]]], ["a", "b", "c"])
    done = TableSwapping(2, 1.0).apply(table, 1)
    assert done.details["wanted"] > done.details["moves"] == 0
    assert {kind.to_dict().get("bound", 0) for part in done.release.parts() for kind in part.kinds} == {0}
    assert dc.audit(done.release).verdict != "safe"
    assert dc.assess(table, protection="table-swapping:keep=2,rate=1.0", seed=1, trial=True).verdict == "withhold"


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


def test_moves_drawn_many_at_a_time_are_the_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KERNELS", "interpreted")
    kernel, compared = move_kernels.exchange, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shape = tuple(rng.integers(2, 5, size=rng.integers(2, 4)))
        table = dc.Table.from_array(
            rng.poisson(rng.choice([0.5, 2, 6]), shape) + 1, [f"d{i}" for i in range(len(shape))]
        )
        method = TableSwapping(rate=float(rng.choice([0.1, 0.4])), keep=int(rng.integers(1, len(shape))))
        streams = [np.random.default_rng(seed) for _ in range(2)]
        found = []
        for function, stream in zip((move_kernels.exchange_many, kernel.function), streams, strict=True):
            monkeypatch.setitem(kernel._variants, True, function)
            found.append(method.draws(table, stream, 2))
        np.testing.assert_array_equal(found[0], found[1])
        assert streams[0].bit_generator.state == streams[1].bit_generator.state
        compared += not np.array_equal(found[0][0], found[0][1])
    assert compared > 30
