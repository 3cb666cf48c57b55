"""Who contributed what, against the same added up one entry after the other."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from discreet.table.axis import Axis
from discreet.table.grid import Dimension, Grid
from discreet.table.hierarchy import Hierarchy
from discreet.table.units import respondents_of


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("crossed", [(("a", "b"),), (("a", "b"), ("b", "c"), ("a", "c")), (("a",), ("a", "b"))])
def test_respondents_are_those_of_single_entries(several: bool, crossed: tuple[tuple[str, ...], ...]) -> None:
    """In whatever order entries come, and also where two crossings share a cell, as where a leaf is the total."""
    rng = np.random.default_rng(7)
    axes = [Axis(name, (Hierarchy.flat(Dimension(name, ("x", "y", "z")).categories),)) for name in "abc"]
    grid = Grid(tuple(len(axis) for axis in axes))
    for _ in range(20):
        names = rng.permutation([f"p{i}" for i in range(8)])
        who = rng.choice(names, 12) if several else names
        codes = [rng.integers(0, 4, who.size) for _ in axes]
        records, amounts = rng.integers(1, 5, who.size), rng.integers(0, 9, (2, who.size)).astype(float)
        slow: dict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0] * 3)
        for margin in crossed:
            for i, name in enumerate(who):
                place = [code[i : i + 1] * (axis.name in margin) for axis, code in zip(axes, codes, strict=True)]
                entry = slow[str(name), int(grid.encode(place)[0])]
                for k, figure in enumerate((records[i], *amounts[:, i])):
                    entry[k] += figure
        found = respondents_of(axes, crossed, pa.array(who.tolist()), codes, records, amounts)
        rows = zip(found.unit.tolist(), found.cell.tolist(), found.records, *found.amounts, strict=True)
        told = [((found.names[unit], cell), [float(figure) for figure in figures]) for unit, cell, *figures in rows]
        assert told == sorted(slow.items())
