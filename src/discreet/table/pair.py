"""An original and a release joined cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray, NumberArray, sorted_union
from discreet.table.grid import look_up
from discreet.table.guess import best_guess
from discreet.table.release import Release, published
from discreet.table.table import Table


@dataclass(frozen=True)
class Pair:
    """Both tables' counts on the cells where either is not empty.

    Where the release does not publish every inner count, ``released`` is the best guess of somebody who reads it
    (:mod:`discreet.table.guess`), and ``guessed`` counts the cells that are guessed.
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
        return _guessed(original, released)
    figures = published(released).aligned_to(original)
    cells = sorted_union(original.cells, figures.cells)
    impossible = np.isin(cells, original.impossible)
    if impossible.any():
        cell = int(cells[np.argmax(impossible)])
        raise DataError(
            f"cell {original.describe(cell)} is impossible in the original, but the released table puts people "
            "there; take it off the structural zeros or correct the release"
        )
    before, after = np.zeros(cells.size, np.int64), np.zeros(cells.size, np.int64)
    before[np.searchsorted(cells, original.cells)] = original.counts
    after[np.searchsorted(cells, figures.cells)] = figures.counts
    return Pair(original, cells, before, after)


def _guessed(original: Table, release: Release) -> Pair:
    """Join an original with what a reader guesses of it."""
    guess = best_guess(release, original)
    cells = sorted_union(original.cells, guess.cells)
    after = look_up(guess.cells, guess.values, cells)
    return Pair(original, cells, original.at(cells), after, int(guess.open.sum()))
