"""(3.6) of antal2014 and the variant behind its printed R2, against all assignments that Theorem 4 averages over."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from discreet.measures.entropy import conditional_entropy, entropy
from discreet.studies.antal2014 import printed_excess

Counts = tuple[int, ...]
Joint = dict[tuple[int, int], Fraction]


def joint_law(F: Counts, G: Counts) -> Joint:
    """Pr(X = i, Y = j) by Theorem 4's construction: M copies of the people of F, N copies of those of G.

    Every assignment of copies to published cells that leaves as many as possible in place is equally likely.
    """
    N, M = sum(F), sum(G)
    X = [cell for cell, count in enumerate(F) for _ in range(M * count)]
    places = [cell for cell, count in enumerate(G) for _ in range(N * count)]
    assignments = set(permutations(places))
    stay = {Y: sum(x == y for x, y in zip(X, Y, strict=True)) for Y in assignments}
    kept = [Y for Y in assignments if stay[Y] == max(stay.values())]
    pairs = Counter(pair for Y in kept for pair in zip(X, Y, strict=True))
    return {pair: Fraction(count, len(kept) * N * M) for pair, count in pairs.items()}


def conditional(joint: Joint, below: dict[int, Fraction]) -> float:
    """−Σ Pr(i, j) log(Pr(i, j)/below j); H(X|Y) where below is Pr(Y = j)."""
    return -sum(float(chance) * math.log(chance / below[j]) for (_, j), chance in joint.items())


def small() -> list[tuple[Counts, Counts]]:
    sizes = [(1, 1), (1, 4), (2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (7, 1)]
    return [
        (F, G)
        for N, M in sizes
        for F in product(range(N + 1), repeat=3)
        if sum(F) == N and list(F) == sorted(F, reverse=True)
        for G in product(range(M + 1), repeat=3)
        if sum(G) == M
    ]


def test_3_6_is_the_conditional_entropy_of_theorem_4_and_the_variant_is_not() -> None:
    apart = above = 0
    for F, G in small():
        joint = joint_law(F, G)
        column = {j: sum((c for (_, y), c in joint.items() if y == j), Fraction(0)) for j in range(3)}
        # What conditions on Y = j is the published share, which is the denominator of (3.6).
        assert column == {j: Fraction(G[j], sum(G)) for j in range(3)}
        H = float(conditional_entropy(np.array(F), np.array(G))[0])
        assert pytest.approx(conditional(joint, column), abs=1e-12) == H, (F, G)
        variant = H + float(printed_excess(np.array(F), np.array([G]))[0])
        # The variant puts the largest share below the copies that moved, whatever cell they moved to.
        moved = {pair: chance for pair, chance in joint.items() if pair[0] != pair[1]}
        stayed = {pair: chance for pair, chance in joint.items() if pair[0] == pair[1]}
        largest = dict.fromkeys(range(3), max(column.values()))
        assert variant == pytest.approx(conditional(stayed, column) + conditional(moved, largest), abs=1e-12)
        gaining = {j for _, j in moved}
        assert math.isclose(variant, H, abs_tol=1e-12) == all(column[j] == largest[j] for j in gaining), (F, G)
        apart += not math.isclose(variant, H, abs_tol=1e-12)
        assert float(entropy(np.array(F))[0]) + 1e-12 >= H
        above += variant > float(entropy(np.array(F))[0]) + 1e-9
    assert apart > 20
    assert above > 0


def test_the_variant_exceeds_the_entropy_that_it_is_a_part_of() -> None:
    F, G = np.array([2, 1, 0]), np.array([0, 6, 3])
    H = float(conditional_entropy(F, G)[0])
    assert round(float(entropy(F)[0]), 4) == 0.6365
    assert round(H, 4) == 0.4621
    assert round(H + float(printed_excess(F, G[None])[0]), 4) == 0.6931
