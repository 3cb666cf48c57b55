"""Sums beside numbers of respondents: where there is a sum above 0, somebody is counted.

A mean divides a sum by a number, and a sum above 0 always has somebody behind it. Where intervals leave a sum above 0
beside a number of 0, that fact may rule out more than they say: it joins both only case by case, and is not in the
equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.auditing.findings import SUBJECTS, Findings
from discreet.auditing.judging import Sheet
from discreet.table.equations import Equations
from discreet.table.figures import Figures

VALUE = SUBJECTS.index("value")


def with_sums_of_nobody(sheets: Sequence[Sheet], shown: Sequence[Figures], equations: Equations) -> list[Sheet] | None:
    """Return sheets on which sums and numbers are not finished, None where intervals leave no sum where nobody is.

    Only the finest cells matter: margins follow from them. What is known exactly stays known.

    Args:
        sheets: the findings, those of the outsider first.
        shown: the published tables, with their means.
        equations: their equations.
    """
    pairs = {
        (part.measure if one.of == part.figure else one.of, part.measure if one.per == part.figure else one.per)
        for part in shown
        for one in (column.statistic for column in part.statistics)
        if one.kind == "mean" and one.of and one.constant is None
    }
    measures, size = equations.measures, equations.positions.size
    loose = np.zeros(equations.lower.size, bool)
    for sums, numbers in pairs:
        if {sums, numbers} <= set(measures):
            first, other = (measures.index(name) * size for name in (sums, numbers))
            if _apart(equations, sheets[0].findings, first, other):
                loose[first : first + size] = loose[other : other + size] = True
    if not loose.any():
        return None
    made = []
    for found in (sheet.findings for sheet in sheets):
        mine = (found.subject == VALUE) & (found.at < loose.size) & ~found.determined
        mine[mine] = loose[found.at[mine]]
        made.append(replace(found, finished=found.finished & ~mine))
    return [replace(sheet, findings=found) for sheet, found in zip(sheets, made, strict=True)]


def _apart(equations: Equations, found: Findings, sums: int, numbers: int) -> bool:
    """Say whether a sum can be above 0 where the number is 0, by their intervals; both begin at so many variables."""
    scale = 10**equations.decimals
    low, high = equations.lower.astype(float), equations.upper.astype(float)
    mine = (found.subject == VALUE) & found.finished & (found.at < low.size)
    at = found.at[mine]
    low[at], high[at] = np.fmax(low[at], found.lower[mine] * scale), np.fmin(high[at], found.upper[mine] * scale)
    axes = zip(equations.space.axes, equations.space.grid.decode(equations.positions), strict=True)
    finest = np.flatnonzero(np.logical_and.reduce([np.isin(code, axis.leaves) for axis, code in axes]))
    return bool(((high[finest + sums] > 0.5) & (low[finest + numbers] < 0.5)).any())
