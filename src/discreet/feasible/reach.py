"""Whether hidden figures can be as small and as large as required, without computing their intervals.

A pattern of hidden figures protects a value when some table that fits has it at or below a lower level, and another at
or above an upper one. One such table is enough: a search may stop there, long before it knows the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.feasible.contradiction import reduced
from discreet.feasible.group_search import GroupSearch
from discreet.feasible.reduction import SIGN
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

REACHED, UNDECIDED, OUT_OF_REACH = 1, 0, -1
"""A table of integers attains the level; time ran out; it is proved that no table does."""


@dataclass(frozen=True, eq=False)
class Reached:
    """For each target, whether some table that fits has it at its lower level or below, and at its upper or above.

    ``lower`` and ``upper`` are REACHED (1), UNDECIDED (0) or OUT_OF_REACH (-1).
    """

    lower: IntArray
    upper: IntArray


def reach_levels(
    equations: Equations,
    targets: IntArray | Sequence[int],
    lower: IntArray | Sequence[int],
    upper: IntArray | Sequence[int],
    *,
    seen: IntArray | None = None,
    time_limit: float | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Reached:
    """Say for every target whether fitting tables of integers attain its two levels, in units of the last decimal.

    A target (the index of a position) must be able to be at most its lower level, and at least its upper one. ``seen``
    are its least and its largest value (two rows) in tables that are known to fit. After the time limit, in seconds,
    the rest is left undecided.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, 3, "Total"], "c": [1, 2, "Total"]}
    >>> geurts = equations_of(Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both))
    >>> cell = geurts.find({"r": 1, "c": 1})  # it lies between 3 and 6
    >>> answer = reach_levels(geurts, [cell], [3], [7])
    >>> answer.lower.tolist(), answer.upper.tolist()
    ([1], [-1])
    """
    at = np.asarray(targets, np.int64)
    level = np.stack([np.asarray(lower, np.int64), np.asarray(upper, np.int64)])
    if level.shape != (2, at.size):
        raise RequestError(f"{at.size} targets have {level.shape[1]} levels; give a lower and an upper one for each")
    left = reduced(equations)
    chief, size = left.leader[at], left.leader.size
    # What the sums that targets are in must reach: a value is largest where those joined with it are least.
    others = np.stack([left.others(1)[at], left.others(0)[at]])
    needs = np.where(np.abs(others) >= UNBOUNDED, others, level + others)
    answer = np.full((2, at.size), UNDECIDED)
    answer[SIGN * np.stack([left.lower[at], left.upper[at]]) < SIGN * level] = OUT_OF_REACH
    inside = np.zeros(size, bool)
    for group in left.groups:
        inside[group.variables] = not group.is_tree
    # Single equations bound what is in no cycle of them, and every value in between is attained.
    within = SIGN * np.stack([left.low[chief], left.high[chief]]) >= SIGN * needs
    answer[~within] = OUT_OF_REACH
    answer[within & ~inside[chief] & (answer == UNDECIDED)] = REACHED
    if seen is not None:
        answer[(answer == UNDECIDED) & (SIGN * seen >= SIGN * level)] = REACHED
    clock = Clock.within(time_limit)
    pending = answer == UNDECIDED
    while pending.any():
        goal = -SIGN * np.full(size, UNBOUNDED)
        np.minimum.at(goal[0], chief[pending[0]], needs[0][pending[0]])
        np.maximum.at(goal[1], chief[pending[1]], needs[1][pending[1]])
        wanted = np.zeros(size, bool)
        wanted[chief[pending.any(axis=0)]] = True
        far = -SIGN * np.full(size, UNBOUNDED)
        bound, settled = -far, np.zeros((2, size), bool)
        search = GroupSearch(equations, left.groups, wanted, clock.left, workers, progress)
        for group, found in search.run(goal=goal):
            if found is not None:
                mine = group.variables
                far[:, mine], bound[:, mine], settled[:, mine] = found.seen, found.bound, found.settled > 0
        answer[pending & (SIGN * far[:, chief] >= SIGN * needs)] = REACHED
        answer[pending & (SIGN * bound[:, chief] < SIGN * needs)] = OUT_OF_REACH
        # The furthest of several goals of one sum may be out of reach: then the others are looked at on their own.
        pending &= (answer == UNDECIDED) & settled[:, chief]
    return Reached(answer[0], answer[1])
