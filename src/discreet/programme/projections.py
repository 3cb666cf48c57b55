"""Parts of a tabulation as tabulations of their own: some dimensions, cut at levels, of the people of one category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

import numpy as np

from discreet.core.numerics import BoolArray, IntArray
from discreet.table.axis import Axis
from discreet.table.grid import Grid, recode
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation
from discreet.table.units import Level, Respondents

Margins = tuple[tuple[str, ...], ...]


def cut_tree(tree: Hierarchy, depth: int) -> Hierarchy:
    """Return the levels of a hierarchy down to a depth.

    >>> cut_tree(Hierarchy.from_parents({"n1": "n", "n2": "n", "s": "Total"}), 1).codes
    ('Total', 'n', 's')
    """
    return tree.among(code for code, level in zip(tree.codes, tree.levels, strict=True) if level <= depth)


def cut_axis(axis: Axis, depth: int) -> Axis:
    """Return an axis with its levels down to a depth."""
    if all(tree.depth <= depth for tree in axis.hierarchies):
        return axis
    return Axis(axis.name, tuple(dict.fromkeys(cut_tree(tree, depth) for tree in axis.hierarchies)), axis.occurring)


def part_axis(name: str, code: str) -> Axis:
    """Return the axis of the people of one category, whose total is of these alone."""
    return Axis(name, (Hierarchy.flat([code], total=f"{name} = {code}").as_part(),))


def subsets(names: Sequence[str], always: Iterable[str] = ()) -> Margins:
    """Return all margins of a crossing, each with the dimensions that are always there."""
    some = chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))
    return tuple((*one, *always) for one in some)


def of_response(whole: Tabulation, response: str | None) -> Tabulation:
    """Return a tabulation of one of its responses, or of counts alone."""
    named = [one.name for one in whole.responses]
    kept = [] if response is None else [named.index(response)]

    def level(units: Level) -> Level:
        return replace(units, largest=tuple(units.largest[k] for k in kept))

    people = whole.respondents
    return replace(
        whole,
        responses=tuple(whole.responses[k] for k in kept),
        contributors=level(whole.contributors),
        holdings=None if whole.holdings is None else level(whole.holdings),
        respondents=None if people is None else replace(people, amounts=people.amounts[kept]),
    )


def projected(
    whole: Tabulation, axes: Sequence[Axis], margins: Margins, fixed: Mapping[str, str], *, together: bool = False
) -> tuple[Tabulation, IntArray]:
    """Return some dimensions of a tabulation, and the rows that its cells come from.

    Dimensions that are not among the axes are at their total, or at the category that is ``fixed``. Respondents are
    those of the finest margins, or with all dimensions crossed if they stay ``together``.
    """
    wanted = {axis.name: axis for axis in axes}
    kept, codes = np.ones(len(whole), bool), []
    for axis in whole.axes:
        code, new = whole.codes(axis.name), wanted.get(axis.name)
        if axis.name in fixed:
            kept &= code == axis.places.get(fixed[axis.name], -1)
            if new is not None:
                codes.append(np.full(len(whole), new.places[fixed[axis.name]]))
        elif new is None:
            kept &= code == 0
        else:
            codes.append(_recoded(axis, new)[code])
            kept &= codes[-1] >= 0
    ordered = [wanted[axis.name] for axis in whole.axes if axis.name in wanted]
    kept &= _among(ordered, codes, margins)
    rows = np.flatnonzero(kept)
    cells = Grid(tuple(len(axis) for axis in ordered)).encode([code[rows] for code in codes])
    order = np.argsort(cells)
    rows, cells = rows[order], cells[order]
    names = tuple(tuple(axis.name for axis in ordered if axis.name in margin) for margin in margins)
    people = _people(whole, ordered, (tuple(axis.name for axis in ordered),) if together else names, fixed)
    about = {"axes": tuple(ordered), "margins": names, "respondents": people}
    return whole.with_columns(lambda column: column[rows], cells=cells, **about), rows


def _recoded(axis: Axis, new: Axis) -> IntArray:
    """Return where the codes of an axis are in another one of the same dimension, -1 where they are not.

    The totals are the same under any name, unless the other's is of a part and one of the groups here.
    """
    same = axis.total if new.total in axis.places else new.total
    return recode([same if code == axis.total else code for code in axis.codes], new.codes)


def _among(axes: Sequence[Axis], codes: Sequence[IntArray], margins: Margins) -> BoolArray:
    """Say which cells are of one of the margins."""
    which = np.zeros(codes[0].size if codes else 0, np.int64)
    for bit, code in enumerate(codes):
        which |= (code > 0).astype(np.int64) << bit
    allowed = [sum(1 << bit for bit, axis in enumerate(axes) if axis.name in margin) for margin in margins]
    found: BoolArray = np.isin(which, allowed)
    return found


def _people(whole: Tabulation, axes: Sequence[Axis], margins: Margins, fixed: Mapping[str, str]) -> Respondents | None:
    """Return who contributed what to the finest cells of some margins; those of the whole are crossed by everything."""
    people = whole.respondents
    if people is None:
        return None

    def code(name: str) -> IntArray:
        return whole.places_of_respondents[whole.names.index(name)][0]

    def leaves(axis: Axis) -> IntArray:
        there = code(axis.name)[inside] if fixed else code(axis.name)
        place, occurs = (
            _leaves(whole.axis(axis.name), axis),
            whole.places_of_respondents[whole.names.index(axis.name)][1],
        )
        return there if np.array_equal(place[occurs], np.flatnonzero(occurs)) else place[there]

    some, inside = people, np.ones(people.cell.size, bool)
    for name, category in fixed.items():
        inside &= _inside(whole.axis(name), category)[code(name)]
    if fixed:
        some = Respondents(
            people.names, people.unit[inside], people.cell[inside], people.records[inside], people.amounts[:, inside]
        )
    new = [
        np.full(some.cell.size, axis.places[fixed[axis.name]]) if axis.name in fixed else leaves(axis) for axis in axes
    ]
    grid = Grid(tuple(len(axis) for axis in axes))
    parts = [
        some.moved(
            grid.encode([x if axis.name in margin else np.zeros_like(x) for x, axis in zip(new, axes, strict=True)])
        )
        for margin in margins
        if not any(set(margin) < set(other) for other in margins)
    ]
    if len(parts) == 1:
        return parts[0]
    joined = Respondents(
        people.names,
        np.concatenate([part.unit for part in parts]),
        np.concatenate([part.cell for part in parts]),
        np.concatenate([part.records for part in parts]),
        np.concatenate([part.amounts for part in parts], axis=1),
    )
    return joined.moved(joined.cell)


def _inside(axis: Axis, code: str) -> BoolArray:
    """Say which codes of an axis are leaves under one of them."""
    found = np.zeros(len(axis), bool)
    if code in axis.places:
        found[sorted(axis.under[axis.places[code]])] = True
    return found


def _leaves(axis: Axis, new: Axis) -> IntArray:
    """Return for every leaf of an axis the finest category of a cut axis that contains it."""
    leaves = set(new.leaves)
    found = np.full(len(axis), -1)
    for leaf in axis.leaf_codes.tolist():
        above = [axis.codes[node] for node in axis.over[leaf] if axis.codes[node] in leaves]
        found[leaf] = new.places[above[0]] if above else -1
    return found
