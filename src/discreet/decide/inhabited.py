"""Categories that a table lists because somebody is in them: readers know that their totals are not 0.

Tabulating records finds the categories that occur. Where no hierarchy lists the others too, a category that is printed
as 0, or that figures leave at 0, holds somebody all the same.
"""

from __future__ import annotations

import numpy as np

from discreet.auditing.audit_result import Audit
from discreet.decide.subject import Case
from discreet.table.attacker import Fact


def inhabited_categories(case: Case, audited: Audit) -> tuple[Fact, ...]:
    """Return what readers know of such categories of counts, where the figures leave it open."""
    here, findings = case.subject.tabulation, audited.findings
    if case.subject.magnitudes or case.subject.weighted or not any(axis.occurring for axis in here.axes):
        return ()
    # The total of a part is not of everybody who has made a category occur.
    if any(axis.part for axis in here.axes):
        return ()
    equations = findings.equations
    space, lower = equations.space, equations.lower.copy()
    lower[findings.at] = findings.lower
    codes, lower = space.grid.decode(equations.positions), lower[: equations.positions.size]
    finest = np.logical_and.reduce([np.isin(code, axis.leaves) for axis, code in zip(space.axes, codes, strict=True)])
    known = []
    for axis in (axis for axis in here.axes if axis.name in space.names):
        along = space.axis(axis.name)
        published = space.axes[along]
        least = np.bincount(codes[along][finest], lower[finest], len(published.nodes))
        for label in (label for label in axis.codes if label in axis.occurring and label in published.places):
            at = int(equations.locate(np.array([space.position({axis.name: label})]))[0])
            inside = least[list(published.under[published.places[label]])].sum()
            if max(inside, lower[at] if at >= 0 else 0) < 1:
                known.append(Fact.nonzero({axis.name: label}))
    return tuple(known)
