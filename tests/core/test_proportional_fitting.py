"""The three that fit proportionally agree where they are asked for the same."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.models.ipf import fit
from discreet.protect.suppression.completion import spread
from discreet.table import Release, Table
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.guess import best_guess


@pytest.mark.parametrize("seed", range(5))
def test_margins_guesses_and_first_values_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # A table of one product form with wide cells: rounded to integers, all three say the same.
    rows, columns = rng.integers(2, 30, 4), rng.integers(2, 30, 5)
    inner = np.outer(rows, columns)
    both = {"r": [*"abcd", "Total"], "c": [*"vwxyz", "Total"]}
    shown = np.full((5, 6), None, dtype=object)
    shown[:-1, -1], shown[-1, :-1], shown[-1, -1] = inner.sum(axis=1), inner.sum(axis=0), inner.sum()
    figures = Figures.from_array(shown.tolist(), both)
    margins = [((0,), inner.sum(axis=1)), ((1,), inner.sum(axis=0))]
    np.testing.assert_allclose(fit(np.ones(inner.shape), margins).values, inner, rtol=1e-12)
    table = Table.from_array(inner, {name: labels[:-1] for name, labels in both.items()})
    np.testing.assert_allclose(best_guess(Release.of(figures), table).values, inner.ravel(), rtol=1e-9)
    equations = equations_of(figures)
    first = spread(equations)
    assert first is not None
    assert first[equations.hidden].tolist() == inner.ravel().tolist()
