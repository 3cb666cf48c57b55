"""Sums of equations, and what ranges leave of them: all that proofs of bounds consist of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.core.numerics import FloatArray, as_fractions
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

Range: TypeAlias = tuple[int, int]


def combine(equations: Equations, position: int, multipliers: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Return the multiples g of all positions that sum to a position's value once equations are taken off."""
    g: dict[int, Fraction] = {position: Fraction(1)}
    for e, y in multipliers.items():
        for k in range(int(equations.starts[e]), int(equations.starts[e + 1])):
            column = int(equations.columns[k])
            g[column] = g.get(column, Fraction(0)) - y * int(equations.signs[k])
    return {column: value for column, value in g.items() if value}


def evaluate(
    equations: Equations, terms: Mapping[int, Fraction], upper: bool, narrowed: Mapping[int, Range] | None = None
) -> Fraction | None:
    """Return the bound that the ranges of the terms leave, some of them narrowed; None where one of them has no end."""
    total = Fraction(0)
    for i, g in terms.items():
        low, high = (narrowed or {}).get(i, (int(equations.lower[i]), int(equations.upper[i])))
        end = high if (g > 0) == upper else low
        if abs(end) >= UNBOUNDED:
            return None
        total += g * end
    return total


def inwards(value: Fraction, upper: bool) -> int:
    """Return the nearest integer inside a bound."""
    return math.floor(value) if upper else math.ceil(value)


def expand(
    equations: Equations, derived: Iterable[tuple[int, int]], position: int, multipliers: Mapping[int, Fraction]
) -> dict[int, Fraction]:
    """Return the multipliers with determined values replaced by the equations that they follow from."""
    found, terms = dict(multipliers), combine(equations, position, multipliers)
    for variable, equation in reversed(tuple(derived)):
        if variable not in terms:
            continue
        begin, end = int(equations.starts[equation]), int(equations.starts[equation + 1])
        columns, signs = equations.columns[begin:end].tolist(), equations.signs[begin:end].tolist()
        y = terms[variable] / signs[columns.index(variable)]
        found[equation] = found.get(equation, Fraction(0)) + y
        for column, sign in zip(columns, signs, strict=True):
            terms[column] = terms.get(column, Fraction(0)) - y * sign
        terms = {column: value for column, value in terms.items() if value}
    return found


def nonzero(multiples: Mapping[int, Fraction]) -> tuple[tuple[int, Fraction], ...]:
    """Return multiples that are not 0, in the order of what they are of."""
    return tuple(sorted((i, value) for i, value in multiples.items() if value))


def fractions(y: FloatArray) -> list[Fraction]:
    """Return multipliers as fractions with a small common denominator, if there is one."""
    small = as_fractions(np.asarray(y))
    if small is None:
        return [Fraction(float(value)).limit_denominator(1000) for value in y]
    return [Fraction(int(value), small[1]) for value in small[0]]
