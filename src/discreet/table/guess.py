"""An original and a release joined cell by cell; a reader's best guess replaces inner counts that are not published.

If a release hides figures, merges categories or publishes margins only, a reader who wants one value per inner cell can
do no better than spread the rest as evenly as the published sums allow: the maximum entropy within these sums.
Iterative proportional fitting does that: all cells that are not published start equal, and are scaled until they fit
each published sum in turn. Published sums are kept; published cells stay as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.core.errors import DataError, LimitError, require
from discreet.core.numerics import BoolArray, FloatArray, IntArray, NumberArray, first_true, sorted_union
from discreet.core.proportional_fitting import factors
from discreet.table.axis import Axis
from discreet.table.figures import Figures
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.grid import Grid, locate, look_up, recode
from discreet.table.hierarchy import Hierarchy
from discreet.table.release import Release, published
from discreet.table.table import Table

ROUNDS, STEPS = 1000, 500_000_000
TOLERANCE = 1e-7
"""Fitting stops when no sum is off by more than this share of the table's total, or after so many rounds or steps.

Round choices: the steps bound the time to seconds, and a share of 1e-7 is far below one person in any table.
"""


@dataclass(frozen=True, eq=False)
class Guess:
    """Counts of inner cells as a reader guesses them: positions in the original's layout, with values above 0.

    ``open`` is true where the cell is not published. ``fits`` says whether all exact sums are met; rounded sums may
    contradict each other.
    """

    cells: IntArray
    values: FloatArray
    open: BoolArray
    fits: bool


def best_guess(release: Release, like: Table) -> Guess:
    """Return what a reader guesses for every inner cell of a table.

    Args:
        release: what is published, of any kind: hidden figures, merged categories, margins only.
        like: the table whose cells are guessed; its counts are not used, its structural zeros are known.

    >>> both = {"r": ["a", "b", "Total"], "c": ["x", "y", "Total"]}
    >>> shown = Figures.from_array([[None, None, 6], [None, None, 3], [6, 3, 9]], both)
    >>> table = Table.from_array([[5, 1], [1, 2]], {"r": ["a", "b"], "c": ["x", "y"]})
    >>> best_guess(Release.of(shown), table).values.round(6).tolist()
    [4.0, 2.0, 2.0, 1.0]
    """
    if like.size > DENSE_LIMIT:
        raise LimitError(f"the table has {like.size:,} cells, more than the {DENSE_LIMIT:,} that a guess is made for")
    parts = release.parts()
    for part in parts:
        require(part.names, like.names, "the table has no dimension")
    if not any(part.decimals == 0 for part in parts):
        raise DataError("the release publishes amounts, not counts; the risk of counts cannot be measured on it")
    known = np.full(like.size, np.nan)
    ends = np.array([[0.0], [np.inf]]) + np.zeros(like.size)
    sums: list[_Sums] = []
    for part in parts:
        laid = _Layout(part, like)
        laid.fill(known, ends)
        sums += laid.sums()
    known[like.impossible] = 0.0
    hidden = np.isnan(known)
    where = np.flatnonzero(hidden)
    fitted, fits = _fit(known, where, ends[:, where], sums)
    values = np.where(hidden, 0.0, known)
    values[where] = fitted
    # Less than a millionth of a person is nobody.
    values[values < 1e-6] = 0.0
    cells = np.flatnonzero(values)
    return Guess(cells, values[cells], hidden[cells], fits)


class _Sums(NamedTuple):
    """Published sums of which none share a cell: the sum that each inner cell adds to, -1 for none."""

    group: IntArray
    value: FloatArray
    exact: BoolArray


class _Layout:
    """The figures of one published table, placed among the inner cells of the original."""

    def __init__(self, part: Figures, like: Table) -> None:
        self.part, self.like = part, like
        self.axes: dict[str, Axis] = {}
        for name, categories in like.categories_by_name.items():
            if name in part.names:
                trees = part.hierarchies.get(name) or (Hierarchy.flat(categories, total=part.total),)
                self.axes[name] = Axis(name, tuple(trees))
        self.interval = part.where(lambda kind: kind.spans)
        self.hidden = part.hidden | self.interval
        self.codes: dict[str, IntArray] = {}
        for name, axis in self.axes.items():
            labels = part.labels[name]
            place = recode([axis.total if label == part.total else label for label in labels], axis.codes)
            if (strange := first_true(place < 0)) is not None:
                raise DataError(
                    f"{part.name}: category {labels[strange]!r} of dimension {name!r} is not in the original; give "
                    "both the same categories, or the hierarchy that groups them"
                )
            self.codes[name] = place[part.codes[:, part.names.index(name)]]

    def fill(self, known: FloatArray, ends: FloatArray) -> None:
        """Fill in published inner counts and ends of intervals; cells without a row are empty if it says so."""
        if set(self.part.names) != set(self.like.names):
            return
        codes, named = [], []
        for name, categories in self.like.categories_by_name.items():
            category = recode(self.axes[name].codes, categories)
            codes.append(np.where(self.codes[name] > 0, category[self.codes[name]], -1))
            named.append(np.flatnonzero(recode(categories, self.part.labels[name]) >= 0))
        position = self.like.grid.encode(codes)
        inside = position >= 0
        if self.part.absent == "empty":
            empty = np.zeros(self.like.size, bool)
            empty[self.like.grid.cross(named)] = True
            empty[position[inside]] = False
            known[empty] = 0.0
        shown = inside & ~self.hidden
        known[position[shown]] = np.maximum(self.part.values[shown], 0) / 10**self.part.decimals
        between = inside & self.interval
        if between.any() and self.part.upper is not None:
            both = np.stack([self.part.values[between], self.part.upper[between]])
            ends[:, position[between]] = both / 10**self.part.decimals

    def sums(self) -> list[_Sums]:
        """Return the published sums, level by level."""
        exact = self.part.where(lambda kind: kind.exact)
        choices = {name: [None, *axis.level_maps()] for name, axis in self.axes.items()}
        found: list[_Sums] = []
        for picked in np.ndindex(*(len(levels) for levels in choices.values())):
            maps = {name: levels[i] for (name, levels), i in zip(choices.items(), picked, strict=True)}
            rows = ~self.hidden
            for name, level in maps.items():
                nodes = np.zeros(1, np.int64) if level is None else np.unique(level[level >= 0])
                rows = rows & np.isin(self.codes[name], nodes)
            chosen = np.flatnonzero(rows)
            group = self._groups(maps, chosen)
            if group is not None:
                value = self.part.values[chosen] / 10**self.part.decimals
                found.append(_Sums(group, np.maximum(value, 0.0), exact[chosen]))
        return found

    def _groups(self, maps: dict[str, IntArray | None], rows: IntArray) -> IntArray | None:
        """Return the row that each inner cell adds to; None if the rows are the inner cells themselves."""
        if not rows.size:
            return None
        grid = Grid(tuple(len(axis) for axis in self.axes.values()))
        finest = set(self.part.names) == set(self.like.names)
        every, along = np.arange(self.like.size), []
        for name, level in maps.items():
            leaf = recode(self.like.categories_by_name[name], self.axes[name].codes)
            node = np.zeros(leaf.size, np.int64) if level is None else np.where(leaf >= 0, level[leaf], -1)
            finest &= level is not None and bool((node == leaf)[node >= 0].all())
            along.append(node[self.like.codes(name, every)])
        if finest:
            return None
        key = grid.encode([self.codes[name][rows] for name in self.axes])
        return locate(key, grid.encode(along), np.argsort(key))


def _fit(known: FloatArray, where: IntArray, ends: FloatArray, sums: list[_Sums]) -> tuple[FloatArray, bool]:
    """Scale the open cells to all sums in turn, until they fit; published ends of intervals are kept."""
    x = np.where(np.isinf(ends[1]), 1.0, ends.mean(axis=0))
    if not where.size:
        return x, True
    closed = np.nan_to_num(known)
    left = []
    for level in sums:
        used = level.group >= 0
        shown = np.bincount(level.group[used], weights=closed[used], minlength=level.value.size)
        group = level.group[where]
        if (group >= 0).any():
            left.append((group, np.maximum(level.value - shown, 0.0), level.exact))
    scale = max((float(rest.sum()) for _, rest, _ in left), default=1.0) or 1.0
    # Rounded sums first: the exact ones have the last word.
    left.sort(key=lambda item: bool(item[2].all()))
    worst = math.inf
    for _ in range(max(min(ROUNDS, STEPS // max(where.size * len(left), 1)), 20)):
        worst = 0.0
        for group, rest, exact in left:
            inside = group >= 0
            total = np.bincount(group[inside], weights=x[inside], minlength=rest.size)
            off = np.abs(rest - total)[exact & (np.bincount(group[inside], minlength=rest.size) > 0)]
            worst = max(worst, float(off.max(initial=0.0)))
            x[inside] *= factors(rest, total)[group[inside]]
        x = np.clip(x, *ends)
        if worst <= TOLERANCE * scale:
            return x, True
    return x, worst <= 1e-3 * scale


@dataclass(frozen=True)
class Pair:
    """Both tables' counts on the cells where either is not empty.

    If the release does not publish every inner count, ``released`` is the best guess of a reader, and ``guessed``
    counts the cells that are guessed.
    """

    table: Table
    cells: IntArray
    original: IntArray
    released: NumberArray
    guessed: int = 0


def pair(original: Table, released: Table | Release) -> Pair:
    """Join an original and a released table by the labels of their cells; what is not published is guessed.

    >>> F = Table.from_array([3, 0, 1], ["month"])
    >>> pair(F, Table.from_array([3, 2, 0], ["month"])).released.tolist()
    [3, 2, 0]
    """
    if isinstance(released, Release) and released.inner is None:
        guess = best_guess(released, original)
        cells = sorted_union(original.cells, guess.cells)
        after = look_up(guess.cells, guess.values, cells)
        return Pair(original, cells, original.at(cells), after, int(guess.open.sum()))
    figures = published(released).aligned_to(original)
    cells = sorted_union(original.cells, figures.cells)
    if (at := first_true(np.isin(cells, original.impossible))) is not None:
        raise DataError(
            f"cell {original.describe(int(cells[at]))} is impossible in the original, but the released table "
            "puts people there; take it off the structural zeros or correct the release"
        )
    before, after = np.zeros(cells.size, np.int64), np.zeros(cells.size, np.int64)
    # The cells are the union: each table's own are all there, and need no test.
    before[np.searchsorted(cells, original.cells)] = original.counts
    after[np.searchsorted(cells, figures.cells)] = figures.counts
    return Pair(original, cells, before, after)
