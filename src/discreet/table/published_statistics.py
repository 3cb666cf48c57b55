"""Statistics of a release: computed from the figures that it publishes, and shown where all of these are.

Such a statistic adds nothing to the figures beside it. A mean is of a sum and a number: both are
published, each a measure of its own, and the mean is there where neither is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.equations import lay_out
from discreet.table.figures import Figures
from discreet.table.grid import Grid
from discreet.table.kinds import EXACT, Kind
from discreet.table.overlay import left_empty, places
from discreet.table.release import Release
from discreet.table.statistic import PRINTED, Definitions, Statistic, StatisticColumn, statistics_of
from discreet.table.statistic_rows import MeasuredPositions


def with_published(release: Release, definitions: Definitions) -> Release:
    """Return a release with statistics of its own figures beside them.

    Args:
        release: the release.
        definitions: percentages, rates, ratios, differences, growth, indices and cumulative percentages of the figures
            themselves, and means of two measures of the release, by column.

    >>> shown = Figures.from_array([3, 5, None, 10], {"sex": ["m", "f", "o", "Total"]})
    >>> found = with_published(Release.of(shown), {"pct": "percentage, over=sex"}).parts()[0].statistics[0]
    >>> [found.text(row) for row in range(len(found))]
    ['30.0%', '50.0%', '100.0%']
    """
    every = release.parts(zeros=True)
    parts, others = tuple(one for one in every if not one.measure), tuple(one for one in every if one.measure)
    defined = computable(definitions, tuple(one.measure for one in others))
    if others:
        _refuse_unlike(parts, others)
    if not release.figures and any(one.constant is None for one in defined.values()):
        parts = tuple(_with_margins(part) for part in parts)
    shown = (
        replace(part, statistics=tuple(_computed(part, others, *one) for one in defined.items())) for part in parts
    )
    return replace(release, figures=(*shown, *others))


def computable(definitions: Definitions, measures: Sequence[str] = ()) -> dict[str, Statistic]:
    """Return definitions; refuse those that need more than the figures of one release.

    ``measures`` are what is published beside the figures. Means are of two of them; other relations between measures,
    such as one being a part of the other, would have to be judged.
    """
    defined = statistics_of(definitions)
    for name, one in defined.items():
        odd = not one.linear or one.of_values or one.inside or one.ending or one.rounding == "unknown"
        if odd or (one.measures and not measures):
            raise RequestError(
                f"{name} is a {one}, which cannot be computed from the figures of one release; publish percentages, "
                "rates, ratios, differences or growth of the figures themselves, or, of sums, their means "
                "(mean, of=turnover, per=records)"
            )
        if not one.measures:
            continue
        plain = one.kind == "mean" and one.constant is None and not one.over and not one.along
        if not plain or one.where != "shown" or one.least != 0 or one.most is not None:
            raise RequestError(
                f"{name} is a {one} of two measures; beside a release means are published, where both are shown and "
                "nothing is known of their values (mean, of=turnover, per=records): leave out range= and where="
            )
    return defined


def _refuse_unlike(parts: Sequence[Figures], others: Sequence[Figures]) -> None:
    """Refuse measures of different cells or units, and those that say something about each other's marks.

    If no hidden figure can be 0 and empty cells have no row, one measure says nothing about another: any amount fits
    any number of respondents. With rounded or perturbed figures, or marks that may be zeros, it may.
    """
    for one in (*parts, *others):
        if (
            len(parts) != 1
            or dict(one.labels) != dict(parts[0].labels)
            or not np.array_equal(one.codes, parts[0].codes)
        ):
            raise RequestError(
                f"{one.measure or one.name} is published for other cells than the figures; publish statistics of the "
                "figures themselves, or one table at a time"
            )
        if one.decimals:
            raise RequestError(
                f"{one.measure or one.figure} has {one.decimals} decimals; means are judged over integers: give "
                "amounts in a smaller unit"
            )
        if not exact_or_above_zero(one):
            raise RequestError(
                f"{one.measure or one.figure} is published as {', '.join(kind.phrase for kind in one.used)}; what "
                "numbers and amounts then say about each other is not judged: suppress, with zeros published, or "
                "leave out the mean"
            )


def exact_or_above_zero(part: Figures) -> bool:
    """Say whether all figures are exact, or hidden and known to be above 0: so one measure says nothing of another."""
    return all(kind.exact or kind.hidden for kind in part.used) and not (part.ranges()[0][part.hidden] < 1).any()


def _with_margins(part: Figures) -> Figures:
    """Return inner figures with their margins: sums of published figures, which say nothing more.

    >>> both = {"area": ["n", "s"], "sex": ["m", "f"]}
    >>> shown = Figures.from_array([[3, 0], [6, 9]], both, kind=Kind("random", base=3))
    >>> _with_margins(shown).values.tolist()
    [3, 0, 6, 9, 3, 15, 9, 9, 18]
    """
    labels = {name: (*found, part.total) for name, found in part.labels.items()}
    grid, exact = Grid.of(labels), all(kind.exact for kind in part.used)
    cells, sums = [part.codes], [part.values]
    last = np.array([len(found) - 1 for found in labels.values()])
    for over in product((False, True), repeat=len(labels)):
        if any(over):
            place, inverse = np.unique(grid.encode(list(np.where(over, last, part.codes).T)), return_inverse=True)
            cells.append(np.stack(grid.decode(place), axis=1))
            sums.append(np.bincount(inverse, weights=part.values, minlength=place.size).astype(np.int64))
    kinds = (*part.kinds, EXACT if exact else Kind("added"))
    added = sum(found.size for found in sums[1:])
    return replace(
        part,
        labels=labels,
        codes=np.concatenate(cells),
        values=np.concatenate(sums),
        kind=np.append(part.kind, np.full(added, len(part.kinds))),
        kinds=kinds,
        upper=None,
    )


def _computed(part: Figures, others: Sequence[Figures], name: str, statistic: Statistic) -> StatisticColumn:
    """Return a statistic for every row of which all figures are shown."""
    decimals = 1 if statistic.decimals in (None, PRINTED) else int(statistic.decimals or 0)
    made_of = "values" if all(kind.exact or kind.hidden for kind in part.used) else "figures"
    statistic = replace(statistic, decimals=decimals, made_of=made_of)
    rows = np.arange(len(part))
    if statistic.along and statistic.along in part.names:
        # Not for totals, and of what grows not for the first: nothing is before it.
        plain = part.categories(statistic.along)[statistic.kind != "cumulative" :]
        rows = np.flatnonzero(np.isin(part.codes[:, part.names.index(statistic.along)], plain))
    column = StatisticColumn(name, statistic, part.codes[rows], np.zeros(rows.size, np.int64), decimals)
    layout = lay_out((replace(part, statistics=()), *others), (), None)
    whole = replace(part, statistics=(column,))
    measured = MeasuredPositions(layout.space, layout.positions, (whole, *others), part.decimals)
    # Measures are in the order of their tables.
    each = [_known(one, layout.positions, measured) for one in (part, *others)]
    known, values = np.concatenate([one for one, _ in each]), np.concatenate([one for _, one in each])
    above = measured.above(whole, column)
    below = measured.below(whole, column) if statistic.constant is None else None
    shown, numbers = np.ones(rows.size, bool), np.zeros(rows.size, np.int64)
    np.logical_and.at(shown, above.entry, known[above.variable])
    if below is not None:
        shown &= known[below.variable]
    tops = np.zeros(rows.size, np.int64)
    np.add.at(tops, above.entry, values[above.variable])
    for i in np.flatnonzero(shown).tolist():
        line = None if below is None else int(values[below.variable[i]])
        found = statistic.value(int(tops[i]), line, part.decimals)
        shown[i] = found is not None
        numbers[i] = 0 if found is None else found
    return replace(column, codes=column.codes[shown], values=numbers[shown], printed=None)


def _known(part: Figures, positions: IntArray, measured: MeasuredPositions) -> tuple[BoolArray, IntArray]:
    """Return which positions are published, and their figures; cells without a row may be empty."""
    known, values = np.zeros(positions.size, bool), np.zeros(positions.size, np.int64)
    at = places(measured.space, positions, part)
    if part.absent == "empty":
        known[np.isin(positions, left_empty(measured.space, positions, part, at))] = True
    known[at] = ~part.where(lambda kind: kind.hidden or kind.spans)
    values[at] = part.values
    return known, values
