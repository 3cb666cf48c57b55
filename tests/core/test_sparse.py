"""Sparse rows and the parts of a graph: what they do is what SciPy does, which discreet does not need."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse import coo_array, csr_array, hstack, vstack
from scipy.sparse.csgraph import connected_components

from discreet.core import sparse
from discreet.core.sparse import Rows, components


def test_parts_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    for case in range(2001):
        size, links = int(rng.integers(1, 30)), int(rng.integers(0, 40))
        if case == 2000:
            size, links = 50_000, 40_000
        left, right = rng.integers(0, size, links), rng.integers(0, size, links)
        graph = coo_array((np.ones(links), (left, right)), shape=(size, size))
        count, label = connected_components(graph.tocsr(), directed=False)
        found, mine = components(left, right, size)
        assert found == count
        assert mine.tolist() == label.tolist()


def test_a_long_chain_is_one_part() -> None:
    order = np.random.default_rng(2).permutation(30_000)
    for chain in (order, np.arange(30_000), np.arange(30_000)[::-1]):
        count, label = components(chain[:-1], chain[1:], 30_000)
        assert count == 1
        assert not label.any()


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_rows_do_what_scipy_does(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    monkeypatch.setattr(sparse, "AT_ONCE", 40)  # products in several pieces
    for _ in range(300):
        m, n, k = (int(rng.integers(1, 12)) for _ in range(3))
        one, a = _pair(rng, m, n, kind)
        other, b = _pair(rng, n, k, kind)
        beside, c = _pair(rng, m, k, kind)
        x, y = rng.integers(-9, 9, n), rng.integers(-9, 9, m).astype(float)
        assert one.sums(x).tolist() == (a @ x).tolist()
        assert one.combined(y, n).tolist() == (a.T @ y).tolist()
        which, columns = rng.integers(0, m, 4), rng.permutation(n)[: int(rng.integers(1, n + 1))]
        _same(one.taken(which), a[which])
        _same(one.among(columns, n), a[:, columns])
        _same(one.across(n), a.T)
        _same(one.times(other, k), a @ b)
        _same(one.beside(beside, n), hstack([a, c]))
        _same(one.above(one), vstack([a, a]))
        assert (one.times(other, k).values != 0).all()


def _pair(rng: np.random.Generator, rows: int, columns: int, kind: type) -> tuple[Rows, csr_array]:
    count = int(rng.integers(0, 3 * rows + 1))
    row, column = rng.integers(0, rows, count), rng.integers(0, columns, count)
    values: npt.NDArray[Any] = rng.integers(-3, 4, count).astype(kind)
    theirs = coo_array((values, (row, column)), shape=(rows, columns)).tocsr()
    mine = Rows.gathered(row, column, values, (rows, columns))
    theirs.sum_duplicates()
    theirs.eliminate_zeros()
    assert mine.starts.tolist() == theirs.indptr.tolist()
    assert mine.columns.tolist() == theirs.indices.tolist()
    assert mine.values.tolist() == theirs.data.tolist()
    return mine, theirs


def _same(mine: Rows, theirs: csr_array) -> None:
    assert mine.dense(theirs.shape[1]).tolist() == theirs.toarray().tolist()
