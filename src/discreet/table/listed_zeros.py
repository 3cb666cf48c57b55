"""Zeros in files for people: a row for every empty cell, so that no cell and no category goes missing from a table."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from discreet.core.numerics import BoolArray, IntArray
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT

FEW = 1_000
"""Tables of so many combinations list every zero; larger ones only if that makes them at most twice as long."""


def with_zeros(part: Figures) -> Figures:
    """Return the figures with a row of 0 for every cell and margin that is known to be empty because it has no row.

    An inner cell without a row is empty; a margin is if all cells under it are, and other margins of its level are
    published. Nothing changes if cells without a row are unpublished, if far more would be empty than not, or if
    nothing says whether zeros are hidden: listing some would say it.

    >>> shown = Figures.from_array([[3, 1], [2, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> sparse = replace(shown, codes=shown.codes[1:], values=shown.values[1:], kind=shown.kind[1:])
    >>> with_zeros(sparse).values.tolist()
    [0, 1, 2, 5]
    """
    shape = tuple(len(labels) for labels in part.labels.values())
    if part.absent != "empty" or part.unsaid or math.prod(shape) > max(FEW, 2 * len(part)):
        return part
    listed = np.zeros(shape, bool)
    listed[tuple(part.codes.T)] = True
    empty = ~listed & ~_filled(part, listed) & _levels_shown(part, shape)
    if not empty.any():
        return part
    added = np.argwhere(empty)
    codes = np.concatenate([part.codes, added])
    order = np.lexsort(codes.T[::-1])
    kinds = part.kinds if EXACT in part.kinds else (*part.kinds, EXACT)

    def longer(column: IntArray, value: int) -> IntArray:
        return np.concatenate([column, np.full(len(added), value)])[order]

    return replace(
        part,
        codes=codes[order],
        values=longer(part.values, 0),
        kind=longer(part.kind, kinds.index(EXACT)),
        kinds=kinds,
        upper=None if part.upper is None else longer(part.upper, 0),
    )


def cells_shown(part: Figures) -> int:
    """Return how many cells and totals figures are of, empty ones included where files list them.

    >>> shown = Figures.from_array([[3, 1], [2, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> cells_shown(replace(shown, codes=shown.codes[1:], values=shown.values[1:], kind=shown.kind[1:]))
    4
    """
    return len(with_zeros(part))


def _filled(part: Figures, listed: BoolArray) -> BoolArray:
    """Say for every combination of labels whether an inner cell with a row is in it."""
    filled = listed
    for axis, name in enumerate(part.names):
        filled = np.moveaxis(_held(part, name, np.moveaxis(filled, axis, 0)), 0, axis)
    return filled


def _held(part: Figures, name: str, filled: BoolArray) -> BoolArray:
    """Say for every label of the first dimension what is filled in it: itself, or any category below it."""
    sums, trees = part.sums(name), part.hierarchies.get(name, ())
    place = {label: row for row, label in enumerate(part.labels[name])}
    inner = np.array([label not in sums for label in place])
    found: BoolArray = filled & inner.reshape(-1, *[1] * (filled.ndim - 1))
    outside = set(place).difference(*(tree.codes for tree in trees))
    found[[place[label] for label in outside if label in sums]] = filled[inner].any(axis=0)
    for tree in trees:
        leaves = set(tree.leaves)
        below = np.zeros((len(tree.codes), *filled.shape[1:]), bool)
        # Parents come before what is under them.
        for at in range(len(tree.codes) - 1, -1, -1):
            row = place.get(tree.codes[at])
            if row is not None and not inner[row]:
                found[row] |= below[at]
            elif row is not None and tree.codes[at] in leaves:
                below[at] = filled[row]
            if at:
                below[tree.parents[at]] |= below[at]
    return found


def _levels_shown(part: Figures, shape: tuple[int, ...]) -> BoolArray:
    """Say for every combination of labels whether the release has figures of its level."""
    depths = []
    for name, labels in part.labels.items():
        sums = part.sums(name)
        levels = {
            code: level
            for tree in part.hierarchies.get(name, ())
            for code, level in zip(tree.codes, tree.levels, strict=True)
        }
        depths.append(np.array([levels.get(label, 0) + 1 if label in sums else 0 for label in labels]))
    sizes = tuple(int(depth.max()) + 1 for depth in depths)
    shown = np.zeros(sizes, bool)
    shown[tuple(depth[codes] for depth, codes in zip(depths, part.codes.T, strict=True))] = True
    found: BoolArray = shown[np.ix_(*depths)]
    return found
