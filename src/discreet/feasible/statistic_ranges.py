"""What statistics leave of the ranges of single figures, before groups of unknown values are searched.

Where everything but one figure is known, a statistic is a range of that figure: 13.0% of 23 is between 2.98 and 3.01,
which is 3. Statistics that bound several unknown figures become equations, each with what it leaves over as one more
unknown, and are searched with the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from discreet.core.errors import InfeasibleError, LimitError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import Rows, starts_of
from discreet.feasible.contradiction import reduced
from discreet.feasible.statistic_words import Statement
from discreet.table.equations import Equations
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.statistic import StatisticColumn
from discreet.table.statistic_rows import LARGEST, Inequalities

ROUNDS = 20
"""How often statistics and sums alternate in narrowing ranges. A round choice, which only saves work, since the rest is
searched."""


class _Narrowed(NamedTuple):
    """Ranges, and the inequality that gives each end; -1 where none does."""

    low: IntArray
    high: IntArray
    by_low: IntArray
    by_high: IntArray


def with_statistics(equations: Equations) -> Equations:
    """Return the equations with what statistics say in their ranges and, where that is not all, as further equations.

    Raises:
        InfeasibleError: a statistic contradicts the figures.
    """
    stated = equations.inequalities
    if stated is None:
        return equations
    equations = _of_figures(equations)
    reasons = dict(equations.reasons)
    plain = replace(equations, inequalities=None)
    lower, upper = equations.lower.copy(), equations.upper.copy()
    stated = _with_nobody(equations, _open(equations, stated))
    for _ in range(ROUNDS):
        left = reduced(replace(plain, lower=lower, upper=upper))
        low, high = left.members(left.low, left.high)
        found = _narrow(stated, low, high)
        _refuse_empty(equations, stated, found, low, high)
        closer = [np.flatnonzero(found.low > low), np.flatnonzero(found.high < high)]
        if not closer[0].size and not closer[1].size:
            break
        for side, (at, ends, by) in enumerate(zip(closer, found[:2], found[2:], strict=True)):
            (lower, upper)[side][at] = ends[at]
            said = partial(_said, equations, stated, by, low, high)
            reasons |= {(i, bool(side)): partial(said, i) for i in at.tolist()}
    kept = stated.chosen(_least(stated, low, high) < stated.least)
    return _with_rows(replace(plain, lower=lower, upper=upper, reasons=reasons), kept, low, high)


def _of_figures(equations: Equations) -> Equations:
    """Return the equations with what statistics of published figures say about a hidden one.

    Where all figures are shown, such a statistic must agree with them and adds nothing. Where one is hidden, it is a
    multiple of the rounding base near what the statistic says. Where several are, nothing is judged.
    """
    measured = equations.measured
    lower, upper, reasons = equations.lower.copy(), equations.upper.copy(), dict(equations.reasons)
    open_: list[str] = []
    for _, column, above, below in measured.of_figures() if measured is not None else ():
        part = next(part for part in equations.parts if any(one is column for one in part.statistics))
        kinds = list(dict.fromkeys(part.kinds[i] for i in np.unique(part.kind) if not part.kinds[i].hidden))
        for row in range(len(column)):
            tops = above.variable[above.entry == row].tolist()
            line = None if below is None else int(below.variable[row])
            hidden = [i for i in [*tops, *([] if line is None else [line])] if not _shown(equations, i)]
            if len(hidden) > 1 or (hidden and (len(kinds) != 1 or hidden == [line])):
                open_.append(column.name)
                continue
            known = sum(_value(equations, i) for i in tops if i not in hidden)
            bottom = None if line is None else _value(equations, line)
            step = kinds[0].step if kinds else 1
            fits = _fitting(column, row, known, bottom, step if hidden else 0, equations.decimals)
            if not fits:
                raise InfeasibleError(
                    f"{column.name} {column.text(row)} at {part.describe(_row(part, column, row))} is not what the "
                    f"published figures give; {CORRECT}"
                )
            if hidden:
                low, high = kinds[0].range(np.array([fits[0], fits[-1]]))
                i = hidden[0]
                lower[i], upper[i] = max(int(lower[i]), int(low[0])), min(int(upper[i]), int(high[1]))
                told = f"{column.name} {column.text(row)} was computed from a figure of {fits[0]} to {fits[-1]}"
                reasons |= {(i, side): partial(str, told) for side in (False, True)}
    left = tuple(dict.fromkeys(open_))
    return replace(equations, lower=lower, upper=upper, reasons=reasons, unjudged=left)


def _shown(equations: Equations, i: int) -> bool:
    """Say whether a figure is published, or a cell is seen to be empty."""
    kind = equations.kind(i)
    if kind is None:
        return bool(equations.lower[i] == equations.upper[i] == 0)
    return not kind.hidden and not kind.spans


def _value(equations: Equations, i: int) -> int:
    return equations.published_value(i) if equations.source[i] >= 0 else 0


def _row(part: Figures, column: StatisticColumn, row: int) -> int:
    return int(np.flatnonzero((part.codes == column.codes[row]).all(axis=1))[0])


def _fitting(column: StatisticColumn, row: int, known: int, bottom: int | None, step: int, decimals: int) -> list[int]:
    """Return the first and the last multiple of a step that gives a statistic beside what is known; 0 for no step."""
    statistic, ends = replace(column.statistic, decimals=column.decimals, threshold=0, extremes=True), column.admitted
    per = 2 * 10**column.decimals
    low, high = Fraction(int(ends.low[row]), per), Fraction(int(ends.high[row]), per)

    def inside(figure: int) -> bool:
        ratio = statistic.ratio(known + figure, bottom, decimals)
        if ratio is None:
            return False
        above = ratio > low if ends.open_low[row] else ratio >= low
        return bool(above and (ratio < high if ends.open_high[row] else ratio <= high))

    if not step:
        return [0] if inside(0) else []
    # A ratio grows with the figure above the line: the multiples that fit follow each other.
    size = statistic.ratio(step, bottom, decimals)
    least = statistic.ratio(known, bottom, decimals)
    if size is None or least is None or size <= 0:
        return []
    first = max(math.floor((low - least) / size) - 1, 0)
    found = [k * step for k in range(first, math.ceil((high - least) / size) + 2) if inside(k * step)]
    return found[:1] + found[-1:] if found else []


def _said(equations: Equations, stated: Inequalities, by: IntArray, low: IntArray, high: IntArray, i: int) -> str:
    return Statement(equations, stated, int(by[i])).reason(i, low, high)


def _open(equations: Equations, stated: Inequalities) -> Inequalities:
    """Return the inequalities in which something is not known; refuse those that exact figures contradict."""
    unknown = np.zeros(stated.size, bool)
    unknown[stated.rows.of[~equations.exact[stated.rows.columns]]] = True
    known = stated.chosen(~unknown)
    wrong = np.flatnonzero(known.rows.sums(equations.lower) < known.least)
    if wrong.size:
        one = Statement(equations, known, int(wrong[0]))
        told = one.known(one.variables, equations.lower, equations.upper)
        raise InfeasibleError(f"{one} cannot be true where {told}; {CORRECT}")
    return stated.chosen(unknown)


def _with_nobody(equations: Equations, stated: Inequalities) -> Inequalities:
    """Add that the values of nobody sum to 0: a sum known to be at most u is at most u times the count."""
    if equations.measured is None:
        return stated
    size = equations.positions.size
    pairs = [(sum_ * size, count * size) for sum_, count, one in equations.measured.sums() if one.most is None]
    if not pairs:
        return stated
    left = reduced(replace(equations, inequalities=None))
    low, high = left.members(left.low, left.high)
    for _ in range(3):
        found = _narrow(stated, low, high)
        low, high = found.low, found.high
    at = np.arange(size)
    added = [stated]
    for sum_, count in pairs:
        most = high[at + sum_]
        open_ = at[(low[at + count] == 0) & (high[at + count] > 0) & (most > 0) & (most < UNBOUNDED)]
        columns = np.stack([open_ + count, open_ + sum_], axis=1).ravel()
        values = np.stack([most[open_], np.full(open_.size, -1)], axis=1).ravel()
        none = np.full(open_.size, -1)
        rows = Rows(starts_of(np.full(open_.size, 2)), columns, values)
        added.append(Inequalities(rows, np.zeros(open_.size, np.int64), none, none))
    return _under_each_other(added)


def _under_each_other(several: Sequence[Inequalities]) -> Inequalities:
    lengths = np.concatenate([np.diff(one.rows.starts) for one in several])
    columns, values = (np.concatenate([one.rows[k] for one in several]) for k in (1, 2))
    least, column, row = (np.concatenate([one[k] for one in several]) for k in (1, 2, 3))
    return Inequalities(Rows(starts_of(lengths), columns, values), least, column, row)


def _ends(stated: Inequalities, low: IntArray, high: IntArray, largest: bool) -> tuple[IntArray, BoolArray]:
    """Return the largest, or least, value of every term, 0 where it has none, and whether it has none."""
    rows = stated.rows
    end = np.where((rows.values > 0) == largest, high[rows.columns], low[rows.columns])
    free = (np.abs(end) >= UNBOUNDED) | (np.abs(end.astype(np.float64) * rows.values) >= LARGEST)
    return np.asarray(np.where(free, 0, end) * rows.values, np.int64), free


def _added(stated: Inequalities, terms: IntArray) -> IntArray:
    total = np.zeros(stated.size, np.int64)
    np.add.at(total, stated.rows.of, terms)
    return total


def _least(stated: Inequalities, low: IntArray, high: IntArray) -> IntArray:
    """Return the least value of every sum, far below everything where it has none."""
    terms, free = _ends(stated, low, high, largest=False)
    return np.where(_added(stated, free.astype(np.int64)) > 0, -UNBOUNDED, _added(stated, terms))


def _narrow(stated: Inequalities, low: IntArray, high: IntArray) -> _Narrowed:
    """Return the ranges that each inequality alone leaves, given those of all other variables in it."""
    rows, of = stated.rows, stated.rows.of
    most, free = _ends(stated, low, high, largest=True)
    open_ = _added(stated, free.astype(np.int64))[of] > free
    short = stated.least[of] - (_added(stated, most)[of] - most)
    size = np.abs(rows.values)
    plus = rows.values > 0
    by = [np.full(low.size, -1), np.full(low.size, -1)]
    ends = [low.copy(), high.copy()]
    for side, better in enumerate((np.maximum, np.minimum)):
        use = np.flatnonzero(~open_ & (plus if side == 0 else ~plus))
        value = -(-short[use] // size[use]) if side == 0 else (-short[use]) // size[use]
        at = rows.columns[use]
        better.at(ends[side], at, value)
        best = (value == ends[side][at]) & (value != (low, high)[side][at])
        by[side][at[best]] = of[use[best]]
    return _Narrowed(ends[0], ends[1], by[0], by[1])


def _refuse_empty(equations: Equations, stated: Inequalities, found: _Narrowed, low: IntArray, high: IntArray) -> None:
    """Refuse statistics that leave no value of a figure possible, and sums that contradict them."""
    terms, free = _ends(stated, low, high, largest=True)
    wrong = np.flatnonzero((_added(stated, free.astype(np.int64)) == 0) & (_added(stated, terms) < stated.least))
    if wrong.size:
        one = Statement(equations, stated, int(wrong[0]))
        raise InfeasibleError(f"{one} cannot be true where {one.known(one.variables, low, high)}; {CORRECT}")
    empty = np.flatnonzero(found.low > found.high)
    if empty.size:
        i = int(empty[0])
        said = [_said(equations, stated, by, low, high, i) for by in (found.by_low, found.by_high) if by[i] >= 0]
        raise InfeasibleError(f"nothing fits {equations.describe(i)}: {'; '.join(dict.fromkeys(said))}; {CORRECT}")


CORRECT = "correct one of them, or say how the statistic was rounded or computed (rounding=, made_of=)"


def _told_apart(kept: Inequalities) -> Inequalities:
    """Return inequalities of statistics with coefficients above 1, by which groups know that values may have gaps."""
    largest = np.maximum.reduceat(np.abs(kept.rows.values), kept.rows.starts[:-1])
    twice = 1 + ((kept.column >= 0) & (largest == 1))
    values = kept.rows.values * twice[kept.rows.of]
    return kept._replace(rows=kept.rows._replace(values=values), least=kept.least * twice)


def _with_rows(equations: Equations, kept: Inequalities, low: IntArray, high: IntArray) -> Equations:
    """Return the equations with inequalities as equations, what each sum is taken as one more unknown."""
    if not kept.size:
        return equations
    kept = _told_apart(kept)
    terms, free = _ends(kept, low, high, largest=True)
    unbound = _added(kept, free.astype(np.int64)) > 0
    most = np.where(unbound, UNBOUNDED, _added(kept, terms))
    finite = np.where(np.abs(high) >= UNBOUNDED, np.maximum(np.abs(low), 1), np.maximum(np.abs(low), np.abs(high)))
    if (np.abs(kept.rows.values) * finite[kept.rows.columns].astype(np.float64) >= LARGEST / 64).any():
        raise LimitError("statistics and figures are too large to be judged together in 64 bits; round the figures")
    first, count = equations.lower.size, kept.size
    lengths = np.diff(kept.rows.starts)
    place = kept.rows.starts[1:]
    columns = np.insert(kept.rows.columns, place, first + np.arange(count))
    return replace(
        equations,
        lower=np.append(equations.lower, kept.least),
        upper=np.append(equations.upper, most),
        source=np.append(equations.source, np.full(count, -1)),
        row=np.append(equations.row, np.full(count, -1)),
        hidden=np.append(equations.hidden, np.zeros(count, bool)),
        starts=np.append(equations.starts, equations.starts[-1] + np.cumsum(lengths + 1)),
        columns=np.append(equations.columns, columns),
        signs=np.append(equations.signs, np.insert(kept.rows.values, place, -1)),
        sums=(*equations.sums, *(str(Statement(equations, kept, k)) for k in range(count))),
    )
