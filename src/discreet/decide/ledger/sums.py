"""Sums of units that follow from published figures: the smallest unions of unknown units whose total is known.

Every published figure is the sum of some units. Any linear combination of such equations is another one; if its
coefficients are 1 for some units and 0 for all others, the sum of those units is known, though nobody printed it. If
one such union lies inside another, their difference is known too, so the smallest unions say it all.

A union with a sum below a limit holds no unit that could be as large as the limit. Those units are ruled out first,
which is a condition on the multipliers of the equations: a unit in one equation sets its multiplier to 0, one in two
equations makes theirs equal or opposite. What is left is small, is solved in integers, and falls into independent
parts. Within a part, the smallest unions are enumerated by branching on units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import Rows, components, row_of

Row: TypeAlias = dict[int, int]
NODES = 100_000
"""The most branches of one search without a time limit: a few seconds on any machine."""
MOST = 1_000
"""The most unions that are listed: more than anybody reads."""
RHS = -1
"""The column of the right-hand sides."""


@dataclass(frozen=True, eq=False)
class System:
    """Equations Σ sign·unknown = rhs, as entries by row and column. ``size`` is the number of columns."""

    row: IntArray
    column: IntArray
    sign: IntArray
    rhs: IntArray
    size: int


@dataclass(frozen=True)
class KnownSums:
    """The smallest unions of units with a known sum, and whether these are all of them."""

    found: tuple[tuple[tuple[int, ...], int], ...] = ()
    complete: bool = True


def open_equations(starts: IntArray, columns: IntArray, signs: IntArray, lower: IntArray, upper: IntArray) -> System:
    """Return equations in compressed rows, with all determined values substituted."""
    if starts.size == 1:
        none = np.zeros(0, np.int64)
        return System(none, none, none, none, lower.size)
    row = row_of(starts)
    open_ = lower[columns] != upper[columns]
    rhs = -np.add.reduceat(np.where(open_, 0, lower[columns]) * signs, starts[:-1])
    return System(row[open_], columns[open_], signs[open_], rhs, lower.size)


def smallest_sums(
    system: System,
    units: BoolArray,
    least: IntArray,
    top: float = math.inf,
    *,
    clock: Clock | None = None,
    nodes: float = NODES,
    worth: BoolArray | None = None,
) -> KnownSums:
    """Return the smallest unions of units whose sum is known and below a limit.

    Args:
        system: what is known of the unknowns.
        units: the columns that a union may hold.
        least: the smallest value of every column.
        top: sums of at least this are ignored.
        clock: when to stop; never by default.
        nodes: the most branches that are searched.
        worth: the columns of interest; parts without such a unit are skipped.

    >>> whole = np.array([1, 1, 1, 1]), np.array([1, 1, 0, 0])  # streets 1 to 4 hold 21, streets 1 and 2 hold 20
    >>> entries = [(r, c, 1) for r, line in enumerate(whole) for c in np.flatnonzero(line)]
    >>> row, column, sign = np.array(entries).T
    >>> system = System(row, column, sign, np.array([21, 20]), 4)
    >>> smallest_sums(system, np.array([False, False, True, True]), np.zeros(4, int), 10).found
    (((2, 3), 1),)
    """
    if not units.any() or not system.row.size:
        return KnownSums()
    found: list[tuple[tuple[int, ...], int]] = []
    complete = True
    budget, until = [nodes], clock or Clock()
    for rows in _parts(system, units, worth):
        if until.late or len(found) >= MOST:
            return KnownSums(tuple(found), False)
        basis = _basis(rows, units, until)
        if basis is None:
            complete = False
            continue
        for piece in _pieces(basis):
            more, whole = _unions(piece, least, top, budget, until, MOST - len(found))
            found += more
            complete &= whole
    return KnownSums(tuple(sorted(found)), complete)


# --- ruling out what no union holds ------------------------------------------------------------------------


def _parts(system: System, units: BoolArray, worth: BoolArray | None) -> Iterator[list[Row]]:
    """Yield independent parts of the equations that remain once their multipliers cancel all other columns."""
    rows = system.rhs.size
    group, turn = np.arange(rows), np.ones(rows, np.int64)
    count = rows
    while True:
        alive = turn[system.row] != 0
        entries = (system.sign * turn[system.row])[alive]
        columns = Rows.gathered(system.column[alive], group[system.row][alive], entries, (system.size, count))
        merged = _merged(columns, units, count)
        if merged is None:
            break
        count, label, sign = merged
        turn, group = turn * sign[group], label[group]
    by_row = columns.across(count)
    rhs = np.zeros(count, np.int64)
    np.add.at(rhs, group, system.rhs * turn)
    held = np.flatnonzero(by_row.lengths)
    if not held.size:
        return
    number, part = components(columns.columns, count + columns.of, count + system.size)
    worthy = np.zeros(number, bool)
    worthy[part[count:][units if worth is None else units & worth]] = True
    held = held[worthy[part[held]]]
    order = held[np.argsort(part[held], kind="stable")]
    for chunk in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        if chunk.size:
            spans = [(int(rhs[g]), slice(by_row.starts[g], by_row.starts[g + 1])) for g in chunk]
            yield [
                {**dict(zip(by_row.columns[at].tolist(), by_row.values[at].tolist(), strict=True)), RHS: right}
                for right, at in spans
            ]


def _merged(columns: Rows, units: BoolArray, count: int) -> tuple[int, IntArray, IntArray] | None:
    """Return groups of equations whose multipliers are equal (1), opposite (-1) or nothing (0); None if none is new."""
    lengths, first = columns.lengths, columns.starts[:-1]
    single = np.flatnonzero((lengths == 1) & ~units)
    double = np.flatnonzero((lengths == 2) & ~units)
    a, b = columns.values[first[double]], columns.values[first[double] + 1]
    double, a, b = double[abs(a) == abs(b)], a[abs(a) == abs(b)], b[abs(a) == abs(b)]
    if not single.size and not double.size:
        return None
    # Every equation stands twice, with either sign; those that meet themselves with the other sign are nothing.
    left, right = columns.columns[first[double]], columns.columns[first[double] + 1]
    same = a == -b
    ends = np.concatenate([np.where(same, right, right + count), np.where(same, right + count, right)])
    number, label = components(np.concatenate([left, left + count]), ends, 2 * count)
    up, down = label[:count], label[count:]
    nothing = np.zeros(number, bool)
    nothing[up[up == down]] = True
    killed = columns.columns[first[single]]
    nothing[up[killed]] = nothing[down[killed]] = True
    sign = np.where(nothing[up] | nothing[down], 0, np.where(up < down, 1, -1))
    names, group = np.unique(np.minimum(up, down), return_inverse=True)
    return names.size, group, sign


# --- solving in integers -----------------------------------------------------------------------------------


def _basis(rows: Sequence[Row], units: BoolArray, clock: Clock) -> list[tuple[int, Row]] | None:
    """Return equations of units alone, each solved for a unit of its own; None if time runs out."""
    left = list(rows)
    others = sorted({c for row in rows for c in row if c != RHS and not units[c]})
    for column in others:
        if clock.late:
            return None
        holders = [row for row in left if column in row]
        if not holders:
            continue
        pivot = min(holders, key=len)
        left = [_without(row, pivot, column) if column in row else row for row in left if row is not pivot]
    solved: list[tuple[int, Row]] = []
    for row in left:
        if clock.late:
            return None
        for column, pivot in solved:
            row = _without(row, pivot, column) if column in row else row
        free = next((c for c in row if c != RHS), None)
        if free is None:
            continue
        solved = [(c, _without(other, row, free) if free in other else other) for c, other in solved]
        solved.append((free, row))
    return solved


def _without(row: Row, pivot: Row, column: int) -> Row:
    """Return a multiple of one equation less a multiple of another, in which a column drops out."""
    a, b = pivot[column], row[column]
    shared = math.gcd(a, b)
    a, b = a // shared, b // shared
    found = {c: a * value for c, value in row.items()}
    for c, value in pivot.items():
        found[c] = found.get(c, 0) - b * value
    whole = math.gcd(*found.values()) or 1
    return {c: value // whole for c, value in found.items() if value or c == RHS}


def _pieces(basis: Sequence[tuple[int, Row]]) -> list[list[tuple[int, Row]]]:
    """Split solved equations into sets that share no unit: a smallest union lies in one of them."""
    home: dict[int, int] = {}
    pieces: dict[int, list[tuple[int, Row]]] = {}
    for k, solved in enumerate(basis):
        met = {home[c] for c in solved[1] if c in home}
        pieces[k] = [solved, *(one for other in met for one in pieces.pop(other))]
        for _, row in pieces[k]:
            home.update(dict.fromkeys((c for c in row if c != RHS), k))
    return list(pieces.values())


# --- enumerating unions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """Units that are in the same equations: what each equation in the sum adds to them, in parts of ``one``."""

    units: tuple[int, ...]
    adds: tuple[tuple[int, int], ...]
    one: int

    def ends(self, may: int) -> tuple[int, int]:
        """Return the least and the most that is allowed."""
        return 0 if may & 1 else self.one, self.one if may & 2 else 0


def _unions(
    piece: Sequence[tuple[int, Row]], least: IntArray, top: float, budget: list[float], clock: Clock, most: int
) -> tuple[list[tuple[tuple[int, ...], int]], bool]:
    """Return the smallest unions in one piece, and whether all were found.

    An equation solved for a unit of its own is in the sum if the unit is. So every choice of equations (``chosen``) is
    a choice of these units, and has to leave 0 or 1 of every other one. A choice that does is a union. Any other that
    is smallest lacks one of its units, which is branched on; where a choice leaves something else of a unit, an
    equation that mends it must be added.
    """
    values, columns = _columns(piece)
    floor = [int(least[c]) for c, _ in piece]
    found: dict[frozenset[int], int] = {}
    d = len(piece)
    stack = [([0] * k + [1] + [-1] * (d - k - 1), [3] * len(columns)) for k in range(d)]
    while stack:
        budget[0] -= 1
        if budget[0] < 0 or len(found) >= most or clock.late:
            return _smallest(found), False
        chosen, may = stack.pop()
        if not _settled(chosen, may, columns) or sum(f for f, q in zip(floor, chosen, strict=True) if q == 1) >= top:
            continue
        sums = [sum(g for i, g in column.adds if chosen[i] == 1) for column in columns]
        off = next((j for j, column in enumerate(columns) if sums[j] not in column.ends(may[j])), None)
        if off is not None:
            # What lies between 0 and 1 can be mended either way.
            low, high = columns[off].ends(may[off])
            left = [(i, g) for i, g in columns[off].adds if chosen[i] == -1]
            ways = [i for i, g in left if (sums[off] < high if g > 0 else sums[off] > low)]
            for way in ways[:1]:
                stack += [([*chosen[:way], q, *chosen[way + 1 :]], list(may)) for q in (0, 1)]
            continue
        total = sum((v for v, q in zip(values, chosen, strict=True) if q == 1), Fraction(0))
        held = [c for (c, _), q in zip(piece, chosen, strict=True) if q == 1]
        held += [u for column, s in zip(columns, sums, strict=True) if s == column.one for u in column.units]
        if 0 < total < top:
            found[frozenset(held)] = int(total)
        inside = list(may)
        for j, column in enumerate(columns):
            if sums[j] == column.one and may[j] == 3 and any(chosen[i] == -1 and g < 0 for i, g in column.adds):
                stack.append((list(chosen), [*inside[:j], 1, *inside[j + 1 :]]))
                inside[j] = 2
    return _smallest(found), True


def _columns(piece: Sequence[tuple[int, Row]]) -> tuple[list[Fraction], list[_Column]]:
    """Return the right-hand sides of equations scaled to 1 at their own unit, and all other units by what they get."""
    values = [Fraction(row[RHS], row[c]) for c, row in piece]
    adds: dict[int, list[tuple[int, Fraction]]] = {}
    for i, (own, row) in enumerate(piece):
        for c, value in row.items():
            if c not in (own, RHS):
                adds.setdefault(c, []).append((i, Fraction(value, row[own])))
    alike: dict[tuple[tuple[int, Fraction], ...], list[int]] = {}
    for c, found in adds.items():
        alike.setdefault(tuple(found), []).append(c)
    columns = []
    for shares, units in alike.items():
        one = math.lcm(*(share.denominator for _, share in shares))
        columns.append(_Column(tuple(units), tuple((i, int(share * one)) for i, share in shares), one))
    return values, columns


def _settled(chosen: list[int], may: list[int], columns: Sequence[_Column]) -> bool:
    """Make forced choices in place; say whether every unit can still be 0 or 1."""
    while True:
        for column, allowed in zip(columns, may, strict=True):
            low = high = sum(g for i, g in column.adds if chosen[i] == 1)
            left = [(i, g) for i, g in column.adds if chosen[i] == -1]
            for _, g in left:
                low, high = (low + g, high) if g < 0 else (low, high + g)
            bottom, ceiling = column.ends(allowed)
            if high < bottom or low > ceiling:
                return False
            # Whatever raises the sum from its least is too much, or whatever lowers it from its most too little.
            forced = [(i, g) for i, g in left if low + abs(g) > ceiling or high - abs(g) < bottom]
            if forced:
                i, g = forced[0]
                chosen[i] = int((g < 0) == (low + abs(g) > ceiling))
                break
        else:
            return True


def _smallest(found: dict[frozenset[int], int]) -> list[tuple[tuple[int, ...], int]]:
    kept: list[frozenset[int]] = []
    for union in sorted(found, key=len):
        if not any(other < union for other in kept):
            kept.append(union)
    return [(tuple(sorted(union)), found[union]) for union in kept]
