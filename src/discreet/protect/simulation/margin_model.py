"""Which margins are released, what shape of model they are the sufficient statistics of, and which moves keep them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.table import Table

MOST_DIMENSIONS = 8
"""Moves are found by enumerating the ways to sort some dimensions into groups: 21,147 for eight, 115,975 for nine."""


@dataclass(frozen=True)
class MoveFamily:
    """One family of moves: dimensions that stay put, and groups that each take two values.

    For two values a_g ≠ b_g of every group, the cells with an even number of b's gain what those with an odd number
    lose. A margin is kept if it misses one of the groups. Two groups give the swap of Diaconis and Sturmfels (1998).
    """

    fixed: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Model:
    """The released margins as sets of axes, none within another.

    >>> Model.of(3, [(0, 1), (1, 2), (1,)]).decomposable
    True
    >>> Model.of(3, [(0, 1), (1, 2), (0, 2)]).decomposable
    False
    """

    dimensions: int
    margins: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, dimensions: int, margins: Iterable[Sequence[int]]) -> Model:
        """Return the model of some margins; those that others imply are left out."""
        sets = sorted({frozenset(margin) for margin in margins}, key=lambda s: (-len(s), sorted(s)))
        kept = [s for i, s in enumerate(sets) if not any(s < t or (s == t and j < i) for j, t in enumerate(sets))]
        return cls(dimensions, tuple(sorted(tuple(sorted(s)) for s in kept)))

    @classmethod
    def of_table(cls, table: Table, margins: Sequence[Sequence[str]] | int | None) -> Model:
        """Return the model of a table's margins: named, all of k dimensions, or all of one by default."""
        d = len(table.shape)
        if margins is None or isinstance(margins, int | np.integer):
            k = 1 if margins is None else int(margins)
            if isinstance(margins, bool) or not 1 <= k <= d:
                raise RequestError(f"all margins of {margins!r} dimensions are to be kept; give 1 to {d}")
            return cls.of(d, combinations(range(d), k))
        if not margins:
            raise RequestError("no margin is released; name at least one, as [('area', 'sex'), ('age',)]")
        found = []
        for margin in margins:
            if isinstance(margin, str):
                raise RequestError(f"margin {margin!r} is one name; give every margin as a list of dimensions")
            found.append([table.axis(name) for name in margin])
        lacking = [table.names[i] for i in range(d) if not any(i in margin for margin in found)]
        if lacking:
            raise RequestError(
                f"dimension {lacking[0]!r} is in no released margin, so nothing is known of it; add it to one, or "
                "leave it out of the table"
            )
        return cls.of(d, found)

    def names(self, table: Table) -> list[tuple[str, ...]]:
        """Return the margins as names of a table's dimensions."""
        return [tuple(table.names[i] for i in margin) for margin in self.margins]

    @property
    def saturated(self) -> bool:
        """Whether the whole table is among the margins, which leaves nothing to draw."""
        return any(len(margin) == self.dimensions for margin in self.margins)

    @property
    def decomposable(self) -> bool:
        """Whether the margins have an order in which each meets all earlier ones within a single one of them."""
        return self.sequence() is not None

    def sequence(self) -> list[tuple[int, ...]] | None:
        """Return the margins in such an order (the running intersection property), None where there is none."""
        left = [frozenset(margin) for margin in self.margins]
        order: list[frozenset[int]] = []
        # Peel off margins whose meeting with the rest lies within one of the rest; what is peeled comes last.
        while left:
            if len(left) == 1:
                order.append(left.pop())
                break
            for i, margin in enumerate(left):
                rest = left[:i] + left[i + 1 :]
                shared = margin & frozenset().union(*rest)
                if any(shared <= other for other in rest):
                    order.append(left.pop(i))
                    break
            else:
                return None
        return [tuple(sorted(margin)) for margin in reversed(order)]

    def moves(self) -> tuple[MoveFamily, ...]:
        """Return the largest families of moves that keep the margins.

        They generate all differences of whole-number tables with these margins: with the categories of each dimension
        written as a first one and differences to it, the tables without any margin in 𝒢 are spanned by products of
        differences over sets of dimensions within no margin, and each of these is a move here. For decomposable
        margins they are a Markov basis (Dobra 2003): they connect all tables without a negative count.
        """
        if self.dimensions > MOST_DIMENSIONS:
            raise RequestError(f"the table has {self.dimensions} dimensions; moves are found for {MOST_DIMENSIONS}")
        margins = [frozenset(margin) for margin in self.margins]
        found: list[tuple[frozenset[int], ...]] = []

        def keeps(groups: Sequence[frozenset[int]]) -> bool:
            return len(groups) > 1 and all(any(not group & margin for group in groups) for margin in margins)

        for groups in _partitions(tuple(range(self.dimensions))):
            # A move that also keeps the margins without one of its groups is the difference of two smaller ones.
            if keeps(groups) and not any(keeps(groups[:i] + groups[i + 1 :]) for i in range(len(groups))):
                found.append(groups)
        kept = [g for g in found if not any(h is not g and _within(g, h) for h in found)]
        every = frozenset(range(self.dimensions))
        return tuple(
            MoveFamily(tuple(sorted(every - frozenset().union(*g))), tuple(tuple(sorted(part)) for part in g))
            for g in sorted(kept, key=lambda g: [sorted(part) for part in g])
        )


def _partitions(items: tuple[int, ...]) -> Iterable[tuple[frozenset[int], ...]]:
    """Enumerate the ways of sorting some of the items into groups."""
    if not items:
        yield ()
        return
    first, rest = items[0], items[1:]
    for groups in _partitions(rest):
        yield groups
        yield (frozenset({first}), *groups)
        for i, group in enumerate(groups):
            yield (*groups[:i], group | {first}, *groups[i + 1 :])


def _within(small: tuple[frozenset[int], ...], large: tuple[frozenset[int], ...]) -> bool:
    """Say whether every move of one family is a move of the other: each group within one of its own."""
    if len(small) != len(large) or set(small) == set(large):
        return False
    return all(any(group <= other for other in large) for group in small) and all(
        any(group <= other for group in small) for other in large
    )


def margin_sums(F: IntArray, shape: Sequence[int], margin: Sequence[int]) -> IntArray:
    """Return the sums of tables, one per row, over the dimensions that a margin does not name, flat."""
    dense = F.reshape(-1, *shape)
    sums: IntArray = dense.sum(axis=tuple(i + 1 for i in range(len(shape)) if i not in margin))
    return sums.reshape(dense.shape[0], -1)
