"""The same work on threads, on processes and on a Dask cluster, with the same bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.programme.records import BUSINESS, FIRMS, firms, register, table

import discreet as dc
from discreet import RequestError
from discreet.core.errors import DataError
from discreet.core.parallel import over, run
from discreet.core.random import spawn
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, run_plan


@pytest.fixture(scope="module")
def two_workers() -> Iterator[str]:
    """Return the address of a cluster of two workers in this process: what they are handed is packed all the same."""
    from dask import distributed

    make: Any = distributed.LocalCluster
    with make(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp://") as cluster:
        yield cluster.scheduler_address


def drawn(item: tuple[int, np.random.Generator]) -> tuple[int, bytes]:
    number, rng = item
    return number, rng.random(100 + number).tobytes()


def items() -> list[tuple[int, np.random.Generator]]:
    return list(zip(range(6), spawn(7, 6), strict=True))


def test_a_place_without_a_client_says_how_to_make_one() -> None:
    with over("dask"), pytest.raises(RequestError, match="dask:tcp"):
        run(abs, range(2), apart=True)


def test_a_cluster_of_two_workers_returns_the_same_bytes(two_workers: str) -> None:
    told: list[tuple[int, int]] = []
    with over(f"dask:{two_workers}"):
        there = run(drawn, items(), apart=True, progress=lambda done, total, label: told.append((done, total)))
    assert there == run(drawn, items(), workers=1)
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)


def test_processes_return_the_same_bytes_as_threads() -> None:
    held = np.arange(5)

    def work(item: tuple[int, np.random.Generator]) -> tuple[bytes, int, list[int]]:
        # What is called inside stays where it is, whatever the place of the whole.
        return drawn(item)[1], os.getpid(), run(lambda x: int(held[x]), range(5), apart=True)

    with over("processes"):
        there = run(work, items(), workers=2, apart=True)
    assert [one[0] for one in there] == [drawn(item)[1] for item in items()]
    assert os.getpid() not in {one[1] for one in there}
    assert all(one[2] == held.tolist() for one in there)


def test_estimates_are_the_same_on_a_cluster(two_workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.measures import estimate as module

    # Many small blocks: what one machine would do at once.
    monkeypatch.setattr(module, "BLOCK_CELLS", 2_000)
    sample = dc.protect.random_sample(dc.datasets.religion(), 245, seed=1).table
    here = dc.estimate(sample, 2449, model="polya", draws=300, seed=1)
    with over(f"dask:{two_workers}"):
        there = dc.estimate(sample, 2449, model="polya", draws=300, seed=1)
    assert there == here


def test_what_may_not_leave_stays(two_workers: str) -> None:
    seen: list[int] = []
    with over(f"dask:{two_workers}"):
        run(seen.append, range(4), workers=1)
    assert seen == [0, 1, 2, 3]


def test_errors_come_back_and_unknown_places_are_refused(two_workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(item: int) -> int:
        raise DataError(f"item {item} is wrong; correct it")

    with over(f"dask:{two_workers}"), pytest.raises(DataError, match="is wrong"):
        run(fail, range(2), apart=True)
    with pytest.raises(RequestError, match="threads, processes, dask"), over("cloud"):
        pass
    monkeypatch.setenv("DISCREET_PARALLEL", "elsewhere")
    with pytest.raises(RequestError, match="DISCREET_PARALLEL"):
        run(abs, range(2))


def test_a_plan_on_a_cluster_and_on_processes_writes_the_same_bytes(two_workers: str, tmp_path: Path) -> None:
    firms(tmp_path, 120)
    tables = "".join(table(f"{value}", ["region", "size"], value) for value in ("pizza", "batavia", "arugula"))
    _same_everywhere(two_workers, tmp_path, BUSINESS + FIRMS + tables)


@pytest.mark.long
@pytest.mark.parametrize(("n", "values"), [(3000, 3), (8000, 30)], ids=["30 tables", "300 tables"])
def test_tables_on_a_cluster_of_two_workers_are_the_same_bytes(
    two_workers: str, tmp_path: Path, n: int, values: int
) -> None:
    _same_everywhere(two_workers, tmp_path, register(tmp_path, n, values), values)


def _same_everywhere(two_workers: str, tmp_path: Path, text: str, clusters: int = 3) -> None:
    plan = plan_of(text, folder=tmp_path)
    written = {}
    for name, place in (("here", "threads"), ("dask", f"dask:{two_workers}"), ("apart", "processes")):
        with over(place):
            found = run_plan(plan, RunOptions(tmp_path / name, 2**127 + 1))
        assert found.fresh == clusters
        written[name] = {
            str(path.relative_to(tmp_path / name)): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
    assert len(written["here"]) > 6
    assert written["dask"] == written["here"]
    assert written["apart"] == written["here"]


def test_attacks_on_a_cluster_are_those_made_here(two_workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from redteam import run as redteam

    monkeypatch.setattr(redteam, "CHUNK", 2)
    monkeypatch.setattr(redteam, "ROUND", 1)
    monkeypatch.setenv("DISCREET_PARALLEL", f"dask:{two_workers}")
    work = redteam.Work(3, range(1), names=("suppressed",))
    here, there = (list(redteam.cases(work, 4, workers)) for workers in (1, 2))
    assert here
    assert there[: len(here)] == here


def test_each_result_is_told_as_it_comes_and_those_before_an_error_are_kept(two_workers: str) -> None:
    def work(item: int) -> int:
        if item == 3:
            raise DataError("item 3 is wrong; correct it")
        return item * item

    for place in ("threads", "processes", f"dask:{two_workers}"):
        kept: dict[int, int] = {}
        with over(place):
            run(work, range(3), apart=True, each=kept.__setitem__)
        assert kept == {0: 0, 1: 1, 2: 4}, place
    kept = {}
    with pytest.raises(DataError, match="item 3"):
        run(work, range(5), workers=1, each=kept.__setitem__)
    assert kept == {0: 0, 1: 1, 2: 4}
