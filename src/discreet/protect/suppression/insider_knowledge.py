"""What respondents know of suppressed cells: their own contributions, as contributors or as holdings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import BoolArray, FloatArray, IntArray, whole_where_near
from discreet.core.sparse import components
from discreet.protect.suppression.problem import Cells, Problem
from discreet.table.attacker import Attacker
from discreet.table.crossing_parts import crossing_parts
from discreet.table.floors import at_least
from discreet.table.kinds import UNBOUNDED
from discreet.table.stakes import contributes, in_one_cell, joined, joint_stakes

Insiders: TypeAlias = Literal["auto", "none", "singletons", "respondents"]
AT_ONCE = 20_000_000
"""How many pairs of cells are compared at once: 20 MB for each comparison."""
Told: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray, IntArray]
"""Attacker, position, least and largest value, and number of others."""


@dataclass(frozen=True, eq=False)
class InsiderKnowledge:
    """Everybody who knows more than the outsider: for each, positions with the least and largest value they can have.

    The first attackers are respondents. Where the tables name them (``identified``), each has all cells that it
    contributed to; otherwise each is one of one cell with ``others`` in it, and of the sensitive cells that contain it.
    ``low`` is what they know on their own, ``least`` that and what everybody knows of the other cells in a sum.
    ``named`` are those who were given, and come last. ``insiders`` says who was considered.
    """

    names: tuple[str, ...]
    attacker: IntArray
    position: IntArray
    low: IntArray
    high: IntArray
    others: IntArray
    least: IntArray
    named: tuple[Attacker, ...] = ()
    insiders: Insiders = "none"
    identified: bool = False
    response: str | None = None

    def __len__(self) -> int:
        return len(self.names)


NOTHING = np.zeros(0, np.int64)
NOBODY = InsiderKnowledge((), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def knowledge_of(
    cells: Cells,
    insiders: Insiders,
    attackers: Sequence[Attacker],
    response: str | None,
    sensitive: BoolArray,
    among: BoolArray | None = None,
) -> InsiderKnowledge:
    """Return what respondents know, from the tables' own figures and from attackers that are named.

    The only contributor to a cell knows it; one of several knows that the cell holds at least its own contribution.
    Where the tables name their respondents, each of them is one attacker with all that it contributed to any cell of
    any table. Otherwise the largest contributor to every cell is taken, and identified in other cells as far as the
    figures allow. Holdings take the place of contributors where a table knows of them. A respondent who is counted once
    learns nothing more from counts, so by default only respondents of magnitudes, and those with several records, are
    considered. What respondents that the tables name know of published positions is news to nobody: it can be left out
    by giving those ``among`` which anything is hidden.
    """
    if insiders == "auto":
        insiders = "respondents" if any(contributes(table) for table in cells.tables) else "none"
    identified = all(table.respondents is not None for table in cells.tables)
    names: list[str] = []
    rows: list[Told] = [(NOTHING,) * 5]
    if insiders == "none" and not attackers:
        return NOBODY
    if insiders != "none" and identified:
        names, rows = _identified(cells, insiders == "respondents", response, among)
    elif insiders != "none":
        names, rows = _recognised(cells, insiders == "respondents", response, sensitive)
    for attacker in attackers:
        told = _named(cells, attacker)
        rows.append((np.full(told[0].size, len(names)), *told, np.zeros(told[0].size, np.int64)))
        names.append(attacker.name)
    who, at, low, high, others = (np.concatenate(column) for column in zip(*rows, strict=True))
    least = at_least(cells.equations, cells.lower, who, at, low, among=among if identified else None)
    return InsiderKnowledge(
        tuple(names), who, at, low, high, others, least, tuple(attackers), insiders, identified, response
    )


def _identified(
    cells: Cells, several: bool, response: str | None, among: BoolArray | None
) -> tuple[list[str], list[Told]]:
    """Return every respondent who knows more than the outsider and than other respondents, and what each knows."""
    found = joint_stakes(cells.tables, cells.places, response, among)
    crossed, _ = crossing_parts(cells.equations, cells.tables, response, among)
    found = found if crossed is None else joined(found, crossed)
    own, alone = cells.units(found.amount), found.others == 0
    # Where values can be negative, an own contribution says nothing about the sum.
    more = (own > 0) & (cells.lower[found.at] >= 0) & (own <= cells.values[found.at])
    found = found.chosen(alone | more if several else alone).strongest()
    alone, value = found.others == 0, cells.values[found.at]
    low, high = np.where(alone, value, cells.units(found.amount)), np.where(alone, value, UNBOUNDED)
    units, who = np.unique(found.unit, return_inverse=True)
    return [found.names[unit] for unit in units.tolist()], [(who, found.at, low, high, found.others)]


def _recognised(
    cells: Cells, several: bool, response: str | None, sensitive: BoolArray
) -> tuple[list[str], list[Told]]:
    """Return the largest contributor to every cell who knows more than the outsider, and what each knows."""
    size = cells.values.size
    units, largest, second = np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, np.inf)
    for table, place in zip(cells.tables, cells.places, strict=True):
        if table.respondents is None and not in_one_cell(table):
            raise RequestError(
                f"some respondents are in several cells of {' × '.join(table.names)}, and the table does not say who "
                "is in which, so nobody can tell what they work out; tabulate the records with the column that says "
                "whose they are (contributor=, --contributor), or leave insiders aside knowingly (insiders='none', "
                "--insiders none)"
            )
        level = table.holdings or table.contributors
        units[place] = level.units
        if several and table.responses:
            top = cells.units(level.largest[table.response(response)].top)
            if top.shape[1]:
                largest[place] = top[:, 0]
            if top.shape[1] > 1:
                second[place] = top[:, 1]
    alone, value = units == 1, cells.values
    # Where values can be negative, an own contribution says nothing about the sum.
    more = (units > 1) & (largest > 0) & (cells.lower >= 0) & (largest <= value)
    at = np.flatnonzero(cells.listed & (alone | more))
    high = np.where(alone, value, UNBOUNDED)
    own = np.where(alone, value, largest)[at]
    # Whether nobody else in the cell can have contributed as much.
    single = alone[at] | (np.minimum(second, value - largest)[at] < own)
    who, around = _around(cells, at, own, single, sensitive & (cells.lower >= 0))
    low = np.where(alone[around], value[around], np.maximum(own[who], 0))
    names = [f"respondent of {cells.equations.describe(int(i))}" for i in at]
    mine = (np.arange(at.size), at, own, high[at], units[at] - 1)
    return names, [mine, (who, around, low, high[around], units[around] - 1)]


def _around(
    cells: Cells, at: IntArray, low: IntArray, single: BoolArray, sensitive: BoolArray
) -> tuple[IntArray, IntArray]:
    """Return pairs of one of some cells, by its place among them, and another, sensitive one with its respondent in it.

    A respondent is in whatever contains its cell. Where the largest contributions to a cell and to one inside it are
    the same, and nobody else contributed as much, both are one respondent's; where both cells are as large, they have
    all respondents in common. So cells of different tables may be known to be one respondent's.
    """
    space, positions = cells.equations.space, cells.equations.positions
    inside, codes = [], space.grid.decode(positions)
    for axis in space.axes:
        contains = np.zeros((len(axis.nodes), len(axis.nodes)), bool)
        for node, label in enumerate(axis.nodes):
            contains[list(axis.above(label)), node] = True
        inside.append(contains)

    def held(outer: IntArray, inner: IntArray) -> BoolArray:
        found = np.ones(np.broadcast_shapes(outer.shape, inner.shape), bool)
        for contains, code in zip(inside, codes, strict=True):
            found &= contains[code[outer], code[inner]]
        return found

    alike: list[tuple[IntArray, IntArray]] = []
    order = np.lexsort((at, low))
    for same in np.split(order, np.flatnonzero(np.diff(low[order])) + 1):
        if same.size > 1 and low[same[0]] > 0:
            for outer in np.array_split(same, 1 + same.size**2 // AT_ONCE):
                equal = cells.values[at[outer]][:, None] == cells.values[at[same]][None, :]
                i, j = np.nonzero(held(at[outer][:, None], at[same][None, :]) & (equal | single[outer][:, None]))
                alike.append((outer[i], same[j]))
    i, j = (np.concatenate(side) for side in zip(*alike, strict=True)) if alike else (at[:0], at[:0])
    respondent = components(i, j, at.size)[1] if at.size else at
    # Every respondent's cells with the sensitive ones that contain one of them.
    pairs = [np.zeros((2, 0), np.int64)]
    for p in np.flatnonzero(sensitive[: positions.size]).tolist():
        known = np.zeros(at.size, bool)
        known[respondent[held(np.array(p), at)]] = True
        mine = np.flatnonzero(known[respondent] & (at != p))
        pairs.append(np.stack([mine, np.full(mine.size, p)]))
    found = np.concatenate(pairs, axis=1)
    return found[0], found[1]


def _named(cells: Cells, attacker: Attacker) -> tuple[IntArray, IntArray, IntArray]:
    known: dict[int, tuple[int, int]] = {}

    def narrow(i: int, low: int, high: int) -> None:
        before = known.get(i, (-UNBOUNDED, UNBOUNDED))
        known[i] = (max(before[0], low), min(before[1], high))
        if not known[i][0] <= cells.values[i] <= known[i][1]:
            raise DataError(
                f"{attacker.name} is said to know that cell {cells.equations.describe(i)} lies between "
                f"{cells.equations.text(known[i][0])} and {cells.equations.text(known[i][1])}, but it is "
                f"{cells.equations.text(int(cells.values[i]))}; correct what the attacker knows"
            )

    scale = 10**cells.equations.decimals
    for own in attacker.contributions:
        i, value = cells.equations.find(own.cell), cells.equations.units(own.value)
        narrow(i, value, value if own.others == 0 else UNBOUNDED)
    for fact in attacker.knows:
        low = -UNBOUNDED if fact.lower is None else int(np.ceil(whole_where_near(fact.lower * scale)))
        high = UNBOUNDED if fact.upper is None else int(np.floor(whole_where_near(fact.upper * scale)))
        narrow(cells.equations.find(fact.cell), low, high)
    at = np.array(list(known), np.int64)
    ends = np.array(list(known.values()), np.int64).reshape(-1, 2)
    return at, ends[:, 0], ends[:, 1]


def by_class(problem: Problem, known: InsiderKnowledge) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return who knows of which class how far it can move down and up; what cannot move is left out."""
    kept = problem.member[known.position] >= 0
    position = known.position[kept]
    values = problem.cells.values[position]
    down = np.clip(values - known.least[kept], 0, 2**52).astype(np.float64)
    up = np.clip(np.where(known.high[kept] >= UNBOUNDED, 2**52, known.high[kept] - values), 0, 2**52)
    return known.attacker[kept], problem.member[position], down, up.astype(np.float64)
