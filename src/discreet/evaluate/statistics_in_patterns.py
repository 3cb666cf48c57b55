"""Suppression with statistics of true values in its equations: what is published of them, and what that costs.

A percentage beside a hidden count says something about the count. Either it is hidden too, or other counts are hidden
until the percentage leaves enough open. Both are done here, the second by a search whose equations include every
statistic to be published; each result is audited together with these statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import DiscreetError, LimitError, require
from discreet.core.numerics import BoolArray
from discreet.core.progress import Progress
from discreet.evaluate.audited_suppression import Suppressed, certify
from discreet.protect.base import Originals
from discreet.protect.suppression import Pattern, Suppression
from discreet.protect.suppression.problem import lay_out
from discreet.protect.suppression.suppression import tabulations
from discreet.table.figures import Figures
from discreet.table.published_statistics import computable, with_published
from discreet.table.release import Release
from discreet.table.statistic import Statistic, StatisticColumn
from discreet.table.tabulation import Tabulation

WAYS = ("kept", "fitting", "apart")
"""Which statistics enter the equations: all of them; those that leave sensitive cells their levels if nothing else is
hidden; or those with no sensitive cell in numerator or denominator."""


def suppress_beside(
    method: Suppression,
    original: Originals,
    wanted: Mapping[str, Statistic],
    ways: Sequence[str] = WAYS,
    *,
    progress: Progress | None = None,
) -> Iterator[Suppressed]:
    """Yield audited patterns of one table with statistics of true values, one for each way that works.

    They share the time limit of the method.
    """
    require(ways, WAYS, "statistics are not chosen so:")
    (table,) = tabulations(original, method.hides_zeros)
    every = true_statistics(table, method.response, computable(wanted))
    first: Pattern | None = None
    clock = Clock.within(method.time_limit)
    seen: set[tuple[int, ...]] = set()
    for way in ways:
        if (left := clock.left) == 0.0:
            return
        method = replace(method, time_limit=left)
        if way != "kept" and first is None:
            try:
                first = method.pattern(original, progress=progress)
            except LimitError:
                return
        kept = every if way == "kept" or first is None else _left(method, first, every, way)
        size = tuple(len(column) for column in kept)
        if size in seen or not sum(size):
            continue
        seen.add(size)
        try:
            yield certify(replace(method, statistics=(kept,)), original, progress=progress)
        except DiscreetError:
            # Neither a pattern nor its audit is promised; the others stand.
            continue


def true_statistics(
    table: Tabulation, response: str | None, wanted: Mapping[str, Statistic]
) -> tuple[StatisticColumn, ...]:
    """Return statistics of the true values of a table."""
    part = Figures.of_tabulation(table, response=response)
    return with_published(Release.of(part), wanted).parts()[0].statistics


def _left(
    method: Suppression, first: Pattern, every: tuple[StatisticColumn, ...], way: str
) -> tuple[StatisticColumn, ...]:
    """Return the statistics that say too little about sensitive cells to require hiding more."""
    cells, demands = first.problem.cells, first.problem.demands
    laid = lay_out(cells.tables, method.response, method.least, method.above_zero, (every,))
    said = laid.equations.inequalities
    assert said is not None
    # Beside statistics, sums are laid out that nothing else needs.
    at = cells.equations.locate(laid.equations.positions)[said.rows.columns]
    over = said.rows.sums(laid.values) - said.least
    of, by = said.rows.of, said.rows.values
    bad: BoolArray = (at >= 0) & demands.sensitive[at]
    if way == "fitting":
        level = np.where(by > 0, demands.lower[at], demands.upper[at])
        bad &= over[of] // np.abs(by) < np.maximum(level, 1)
    faulty = np.zeros(said.size, bool)
    faulty[of[bad]] = True
    found = []
    for number, column in enumerate(every):
        keep = np.ones(len(column), bool)
        keep[said.row[faulty & (said.column == number)]] = False
        found.append(replace(column, codes=column.codes[keep], values=column.values[keep], printed=None))
    return tuple(found)
