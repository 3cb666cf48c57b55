"""Tables that are said to fit, against a list of all that do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from tests.feasible.test_brute_force import listed
from tests.lengths import few_or_long

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.feasible.candidates import Candidates, Fitting, fitting
from discreet.feasible.crowd import Facts
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures

PEOPLE = 6


def said(equations: Equations, truth: IntArray, tables: IntArray) -> Candidates:
    """Return tables as differences from one of them."""
    row, at = np.nonzero(tables != truth)
    starts = np.searchsorted(row, np.arange(len(tables) + 1))
    return Candidates(equations.positions, truth, starts, at, (tables - truth)[row, at], equations.decimals)


def everything(seed: int) -> tuple[Equations, IntArray] | None:
    """Return a release and the values of all positions in every table that fits."""
    if (all_ := listed(seed)) is None or not 3 <= len(all_[2]) <= 500:
        return None
    _, equations, tables, place, trees = all_
    positions = range(equations.lower.size)
    return equations, np.stack(
        [tables[:, place.members(equations.cell(i), trees)].sum(axis=1) for i in positions], axis=1
    )


def obvious(tables: IntArray, targets: IntArray, down: IntArray, up: IntArray, facts: Facts) -> list[bool]:
    """Say who is in doubt, table by table; the first is the one that others differ from."""
    found = []
    for person in range(PEOPLE):
        mine = facts.chosen(facts.who == person)
        fits: Any = ((tables[:, mine.at] >= mine.low) & (tables[:, mine.at] <= mine.high)).all(axis=1)
        fine = bool(fits[0])
        for target, least, most in zip(targets, down, up, strict=True) if fine else ():
            own = mine.at == target
            least, most = max([least, *mine.low[own]]), min([most, *mine.high[own]])
            fine &= tables[fits, target].min() <= least and tables[fits, target].max() >= most
        for one in mine.at[mine.free] if fine else ():
            fine &= tables[fits, one].min() < tables[fits, one].max()
        found.append(not fine)
    return found


def compare(seed: int) -> tuple[int, int]:
    """Check one release; return how many people were in doubt, and how many were not."""
    case = everything(seed)
    if case is None:
        return 0, 0
    equations, values = case
    rng = np.random.default_rng(seed)
    truth = values[rng.integers(len(values))]
    chosen = values[rng.random(len(values)) < rng.choice([0.2, 0.9])]
    # Some are wrong: a value of one position is changed.
    given = chosen.copy()
    wrong = np.flatnonzero(rng.random(len(given)) < 0.2)
    given[wrong, rng.integers(truth.size, size=wrong.size)] += rng.choice([-1, 1], wrong.size)
    right = (given[:, None, :] == values[None]).all(axis=2).any(axis=1)
    found = fitting(equations, said(equations, truth, given))
    assert found is not None
    differ = right & (given != truth).any(axis=1)
    assert np.unique(found.table).tolist() == np.flatnonzero(differ).tolist()
    known = np.concatenate([truth[None], given[right]])
    assert np.array_equal(found.seen, np.stack([known.min(axis=0), known.max(axis=0)]))
    who = np.repeat(np.arange(PEOPLE), 3)
    at = rng.integers(truth.size, size=who.size)
    low, high = truth[at] - rng.integers(0, 4, who.size), truth[at] + rng.integers(0, 4, who.size)
    low[rng.random(who.size) < 0.02] += 3
    facts = Facts(who, at, low, high, rng.random(who.size) < 0.1)
    targets = np.flatnonzero(known.min(axis=0) < known.max(axis=0))
    targets = targets[rng.random(targets.size) < 0.5]
    down = truth[targets] - rng.integers(0, 2, targets.size)
    up = truth[targets] + rng.integers(0, 2, targets.size)
    doubt = found.doubtful(targets, down, up, facts, PEOPLE)
    expected = obvious(known, targets, down, up, facts)
    assert doubt.tolist() == expected, seed
    return int(doubt.sum()), int((~doubt).sum())


def check(seeds: range) -> None:
    doubt, none = np.sum([compare(seed) for seed in seeds], axis=0).tolist()
    assert min(doubt, none) > len(seeds) / 2


@few_or_long("seeds", range(100), range(100, 5000))
def test_tables_that_fit_count_and_no_others(seeds: range) -> None:
    check(seeds)


def test_pairs_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.feasible.candidates.AT_ONCE", 3)
    check(range(60))


def test_what_is_not_about_these_equations_is_not_used() -> None:
    case = next(found for found in map(everything, range(100)) if found is not None)
    equations, values = case
    good = said(equations, values[0], values[1:])
    assert isinstance(fitting(equations, good), Fitting)
    assert fitting(equations, replace(good, decimals=1)) is None
    assert fitting(equations, replace(good, positions=good.positions + 1)) is None
    assert fitting(equations, replace(good, values=good.values + 1)) is None
    assert fitting(equations.with_sums([([0, 1], "both")]), good) is None


def test_sums_that_overflow_do_not_fit() -> None:
    """Sixteen values of 2^60 add up to nothing in whole numbers of 64 bits."""
    hidden: list[int | None] = [None] * 20
    equations = equations_of(Figures.from_array([*hidden, 20], {"cell": [*range(20), "Total"]}))
    truth = np.ones(21, np.int64)
    truth[equations.find({"cell": "Total"})] = 20
    lie = truth.copy()
    cells = [equations.find({"cell": i}) for i in range(20)]
    lie[cells[:17]] = [1020, *[2**60] * 15, 2**60 - 1003]
    assert np.sum(lie[cells]) == 20
    found = fitting(equations, said(equations, truth, lie[None]))
    assert found is not None
    assert found.table.size == 0
    assert fitting(equations, said(equations, lie, truth[None])) is None


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("at", [10**8, 0], "name position 100,000,000, but there are 3"),
        ("at", [-1, 0], "name position -1, but there are 3"),
        ("starts", [0, 3], "are not in compressed rows"),
        ("by", [0.5, -0.5], "are not integers"),
    ],
)
def test_differences_that_make_no_sense_are_refused(name: str, given: Any, told: str) -> None:
    equations = equations_of(Figures.from_array([None, None, 5], {"cell": [1, 2, "Total"]}))
    fine = Candidates(equations.positions, np.array([5, 2, 3]), np.array([0, 2]), np.array([1, 2]), np.array([1, -1]))
    assert fitting(equations, fine) is not None
    with pytest.raises(RequestError, match=f"candidates {told}"):
        fitting(equations, replace(fine, **cast("Any", {name: np.array(given)})))
