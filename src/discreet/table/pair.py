"""An original and a released table joined cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray, sorted_union
from discreet.table.release import Release, published
from discreet.table.table import Table


@dataclass(frozen=True)
class Pair:
    """Both tables' counts on the cells where either is not empty."""

    table: Table
    cells: IntArray
    original: IntArray
    released: IntArray


def pair(original: Table, released: Table | Release) -> Pair:
    """Join an original and a released table by the labels of their cells.

    >>> F = Table.from_array([3, 0, 1], ["month"])
    >>> pair(F, Table.from_array([3, 2, 0], ["month"])).released.tolist()
    [3, 2, 0]
    """
    figures = published(released).aligned_to(original)
    cells = sorted_union(original.cells, figures.cells)
    impossible = np.isin(cells, original.impossible)
    if impossible.any():
        cell = int(cells[np.argmax(impossible)])
        raise DataError(
            f"cell {original.describe(cell)} is impossible in the original, but the released table puts people "
            "there; take it off the structural zeros or correct the release"
        )
    before, after = np.zeros(cells.size, np.int64), np.zeros(cells.size, np.int64)
    before[np.searchsorted(cells, original.cells)] = original.counts
    after[np.searchsorted(cells, figures.cells)] = figures.counts
    return Pair(original, cells, before, after)
