"""Whether hidden figures can be as small and as large as they must be able to be, without working out their intervals.

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
from discreet.feasible.contradiction import explain
from discreet.feasible.group_search import GroupSearch
from discreet.feasible.reduction import ConflictError, Reduction, reduce
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

REACHED, UNDECIDED, OUT_OF_REACH = 1, 0, -1
"""A table of whole numbers attains the level; time ran out; it is proved that no table does."""


@dataclass(frozen=True, eq=False)
class Reached:
    """For each target, whether some table that fits has it at its lower level or below, and at its upper or above.

    ``lower`` and ``upper`` hold REACHED (1), UNDECIDED (0) or OUT_OF_REACH (-1), in the order of ``targets``.
    """

    equations: Equations
    targets: IntArray
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
    """Say of every target whether tables of whole numbers that fit attain its two levels.

    Args:
        equations: what is published and known.
        targets: indices of the positions that matter.
        lower: for each target, the value that it must be able to have, or less, in units of the last decimal.
        upper: for each target, the value that it must be able to have, or more.
        seen: for each target, its least and its largest value (two rows) in tables that are known to fit.
        time_limit: seconds after which the rest is left undecided.
        workers: threads.
        progress: told how many unknown values are settled.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, 3, "Total"], "c": [1, 2, "Total"]}
    >>> geurts = equations_of(Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both))
    >>> cell = geurts.find({"r": 1, "c": 1})  # it lies between 3 and 6
    >>> answer = reach_levels(geurts, [cell], [3], [7])
    >>> answer.lower.tolist(), answer.upper.tolist()
    ([1], [-1])
    """
    try:
        reduced = reduce(equations)
    except ConflictError:
        raise explain(equations) from None
    at = np.asarray(targets, np.int64)
    level = np.stack([np.asarray(lower, np.int64), np.asarray(upper, np.int64)])
    if level.shape != (2, at.size):
        raise RequestError(f"{at.size} targets have {level.shape[1]} levels; give a lower and an upper one for each")
    chief = reduced.leader[at]
    needs = _needs(reduced, at, level)
    answer = np.full((2, at.size), UNDECIDED)
    sign = np.array([[-1], [1]])
    own = np.stack([reduced.lower[at], reduced.upper[at]])
    answer[sign * own < sign * level] = OUT_OF_REACH
    inside = np.zeros(reduced.leader.size, bool)
    for group in reduced.groups:
        inside[group.variables] = not group.is_tree
    # Single equations bound what stands in no cycle of them, and every value in between is attained.
    ends = np.stack([reduced.low[chief], reduced.high[chief]])
    within = sign * ends >= sign * needs
    answer[~within] = OUT_OF_REACH
    answer[within & ~inside[chief] & (answer == UNDECIDED)] = REACHED
    if seen is not None:
        answer[(answer == UNDECIDED) & (sign * seen >= sign * level)] = REACHED
    clock = Clock.within(time_limit)
    pending = answer == UNDECIDED
    while pending.any():
        goal = np.stack([np.full(inside.size, UNBOUNDED), np.full(inside.size, -UNBOUNDED)])
        np.minimum.at(goal[0], chief[pending[0]], needs[0][pending[0]])
        np.maximum.at(goal[1], chief[pending[1]], needs[1][pending[1]])
        wanted = np.zeros(inside.size, bool)
        wanted[chief[pending.any(axis=0)]] = True
        far = np.stack([np.full(inside.size, UNBOUNDED), np.full(inside.size, -UNBOUNDED)])
        bound, settled = -far, np.zeros((2, inside.size), bool)
        for group, found in GroupSearch(equations, reduced.groups, wanted, clock.left, workers, progress).run(
            goal=goal
        ):
            if found is not None:
                mine = group.variables
                far[:, mine], bound[:, mine], settled[:, mine] = found.seen, found.bound, found.settled > 0
        answer[pending & (sign * far[:, chief] >= sign * needs)] = REACHED
        answer[pending & (sign * bound[:, chief] < sign * needs)] = OUT_OF_REACH
        # The furthest of several goals of one sum may be out of reach: then the others are looked at by themselves.
        pending &= (answer == UNDECIDED) & settled[:, chief]
    return Reached(equations, at, answer[0], answer[1])


def _needs(reduced: Reduction, at: IntArray, level: IntArray) -> IntArray:
    """Return what the sums that targets stand in must reach for the targets to reach their levels.

    A value is largest where those joined with it are least, and the other way round.
    """
    members = np.bincount(reduced.leader, minlength=reduced.leader.size)[reduced.leader[at]]
    needs = level.copy()
    for side, others in ((0, reduced.upper), (1, reduced.lower)):
        several = np.flatnonzero(members > 1)
        free = np.abs(others) >= UNBOUNDED
        finite = np.where(free, 0, others)
        total, unbound = np.zeros_like(others), np.zeros_like(others)
        np.add.at(total, reduced.leader, finite)
        np.add.at(unbound, reduced.leader, free.astype(np.int64))
        chief = reduced.leader[at[several]]
        rest = total[chief] - finite[at[several]]
        any_free = unbound[chief] - free[at[several]] > 0
        needs[side, several] = np.where(any_free, UNBOUNDED if side == 0 else -UNBOUNDED, level[side, several] + rest)
    return needs
