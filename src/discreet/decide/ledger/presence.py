"""Who is there: what numbers of respondents and amounts of the same respondents say about each other.

An amount is what respondents contribute, and no contribution is negative. So an amount above 0 says that somebody is
counted in its cell, and a number of 0 that there is no amount. If all contributions are above 0, an amount of 0 says
that nobody is there, and somebody that there is an amount. There are no other links, since the size of contributions is
unknown. Such facts, including those that only follow from a variable's equations, are passed between the variables
until none is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.core.numerics import BoolArray, IntArray, first_true
from discreet.core.text import listed
from discreet.decide.ledger.entry import PublishedTable
from discreet.decide.ledger.settings import Settings
from discreet.feasible.bounds import bounds
from discreet.feasible.statistic_ranges import with_statistics
from discreet.table.equations import Equations, Layout, equations_of, lay_out
from discreet.table.grid import locate
from discreet.table.release import parts_of
from discreet.table.space import AdditiveAxis, Space

COUNTS = ""
"""The variable that counts respondents."""
Tables: TypeAlias = Mapping[str, Sequence[PublishedTable]]
"""Joined published tables, by variable."""


@dataclass(frozen=True, eq=False)
class Presence:
    """What other variables say about who is there, at the positions of a layout of all tables.

    ``somebody`` are positions that hold somebody and ``nobody`` those that hold nobody, beyond what a variable's own
    tables say; ``crossed`` are the dimensions that tables cross, and ``titles`` the releases that say so.
    """

    layout: Layout
    somebody: BoolArray
    nobody: BoolArray
    crossed: tuple[frozenset[str], ...]
    titles: tuple[str, ...]
    counts: bool

    @property
    def told(self) -> str:
        """The releases that say so, as a phrase."""
        return listed(self.titles)

    def put(self, equations: Equations) -> Equations:
        """Return a variable's equations with what others say about who is there."""
        size = self.layout.positions.size
        lower, upper = equations.lower.copy(), equations.upper.copy()
        least = 10**equations.decimals if self.counts else 1
        lower[:size] = np.where(self.somebody, np.maximum(lower[:size], least), lower[:size])
        upper[:size] = np.where(self.nobody, np.minimum(upper[:size], 0), upper[:size])
        if (i := first_true(lower > upper)) is not None:
            raise InfeasibleError(self._contradiction(equations, i))
        reasons = dict(equations.reasons)
        some, none = (f"{who} is there by {self.told}" for who in ("somebody", "nobody"))
        reasons |= {(i, False): lambda: some for i in np.flatnonzero(self.somebody).tolist()}
        reasons |= {(i, True): lambda: none for i in np.flatnonzero(self.nobody).tolist()}
        return replace(equations, lower=lower, upper=upper, reasons=reasons)

    def _contradiction(self, equations: Equations, i: int) -> str:
        ends = [equations.text(int(end[i])) for end in (equations.lower, equations.upper)]
        here = ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"
        what = "number" if self.counts else "amount"
        who = "somebody" if self.somebody[i] else "nobody"
        return (
            f"the {what} at {equations.describe(i)} is {here}, but {who} is there by {self.told}; correct one of them"
        )


class Exchange:
    """Facts about who is there, exchanged between tables of numbers and of amounts until none is new.

    ``positive`` says that all contributions are taken to be above 0.
    """

    def __init__(self, tables: Tables, settings: Settings, *, positive: bool) -> None:
        self.tables, self.settings, self.positive = tables, settings, positive
        every = parts_of([sheet.figures for sheets in tables.values() for sheet in sheets])
        self.layout = lay_out(every, (), None)
        self.size = self.layout.positions.size
        self.stated = {
            name: with_statistics(equations_of([sheet.figures for sheet in sheets], on=self.layout))
            for name, sheets in tables.items()
        }
        self.lower = {name: equations.lower[: self.size].copy() for name, equations in self.stated.items()}
        self.upper = {name: equations.upper[: self.size].copy() for name, equations in self.stated.items()}
        self.cells = {name: told_cells(self.layout.space, sheets) for name, sheets in tables.items()}
        self._hand_on()
        while self._unsettled() and not settings.clock.late and self._solve():
            pass

    @property
    def amounts(self) -> list[str]:
        """The variables that are amounts."""
        return [name for name in self.tables if name != COUNTS]

    def presence(self, name: str) -> Presence:
        """Return what others say about who is there in the cells of one variable."""
        own = self.stated[name]
        somebody, nobody = self._facts(name)
        others = [sheet for other, sheets in self.tables.items() if other != name for sheet in sheets]
        return Presence(
            self.layout,
            somebody & (own.lower[: self.size] < 1),
            nobody & (own.upper[: self.size] > 0),
            tuple(dict.fromkeys(frozenset(sheet.figures.names) for sheet in others)),
            tuple(dict.fromkeys(f"«{sheet.entry.title}»" for sheet in others)),
            name == COUNTS,
        )

    def open_cells(self) -> IntArray:
        """Return the cells of amounts where there may be an amount, or nobody at all.

        Elsewhere there is no amount, or certainly somebody to contribute it.
        """
        found = [np.zeros(0, np.int64)]
        for name in self.amounts:
            for told in self.cells[name]:
                at = told.at(self.layout)
                found.append(at[(self.upper[name][at] > 0) & (self.lower[COUNTS][at] < 1)])
        return np.unique(np.concatenate(found))

    def _unsettled(self) -> bool:
        """Say whether it is open if somebody is in some cell of amounts, or of numbers, which alone may settle it."""
        at = np.concatenate([np.zeros(0, np.int64), *(told.at(self.layout) for told in self.cells.get(COUNTS, ()))])
        lower, upper = self.lower[COUNTS][at], self.upper[COUNTS][at]
        return bool(self.open_cells().size or ((lower < 1) & (upper > 0)).any())

    def _facts(self, name: str) -> tuple[BoolArray, BoolArray]:
        """Return where somebody is, and where nobody is, as far as a variable knows."""
        somebody = np.any([self.lower[one] > 0 for one in self.tables], axis=0)
        nobody: BoolArray = self.upper[COUNTS] <= 0
        if self.positive:
            nobody = nobody | np.any([self.upper[one] <= 0 for one in self.amounts], axis=0)
        elif name != COUNTS:
            somebody = self.lower[name] > 0
        return somebody, nobody

    def _hand_on(self) -> bool:
        """Pass on what every variable knows; return whether anything was new."""
        facts = {name: self._facts(name) for name in self.tables}
        new = False
        for name, (somebody, nobody) in facts.items():
            least = 10 ** self.stated[name].decimals if name == COUNTS else 1
            more, less = somebody & (self.lower[name] < least), nobody & (self.upper[name] > 0)
            new |= bool(more.any() or less.any())
            self.lower[name][more], self.upper[name][less] = least, 0
            if (i := first_true(self.lower[name] > self.upper[name])) is not None:
                cell = self.layout.space.describe(int(self.layout.positions[i]))
                raise InfeasibleError(f"by some of them somebody is at {cell}, and by others nobody is")
        return new

    def _solve(self) -> bool:
        """Bound what every variable leaves open about who is there, and pass it on; return whether anything was new."""
        for name in self.tables:
            equations = self.presence(name).put(self.stated[name])
            open_ = np.flatnonzero((self.lower[name] < 1) & (self.upper[name] > 0))
            s = self.settings
            found = bounds(equations, open_, time_limit=s.clock.left, workers=s.workers, progress=s.progress)
            self.lower[name] = np.maximum(self.lower[name], found.lower[: self.size])
            self.upper[name] = np.minimum(self.upper[name], found.upper[: self.size])
        return self._hand_on()


@dataclass(frozen=True)
class ToldCells:
    """The finest cells that tables of one variable tell apart, as labels along every dimension that they cross."""

    space: Space
    labels: Mapping[str, tuple[int, ...]]

    def at(self, layout: Layout) -> IntArray:
        """Return their positions in a layout."""
        found = locate(layout.positions, self.space.cross(dict(self.labels)))
        return found[found >= 0]

    def within(self, other: ToldCells) -> bool:
        """Say whether every one of them is a union of cells of the other."""
        axes = {axis.name: axis for axis in self.space.axes}
        return self.labels.keys() <= other.labels.keys() and all(
            all(any(axes[name].under[fine] <= axes[name].under[one] for one in mine) for fine in other.labels[name])
            for name, mine in self.labels.items()
        )


def told_cells(space: Space, sheets: Sequence[PublishedTable]) -> list[ToldCells]:
    """Return the finest cells that tables tell apart: one set for each crossing that no other table's holds."""
    crossed = dict.fromkeys(frozenset(part.names) for part in parts_of([sheet.figures for sheet in sheets]))
    largest = [names for names in crossed if not any(names < other for other in crossed)]
    labels = told_labels(space, sheets)
    return [ToldCells(space, {name: found for name, found in labels.items() if name in names}) for names in largest]


def told_labels(space: Space, sheets: Sequence[PublishedTable]) -> dict[str, tuple[int, ...]]:
    """Return the finest labels that tables tell apart, along every dimension that they have."""
    seen: dict[str, set[int]] = {}
    for part in parts_of([sheet.figures for sheet in sheets]):
        for k, name in enumerate(part.names):
            axis = space.axes[space.axis(name)]
            seen.setdefault(name, set()).update(np.unique(axis.coded(part)[part.codes[:, k]]).tolist())
    return {axis.name: _told(axis, seen[axis.name]) for axis in space.axes if axis.name in seen}


def _told(axis: AdditiveAxis, seen: set[int]) -> tuple[int, ...]:
    """Return the finest labels that tables distinguish; the finest of all where those overlap."""
    found = axis.finest(seen, 0)
    return found if sum(len(axis.under[one]) for one in found) == len(axis.under[0]) else axis.leaves
