"""Overlapping groups of respondents, judged together: the values of all of them are enumerated at once.

Statistics of women, of black people and of black women are about the same few people: each leaves many values possible,
and all of them together perhaps one (Garfinkel, Abowd and Martindale 2019). Respondents are in *atoms*, the pieces that
every group is made of. All numbers of respondents in atoms that fit are tried, and for each of these all values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.core.numerics import IntArray
from discreet.feasible.respondent_values import (
    MOST_RESPONDENTS,
    Printed,
    RespondentGroup,
    StopError,
    fits,
    gaps,
    rank_of,
)
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

JOINT_STEPS = 60_000
"""The most values and numbers of respondents tried for overlapping groups: about a second. What would take more is left
open, and called incomplete."""
MOST_CELLS = 512
"""The most cells in which groups are searched for: a round choice."""
ROUNDS = 50
"""How often sums of pieces narrow each other before values are tried. A round choice, which only saves work."""
MOST_SETS = 200
"""The most pieces whose sums are worked out before values are tried: differences of groups, and of these."""


@dataclass(frozen=True)
class _Told:
    """What is known of some atoms together: how many respondents, their sum in units, and statistics of them."""

    atoms: frozenset[int]
    count: tuple[int, int]
    sums: tuple[int, int] = (-UNBOUNDED, UNBOUNDED)
    statistics: tuple[Printed, ...] = ()


class Together(NamedTuple):
    """What is left of groups and of pieces of them, and between which ends counts and sums lie, by their positions."""

    groups: tuple[RespondentGroup, ...]
    ranges: dict[int, tuple[int, int]]


def taken_together(
    equations: Equations, groups: Sequence[RespondentGroup], low: IntArray, high: IntArray, asked: Sequence[int]
) -> Together | None:
    """Return what is left of overlapping groups, and of known pieces of them; None if that is too much work.

    Args:
        equations: what is published; statistics of other figures than respondents' values must not be left in it.
        groups: all groups of a variable that overlap.
        low: the least value of every position.
        high: the largest.
        asked: the groups whose values are asked about.
    """
    cells = _cells(equations, groups)
    if cells is None or _says_more(equations):
        return None
    atoms, told, rows, partial = _stated(equations, groups, cells, low, high)
    unit = 10 ** max(one.statistic.unit for group in groups for one in group.statistics)
    found = _Found(len(atoms), [told[k].atoms for k in asked], partial)
    try:
        for number, values in _solutions(len(atoms), told, unit):
            found.add(number, values)
    except StopError:
        return None
    if not found.solutions:
        told_of = "; ".join(
            f"{group.name}: {', '.join(f'{one.name} {one.text}' for one in group.statistics)}" for group in groups
        )
        raise InfeasibleError(
            f"no values of respondents fit {told_of}; correct one of them, or say how they were rounded (rounding=, "
            "decimals=), and what values are possible (unit=, range=)"
        )
    size, (count, sum_) = equations.positions.size, (groups[0].count, groups[0].sum_)
    ranges = {}
    for one, i in zip(told, rows, strict=True):
        ranges[count // size * size + i] = found.counts(one.atoms)
        if sum_ >= 0 and one.atoms <= found.valued:
            ranges[sum_ // size * size + i] = found.sums(one.atoms)
    several = len(found.numbers) > 1
    loose = several and (partial or any(found.gaps(one.atoms) for one in told))
    if any(group.sum_judged for group in groups):
        # Sums depend on counts, and on each other.
        loose |= len(found.totals) > 1
    of_groups = (replace(one, loose=loose) for one in found.of_groups([groups[k] for k in asked], unit))
    return Together((*of_groups, *found.of_atoms(atoms, equations, groups, unit)), ranges)


# --- what is told ---------------------------------------------------------------------------------------------


def _says_more(equations: Equations) -> bool:
    """Say whether other statistics than those of respondents' values are left, which values would have to fit too."""
    own = [column for column in equations.statistics if len(column)]
    return any(not (one.statistic.of_values or one.statistic.kind == "mean") for one in own)


def _cells(equations: Equations, groups: Sequence[RespondentGroup]) -> IntArray | None:
    """Return the finest cells that somebody in the groups can be in, None where they are too many."""
    size, grid = equations.positions.size, equations.space.grid
    if len({group.count // size for group in groups}) > 1 or len({group.sum_ // size for group in groups}) > 1:
        return None
    places = grid.decode(equations.positions[[group.count % size for group in groups]])
    sides = [
        sorted(frozenset().union(*(axis.under[code] for code in codes.tolist())))
        for axis, codes in zip(equations.space.axes, places, strict=True)
    ]
    if math.prod(map(len, sides)) > MOST_CELLS:
        return None
    return grid.encode(list(np.array(list(product(*sides)), np.int64).T))


def _stated(
    equations: Equations, groups: Sequence[RespondentGroup], cells: IntArray, low: IntArray, high: IntArray
) -> tuple[list[IntArray], list[_Told], list[int], bool]:
    """Return the atoms, as cells; what is published about them, groups first; where; and whether figures are of others.

    Something is published about every position made of such cells, so atoms are the pieces of all of them.
    """
    size, grid = equations.positions.size, equations.space.grid
    counts, sums = groups[0].count // size * size, groups[0].sum_ // size * size if groups[0].sum_ >= 0 else -1
    every = grid.decode(equations.positions)
    inside = np.ones((size, cells.size), bool)
    for axis, codes, own in zip(equations.space.axes, every, grid.decode(cells), strict=True):
        below = np.zeros((len(axis.nodes), len(axis.nodes)), bool)
        for node, leaves in enumerate(axis.under):
            below[node, list(leaves)] = True
        inside &= below[codes][:, own]
    some = inside.any(axis=1)
    whole = inside.sum(axis=1) == _under(equations, every)
    place = equations.locate(cells)
    somebody = ~((place >= 0) & (high[counts + np.maximum(place, 0)] == 0))
    cells, inside = cells[somebody], inside[:, somebody]
    rows = [*(group.count % size for group in groups), *np.flatnonzero(some & whole).tolist()]
    others = np.flatnonzero(some & ~whole).tolist()
    _, atom_of = np.unique(inside[rows].T, axis=0, return_inverse=True)
    atom_of = atom_of.ravel()
    told = []
    for number, i in enumerate(rows):
        ends = (int(low[counts + i]), int(high[counts + i]))
        total = (int(low[sums + i]), int(high[sums + i])) if sums >= 0 else (-UNBOUNDED, UNBOUNDED)
        given = groups[number].statistics if number < len(groups) else ()
        members = frozenset(np.unique(atom_of[inside[i]]).tolist())
        # Whatever has statistics has respondents.
        told.append(_Told(members, (max(ends[0], 1), ends[1]) if given else ends, total, given))
    atoms = [cells[atom_of == k] for k in range(int(atom_of.max(initial=-1)) + 1)]
    return atoms, told, rows, any(_informs(equations, counts + i, sums + i if sums >= 0 else -1) for i in others)


def _under(equations: Equations, codes: tuple[IntArray, ...]) -> IntArray:
    """Return how many of the finest cells each position is made of."""
    sizes = [
        np.array([len(leaves) for leaves in axis.under])[c] for axis, c in zip(equations.space.axes, codes, strict=True)
    ]
    return np.asarray(np.prod(sizes, axis=0), np.int64)


def _informs(equations: Equations, count: int, sum_: int) -> bool:
    """Say whether anything is published of a count or a sum."""
    for i in (count, *([sum_] if sum_ >= 0 else [])):
        if equations.lower[i] > 0 or equations.upper[i] < UNBOUNDED:
            return True
    return False


# --- enumeration ----------------------------------------------------------------------------------------------

Values = tuple[tuple[int, ...], ...]
"""The values in every atom, in units and in order."""


def _solutions(atoms: int, told: Sequence[_Told], unit: int) -> Iterator[tuple[tuple[int, ...], Values]]:
    """Yield all numbers of respondents in atoms, and all values, that fit."""
    steps = [JOINT_STEPS]
    for number in _numbers(atoms, told, steps):
        for values in _values(number, told, unit, steps):
            yield number, values


def _spend(steps: list[int]) -> None:
    steps[0] -= 1
    if steps[0] < 0:
        raise StopError


def _numbers(atoms: int, told: Sequence[_Told], steps: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield all numbers of respondents in atoms that fit what is published about them."""
    most = [min((one.count[1] for one in told if a in one.atoms), default=UNBOUNDED) for a in range(atoms)]
    if max(most, default=0) > MOST_RESPONDENTS:
        raise StopError
    number = [0] * atoms

    def place(a: int) -> Iterator[tuple[int, ...]]:
        if a == atoms:
            if sum(number) > MOST_RESPONDENTS:
                raise StopError
            yield tuple(number)
            return
        for n in range(most[a] + 1):
            _spend(steps)
            number[a] = n
            if all(_may_be(one, number, most, a) for one in told if a in one.atoms):
                yield from place(a + 1)
        number[a] = 0

    yield from place(0)


def _may_be(one: _Told, number: Sequence[int], most: Sequence[int], last: int) -> bool:
    """Say whether atoms after the last can still have as many respondents as is told."""
    so_far = sum(number[a] for a in one.atoms if a <= last)
    return so_far <= one.count[1] and so_far + sum(most[a] for a in one.atoms if a > last) >= one.count[0]


@dataclass(frozen=True)
class _Bounded:
    """What is known about atoms whose numbers are known: how many, the sum, and the values between which ranks lie."""

    atoms: frozenset[int]
    n: int
    least: int
    most: int
    statistics: tuple[Printed, ...]
    ranks: tuple[tuple[int, int, int, int], ...]
    unit: int

    @classmethod
    def of(cls, one: _Told, number: Sequence[int], unit: int) -> _Bounded:
        """Put the number of respondents in."""
        n = sum(number[a] for a in one.atoms)
        least, most = one.sums
        ranks = []
        for printed in one.statistics:
            low, high = math.ceil(printed.low * unit), math.floor(printed.high * unit)
            kind = printed.statistic
            if kind.kind == "mean":
                least = max(least, math.ceil(printed.low * n * unit))
                most = min(most, math.floor(printed.high * n * unit))
            rank = rank_of(kind, n)
            if rank is not None:
                ranks.append((low, high, rank, n - 1 - rank))
            elif kind.kind == "median":
                # The two in the middle have their mean there: one is not above it, the other not below.
                ranks.append((low, high, n // 2, n // 2))
        return cls(one.atoms, n, least, most, one.statistics, tuple(ranks), unit)


def _values(number: tuple[int, ...], told: Sequence[_Told], unit: int, steps: list[int]) -> Iterator[Values]:
    """Yield all values of so many respondents in atoms that fit."""
    kinds = [one.statistic for group in told for one in group.statistics]
    if any(kind.least is None for kind in kinds):
        raise StopError
    floor = max(int(kind.least or 0) for kind in kinds) * unit
    tops = [kind.most for kind in kinds if kind.most is not None]
    ceiling = min(tops) * unit if tops else UNBOUNDED
    stated = _closed([_Bounded.of(one, number, unit) for one in told], number, floor, ceiling)
    if stated is None:
        return
    # Where nobody says anything of values, none are asked for.
    valued = {a for one in told if one.statistics for a in one.atoms if number[a]}
    order = sorted(valued, key=lambda a: _room(a, number, stated))
    values: list[list[int]] = [[] for _ in number]
    of = [[one for one in stated if a in one.atoms] for a in range(len(number))]

    def place(k: int) -> Iterator[Values]:
        if k == len(order):
            yield tuple(map(tuple, values))
            return
        atom = order[k]
        if len(values[atom]) == number[atom]:
            yield from place(k + 1)
            return
        first = values[atom][-1] if values[atom] else floor
        last = min((_most(one, values, floor) for one in of[atom]), default=ceiling)
        # Those that follow in the atom are as large.
        last = min(last, ceiling)
        if last >= UNBOUNDED:
            raise StopError
        for value in range(first, last + 1):
            _spend(steps)
            values[atom].append(value)
            if all(_fits_so_far(one, values, floor, ceiling) for one in of[atom]):
                yield from place(k)
            values[atom].pop()

    yield from place(0)


def _closed(told: list[_Bounded], number: Sequence[int], floor: int, ceiling: int) -> list[_Bounded] | None:
    """Return what is told, with the sums of pieces that follow from groups inside each other; None where none fits."""
    sums: dict[frozenset[int], tuple[int, int]] = {}

    def note(atoms: frozenset[int], low: int, high: int) -> bool:
        n = sum(number[a] for a in atoms)
        before = sums.get(atoms, (n * floor, n * ceiling if ceiling < UNBOUNDED else UNBOUNDED))
        now = (max(before[0], low), min(before[1], high))
        sums[atoms] = now
        return now != before

    for one in told:
        note(one.atoms, one.least, one.most)
    for _ in range(ROUNDS):
        changed = False
        # Ends that have passed each other would go on passing each other.
        if len(sums) >= MOST_SETS or any(low > high for low, high in sums.values()):
            break
        for whole, part in product(list(sums), repeat=2):
            if part < whole:
                (low, high), (least, most) = sums[whole], sums[part]
                rest = whole - part
                changed |= note(rest, low - most if most < UNBOUNDED else -UNBOUNDED, high - least)
                left = sums[rest]
                changed |= note(part, low - left[1] if left[1] < UNBOUNDED else -UNBOUNDED, high - left[0])
                changed |= note(whole, least + left[0], min(most + left[1], UNBOUNDED))
        if not changed:
            break
    if any(low > high for low, high in sums.values()):
        return None
    known = {one.atoms for one in told}
    found = [
        replace(one, least=max(one.least, sums[one.atoms][0]), most=min(one.most, sums[one.atoms][1])) for one in told
    ]
    pieces = [
        _Bounded(atoms, sum(number[a] for a in atoms), low, high, (), (), 1)
        for atoms, (low, high) in sums.items()
        if atoms not in known and atoms
    ]
    return found + pieces


def _room(atom: int, number: Sequence[int], told: Sequence[_Bounded]) -> tuple[float, int]:
    """Return how much room the sum of an atom has: the atom with the least comes first."""
    own = [one.most - one.least for one in told if one.atoms == {atom}]
    return (float(min(own, default=UNBOUNDED)) + 1) ** 0.5 * number[atom], atom


def _most(one: _Bounded, values: Sequence[Sequence[int]], floor: int) -> int:
    """Return the largest value that one more respondent can have, all others having the least."""
    if one.most >= UNBOUNDED:
        return UNBOUNDED
    placed = [value for a in one.atoms for value in values[a]]
    return one.most - sum(placed) - (one.n - len(placed) - 1) * floor


def _fits_so_far(one: _Bounded, values: Sequence[Sequence[int]], floor: int, ceiling: int) -> bool:
    """Say whether values that are placed can belong to a group with its sum and its statistics."""
    placed = [value for a in one.atoms for value in values[a]]
    total, left = sum(placed), one.n - len(placed)
    if total + left * floor > one.most or (ceiling < UNBOUNDED and total + left * ceiling < one.least):
        return False
    for low, high, below, above in one.ranks:
        if sum(value < low for value in placed) > below or sum(value > high for value in placed) > above:
            return False
    if left:
        return True
    return total >= one.least and all(fits(printed, sorted(placed), one.unit) for printed in one.statistics)


# --- what was found -------------------------------------------------------------------------------------------


class _Found:
    """The values that groups, and atoms, have in all solutions."""

    def __init__(self, atoms: int, groups: Sequence[frozenset[int]], partial: bool) -> None:
        self.solutions, self.partial = 0, partial
        self.numbers: set[tuple[int, ...]] = set()
        self.groups = [sorted(group) for group in groups]
        self.sets: list[set[tuple[int, ...]]] = [set() for _ in groups]
        self.in_atoms: list[set[tuple[int, ...]]] = [set() for _ in range(atoms)]
        self.totals: set[tuple[int, ...]] = set()
        self.valued = frozenset(a for group in groups for a in group)

    def add(self, number: tuple[int, ...], values: Values) -> None:
        """Note one solution."""
        self.solutions += 1
        self.numbers.add(number)
        self.totals.add(tuple(map(sum, values)))
        for group, seen in zip(self.groups, self.sets, strict=True):
            seen.add(tuple(sorted(value for a in group for value in values[a])))
        for seen, own in zip(self.in_atoms, values, strict=True):
            seen.add(own)

    def counts(self, atoms: frozenset[int]) -> tuple[int, int]:
        """Return the least and the largest number of respondents in some atoms."""
        found = [sum(number[a] for a in atoms) for number in self.numbers]
        return min(found), max(found)

    def gaps(self, atoms: frozenset[int]) -> bool:
        """Say whether some number of respondents between the least and the largest is ruled out."""
        return gaps({sum(number[a] for a in atoms) for number in self.numbers})

    def sums(self, atoms: frozenset[int]) -> tuple[int, int]:
        """Return the least and the largest sum of their values."""
        found = [sum(total[a] for a in atoms) for total in self.totals]
        return min(found), max(found)

    def of_groups(self, groups: Sequence[RespondentGroup], unit: int) -> Iterator[RespondentGroup]:
        """Yield what is left of every group."""
        for group, seen in zip(groups, self.sets, strict=True):
            counts, sums = [len(one) for one in seen], [sum(one) for one in seen]
            yield replace(
                group,
                sets=len(seen),
                only=_values_of(seen, unit),
                counts=(min(counts), max(counts)),
                sums=(min(sums), max(sums)),
                # Figures that are of others too may rule out some of several numbers of respondents.
                alone=not self.partial or len(self.numbers) == 1,
                beside=", beside those of groups that overlap",
            )

    def of_atoms(
        self, atoms: Sequence[IntArray], equations: Equations, groups: Sequence[RespondentGroup], unit: int
    ) -> Iterator[RespondentGroup]:
        """Yield the pieces of groups whose values are known, though no statistic of them alone is published."""
        whole = {frozenset(group) for group in self.groups}
        size = equations.positions.size
        for number, (cells, seen) in enumerate(zip(atoms, self.in_atoms, strict=True)):
            at = int(equations.locate(cells[:1])[0])
            if len(seen) != 1 or seen == {()} or frozenset([number]) in whole or at < 0:
                continue
            name = " + ".join(equations.space.describe(int(cell)) for cell in cells[:3])
            variable = groups[0].name.partition(" of ")[0]
            count = groups[0].count // size * size + at
            yield RespondentGroup(
                f"{variable} of {name}", count, -1, (), 1, _values_of(seen, unit), (0, UNBOUNDED), (0, UNBOUNDED),
                beside=", as statistics of groups that contain them show",
            )  # fmt: skip


def _values_of(seen: set[tuple[int, ...]], unit: int) -> tuple[Fraction, ...]:
    """Return the values if they are known."""
    return tuple(Fraction(value, unit) for one in seen for value in one) if len(seen) == 1 else ()
