"""What people work out who know that they are counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import discreet as dc
from discreet.decide import people_counted
from discreet.decide.assessment import Assessment
from discreet.decide.policy import Policy

EXACT = Policy.from_text(
    'allow = "any"\n[rules]\nthreshold = 3\ngroup_disclosure = "none"\np_percent = "none"\n'
    '[limits]\ndr = "none"\nr2 = "none"\n'
)
"""A policy that asks only that nothing sensitive is known exactly."""
WITH_MARGINS = "conventional-rounding:base=3,margins=true"


def assessed(counts: list[int], protection: str = WITH_MARGINS) -> Assessment:
    """Assess a line of counts."""
    table = dc.Table.from_array(counts, {"k": [f"c{i}" for i in range(len(counts))]})
    return dc.assess(table, EXACT, protection=protection, seed=1, trial=True)


def known_to_people(counts: list[int]) -> set[tuple[int, int]]:
    """Return who works out whose count, by cell, from figures and total rounded to base 3: all tables are enumerated.

    Someone who is counted nowhere is -1. Anybody may be counted wherever that is open, and every count that may be
    small is somebody's secret.
    """
    figures = [(x + 1) // 3 * 3 for x in (*counts, sum(counts))]
    ranges = [range(max(y - 1, 0), y + 2) for y in figures]
    fits = [table for table in itertools.product(*ranges[:-1]) if sum(table) in ranges[-1]]
    values = [{table[k] for table in fits} for k in range(len(counts))]
    found = {(-1, other) for other, open_ in enumerate(values) if len(open_) == 1 and open_ <= {1, 2}}
    for own, other in itertools.permutations(range(len(counts)), 2):
        mine = {table[other] for table in fits if table[own]}
        if 0 in values[own] and len(mine) == 1 and len(values[other]) > 1 and values[other] & {1, 2}:
            found.add((own, other))
    return found


def test_somebody_counted_works_out_what_others_cannot() -> None:
    """Rounded to 3, 3, 3, 0 with total 6, the counts 2, 2, 2, 1 are open to all but the last one: 7 is the most."""
    assert known_to_people([2, 2, 2, 1]) == {(3, 0), (3, 1), (3, 2)}
    found = assessed([2, 2, 2, 1])
    assert found.verdict == "withhold"
    assert "3 sensitive cells are known too closely" in found.reasons[0]
    assert "by somebody in k=c3" in found.reasons[0]
    # Margins that are added up from rounded counts tie nothing together.
    assert assessed([2, 2, 2, 1], "conventional-rounding:base=3").verdict == "protect"


def test_nobody_learns_too_much() -> None:
    assert not known_to_people([2, 9, 1, 0])
    found = assessed([2, 9, 1, 0])
    assert found.verdict == "protect"
    assert people_counted.NOBODY in found.reasons


def test_that_one_is_alone_tells_of_nobody_else() -> None:
    """The only one in a cell published as 0, which is 0 or 1, learns that nobody else is there."""
    assert assessed([1, 30, 30]).verdict == "protect"


@pytest.mark.parametrize("seed", range(12))
def test_what_passes_is_what_leaves_small_counts_open_to_everybody_counted(seed: int) -> None:
    draw = np.random.default_rng(seed)
    counts = draw.choice([0, 1, 2, 2, 4, 5], int(draw.integers(3, 6))).tolist()
    if sum(counts) == 0:
        counts[0] = 1
    assert (assessed(counts).verdict == "protect") == (not known_to_people(counts))


def test_too_many_to_try_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_counted, "MANY", 0)
    found = assessed([2, 2, 2, 1])
    assert found.verdict == "withhold"
    assert "was not judged" in " ".join(found.reasons)
