"""Many related releases at once: the same answers as one by one, with hardly any of them compared one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.numerics import IntArray
from discreet.decide.ledger import Entry, Ledger, LedgerCheck
from discreet.decide.ledger import release_check as checking
from discreet.decide.ledger.release_check import ReleaseCheck
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release

COUNT, YEARS = 20, 40
"""The releases of the ledgers."""
TREE = Hierarchy.from_parents([("n", None), ("n1", "n"), ("n2", "n"), ("s", None)])
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {"sides": {"area": ["n", "s", "w"]}},
    "margins": {"sides": {"area": ["n", "s", "Total"], "sex": ["m", "f", "Total"]}},
    "wider": {"sides": {"area": ["n", "s", "w"], "age": ["y", "o"]}},
    "decimals": {"sides": {"area": ["n", "s", "w"]}, "decimals": 1},
    "nested": {"sides": {"area": ["n", "n1", "n2", "s", "Total"]}, "hierarchies": {"area": (TREE,)}},
}


def table(rng: np.random.Generator, inner: IntArray, shape: str, how: str) -> Release:
    """Return a release of finest counts in some shape: exact, with a figure hidden, or rounded to 5."""
    about = dict(SHAPES[shape])
    sides = about.pop("sides")
    if shape == "margins":
        cells = np.zeros((3, 3), np.int64)
        cells[:2, :2] = inner[:4].reshape(2, 2)
        cells[2, :2], cells[:, 2] = cells[:2, :2].sum(axis=0), 0
        cells[:, 2] = cells[:, :2].sum(axis=1)
    elif shape == "nested":
        cells = np.array([inner[0] + inner[1], inner[0], inner[1], inner[2], inner[:3].sum()])
    else:
        cells = inner[: int(np.prod([len(one) for one in sides.values()]))].reshape(
            [len(one) for one in sides.values()]
        )
    if how == "rounded":
        part = Figures.from_array(cells // 5 * 5, sides, kind=Kind("random", base=5), **about)
        return Release.of(part, "random-rounding")
    shown = cells.astype(object)
    if how == "hidden":
        at = tuple(int(rng.integers(n)) for n in cells.shape)
        shown[at] = None
    return Release.of(Figures.from_array(shown, sides, **about))


def written(book: Ledger, rng: np.random.Generator, base: IntArray, shape: str, how: str, variable: str) -> None:
    for number in range(COUNT):
        step = int(rng.choice([0, 1, 2, 3, 40]))
        moved = base + rng.integers(-step, step + 1, base.size) * (rng.random(base.size) < 0.6)
        # Other people at the same time, or the same at other times.
        who = str(rng.choice(["p", "q", "q", "q | p"]))
        when = "now" if who != "p" and rng.random() < 0.5 else f"year {number}"
        told = variable if rng.random() < 0.8 else "other"
        release = table(rng, np.maximum(moved, how == "hidden"), shape, how)
        book.add(release, title=f"t{number}", population=who, period=when, variable=told)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_answers_as_one_by_one(shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(list(SHAPES).index(shape))
    compared: list[int] = []
    one_by_one = ReleaseCheck._compare

    def counted(check: ReleaseCheck, entry: Entry, fewest: int) -> None:
        compared.append(1)
        one_by_one(check, entry, fewest)

    monkeypatch.setattr(ReleaseCheck, "_compare", counted)
    counts = {"quiet": 0, "loud": 0}
    for case, (how, variable) in enumerate((("exact", ""), ("hidden", "turnover"), ("rounded", ""))):
        base = rng.integers(0, 60, 8)
        with Ledger(tmp_path / f"{case}.sqlite") as book:
            written(book, rng, base, shape, how, variable)
            for mine in ("exact", "hidden"):
                new = table(rng, base + rng.integers(1, 30, 8), shape if case % 2 else "plain", mine)
                found: list[LedgerCheck] = []
                for few in (10**9, 1):
                    monkeypatch.setattr(checking, "FEW", few)
                    compared.clear()
                    found.append(
                        book.check(new, title="new", population="p", period="now", variable=variable, fewest=3)
                    )
                one, other = (result.to_dict() for result in found)
                assert one == other
                assert found[0].compared == found[1].compared
                counts["loud"] += len(compared)
                counts["quiet"] += COUNT - len(compared)
    assert min(counts.values()) > 0, counts


def test_many_related_releases_are_not_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many releases about other times, those that a few people changed are compared; the others are read at once."""
    asked: list[int] = []
    texts = Ledger._texts
    monkeypatch.setattr(Ledger, "_texts", lambda book, e, past: asked.append(len(e)) or texts(book, e, past))  # type: ignore[func-returns-value]
    with Ledger(tmp_path / "book.sqlite") as book:
        for year in range(YEARS):
            part = Figures.from_array([1000 + 7 * year, 5000 - 3 * year], {"area": ["n", "s"]}, name="t")
            book.add(Release.of(part), title=f"of {year}", population="p", period=str(year))
        new = Release.of(Figures.from_array([1001, 5001], {"area": ["n", "s"]}, name="t"))
        asked.clear()
        found = book.check(new, title="new", population="p", period="now")
    assert [change.earlier for change in found.changes] == ["«of 0»"]
    assert len(found.compared) == YEARS
    assert asked == [YEARS, 1]


@pytest.mark.parametrize("few", [10**9, 1])
def test_sums_that_follow_are_compared_like_printed_ones(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of many tables hides its cells and prints the margins of the new one, which prints nothing but cells."""
    monkeypatch.setattr(checking, "FEW", few)
    sides = {"area": ["n", "s", "Total"], "sex": ["m", "f", "Total"]}
    with Ledger(tmp_path / "book.sqlite") as book:
        for year in range(25):
            by = 50 * year
            hidden = [[None, None, 40 + by], [None, None, 50 + by], [42 + by, 48 + by, 90 + 2 * by]]
            book.add(
                Release.of(Figures.from_array(hidden, sides)), title=f"of {year}", population="p", period=str(year)
            )
        new = Release.of(Figures.from_array([[38, 2], [4, 46]], {"area": ["n", "s"], "sex": ["m", "f"]}))
        found = book.check(new, title="new", population="p", period="0 final")
    assert found.verdict == "unsafe"
    assert {(f.name, f.lower) for f in found.new} >= {("area=n, sex=f", 2)}
    assert "«of 0» and «new» were taken to describe the same values, as 4 of 4 figures" in found.sentence
    assert found.sentence.count("were taken to describe the same values") == 1
