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
from tests.plain import data_of

from discreet.core.errors import DiscreetError
from discreet.core.numerics import IntArray
from discreet.decide.ledger import Ledger
from discreet.decide.ledger.entry import Entry, PublishedTable
from discreet.decide.ledger.joint import Joint
from discreet.decide.ledger.numbers_and_amounts import mixed_findings
from discreet.decide.ledger.settings import Settings
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
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
    people, places = rng.integers(2, 7), rng.permutation(8)[: rng.integers(2, 9)]
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
    for seed in range(45):
        check_case(seed, counted)
    assert min(counted[said] for said in ("safe", "unsafe", "incomplete")) > 2, counted


def test_a_hidden_number_that_can_only_be_0_says_where_the_amount_is() -> None:
    """Firms by b and c: that nobody is in b1 and c1 is hidden, but follows. So all turnover of b1, 2, is in c0."""
    counted: Counter[str] = Counter()
    check_case(4836, counted)
    assert counted == {"unsafe": 1}


@pytest.mark.long
def test_nothing_that_is_called_safe_follows_from_any_of_many_pairs() -> None:
    counted: Counter[str] = Counter()
    for seed in range(1_000, 6_000):
        check_case(seed, counted)
    assert min(counted[said] for said in ("safe", "unsafe", "incomplete")) > 100, counted


# --- single cases ------------------------------------------------------------------------------------------------


def shown(array: Any, dimensions: Mapping[str, Sequence[object]], **about: Any) -> Release:
    return Release.of(Figures.from_array(array, dimensions, **about))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


AREAS, SIZES = {"area": ["n", "s", "Total"]}, {"size": ["small", "large", "Total"]}
FIRMS = shown([2, 40, 42], AREAS)
TURNOVER = shown([[None, None, 500], [300, 900, 1200], [None, None, 1700]], {**AREAS, **SIZES}, mark=MARK)
OF: dict[str, Any] = {"title": "Turnover", "variable": "turnover"}


def test_two_firms_in_two_sizes_are_one_in_each(ledger: Ledger) -> None:
    ledger.add(FIRMS, title="Firms")
    result = ledger.check(TURNOVER, **OF)
    assert result.verdict == "unsafe"
    assert [(f.name, f.lower, f.cause) for f in result.new] == [
        ("count of area=n, size=large", 1, "together"),
        ("count of area=n, size=small", 1, "together"),
    ]
    assert "2 − 1 = 1 (area=n, size=small: somebody is there by «Turnover»)" in result.new[0].subtraction
    assert result.new[0].releases == ("Firms", "Turnover")
    assert [entry.title for entry in result.beside] == ["Firms"]
    assert data_of(result)["beside"][0]["title"] == "Firms"


def test_it_does_not_matter_which_was_published_first(ledger: Ledger) -> None:
    ledger.add(TURNOVER, **OF)
    result = ledger.check(FIRMS, title="Firms")
    assert {(f.name, f.lower) for f in result.new} == {("area=n, size=large", 1), ("area=n, size=small", 1)}
    # Once both are out, a third release is not at fault for it.
    ledger.add(FIRMS, title="Firms")
    third = ledger.check(FIRMS, title="Again")
    assert (third.verdict, {f.cause for f in third.findings}) == ("safe", {"before"})


def test_a_number_of_0_empties_hidden_amounts(ledger: Ledger) -> None:
    hidden = shown([None, None, 90], AREAS, mark=OPEN)
    assert ledger.check(hidden, **OF).verdict == "safe"
    ledger.add(shown([0, 42, 42], AREAS), title="Firms")
    result = ledger.check(hidden, **OF)
    assert {(f.name, f.lower) for f in result.new} == {("area=n", 0), ("area=s", 90)}
    assert "nobody is there by «Firms»" in result.new[0].subtraction


def test_no_row_for_an_amount_undoes_a_rounded_number(ledger: Ledger) -> None:
    ledger.add(shown([0, 12, 15], {"area": ["n", "s", "w"]}, kind=Kind("random", base=3)), title="Firms")
    # A category of which amounts say nothing at all may have some.
    assert ledger.check(shown([80, 90], {"area": ["s", "w"]}), **OF).verdict == "incomplete"
    result = ledger.check(shown([0, 80, 90], {"area": ["n", "s", "w"]}), **OF)
    assert [(f.name, f.lower) for f in result.new] == [("count of area=n", 0)]
    assert any("nobody is there" in text for text in result.assumed)


def test_numbers_and_amounts_of_one_crossing_are_independent(ledger: Ledger) -> None:
    dimensions = {**AREAS, **SIZES}
    ledger.add(shown([[20, 14, 34], [31, 0, 31], [51, 14, 65]], dimensions), title="Firms")
    result = ledger.check(shown([[None, None, 90], [70, 0, 70], [None, None, 160]], dimensions), **OF)
    assert (result.verdict, [entry.title for entry in result.beside]) == ("safe", ["Firms"])


def test_amounts_that_may_or_may_not_be_there_are_not_judged_case_by_case(ledger: Ledger) -> None:
    ledger.add(shown([1, 40, 41], AREAS), title="Firms")
    amounts = shown([[None, None, 50], [300, 900, 1200], [None, None, 1250]], {**AREAS, **SIZES}, mark=OPEN)
    result = ledger.check(amounts, **OF)
    assert (result.verdict, result.new) == ("incomplete", ())
    assert result.unjudged[0].startswith("whether anybody is in area=n, size=small and 1 other cell follows neither")
    assert "«Firms» and «Turnover»" in result.unjudged[0]


def test_two_firms_with_15_in_either_region_have_15_in_either_size(ledger: Ledger) -> None:
    ledger.add(shown([1, 1], {"size": ["small", "large"]}), title="Firms", population="firms")
    amounts = shown([15, 15], {"area": ["n", "s"]})
    result = ledger.check(amounts, **OF, population="firms", threshold=1)
    assert (result.verdict, result.new) == ("incomplete", ())
    assert result.unjudged[0].startswith("so few respondents are in")
    more = Ledger(ledger.path.with_name("more.sqlite"))
    more.add(shown([2, 1], {"size": ["small", "large"]}), title="Firms", population="firms")
    assert more.check(amounts, **OF, population="firms", threshold=1).verdict == "safe"


def test_10_and_20_by_area_and_15_and_15_by_size_are_three_firms(ledger: Ledger) -> None:
    few = Kind("suppressed", least=1, most=3)
    ledger.add(shown([None, None], {"form": ["f", "Total"]}, mark=few), title="Firms", population="firms")
    ledger.add(shown([10, 20], {"area": ["n", "s"]}), title="Areas", variable="turnover", population="firms")
    result = ledger.check(shown([15, 15], {"size": ["small", "large"]}), **OF, population="firms")
    assert (result.verdict, result.new) == ("incomplete", ())
    assert "are published for several crossings" in result.unjudged[0]
    # With room for somebody in every cell, nothing more follows.
    wide = Ledger(ledger.path.with_name("wide.sqlite"))
    many = Kind("suppressed", least=1, most=60)
    wide.add(shown([None, None], {"form": ["f", "Total"]}, mark=many), title="Firms", population="firms")
    wide.add(shown([10, 20], {"area": ["n", "s"]}), title="Areas", variable="turnover", population="firms")
    assert wide.check(shown([15, 15], {"size": ["small", "large"]}), **OF, population="firms").verdict == "safe"


@pytest.mark.parametrize(("north", "verdict"), [(4, "safe"), (1, "incomplete")])
def test_levels_that_no_table_shows_take_no_respondents(north: int, verdict: str, ledger: Ledger) -> None:
    """A firm in each size of each area is enough; that areas have three districts each asks for no more."""
    tree = Hierarchy.from_parents([(f"{area}{k}", area) for area in "ns" for k in range(3)])
    areas: dict[str, Any] = {"hierarchies": {"area": (tree,)}, "absent": "unpublished"}
    numbers = shown([north, 5], {"area": ["n", "s"]}, **areas)
    ledger.add(numbers, title="Firms", population="firms")
    amounts = shown([100, 170], {"area": ["n", "s"]}, **areas)
    ledger.add(amounts, title="Areas", variable="turnover", population="firms")
    result = ledger.check(shown([120, 150], {"size": ["small", "large"]}), **OF, population="firms")
    assert result.verdict == verdict, result.sentence


def test_other_times_and_people_and_amounts_alone_tell_nothing(ledger: Ledger) -> None:
    ledger.add(FIRMS, title="2023", population="firms", period="2023")
    ledger.add(FIRMS, title="Households", population="households", period="2024")
    ledger.add(shown([7, 9, 16], AREAS), title="Wages", variable="wages", population="firms", period="2024")
    result = ledger.check(TURNOVER, **OF, population="firms", period="2024")
    assert (result.verdict, result.beside) == ("safe", ())


def test_somebody_may_contribute_nothing(ledger: Ledger) -> None:
    """A firm without turnover shows that 0 does not mean nobody; the rest is still judged."""
    ledger.add(shown([3, 40, 43], AREAS), title="Firms")
    result = ledger.check(shown([0, 90, 90], AREAS), **OF)
    assert (result.verdict, result.assumed) == ("safe", ())
    ledger.add(shown([[0, 3], [20, 20]], {"area": ["n", "s"], "size": ["small", "large"]}), title="Sizes")
    result = ledger.check(shown([[0, 0], [None, None]], {"area": ["n", "s"], "size": ["small", "large"]}), **OF)
    assert (result.verdict, result.assumed) == ("safe", ())


def test_an_amount_where_nobody_is_counted_is_refused(ledger: Ledger) -> None:
    ledger.add(shown([0, 42, 42], AREAS), title="Firms")
    with pytest.raises(DiscreetError, match=r"«Firms» and «Turnover» cannot all be true.*area=n.*--period") as told:
        ledger.check(shown([5, 85, 90], AREAS), **OF)
    assert "retag" in str(told.value)


def test_amounts_below_0_are_not_judged_with_numbers(ledger: Ledger) -> None:
    ledger.add(shown([20, 40, 60], AREAS), title="Firms")
    result = ledger.check(shown([None, None, 90], AREAS, mark=Kind("suppressed", least=-50)), **OF)
    assert result.verdict == "incomplete"
    assert any("may be negative" in text for text in result.unjudged)


# --- figures that are drawn again --------------------------------------------------------------------------------

ROUNDED = Kind("random", base=3)


def test_noise_that_is_drawn_again_is_not_judged_without_a_policy(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How few sums contradict each other is not asked here; to look for the fewest takes seconds.
    monkeypatch.setattr("discreet.feasible.contradiction.MOST_ROWS", 0)
    groups = {"group": [f"g{i}" for i in range(25)]}
    ledger.add(shown([6] * 25, groups, kind=ROUNDED), title="First")
    again = ledger.check(shown([6] * 24 + [9], groups, kind=ROUNDED), title="Second")
    assert again.verdict == "incomplete"
    assert "25 figures of «Second» were drawn at random again after «First»" in again.unjudged[0]
    assert "--policy" in again.unjudged[0]
    # The same figures once more are not a second draw, nearest rounding is none, and one alone says nothing.
    assert ledger.check(shown([6] * 25, groups, kind=ROUNDED), title="Second").verdict == "safe"
    assert ledger.check(shown([6] * 25, groups, kind=Kind("conventional", base=3)), title="Near").verdict == "safe"
    assert ledger.check(shown([6, 9], {"form": ["f", "g"]}, kind=ROUNDED), title="Forms").verdict == "safe"


def test_few_figures_that_are_equal_are_left_out(ledger: Ledger) -> None:
    """Of three, all may be equal by chance; without them, the check goes on with what is new."""
    ledger.add(shown([39, 51, 30], {"area": list("nsw")}, kind=ROUNDED), title="First")
    ages = [[21, 18], [30, 21], [15, 15]]
    both = [[*row, sum(row)] for row in ages]
    again = ledger.check(shown(both, {"area": list("nsw"), "age": ["y", "o", "Total"]}, kind=ROUNDED), title="Ages")
    assert again.verdict == "incomplete"
    assert "or leave them out where fewer than 20 are printed again" in again.unjudged[0]
    few = shown(ages, {"area": list("nsw"), "age": ["y", "o"]}, kind=ROUNDED, absent="unpublished")
    assert ledger.check(few, title="Ages").verdict == "safe"
    # The check is still on: 28 to 32 and 4 to 8 are at least 37 by the first release, so the 30 is 29 or more.
    small = shown([[30, 6], *ages[1:]], few.figures[0].labels, kind=ROUNDED, absent="unpublished")
    told = ledger.check(small, title="Ages", width=4)
    assert ("area=n, age=y", 29, 32) in [(f.name, f.lower, f.upper) for f in told.new]
    assert ledger.check(few, title="Ages", width=4).verdict == "safe"


def test_a_policy_weighs_both_draws(ledger: Ledger, tmp_path: Path) -> None:
    """1/H of what two roundings of one count leave, by enumeration, on either side of the limit."""
    groups = {"group": ["a", "b"]}
    ledger.add(shown([6, 9], groups, kind=ROUNDED), title="First")
    true = np.arange(20)

    def bits(*drawn: int) -> float:
        p = np.prod([ROUNDED.likelihood(y, true) for y in drawn], axis=0)
        p = p[p > 0] / p.sum()
        return float(-(p * np.log2(p)).sum())

    once, twice = 1 / bits(6), 1 / bits(6, 6)
    assert once < twice
    for limit, verdict in ((twice + 0.01, "safe"), (twice - 0.01, "unsafe"), (once + 0.01, "unsafe")):
        policy = tmp_path / f"{verdict}{limit:.2f}.toml"
        policy.write_text(f'extends = "census"\n[limits]\ndr = {limit}\n')
        result = ledger.check(shown([6, 9], groups, kind=ROUNDED), title="Second", policy=policy)
        assert result.verdict == verdict, result
    alone = Ledger(tmp_path / "alone.sqlite")
    assert alone.check(shown([6, 9], {"x": ["u", "v"]}, kind=ROUNDED), title="Alone", policy=policy).verdict == "safe"
