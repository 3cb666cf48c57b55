"""What each published table leaves by itself, so that it is seen which figures the other tables give away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.bounds import Bounds
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED

MOST = 300_000
"""The most positions of a crossing that is worked out once for every table by itself."""


def alone(
    parts: tuple[Figures, ...],
    equations: Equations,
    crossing: list[str],
    asked: IntArray,
    bound: Callable[[Equations, IntArray], Bounds],
    least: float,
    most: float | None,
) -> FloatArray:
    """Return the narrowest interval that a single table leaves for every position, in units; NaN where none says.

    A figure that a table hides or blurs is looked at in that table; a crossing that is asked about, in every table with
    the figures of all others taken away.
    """
    ends = np.full((2, equations.lower.size), np.nan)

    def note(at: IntArray, found: Bounds, where: IntArray, scale: int) -> None:
        low, high = found.lower[where].astype(np.float64), found.upper[where].astype(np.float64)
        low = np.where(low <= -UNBOUNDED, -np.inf, low * scale)
        high = np.where(high >= UNBOUNDED, np.inf, high * scale)
        before = ends[1, at] - ends[0, at]
        new = np.isnan(before) | (high - low < before)
        ends[:, at[new]] = low[new], high[new]

    for part in parts:
        if not len(part):
            continue
        single = equations_of(part, least=least, most=most, asked={})
        low, high = part.ranges()
        rows = np.flatnonzero(low != high)
        where = single.rows_of(part)[rows]
        note(equations.rows_of(part)[rows], bound(single, where), where, 10 ** (equations.decimals - part.decimals))
    crossed = asked[asked < equations.positions.size]
    if crossing and crossed.size and equations.positions.size <= MOST:
        for part in parts:
            if len(part):
                others = [_emptied(other) for other in parts if other is not part]
                single = equations_of([part, *others], about=crossing, least=least, most=most, asked={})
                where = single.locate(equations.space.translate(equations.positions[crossed], single.space))
                note(crossed[where >= 0], bound(single, where[where >= 0]), where[where >= 0],
                     10 ** (equations.decimals - single.decimals))  # fmt: skip
    return ends


def _emptied(part: Figures) -> Figures:
    """Return a table with its dimensions and without its figures."""
    none = np.zeros(0, np.int64)
    return replace(
        part, codes=np.zeros((0, len(part.names)), np.int64), values=none, kind=none, upper=None, absent="unpublished"
    )
