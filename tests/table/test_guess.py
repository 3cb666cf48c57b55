from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import discreet as dc
from discreet.core.errors import DataError
from discreet.table.figures import Figures
from discreet.table.guess import best_guess
from discreet.table.hierarchy import Hierarchy
from discreet.table.release import Release
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation


def random_case(seed: int) -> tuple[Table, Release]:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 5)), int(rng.integers(2, 5)))
    table = Table.from_array(rng.poisson(2.0, shape) + (rng.random(shape) < 0.1), ["a", "b"])
    cells = Tabulation.from_table(table).with_empty_cells()
    codes = np.stack([cells.codes(name) for name in table.names], axis=1)
    inner = (codes > 0).all(axis=1)
    hidden = (inner & (rng.random(len(cells)) < 0.5)) | (
        ~inner & (codes > 0).any(axis=1) & (rng.random(len(cells)) < 0.2)
    )
    return table, Release.of(Figures.of_tabulation(cells, hidden=hidden))


def slow_guess(table: Table, release: Release) -> Any:
    """Maximise entropy under the published sums with a general optimiser."""
    figures = release.parts()[0]
    shape = table.shape
    known = np.full(shape, np.nan)
    rows, right = [], []
    for row in range(len(figures)):
        if figures.hidden[row]:
            continue
        a, b = (int(code) for code in figures.codes[row])
        mask = np.zeros(shape)
        mask[slice(None) if a == 0 else a - 1, slice(None) if b == 0 else b - 1] = 1
        if a and b:
            known[a - 1, b - 1] = figures.values[row]
        else:
            rows.append(mask)
            right.append(float(figures.values[row]))
    free = np.isnan(known)
    fixed = np.nan_to_num(known)
    matrix = np.array([mask[free] for mask in rows])
    rest = np.array([value - (mask * fixed).sum() for mask, value in zip(rows, right, strict=True)])
    keep = matrix.any(axis=1)
    matrix, rest = matrix[keep], rest[keep]
    zero = np.zeros(int(free.sum()), bool)
    for line, value in zip(matrix, rest, strict=True):
        if value == 0:
            zero |= line > 0
    live = ~zero
    # An optimiser stumbles over sums that follow from others.
    kept: list[int] = []
    for i in range(len(matrix)):
        if np.linalg.matrix_rank(matrix[[*kept, i]][:, live]) == len(kept) + 1:
            kept.append(i)
    matrix, rest = matrix[kept], rest[kept]
    if not live.any():
        found = np.zeros(zero.size)
    else:
        done = minimize(
            lambda x: float((x * np.log(np.maximum(x, 1e-300)) - x).sum()),
            np.full(int(live.sum()), max(float(rest.max(initial=1.0)) / live.sum(), 0.1)),
            jac=lambda x: np.log(np.maximum(x, 1e-300)),
            bounds=[(1e-9, None)] * int(live.sum()),
            constraints=[{"type": "eq", "fun": lambda x: matrix[:, live] @ x - rest, "jac": lambda x: matrix[:, live]}],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        found = np.zeros(zero.size)
        found[live] = done.x
    fixed[free] = found
    return fixed


@pytest.mark.parametrize("seed", range(40))
def test_the_guess_keeps_what_is_published_and_has_the_largest_entropy(seed: int) -> None:
    table, release = random_case(seed)
    guess = best_guess(release, table)
    dense = np.zeros(table.size)
    dense[guess.cells] = guess.values
    fitted = dense.reshape(table.shape)
    figures = release.parts()[0]
    for row in np.flatnonzero(~figures.hidden):
        a, b = (int(code) for code in figures.codes[row])
        total = fitted[slice(None) if a == 0 else a - 1, slice(None) if b == 0 else b - 1].sum()
        # Where the sums leave a cell nothing, fitting approaches that slowly.
        assert total == pytest.approx(int(figures.values[row]), abs=1e-3 * max(table.total, 1))
    if seed < 15 and table.total:
        slow = slow_guess(table, release)
        np.testing.assert_allclose(fitted, slow, atol=0.02)


def test_nothing_hidden_is_the_table_itself() -> None:
    table = dc.datasets.religion()
    cells = Tabulation.from_table(table)
    shown = Release.of(Figures.of_tabulation(cells))
    assert dc.risk(table, shown).value == pytest.approx(dc.risk(table).value, abs=1e-12)
    assert dc.information_loss(table, shown).utility == 1


def test_hiding_more_never_teaches_more() -> None:
    table = dc.datasets.religion()
    cells = Tabulation.from_table(table).with_empty_cells()
    values = []
    for least in (0, 3, 10, 100, 10_000):
        shown = Figures.of_tabulation(cells, hidden=(cells.records < least) & (cells.records > 0))
        values.append(dc.risk(table, Release.of(shown)).value)
    assert values[0] == pytest.approx(dc.risk(table).value, abs=1e-12)
    assert values == sorted(values, reverse=True)


def test_margins_alone_are_independence() -> None:
    table = dc.datasets.sex()
    cells = Tabulation.from_table(table)
    inner = cells.inner(table.names)
    guess = best_guess(Release.of(Figures.of_tabulation(cells, hidden=inner)), table)
    F = table.to_array()
    expected = np.outer(F.sum(axis=1), F.sum(axis=0)) / F.sum()
    dense = np.zeros(table.size)
    dense[guess.cells] = guess.values
    np.testing.assert_allclose(dense.reshape(F.shape), expected, rtol=1e-4)
    assert guess.fits


def test_merged_categories_are_spread_evenly() -> None:
    table = Table.from_array([3, 1, 6], {"size": ["4", "5", "6"]})
    tree = Hierarchy.from_parents({"5": "5+6", "6": "5+6", "4": "Total"})
    shown = Figures(
        {"size": ("4", "5+6")},
        np.array([[0], [1]]),
        np.array([3, 7]),
        np.zeros(2, np.int64),
        hierarchies={"size": (tree,)},
    )
    guess = best_guess(Release.of(shown), table)
    assert guess.values.round(6).tolist() == [3.0, 3.5, 3.5]
    assert guess.open.tolist() == [False, True, True]


def test_hierarchies_and_structural_zeros_are_kept() -> None:
    table = Table.from_array([[2, 0, 4], [1, 5, 0]], {"sex": ["m", "f"], "place": ["a1", "a2", "b"]})
    table = table.with_structural_zeros([{"sex": "m", "place": "a2"}])
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a", "b": "Total"})
    labels = {"sex": ("Total", "m", "f"), "place": ("Total", "a")}
    shown = Figures(
        labels,
        np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]]),
        np.array([12, 6, 6, 8, 2]),
        np.zeros(5, np.int64),
        hierarchies={"place": (tree,)},
        absent="unpublished",
    )
    guess = best_guess(Release.of(shown), table)
    dense = np.zeros(table.size)
    dense[guess.cells] = guess.values
    np.testing.assert_allclose(dense.reshape(2, 3), [[2, 0, 4], [3, 3, 0]], atol=0.02)


def test_rounded_sums_that_contradict_each_other_are_no_fault() -> None:
    table = dc.datasets.religion()
    cells = Tabulation.from_table(table).with_empty_cells()
    rounded = 5 * ((cells.records + 2) // 5)
    hidden = (cells.records > 0) & (cells.records < 8)
    shown = Figures.of_tabulation(cells, hidden=hidden, values=rounded, kind=dc.Kind("conventional", base=5))
    loss = dc.information_loss(table, Release.of(shown))
    assert 0.8 < loss.utility < 1
    assert all(0 <= item.after <= 1 for item in loss.associations)
    assert dc.risk(table, Release.of(shown)).value < dc.risk(table).value


def test_a_release_of_other_categories_is_refused() -> None:
    table = Table.from_array([3, 1], {"size": ["4", "5"]})
    with pytest.raises(DataError, match="'6' of dimension 'size' is not in the original"):
        best_guess(Release.of(Figures.from_array([3, None], {"size": ["4", "6"]})), table)
