"""Populations inside each other: residents aged 16 and over, and those of them aged 18 and over.

A population inside another is written behind it: ``residents > 16+``. Populations that are bands of numbers, such as
``16+`` and ``18+``, are cut into the pieces that all of them are made of. Releases about populations of one family are
joined with the population as another dimension: those in one and not in the other are asked about like any other cell.
Populations that share nobody are written after a bar: ``residents > women | men`` is about women, none of whom are
among the men.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import TypeAlias

import numpy as np

from discreet.decide.ledger.bands import Band, band, name_of, pieces
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.space import unused
from discreet.table.spelling import spelled

WITHIN, APART = ">", "|"
BANDS = "bands"


def lineage(population: str) -> tuple[str, ...]:
    """Return a population's name, preceded by those of the populations around it, in one spelling.

    >>> lineage("residents > 18+"), lineage("residents > women | men"), lineage("")
    (('residents', '18+'), ('residents', 'women'), ())
    """
    return tuple(part for name in population.split(WITHIN) if (part := spelled(name.split(APART)[0])))


def strangers(population: str) -> set[frozenset[tuple[str, ...]]]:
    """Return the pairs of populations stated to share nobody, each with the populations around it.

    >>> [sorted(pair) for pair in strangers("residents > women | men")]
    [[('residents', 'men'), ('residents', 'women')]]
    """
    found: set[frozenset[tuple[str, ...]]] = set()
    names = [name for name in population.split(WITHIN) if name.strip()]
    for k, name in enumerate(names):
        within = lineage(WITHIN.join(names[:k]))
        told = [(*within, part) for one in name.split(APART) if (part := spelled(one))]
        found |= {frozenset(pair) for pair in combinations(told, 2) if len(set(pair)) == 2}
    return found


def apart(one: str, other: str) -> bool:
    """Say whether two populations, or some around them, are stated to share nobody.

    >>> apart("women | men", "men > 18+"), apart("women", "men"), apart("women | men", "women")
    (True, False, False)
    """
    said = strangers(one) | strangers(other)
    mine, theirs = (
        {names[: k + 1] for k in range(len(names))} for names in (lineage(population) for population in (one, other))
    )
    return any(frozenset((a, b)) in said for a in mine for b in theirs)


def overlap(one: str, other: str) -> bool:
    """Say whether the names of two populations, or of some around them, are bands of numbers that overlap.

    >>> overlap("residents > 16+", "18+"), overlap("0-15", "16+"), overlap("women", "16+")
    (True, False, False)
    """
    mine, theirs = ([found for name in lineage(text) if (found := band(name))] for text in (one, other))
    return any(a[0] <= b[1] and b[0] <= a[1] for a in mine for b in theirs)


@lru_cache(maxsize=1 << 16)
def family(population: str) -> str:
    """Return the family of a population: the outermost one around it, or that it is a band of numbers.

    >>> family("residents > 18+") == family("residents"), family("16+") == family("18+"), family("firms")
    (True, True, 'firms')
    """
    names = lineage(population)
    if not names:
        return ""
    return names[0] if band(names[0]) is None else f"{WITHIN} {BANDS}"


def with_population(parts: Sequence[Figures], populations: Sequence[str]) -> list[Figures]:
    """Return tables with their populations as a dimension; unchanged if there is only one.

    A table without a population is taken to be about the one that all others share.

    >>> parts = [Figures.from_array([[n]], {"area": ["n"], "sex": ["m"]}) for n in (100, 95)]
    >>> [part.labels["population"] for part in with_population(parts, ["16+", "18+"])]
    [('16+',), ('18+',)]
    """
    paths = [lineage(population) for population in populations]
    stated = list(dict.fromkeys(path for path in paths if path))
    if len(stated) < 2:
        return list(parts)
    shared = 0
    while all(len(path) > shared and path[shared] == stated[0][shared] for path in stated):
        shared += 1
    inside = [path[shared:] for path in paths]
    below = list(dict.fromkeys(path for path in inside if path))
    cut = {path[0]: one for path in below if len(path) == 1 and (one := band(path[0])) is not None}
    name = unused("population", (name for part in parts for name in part.names))
    whole = any(not path for path in inside)
    said = {frozenset(path[shared:] for path in pair) for population in populations for pair in strangers(population)}
    found: list[Figures] = []
    for part, path in zip(parts, inside, strict=True):
        label, pairs = _banded(path, cut, whole) if len(cut) == len(below) else _nested(path, below, said)
        found.append(along(part, name, label or part.total, pairs))
    return found


Pairs: TypeAlias = list[tuple[object, object]]


def along(part: Figures, name: str, label: str, pairs: Pairs) -> Figures:
    """Return a table as one category of a further dimension, of which pairs say what lies in what."""
    return replace(
        part,
        labels={**part.labels, name: (label,)},
        codes=np.column_stack([part.codes, np.zeros(len(part), np.int64)]),
        hierarchies={**part.hierarchies, name: (Hierarchy.from_parents(pairs, total=part.total),)},
        statistics=tuple(
            replace(one, codes=np.column_stack([one.codes, np.zeros(len(one), np.int64)])) for one in part.statistics
        ),
    )


def _banded(path: tuple[str, ...], cut: dict[str, Band], whole: bool) -> tuple[str, Pairs]:
    """Return the name of a band, and all its pieces and those of others.

    Where there is a population of everybody, somebody may be in no band.
    """
    known = {one: label for label, one in reversed(cut.items())}
    label = known[cut[path[0]]] if path else ""
    low, high = cut[path[0]] if path else (0, -1)
    pairs: Pairs = [(label, None)] if path else []
    for piece in pieces([{name: one} for name, one in cut.items()]):
        called = known.get(piece, name_of(piece))
        if called != label:
            pairs.append((called, label if low <= piece[0] and piece[1] <= high else None))
    return label, [*pairs, ("others", None)] if whole else pairs


def _nested(
    path: tuple[str, ...], below: Sequence[tuple[str, ...]], said: set[frozenset[tuple[str, ...]]]
) -> tuple[str, Pairs]:
    """Return a population's name and those around it: each with the populations inside it, and those in none of them.

    If several are inside one, all are included if they are stated to share nobody, and otherwise only those on the
    longest line of populations around this one.
    """
    line = max((other for other in below if other[: len(path)] == path), key=len)
    every = {other[:k] for other in below for k in range(1, len(other) + 1)}
    last = Counter(one[-1] for one in every)
    names: dict[tuple[str, ...], str | None] = {
        one: one[-1] if last[one[-1]] == 1 else f" {WITHIN} ".join(one) for one in every
    }
    names[()] = None
    pairs: Pairs = []
    left: list[tuple[str, ...]] = [()]
    while left:
        above = left.pop()
        inside = sorted(one for one in every if one[:-1] == above)
        if not all(frozenset(pair) in said for pair in combinations(inside, 2)):
            inside = [one for one in inside if one == line[: len(one)]]
        if not inside:
            continue
        called, held = names[above], " and ".join(str(names[one]) for one in inside)
        pairs += [(names[one], called) for one in inside]
        pairs.append((f"{called} without {held}" if called else f"not {held}", called))
        left += inside
    return names[path] or "", pairs
