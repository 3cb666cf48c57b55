"""How far a released table is from its original, by the usual measures; antal2014 section 3."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Unpack, cast

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError, require
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, NumberArray, xlogx
from discreet.core.text import Face, Result, figure
from discreet.reading.original import open_original
from discreet.reading.published import open_released
from discreet.reading.reading import Reading, ReadingOptions
from discreet.table import Release, Table
from discreet.table.coarsen import recoding_of
from discreet.table.guess import Pair, pair
from discreet.table.release import published


@dataclass(frozen=True)
class Divergence:
    """A convex function f with f(1) = 0, and its slope at infinity, the limit of f(x)/x.

    The slope is the price of a cell that is filled in the original and empty in the release: q·f(p/q) tends to p·slope
    as q tends to 0.
    """

    function: Callable[[FloatArray], FloatArray]
    slope: float | None = None


DIVERGENCES = {"kl": Divergence(xlogx, math.inf), "hellinger": Divergence(lambda x: 1 - np.sqrt(x), 0.0)}
"""KL is the relative entropy, f(x) = x log x; Hellinger, f(x) = 1 − √x, gives the square of HD(P, Q)."""


def f_divergence(
    P: npt.ArrayLike, Q: npt.ArrayLike, divergence: str | Divergence | Callable[[FloatArray], FloatArray]
) -> float:
    """Return D_f(P‖Q) = Σ qᵢ f(pᵢ/qᵢ), which is 0 for P = Q and grows as they diverge; antal2014 (3.3).

    Args:
        P: the original's counts or probabilities; they are scaled to sum to 1.
        Q: those of the release.
        divergence: ``"kl"``, ``"hellinger"``, a convex function f with f(1) = 0, or a :class:`Divergence`.

    >>> round(f_divergence([1, 1], [1, 3], "kl"), 6)
    0.143841
    """
    p, q = np.asarray(P, dtype=np.float64).ravel(), np.asarray(Q, dtype=np.float64).ravel()
    if p.shape != q.shape:
        raise DataError(f"the original has {p.size} cells, the release {q.size}; give the same cells")
    for values, which in ((p, "original"), (q, "release")):
        if not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
            raise DataError(f"the {which} has negative, missing or no counts; a distribution needs some people")
    if isinstance(divergence, str):
        require([divergence], DIVERGENCES, "there is no divergence")
        divergence = DIVERGENCES[divergence]
    elif not isinstance(divergence, Divergence):
        divergence = Divergence(divergence)
    p, q = p / p.sum(), q / q.sum()
    shared = q > 0
    lost = float(p[~shared].sum())
    value = float((q[shared] * divergence.function(p[shared] / q[shared])).sum())
    if lost > 0:
        if divergence.slope is None:
            raise RequestError(
                f"cells with {lost:.3g} of the original are empty in the release, and f gives no limit there; "
                "pass Divergence(f, slope=limit of f(x)/x as x grows)"
            )
        value += lost * divergence.slope
    # Rounding errors may leave a result just below 0, which no f-divergence is.
    return max(value, 0.0)


def hellinger_counts(F: NumberArray, G: NumberArray) -> FloatArray:
    """Return HD(F, G) = √(½ Σ(√Fᵢ − √Gᵢ)²) on counts, along the last axis; antal2014 section 3.1.

    On counts it can exceed 1; 1 − HD/√N is a utility.

    >>> round(float(hellinger_counts(np.arange(1, 7), np.array([0, 3, 3, 3, 6, 6]))), 6)
    0.780502
    """
    distance: FloatArray = np.sqrt(0.5 * np.square(np.sqrt(F) - np.sqrt(G)).sum(axis=-1))
    return distance


def cramers_v(table: Table) -> float:
    """Return Cramér's V of a two-way table, from 0 (no association) to 1; NaN where a dimension has one category.

    V = √(χ²/(N·(min(r, c) − 1))), over the r rows and c columns that are not empty, with
    χ² = N·(Σ nᵢⱼ²/(nᵢ.·n.ⱼ) − 1), to which empty cells add nothing.

    >>> cramers_v(Table.from_array([[5, 0], [0, 5]], ["a", "b"]))
    1.0
    """
    first, second = table.names
    rows, across = table.sums((first, second), table.counts)
    smaller = min(np.count_nonzero(rows), np.count_nonzero(across))
    if smaller < 2:
        return math.nan
    expected = rows[table.codes(first)] * across[table.codes(second)]
    excess = float((np.square(table.counts.astype(np.float64)) / expected).sum()) - 1
    return math.sqrt(max(excess, 0.0) / (smaller - 1))


@dataclass(frozen=True)
class Association:
    """Cramér's V of two dimensions, in the original and in the release."""

    dimensions: tuple[str, str]
    before: float
    after: float

    @property
    def change(self) -> float:
        """The release's V less the original's."""
        return self.after - self.before


@dataclass(frozen=True, repr=False)
class InformationLoss(Result):
    """How far a release is from its original.

    Attributes:
        hellinger: HD on counts.
        hellinger_distribution: HD between the two distributions, from 0 to 1; None for an empty release.
        utility: 1 − HD/√N, 1 for a release equal to its original.
        kl: relative entropy D(P‖Q) in nats; infinite when a filled cell is released empty.
        mean_absolute_error: mean of |F − G| over the cells that can occur.
        mean_squared_error: mean of (F − G)².
        reciprocal_mse: 1/MSE; infinite for a release equal to its original.
        associations: Cramér's V of every pair of dimensions, before and after.
        changed: the number of cells whose figure differs.
        cells: the number of cells that can occur.
    """

    hellinger: float
    hellinger_distribution: float | None
    utility: float
    kl: float
    mean_absolute_error: float
    mean_squared_error: float
    reciprocal_mse: float
    associations: tuple[Association, ...]
    changed: int
    cells: int

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data; infinite and undefined figures are None."""

        def plain(value: float | None) -> float | None:
            return value if value is not None and math.isfinite(value) else None

        own = {name: plain(value) for name, value in vars(self).items() if name != "associations"}
        counts = {name: own.pop(name) for name in ("changed", "cells")}
        cramers_v = [
            {"dimensions": list(item.dimensions)}
            | {name: plain(getattr(item, name)) for name in ("before", "after", "change")}
            for item in self.associations
        ]
        return {**own, "cramers_v": cramers_v, **counts}

    def rows(self) -> list[list[str]]:
        """Return the figures as rows of text."""
        rows = [
            ["utility 1 − HD/√N", figure(self.utility)],
            ["Hellinger distance, counts", figure(self.hellinger)],
            ["Hellinger distance, shares", figure(self.hellinger_distribution)],
            ["relative entropy (nats)", figure(self.kl)],
            ["mean absolute error", figure(self.mean_absolute_error)],
            ["mean squared error", figure(self.mean_squared_error)],
            ["reciprocal MSE", figure(self.reciprocal_mse)],
        ]
        for item in self.associations:
            name = f"Cramér's V {' × '.join(item.dimensions)}"
            rows.append([name, f"{figure(item.before)} → {figure(item.after)}"])
        return rows

    @property
    def sentence(self) -> str:
        """How much changed, in words."""
        return (
            f"{self.changed:,} of {self.cells:,} inner cells changed; a figure is off by "
            f"{self.mean_absolute_error:.2f} on average."
        )

    def face(self, most: int) -> Face:
        """Return the figures."""
        return Face(["information loss", ""], self.rows(), self.sentence)


def information_loss(table: object, released: object, **reading: Unpack[ReadingOptions]) -> InformationLoss:
    """Measure how far a released table is from its original.

    Where the release does not publish every inner count, the hidden ones are replaced by a reader's best guess
    (:mod:`discreet.table.guess`): that is how much of the original the release lets one recover.

    Args:
        table: the original: a table, a tabulation, a file or a frame.
        released: the released table, or a release; a file or frame is read as the original is.
        reading: how a file or frame is read, as for :func:`discreet.assess`.

    >>> F = Table.from_array([1, 2, 3, 4, 5, 6], ["k"])
    >>> G = Table.from_array([0, 3, 3, 3, 6, 6], ["k"])
    >>> round(information_loss(F, G).utility, 6)
    0.829681
    """
    how = Reading.of(reading, information_loss)
    original, made = open_original(table, how).table(), open_released(released, how)
    if original.total == 0:
        raise DataError("the original counts nobody (every cell is 0); there is nothing to lose")
    if recoding_of(made):
        # A reader guesses the parts of merged categories, like anything else that is not published.
        made = replace(cast(Release, made), inner=None)
    both = pair(original, made)
    shown = _shown(both, made)
    F, G = both.original, both.released
    away = (F - G).astype(np.float64)
    hellinger = float(hellinger_counts(F, G))
    squared = float(np.square(away).sum() / original.possible)
    empty = not G.any()
    return InformationLoss(
        hellinger=hellinger,
        hellinger_distribution=None if empty else math.sqrt(f_divergence(F, G, "hellinger")),
        utility=1 - hellinger / math.sqrt(original.total),
        kl=math.inf if empty else f_divergence(F, G, "kl"),
        mean_absolute_error=float(np.abs(away).sum() / original.possible),
        mean_squared_error=squared,
        reciprocal_mse=1 / squared if squared > 0 else math.inf,
        associations=tuple(
            Association(names, cramers_v(original.margin(*names)), cramers_v(shown.margin(*names)))
            for names in combinations(original.names, 2)
        ),
        changed=int(np.count_nonzero(away)),
        cells=original.possible,
    )


def _shown(both: Pair, released: Table | Release) -> Table:
    """Return the released counts as a table; guessed ones in thousandths, which changes no association."""
    if isinstance(released, Release) and released.inner is None:
        return both.table.with_counts(both.cells, np.rint(1000 * both.released).astype(np.int64))
    return published(released).aligned_to(both.table)
