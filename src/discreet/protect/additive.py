"""The sums that published figures must satisfy, in compressed rows, for additive protections."""

from __future__ import annotations

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.sparse import Rows, starts_of
from discreet.table.grid import locate
from discreet.table.tabulation import Tabulation


class SumEquations(Rows):
    """Equations Σ sign·figure = 0; the first entry of each is the total, with sign 1."""


def sums_of(cells: Tabulation) -> SumEquations:
    """Return the sums along every dimension and hierarchy of a tabulation that lists its empty cells.

    If all margins are present, sums that follow from others are left out: along a dimension only those at the finest
    categories of the dimensions before it, the one with the deepest hierarchy first. A two-way table with at most one
    hierarchy then has every figure in at most two sums, and is a network.

    >>> from discreet.table import Table
    >>> sums_of(Tabulation.from_table(Table.from_array([[1, 2], [3, 4]], ["a", "b"]))).starts.size - 1
    5
    """
    axes = sorted(cells.axes, key=lambda axis: -len(axis.families()))
    complete = len(cells.margins) == 2 ** len(axes)
    finest = np.ones(len(cells), bool)
    columns: list[IntArray] = []
    lengths: list[IntArray] = []
    for axis in axes:
        codes = cells.codes(axis.name)
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(axis) + 1))
        for node, children in axis.families():
            rows = np.concatenate([order[ends[child] : ends[child + 1]] for child in children])
            rows = rows[finest[rows]] if complete else rows
            above = cells.grid.moved(cells.cells[rows], cells.names.index(axis.name), node)
            place = locate(cells.cells, above)
            rows, place = rows[place >= 0], place[place >= 0]
            by_total = np.argsort(place, kind="stable")
            totals, count = np.unique(place, return_counts=True)
            at = np.cumsum(count) - count
            columns.append(np.insert(rows[by_total], at, totals))
            lengths.append(count + 1)
        if complete:
            finest &= np.isin(codes, axis.leaf_codes)
    starts = starts_of(np.concatenate(lengths) if lengths else [])
    entries = np.concatenate(columns) if columns else np.zeros(0, np.int64)
    signs = np.full(entries.size, -1)
    signs[starts[:-1]] = 1
    return SumEquations(starts, entries, signs)
