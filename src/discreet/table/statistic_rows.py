"""What printed statistics say about the figures, as inequalities with integer coefficients.

A percentage p of N, printed to some decimals, says low·N ≤ 100·x ≤ high·N. Ends are fractions; multiplied by what is
below the line, both sides are integers, and an open end is one that the sum exceeds by 1 or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from discreet.core.errors import DataError, LimitError, RequestError, require
from discreet.core.numerics import BoolArray, IntArray, first_true
from discreet.core.sparse import Rows, row_of, starts_of
from discreet.table.figures import Figures
from discreet.table.grid import locate
from discreet.table.kinds import UNBOUNDED
from discreet.table.overlay import Overlay
from discreet.table.space import Space
from discreet.table.statistic import LINEAR, Statistic, StatisticColumn

LARGEST = 2.0**60
"""Coefficients times figures stay below this: sums of them fit into 64 bits."""

RATIOS = tuple(kind for kind in LINEAR if kind != "difference")
"""Statistics that are not defined where nothing is below the line."""


class Inequalities(NamedTuple):
    """Lower bounds on sums of variables: rows with integer coefficients.

    ``column`` numbers the column of statistics that says it and ``row`` its entry; -1 for what holds of all cells.
    """

    rows: Rows
    least: IntArray
    column: IntArray
    row: IntArray

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.least.size)

    def chosen(self, keep: BoolArray) -> Inequalities:
        """Return some of them."""
        entries = keep[self.rows.of]
        rows = Rows(starts_of(np.diff(self.rows.starts)[keep]), self.rows.columns[entries], self.rows.values[entries])
        return Inequalities(rows, self.least[keep], self.column[keep], self.row[keep])


class _Terms(NamedTuple):
    """Multiples of variables: the entry that each belongs to, the variable, and the factor."""

    entry: IntArray
    variable: IntArray
    factor: IntArray

    def with_(self, other: _Terms) -> _Terms:
        """Return these multiples and others."""
        return _Terms(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    def times(self, by: IntArray | int) -> _Terms:
        """Return multiples; every entry may have its own."""
        return self._replace(factor=self.factor * (by if isinstance(by, int) else by[self.entry]))


@dataclass(frozen=True, eq=False)
class MeasuredPositions:
    """Where the variables of all measures are, and the statistics beside tables that are about them.

    The variables of measure m are the positions, m times their number further on.
    """

    space: Space
    positions: IntArray
    parts: tuple[Figures, ...]
    decimals: int
    measures: tuple[str, ...] = field(init=False)
    published: int = field(init=False)

    def __post_init__(self) -> None:
        published = dict.fromkeys(("", *(part.measure for part in self.parts)))
        sums = {s.sum_name: None for _, _, s in self._every() if s.of_values and s.linear}
        if set(published) & set(sums):
            raise RequestError(f"a column is called {next(iter(sums))!r}, as a sum that is not published; rename it")
        object.__setattr__(self, "measures", (*published, *sums))
        object.__setattr__(self, "published", len(published))
        for part, column, statistic in self._every():
            require(
                statistic.measures, self._named(part), f"{column.name} is computed from a measure that no table has:"
            )
            require((*statistic.over, *filter(None, [statistic.along])), part.names, f"{column.name}: no dimension is")
            if statistic.of_values and self.decimals:
                raise RequestError(
                    f"{column.name} is of respondents' values, but the figures beside it have {self.decimals} decimals "
                    "and count nobody; name the counts as the figures (value=, --value)"
                )

    @property
    def columns(self) -> tuple[StatisticColumn, ...]:
        """All columns of statistics, in the order of the tables."""
        return tuple(column for _, column, _ in self._every())

    def _every(self) -> Iterable[tuple[Figures, StatisticColumn, Statistic]]:
        return ((part, column, column.statistic) for part in self.parts for column in part.statistics)

    def _named(self, part: Figures) -> tuple[str, ...]:
        """The measures that a definition can name: by which name the figures themselves go is the table's to say."""
        published = {one.measure for one in self.parts} | {part.figure}
        return tuple(name for name in published if name)

    def measure(self, part: Figures, name: str) -> int:
        """Return the number of a measure that a definition beside a table names."""
        return self.measures.index(part.measure if not name or name == part.figure else name)

    # --- cells --------------------------------------------------------------------------------------------

    def variables(self, part: Figures, codes: IntArray, measure: int, over: Mapping[str, IntArray | int]) -> IntArray:
        """Return the variables of cells of a table, some dimensions at another code of the space."""
        codes_of = []
        for axis in self.space.axes:
            if axis.name in over:
                codes_of.append(np.broadcast_to(np.asarray(over[axis.name], np.int64), codes.shape[:1]))
            elif axis.name in part.names:
                codes_of.append(axis.coded(part)[codes[:, part.names.index(axis.name)]])
            else:
                codes_of.append(np.zeros(codes.shape[0], np.int64))
        at = locate(self.positions, self.space.grid.encode(codes_of))
        if (at < 0).any():
            raise RequestError(
                f"{part.name}: a statistic is of a sum that cannot be stated; name other dimensions (over=)"
            )
        return at + measure * self.positions.size

    def _base(self, part: Figures, column: StatisticColumn) -> dict[str, IntArray | int]:
        """Return the codes of the cell below the line where they differ from those of the statistic's own."""
        statistic = column.statistic
        found: dict[str, IntArray | int] = {}
        for name, label in statistic.over.items():
            axis = self.space.axes[self.space.axis(name)]
            found[name] = axis.code(label) if label and not part.is_total(name, label) else axis.top(part)
        if statistic.along and statistic.kind != "cumulative":
            axis = self.space.axes[self.space.axis(statistic.along)]
            k = part.names.index(statistic.along)
            order = part.categories(statistic.along)
            before = np.array([order.index(i) - 1 if i in order else -1 for i in range(len(part.labels[axis.name]))])
            if (row := first_true(before[column.codes[:, k]] < 0)) is not None:
                raise DataError(
                    f"{column.name} is {column.text(row)} at {_cell(part, column, row)}, which has nothing before it "
                    f"along {statistic.along!r}; leave it out"
                )
            found[axis.name] = axis.coded(part)[np.array(order)[before[column.codes[:, k]]]]
        elif statistic.along and statistic.along not in statistic.over:
            found[statistic.along] = self.space.axes[self.space.axis(statistic.along)].top(part)
        return found

    def above(self, part: Figures, column: StatisticColumn) -> _Terms:
        """Return what is above the line."""
        statistic = column.statistic
        name = statistic.sum_name if statistic.of_values else ""
        measure = self.measures.index(name) if name else self.measure(part, statistic.of)
        entry = np.arange(len(column))
        codes = column.codes
        if statistic.kind == "cumulative":
            k, order = part.names.index(statistic.along), part.categories(statistic.along)
            until = np.array(
                [order.index(i) + 1 if i in order else 0 for i in range(len(part.labels[statistic.along]))]
            )
            if (row := first_true(until[codes[:, k]] == 0)) is not None:
                raise DataError(f"{column.name} accumulates at {_cell(part, column, row)}, a total; leave it out there")
            entry = np.repeat(entry, until[codes[:, k]])
            codes = codes[entry].copy()
            codes[:, k] = [i for n in until[column.codes[:, k]].tolist() for i in order[:n]]
        variable = self.variables(part, codes, measure, {})
        return _Terms(entry, variable, np.ones(entry.size, np.int64))

    def below(self, part: Figures, column: StatisticColumn) -> _Terms:
        """Return the figures below the line."""
        entry = np.arange(len(column))
        measure = self.measure(part, column.statistic.per)
        variable = self.variables(part, column.codes, measure, self._base(part, column))
        return _Terms(entry, variable, np.ones(entry.size, np.int64))

    def sums(self) -> list[tuple[int, int, Statistic]]:
        """Return every sum of respondents' values that is not published, the measure that counts them, their range."""
        found: dict[int, tuple[int, int, Statistic]] = {}
        for part, column, statistic in self._every():
            if statistic.of_values and statistic.linear:
                sum_ = self.measures.index(statistic.sum_name)
                before = found.setdefault(sum_, (sum_, self.measure(part, statistic.per), statistic))
                said = [(one.unit, one.least, one.most) for one in (before[2], statistic)]
                if said[0] != said[1] or before[1] != self.measure(part, statistic.per):
                    raise RequestError(
                        f"{column.name} says something else of {statistic.variable!r} than another statistic does "
                        "(unit, range, per); say the same about both, or name another variable"
                    )
        return list(found.values())

    def confine(self, sum_: int, states: Sequence[Overlay]) -> None:
        """Put into the state of a sum that is not published what is known of it: nobody has nothing."""
        count, least = next((count, one.least) for number, count, one in self.sums() if number == sum_)
        state, nobody = states[sum_], states[count].upper == 0
        state.lower[:] = 0 if least is not None and least >= 0 else -UNBOUNDED
        state.lower[nobody] = state.upper[nobody] = 0

    # --- inequalities -------------------------------------------------------------------------------------

    def inequalities(self) -> Inequalities:
        """Return what all statistics of true values say of the variables."""
        found = [_Stated.none()]
        for number, (part, column, statistic) in enumerate(self._every()):
            if not len(column) or statistic.made_of != "values":
                continue
            if statistic.linear:
                found.append(self._printed(part, column, number))
            if statistic.constant is None and (statistic.threshold or statistic.kind in RATIOS):
                # The value below the line is not 0 and reaches the threshold of publication; once per figure.
                figures, first = np.unique(self.below(part, column).variable, return_index=True)
                once = np.ones(figures.size, np.int64)
                terms, least = _Terms(np.arange(figures.size), figures, once), statistic.threshold * 10**self.decimals
                found.append(_Stated.of(terms, once * max(least, 1), number)._replace(row=first))
            if not statistic.extremes:
                # Every entry is of some, and not of all: 0 and 100 per cent are not published.
                above, below = self.above(part, column), self.below(part, column)
                once = np.ones(len(column), np.int64)
                found += [_Stated.of(terms, once, -1) for terms in (above, below.with_(above.times(-1)))]
        shares = {
            (self.measure(part, statistic.of), self.measure(part, statistic.per))
            for part, _, statistic in self._every()
            if statistic.is_share
        }
        found += [self._part_of(*pair) for pair in sorted(shares)]
        found += self._within()
        return _gathered(found)

    def _printed(self, part: Figures, column: StatisticColumn, number: int) -> _Stated:
        """Return both sides of every entry of a column."""
        statistic = column.statistic
        per = 2 * 10**column.decimals
        ends = column.admitted
        shift = statistic.times * per if statistic.kind == "growth" else 0
        above, constant = self.above(part, column), statistic.constant
        finer = 10**statistic.unit if statistic.of_values else 10**self.decimals
        if statistic.kind == "difference":
            above = above.with_(self.below(part, column).times(-1))
            below, by, fixed = None, 1, finer
        elif constant is not None:
            if constant <= 0:
                raise RequestError(f"{column.name} is per {statistic.per}; give a number above 0 (per=)")
            below, by, fixed = None, constant.denominator, constant.numerator * finer
        else:
            below, by, fixed = self.below(part, column), 1 if statistic.of_values else finer, 0
        factors = [statistic.times * per * by, *(int(np.abs(end).max()) + shift for end in ends[:2])]
        if max(factors) * finer >= LARGEST / 2**20:
            raise LimitError(
                f"{column.name} has {column.decimals} decimals and is multiplied by {statistic.times}: its equations "
                "do not fit into 64 bits; round it, or give smaller units"
            )
        sides = []
        for sign, end, open_ in ((1, ends.low, ends.open_low), (-1, ends.high, ends.open_high)):
            terms = above.times(sign * statistic.times * per * by)
            if below is not None:
                terms = terms.with_(below.times(-sign * (end + shift) * finer))
            sides.append(_Stated.of(terms, open_ + sign * (end + shift) * fixed, number))
        return _joined(sides)

    def _part_of(self, part: int, whole: int) -> _Stated:
        """Return that one measure is a part of another in every cell."""
        at = np.arange(self.positions.size)
        terms = _Terms(np.tile(at, 2), np.r_[at + whole * at.size, at + part * at.size], np.repeat([1, -1], at.size))
        return _Stated.of(terms, np.zeros(at.size, np.int64), -1)

    def _within(self) -> list[_Stated]:
        """Return that sums of respondents' values lie between so many times the least and the largest value."""
        at, found = np.arange(self.positions.size), []
        for sum_, count, one in self.sums():
            for sign, end in ((1, one.least), (-1, one.most)):
                if end is not None:
                    variable = np.r_[at + sum_ * at.size, at + count * at.size]
                    factor = np.repeat([sign, -sign * end * 10**one.unit], at.size)
                    found.append(_Stated.of(_Terms(np.tile(at, 2), variable, factor), np.zeros(at.size, np.int64), -1))
        return found

    # --- statistics of published figures ------------------------------------------------------------------

    def of_figures(self) -> list[tuple[int, StatisticColumn, _Terms, _Terms | None]]:
        """Return the columns that were computed from figures as published, with their lines; number first."""
        return [
            (number, column, self.above(part, column), None if s.constant is not None else self.below(part, column))
            for number, (part, column, s) in enumerate(self._every())
            if s.linear and s.made_of == "figures" and len(column)
        ]


class _Stated(NamedTuple):
    """Inequalities before they are put into rows."""

    terms: _Terms
    least: IntArray
    column: IntArray
    row: IntArray

    @classmethod
    def of(cls, terms: _Terms, least: IntArray, number: int) -> _Stated:
        row = np.arange(least.size) if number >= 0 else np.full(least.size, -1)
        return cls(terms, np.asarray(least, np.int64), np.full(least.size, number), row)

    @classmethod
    def none(cls) -> _Stated:
        nothing = np.zeros(0, np.int64)
        return cls(_Terms(nothing, nothing, nothing), nothing, nothing, nothing)


def _joined(several: Sequence[_Stated]) -> _Stated:
    """Concatenate inequalities."""
    shift = np.cumsum([0, *(one.least.size for one in several)])
    entry = np.concatenate([one.terms.entry + by for one, by in zip(several, shift, strict=False)])
    variable, factor = (np.concatenate([one.terms[k] for one in several]) for k in (1, 2))
    least, column, row = (np.concatenate([one[k] for one in several]) for k in (1, 2, 3))
    return _Stated(_Terms(entry, variable, factor), least, column, row)


def _gathered(several: Sequence[_Stated]) -> Inequalities:
    """Return inequalities in rows: each variable once, coefficients without a common divisor."""
    stated = _joined(several)
    entry, variable, factor = stated.terms
    order = np.argsort(entry * (int(variable.max(initial=0)) + 1) + variable, kind="stable")
    entry, variable, factor = entry[order], variable[order], factor[order]
    new = np.flatnonzero(np.r_[True, (np.diff(entry) != 0) | (np.diff(variable) != 0)]) if entry.size else entry
    factor = np.add.reduceat(factor, new) if entry.size else factor
    entry, variable = entry[new], variable[new]
    kept = factor != 0
    entry, variable, factor = entry[kept], variable[kept], factor[kept]
    lengths = np.bincount(entry, minlength=stated.least.size)
    found = Inequalities(Rows(starts_of(lengths), variable, factor), stated.least, stated.column, stated.row)
    trivial = (lengths == 0) & (stated.least <= 0)
    found = found.chosen(~trivial)
    if not found.size:
        return found
    full = np.diff(found.rows.starts) > 0
    divisor = np.ones(found.size, np.int64)
    divisor[full] = np.gcd.reduceat(np.abs(found.rows.values), found.rows.starts[:-1][full])
    rows = found.rows._replace(values=found.rows.values // divisor[row_of(found.rows.starts)])
    return found._replace(rows=rows, least=-(-found.least // divisor))


def _cell(part: Figures, column: StatisticColumn, row: int) -> str:
    pairs = zip(part.labels.items(), column.codes[row].tolist(), strict=True)
    return ", ".join(f"{name}={labels[code]}" for (name, labels), code in pairs)
