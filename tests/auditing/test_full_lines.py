"""Lines of which readers can tell that all people, or all but a few, are in one cell, against every table that fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import discreet as dc
from discreet.auditing.audit import audit
from discreet.auditing.full_lines import KnownRanges, full_lines, lines_told
from discreet.core.clock import Clock
from discreet.table.equations import equations_of
from discreet.table.figures import Absent, Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.tabulation import Tabulation

ROWS = {"r": (0,), "s": (1,), "Total": (0, 1)}
COLUMNS = {"a": (0,), "b": (1,), "c": (2,), "g": (1, 2), "Total": (0, 1, 2)}
TREE = Hierarchy.from_parents({"b": "g", "c": "g", "a": "Total"})
LINES = [
    *(([(row, "a"), (row, "g")], (row, "Total")) for row in ROWS),
    *(([(row, "b"), (row, "c")], (row, "g")) for row in ROWS),
    *(([("r", column), ("s", column)], ("Total", column)) for column in COLUMNS),
]
MOST = 3


def summed(tables: np.ndarray, row: str, column: str) -> np.ndarray:
    """Return a figure of every table."""
    return np.asarray(tables[..., ROWS[row], :][..., COLUMNS[column]].sum(axis=(-1, -2)))


EVERY = np.array(list(itertools.product(range(MOST + 1), repeat=6))).reshape(-1, 2, 3)


@pytest.mark.parametrize("seed", range(150))
def test_lines_are_told_where_they_are_full_in_every_table_that_fits(seed: int) -> None:
    """Sums are printed or not, categories are merged or not, and figures are hidden at random.

    Where b and c have no row, but what they add up to has one, they are not published, whether or not that is said.
    """
    draw = np.random.default_rng(seed)
    coalition = int(draw.integers(0, 3))
    truth = np.minimum(draw.poisson(draw.choice([0.2, 0.5, 2.0], (2, 3))), MOST)
    if not truth.any():
        return
    rows = [["r", "s"], ["r", "s", "Total"]][int(draw.integers(2))]
    inner = [["a", "b", "c"], ["a", "g"], ["a", "b", "c", "g"]][int(draw.integers(3))]
    columns = [*inner, "Total"] if draw.integers(2) else inner
    cells: list[list[int | None]] = [
        [None if draw.random() < 0.3 else int(summed(truth, row, column)) for column in columns] for row in rows
    ]
    mark = Kind("suppressed", least=0)
    absent: Absent = "unpublished" if seed % 2 else "empty"
    shown = Figures.from_array(cells, {"y": rows, "x": columns}, mark=mark, absent=absent, hierarchies={"x": (TREE,)})
    fits = EVERY
    for row, found in zip(rows, cells, strict=True):
        for column, value in zip(columns, found, strict=True):
            fits = fits if value is None else fits[summed(fits, row, column) == value]
    expected = set()
    for line, whole in LINES:
        for cell in line:
            others = np.sum([summed(fits, *other) for other in line if other != cell], axis=0)
            if summed(truth, *cell) > 0 and others.max() <= coalition:
                expected.add((whole, cell))
    original = Tabulation.from_table(
        dc.Table.from_array(truth, {"y": ["r", "s"], "x": ["a", "b", "c"]}), hierarchies={"x": TREE}
    )
    told = lines_told(audit(shown, most=MOST), original, original.records.astype(float), coalition)
    found_lines = set()
    for one in told.found:
        labels = [told.equations.cell(i) for i in (one.whole, one.cell)]
        found_lines.add(tuple((label["y"], label["x"]) for label in labels))
    assert (found_lines, told.unfinished) == (expected, 0)


def test_what_others_can_be_together_counts_and_not_what_each_can_be() -> None:
    """Of b and c, either may be 1, but both are 1 together: all but one person of n are in a."""
    labels = {"area": ["n", "s", "Total"], "job": ["a", "b", "c", "Total"]}
    shown = Figures.from_array([[7, None, None, 8], [3, None, None, 12], [10, 5, 5, 20]], labels)
    e = equations_of(shown)
    at = e.find({"area": "n", "job": "a"})
    known = KnownRanges(e.lower, np.minimum(e.upper, 1 + 99 * e.exact), e.lower, e.lower, e.lower > 0)
    assert {one.cell for one in full_lines(e, known, 1).found if one.whole == e.find({"area": "n"})} == {at}


def test_lines_that_time_did_not_suffice_for_are_counted() -> None:
    cells: list[list[int | None]] = [[None] * 6 + [9] for _ in range(6)]
    cells.append([*([9] * 6), 54])
    labels = {name: [*(f"{name}{i}" for i in range(6)), "Total"] for name in ("y", "x")}
    e = equations_of(Figures.from_array(cells, labels))
    low = np.zeros_like(e.lower)
    told = full_lines(e, KnownRanges(e.lower, e.upper, low, low, np.ones(low.size, bool)), 1, Clock.within(0))
    assert told.unfinished
