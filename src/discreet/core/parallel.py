"""Ordered parallel work on threads; kernels release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TypeVar

from discreet.core.errors import RequestError
from discreet.core.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    label: str = "",
) -> list[Result]:
    """Apply a function to every item and return the results in the items' order.

    Items carry their own random streams: the result does not depend on the number of workers.

    >>> run(lambda x: x * x, [1, 2, 3], workers=2)
    [1, 4, 9]
    """
    todo = list(items)
    if workers is not None and workers < 1:
        raise RequestError(f"workers is {workers}; give 1 or more")
    count = min(workers or available_cores(), max(len(todo), 1))
    report = progress or (lambda done, total, label: None)
    report(0, len(todo), label)
    if count == 1:
        results = []
        for done, item in enumerate(todo, start=1):
            results.append(function(item))
            report(done, len(todo), label)
        return results
    with ThreadPoolExecutor(count) as pool:
        futures: list[Future[Result]] = [pool.submit(function, item) for item in todo]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                report(done, len(todo), label)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in futures]
