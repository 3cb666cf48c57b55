"""Everything that fits what is published, one table after another: the slow twin of bounds, counts and laws."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import IntArray
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import EXACT, SUPPRESSED, Controlled, Conventional, Kind, Perturbed, Random


def tree(part: Figures, name: str) -> Hierarchy:
    found = part.hierarchies.get(name, ())
    return found[0] if found else Hierarchy.flat([label for label in part.labels[name] if label != part.total])


def below(hierarchy: Hierarchy, label: str, total: str) -> set[str]:
    if label == total:
        return set(hierarchy.leaves)
    return {leaf for leaf in hierarchy.leaves if label in hierarchy.path(leaf)}


@dataclass(frozen=True)
class World:
    """Finest cells over all dimensions of some published tables, and what each figure says of their sum."""

    cells: list[dict[str, str]]
    sums: list[tuple[list[int], int, int]]

    def tables(self, most: int) -> Iterator[list[int]]:
        """Go through all tables that fit, every cell being at most `most`."""
        last: dict[int, list[tuple[list[int], int, int]]] = {}
        for cells, low, high in self.sums:
            last.setdefault(max(cells, default=-1), []).append((cells, low, high))
        if any(low > 0 or high < 0 for _, low, high in last.get(-1, [])):
            return
        touching = [[s for s in self.sums if i in s[0]] for i in range(len(self.cells))]
        x = [0] * len(self.cells)

        def go(i: int) -> Iterator[list[int]]:
            if i == len(self.cells):
                yield list(x)
                return
            room = most
            for cells, _, high in touching[i]:
                room = min(room, high - sum(x[c] for c in cells if c < i))
            for value in range(room + 1):
                x[i] = value
                if all(low <= sum(x[c] for c in cells) <= high for cells, low, high in last.get(i, [])):
                    yield from go(i + 1)
            x[i] = 0

        yield from go(0)

    def members(self, cell: dict[str, str], trees: dict[str, Hierarchy], total: str = "Total") -> list[int]:
        inside = {name: below(trees[name], label, total) for name, label in cell.items()}
        return [i for i, c in enumerate(self.cells) if all(c[name] in inside[name] for name in cell)]


def world(parts: Sequence[Figures]) -> tuple[World, dict[str, Hierarchy]]:
    """Lay out the finest cells of linked tables; dimensions of one name must have one hierarchy."""
    trees: dict[str, Hierarchy] = {}
    for part in parts:
        for name in part.names:
            trees.setdefault(name, tree(part, name))
    cells = [dict(zip(trees, labels, strict=True)) for labels in itertools.product(*(t.leaves for t in trees.values()))]
    empty = World(cells, [])
    sums = []
    for part in parts:
        low, high = part.ranges()
        for row in range(len(part)):
            cell = {name: part.labels[name][int(c)] for name, c in zip(part.names, part.codes[row], strict=True)}
            sums.append((empty.members(cell, trees, part.total), int(low[row]), int(high[row])))
    return World(cells, sums), trees


def published(
    rng: np.random.Generator,
    truth: IntArray,
    trees: dict[str, Hierarchy],
    *,
    hide: float,
    leave_out: float = 0.0,
    kinds: Sequence[Kind] = (),
    margins_too: bool = True,
    name: str = "release",
) -> Figures:
    """Publish a table over hierarchies, each figure hidden, left out, exact or of one of the kinds at random."""
    names = list(trees)
    labels = {n: tuple(t.codes) for n, t in trees.items()}
    inner = [dict(zip(names, c, strict=True)) for c in itertools.product(*(t.leaves for t in trees.values()))]
    values, codes, which = [], [], []
    all_kinds = (EXACT, SUPPRESSED, *kinds)
    for code in itertools.product(*(range(len(t)) for t in trees.values())):
        cell = {n: trees[n].codes[c] for n, c in zip(names, code, strict=True)}
        inside = {n: below(trees[n], label, "Total") for n, label in cell.items()}
        value = sum(int(v) for c, v in zip(inner, truth.ravel(), strict=True) if all(c[n] in inside[n] for n in names))
        whole = all(c == 0 for c in code)
        if not whole and rng.random() < leave_out:
            continue
        kind = 1 if not whole and rng.random() < hide else 0
        if kind == 0 and kinds and (margins_too or not any(c == 0 for c in code)):
            kind = 2 + int(rng.integers(len(kinds)))
        shown = value
        chosen = all_kinds[kind]
        if kind == 1:
            shown = 0
        elif isinstance(chosen, Conventional):
            shown = (value + chosen.base // 2) // chosen.base * chosen.base
        elif isinstance(chosen, Random | Controlled):
            shown = value - value % chosen.base
            shown += chosen.base * int(value % chosen.base > 0 and rng.random() < value % chosen.base / chosen.base)
        elif isinstance(chosen, Perturbed):
            shown = value + int(rng.integers(-chosen.bound, chosen.bound + 1))
        values.append(shown)
        codes.append(code)
        which.append(kind)
    return Figures(
        labels,
        np.array(codes),
        np.array(values),
        np.array(which),
        all_kinds,
        hierarchies={n: (t,) for n, t in trees.items()},
        absent="unpublished",
        name=name,
    )
