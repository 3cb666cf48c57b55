"""Ordered parallel work: on threads, on processes, or on the machines of a Dask or Spark cluster, with equal results.

Kernels release the interpreter lock, so threads are enough on one machine. Work that falls into parts, such as draws,
samples or points of a comparison, can also leave the process: ``over`` or the environment variable
``DISCREET_PARALLEL`` says where to. A function travels with everything that it holds, and only its result comes back.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

from discreet.core.errors import DiscreetError, RequestError
from discreet.core.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")

_place: ContextVar[str] = ContextVar("place")


@contextmanager
def over(place: str) -> Iterator[None]:
    """Let work that may leave the process go to ``threads``, ``processes``, ``dask`` or ``spark``, within a block.

    ``dask`` is the Dask client of this process, ``dask:tcp://host:8786`` a cluster by its address, and ``spark`` the
    Spark session of this process, or the one that Spark's configuration describes.

    >>> with over("threads"):
    ...     run(lambda x: x * x, [1, 2, 3], apart=True)
    [1, 4, 9]
    """
    _check(place)
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


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
    apart: bool = False,
    each: Callable[[Item, Result], None] | None = None,
) -> list[Result]:
    """Apply a function to every item and return the results in the items' order.

    Items carry their own random streams: the result does not depend on the number of workers, nor on where they are.
    ``apart`` says that the function changes nothing outside itself, and so may run in another process. ``each`` gets
    every result in this thread as soon as it is there, to keep what is finished.

    >>> run(lambda x: x * x, [1, 2, 3], workers=2)
    [1, 4, 9]
    """
    todo = list(items)
    if workers is not None and workers < 1:
        raise RequestError(f"workers is {workers}; give 1 or more")
    report = progress or (lambda done, total, label: None)
    report(0, len(todo), label)
    results: list[Result] = []

    def came(item: Item, result: Result) -> Result:
        if each is not None:
            each(item, result)
        return result

    place = _place.get(os.environ.get("DISCREET_PARALLEL", "threads"))
    _check(place)
    if apart and place != "threads" and len(todo) > 1:
        for item, result in zip(todo, _elsewhere(function, todo, place, workers), strict=True):
            results.append(came(item, result))
            report(len(results), len(todo), label)
        return results
    count = min(workers or available_cores(), max(len(todo), 1))
    if count == 1:
        for item in todo:
            results.append(came(item, function(item)))
            report(len(results), len(todo), label)
        return results
    with ThreadPoolExecutor(count) as pool:
        futures: dict[Future[Result], Item] = {pool.submit(function, item): item for item in todo}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                came(futures[future], future.result())
                report(done, len(todo), label)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in futures]


class _Inside(Generic[Item, Result]):
    """A function that runs elsewhere, where what it calls stays on threads."""

    def __init__(self, function: Callable[[Item], Result]) -> None:
        self.function = function

    def __call__(self, item: Item) -> Result:
        with over("threads"):
            return self.function(item)


def _check(place: str) -> None:
    if place not in ("threads", "processes", "dask", "spark") and not place.startswith("dask:"):
        raise RequestError(
            f"work cannot go to {place!r}; give threads, processes, dask, dask:tcp://host:8786 or spark "
            "(DISCREET_PARALLEL)"
        )


def _elsewhere(
    function: Callable[[Item], Result], items: list[Item], place: str, workers: int | None
) -> Iterator[Result]:
    """Return the results of other processes in the items' order, each as soon as it and those before it are there."""
    if place == "spark":
        yield from _on_spark(function, items)
        return
    try:
        import joblib
    except ImportError:
        raise RequestError(f"work on {place} needs joblib; pip install 'discreet[dask]'") from None
    options: dict[str, object] = {"backend": "loky", "n_jobs": workers or available_cores()}
    if place != "processes":
        address = place.partition(":")[2]
        options = {"backend": "dask", **({"scheduler_host": address} if address else {})}
    try:
        with joblib.parallel_config(**options):
            work = joblib.Parallel(return_as="generator", pre_dispatch="all", batch_size=1)
            yield from work(joblib.delayed(_Inside(function))(item) for item in items)
    except ValueError as error:
        if "Dask" not in str(error) and "dask" not in str(error):
            raise
        raise RequestError(
            "there is no Dask client; make one (dask.distributed.Client), or give the address of the cluster "
            "(dask:tcp://host:8786)"
        ) from None


def _on_spark(function: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    """Return the results of a Spark cluster, each item one task; discreet's own errors come back as such."""
    try:
        from pyspark import cloudpickle
        from pyspark.sql import SparkSession
    except ImportError:
        raise RequestError("work on spark needs PySpark; pip install 'discreet[spark]'") from None
    inside = _Inside(function)
    pack: Callable[[Item], bytes] = cloudpickle.dumps

    def work(packed: bytes) -> Result | DiscreetError:
        try:
            return inside(cloudpickle.loads(packed))
        except DiscreetError as error:
            return error

    context = SparkSession.builder.appName("discreet").getOrCreate().sparkContext
    if (context.master or "").startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # otherwise the first python3 of the PATH, which need not have discreet
    tasks = context.parallelize([pack(item) for item in items], len(items))
    results: list[Result] = []
    for found in tasks.map(work).collect():
        if isinstance(found, DiscreetError):
            raise found
        results.append(found)
    return results
