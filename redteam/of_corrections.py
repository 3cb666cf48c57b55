"""Attacks on corrections: a table and its correction, in one ledger with the true tables of both.

The reader holds both releases, and knows which cells went up, and which down, though not by how much.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random

import discreet as dc
from redteam import originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import MOST_TABLES, Belief, TooManyError
from redteam.judge import Failure, refuted
from redteam.methods import Method
from redteam.published import Published, published
from redteam.readers import HOLDER
from redteam.worlds import Cells, Counts

WAYS = (
    Method("suppress", (("rules", 2),)),
    Method("suppress", (("rules", 3),)),
    Method("random-rounding", (("base", 3), ("margins", True))),
    Method("conventional-rounding", (("base", 3), ("margins", True))),
    Method("conventional-rounding", (("base", 5),)),
    Method("controlled-rounding", (("base", 3),)),
    Method("small-count-rounding", (("base", 3),)),
    Method("hide-and-round", (("limit", 2), ("base", 3))),
)
"""How the two versions of a table are made."""
SHAPES = ((2,), (3,), (3,), (2, 2), (2, 2), (2, 3))


def corrected(bench: Bench) -> Iterator[Case]:
    """A table is released, corrected, and released again, protected in the same way or in another."""
    random, world = bench.random, originals.flat(bench.random, SHAPES)
    counts = originals.counts_in(random, world, 4)
    later = _later(random, counts)
    first = random.choice(WAYS)
    ways = first, first if random.random() < 0.7 else random.choice(WAYS)
    width = random.choice((None, None, 1, 2))
    truth = {"first": world.build(counts), "second": world.build(later)}
    with tempfile.TemporaryDirectory() as folder, dc.Ledger(Path(folder) / "ledger.sqlite") as ledger:
        try:
            made = [
                way.apply(table, bench.seed() if way.random else None)
                for way, table in zip(ways, truth.values(), strict=True)
            ]
            ledger.add(made[0], title="first", population="people")
            checked = ledger.check(
                made[1], title="second", population="people", revises="first", fewest=1, width=width, originals=truth
            )
        except dc.DiscreetError:
            return
    shown = [published(release, world, least=way.least) for release, way in zip(made, ways, strict=True)]

    def by_holder() -> tuple[int, list[Failure]]:
        if checked.verdict != "safe":
            return 1, []
        both = zip(shown, (counts, later), strict=True)
        beliefs = [sure(readers.outsider(known, world), table) for known, table in both]
        pairs = versions((beliefs[0], beliefs[1]), (counts, later), [(cell,) for cell in range(len(world.leaves))])
        moved = {cell for cell, (one, other) in enumerate(zip(counts, later, strict=True)) if one != other}
        found = []
        for side, known in enumerate(shown):
            # Large figures are printed as they are by methods that round small ones.
            secret = (limit.cells for limit in readers.limits(known) if limit.low != limit.high)
            for cells in dict.fromkeys(secret):
                values = {sum_over(pair[side], cells) for pair in pairs}
                ends = min(values), max(values)
                before = (side == 0 or not moved & set(cells)) and beliefs[0].ends(cells) == ends
                if ends[1] - ends[0] < (width or 1) and not before:
                    found.append(refuted("verdict: safe", f"cells {cells} of version {side + 1}: {sorted(values)}"))
        return 1, found

    told = (world.dimensions, counts, later, [(way.name, way.given) for way in ways], width)
    yield judged_case("corrected", HOLDER, "ledger", told, by_holder)


def corrected_twice(bench: Bench) -> Iterator[Case]:
    """A table is corrected twice, without true tables: what is printed alike is taken to be as it was."""
    random, world = bench.random, originals.flat(bench.random, SHAPES[:5])
    truth = [originals.counts_in(random, world, 4)]
    for _ in range(2):
        truth.append(_later(random, truth[-1]))
    ways = [random.choice(WAYS) for _ in truth]
    with tempfile.TemporaryDirectory() as folder, dc.Ledger(Path(folder) / "ledger.sqlite") as ledger:
        try:
            made = [
                way.apply(world.build(table), bench.seed() if way.random else None)
                for way, table in zip(ways, truth, strict=True)
            ]
            ledger.add(made[0], title="first", population="people")
            ledger.add(made[1], title="second", population="people", revises="first")
            checked = ledger.check(
                made[2], title="third", population="people", revises="second", fewest=1, threshold=None
            )
        except dc.DiscreetError:
            return
    shown = [published(release, world, least=way.least) for release, way in zip(made, ways, strict=True)]

    def by_holder() -> tuple[int, list[Failure]]:
        if checked.verdict != "safe":
            return 1, []
        beliefs = [readers.outsider(known, world) for known in shown]
        limits = [[limit for limit in readers.limits(known) if limit.low != limit.high] for known in shown]
        every, past = (_taken_alike(beliefs[:end], shown[:end], len(world.leaves)) for end in (3, 2))
        found = []
        secret = ((k, limit.cells) for k, known in enumerate(limits) for limit in known)
        for side, cells in dict.fromkeys(secret):
            values = {sum_over(one[side], cells) for one in every}
            before = [{sum_over(one[k], cells) for one in past} for k in range(2)]
            if len(values) == 1 and values not in (before if side == 2 else [before[side]]):
                found.append(refuted("verdict: safe", f"cells {cells} of version {side + 1}: {values}"))
        return 1, found

    told = (world.dimensions, truth, [(way.name, way.given) for way in ways])
    yield judged_case("corrected twice", HOLDER, "ledger", told, by_holder)


def _taken_alike(beliefs: Sequence[Belief], shown: Sequence[Published], size: int) -> list[tuple[Counts, ...]]:
    """Return all originals of several versions in which cells that no two print differently are equal."""
    if any(belief.open for belief in beliefs):
        raise TooManyError
    ends = [{one.cells: (one.low, one.high) for one in readers.limits(known)} for known in shown]
    found: list[tuple[Counts, ...]] = [()]
    for k, belief in enumerate(beliefs):
        alike = [(i, c) for i in range(k) for c in range(size) if not _apart(ends[i].get((c,)), ends[k].get((c,)))]
        tables: dict[tuple[int, ...], list[Counts]] = {}
        for table in belief.tables(size):
            tables.setdefault(tuple(table[c] for _, c in alike), []).append(table)
        found = [(*one, table) for one in found for table in tables.get(tuple(one[i][c] for i, c in alike), ())]
        if len(found) > MOST_TABLES:
            raise TooManyError
    return found


def _apart(one: tuple[int, int | None] | None, other: tuple[int, int | None] | None) -> bool:
    """Say whether no value lies in both ranges."""
    if one is None or other is None:
        return False
    return any(high is not None and low > high for low, high in ((one[0], other[1]), (other[0], one[1])))


def _later(random: Random, counts: Counts) -> Counts:
    """Return the counts with a few of them corrected."""
    at = random.sample(range(len(counts)), min(random.choice((1, 1, 2, 3)), len(counts)))
    later = tuple(
        max(count + random.choice((-2, -1, -1, 1, 1, 2)), 0) if i in at else count for i, count in enumerate(counts)
    )
    return later if sum(later) and later != counts else (counts[0] + 1, *counts[1:])


def versions(
    beliefs: tuple[Belief, Belief], truth: tuple[Counts, Counts], finest: Sequence[Cells]
) -> list[tuple[Counts, Counts]]:
    """Return all pairs of originals that are left to a reader who knows which of the finest cells went up or down."""
    if beliefs[0].open or beliefs[1].open:
        raise TooManyError
    size = len(truth[0])
    ways = [_way(truth, cells) for cells in finest]
    same: dict[tuple[int, ...], tuple[list[Counts], list[Counts]]] = {}
    for side, belief in enumerate(beliefs):
        for table in belief.tables(size):
            key = tuple(sum_over(table, cells) for cells, way in zip(finest, ways, strict=True) if way == 0)
            same.setdefault(key, ([], []))[side].append(table)
    if sum(len(one) * len(other) for one, other in same.values()) > MOST_TABLES:
        raise TooManyError
    moved = [(cells, way) for cells, way in zip(finest, ways, strict=True) if way]
    return [
        pair
        for ends in same.values()
        for pair in product(*ends)
        if all(_way(pair, cells) == way for cells, way in moved)
    ]


def _way(pair: tuple[Counts, Counts], cells: Cells) -> int:
    """Return 1 if a sum went up, -1 if it went down, 0 if it is as it was."""
    change = sum_over(pair[1], cells) - sum_over(pair[0], cells)
    return (change > 0) - (change < 0)


def sum_over(counts: Counts, cells: Cells) -> int:
    """Return the sum of some cells."""
    return sum(counts[cell] for cell in cells)
