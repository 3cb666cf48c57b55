"""Proofs that need whole numbers: every case is closed by sums alone, and the cases leave nothing out."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.feasible.bounds import bounds
from discreet.feasible.proof.bound_proof import Proof, check, prove
from discreet.feasible.proof.cases import Cases, Closed, conditions
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind


def closes(equations: Equations, proof: Proof, cases: Cases, low: list[int], high: list[int]) -> bool:
    """Go through all cases with lists of numbers, and add up."""
    if isinstance(cases, Closed):
        row = [Fraction(0)] * len(low)
        row[proof.position] += 1
        for e, y in cases.multipliers:
            for k in range(equations.starts[e], equations.starts[e + 1]):
                row[equations.columns[k]] -= y * int(equations.signs[k])
        value = sum((g * (high[i] if (g > 0) == proof.upper else low[i]) for i, g in enumerate(row) if g), Fraction(0))
        return math.floor(value) <= proof.bound if proof.upper else math.ceil(value) >= proof.bound
    i = cases.position
    smaller, larger = [*high], [*low]
    smaller[i], larger[i] = cases.value, cases.value + 1
    below, above = (
        closes(equations, proof, cases.below, low, smaller),
        closes(equations, proof, cases.above, larger, high),
    )
    return below and above


def triangles(count: int) -> Equations:
    """At most 1 in every two of three cells, several times: 1.5 each over real numbers, 1 each over whole ones."""
    names = [chr(ord("a") + i) for i in range(3 * count)]
    trees = []
    for first, second in ((0, 1), (1, 2), (0, 2)):
        parents = dict.fromkeys(names, "Total")
        for t in range(count):
            pair = names[3 * t + first] + names[3 * t + second]
            parents |= {names[3 * t + first]: pair, names[3 * t + second]: pair, pair: "Total"}
        trees.append(Hierarchy.from_parents(parents))
    pairs = [code for tree in trees for code in tree.codes if len(code) == 2]
    shown = Figures.from_array(
        [*[0] * len(pairs), None],
        {"place": [*pairs, "Total"]},
        kind=Kind("perturbed", bound=1),
        hierarchies={"place": tuple(trees)},
        absent="unpublished",
    )
    return equations_of(shown)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_cases_close_what_one_combination_leaves_open(count: int) -> None:
    equations = triangles(count)
    found = bounds(equations)
    at = equations.find({"place": "Total"})
    assert (found.lower[at], found.upper[at]) == (0, count)
    assert found.relaxed_upper[at] == pytest.approx(1.5 * count)
    proof = prove(found, at, upper=True)
    assert proof is not None
    assert proof.searched
    assert proof.combined == Fraction(3 * count, 2)
    assert proof.cases is not None
    assert closes(equations, proof, proof.cases, equations.lower.tolist(), equations.upper.tolist())
    assert check(equations, proof)
    assert "case" in proof.text(equations)
    assert len(conditions(proof.cases)) >= 2
    # One combination alone is not a proof.
    assert not check(equations, replace(proof, cases=Closed(proof.multipliers)))


def test_cases_that_are_too_many_are_not_listed() -> None:
    equations = triangles(8)
    found = bounds(equations)
    at = equations.find({"place": "Total"})
    assert found.upper[at] == 8
    proof = prove(found, at, upper=True)
    assert proof is not None
    assert proof.cases is None
    assert "by search" in proof.text(equations)
