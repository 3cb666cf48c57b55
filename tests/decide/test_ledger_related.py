"""Parts of a population, revisions and policies in the ledger: put together, judged, and said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.core.errors import DataError, RequestError
from discreet.decide.ledger import Entry, Ledger
from discreet.decide.ledger.release_check import _worlds
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.release import Release


def shown(array: Any, dimensions: Mapping[str, Sequence[object]], **about: Any) -> Release:
    return Release.of(Figures.from_array(array, dimensions, **about))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


@pytest.mark.parametrize("asked", [{"period": "2024-12"}, {"population": "inhabitants"}, {"variable": "people"}])
def test_cells_that_add_up_to_what_another_release_prints(ledger: Ledger, asked: dict[str, Any]) -> None:
    """Nothing is printed twice, but the cells of one table are those that the other hides, by any reader's sums."""
    told: dict[str, Any] = {"period": "2024", "population": "residents"}
    sides = {"area": ["n", "s", "Total"], "sex": ["m", "f", "Total"]}
    ledger.add(shown([[None, None, 40], [None, None, 50], [42, 48, 90]], sides), title="First", **told)
    finer = {"area": ["n", "s"], "sex": ["m", "f"], "age": ["young", "old"]}
    for cells, labels in (
        ([[38, 2], [4, 46]], dict(list(finer.items())[:2])),
        ([[[30, 8], [1, 1]], [[2, 2], [6, 40]]], finer),
    ):
        found = ledger.check(shown(cells, labels), title="Cells", **(told | asked))
        assert found.verdict == "unsafe"
        assert {("area=n, sex=f", 2)} <= {(f.name, f.lower) for f in found.new}
    # Other people, whose figures are others too.
    assert (
        ledger.check(shown([[38, 12], [4, 66]], dict(list(finer.items())[:2])), title="X", **(told | asked)).verdict
        != "unsafe"
    )


# --- populations inside each other -------------------------------------------------------------------------------

AREAS = {"area": ["n", "s", "Total"]}
OVER_16, OVER_18 = shown([65, 89, 154], AREAS), shown([64, 89, 153], AREAS)


def test_ages_from_16_and_from_18_with_totals(ledger: Ledger) -> None:
    """The total of the ages from 18 on is of these only; the one person of 16 or 17 in the north is found."""
    first = shown([[5, 60, 65], [29, 80, 109], [34, 140, 174]], {**AREAS, "age": ["16-24", "25+", "Total"]})
    second = shown([[4, 60, 64], [9, 80, 89], [13, 140, 153]], {**AREAS, "age": ["18-24", "25+", "Total"]})
    ledger.add(first, title="16+")
    result = ledger.check(second, title="18+")
    assert [(f.name, f.lower) for f in result.new] == [("area=n, age=16-17", 1)]
    assert result.new[0].subtraction.endswith("5 − 4 = 1")
    # Without the bands, the totals alone say it.
    totals = ledger.check(shown([[64], [89], [153]], {**AREAS, "age": ["18+"]}), title="18+")
    assert {(f.name, f.lower) for f in totals.new} == {
        ("area=n, age=16-17", 1),
        ("area=n, age=18-24", 4),
        ("area=s, age=18-24", 9),
    }


@pytest.mark.parametrize(
    ("first", "second", "called"),
    [
        ("16+", "18+", "16-17"),
        ("residents > 16+", "residents > 18+", "16-17"),
        ("residents", "residents > 18+", "others"),
        ("adults", "adults > men", "not men"),
        ("residents > 16+", "residents>16+>men", "not men"),
    ],
)
def test_a_population_inside_another_is_put_together_with_it(
    ledger: Ledger, first: str, second: str, called: str
) -> None:
    ledger.add(OVER_16, title="Wide", population=first)
    result = ledger.check(OVER_18, title="Narrow", population=second)
    assert result.verdict == "unsafe"
    assert [(f.name, f.lower) for f in result.new] == [(f"area=n, population={called}", 1)]
    assert result.new[0].subtraction.endswith("65 − 64 = 1")
    assert [f.name for f in result.zeros] == [f"area=s, population={called}"]


def test_a_contradiction_names_ways_that_work(ledger: Ledger) -> None:
    ledger.add(OVER_16, title="Wide", population="residents")
    with pytest.raises(DataError, match=r"area=n is 64 in «Narrow», but 65 in «Wide»") as refusal:
        ledger.check(OVER_18, title="Narrow", population="residents")
    text = str(refusal.value)
    assert all(way in text for way in ("--population 'residents > 18+'", "--part", "--revises", "--period"))
    assert "--absent" not in text
    assert ledger.check(OVER_18, title="Narrow", population="residents > 18+").verdict == "unsafe"
    assert ledger.check(OVER_18, title="Narrow", population="residents", revises="Wide").verdict == "unsafe"
    # A release without a period is given one, and changes since then are judged.
    assert "discreet ledger retag" in text
    ledger.retag("Wide", period="2024", reason="no period")
    later = ledger.check(OVER_18, title="Narrow", population="residents", period="2025")
    assert [change.people for change in later.changes] == [1]


def test_a_contradiction_names_the_releases_that_state_nothing(ledger: Ledger) -> None:
    """What one release states changes nothing while the other may be about the same, so that this one is named."""
    entry = ledger.add(OVER_16, title="Wide")
    tags = {"population": ("residents", "residents > 18+"), "period": ("2024", "2025")}
    for what, (first, second) in tags.items():
        asked: dict[str, Any] = {what: second}
        with pytest.raises(DataError) as refusal:
            ledger.check(OVER_18, title="Narrow", **asked)
        assert f"«Wide» states no {what}" in str(refusal.value)
        assert f"discreet ledger retag {entry.id} --{what} … --reason …" in str(refusal.value)
        told: dict[str, Any] = {what: first}
        ledger.retag(entry.id, reason="left out", **told)
        assert ledger.check(OVER_18, title="Narrow", **asked).verdict == "unsafe"
        with pytest.raises(DataError, match=rf"«Narrow» states no {what}.*say it \(--{what} …\)"):
            ledger.check(OVER_18, title="Narrow")
        empty: dict[str, Any] = {what: ""}
        ledger.retag(entry.id, reason="again", **empty)


def test_categories_that_contradict_each_other_are_related_by_a_hierarchy(ledger: Ledger) -> None:
    """Four streets, and two of them: no total says so, a hierarchy does, of either release."""
    ledger.add(shown([21], {"area": ["north"]}, absent="unpublished"), title="Districts")
    coast = [20], {"area": ["coast"]}
    with pytest.raises(DataError, match=r"a hierarchy with those of both \(--hierarchy\)"):
        ledger.check(shown(*coast, absent="unpublished"), title="Zones")
    tree = Hierarchy.from_parents([("north", None), ("coast", "north"), ("s3", "north"), ("s1", "coast")])
    found = ledger.check(shown(*coast, absent="unpublished", hierarchies={"area": (tree,)}), title="Zones")
    assert [(f.name, f.lower) for f in found.new] == [("area=s3", 1)]


def test_a_total_of_everybody_beside_a_table_of_a_part(ledger: Ledger) -> None:
    """Seventy in the east, 73 in all: three live elsewhere, though no release has a category for them."""
    tree = Hierarchy.flat(["e1", "e2"], total="East").as_part()
    east = shown([30, 40, 70], {"region": ["e1", "e2", "East"]}, hierarchies={"region": (tree,)})
    totals = {count: shown([count], {"region": ["Total"]}) for count in (73, 173)}
    ledger.add(east, title="East")
    (found,) = ledger.check(totals[73], title="All").new
    assert (found.name, found.lower) == ("region=outside East", 3)
    assert found.subtraction.endswith("73 − 30 − 40 = 3")
    assert ledger.check(totals[173], title="All").verdict == "safe"
    other = Ledger(ledger.path.parent / "other.sqlite")
    other.add(totals[73], title="All")
    assert [f.lower for f in other.check(east, title="East").new] == [3]


def test_populations_that_may_lie_inside_each_other_are_not_called_safe(ledger: Ledger) -> None:
    ledger.add(shown([650, 890], {"area": ["n", "s"]}), title="Wide", population="adults")
    near = shown([645, 880], {"area": ["n", "s"]})
    result = ledger.check(near, title="Narrow", population="voters")
    assert result.verdict == "incomplete"
    assert "area=n has 650 − 645 = 5 between them" in result.sentence
    assert "(--population 'adults > voters')" in result.sentence
    assert "(--population 'voters | adults')" in result.sentence
    # Hidden cells leave their sums.
    hidden = shown([None, None, 1535], {"area": ["n", "s", "Total"]})
    assert "the total has 1,540 − 1,535 = 5 between them" in ledger.check(hidden, population="voters").sentence
    # Each exceeds the other somewhere, or by more than the limit.
    for other in ([645, 900], [500, 700]):
        assert ledger.check(shown(other, {"area": ["n", "s"]}), title="x", population="voters").verdict == "safe"


@pytest.mark.parametrize("names", [("adults", "voters"), ("people", "residents > 18+"), ("a > b", "c > d")])
@pytest.mark.parametrize("larger", ["old", "new"])
def test_each_way_to_say_how_populations_lie_works(ledger: Ledger, names: tuple[str, str], larger: str) -> None:
    """The larger one holds the other, whichever came first, and what shares nobody is said of the outermost ones."""
    wide, narrow = shown([650, 890], {"area": ["n", "s"]}), shown([645, 880], {"area": ["n", "s"]})
    first, second = (wide, narrow) if larger == "old" else (narrow, wide)
    one, other = names if larger == "old" else names[::-1]
    entry = ledger.add(first, title="First", population=one)
    (text,) = ledger.check(second, title="Second", population=other).unjudged
    behind, beside = re.findall(r"--population '([^']*)'", text)
    assert behind == f"{names[0]} > {names[1]}"
    assert ledger.check(second, title="Second", population=beside).verdict == "safe"
    if larger == "new":
        assert f"discreet ledger retag {entry.id} --population '{behind}' --reason" in text
        ledger.retag(entry.id, population=behind, reason="a part")
    result = ledger.check(second, title="Second", population=other if larger == "new" else behind)
    assert [f.lower for f in result.new] == [5]


def test_populations_of_which_nobody_said_how_they_overlap_are_incomplete(ledger: Ledger) -> None:
    ledger.add(shown([650, 890], {"area": ["n", "s"]}), title="Men", population="all > men")
    result = ledger.check(shown([610, 800], {"area": ["n", "s"]}), title="Voters", population="all > voters")
    assert result.verdict == "incomplete"
    assert "how the populations of «Men» lie in the one checked is not stated" in result.sentence


# --- revisions ---------------------------------------------------------------------------------------------------

ROWS, COLUMNS = "abcdef", "vwxyz"
FIRST = [(0, 0), (0, 1), (2, 0), (2, 3), (4, 1), (4, 3)]
FINAL = [(0, 0), (0, 2), (2, 2), (2, 3), (4, 0), (4, 3), (4, 2), (0, 3)]


def counts() -> np.ndarray:
    table = np.random.default_rng(3).integers(12, 60, (6, 5))
    table[0, 0], table[2, 3], table[4, 1] = 1, 2, 1
    return table


def suppressed(table: np.ndarray, hidden: Sequence[tuple[int, int]]) -> Release:
    full = np.zeros((7, 6), object)
    full[:6, :5], full[6, :5], full[:6, 5], full[6, 5] = table, table.sum(axis=0), table.sum(axis=1), table.sum()
    for at in hidden:
        full[at] = None
    return shown(full, {"area": [*ROWS, "Total"], "size": [*COLUMNS, "Total"]})


def revised() -> np.ndarray:
    table = counts()
    table[3, 3] += 4
    table[5, 0] -= 5
    table[1, 1] += 3
    return table


@pytest.mark.parametrize(
    ("told", "asked", "why"),
    [
        ({"period": "2024"}, {"period": "2024", "revises": "First"}, "revises the other"),
        ({"period": "2024 first"}, {"period": "2024 final"}, "figures above 0 that both print are equal"),
        ({"population": "firms | units"}, {"population": "units"}, "figures above 0 that both print are equal"),
        ({"variable": "firms"}, {"variable": "units"}, "figures above 0 that both print are equal"),
        ({"variable": "firms"}, {"variable": "units", "revises": "First"}, "revises the other"),
    ],
)
def test_a_revision_prints_what_the_first_release_hides(
    ledger: Ledger, told: dict[str, Any], asked: dict[str, Any], why: str
) -> None:
    first, final = suppressed(counts(), FIRST), suppressed(revised(), FINAL)
    for release in (first, final):
        assert ledger.check(release, title="alone").verdict == "safe"
    ledger.add(first, title="First", **told)
    result = ledger.check(final, title="Final", **asked)
    assert result.verdict == "unsafe"
    found = {(f.cell["area"], f.cell["size"]): f for f in result.new}
    truth, now = counts(), revised()
    hidden = set(FIRST) ^ set(FINAL)
    assert {(ROWS[i], COLUMNS[j]) for i, j in hidden} <= set(found)
    for i, j in (*FIRST, *FINAL):
        f = found.get((ROWS[i], COLUMNS[j]))
        assert f is None or f.lower in (truth[i, j], now[i, j])
    # The small cells are hidden in both, or were; all of them are known.
    assert {("a", "v"), ("c", "y"), ("e", "w")} <= set(found)
    assert all(why in f.subtraction for f in found.values())
    assert found["e", "w"].subtraction.startswith("area=e, size=w = 1: between")
    # The order does not matter, and once both are in, a third is put together with the later one.
    ledger.add(final, title="Final", **asked)
    if "revises" in asked and "variable" not in asked:
        entry = ledger.entry("Final")
        assert entry.revises == (ledger.entry("First").id,)
        assert ledger.release("Final").parts()[0].values.tolist() == final.parts()[0].values.tolist()
        total = ledger.check(shown(revised().sum(axis=1), {"area": list(ROWS)}), title="Rows", period="2024")
        assert [e.title for e in total.linked] == ["Final"]
        assert [e.title for e in total.compared] == ["First"]


def test_a_revision_with_other_dimensions_is_not_called_safe(ledger: Ledger) -> None:
    ledger.add(shown([None, None, 30], {"size": ["s", "m", "Total"]}), title="First")
    result = ledger.check(shown([2, 28, 30], {"class": ["s", "m", "Total"]}), title="Final", revises="First")
    assert result.verdict == "incomplete"
    assert "«Final» revises «First» but has none of its dimensions (size)" in result.sentence


def test_other_years_are_no_revision(ledger: Ledger) -> None:
    ledger.add(suppressed(counts(), FIRST), title="2023", period="2023")
    later = counts() + np.random.default_rng(1).integers(3, 9, (6, 5))
    result = ledger.check(suppressed(later, FINAL), title="2024", period="2024")
    assert result.verdict == "safe"


def test_two_roundings_of_a_revision_narrow_the_value(ledger: Ledger) -> None:
    from discreet.table.kinds import Kind

    sizes = {"size": ["s", "m", "l"]}
    ledger.add(shown([3, 9, 30], sizes, kind=Kind("random", base=3)), title="First")
    again = shown([6, 9, 36], sizes, kind=Kind("random", base=3))
    result = ledger.check(again, title="Final", revises="First", width=2)
    # l was revised: 28 to 32 and 34 to 38 do not meet, and nothing follows.
    assert [(f.name, f.lower, f.upper) for f in result.new] == [("size=s", 4, 5)]


# --- policies, and what safe means -------------------------------------------------------------------------------


def test_a_policy_sets_threshold_limits_and_zeros(ledger: Ledger) -> None:
    ledger.add(OVER_16, title="Wide", population="p")
    narrow = shown([61, 86, 147], AREAS)
    asked = {"title": "Narrow", "population": "p > 18+"}
    assert ledger.check(narrow, **asked).verdict == "unsafe"  # type: ignore[arg-type]
    census = ledger.check(narrow, policy="census", **asked)  # type: ignore[arg-type]
    assert (census.verdict, census.policy) == ("safe", "census")
    assert "no count from 1 to 2 that no release shows can be worked out" in census.meaning
    assert "with a risk 1/H of at most 0.7" in census.meaning
    assert census.to_dict()["meaning"] == census.meaning
    assert census.to_dict()["policy"] == "census"
    assert "Safe means" in str(census)
    assert "against a reader of these releases" in census.meaning
    text = 'zeros = "unsafe"\n[rules]\nthreshold = 3\n'
    none, own = shown([61, 89, 150], AREAS), dc.Policy.from_text(text)
    assert ledger.check(narrow, policy=own, **asked).verdict == "safe"  # type: ignore[arg-type]
    assert ledger.check(none, policy=own, **asked).verdict == "unsafe"  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="dr is given beside a policy"):
        ledger.check(narrow, policy="census", dr=0.5)
    with pytest.raises(RequestError, match="has no threshold for counts"):
        ledger.check(narrow, policy=dc.Policy.from_text("[limits]\nwidth = 2\n"))


def test_a_newcomer_is_found_in_margins_above_hidden_cells(ledger: Ledger) -> None:
    """Of rows 1, 2, 9 and 2, 1, 9 the small counts are hidden; that one person joined the second row is printed."""
    then = [[1, 2, 9], [2, 1, 9], [20, 30, 40]]
    ledger.add(_suppressed(then), title="Then", population="people", period="2023")
    for row, column, people in ((1, 1, 1), (0, 0, 2)):
        now = np.array(then)
        now[row, column] += people
        found = ledger.check(_suppressed(now), title="Now", population="people", period="2024")
        assert found.verdict == "unsafe"
        assert [(one.where, one.people) for one in found.changes] == [("the whole table", people)]
    # Known cells that moved more show that more people took part.
    now = np.array(then) + np.array([[0, 0, 0], [0, 1, 4], [0, 0, -4]])
    found = ledger.check(_suppressed(now), title="Now", population="people", period="2024")
    assert not [one for one in found.changes if one.where == "the whole table"]


def test_changes_are_found_in_the_categories_that_both_have(ledger: Ledger) -> None:
    """A new category, or streets of an area that was published as a whole, do not hide who came to the others."""
    ledger.add(shown([40, 20], {"area": ["n", "s"]}), title="Then", population="people", period="2023")
    new = shown([41, 20, 30], {"area": ["n", "s", "w"]})
    streets = Hierarchy.from_parents({"n": "Total", "s": "Total", "n1": "n", "n2": "n"})
    finer = shown([41, 20, 11, 30, 61], {"area": ["n", "s", "n1", "n2", "Total"]}, hierarchies={"area": (streets,)})
    for release in (new, finer):
        found = ledger.check(release, title="Now", population="people", period="2024", threshold=1)
        assert [(one.where, one.cells) for one in found.changes] == [("the whole table", (("area=n", 40, 41),))]


def _suppressed(array: Any) -> Release:
    return dc.suppress(dc.Table.from_array(array, ["area", "faith"]), dc.rules.Threshold(3)).release


def test_amounts_between_years_are_judged_by_who_changed(ledger: Ledger) -> None:
    """One firm's turnover changed, and all others stayed as they were."""
    sizes = {"region": ["r1", "r2", "r3"], "size": ["s", "m"]}
    then = [[100, 200], [300, 400], [500, 600]]
    ledger.add(shown(then, sizes), title="2023", period="2023", variable="turnover")
    now = [[100, 200], [300, 433], [500, 600]]
    result = ledger.check(shown(now, sizes), title="2024", period="2024", variable="turnover")
    assert (result.verdict, [change.people for change in result.changes]) == ("unsafe", [1])
    moved = shown(np.array(then) + 7, sizes)
    safe = ledger.check(moved, title="2024", period="2024", variable="turnover")
    assert safe.verdict == "safe"
    assert "was made by 3 contributors or more" in safe.meaning


# --- which releases belong together ------------------------------------------------------------------------------


def worlds_by_definition(entry: Entry, linked: Sequence[Entry]) -> set[frozenset[str]]:
    """Return the largest sets of releases that may be about one population and period: all of them are tried."""
    every = (entry, *linked)
    populations = {e.population for e in every if e.population} or {""}
    periods = {e.period for e in every if e.period} or {""}
    sets = {frozenset(e.id for e in linked if e.may_be_about(who, when)) for who in populations for when in periods}
    return {one for one in sets if not any(one < other for other in sets)}


def test_sets_of_releases_are_found_without_trying_all_of_them() -> None:
    rng = np.random.default_rng(11)
    names = ["", "", "adults", "Adults", "firms", "16+", "18+"]
    for _ in range(400):
        tags = [
            (str(rng.choice(names)), str(rng.choice(["", "2023", "2024", "2025"]))) for _ in range(rng.integers(1, 9))
        ]
        entries = [
            Entry(str(k), f"t{k}", "2024-05-31", "", ("a",), 1, 0, who, when) for k, (who, when) in enumerate(tags)
        ]
        entry = entries[0]
        linked = [e for e in entries[1:] if e.may_be_about(entry.population, entry.period)]
        found = [frozenset(e.id for e in group) for group in _worlds(entry, linked)]
        assert len(found) == len(set(found))
        assert set(found) == worlds_by_definition(entry, linked), tags


@pytest.mark.parametrize("names", [("people", ""), ("", "people"), ("", "")])
def test_releases_that_share_only_the_total_may_be_about_the_same_people(
    ledger: Ledger, names: tuple[str, str]
) -> None:
    """A total of 12 less 7 and 4 leaves 1; whoever states no population is asked to."""
    sexes = shown([6, 6, 12], {"sex": ["m", "f", "Total"]})
    areas = shown([7, None, 4, None], {"area": ["n", "s", "w", "Total"]}, mark=dc.Kind("suppressed", least=1))
    ledger.add(sexes, title="Sexes", population=names[0])
    found = ledger.check(areas, title="Areas", population=names[1])
    assert found.verdict == "incomplete"
    assert "states no population, and if «Sexes» and «Areas» are about the same people" in found.sentence
    assert "12 − 7 − 4 = 1 follows" in found.sentence
    if not names[0]:
        ledger.retag("Sexes", population="people", reason="left out")
    assert ledger.check(areas, title="Areas", population="people").verdict == "unsafe"
    assert ledger.check(areas, title="Areas", population="firms").verdict == "safe"


def test_other_people_are_told_by_their_total(ledger: Ledger) -> None:
    """If all were the same, nobody but women would be in the south."""
    ledger.add(shown([12, 0, 12], {"sex": ["f", "m", "Total"]}), title="Sexes")
    for count, verdict in ((11, "incomplete"), (12, "safe")):
        areas = shown([count, 1, count + 1], {"area": ["n", "s", "Total"]})
        assert ledger.check(areas, title="Areas").verdict == verdict
