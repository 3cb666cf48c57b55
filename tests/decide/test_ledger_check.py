"""A new release against the ledger: what several releases give away together, and only that, is found."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lengths import seeds

import discreet as dc
from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.decide.ledger import Ledger, LedgerCheck
from discreet.decide.ledger.bands import bands, pieces
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release


def shown(array: Any, dimensions: Mapping[str, Sequence[object]], **about: Any) -> Release:
    return Release.of(Figures.from_array(array, dimensions, **about))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


DISTRICTS = Hierarchy.from_parents({"s1": "north", "s2": "north", "s3": "north", "s4": "south", "s5": "south"})
ZONES = Hierarchy.from_parents({"s1": "coast", "s2": "coast", "s3": "inland", "s4": "inland", "s5": "inland"})


def test_two_geographies_that_difference(ledger: Ledger) -> None:
    """North is s1 to s3 and coast s1 and s2, so that s3 is the difference; it has 2 people, and nobody showed it."""
    kept = {"sex": ["m", "f", "Total"]}
    by_district = shown(
        [[60, 57, 117], [81, 85, 166], [141, 142, 283]],
        {"area": ["north", "south", "Total"], **kept},
        hierarchies={"area": (DISTRICTS,)},
    )
    by_zone = shown(
        [[58, 57, 115], [83, 85, 168], [141, 142, 283]],
        {"area": ["coast", "inland", "Total"], **kept},
        hierarchies={"area": (ZONES,)},
    )
    ledger.add(by_district, title="Districts")
    result = ledger.check(by_zone, title="Zones")
    assert result.verdict == "unsafe"
    assert [(f.name, f.lower, f.upper) for f in result.new] == [("area=s3, sex=m", 2, 2)]
    finding = result.new[0]
    assert finding.cause == "together"
    assert set(finding.releases) == {"Districts", "Zones"}
    assert finding.subtraction == (
        "area=s3, sex=m = [area=north, sex=m in «Districts»] − [area=coast, sex=m in «Zones»] = 60 − 58 = 2"
    )
    assert sum(int(term.times) * int(term.value) for term in finding.terms) == 2
    # Alone, either geography is harmless.
    assert ledger.check(by_district, title="again").verdict == "safe"


def test_an_age_band_split_differently(ledger: Ledger) -> None:
    """5 year olds are 0-5 less 0-4: four of them, though no release shows an age of 5."""
    old = shown([[29, 36], [31, 39]], {"sex": ["m", "f"], "age": ["0-4", "5-9"]})
    new = shown([[33, 32], [49, 21]], {"sex": ["m", "f"], "age": ["0–5", "6 to 9"]})
    ledger.add(old, title="Fives")
    result = ledger.check(new, title="Sixes")
    assert result.verdict == "unsafe"
    assert [(f.name, f.lower) for f in result.new] == [("sex=m, age=5", 4)]
    assert "36 − 32 = 4" in result.new[0].subtraction  # 5-9 less 6-9: as short as 0-5 less 0-4
    # With every count of interest, the 18 girls of that age are found too.
    everything = ledger.check(new, title="Sixes", threshold=None).new
    assert {(f.name, f.lower) for f in everything} >= {("sex=m, age=5", 4), ("sex=f, age=5", 18)}


def test_a_total_published_later(ledger: Ledger) -> None:
    hidden = shown([[None, 12, 30], [14, 25, 8]], {"area": ["n", "s"], "size": ["small", "medium", "large"]})
    ledger.add(hidden, title="By size")
    later = shown([43, 47, 90], {"area": ["n", "s", "Total"]})
    result = ledger.check(later, title="Totals")
    assert result.verdict == "unsafe"
    (finding,) = result.new
    assert (finding.cell, finding.lower, finding.upper) == ({"area": "n", "size": "small"}, 1, 1)
    assert "43 − 12 − 30 = 1" in finding.subtraction
    assert finding.without is not None
    assert finding.without[1] == float("inf")


YEARS = {"area": ["n", "s"], "sex": ["m", "f"], "faith": ["a", "b", "c"]}
THEN = np.array([[[40, 31, 22], [45, 30, 19]], [[61, 25, 33], [58, 29, 30]]])


def test_two_years_with_one_mover(ledger: Ledger) -> None:
    """One man of faith c came to the north; everybody else stayed."""
    now = THEN + 0
    now[0, 0, 2] += 1
    ledger.add(shown(THEN, YEARS), title="2023", period="2023")
    result = ledger.check(shown(now, YEARS), title="2024", period="2024")
    assert result.verdict == "unsafe"
    assert result.findings == ()
    (change,) = result.changes
    assert change.people == 1
    assert change.cells == (("area=n, sex=m, faith=c", 22, 23),)
    assert change.sentence.startswith("one person accounts for all that changed in the whole table since «2023»")


def test_one_mover_among_many_in_other_areas(ledger: Ledger) -> None:
    """The south changes a lot; in the north a single woman changed her faith."""
    now = THEN + 0
    now[1] += [[9, 4, -6], [-3, 7, 5]]
    now[0, 1] += [-1, 1, 0]
    ledger.add(shown(THEN, YEARS), title="2023", period="2023")
    result = ledger.check(shown(now, YEARS), title="2024", period="2024")
    assert [change.where for change in result.changes] == ["area=n"]
    assert result.changes[0].people == 1
    assert ledger.check(shown(now, YEARS), title="2024", period="2024", fewest=1).verdict == "safe"


def test_many_movers_pass(ledger: Ledger) -> None:
    draw = np.random.default_rng(1)
    now = THEN + draw.integers(-9, 10, THEN.shape)
    ledger.add(shown(THEN, YEARS), title="2023", period="2023")
    assert ledger.check(shown(now, YEARS), title="2024", period="2024").verdict == "safe"


def test_rounded_years_hide_one_mover(ledger: Ledger) -> None:
    now = THEN + 0
    now[0, 0, 2] += 1
    for number, (table, year) in enumerate([(THEN, "2023"), (now, "2024")]):
        release = dc.protect.random_rounding(dc.Table.from_array(table, YEARS), base=3, seed=2**100 + number)
        result = ledger.check(release, title=year, period=year)
        assert result.verdict == "safe"
        ledger.add(release, title=year, period=year)
    assert len(result.compared) == 1


def test_a_clean_pair_passes(ledger: Ledger) -> None:
    by_sex = shown([[120, 131, 251], [98, 102, 200]], {"area": ["n", "s"], "sex": ["m", "f", "Total"]})
    by_age = shown([[80, 90, 81], [70, 61, 69]], {"area": ["n", "s"], "age": ["0-29", "30-59", "60+"]})
    ledger.add(by_sex, title="By sex")
    result = ledger.check(by_age, title="By age")
    assert (result.verdict, result.findings, len(result.linked)) == ("safe", (), 1)
    assert "nothing that is protected can be worked out" in result.sentence


def test_a_release_that_was_entered_before_its_check_is_recognised(ledger: Ledger) -> None:
    """Its figures are drawn at random, and only whoever drew them knows that the second file is the first."""
    table = dc.Table.from_array([1, 4, 5, 7, 8, 10, 11, 13], ["month"])
    release, again = (dc.protect.random_rounding(table, base=3, seed=2**100 + k) for k in range(2))
    assert release != again
    entry = ledger.add(release, title="Months", population="residents")
    found = ledger.check(release, title="Months", population="residents")
    assert found.verdict == "incomplete"
    assert found.assumed[-1:] == (f"the ledger already holds a release that prints exactly the same, {entry}",)
    other = ledger.check(again, title="Months", population="residents")
    assert not any("already holds" in text for text in other.assumed)


def test_a_suppressed_table_and_its_sister_pass_or_fail_by_what_the_sister_shows(ledger: Ledger) -> None:
    both = {"row": [1, 2, 3, "Total"], "column": [1, 2, "Total"]}
    geurts = shown([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both)
    ledger.add(geurts, title="Geurts")
    assert ledger.check(shown([7, 3, 6], {"row": [1, 2, 3]}), title="Rows").verdict == "safe"
    cell = shown([[4]], {"row": [1], "column": [1]}, absent="unpublished")
    result = ledger.check(cell, title="One cell")
    assert {f.name for f in result.new} == {f"row={r}, column={c}" for r in (1, 2) for c in (1, 2)}
    direct = next(f for f in result.new if f.name == "row=1, column=1")
    assert direct.subtraction == "row=1, column=1 = 4: published as 4 in «One cell»"
    other = next(f for f in result.new if f.name == "row=1, column=2")
    assert set(other.releases) == {"Geurts", "One cell"}
    assert other.without == (1, 4)


def test_two_roundings_of_one_figure_narrow_it(ledger: Ledger) -> None:
    """Random rounding drawn afresh: 3 and 6 leave 4 and 5."""
    sizes = {"size": ["s", "m"]}
    first, second = (shown(values, sizes, kind=Kind("random", base=3)) for values in ([3, 9], [6, 9]))
    ledger.add(first, title="First")
    result = ledger.check(second, title="Second")
    assert (result.verdict, result.new) == ("incomplete", ())
    assert result.unjudged[0].startswith("2 figures of «Second» were drawn at random again after «First»")
    narrow = ledger.check(second, title="Second", width=2).new
    assert [(f.name, f.lower, f.upper, f.cause) for f in narrow] == [("size=s", 4, 5, "together")]
    assert (
        "3 (rounded at random to base 3) in «First», 6 (rounded at random to base 3) in «Second»"
        in narrow[0].subtraction
    )
    exact = ledger.check(shown([5, 9], sizes), title="Exact")
    assert {(f.name, f.lower) for f in exact.new} == {("size=s", 5), ("size=m", 9)}


def test_a_release_that_is_unsafe_by_itself(ledger: Ledger) -> None:
    result = ledger.check(shown([None, 5, 9], {"size": ["s", "m", "Total"]}), title="Bad")
    assert [(f.lower, f.cause) for f in result.findings] == [(4, "itself")]
    assert result.verdict == "unsafe"


def test_what_was_open_before_is_told_apart(ledger: Ledger) -> None:
    ledger.add(shown([None, 5, 9], {"size": ["s", "m", "Total"]}), title="Bad")
    result = ledger.check(
        shown(
            [2, 7],
            {
                "legal": ["a", "b"],
            },
        ),
        title="Legal forms",
        population="",
    )
    assert (result.verdict, len(result.linked)) == ("safe", 0)
    linked = ledger.check(shown([[None, 3], [None, 2]], {"size": ["s", "m"], "legal": ["a", "b"]}), title="Both")
    before = [f for f in linked.findings if f.cause == "before"]
    assert [f.name for f in before] == ["size=s"]
    assert "already" in linked.sentence


def test_what_was_too_narrow_before_must_not_become_narrower(ledger: Ledger) -> None:
    """Two cells share 2 people, which is too narrow for the limit; a release that prints one gives more away."""
    ledger.add(shown([None, None, 30, 32], {"x": ["a", "b", "c", "Total"]}), title="Old")
    same = ledger.check(shown([30, 32], {"x": ["c", "Total"]}, absent="unpublished"), title="Again", width=5)
    assert (same.verdict, {f.cause for f in same.findings}) == ("safe", {"before"})
    assert "nothing more that is protected can be worked out" in same.sentence
    found = ledger.check(shown([1], {"x": ["a"]}, absent="unpublished"), title="New", width=5)
    assert {(f.name, f.lower, f.upper) for f in found.new} == {("x=a", 1, 1), ("x=b", 1, 1)}
    closer = shown([0], {"x": ["a"]}, kind=Kind("conventional", base=3), absent="unpublished")
    rounded = ledger.check(closer, title="Rounded", width=5)
    assert {(f.name, f.lower, f.upper, f.cause) for f in rounded.new} == {
        ("x=a", 0, 1, "itself"),
        ("x=b", 1, 2, "together"),
    }


def test_withdrawn_releases_count_unless_nobody_saw_them(ledger: Ledger) -> None:
    hidden = ledger.add(shown([None, 12, 30], {"size": ["s", "m", "l"]}), title="By size", population="firms")
    total = shown([45], {"size": ["Total"]})
    assert ledger.check(total).verdict == "unsafe"
    withdrawn = ledger.withdraw(hidden.id, reason="wrong year")
    assert (withdrawn.status, withdrawn.reason) == ("withdrawn", "wrong year")
    assert ledger.check(total).verdict == "unsafe"
    with pytest.raises(RequestError, match=r"was withdrawn on .* \(wrong year\)"):
        ledger.withdraw(hidden.id, reason="again")
    never = ledger.add(shown([None, 12, 31], {"size": ["s", "m", "l"]}), title="Draft", population="draft")
    total_of_draft = {"title": "t", "population": "draft"}
    assert ledger.check(total, **total_of_draft).verdict == "unsafe"  # type: ignore[arg-type]
    ledger.withdraw(never.id, reason="never left the office", unseen=True)
    assert ledger.check(total, **total_of_draft).linked == ()  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="give the reason"):
        ledger.withdraw(never.id, reason=" ")
    with pytest.raises(RequestError, match="no release 'zzz'"):
        ledger.withdraw("zzz", reason="x")


def test_a_reader_who_holds_some_of_the_releases(ledger: Ledger) -> None:
    """Only those that are named are put together, which says nothing about joining the ledger."""
    hidden = ledger.add(shown([None, 12, 30], {"size": ["s", "m", "l"]}), title="By size")
    ledger.add(shown([45], {"size": ["Total"]}), title="All")
    ledger.add(shown([7, 9], {"age": ["old", "new"]}), title="By age")
    new = shown([None, 12], {"size": ["s", "m"]})
    whole = ledger.check(new, title="Again")
    assert (whole.left_out, "left out" in whole.sentence) == (0, False)
    both = ledger.check(new, title="Again", beside=[hidden.id, "All"])
    assert [(e.title) for e in both.linked] == ["By size", "All"]
    assert (both.findings, both.left_out) == (whole.findings, 1)
    one = ledger.check(shown([45], {"size": ["Total"]}), title="Again", beside=["By age"])
    assert (one.verdict, one.linked, one.apart, one.left_out) == ("safe", (), 1, 2)
    assert "2 releases of the ledger were left out: this does not say whether it can join" in one.sentence
    assert ledger.check(shown([45], {"size": ["Total"]}), title="Again", beside=[hidden.id]).verdict == "unsafe"
    with pytest.raises(RequestError, match="no release 'By sex'"):
        ledger.check(new, beside=["By sex"])
    with pytest.raises(RequestError, match="no earlier release is named"):
        ledger.check(new, beside=[])
    ledger.withdraw(hidden.id, reason="draft", unseen=True)
    with pytest.raises(RequestError, match="nobody saw it"):
        ledger.check(new, beside=[hidden.id])


def test_releases_that_cannot_be_about_the_same_people_are_refused(ledger: Ledger) -> None:
    ledger.add(shown([[3, 9], [4, 8]], {"a": ["x", "y"], "b": ["u", "v"]}), title="First")
    with pytest.raises(DiscreetError, match=r"«First» and «Second» cannot all be true.*--period"):
        ledger.check(shown([13, 12], {"a": ["x", "y"]}), title="Second")
    with pytest.raises(DataError, match=r"«First» and «Third» cannot all be true"):
        ledger.check(shown([[3, 9], [4, 7]], {"a": ["x", "y"], "b": ["u", "v"]}), title="Third")


def test_another_variable_is_not_put_together(ledger: Ledger) -> None:
    ledger.add(shown([None, 12, 30], {"size": ["s", "m", "l"]}), title="Firms")
    assert ledger.check(shown([44000], {"size": ["Total"]}), title="Turnover", variable="turnover").linked == ()


def test_a_population_links_releases_without_shared_dimensions(ledger: Ledger) -> None:
    """Both show the same total, so that the hidden size follows from the sum over regions."""
    ledger.add(shown([None, 12, 30], {"size": ["s", "m", "l"]}), title="Sizes", population="firms")
    result = ledger.check(shown([21, 23], {"region": ["n", "s"]}), title="Regions", population="firms")
    assert [(f.name, f.lower) for f in result.new] == [("size=s", 2)]
    assert ledger.check(shown([21, 23], {"region": ["n", "s"]}), title="Regions", population="shops").verdict == "safe"


def test_three_tables_in_a_circle(ledger: Ledger) -> None:
    """Activity × size, activity × region and size × region: only the third makes cells of all three known."""
    cube = np.array([[[0, 4], [3, 2]], [[5, 6], [2, 0]]])
    names = ["activity", "size", "region"]
    labels = [["a1", "a2"], ["s1", "s2"], ["r1", "r2"]]

    def margin(*keep: int) -> Release:
        rest = tuple(k for k in range(3) if k not in keep)
        return shown(cube.sum(axis=rest), {names[k]: labels[k] for k in keep})

    ledger.add(margin(0, 1), title="as")
    assert ledger.check(margin(0, 2), title="ar").verdict == "safe"
    ledger.add(margin(0, 2), title="ar")
    result = ledger.check(margin(1, 2), title="sr")
    # Other tables with these margins add and take away by turns, which an empty cell of either turn forbids.
    assert {tuple(f.cell.values()): f.lower for f in result.new} == {
        (labels[0][i], labels[1][j], labels[2][k]): cube[i, j, k] for i, j, k in np.argwhere(cube > 0)
    }
    assert all(f.cause == "together" for f in result.new)


# --- a slow twin: every table of whole numbers that fits all releases ------------------------------------------

ATOMS = ("0", "1", "2", "3")
MOST = 5


def _random_release(draw: np.random.Generator, truth: list[int]) -> tuple[Release, list[tuple[list[int], int | None]]]:
    """Return a release of bands of four ages with some hidden, and the same as sums of ages."""
    cuts = sorted(draw.choice([1, 2, 3], size=draw.integers(1, 4), replace=False).tolist())
    edges = [0, *cuts, 4]
    groups = [list(range(a, b)) for a, b in itertools.pairwise(edges)]
    names = [f"{g[0]}-{g[-1]}" if len(g) > 1 else str(g[0]) for g in groups]
    values: list[int | None] = [None if draw.random() < 0.4 else sum(truth[i] for i in group) for group in groups]
    if draw.random() < 0.6:
        groups, names, values = [*groups, [0, 1, 2, 3]], [*names, "Total"], [*values, sum(truth)]
    return shown(values, {"age": names}, absent="unpublished"), list(zip(groups, values, strict=True))


@seeds(20, 60)
def test_findings_are_what_enumeration_finds(ledger: Ledger, seed: int) -> None:
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, MOST + 1, 4).tolist()
    old, old_sums = _random_release(draw, truth)
    new, new_sums = _random_release(draw, truth)
    if any(bands([n for n in r.parts()[0].labels["age"] if n != "Total"]) is None for r in (old, new)):
        # Without a band of several ages, plain numbers are codes.
        return
    stated = old_sums + new_sums
    top = sum(truth) + 7
    fits = [
        atoms
        for atoms in itertools.product(range(top + 1), repeat=4)
        if all(value is None or sum(atoms[i] for i in group) == value for group, value in stated)
    ]
    assert tuple(truth) in fits

    def values(group: Sequence[int]) -> set[int]:
        return {sum(atoms[i] for i in group) for atoms in fits}

    expected: dict[tuple[int, ...], int] = {}
    shown_groups = {tuple(group) for group, _ in stated}
    for group, value in stated:
        if value is None and len(values(group)) == 1:
            expected[tuple(group)] = values(group).pop()
    cut = pieces([b for r in (old, new) if (b := bands([n for n in r.parts()[0].labels["age"] if n != "Total"]))])
    for low, high in cut:
        piece = tuple(range(low, high + 1))
        if piece in shown_groups or len(values(piece)) > 1:
            continue
        value = values(piece).pop()
        # A 0 follows, and does not just lie in a figure that is published as 0.
        if value or not any(set(piece) <= set(group) and shown_value == 0 for group, shown_value in stated):
            expected[piece] = value

    ledger.add(old, title="old")
    result: LedgerCheck = ledger.check(new, title="new", threshold=None)
    found = {}
    for finding in (one for one in result.findings if not one.units):
        label = finding.cell["age"]
        ends = label.split("-") if label != "Total" else ["0", "3"]
        found[tuple(range(int(ends[0]), int(ends[-1]) + 1))] = finding.lower
        if finding.terms and "published as" not in finding.subtraction:
            assert sum(int(t.times) * int(t.value) for t in finding.terms) == finding.lower
    assert found == expected


GEO = Hierarchy.from_parents([("city", "city and suburb"), ("suburb", "city and suburb"), ("outside", None)])


@pytest.mark.parametrize("told", [{}, {"period": "2024"}, {"population": "firms"}])
@pytest.mark.parametrize(
    "asked", [{}, {"period": "2024"}, {"population": "firms"}, {"population": "firms", "period": "2024"}]
)
def test_what_is_not_stated_may_be_the_same(ledger: Ledger, told: dict[str, Any], asked: dict[str, str]) -> None:
    """The suburb is 32 − 30 = 2, whoever of the two says when and about whom."""
    tree = {"geo": (GEO,)}
    city = shown([30, 100], {"geo": ["city", "Total"]}, hierarchies=tree, absent="unpublished")
    wide = shown([32, 100], {"geo": ["city and suburb", "Total"]}, hierarchies=tree, absent="unpublished")
    ledger.add(city, title="Old", **told)
    found = ledger.check(wide, title="New", **asked)  # type: ignore[arg-type]
    assert (found.verdict, [(f.name, f.lower, f.upper) for f in found.new]) == ("unsafe", [("geo=suburb", 2, 2)])
    assert found.new[0].subtraction.endswith("32 − 30 = 2")
    assert len(found.assumed) == len(set(told) ^ set(asked))
    for what in set(told) ^ set(asked):
        silent = "«Old»" if what in asked else "«New»"
        assert any(text.startswith(f"{silent} states no {what} and was taken to be") for text in found.assumed)
        assert f"{silent} states no {what}" in found.sentence
    assert found.to_dict()["assumed"] == list(found.assumed)


def test_a_release_that_states_nothing_is_put_together_with_each_year_by_itself(ledger: Ledger) -> None:
    for year, city in (("2023", 20), ("2024", 30)):
        old = shown([city, 100], {"geo": ["city", "Total"]}, hierarchies={"geo": (GEO,)}, absent="unpublished")
        ledger.add(old, title=year, period=year)
    new = shown([32, 100], {"geo": ["city and suburb", "Total"]}, hierarchies={"geo": (GEO,)}, absent="unpublished")
    found = ledger.check(new, title="New", threshold=20)
    assert sorted(f.lower for f in found.new) == [2, 12]
    assert [e.title for e in found.linked] == ["2023", "2024"]
    assert found.compared == ()
    dated = ledger.check(new, title="New", period="2023", threshold=20)
    assert [f.lower for f in dated.new] == [12]
    assert [e.title for e in dated.compared] == ["2024"]


def test_a_silent_release_that_cannot_be_the_same_is_not_passed_over(ledger: Ledger) -> None:
    ledger.add(shown([40, 60], {"size": ["s", "m"]}), title="Old")
    with pytest.raises(DataError, match=r"cannot all be true of one population.*retag it \(discreet ledger retag ID"):
        ledger.check(shown([41, 60], {"size": ["s", "m"]}), title="New", period="2024")


def test_categories_that_nothing_relates_are_not_called_safe(ledger: Ledger) -> None:
    ledger.add(shown([30, 70, 100], {"geo": ["city", "rest", "Total"]}), title="Old")
    new = shown([32, 68, 100], {"geo": ["city and suburb", "outside", "Total"]})
    found = ledger.check(new, title="New")
    assert found.verdict == "incomplete"
    assert found.unjudged[0].startswith("dimension geo has other categories in «Old» and no hierarchy relates them")
    assert "--hierarchy" in found.sentence
    # With both splits in hierarchies of the new release the difference is found.
    inner = Hierarchy.from_parents([("suburb", "rest"), ("outside", "rest"), ("city", None)])
    wider = Hierarchy.from_parents([("city", "city and suburb"), ("suburb", "city and suburb"), ("outside", None)])
    related = shown(
        [32, 68, 100],
        {"geo": ["city and suburb", "outside", "Total"]},
        hierarchies={"geo": (inner, wider)},
        absent="unpublished",
    )
    found = ledger.check(related, title="New")
    assert (found.verdict, found.unjudged) == ("unsafe", ())
    assert [(f.name, f.lower) for f in found.new] == [("geo=suburb", 2)]
    # The same categories, or some of them, need no hierarchy.
    assert ledger.check(shown([30, 100], {"geo": ["city", "Total"]}, absent="unpublished")).verdict == "safe"


def test_a_group_without_rows_below_it_is_not_empty_below(ledger: Ledger) -> None:
    """North has 20 people and no row for its parts; a later release that shows one of them gives the other away."""
    tree = {"geo": (Hierarchy.from_parents({"a": "north", "b": "north", "c": "south", "d": "south"}),)}
    old = shown([20, 30, 13, 17], {"geo": ["north", "south", "c", "d"]}, hierarchies=tree)
    ledger.add(old, title="Old")
    found = ledger.check(shown([18], {"geo": ["a"]}, hierarchies=tree, absent="unpublished"), title="New")
    assert [(f.name, f.lower, f.upper) for f in found.new] == [("geo=b", 2, 2)]


def test_a_table_of_some_regions_beside_one_of_all(ledger: Ledger) -> None:
    """The east has a total of its own; what is left of the country is the west, by subtraction."""
    whole = shown(
        [[4, None, None], [9, 8, 17], [5, None, None], [18, 22, 40]],
        {"region": ["e1", "e2", "w", "Total"], "sex": ["m", "f", "Total"]},
    )
    ledger.add(whole, title="All regions")
    tree = Hierarchy.flat(["e1", "e2"], total="East")
    labels = {"region": ["East"], "sex": ["m", "f", "Total"]}
    result = ledger.check(shown([[13, 15, 28]], labels, hierarchies={"region": (tree.as_part(),)}), title="The east")
    assert {f.name: (f.lower, f.upper) for f in result.new} == {
        "region=e1, sex=f": (7, 7),
        "region=w, sex=f": (7, 7),
        "region=e1": (11, 11),
        "region=w": (12, 12),
    }
    west = next(f for f in result.new if f.name == "region=w")
    assert west.subtraction.endswith("[total in «All regions»] − [region=East in «The east»] = 40 − 28 = 12")
    with pytest.raises(DataError, match=r"is 'Total' in «All regions» and 'East' in «The east».*--part DIMENSION=CODE"):
        ledger.check(shown([[13, 15, 28]], labels, hierarchies={"region": (tree,)}), title="The east")


@pytest.mark.parametrize(
    ("name", "apart", "verdict"),
    [("Sex", (), "unsafe"), ("gender", (), "incomplete"), ("gender", [("gender", "sex")], "safe")],
)
def test_a_dimension_under_another_name(name: str, apart: list[tuple[str, str]], verdict: str, ledger: Ledger) -> None:
    ledger.add(shown([7, 10], {name: ["Male", "Female"]}), title="before", population="town")
    new = shown(
        [[None, None, 8], [4, 5, 9]], {"area": ["a", "b"], "sex": ["Male", "Female", "Total"]}, absent="unpublished"
    )
    found = ledger.check(new, population="town", threshold=2, apart=apart)
    assert found.verdict == verdict
    assert ("'sex' and 'gender' have the same categories" in found.sentence) == (verdict == "incomplete")


def test_categories_that_differ_in_spelling_are_one(ledger: Ledger) -> None:
    both = {"area": ["a", "b"], "sex": ["Male", "Female", "Total"]}
    new = shown([[None, None, 8], [4, 5, 9]], both, absent="unpublished")
    ledger.add(shown([7, 10], {"sex": ["MALE", "Fe\u200bmale"]}), title="before", population="town", period="2024")
    together = ledger.check(new, population="town", period="2024", threshold=2)
    assert together.verdict == "unsafe"
    assert "Category 'MALE' of dimension 'sex' was taken to be 'Male'" in together.sentence
    # Somebody who came to the town is seen between periods too.
    later = ledger.check(shown([7, 11], {"sex": ["Male", "Female"]}), population="town", period="2025")
    assert [change.people for change in later.changes] == [1]


def test_codes_inside_those_of_another_dimension(ledger: Ledger) -> None:
    districts = [[None, None, 13], [140, 90, 230], [None, None, 9], [13, 11, 24], [158, 118, 276]]
    both = {"district": ["N1", "N2", "S1", "S2", "Total"], "sex": ["m", "f", "Total"]}
    ledger.add(shown(districts, both), title="districts")
    regions = shown([[141, 102, 243], [17, 16, 33]], {"region": ["N", "S"], "sex": ["m", "f", "Total"]})
    found = ledger.check(regions, title="regions", threshold=1)
    assert found.verdict == "incomplete"
    assert "categories of dimension 'district' seem to lie inside those of 'region'" in found.sentence
    assert ledger.check(regions, title="regions", threshold=1, apart=[("district", "region")]).verdict == "safe"
