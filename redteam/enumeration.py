"""What a reader believes: every original that cannot be ruled out, with its weight.

Cells that no published sum joins are enumerated apart; sums across them are convolved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log2, prod

from redteam.worlds import Cells, Counts

Weight = float
MOST_TABLES = 40_000
"""More originals than this are not enumerated: the case is skipped, and counted as such."""
CAP = 14
"""Cells that nothing bounds are enumerated up to this much above their least value."""


class TooManyError(Exception):
    """There are too many originals to enumerate."""


@dataclass(frozen=True)
class Limit:
    """The sum over some cells lies between two values, and passes a test; no upper value where nothing bounds it."""

    cells: Cells
    low: int = 0
    high: int | None = None
    test: Callable[[int], bool] | None = None

    def holds(self, value: int) -> bool:
        """Say whether a sum is possible."""
        return (
            value >= self.low and (self.high is None or value <= self.high) and (self.test is None or self.test(value))
        )


@dataclass(frozen=True)
class Part:
    """Cells that are joined by published sums: all that they can be, each with a weight."""

    cells: Cells
    tables: tuple[tuple[Counts, Weight], ...]

    def about(self, cells: Cells) -> dict[int, Weight]:
        """Return the weight of every value of a sum over some cells of the part."""
        at = [i for i, cell in enumerate(self.cells) if cell in cells]
        found: dict[int, Weight] = {}
        for table, weight in self.tables:
            value = sum(table[i] for i in at)
            found[value] = found.get(value, 0) + weight
        return found


@dataclass(frozen=True)
class Belief:
    """All originals that a reader cannot rule out. ``open`` cells have no upper bound; they are cut off."""

    parts: tuple[Part, ...]
    open: frozenset[int] = frozenset()

    def about(self, cells: Cells) -> dict[int, Weight]:
        """Return the weight of every value that a sum over cells can have."""
        found: dict[int, Weight] = {0: 1}
        for part in self.parts:
            if not set(part.cells) & set(cells):
                continue
            mine = part.about(cells)
            joined: dict[int, Weight] = {}
            for (a, p), (b, q) in product(found.items(), mine.items()):
                joined[a + b] = joined.get(a + b, 0) + p * q
            found = joined
        return found

    def ends(self, cells: Cells) -> tuple[int, int | None]:
        """Return the least and the largest value of a sum; no largest where nothing bounds it."""
        values = self.about(cells)
        return min(values), None if self.open & set(cells) else max(values)

    def single(self, cells: Cells) -> bool:
        """Say whether one value is left."""
        return not self.open & set(cells) and len(self.about(cells)) == 1

    def bits(self, cells: Cells) -> float:
        """Return the entropy of a sum, in bits."""
        return entropy(self.about(cells))

    def allows(self, counts: Sequence[int]) -> bool:
        """Say whether an original is not ruled out, as far as cells are bounded."""
        closed = [part for part in self.parts if not self.open & set(part.cells)]
        return all(dict(part.tables).get(tuple(counts[c] for c in part.cells), 0) > 0 for part in closed)

    def tables(self, size: int) -> Iterator[Counts]:
        """Go through whole originals."""
        if prod(len(part.tables) for part in self.parts) > MOST_TABLES:
            raise TooManyError
        for chosen in product(*(part.tables for part in self.parts)):
            whole = [0] * size
            for part, (table, _) in zip(self.parts, chosen, strict=True):
                for cell, count in zip(part.cells, table, strict=True):
                    whole[cell] = count
            yield tuple(whole)


def entropy(weights: Mapping[int, Weight]) -> float:
    """Return the entropy of values with weights, in bits.

    >>> entropy({0: 1, 1: 1})
    1.0
    """
    whole = sum(weights.values())
    shares = [weight / whole for weight in weights.values() if weight > 0]
    return abs(sum(p * log2(p) for p in shares))


def together(size: int, tables: Sequence[tuple[Counts, Weight]]) -> Belief:
    """Return the belief in whole originals with their weights."""
    return Belief((Part(tuple(range(size)), tuple((t, w) for t, w in tables if w > 0)),))


def enumerated(
    size: int,
    limits: Sequence[Limit],
    weigh: Callable[[Cells], Callable[[Counts], Weight]] | None = None,
    cap: int = CAP,
) -> Belief:
    """Return every original within limits.

    Args:
        size: how many cells there are.
        limits: what is known of sums.
        weigh: gives for the cells of a part the function that weighs their counts; all weigh the same without it.
        cap: how far cells that nothing bounds are followed.
    """
    parts = []
    open_: set[int] = set()
    for cells in _joined(size, limits):
        mine = [limit for limit in limits if set(limit.cells) <= set(cells)]
        tops, bottoms, free = _bounds(cells, mine, cap)
        open_ |= free
        weight = weigh(cells) if weigh is not None else None
        tables = [(table, 1 if weight is None else weight(table)) for table in _fitting(cells, mine, bottoms, tops)]
        parts.append(Part(cells, tuple((table, w) for table, w in tables if w > 0)))
    return Belief(tuple(parts), frozenset(open_))


def _joined(size: int, limits: Sequence[Limit]) -> list[Cells]:
    """Return cells in groups that no limit on a sum joins with others."""
    group = list(range(size))
    for limit in limits:
        if len(limit.cells) > 1 and not (limit.low == 0 and limit.high is None and limit.test is None):
            least = min(group[cell] for cell in limit.cells)
            old = {group[cell] for cell in limit.cells}
            group = [least if g in old else g for g in group]
    return [tuple(i for i in range(size) if group[i] == g) for g in sorted(set(group))]


def _bounds(cells: Cells, limits: Sequence[Limit], cap: int) -> tuple[dict[int, int], dict[int, int], set[int]]:
    """Return the largest and the least count of every cell by single limits, and the cells without a largest."""
    bottoms = {c: max([0, *(x.low for x in limits if x.cells == (c,))]) for c in cells}
    tops: dict[int, int] = {}
    free = set()
    for c in cells:
        highs = [
            x.high - sum(bottoms[d] for d in x.cells if d != c) for x in limits if c in x.cells and x.high is not None
        ]
        if not highs:
            free.add(c)
        tops[c] = min(highs) if highs else bottoms[c] + cap
    return tops, bottoms, free


def _fitting(cells: Cells, limits: Sequence[Limit], bottoms: dict[int, int], tops: dict[int, int]) -> list[Counts]:
    """Return all counts of some cells within limits, by trying them one cell after the other."""
    at = {c: i for i, c in enumerate(cells)}
    checks: list[list[tuple[Limit, list[int], int, int]]] = [[] for _ in cells]
    for limit in limits:
        places = sorted(at[c] for c in limit.cells)
        for k, place in enumerate(places):
            rest = [cells[p] for p in places[k + 1 :]]
            # What the cells that come later are at least and at most.
            checks[place].append((limit, places[: k + 1], sum(bottoms[c] for c in rest), sum(tops[c] for c in rest)))
    found: list[Counts] = []
    counts: list[int] = []
    tried = 0

    def extend(i: int) -> None:
        nonlocal tried
        if i == len(cells):
            found.append(tuple(counts))
            return
        for value in range(bottoms[cells[i]], tops[cells[i]] + 1):
            tried += 1
            if tried > 6 * MOST_TABLES:
                raise TooManyError
            counts.append(value)
            if all(_may(limit, sum(counts[p] for p in places), low, high) for limit, places, low, high in checks[i]):
                extend(i + 1)
            counts.pop()

    extend(0)
    return found


def _may(limit: Limit, so_far: int, low: int, high: int) -> bool:
    """Say whether a sum that is known in part can still be within a limit."""
    if limit.high is not None and so_far + low > limit.high:
        return False
    if so_far + high < limit.low:
        return False
    return low != high or limit.test is None or limit.test(so_far + low)
