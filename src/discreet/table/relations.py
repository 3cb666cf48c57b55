"""Which sums are stated, and the additive relations between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from discreet.core.numerics import IntArray
from discreet.table.figures import Figures
from discreet.table.space import AdditiveAxis


def needed_sums(
    axis: AdditiveAxis,
    block: frozenset[str],
    parts: tuple[Figures, ...],
    about: Sequence[str],
    nodes: Mapping[str, Iterable[str]],
    blocks: int,
) -> AdditiveAxis:
    """Return an axis with the sums that the tables of a block, or what is asked, refer to."""
    needed = {axis.code(label) for label in nodes.get(axis.name, ())}
    if blocks > 1 or (about and axis.name not in about):
        needed.add(0)
    for part in parts:
        if not set(part.names) <= block:
            continue
        if axis.name not in part.names:
            needed.add(0)
            continue
        used = np.unique(part.codes[:, part.names.index(axis.name)]).tolist()
        labels = (part.labels[axis.name][code] for code in used)
        needed |= {0 if label == part.total else axis.code(label) for label in labels}
    return axis.only(needed)


def relations_of(
    blocks: list[dict[str, AdditiveAxis]], grids: list[IntArray], positions: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the equations of all blocks in compressed rows: every sum along every dimension."""
    columns, lengths, signs = [], [], []
    for block, grid in zip(blocks, grids, strict=True):
        axes = list(block.values())
        places = grid if len(grids) == 1 else np.searchsorted(positions, grid)
        if len(grids) == 1:
            places = np.arange(positions.size)
        shaped = places.reshape([len(axis.stated) for axis in axes])
        for i, axis in enumerate(axes):
            along = np.moveaxis(shaped, i, 0).reshape(len(axis.stated), -1)
            slot = {code: at for at, code in enumerate(axis.stated)}
            for parent, children in axis.relations:
                rows = along[[slot[parent], *(slot[child] for child in children)]].T
                columns.append(rows.ravel())
                lengths.append(np.full(rows.shape[0], rows.shape[1]))
                signs.append(np.tile(np.array([1] + [-1] * len(children), np.int64), rows.shape[0]))
    if not columns:
        nothing = np.zeros(0, np.int64)
        return np.zeros(1, np.int64), nothing, nothing
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    return starts, np.concatenate(columns), np.concatenate(signs)
