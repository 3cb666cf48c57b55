"""Bounds, counts, laws and proofs against every table that fits, listed one by one."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests.feasible.oracle import World, world
from tests.feasible.random_releases import release
from tests.lengths import seeds

from discreet.auditing.laws import by_interval, by_method, by_tables
from discreet.feasible.bounds import bounds
from discreet.feasible.proof.bound_proof import Proof, prove
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind, Random

MOST = 200_000


def all_tables(place: World) -> np.ndarray | None:
    found = np.array(list(itertools.islice(place.tables(60), MOST)))
    return None if len(found) == MOST else found


def listed(seed: int) -> tuple[list[Figures], Equations, np.ndarray, World, dict[str, Hierarchy]] | None:
    """Return a release, its equations and all tables that fit; None where these are too many."""
    parts, names = release(seed)
    place, trees = world(parts)
    tables = all_tables(place)
    return None if tables is None else (parts, equations_of(parts, about=names), tables, place, trees)


def by_arithmetic(equations: Equations, proof: Proof) -> bool:
    """Check a proof with nothing but sums: its terms add up to the cell in any table, and its ranges to the bound."""
    row = [Fraction(0)] * equations.lower.size
    row[proof.position] += 1
    for e, y in proof.multipliers:
        for k in range(equations.starts[e], equations.starts[e + 1]):
            row[equations.columns[k]] -= y * int(equations.signs[k])
    assert {i: g for i, g in enumerate(row) if g} == dict(proof.terms)
    ends = [(equations.upper if (g > 0) == proof.upper else equations.lower)[i] for i, g in proof.terms]
    value = sum((g * int(end) for (_, g), end in zip(proof.terms, ends, strict=True)), Fraction(0))
    assert value == proof.combined
    rounded = math.floor(value) if proof.upper else math.ceil(value)
    inside = rounded >= proof.bound if proof.upper else rounded <= proof.bound
    return inside and (proof.searched or rounded == proof.bound)


def compare(seed: int, proofs: bool) -> int:
    if (all_ := listed(seed)) is None:
        return 0
    parts, equations, tables, place, trees = all_
    found = bounds(equations)
    for i in range(equations.lower.size):
        values = tables[:, place.members(equations.cell(i), trees)].sum(axis=1)
        assert (found.lower[i], found.upper[i]) == (values.min(), values.max()), (seed, equations.cell(i))
        assert found.relaxed_lower[i] <= values.min() + 1e-6
        assert found.relaxed_upper[i] >= values.max() - 1e-6
        if proofs:
            for upper in (False, True):
                proof = prove(found, i, upper=upper)
                assert proof is not None
                assert by_arithmetic(equations, proof), (seed, equations.cell(i), proof)
    every = np.arange(equations.lower.size)
    assert by_interval(found, every).bits == pytest.approx(np.log2(found.upper - found.lower + 1.0))
    judged = by_tables(found, every)
    assert judged.tables == len(tables), seed
    weights = np.ones(len(tables))
    for part in parts:
        for row in range(len(part)):
            kind = part.kinds[int(part.kind[row])]
            if isinstance(kind, Random):
                cell = {n: part.labels[n][int(c)] for n, c in zip(part.names, part.codes[row], strict=True)}
                sums = tables[:, place.members(cell, trees)].sum(axis=1)
                weights *= 1 - np.abs(sums - int(part.values[row])) / kind.base
    weighted = by_method(found, every) if len(parts) == 1 else None
    for i in range(equations.lower.size):
        values = tables[:, place.members(equations.cell(i), trees)].sum(axis=1)
        shares = np.array(list(Counter(values.tolist()).values())) / len(tables)
        assert judged.bits[i] == pytest.approx(-(shares * np.log2(shares)).sum(), abs=1e-9), (seed, equations.cell(i))
        if weighted is not None and weights.sum() > 0:
            p = np.bincount(values, weights=weights) / weights.sum()
            p = p[p > 0]
            left = -(p * np.log2(p)).sum()
            assert weighted.bound is not None
            if weighted.bound[i]:
                assert np.isnan(weighted.bits[i]) or weighted.bits[i] <= left + 1e-9, (seed, equations.cell(i))
            elif (known := all(kind.stated for part in parts for kind in _used(part))) or not np.isnan(
                weighted.bits[i]
            ):
                # Nothing is claimed where a method decides on all cells together, or where cells were hidden by choice.
                assert weighted.bits[i] == pytest.approx(left, abs=1e-9), (seed, known, equations.cell(i))
    return 1


def _used(part: Figures) -> list[Kind]:
    return [kind for i, kind in enumerate(part.kinds) if (part.kind == i).any()]


@seeds(1, 4, "block")
def test_everything_equals_the_list_of_all_tables(block: int) -> None:
    done = sum(compare(seed, proofs=seed % 3 == 0) for seed in range(100 * block, 100 * block + 100))
    assert done >= 80


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_thousands_of_releases(block: int) -> None:
    done = sum(compare(seed, proofs=True) for seed in range(1000 + 500 * block, 1500 + 500 * block))
    assert done >= 400


def test_whole_numbers_can_leave_less_than_real_ones() -> None:
    """At most 1 in every two of three cells leaves 1.5 in all of them, or 1 in whole numbers."""
    trees = tuple(
        Hierarchy.from_parents({pair[0]: f"{pair}", pair[1]: f"{pair}", f"{pair}": "Total", rest: "Total"})
        for pair, rest in (("ab", "c"), ("bc", "a"), ("ac", "b"))
    )
    shown = Figures.from_array(
        [0, 0, 0, None],
        {"place": ["ab", "bc", "ac", "Total"]},
        kind=Kind("perturbed", bound=1),
        hierarchies={"place": trees},
        absent="unpublished",
    )
    equations = equations_of(shown)
    found = bounds(equations)
    at = equations.find({"place": "Total"})
    assert (found.lower[at], found.upper[at]) == (0, 1)
    assert found.relaxed_upper[at] == pytest.approx(1.5)
    proof = prove(found, at, upper=True)
    assert proof is not None
    assert by_arithmetic(equations, proof)
    assert proof.combined == Fraction(3, 2)
    assert "integers leave 1" in proof.text(equations)


@pytest.mark.parametrize("block", range(4))
def test_bounds_over_real_numbers_are_finished_only_where_they_are_whole(block: int) -> None:
    """What is called finished must be what integers leave; the rest must contain it."""
    for seed in range(40 * block, 40 * (block + 1)):
        parts, names = release(seed)
        equations = equations_of(parts, about=names)
        whole, real = bounds(equations), bounds(equations, relaxed=True)
        sure = real.finished
        assert (whole.lower[sure] == real.lower[sure]).all()
        assert (whole.upper[sure] == real.upper[sure]).all()
        assert (real.lower <= whole.lower).all()
        assert (real.upper >= whole.upper).all()


def test_rounding_law_of_one_cell() -> None:
    shown = Figures.from_array([3], {"month": ["1"]}, kind=Kind("random", base=3))
    found = bounds(equations_of(shown))
    at = np.array([found.equations.find({"month": "1"})])
    p = np.array([1, 2, 3, 2, 1]) / 9
    assert (found.lower[at], found.upper[at]) == (1, 5)
    assert by_method(found, at).bits[0] == pytest.approx(-(p * np.log2(p)).sum())


def test_insiders_against_the_list_of_all_tables() -> None:
    """Who knows that a cell is at least their own part sees the tables in which it is."""
    done = 0
    for seed in range(120):
        parts, names = release(seed)
        place, trees = world(parts)
        tables = all_tables(place)
        if tables is None:
            continue
        equations = equations_of(parts, about=names)
        found = bounds(equations)
        open_ = np.flatnonzero(found.upper > found.lower)
        if not open_.size:
            continue
        own = int(open_[seed % open_.size])
        least = int(found.lower[own]) + 1
        inside = tables[tables[:, place.members(equations.cell(own), trees)].sum(axis=1) >= least]
        seen = bounds(equations.with_ranges({own: (least, 2**59)}))
        for i in range(equations.lower.size):
            values = inside[:, place.members(equations.cell(i), trees)].sum(axis=1)
            assert (seen.lower[i], seen.upper[i]) == (values.min(), values.max()), (seed, equations.cell(i))
        done += 1
    assert done >= 40
