"""Joins releases: categories of one dimension that were split differently become sums of shared ones.

Dimensions of the same name are the same dimension. Releases whose hierarchies are known are joined by them. Without
hierarchies, bands of numbers are cut into the pieces that all of them are made of, and any other categories of one
release add up to the same total as those of another, unless another has them all and more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from discreet.core.errors import LimitError
from discreet.decide.ledger.bands import Band, bands, name_of, pieces
from discreet.table.figures import Figures
from discreet.table.hierarchy import TOTAL, Hierarchy
from discreet.table.kinds import EXACT
from discreet.table.overlay import empty_cells
from discreet.table.space import space_of, unused

LARGEST = 30_000_000
"""The most cells of one table that are laid out: a few GB of memory."""


def joined(parts: Sequence[Figures]) -> tuple[Figures, ...]:
    """Return tables that fit into one set of equations, each with what it says about its own cells only.

    >>> old = Figures.from_array([9, 6, 15], {"age": ["0-4", "5-9", "Total"]}, name="old")
    >>> new = Figures.from_array([10, 5, 15], {"age": ["0-5", "6-9", "Total"]}, name="new")
    >>> [part.hierarchies["age"][0].children("0-5") for part in joined([old, new]) if part.name == "new"]
    [('0-4', '5')]
    """
    listed = [explicit(part) for part in parts]
    for name in dict.fromkeys(name for part in listed for name in part.names):
        plain = [k for k, part in enumerate(listed) if name in part.names and not part.hierarchies.get(name)]
        splits = [bands(_categories(listed[k], name)) for k in plain]
        numbers = [split for split in splits if split is not None]
        if numbers and len(numbers) == len(splits) and len(plain) == sum(name in part.names for part in listed):
            for k, split in zip(plain, numbers, strict=True):
                listed[k] = _cut(listed[k], name, split, numbers)
        else:
            for k in plain:
                listed[k] = _flat(listed[k], name, listed)
    return tuple(listed)


def unrelated(parts: Sequence[Figures], new: int) -> dict[str, list[int]]:
    """Return the dimensions in which no hierarchy relates the categories of new tables with those of other ones.

    Nothing can then be said about what the difference of two such categories gives away. The last ``new`` of the tables
    that :func:`joined` returned are new.

    >>> old = Figures.from_array([30, 70], {"geo": ["city", "rest"]}, name="old")
    >>> wide = Figures.from_array([32, 68], {"geo": ["city and suburb", "outside"]}, name="wide")
    >>> unrelated(joined([old, wide]), 1)
    {'geo': [0]}
    """
    found: dict[str, list[int]] = {}
    for k in range(len(parts) - new, len(parts)):
        for name in parts[k].names:
            mine = _finest(parts[k], name)
            for j, other in enumerate(parts[:k]):
                theirs = _finest(other, name) if name in other.names else mine
                if not (mine <= theirs or theirs <= mine) and j not in found.setdefault(name, []):
                    found[name].append(j)
    return {name: tables for name, tables in found.items() if tables}


def _finest(part: Figures, name: str) -> set[str]:
    return {leaf for tree in part.hierarchies[name] for leaf in tree.leaves if leaf != tree.total}


def _categories(part: Figures, name: str) -> list[str]:
    return [label for label in part.labels[name] if label != part.total]


def _flat(part: Figures, name: str, parts: Sequence[Figures]) -> Figures:
    """Let the categories of a table add up to the total, or to that of a table which has these and more.

    The total of everybody is not that of a table of a part of the dimension.
    """
    mine = set(_categories(part, name))
    widest = mine
    trees: tuple[Hierarchy, ...] = (Hierarchy.flat(_categories(part, name), total=unused(TOTAL, mine)),)
    for other in parts:
        of_part = name in other.names and other.part(name) is not None
        if other is not part and name in other.names and not (of_part and part.total in part.labels[name]):
            theirs = set(_categories(other, name)) | {c for t in other.hierarchies.get(name, ()) for c in t.codes[1:]}
            if widest < theirs:
                flat = (Hierarchy.flat(_categories(other, name), total=unused(TOTAL, theirs)),)
                widest, trees = theirs, other.hierarchies.get(name, ()) or flat
    return replace(part, hierarchies={**part.hierarchies, name: trees})


def _cut(part: Figures, name: str, split: Mapping[str, Band], splits: Sequence[Mapping[str, Band]]) -> Figures:
    """Give each of a table's bands one name, and the pieces that it is made of.

    The total of bands that other tables go beyond, as of 18+ beside a table of 16+, is of these bands only.
    """
    smallest = pieces(splits)
    known = {one: label for found in reversed(splits) for label, one in found.items()}
    shown = {label: known[one] for label, one in split.items()}
    pairs: list[tuple[object, object]] = []
    covered: list[Band] = []
    for label, (low, high) in split.items():
        inside = [piece for piece in smallest if low <= piece[0] and piece[1] <= high]
        covered += inside
        pairs.append((shown[label], None))
        if len(inside) > 1:
            pairs += [(known.get(piece, name_of(piece)), shown[label]) for piece in inside]
    outside = [piece for piece in smallest if piece not in covered]
    if outside and part.total in part.labels[name]:
        # The total is called by the ends of its bands where these leave no gaps.
        ends = sorted(covered)
        whole = all(before[1] + 1 == after[0] for before, after in pairwise(ends))
        called = name_of((ends[0][0], ends[-1][1])) if whole else " and ".join(map(name_of, ends))
        taken = {*shown.values(), *(str(child) for child, _ in pairs)}
        total = called if called not in taken else f"all of {called}"
        shown[part.total] = total
        tree = Hierarchy.from_parents(pairs, total=total).as_part()
    else:
        pairs += [(known.get(piece, name_of(piece)), None) for piece in outside]
        tree = Hierarchy.from_parents(pairs, total=unused(TOTAL, (str(child) for child, _ in pairs)))
    labels = dict(part.labels) | {name: tuple(shown.get(label, label) for label in part.labels[name])}
    return replace(part, labels=labels, hierarchies={**part.hierarchies, name: (tree,)})


def explicit(part: Figures) -> Figures:
    """List the inner cells that a table omits because they are empty, and no others."""
    if part.absent == "unpublished":
        return part
    space = space_of([part])
    leaves = [axis.leaves for axis in space.axes]
    size = math.prod(len(found) for found in leaves)
    if size > LARGEST:
        raise LimitError(f"{part.name} has {size:,} cells, more than {LARGEST:,}; check a table of fewer dimensions")
    # The labels of every figure as places among the nodes of its own space, the total being 0.
    axes = zip(space.axes, (part.codes[:, part.names.index(axis.name)] for axis in space.axes), strict=True)
    codes = np.stack([axis.coded(part)[column] for axis, column in axes], axis=1)
    rows = space.grid.encode(codes.T)
    missing = empty_cells(space, dict.fromkeys(part.names, 0), rows, part.ranges())
    if not missing.size:
        return replace(part, absent="unpublished")
    labels = {axis.name: (axis.whole, *axis.nodes[1:]) for axis in space.axes}
    places = np.stack(space.grid.decode(missing), axis=1)
    zeros = np.zeros(missing.size, np.int64)
    return replace(
        part,
        labels=labels,
        codes=np.vstack([codes, places]),
        values=np.append(part.values, zeros),
        kind=np.append(part.kind, zeros + len(part.kinds)),
        kinds=(*part.kinds, EXACT),
        upper=None if part.upper is None else np.append(part.upper, zeros),
        absent="unpublished",
        statistics=tuple(
            replace(
                one,
                codes=np.stack([a.coded(part)[one.codes[:, part.names.index(a.name)]] for a in space.axes], axis=1),
            )
            for one in part.statistics
        ),
    )
