"""Stakes: what respondents contributed to published sums, and who of them can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core.numerics import BoolArray, FloatArray, IntArray, sorted_runs
from discreet.table.grid import Grid, locate
from discreet.table.tabulation import Tabulation
from discreet.table.units import Respondents

ONE_CELL = "respondents are not named and are taken to be in one cell each"
"""What to say if a tabulation does not name its respondents."""


def stakes(tabulation: Tabulation, response: str | None) -> tuple[IntArray, IntArray, FloatArray]:
    """Return cell, respondent and contribution (to the response, or records) for everybody in every cell and margin."""
    known = tabulation.respondents
    assert known is not None
    amount = known.amounts[tabulation.response(response)] if tabulation.responses else known.records.astype(np.float64)
    codes = tabulation.grid.decode(known.cell)
    crossed = Grid((2,) * len(codes)).encode([code > 0 for code in reversed(codes)])
    # The total is in itself alone: along dimensions that are not crossed, everybody stays there.
    above = [[(0,), *axis.over[1:]] for axis in tabulation.axes]
    parts = []
    for pattern in np.unique(crossed).tolist():
        mine = np.flatnonzero(crossed == pattern)
        again, position = tabulation.grid.climb(
            [code[mine] for code in codes], above, "tabulate fewer dimensions at once"
        )
        row = locate(tabulation.cells, position)
        listed = row >= 0
        mine = mine[again[listed]]
        parts.append(_added(row[listed], known.unit[mine], amount[mine]))
    row, unit, amount = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Finest margins agree on what they have in common.
    order, start = sorted_runs(row, unit)
    once = order[start]
    return row[once], unit[once], amount[once]


def _added(row: IntArray, unit: IntArray, amount: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    order, start = sorted_runs(row, unit)
    once = order[start]
    return row[once], unit[once], np.add.reduceat(amount[order], start) if start.size else amount


@dataclass(frozen=True, eq=False)
class Stakes:
    """What respondents contributed to positions of linked tables, sorted by respondent and position.

    ``others`` counts the other contributors to the position.
    """

    names: tuple[str, ...]
    unit: IntArray
    at: IntArray
    amount: FloatArray
    others: IntArray

    def chosen(self, mask: BoolArray) -> Stakes:
        """Return some of the entries."""
        return Stakes(self.names, self.unit[mask], self.at[mask], self.amount[mask], self.others[mask])

    def strongest(self) -> Stakes:
        """Leave out respondents who know no more than another one in the same sums, with less in each.

        Knowing that a sum is at least 5 reveals nothing beyond knowing that it is at least 8. Respondents who are alone
        in a sum share it with nobody, and stay.
        """
        if not self.unit.size:
            return self
        start = np.flatnonzero(np.diff(self.unit, prepend=-1))
        size = np.diff(np.r_[start, self.unit.size])
        # The same positions have the same digest; what a digest says is checked below.
        mark = np.random.default_rng(0).integers(1, 2**62, int(self.at.max()) + 1, dtype=np.uint64)
        digest = np.add.reduceat(mark[self.at], start)
        whole = np.add.reduceat(self.amount, start)
        order = np.lexsort((-whole, size, digest))
        first = np.r_[True, (np.diff(digest[order]) != 0) | (np.diff(size[order]) != 0)]
        leader = np.empty(order.size, np.int64)
        leader[order] = order[np.flatnonzero(first)][np.cumsum(first) - 1]
        # Every entry beside that of the one with most in the same sums.
        beside = np.repeat(start[leader] - start, size) + np.arange(self.unit.size)
        less = (
            (self.at[beside] == self.at) & (self.amount[beside] >= self.amount) & (self.others[beside] <= self.others)
        )
        weaker = np.logical_and.reduceat(less, start) & (leader != np.arange(leader.size))
        return self.chosen(~np.repeat(weaker, size))


def joint_stakes(tables: Sequence[Tabulation], places: Sequence[IntArray], response: str | None) -> Stakes:
    """Return what respondents put into linked tables; those of the same name are one.

    If a table does not know its respondents, those that can be recognised are taken. ``places`` are the positions of
    the cells of each table, -1 for cells that do not count.
    """
    index: dict[str, int] = {}
    parts = []
    for table, place in zip(tables, places, strict=True):
        table = table if table.respondents is not None else replace(table, respondents=recognised(table, response))
        assert table.respondents is not None
        number = np.array([index.setdefault(name, len(index)) for name in table.respondents.names], np.int64)
        row, unit, amount = stakes(table, response)
        others = (table.holdings or table.contributors).units[row] - 1
        sums = table.responses[table.response(response)].sums if table.responses else table.records
        # If others have losses, a respondent's contribution above the sum says nothing about it.
        kept = (place[row] >= 0) & ((others == 0) | (amount <= sums[row] * (1 + 1e-12)))
        parts.append((number[unit[kept]], place[row[kept]], amount[kept], others[kept]))
    unit, at, amount, others = (np.concatenate(column) for column in zip(*parts, strict=True))
    order, start = sorted_runs(unit, at)
    if start.size:
        # If tables differ about the same sum, the respondent is given the larger share.
        amount, others = np.maximum.reduceat(amount[order], start), np.minimum.reduceat(others[order], start)
    once = order[start]
    return Stakes(tuple(_said(name) for name in index), unit[once], at[once], amount, others)


def _said(name: str) -> str:
    return name if name.startswith(("holding ", "respondent of ")) else f"respondent {name}"


def recognised(tabulation: Tabulation, response: str | None) -> Respondents:
    """Return the largest contributor of every finest cell, taken to be in no other, as :func:`in_one_cell` says."""
    level = tabulation.holdings or tabulation.contributors
    row = np.unique(np.concatenate([np.flatnonzero(tabulation.inner(margin)) for margin in _finest(tabulation)]))
    row = row[level.units[row] > 0]
    alone = level.units[row] == 1
    amounts = np.zeros((len(tabulation.responses), row.size))
    for k, (one, largest) in enumerate(zip(tabulation.responses, level.largest, strict=False)):
        # The size of a shadow variable says nothing about the amount.
        top = largest.top[row, 0] if largest.top.shape[1] and one.shadow is None else np.zeros(row.size)
        amounts[k] = np.where(alone, one.sums[row], top)
    names = tuple(f"respondent of {tabulation.describe(int(i))}" for i in row)
    records = np.where(alone, tabulation.records[row], 1)
    return Respondents(names, np.arange(row.size), tabulation.cells[row], records, amounts)


def in_one_cell(tabulation: Tabulation) -> bool:
    """Say whether it is certain that nobody is in several of the finest cells of a margin.

    It is if everybody has one record, or if the contributors of the finest cells add up to those of the total.
    """
    level = tabulation.holdings or tabulation.contributors
    if np.array_equal(level.units, tabulation.records):
        return True
    if not len(tabulation) or tabulation.cells[0] != 0:
        return False
    return all(
        int(level.units[tabulation.inner(margin)].sum()) == int(level.units[0]) for margin in _finest(tabulation)
    )


def contributes(tabulation: Tabulation) -> bool:
    """Say whether respondents know more of a table than that they are counted in it once."""
    known = tabulation.respondents
    if tabulation.responses or known is None:
        return bool(tabulation.responses)
    # Everybody is in a finest cell of every finest margin; being in more of them takes several records.
    return bool((known.records > 1).any()) or known.unit.size > len(known) * len(_finest(tabulation))


def _finest(tabulation: Tabulation) -> list[tuple[str, ...]]:
    """Return the margins that no other one contains."""
    margins = [set(margin) for margin in tabulation.margins]
    return [tuple(margin) for margin in tabulation.margins if not any(set(margin) < other for other in margins)]
