"""Random frequency tables with hierarchies, and slow twins of what is tested on them."""

from __future__ import annotations

from itertools import product

import numpy as np

from discreet.core.numerics import IntArray
from discreet.table import Table
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation


def random_tree(rng: np.random.Generator, letter: str, leaves: int, depth: int) -> Hierarchy:
    """Draw a tree of at most this depth with the given leaves; branches may end early."""
    parents: list[tuple[object, object]] = []

    def grow(codes: list[str], parent: str | None, left: int) -> None:
        if left <= 1 or len(codes) < 3 or rng.random() < 0.2:
            parents.extend((code, parent) for code in codes)
            return
        cut = int(rng.integers(1, len(codes)))
        for part in (codes[:cut], codes[cut:]):
            if len(part) == 1:
                parents.append((part[0], parent))
                continue
            group = f"{letter}{part[0]}-{part[-1]}"
            parents.append((group, parent))
            grow(part, group, left - 1)

    grow([f"{letter}{i:02d}" for i in range(leaves)], None, depth)
    return Hierarchy.from_parents(parents)


def random_tabulation(
    rng: np.random.Generator, shape: tuple[int, ...], depths: tuple[int, ...], mean: float = 4.0
) -> Tabulation:
    """Draw skewed counts over dimensions with random trees."""
    trees = {
        f"d{i}": random_tree(rng, "abc"[i], n, depth) for i, (n, depth) in enumerate(zip(shape, depths, strict=True))
    }
    counts = rng.poisson(mean * rng.gamma(0.7, 1 / 0.7, shape))
    counts.flat[0] += 1
    table = Table.from_array(counts, {name: list(tree.leaves) for name, tree in trees.items()})
    return Tabulation.from_table(table, hierarchies=trees)


def check_additive(tabulation: Tabulation, values: IntArray) -> None:
    """Add up the inner cells for every cell, by the leaves under each of its nodes, and compare."""
    full = tabulation.with_empty_cells()
    assert values.shape == (len(full),)
    inner = full.inner(full.names)
    codes = np.stack([full.codes(name) for name in full.names], axis=1)
    at = {tuple(code): int(value) for code, value in zip(codes[inner].tolist(), values[inner].tolist(), strict=True)}
    for code, value in zip(codes.tolist(), values.tolist(), strict=True):
        below = [sorted(axis.under[node]) for axis, node in zip(full.axes, code, strict=True)]
        assert value == sum(at[cell] for cell in product(*below))


def brute_force_distance(tabulation: Tabulation, base: int) -> int | None:
    """Try every way to round the inner cells to neighbours; None where no zero-restricted rounding exists."""
    full = tabulation.with_empty_cells()
    inner = np.flatnonzero(full.inner(full.names))
    codes = np.stack([full.codes(name) for name in full.names], axis=1)
    contains = np.array(
        [
            [all(code[d] in axis.under[node[d]] for d, axis in enumerate(full.axes)) for code in codes[inner].tolist()]
            for node in codes.tolist()
        ],
        np.int64,
    )
    moving = np.flatnonzero(full.records[inner] % base)
    lower = full.records[inner] - full.records[inner] % base
    best: int | None = None
    for ups in product((0, 1), repeat=moving.size):
        cells = lower.copy()
        cells[moving] += base * np.array(ups, np.int64)
        away = np.abs(contains @ cells - full.records)
        fixed = full.records % base == 0
        if (away < base).all() and not away[fixed].any() and (best is None or away.sum() < best):
            best = int(away.sum())
    return best
