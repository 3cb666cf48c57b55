"""First guesses for cells that no table shows: proportions where the margins alone are known."""

from __future__ import annotations

import numpy as np

from discreet.protect.suppression.completion import fit, spread
from discreet.table.equations import equations_of
from discreet.table.figures import Figures


def test_margins_alone_give_their_product() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        r, c = (np.sort(rng.choice(np.arange(1, 4000), n - 1, replace=False)) for n in (4, 5))
        rows, columns = (np.diff(np.r_[0, cuts, 4000]) for cuts in (r, c))
        inner: list[list[int | None]] = [[*([None] * 5), int(row)] for row in rows]
        figures = [*inner, [*map(int, columns), 4000]]
        stated = equations_of(Figures.from_array(figures, {"r": [*"wxyz", "Total"], "c": [*"abcde", "Total"]}))
        found = spread(stated)
        assert found is not None
        expected = np.outer(rows, columns) / 4000
        assert np.abs(found[stated.hidden].reshape(4, 5) - expected).max() <= 1
        values = fit(stated, found)[stated.hidden].reshape(4, 5)
        assert (values.sum(axis=1) == rows).all()
        assert (values.sum(axis=0) == columns).all()
        assert np.abs(values - expected).max() <= 3


def test_nothing_is_guessed_where_everything_is_known_or_values_can_be_negative() -> None:
    both = {"r": ["x", "y", "Total"]}
    assert spread(equations_of(Figures.from_array([3, 4, 7], both))) is None
    assert spread(equations_of(Figures.from_array([None, None, 7], both), least=-5)) is None
