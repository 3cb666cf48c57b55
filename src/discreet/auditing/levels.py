"""Protection levels: what intervals must reach, from the rules, from a share of the original, or as given.

This is the only part of an audit that sees the original. The original says how far intervals must reach and whether the
release was made from it; it never narrows an interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.auditing.limits import Level, Reach
from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import FloatArray, IntArray, whole_where_near
from discreet.feasible.bounds import bounds
from discreet.feasible.implied_statistics import without_implied
from discreet.rules.sensitivity import Sensitivity
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.grid import locate, recode
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release
from discreet.table.space import Space
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation


def reach_of(
    equations: Equations,
    levels: Mapping[tuple[tuple[str, str], ...], Level] | None,
    original: Table | Figures | Tabulation | None,
    protection: float | None,
    sensitivity: Sensitivity | None,
) -> Reach:
    """Return what every position must reach, after checking the release against its original."""
    if protection is not None and original is None:
        raise RequestError("protection is a share of original values; give the original too (original=, --original)")
    reach = Reach.nothing(equations.lower.size)
    scale = 10**equations.decimals
    if original is not None:
        at, values, exact = true_values([original], equations.space, equations.positions, equations.decimals)
        _check(equations, at, values, exact)
        if protection is not None:
            away = protection / 100 * np.abs(values)
            _widen(reach, equations, at, values - away, values + away, np.zeros(at.size))
    sensitive, unseen = None, 0
    if sensitivity is not None:
        sensitive = np.zeros(equations.lower.size, bool)
        at, values = located(equations, sensitivity.tabulation), sensitivity.figures[0].value * float(scale)
        seen = at >= 0
        _check(equations, at[seen], values[seen], exact=False)
        unseen = int(np.count_nonzero(sensitivity.sensitive & ~seen))
        mine = sensitivity.sensitive & seen
        sensitive[at[mine]] = True
        lower, upper = sensitivity.lower[mine] * scale, sensitivity.upper[mine] * scale
        # A rule of one's own may know no level (NaN): its cells must only not be worked out.
        _widen(reach, equations, at[mine], values[mine] - lower, values[mine] + upper, np.zeros(lower.size))
    if levels is not None and not levels and sensitive is None:
        sensitive = np.zeros(equations.lower.size, bool)
    if levels:
        at = np.array([equations.find(dict(cell)) for cell in levels])
        low, high, sliding = np.array([(*level, 0.0)[:3] for level in levels.values()], np.float64).T * scale
        _widen(reach, equations, at, low, high, sliding)
    return Reach(reach.low, reach.high, reach.sliding, sensitive, unseen)


def refuse_unfit(release: Release, original: Table | Figures | Tabulation) -> None:
    """Refuse a release with a figure that its original value does not fit."""
    reach_of(equations_of(without_implied(release.parts())), None, original, None, None)


def _widen(
    reach: Reach, equations: Equations, at: IntArray, low: FloatArray, high: FloatArray, sliding: FloatArray
) -> None:
    """Raise existing levels, but ask for nothing below what everybody knows about a value."""
    low, high, sliding = (whole_where_near(ends) for ends in (low, high, sliding))
    np.fmin.at(reach.low, at, np.maximum(low, least_known(equations)[at]))
    np.fmax.at(reach.high, at, high)
    np.fmax.at(reach.sliding, at, np.where(sliding > 0, sliding, np.nan))


def least_known(equations: Equations) -> FloatArray:
    """Return, in units, the lower bounds that are known before any sum is used: those that marks state.

    Intervals and simulated values in place of marks state them too. Exact, rounded and perturbed figures say more, but
    that is what levels are compared with.
    """
    code, kinds, _ = equations.figures_at(np.arange(equations.source.size))
    scale = [10 ** (equations.decimals - part.decimals) for part in equations.parts for _ in part.kinds]
    lows = [kind.said[0] for kind in kinds]
    said = [-UNBOUNDED if low is None else low * by for low, by in zip(lows, scale, strict=True)]
    least = np.array([*said, -UNBOUNDED])[code]
    told = np.where(equations.hidden, equations.lower, np.maximum(np.minimum(equations.lower, 0), least))
    floors: FloatArray = equations.floors(told, equations.exact & (equations.lower == 0)).astype(np.float64)
    return floors


def least_beforehand(equations: Equations) -> IntArray:
    """Return what everybody knows figures to be at least before any is published.

    Where marks say that no hidden figure is 0, one that is shown and not 0 would not be 0 either.
    """
    known, listed = least_known(equations).astype(np.int64), equations.source >= 0
    positive = (known[listed & equations.hidden] > 0).all()
    floor: IntArray = np.maximum(known, listed & ~equations.hidden & equations.exact & (equations.lower > 0) & positive)
    return floor


def true_values(
    originals: Sequence[Table | Figures | Tabulation], space: Space, positions: IntArray, decimals: int
) -> tuple[IntArray, FloatArray, bool]:
    """Return which positions of a space originals determine, their values, and if these are integers of the unit."""
    truth = equations_of([_figures(one) for one in originals])
    known = bounds(truth)
    at = locate(positions, truth.space.translate(truth.positions, space))
    use = (at >= 0) & (known.lower == known.upper)[: truth.positions.size]
    values = known.lower[: truth.positions.size][use] * (10.0**decimals / 10.0**truth.decimals)
    return at[use], values, truth.decimals <= decimals


def _figures(original: Table | Figures | Tabulation) -> Figures:
    if isinstance(original, Tabulation):
        return Figures.of_tabulation(original, response=original.responses[0].name if original.responses else None)
    return original if isinstance(original, Figures) else Release(original, "original").parts()[0]


def located(equations: Equations, tabulation: Tabulation) -> IntArray:
    """Return the positions of a tabulation's cells, -1 for cells outside the published tables' crossing."""
    space, codes = equations.space, {}
    for axis in tabulation.axes:
        if axis.name in space.names:
            places = space.axes[space.axis(axis.name)].places
            codes[axis.name] = recode(axis.codes, places)
            codes[axis.name][0] = places.get(axis.total, 0) if axis.part else 0
    return equations.locate(tabulation.grid.translate(tabulation.cells, space.grid, codes))


def _check(equations: Equations, at: IntArray, values: FloatArray, exact: bool) -> None:
    """Refuse an original that does not fit the release."""
    slack = 1e-6 if exact or np.abs(values - np.rint(values)).max(initial=0.0) <= 1e-6 else 1.0 - 1e-6
    off = (values < equations.lower[at] - slack) | (values > equations.upper[at] + slack)
    if off.any():
        i = int(at[int(np.argmax(off))])
        raise DataError(
            f"cell {equations.describe(i)} is published as a figure that its original value does not fit; the release "
            "was not made from this original, or its method is not the one stated"
        )
