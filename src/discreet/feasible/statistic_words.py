"""Statistics in words: what a printed one says about a figure, as a person would reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.core.numerics import IntArray
from discreet.table.equations import Equations
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.statistic import StatisticColumn
from discreet.table.statistic_rows import Inequalities


@dataclass(frozen=True, eq=False)
class Statement:
    """One inequality: the statistic that says it, if one does, and the variables in it."""

    equations: Equations
    stated: Inequalities
    k: int

    @cached_property
    def column(self) -> StatisticColumn | None:
        """The statistics that it is from; None for what holds of all cells."""
        number = int(self.stated.column[self.k])
        return None if number < 0 else self.equations.statistics[number]

    @cached_property
    def row(self) -> int:
        """Which of the statistics it is."""
        return int(self.stated.row[self.k])

    @cached_property
    def variables(self) -> list[int]:
        """The variables in it."""
        begin, end = self.stated.rows.starts[self.k : self.k + 2].tolist()
        return [int(i) for i in self.stated.rows.columns[begin:end]]

    @property
    def _part(self) -> Figures:
        return next(part for part in self.equations.parts if any(one is self.column for one in part.statistics))

    def __str__(self) -> str:
        """Name the statistic and its cell."""
        name, column = self.equations.describe, self.column
        if column is None:
            first, *rest = self.variables
            return f"what {name(first)} leaves of {', '.join(map(name, rest))}" if rest else name(first)
        labels = zip(self._part.labels.items(), column.codes[self.row].tolist(), strict=True)
        cell = [f"{n}={of[code]}" for (n, of), code in labels if not self._part.is_total(n, of[code])]
        return f"{column.name} {column.text(self.row)} at {', '.join(cell) or 'total'}"

    def known(self, others: Sequence[int], low: IntArray, high: IntArray) -> str:
        """Say between what other variables lie."""
        return ", ".join(f"{self.equations.describe(j)} is {self._range(low, high, j)}" for j in others)

    def reason(self, i: int, low: IntArray, high: IntArray) -> str:
        """Say what remains possible for variable i, given the ranges of the others."""
        others = [j for j in self.variables if j != i]
        told = self._ratio(i, others, low, high) if self.column is not None and len(others) <= 1 else ""
        if not told:
            where = self.known(others, low, high)
            return f"{self}, where {where}" if where else str(self)
        derived = [j for j in others if self.equations.source[j] < 0 or self.equations.hidden[j]]
        return told + "".join(f" ({self.equations.describe(j)} follows from other figures)" for j in derived)

    def _ratio(self, i: int, others: list[int], low: IntArray, high: IntArray) -> str:
        """Say what a ratio of two figures leaves of one of them; nothing where that takes more than a line."""
        column, measured = self.column, self.equations.measured
        if column is None or measured is None or column.statistic.kind in ("difference", "growth", "cumulative"):
            return ""
        statistic, shown = column.statistic, column.text(self.row)
        if not others and statistic.constant is None:
            few = statistic.threshold
            return f"{column.name} is {shown}, so it is {f'{few:,} or more' if few > 1 else 'not 0'}"
        found, per = column.admitted, 2 * 10**column.decimals
        ends = [Fraction(int(end[self.row]), per) / statistic.times for end in found[:2]]
        unit = Fraction(1, 10**self.equations.decimals)
        sides = [low[others[0]], high[others[0]]] if others else []
        least, most = [Fraction(int(end)) for end in sides] or [Fraction(statistic.per) / unit] * 2
        if abs(least) >= UNBOUNDED or abs(most) >= UNBOUNDED:
            return ""
        line = self._range(low, high, others[0]) if others else statistic.per
        above = measured.above(self._part, column)
        if i in above.variable[above.entry == self.row].tolist():
            values = [ends[0] * least * unit, ends[1] * most * unit]
            words = {"percentage": f"{shown} of {line}", "mean": f"a mean of {shown} over {line}"}
            what = words.get(statistic.kind, f"{column.name} {shown} per {line}")
            return f"{what} is {_between(values, whole=not self.equations.decimals and not statistic.unit)}"
        if ends[0] <= 0:
            return ""
        inner = Fraction(1, 10**statistic.unit) if statistic.of_values else unit
        between = _between([least * inner / ends[1], most * inner / ends[0]], whole=not self.equations.decimals)
        return (
            f"{line} is {shown} of what is {between}" if statistic.times == 100 else f"{shown} is {line} per {between}"
        )

    def _range(self, low: IntArray, high: IntArray, i: int) -> str:
        least, most = self.equations.text(int(low[i])), self.equations.text(int(high[i]))
        return least if least == most else f"{least} to {most}"


def _between(values: Sequence[Fraction], *, whole: bool) -> str:
    """Say between what a value lies, and which integer alone does.

    >>> _between([Fraction(2978, 1000), Fraction(30015, 10000)], whole=True)
    'between 2.98 and 3.01, so 3'
    """
    first, last = -(-values[0].numerator // values[0].denominator), values[1].numerator // values[1].denominator
    single = f", so {first}" if whole and first == last else ""
    # An upper end is never shown too low.
    high = -(-100 * values[1].numerator // values[1].denominator) / 100
    return f"between {float(values[0]):.2f} and {high:.2f}{single}"
