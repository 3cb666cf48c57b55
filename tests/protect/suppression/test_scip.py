"""Branch-and-cut by SCIP: the cheapest covering, and Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from discreet.core.numerics import FloatArray
from discreet.protect.suppression.master import Master
from discreet.protect.suppression.scip import Separate, branch_and_cut

pytest.importorskip("pyscipopt")
SETS = [np.array(pair) for pair in combinations(range(7), 3)]
PRICE = np.array([3, 5, 2, 7, 4, 6, 1])


def separating(master: Master, then: int | None = None) -> tuple[list[int], Separate]:
    """Return a list of calls and a separator of the sets, of which one cell each is wanted, that stops at a call."""
    calls: list[int] = []

    def separate(shares: FloatArray, integers: bool) -> bool:
        calls.append(len(calls))
        if len(calls) == then:
            signal.raise_signal(signal.SIGINT)
        missed = [one for one in SETS if shares[one].sum() < 1 - 1e-9]
        master.add((one, np.ones(3)) for one in missed)
        return not missed

    return calls, separate


def test_the_cheapest_covering_is_found() -> None:
    master = Master(PRICE, np.arange(7))
    bound, found = branch_and_cut(master, separating(master)[1], 30.0, 100.0)
    every = [np.array(bits) for bits in np.ndindex(*(2,) * 7)]
    best = min(int(PRICE @ bits) for bits in every if all(bits[one].any() for one in SETS))
    assert found is not None
    assert bound == pytest.approx(best)
    assert PRICE @ found == best


@pytest.fixture
def heard() -> Iterator[None]:
    """Hear of Ctrl-C also where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_an_interruption_is_not_taken_for_a_result(capfd: pytest.CaptureFixture[str]) -> None:
    for then in (1, 2):
        master = Master(PRICE, np.arange(7))
        calls, separate = separating(master, then)
        with pytest.raises(KeyboardInterrupt):
            branch_and_cut(master, separate, 30.0, 100.0)
        assert len(calls) == then
    assert capfd.readouterr() == ("", "")
