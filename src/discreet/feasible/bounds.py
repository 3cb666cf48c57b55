"""The smallest and the largest value that each hidden figure can have, given everything that is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.feasible.contradiction import reduced
from discreet.feasible.group_search import GroupSearch
from discreet.feasible.reduction import SIGN, Reduction
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED


@dataclass(frozen=True, eq=False)
class Bounds:
    """Feasibility intervals of positions, in units of the last decimal.

    ``lower`` and ``upper`` are the bounds over integers, ``relaxed_lower`` and ``relaxed_upper`` those over real
    numbers (linear programming), which can be wider. ``finished`` is false where a time limit, or the wish for bounds
    over real numbers only, left the interval wider than it may be: it still contains every possible value. ``off`` is
    how far at most an end of such an interval is beyond the last possible value: tables were found that come as near.
    ``counted`` is the number of values seen where statistics may leave gaps between the bounds, and -1 elsewhere.
    """

    equations: Equations
    reduction: Reduction
    lower: IntArray
    upper: IntArray
    relaxed_lower: FloatArray
    relaxed_upper: FloatArray
    finished: BoolArray
    off: FloatArray
    counted: IntArray

    @property
    def values(self) -> FloatArray:
        """How many integers lie in each interval, or are shown to be possible in it; infinite if it is unbounded."""
        wide = (self.upper >= UNBOUNDED) | (self.lower <= -UNBOUNDED)
        every = np.where(wide, np.inf, (self.upper - self.lower + 1).astype(np.float64))
        return np.where(self.counted < 0, every, np.minimum(every, np.maximum(self.counted, 1)))


def bounds(
    equations: Equations,
    targets: IntArray | Sequence[int] | None = None,
    *,
    relaxed: bool = False,
    apart: float | None = None,
    time_limit: float | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Bounds:
    """Return the feasibility interval of every position, or of the targets only.

    Values determined by single equations are substituted first; unknowns in the same equations are merged. The rest
    falls into groups. A group whose equations form a tree is bounded by its single equations, a network by maximum
    flow, any other by linear programming. There a bound counts once a table of integers attains it; if no corner does,
    branch and bound decides whether one can.

    Targets are indices of positions; the others keep their outer ranges. With ``relaxed``, bounds over real numbers,
    rounded inwards, are returned: integers may leave less. With ``apart``, large groups are searched only until it is
    known which targets have a single value, and which are below that number in any case, over real numbers: the others
    keep outer ranges, and count as finished. After the time limit, in seconds, intervals keep the width known by then.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, 3, "Total"], "c": [1, 2, "Total"]}
    >>> geurts = Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both)
    >>> found = bounds(equations_of(geurts))
    >>> found.lower[found.values > 1].tolist(), found.upper[found.values > 1].tolist()
    ([3, 1, 0, 0], [6, 4, 3, 3])
    """
    left = reduced(equations)
    wanted = np.zeros(left.leader.size, bool)
    wanted[left.leader[np.arange(wanted.size) if targets is None else np.asarray(targets, np.int64)]] = True
    ends = np.stack([left.low, left.high])
    real = ends.astype(np.float64)
    finished = np.ones(wanted.size, bool)
    off, counted = real[1] - real[0], np.full(wanted.size, -1)
    search = GroupSearch(equations, left.groups, wanted, time_limit, workers, progress)
    for group, found in search.run(whole=not relaxed, apart=apart):
        mine = wanted[group.variables]
        where = group.variables[mine]
        if group.mixed:
            # Two ends that differ are two values.
            counted[where] = 2 if found is None or found.values is None else np.maximum(found.values[mine], 2)
        if found is None:
            finished[where] = False
            continue
        # A flow without bound stops short of it by what was in the way.
        ends[0, where] = found.bound[0, mine]
        ends[1, where] = np.where(found.bound[1, mine] >= UNBOUNDED // 2, UNBOUNDED, found.bound[1, mine])
        real[:, where] = found.relaxed[:, mine]
        # What no table of integers was seen to attain may be narrower than it looks.
        finished[where] = found.settled[:, mine].min(axis=0) > 0
        off[where] = _off(ends[:, where], found.seen[:, mine])
    lower, upper = left.members(*ends)
    alone = np.bincount(left.leader, minlength=wanted.size)[left.leader] == 1
    real_lower = np.where(alone, np.maximum(real[0], left.lower), lower)
    real_upper = np.where(alone, np.minimum(real[1], left.upper), upper)
    finished, off, counted = finished[left.leader], off[left.leader], counted[left.leader]
    # The ends of one position move no further than those of the sum that it is part of.
    off = np.where(finished, 0.0, np.minimum(off, upper.astype(np.float64) - lower))
    off[~finished & ((upper >= UNBOUNDED) | (lower <= -UNBOUNDED))] = np.inf
    return Bounds(equations, left, lower, upper, real_lower, real_upper, finished, off, counted)


def _off(ends: IntArray, seen: IntArray) -> FloatArray:
    """Return how far ends are at most beyond what tables attain; as far as the other end where none was found."""
    nearest = np.clip(seen, ends[0], ends[1]).astype(np.float64)
    off: FloatArray = (SIGN * (ends - nearest)).max(axis=0)
    return off
