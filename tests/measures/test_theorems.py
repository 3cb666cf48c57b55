"""Theorems 1 to 4 and (3.5), (3.6) of antal2014 against enumeration in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from tests.lengths import few_or_long

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.measures.entropy import conditional_entropy, entropy, expected_transition, transition_entropy

Counts = tuple[int, ...]
Matrix = list[list[Fraction]]


@cache
def tables(cells: int, total: int) -> list[Counts]:
    """Every table of so many cells with so many people."""
    return [t for t in product(range(total + 1), repeat=cells) if sum(t) == total]


def people(counts: Counts) -> list[int]:
    """The cell of each person."""
    return [cell for cell, count in enumerate(counts) for _ in range(count)]


def average_over_assignments(F: Counts, G: Counts, closest: bool) -> Matrix:
    """E(Z) by going through every Y in Ω_G (or Ω*_G) and counting people."""
    X = people(F)
    assignments = sorted(set(permutations(people(G))))
    if closest:
        stay = [sum(x == y for x, y in zip(X, Y, strict=True)) for Y in assignments]
        assignments = [Y for Y, kept in zip(assignments, stay, strict=True) if kept == max(stay)]
    moved = [[0] * len(F) for _ in F]
    for Y in assignments:
        for x, y in zip(X, Y, strict=True):
            moved[x][y] += 1
    return [
        [Fraction(moved[i][j], F[i] * len(assignments)) if F[i] else Fraction(0) for j in range(len(F))]
        for i in range(len(F))
    ]


def joint_tables(rows: Counts, columns: Counts) -> Iterator[list[list[int]]]:
    """Every matrix of non-negative integers with these row and column sums."""
    if not rows:
        if not any(columns):
            yield []
        return
    for first in product(*(range(min(rows[0], c) + 1) for c in columns)):
        if sum(first) == rows[0]:
            rest = tuple(c - f for c, f in zip(columns, first, strict=True))
            for below in joint_tables(rows[1:], rest):
                yield [list(first), *below]


def average_over_joint_tables(F: Counts, G: Counts) -> Matrix:
    """E(Z) for N ≠ M, over assignments of the N·M imaginary people, grouped by their joint table.

    A joint table n stands for Π Fᵢ!/Π nᵢⱼ! assignments; those that keep most people in place are Ω*.
    """
    N, M = sum(F), sum(G)
    rows, columns = tuple(M * f for f in F), tuple(N * g for g in G)
    best = sum(min(r, c) for r, c in zip(rows, columns, strict=True))
    off_rows = tuple(r - min(r, c) for r, c in zip(rows, columns, strict=True))
    off_columns = tuple(c - min(r, c) for r, c in zip(rows, columns, strict=True))
    weight_sum, moved = 0, [[0] * len(F) for _ in F]
    for off in joint_tables(off_rows, off_columns):
        joint = [
            [off[i][j] + (min(rows[i], columns[i]) if i == j else 0) for j in range(len(F))] for i in range(len(F))
        ]
        assert sum(joint[i][i] for i in range(len(F))) == best
        weight = math.prod(math.factorial(r) for r in rows)
        for row in joint:
            for n in row:
                weight //= math.factorial(n)
        weight_sum += weight
        for i, row in enumerate(joint):
            for j, n in enumerate(row):
                moved[i][j] += weight * n
    return [
        [Fraction(moved[i][j], rows[i] * weight_sum) if rows[i] else Fraction(0) for j in range(len(F))]
        for i in range(len(F))
    ]


def entropy_of_joint(F: Counts, Z: Matrix) -> float:
    """H(X|Y) from the joint law Pr(X=i, Y=j) = Fᵢ/N·Z_ij, by its definition."""
    N = sum(F)
    joint = [[Fraction(F[i], N) * Z[i][j] for j in range(len(F))] for i in range(len(F))]
    H = 0.0
    for j in range(len(F)):
        column = sum(joint[i][j] for i in range(len(F)))
        for i in range(len(F)):
            if joint[i][j]:
                H -= float(joint[i][j]) * math.log(joint[i][j] / column)
    return H


def check(F: Counts, G: Counts, Z: Matrix) -> None:
    computed = expected_transition(F, G)
    assert np.allclose(computed, [[float(z) for z in row] for row in Z], rtol=1e-12, atol=1e-15), (F, G)
    H = entropy_of_joint(F, Z)
    assert conditional_entropy(np.array(F), np.array(G))[0] == pytest.approx(H, abs=1e-12), (F, G)
    assert transition_entropy(F, computed) == pytest.approx(H, abs=1e-12), (F, G)


@pytest.mark.parametrize("cells", [2, 3, 4])
@pytest.mark.parametrize("total", [1, 2, 3, 4, 5])
def test_theorem_2_by_enumerating_every_assignment(cells: int, total: int) -> None:
    """Sorted originals suffice: relabelling cells relabels the matrix. Other orders are in the next test."""
    for F in tables(cells, total):
        if list(F) == sorted(F, reverse=True):
            for G in tables(cells, total):
                check(F, G, average_over_assignments(F, G, closest=True))


@pytest.mark.parametrize("cells", [2, 3])
def test_theorem_2_six_people_every_order(cells: int) -> None:
    for F in tables(cells, 6):
        for G in tables(cells, 6):
            if list(G) == sorted(G):
                check(F, G, average_over_assignments(F, G, closest=True))


@few_or_long("total", 5, 6)
def test_theorem_2_five_or_six_people_in_four_cells(total: int) -> None:
    """All tables of so many people in four cells, grouped by joint table, which the next test ties to people."""
    for F in tables(4, total):
        for G in tables(4, total):
            check(F, G, average_over_joint_tables(F, G))


def test_grouping_by_joint_table_counts_assignments() -> None:
    """For N = M the grouped average is the average over single assignments."""
    for F in tables(3, 3):
        for G in tables(3, 3):
            assert average_over_joint_tables(F, G) == average_over_assignments(F, G, closest=True)


@pytest.mark.parametrize("cells", [2, 3, 4])
@pytest.mark.parametrize(("N", "M"), [(N, M) for N in range(1, 7) for M in range(1, 7) if N != M])
def test_theorem_4_uneven_sums(cells: int, N: int, M: int) -> None:
    originals = [F for F in tables(cells, N) if list(F) == sorted(F, reverse=True)]
    for F in originals:
        for G in tables(cells, M):
            check(F, G, average_over_joint_tables(F, G))


@pytest.mark.parametrize("total", [1, 3, 4])
def test_theorem_1_uniform_choice(total: int) -> None:
    for F in tables(3, total):
        for G in tables(3, total):
            Z = average_over_assignments(F, G, closest=False)
            computed = expected_transition(F, G, "uniform")
            assert np.allclose(computed, [[float(z) for z in row] for row in Z], atol=1e-15)
            assert transition_entropy(F, computed) == pytest.approx(entropy(np.array(F))[0], abs=1e-12)


def test_theorem_3_uniform_choice_of_uneven_sums() -> None:
    Z = expected_transition([3, 0, 1], [1, 1, 0], "uniform")
    assert Z.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.0]]


def test_entropy_in_whole_numbers_of_any_size() -> None:
    """M·F against N·G passes 2⁶³ for billions of people; shares do not."""
    small, large = np.array([3, 1, 2]), np.array([3, 1, 2]) * 10**17
    G = np.array([2, 2, 2])
    assert conditional_entropy(large, G * 10**17) == pytest.approx(conditional_entropy(small, G), rel=1e-14)
    assert conditional_entropy(large, small)[0] == 0.0


def test_bad_requests() -> None:
    with pytest.raises(DataError, match="3 cells, the released table 2"):
        expected_transition([1, 1, 1], [1, 1])
    with pytest.raises(DataError, match="original"):
        expected_transition([0, 0], [1, 1])
    with pytest.raises(RequestError, match="'closest' or 'uniform'"):
        expected_transition([1, 1], [1, 1], "nearest")  # type: ignore[arg-type]
    with pytest.raises(LimitError, match="6,000"):
        expected_transition(np.ones(6000), np.ones(6000))
