"""What attackers know beyond what is published, with separate equations for each of them.

An attacker's knowledge affects only the hidden figures linked to the cells it is about. So each attacker gets a copy of
those few equations, and all copies are bounded together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from discreet.auditing.levels import located
from discreet.core.errors import DataError, InfeasibleError
from discreet.core.numerics import BoolArray, FloatArray, IntArray, index_ranges, whole_where_near
from discreet.core.sparse import parts, row_of, starts_of
from discreet.table.attacker import Attacker
from discreet.table.contributions import Contributions
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED, Kind
from discreet.table.stakes import Stakes, idle, joined, joint_stakes
from discreet.table.tabulation import Tabulation

ENTRIES = 2_000_000
"""Roughly how many entries of equations are copied before they are bounded: about 100 MB."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What one attacker knows about positions: ranges, and its own contributions.

    ``own`` is its own contribution in units of the last decimal, -1 where it has none; ``others`` counts the other
    contributors, 0 where they are not to be judged, and ``rival`` is the largest other contribution, NaN where the
    auditor does not know it either.
    """

    name: str
    at: IntArray
    low: IntArray
    high: IntArray
    own: IntArray
    others: IntArray
    rival: FloatArray


def knowledge_of(equations: Equations, attacker: Attacker) -> Knowledge:
    """Return what a named attacker knows."""
    rows: list[tuple[int, int, int, int, int]] = []
    for contribution in attacker.contributions:
        i, value = equations.find(contribution.cell), equations.units(contribution.value)
        if value > equations.upper[i]:
            raise DataError(
                f"{attacker.name} contributes {equations.text(value)} to cell {equations.describe(i)}, which is at "
                f"most {equations.text(int(equations.upper[i]))}; correct the contribution or the cell"
            )
        rows.append((i, value, value if contribution.others == 0 else UNBOUNDED, value, contribution.others))
    scale = 10**equations.decimals
    for fact in attacker.knows:
        least = -UNBOUNDED if fact.lower is None else int(np.ceil(whole_where_near(fact.lower * scale)))
        most = UNBOUNDED if fact.upper is None else int(np.floor(whole_where_near(fact.upper * scale)))
        rows.append((equations.find(fact.cell), least, most, -1, 0))
    at, low, high, own, others = np.array(rows, np.int64).reshape(-1, 5).T
    return Knowledge(attacker.name, at, low, high, own, others, np.full(at.size, np.nan))


class _Crossed(NamedTuple):
    """What units contribute to crossings that no table shows."""

    at: IntArray
    unit: IntArray
    amount: IntArray

    def added(self, known: Knowledge, unit: int) -> Knowledge:
        """Return what a unit knows from that: such a crossing is at least their own contribution."""
        mine = np.flatnonzero((self.unit == unit) & (self.amount > 0))
        if not mine.size:
            return known
        none, nothing, unbounded = (np.full(mine.size, value, np.int64) for value in (-1, 0, UNBOUNDED))
        return Knowledge(
            known.name,
            np.r_[known.at, self.at[mine]],
            np.r_[known.low, self.amount[mine]],
            np.r_[known.high, unbounded],
            np.r_[known.own, none],
            np.r_[known.others, nothing],
            np.r_[known.rival, np.full(mine.size, np.nan)],
        )


def contributors(
    equations: Equations, contributions: Contributions, *, close: bool
) -> tuple[list[Knowledge], IntArray]:
    """Return everybody who may learn something, each with all their contributions, and the sums with one contributor.

    Coalitions and those who are alone in a sum or one of two are tried. So is everybody in a sum that is not published
    exactly, unless somebody else contributes more to the same sums.

    With ``close`` the second largest contributor of every sum is tried too, who can estimate the largest best: only the
    other contributions stand between the two. Where crossings that no table shows are among the unknowns, everybody
    also knows their own contributions to these.
    """
    position, unit, amount = contributions.spread(equations.space)
    at = equations.locate(position)
    at, unit, amount = at[at >= 0], unit[at >= 0], whole_where_near(amount[at >= 0] * 10.0**equations.decimals)
    shown = equations.source[at] >= 0
    # Where others may have losses, a crossing may hold less than one's own part.
    rest = ~shown & (equations.lower[at] >= 0)
    crossed = _Crossed(at[rest], unit[rest], np.floor(amount[rest]).astype(np.int64))
    at, unit, amount = at[shown], unit[shown], amount[shown]
    whole = np.rint(amount).astype(np.int64)
    odd = amount != whole
    if odd.any():
        i = int(np.argmax(odd))
        raise DataError(
            f"{contributions.names[int(unit[i])]} contributes {amount[i] / 10**equations.decimals:g} to "
            f"{equations.describe(int(at[i]))}, with more decimals than are published ({equations.decimals}); round it"
        )
    single = unit < len(contributions.units)
    order = np.lexsort((-whole[single], at[single]))
    cell, size = at[single][order], whole[single][order]
    start = np.flatnonzero(np.r_[True, np.diff(cell) != 0])
    number = np.diff(np.r_[start, cell.size])
    _add_up(equations, cell[start], np.add.reduceat(size, start) if cell.size else size)
    row = np.searchsorted(cell[start], at)
    count = number[row]
    first, second = size[start], np.where(number > 1, size[np.minimum(start + 1, cell.size - 1)], 0)
    others = count - 1
    # The largest looks at the second; where several are equally large, all look at one of the same size.
    rival = np.where(whole < first[row], first[row], second[row]).astype(np.float64)
    for number, members in enumerate(contributions.coalitions.values(), start=len(contributions.units)):
        inside = np.isin(unit, [contributions.units.index(member) for member in members])
        mine = np.flatnonzero(unit == number)
        present = np.bincount(row[inside], minlength=start.size)
        outside = np.zeros(start.size, np.int64)
        np.maximum.at(outside, row[single & ~inside], whole[single & ~inside])
        others[mine] = count[mine] - present[row[mine]]
        rival[mine] = outside[row[mine]]
    near = (others <= 1) | ~single
    if close:
        # Of contributors of the same size, any may be the second largest.
        near |= (whole == second[row]) | (whole == first[row])
    open_ = np.flatnonzero(~equations.exact[at])
    every = [np.r_[x[open_], y] for x, y in ((unit, crossed.unit), (at, crossed.at), (whole, crossed.amount))]
    every.append(np.r_[others[open_], np.ones(crossed.at.size, np.int64)])
    sorted_ = np.lexsort((every[1], every[0]))
    units, places, amounts, beside = (column[sorted_] for column in every)
    stakes = Stakes(contributions.names, units, places, amounts.astype(np.float64), beside)
    chosen = np.union1d(unit[near], stakes.strongest().unit)
    grouped = np.argsort(unit, kind="stable")
    begin, end = np.searchsorted(unit[grouped], chosen), np.searchsorted(unit[grouped], chosen, side="right")
    found = []
    for u, a, b in zip(chosen.tolist(), begin.tolist(), end.tolist(), strict=True):
        mine = grouped[a:b]
        high = np.where(others[mine] == 0, whole[mine], UNBOUNDED)
        # Of sums with many others in them only the lower end is known better, which is not new.
        seen = np.where(near[mine], others[mine], 0)
        known = Knowledge(contributions.names[u], at[mine], whole[mine], high, whole[mine], seen, rival[mine])
        found.append(crossed.added(known, u))
    return found, cell[start][number == 1]


def respondents(
    equations: Equations,
    tables: Sequence[Tabulation],
    response: str | None,
    secret: BoolArray | None,
    *,
    several: bool,
    crossed: Stakes | None = None,
) -> list[Knowledge]:
    """Return the respondents of tabulations who may learn something, each with all their contributions to any table.

    ``secret`` are the positions where contributors must not learn the contributions of others, None for all. With
    ``several``, respondents who are alone in no cell are tried too. ``crossed`` are their own parts of crossings that
    no table shows, which they also know.
    """
    places = [located(equations, table) for table in tables]
    # What is published exactly is news to nobody.
    found = joint_stakes(tables, places, response, ~equations.exact)
    found = found if crossed is None else joined(found, crossed)
    alone = found.others == 0
    more = (found.amount > 0) & (equations.lower[found.at] >= 0)
    found = found.chosen(alone | more if several else alone).strongest()
    own = whole_where_near(found.amount * 10.0**equations.decimals)
    least, alone = np.floor(own).astype(np.int64), found.others == 0
    most = np.where(alone, np.ceil(own), UNBOUNDED).astype(np.int64)
    # That somebody contributed 0 to a figure printed as 0 is news to nobody.
    told = np.where(_printed_as_zero(equations, tables, places)[found.at], 0, found.others)
    told = told if secret is None else np.where(secret[found.at], told, 0)
    shown = equations.source[found.at] >= 0
    mine, told = np.where(shown, np.maximum(least, 0), -1), np.where(shown, told, 0)
    start = np.flatnonzero(np.diff(found.unit, prepend=-1))
    names, unit, at, unknown = found.names, found.unit, found.at, np.full(found.unit.size, np.nan)
    spans = [slice(a, b) for a, b in pairwise((*start.tolist(), found.unit.size))]
    return [Knowledge(names[int(unit[s.start])], at[s], least[s], most[s], mine[s], told[s], unknown[s]) for s in spans]


def knowing_crossings(equations: Equations, floor: IntArray) -> tuple[list[Knowledge], Equations]:
    """Return the equations of respondents who are too many to be told apart by their parts of crossings.

    Each is taken to know the largest part of every crossing, its ``floor``. One of them stands for those who know
    nothing else.
    """
    if not (floor > np.maximum(equations.lower[: floor.size], 0)).any():
        return [], equations
    lower = np.minimum(np.maximum(equations.lower, floor), equations.upper)
    where = np.flatnonzero(lower > equations.lower)[:1]
    facts = lower[where], np.full(1, UNBOUNDED), np.full(1, -1), np.zeros(1, np.int64), np.full(1, np.nan)
    return [Knowledge("respondents of crossings", where, *facts)], replace(equations, lower=lower)


def _printed_as_zero(equations: Equations, tables: Sequence[Tabulation], places: Sequence[IntArray]) -> BoolArray:
    """Say where all contributors but one are known to have contributed nothing: their own cells are printed as 0.

    Every table that has the position must say so, each in the units that it counts. Negative amounts could cancel out;
    if there are any, no position qualifies.
    """
    zero = equations.exact & (equations.lower == 0) & ~equations.hidden
    known = np.zeros(equations.lower.size, bool)
    if (equations.lower < 0).any():
        return known
    for place in places:
        known[place[place >= 0]] = True
    for table, place in zip(tables, places, strict=True):
        listed = place >= 0
        others = (table.holdings or table.contributors).units - 1
        known[place[listed & (idle(table, listed & zero[place]) < others)]] = False
    return known


def _add_up(equations: Equations, at: IntArray, sums: IntArray) -> None:
    """Refuse contributions that do not add up to the published figures."""
    off = np.flatnonzero((sums < equations.lower[at]) | (sums > equations.upper[at]))
    if off.size:
        # The finest sum that is wrong says most.
        i = int(at[off[-1]])
        ends = [equations.text(int(end)) for end in (equations.lower[i], equations.upper[i])]
        shown = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
        raise DataError(
            f"the contributions to cell {equations.describe(i)} add up to {equations.text(int(sums[off[-1]]))}, but "
            f"what is published says {shown}; list every contributor with the amount that was added up"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Copies(Equations):
    """Equations of several attackers side by side; ``index`` says which position of ``base`` each one copies.

    ``who`` is the attacker whose position it is; their own contribution and the others are described as in
    :class:`Knowledge`.
    """

    base: Equations
    index: IntArray
    who: IntArray
    own: IntArray
    others: IntArray
    rival: FloatArray

    def describe(self, i: int) -> str:
        """Return a position as a phrase."""
        return self.base.describe(int(self.index[i]))

    def cell(self, i: int) -> dict[str, str]:
        """Return the labels of a position by dimension."""
        return self.base.cell(int(self.index[i]))

    def kind(self, i: int) -> Kind | None:
        """Return how a position is published, None where no table shows it."""
        return self.base.kind(int(self.index[i]))


class _Copy(NamedTuple):
    """The positions that one attacker's knowledge affects, their ranges, and the equations among them."""

    positions: IntArray
    lower: IntArray
    upper: IntArray
    columns: IntArray
    signs: IntArray
    lengths: IntArray
    at: IntArray
    who: int
    knows: Knowledge


class Linked:
    """Which hidden figures are linked; every attacker gets only the equations that matter."""

    def __init__(self, equations: Equations) -> None:
        self.equations, self.exact = equations, equations.exact
        open_ = np.flatnonzero(~self.exact[equations.columns])
        row, column = row_of(equations.starts)[open_], equations.columns[open_]
        _, of_row, self.label = parts(row, column, equations.starts.size - 1, equations.lower.size)
        self.rows = np.argsort(of_row, kind="stable")
        self.sorted = of_row[self.rows]

    def stacks(self, known: Sequence[Knowledge]) -> Iterator[tuple[int, Copies]]:
        """Yield copies of the equations for a few attackers at a time, with their number."""
        batch: list[_Copy] = []
        size = 0
        for number, one in enumerate(known):
            batch.append(self._copy(number, one))
            size += batch[-1].positions.size + batch[-1].columns.size
            if size > ENTRIES or number == len(known) - 1:
                yield len(batch), self._joined(batch)
                batch, size = [], 0

    def _copy(self, who: int, one: Knowledge) -> _Copy:
        """Return the equations that an attacker's knowledge affects."""
        equations = self.equations
        labels = np.unique(self.label[one.at[~self.exact[one.at]]])
        begin, end = np.searchsorted(self.sorted, labels), np.searchsorted(self.sorted, labels, side="right")
        rows = self.rows[index_ranges(begin, end)[1]]
        first, last = equations.starts[rows], equations.starts[rows + 1]
        _, entries = index_ranges(first, last)
        columns = equations.columns[entries]
        index = np.unique(np.concatenate([columns, one.at]))
        at = np.searchsorted(index, one.at)
        lower, upper = equations.lower[index], equations.upper[index]
        np.maximum.at(lower, at, one.low)
        np.minimum.at(upper, at, one.high)
        if (lower > upper).any():
            i = int(index[int(np.argmax(lower > upper))])
            told = [int(one.low[one.at == i].max()), int(one.high[one.at == i].min())]
            ends = [equations.text(end) for end in (*told, int(equations.lower[i]), int(equations.upper[i]))]
            raise InfeasibleError(
                f"{one.name} is said to know that cell {equations.describe(i)} lies between {ends[0]} and {ends[1]}, "
                f"but what is published leaves {ends[2]} to {ends[3]}; correct one of them"
            )
        place = np.searchsorted(index, columns)
        return _Copy(index, lower, upper, place, equations.signs[entries], last - first, at, who, one)

    def _joined(self, batch: list[_Copy]) -> Copies:
        """Put copies side by side."""
        base, sizes = self.equations, np.array([copy.positions.size for copy in batch])
        shift = np.cumsum(sizes) - sizes
        index, lower, upper, signs, lengths = (
            np.concatenate([getattr(copy, name) for copy in batch]).astype(np.int64)
            for name in ("positions", "lower", "upper", "signs", "lengths")
        )
        columns = np.concatenate([copy.columns + by for copy, by in zip(batch, shift, strict=True)]).astype(np.int64)
        own, others = np.full(index.size, -1), np.zeros(index.size, np.int64)
        rival = np.full(index.size, np.nan)
        for copy, by in zip(batch, shift, strict=True):
            one = copy.knows
            mine = one.own >= 0
            at = copy.at[mine] + by
            own[at], others[at], rival[at] = one.own[mine], one.others[mine], one.rival[mine]
        given = {item.name: getattr(base, item.name) for item in fields(Equations)}
        given |= {name: given[name][index] for name in ("source", "row", "hidden")}
        given |= {"lower": lower, "upper": upper, "starts": starts_of(lengths), "columns": columns, "signs": signs}
        who = np.repeat([copy.who for copy in batch], sizes)
        return Copies(**given, base=base, index=index, who=who, own=own, others=others, rival=rival)
