"""Attacks on releases of counts."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import discreet as dc
from redteam import claims, methods, originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import Belief, Limit, TooManyError
from redteam.judge import (
    Failure,
    judge_counted,
    judge_figures,
    judge_interval,
    judge_known,
    judge_lines,
    judge_sensitive,
    judge_weighed,
)
from redteam.laws import limit_of
from redteam.methods import Method
from redteam.notebook import Notebook, least_of
from redteam.policies import PROFILES, own, policy_of
from redteam.published import Published, published
from redteam.readers import CHOICE, COUNTED, METHOD, OUTSIDER
from redteam.worlds import Cells, Counts, World


@dataclass(frozen=True)
class Target:
    """An original that is published by a method; ``reading`` has the labels that the release uses."""

    world: World
    counts: Counts
    method: Method
    reading: World
    policy: str = ""

    def __repr__(self) -> str:
        """Return all that makes the case again, but for the seed."""
        groups = f", groups {self.world.groups}" if self.world.groups else ""
        policy = f", policy {self.policy}" if self.policy else ""
        return f"{self.world.shape}{groups}: {self.counts}, {self.method.name} {self.method.given}{policy}"


def target(bench: Bench, names: Collection[str] = ()) -> Target:
    """Return a small original and a method that takes it, among some by name or among all."""
    wanted = [m for m in _wanted(bench) if not names or m.name in names]
    world = originals.tree(bench.random) if bench.random.random() < 0.25 else originals.flat(bench.random)
    while not any(m.suits(world) for m in wanted):
        world = originals.flat(bench.random)
    counts = originals.counts_in(bench.random, world)
    method = bench.random.choice([m for m in wanted if m.suits(world)])
    method, reading = methods.merging(method, world)
    return Target(world, counts, method, reading)


def _wanted(bench: Bench) -> list[Method]:
    return [method for method in methods.COUNTS if not bench.methods or method.title in bench.methods]


def audited(bench: Bench) -> Iterator[Case]:
    """A release of counts by some method, audited as it is or read back from its file."""
    at = target(bench)
    method, world = at.method, at.world
    try:
        release = method.apply(world.build(at.counts), bench.seed() if method.random else None)
    except dc.DiscreetError:
        return
    law = bench.random.choice(("interval", "interval", "tables", "method"))
    from_file = bench.random.random() < 0.2 and method.name != "redesign"
    if from_file:
        ending = bench.random.choice(("csv", "parquet"))
        # A chain that begins with a sample cannot be told in CSV.
        release = _through_file(release, world, "parquet" if method.name == "chain" else ending)
    # Who has the file alone knows of hidden figures what it says.
    known = published(release, at.reading, least=None if from_file else method.least)
    data = dc.audit(release, law=law, seed=bench.seed(), workers=1, proofs=0).to_dict()
    rows = list(claims.intervals(data, at.reading))

    def by_outsider() -> tuple[int, list[Failure]]:
        return judge_audit(data, rows, known, sure(readers.outsider(known, world), at.counts))

    yield judged_case(method.title, OUTSIDER, "audit", at, by_outsider)
    if law == "method" and not from_file:

        def by_reader() -> tuple[int, list[Failure]]:
            belief, slack = readers.knows_method(known, world, method, Notebook())
            return len(rows), list(judge_figures(rows, sure(belief, at.counts), slack))

        yield judged_case(method.title, METHOD, "audit", at, by_reader)


def judge_audit(
    data: claims.Data, rows: Sequence[claims.Interval], known: Published, belief: Belief
) -> tuple[int, list[Failure]]:
    """Judge an audit: every interval, and a verdict of safe; return how many claims there were."""
    found = [failure for row in rows for failure in judge_interval(row, belief)]
    if data["verdict"] == "safe":
        hidden = {f.cells: "hidden figure" for f in known.hidden if not _says_all(f, known)}
        found += judge_known(hidden, belief, "verdict: safe")
    return len(rows) + 1, found


def _says_all(figure: Any, known: Published) -> bool:
    """Say whether a figure by itself leaves one value."""
    limit = limit_of(figure, readers.hides_up_to(known))
    if limit.high is None:
        return False
    return sum(limit.holds(x) for x in range(limit.low, limit.high + 1)) <= 1


def _through_file(release: Any, world: World, ending: str) -> Any:
    """Return a release as a reader of its file gets it, who knows the hierarchies."""
    trees = {name: world.tree(name) for name, _ in world.groups} if ending == "csv" else None
    with tempfile.TemporaryDirectory() as folder:
        return dc.read_release(release.write(Path(folder) / f"release.{ending}")[0], hierarchies=trees)


def suppressed(bench: Bench) -> Iterator[Case]:
    """Counts suppressed and certified in one call."""
    at = target(bench)
    least = bench.random.choice((2, 3, 3, 4))
    options: dict[str, Any] = bench.random.choice(({}, {"method": "optimal"}, {"levels": (1, 1)}, {"cost": "cells"}))
    at = replace(at, method=Method("suppress", (("rules", least), *options.items())), reading=at.world)
    try:
        release = at.method.apply(at.world.build(at.counts))
    except dc.DiscreetError:
        return
    known = published(release, at.world, least=1)
    small = dict.fromkeys(below(at.counts, known, least), f"a count below {least}")

    def by_outsider() -> tuple[int, list[Failure]]:
        return 1, list(judge_known(small, sure(readers.outsider(known, at.world), at.counts), "verdict: safe"))

    yield judged_case(at.method.title, OUTSIDER, "suppress", at, by_outsider)
    yield _unclaimed(at, known, list(small))


def below(counts: Counts, known: Published, least: int) -> list[Cells]:
    """Return the sums among what is published that are counts from 1 to below a threshold."""
    return [f.cells for f in known.figures if 0 < sum(counts[c] for c in f.cells) < least]


def _unclaimed(at: Target, known: Published, secret: list[Cells]) -> Case:
    """Say whether a reader who knows the method works out what no claim protects from them."""
    try:
        belief, _ = readers.knows_method(known, at.world, at.method, Notebook())
    except TooManyError:
        return Case(at.method.title, METHOD, "suppress", repr(at), skipped=True)
    found = any(belief.single(cells) for cells in secret)
    return Case(at.method.title, METHOD, "suppress", repr(at), unclaimed=found)


def assessed(bench: Bench) -> Iterator[Case]:
    """Counts assessed with a protection that is asked for."""
    at = replace(target(bench), policy=policy_drawn(bench))
    given: dict[str, Any] = {"protection": at.method.asked, "seed": bench.seed(), "workers": 1}
    try:
        made = dc.assess(at.world.build(at.counts), policy_of(at.policy), **given)
    except dc.DiscreetError:
        return
    if at.method.name == "suppress":
        at = replace(at, method=replace(at.method, policy=at.policy))
    yield from _judged(made, at, at.method.least, "assess")


def policy_drawn(bench: Bench) -> str:
    """Return a profile, or the text of a policy of one's own."""
    return own(bench.random) if bench.random.random() < 0.4 else bench.random.choice(PROFILES)


def proposed(bench: Bench) -> Iterator[Case]:
    """Counts assessed under a policy that proposes a protection; readers hold the choice against every original."""
    if bench.random.random() < 0.3:
        world = originals.tree(bench.random)
    else:
        world = originals.flat(bench.random, ((2,), (2,), (3,), (3,), (4,), (2, 2), (2, 2), (2, 3)))
    counts = originals.counts_in(bench.random, world, bench.random.choice((4, 8)))
    policy = policy_drawn(bench)
    try:
        made = dc.assess(world.build(counts), policy_of(policy), seed=bench.seed(), workers=1)
    except dc.DiscreetError:
        return
    at = Target(world, counts, Method("none"), world, policy)
    release = made.release
    if release is None:
        return
    if release.method == "none":
        rules = policy_of(policy).rules
        known = published(release, world)
        small = dict.fromkeys(below(counts, known, rules.threshold), "a small count") if rules.combine == "any" else {}
        exact = sure(readers.outsider(known, world), counts)
        yield judged_case("as it is", OUTSIDER, "propose", at, lambda: (1, list(judge_known(small, exact, "verdict"))))
        return
    yield from _judged(made, replace(at, method=_method_of(release, policy)), least_of(release, policy), "propose")


def _method_of(release: Any, policy: str) -> Method:
    """Return the method that an assessment proposed, with the parameters that the reader needs."""
    if release.method == "suppress":
        return Method("suppress", policy=policy)
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in release.parameters.items()}
    return Method(release.method, tuple(given.items()))


def _judged(made: Any, at: Target, least: int | None, door: str) -> Iterator[Case]:
    """Judge an assessment for the outsider, everybody counted, who knows the method, and who knows the choice."""
    data = made.to_dict()
    method, world = at.method, at.world
    known = published(made.evidence.release, at.reading, least=least)
    rows = list(claims.sensitive(data, at.reading))
    audit = list(claims.intervals(data["audit"], at.reading)) if data.get("audit") else []
    fine, verdict = claims.released(data), claims.verdict(data)

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(readers.outsider(known, world), at.counts)
        found = [failure for row in audit for failure in judge_interval(row, belief)]
        for row in rows if fine else ():
            found += judge_sensitive(row, verdict, belief, sum(at.counts[c] for c in row.cells))
        few = policy_of(at.policy).rules.group_disclosure
        if fine and verdict.lines and few is not None:
            found += judge_lines(world.lines(), belief, at.counts, few)
        return len(audit) + (len(rows) if fine else 0), found

    yield judged_case(method.title, OUTSIDER, door, at, by_outsider)
    if not fine or not rows:
        return
    people = [cell for cell, count in enumerate(at.counts) if count]

    def by_counted() -> tuple[int, list[Failure]]:
        found: list[Failure] = []
        for cell in people:
            belief = sure(readers.outsider(known, world, [Limit((cell,), 1)]), at.counts)
            found += [failure for row in rows for failure in judge_counted(row, verdict, belief, cell)]
        return len(people) * len(rows), found

    if policy_of(at.policy).insiders != "none":
        yield judged_case(method.title, COUNTED, door, at, by_counted)
    known_as: list[tuple[Belief, float]] = []
    worked_out: list[bool] = []

    def judged(belief: Belief, slack: float) -> tuple[int, list[Failure]]:
        worked_out.append(any(belief.single(row.cells) for row in rows))
        found = [failure for row in rows for failure in judge_weighed(row, verdict, belief, slack)]
        claimed = verdict.names_method or any(row.bits is not None for row in rows)
        return len(rows) if claimed else 0, found

    def by_reader() -> tuple[int, list[Failure]]:
        belief, slack = readers.knows_method(known, world, method, Notebook())
        known_as.append((sure(belief, at.counts), slack))
        return judged(belief, slack)

    def by_choice() -> tuple[int, list[Failure]]:
        belief, slack = known_as[0]
        chosen = readers.knows_choice(known, world, at.policy, belief, Notebook(), made.evidence.release)
        return judged(sure(chosen, at.counts), slack)

    yield judged_case(method.title, METHOD, door, at, by_reader).with_unclaimed(worked_out)
    if door == "propose" and known_as:
        yield judged_case(method.title, CHOICE, door, at, by_choice).with_unclaimed(worked_out)
