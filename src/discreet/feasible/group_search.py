"""Goes through all groups of unknown values, each by the method that suits its shape, on threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.parallel import available_cores
from discreet.core.progress import Progress
from discreet.feasible.contradiction import explain
from discreet.feasible.reduction import Group
from discreet.table.equations import Equations

if TYPE_CHECKING:
    from discreet.feasible.network.batch import Edges
    from discreet.feasible.tableau.solver import Found

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
Network: TypeAlias = "tuple[Group, Edges]"
BATCH = 20_000
"""How many entries of equations of networks are handed to a thread at once."""


class GroupSearch:
    """One search over groups, of which some unknowns are wanted, with its clock and its progress."""

    def __init__(
        self,
        equations: Equations,
        groups: tuple[Group, ...],
        wanted: BoolArray,
        time_limit: float | None,
        workers: int | None,
        progress: Progress | None,
    ) -> None:
        if workers is not None and workers < 1:
            raise RequestError(f"workers is {workers}; give 1 or more")
        self.equations, self.wanted, self.progress = equations, wanted, progress
        self.groups = [group for group in groups if not group.is_tree and wanted[group.variables].any()]
        self.clock = Clock.within(time_limit)
        self.workers = workers or available_cores()
        self.done = 0
        self.todo = sum(int(wanted[group.variables].sum()) for group in self.groups)
        self.lock = Lock()

    def run(self, *, goal: IntArray | None = None, whole: bool = True) -> list[tuple[Group, Found | None]]:
        """Return what is found of every group, None where time ran out before.

        Args:
            goal: for both sides of every position, the value at which a search may end; bounds are looked for without.
            whole: look for tables of whole numbers where corners show none.
        """
        with self.clock:
            return self._run(goal, whole)

    def _run(self, goal: IntArray | None, whole: bool) -> list[tuple[Group, Found | None]]:
        from discreet.feasible.any_shape import solve_group
        from discreet.feasible.network.batch import oriented
        from discreet.feasible.tableau.condensing import LateError, NothingError

        self._report()
        batches: list[list[Network]] = []
        general: list[Group] = []
        size = BATCH
        for group in self.groups:
            edges = oriented(group)
            if edges is None:
                general.append(group)
                continue
            if size >= BATCH:
                batches.append([])
                size = 0
            batches[-1].append((group, edges))
            size += group.columns.size

        def any_shape(group: Group) -> Found | None:
            if self.clock.late:
                return None
            aim = None if goal is None else goal[:, group.variables]
            asked = self.wanted[group.variables].astype(np.int64)
            try:
                return solve_group(group, asked, goal=aim, whole=whole, clock=self.clock, tick=self._tick)
            except LateError:
                return None

        found: list[tuple[Group, Found | None]] = []
        for batch, results in zip(
            batches, self._spread(lambda batch: self._networks(batch, goal), batches), strict=True
        ):
            found += [(group, result) for (group, _), result in zip(batch, results, strict=True)]
        # Large groups first, so that no thread is left with one at the end.
        general.sort(key=lambda group: -group.columns.size)
        try:
            return found + list(zip(general, self._spread(any_shape, general), strict=True))
        except NothingError:
            raise explain(self.equations) from None

    def _networks(self, batch: list[Network], goal: IntArray | None) -> list[Found | None]:
        from discreet.feasible.network.batch import network_batch
        from discreet.feasible.tableau.condensing import NothingError
        from discreet.feasible.tableau.solver import NOT_SEEN, Found

        if self.clock.late:
            return [None] * len(batch)
        wanted = [self.wanted[group.variables].astype(np.int64) for group, _ in batch]
        goals = None if goal is None else [goal[:, group.variables] for group, _ in batch]
        results: list[Found | None] = []
        sign = np.array([[-1], [1]])
        answers = network_batch(batch, wanted, goals, self.clock)
        for place, (answer, (group, _)) in enumerate(zip(answers, batch, strict=True)):
            if answer is None:
                raise explain(self.equations) from NothingError()
            bound, settled = answer
            open_ = np.broadcast_to(settled == 0, bound.shape)
            outer = bound
            if goals is not None:
                # Where the goal was met, nothing is known of what lies beyond.
                open_ = open_ | (sign * bound >= sign * goals[place])
                outer = np.where(open_, np.stack([group.least, group.most]), bound)
            seen = np.where(settled > 0, bound, -sign * NOT_SEEN)
            results.append(Found(outer, outer.astype(np.float64), seen, np.stack([settled, settled])))
        self._tick(sum(int(asked.sum()) for asked in wanted))
        return results

    def _spread(self, work: Callable[[Item], Outcome], items: list[Item]) -> list[Outcome]:
        """Do all work on threads, and tell how far it is from this one."""
        count = min(self.workers, len(items))
        if count <= 1:
            results = []
            for item in items:
                results.append(work(item))
                self._report()
            return results
        with ThreadPoolExecutor(count) as pool:
            futures = [pool.submit(work, item) for item in items]
            pending = set(futures)
            try:
                while pending:
                    done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
                    for future in done:
                        future.result()
                    self._report()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            return [future.result() for future in futures]

    def _tick(self, count: int) -> None:
        with self.lock:
            self.done += count

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(min(self.done, self.todo), self.todo, "hidden figures bounded")
