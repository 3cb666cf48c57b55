"""The search through all groups of unknown values, each by the method that suits its shape, on threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.parallel import available_cores
from discreet.core.progress import Progress
from discreet.feasible.contradiction import explain
from discreet.feasible.reduction import Found, Group, NothingFitsError, UnfinishedError
from discreet.table.equations import Equations

if TYPE_CHECKING:
    from discreet.feasible.network.orientation import Edges

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
BATCH = 20_000
"""How many entries of networks' equations a thread gets at once: about a tenth of a second of work, far more than the
overhead."""


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

    def run(
        self, *, goal: IntArray | None = None, whole: bool = True, apart: float | None = None
    ) -> list[tuple[Group, Found | None]]:
        """Return what is found about every group, None if time ran out before.

        A search may end at a ``goal`` (for both sides of every position); bounds are looked for without one. ``whole``
        asks for tables of integers where corners show none. With ``apart``, unknowns of large groups need only be told
        apart: whether they have several values, and whether they can reach that number.
        """
        with self.clock:
            self._report()
            try:
                return self._run(goal, whole, apart)
            except NothingFitsError:
                raise explain(self.equations) from None

    def _run(self, goal: IntArray | None, whole: bool, apart: float | None) -> list[tuple[Group, Found | None]]:
        from discreet.feasible.any_shape import solve_group
        from discreet.feasible.network.flow import network_batch
        from discreet.feasible.network.orientation import oriented

        batches: list[list[tuple[Group, Edges]]] = []
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

        def networks(batch: list[tuple[Group, Edges]]) -> list[Found] | list[None]:
            if self.clock.late:
                return [None] * len(batch)
            wanted = [self.wanted[group.variables].astype(np.int64) for group, _ in batch]
            goals = None if goal is None else [goal[:, group.variables] for group, _ in batch]
            found = network_batch(batch, wanted, goals, self.clock)
            self._tick(sum(int(mine.sum()) for mine in wanted))
            return found

        def any_shape(group: Group) -> Found | None:
            if self.clock.late:
                return None
            wanted = self.wanted[group.variables].astype(np.int64)
            aim = None if goal is None else goal[:, group.variables]
            try:
                return solve_group(group, wanted, goal=aim, whole=whole, apart=apart, clock=self.clock, tick=self._tick)
            except UnfinishedError:
                return None

        bounded = self._spread(networks, batches)
        # Large groups first: no thread is left with one at the end.
        general.sort(key=lambda group: -group.columns.size)
        in_order = [group for batch in batches for group, _ in batch] + general
        found = [one for results in bounded for one in results] + self._spread(any_shape, general)
        return list(zip(in_order, found, strict=True))

    def _spread(self, work: Callable[[Item], Outcome], items: list[Item]) -> list[Outcome]:
        """Do all work in threads, and report progress from this one."""
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
