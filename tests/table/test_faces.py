"""How tables look in text and HTML."""

from __future__ import annotations

from dataclasses import replace

from discreet import Figures, Release, Table, Tabulation, datasets
from discreet.table.grid import grid_of


def test_two_way_tables_are_shown_as_cross_tables() -> None:
    table = Table.from_array([[3, 0], [1000, 5]], {"area": ["north", "south"], "sex": ["m", "f"]})
    assert str(table).splitlines() == [
        "Table area (2) × sex (2): N = 1,008, 4 inner cells, 1 empty (25%)",
        "area \\ sex      m  f",
        "north           3  0",
        "south       1,000  5",
    ]
    assert repr(table) == str(table)


def test_a_release_shows_the_zeros_that_it_does_not_list() -> None:
    """A cell without a row is empty, but not one of a release that publishes only some of its cells."""
    table = Table.from_array([[3, 0], [4, 5]], {"area": ["north", "south"], "sex": ["m", "f"]})
    shown = Figures.of_tabulation(Tabulation.from_table(table))
    assert len(shown) == 8
    rows = [["Total", "12", "7", "5"], ["north", "3", "3", "0"], ["south", "9", "4", "5"]]
    assert [row.split() for row in str(Release.of(shown)).splitlines()[3:]] == rows
    part = str(Release.of(replace(shown, absent="unpublished"))).splitlines()
    assert part[4].split() == ["north", "3", "3"]


def test_structural_zeros_are_dots() -> None:
    table = Table.from_array([[3, 0], [0, 5]], ["area", "sex"], impossible=[[False, True], [False, False]])
    lines = str(table).splitlines()
    assert lines[0] == "Table area (2) × sex (2): N = 8, 3 inner cells, 1 empty (33%), 1 impossible"
    assert lines[2].split() == ["1", "3", "·"]
    assert lines[3].split() == ["2", "0", "5"]


def test_other_tables_are_shown_by_their_non_empty_cells() -> None:
    table = Table.from_array([[[1, 0], [0, 2]]], {"x": ["a"], "y": ["b", "c"], "z": ["d", "e"]})
    assert str(table).splitlines()[1:] == ["x  y  z  count", "a  b  d      1", "a  c  e      2"]
    assert str(Table.from_array([0, 7], ["month"])).splitlines()[1:] == ["month  count", "2          7"]


def test_long_tables_are_cut() -> None:
    assert len(str(datasets.religion()).splitlines()) == 12
    wide = Table.from_array([[1] * 20] * 50, ["x", "y"])
    assert str(wide).splitlines()[-1].split() == ["…", "…", "…"]
    assert len(str(wide).splitlines()) < 20
    tall = Table.from_array([[1, 2]] * 50, ["x", "y"])
    assert len(str(tall).splitlines()) < 20
    assert "1,000,000,000 inner cells" in str(Table.from_dict({(0, 0, 0): 1}, {n: range(1000) for n in "xyz"}))


def test_tables_where_nothing_can_occur_or_nobody_is() -> None:
    assert "N = 0, 2 inner cells, 2 empty (100%)" in str(Table.from_array([0, 0], ["x"]))
    assert "0 inner cells, 0 empty, 2 impossible" in str(Table.from_array([0, 0], ["x"], impossible=[True, True]))


def test_control_characters_do_not_break_the_lines() -> None:
    table = Table.from_array([[1, 2]], {"area": ["two\nlines"], "sex": ["tab\t", "f"]})
    lines = str(table).splitlines()
    assert len(lines) == 3
    assert "two\\nlines" in lines[2]
    assert "tab\\t" in lines[1]


def test_html_escapes_every_label() -> None:
    table = Table.from_array([[1, 2]], {"<i>area": ["<script>alert('x')</script>"], "a&b": ['"', "f"]})
    html = table._repr_html_()
    assert "<script" not in html
    assert "<i>" not in html
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in html
    assert "a&amp;b" in html
    assert html.startswith("<table><caption>Table &lt;i&gt;area (1)")
    assert html.count("<tr>") == 2


def test_releases_say_how_they_were_made() -> None:
    table = Table.from_array([1, 2], ["x"])
    assert str(Release(table, "random-rounding", {"base": 3})).startswith(
        "Release by random-rounding (base 3)\nTable x"
    )
    assert str(Release(table, "by hand")).startswith("Release by by hand\n")
    html = Release(table, "<b>", {"x": "<i>"})._repr_html_()
    assert html.startswith("<p>Release by &lt;b&gt; (x &lt;i&gt;)</p><table>")


def test_phrases() -> None:
    table = Table.from_array([[1, 2]], {"area": ["north"], "sex": ["m", "f"]})
    assert table.describe(1) == "area=north, sex=f"
    assert grid_of(table.dimensions).describe(0) == "area=north, sex=m"


def test_a_release_with_hidden_figures_shows_its_table_in_a_notebook() -> None:
    cross = Figures.from_array([[1, 5], [7, 9]], {"<area>": ["n", "s"], "sex": ["f", "m"]})
    html = Release.of(cross)._repr_html_()
    assert "&lt;area&gt; \\ sex" in html
    assert ">7</td>" in html
    line = Figures.from_array(list(range(30)), {"age": [str(i) for i in range(30)]})
    assert Release.of(line)._repr_html_().count("<tr>") == 1 + 20 + 1
