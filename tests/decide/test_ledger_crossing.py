"""Tables that cross without a table of all their dimensions: what a small figure of one says in those of another."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lengths import seeds

import discreet as dc
from discreet.decide.ledger import Ledger
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.release import Release


def shown(array: Any, dimensions: Mapping[str, Sequence[object]], **about: Any) -> Release:
    return Release.of(Figures.from_array(array, dimensions, **about))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


SIZES = shown([[1, 5]], {"activity": ["a1"], "size": ["s1", "s2"]})
REGIONS = shown([[6, 0]], {"activity": ["a1"], "region": ["r1", "r2"]})


@pytest.mark.parametrize("threshold", [10, None])
def test_a_small_firm_is_where_all_firms_of_its_activity_are(ledger: Ledger, threshold: float | None) -> None:
    ledger.add(SIZES, title="Sizes")
    result = ledger.check(REGIONS, title="Regions", threshold=threshold)
    assert result.verdict == "unsafe"
    assert {(tuple(f.cell.values()), f.lower, f.cause) for f in result.new} == {
        (("a1", "s1", "r1"), 1, "together"),
        (("a1", "s2", "r1"), 5, "together"),
    }
    first = next(f for f in result.new if f.lower == 1)
    assert first.subtraction == (
        "activity=a1, size=s1, region=r1 = 1: activity=a1, size=s1 = 1: published as 1 in «Sizes», and all of it is in "
        "region=r1 by «Regions»"
    )
    assert set(first.releases) == {"Sizes", "Regions"}
    # The same as an audit of both tables finds.
    audited = dc.audit([SIZES, REGIONS])
    assert "activity=a1, size=s1, region=r1" in str(audited)


def test_zeros_that_follow_are_told_and_unsafe_only_by_policy(ledger: Ledger) -> None:
    ledger.add(SIZES, title="Sizes")
    result = ledger.check(REGIONS, title="Regions", threshold=1)
    assert (result.verdict, result.new) == ("safe", ())
    result = ledger.check(REGIONS, title="Regions")
    assert {tuple(f.cell.values()) for f in result.zeros} == {("a1", "s1", "r2"), ("a1", "s2", "r2")}
    assert all((f.lower, f.upper, f.sensitive) == (0, 0, False) for f in result.zeros)
    assert "2 figures of 0 follow" in result.sentence
    policy = dc.Policy.from_text('zeros = "unsafe"\n[rules]\nthreshold = 1\n[limits]\n')
    unsafe = ledger.check(REGIONS, title="Regions", policy=policy)
    assert {f.lower for f in unsafe.new} | {f.lower for f in unsafe.zeros} <= {0}
    one = {"geo": (Hierarchy.from_parents([("city", "wide"), ("suburb", "wide"), ("rest", None)]),)}
    ledger.add(shown([30], {"geo": ["city"]}, hierarchies=one, absent="unpublished"), title="City")
    wide = shown([30], {"geo": ["wide"]}, hierarchies=one, absent="unpublished")
    told = ledger.check(wide, title="Wide")
    assert [(f.name, f.lower, f.sensitive) for f in told.findings] == [("geo=suburb", 0, False)]
    assert told.verdict == "safe"
    assert told.findings[0].subtraction.endswith("30 − 30 = 0")
    assert ledger.check(wide, title="Wide", policy=policy).verdict == "unsafe"


def test_a_group_of_regions_and_three_tables_in_a_line(ledger: Ledger) -> None:
    """The firm of b1 is in the north, since all of b1 has c1, and all of c1 is there."""
    tree = {"region": (Hierarchy.from_parents({"r1": "north", "r2": "north", "r3": "south"}),)}
    ledger.add(shown([[1, 20], [30, 40]], {"a": ["a1", "a2"], "b": ["b1", "b2"]}), title="ab")
    ledger.add(shown([[31, 0], [15, 45]], {"b": ["b1", "b2"], "c": ["c1", "c2"]}), title="bc")
    last = shown([[16, 30, 0], [15, 10, 20]], {"c": ["c1", "c2"], "region": ["r1", "r2", "r3"]}, hierarchies=tree)
    result = ledger.check(last, title="cr")
    assert [(f.cell, f.lower) for f in result.new] == [({"a": "a1", "b": "b1", "c": "c1", "region": "north"}, 1)]
    assert set(result.new[0].releases) == {"ab", "bc", "cr"}
    # Without the last one, only the category of c was known.
    assert [f.cell for f in result.findings if f.cause == "before" and f.sensitive] == []
    assert [f.cell["c"] for f in ledger.check(shown([91], {"a": ["Total"]})).findings if f.sensitive] == ["c1"]


# --- the twin: every table of a few people -----------------------------------------------------------------------

NAMES = ["a", "b", "c", "d"]
SHAPE = (2, 2, 2, 2)
LINES = [["ab", "bc", "cd"], ["ab", "ac", "ad"], ["ab", "cd"], ["abc", "cd"], ["ab", "b", "bcd"]]


def _tables(people: int) -> np.ndarray:
    cells = int(np.prod(SHAPE))
    found = np.zeros((0, cells), np.int64)
    rows = [
        np.bincount(some, minlength=cells) for some in itertools.combinations_with_replacement(range(cells), people)
    ]
    return np.array(rows, np.int64).reshape(-1, *SHAPE) if rows else found


def _margin(tables: np.ndarray, names: str) -> np.ndarray:
    """Return the margin of tables over some dimensions, one row for each table."""
    rest = tuple(k + 1 for k, name in enumerate(NAMES) if name not in names)
    found: np.ndarray = tables.sum(axis=rest)
    return found


@seeds(20, 40)
def test_crossings_are_what_enumeration_finds(ledger: Ledger, seed: int) -> None:
    draw = np.random.default_rng(seed)
    line = LINES[seed % len(LINES)]
    people = int(draw.integers(2, 5))
    tables = _tables(people)
    truth = tables[draw.integers(len(tables))]
    fits = np.ones(len(tables), bool)
    for names in line:
        fits &= (_margin(tables, names) == _margin(truth[None], names)).reshape(len(tables), -1).all(axis=1)
    left = tables[fits]
    known: dict[frozenset[tuple[str, str]], int] = {}
    for size in range(2, 5):
        for crossed in map("".join, itertools.combinations("abcd", size)):
            if any(set(crossed) <= set(names) for names in line):
                continue
            cells = _margin(left, crossed)
            same = cells.min(axis=0) == cells.max(axis=0)
            for at in np.argwhere(same & (cells[0] > 0)):
                known[frozenset((n, f"{n}{i}") for n, i in zip(crossed, at, strict=True))] = int(cells[0][tuple(at)])
    releases = [
        shown(_margin(truth[None], names)[0], {n: [f"{n}0", f"{n}1"] for n in names}, absent="unpublished")
        for names in line
    ]
    for release, names in zip(releases[:-1], line, strict=False):
        ledger.add(release, title=names, population="p")
    result = ledger.check(releases[-1], title="new", population="p")
    found = {
        frozenset((name, label) for name, label in f.cell.items() if label != "Total"): f.lower
        for f in result.findings
        if f.sensitive
    }
    assert all(known.get(cell) == value for cell, value in found.items())
    assert {c: v for c, v in found.items() if len(c) == 4} == {c: v for c, v in known.items() if len(c) == 4}
    assert bool(found) == bool(known)
    for f in result.zeros:
        cell = [(NAMES.index(name) + 1, int(label[1])) for name, label in f.cell.items() if label != "Total"]
        some = left
        for axis, place in sorted(cell, reverse=True):
            some = np.take(some, place, axis=axis)
        assert some.sum() == 0
