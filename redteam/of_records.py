"""Attacks on counts of records: a category is listed because somebody is in it, and readers know that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pandas as pd

import discreet as dc
from redteam import claims, laws, originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import Belief, Limit, TooManyError, enumerated
from redteam.judge import Failure, judge_counted, judge_interval, judge_sensitive, judge_weighed
from redteam.notebook import least_of
from redteam.of_counts import policy_drawn
from redteam.policies import policy_of
from redteam.published import published
from redteam.readers import COUNTED, METHOD, OUTSIDER, hides_up_to
from redteam.worlds import Counts, World

BY_FIGURE = ("random-rounding", "conventional-rounding", "hide-and-round")
"""Methods that make every figure from its own count, whose law is stated here."""


def inhabited(world: World) -> list[Limit]:
    """Return that somebody is in every category."""
    return [Limit(world.cells({name: label}), 1) for name, labels in world.dimensions for label in labels]


def recorded(bench: Bench) -> Iterator[Case]:
    """Records are tabulated and assessed; no hierarchy lists the categories that nobody is in."""
    world = originals.flat(bench.random, ((2,), (3,), (3,), (4,), (2, 2), (2, 3)))
    counts: Counts = ()
    while not counts or not all(sum(counts[c] for c in limit.cells) for limit in inhabited(world)):
        counts = originals.counts_in(bench.random, world)
    policy = policy_drawn(bench)
    rows = [leaf for leaf, count in zip(world.leaves, counts, strict=True) for _ in range(count)]
    frame = dict(zip(world.names, zip(*rows, strict=True), strict=True))
    try:
        made = dc.assess(pd.DataFrame(frame), policy_of(policy), by=[*world.names], seed=bench.seed(), workers=1)
    except dc.DiscreetError:
        return
    release, data = made.release, cast("claims.Data", made.to_dict())
    if release is None or release.method == "none":
        return
    known = published(made.evidence.release, world, least=least_of(release, policy))
    also, said, verdict = inhabited(world), list(claims.sensitive(data, world)), claims.verdict(data)
    audit = list(claims.intervals(data["audit"], world)) if data.get("audit") else []
    title, at = f"records by {release.method}", f"{world.shape}: {counts}, policy {policy}"

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(readers.outsider(known, world, also), counts)
        found = [failure for row in audit for failure in judge_interval(row, belief)]
        for row in said:
            found += judge_sensitive(row, verdict, belief, sum(counts[c] for c in row.cells))
        return len(audit) + len(said), found

    def by_counted() -> tuple[int, list[Failure]]:
        found: list[Failure] = []
        people = [cell for cell, count in enumerate(counts) if count]
        for cell in people:
            belief = sure(readers.outsider(known, world, [*also, Limit((cell,), 1)]), counts)
            found += [failure for row in said for failure in judge_counted(row, verdict, belief, cell)]
        return len(people) * len(said), found

    def by_reader() -> tuple[int, list[Failure]]:
        if release.method not in BY_FIGURE:
            raise TooManyError
        up_to = hides_up_to(known)
        limits = [*readers.limits(known), *also]
        belief: Belief = enumerated(len(world.leaves), limits, laws.by_figure(known, up_to))
        belief = sure(belief, counts)
        return len(said), [failure for row in said for failure in judge_weighed(row, verdict, belief, 0.0)]

    yield judged_case(title, OUTSIDER, "assess", at, by_outsider)
    if policy_of(policy).insiders != "none":
        yield judged_case(title, COUNTED, "assess", at, by_counted)
    yield judged_case(title, METHOD, "assess", at, by_reader)
