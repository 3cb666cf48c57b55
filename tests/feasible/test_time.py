"""Time limits: every engine ends soon after one, and what it leaves is marked, wide enough and never wrong."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from tests.feasible.test_contradiction import spoiled, true_together
from tests.feasible.test_engines import cube, largest, square

import discreet as dc
from discreet.core.clock import Clock
from discreet.core.errors import LimitError
from discreet.feasible import any_shape, contradiction, group_search
from discreet.feasible.any_shape import solve_group
from discreet.feasible.bounds import Bounds, bounds
from discreet.feasible.draw import random_tables
from discreet.feasible.draw.counting import count_tables
from discreet.feasible.draw.random_tables import draw_tables
from discreet.feasible.network.flow import network_batch
from discreet.feasible.network.orientation import oriented
from discreet.feasible.proof.bound_proof import check, prove
from discreet.feasible.reach import OUT_OF_REACH, REACHED, UNDECIDED, reach_levels
from discreet.feasible.reduction import reduce
from discreet.table.equations import equations_of

# What the tests share is made once, by the one process that runs them all.

LIMIT, SOON = 0.2, 5.0
"""A limit in seconds, and the CPU seconds, which other work on the machine does not use up, until a search is over."""


@pytest.fixture(scope="module", autouse=True)
def ready() -> None:
    """Compile every kernel before anything is timed."""
    bounds(equations_of(cube(4, 3, 1, hide=0.8)))
    bounds(equations_of(square(30, 1)))
    for group in (largest(square(4, 3, share=1.0), join=False), largest(cube(3, 2, 0), join=False)):
        draw_tables(group, seed=1, precision=1.0)


def timed(work: Callable[[], Bounds]) -> Bounds:
    start = time.process_time()
    found = work()
    assert time.process_time() - start < SOON
    return found


@pytest.mark.parametrize("entries", [any_shape.LARGEST, 0])
def test_hard_searches_end_in_time(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the tableau and by HiGHS: 2,744 values behind exact margins, which take minutes."""
    monkeypatch.setattr(any_shape, "LARGEST", entries)
    rng, n = np.random.default_rng(0), 14
    truth = rng.integers(0, 10, (n, n, n))
    equations = equations_of(cube(n, 9, 0))
    at = [equations.find({"a": str(i), "b": str(j), "c": str(k)}) for i, j, k in np.ndindex(n, n, n)]
    found = timed(lambda: bounds(equations, time_limit=LIMIT))
    assert not found.finished[at].all()
    assert (found.lower[at] <= truth.ravel()).all()
    assert (truth.ravel() <= found.upper[at]).all()


def test_audits_that_run_out_of_time_call_nothing_safe() -> None:
    start = time.process_time()
    hurried = dc.audit(cube(14, 9, 0), time_limit=LIMIT)
    assert time.process_time() - start < SOON
    assert hurried.verdict == "incomplete"
    assert not hurried.findings.finished.all()
    assert "not finished, whose intervals are outer bounds" in hurried.sentence


@pytest.mark.parametrize("entries", [any_shape.LARGEST, 0])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_finished_in_time_is_right(seed: int, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    equations = equations_of(cube(5, 4, seed, hide=0.8))
    full = bounds(equations)
    assert full.finished.all()
    monkeypatch.setattr(any_shape, "LARGEST", entries)
    for limit in (0.001, 0.003, 0.01, 0.03, 0.1):
        rest = bounds(equations, time_limit=limit)
        for early, late, sign in ((rest.lower, full.lower, 1), (rest.upper, full.upper, -1)):
            assert (sign * early <= sign * late).all()
            assert (early[rest.finished] == late[rest.finished]).all()
        assert (rest.relaxed_lower <= full.relaxed_lower + 1e-6).all()
        assert (rest.relaxed_upper >= full.relaxed_upper - 1e-6).all()


@pytest.mark.parametrize("entries", [any_shape.LARGEST, 0])
def test_a_clock_that_rings_half_way(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where it does not depend on the machine how far a search comes."""
    monkeypatch.setattr(any_shape, "LARGEST", entries)
    group = largest(cube(6, 4, 1, hide=0.8))
    every = np.ones(group.variables.size, np.int64)
    full = solve_group(group, every)
    assert full.settled.all()
    shares = []
    for enough in (0, every.size // 3, every.size):
        clock, looked = Clock(), 0

        def tick(count: int, clock: Clock = clock, enough: int = enough) -> None:
            nonlocal looked
            looked += count
            if looked > enough:
                clock.deadline = time.monotonic()
                clock.ring()

        rest = solve_group(group, every, clock=clock, tick=tick)
        done = rest.settled > 0
        shares.append(done.mean())
        assert (rest.bound[done] == full.bound[done]).all()
        assert (rest.bound[0] <= full.bound[0]).all()
        assert (rest.bound[1] >= full.bound[1]).all()
    assert shares[0] < 1.0
    assert shares[0] <= shares[1] <= shares[2]


def test_levels_are_undecided_or_right() -> None:
    equations = equations_of(cube(5, 4, 1, hide=0.8))
    full = bounds(equations)
    every = np.flatnonzero(full.lower < full.upper)
    low, high = full.lower[every] + every % 2 - 1, full.upper[every] + every % 3 - 1
    decided = []
    for limit in (0.0, 0.001, 0.01, 0.05, None):
        answer = reach_levels(equations, every, low, high, time_limit=limit)
        for state, there in ((answer.lower, low >= full.lower[every]), (answer.upper, high <= full.upper[every])):
            right = np.where(there, REACHED, OUT_OF_REACH)
            assert ((state == UNDECIDED) | (state == right)).all()
        decided.append(int((answer.lower != UNDECIDED).sum()))
    assert decided[-1] == every.size
    assert decided[0] < every.size


def test_networks_stop_between_values() -> None:
    """A clock that rings while a large network is under way: what was bounded is right, the rest is as it was."""
    group = largest(square(200, 1))
    edges = oriented(group)
    assert edges is not None
    every = np.ones(group.variables.size, np.int64)
    (full,) = network_batch([(group, edges)], [every])
    assert full.settled.all()
    outer = np.stack([group.least, group.most])
    some = 0
    for limit in (0.0, 0.001, 0.01, 0.03, 0.06):
        with Clock(time.monotonic() + limit) as clock:
            (rest,) = network_batch([(group, edges)], [every], clock=clock)
        done = rest.settled[0] > 0
        assert (rest.bound[:, done] == full.bound[:, done]).all()
        assert (rest.bound[:, ~done] == outer[:, ~done]).all()
        some += int(not done.all())
    assert some


def test_counting_and_drawing_end_in_time() -> None:
    group = largest(cube(12, 9, 0), join=False)
    start = time.process_time()
    with pytest.raises(LimitError):
        count_tables(group, deadline=time.monotonic())
    with pytest.raises(LimitError):
        draw_tables(group, seed=1, deadline=time.monotonic() + LIMIT)
    with pytest.raises(LimitError, match="time ran out"):
        draw_tables(largest(square(60, 1), join=False), seed=1, precision=1e-9, deadline=time.monotonic())
    # A round may or may not be done by then; the whole would take days.
    with contextlib.suppress(LimitError):
        draw_tables(
            largest(cube(4, 9, 0), join=False),
            seed=1,
            precision=1e-9,
            most_draws=10**12,
            deadline=time.monotonic() + LIMIT,
        )
    assert time.process_time() - start < SOON


def test_rounds_of_draws_that_are_cut_short_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains of different length would be weighed wrongly: a round counts for all of them or for none."""
    group = largest(square(12, 3, share=1.0), join=False)
    whole = draw_tables(group, seed=1, precision=1e-9, most_draws=1)
    rounds = ringing(monkeypatch, 2)
    drawn = draw_tables(group, seed=1, precision=1e-9, deadline=time.monotonic() + 3600)
    assert rounds == [8, 8]
    assert (drawn.draws, drawn.bits.tolist()) == (whole.draws, whole.bits.tolist())


def test_drawing_ends_with_the_round_in_which_time_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    group = largest(cube(4, 9, 0), join=False)
    rounds = ringing(monkeypatch, 3)
    drawn = draw_tables(group, seed=1, precision=1e-6, deadline=time.monotonic() + 3600)
    assert len(rounds) == 3
    assert 2 * drawn.error.max() > 1e-6


def ringing(monkeypatch: pytest.MonkeyPatch, last: int) -> list[int]:
    """Have the clock of draws ring half-way through a round, and return a list of the rounds, by their chains."""
    rounds: list[int] = []
    clocks: list[Clock] = []

    class Kept(Clock):
        def __init__(self, deadline: float | None = None, seconds: float | None = None) -> None:
            super().__init__(deadline, seconds)
            clocks.append(self)

    def go_on(work: Callable[[int], None], items: Iterable[int], workers: int | None = None) -> None:
        chains = list(items)
        rounds.append(len(chains))
        for number in chains:
            if len(rounds) == last and number == chains[len(chains) // 2]:
                clocks[-1].ring()
            work(number)

    monkeypatch.setattr(random_tables, "Clock", Kept)
    monkeypatch.setattr(random_tables, "run", go_on)
    return rounds


def test_proofs_are_found_in_time_or_not_at_all() -> None:
    found = bounds(equations_of(cube(5, 4, 0, hide=0.8)))
    inside = np.concatenate([group.variables for group in reduce(found.equations).groups])
    none = 0
    for position in inside[:40].tolist():
        for upper in (False, True):
            proof = prove(found, position, upper=upper, deadline=time.monotonic())
            none += proof is None
            assert proof is None or check(found.equations, proof)
    assert none


def test_clocks_of_finished_searches_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks: list[Clock] = []

    class Kept(Clock):
        def __init__(self, deadline: float | None = None, seconds: float | None = None) -> None:
            super().__init__(deadline, seconds)
            clocks.append(self)

    monkeypatch.setattr(group_search, "Clock", Kept)
    assert bounds(equations_of(square(9, 1)), time_limit=3600.0).finished.all()
    assert clocks
    assert all(clock._timer is not None and clock._timer.finished.is_set() for clock in clocks)
    assert not any(clock.rung[0] for clock in clocks)


def test_contradictions_are_told_without_time_to_explain_them(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [equations for equations in map(spoiled, range(12)) if equations is not None]
    assert len(found) > 2
    monkeypatch.setattr(contradiction, "PATIENCE", 0.0)
    for equations in found:
        hurried = contradiction.conflict(equations, seconds=0.0)
        assert not hurried.needed
        assert not hurried.smallest
        assert not true_together(equations, hurried.figures)
