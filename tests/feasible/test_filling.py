"""Tables that are filled greedily attain the bounds that a search finds, and show nothing they do not attain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.feasible.random_releases import release

from discreet.core.clock import Clock
from discreet.core.numerics import IntArray
from discreet.feasible.any_shape import solve_group
from discreet.feasible.contradiction import reduced
from discreet.feasible.filling import AT_FIRST, _Cells, filled
from discreet.feasible.reduction import Group
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures


def groups(equations: Equations) -> list[Group]:
    return [group for group in reduced(equations).groups if not group.is_tree and not group.mixed]


def compare(group: Group) -> bool:
    """Say whether a group is filled; its bounds are then those of a search."""
    wanted = np.ones(group.variables.size, np.int64)
    found = filled(group, wanted, Clock())
    if found is None:
        return False
    slow = solve_group(group, wanted)
    assert slow.settled.all()
    assert found.bound.tolist() == slow.bound.tolist()
    assert found.seen.tolist() == found.bound.tolist()
    return True


def test_random_releases_have_the_bounds_of_a_search() -> None:
    done = sum(compare(group) for seed in range(400) for group in groups(equations_of(release(seed)[0])))
    assert done > 20


def crossed(counts: np.ndarray, hidden: bool = True) -> list[Figures]:
    """Return all two-way tables of a table, with nothing but their totals shown."""
    tables = []
    for i, j in itertools.combinations(range(counts.ndim), 2):
        both = counts.sum(axis=tuple(k for k in range(counts.ndim) if k not in (i, j)))
        figures = [[None if hidden else int(x) for x in row] + [int(row.sum())] for row in both]
        figures.append([*map(int, both.sum(axis=0)), int(both.sum())])
        labels = {"abcd"[d]: [*map(str, range(counts.shape[d])), "Total"] for d in (i, j)}
        tables.append(Figures.from_array(figures, labels))
    return tables


def test_most_tables_of_which_only_totals_are_shown_are_filled() -> None:
    rng, done, total = np.random.default_rng(1), 0, 0
    for _ in range(40):
        for group in groups(equations_of(crossed(rng.poisson(1.5, rng.integers(2, 4, 3)) + 1))):
            total += 1
            done += compare(group)
    assert total == 40
    assert done >= 30


def test_what_greed_does_not_suit_is_left_to_a_search() -> None:
    counts = np.random.default_rng(2).poisson(3, (3, 3, 3))
    names = {name: ["1", "2", "3"] for name in "abc"}
    equations = equations_of(crossed(counts, hidden=False), about=list(names))
    found = [filled(group, np.ones(group.variables.size, np.int64), Clock()) for group in groups(equations)]
    assert None in found


def test_few_tables_are_tried_where_none_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the two-way margins of a cube greed leads nowhere, and each try looks at all cells."""
    inner = np.random.default_rng(1).poisson(3, (5, 5, 5))
    figures = np.pad(inner, ((0, 1),) * 3)
    for axis in range(3):
        last = tuple(slice(None) if k != axis else -1 for k in range(3))
        figures[last] = figures.sum(axis=axis)
    shown = figures.astype(object)
    shown[:5, :5, :5] = None
    labels = [*map(str, range(5)), "Total"]
    published = Figures.from_array(shown.tolist(), dict.fromkeys("abc", labels))
    (group,) = groups(equations_of(published))
    tries = []

    def table(self: _Cells, order: IntArray) -> IntArray | None:
        tries.append(order)
        return made(self, order)

    made = _Cells.table
    monkeypatch.setattr(_Cells, "table", table)
    assert filled(group, np.ones(group.variables.size, np.int64), Clock()) is None
    assert len(tries) == AT_FIRST + 1
