"""What respondents know figures to be at least, by single sums one after another."""

from __future__ import annotations

import numpy as np

from discreet import Figures
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.equations import Equations, equations_of
from discreet.table.floors import at_least


def slowly(equations: Equations, floor: IntArray, mine: dict[int, int], zero: BoolArray, among: BoolArray) -> IntArray:
    """Raise the bounds of one respondent on positions of interest, sum by sum, until nothing changes."""
    bound = floor.copy()
    for at, low in mine.items():
        bound[at] = max(bound[at], low)
    while True:
        before = bound.copy()
        for first, last in zip(equations.starts, equations.starts[1:], strict=False):
            whole, *parts = equations.columns[first:last].tolist()
            if among[whole]:
                bound[whole] = max(bound[whole], sum(int(bound[part]) for part in parts))
            others = [part for part in parts if not zero[part]]
            if len(others) == 1 and among[others[0]]:
                bound[others[0]] = max(bound[others[0]], bound[whole])
        if np.array_equal(before, bound):
            return bound


def test_bounds_of_many_respondents_are_those_of_each() -> None:
    raised = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shape = tuple(rng.integers(2, 4, 3))
        inner = rng.poisson(0.7, shape)
        labels = {name: [*map(str, range(size)), "Total"] for name, size in zip("abc", shape, strict=True)}
        truth = np.pad(inner, ((0, 1),) * 3)
        for axis in range(3):
            last = tuple(slice(None) if k != axis else -1 for k in range(3))
            truth[last] = truth.sum(axis=axis)
        shown = truth.astype(object)
        shown[truth > 0] = None
        equations = equations_of(Figures.from_array(shown.tolist(), labels))
        zero = equations.exact & (equations.lower == 0)
        floor = equations.floors(np.where(zero, 0, 1), zero)
        who = np.repeat(np.arange(3), 4)
        at = rng.choice(np.flatnonzero(~zero), who.size)
        low = rng.integers(0, 9, who.size)
        among = rng.random(floor.size) < 0.7 if seed % 2 else np.ones(floor.size, bool)
        found = at_least(equations, floor, who, at, low, zero, among if seed % 2 else None)
        for person in range(3):
            mine = who == person
            known: dict[int, int] = {}
            for i, least in zip(at[mine].tolist(), low[mine].tolist(), strict=True):
                known[i] = max(known.get(i, 0), least)
            expected = slowly(equations, floor, known, zero, among)[at[mine]]
            assert found[mine].tolist() == expected.tolist(), seed
            raised += int((expected > np.maximum(low, floor[at])[mine]).sum())
    assert raised > 50
