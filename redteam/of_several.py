"""Attacks on several tables of the same people, and on samples of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import discreet as dc
from redteam import claims, laws, originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import Belief, together
from redteam.judge import NEAR, Failure, judge_figures, judge_interval, judge_known, refuted
from redteam.methods import Method
from redteam.of_counts import below
from redteam.published import Published, published
from redteam.readers import HOLDER, METHOD, OUTSIDER
from redteam.worlds import Cells, Counts, World

THRESHOLD = 3
"""Counts below this must not be worked out."""


LINKED = (
    Method("suppress", (("rules", 3),)),
    Method("random-rounding", (("base", 3), ("margins", True))),
    Method("conventional-rounding", (("base", 3), ("margins", True))),
    Method("controlled-rounding", (("base", 3),)),
    Method("hide-and-round", (("limit", 3), ("base", 5))),
    Method("cell-key", (("bound", 2), ("variance", 1), ("margins", True))),
)
BY_FIGURE = ("random-rounding", "conventional-rounding", "hide-and-round")
"""Methods that make every figure from its own value alone."""


def linked(bench: Bench) -> Iterator[Case]:
    """Two tables of the same people, protected together or one by one, and audited together."""
    world = World.of(2, 2, 2)
    counts = originals.counts_in(bench.random, world, 5)
    cube = world.build(counts)
    crossings = bench.random.choice(((("a", "b"), ("a", "c")), (("a", "b"), ("c",)), (("a",), ("c",))))
    tables = [cube.margin(*names) for names in crossings]
    method = bench.random.choice(LINKED)
    joint = method.name == "suppress" or (method.name != "cell-key" and bench.random.random() < 0.6)
    law = bench.random.choice(("interval", "method"))
    try:
        if joint:
            releases = [method.apply(tables, bench.seed() if method.random else None)]
        else:
            releases = [method.apply(table, bench.seed() if method.random else None) for table in tables]
        data = dc.audit(releases, law=law, seed=bench.seed(), workers=1, proofs=0).to_dict()
    except dc.DiscreetError:
        return
    known = Published(())
    for release in releases:
        known = known.beside(published(release, world, least=method.least))
    if joint:
        # A figure that both tables show was made once.
        known = replace(known, figures=tuple(dict.fromkeys(known.figures)))
    rows = list(claims.intervals(data, world))
    up_to = int(method.given["limit"]) if method.name == "hide-and-round" else None

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(readers.outsider(known, world), counts)
        found = [failure for row in rows for failure in judge_interval(row, belief)]
        if method.name == "suppress":
            small = dict.fromkeys(below(counts, known, 3), "a count below 3")
            found += judge_known(small, belief, "verdict: safe")
        return len(rows) + 1, found

    def by_reader() -> tuple[int, list[Failure]]:
        belief = alike(known, readers.outsider(known, world), laws.by_figure(known, up_to)(tuple(range(8))))
        return len(rows), list(judge_figures(rows, sure(belief, counts), 0.0))

    about = (crossings, counts, method, "together" if joint else "one by one")
    yield judged_case(f"{method.name} (linked)", OUTSIDER, "audit", about, by_outsider)
    if law == "method" and method.name in BY_FIGURE:
        yield judged_case(f"{method.name} (linked)", METHOD, "audit", about, by_reader)


def alike(known: Published, belief: Belief, weight: Callable[[Counts], float]) -> Belief:
    """Return all crossings with weights by which every pair of tables that fits is alike, whatever lies behind it."""
    size = sum(len(part.cells) for part in belief.parts)
    behind: dict[Counts, list[Counts]] = {}
    for counts in belief.tables(size):
        behind.setdefault(tuple(sum(counts[c] for c in figure.cells) for figure in known.figures), []).append(counts)
    return together(size, [(one, weight(one) / len(some)) for some in behind.values() for one in some])


def released_before(bench: Bench) -> Iterator[Case]:
    """A second release checked against a ledger that holds a first one of the same people."""
    geography = bench.random.random() < 0.5
    world, first, second = _geographies(bench) if geography else _crossings(bench)
    with tempfile.TemporaryDirectory() as folder, dc.Ledger(Path(folder) / "ledger.sqlite") as ledger:
        try:
            ledger.add(first, title="first", population="people")
            data = ledger.check(second, title="second", population="people", threshold=THRESHOLD).to_dict()
        except dc.DiscreetError:
            return
    old, new = (published(release, world, least=1) for release in (first, second))

    def by_holder() -> tuple[int, list[Failure]]:
        return 1, list(_learned(world, old, new)) if data["verdict"] == "safe" else []

    title = "two geographies" if geography else "two crossings"
    about = [[(world.leaves[f.cells[0]], len(f.cells), f.value) for f in known.figures] for known in (old, new)]
    yield judged_case(title, HOLDER, "ledger", about, by_holder)


WAYS = (
    Method("suppress", (("rules", 3),)),
    Method("random-rounding", (("base", 3),)),
    Method("random-rounding", (("base", 3), ("margins", True))),
    Method("random-rounding", (("base", 5), ("additive", True))),
    Method("conventional-rounding", (("base", 3), ("margins", True))),
    Method("conventional-rounding", (("base", 5),)),
    Method("controlled-rounding", (("base", 3),)),
    Method("small-count-rounding", (("base", 3),)),
    Method("cell-key", (("bound", 2), ("variance", 1))),
    None,
    None,
)
"""How each of two releases of the same people is made; None is as it is."""


def in_two_ways(bench: Bench) -> Iterator[Case]:
    """A table or its margins, published in two ways; not both releases need state a population."""
    random, world = bench.random, originals.flat(bench.random)
    table = world.build(counts := originals.counts_in(random, world, 5))
    ways, releases = [random.choice(WAYS), random.choice(WAYS)], []
    shown = [table, table]
    if len(world.shape) == 2:
        one, other = random.sample([table.margin("a"), table.margin("b")], 2)
        shown = random.choice(([one, other], [one, other], [one, table], [table, one], shown))
    try:
        for way, some in zip(ways, shown, strict=True):
            seed = bench.seed() if way is not None and way.random else None
            releases.append(dc.Release(some, "none") if way is None else way.apply(some, seed))
    except dc.DiscreetError:
        return
    who, whom = random.choice((("people", "people"), ("people", ""), ("", "people"), ("", "")))
    with tempfile.TemporaryDirectory() as folder, dc.Ledger(Path(folder) / "ledger.sqlite") as ledger:
        ledger.add(releases[0], title="first", population=who)
        data = ledger.check(releases[1], title="second", population=whom, threshold=THRESHOLD).to_dict()
    old, new = (published(release, world) for release in releases)

    def by_holder() -> tuple[int, list[Failure]]:
        return 1, list(_learned(world, old, new)) if data["verdict"] == "safe" else []

    about = (world.dimensions, counts, [None if way is None else (way.name, way.given) for way in ways], who, whom)
    yield judged_case("in two ways", HOLDER, "ledger", about, by_holder)


AGAIN = (
    Method("random-rounding", (("base", 3),)),
    Method("random-rounding", (("base", 5), ("additive", True))),
    Method("random-rounding", (("base", 3), ("margins", True))),
    Method("conventional-rounding", (("base", 3),)),
    Method("cell-key", (("bound", 2), ("variance", 1), ("additive", True))),
)


def drawn_again(bench: Bench) -> Iterator[Case]:
    """The same table published a second time, by a draw of its own, and checked against a ledger with the first."""
    world = originals.flat(bench.random)
    counts = originals.counts_in(bench.random, world)
    original, dr = world.build(counts), bench.random.choice((0.5, 0.7, 1.0))
    first = bench.random.choice(AGAIN)
    made = [first, first if bench.random.random() < 0.7 else bench.random.choice(AGAIN)]
    policy = dc.Policy.from_text(f"[rules]\nthreshold = {THRESHOLD}\n[limits]\ndr = {dr}\n")
    with tempfile.TemporaryDirectory() as folder, dc.Ledger(Path(folder) / "ledger.sqlite") as ledger:
        try:
            releases = [method.apply(original, bench.seed() if method.random else None) for method in made]
            ledger.add(releases[0], title="first", population="people")
            data = ledger.check(releases[1], title="second", population="people", policy=policy).to_dict()
        except dc.DiscreetError:
            return
    old, new = (published(release, world) for release in releases)
    both = old.beside(new)

    def by_holder() -> tuple[int, list[Failure]]:
        if data["verdict"] != "safe":
            return 1, []
        belief, *alone = (sure(readers.by_figure(known, world), counts) for known in (both, old, new))
        found: list[Failure] = []
        for cells in dict.fromkeys(figure.cells for figure in both.hidden if figure.name != "added"):
            # The risk of each table by itself is not judged by a ledger.
            if belief.bits(cells) + NEAR < 1 / dr <= min(one.bits(cells) for one in alone):
                told = f"cells {cells}: {belief.bits(cells):.4f} bits, and 1/H is to be at most {dr}"
                found.append(refuted("verdict: safe", told))
        return 1, found

    about = (world.dimensions, counts, [(method.name, method.given) for method in made], dr)
    yield judged_case("published again", HOLDER, "ledger", about, by_holder)


def _learned(world: World, old: Published, new: Published) -> Iterator[Failure]:
    """Go through what two releases give away together, and neither alone: hidden figures, and small counts."""
    both = old.beside(new)
    together, before, alone = (readers.outsider(known, world) for known in (both, old, new))
    hidden = {figure.cells for figure in both.hidden}
    printed = {figure.cells for figure in both.figures if figure.name == "exact"}
    unions = list(_unions(world))
    for cells in dict.fromkeys([*unions, *hidden]):
        if not together.single(cells) or before.single(cells) or alone.single(cells):
            continue
        value = together.ends(cells)[0]
        # A sum of sums that follow by themselves tells nothing that they do not.
        least = not any(together.single(part) for part in unions if set(part) < set(cells))
        if cells in hidden or (cells not in printed and least and 0 < value < THRESHOLD):
            yield refuted("verdict: safe", f"cells {cells}: together they are {value}")


def _crossings(bench: Bench) -> tuple[World, Any, Any]:
    """Return two tables of the same people that share one dimension."""
    world = World.of(2, 2, 2)
    cube = world.build(originals.counts_in(bench.random, world, 4))
    tables = [cube.margin("a", "b"), cube.margin("a", "c")]
    hide = bench.random.random() < 0.5
    made = []
    for table in tables:
        release = dc.Release(table, "none")
        if hide:
            try:
                release = dc.suppress(table, dc.rules.Threshold(3)).release
            except dc.DiscreetError:
                hide = False
        made.append(release)
    return world, made[0], made[1]


def _geographies(bench: Bench) -> tuple[World, Any, Any]:
    """Return the same people by two geographies over the same streets."""
    streets = ("s1", "s2", "s3", "s4")
    inner = tuple(sorted(bench.random.sample(streets, 2)))
    rest = tuple(street for street in streets if street not in inner)
    cut = bench.random.choice((3, 4))
    north = streets[:cut]
    dimensions = (("area", streets), ("sex", ("m", "w")))
    groups = (("area", (("north", north), ("coast", inner), ("elsewhere", rest), ("south", streets[cut:]))),)
    world = World(dimensions, groups)
    counts = [bench.random.choice((0, 0, 1, 1, 2, 3)) for _ in world.leaves]
    counts[0] += 1
    releases = []
    for parts in ({"north": north, "south": streets[cut:]}, {"coast": inner, "elsewhere": rest}):
        shown = {name: below for name, below in parts.items() if below}
        tree = dc.Hierarchy.from_parents(
            dict.fromkeys(shown, "Total") | {street: name for name, below in shown.items() for street in below}
        )
        labels = ["Total", *shown]
        array = [[sum(counts[c] for c in world.cells({"area": a, "sex": s})) for s in ("m", "w")] for a in labels]
        figures = dc.Figures.from_array(array, {"area": labels, "sex": ["m", "w"]}, hierarchies={"area": (tree,)})
        releases.append(dc.Release.of(figures))
    return world, releases[0], releases[1]


def _unions(world: World) -> Iterator[Cells]:
    """Go through the cells, and through every union of categories of the first dimension by those of the others."""
    for i in range(len(world.leaves)):
        yield (i,)
    if len(world.dimensions) != 2:
        return
    (_, labels), (_, others) = world.dimensions
    for k in range(2, len(labels)):
        for some in combinations(labels, k):
            for other in others:
                yield tuple(i for i, leaf in enumerate(world.leaves) if leaf[0] in some and leaf[1] == other)


def sampled(bench: Bench) -> Iterator[Case]:
    """A sample of nearly everybody, assessed with the number of all people."""
    world = originals.flat(bench.random, ((3,), (2, 2), (2, 3)))
    counts = tuple(c * bench.random.choice((1, 3)) for c in originals.counts_in(bench.random, world, 8))
    missed = bench.random.choice((0, 0, 1))
    try:
        made = dc.assess(
            world.build(counts), "default", population=sum(counts) + missed, draws=50, seed=bench.seed(), workers=1
        )
    except dc.DiscreetError:
        return
    data: Any = made.to_dict()

    def judged() -> tuple[int, list[Failure]]:
        if data["verdict"] != "release":
            return 1, []
        uniques = sum(count == 1 for count in counts)
        if missed == 0 and any(0 < count < 3 for count in counts):
            return 1, [refuted("verdict: sample", f"everybody is in the sample; {counts} with {uniques} alone")]
        tau = next((row["limit"] for row in data["checks"] if row["check"] == "tau" and row["passed"]), None)
        # Of u people alone in the sample, all but those whom the missed ones joined are alone in the population.
        if tau is not None and uniques - missed > tau:
            return 1, [refuted("verdict: sample", f"{uniques - missed} or more are alone, {tau:g} may be")]
        return 1, []

    yield judged_case("sample of a population", OUTSIDER, "assess sample", (world.dimensions, counts, missed), judged)
