"""The smallest difference of unions of zones that a pair is in, found exactly by maximum flow.

Draw every zone as a point and every pair of zones, with its people, as an arrow from the first division to the second.
Unions A of the first and B of the second division, with B inside A, have the known difference ΣA − ΣB: the people of
all pairs between A and the zones outside B. No arrow enters the set A ∪ B, so these pairs are a *directed cut*. The
other way round, every sum of pairs that follows from the published figures has multipliers λ of the first and μ of the
second division with λ + μ of 0 or 1 at each pair; it falls into the directed cuts between the levels of λ. So all
differences are directed cuts, of zones and of unions of any size.

The lightest directed cut through an arrow from u to v is a smallest cut that separates u from v where arrows can be
cut at the price of their people, and cannot be passed the wrong way at all. By the theorem of Ford and Fulkerson it has
the weight of the largest flow. Pairs with the threshold or more are in no cut below it, so their ends are one point.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from discreet.core.numerics import IntArray
from discreet.core.sparse import components
from discreet.decide.geography.territory import Territory


class CutSearch:
    """Searches for the lightest directed cuts below a threshold in one territory.

    >>> from discreet.table import Table
    >>> table = Table.from_array([[50, 1, 0], [0, 20, 90]], {"area": ["n", "s"], "grid": ["a", "b", "c"]})
    >>> CutSearch(Territory.of(table), 3).least(1)  # n without a is one person
    ((1,), 1)
    """

    def __init__(self, territory: Territory, threshold: int) -> None:
        self.threshold = threshold
        self.people = territory.people
        heavy = territory.nodes[territory.people >= threshold].T
        label = components(heavy[0], heavy[1], territory.size)[1]
        self.ends: IntArray = label[territory.nodes]
        # Arrows between two points are one; back along them there is no limit.
        self.forward: dict[int, dict[int, int]] = {}
        self.back: dict[int, set[int]] = {}
        self.at: dict[int, list[int]] = {}
        self.light = np.flatnonzero(self.ends[:, 0] != self.ends[:, 1])
        for pair in self.light.tolist():
            u, v = map(int, self.ends[pair])
            out = self.forward.setdefault(u, {})
            out[v] = out.get(v, 0) + int(self.people[pair])
            self.back.setdefault(v, set()).add(u)
            for point in (u, v):
                self.at.setdefault(point, []).append(pair)

    def least(self, pair: int) -> tuple[tuple[int, ...], int] | None:
        """Return the pairs of the lightest cut through a pair and their people; None if these reach the threshold."""
        u, v = map(int, self.ends[pair])
        if u == v:
            return None
        flow: dict[tuple[int, int], int] = {}
        total = 0
        while isinstance(path := self._path(u, v, flow), list):
            room = min(self._room(a, b, flow) for a, b in path)
            total += room
            if total >= self.threshold:
                return None
            for a, b in path:
                flow[a, b] = flow.get((a, b), 0) + room
                flow[b, a] = flow.get((b, a), 0) - room
        # All points that can be reached from the first zone, or all from which the second can be reached.
        touched = np.array(sorted({pair for point in path for pair in self.at[point]}), np.int64)
        inside = np.isin(self.ends[touched], np.fromiter(path, np.int64))
        cut = touched[inside[:, 0] != inside[:, 1]]
        return tuple(cut.tolist()), int(self.people[cut].sum())

    def _room(self, a: int, b: int, flow: dict[tuple[int, int], int]) -> int:
        """Return how much more can flow; a threshold's worth stands for no limit, as more is never asked for."""
        if b in self.back.get(a, ()):
            return self.threshold
        return self.forward.get(a, {}).get(b, 0) - flow.get((a, b), 0)

    def _path(self, u: int, v: int, flow: dict[tuple[int, int], int]) -> list[tuple[int, int]] | frozenset[int]:
        """Return the steps of an augmenting path; if there is none, the smaller side of the cut.

        The search alternates between both ends, so it takes as long as the smaller side needs.
        """
        met: list[dict[int, int]] = [{u: u}, {v: v}]
        queues = [deque([u]), deque([v])]
        while True:
            for side in (0, 1):
                if not queues[side]:
                    return frozenset(met[side])
                a = queues[side].popleft()
                for b in (*self.forward.get(a, ()), *self.back.get(a, ())):
                    room = self._room(a, b, flow) if side == 0 else self._room(b, a, flow)
                    if b in met[side] or room <= 0:
                        continue
                    met[side][b] = a
                    if b in met[1 - side]:
                        return _steps(met, b)
                    queues[side].append(b)


def _steps(met: list[dict[int, int]], middle: int) -> list[tuple[int, int]]:
    """Return the steps from one end to the other through a point reached from both."""
    steps: list[tuple[int, int]] = []
    for side in (0, 1):
        at = middle
        while met[side][at] != at:
            steps.append((met[side][at], at) if side == 0 else (at, met[side][at]))
            at = met[side][at]
    return steps
