"""Means in plans: computed from two tables with the same crossing, and published where both show their figures.

The sums are one table of the plan and the numbers another; both are protected with all tables that they share figures
with, and judged together. A mean of what both publish follows from them, and reveals no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.programme.cluster_work import ClusterOutcome
from discreet.programme.plan_model import Programme
from discreet.table.figures import Figures
from discreet.table.grid import Grid, locate, recode
from discreet.table.published_statistics import exact_or_above_zero, with_published
from discreet.table.release import Release


def with_means(plan: Programme, clusters: Sequence[ClusterOutcome]) -> list[ClusterOutcome]:
    """Return the outcomes of clusters with the number of means of each table; releases are unchanged."""
    found = []
    for one in clusters:
        tables, said = list(one.tables), list(one.checks)
        for k, table in enumerate(one.tables):
            shown = means_beside(plan, clusters, table.name)
            count = sum(len(column) for column in shown[0].statistics) if shown else 0
            if shown:
                tables[k] = replace(table, statistics=table.statistics + count)
                measures = ", ".join(part.measure for part in shown[1:])
                said.append((True, f"means of {table.name} are of published figures ({measures}; {count:,} shown)"))
        found.append(replace(one, tables=tuple(tables), checks=tuple(said)))
    return found


def means_beside(plan: Programme, clusters: Sequence[ClusterOutcome], name: str) -> tuple[Figures, ...]:
    """Return the figures of a table with its means, and the measures that these are of; nothing where it has none.

    Where a measure is withheld, or rounded or perturbed, there are none.
    """
    table = next(one for one in plan.tables if one.name == name)
    main, wanted = _published(clusters, name), table.means
    if main is None or not wanted:
        return ()
    parts: dict[str, Figures] = {}
    for measure in dict.fromkeys(m for one in wanted.values() for m in one.measures if m != table.value):
        partner = plan.partner(table, measure)
        part = None if partner is None else _published(clusters, partner.name)
        if part is None:
            return ()
        parts[measure] = replace(part, name=measure, measure=measure, figure=measure, statistics=())
    whole = replace(main, figure=table.value or main.figure, statistics=())
    if not all(exact_or_above_zero(part) for part in (whole, *parts.values())):
        return ()
    made = with_published(Release.of([whole, *(_alike(whole, part) for part in parts.values())]), wanted).parts()
    return (replace(made[0], statistics=(*main.statistics, *made[0].statistics)), *made[1:])


def _published(clusters: Sequence[ClusterOutcome], name: str) -> Figures | None:
    """Return what is published of a table, None where it is withheld."""
    for one in clusters:
        if one.release is not None:
            for table, part in zip(one.tables, one.release.parts(), strict=True):
                if table.name == name:
                    return published_figures(part)
    return None


def _alike(whole: Figures, part: Figures) -> Figures:
    """Return a table in the labels and the order of another one; unchanged if they show different cells."""
    if set(part.names) != set(whole.names) or len(part) != len(whole):
        return part
    grid, columns = Grid.of(whole.labels), []
    for name, labels in whole.labels.items():
        own = [whole.total if part.is_total(name, label) else label for label in part.labels[name]]
        place = recode(own, [whole.total if whole.is_total(name, label) else label for label in labels])
        columns.append(place[part.codes[:, part.names.index(name)]])
    if any((column < 0).any() for column in columns):
        return part
    at = grid.encode(columns)
    row = locate(at, grid.encode(list(whole.codes.T)), np.argsort(at, kind="stable"))
    if (row < 0).any():
        return part
    return replace(
        part,
        labels=whole.labels,
        codes=whole.codes,
        values=part.values[row],
        kind=part.kind[row],
        upper=None,
        total=whole.total,
        hierarchies=whole.hierarchies,
    )


def published_figures(part: Figures) -> Figures:
    """Return the figures of a table without the labels that are the same in all of it.

    >>> shown = Figures.from_array([[3], [5]], {"sex": ["m", "f"], "indicator": ["lettuce"]})
    >>> published_figures(shown).names
    ('sex',)
    """
    names = list(part.names)
    fixed = [name for name in names[1:] if len(part.labels[name]) == 1]
    if not fixed:
        return part
    kept = [k for k, name in enumerate(names) if name not in fixed]
    return replace(
        part,
        labels={names[k]: part.labels[names[k]] for k in kept},
        codes=np.ascontiguousarray(part.codes[:, kept]),
        statistics=tuple(replace(one, codes=one.codes[:, kept]) for one in part.statistics),
        hierarchies={name: trees for name, trees in part.hierarchies.items() if name not in fixed},
    )
