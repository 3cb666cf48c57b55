"""Sums among the categories of a dimension are found, whoever forgot to say so; numbers are not taken for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import DataError, Hierarchy
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.release_reader import release_from_frame
from discreet.table.table import Table
from discreet.table.unmarked_totals import refuse_nested

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
            refuse_nested(codes, {"a": labels}, values.ravel(), shown.ravel())
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
