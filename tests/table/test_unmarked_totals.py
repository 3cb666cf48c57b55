"""Sums among the categories of a dimension are found, whoever forgot to say so; numbers are not taken for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli import running as cli

import discreet as dc
from discreet import DataError, Hierarchy
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.release_reader import release_from_frame
from discreet.table.table import Table
from discreet.table.unmarked_subtotals import refuse_blocks, refuse_nested, refuse_scattered
from discreet.table.unmarked_totals import ListedFigures

LINES = 3


def naive(labels: Sequence[str], values: IntArray, shown: BoolArray) -> bool:
    """Say whether a code is the sum of those directly below it, line by line and code by code."""
    above = [max((o for o in labels if o != one and one.startswith(o)), key=len, default="") for one in labels]

    def seen(parent: str) -> int:
        """Count the lines that show it; -1 if one shows that it is not, or there is nothing to add up."""
        below = [k for k, over in enumerate(above) if over == parent]
        mine, lines = labels.index(parent), 0
        if len(below) < 2:
            return -1
        for line in range(values.shape[1]):
            if not shown[mine, line]:
                continue
            figures = [values[k, line] for k in below if shown[k, line]]
            whole = len(figures) == len(below)
            if values[mine, line] < sum(figures) or (whole and values[mine, line] != sum(figures)):
                return -1
            lines += whole and sum(figure > 0 for figure in figures) > 1
        return lines

    for k, label in enumerate(labels):
        beside = [o for j, o in enumerate(labels) if above[j] == above[k] and len(o) == len(label)]
        if seen(label) >= LINES or (seen(label) > 0 and min(map(seen, beside)) >= 0):
            return True
    return False


@pytest.mark.parametrize("seed", range(4))
def test_against_a_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(150):
        leaves = [f"{a}{b}" for a in "AB" for b in range(1, rng.integers(2, 5))]
        labels = list(rng.permutation([*leaves, *"AB"[: rng.integers(1, 3)]]))
        lines = int(rng.integers(1, 5))
        values = rng.integers(0, 4, (len(labels), lines))
        for parent in set(labels) & {"A", "B"} if rng.random() < 0.7 else ():
            values[labels.index(parent)] = values[[len(o) > 1 and o[0] == parent for o in labels]].sum(axis=0)
        shown = rng.random(values.shape) < rng.choice([0.7, 1.0])
        codes = {"a": np.repeat(np.arange(len(labels)), lines), "b": np.tile(np.arange(lines), len(labels))}
        try:
            refuse_nested(ListedFigures(codes, {"a": labels}, values.ravel(), shown.ravel()))
            refused = False
        except DataError:
            refused = True
        assert refused == naive(labels, values, shown), (labels, values, shown)
        found += refused
    assert 20 < found < 130


SHOWN = pd.DataFrame(
    {"geo": ["DE1", "DE11", "DE12", "DE2", "DE21", "DE22"], "count": ["60", "x", "31", "40", "15", "25"]}
)


def test_a_release_and_an_original_are_refused_alike() -> None:
    """What DE11 hides is DE1 less DE12."""
    with pytest.raises(DataError, match=r"'DE2' of dimension 'geo' seems to be the sum of 'DE21' and 'DE22'"):
        release_from_frame(SHOWN)
    original = SHOWN.assign(count=[60, 29, 31, 40, 15, 25])
    with pytest.raises(DataError, match=r"give the dimension a hierarchy \(hierarchies=\)"):
        Table.from_frame(original)
    assert Table.from_frame(original, total=None).total == 200


def test_a_hierarchy_says_it() -> None:
    tree = Hierarchy.from_parents({"DE11": "DE1", "DE12": "DE1", "DE21": "DE2", "DE22": "DE2"})
    (found,) = dc.audit(release_from_frame(SHOWN, hierarchies={"geo": tree})).cells
    assert (found.lower, found.upper) == (29, 29)


def test_numbered_areas_are_not_sums() -> None:
    counts = [9, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 2]
    areas = pd.DataFrame({"area": [f"w{k}" for k in range(1, 13)], "count": counts})
    assert Table.from_frame(areas).total == sum(counts)


UNITED: dict[str, list[object]] = {"area": ["UK", "N", "S", "W"], "count": [16, 1, 5, 10]}
LATER: dict[str, list[object]] = {"area": ["N", "S", "W", "UK"], "count": [1, 5, 10, 16]}


@pytest.mark.parametrize("given", [UNITED, LATER])
def test_an_original_with_one_line_does_not_hide_its_total_among_its_areas(given: dict[str, list[object]]) -> None:
    """Hidden beside a «UK» that nothing relates to it, N would be the UK less the others."""
    frame = pd.DataFrame(given)
    for judge in (dc.risk, dc.assess, dc.compare, lambda one: dc.suppress(one, "threshold=3")):
        with pytest.raises(DataError, match="category 'UK' of dimension 'area' is the sum of all others in 1 line"):
            judge(frame)
    assert Table.from_frame(frame, total="UK").total == 16
    assert Table.from_frame(frame, total=None).total == 32
    assert dc.risk(frame, hierarchies={"area": Hierarchy.flat(["UK", "N", "S", "W"])}).people == 32


def test_a_total_along_one_of_two_dimensions_is_found() -> None:
    """Without any total, those of the sexes would be lost: a hierarchy says that UK is an area like others."""
    rows = [("N", 1, 4), ("S", 5, 2), ("W", 10, 7), ("UK", 16, 13)]
    long = [
        (area, sex, n) for area, *both in rows for sex, n in zip(("m", "f", "Total"), (*both, sum(both)), strict=True)
    ]
    frame = pd.DataFrame(long, columns=["area", "sex", "count"])
    with pytest.raises(DataError, match=r"'UK' of dimension 'area' is the sum of all others in 2 lines.*hierarchies="):
        Table.from_frame(frame)
    assert dc.risk(frame, hierarchies={"area": Hierarchy.flat(["N", "S", "W", "UK"])}).people == 58
    # A total that is recomputed does not tell that another one is among the categories.
    both = pd.DataFrame({"area": [*LATER["area"], "Total"], "count": [*LATER["count"], 16]})
    with pytest.raises(DataError, match="'UK' of dimension 'area' is the sum of all others in 1 line"):
        Table.from_frame(both, margins="recompute")


def test_a_category_that_some_lines_lack_is_not_their_sum() -> None:
    """A cell without a row is empty, so b is 0 where the others are not."""
    rows = [("m", "a", 5), ("m", "b", 6), ("m", "c", 1), ("f", "a", 4)]
    assert Table.from_frame(pd.DataFrame(rows, columns=["sex", "size", "count"])).total == 16


def naive_blocks(values: IntArray, shown: BoolArray) -> bool:
    """Say whether a category is the sum of two or more next to it, line by line and block by block."""
    size = len(values)
    blocks = [(i, range(i + 1, k)) for i in range(size) for k in range(i + 3, size + 1)]
    blocks += [(i, range(k, i)) for i in range(size) for k in range(i - 1)]
    for parent, block in blocks:
        lines, fits = 0, True
        for line in range(values.shape[1]):
            if not shown[parent, line]:
                continue
            figures = [values[k, line] for k in block if shown[k, line]]
            whole = len(figures) == len(block)
            fits &= values[parent, line] >= sum(figures) and (not whole or values[parent, line] == sum(figures))
            lines += whole and sum(figure > 0 for figure in figures) > 1
        if fits and lines >= LINES:
            return True
    return False


def test_subtotals_next_to_their_parts_against_a_slow_twin() -> None:
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(300):
        values = rng.integers(0, 4, (int(rng.integers(4, 7)), int(rng.integers(2, 6))))
        if rng.random() < 0.5:
            values[0] = values[1:3].sum(axis=0)
        shown = rng.random(values.shape) < rng.choice([0.9, 1.0])
        codes = {name: code.ravel() for name, code in zip("ab", np.indices(values.shape), strict=True)}
        refused = False
        try:
            labels = {"a": [f"x{k}x" for k in range(len(values))]}
            refuse_blocks(ListedFigures(codes, labels, values.ravel(), shown.ravel()))
        except DataError:
            refused = True
        assert refused == naive_blocks(values, shown), values
        found += refused
    assert 20 < found < 250


def test_england_is_no_region() -> None:
    """Its regions are listed below it, and hidden in a release they would follow from it."""
    counts = {"England": [9, 20, 14], "north": [5, 9, 8], "south": [4, 11, 6], "Wales": [7, 8, 2]}
    frame = pd.DataFrame(counts, index=["0-15", "16-64", "65+"]).T
    wide = frame.reset_index(names="area")
    remedy = r"leave it out and give the dimension a hierarchy \(hierarchies=\), which adds it up"
    with pytest.raises(DataError, match=rf"'England' of dimension 'area' seems to be the sum of .*{remedy}"):
        Table.from_frame(wide)
    shown = wide.astype(str)
    shown.loc[1, "0-15"] = shown.loc[2, "0-15"] = "x"
    with pytest.raises(DataError, match="'England' of dimension 'area'"):
        release_from_frame(pd.concat([shown.assign(**{"85+": ["5", "2", "3", "1"]})]))
    tree = Hierarchy.from_parents({"north": "England", "south": "England", "England": "Total", "Wales": "Total"})
    assert dc.risk(wide[wide["area"] != "England"], hierarchies={"area": tree}).people == 60
    with pytest.raises(DataError, match=r"'England' of dimension 'area' is not among the finest .* leave it out"):
        dc.risk(wide, hierarchies={"area": tree})


def test_a_subtotal_among_its_parts_is_found_against_a_slow_twin(tmp_path: Path) -> None:
    """In the order of the alphabet, active people stand before the employed, and these far from the unemployed."""
    rng = np.random.default_rng(8)
    for size in (4, 5, 6):
        for made in (True, False) * 8:
            values = rng.integers(1, 90, (size, 4))
            parent, *parts = rng.permutation(size)[: int(rng.integers(3, size + 1))].tolist()
            if made:
                values[parent] = values[parts].sum(axis=0)
            others = {k: [j for j in range(size) if j != k] for k in range(size)}
            naive = any(
                (values[list(some)].sum(axis=0) == values[k]).all()
                for k in range(size)
                for count in range(2, size)
                for some in combinations(others[k], count)
            )
            codes = {name: code.ravel() for name, code in zip("ab", np.indices(values.shape), strict=True)}
            labels = {"a": [f"x{k}x" for k in range(size)]}
            refused = False
            try:
                refuse_scattered(ListedFigures(codes, labels, values.ravel(), np.ones(values.size, bool)))
            except DataError:
                refused = True
            assert refused == naive == made
    rows = "".join(
        f"a{k},active,{e + u}\na{k},employed,{e}\na{k},inactive,{i}\na{k},unemployed,{u}\n" for k, e, u, i in LABOUR
    )
    (tmp_path / "t.csv").write_text("area,status,count\n" + rows, encoding="utf-8")
    seems = "category 'active' of dimension 'status' seems to be the sum of 'employed' and 'unemployed'"
    with pytest.raises(DataError, match=seems):
        dc.suppress(tmp_path / "t.csv", "threshold=3")
    hidden = rows.replace("unemployed,2\n", "unemployed,x\n").replace("inactive,7\n", "inactive,x\n")
    (tmp_path / "r.csv").write_text("area,status,count\n" + hidden, encoding="utf-8")
    for command in (("protect", "suppress", "t.csv", "--rule", "threshold=3"), ("audit", "r.csv"), ("assess", "t.csv")):
        assert seems in cli.refused(
            cli.run(command[0], *(tmp_path / one if "." in one else one for one in command[1:]))
        )


LABOUR = [(0, 20, 9, 7), (1, 42, 2, 7), (2, 51, 8, 14), (3, 17, 6, 19), (4, 33, 5, 12), (5, 28, 4, 9)]


def test_small_counts_are_sums_by_chance() -> None:
    frame = pd.DataFrame({"a": [1, 2, 1], "b": [2, 3, 2], "c": [1, 0, 3], "d": [1, 1, 1]}, index=["x", "y", "z"])
    assert Table.from_frame(frame.reset_index(names="area")).total == 18
