"""The additive relations between positions, and those of them that exact figures leave open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray
from discreet.table.additive_axis import AdditiveAxis
from discreet.table.blocks import Block
from discreet.table.figures import decimal_text
from discreet.table.grid import locate
from discreet.table.overlay import Overlay


def relations_of(
    blocks: Sequence[Block], grids: Sequence[IntArray], positions: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the equations of all blocks in compressed rows: every sum along every dimension."""
    columns, lengths, signs = [], [], []
    for block, grid in zip(blocks, grids, strict=True):
        axes = list(block.axes.values())
        places = np.arange(positions.size) if len(grids) == 1 else locate(positions, grid)
        shaped = places.reshape([len(axis.stated) for axis in axes])
        for i, axis in enumerate(axes):
            along = np.moveaxis(shaped, i, 0).reshape(len(axis.stated), -1)
            slot = {code: at for at, code in enumerate(axis.stated)}
            wanted = ~_elsewhere(block, axis.name)
            for parent, children in axis.relations:
                rows = along[[slot[parent], *(slot[child] for child in children)]].T
                if parent == _top(axis):
                    rows = rows[wanted]
                columns.append(rows.ravel())
                lengths.append(np.full(rows.shape[0], rows.shape[1]))
                signs.append(np.tile(np.array([1] + [-1] * len(children), np.int64), rows.shape[0]))
    if not columns:
        nothing = np.zeros(0, np.int64)
        return np.zeros(1, np.int64), nothing, nothing
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    return starts, np.concatenate(columns), np.concatenate(signs)


def only_open(
    starts: IntArray, columns: IntArray, signs: IntArray, state: Overlay
) -> tuple[IntArray, IntArray, IntArray]:
    """Check the equations among exact figures, and keep those in which something is not exact, each once."""
    exact = state.lower == state.upper
    rows = starts.size - 1
    if not rows:
        return starts, columns, signs
    known = exact[columns]
    value = np.where(known, state.lower[columns], 0) * signs
    off = np.add.reduceat(value, starts[:-1])
    unknown = np.add.reduceat((~known).astype(np.int64), starts[:-1])
    wrong = np.flatnonzero((unknown == 0) & (off != 0))
    if wrong.size:
        e = int(wrong[0])
        parent = int(columns[starts[e]])
        stated = int(state.lower[parent])
        name = state.space.describe(int(state.positions[parent]))
        left = wrong.size - 1
        more = f" (nor {'does 1 other sum' if left == 1 else f'do {left:,} other sums'} add up)" if left else ""
        remedy = (
            'or say that cells without a row are not published (absent="unpublished", --absent unpublished), and list '
            "categories without any row in a hierarchy (hierarchies=, --hierarchy)"
            if int(off[e]) > 0
            else "or, where some rows are groups of others, say which (hierarchies=, --hierarchy), or read the "
            "release's Parquet file, which keeps that"
        )
        raise DataError(
            f"margin '{name}' is {decimal_text(stated, state.decimals)}, but its cells sum to "
            f"{decimal_text(stated - int(off[e]), state.decimals)}{more}; correct the figures, {remedy}"
        )
    keep = unknown > 0
    # Linked blocks state the sums of the margins that they share once each.
    mark = np.random.default_rng(0).integers(1, 2**62, state.positions.size, dtype=np.uint64)
    digest = np.add.reduceat(mark[columns] * signs.astype(np.uint64), starts[:-1])
    first = np.zeros(rows, bool)
    first[np.unique(digest, return_index=True)[1]] = True
    keep &= first
    entries = np.repeat(keep, np.diff(starts))
    lengths = np.diff(starts)[keep]
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), columns[entries], signs[entries]


def _top(axis: AdditiveAxis) -> int:
    """Return the sum of all labels of an axis of a block."""
    return axis.stated[0] if not axis.relations else axis.relations[0][0] if len(axis.relations) == 1 else 0


def _elsewhere(block: Block, name: str) -> npt.NDArray[np.bool_]:
    """Say for which labels along the other dimensions another block states the sum over one dimension."""
    others = [axis for axis in block.axes.values() if axis.name != name]
    shape = [len(axis.stated) for axis in others]
    found = np.zeros(shape, bool)
    if not block.stated:
        return found.ravel()
    summed = [np.array([code == _top(axis) for code in axis.stated]) for axis in others]
    for names, apart in block.stated:
        if name not in names or name in apart:
            continue
        mine = np.ones(shape, bool)
        for k, axis in enumerate(others):
            at = summed[k].reshape([-1 if j == k else 1 for j in range(len(others))])
            # Where another dimension is summed over too, that must be the same sum there.
            if axis.name not in names:
                mine &= at
            elif axis.name in apart:
                mine &= ~at
        found |= mine
    return found.ravel()
