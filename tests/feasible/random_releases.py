"""Random small releases: one- to three-way, hierarchies, linked tables, hidden, rounded and perturbed figures."""

from __future__ import annotations

import itertools

import numpy as np
from tests.feasible.oracle import published

from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind

KINDS: tuple[tuple[Kind, ...], ...] = (
    (),
    (),
    (Kind("conventional", base=3),),
    (Kind("random", base=2), Kind("perturbed", bound=1)),
    (Kind("controlled", base=2),),
)


def hierarchies(rng: np.random.Generator, dimensions: int) -> dict[str, Hierarchy]:
    trees = {}
    for d in range(dimensions):
        size = int(rng.integers(2, 4)) if dimensions < 3 else 2
        codes = [f"{'abc'[d]}{i}" for i in range(size)]
        if size == 3 and rng.random() < 0.5:
            parents = {codes[0]: "g", codes[1]: "g", "g": "Total", codes[2]: "Total"}
            trees["xyz"[d]] = Hierarchy.from_parents(parents)
        else:
            trees["xyz"[d]] = Hierarchy.flat(codes)
    return trees


def release(seed: int) -> tuple[list[Figures], list[str]]:
    """Return the published tables of a random release and the names of all dimensions."""
    rng = np.random.default_rng(seed)
    dimensions = int(rng.integers(1, 4))
    trees = hierarchies(rng, dimensions)
    names = list(trees)
    truth = rng.integers(0, 3, [len(tree.leaves) for tree in trees.values()])
    kinds = KINDS[int(rng.integers(len(KINDS)))]
    if dimensions == 1 or rng.random() < 0.6:
        return [published(rng, truth, trees, hide=0.5, leave_out=0.1, kinds=kinds)], names
    parts = []
    for pair in itertools.combinations(range(dimensions), dimensions - 1):
        summed = truth.sum(axis=tuple(i for i in range(dimensions) if i not in pair))
        some = {names[i]: trees[names[i]] for i in pair}
        parts.append(published(rng, summed, some, hide=0.15, kinds=kinds, name="×".join(some)))
    return parts, names
