"""The smallest and the largest value that each hidden figure can have, given everything that is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.feasible.contradiction import explain
from discreet.feasible.group_search import GroupSearch
from discreet.feasible.reduction import ConflictError, Reduction, reduce
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED


@dataclass(frozen=True, eq=False)
class Bounds:
    """Feasible intervals of positions, in units of the last decimal.

    ``lower`` and ``upper`` are the bounds over whole numbers, ``relaxed_lower`` and ``relaxed_upper`` those over real
    numbers (linear programming), which can be wider. ``finished`` is false where a time limit, or the wish for bounds
    over real numbers only, left the interval wider than it may be: it still contains every value that is possible.
    """

    equations: Equations
    reduction: Reduction
    lower: IntArray
    upper: IntArray
    relaxed_lower: FloatArray
    relaxed_upper: FloatArray
    finished: BoolArray

    @property
    def values(self) -> FloatArray:
        """How many whole numbers lie in each interval; infinite where it has no end."""
        wide = (self.upper >= UNBOUNDED) | (self.lower <= -UNBOUNDED)
        return np.where(wide, np.inf, (self.upper - self.lower + 1).astype(np.float64))


def bounds(
    equations: Equations,
    targets: IntArray | Sequence[int] | None = None,
    *,
    relaxed: bool = False,
    time_limit: float | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Bounds:
    """Return the feasible interval of every position, or of the targets only.

    Values that one equation determines are put in first; unknowns in the same equations become one. What remains falls
    into groups. A group whose equations form a tree is bounded by its single equations, a network by maximum flow, any
    other by linear programming. There a bound counts once a table of whole numbers attains it; where corners show none,
    values are pushed to whole numbers on either side (branch and bound) until one does, or none can.

    Args:
        equations: what is published and known.
        targets: indices of the positions that matter; the others keep their outer ranges.
        relaxed: take bounds over real numbers, rounded inwards, as they are; whole numbers may leave less.
        time_limit: seconds after which intervals are left as wide as they are then known to be.
        workers: threads.
        progress: told how many unknown values are bounded.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, 3, "Total"], "c": [1, 2, "Total"]}
    >>> geurts = Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both)
    >>> found = bounds(equations_of(geurts))
    >>> found.lower[found.values > 1].tolist(), found.upper[found.values > 1].tolist()
    ([3, 1, 0, 0], [6, 4, 3, 3])
    """
    try:
        reduced = reduce(equations)
    except ConflictError:
        raise explain(equations) from None
    wanted = np.zeros(reduced.leader.size, bool)
    wanted[reduced.leader[np.arange(wanted.size) if targets is None else np.asarray(targets, np.int64)]] = True
    low, high = reduced.low.copy(), reduced.high.copy()
    real = np.stack([low, high]).astype(np.float64)
    finished = np.ones(low.size, bool)
    search = GroupSearch(equations, reduced.groups, wanted, time_limit, workers, progress)
    for group, found in search.run(whole=not relaxed):
        mine = wanted[group.variables]
        where = group.variables[mine]
        if found is None:
            finished[where] = False
            continue
        # A flow without bound stops short of it by what was in the way.
        low[where] = found.bound[0][mine]
        high[where] = np.where(found.bound[1][mine] >= UNBOUNDED // 2, UNBOUNDED, found.bound[1][mine])
        real[:, where] = found.relaxed[:, mine]
        # What no table of whole numbers was seen to attain may be narrower than it looks.
        finished[where] = found.settled[:, mine].min(axis=0) > 0
    lower, upper = reduced.members(low, high)
    alone = np.bincount(reduced.leader, minlength=lower.size)[reduced.leader] == 1
    over_reals = (
        np.where(alone, np.maximum(real[0], reduced.lower), lower),
        np.where(alone, np.minimum(real[1], reduced.upper), upper),
    )
    return Bounds(equations, reduced, lower, upper, over_reals[0], over_reals[1], finished[reduced.leader])
