"""Numbers beside amounts: what each tells about who is there, against an enumeration of all pairs of tables."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DataError, DiscreetError
from discreet.core.numerics import IntArray
from discreet.decide.ledger import Ledger
from discreet.decide.ledger.entry import Entry, PublishedTable
from discreet.decide.ledger.joint import Joint
from discreet.decide.ledger.numbers_and_amounts import mixed_findings
from discreet.decide.ledger.settings import Settings
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release import Release

DIMENSIONS = "abc"
SHAPE = (2, 2, 2)
CROSSINGS = ["a", "b", "ab", "ac", "bc"]
MARK = Kind("suppressed", least=1)
OPEN = Kind("suppressed", least=0)
TOPS = [None, 2.0, 1.0]


@cache
def tables_of(total: int) -> IntArray:
    """Return all tables of eight cells with a total, one a row."""
    bars = itertools.combinations(range(total + 7), 7)
    return np.array([np.diff([-1, *found, total + 7]) - 1 for found in bars])


def positions(crossing: str) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """Yield all cells, margins and the total of a crossing, by their codes (2 for a total), with the cells in each."""
    cells = np.indices(SHAPE).reshape(3, -1)
    for codes in itertools.product(range(3), repeat=len(crossing)):
        inside = np.ones(8, bool)
        for name, code in zip(crossing, codes, strict=True):
            inside &= (cells[DIMENSIONS.index(name)] == code) | (code == 2)
        yield codes, inside


@dataclass
class Sheet:
    """A table of one crossing: what is hidden of it, and by which mark."""

    crossing: str
    truth: IntArray
    hidden: frozenset[tuple[int, ...]]
    mark: Kind

    def published(self, entry: Entry) -> PublishedTable:
        array = np.full((3,) * len(self.crossing), None, dtype=object)
        for codes, inside in positions(self.crossing):
            array[codes] = None if codes in self.hidden else int(self.truth[inside].sum())
        labels = {name: [f"{name}0", f"{name}1", "Total"] for name in self.crossing}
        figures = Figures.from_array(array.tolist(), labels, mark=self.mark, name=self.crossing)
        return PublishedTable(figures, entry, entry.title)

    def fits(self, tables: IntArray) -> IntArray:
        """Return the tables in which all figures are as published."""
        kept = np.ones(len(tables), bool)
        least = self.mark.said[0] or 0
        for codes, inside in positions(self.crossing):
            sums = tables[:, inside].sum(axis=1)
            kept &= sums >= least if codes in self.hidden else sums == self.truth[inside].sum()
        return tables[kept]


def drawn(rng: np.random.Generator, truth: IntArray, marks: Sequence[Kind]) -> list[Sheet]:
    """Return one or two tables of a truth, some of their inner cells hidden."""
    found = []
    for crossing in rng.choice(CROSSINGS, size=1 + (rng.random() < 0.3), replace=False):
        mark = marks[int(rng.integers(len(marks)))]
        share = rng.choice([0, 0.5, 1, 1])
        hidden = frozenset(
            codes
            for codes, inside in positions(crossing)
            if 2 not in codes and rng.random() < share and (mark is OPEN or truth[inside].sum() > 0)
        )
        found.append(Sheet(str(crossing), truth, hidden, mark))
    return found


Figure = tuple[str, frozenset[tuple[str, str]]]


def determined(
    tables: IntArray, sheets: Sequence[Sheet], crossings: Sequence[str], what: str, top: float | None
) -> dict[Figure, int]:
    """Return the sensitive figures of which all tables have one value: those hidden, and small ones nobody shows."""
    found: dict[Figure, int] = {}
    shown = {_cell(s.crossing, codes) for s in sheets for codes, _ in positions(s.crossing) if codes not in s.hidden}
    hidden = {_cell(s.crossing, codes) for s in sheets for codes in s.hidden}
    for crossing in crossings:
        for codes, inside in positions(crossing):
            cell, sums = _cell(crossing, codes), tables[:, inside].sum(axis=1)
            asked = cell in hidden or (2 not in codes and 0 < sums[0] < (top or np.inf))
            if cell not in shown and asked and (sums == sums[0]).all():
                found[what, cell] = int(sums[0])
    return found


def _cell(crossing: str, codes: Sequence[int]) -> frozenset[tuple[str, str]]:
    return frozenset((name, f"{name}{code}") for name, code in zip(crossing, codes, strict=True) if code < 2)


def pairs(numbers: IntArray, amounts: IntArray, tied: Callable[[IntArray, IntArray], Any]) -> tuple[IntArray, IntArray]:
    """Return the tables of either variable that are in some pair which fits."""
    one, other = ((table > 0) @ (1 << np.arange(8)) for table in (numbers, amounts))
    fit = tied(one[:, None], other[None, :])
    return numbers[fit.any(axis=1)], amounts[fit.any(axis=0)]


def inside(numbers: IntArray, amounts: IntArray) -> Any:
    """Say where somebody is wherever there is an amount."""
    return (amounts & ~numbers) == 0


def verdict(found: Joint) -> str:
    if any(f.sensitive and f.cause != "before" for f in found.findings):
        return "unsafe"
    return "incomplete" if found.unjudged or found.unfinished else "safe"


def case(seed: int) -> tuple[IntArray, IntArray, list[Sheet], list[Sheet]]:
    """Return numbers and amounts, and tables of both."""
    rng = np.random.default_rng(seed)
    people, places = rng.integers(2, 8), rng.permutation(8)[: rng.integers(2, 9)]
    numbers, amounts = np.zeros(8, int), np.zeros(8, int)
    for cell in rng.choice(places, people):
        numbers[cell] += 1
        amounts[cell] += rng.integers(0 if seed % 4 == 0 else 1, 3)
    if not amounts.sum():
        amounts[np.flatnonzero(numbers)[0]] = 1
    marks = [MARK, MARK, OPEN]
    return numbers, amounts, drawn(rng, numbers, marks), drawn(rng, amounts, marks)


def judged(numbers: list[Sheet], amounts: list[Sheet], top: float | None, *, swapped: bool) -> Joint:
    about = ("2024-01-01", "as published", tuple(DIMENSIONS), 1, 0)
    firms = [sheet.published(Entry("1", "Firms", *about)) for sheet in numbers]
    turnover = [sheet.published(Entry("2", "Turnover", *about, variable="turnover")) for sheet in amounts]
    new, old = (firms, turnover) if swapped else (turnover, firms)
    return mixed_findings(new, old, lambda of_amounts: Settings(threshold=top, amounts=of_amounts))[0]


def check_case(seed: int, counted: Counter[str]) -> None:
    numbers, amounts, firms, turnover = case(seed)
    swapped, top = bool(seed % 2), TOPS[seed % 3]
    found = judged(firms, turnover, top, swapped=swapped)
    said = verdict(found)
    counted[said] += 1
    crossings = list(dict.fromkeys([s.crossing for s in (*firms, *turnover)] + ["abc"]))
    every = {"numbers": tables_of(int(numbers.sum())), "amounts": tables_of(int(amounts.sum()))}
    own = {"numbers": firms, "amounts": turnover}
    alone = dict(every)
    for what, sheets in own.items():
        for sheet in sheets:
            alone[what] = sheet.fits(alone[what])
    both = dict(zip(every, pairs(alone["numbers"], alone["amounts"], inside), strict=True))
    earlier = "amounts" if swapped else "numbers"
    before = determined(alone[earlier], own[earlier], crossings, earlier, top)
    now: dict[Figure, int] = {}
    for what in every:
        now |= determined(both[what], own[what], crossings, what, top)
    if said == "safe":
        assert not now.keys() - before.keys(), (seed, now, found)
    if (amounts > 0).tolist() == (numbers > 0).tolist() or seed % 4:
        # Contributions are above 0, as was assumed: what is found is true.
        truth = {"numbers": numbers, "amounts": amounts}
        of_new, of_old = ("numbers", "amounts") if swapped else ("amounts", "numbers")
        for f in found.findings:
            if f.units:
                continue
            what = of_old if "variable" in f.cell else of_new
            labels = {name: f.cell[name] for name in DIMENSIONS if f.cell.get(name, "")[1:] in ("0", "1")}
            cells = np.indices(SHAPE).reshape(3, -1)
            at = np.all([cells[DIMENSIONS.index(name)] == int(label[1]) for name, label in labels.items()], axis=0)
            value = truth[what][at].sum() if labels else truth[what].sum()
            assert f.lower <= value <= f.upper, (seed, f)


def test_nothing_that_is_called_safe_follows_from_any_pair_of_tables() -> None:
    counted: Counter[str] = Counter()
    for seed in range(150):
        check_case(seed, counted)
    assert min(counted[said] for said in ("safe", "unsafe", "incomplete")) > 10, counted


@pytest.mark.long
def test_nothing_that_is_called_safe_follows_from_any_of_many_pairs() -> None:
    counted: Counter[str] = Counter()
    for seed in range(1_000, 6_000):
        check_case(seed, counted)
    assert min(counted[said] for said in ("safe", "unsafe", "incomplete")) > 100, counted
