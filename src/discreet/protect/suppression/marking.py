"""What a pattern of suppression would publish: marks in place of what it hides, for the audit to look at."""

from __future__ import annotations

import math

from discreet.protect.base import Changes, Protected
from discreet.protect.suppression.pattern import Pattern
from discreet.protect.suppression.problem import name_of
from discreet.protect.suppression.suppress import Suppression
from discreet.table.figures import Figures, units_of
from discreet.table.kinds import Marked
from discreet.table.release import Release


def marked(method: Suppression, pattern: Pattern) -> Protected:
    """Return the release of a pattern, with marks in place of what it hides: no value of those cells enters it.

    Nobody has audited it: this is for the audit itself (:func:`discreet.evaluate.certified.certify`).
    """
    cells = pattern.problem.cells
    marked = []
    for table, place in zip(cells.tables, cells.places, strict=True):
        decimals = units_of(table, method.response)[1]
        floor = max(math.ceil(method.least * 10**decimals), int(method.above_zero)) if method.least >= 0 else None
        marked.append(
            Figures.of_tabulation(
                table,
                response=method.response,
                hidden=pattern.positions[place],
                mark=Marked(least=floor),
                name=name_of(table, cells.tables),
            )
        )
    release = Release(None, method.name, method.parameters, tuple(marked))
    shown = cells.listed
    total = int(cells.values[0])
    changes = Changes.between(
        cells.values[shown],
        cells.values[shown],
        pattern.positions[shown],
        total=(total, total),
        decimals=cells.equations.decimals,
    )
    notes: tuple[str, ...] = (pattern.sentence,)
    if pattern.limited:
        notes += ("The time limit ended the search; the pattern is safe, and its gap is what was proved by then.",)
    details = pattern.to_dict()
    details["search"] = details.pop("method")
    return Protected(release, changes, notes, details)
