"""The reader's notebook: methods and assessments run again on candidate originals. What was once run is kept.

A budget limits how much may be run for one case. What is kept counts like what is run, so that a case does not depend
on those before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import discreet as dc
from redteam.beliefs import TooManyError
from redteam.methods import Method
from redteam.published import Published, published
from redteam.worlds import Counts, World

BUDGET = 500
"""How many runs a case may take; an assessment counts as sixteen, a hundred draws as twenty."""
ASSESSMENT, DRAWS = 16, 20
REDRAWS = 100
"""How often a random method whose law is not stated is run again on an original."""

_made: dict[Any, Published | None] = {}
_drawn: dict[Any, Counter[Published]] = {}
_chosen: dict[Any, Published | None] = {}
_free: dict[Any, bool] = {}


class Notebook:
    """What is run again for one case."""

    def __init__(self) -> None:
        """Start with the whole budget."""
        self.left = BUDGET

    def spend(self, runs: int) -> None:
        """Take runs from the budget, or say that the case is too expensive."""
        self.left -= runs
        if self.left < 0:
            raise TooManyError

    def made(self, method: Method, world: World, tables: Sequence[Counts]) -> dict[Counts, Published | None]:
        """Return the releases that a method without chance makes of originals, None where it makes none."""
        self.spend(len(tables) * (ASSESSMENT if method.policy else 1))
        for counts in tables:
            if (method, world, counts) not in _made:
                _made[method, world, counts] = _run(method, world, counts, None)
        return {counts: _made[method, world, counts] for counts in tables}

    def drawn(self, method: Method, world: World, tables: Sequence[Counts]) -> dict[Counts, Counter[Published]]:
        """Return how often a random method makes each release of originals."""
        self.spend(len(tables) * DRAWS)
        for counts in tables:
            if (method, world, counts) not in _drawn:
                releases = [_run(method, world, counts, _long(seed)) for seed in range(REDRAWS)]
                _drawn[method, world, counts] = Counter(release for release in releases if release is not None)
        return {counts: _drawn[method, world, counts] for counts in tables}

    def as_they_are(self, policy: str, world: World, tables: Sequence[Counts]) -> dict[Counts, bool]:
        """Return which originals a policy publishes as they are."""
        self.spend(4 * len(tables))
        for counts in tables:
            if (policy, world, counts) not in _free:
                _free[policy, world, counts] = _released(policy, world, counts)
        return {counts: _free[policy, world, counts] for counts in tables}

    def chosen(
        self, policy: str, world: World, tables: Sequence[Counts], seeds: int
    ) -> dict[Counts, Counter[Published | None]]:
        """Return what assessments of originals that propose a protection publish, with as many seeds."""
        self.spend(len(tables) * ASSESSMENT)
        for counts, seed in product(tables, range(seeds)):
            key = (policy, world, counts, seed)
            if key not in _chosen:
                _chosen[key] = _assess(policy, world, counts, seed)
        return {c: Counter(_chosen[policy, world, c, seed] for seed in range(seeds)) for c in tables}


def _run(method: Method, world: World, counts: Counts, seed: int | None) -> Published | None:
    if not any(counts):
        return None
    try:
        return published(method.apply(world.build(counts), seed), world, least=method.least)
    except dc.DiscreetError:
        return None


def _assess(policy: str, world: World, counts: Counts, seed: int) -> Published | None:
    if not any(counts):
        return None
    try:
        release = dc.assess(world.build(counts), policy, seed=_long(seed), workers=1).release
    except dc.DiscreetError:
        return None
    return None if release is None else published(release, world, least=least_of(release))


def _released(policy: str, world: World, counts: Counts) -> bool:
    try:
        return any(counts) and dc.assess(world.build(counts), policy, protection="none", workers=1).verdict == "release"
    except dc.DiscreetError:
        return False


def _long(seed: int) -> int:
    """Return a seed of many bits."""
    return (seed + 1) * (2**129 + 1)


def least_of(release: Any) -> int | None:
    """Return what the hidden figures of a proposed release are at least: profiles always show zeros."""
    return 1 if release.method == "suppress" else None
