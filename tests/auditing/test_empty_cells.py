"""Which cells without a row are empty: the same as going through all sums one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.overlay import empty_cells
from discreet.table.space import space_of

TREE = Hierarchy.from_parents([("a", "north"), ("b", "north"), ("c", "south"), ("d", "south"), ("e", None)])
OTHER = Hierarchy.from_parents({"a": "coast", "c": "coast", "b": "land", "d": "land", "e": "land"})
BELOW = {
    **{leaf: {leaf} for leaf in "abcde"},
    **{"north": {"a", "b"}, "south": {"c", "d"}, "coast": {"a", "c"}, "land": {"b", "d", "e"}, "Total": set("abcde")},
}
SEX = {"m": {"m"}, "f": {"f"}, "Total": {"m", "f"}}


@pytest.mark.parametrize("seed", range(60))
def test_as_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = list(itertools.product(BELOW, SEX))
    figures = Figures.from_array(
        np.ones((len(BELOW), len(SEX)), int).tolist(),
        {"geo": list(BELOW), "sex": list(SEX)},
        hierarchies={"geo": (TREE, OTHER)},
    )
    space = space_of([figures])
    at = {cell: space.position(dict(zip(("geo", "sex"), cell, strict=True))) for cell in every}
    rows = [cell for cell in every if rng.random() < rng.choice([0.1, 0.3, 0.6])]
    above = [cell for cell in rows if rng.random() < 0.5]
    inner = list(itertools.product("abcde", "mf"))
    given = {cell for cell in inner if cell in rows}
    bare = [below for geo, sex in above if not given & (below := set(itertools.product(BELOW[geo], SEX[sex])))]
    held_back = set().union(*bare)
    expected = sorted(at[cell] for cell in inner if given and cell not in given and cell not in held_back)
    listed, positive = (np.array([at[cell] for cell in cells], np.int64) for cells in (rows, above))
    assert sorted(empty_cells(space, {"geo": 0, "sex": 0}, listed, positive).tolist()) == expected
