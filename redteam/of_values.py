"""Attacks on means, medians, minima and maxima of few respondents: every value that they can have is tried."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from random import Random

import discreet as dc
from redteam import claims
from redteam.case import Bench, Case, judged_case
from redteam.enumeration import TooManyError, together
from redteam.judge import Failure, judge_interval, judge_widest, refuted, wrong
from redteam.readers import OUTSIDER
from redteam.stated import Stated
from redteam.worlds import TOTAL, World

Values = tuple[int, ...]
KINDS = ("mean", "median", "minimum", "maximum")
LOOSE = "may be known more closely than their intervals say"
"""What an audit says of numbers that are tied to each other; its verdict is not safe then."""
MOST = 60_000
"""How many pairs of groups are tried."""


@dataclass(frozen=True)
class Groups:
    """Two groups as they are published: numbers, None where hidden, and the printed statistics of groups and of all."""

    top: int
    least: int
    numbers: Mapping[str, int | None]
    statistics: Mapping[str, Stated]
    texts: Mapping[tuple[str, str], str | None]

    @property
    def definitions(self) -> dict[str, str]:
        """The statistics, as discreet takes them."""
        return {name: f"{one.text}, range=0..{self.top}" for name, one in self.statistics.items()}

    def fits(self, group: str, values: Values) -> bool:
        """Say whether the respondents of a group can have these values."""
        n = self.numbers[group]
        few = len(values) < self.least if n is None else len(values) != n
        return not few and all(
            text is None or _printed(self.statistics[name], values) == text
            for (name, which), text in self.texts.items()
            if which == group
        )


def of_respondents(bench: Bench) -> Iterator[Case]:
    """Statistics of the values of few respondents in two groups and of all of them, audited."""
    random = bench.random
    world = World.of(2)
    top = random.choice((2, 3, 5))
    truth = {label: _values(random, top) for label in ("a1", "a2")}
    shown = _shown(random, truth, top)
    about = (shown.top, shown.least, dict(shown.numbers), shown.definitions, dict(shown.texts))
    kinds = [one.kind for one in shown.statistics.values()]
    title = f"values beside a {kinds[0]}" if len(kinds) == 1 else "values beside two statistics"
    try:
        left = list(_left(shown))
    except TooManyError:
        yield Case(title, OUTSIDER, "audit", repr(about), skipped=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _write(path, shown)
        try:
            read = dc.read_release(path, statistics=shown.definitions, least=shown.least)
            data: claims.Data = dc.audit(read, workers=1, proofs=0).to_dict()
        except dc.DiscreetError:
            return

    def judged() -> tuple[int, list[Failure]]:
        if (truth["a1"], truth["a2"]) not in left:
            return 1, [wrong("truth", "what is said of the figures rules out the true ones")]
        found = list(_judged(data, world, left))
        if data["verdict"] == "safe":
            found += _exact(shown, left)
        return len(data["cells"]) + 1, found

    yield judged_case(title, OUTSIDER, "audit", about, judged)


def _judged(data: claims.Data, world: World, left: Sequence[tuple[Values, Values]]) -> Iterator[Failure]:
    """Judge the numbers of respondents, and in how many ways they can have their values."""
    numbers = together(2, [((len(one), len(other)), 1) for one, other in left])
    numbers = replace(numbers, parts=(replace(numbers.parts[0], tables=tuple(dict(numbers.parts[0].tables).items())),))
    judge = judge_widest if LOOSE in data["sentence"] else judge_interval
    for row in claims.intervals(data, world):
        if row.subject == "value":
            yield from judge(row, numbers)
        elif row.subject == "values of respondents" and row.values is not None:
            ways = {tuple(sorted(v for c in row.cells for v in pair[c])) for pair in left}
            told = f"cells {row.cells}: printed {row.values:g} ways, left {len(ways)}"
            if len(ways) < row.values or (len(ways) == 1 and not row.determined):
                yield refuted("values of respondents", told)
            elif len(ways) > row.values:
                yield wrong("values of respondents", told)


def _exact(shown: Groups, left: Sequence[tuple[Values, Values]]) -> Iterator[Failure]:
    """Judge a verdict of safe: no hidden number, no respondents' values, and no minimum or maximum is left exact."""
    for at, group in enumerate(("a1", "a2")):
        if shown.numbers[group] is None and len({len(pair[at]) for pair in left}) == 1:
            yield refuted("verdict: safe", f"{group} has {len(left[0][at])} respondents")
        if len({pair[at] for pair in left}) == 1 and left[0][at]:
            yield refuted("verdict: safe", f"{group}: the values are {left[0][at]}")
        for (name, which), text in shown.texts.items():
            ends = {"minimum": min, "maximum": max}.get(shown.statistics[name].kind)
            if which == group and text is not None and ends is not None and len({ends(pair[at]) for pair in left}) == 1:
                yield refuted("verdict: safe", f"{group}: the {shown.statistics[name].kind} is {ends(left[0][at])}")


def _left(shown: Groups) -> Iterator[tuple[Values, Values]]:
    """Go through all values that the respondents of both groups can have."""
    whole = shown.numbers[TOTAL]
    each: list[list[Values]] = []
    for group, other in (("a1", "a2"), ("a2", "a1")):
        n, rest = shown.numbers[group], shown.numbers[other]
        if n is None and whole is None:
            raise TooManyError
        most = n if n is not None else (whole or 0) - (shown.least if rest is None else rest)
        sizes = range(0 if n is None else n, most + 1)
        every = (values for size in sizes for values in combinations_with_replacement(range(shown.top + 1), size))
        each.append([values for values in every if shown.fits(group, values)])
    if len(each[0]) * len(each[1]) > MOST:
        raise TooManyError
    for one, two in product(*each):
        if shown.fits(TOTAL, tuple(sorted(one + two))):
            yield one, two


def _printed(statistic: Stated, values: Values) -> str | None:
    """Return how a statistic of some values is printed."""
    if len(values) < max(statistic.threshold, 1):
        return None
    n, low = len(values), sorted(values)
    found = {
        "mean": Fraction(sum(values), n),
        "median": Fraction(low[(n - 1) // 2] + low[n // 2], 2),
        "minimum": Fraction(low[0]),
        "maximum": Fraction(low[-1]),
    }
    return statistic.rounded(found[statistic.kind])


def _values(random: Random, top: int) -> Values:
    return tuple(sorted(random.randint(0, top) for _ in range(random.choice((1, 2, 2, 3, 3, 4)))))


def _shown(random: Random, truth: Mapping[str, Values], top: int) -> Groups:
    """Return what an office publishes of two groups: some numbers hidden, one or two statistics, a few left out."""
    every = dict(truth) | {TOTAL: tuple(sorted(v for values in truth.values() for v in values))}
    hidden = random.choice((0.0, 0.4, 0.8))
    numbers = {g: None if random.random() < hidden * (0.2 if g == TOTAL else 1) else len(v) for g, v in every.items()}
    chosen = random.sample(KINDS, random.choice((1, 1, 2)))
    rounding = random.choice(("conventional", "conventional", "half-even", "down"))
    made = {
        f"s{i}": Stated(
            kind, decimals=random.choice((0, 1)), rounding=rounding, threshold=random.choice((0, 0, 0, 2, 3))
        )
        for i, kind in enumerate(chosen)
    }
    kept = random.choice((1.0, 0.7))
    texts = {
        (name, group): _printed(one, values) if random.random() < kept * (0.6 if group == TOTAL else 1) else None
        for name, one in made.items()
        for group, values in every.items()
    }
    return Groups(top, random.choice((0, 1)), numbers, made, texts)


def _write(path: Path, shown: Groups) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a", "count", *shown.statistics])
        for group, n in shown.numbers.items():
            out.writerow(
                [group, "x" if n is None else n, *(shown.texts[name, group] or "x" for name in shown.statistics)]
            )
