"""Stakes: what respondents contributed to published sums, and which of them can be distinguished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core.numerics import BoolArray, FloatArray, IntArray, sorted_runs
from discreet.core.sparse import components
from discreet.table.grid import Grid, locate
from discreet.table.tabulation import Tabulation
from discreet.table.units import Respondents

NOTHING = np.zeros(0, np.int64)
CALLED = ("holding ", "respondent of ")
"""How names begin that say by themselves what kind of attacker it is."""
ONE_CELL = "respondents are not named and are taken to be in one cell each"
"""The message if a tabulation does not name its respondents."""


def stakes(
    tabulation: Tabulation, response: str | None, among: BoolArray | None = None
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return cell, respondent and contribution (to the response, or records) for everybody in every cell and margin.

    With ``among``, only some cells are of interest.
    """
    known = tabulation.respondents
    assert known is not None
    amount = known.amounts[tabulation.response(response)] if tabulation.responses else known.records.astype(np.float64)
    above, parts = _above(tabulation), [(NOTHING, NOTHING, np.zeros(0))]
    for mine, codes in _crossed(tabulation, among):
        if among is not None:
            near = np.flatnonzero(_in_one_of(tabulation, codes, among))
            mine, codes = mine[near], [code[near] for code in codes]
        again, position = tabulation.grid.climb(codes, above, "tabulate fewer dimensions at once")
        row = locate(tabulation.cells, position)
        listed = row >= 0 if among is None else (row >= 0) & among[row]
        mine = mine[again[listed]]
        parts.append(_added(row[listed], known.unit[mine], amount[mine]))
    row, unit, amount = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Finest margins agree on what they have in common.
    order, start = sorted_runs(row, unit)
    once = order[start]
    return row[once], unit[once], amount[once]


def _crossed(tabulation: Tabulation, among: BoolArray | None) -> Iterator[tuple[IntArray, list[IntArray]]]:
    """Yield the entries of respondents in the finest cells of each margin, and these cells as codes.

    Margins in which no cell is of interest may be left out.
    """
    known = tabulation.respondents
    assert known is not None
    if together(tabulation):
        nothing, every = np.zeros(known.cell.size, np.int64), np.arange(known.cell.size)
        cells = tabulation.grid.decode(tabulation.cells if among is None else tabulation.cells[among])
        for margin in _finest(tabulation):
            other = [code > 0 for name, code in zip(tabulation.names, cells, strict=True) if name not in margin]
            if np.logical_or.reduce([cells[0] < 0, *other]).all():
                continue
            places = tabulation.places_of_respondents
            inside = {name: places[tabulation.names.index(name)][0] for name in margin}
            yield every, [inside.get(name, nothing) for name in tabulation.names]
        return
    codes = tabulation.grid.decode(known.cell)
    crossed = Grid((2,) * len(codes)).encode([code > 0 for code in reversed(codes)])
    for pattern in np.unique(crossed).tolist():
        mine = np.flatnonzero(crossed == pattern)
        yield mine, [code[mine] for code in codes]


def together(tabulation: Tabulation) -> bool:
    """Say whether respondents are kept with all dimensions crossed."""
    known = tabulation.respondents
    return known is not None and all(code.all() for code in tabulation.grid.decode(known.cell[:1]))


def _in_one_of(tabulation: Tabulation, codes: Sequence[IntArray], among: BoolArray) -> BoolArray:
    """Say which finest cells are one of some cells, or inside one."""
    row = locate(tabulation.cells, tabulation.grid.encode(codes))
    found: BoolArray = np.arange(len(tabulation) + 1) == len(tabulation)
    finest = np.flatnonzero(np.bincount(row[row >= 0], minlength=len(tabulation)))
    again, position = tabulation.grid.climb(
        tabulation.grid.decode(tabulation.cells[finest]), _above(tabulation), "tabulate fewer dimensions at once"
    )
    over = locate(tabulation.cells, position)
    found[finest[again[(over >= 0) & among[over]]]] = True
    return found[row]


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
        """Leave out respondents who contribute less than another to each of the same sums.

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


def joined(one: Stakes, other: Stakes) -> Stakes:
    """Return the entries of two lists about different positions; respondents of the same name are one."""
    index = {name: i for i, name in enumerate(one.names)}
    number = np.array([index.setdefault(name, len(index)) for name in other.names], np.int64)
    unit, at = np.r_[one.unit, number[other.unit]], np.r_[one.at, other.at]
    order = np.lexsort((at, unit))
    amount, others = np.r_[one.amount, other.amount][order], np.r_[one.others, other.others][order]
    return Stakes(tuple(index), unit[order], at[order], amount, others)


def joint_stakes(
    tables: Sequence[Tabulation], places: Sequence[IntArray], response: str | None, among: BoolArray | None = None
) -> Stakes:
    """Return what respondents put into linked tables; those of the same name are one.

    If a table does not know its respondents, those that can be recognised are taken. ``places`` are the positions of
    the cells of each table, -1 for cells that do not count; of ``among`` says which positions are of interest.
    """
    index: dict[str, int] = {}
    parts: list[tuple[IntArray, IntArray, FloatArray, IntArray]] = [(NOTHING, NOTHING, np.zeros(0), NOTHING)]
    first = tables[0].respondents if tables else None
    shared = first is not None and all(t.respondents is not None and t.respondents.names is first.names for t in tables)
    for table, place in zip(tables, places, strict=True):
        wanted = None if among is None else (place >= 0) & among[place]
        if wanted is not None and not wanted.any():
            continue
        table = table if table.respondents is not None else replace(table, respondents=recognised(table, response))
        assert table.respondents is not None
        row, unit, amount = stakes(table, response, wanted)
        if not shared:
            number = np.array([index.setdefault(name, len(index)) for name in table.respondents.names], np.int64)
            unit = number[unit]
        others = (table.holdings or table.contributors).units[row] - 1
        sums = table.responses[table.response(response)].sums if table.responses else table.records
        # If others have losses, a respondent's contribution above the sum says nothing about it.
        kept = (place[row] >= 0) & ((others == 0) | (amount <= sums[row] * (1 + 1e-12)))
        parts.append((unit[kept], place[row[kept]], amount[kept], others[kept]))
    unit, at, amount, others = (np.concatenate(column) for column in zip(*parts, strict=True))
    order, start = sorted_runs(unit, at)
    if start.size:
        # If tables differ about the same sum, the respondent is given the larger share.
        amount, others = np.maximum.reduceat(amount[order], start), np.minimum.reduceat(others[order], start)
    once = order[start]
    every = first.names if shared and first is not None else list(index)
    units, place_of = np.unique(unit[once], return_inverse=True)
    return Stakes(all_said([every[i] for i in units.tolist()]), place_of, at[once], amount, others)


def idle(tabulation: Tabulation, nothing: BoolArray) -> IntArray:
    """Return how many contributors of each cell are in finest cells that everybody knows to be 0.

    ``nothing`` says which cells are. Where somebody may be in several finest cells of a margin, nobody is counted.
    """
    level = tabulation.holdings or tabulation.contributors
    found = np.zeros(len(tabulation), np.int64)
    if not nothing.any() or not in_one_cell(tabulation):
        return found
    codes = tabulation.grid.decode(tabulation.cells)
    for margin in _finest(tabulation):
        row = np.flatnonzero(tabulation.inner(margin) & nothing & (level.units > 0))
        inside, position = tabulation.grid.climb(
            [code[row] for code in codes], _above(tabulation), "tabulate fewer dimensions at once"
        )
        above = locate(tabulation.cells, position)
        units = level.units[row[inside[above >= 0]]]
        # Everybody is in one finest cell of each margin, so margins are not added up.
        counted = np.bincount(above[above >= 0], weights=units, minlength=len(tabulation))
        found = np.maximum(found, counted.astype(np.int64))
    return found


def all_said(names: Sequence[str]) -> tuple[str, ...]:
    """Return what attackers are called; there may be hundreds of thousands.

    >>> all_said(["7", "holding 3"])
    ('respondent 7', 'holding 3')
    """
    return tuple([name if name.startswith(CALLED) else f"respondent {name}" for name in names])


def recognised(tabulation: Tabulation, response: str | None) -> Respondents:
    """Return the largest contributor of every finest cell, taken to be in no other of its margin (:func:`in_one_cell`).

    Cells of different margins have the same largest contributor where a sum above both says so: its largest
    contribution is that of both, and nobody else in it can have made one as large.
    """
    level = tabulation.holdings or tabulation.contributors
    row = np.unique(np.concatenate([np.flatnonzero(tabulation.inner(margin)) for margin in _finest(tabulation)]))
    row = row[level.units[row] > 0]
    alone = level.units[row] == 1
    amounts = np.zeros((len(tabulation.responses), row.size))
    for k, (one, largest) in enumerate(zip(tabulation.responses, level.largest, strict=False)):
        # The size of a shadow variable says nothing about the amount.
        top = largest.top[row, 0] if largest.top.shape[1] and one.shadow is None else np.zeros(row.size)
        amounts[k] = np.where(alone, one.sums[row], top)
    _, first, unit = np.unique(_same(tabulation, row, response), return_index=True, return_inverse=True)
    names = tuple(f"respondent of {tabulation.describe(int(i))}" for i in row[first])
    records = np.where(alone, tabulation.records[row], 1)
    order = np.lexsort((tabulation.cells[row], unit))
    return Respondents(names, unit[order], tabulation.cells[row][order], records[order], amounts[:, order])


def _same(tabulation: Tabulation, row: IntArray, response: str | None) -> IntArray:
    """Return a number for the largest contributor of each cell, the same where it must be one."""
    level = tabulation.holdings or tabulation.contributors
    if len(_finest(tabulation)) < 2 or not level.largest or not level.largest[0].top.shape[1]:
        return np.arange(row.size)
    largest = level.largest[tabulation.response(response)]
    first, rest = largest.top[:, 0], largest.total - largest.top[:, 0]
    second = np.minimum(rest, largest.top[:, 1]) if largest.top.shape[1] > 1 else rest
    single = (level.units == 1) | (second < first)
    codes = [code[row] for code in tabulation.grid.decode(tabulation.cells)]
    inside, position = tabulation.grid.climb(codes, _above(tabulation), "tabulate fewer dimensions at once")
    above = locate(tabulation.cells, position)
    inside, above = inside[above >= 0], above[above >= 0]
    one = single[above] & (first[above] == first[row[inside]]) & (first[above] > 0)
    return components(row[inside[one]], above[one], len(tabulation))[1][row]


def _above(tabulation: Tabulation) -> list[list[tuple[int, ...]]]:
    """Return for every code of every dimension the sums that it is in.

    The total is in itself alone: along dimensions that are not crossed, everybody stays there.
    """
    return [[(0,), *axis.over[1:]] for axis in tabulation.axes]


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
    """Say whether respondents know more about a table than that it counts them once."""
    known = tabulation.respondents
    if tabulation.responses or known is None:
        return bool(tabulation.responses)
    # Everybody is in a finest cell of every finest margin; being in more of them takes several records.
    margins = 1 if together(tabulation) else len(_finest(tabulation))
    return bool((known.records > 1).any()) or known.unit.size > len(known) * margins


def _finest(tabulation: Tabulation) -> list[tuple[str, ...]]:
    """Return the margins that no other one contains."""
    margins = [set(margin) for margin in tabulation.margins]
    return [tuple(margin) for margin in tabulation.margins if not any(set(margin) < other for other in margins)]
