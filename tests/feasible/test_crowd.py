"""What thousands of insiders leave open, against every table that fits what each of them knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.feasible.test_brute_force import listed
from tests.lengths import few_or_long

from discreet.feasible.crowd import Facts, doubtful
from discreet.feasible.reduction import reduce

PEOPLE = 6


def compare(seed: int) -> tuple[int, int, int]:
    """Check one release; return how many people there were, who leave all levels open, and who were seen to."""
    if (all_ := listed(seed)) is None or len(all_[2]) < 3:
        return 0, 0, 0
    _, equations, tables, place, trees = all_
    every = np.arange(equations.lower.size)
    values = np.stack([tables[:, place.members(equations.cell(i), trees)].sum(axis=1) for i in every.tolist()], axis=1)
    rng = np.random.default_rng(seed)
    truth = values[rng.integers(len(values))]
    who = np.repeat(np.arange(PEOPLE), 2)
    at = rng.integers(every.size, size=who.size)
    low = truth[at] - rng.integers(0, 3, who.size)
    high = truth[at] + rng.integers(0, 3, who.size)
    free = rng.random(who.size) < 0.2
    targets = every[values.min(axis=0) < values.max(axis=0)]
    down = np.minimum(truth, values.min(axis=0) + rng.integers(0, 3, every.size))[targets]
    up = np.maximum(truth, values.max(axis=0) - rng.integers(0, 3, every.size))[targets]
    found = doubtful(equations, targets, down, up, Facts(who, at, low, high, free), PEOPLE)
    group_of = np.full(every.size, -1)
    for number, group in enumerate(reduce(equations, join=False).groups):
        group_of[group.variables] = number
    fine = np.ones(PEOPLE, bool)
    for person in range(PEOPLE):
        mine = who == person
        fits = ((values[:, at[mine]] >= low[mine]) & (values[:, at[mine]] <= high[mine])).all(axis=1)
        near = np.isin(group_of[targets], group_of[at[mine]][group_of[at[mine]] >= 0])
        for target, least, most in zip(targets[near], down[near], up[near], strict=True):
            own = mine & (at == target)
            least = max([least, *low[own].tolist()])
            most = min([most, *high[own].tolist()])
            seen = values[fits, target]
            fine[person] &= seen.min() <= least and seen.max() >= most
        for one in at[mine & free]:
            fine[person] &= values[fits, one].min() < values[fits, one].max()
    assert not (~found & ~fine).any(), seed
    return PEOPLE, int(fine.sum()), int((fine & ~found).sum())


def check(seeds: Sequence[int]) -> None:
    people, fine, seen = np.array([compare(seed) for seed in seeds]).sum(axis=0)
    assert fine > 0.1 * people
    assert people - fine > 0.1 * people
    assert seen > 0.9 * fine


@few_or_long("seeds", range(60), (*range(120), *range(1_000, 4_000)))
def test_nobody_is_overlooked(seeds: Sequence[int]) -> None:
    check(seeds)
