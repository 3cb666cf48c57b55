"""Hierarchies: every way to build one, every way in which one can be wrong, and files."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import DataError, RequestError
from discreet.table.axis import Axis
from discreet.table.hierarchy import Hierarchy, Prefixes
from discreet.table.hierarchy_reader import read_hierarchy


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    size = draw(st.integers(1, 12))
    parents = {f"c{i}": draw(st.sampled_from(["Total", *(f"c{j}" for j in range(i))])) for i in range(size)}
    return Hierarchy.from_parents(parents)


@given(tree=trees())
def test_hrc_says_all(tree: Hierarchy) -> None:
    assert Hierarchy.from_hrc(tree.to_hrc()) == tree
    assert Hierarchy.from_hrc(tree.to_hrc("++"), lead="++") == tree


@given(tree=trees())
def test_copies_are_equal(tree: Hierarchy) -> None:
    assert copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree) == hash(copy.copy(tree))


@given(tree=trees())
def test_every_leaf_is_under_the_total_once(tree: Hierarchy) -> None:
    for leaf in tree.leaves:
        path = tree.path(leaf)
        assert path[-1] == "Total"
        assert len(set(path)) == len(path)
        assert not tree.children(leaf)
    assert sorted(code for inner in tree.codes for code in tree.children(inner)) == sorted(tree.codes[1:])


def test_unbalanced_nested_columns() -> None:
    tree = Hierarchy.from_columns([("a", "a1", "a11"), ("a", "a1", "a12"), ("b", None, None), ("c", "c", "c1")])
    assert tree.leaves == ("a11", "a12", "b", "c1")
    assert tree.path("c1") == ("c1", "c", "Total")
    assert tree.levels[tree.codes.index("b")] == 1


def test_prefixes_stop_at_short_codes() -> None:
    tree = Prefixes((1, 3)).over(["A", "A01", "B0112"], total="Total")
    assert tree.path("B0112") == ("B0112", "B01", "B", "Total")
    assert tree.path("A01") == ("A01", "A", "Total")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("a", "b"), ("b", "a")], "goes in a circle: 'a' → 'b' → 'a'"),
        ([("a", "a")], "goes in a circle: 'a' → 'a'"),
        ([("a", "x"), ("a", "y")], "'a' has two parents, 'x' and 'y'"),
        ([("a", "x"), ("a", "x")], "'a' is listed twice below 'x'"),
        ([("Total", "x")], "the total 'Total' is listed below 'x'"),
        ([("", "x")], "a code of the hierarchy is empty"),
    ],
)
def test_tables_of_parents_that_are_no_tree(pairs: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Hierarchy.from_parents(pairs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n@@b\n", "line 2: code 'b' is on level 3, but the line before it on level 1"),
        ("@a\n", "line 1: code 'a' is on level 2"),
        ("a\n@a\n", "line 2: code 'a' is listed twice"),
        ("a\n@\n", "line 2 has '@' but no code"),
        ("\n\n", "there are no codes"),
    ],
)
def test_broken_hrc(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Hierarchy.from_hrc(text)


def test_hrc_keeps_leading_blanks_and_drops_trailing_ones() -> None:
    assert Hierarchy.from_hrc("Nr \n@ 1\n@10\n").codes == ("Total", "Nr", " 1", "10")


def test_nested_columns_with_two_parents() -> None:
    with pytest.raises(DataError, match="'x' has two parents, 'a' and 'b'"):
        Hierarchy.from_columns([("a", "x"), ("b", "x")])


def test_files(tmp_path: Path) -> None:
    expected = Hierarchy.from_parents({"n1": "north", "n2": "north", "south": ""})
    (tmp_path / "t.hrc").write_text("north\n@n1\n@n2\nsouth\n")
    (tmp_path / "pc.csv").write_text("child,parent\nn1,north\nn2,north\nsouth,\n")
    (tmp_path / "nested.csv").write_text("big,small\nnorth,n1\nnorth,n2\nsouth,\n")
    for name in ("t.hrc", "pc.csv", "nested.csv"):
        assert read_hierarchy(tmp_path / name) == expected
    expected.write(tmp_path / "again.hrc")
    assert read_hierarchy(tmp_path / "again.hrc") == expected


def test_labels_come_with_a_table_of_parents(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("code,parent,label\nTotal,,All\nn,,North\nn1,n,North one\n")
    assert read_hierarchy(tmp_path / "h.csv").labels["n1"] == "North one"


def test_errors_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("child,parent\na,b\nb,a\n")
    with pytest.raises(DataError, match=r"h\.csv: the hierarchy goes in a circle"):
        read_hierarchy(tmp_path / "h.csv")
    with pytest.raises(RequestError, match="cannot be read"):
        read_hierarchy(tmp_path / "none.hrc")


def test_axes_refuse_hierarchies_that_disagree() -> None:
    first = Hierarchy.from_parents({"a": "g", "b": "g", "c": ""})
    with pytest.raises(DataError, match="group 'g' holds"):
        Axis("x", (first, Hierarchy.from_parents({"a": "g", "c": "g"})))
    with pytest.raises(DataError, match="would count twice"):
        Axis("x", (first, Hierarchy.from_parents({"g": "h", "a": "h"})))
    with pytest.raises(DataError, match="above and below"):
        Axis("x", (Hierarchy.from_parents({"a": "b"}), Hierarchy.from_parents({"b": "a"})))
    with pytest.raises(DataError, match="totals 'Total' and 'All'"):
        Axis("x", (first, Hierarchy.flat(["a"], total="All")))


def test_a_second_hierarchy_may_group_groups() -> None:
    axis = Axis(
        "x", (Hierarchy.from_parents({"a": "g", "b": "g", "c": ""}), Hierarchy.from_parents({"g": "h", "c": "h"}))
    )
    assert axis.leaves == ("a", "b", "c")
    node = axis.codes.index("h")
    assert {axis.codes[i] for i in axis.under[node]} == {"a", "b", "c"}
    levels = axis.level_maps()
    assert sum(int((level == node).sum()) for level in levels) == 3
