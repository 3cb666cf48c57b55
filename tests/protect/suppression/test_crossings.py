"""Crossings of linked tables that no table shows: what is known of them, and circuits that are lifted to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.auditing.audit import audit
from discreet.auditing.audit_result import Audit
from discreet.evaluate.audited_suppression import certify, suppress
from discreet.protect.suppression import Suppression, Wish, lifting, suppression
from discreet.protect.suppression.completion import true_values
from discreet.protect.suppression.problem import lay_out
from discreet.rules import Dominance
from discreet.table import crossing_parts
from discreet.table.contributions import Contributions
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import Marked
from discreet.table.release import Release
from discreet.table.stakes import joint_stakes
from discreet.table.tabulation import Tabulation
from discreet.tabulation.tabulate import tabulate

PAIRS = ("AB", "AC", "BC")


def firms(seed: int, n: int = 8, categories: int = 2) -> pa.Table:
    """Return records of firms in three dimensions."""
    draw = np.random.default_rng(seed)
    columns = {name: [f"{name.lower()}{k}" for k in draw.integers(categories, size=n)] for name in "ABC"}
    return pa.table({"id": [f"u{i}" for i in range(n)], **columns, "v": draw.integers(1, 6, n)})


def pairs(records: pa.Table) -> list[Tabulation]:
    """Return the three tables of two dimensions each."""
    return [tabulate(records, by=list(by), value="v", contributor="id") for by in PAIRS]


def all_inner_hidden(tables: list[Tabulation]) -> Release:
    """Return a release of margins alone."""
    parts = []
    for table in tables:
        shown = Figures.of_tabulation(table, name=" × ".join(table.names))
        inner = table.inner(table.names)
        kind, values = np.where(inner, 1, 0), np.where(inner, 0, shown.values)
        parts.append(replace(shown, kind=kind, kinds=(*shown.kinds[:1], Marked()), values=values))
    return Release(None, "suppress", {}, tuple(parts))


def intervals(found: Audit) -> dict[tuple[str, str], tuple[float, float]]:
    """Return what everybody can work out, by name and cell."""
    rows = found.findings
    return {
        (rows.attackers[int(rows.who[k])].split()[-1], rows.equations.describe(int(rows.at[k]))): (
            float(rows.lower[k]),
            float(rows.upper[k]),
        )
        for k in np.flatnonzero(rows.subject == 0).tolist()
    }


@pytest.mark.parametrize("seed", [3, 6, 10])
def test_respondents_know_their_own_part_of_crossings(seed: int) -> None:
    """An audit with tables that name respondents finds what one with every contribution finds."""
    records = firms(seed)
    tables = pairs(records)
    release = all_inner_hidden(tables)
    rows = [({name: row[name] for name in "ABC"}, row["id"], float(row["v"])) for row in records.to_pylist()]
    by_tables = intervals(audit(release, contributions=tables, insiders="respondents"))
    by_rows = intervals(audit(release, contributions=Contributions.from_rows(rows)))
    shared = by_tables.keys() & by_rows.keys()
    assert any(who != "outsider" for who, _ in shared)
    assert {key: by_tables[key] for key in shared} == {key: by_rows[key] for key in shared}


def test_many_respondents_are_taken_to_know_more_than_each_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where respondents are too many to be told apart, no interval is wider than that of somebody who is."""
    tables = pairs(firms(10))
    release = all_inner_hidden(tables)
    apart = intervals(audit(release, contributions=tables, insiders="respondents"))
    monkeypatch.setattr(crossing_parts, "MANY", 0)
    together = intervals(audit(release, contributions=tables, insiders="respondents"))
    shared = apart.keys() & together.keys()
    assert any(who != "outsider" for who, _ in shared)
    for key in shared:
        assert together[key][0] >= apart[key][0]
        assert together[key][1] <= apart[key][1]


def test_crossings_have_their_true_values() -> None:
    """Every position of linked tables is the sum of those in it, crossings that no table shows among them."""
    records = firms(1, n=40, categories=3)
    tables = pairs(records)
    stated = equations_of([Figures.of_tabulation(one, name=" × ".join(one.names)) for one in tables], asked={})
    values = true_values(stated, tables, None)
    assert values is not None
    rows = records.to_pylist()
    for i, value in enumerate(values.tolist()):
        cell = {name: code for name, code in stated.cell(i).items() if code != "Total"}
        assert value == sum(row["v"] for row in rows if all(row[name] == code for name, code in cell.items()))


def test_stakes_of_some_positions_are_those_among_all() -> None:
    """Asking for some positions only leaves out the others, and nothing else."""
    tables = pairs(firms(2, n=30, categories=3))
    cells = lay_out(tables, None, 0.0)
    among = np.random.default_rng(1).random(cells.values.size) < 0.3
    every, some = (joint_stakes(tables, cells.places, None, which) for which in (None, among))

    def entries(stakes: object) -> set[tuple[str, int, float, int]]:
        columns = (getattr(stakes, name).tolist() for name in ("unit", "at", "amount", "others"))
        return {(stakes.names[u], a, x, o) for u, a, x, o in zip(*columns, strict=True)}  # type: ignore[attr-defined]

    assert entries(some) == {entry for entry in entries(every) if among[entry[1]]}
    assert entries(some)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_pattern_found_without_crossings_is_lifted_to_them(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """What is found for many linked tables is checked in integers, and audited as any other pattern is."""
    draw = np.random.default_rng(seed)
    n = 400
    columns = {name: [f"{name.lower()}{k}" for k in draw.integers(4, size=n)] for name in "ABC"}
    records = pa.table({"id": [f"u{i}" for i in range(n)], **columns, "v": np.rint(draw.lognormal(4, 1.6, n)) + 1})
    tables, method = pairs(records), Suppression(Dominance(1, 60))
    for name in ("CROSSINGS", "MANY"):
        monkeypatch.setattr(suppression, name, 0)
    found = certify(method, tables)
    assert found.audit.verdict == "safe"
    found.pattern.check()


def many_firms() -> pa.Table:
    """Return records of firms of which some sensitive cells have many."""
    draw = np.random.default_rng(0)
    n = 1500
    columns = {
        name: [f"{name.lower()}{k}" for k in draw.integers(size, size=n)]
        for name, size in zip("ABC", (8, 8, 2), strict=True)
    }
    return pa.table({"id": [f"u{i}" for i in range(n)], **columns, "v": np.rint(draw.lognormal(4, 2, n)) + 1})


def test_respondents_of_a_cell_share_circuits_among_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    """One circuit for all of them in place of one for each; none of them undoes it."""
    for name in ("CROSSINGS", "MANY"):
        monkeypatch.setattr(suppression, name, 0)
    shared: list[tuple[int, int]] = []
    ask = lifting.LiftedSearch._ask_together

    def noted(search: lifting.LiftedSearch, groups: list[tuple[int, int, list[int]]]) -> None:
        for demand, way, insiders in groups:
            rooms = search._own_rooms(np.array(insiders), np.full(len(insiders), demand))
            shared.extend((room[way > 0], search.size[demand]) for room in rooms if room is not None)
        ask(search, groups)

    monkeypatch.setattr(lifting.LiftedSearch, "_ask_together", noted)
    Suppression(Dominance(1, 60)).pattern(pairs(many_firms())).check()
    assert shared
    # Whoever contributed too much to the cell asks for less, alone.
    assert all(room >= size for room, size in shared)


def test_circuits_of_larger_cells_stand_in_for_large_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where crossings inside of a circuit leave no room, larger cells are moved before large programs are solved."""
    records = many_firms()
    for name in ("CROSSINGS", "MANY"):
        monkeypatch.setattr(suppression, name, 0)
    solved: list[bool] = []
    moves = lifting.Lift._solved

    def counted(*given: Any, integers: bool) -> Any:
        solved.append(integers)
        return moves(*given, integers=integers)

    monkeypatch.setattr(lifting.Lift, "_solved", counted)
    certify(method := Suppression(Dominance(1, 60)), tables := pairs(records))
    assert not all(solved)
    solved.clear()
    monkeypatch.setattr(lifting, "WIDE", 1)
    assert certify(method, tables).audit.verdict == "safe"
    assert solved
    assert all(solved)


def test_what_is_not_judged_of_crossings_is_said() -> None:
    """Firms with several records are in several cells, and tables outside a plan do not tell which crossings."""
    rng = np.random.default_rng(3)
    columns = {name: rng.choice(list(codes), 40) for name, codes in {"a": "xy", "b": "pq", "c": "rs"}.items()}
    firms = pd.DataFrame({**columns, "v": rng.integers(1, 60, 40)})
    crossings = (["a", "b"], ["a", "c"], ["b", "c"])
    for firm, said in ((rng.integers(0, 25, 40), True), (np.arange(40), False)):
        records = firms.assign(firm=firm)
        tables = [tabulate(records, by, value="v", contributor="firm") for by in crossings]
        found = suppress(tables, "p=10", wishes=Wish({"a": "x", "b": "p"}, "suppress", 1, 1))
        assert (f"safe against outsiders only: {crossing_parts.UNPLACED}" in found.sentence) == said
        assert found.to_dict()["audit"] == ("safe against outsiders" if said else "safe")
        assert found.audit.verdict == ("incomplete" if said else "safe")


@pytest.mark.parametrize("several", [False, True])
def test_the_largest_part_of_every_crossing_is_that_of_the_records(several: bool) -> None:
    """Whether or not respondents have several entries, the largest part is that of one respondent added up."""
    records = firms(3, n=60, categories=3)
    tables = pairs(records)
    stated = equations_of([Figures.of_tabulation(one, name=" × ".join(one.names)) for one in tables], asked={})
    where = crossing_parts.placed(tables, stated.space, None)
    assert where is not None
    where = replace(where, unit=np.sort(where.unit // 2)) if several else where
    crossed = [i for i in range(stated.positions.size) if "Total" not in stated.cell(i).values()]
    found = where.largest(stated.space, stated.positions[crossed])
    for i, largest in zip(crossed, found.tolist(), strict=True):
        parts: dict[int, float] = {}
        for k, unit in enumerate(where.unit.tolist()):
            at = {name: stated.space.axes[stated.space.axis(name)].nodes[where.codes[name][k]] for name in "ABC"}
            if all(at[name] == code for name, code in stated.cell(i).items()):
                parts[unit] = parts.get(unit, 0) + where.amount[k]
        assert largest == max(parts.values(), default=0)


def test_sums_of_nothing_are_no_crossings_that_were_not_judged() -> None:
    """A table that shows all but what is empty leaves nothing open, though it does not name respondents."""
    rows = [("n", "n1", "x"), ("n", "n2", "x"), ("s", "s1", "x"), ("s", "s1", "y")] * 4
    columns = dict(zip(("region", "district", "kind"), map(list, zip(*rows, strict=True)), strict=True))
    records = pa.table({"id": list(range(len(rows))), **columns, "v": list(range(1, len(rows) + 1))})
    table = tabulate(records, by={"area": ["region", "district"], "kind": "kind"}, value="v", contributor="id")
    unnamed = replace(table, respondents=None)
    stated = equations_of([Figures.of_tabulation(unnamed, name="areas")], asked={})
    # No firm of the north is of kind y, in no district.
    assert [stated.describe(i) for i in np.flatnonzero(crossing_parts.unshown(stated)).tolist()] == ["area=n, kind=y"]
    assert not crossing_parts.unplaced(stated, [unnamed], None)
    # What a table of fewer dimensions leaves open is a crossing.
    parts = [replace(one, respondents=None) for one in pairs(firms(3))]
    linked = equations_of([Figures.of_tabulation(one, name=" × ".join(one.names)) for one in parts], asked={})
    assert crossing_parts.unplaced(linked, parts, None)
