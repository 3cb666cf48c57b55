"""Group disclosure over several releases: lines of which a reader knows that one cell holds all their people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import IntArray
from discreet.table.equations import Equations


@dataclass(frozen=True)
class Line:
    """A sum, the cell that holds all of it but at most a few people, and the other cells of the line."""

    whole: int
    cell: int
    others: tuple[int, ...]


def full_lines(equations: Equations, lower: IntArray, upper: IntArray, coalition: int) -> list[Line]:
    """Return the lines that surely have somebody, and surely all but at most ``coalition`` people in one cell.

    Args:
        equations: what is published.
        lower: the least that every position can be.
        upper: the most that it can be.
        coalition: how many people may be in other cells.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> shown = Figures.from_array([[0, 7], [1, 5]], {"area": ["n", "s"], "ill": ["no", "yes"]})
    >>> both = equations_of(shown)
    >>> [(both.describe(one.whole), both.describe(one.cell)) for one in full_lines(both, both.lower, both.upper, 0)]
    [('ill=no', 'area=s, ill=no'), ('area=n', 'area=n, ill=yes')]
    """
    first = equations.starts[:-1]
    if not first.size:
        return []
    sizes = np.diff(equations.starts)
    row = np.repeat(np.arange(first.size), sizes)
    child = np.ones(row.size, bool)
    child[first] = False
    # A cell with more than a few people is not among the others, however many they are.
    most = np.where(child, np.minimum(upper[equations.columns], coalition + 1), 0)
    others = np.add.reduceat(most, first)[row] - most
    # With one category only, the line says nothing that the cell does not say.
    full = child & (sizes[row] > 2) & (others <= coalition) & (lower[equations.columns] > 0)
    found: dict[tuple[int, int], Line] = {}
    for k in np.flatnonzero(full).tolist():
        start, end = int(first[row[k]]), int(equations.starts[row[k] + 1])
        whole, cell = int(equations.columns[start]), int(equations.columns[k])
        rest = tuple(int(c) for c in equations.columns[start + 1 : end] if c != cell)
        found[whole, cell] = Line(whole, cell, rest)
    return [found[key] for key in sorted(found)]
