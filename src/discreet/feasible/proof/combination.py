"""Sums of equations, and what ranges leave of them: all that proofs of bounds consist of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.core.numerics import FloatArray, as_fractions
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

Range: TypeAlias = tuple[int, int]


def combine(equations: Equations, position: int, multipliers: dict[int, Fraction]) -> dict[int, Fraction]:
    """Return the multiples g of all positions that sum to a position's value once equations are taken off."""
    g: dict[int, Fraction] = {position: Fraction(1)}
    for e, y in multipliers.items():
        for k in range(int(equations.starts[e]), int(equations.starts[e + 1])):
            column = int(equations.columns[k])
            g[column] = g.get(column, Fraction(0)) - y * int(equations.signs[k])
    return {column: value for column, value in g.items() if value}


def evaluate(
    equations: Equations, terms: dict[int, Fraction], upper: bool, narrowed: Mapping[int, Range] | None = None
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


def take_out(
    equations: Equations, equation: int, variable: int, multipliers: dict[int, Fraction], terms: dict[int, Fraction]
) -> None:
    """Replace a determined value by the equation that it follows from."""
    begin, end = int(equations.starts[equation]), int(equations.starts[equation + 1])
    columns, signs = equations.columns[begin:end].tolist(), equations.signs[begin:end].tolist()
    y = terms[variable] / signs[columns.index(variable)]
    multipliers[equation] = multipliers.get(equation, Fraction(0)) + y
    for column, sign in zip(columns, signs, strict=True):
        value = terms.get(column, Fraction(0)) - y * sign
        if value:
            terms[column] = value
        else:
            terms.pop(column, None)


def expand(
    equations: Equations, derived: tuple[tuple[int, int], ...], position: int, multipliers: dict[int, Fraction]
) -> dict[int, Fraction]:
    """Replace values that were put into equations by the equations that they follow from; return the terms left."""
    terms = combine(equations, position, multipliers)
    for variable, equation in reversed(derived):
        if variable in terms:
            take_out(equations, equation, variable, multipliers, terms)
    return combine(equations, position, multipliers)


def fractions(y: FloatArray) -> list[Fraction]:
    """Return multipliers as fractions with a small common denominator, if there is one."""
    small = as_fractions(np.asarray(y))
    if small is None:
        return [Fraction(float(value)).limit_denominator(1000) for value in y]
    return [Fraction(int(value), small[1]) for value in small[0]]
