"""Bayes' rule (2.3) by enumeration: every population table, whole numbers only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import comb, factorial, prod

Counts = tuple[int, ...]


def tables(cells: int, people: int) -> Iterator[Counts]:
    """Every way to place people on cells."""
    if cells == 1:
        yield (people,)
        return
    for first in range(people + 1):
        for rest in tables(cells - 1, people - first):
            yield (first, *rest)


@cache
def all_tables(cells: int, people: int) -> tuple[Counts, ...]:
    return tuple(tables(cells, people))


def rising(a: Fraction, times: int) -> Fraction:
    return prod((a + i for i in range(times)), start=Fraction(1))


def dirichlet_multinomial(alpha: list[Fraction]) -> Callable[[Counts], Fraction]:
    """Prior weight of a table; α = 1 everywhere makes it the same for all."""
    return lambda table: prod(
        (rising(a, f) / factorial(f) for a, f in zip(alpha, table, strict=True)), start=Fraction(1)
    )


def multinomial(shares: list[Fraction]) -> Callable[[Counts], Fraction]:
    return lambda table: prod((p**f / factorial(f) for p, f in zip(shares, table, strict=True)), start=Fraction(1))


def mixture(
    base: Callable[[Counts], Fraction],
    event: Callable[[Counts], bool],
    gamma: Fraction,
    cells: int,
    people: int,
) -> Callable[[Counts], Fraction] | None:
    """Weight γ on the event, 1 − γ on its complement; None when one of them is empty but carries weight."""
    every = all_tables(cells, people)
    inside = sum((base(table) for table in every if event(table)), Fraction(0))
    outside = sum((base(table) for table in every if not event(table)), Fraction(0))
    if (gamma > 0 and inside == 0) or (gamma < 1 and outside == 0):
        return None
    scale_in = gamma / inside if inside else Fraction(0)
    scale_out = (1 - gamma) / outside if outside else Fraction(0)
    return lambda table: base(table) * (scale_in if event(table) else scale_out)


def posterior(prior: dict[Counts, Fraction], sample: Counts) -> dict[Counts, Fraction] | None:
    """P(F | f) by Bayes' rule with the hypergeometric likelihood (2.1); None when the data are impossible."""
    joint = {
        table: weight * prod(comb(big, small) for big, small in zip(table, sample, strict=True))
        for table, weight in prior.items()
        if all(big >= small for big, small in zip(table, sample, strict=True))
    }
    total = sum(joint.values(), Fraction(0))
    if total == 0:
        return None
    return {table: weight / total for table, weight in joint.items() if weight}


def cell_law(law: dict[Counts, Fraction], cell: int, people: int) -> list[Fraction]:
    """P(F_cell = j | f) for every j."""
    result = [Fraction(0)] * (people + 1)
    for table, weight in law.items():
        result[table[cell]] += weight
    return result


def tau_law(law: dict[Counts, Fraction], sample: Counts) -> list[Fraction]:
    """P(τ = u | f) for every u."""
    unique = [i for i, f in enumerate(sample) if f == 1]
    result = [Fraction(0)] * (len(unique) + 1)
    for table, weight in law.items():
        result[sum(table[i] == 1 for i in unique)] += weight
    return result
