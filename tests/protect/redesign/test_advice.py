"""Advised merging: the cheapest recoding, against all recodings one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from tests.plain import data_of

import discreet as dc
from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.protect.base import Original
from discreet.protect.redesign import advise, violations
from discreet.protect.redesign.recode import order_of
from discreet.rules import PPercent, Threshold
from discreet.table import Table
from discreet.table.coarsen import coarsened_table, coarsened_tabulation
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation


def partitions(items: list[str]) -> Iterator[list[list[str]]]:
    """Every way to put items into groups."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]]


def intervals(items: list[str]) -> Iterator[list[list[str]]]:
    """Every way to cut a row of items into pieces."""
    for cuts in product([False, True], repeat=len(items) - 1):
        groups = [[items[0]]]
        for item, cut in zip(items[1:], cuts, strict=True):
            if cut:
                groups.append([item])
            else:
                groups[-1].append(item)
        yield groups


def entropy(table: Table) -> float:
    p = table.counts / table.total
    return float(-(p * np.log(p)).sum())


def cheapest(
    table: Table, ways: dict[str, list[list[list[str]]]], score: object, bound: float
) -> tuple[int, float] | None:
    """The twin: every recoding, the fewest merges and then the least entropy lost."""
    best: tuple[int, float] | None = None
    for chosen in product(*ways.values()):
        recoding = {
            name: {item: "+".join(sorted(group)) for group in groups for item in group if len(group) > 1}
            for name, groups in zip(ways, chosen, strict=True)
        }
        coarse = coarsened_table(table, recoding)
        if score(coarse) <= bound:  # type: ignore[operator]
            cost = sum(table.shape) - sum(coarse.shape), round(entropy(table) - entropy(coarse), 12)
            best = cost if best is None or cost < best else best
    return best


@pytest.mark.long
def test_the_cheapest_of_all_recodings_of_many_tables() -> None:
    for seed in range(1000, 1400):
        test_the_cheapest_of_all_recodings(seed)


@pytest.mark.parametrize("seed", range(12))
def test_the_cheapest_of_all_recodings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Table.from_array(
        rng.integers(0, 6, (4, 3)) * rng.integers(0, 2, (4, 3)) + (rng.random((4, 3)) < 0.2),
        {"age": ["0-9", "10-19", "20-29", "30+"], "kind": ["x", "y", "z"]},
    )
    if table.total == 0:
        return
    ways = {
        "age": list(intervals(["0-9", "10-19", "20-29", "30+"])),
        "kind": list(partitions(["x", "y", "z"])),
    }
    score = violations(Threshold(3))
    twin = cheapest(table, ways, score, 0)
    found = advise(table, score, 0)
    if twin is None:
        assert found.chosen is None
        assert found.proven
        with pytest.raises(InfeasibleError, match="no recoding that was tried"):
            _ = found.method
    else:
        assert found.chosen is not None
        assert found.proven
        assert [found.chosen.merges, found.chosen.entropy] == pytest.approx(list(twin), abs=1e-9)
        assert score(coarsened_table(table, found.chosen.recoding)) <= 0
        assert found.least == twin[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_by_risk(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    table = Table.from_array(rng.integers(0, 30, (3, 3)) * rng.integers(0, 2, (3, 3)) + 1, ["a", "b"])

    def score(original: Original) -> float:
        assert isinstance(original, Table)
        return dc.risk(original, slices=[]).value if original.possible > 1 else 0.0

    bound = 0.9 * score(table)
    ways = {name: list(partitions(["1", "2", "3"])) for name in "ab"}
    found = advise(table, score, bound, allowed={"a": "any", "b": "any"})
    twin = cheapest(table, ways, score, bound)
    assert twin is not None
    assert found.chosen is not None
    assert [found.chosen.merges, found.chosen.entropy] == pytest.approx(list(twin), abs=1e-9)
    release = found.method.apply(table).release
    if release.table.possible > 1:
        assert dc.risk(table, release).value <= bound + 1e-12


def test_the_frontier_says_what_each_step_removes_and_costs() -> None:
    table = Table.from_array([1, 2, 8, 1, 9, 2, 2], {"age": [f"{10 * i}-{10 * i + 9}" for i in range(7)]})
    found = advise(table, violations(Threshold(3)))
    scores = [step.score for step in found.frontier]
    assert scores[0] == violations(Threshold(3))(table) == 5
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    merges = [step.merges for step in found.frontier]
    assert merges == sorted(merges)
    for step in found.frontier:
        coarse = coarsened_table(table, step.recoding)
        assert step.score == violations(Threshold(3))(coarse)
        assert step.removed == 5 - step.score
        assert step.entropy == pytest.approx(entropy(table) - entropy(coarse), abs=1e-9)
    assert found.frontier[-1] == found.chosen
    assert "no cheaper recoding does" in found.sentence
    assert data_of(found)["frontier"][0]["recoding"] == {}
    assert "removed" in str(found)
    assert "<table" in found._repr_html_()
    nothing = advise(table, violations(Threshold(3)), 5)
    assert nothing.chosen is not None
    assert nothing.chosen.merges == 0
    assert "Nothing needs to be merged" in nothing.sentence


def test_levels_of_a_hierarchy() -> None:
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "west", "b": "west", "c": "Total"})
    table = Table.from_array([[1, 9], [9, 2], [9, 9], [9, 9], [9, 9]], {"area": tree.leaves, "sex": ["m", "f"]})
    cells = Tabulation.from_table(table, hierarchies={"area": tree})
    found = advise(cells, violations(Threshold(3)), allowed={"sex": "none"})
    assert found.chosen is not None
    assert found.chosen.recoding == {"area": {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}}
    assert found.chosen.merges == 2
    assert violations(Threshold(3))(coarsened_tabulation(cells, found.chosen.recoding)) == 0
    assert found.method.apply(cells).release.table.to_dict()["a", "m"] == 10


def test_rules_of_magnitudes() -> None:
    import pandas as pd

    frame = pd.DataFrame({"size": list("1112223334444"), "x": [90, 5, 5, 9, 8, 7, 9, 9, 9, 8, 8, 8, 8]})
    cells = dc.tabulate(frame, ["size"], value="x", top=3)
    score = violations(PPercent(10))
    assert score(cells) > 0
    found = advise(cells, score)
    assert found.chosen is not None
    assert score(coarsened_tabulation(cells, found.chosen.recoding)) == 0


def test_a_search_that_is_cut_short_says_so() -> None:
    rng = np.random.default_rng(5)
    table = Table.from_array(rng.integers(0, 5, (9, 8)), ["a", "b"])
    score = violations(Threshold(4))
    told: list[int] = []
    cut = advise(table, score, 3, limit=30, progress=lambda done, total, label: told.append(done))
    assert not cut.proven
    assert cut.chosen is not None
    assert cut.chosen.score <= 3
    assert 0 < cut.least <= cut.chosen.merges
    assert "not proved to be best" in cut.sentence
    assert cut.chosen in cut.frontier
    assert told
    best = advise(Table.from_array(rng.integers(0, 4, (3, 3)), ["a", "b"]), score, 0, limit=1)
    assert best.chosen is not None or best.frontier
    stuck = advise(Table.from_array([1, 1], ["a"]), violations(Threshold(9)), 0, limit=1)
    assert stuck.chosen is None
    assert "No recoding brings" in stuck.sentence


def test_neighbours_need_an_order() -> None:
    table = Table.from_array([1, 5, 1], {"colour": ["red", "green", "blue"]})
    with pytest.raises(RequestError, match=r"'colour' has no order.*'red', 'green', 'blue'"):
        advise(table, violations(Threshold(3)), allowed={"colour": "neighbours"})
    given = advise(table, violations(Threshold(3)), order={"colour": ["red", "blue", "green"]})
    assert given.chosen is not None
    assert set(given.chosen.recoding["colour"].values()) == {"red+blue+green"}
    free = advise(table, violations(Threshold(2)))
    assert free.chosen is not None
    assert set(free.chosen.recoding["colour"].values()) == {"red+blue"}
    assert order_of(("85+", "0-4", "5-9"), None, "age") == (1, 2, 0)
    assert order_of(("under 5", "5", "6"), None, "age") == (0, 1, 2)
    assert order_of(("1 a", "1 b"), None, "age") is None


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        ({"allowed": {"x": "some"}}, "allows 'some'"),
        ({"allowed": {"y": "any"}}, "no dimension 'y'"),
        ({"allowed": {"x": "levels"}}, "no hierarchy"),
        ({"order": {"x": ["1", "2", "2"]}}, "list every category once"),
        ({"order": {"z": ["1"]}}, "no dimension 'z'"),
        ({"limit": 0}, "limit is 0"),
    ],
)
def test_searches_that_make_no_sense(ask: dict[str, object], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        advise(Table.from_array([1, 2, 3], ["x"]), violations(Threshold(3)), **ask)


def test_a_score_that_is_no_number() -> None:
    with pytest.raises(DataError, match="not a number"):
        advise(Table.from_array([1, 2, 3], ["x"]), lambda table: float("nan"))
