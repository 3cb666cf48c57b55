"""Group disclosure against brute force over every line of small tables."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.plain import data_of

from discreet.core.errors import RequestError
from discreet.rules import group_disclosure
from discreet.table import Table
from discreet.table.hierarchy import Hierarchy
from discreet.tabulation import tabulate


@given(
    counts=st.tuples(st.integers(2, 3), st.integers(2, 3), st.integers(2, 3)).flatmap(
        lambda shape: arrays(np.int64, shape, elements=st.integers(0, 3))
    ),
    coalition=st.integers(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_every_line_of_every_margin(counts: np.ndarray, coalition: int) -> None:
    if not counts.any():
        return
    found = group_disclosure(Table.from_array(counts, ["a", "b", "c"]), coalition=coalition)
    ours = {(tuple(line["line"].values()), line["along"]) for line in data_of(found)["lines"]}
    expected = set()
    for kept in itertools.product([False, True], repeat=3):
        away = tuple(i for i in range(3) if not kept[i])
        margin = counts.sum(axis=away, keepdims=True)
        for along in (i for i in range(3) if kept[i]):
            for at in itertools.product(*(range(n) if i != along else [0] for i, n in enumerate(margin.shape))):
                place: list[int | slice] = list(at)
                place[along] = slice(None)
                line = margin[tuple(place)]
                if line.sum() > 0 and line.sum() - line.max() <= coalition:
                    label = tuple("Total" if i == along or not kept[i] else str(at[i] + 1) for i in range(3))
                    expected.add((label, "abc"[along]))
    assert ours == expected


def test_lines_of_a_hierarchy() -> None:
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b"})
    records = pa.table({"x": ["a1"] * 4 + ["b1"] * 2 + ["b2"] * 2, "one": ["u"] * 8})
    found = group_disclosure(tabulate(records, ["x"], hierarchies={"x": tree}))
    assert [line["reason"] for line in data_of(found)["lines"]] == ["everybody of the 4 in x=a has x=a1"]
    # A dimension of one category says nothing.
    assert len(group_disclosure(tabulate(records, ["one"]))) == 0


def test_a_coalition_has_members_or_none() -> None:
    with pytest.raises(RequestError, match="give 0 or more"):
        group_disclosure(Table.from_array([1, 2], ["x"]), coalition=-1)
