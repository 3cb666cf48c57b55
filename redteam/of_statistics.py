"""Attacks on percentages, ratios, growth and other statistics beside counts."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import discreet as dc
from redteam import claims, originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.command import run
from redteam.enumeration import TooManyError
from redteam.eyes import Line, held, lines
from redteam.judge import Failure, judge_interval, judge_known, judge_sensitive, refuted
from redteam.notebook import least_of
from redteam.of_counts import below, judge_audit
from redteam.policies import own, policy_of
from redteam.published import Published, plain
from redteam.readers import OUTSIDER
from redteam.stated import Beside, Stated, outsider_beside
from redteam.worlds import TOTAL, Cells, Counts, World

COLUMN = "pct"


def beside_counts(bench: Bench) -> Iterator[Case]:
    """Counts of which an office hid some, and published statistics of the true ones beside them; audited."""
    random = bench.random
    world = originals.flat(random, ((3,), (4,), (2, 2), (2, 3)))
    counts = originals.counts_in(random, world)
    statistic = _drawn(random, world)
    least = random.choice((0, 1))
    rows = _office(random, world, counts, statistic, least)
    known = held(rows, world, least=least, absent=False)
    title = f"counts beside a {statistic.kind}".replace("a index", "an index")
    about = (world.dimensions, statistic.text, least, [(dict(row.label), row.value, dict(row.beside)) for row in rows])
    try:
        belief = outsider_beside(known, [_read(statistic, rows)], world)
    except TooManyError:
        yield Case(title, OUTSIDER, "audit", repr(about), skipped=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _write(path, world, rows)
        try:
            read = dc.read_release(path, statistics={COLUMN: statistic.text}, least=least)
            data = dc.audit(read, workers=1, proofs=0).to_dict()
        except dc.DiscreetError:
            return
    found = list(claims.intervals(data, world))

    def judged() -> tuple[int, list[Failure]]:
        return judge_audit(data, found, known, sure(belief, counts))

    yield judged_case(title, OUTSIDER, "audit", about, judged)


def _drawn(random: Random, world: World) -> Stated:
    """Return a random statistic of the counts of a world."""
    name = random.choice(world.names)
    first = dict(world.dimensions)[name][0]
    decimals = random.choice((0, 0, 1, 2))
    rounding = random.choice(("conventional", "conventional", "half-even", "down"))
    step = random.choice((1, 1, 1, 5, 10))
    made = random.choice(
        (
            Stated("percentage", ((name, ""),)),
            Stated("percentage", ((name, ""),)),
            Stated("percentage", tuple((one, "") for one in world.names)),
            Stated("percentage", ((name, ""),), threshold=random.choice((3, 6))),
            Stated("percentage", ((name, ""),), threshold=random.choice((3, 6)), extremes=False),
            Stated("cumulative", along=name, extremes=False),
            Stated("ratio", ((name, first),)),
            Stated("index", ((name, first),)),
            Stated("difference", ((name, first),), threshold=random.choice((0, 0, 3))),
            Stated("growth", along=name),
            Stated("cumulative", along=name),
            Stated("rate", per=random.choice((40, 1000))),
        )
    )
    return replace(made, decimals=decimals, rounding=rounding, step=step)


def _office(random: Random, world: World, counts: Counts, statistic: Stated, least: int) -> list[Line]:
    """Return a whole table with some counts hidden, and statistics of the true counts, a few of them left out."""
    share = random.choice((0.3, 0.5, 0.8))
    kept = random.choice((1.0, 1.0, 0.7))
    exact, hidden = plain({"name": "exact"}), plain({"name": "suppressed"})
    rows = []
    for labels in product(*((*categories, TOTAL) for _, categories in world.dimensions)):
        label = dict(zip(world.names, labels, strict=True))
        true = sum(counts[c] for c in world.cells(label))
        # Where a total is hidden, often nothing bounds what is in it.
        hide = true >= least and random.random() < share * (0.6 if TOTAL in labels else 1)
        found = statistic.lines(label, world)
        text = None
        if found is not None and random.random() < kept:
            text = statistic.printed(*(sum(counts[c] for c in cells) for cells in found))
        rows.append(Line(label, hidden if hide else exact, None if hide else true, None, {COLUMN: text or ""}))
    return rows


def _read(statistic: Stated, rows: Sequence[Line]) -> Beside:
    texts = [(tuple(row.label.items()), row.beside.get(COLUMN, "").rstrip("%")) for row in rows]
    return Beside(statistic, tuple((label, text if text[-1:].isdigit() else None) for label, text in texts))


def _write(path: Path, world: World, rows: Sequence[Line]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow([*world.names, "count", COLUMN])
        for row in rows:
            out.writerow([*row.label.values(), "x" if row.value is None else row.value, row.beside[COLUMN] or "x"])


SUPPRESSED = 'as_is = "{}"\ninsiders = "none"\n[rules]\nthreshold = {}\n[limits]\n{}[[protections]]\nname = "suppress"'
"""A policy under which suppression may pass, with statistics of true values beside it."""
SAFE = "where=safe"
VARIANTS: Mapping[str, Callable[[Stated], Stated]] = {
    "coarser": lambda one: replace(one, decimals=0, step=1 if one.decimals else 5),
    "ranges": lambda one: replace(one, decimals=0, rounding="down", step=10),
}
"""What a comparison offers beside suppressed figures."""


def with_statistics(bench: Bench) -> Iterator[Case]:
    """Counts assessed or compared with statistics that are to be published beside them; their file is read."""
    random = bench.random
    world = originals.flat(random, ((3,), (4,), (2, 2), (2, 3)))
    counts = originals.counts_in(random, world)
    statistic = replace(_drawn(random, world), more=random.choice((SAFE, SAFE, "")))
    if SAFE in statistic.more or random.random() < 0.3:
        limits = random.choice(("", "", "width = 2\n"))
        policy = SUPPRESSED.format(random.choice(("if safe", "never")), random.choice((2, 3, 3, 5)), limits)
    else:
        policy = own(random)
    original = world.build(counts)
    door = "compare" if SAFE in statistic.more and random.random() < 0.3 else "propose"
    if door == "compare":
        statistic = _compared(bench, original, policy, statistic)
    try:
        made = dc.assess(original, policy_of(policy), statistics={COLUMN: statistic.text}, seed=bench.seed(), workers=1)
    except dc.DiscreetError:
        return
    if made.release is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = lines(made.release.write(Path(folder) / "release.csv")[0], world.names)
    data: claims.Data = made.to_dict()
    known = held(rows, world, least=least_of(made.release, policy))
    # Beside exact and hidden figures stand statistics of true values.
    true = SAFE in statistic.more and all(figure.name in ("exact", "suppressed") for figure in known.figures)
    beside = _read(statistic, rows)
    sensitive = list(claims.sensitive(data, world))
    audit = list(claims.intervals(data["audit"], world)) if data.get("audit") else []
    verdict = claims.verdict(data)

    def judged() -> tuple[int, list[Failure]]:
        belief = outsider_beside(known, [beside], world) if true else readers.outsider(known, world)
        sure(belief, counts)
        found = [failure for row in audit for failure in judge_interval(row, belief)]
        for row in sensitive:
            found += judge_sensitive(row, verdict, belief, sum(counts[c] for c in row.cells))
        found += [] if true else _of_figures(beside, known, world)
        return len(audit) + len(sensitive) + 1, found

    about = (world.dimensions, counts, statistic.text, policy)
    title = f"{made.release.method} with statistics{' of true counts' if true else ''}"
    yield judged_case(title, OUTSIDER, door, about, judged)


PROTECTED = (
    ("suppress", "--rule", "threshold=3"),
    ("suppress", "--rule", "threshold=2"),
    ("random-rounding", "--base", 3),
    ("conventional-rounding", "--base", 3),
    ("controlled-rounding", "--base", 3),
    ("small-count-rounding", "--base", 3),
    ("hide-and-round", "--hide-up-to", 3, "--base", 5),
)
"""Protections as the command line takes them."""


REFUSED = 2
"""The exit code of a command that cannot be answered."""


def protected_with_statistics(bench: Bench) -> Iterator[Case]:
    """Counts protected by the command line, with statistics of the release beside them; its file is audited."""
    random = bench.random
    world = originals.flat(random, ((3,), (4,), (2, 2), (2, 3)))
    counts = originals.counts_in(random, world)
    statistic = _drawn(random, world)
    method, *options = random.choice(PROTECTED)
    form = random.choice(("csv", "flags", "sdmx-csv"))
    with tempfile.TemporaryDirectory() as name:
        table, path = Path(name) / "table.csv", Path(name) / "release.csv"
        rows = [",".join((*leaf, str(count))) for leaf, count in zip(world.leaves, counts, strict=True)]
        table.write_text("\n".join([",".join((*world.names, "count")), *rows]) + "\n", encoding="utf-8")
        said = ("--statistic", f"{COLUMN}={statistic.text}", "--format", form, "-o", path)
        if run("protect", method, table, *options, *said)[0]:
            return
        printed = lines(path, world.names)
        code, out = run("audit", path, "--json", "--workers", 1)
        if code == REFUSED:
            return
    known, beside = held(printed, world), _read(statistic, printed)
    least = int(str(options[1])[-1]) if method == "suppress" else 0
    small = dict.fromkeys(below(counts, known, least), "a small count")

    def judged() -> tuple[int, list[Failure]]:
        data: claims.Data = json.loads(out)
        belief = sure(readers.outsider(known, world), counts)
        count, failed = judge_audit(data, list(claims.intervals(data, world)), known, belief)
        return count + 2, [*failed, *judge_known(small, belief, "verdict: safe"), *_of_figures(beside, known, world)]

    about = (world.dimensions, counts, statistic.text, method, options, form)
    yield judged_case(f"{method} with statistics", OUTSIDER, "protect", about, judged)


def _compared(bench: Bench, original: Any, policy: str, statistic: Stated) -> Stated:
    """Return the statistic as a comparison says that it can stand beside suppressed counts, or as it was."""
    grid = [{"name": "suppress"}]
    wanted = {COLUMN: replace(statistic, more="").text}
    try:
        found: Any = dc.compare(
            original, grid, policy=policy_of(policy), statistics=wanted, draws=2, audits=1, seed=bench.seed(), workers=1
        ).to_dict()
    except dc.DiscreetError:
        return statistic
    met = [point["parameters"].get("statistics") for point in found["points"] if point["meets"]]
    some = [VARIANTS[name] for name in met if name in VARIANTS]
    return bench.random.choice(some)(statistic) if some else statistic


def _of_figures(beside: Beside, known: Published, world: World) -> Iterator[Failure]:
    """Judge the claim that statistics are those of the published figures, which say it all."""
    shown = {figure.cells: figure.value for figure in known.figures}
    for label, text in beside.texts:
        found = beside.statistic.lines(dict(label), world)
        if text is None or found is None:
            continue
        values = [_shown(cells, shown) for cells in found]
        printed = None if None in values else beside.statistic.printed(*(value or 0 for value in values))
        if printed != text:
            yield refuted("statistics of the figures", f"{dict(label)}: {text} is printed, the figures give {printed}")


def _shown(cells: Cells, shown: Mapping[Cells, int | None]) -> int | None:
    """Return the printed figure of some cells, or the sum of those of its parts; None where one is hidden."""
    if cells in shown or not cells:
        return shown.get(cells, 0)
    parts = [some for some in shown if set(some) <= set(cells)]
    best: dict[int, Cells] = {}
    for some in sorted(parts, key=len):
        for cell in some:
            best[cell] = some
    values = [shown[some] for some in dict.fromkeys(best.values())]
    whole = set(best) == set(cells) and sum(len(some) for some in dict.fromkeys(best.values())) == len(cells)
    return None if None in values or not whole else sum(value or 0 for value in values)
