"""Drawing the unseen people, for laws that are too large to be computed exactly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.uniques.urn import Urn

_BATCH = 2_000_000


def draw_counts(urn: Urn, weights: FloatArray, draws: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield batches of draws, one row each: how many balls fall on every one of the given cells.

    A reinforced urn is drawn through its mixing law: cell probabilities from the Dirichlet (normalised gammas),
    then a multinomial. Cells that are not given are one cell with the remaining weight.

    >>> rng = np.random.default_rng(1)
    >>> rows = next(draw_counts(Urn(10, 4.0, True), np.array([1.0, 3.0]), 5, rng))
    >>> rows.sum(axis=1).tolist()
    [10, 10, 10, 10, 10]
    """
    rest = max(urn.total - float(weights.sum()), 0.0)
    rest = 0.0 if rest < 1e-12 * urn.total else rest  # what rounding leaves is not a cell
    everything = np.append(weights, rest)
    batch = max(1, _BATCH // everything.size)
    for done in range(0, draws, batch):
        size = min(batch, draws - done)
        shares = rng.standard_gamma(everything, (size, everything.size)) if urn.reinforced else everything
        shares = shares / shares.sum(axis=-1, keepdims=True)
        yield rng.multinomial(urn.balls, shares, size=size)[:, :-1]
