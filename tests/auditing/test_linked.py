"""Linked tables: several years, overlapping geographies, two hierarchies; what the other table gives away is named."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import discreet as dc
from discreet import Figures, Hierarchy, Limits
from discreet.auditing.audit_result import Audit


def intervals(result: Audit) -> dict[str, tuple[float, float]]:
    return {cell.name: (cell.lower, cell.upper) for cell in result.cells}


def test_two_hierarchies_over_one_variable() -> None:
    """Municipalities added up to districts in one table and to labour areas in another."""
    districts = Hierarchy.from_parents({"m1": "d1", "m2": "d1", "m3": "d2", "m4": "d2"})
    areas = Hierarchy.from_parents({"m1": "l1", "m2": "l2", "m3": "l2", "m4": "l2"})
    first = Figures.from_array(
        [9, 11, 20], {"place": ["d1", "d2", "Total"]}, hierarchies={"place": (districts,)}, absent="unpublished",
        name="districts",
    )  # fmt: skip
    second = Figures.from_array(
        [4, 16, 20], {"place": ["l1", "l2", "Total"]}, hierarchies={"place": (areas,)}, absent="unpublished",
        name="labour areas",
    )  # fmt: skip
    alone = dc.audit(first, about=["place"])
    assert intervals(alone) == {f"place=m{i}": (0, 9 if i < 3 else 11) for i in range(1, 5)}
    result = dc.audit([first, second], about=["place"])
    assert intervals(result) == {
        "place=m1": (4, 4),
        "place=m2": (5, 5),
        "place=m3": (0, 11),
        "place=m4": (0, 11),
    }
    # The labour areas alone give m1 away, which is one of them; m2 takes both tables.
    assert {cell.name for cell in result.linked} == {"place=m2"}
    second_cell = result.cell(place="m2")
    assert second_cell.alone == (0, 9)
    assert "9 − 4 = 5" in second_cell.proof
    assert "1 of the unsafe ones is narrower because of another table" in result.sentence


def test_overlapping_geographies_given_as_one_more_tree() -> None:
    city = Hierarchy.from_parents({"old": "city", "new": "city", "hills": "Total"})
    valley = Hierarchy.from_parents({"old": "valley", "hills": "valley", "new": "Total"})
    one = Figures.from_array(
        [[30], [70]], {"place": ["city", "hills"], "sex": ["m"]}, hierarchies={"place": (city,)}, absent="unpublished"
    )
    two = Figures.from_array(
        [[28], [72]], {"place": ["new", "valley"], "sex": ["m"]}, hierarchies={"place": (valley,)}, absent="unpublished"
    )
    result = dc.audit([one, two], about=["place", "sex"])
    assert result.cell(place="old", sex="m").lower == result.cell(place="old", sex="m").upper == 2
    assert result.cell(place="old", sex="m").by_linking


def test_several_years_with_a_cumulative_total() -> None:
    """Years are a dimension: a total over years published beside them undoes what one year hides."""
    labels = {"year": ["2020", "2021", "2022"], "branch": ["a", "b", "Total"]}
    yearly = Figures.from_array([[None, None, 20], [7, 14, 21], [8, 14, 22]], labels, name="by year")
    sums = Figures.from_array(
        [[19, 44, 63]], {"year": ["Total"], "branch": ["a", "b", "Total"]}, name="three years", absent="unpublished"
    )
    assert dc.audit(yearly).verdict == "safe"
    result = dc.audit([yearly, sums])
    cell = result.cell(year="2020", branch="a")
    assert (cell.lower, cell.upper, cell.alone, cell.verdict) == (4, 4, (0, 20), "unsafe")
    assert "19 − 7 − 8 = 4" in cell.proof
    assert {c.name for c in result.linked} == {"year=2020, branch=a", "year=2020, branch=b"}


def test_too_narrow_because_of_the_other_table() -> None:
    labels = {"x": ["1", "2", "3", "Total"]}
    first = Figures.from_array([None, None, None, 30], labels, name="first")
    tree = Hierarchy.from_parents({"1": "pair", "2": "pair", "3": "Total"})
    second = Figures.from_array([4], {"x": ["pair"]}, hierarchies={"x": (tree,)}, name="second", absent="unpublished")
    result = dc.audit([first, second], limits=Limits(width=10))
    assert {c.name: c.verdict for c in result.cells if c.cell["x"] in "12"} == {"x=1": "unsafe", "x=2": "unsafe"}
    narrow = result.cell(x="1")
    assert (narrow.lower, narrow.upper, narrow.alone) == (0, 4, (0, 30))
    assert narrow.faults == ("interval 4 wide, less than 10",)
    assert "[x=pair] = 4" in narrow.proof
    assert result.cell(x="1").by_linking


def test_tables_that_say_nothing_about_each_other_name_nobody() -> None:
    a = Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]}, name="a")
    b = Figures.from_array([4, 5], {"y": ["1", "2"]}, name="b")
    result = dc.audit([a, b])
    assert result.linked == ()
    assert result.verdict == "safe"


@pytest.mark.parametrize("seed", range(12))
def test_three_scenarios_against_the_list_of_all_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, (2, 2, 2))
    labels = {"a": ["0", "1"], "s": ["0", "1"], "r": ["0", "1"]}
    tables = np.array(list(itertools.product(range(5), repeat=8))).reshape(-1, 2, 2, 2) if seed == 0 else None
    tables = np.array(list(itertools.product(range(4), repeat=8))).reshape(-1, 2, 2, 2) if tables is None else tables
    fits = np.ones(len(tables), bool)
    parts = []
    for axis, pair in ((2, ("a", "s")), (1, ("a", "r")), (0, ("s", "r"))):
        shown = truth.sum(axis=axis)
        fits &= (tables.sum(axis=axis + 1) == shown).all(axis=(1, 2))
        parts.append(Figures.from_array(shown.tolist(), {name: labels[name] for name in pair}, name="".join(pair)))
        known = tables[fits]
        if known.max(initial=0) >= tables.max():
            continue
        result = dc.audit(parts, about=labels)
        for cell in result.cells:
            i, j, k = (int(cell.cell[name]) for name in "asr")
            assert (cell.lower, cell.upper) == (known[:, i, j, k].min(), known[:, i, j, k].max())


def by_sex(name: str, second: str = "Female") -> Figures:
    return Figures.from_array([7, 10], {name: ["Male", second]})


HIDDEN = Figures.from_array(
    [[None, None, 8], [4, 5, 9]], {"area": ["a", "b"], "sex": ["Male", "Female", "Total"]}, absent="unpublished"
)


@pytest.mark.parametrize(
    ("other", "apart", "verdict"),
    [
        (by_sex("sex"), (), "unsafe"),
        (by_sex("Sex "), (), "unsafe"),
        (by_sex("gender"), (), "incomplete"),
        (by_sex("gender"), [("gender", "sex")], "safe"),
        (by_sex("gender"), [("gender", "area")], "incomplete"),
        (Figures.from_array([7, 10, 0], {"gender": ["Male", "Female", "Unknown"]}), (), "incomplete"),
        (Figures.from_array([7, 10], {"ill": ["yes", "no"]}), (), "safe"),
    ],
)
def test_dimensions_of_other_names(other: Figures, apart: list[tuple[str, str]], verdict: str) -> None:
    """The second table gives the hidden figures away, whatever its dimension is called."""
    found = dc.audit([HIDDEN, other], apart=apart)
    assert found.verdict == verdict
    assert ("'sex' and 'gender' have the same categories" in found.note) == (verdict == "incomplete")
    assert ("'Sex ' was taken to be 'sex'" in found.note) == ("Sex " in other.names)


@pytest.mark.parametrize("other", ["FEMALE", " Female", "Fe\u200bmale", "\uff26emale", "Female\u00a0"])
def test_categories_that_differ_in_spelling_are_one(other: str) -> None:
    found = dc.audit([HIDDEN, by_sex("sex", other)])
    assert found.verdict == "unsafe"
    assert f"category {other!r} of dimension 'sex' was taken to be 'Female'" in found.note


def test_codes_of_numbers_are_one_however_they_are_written() -> None:
    shown = Figures.from_array([None, None, 8], {"sex": ["01", "02", "Total"]})
    found = dc.audit([shown, Figures.from_array([7, 1], {"sex": ["1.0", "2.0"]})])
    assert [(cell.lower, cell.upper) for cell in found.cells] == [(7, 7), (1, 1)]
    # A table that has both spellings means two.
    two = Figures.from_array([None, None, None, 8], {"sex": ["1", "01", "02", "Total"]})
    found = dc.audit([two, Figures.from_array([7, 1], {"sex": ["1", "2"]}, absent="unpublished")])
    assert {cell.cell["sex"]: (cell.lower, cell.upper) for cell in found.cells} == {
        "1": (7, 7),
        "01": (0, 0),
        "02": (1, 1),
    }


def test_codes_inside_those_of_another_dimension() -> None:
    both = {"district": ["N1", "N2", "S1", "S2", "Total"], "sex": ["m", "f", "Total"]}
    fine = Figures.from_array([[None, None, 13], [140, 90, 230], [None, None, 9], [13, 11, 24], [158, 118, 276]], both)
    coarse = Figures.from_array([[141, 102, 243], [17, 16, 33]], {"region": ["N", "S"], "sex": ["m", "f", "Total"]})
    # 141 men in the north less 140 in N2 are the one hidden in N1.
    found = dc.audit([fine, coarse])
    assert found.verdict == "incomplete"
    assert "categories of dimension 'district' seem to lie inside those of 'region'" in found.note
    assert dc.audit([fine, coarse], apart=[("district", "region")]).verdict == "safe"
    others = Figures.from_array([[140, 102, 242], [18, 16, 34]], {"region": ["N", "S"], "sex": ["m", "f", "Total"]})
    assert dc.audit([fine, others]).verdict == "safe"


def test_one_release_may_have_dimensions_of_the_same_categories() -> None:
    towns = ["York", "Leeds", "Total"]
    flows = Figures.from_array([[None, None, 5], [None, None, 9], [6, 8, 14]], {"home": towns, "work": towns})
    assert dc.audit([flows, Figures.from_array([6, 8, 14], {"work": towns})]).verdict == "safe"


def test_hiding_a_figure_elsewhere_does_not_hide_what_follows_between_tables() -> None:
    activities = ["a1", "a2", "a3", "Total"]
    sizes = Figures.from_array(
        [[1, 5, 6], [None, None, 9], [0, 8, 8], [None, None, 23]],
        {"activity": activities, "size": ["s1", "s2", "Total"]},
    )
    regions = Figures.from_array([[6, 0], [4, 5], [4, 4]], {"activity": activities[:3], "region": ["r1", "r2"]})
    found = dc.audit([sizes, regions])
    assert found.verdict == "unsafe"
    assert "he tables together tell about activity=a1, size=s1, region=r1, which none of them shows" in found.sentence
    # The figures that a table hides are judged as before, and are open.
    assert found.counts == {"safe": 4, "unsafe": 0, "incomplete": 0}
    assert dc.audit([sizes, regions], about=["activity", "size", "region"]).verdict == "unsafe"
    spread = Figures.from_array([[4, 2], [4, 5], [4, 4]], {"activity": activities[:3], "region": ["r1", "r2"]})
    some = Figures.from_array(
        [[3, 3, 6], [None, None, 9], [4, 4, 8], [None, None, 23]],
        {"activity": activities, "size": ["s1", "s2", "Total"]},
    )
    assert dc.audit([some, spread]).verdict == "safe"
