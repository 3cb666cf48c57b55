"""Parts of a graph that share no link."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from discreet.core.sparse import components


def test_small_parts_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        size, links = int(rng.integers(1, 30)), int(rng.integers(0, 40))
        left, right = rng.integers(0, size, links), rng.integers(0, size, links)
        graph = coo_array((np.ones(links), (left, right)), shape=(size, size))
        count, label = connected_components(graph.tocsr(), directed=False)
        found, mine = components(left, right, size)
        assert found == count
        assert mine.tolist() == label.tolist()
