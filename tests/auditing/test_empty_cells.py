"""Which cells without a row are empty: the same as going through all sums one by one."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet import Table, Tabulation
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
SPLIT = [("Total", ["north", "south", "e"]), ("north", "ab"), ("south", "cd"), ("Total", ["coast", "land"])]
SPLIT += [("coast", "ac"), ("land", "bde")]


def told_apart(listed: set[str], split: list[tuple[str, Any]], below: dict[str, set[str]]) -> list[str]:
    """Return the finest labels that rows of some labels tell apart."""

    def occurs(label: str) -> bool:
        return label in listed or splits(label)

    def splits(label: str) -> bool:
        return any(occurs(child) for parent, children in split if parent == label for child in children)

    found = {c for _, children in split if any(map(occurs, children)) for c in children if not splits(c)} or {"Total"}
    return [one for one in found if not any(below[other] < below[one] for other in found)]


@pytest.mark.parametrize("seed", range(60))
def test_as_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees, split = ((TREE, OTHER), SPLIT) if seed % 2 else ((TREE,), SPLIT[:3])
    geo_labels = [label for label in BELOW if seed % 2 or label not in ("coast", "land")]
    every = list(itertools.product(geo_labels, SEX))
    figures = Figures.from_array(
        np.ones((len(geo_labels), len(SEX)), int).tolist(),
        {"geo": geo_labels, "sex": list(SEX)},
        hierarchies={"geo": trees},
    )
    space = space_of([figures])
    at = {cell: space.position(dict(zip(("geo", "sex"), cell, strict=True))) for cell in every}
    rows = [cell for cell in every if rng.random() < rng.choice([0.1, 0.3, 0.6])]
    above = [cell for cell in rows if rng.random() < 0.5]
    perhaps = {cell for cell in rows if cell in above or rng.random() < 0.5}
    geos = told_apart({geo for geo, _ in rows}, split, BELOW)
    sexes = told_apart({sex for _, sex in rows}, [("Total", "mf")], SEX)
    empty: set[int] = set()
    told = list(itertools.product(geos, sexes))
    for inner in (list(itertools.product("abcde", "mf")), told):
        # Below what the table does not tell apart, cells are empty only where the sum is.
        sums = set(above) | (perhaps.intersection(told) if inner is not told else set())
        given = {cell for cell in inner if cell in rows}
        parts = {
            cell: [one for one in inner if BELOW[one[0]] <= BELOW[cell[0]] and SEX[one[1]] <= SEX[cell[1]]]
            for cell in sums
        }
        held_back = {one for below in parts.values() if not given & set(below) for one in below}
        empty |= {at[cell] for cell in inner if given and cell not in given and cell not in held_back}
    expected = sorted(empty)
    listed = np.array([at[cell] for cell in rows], np.int64)
    ranges = np.array([cell in above for cell in rows], int), np.array([cell in perhaps for cell in rows], int)
    assert sorted(empty_cells(space, {"geo": 0, "sex": 0}, listed, ranges).tolist()) == expected


REGIONS = Hierarchy.from_parents({"N": "Total", "S": "Total", "n1": "N", "n2": "N", "s1": "S", "s2": "S"})


@pytest.mark.parametrize("seed", range(25))
def test_a_table_of_larger_regions_says_which_of_its_cells_are_empty(seed: int, tmp_path: Path) -> None:
    """Beside a table of smaller regions, or with a hierarchy that has them, readers know no less than without."""
    rng = np.random.default_rng(seed)
    counts = rng.choice([0, 1, 2, 9], (2, 2, 4))  # size, activity, region
    north = 2 * int(rng.integers(2))
    counts[rng.integers(2), :, north : north + 2] = 0  # one size has nobody in the north or the south
    leaves = ["n1", "n2", "s1", "s2"]
    fine = Tabulation.from_table(Table.from_array(counts.sum(0), {"act": ["a", "b"], "region": leaves}))
    by_size = counts.sum(1).reshape(2, 2, 2).sum(2)
    rows, shown = [], []
    sums = {"small": by_size[0], "big": by_size[1], "Total": by_size.sum(0)}
    for size, (north, south) in sums.items():
        for region, value in (("N", north), ("S", south), ("Total", north + south)):
            if value:
                rows.append({"size": size, "region": region})
                shown.append(int(value) if size == "Total" or rng.random() < 0.2 else None)
    lines = [f"{row['size']},{row['region']},{'x' if v is None else v}" for row, v in zip(rows, shown, strict=True)]
    file = tmp_path / "sizes.csv"
    file.write_text("\n".join(["size,region,count", *lines]), encoding="utf-8")
    alone = dc.audit(dc.read_release(file, least=1)).cells
    with_tree = dc.read_release(file, least=1, hierarchies={"region": REGIONS})
    for releases in ([with_tree], [with_tree, Figures.of_tabulation(fine)]):
        found = {_named(one): one for one in dc.audit(releases).cells}
        for one in alone:
            other = found[_named(one)]
            assert one.lower <= other.lower <= other.upper <= one.upper, one.name


def _named(found: Any) -> frozenset[Any]:
    return frozenset(item for item in found.cell.items() if item[1] != "Total")
