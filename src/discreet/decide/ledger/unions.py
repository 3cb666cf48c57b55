"""Unions of units in words: which labels along every dimension, and which published figure is the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.table.equations import Equations
from discreet.table.space import Space

SHOWN = 8
"""How many units are written out in a name."""


def describe(space: Space, units: Sequence[int]) -> tuple[str, dict[str, str]]:
    """Return the name of a union of positions, and its labels along every dimension.

    >>> from discreet.table.figures import Figures
    >>> from discreet.table.space import space_of
    >>> space = space_of([Figures.from_array([[1, 2]] * 3, {"area": ["s1", "s3", "s4"], "sex": ["m", "f"]})])
    >>> at = [space.position({"area": area, "sex": "m"}) for area in ("s3", "s4")]
    >>> describe(space, at)[0], describe(space, [*at, space.position({"area": "s1", "sex": "f"})])[0]
    ('area=s3 + s4, sex=m', '(area=s3, sex=m) + (area=s4, sex=m) + (area=s1, sex=f)')
    """
    sides = [np.unique(codes).tolist() for codes in space.grid.decode(np.array(units, np.int64))]
    if math.prod(len(side) for side in sides) != len(units):
        cells = [f"({space.describe(unit)})" for unit in units[:SHOWN]]
        more = [f"{len(units) - SHOWN} more"] if len(units) > SHOWN else []
        name = " + ".join([*cells, *more])
        return name, {"sum": name}
    labels = {}
    for axis, side in zip(space.axes, sides, strict=True):
        held = frozenset(side)
        same = next((node for node, under in enumerate(axis.under) if under == held), None)
        listed = [axis.nodes[node] for node in side]
        short = [*listed[:SHOWN], *([f"{len(listed) - SHOWN} more"] if len(listed) > SHOWN else [])]
        labels[axis.name] = axis.nodes[same] if same is not None and len(side) > 1 else " + ".join(short)
    parts = [f"{axis.name}={labels[axis.name]}" for axis in space.axes if labels[axis.name] != axis.nodes[0]]
    return ", ".join(parts) or "total", labels


def is_published(equations: Equations, units: Sequence[int]) -> bool:
    """Say whether a published figure is about just these units, given as indices of positions."""
    space = equations.space
    sides = [frozenset(codes.tolist()) for codes in space.grid.decode(equations.positions[list(units)])]
    if math.prod(len(side) for side in sides) != len(units):
        return False
    ways = []
    for axis, side in zip(space.axes, sides, strict=True):
        first = next(iter(side))
        above = (first,) if not first else axis.above(axis.nodes[first])
        ways.append([node for node in above if side == {node} or axis.under[node] == side])
    at = equations.locate(space.grid.cross(ways))
    return bool((equations.source[at[at >= 0]] >= 0).any())
