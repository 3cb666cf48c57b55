"""Attacks on chains: the reader solves all steps together, from what is printed back to what was counted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import discreet as dc
from redteam import claims
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import Belief, TooManyError, together
from redteam.judge import Failure, judge_widest, refuted
from redteam.laws import limit_of
from redteam.of_counts import below, target
from redteam.policies import PROFILES, policy_of
from redteam.published import Figure, Published, published
from redteam.readers import STEPS
from redteam.worlds import Counts, World

THRESHOLD = 3
MOST = 60_000
"""How many counts after the first step are gone through."""


def chained(bench: Bench) -> Iterator[Case]:
    """A swap and then a rounding, audited and assessed; all that can be behind both steps is gone through."""
    at = target(bench, ("chain",))
    first = at.method.given["steps"][0]
    if first.name == "bernoulli-sample":
        # People who were not drawn are bounded by nothing, each cell by itself: the outsider knows all there is.
        return
    seed, policy = bench.seed(), bench.random.choice(PROFILES)
    original = at.world.build(at.counts)
    try:
        release = at.method.apply(original, seed)
        data = dc.audit(release, workers=1, proofs=0).to_dict()
        asked = dc.assess(original, policy_of(policy), protection=at.method.asked, seed=seed, workers=1).to_dict()
    except dc.DiscreetError:
        return
    known = published(release, at.world)
    rows = list(claims.intervals(data, at.world, unfinished=True))
    worked_out: list[bool] = []

    def judged() -> tuple[int, list[Failure]]:
        belief = sure(_before(known, at.world, first.rate), at.counts)
        found = [failure for row in rows for failure in judge_widest(row, belief)]
        if data["verdict"] == "safe":
            found.append(refuted("verdict: chain", "an audit calls a chain safe"))
        if claims.released(asked) and any(claims.sensitive(asked, at.world)):
            found.append(refuted("verdict: chain", f"an assessment under {policy} releases a chain"))
        claimed = {row.cells for row in rows if row.determined}
        small = set(below(at.counts, known, THRESHOLD)) - claimed
        worked_out.append(any(belief.single(cells) for cells in small))
        return len(rows) + 2, found

    case = judged_case(at.method.title, STEPS, "audit, assess", at, judged)
    yield case.with_unclaimed(worked_out)


def _before(known: Published, world: World, rate: float) -> Belief:
    """Return all counts from which a swap, and then the last step, may have led to what is printed.

    A swap of pairs keeps the margins of both dimensions, and takes no cell further than the number of pairs.
    """
    inner = [figure for figure in known.figures if figure.name == "chain"]
    ranges = [_between(figure) for figure in sorted(inner, key=lambda one: one.cells)]
    rows, columns = world.shape
    moves = list(_moves(rows, columns, max(int(rate * sum(r[-1] for r in ranges) / 2 + 1e-9), 0)))
    size = 1
    for values in ranges:
        size *= len(values)
    if size * len(moves) > MOST * 6:
        raise TooManyError
    found: set[Counts] = set()
    for swapped in product(*ranges):
        pairs = int(rate * sum(swapped) / 2 + 1e-9)
        for move in moves:
            counts = tuple(x + by for x, by in zip(swapped, move, strict=True))
            if min(counts) >= 0 and max(map(abs, move)) <= pairs:
                found.add(counts)
    return together(len(world.leaves), [(counts, 1) for counts in found])


def _between(figure: Figure) -> list[int]:
    """Return the counts after the first step that the last one may have led to a figure."""
    kind: Any = figure.said("kinds")[-1]
    limit = limit_of(Figure(figure.cells, kind, figure.value))
    assert limit.high is not None
    return [x for x in range(limit.low, limit.high + 1) if limit.holds(x)]


def _moves(rows: int, columns: int, most: int) -> Iterator[Counts]:
    """Go through changes of a table that keep its margins, and change no cell by more than so much."""
    free = (rows - 1) * (columns - 1)
    for some in product(range(-most, most + 1), repeat=free):
        inner = [list(some[i * (columns - 1) : (i + 1) * (columns - 1)]) for i in range(rows - 1)]
        full = [[*row, -sum(row)] for row in inner]
        full.append([-sum(column) for column in zip(*full, strict=True)])
        change = tuple(x for row in full for x in row)
        if max(map(abs, change)) <= most:
            yield change
