"""How many tables fit: counts that others have published."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.feasible.draw.counting import count_tables
from discreet.feasible.reduction import reduce
from discreet.table.equations import equations_of
from discreet.table.figures import Figures


@pytest.mark.parametrize(("k", "tables"), [(1, 12), (2, 132), (3, 847), (4, 3921)])
def test_three_way_tables_with_all_two_way_margins_alike(k: int, tables: int) -> None:
    shown = np.full((4, 4, 4), None, object)
    totals = (np.indices(shown.shape) == 3).sum(axis=0)
    for summed, figure in ((1, k), (2, 3 * k), (3, 9 * k)):
        shown[totals == summed] = figure
    labels = {name: ["1", "2", "3", "Total"] for name in "abc"}
    (group,) = reduce(equations_of(Figures.from_array(shown.tolist(), labels)), join=False).groups
    assert count_tables(group).tables == tables
