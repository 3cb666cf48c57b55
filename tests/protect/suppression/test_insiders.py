"""Which cells respondents are recognised in, where a table does not name them, against the records."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.auditing import judging
from discreet.core.numerics import IntArray
from discreet.evaluate.audited_suppression import faults, inspect
from discreet.protect.suppression import suppression
from discreet.protect.suppression.fast import FastSearch
from discreet.protect.suppression.insider_knowledge import InsiderKnowledge, knowledge_of
from discreet.protect.suppression.problem import lay_out
from discreet.rules import PPercent
from discreet.table.hierarchy import Hierarchy
from discreet.tabulation.tabulate import tabulate

PAIRS = (["activity", "size"], ["activity", "legal"])


def firms(seed: int, count: int, most: int) -> pd.DataFrame:
    """Draw firms, with many ties where amounts are small."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "activity": rng.choice(["A1", "A2", "A3", "B1", "B2"], count),
            "size": rng.choice(["s", "m", "l"], count, p=[0.6, 0.3, 0.1]),
            "legal": rng.choice(["x", "y", "z"], count, p=[0.5, 0.3, 0.2]),
            "turnover": np.rint(rng.lognormal(0, 1.5, count) * most).clip(1),
            "firm": [f"f{i}" for i in range(count)],
        }
    )


def tabulated(frame: pd.DataFrame) -> list[dc.Tabulation]:
    tree = Hierarchy.from_prefixes(sorted(frame.activity.unique()), [1])
    made = [tabulate(frame, by, value="turnover", contributor="firm", hierarchies={"activity": tree}) for by in PAIRS]
    return [replace(table, respondents=None) for table in made]


def without_seconds(table: dc.Tabulation) -> dc.Tabulation:
    """Return a tabulation that knows the largest contribution to each cell and no other."""
    level = table.contributors
    return replace(
        table, contributors=replace(level, largest=tuple(replace(one, top=one.top[:, :1]) for one in level.largest))
    )


def inside(frame: pd.DataFrame, cell: dict[str, str]) -> pd.DataFrame:
    """Return the records of a cell."""
    for name, label in cell.items():
        if label != "Total":
            frame = frame[frame[name].str.startswith(label)]
    return frame


@pytest.mark.parametrize(
    ("top", "most"), [(1, 2), (2, 1000), *(pytest.param(*more, marks=pytest.mark.long) for more in [(2, 2), (1, 1000)])]
)
def test_respondents_are_in_every_cell_that_they_are_said_to_know(top: int, most: int) -> None:
    across = 0
    for seed in range(6):
        frame = firms(seed, 8 + 6 * (seed % 4), most)
        tables = tabulated(frame)
        cells = lay_out(tables if top > 1 else list(map(without_seconds, tables)), None, 0.0)
        everything = np.ones(cells.values.size, bool)
        known = knowledge_of(cells, "respondents", (), None, everything)
        first = np.unique(known.attacker, return_index=True)[1]
        home = [cells.equations.cell(int(i)) for i in known.position[first]]
        largest = [own[own.turnover == own.turnover.max()] for own in (inside(frame, cell) for cell in home)]
        firms_of = {int(at): set(inside(frame, cells.equations.cell(int(at))).firm) for at in np.unique(known.position)}
        for who, at, low, high in zip(known.attacker, known.position, known.low, known.high, strict=True):
            cell, there = cells.equations.cell(int(at)), firms_of[int(at)]
            assert set(largest[who].firm) <= there, (seed, cell)
            assert low == largest[who].turnover.iloc[0]
            if high == low:
                assert len(there) == 1
            outer = {name for name, label in cell.items() if label != "Total"}
            inner = {name for name, label in home[who].items() if label != "Total"}
            across += not outer <= inner
    assert across > 10


def test_whoever_is_alone_in_two_tables_is_one_respondent() -> None:
    """The only firm of an activity is that of its size and of its legal form, and does not attack itself there."""
    frame = firms(1, 60, 1000)
    frame = frame[frame.activity != "A1"]
    frame.loc[frame.index[0], ["activity", "size", "legal", "turnover"]] = ["A1", "l", "z", 10_000_000.0]
    tables = tabulated(frame)
    cells = lay_out(tables, None, 0.0)
    known = knowledge_of(cells, "respondents", (), None, np.ones(cells.values.size, bool))
    who = known.names.index("respondent of activity=A1, size=l")
    mine = {cells.equations.describe(int(i)) for i in known.position[known.attacker == who]}
    assert {"activity=A1, legal=z", "activity=A, legal=z", "legal=z"} <= mine
    assert dc.suppress(tables, PPercent(10)).audit.verdict == "safe"


def test_large_amounts_in_decimals_are_read_as_they_are_written() -> None:
    frame = firms(3, 80, 1000)
    frame["turnover"] = (frame.turnover * 1165.1474).round(4)
    found = dc.suppress(tabulated(frame), PPercent(10), insiders="respondents")
    assert found.audit.verdict == "safe"
    assert found.pattern.problem.cells.equations.decimals >= 4


def test_what_everybody_knows_of_other_cells_adds_to_the_own_contribution() -> None:
    """Whoever put 90 into a row of ten cells knows that it is at least 99: no hidden cell is 0."""
    amounts = [("c0", 90), ("c0", 10), *((f"c{i}", 5) for i in range(1, 10))]
    frame = pd.DataFrame(amounts, columns=["cell", "turnover"]).assign(firm=[f"f{i}" for i in range(len(amounts))])
    table = tabulate(frame, ["cell"], value="turnover", contributor="firm")
    for above_zero, least in ((True, 99), (False, 90)):
        cells = lay_out([table], None, 0.0, above_zero)
        known = knowledge_of(cells, "respondents", (), None, np.ones(cells.values.size, bool))
        mine = known.attacker == known.names.index("respondent f0")
        total = mine & (known.position == cells.equations.find({"cell": "Total"}))
        assert known.low[total].tolist() == [90]
        assert known.least[total].tolist() == [least]


def test_what_nobody_can_be_kept_from_knowing_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit asks for no more room in a respondent's own cell than own contribution and known floors leave."""
    frame = firms(2, 40, 30)
    tree = Hierarchy.from_prefixes(sorted(frame.activity.unique()), [1])
    tables = [tabulate(frame, by, value="turnover", contributor="firm", hierarchies={"activity": tree}) for by in PAIRS]
    looked_at = []
    suspects = judging.Judge.suspects

    def counted(*given: Any) -> IntArray:
        looked_at.append(suspects(*given))
        return looked_at[-1]

    monkeypatch.setattr(judging.Judge, "suspects", counted)
    found = dc.suppress(tables, PPercent(10))
    # By own contributions alone, one respondent's own cell would have to be lower than cells above 0 let it be.
    monkeypatch.setattr(judging, "at_least", lambda equations, floor, who, at, low, zero: low)
    assert not faults(found.pattern, inspect(found.pattern, found.release))
    assert [who.size for who in looked_at] == [0, 1]


def test_respondents_are_learnt_about_as_cells_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Knowledge that is asked for only of what is hidden leads to patterns as safe as knowing everything at once."""
    learnt: list[int] = []
    learn = FastSearch.learn

    def counted(search: FastSearch, known: InsiderKnowledge) -> None:
        learnt.append(len(known))
        learn(search, known)

    monkeypatch.setattr(FastSearch, "learn", counted)
    monkeypatch.setattr(suppression, "MANY", -1)
    several = 0
    for seed in range(6):
        frame = firms(seed, 30 + 5 * seed, 50)
        tree = Hierarchy.from_prefixes(sorted(frame.activity.unique()), [1])
        by = ["activity", "size", "legal"]
        table = tabulate(frame, by, value="turnover", contributor="firm", hierarchies={"activity": tree})
        learnt.clear()
        assert dc.suppress(table, PPercent(10), insiders="respondents").audit.verdict == "safe"
        several += len(learnt) > 1
    assert several > 1


class Watched(FastSearch):
    """A search that compares what it looks up and copies at once with the same, one by one."""

    looked: ClassVar[list[bool]] = []
    copied: ClassVar[list[int]] = []

    def _own_rooms(self, insiders: IntArray, demands: IntArray) -> list[tuple[int, int] | None]:
        found = super()._own_rooms(insiders, demands)
        for who, demand, room in zip(insiders.tolist(), demands.tolist(), found, strict=True):
            start, stop = self.known_start[who + 1], self.known_start[who + 2]
            own = [k for k in range(start, stop) if self.facts[1][k] == self.cell[demand]]
            ends = tuple(min(int(side[k]) for k in own) for side in self.facts[2:]) if own else None
            assert room == ends
            self.looked.append(room is not None)
        return found

    def _copy(self, pairs: IntArray) -> None:
        slow = copy(self)
        for name in ("pool", "head", "where"):
            setattr(slow, name, getattr(self, name).copy())
        for q, twin in pairs.tolist():
            slow._keep(twin, *slow.circuit(q))
        super()._copy(pairs)
        assert self.end == slow.end
        assert (self.head == slow.head).all()
        assert (self.where == slow.where).all()
        assert (self.pool[:4, : self.end] == slow.pool[:4, : self.end]).all()
        self.copied.append(len(pairs))


def test_what_is_looked_up_and_copied_at_once_is_what_single_steps_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.protect.suppression.fast.FastSearch", Watched)
    tree = Hierarchy.from_prefixes(["A1", "A2", "A3", "B1", "B2"], [1])
    table = tabulate(firms(1, 40, 100), PAIRS[0], value="turnover", contributor="firm", hierarchies={"activity": tree})
    suppression.Suppression(PPercent(10), insiders="respondents").pattern(table)
    assert {True, False} <= set(Watched.looked)
    assert sum(Watched.copied) > 0
