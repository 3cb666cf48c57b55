"""Zeros in files: every empty cell and category of a suppressed table is in print, and nothing else is added."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.reading.published import open_release
from discreet.table.figures import Figures
from discreet.table.listed_zeros import with_zeros

TREE = dc.Hierarchy.from_parents({"n1": "north", "n2": "north", "south": "Total"})


def sparse(seed: int) -> tuple[np.ndarray, dc.Tabulation]:
    """Return counts of three areas by three groups, many of them 0, and the table with its margins."""
    counts = np.random.default_rng(seed).poisson(1.0, (3, 3))
    counts[0, 0] += 1
    table = dc.Table.from_array(counts, {"area": ["n1", "n2", "south"], "group": ["a", "b", "c"]})
    return counts, dc.Tabulation.from_table(table, hierarchies={"area": TREE})


@pytest.mark.parametrize("seed", range(40))
def test_every_combination_has_the_row_that_brute_force_gives_it(seed: int) -> None:
    counts, tabulation = sparse(seed)
    areas = {"Total": [0, 1, 2], "north": [0, 1], "n1": [0], "n2": [1], "south": [2]}
    groups = {"Total": [0, 1, 2], "a": [0], "b": [1], "c": [2]}
    expected = {(a, g): int(counts[np.ix_(areas[a], groups[g])].sum()) for a, g in itertools.product(areas, groups)}
    listed = with_zeros(Figures.of_tabulation(tabulation))
    found = {
        (listed.labels["area"][i], listed.labels["group"][j]): int(value)
        for (i, j), value in zip(listed.codes.tolist(), listed.values, strict=True)
    }
    assert found == expected
    assert list(map(tuple, listed.codes.tolist())) == sorted(map(tuple, listed.codes.tolist()))


def test_margins_that_nobody_published_stay_away() -> None:
    inner = Figures.from_array([[3, 1], [2, 5]], {"area": ["n", "s"], "sex": ["Total", "f"]})
    kept = Figures(inner.labels, inner.codes[[1, 3]], inner.values[[1, 3]], inner.kind[[1, 3]])
    assert len(with_zeros(kept)) == 2, "the totals have no row, and that does not make them 0"


def test_unpublished_cells_and_very_sparse_tables_are_left_alone() -> None:
    labels = {"x": [f"x{i}" for i in range(60)], "y": [f"y{i}" for i in range(60)]}
    diagonal = np.stack([np.arange(60), np.arange(60)], axis=1)
    few = Figures(
        {name: tuple(codes) for name, codes in labels.items()}, diagonal, np.ones(60, np.int64), np.zeros(60, np.int64)
    )
    assert with_zeros(few) is few
    asked = Figures.from_array([3, 1], {"x": ["a", "b"]}, absent="unpublished")
    kept = Figures(asked.labels, asked.codes[:1], asked.values[:1], asked.kind[:1], absent="unpublished")
    assert with_zeros(kept) is kept


@pytest.mark.parametrize("ending", ["csv", "xlsx", "tab"])
def test_a_suppressed_table_keeps_its_empty_cells_and_categories(tmp_path: Path, ending: str) -> None:
    table = dc.Table.from_array([[1, 5], [4, 0], [0, 0], [10, 9]], {"area": ["a", "b", "c", "d"], "sex": ["m", "f"]})
    release = dc.suppress(table, "threshold=3").release
    (path,) = release.write(tmp_path / f"release.{ending}")
    again = open_release(path)
    read = again.parts()[0]
    shown = {
        tuple(read.labels[n][c] for n, c in zip(read.names, row, strict=True)): i for i, row in enumerate(read.codes)
    }
    assert len(shown) == 15
    for cell in [("b", "f"), ("c", "m"), ("c", "f"), ("c", "Total")]:
        assert read.text(shown[cell]) == "0"
    assert dc.audit(again).verdict == dc.audit(release).verdict


def test_frames_have_the_zeros_too() -> None:
    table = dc.Table.from_array([[1, 5], [4, 0], [6, 9]], {"area": ["a", "b", "c"], "sex": ["m", "f"]})
    frame = dc.suppress(table, "threshold=3").release.to_frame()
    assert frame.set_index(["area", "sex"]).loc[("b", "f"), "count"] == 0
