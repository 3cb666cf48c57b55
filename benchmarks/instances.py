"""Hierarchical frequency tables with skewed counts, and suppression patterns over them, the same in every run."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import IntArray
from discreet.table import Table
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation

SETTINGS: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, int]] = {
    "t2d_100": ((10, 9), (3, 3), 1_500, 101),
    "t2d_1k": ((50, 20), (8, 4), 20_000, 102),
    "t2d_10k": ((150, 50), (15, 7), 150_000, 103),
    "t3d_2k": ((20, 10, 4), (4, 3, 0), 15_000, 104),
    "t3d_30k": ((100, 50, 4), (10, 7, 0), 300_000, 105),
    "t3d_180k": ((200, 50, 10), (20, 7, 3), 1_500_000, 106),
}
"""Leaves and groups of each dimension (0 for none), records, seed."""
SEED = "DISCREET_BENCH_SEED"
"""The variable of the environment with what is added to seeds."""
SENSITIVE = (1, 2, 3)
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Instance:
    """Counts of all cells and margins, laid out over the codes of each hierarchy."""

    name: str
    trees: dict[str, Hierarchy]
    leaves: IntArray
    counts: IntArray

    @property
    def primary(self) -> BoolArray:
        return np.isin(self.counts, SENSITIVE)

    def figures(self, hidden: BoolArray) -> Figures:
        shape = self.counts.shape
        codes = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
        flat = hidden.ravel().astype(np.int64)
        return Figures(
            {name: tree.codes for name, tree in self.trees.items()},
            codes,
            np.where(flat, 0, self.counts.ravel()),
            flat,
            hierarchies={name: (tree,) for name, tree in self.trees.items()},
            name=self.name,
        )


def generate(name: str) -> Instance:
    """Draw an instance: Zipf margins, lognormal interaction, multinomial counts."""
    sizes, groups, records, seed = SETTINGS[name]
    return _drawn(name, sizes, groups, records, np.random.default_rng(seed + int(os.environ.get(SEED, "0"))))


def _drawn(
    name: str, sizes: tuple[int, ...], groups: tuple[int, ...], records: int, rng: np.random.Generator
) -> Instance:
    weights = np.ones(())
    trees = {}
    for d, (size, count) in enumerate(zip(sizes, groups, strict=True)):
        trees[f"d{d + 1}"] = _tree("abc"[d], size, count)
        weights = np.multiply.outer(weights, rng.permutation(1 / np.arange(1, size + 1) ** 0.8))
    weights = weights * rng.lognormal(0, 1, weights.shape)
    leaves = rng.multinomial(records, (weights / weights.sum()).ravel()).reshape(sizes)
    return Instance(name, trees, leaves, roll_up(leaves, trees))


def cells_of(instance: Instance) -> Tabulation:
    """Lay an instance out with all margins."""
    counts = Table.from_array(instance.leaves, {name: list(tree.leaves) for name, tree in instance.trees.items()})
    return Tabulation.from_table(counts, hierarchies=instance.trees)


def nested(cells: int) -> Tabulation:
    """Lay out a three-way table of so many cells, with groups of ten in two dimensions and records in proportion."""
    side = max(2, round((cells / 6 / 1.21) ** 0.5))
    sizes, groups = (side, side, 5), (max(2, side // 10), max(2, side // 10), 0)
    return cells_of(_drawn("nested", sizes, groups, 60 * side * side, np.random.default_rng(1)))


def _tree(letter: str, size: int, count: int) -> Hierarchy:
    if not count:
        return Hierarchy.flat([f"{letter}{i + 1:03d}" for i in range(size)])
    rows = []
    for g, part in enumerate(np.array_split(np.arange(size), count)):
        rows += [(f"{letter}{g + 1:02d}", f"{letter}{g + 1:02d}n{k + 1:02d}") for k in range(part.size)]
    return Hierarchy.from_columns(rows)


def roll_up(leaves: IntArray, trees: dict[str, Hierarchy]) -> IntArray:
    """Add up the leaves for every combination of codes."""
    counts = leaves
    for axis, tree in enumerate(trees.values()):
        place = {leaf: i for i, leaf in enumerate(tree.leaves)}
        inside = np.zeros((len(tree.codes), len(place)), np.int64)
        for leaf, i in place.items():
            for code in tree.path(leaf):
                inside[tree.codes.index(code), i] = 1
        counts = np.moveaxis(np.tensordot(inside, counts, (1, axis)), 0, axis)
    return counts


def pattern(instance: Instance) -> BoolArray:
    """Hide sensitive counts, and in every sum with one hidden count another, until no sum has one.

    Small counts are taken first, and before them those that leave no other sum with a single hidden count, as a good
    suppression does.
    """
    counts, hidden = instance.counts, instance.primary.copy()
    sums = [
        (axis, np.array([parent, *(i for i, p in enumerate(tree.parents) if p == parent)]))
        for axis, tree in enumerate(instance.trees.values())
        for parent in sorted(set(tree.parents) - {-1})
    ]
    while True:
        before = int(hidden.sum())
        for axis, codes in sums:
            lonely = np.zeros(counts.shape)
            for other, line in sums:
                if other != axis:
                    marks = np.moveaxis(hidden, other, 0)[line]
                    np.moveaxis(lonely, other, 0)[line] += marks.sum(axis=0) == 0
            rows = np.moveaxis(hidden, axis, 0)[codes].reshape(codes.size, -1)
            shown = np.moveaxis(counts, axis, 0)[codes].reshape(codes.size, -1)
            alone = np.moveaxis(lonely, axis, 0)[codes].reshape(codes.size, -1)
            short = np.flatnonzero(rows.sum(axis=0) == 1)
            cost = np.where(rows[:, short] | (shown[:, short] == 0), np.inf, shown[:, short] + 1e5 * alone[:, short])
            chosen = cost.argmin(axis=0)
            fine = np.isfinite(cost[chosen, np.arange(short.size)])
            rows[chosen[fine], short[fine]] = True
            np.moveaxis(hidden, axis, 0)[codes] = rows.reshape(np.moveaxis(hidden, axis, 0)[codes].shape)
        if int(hidden.sum()) == before:
            return hidden
