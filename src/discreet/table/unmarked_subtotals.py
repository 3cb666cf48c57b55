"""Subtotals that nobody marked: categories that are sums of those with longer codes, next to them, or of any.

Taken for a category, a subtotal counts people twice, and no equation links it to its cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.text import listed
from discreet.table.grid import locate
from discreet.table.unmarked_totals import LINES, ListedFigures

CHANCE = 1_000
"""A sum is none by chance if chance makes one less than once in so many tables."""
MOST = 14
"""The most categories of which all sums are tried: half a millisecond for 50 lines, 9 ms for 18 categories. A round
choice, since the more sums there are, the more lines it takes to tell one from chance."""
NO_SUMS = "say that there are no sums (total=None, --total '')"
TREE = "give the dimension a hierarchy (hierarchies=, --hierarchy)"
"""What to do with a subtotal of a release."""
ADDED = "leave it out and give the dimension a hierarchy (hierarchies=, --hierarchy), which adds it up"
"""What to do with a subtotal of an original."""


def refuse_nested(figures: ListedFigures, otherwise: str = NO_SUMS, remedy: str = TREE) -> None:
    """Refuse categories that are sums of those whose codes begin with their own, as far as they are shown.

    ``remedy`` says what to do if it is a sum, ``otherwise`` what if it is none. All codes of one length that have the
    same beginning must have such sums: of areas that are numbered from 1 to 12, the first is none. Or one of them has
    three, which are not chance.

    >>> labels = {"geo": ["DE1", "DE11", "DE12", "DE2", "DE21", "DE22"]}
    >>> shown = np.array([True, False, False, True, True, True])
    >>> refuse_nested(ListedFigures({"geo": np.arange(6)}, labels, np.array([60, 0, 0, 40, 15, 25]), shown))
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: category 'DE2' of dimension 'geo' seems to be the sum of 'DE21' and 'DE22'; if it \
is, give the dimension a hierarchy (hierarchies=), otherwise say that there are no sums (total=None)
    """
    codes, categories, values, shown = figures
    for name, labels in categories.items():
        above = _above(labels)
        under = np.bincount(above[above >= 0], minlength=len(labels))
        if not (under > 1).any():
            continue
        line = figures.lines(name)
        lines = np.where(under > 1, _seen_as_sums(codes[name], line, above, values, shown), -1)
        # Of codes of one length below the same one, all must be sums, or one of them in so many lines.
        alike = np.unique(np.stack([above, [len(label) for label in labels]]), axis=1, return_inverse=True)[1]
        none = np.bincount(alike, lines < 0) > 0
        found = (lines >= LINES) | ((lines > 0) & ~none[alike])
        if found.any():
            parent = int(np.argmax(found))
            raise _seeming(name, labels, parent, np.flatnonzero(above == parent).tolist(), (remedy, otherwise))


def refuse_blocks(figures: ListedFigures, otherwise: str = NO_SUMS, remedy: str = TREE) -> None:
    """Refuse categories that are the sum of those right below or right above them, as England is of its regions.

    Nothing may contradict it, and three lines must show it.

    >>> labels = {"area": ["England", "north", "south", "Wales"]}
    >>> every = {"area": np.repeat([0, 1, 2, 3], 3), "age": np.tile([0, 1, 2], 4)}
    >>> counts = np.array([9, 20, 14, 5, 9, 8, 4, 11, 6, 7, 8, 2])
    >>> refuse_blocks(ListedFigures(every, labels, counts, np.ones(12, bool)))
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: category 'England' of dimension 'area' seems to be the sum of 'north' and \
'south'; if it is, give the dimension a hierarchy (hierarchies=), otherwise say that there are no sums (total=None)
    """
    _refuse(figures, _along(figures), _block_sums, (remedy, otherwise))


def refuse_scattered(figures: ListedFigures, otherwise: str = NO_SUMS, remedy: str = TREE) -> None:
    """Refuse categories that are the sum of some others, wherever these are listed, as active people are of others.

    All sums of some categories are tried, of dimensions with at most fourteen. So many agree with some category by
    chance in a few small counts that the lines have to show more: that it happens less than once in a thousand tables
    if every value up to the category's own is equally likely.

    >>> labels = {"status": ["active", "employed", "inactive", "unemployed"]}
    >>> every = {"status": np.repeat([0, 1, 2, 3], 3), "area": np.tile([0, 1, 2], 4)}
    >>> counts = np.array([50, 61, 43, 48, 52, 40, 9, 12, 30, 2, 9, 3])
    >>> refuse_scattered(ListedFigures(every, labels, counts, np.ones(12, bool)))
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: category 'active' of dimension 'status' seems to be the sum of 'employed' and \
'unemployed'; if it is, give the dimension a hierarchy (hierarchies=), otherwise say that there are no sums (total=None)
    """
    _refuse(figures, _along(figures, MOST), _scattered_sums, (remedy, otherwise))


def refuse_subtotals(figures: ListedFigures, otherwise: str = NO_SUMS, remedy: str = TREE) -> None:
    """Refuse all of these."""
    for refuse in (refuse_nested, refuse_blocks, refuse_scattered):
        refuse(figures, otherwise, remedy)


class _Side(NamedTuple):
    """A dimension: its labels, each figure's category and line along it, and which figures' lines are shown in full."""

    name: str
    labels: Sequence[str]
    code: IntArray
    line: IntArray
    lines: int
    whole: BoolArray


def _along(figures: ListedFigures, most: float = math.inf) -> Iterator[_Side]:
    """Yield every dimension of four categories or more."""
    for name, labels in figures.categories.items():
        if 4 <= len(labels) <= most:
            line = figures.lines(name)
            lines = int(line.max(initial=-1)) + 1
            whole = np.bincount(line, ~figures.shown, lines)[line] == 0
            yield _Side(name, labels, figures.codes[name], line, lines, whole)


def _refuse(
    figures: ListedFigures,
    sides: Iterable[_Side],
    found: Callable[[ListedFigures, _Side], Iterator[tuple[int, list[int], int]]],
    remedies: tuple[str, str],
) -> None:
    """Refuse a category that is the sum of others: those ``found`` along a dimension, seen in so many lines or more."""
    for side in sides:
        for parent, parts, least in found(figures, side):
            above = np.full(len(side.labels), -1)
            above[parts] = parent
            if _seen_as_sums(side.code, side.line, above, figures.values, figures.shown)[parent] >= least:
                raise _seeming(side.name, side.labels, parent, parts, remedies)


def _block_sums(figures: ListedFigures, side: _Side) -> Iterator[tuple[int, list[int], int]]:
    """Yield categories that have the sum of a block next to them, the block, and the lines that must show it."""
    if side.lines < LINES:
        return
    sums = np.zeros(len(side.labels), np.int64)
    np.add.at(sums, side.code[side.whole], figures.values[side.whole])
    for parent, first, last in _blocks(sums):
        somebody = (side.code >= first) & (side.code < last) & figures.shown & (figures.values > 0)
        # Where it is not listed, it is 0.
        if np.isin(side.line[somebody], side.line[side.code == parent]).all():
            yield parent, list(range(first, last)), LINES


def _scattered_sums(figures: ListedFigures, side: _Side) -> Iterator[tuple[int, list[int], int]]:
    """Yield categories that are sums of others in more lines than chance explains, these, and 1: one line is enough."""
    size = len(side.labels)
    table = np.zeros((size, side.lines), np.int64)
    table[side.code[side.whole], side.line[side.whole]] = figures.values[side.whole]
    enough = math.log(CHANCE * size * 2 ** (size - 1))
    for parent, parts in _sums_of_some(table):
        lines = (table[parts] > 0).sum(axis=0) > 1
        if np.log1p(np.abs(table[parent, lines])).sum() >= enough:
            yield parent, parts, 1


def _sums_of_some(table: IntArray) -> Iterator[tuple[int, list[int]]]:
    """Yield every row that is the sum of two or more others in all columns, with the fewest such others.

    >>> list(_sums_of_some(np.array([[5, 9], [2, 3], [1, 1], [3, 6]])))
    [(0, [1, 3])]
    """
    # One number for each row; equal ones are compared in full.
    size, mixed = len(table), table @ np.random.default_rng(0).integers(1, 2**20, table.shape[1])
    sums = np.zeros(1, np.int64)
    for one in mixed:
        sums = np.concatenate([sums, sums + one])
    bits = np.arange(size)
    for parent in np.flatnonzero(table.any(axis=1)).tolist():
        sets = np.flatnonzero(sums == mixed[parent])
        chosen = (sets[:, None] >> bits) & 1
        fit = (chosen[:, parent] == 0) & (chosen.sum(axis=1) > 1) & (chosen @ table == table[parent]).all(axis=1)
        if fit.any():
            fewest = min(chosen[fit].tolist(), key=sum)
            yield parent, [k for k in range(size) if fewest[k]]


def _blocks(sums: IntArray) -> list[tuple[int, int, int]]:
    """Return which categories have the same sum over all lines as a block right after or before them, and the block.

    Blocks have two categories or more; the shortest is taken, and what is added to it with a sum of 0 is left out.

    >>> _blocks(np.array([9, 4, 5, 7, 16]))
    [(0, 1, 3), (4, 1, 4)]
    """
    found = []
    size, ends = sums.size, np.concatenate([[0], np.cumsum(sums)])
    for parent in np.flatnonzero(sums).tolist():
        last = int(np.searchsorted(ends, ends[parent + 1] + sums[parent]))
        if parent + 2 < last <= size and ends[last] == ends[parent + 1] + sums[parent]:
            found.append((parent, parent + 1, last))
        first = int(np.searchsorted(ends, ends[parent] - sums[parent], "right")) - 1
        if 0 <= first < parent - 1 and ends[first] == ends[parent] - sums[parent]:
            found.append((parent, first, parent))
    return found


def _seeming(
    name: str, labels: Sequence[str], parent: int, parts: Sequence[int], remedies: tuple[str, str]
) -> DataError:
    """Say which category seems to be the sum of which others, and what to do if it is, and if not."""
    of = listed([repr(labels[one]) for one in parts])
    found = f"category {labels[parent]!r} of dimension {name!r} seems to be the sum of {of}"
    return DataError(f"{found}; if it is, {remedies[0]}, otherwise {remedies[1]}")


def _above(labels: Sequence[str]) -> IntArray:
    """Return for each code the longest other one that it begins with; -1 if there is none.

    >>> _above(["DE", "DE1", "DE11", "FR"]).tolist()
    [-1, 0, 1, -1]
    """
    found = np.full(len(labels), -1, np.int64)
    stack: list[int] = []
    for code in sorted(range(len(labels)), key=lambda one: labels[one]):
        while stack and not (labels[stack[-1]] and labels[code].startswith(labels[stack[-1]])):
            stack.pop()
        found[code] = stack[-1] if stack else -1
        stack.append(code)
    return found


def _seen_as_sums(code: IntArray, line: IntArray, above: IntArray, values: IntArray, shown: BoolArray) -> IntArray:
    """Return in how many lines each code is seen to be the sum of those below it; -1 if it is not where it could be."""
    size, over = above.size, above[code]
    below, own = over >= 0, shown & np.isin(code, above)
    places, at = np.unique(line[below] * size + over[below], return_inverse=True)
    seen, figures = shown[below], values[below]

    def added(what: IntArray | BoolArray) -> IntArray:
        # One more, which is 0, for lines in which nothing below a code is listed.
        return np.rint(np.bincount(at, what, places.size + 1)).astype(np.int64)

    mine = locate(places, line[own] * size + code[own])
    sums, hidden, positive = (added(one)[mine] for one in (figures * seen, ~seen, seen & (figures > 0)))
    wrong = np.where(hidden > 0, values[own] < sums, values[own] != sums)
    lines = np.bincount(code[own], (hidden == 0) & (positive > 1), size)
    found: IntArray = np.where(np.bincount(code[own], wrong, size) > 0, -1, lines).astype(np.int64)
    return found
