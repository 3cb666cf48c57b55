"""A territory that is divided twice: people by pairs of zones that overlap, of which only the zones are published."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.core.errors import RequestError, require
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import components
from discreet.decide.ledger.sums import System
from discreet.table import Table
from discreet.table.grid import recode


@dataclass(frozen=True, eq=False)
class Territory:
    """The pairs of zones in which people live; a zone's published figure is the sum of its pairs.

    >>> table = Table.from_array([[5, 1, 0], [0, 2, 9]], {"area": ["n", "s"], "grid": ["a", "b", "c"]})
    >>> found = Territory.of(table)
    >>> found.pairs.tolist(), found.totals(1).tolist()
    ([[0, 0], [0, 1], [1, 1], [1, 2]], [5, 3, 9])
    """

    names: tuple[str, str]
    zones: tuple[tuple[str, ...], tuple[str, ...]]
    pairs: IntArray
    people: IntArray

    @classmethod
    def of(cls, table: Table, divisions: Sequence[str] | None = None) -> Territory:
        """Return the territory of a table; two of its dimensions, or the only two, are the divisions."""
        if divisions is not None:
            require(divisions, table.names, "there is no dimension")
        chosen = tuple(table.names if divisions is None else divisions)
        if len(chosen) != 2 or chosen[0] == chosen[1]:
            raise RequestError(
                f"a territory has two divisions, not {len(set(chosen))} ({', '.join(chosen)}); name the two dimensions "
                "that are its zones (divisions=, --divisions)"
            )
        part = table if chosen == table.names else table.margin(*chosen)
        codes = dict(zip(part.names, part.grid.decode(part.cells), strict=True))
        pairs = np.stack([codes[name] for name in chosen], axis=1)
        order = np.lexsort(pairs.T[::-1])
        zones = (part.categories_by_name[chosen[0]], part.categories_by_name[chosen[1]])
        return cls((chosen[0], chosen[1]), zones, pairs[order], part.counts[order])

    @property
    def first(self) -> int:
        """The number of zones of the first division, after which those of the second are numbered."""
        return len(self.zones[0])

    @cached_property
    def nodes(self) -> IntArray:
        """Both zones of every pair, numbered through both divisions."""
        found: IntArray = self.pairs + np.array([0, self.first])
        return found

    @property
    def size(self) -> int:
        """The number of zones of both divisions."""
        return self.first + len(self.zones[1])

    @cached_property
    def figures(self) -> IntArray:
        """The published figure of every zone of both divisions."""
        found = np.zeros(self.size, np.int64)
        for column in self.nodes.T:
            np.add.at(found, column, self.people)
        return found

    def totals(self, division: int) -> IntArray:
        """Return the published figure of every zone of a division."""
        return self.figures[self.first :] if division else self.figures[: self.first]

    def node(self, number: int) -> tuple[int, str]:
        """Return the division and the name of a numbered zone."""
        division = int(number >= self.first)
        return division, self.zones[division][number - division * self.first]

    def system(self) -> System:
        """Return what the published figures say of the pairs, as the ledger states it."""
        column = np.tile(np.arange(len(self.people)), 2)
        return System(self.nodes.T.ravel(), column, np.ones(column.size, np.int64), self.figures, len(self.people))

    @cached_property
    def parts(self) -> IntArray:
        """The connected part of the territory that every zone is in."""
        return components(self.nodes[:, 0], self.nodes[:, 1], self.size)[1]

    @cached_property
    def overlaps(self) -> list[list[tuple[int, int]]]:
        """For every zone the zones that it overlaps, each with the number of the pair."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.size)]
        for pair, (left, right) in enumerate(self.nodes.tolist()):
            found[left].append((right, pair))
            found[right].append((left, pair))
        return found

    def rounds(self, spare: BoolArray) -> IntArray:
        """Return the part of every zone in which people can move around a cycle of pairs.

        A pair can take somebody in: that leads from its zone of the first division to the one of the second. It can let
        somebody go where it has one to spare, which leads back. (Strongly connected parts, by Kosaraju's two searches.)

        >>> table = Table.from_array([[1, 5], [1, 5]], {"area": ["n", "s"], "grid": ["a", "b"]})
        >>> found = Territory.of(table)
        >>> found.rounds(found.people > 1).tolist()
        [0, 0, 1, 0]
        """
        on = [
            [far for far, pair in found if zone < self.first or spare[pair]] for zone, found in enumerate(self.overlaps)
        ]
        back = [[far for far, pair in found if far < self.first or spare[pair]] for found in self.overlaps]
        order: list[int] = []
        for start in self._searched(on, range(self.size)):
            order += start
        part = np.zeros(self.size, np.int64)
        for number, found in enumerate(self._searched(back, reversed(order))):
            part[found] = number
        return part

    def _searched(self, ways: list[list[int]], starts: Iterable[int]) -> Iterator[list[int]]:
        """Yield the zones that each start leads to first, those with nothing ahead of them before the others."""
        seen = np.zeros(self.size, bool)
        for start in starts:
            done: list[int] = []
            stack = [] if seen[start] else [(start, iter(ways[start]))]
            seen[start] = True
            while stack:
                here, ahead = stack[-1]
                zone = next((one for one in ahead if not seen[one]), None)
                if zone is None:
                    done.append(here)
                    stack.pop()
                else:
                    seen[zone] = True
                    stack.append((zone, iter(ways[zone])))
            if done:
                yield done

    def followed(self, start: int, along: Callable[[int, int], bool], without: Container[int] = ()) -> set[int]:
        """Return the zones that lead on from one, along pairs that ``along`` allows to leave a zone."""
        seen, queue = {start}, [start]
        while queue:
            here = queue.pop()
            for zone, pair in self.overlaps[here]:
                if zone not in seen and zone not in without and along(here, pair):
                    seen.add(zone)
                    queue.append(zone)
        return seen

    def side(self, cut: Sequence[int]) -> tuple[list[int], bool]:
        """Return the zones on the smaller side of a smallest difference, and whether that is its first side.

        The first side holds a union of the first division with what is subtracted from it, the other one a union of the
        second. Both are searched in turn: the smaller one decides how long it takes.
        """
        without = set(cut)
        seen = [{int(self.nodes[cut[0], side])} for side in (0, 1)]
        queues = [list(one) for one in seen]
        while True:
            for side in (0, 1):
                if not queues[side]:
                    return sorted(seen[side]), side == 0
                for zone, pair in self.overlaps[queues[side].pop()]:
                    if pair not in without and zone not in seen[side]:
                        seen[side].add(zone)
                        queues[side].append(zone)

    def sides(self, cut: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Return the zones on the first side of a smallest difference, and the others of that part of the territory."""
        found, first = self.side(cut)
        here = np.zeros(self.size, bool)
        here[found] = True
        other = np.flatnonzero((self.parts == self.parts[found[0]]) & ~here)
        return (np.array(found), other) if first else (other, np.array(found))

    def merged(self, division: int, groups: Mapping[str, str]) -> Territory:
        """Return the territory with zones of one division merged into groups."""
        labels = [groups.get(zone, zone) for zone in self.zones[division]]
        named = tuple(dict.fromkeys(labels))
        pairs = self.pairs.copy()
        pairs[:, division] = recode(labels, named)[pairs[:, division]]
        found, inverse = np.unique(pairs, axis=0, return_inverse=True)
        people = np.zeros(len(found), np.int64)
        np.add.at(people, inverse.ravel(), self.people)
        zones = (named, self.zones[1]) if division == 0 else (self.zones[0], named)
        return replace(self, zones=zones, pairs=found, people=people)
