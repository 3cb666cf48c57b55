"""The smallest and the largest value that each hidden figure can have, given everything that is published."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.feasible.conflict import explain
from discreet.feasible.reduction import ConflictError, Group, Reduction, reduce
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

BoolArray = npt.NDArray[np.bool_]
Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
DENSE = 400_000
"""The largest tableau, in entries, that is kept dense; larger groups go to a sparse solver."""
PATIENCE = 20.0
"""Seconds that the search for one bound over whole numbers may take."""
BATCH = 20_000
"""How many entries of equations are handed to a thread at once."""


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
    other by linear programming, and where no table of whole numbers attains such a bound, by integer programming.

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
    search = _Search(equations, reduced, targets, time_limit, progress)
    search.run(workers, not relaxed)
    lower, upper = reduced.members(search.low, search.high)
    alone = np.bincount(reduced.leader, minlength=lower.size)[reduced.leader] == 1
    over_reals = (
        np.where(alone, np.maximum(search.relaxed[0], reduced.lower), lower),
        np.where(alone, np.minimum(search.relaxed[1], reduced.upper), upper),
    )
    return Bounds(equations, reduced, lower, upper, over_reals[0], over_reals[1], search.finished[reduced.leader])


class _Search:
    """The state of one computation of bounds; positions hold the bounds of their leaders."""

    def __init__(
        self,
        equations: Equations,
        reduced: Reduction,
        targets: IntArray | Sequence[int] | None,
        time_limit: float | None,
        progress: Progress | None,
    ) -> None:
        self.equations, self.groups = equations, reduced.groups
        self.low, self.high = reduced.low.copy(), reduced.high.copy()
        self.relaxed = np.stack([self.low, self.high]).astype(np.float64)
        self.finished = np.ones(self.low.size, bool)
        self.wanted = np.zeros(self.low.size, bool)
        chosen = np.arange(self.low.size) if targets is None else np.asarray(targets, np.int64)
        self.wanted[reduced.leader[chosen]] = True
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.progress = progress
        self.done, self.todo = 0, 0

    def run(self, workers: int | None, whole: bool) -> None:
        """Bound all groups."""
        from discreet.feasible.highs import sparse_bounds
        from discreet.feasible.kernels import dense_batch, network_batch, oriented

        open_groups = [g for g in self.groups if not g.is_tree and self.wanted[g.variables].any()]
        self.todo = sum(int(self.wanted[g.variables].sum()) for g in open_groups)
        self._tick(0)
        networks, dense, sparse = [], [], []
        for group in open_groups:
            edges = oriented(group)
            if edges is not None:
                networks.append((group, edges))
            elif group.rhs.size * (group.rhs.size + group.variables.size) <= DENSE:
                dense.append(group)
            else:
                sparse.append(group)
        for batch, found in self._batched(network_batch, networks, lambda item: item[0], workers):
            for (group, _), bound in zip(batch, found, strict=True):
                if bound is None:
                    raise explain(self.equations)
                self._take(group, bound, bound.astype(np.float64))
        uncertain: list[tuple[Group, int, int]] = []
        for groups, results in self._batched(
            lambda batch, wanted: dense_batch(batch, wanted, whole), dense, lambda item: item, workers
        ):
            for group, result in zip(groups, results, strict=True):
                if result is None:
                    sparse.append(group)
                    continue
                if result.bound.size == 0:
                    raise explain(self.equations)
                self._take(group, result.bound, result.relaxed)
                self._settle(group, result.exact)
                uncertain += self._gaps(group, result.exact)
        for group in sparse:
            asked = self.wanted[group.variables].astype(np.int64)
            result = sparse_bounds(group, asked, self.deadline, self._tick, workers)
            self._take(group, result.bound, result.relaxed)
            self.finished[group.variables] &= result.finished.all(axis=0)
            uncertain += self._gaps(group, np.maximum(result.exact, 1 - result.finished))
        if whole:
            self._close(uncertain, workers)
        else:
            # Over whole numbers these intervals may be narrower than they look: they must not be called finished.
            for group, k, _ in uncertain:
                self.finished[group.variables[k]] = False

    def _close(self, uncertain: list[tuple[Group, int, int]], workers: int | None) -> None:
        """Find bounds over whole numbers by integer programming."""
        from discreet.feasible.highs import whole_bound

        def work(item: tuple[Group, int, int]) -> int | None:
            group, k, side = item
            left = PATIENCE if self.deadline is None else min(self.deadline - time.monotonic(), PATIENCE)
            return None if left <= 0 else whole_bound(group, k, bool(side), left)

        for (group, k, side), value in zip(uncertain, run(work, uncertain, workers=workers), strict=True):
            if value is None:
                self.finished[group.variables[k]] = False
            else:
                (self.high if side else self.low)[group.variables[k]] = value

    def _settle(self, group: Group, exact: IntArray) -> None:
        """Find the few bounds that a dense tableau left open one by one."""
        from discreet.feasible.highs import real_bound

        for side, k in zip(*np.nonzero((exact < 0) & self.wanted[group.variables]), strict=True):
            left = None if self.deadline is None else self.deadline - time.monotonic()
            found = None if left is not None and left <= 0 else real_bound(group, int(k), bool(side), left)
            at = group.variables[k]
            if found is None:
                self.finished[at] = False
                continue
            (self.high if side else self.low)[at], self.relaxed[side, at] = found
            exact[side, k] = 0

    def _gaps(self, group: Group, exact: IntArray) -> list[tuple[Group, int, int]]:
        """Return the wanted bounds that no table of whole numbers was seen to attain."""
        missing = (exact == 0) & self.wanted[group.variables]
        missing &= np.abs(np.stack([self.low[group.variables], self.high[group.variables]])) < UNBOUNDED
        return [(group, int(k), int(side)) for side, k in zip(*np.nonzero(missing), strict=True)]

    def _take(self, group: Group, bound: IntArray, relaxed: FloatArray) -> None:
        mine = self.wanted[group.variables]
        where = group.variables[mine]
        # A flow without bound stops short of it by what was in the way.
        self.low[where] = bound[0][mine]
        self.high[where] = np.where(bound[1][mine] >= UNBOUNDED // 2, UNBOUNDED, bound[1][mine])
        self.relaxed[:, where] = relaxed[:, mine]

    def _batched(
        self,
        kernel: Callable[[list[Item], list[IntArray]], list[Outcome]],
        items: list[Item],
        group_of: Callable[[Item], Group],
        workers: int | None,
    ) -> list[tuple[list[Item], list[Outcome]]]:
        """Run a kernel over batches of groups on threads; what the clock cuts off is marked as unfinished."""
        batches: list[list[Item]] = []
        size = BATCH
        for item in items:
            group = group_of(item)
            if size >= BATCH:
                batches.append([])
                size = 0
            batches[-1].append(item)
            size += group.columns.size

        def work(batch: list[Item]) -> list[Outcome] | None:
            if self.deadline is not None and time.monotonic() > self.deadline:
                return None
            wanted = [self.wanted[group_of(item).variables].astype(np.int64) for item in batch]
            return kernel(batch, wanted)

        finished = []
        for start in range(0, len(batches), 16):
            part = batches[start : start + 16]
            for batch, found in zip(part, run(work, part, workers=workers), strict=True):
                self._tick(sum(int(self.wanted[group_of(item).variables].sum()) for item in batch))
                if found is None:
                    for item in batch:
                        self.finished[group_of(item).variables] = False
                else:
                    finished.append((batch, found))
        return finished

    def _tick(self, count: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(min(self.done, self.todo), self.todo, "hidden figures bounded")
