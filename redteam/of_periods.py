"""Attacks on plans that are run again: later periods, revisions, frozen cells, readers who know the last figures."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import ceil, floor
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from redteam import originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import Belief, Limit
from redteam.judge import Failure, judge_known, refuted
from redteam.of_corrections import sum_over, versions
from redteam.of_counts import below
from redteam.of_plans import FORMATS, LIMITS, POLICY, Plan, of_firms, records_of, write_firms, write_people
from redteam.originals import Firms
from redteam.published import Published
from redteam.readers import HOLDER
from redteam.worlds import Cells, Counts, World

METHODS = (*["suppress"] * 3, "conventional-rounding:base=3,margins=true", "controlled-rounding:base=3")
P_PERCENT = 10
"""The rule of the profile for business."""
FEWEST = 3
"""How many people must have made a change."""


@dataclass(frozen=True)
class Again:
    """How a plan is run again: as a revision or for another period, keeping the last pattern or not."""

    revision: bool
    keep: bool
    growth: int | None
    frozen: tuple[tuple[str, str], ...] = ()
    state: str = "open"
    compared: bool = False

    def plan(self, first: Plan) -> Plan:
        """Return the plan of the second run."""
        period = "q1" if self.revision else "q2"
        more = first.more.replace('period = "q1"', f'period = "{period}"').replace('"first"', '"second"')
        parts = '[previous]\nfolder = "out1"\n' if self.keep else ""
        if self.keep:
            parts += "revision = true\n" if self.revision else ""
            parts += 'records = "first.csv"\n' if self.revision and self.compared else ""
            parts += f"growth = {self.growth}\n" if self.growth else ""
        elif self.revision:
            variable = "value" if "contributor" in first.records else "count"
            more += f'\nrevises = ["T · {variable} · q1 · first"]'
        if self.frozen:
            cell = ", ".join(f'{name} = "{label}"' for name, label in self.frozen)
            parts += f'[[frozen]]\ncell = {{ {cell} }}\nstate = "{self.state}"\n'
        return replace(first, more=more, output="out2", parts=parts)


def run_again(bench: Bench) -> Iterator[Case]:
    """People in the tables of a plan, which is run a second time: a revision, or the next period."""
    random = bench.random
    world = World.of(*random.choice(((3,), (2, 2), (2, 2), (2, 3), (2, 2, 2))))
    counts = originals.counts_in(random, world, 5)
    later = _changed(random, counts)
    threshold = random.choice((2, 3))
    plan = _first(random, world, "own.toml", random.choice(METHODS))
    again = _again(random, world, plan)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        policy = POLICY.format("none", random.choice(("if safe", "never")), threshold) + LIMITS.format('"none"')
        (folder / "own.toml").write_text(policy, encoding="utf-8")
        write_people(folder / "records.csv", world, counts)
        told = plan.run(folder, "--publish")
        if told is None or told["verdict"] == "withhold":
            return
        write_people(folder / "first.csv", world, counts)
        write_people(folder / "records.csv", world, later)
        second = again.plan(plan)
        told = second.run(folder)
        if told is None or told["verdict"] == "withhold":
            return
        old, new = plan.seen(folder, world, 1), second.seen(folder, world, 1)
    small = dict.fromkeys(below(later, new, threshold), f"a count below {threshold}")

    def by_holder() -> tuple[int, list[Failure]]:
        before, after = sure(readers.outsider(old, world), counts), sure(readers.outsider(new, world), later)
        found = list(judge_known(small, after, "verdict: plan"))
        if again.growth and again.keep and "suppress" in plan.protection:
            grown = sure(readers.outsider(new, world, _grown(old, before, later, again.growth)), later)
            found += judge_known(small, grown, "verdict: growth")
        if counts != later:
            told = _corrected(world, plan, (old, before, counts), (new, after, later), threshold)
            return 1, [*found, *_few(world, before, after), *(told if again.revision else ())]
        if not _seen_unchanged(again, old, new):
            return 1, found
        return 1, [*found, *_carried(world, (old, before), (new, after), threshold, counts)]

    about = (counts, later, plan, again, threshold)
    title = "plan revised" if again.revision else "plan of the next period"
    yield judged_case(title, HOLDER, "plan", about, by_holder)


def run_again_amounts(bench: Bench) -> Iterator[Case]:
    """What firms turned over, in a plan that is run a second time; every firm reads both."""
    random = bench.random
    world = World.of(*random.choice(((3,), (2, 2), (2, 2), (2, 3))))
    firms = originals.firms_of(random, world, (1, 2, 3, 5))
    moved = random.choice((0, 0, 1, 2, 9))
    at = random.sample(range(len(firms.rows)), min(moved, len(firms.rows)))
    rows = [_later(random, firms, row) if i in at else row for i, row in enumerate(firms.rows)]
    later = Firms(world, tuple(rows))
    plan = _first(random, world, "business", "suppress", records_of())
    again = _again(random, world, plan)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_firms(folder / "records.csv", firms)
        told = plan.run(folder, "--publish")
        if told is None or told["verdict"] == "withhold":
            return
        write_firms(folder / "first.csv", firms)
        write_firms(folder / "records.csv", later)
        second = again.plan(plan)
        told = second.run(folder)
        if told is None or told["verdict"] == "withhold":
            return
        old, new = plan.seen(folder, world, 1), second.seen(folder, world, 1)
    # Somebody who holds both versions of the same values takes them together.
    known = old.beside(new) if firms == later and _seen_unchanged(again, old, new) else new
    known = replace(known, figures=tuple(dict.fromkeys(known.figures)))
    title = "plan of amounts revised" if again.revision else "plan of amounts, next period"
    about = (firms.rows, later.rows, plan, again)
    yield from of_firms(title, later, (), known, about)
    if again.revision and firms != later:
        levels = _levels(plan, later, told)

        def by_both() -> tuple[int, list[Failure]]:
            beliefs = sure(readers.outsider(old, world), firms.sums), sure(readers.outsider(new, world), later.sums)
            pairs = versions(beliefs, (firms.sums, later.sums), _finest(world, plan))
            return 1, list(_too_close(levels, [now for _, now in pairs]))

        yield judged_case(title, HOLDER, "plan", about, by_both)
    if again.growth and again.keep:
        secret = {f.cells: "a sum of few" for f in new.hidden if 0 < later.others(f.cells) < FEWEST}

        def by_holder() -> tuple[int, list[Failure]]:
            before = sure(readers.outsider(old, world), firms.sums)
            grown = _grown(old, before, later.sums, again.growth or 0)
            belief = sure(readers.outsider(new, world, grown), later.sums)
            return 1, list(judge_known(secret, belief, "verdict: growth"))

        yield judged_case(title, HOLDER, "plan", about, by_holder)


def _seen_unchanged(again: Again, old: Published, new: Published) -> bool:
    """Say whether readers can tell that nothing changed: of another period, by a figure that both print."""
    return again.revision or any(figure.value for figure in set(old.figures) & set(new.figures))


def _later(random: Random, firms: Firms, row: tuple[int, str, int]) -> tuple[int, str, int]:
    """Return what became of a record: another amount, cell or owner; a sum that was printed can now be one of few."""
    cell, firm, value = row
    return random.choice(
        (
            (cell, firm, random.choice((1, 2, 3, 5))),
            (random.randrange(len(firms.world.leaves)), firm, value),
            (cell, random.choice(firms.names), value),
        )
    )


def _first(random: Random, world: World, policy: str, protection: str, records: str = "") -> Plan:
    """Return the plan of the first run."""
    crossings = [names for k in range(1, len(world.names) + 1) for names in combinations(world.names, k)]
    tables = tuple(random.sample(crossings, random.choice((1, 1, min(2, len(crossings))))))
    fewest = f"fewest = {FEWEST if not records else 1}"
    more = f'ledger = "ledger.sqlite"\nperiod = "q1"\nvintage = "first"\n{fewest}'
    made = Plan(tables, protection, policy, random.choice(list(FORMATS)), more=more, output="out1")
    return replace(made, records=records) if records else made


def _again(random: Random, world: World, plan: Plan) -> Again:
    frozen: tuple[tuple[str, str], ...] = ()
    if random.random() < 0.2:
        frozen = tuple((name, random.choice(dict(world.dimensions)[name])) for name in plan.tables[0])
    growth = random.choice((None, 5, 20, 50))
    how = random.random() < 0.4, random.random() < 0.7, growth, frozen, random.choice(("open", "closed"))
    return Again(*how, compared=random.random() < 0.6)


def _changed(random: Random, counts: Counts) -> Counts:
    """Return the counts a while later: the same, or some of them up or down by a few."""
    moved = random.choice((0, 0, 1, 2, 3, len(counts)))
    at = random.sample(range(len(counts)), min(moved, len(counts)))
    later = [
        max(count + random.choice((-2, -1, 1, 1, 2, 4)), 0) if i in at else count for i, count in enumerate(counts)
    ]
    return tuple(later) if sum(later) else counts


def _grown(old: Published, before: Belief, later: Counts, growth: int) -> list[Limit]:
    """Return what somebody expects who takes it that no figure changed by more than some per cent, rightly.

    A figure that was hidden is one of the values that are left of it.
    """
    found = []
    for figure in old.figures:
        least, most = before.ends(figure.cells)
        if most == 0:
            continue
        low, high = ceil(least * (100 - growth) / 100), None if most is None else floor(most * (100 + growth) / 100)
        limit = Limit(figure.cells, max(low, 0), high)
        if limit.holds(sum(later[c] for c in figure.cells)):
            found.append(limit)
    return found


def _few(world: World, before: Belief, after: Belief) -> Iterator[Failure]:
    """Judge that no change was made by few people: of the whole, and of one category, by every crossing."""
    names = world.names
    parts: list[Mapping[str, str]] = [{}]
    # A category in which nobody was, or is, is in one of the two tables only.
    both = {
        name: [one for one in labels if _there(world, before, {name: one}) and _there(world, after, {name: one})]
        for name, labels in world.dimensions
    }
    parts += [{name: label} for name, labels in both.items() for label in labels if len(names) > 1]
    for part in parts:
        crossings = [
            some
            for k in range(1 + len(part), len(names) + 1)
            for some in combinations(names, k)
            if set(part) <= set(some)
        ]
        moves = [_moves(world, {name: both[name] for name in some}, part, before, after) for some in crossings]
        # Cells that are known elsewhere may show that more people took part.
        least = max((_people(moved) for moved in moves), default=0)
        for some, moved in zip(crossings, moves, strict=True):
            if moved and None not in moved and _people(moved) > 0 and least < FEWEST:
                yield refuted("verdict: changes", f"{some} {dict(part)}: {moved}, by {least} people")


def _moves(
    world: World, both: Mapping[str, Sequence[str]], part: Mapping[str, str], before: Belief, after: Belief
) -> list[int | None]:
    """Return by how much the cells of a crossing changed, in one category or in all; None where that is not known."""
    labels = [[part[name]] if name in part else some for name, some in both.items()]
    inside = [world.cells(dict(zip(both, crossing, strict=True))) for crossing in product(*labels)]
    return [
        after.ends(cells)[0] - before.ends(cells)[0] if before.single(cells) and after.single(cells) else None
        for cells in inside
    ]


def _there(world: World, belief: Belief, label: Mapping[str, str]) -> bool:
    """Say whether somebody may be in a category, as far as readers see."""
    return belief.ends(world.cells(label)) != (0, 0)


def _people(moved: Sequence[int | None]) -> int:
    """Return how many people took part in a change at least."""
    return max(sum(m for m in moved if m and m > 0), -sum(m for m in moved if m and m < 0))


Version: TypeAlias = tuple[Published, Belief, Counts]
"""What was published, what it leaves on its own, and the truth."""


def _corrected(world: World, plan: Plan, first: Version, second: Version, threshold: int) -> Iterator[Failure]:
    """Judge what both versions tell somebody who knows which cells of the tables went up or down, and neither alone."""
    pairs = versions((first[1], second[1]), (first[2], second[2]), _finest(world, plan))
    for side, (shown, belief, truth) in enumerate((first, second)):
        secret = [*(figure.cells for figure in shown.hidden), *below(truth, shown, threshold)]
        for cells in dict.fromkeys(secret):
            values = {sum_over(pair[side], cells) for pair in pairs}
            if len(values) == 1 and not belief.single(cells):
                yield refuted("verdict: corrected", f"cells {cells} of version {side + 1}: both leave {values}")


def _finest(world: World, plan: Plan) -> list[Cells]:
    """Return the finest cells of every table of a plan."""
    return [
        world.cells(dict(zip(names, labels, strict=True)))
        for names in plan.tables
        for labels in product(*(dict(world.dimensions)[name] for name in names))
    ]


def _levels(plan: Plan, firms: Firms, told: Mapping[str, Any]) -> dict[Cells, tuple[int, int]]:
    """Return what the intervals of cells must reach by the 10% rule, without those that a plan says are known.

    The two largest firms, and how little the others leave between them, say how far.
    """
    texts = [one["text"] for cluster in told["clusters"] for one in cluster["checks"]]
    known = " ".join(text.partition("whatever is hidden now: ")[2] for text in texts)
    found = {}
    for names in {some for one in plan.tables for k in range(len(one) + 1) for some in combinations(one, k)}:
        for labels in product(*(dict(firms.world.dimensions)[name] for name in names)):
            called = ", ".join(f"{name}={label}" for name, label in zip(names, labels, strict=True)) or "total"
            cells = firms.world.cells(dict(zip(names, labels, strict=True)))
            by_firm = sorted((sum(firms.own(one).get(c, 0) for c in cells) for one in firms.names), reverse=True)
            total, (largest, second, *_) = sum(by_firm), (*by_firm, 0, 0)
            needed = P_PERCENT / 100 * largest - (total - largest - second)
            if needed > 0 and re.search(rf"(^|; ){called} (=|between|at) ", known) is None and " more (" not in known:
                found[cells] = max(floor(total - needed), 1), ceil(total + needed)
    return found


def _too_close(secret: Mapping[Cells, tuple[int, int]], left: Sequence[Counts]) -> Iterator[Failure]:
    """Judge that cells reach their levels in the originals that are left."""
    for cells, (low, high) in secret.items():
        values = {sum_over(one, cells) for one in left}
        if min(values) > low or max(values) < high:
            yield refuted("verdict: levels", f"cells {cells}: {sorted(values)}, must reach {low} to {high}")


def _carried(
    world: World, first: tuple[Published, Belief], second: tuple[Published, Belief], threshold: int, counts: Counts
) -> Iterator[Failure]:
    """Judge what both tell of the same values, and neither alone: hidden figures, and small counts of either."""
    (old, before), (new, after) = first, second
    both = old.beside(new)
    belief = readers.outsider(replace(both, figures=tuple(dict.fromkeys(both.figures))), world)
    small = below(counts, both, threshold)
    for cells in dict.fromkeys([*(figure.cells for figure in both.hidden), *small]):
        if belief.single(cells) and not (before.single(cells) or after.single(cells)):
            yield refuted("verdict: both runs", f"cells {cells}: together they are {belief.ends(cells)[0]}")
        elif cells in small and belief.single(cells):
            yield refuted("verdict: both runs", f"cells {cells}: one of them says {belief.ends(cells)[0]}")
