"""What is published of a pattern: marks, intervals that readers could work out anyhow, or made-up values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.feasible.bounds import Bounds, bounds
from discreet.protect.suppression.completion import nearest_to
from discreet.protect.suppression.pattern import Pattern
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT, SUPPRESSED, UNBOUNDED, Kind
from discreet.table.release import Release

Form: TypeAlias = Literal["marks", "intervals", "synthetic"]


def release_of(
    pattern: Pattern,
    response: str | None,
    form: Form,
    parameters: Mapping[str, object],
    *,
    least: float = 0.0,
    progress: Progress | None = None,
) -> Release:
    """Return the release of a pattern; no value of a suppressed cell enters it.

    Intervals and made-up values are worked out from the marked release alone, as any reader could: they say nothing
    that it does not say. Made-up values lie inside the intervals and keep every published sum.
    """
    marked = [
        Figures.of_tabulation(table, response=response, hidden=pattern.positions[place], name=_name(pattern, i))
        for i, (table, place) in enumerate(zip(pattern.problem.cells.tables, pattern.problem.cells.places, strict=True))
    ]
    if form == "marks" or not pattern.positions.any():
        return Release(None, "suppress", parameters, tuple(marked))
    equations = equations_of(marked, least=least)
    found = bounds(equations, np.flatnonzero(equations.hidden), progress=progress)
    if form == "intervals":
        lower, upper, kind = found.lower, found.upper, Kind("interval")
    else:
        lower = upper = nearest_to(found.reduction, _middle(found))
        kind = Kind("simulated")
    shown = [
        _filled(figures, place, lower, upper, kind, 10 ** (equations.decimals - figures.decimals))
        for figures, place in zip(marked, pattern.problem.cells.places, strict=True)
    ]
    return Release(None, "suppress", parameters, tuple(shown))


def _name(pattern: Pattern, i: int) -> str:
    tables = pattern.problem.cells.tables
    return " × ".join(tables[i].names) if len(tables) > 1 else "release"


def _middle(found: Bounds) -> IntArray:
    """Return the middle of every interval; of one without an end, its beginning."""
    low = np.where(found.lower <= -UNBOUNDED, np.minimum(found.upper, 0), found.lower)
    high = np.where(found.upper >= UNBOUNDED, low, found.upper)
    middle: IntArray = low + (high - low) // 2
    return middle


def _filled(figures: Figures, place: IntArray, lower: IntArray, upper: IntArray, kind: Kind, scale: int) -> Figures:
    """Return figures with the suppressed ones shown as intervals or made-up values; without an end they stay hidden."""
    low, high = -(-lower[place] // scale), upper[place] // scale
    shown = figures.hidden & (low > -UNBOUNDED // scale) & (high < UNBOUNDED // scale)
    return replace(
        figures,
        values=np.where(shown, low, figures.values),
        kind=np.where(shown, 2, figures.kind),
        kinds=(EXACT, SUPPRESSED, kind),
        upper=np.where(shown, high, figures.values) if kind.name == "interval" else None,
    )
