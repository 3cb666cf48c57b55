"""Small random tables, and the cheapest safe pattern by going through all patterns: the slow twin of suppression."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.core.numerics import BoolArray, IntArray
from discreet.feasible.bounds import Bounds, bounds
from discreet.protect.suppression.insider_knowledge import InsiderKnowledge, knowledge_of
from discreet.protect.suppression.primary import Wish, demands_of, primary
from discreet.protect.suppression.problem import Cells, Demands, lay_out
from discreet.protect.suppression.suppression import Suppression
from discreet.table import Table
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation
from discreet.table.units import Largest, Level, Response

MOST = 15
"""The most cells that may be suppressed beside the sensitive ones: 2^15 patterns are gone through."""


@dataclass(frozen=True)
class Case:
    """Tables with a method for them."""

    tables: tuple[Tabulation, ...]
    method: Suppression


def tree(rng: np.random.Generator, name: str, size: int) -> Hierarchy:
    codes = [f"{name}{i}" for i in range(size)]
    if size == 3 and rng.random() < 0.5:
        return Hierarchy.from_parents(
            {codes[0]: f"{name}g", codes[1]: f"{name}g", f"{name}g": "Total", codes[2]: "Total"}
        )
    return Hierarchy.flat(codes)


def counts(rng: np.random.Generator, sizes: tuple[int, ...], names: str) -> Tabulation:
    inner = rng.integers(0, 6, sizes) * (rng.random(sizes) < 0.85)
    inner.flat[0] += 1
    trees = {n: tree(rng, n, s) for n, s in zip(names, sizes, strict=True)}
    table = Table.from_array(inner, {n: list(t.leaves) for n, t in trees.items()})
    return Tabulation.from_table(table, hierarchies=trees)


def magnitude(table: Tabulation, rng: np.random.Generator) -> Tabulation:
    """Let every person of a count contribute 1 to 4, so that cells have contributors and largest contributions."""
    inner = np.flatnonzero(table.inner(table.names))
    people = [rng.integers(1, 5, int(table.records[i])) for i in inner]
    under: list[list[int]] = [[] for _ in range(len(table))]
    codes = np.stack([table.codes(n) for n in table.names], axis=1)
    for row in range(len(table)):
        for k, i in enumerate(inner):
            inside = all(int(codes[i, d]) in axis.under[int(codes[row, d])] for d, axis in enumerate(table.axes))
            if inside:
                under[row] += people[k].tolist()
    top = np.zeros((len(table), 2))
    for row, found in enumerate(under):
        best = sorted(found, reverse=True)[:2]
        top[row, : len(best)] = best
    sums = np.array([float(sum(found)) for found in under])
    level = Level(table.records, None, (Largest(sums, top),))
    return replace(table, responses=(Response("x", None, sums),), contributors=level)


def small_case(seed: int, insiders: bool | None = None) -> Case | None:
    """Return a random case that is small enough to go through all patterns; None where the draw is too large."""
    from discreet.rules import Threshold

    rng = np.random.default_rng(seed)
    shapes = ((2, 2), (2, 3), (3, 2), (2, 3), (3, 3), (2, 2, 2), (4, 2))
    sizes = shapes[int(rng.integers(len(shapes)))]
    table = counts(rng, sizes, "abc"[: len(sizes)])
    tables: tuple[Tabulation, ...] = (table,)
    if len(sizes) == 3 and rng.random() < 0.4:
        # Two margins of one table, linked by the dimension that they share.
        whole = table.table()
        pairs = [("a", "b"), ("b", "c")]
        tables = tuple(Tabulation.from_table(whole.margin(*pair)) for pair in pairs)
    inside = bool(rng.random() < 0.3) if insiders is None else insiders
    if inside:
        if len(tables) > 1:
            return None
        tables = (magnitude(table, rng),)
    level = int(rng.integers(1, 3))
    rules = (Threshold(int(rng.integers(2, 4)), safety_range=30),)
    cost = ("value", "cells", "log", "contributors")[int(rng.integers(4))]
    zeros = "suppressible" if rng.random() < 0.25 else "published"
    levels = None if inside else (float(level), float(int(rng.integers(1, 3))))
    risk = None
    if not inside and rng.random() < 0.15:
        # At least four values must remain, wherever they are.
        levels, risk = (0.0, 0.0), 0.5
    wishes: list[Wish] = []
    if rng.random() < 0.2:
        wishes.append(Wish(tables[0].label(0), "publish"))
    method = Suppression(rules, tuple(wishes), levels=levels, risk=risk, cost=cost, zeros=zeros)  # type: ignore[arg-type]
    return Case(tables, method)


@dataclass(frozen=True)
class Stated:
    """What the oracle needs to know of a case."""

    cells: Cells
    demands: Demands
    known: InsiderKnowledge
    cost: np.ndarray
    candidates: np.ndarray
    in_print: BoolArray
    """Zeros that are always published."""

    @property
    def targets(self) -> IntArray:
        return np.flatnonzero(self.demands.sensitive)

    @cached_property
    def readers(self) -> list[tuple[dict[int, tuple[int, int]], Bounds]]:
        """Outsiders and insiders: the ranges that they know beside those of everybody, and what follows anyway."""
        everybody: list[dict[int, tuple[int, int]]] = [{} for _ in range(1 + len(self.known.names))]
        known = self.known
        for who, at, low, high in zip(known.attacker, known.position, known.low, known.high, strict=True):
            everybody[int(who) + 1][int(at)] = (int(low), int(high))
        widest = self.cells.lower, np.where(self.in_print, 0, self.cells.upper)
        return [(knows, known_to(self, knows, *widest)) for knows in everybody]


def stated(case: Case) -> Stated:
    from discreet.protect.suppression.primary import costs_of
    from discreet.protect.suppression.suppression import tabulations

    method = case.method
    tables = tabulations(case.tables, method.zeros == "suppressible")
    cells = lay_out(tables, method.response, method.least)
    cells = replace(cells, lower=known_least(cells, method.zeros == "published"))
    # No level asks for what a reader rules out whatever is hidden.
    widest = bounds(replace(cells.equations, lower=cells.lower, upper=cells.upper), workers=1).lower
    found = [primary(t, method.rules, "any", method.response, method.risk, method.levels) for t in tables]
    demands, published, given = demands_of(replace(cells, lower=widest), found, method.wishes)
    cost = np.maximum(costs_of(cells, method.cost, method.response, given), 1)
    can = cells.listed & ~demands.sensitive & ~published & (cells.upper > cells.lower)
    if method.zeros == "published":
        can &= cells.values != 0
    known = knowledge_of(cells, method.insiders, method.attackers, method.response, demands.sensitive)
    in_print = cells.listed & (cells.values == 0) & (method.zeros == "published")
    return Stated(cells, demands, known, cost, np.flatnonzero(can), in_print)


def known_least(cells: Cells, zeros_published: bool) -> IntArray:
    """Return what everybody knows hidden values to be at least: 1 unit where each zero is in print."""
    shown_zero = cells.listed & (cells.values == 0)
    least: IntArray = np.where(cells.listed & ~shown_zero & zeros_published, np.maximum(cells.lower, 1), cells.lower)
    return least


def is_safe(s: Stated, hidden: BoolArray) -> bool:
    """Say whether the attacker's own problem leaves every sensitive cell its levels, over whole numbers."""
    cells, demands = s.cells, s.demands
    seen = cells.listed & ~hidden
    lower, upper = cells.lower.copy(), cells.upper.copy()
    lower[seen] = upper[seen] = cells.values[seen]
    for knows, anyway in s.readers:
        found = known_to(s, knows, lower, upper)
        # Of no cell must be kept from somebody what they know whatever is suppressed.
        for i in s.targets.tolist():
            value = int(cells.values[i])
            least, most = int(anyway.lower[i]), int(anyway.upper[i])
            down, up = value - int(demands.lower[i]), value + int(demands.upper[i])
            if found.lower[i] > max(down, least) or found.upper[i] < min(up, most):
                return False
            wide = int(demands.sliding[i])
            if not knows and wide and found.upper[i] - found.lower[i] < wide:
                return False
            if not knows and found.upper[i] == found.lower[i]:
                return False
    return True


def known_to(s: Stated, knows: dict[int, tuple[int, int]], lower: IntArray, upper: IntArray) -> Bounds:
    """Return the intervals of sensitive cells for somebody who knows the ranges of some beside those of everybody."""
    low, high = lower.copy(), upper.copy()
    for i, (least, most) in knows.items():
        low[i], high[i] = max(int(low[i]), least), min(int(high[i]), most)
    return bounds(replace(s.cells.equations, lower=low, upper=high), s.targets, workers=1)


def best(case: Case, s: Stated) -> tuple[int, BoolArray] | None:
    """Return the cheapest safe pattern and its cost; None where there is none."""
    if any(w.status == "publish" and s.demands.sensitive[s.cells.equations.find(w.cell)] for w in case.method.wishes):
        return None
    n = s.candidates.size
    if n > MOST:
        raise ValueError(n)
    subsets = np.array(list(itertools.product((False, True), repeat=n)), bool).reshape(2**n, n)
    total = subsets @ s.cost[s.candidates]
    equations = s.cells.equations
    fine = np.ones(2**n, bool)
    everywhere = s.demands.sensitive | ~s.cells.listed
    place = np.full(s.cells.values.size, -1)
    place[s.candidates] = np.arange(n)
    # No sum may have a single sensitive cell open: a first sieve, which every safe pattern passes.
    for e in range(equations.starts.size - 1):
        columns = equations.columns[equations.starts[e] : equations.starts[e + 1]]
        fixed = int(everywhere[columns].sum())
        if fixed == 1 and s.demands.sensitive[columns].any():
            mine = place[columns]
            fine &= subsets[:, mine[mine >= 0]].any(axis=1)
    base = int(s.cost[s.demands.sensitive & s.cells.listed].sum())
    order = np.flatnonzero(fine)
    order = order[np.argsort(total[order], kind="stable")]
    full = np.zeros(s.cells.values.size, bool)
    full[s.candidates] = True
    if not is_safe(s, full | s.demands.sensitive):
        return None
    for k in order.tolist():
        hidden = s.demands.sensitive.copy()
        hidden[s.candidates[subsets[k]]] = True
        if is_safe(s, hidden):
            return base + int(total[k]), hidden
    raise InfeasibleError("all cells together are safe, but no pattern is")
