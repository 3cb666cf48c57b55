"""Ordered work on threads."""

from __future__ import annotations

import threading
import time

import pytest

from discreet import RequestError
from discreet.core.parallel import available_cores, run
from discreet.core.random import spawn


@pytest.mark.parametrize("workers", [1, 2, 7, None])
def test_results_come_in_the_order_of_the_items(workers: int | None) -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    assert run(slow_first, range(20), workers=workers) == [item * item for item in range(20)]
    assert run(slow_first, iter([3]), workers=workers) == [9]
    assert run(slow_first, [], workers=workers) == []


def test_random_work_does_not_depend_on_the_workers() -> None:
    def draw(item: tuple[int, object]) -> float:
        return float(spawn(11, item[0] + 1)[item[0]].random())

    items = [(i, None) for i in range(30)]
    assert run(draw, items, workers=1) == run(draw, items, workers=4)


def test_threads_are_used_and_bounded() -> None:
    seen: set[int] = set()
    together = threading.Barrier(2, timeout=120)

    def meet(item: int) -> None:
        together.wait()
        seen.add(threading.get_ident())

    run(meet, range(2), workers=2)
    assert len(seen) == 2
    alone: set[int] = set()
    run(lambda item: alone.add(threading.get_ident()), range(5), workers=1)
    assert alone == {threading.get_ident()}


@pytest.mark.parametrize("workers", [1, 3])
def test_errors_reach_the_caller_and_stop_the_work(workers: int) -> None:
    done: list[int] = []

    def fail(item: int) -> None:
        if item == 3:
            raise KeyError("third")
        time.sleep(0.001)
        done.append(item)

    with pytest.raises(KeyError, match="third"):
        run(fail, range(10_000), workers=workers)
    assert len(done) < 9_000


@pytest.mark.parametrize("workers", [0, -1])
def test_fewer_than_one_worker(workers: int) -> None:
    with pytest.raises(RequestError, match=rf"workers is {workers}; give 1 or more"):
        run(abs, [1], workers=workers)


@pytest.mark.parametrize("workers", [1, 3])
def test_progress_is_told_from_the_calling_thread(workers: int) -> None:
    told: list[tuple[int, int, str]] = []
    threads: set[int] = set()

    def progress(done: int, total: int, label: str) -> None:
        told.append((done, total, label))
        threads.add(threading.get_ident())

    run(abs, [1, 2, 3], workers=workers, progress=progress, label="counting")
    assert told == [(i, 3, "counting") for i in range(4)]
    assert threads == {threading.get_ident()}


def test_there_is_a_core() -> None:
    assert available_cores() >= 1
