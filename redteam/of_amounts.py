"""Attacks on numbers beside amounts in one ledger: who has a turnover is counted, and who is not counted has none."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import discreet as dc
from redteam import readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import Belief, enumerated, together
from redteam.judge import Failure, refuted
from redteam.originals import firms_of
from redteam.published import Published, published
from redteam.readers import HOLDER
from redteam.worlds import Cells, Counts, World

THRESHOLD = 3


def numbers_beside_amounts(bench: Bench) -> Iterator[Case]:
    """Numbers of firms by some dimensions, and what they turned over by others, checked against one ledger."""
    random = bench.random
    world = World.of(*random.choice(((2, 2), (2, 2), (2, 3), (3,))))
    firms = firms_of(random, world, (1, 2, 3, 5, 8), "FGHJKLM")
    counted = tuple(len({firm for at, firm, _ in firms.rows if at == cell}) for cell in range(len(world.leaves)))
    crossings = [world.names, *((name,) for name in world.names if len(world.names) > 1)]
    made: list[tuple[bool, Any]] = []
    try:
        for names in random.sample(crossings, random.choice((1, len(crossings) - 1 or 1))):
            table = world.build(counted)
            table = table if names == world.names else table.margin(*names)
            made.append((False, _protected(bench, table)))
        made.append((True, dc.suppress(firms.tabulated(), dc.rules.Threshold(random.choice((2, 3)))).release))
    except dc.DiscreetError:
        return
    random.shuffle(made)
    with tempfile.TemporaryDirectory() as folder, dc.Ledger(Path(folder) / "ledger.sqlite") as ledger:
        try:
            for i, (amount, release) in enumerate(made[:-1]):
                ledger.add(release, title=f"release {i}", population="firms", variable="turnover" if amount else "")
            amount, last = made[-1]
            said: dict[str, Any] = {"title": "last", "population": "firms", "variable": "turnover" if amount else ""}
            data = ledger.check(last, **said, threshold=THRESHOLD).to_dict()
        except dc.DiscreetError:
            return

    def judged() -> tuple[int, list[Failure]]:
        if data["verdict"] != "safe":
            return 1, []
        sides, first = _sides(world, made), _sides(world, made[:-1])
        before, found = _joined(first, world, none=True), list[Failure]()
        for none in (False, True):
            both = _joined(sides, world, none=none)
            for known, after, earlier, truth in zip(sides, both, before, (counted, firms.sums), strict=True):
                found += _learned(known, earlier, sure(after, truth), world, small=truth is counted)
        return 2, found

    about = (
        world.dimensions,
        firms.rows,
        [(amount, release.method, release.parts()[0].names) for amount, release in made],
    )
    yield judged_case("numbers beside amounts", HOLDER, "ledger", about, judged)


def _protected(bench: Bench, table: Any) -> Any:
    """Return a release with some of its counts suppressed, or as it is."""
    if bench.random.random() < 0.4:
        return dc.suppress(table, dc.rules.Threshold(bench.random.choice((2, 3)))).release
    return dc.Release(table, "none")


def _sides(world: World, made: Sequence[tuple[bool, Any]]) -> tuple[Published, Published]:
    """Return what releases show of numbers, and of amounts."""
    numbers, amounts = Published(()), Published(())
    for amount, release in made:
        shown = published(release, world, least=1)
        numbers, amounts = (numbers, amounts.beside(shown)) if amount else (numbers.beside(shown), amounts)
    return numbers, amounts


def _joined(sides: Sequence[Published], world: World, *, none: bool) -> tuple[Belief, Belief]:
    """Return what is left of numbers and of amounts together: where somebody has a turnover, somebody is counted.

    A reader may also take it that where nothing is turned over, there is none.
    """
    size = len(world.leaves)
    # Of a side that shows nothing, only where somebody can be matters.
    alone = [readers.outsider(known, world) if known.figures else enumerated(size, (), cap=1) for known in sides]
    numbers, amounts = (list(belief.tables(size)) for belief in alone)
    people, money = ({_where(counts) for counts in some} for some in (numbers, amounts))
    if none:
        people = money = people & money
    kept = [counts for counts in numbers if any(_fits(where, _where(counts), none) for where in money)]
    held = [sums for sums in amounts if any(_fits(_where(sums), where, none) for where in people)]
    found = [together(size, [(counts, 1) for counts in some]) for some in (kept, held)]
    one, other = (replace(belief, open=first.open) for belief, first in zip(found, alone, strict=True))
    return one, other


def _fits(money: frozenset[int], people: frozenset[int], none: bool) -> bool:
    return money == people if none else money <= people


def _where(counts: Counts) -> frozenset[int]:
    return frozenset(cell for cell, count in enumerate(counts) if count)


def _learned(known: Published, before: Belief, after: Belief, world: World, *, small: bool) -> Iterator[Failure]:
    """Go through what follows now, and did not before: hidden figures, and small numbers."""
    hidden = {figure.cells for figure in known.hidden}
    printed = {figure.cells for figure in known.figures if figure.name == "exact"}
    every: list[Cells] = [(cell,) for cell in range(len(world.leaves))]
    for cells in dict.fromkeys([*every, *hidden]):
        if not after.single(cells) or before.single(cells):
            continue
        value = after.ends(cells)[0]
        if cells in hidden or (small and cells not in printed and 0 < value < THRESHOLD):
            yield refuted(
                "verdict: safe", f"{'number' if small else 'amount'} in cells {cells}: together it is {value}"
            )
