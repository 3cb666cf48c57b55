"""What a check did not judge is in its verdict, with what to do; and plain checks still end in safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lengths import seeds
from tests.plain import data_of

import discreet as dc
from discreet.core.errors import RequestError
from discreet.decide.ledger import Ledger, crossing, given_away, release_check, revision
from discreet.decide.ledger.entry import sheets_of
from discreet.decide.ledger.populations import apart
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release

RANK = {"safe": 0, "incomplete": 1, "unsafe": 2}


def shown(array: Any, dimensions: Mapping[str, Sequence[object]], **about: Any) -> Release:
    return Release.of(Figures.from_array(array, dimensions, **about))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


# --- amounts -----------------------------------------------------------------------------------------------------

ZONES = {"zone": [*"abcde", "Total"]}
TREE = Hierarchy.from_parents([("a", None), ("b", None), *((unit, "cde") for unit in "cde")])


def test_a_sum_of_hidden_amounts_that_several_releases_give_away(ledger: Ledger) -> None:
    hidden = shown([None, None, None, None, 30, 41], ZONES)
    assert ledger.check(hidden, variable="turnover").verdict == "safe"
    ledger.add(hidden, title="Old", variable="turnover")
    part = shown([38], {"zone": ["cde"]}, hierarchies={"zone": (TREE,)}, absent="unpublished")
    result = ledger.check(part, title="New", variable="turnover")
    assert (result.verdict, result.findings) == ("incomplete", ())
    (text,) = result.unjudged
    assert text.startswith("2 sums of hidden amounts can be worked out from several releases")
    assert "zone=a + b = [total in «Old»] − [zone=cde in «New»] = 41 − 38 = 3" in text
    assert "hide more figures until they no longer follow" in result.sentence
    assert data_of(result)["unjudged"] == [text]


def test_rules_on_contributors_are_not_judged_and_that_is_said(ledger: Ledger) -> None:
    amounts = shown([[100, 200], [300, 400]], {"region": ["r1", "r2"], "size": ["s", "m"]})
    result = ledger.check(amounts, title="Turnover", variable="turnover", policy="business")
    assert result.verdict == "incomplete"
    assert all(
        rule in result.sentence
        for rule in ("10% rule", "(2, 85)-dominance", "protection levels", "what respondents work out")
    )
    assert "discreet audit NEW OLD --original TABLE --rule" in result.sentence
    # Of counts of firms the same policy asks nothing that a ledger could not judge.
    assert ledger.check(amounts, title="Firms", policy="business").verdict == "safe"
    assert ledger.check(amounts, title="Turnover", variable="turnover").verdict == "safe"
    threshold = dc.Policy.from_text('insiders = "none"\n[limits]\nwidth = 2\n')
    assert ledger.check(amounts, title="Turnover", variable="turnover", policy=threshold).verdict == "safe"


# --- caps --------------------------------------------------------------------------------------------------------


def test_zeros_between_tables_that_are_not_all_listed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.add(shown([[1, 50]], {"activity": ["a1"], "size": ["s1", "s2"]}), title="Sizes")
    regions = shown([[30, 21, 0, 0]], {"activity": ["a1"], "region": ["r1", "r2", "r3", "r4"]})
    full = ledger.check(regions, title="Regions")
    assert (full.verdict, len(full.zeros), full.more_zeros) == ("safe", 2, False)
    monkeypatch.setattr(crossing, "ZEROS", 1)
    cut = ledger.check(regions, title="Regions")
    assert (cut.verdict, cut.more_zeros) == ("safe", True)
    assert "and more that are not listed" in cut.sentence
    unsafe = dc.Policy.from_text('zeros = "unsafe"\n[rules]\nthreshold = 3\n')
    found = ledger.check(regions, title="Regions", policy=unsafe)
    assert found.verdict == "unsafe"
    assert any("more figures of 0 follow than are listed" in text for text in found.unjudged)


def test_sums_that_are_too_many(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_away, "NODES", 0)
    north = Hierarchy.from_parents(dict.fromkeys(["s1", "s2", "s3", "s4"], "north"))
    coast = Hierarchy.from_parents([("s1", "coast"), ("s2", "coast"), ("s3", None), ("s4", None)])
    first, second = (
        shown([n], {"area": [name]}, hierarchies={"area": (tree,)}, absent="unpublished")
        for n, name, tree in ((21, "north", north), (20, "coast", coast))
    )
    ledger.add(first, title="Districts")
    result = ledger.check(second, title="Zones")
    assert result.verdict == "incomplete"
    assert "--time-limit" in result.sentence
    # With time, as many branches are searched as it allows.
    assert ledger.check(second, title="Zones", time_limit=20).verdict == "unsafe"


# --- limits and lines --------------------------------------------------------------------------------------------


def test_the_risk_of_a_policy_is_that_to_a_reader_who_knows_the_method(ledger: Ledger) -> None:
    """A 0 drawn once is 0, 1 or 2 with weights 3, 2, 1; drawn twice with weights 9, 4, 1, which is too much."""
    areas = {"area": ["n", "s"]}
    drawn = shown([0, 30], areas, kind=Kind("random", base=3))
    first = ledger.check(drawn, title="First", policy="census")
    assert first.verdict == "safe"
    assert "with a risk 1/H of at most 0.7 (to a reader who knows the method)" in first.meaning
    ledger.add(drawn, title="First")
    again = ledger.check(drawn, title="Again", policy="census")
    assert [(f.name, f.lower, f.upper, f.reason) for f in again.new] == [("area=n", 0, 2, "risk 0.8347, more than 0.7")]
    # One limit by itself is judged as an audit judges it by default: all values alike, and no two draws together.
    alike = ledger.check(drawn, title="Again", dr=0.7)
    assert (alike.verdict, alike.new) == ("incomplete", ())
    assert "were drawn at random again after «First»" in alike.unjudged[0]


def test_a_risk_that_cannot_be_shown_is_incomplete(ledger: Ledger) -> None:
    chosen = shown([3, 30], {"area": ["n", "s"]}, kind=Kind("controlled", base=3))
    result = ledger.check(chosen, policy="census")
    assert result.verdict == "incomplete"
    assert "the risk 1/H of 2 figures to a reader who knows the method cannot be shown" in result.sentence
    assert ledger.check(chosen, dr=0.7).verdict == "safe"


def test_cells_that_no_release_shows_are_judged_by_the_limits(ledger: Ledger) -> None:
    """The north has 20 people, 18 or 19 of them adults: one child or two, whom no release shows."""
    ages = Hierarchy.from_parents([("adult", None), ("child", None)])
    ledger.add(shown([20], {"area": ["n"]}, absent="unpublished"), title="All")
    adults = Figures(
        {"area": ("n",), "age": ("adult",)},
        np.array([[0, 0]]),
        np.array([18]),
        np.array([0]),
        (Kind("interval"),),
        upper=np.array([19]),
        hierarchies={"age": (ages,)},
        absent="unpublished",
    )
    assert ledger.check(Release.of(adults)).verdict == "safe"
    close = ledger.check(Release.of(adults), width=5)
    assert {(f.name, f.lower, f.upper) for f in close.new} == {
        ("area=n, age=adult", 18, 19),
        ("area=n, age=child", 1, 2),
    }
    child = next(f for f in close.new if f.name == "area=n, age=child")
    assert child.reason == "no release shows it; interval 1 wide, less than 5"


def test_lines_with_everybody_in_one_cell_over_several_releases(ledger: Ledger) -> None:
    """All 40 of the north are ill only once the other release shows that nobody there is well."""
    both = {"area": ["n", "s"], "ill": ["yes", "no"]}
    ledger.add(shown([[None, None], [50, 60]], both, absent="unpublished"), title="Hidden")
    total = shown([40, 110], {"area": ["n", "s"]})
    assert ledger.check(total, title="Totals", policy="census").verdict == "incomplete"
    well = shown([[0]], {"area": ["n"], "ill": ["no"]}, absent="unpublished")
    ledger.add(total, title="Totals")
    result = ledger.check(well, title="Well", policy="census")
    assert result.verdict == "unsafe"
    line = next(f for f in result.new if "group disclosure" in f.reason)
    assert (line.name, line.lower, line.reason) == (
        "area=n, ill=yes",
        40,
        "everybody of area=n is in it (group disclosure)",
    )
    assert line.cause == "together"
    assert set(line.releases) == {"Totals", "Well"}


def test_a_line_is_full_where_all_others_together_are_few(tmp_path: Path, ledger: Ledger) -> None:
    """Of b and c in area n, either may be 1; both are 1 together at most, so all there but one are in a."""
    (tmp_path / "one.toml").write_text("[rules]\nthreshold = 1\ngroup_disclosure = 1\n")
    rows = [[None, None, None, 8], [None, None, None, 3], [9, 8, 7, 24], [9, 8, 7, 24], [28, None, None, 59]]
    jobs = {"area": [*"nswx", "Total"], "job": [*"abc", "Total"]}
    table = shown(rows, jobs, mark=Kind("suppressed", least=0))
    reasons = [one.reason for one in ledger.check(table, title="Jobs", policy=str(tmp_path / "one.toml")).new]
    assert "all but at most 1 people of area=n is in it (group disclosure)" in reasons


# --- releases that may describe the same values -------------------------------------------------------------------

STREETS = ["s1", "s2", "s3", "s4"]
NORTH = Hierarchy.from_parents([*((street, "north") for street in STREETS), ("rest", None)])
COAST = Hierarchy.from_parents([("s1", "coast"), ("s2", "coast"), ("s3", None), ("s4", None), ("rest", None)])


def districts(north: int) -> Release:
    return shown([north, 200], {"area": ["north", "Total"]}, hierarchies={"area": (NORTH,)}, absent="unpublished")


def coasts(coast: int, total: int = 200) -> Release:
    return shown([coast, total], {"area": ["coast", "Total"]}, hierarchies={"area": (COAST,)}, absent="unpublished")


def test_a_revision_that_splits_otherwise_does_not_switch_the_check_off(ledger: Ledger) -> None:
    ledger.add(districts(21), title="Districts")
    assert ledger.check(coasts(20), title="Zones").verdict == "unsafe"
    result = ledger.check(coasts(20), title="Zones", revises="Districts")
    assert [(f.name, f.lower) for f in result.new] == [("area=s3 + s4", 1)]
    # Where the two contradict each other, their differences are unknown, and that is said.
    other = ledger.check(coasts(20, 203), title="Zones", revises="Districts")
    assert other.verdict == "incomplete"
    assert "the later one does not repeat area" in other.sentence


def test_corrected_figures_that_contradict_what_is_carried_over(ledger: Ledger) -> None:
    """Both hide a and b, first with a total of 10 and one of them at most 3, then with a total of 30."""
    labels = ("a", "b", "Total")

    def release(total: int, most: int) -> Release:
        kinds = (Kind(), Kind("suppressed", most=most))
        codes, kind = np.arange(3)[:, None], np.array([1, 1, 0])
        return Release.of(Figures({"x": labels}, codes, np.array([0, 0, total]), kind, kinds, name="t"))

    ledger.add(release(10, 9), title="First")
    result = ledger.check(release(30, 29), title="Final", revises="First")
    assert result.verdict == "incomplete"
    assert "figures were corrected that some of them hide" in result.sentence
    assert "give the true tables of both" in result.sentence


def test_decimals_that_differ_are_said(ledger: Ledger) -> None:
    ledger.add(shown([None, None, 40], {"x": ["a", "b", "Total"]}), title="First")
    fine = Figures(
        {"x": ("a", "b", "Total")}, np.arange(3)[:, None], np.array([111, 292, 403]), np.zeros(3, int), decimals=1
    )
    result = ledger.check(Release.of(fine), title="Final", revises="First")
    assert result.verdict == "incomplete"
    assert "different numbers of decimals" in result.sentence


SIZES = {"size": ["s", "m", "l", "xl"]}


@pytest.mark.parametrize(
    ("then", "now", "verdict"),
    [
        # Half of the printed figures and more are equal, few as they are: the hidden one is taken to be so too.
        ([2, 40, 60, 80], [None, 40, 60, 90], "unsafe"),
        ([2, 40, 60, 80], [None, 40, 66, None], "unsafe"),
        ([2, 40, None, None], [None, 40, 66, 88], "unsafe"),
        # Mostly different.
        ([2, 40, 60, 80], [None, 44, 60, 90], "safe"),
        ([2, 40, 60, 80], [None, 44, 65, 90], "safe"),
    ],
)
def test_releases_of_which_half_is_equal_are_taken_to_describe_the_same(
    ledger: Ledger, then: list[int | None], now: list[int | None], verdict: str
) -> None:
    ledger.add(shown(then, SIZES), title="2023", period="2023")
    result = ledger.check(shown(now, SIZES), title="2024", period="2024", fewest=1)
    assert result.verdict == verdict
    said = any("«2023» and «2024» were taken to describe the same values, as" in text for text in result.assumed)
    assert said is (verdict == "unsafe")


def test_rounded_figures_of_two_years_that_are_printed_alike(ledger: Ledger) -> None:
    kind = Kind("random", base=3)
    ledger.add(shown([3, 42, 60, 81], SIZES, kind=kind), title="2023", period="2023")
    again = ledger.check(shown([6, 42, 60, 81], SIZES, kind=kind), title="2024", period="2024", width=2)
    assert [(f.name, f.lower, f.upper) for f in again.new] == [("size=s", 4, 5)]
    other = ledger.check(shown([6, 45, 69, 81], SIZES, kind=kind), title="2024", period="2024", width=2)
    assert other.verdict == "safe"


@seeds(15, 40)
def test_the_careful_reading_never_makes_a_pair_safer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Years that are the same, nearly the same, or different: no contradiction is raised, and nothing becomes safe."""
    draw = np.random.default_rng(seed)
    then = draw.integers(0, 30, (3, 3))
    now = np.maximum(then + draw.integers(-6, 7, (3, 3)) * (draw.random((3, 3)) < [0, 0.3, 1][seed % 3]), 0)
    axes = {"r": [*"abc", "Total"], "c": [*"uvw", "Total"]}
    releases = []
    for table in (then, now):
        full = np.zeros((4, 4), object)
        full[:3, :3], full[3, :3], full[:3, 3], full[3, 3] = table, table.sum(0), table.sum(1), table.sum()
        full[:3, :3][draw.random((3, 3)) < 0.5] = None
        releases.append(shown(full, axes, mark=Kind("suppressed", least=0)))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add(releases[0], title="then", period="2023")
    careful = ledger.check(releases[1], title="now", period="2024")
    monkeypatch.setattr(release_check, "alike", lambda new, old: "")
    plain = ledger.check(releases[1], title="now", period="2024")
    assert RANK[careful.verdict] >= RANK[plain.verdict]
    assert {f.name for f in careful.new} >= {f.name for f in plain.new}
    entry = ledger.entry("then")
    assert bool(careful.assumed) is bool(revision.alike(*(sheets_of(r, entry) for r in releases)))


# --- statements --------------------------------------------------------------------------------------------------


def test_a_release_that_people_saw_is_retagged(ledger: Ledger) -> None:
    areas = {"area": ["n", "s"]}
    first = ledger.add(shown([40, 60], areas), title="Old")
    other = shown([51, 82], areas)
    with pytest.raises(dc.DiscreetError, match="discreet ledger retag ID"):
        ledger.check(other, title="New", period="2024")
    entry = ledger.retag("Old", period="2023", reason="left out", who="Ann")
    assert (entry.id, entry.period, entry.status) == (first.id, "2023", "published")
    assert [(a.who, a.reason, a.period) for a in entry.amended] == [("Ann", "left out", "")]
    assert ledger.check(other, title="New", period="2024").verdict == "safe"
    assert ledger.release("Old").parts()[0].values.tolist() == [40, 60]
    again = ledger.retag(first.id, period="2022", population="firms", reason="it was the year before")
    assert [(a.population, a.period) for a in again.amended] == [("", ""), ("", "2023")]
    assert again.amended[1].who
    assert data_of(again)["amended"][1]["period"] == "2023"
    assert "retagged" in again.row()[-1]
    assert ledger.entries() == (again,)
    with pytest.raises(RequestError, match="says the same already"):
        ledger.retag("Old", period="2022", reason="x")
    untagged = ledger.add(shown([7, 9], {"sex": ["f", "m"]}), title="Bare")
    with pytest.raises(RequestError, match=f"^release {untagged} says the same already; give another population"):
        ledger.retag("Bare", reason="x")
    with pytest.raises(RequestError, match="give the reason"):
        ledger.retag("Old", period="2021", reason=" ")


def test_a_retagged_release_is_checked_like_one_that_was_added_so(ledger: Ledger) -> None:
    ledger.add(shown([65, 89], {"area": ["n", "s"]}), title="Wide", population="adults")
    narrow = shown([64, 89], {"area": ["n", "s"]})
    ledger.retag("Wide", population="residents", reason="wrong word")
    assert ledger.check(narrow, population="residents > 18+").verdict == "unsafe"


def test_populations_that_share_nobody(ledger: Ledger) -> None:
    areas = {"area": ["n", "s"]}
    ledger.add(shown([651, 890], areas), title="Men", population="men")
    women = shown([650, 889], areas)
    doubt = ledger.check(women, title="Women", population="women")
    assert doubt.verdict == "unsafe"  # as if 2 people had moved
    stated = ledger.check(women, title="Women", population="women | men")
    assert (stated.verdict, stated.compared) == ("safe", ())
    assert "«Men» and «Women» are said to be about different people: no change was judged" in stated.sentence
    assert apart("a > b | c", "a > c > d")
    assert not apart("a > b | c", "a > d")


def test_parts_that_share_nobody_are_put_together(ledger: Ledger) -> None:
    """Of 100 in the north, 60 are men and 37 are women: three are neither."""
    areas = {"area": ["n", "s"]}
    ledger.add(shown([100, 300], areas), title="All", population="all")
    ledger.add(shown([60, 150], areas), title="Men", population="all > men")
    women = shown([37, 120], areas)
    open_ = ledger.check(women, title="Women", population="all > women")
    assert open_.verdict == "incomplete"
    assert "--population 'a > b | c'" in open_.sentence
    result = ledger.check(women, title="Women", population="all > women | men")
    assert [(f.name, f.lower) for f in result.new] == [("area=n, population=not men and women", 3)]
    assert result.new[0].subtraction.endswith("100 − 60 − 37 = 3")
    assert ledger.check(shown([25, 120], areas), population="all > women | men").verdict == "safe"
    # Parts of parts may have the same name.
    ledger.add(shown([30, 75], areas), title="Grown men", population="all > men > 18+")
    both = ledger.check(shown([20, 60], areas), title="Grown women", population="all > women | men > 18+")
    assert both.verdict == "safe"


def test_populations_that_overlap_are_checked_with_one_of_them_as_a_category(ledger: Ledger) -> None:
    """Women are neither inside 16+ nor apart from it; a column says who they are, and the check stays on."""
    areas = {"area": ["n", "s"]}
    ledger.add(shown([392, 526], areas), title="Grown", population="all > 16+")
    unsaid = ledger.check(shown([388, 400], areas), title="Women", population="all > women")
    assert unsaid.verdict == "incomplete"
    assert "give the one checked a column in place of a population" in unsaid.sentence
    sexes = {"sex": (Hierarchy.from_parents([("women", None), ("men", None)]),)}

    def women(*counts: int) -> Release:
        labels = {**areas, "sex": ["women"]}
        return shown([[n] for n in counts], labels, hierarchies=sexes, absent="unpublished")

    assert ledger.check(women(388, 400), title="Women", population="all").verdict == "safe"
    ledger.add(women(388, 400), title="Women", population="all")
    grown = ledger.check(women(386, 399), title="Grown women", population="all > 16+")
    assert {(f.name, f.lower) for f in grown.new} >= {
        ("area=n, population=others, sex=women", 2),
        ("area=s, population=others, sex=women", 1),
    }


def test_bands_that_overlap_are_not_said_to_share_nobody(ledger: Ledger) -> None:
    areas = {"area": ["n", "s"]}
    ledger.add(shown([392, 526], areas), title="Wide", population="all > 16+")
    adults = shown([388, 505], areas)
    result = ledger.check(adults, title="Adults", population="18+")
    assert result.verdict == "incomplete"
    assert "--population 'all > 16+ > 18+'" in result.sentence
    assert "share nobody" not in result.sentence
    assert ledger.check(adults, title="Adults", population="all > 16+ > 18+").verdict == "unsafe"
