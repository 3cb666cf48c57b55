"""The reader's notebook: methods and assessments run again on candidate originals. What was once run is kept.

A budget limits how much may be run for one case. What is kept counts like what is run, so that a case does not depend
on those before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import discreet as dc
from redteam.enumeration import TooManyError
from redteam.methods import Method
from redteam.policies import policy_of
from redteam.published import Published, how_of, published
from redteam.worlds import Counts, World

BUDGET = 900
"""How many runs a case may take; an assessment with a search counts as sixteen, one without as three, and a hundred
draws as twenty."""
SEARCH, ASSESSMENT, DRAWS = 16, 3, 20
REDRAWS = 100
"""How often a random method whose law is not stated is run again on an original."""
SEEDS = 3
"""How often an assessment is run again on an original."""

_made: dict[Any, Published | None] = {}
_drawn: dict[Any, Counter[Published]] = {}
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
        self.spend(len(tables) * (SEARCH if method.policy else 1))
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
        self.spend(ASSESSMENT * len(tables))
        for counts in tables:
            if (policy, world, counts) not in _free:
                _free[policy, world, counts] = _meets(policy, world, counts, "none")
        return {counts: _free[policy, world, counts] for counts in tables}

    def passing(self, policy: str, world: World, tables: Sequence[Counts], release: Any) -> dict[Counts, bool]:
        """Return of which originals a policy lets this very release pass."""
        self.spend(ASSESSMENT * len(tables))
        return {counts: _meets(policy, world, counts, release) for counts in tables}

    def otherwise(self, policy: str, world: World, tables: Sequence[Counts], known: Published) -> dict[Counts, bool]:
        """Return of which originals assessments always publish something that another protection made."""
        self.spend(SEARCH * len(tables))
        how = (known.method, known.parameters)
        made = {counts: {_taken(policy, world, counts, _long(seed)) for seed in range(SEEDS)} for counts in tables}
        return {counts: not found & {how, None} for counts, found in made.items()}


def _run(method: Method, world: World, counts: Counts, seed: int | None) -> Published | None:
    if not any(counts):
        return None
    try:
        return published(method.apply(world.build(counts), seed), world, least=method.least)
    except dc.DiscreetError:
        return None


def _taken(policy: str, world: World, counts: Counts, seed: int) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Return by which method an assessment publishes an original, None where it withholds it."""
    if not any(counts):
        return None
    try:
        release = dc.assess(world.build(counts), policy_of(policy), seed=seed, workers=1).release
    except dc.DiscreetError:
        return None
    return None if release is None else how_of(release)


def _meets(policy: str, world: World, counts: Counts, release: Any) -> bool:
    """Say whether an original meets a policy if this is published of it."""
    if not any(counts):
        return False
    try:
        made = dc.assess(world.build(counts), policy_of(policy), protection=release, workers=1)
    except dc.DiscreetError:
        return False
    return str(made.verdict) != "withhold"


def _long(seed: int) -> int:
    """Return a seed of many bits."""
    return (seed + 1) * (2**129 + 1)


def least_of(release: Any, policy: str) -> int | None:
    """Return what the hidden figures of an assessed release are at least: zeros are shown unless they are sensitive."""
    if release.method != "suppress":
        return None
    return 0 if policy_of(policy).zeros == "unsafe" else 1
