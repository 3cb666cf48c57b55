"""Attacks on plans: many tables by one command, clusters, the ledger beside them, and one period after another."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from redteam import laws, originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.command import run
from redteam.enumeration import Limit
from redteam.eyes import held, lines
from redteam.judge import NEAR, Failure, judge_known, refuted
from redteam.of_counts import below
from redteam.of_several import alike
from redteam.of_sums import audited_firms, by_firms
from redteam.originals import Firms
from redteam.published import Published
from redteam.readers import COALITION, COUNTED, HOLDER, METHOD, OUTSIDER
from redteam.worlds import Counts, World

FORMATS = {"csv": ".csv", "flags": "-flags.csv", "sdmx-csv": "-sdmx.csv", "xlsx": ".xlsx"}
METHODS = (
    "suppress",
    "suppress",
    "random-rounding:base=3,margins=true",
    "conventional-rounding:base=3,margins=true",
    "controlled-rounding:base=3",
    "hide-and-round:limit=3,base=5",
)
FEWEST = 3
"""How many firms the profile for business statistics asks for."""
BY_FIGURE = ("random-rounding", "conventional-rounding", "hide-and-round")
TABLES = (("a", "b"), ("a", "c"), ("b", "c"), ("a",), ("c",))
POLICY = 'extends = "default"\ninsiders = "{}"\nas_is = "{}"\n[rules]\nthreshold = {}\ngroup_disclosure = "none"\n'
LIMITS = '[limits]\nr2 = "none"\ntau = "none"\ndr = {}\n'


@dataclass(frozen=True)
class Plan:
    """A plan of a few tables of the same records, as its file says it."""

    tables: tuple[tuple[str, ...], ...]
    protection: str
    policy: str
    form: str = "csv"
    where: tuple[tuple[str, str], ...] = ()
    more: str = ""
    records: str = 'files = "records.csv"'
    output: str = "out"
    parts: str = ""

    @property
    def text(self) -> str:
        """The plan's file; the condition is that of its last table."""
        head = f'title = "T"\npopulation = "people"\npolicy = "{self.policy}"\nprotection = "{self.protection}"\n'
        text = f"{head}{self.more}\n[records]\n{self.records}\n"
        for i, by in enumerate(self.tables):
            text += f'[[tables]]\nname = "T{i}"\nby = {json.dumps(by)}\n' + self._value
            if self.where and i == len(self.tables) - 1:
                text += "where = { " + ", ".join(f'{name} = "{label}"' for name, label in self.where) + " }\n"
        return f'{text}[output]\nfolder = "{self.output}"\nformats = ["{self.form}"]\n{self.parts}'

    @property
    def _value(self) -> str:
        return 'value = "value"\n' if "contributor" in self.records else ""

    def run(self, folder: Path, *more: str) -> Mapping[str, Any] | None:
        """Run the plan in a folder; return what it says of itself, None where it is refused."""
        (folder / "plan.toml").write_text(self.text, encoding="utf-8")
        code, out = run("plan", "run", folder / "plan.toml", "--json", "--workers", 1, *more)
        return None if code > 1 else dict(json.loads(out))

    def seen(self, folder: Path, world: World, least: int | None) -> Published:
        """Return what a reader of all its files holds; a figure that several tables show was made once."""
        found = Published(())
        for i, _ in enumerate(self.tables):
            fixed = dict(self.where) if i == len(self.tables) - 1 else {}
            rows = lines(folder / self.output / f"T{i}{FORMATS[self.form]}", world.names)
            found = found.beside(held(rows, world, least=least, where=fixed))
        return replace(found, figures=tuple(dict.fromkeys(found.figures)))


def planned(bench: Bench) -> Iterator[Case]:
    """People in several tables of one plan, and in those of a second one that finds the first in the ledger."""
    random = bench.random
    world = World.of(2, 2, 2)
    counts = originals.counts_in(random, world, random.choice((3, 5)))
    threshold, dr = random.choice((2, 3)), random.choice(('"none"', '"none"', "0.7", "1.0"))
    plan = _drawn(random)
    again = random.random() < 0.4
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        insiders = random.choice(("none", "respondents", "respondents"))
        policy = POLICY.format(insiders, random.choice(("if safe", "never")), threshold) + LIMITS.format(dr)
        (folder / "own.toml").write_text(policy, encoding="utf-8")
        write_people(folder / "records.csv", world, counts)
        told = plan.run(folder, *(("--publish",) if again else ()))
        if told is None or told["verdict"] == "withhold":
            return
        known = plan.seen(folder, world, 1)
        about: tuple[object, ...] = (counts, plan, threshold, dr, insiders)
        name = plan.protection.partition(":")[0]
        yield _by_outsider(f"plan of {name}", world, counts, known, threshold, about)
        if insiders != "none":
            yield _by_counted(f"plan of {name}", world, counts, known, threshold, about)
        if name in BY_FIGURE and (limit := _risk(told)) is not None:
            yield _by_reader(f"plan of {name}", world, counts, known, (threshold, limit), about)
        if not again:
            return
        second = replace(_drawn(random), more=plan.more.replace('"T1"', '"T2"'))
        told = second.run(folder)
        if told is None or told["verdict"] == "withhold":
            return
        both = known.beside(second.seen(folder, world, 1))
        both = replace(both, figures=tuple(dict.fromkeys(both.figures)))
    yield _by_outsider("plan after a plan", world, counts, both, threshold, (*about, second), HOLDER)


def planned_amounts(bench: Bench) -> Iterator[Case]:
    """What firms turned over, in several tables of one plan; every firm reads all of them."""
    random = bench.random
    world = World.of(*random.choice(((2, 2), (2, 3), (2, 2, 2))))
    firms = originals.firms_of(random, world, (1, 2, 3, 5))
    tables = tuple(one for one in (("a", "b"), *TABLES[1:]) if set(one) <= set(world.names))
    some = tuple(random.sample(tables, random.randint(1, min(3, len(tables)))))
    holding = firms.names[:2] if len(firms.names) > 2 and random.random() < 0.3 else ()
    plan = Plan(some, "suppress", "business", random.choice(list(FORMATS)), records=records_of(holding))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_firms(folder / "records.csv", firms, holding)
        told = plan.run(folder)
        if told is None or told["verdict"] == "withhold":
            return
        known = plan.seen(folder, world, 1)
        about = (world.dimensions, firms.rows, plan, holding)
        yield from of_firms("plan of amounts", firms, holding, known, about)
        files = [folder / plan.output / f"T{i}{FORMATS[plan.form]}" for i, _ in enumerate(some)]
        yield from audited_firms(bench, "plan of amounts", firms, files, known, about)


def of_firms(title: str, firms: Firms, holding: Sequence[str], known: Published, about: object) -> Iterator[Case]:
    """Judge that no sum of few firms can be worked out: by outsiders, by firms, and by a holding as one."""
    whole = firms.joined(*holding) if holding else firms
    few = {figure.cells for figure in known.figures if 0 < whole.others(figure.cells) < FEWEST}
    secret = dict.fromkeys(sorted(few), f"a sum of fewer than {FEWEST} firms")

    def by_outsider() -> tuple[int, list[Failure]]:
        return 1, list(judge_known(secret, sure(readers.outsider(known, firms.world), firms.sums), "verdict: plan"))

    yield judged_case(title, OUTSIDER, "plan", about, by_outsider)
    alone = [firm for firm in firms.names if firm not in holding]
    yield from by_firms(title, "plan", whole, known, secret, about, alone)
    if holding:
        yield from by_firms(title, "plan", whole, known, secret, about, holding[:1], COALITION)


def records_of(holding: Sequence[str] = ()) -> str:
    """Return what a plan says of records of firms."""
    return 'files = "records.csv"\ncontributor = "firm"' + ('\nholding = "holding"' if holding else "")


def write_firms(path: Path, firms: Firms, holding: Sequence[str] = ()) -> None:
    """Write records of firms; each has a holding of its own, but for the members of one."""
    head = ("firm", "holding", *firms.world.names, "value")
    rows = [
        (firm, holding[0] if firm in holding else firm, *firms.world.leaves[cell], str(value))
        for cell, firm, value in firms.rows
    ]
    path.write_text("\n".join(",".join(row) for row in (head, *rows)) + "\n", encoding="utf-8")


def _drawn(random: Random) -> Plan:
    """Return a random plan of people; its last table may be about some of them."""
    tables = tuple(random.sample(TABLES, random.choice((1, 2, 2, 3))))
    free = [one for one in ("a", "b", "c") if one not in tables[-1]]
    where = ((free[0], f"{free[0]}1"),) if free and random.random() < 0.3 else ()
    form = random.choice(list(FORMATS))
    return Plan(tables, random.choice(METHODS), "own.toml", form, where, 'ledger = "ledger.sqlite"')


def write_people(path: Path, world: World, counts: Counts) -> None:
    """Write records of people."""
    rows = [",".join(leaf) for leaf, count in zip(world.leaves, counts, strict=True) for _ in range(count)]
    path.write_text("\n".join([",".join(world.names), *rows]) + "\n", encoding="utf-8")


def _by_outsider(
    title: str,
    world: World,
    counts: Counts,
    known: Published,
    threshold: int,
    about: object,
    reader: str = OUTSIDER,
) -> Case:
    """Judge that no small count of any table can be worked out from all of them."""
    small = dict.fromkeys(below(counts, known, threshold), f"a count below {threshold}")

    def judged() -> tuple[int, list[Failure]]:
        return 1, list(judge_known(small, sure(readers.outsider(known, world), counts), "verdict: plan"))

    return judged_case(title, reader, "plan", about, judged)


def _by_counted(title: str, world: World, counts: Counts, known: Published, threshold: int, about: object) -> Case:
    """Judge that nobody works out a small count of others, knowing where they are themselves along all dimensions."""
    small = below(counts, known, threshold)
    people = [cell for cell, count in enumerate(counts) if count]

    def judged() -> tuple[int, list[Failure]]:
        found: list[Failure] = []
        for cell in people:
            belief = sure(readers.outsider(known, world, [Limit((cell,), 1)]), counts)
            theirs = [cells for cells in small if cell not in cells or sum(counts[c] for c in cells) > 1]
            found += judge_known(dict.fromkeys(theirs, f"a small count, to {cell}"), belief, "verdict: plan")
        return len(people), found

    return judged_case(title, COUNTED, "plan", about, judged)


def _by_reader(
    title: str, world: World, counts: Counts, known: Published, limits: tuple[int, float], about: object
) -> Case:
    """Judge the largest 1/H of a small count to a reader who knows the method."""
    threshold, limit = limits

    def judged() -> tuple[int, list[Failure]]:
        belief = alike(known, readers.outsider(known, world), laws.by_figure(known)(tuple(range(len(world.leaves)))))
        found = []
        for cells in dict.fromkeys(below(counts, known, threshold)):
            left = sure(belief, counts).bits(cells)
            if left + NEAR < 1 / limit:
                found.append(refuted("1/H", f"cells {cells}: {left:.4f} bits, and 1/H is said to be at most {limit}"))
        return 1, found

    return judged_case(title, METHOD, "plan", about, judged)


def _risk(told: Mapping[str, Any]) -> float | None:
    """Return the largest 1/H that a plan claims against a reader who knows the method."""
    for cluster in told["clusters"]:
        for check in cluster["checks"]:
            if check["passed"] and (
                found := re.search(r"1/H of .* method is (?:at most )?([0-9.]+[0-9])", check["text"])
            ):
                return float(found[1])
    return None
