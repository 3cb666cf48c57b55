"""Statistics that follow from figures printed beside them: checked against these, and then left out.

A percentage of two counts that are both shown says nothing about any other figure. Whatever follows from the rest of a
release, under any law, is the same without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet.core.errors import RequestError, require
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.figures import Figures
from discreet.table.grid import Grid, locate
from discreet.table.release import Release
from discreet.table.statistic import StatisticColumn

LARGEST = 2.0**62
"""Products stay below this: they fit into 64 bits. Statistics of larger figures are not left out."""


def without_implied(parts: Sequence[Figures]) -> tuple[Figures, ...]:
    """Return published tables without the statistics that follow from figures shown beside them.

    A statistic that disagrees with these figures stays, and is refused when it is judged. A share of one measure in
    another says of every cell that one is a part of the other; such a column stays, though all its entries may go.

    >>> from discreet.table.statistic import Statistic
    >>> column = StatisticColumn("pct", Statistic("percentage", over={"sex": ""}), [[0], [1]], [40, 60])
    >>> shown = Figures.from_array([2, None, 5], {"sex": ["m", "f", "Total"]}, statistics=(column,))
    >>> without_implied([shown])[0].statistics
    (pct: percentage of the figures over sex, 1 shown,)
    """
    return tuple(_left(part, parts) if part.statistics else part for part in parts)


def _left(part: Figures, parts: Sequence[Figures]) -> Figures:
    columns = []
    for column in part.statistics:
        statistic = column.statistic
        if not statistic.linear or statistic.of_values:
            columns.append(column)
            continue
        keep = ~_implied(part, parts, column)
        left = replace(
            column, codes=column.codes[keep], values=column.values[keep], printed=np.asarray(column.printed)[keep]
        )
        columns += [left] if keep.any() or statistic.is_share else []
    return replace(part, statistics=tuple(columns)).telling()


def one_measure(release: Release, name: str) -> Release:
    """Return one measure of a release by itself, without the statistics that follow from it and others.

    Raises:
        RequestError: it is no measure, or a statistic says more than the figures beside it.

    >>> both = {"sex": ["m", "f"]}
    >>> sums, numbers = Figures.from_array([90, 40], both), Figures.from_array([3, 2], both, measure="records")
    >>> one_measure(Release.of([sums, numbers]), "records").parts()[0].values.tolist()
    [3, 2]
    """
    parts = release.parts()
    named = {part.measure or part.figure: part for part in parts}
    require([name], named, "the release has no measure")
    left = (column for part in without_implied(parts) for column in part.statistics if column.statistic.measures)
    if (more := next(left, None)) is not None:
        raise RequestError(
            f"{more.name} says more than the figures beside it, and would be lost; audit the file as it is "
            "(dc.audit, discreet audit)"
        )
    part = named[name]
    own = tuple(column for column in part.statistics if not column.statistic.measures)
    return replace(release, figures=(replace(part, measure="", statistics=own),))


class _Shown(NamedTuple):
    """Whether each entry's figures are all shown, and their sum."""

    known: BoolArray
    value: IntArray


def _implied(part: Figures, parts: Sequence[Figures], column: StatisticColumn) -> BoolArray:
    """Say which entries of a column follow from figures that are shown."""
    statistic = column.statistic
    above = _above(part, parts, column)
    if above is None:
        return np.zeros(len(column), bool)
    known, top, finer = above.known, above.value, 10**part.decimals
    times = statistic.times
    constant = statistic.constant
    if constant is not None:
        top, line, times = top, np.full(top.size, constant.numerator * finer), times * constant.denominator
    else:
        below = _below(part, parts, column)
        if below is None:
            return np.zeros(len(column), bool)
        known, line = known & below.known, below.value
        if statistic.kind in ("growth", "difference"):
            top = top - line
        if statistic.kind == "difference":
            line = np.full(top.size, finer)
    ends, per = column.admitted, 2 * times * 10**column.decimals
    largest = np.maximum(np.abs(ends.low), np.abs(ends.high)).astype(np.float64) * np.abs(line)
    known &= (largest < LARGEST) & (np.abs(top).astype(np.float64) * per < LARGEST) & (line > 0)
    low, high, found = ends.low * line, ends.high * line, top * per
    fits = np.where(ends.open_low, found > low, found >= low) & np.where(ends.open_high, found < high, found <= high)
    implied: BoolArray = known & fits
    return implied


def _above(part: Figures, parts: Sequence[Figures], column: StatisticColumn) -> _Shown | None:
    """Return what is above the line; None where that is not found among the figures."""
    statistic = column.statistic
    source = _source(part, parts, statistic.of)
    if source is None:
        return None
    if statistic.kind != "cumulative":
        return _at(source, column.codes, statistic.made_of)
    k, order = part.names.index(statistic.along), part.categories(statistic.along)
    known, total = np.ones(len(column), bool), np.zeros(len(column), np.int64)
    place = np.array([order.index(i) if i in order else -1 for i in range(len(part.labels[statistic.along]))])
    last = place[column.codes[:, k]]
    known &= last >= 0
    for number, code in enumerate(order):
        counted = last >= number
        codes = column.codes.copy()
        codes[:, k] = code
        one = _at(source, codes, statistic.made_of)
        known &= one.known | ~counted
        total += np.where(counted, one.value, 0)
    return _Shown(known, total)


def _below(part: Figures, parts: Sequence[Figures], column: StatisticColumn) -> _Shown | None:
    """Return what is below the line; None where that is not found among the figures."""
    statistic, codes = column.statistic, column.codes.copy()
    source = _source(part, parts, statistic.per)
    over = dict(statistic.over)
    if statistic.kind == "cumulative":
        over.setdefault(statistic.along, "")
    for name, label in over.items():
        if name not in part.names:
            return None
        sought = [i for i, one in enumerate(part.labels[name]) if (one == label if label else part.is_total(name, one))]
        if label and part.is_total(name, label):
            sought = [i for i, one in enumerate(part.labels[name]) if part.is_total(name, one)]
        if len(sought) != 1:
            return None
        codes[:, part.names.index(name)] = sought[0]
    if source is None:
        return None
    before = np.ones(len(column), bool)
    if statistic.along and statistic.kind != "cumulative":
        if statistic.along not in part.names:
            return None
        k, order = part.names.index(statistic.along), part.categories(statistic.along)
        earlier = np.full(len(part.labels[statistic.along]), -1)
        earlier[order[1:]] = order[:-1]
        before = earlier[codes[:, k]] >= 0
        codes[:, k] = np.where(before, earlier[codes[:, k]], codes[:, k])
    found = _at(source, codes, statistic.made_of)
    return _Shown(found.known & before, found.value)


def _source(part: Figures, parts: Sequence[Figures], name: str) -> Figures | None:
    """Return the table of a measure, in the labels of another one; None where there is no such table."""
    if not name or name == part.figure:
        return part
    alike = (p for p in parts if p.measure == name and dict(p.labels) == dict(part.labels))
    found = next((p for p in alike if p.decimals == part.decimals), None)
    return found


def _at(source: Figures, codes: IntArray, made_of: str) -> _Shown:
    """Return the figures of cells, and which are shown: exactly, or, below statistics of figures, in any way."""
    grid = Grid.of(source.labels)
    place = grid.encode(list(source.codes.T))
    order = np.argsort(place, kind="stable")
    row = locate(place, grid.encode(list(codes.T)), order)
    if made_of == "figures":
        shown = ~source.where(lambda kind: kind.hidden or kind.spans)
    else:
        lower, upper = source.ranges()
        shown = (lower == upper) & source.where(lambda kind: kind.exact)
    return _Shown((row >= 0) & shown[row], np.where(row >= 0, source.values[row], 0))
