"""The test of a log-linear model against the sample: its figures, its level and its power."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.core.errors import RequestError
from discreet.models import LogLinear, goodness_of_fit
from discreet.models.goodness import degrees_of_freedom, deviance
from discreet.table import Table

NAMES = ["a", "b", "c"]
MODELS = [None, (("a", "b"), ("c",)), (("a", "b"), ("b", "c")), (("a", "b"), ("a", "c"), ("b", "c"))]


def plain_deviance(counts: np.ndarray, expected: np.ndarray) -> float:
    pairs = zip(counts.ravel().tolist(), expected.ravel().tolist(), strict=True)
    return float(2 * sum(f * math.log(f / mu) for f, mu in pairs if f))


def plain_df(table: Table, margins: tuple[tuple[str, ...], ...]) -> int:
    """Cells less the rank of the design matrix, written out."""
    cells = list(product(*(range(length) for length in table.shape)))
    columns = [
        [float(all(cell[table.axis(name)] == at for name, at in zip(margin, levels, strict=True))) for cell in cells]
        for margin in margins
        for levels in product(*(range(table.shape[table.axis(name)]) for name in margin))
    ]
    return len(cells) - int(np.linalg.matrix_rank(np.array(columns)))


@pytest.mark.parametrize("margins", MODELS)
def test_figures_are_those_of_the_textbook(margins: tuple[tuple[str, ...], ...] | None) -> None:
    rng = np.random.default_rng(1)
    table = Table.from_array(rng.integers(5, 40, (2, 3, 4)), NAMES)
    fitted = LogLinear(margins).fit(table)
    found = goodness_of_fit(LogLinear(margins), table, seed=1)
    assert found.g2 == pytest.approx(plain_deviance(table.to_array(), fitted.expected))
    assert found.df == degrees_of_freedom(table, fitted) == plain_df(table, fitted.margins)
    assert found.p is not None
    # Counts of this size are well described by χ²; 99 draws tell p within 0.1 or so.
    assert found.p == pytest.approx(chi2.sf(found.g2, found.df), abs=0.15)


def test_a_true_model_is_seldom_rejected_also_where_most_cells_are_empty() -> None:
    rng = np.random.default_rng(2)
    p = np.multiply.outer(np.multiply.outer(rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(6))), [0.5, 0.3, 0.2])
    tables = [Table.from_array(rng.multinomial(60, p.ravel()).reshape(p.shape), NAMES) for _ in range(60)]
    rejected = sum(goodness_of_fit(LogLinear(), table, seed=1).p < 0.05 for table in tables)  # type: ignore[operator]
    assert rejected <= 8


def test_ties_between_dimensions_are_found() -> None:
    counts = np.full((4, 4), 1) + 20 * np.eye(4, dtype=int)
    found = goodness_of_fit(LogLinear(), Table.from_array(counts, NAMES[:2]), seed=1)
    assert found.p == 0.01
    assert found.df == 9


def test_a_model_that_repeats_the_sample_cannot_be_tested() -> None:
    table = Table.from_array([[4, 0, 3], [1, 7, 0]], NAMES[:2])
    assert goodness_of_fit(LogLinear((("a", "b"),)), table, seed=1).p is None
    diagonal = np.zeros((3, 3, 3), int)
    diagonal[range(3), range(3), range(3)] = 9
    pairs = LogLinear((("a", "b"), ("a", "c")))
    assert goodness_of_fit(pairs, Table.from_array(diagonal, NAMES), seed=1).p is None


def test_seed_and_workers() -> None:
    table = Table.from_array([[4, 1, 3], [1, 7, 2]], NAMES[:2])
    assert goodness_of_fit(LogLinear(), table, seed=3, workers=1) == goodness_of_fit(LogLinear(), table, seed=3)
    with pytest.raises(RequestError, match="19 or more"):
        goodness_of_fit(LogLinear(), table, draws=5)
    assert deviance(np.array([0, 2]), np.array([0.0, 2.0])) == 0
