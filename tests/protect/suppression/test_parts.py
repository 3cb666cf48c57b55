"""Linked tables of which one covers a part of a dimension: against all patterns, and against all tables that fit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.lengths import few_or_long
from tests.protect.suppression.oracle import Case, stated
from tests.protect.suppression.test_exhaustive import both_methods

import discreet as dc
from discreet.protect.suppression import scip
from discreet.protect.suppression.suppression import Suppression
from discreet.rules import Threshold
from discreet.table import Table
from discreet.table.tabulation import Tabulation

NAMES = {"a": ("a0", "a1"), "n": ("e1", "e2", "w"), "s": ("s0", "s1")}
EAST = ("e1", "e2")
MOST = 12
"""The most cells that may be suppressed beside the sensitive ones."""


def case_of(seed: int) -> tuple[Case, Table]:
    """Return tables of everybody and one of the east, of the same random people."""
    rng = np.random.default_rng(seed)
    few = seed % 2 == 0
    people = rng.integers(0, 3 if few else 5, (2, 3, 2)) * (rng.random((2, 3, 2)) < 0.7)
    people[0, 0, 0] += 1
    whole = Table.from_array(people, {name: list(codes) for name, codes in NAMES.items()})
    inside = Table.from_array(people[:, :2], {**{name: list(codes) for name, codes in NAMES.items()}, "n": list(EAST)})
    by = [("n",), ("n", "s"), ("a", "n"), ("a",), ("a", "s")]
    pairs = [by[int(i)] for i in rng.choice(len(by), int(rng.integers(1, 3)), replace=False)]
    tables = [Tabulation.from_table(whole.margin(*names)) for names in pairs]
    part = Tabulation.from_table(inside.margin(*(("n",), ("a", "n"), ("n", "s"))[int(rng.integers(3))]))
    cost = ("value", "cells")[int(rng.integers(2))]
    method = Suppression((Threshold(2 if few else 3),), levels=(1.0, 1.0), cost=cost)
    return Case((*tables, part.as_part(n="East")), method), whole


def fits(case: Case, release: dc.Release, people: int) -> Any:
    """Return all tables of so many people that fit what is published: what is empty, too, and that no mark is a 0."""
    shape = tuple(len(codes) for codes in NAMES.values())
    ways = np.array(list(itertools.combinations_with_replacement(range(int(np.prod(shape))), people)))
    found = np.zeros((len(ways), int(np.prod(shape))), np.int64)
    np.add.at(found, (np.arange(len(ways))[:, None], ways), 1)
    tables = found.reshape(-1, *shape)
    for figures, table in zip(release.parts(), case.tables, strict=True):
        listed = {figures.describe(row): row for row in range(len(figures))}
        for codes in itertools.product(*(range(len(axis)) for axis in table.axes)):
            cell = {axis.name: axis.codes[code] for axis, code in zip(table.axes, codes, strict=True)}
            row = listed.get(", ".join(f"{name}={code}" for name, code in cell.items()))
            held = sums(tables, cell)
            hidden = row is not None and figures.hidden[row]
            tables = tables[held > 0 if hidden else held == (0 if row is None else figures.values[row])]
    return tables


def sums(tables: Any, cell: Mapping[str, str]) -> Any:
    for axis, (name, codes) in enumerate(NAMES.items()):
        wanted = {"Total": codes, "East": EAST}.get(cell.get(name, "Total"), (cell.get(name),))
        inside = np.array([code in wanted for code in codes])
        tables = tables * inside.reshape([-1 if i == axis + 1 else 1 for i in range(4)])
    return tables.sum(axis=(1, 2, 3))


def compare(seed: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(scip, "available", lambda: seed % 4 < 2)
    case, whole = case_of(seed)
    s = stated(case)
    if s.candidates.size > MOST or not s.demands.sensitive.any():
        return "none"
    released = both_methods(case, s, seed)
    if not released:
        return "infeasible"
    # How many people there are is known where the total is published.
    told = [found for found in released if whole.total <= 9 and not found.pattern.positions[0]]
    if told:
        for found in told:
            tables = fits(case, found.release, whole.total)
            cells, demands = found.pattern.problem.cells, found.pattern.problem.demands
            for i in np.flatnonzero(demands.sensitive).tolist():
                reached, value = sums(tables, cells.equations.cell(i)), int(cells.values[i])
                assert reached.min() <= value - demands.lower[i], seed
                assert reached.max() >= value + demands.upper[i], seed
        return "enumerated"
    return "compared"


@few_or_long("number", 20, 60)
def test_methods_against_all_patterns_and_all_tables(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [compare(seed, monkeypatch) for seed in range(number)]
    assert kinds.count("compared") > number / 7.5
    assert kinds.count("enumerated") > number / 15


@pytest.mark.long
def test_methods_against_all_patterns_of_many_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [compare(seed, monkeypatch) for seed in range(1_000, 4_000)]
    assert len(kinds) - kinds.count("none") > 1_000


def test_safe_separately_and_unsafe_together() -> None:
    """What the table of the east publishes is taken from the table of all regions; together, more is suppressed."""
    everybody = Table.from_array([[8, 7], [9, 6], [2, 9], [9, 8]], {"n": ["e1", "e2", "w1", "w2"], "s": ["m", "f"]})
    inside = Table.from_array([[8, 7], [9, 6]], {"n": ["e1", "e2"], "s": ["m", "f"]})
    all_regions, east = Tabulation.from_table(everybody), Tabulation.from_table(inside).as_part(n="East")
    keep = [dc.protect.Wish({"n": n, "s": s}, "publish") for n in ("w2", "Total") for s in ("m", "f", "Total")]
    one = dc.suppress(all_regions, Threshold(3), levels=(2, 2), wishes=keep)
    other = dc.suppress(east, Threshold(3), levels=(2, 2))
    # The east has nothing to hide by itself, and so gives away what the table of all regions hides behind it.
    assert one.pattern.counts["secondary"] == 3
    assert not other.pattern.positions.any()
    assert dc.audit([*one.release.parts(), *other.release.parts()]).verdict == "unsafe"
    both = dc.suppress([all_regions, east], Threshold(3), levels=(2, 2), wishes=keep)
    assert both.audit.verdict == "safe"
    assert dc.audit(both.release).verdict == "safe"
    hidden = {figures.name: int(figures.hidden.sum()) for figures in both.release.parts()}
    assert len(both.release.parts()) == 2
    assert both.pattern.counts["secondary"] > 3, hidden
