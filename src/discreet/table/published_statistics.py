"""Statistics of a release: computed from the figures that it publishes, and shown where all of these are.

Such a statistic says nothing that the figures beside it do not say already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.equations import lay_out
from discreet.table.figures import Figures
from discreet.table.grid import Grid
from discreet.table.kinds import EXACT, Kind
from discreet.table.overlay import empty_cells, places
from discreet.table.release import Release
from discreet.table.statistic import PRINTED, Definitions, Statistic, StatisticColumn, statistics_of
from discreet.table.statistic_rows import MeasuredPositions


def with_published(release: Release, definitions: Definitions) -> Release:
    """Return a release with statistics of its own figures beside them.

    Args:
        release: the release.
        definitions: percentages, rates, ratios, differences, growth, indices and cumulative percentages, by column.

    >>> shown = Figures.from_array([3, 5, None, 10], {"sex": ["m", "f", "o", "Total"]})
    >>> found = with_published(Release.of(shown), {"pct": "percentage, over=sex"}).parts()[0].statistics[0]
    >>> [found.text(row) for row in range(len(found))]
    ['30.0%', '50.0%', '100.0%']
    """
    defined = computable(definitions)
    parts = release.listed()
    if not release.figures and any(one.constant is None for one in defined.values()):
        parts = tuple(_with_margins(part) for part in parts)
    return replace(release, figures=tuple(_with_columns(part, defined) for part in parts))


def computable(definitions: Definitions) -> dict[str, Statistic]:
    """Return definitions, and refuse those that the figures of one release do not say enough for."""
    defined = statistics_of(definitions)
    for name, one in defined.items():
        if not one.linear or one.of_values or one.measures or one.inside or one.ending or one.rounding == "unknown":
            raise RequestError(
                f"{name} is a {one}, which cannot be computed from the figures of one release; publish percentages, "
                "rates, ratios, differences or growth of the figures themselves"
            )
    return defined


def _with_margins(part: Figures) -> Figures:
    """Return inner figures with their margins: sums of published figures, which say nothing more.

    >>> both = {"area": ["n", "s"], "sex": ["m", "f"]}
    >>> shown = Figures.from_array([[3, 0], [6, 9]], both, kind=Kind("random", base=3))
    >>> _with_margins(shown).values.tolist()
    [3, 0, 6, 9, 3, 15, 9, 9, 18]
    """
    labels = {name: (*found, part.total) for name, found in part.labels.items()}
    grid, exact = Grid.of(labels), all(part.kinds[i].exact for i in np.unique(part.kind))
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


def _with_columns(part: Figures, defined: Mapping[str, Statistic]) -> Figures:
    return replace(part, statistics=tuple(_computed(part, name, one) for name, one in defined.items()))


def _computed(part: Figures, name: str, statistic: Statistic) -> StatisticColumn:
    """Return a statistic for every row of which all figures are shown."""
    decimals = 1 if statistic.decimals in (None, PRINTED) else int(statistic.decimals or 0)
    made_of = "values" if all(part.kinds[i].exact or part.kinds[i].hidden for i in np.unique(part.kind)) else "figures"
    statistic = replace(statistic, decimals=decimals, made_of=made_of)
    rows = np.flatnonzero(_stands(part, statistic))
    column = StatisticColumn(name, statistic, part.codes[rows], np.zeros(rows.size, np.int64), decimals)
    layout = lay_out((replace(part, statistics=()),), (), None)
    whole = replace(part, statistics=(column,))
    measured = MeasuredPositions(layout.space, layout.positions, (whole,), part.decimals)
    known, values = _known(part, layout.positions, measured)
    above, below = measured.above(whole, column), None
    if statistic.constant is None:
        below = measured.below(whole, column)
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


def _stands(part: Figures, statistic: Statistic) -> BoolArray:
    """Say which rows a statistic can be computed for: not for totals that nothing is before."""
    fine = np.ones(len(part), bool)
    if statistic.along and statistic.along in part.names:
        labels = part.labels[statistic.along]
        plain = [i for i, label in enumerate(labels) if not part.is_total(statistic.along, label)]
        fine = np.isin(part.codes[:, part.names.index(statistic.along)], plain[statistic.kind != "cumulative" :])
    return fine


def _known(part: Figures, positions: IntArray, measured: MeasuredPositions) -> tuple[BoolArray, IntArray]:
    """Return which positions are published, and their figures; cells without a row may be empty."""
    known, values = np.zeros(positions.size, bool), np.zeros(positions.size, np.int64)
    at = places(measured.space, positions, part)
    if part.absent == "empty":
        tops = {axis.name: axis.top(part) for axis in measured.space.axes if axis.name in part.names}
        bare = empty_cells(measured.space, tops, positions[at], positions[at[part.ranges()[0] > 0]])
        known[np.isin(positions, bare)] = True
    known[at] = ~part.where(lambda kind: kind.hidden or kind.spans)
    values[at] = part.values
    return known, values
