"""Tables by random exchanges tell the values apart that a search finds to be open, and no others."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from tests.feasible.random_releases import release
from tests.lengths import few_or_long

from discreet.core.clock import Clock
from discreet.core.sparse import Rows
from discreet.decide.ledger import Ledger, LedgerCheck
from discreet.feasible import any_shape, telling_apart
from discreet.feasible.any_shape import solve_group
from discreet.feasible.contradiction import reduced
from discreet.feasible.group_program import GroupProgram
from discreet.feasible.reduction import Found, Group
from discreet.feasible.telling_apart import fold, told_apart
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell values apart in groups of any size, with less patience: they are small."""
    monkeypatch.setattr(any_shape, "CROWDED", 0)
    monkeypatch.setattr(telling_apart, "TURNS", 40)
    monkeypatch.setattr(telling_apart, "FAILURES", 1)


def groups(seed: int) -> list[Group]:
    left = reduced(equations_of(release(seed)[0]))
    return [group for group in left.groups if not group.is_tree and not group.mixed]


def some(group: Group, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(group.variables.size) < 0.7).astype(np.int64)


@pytest.mark.usefixtures("small")
def test_what_has_one_value_is_what_a_search_finds() -> None:
    told, exact = 0, 0
    for seed in range(30):
        for group in groups(seed):
            wanted = some(group, seed)
            mine = wanted > 0
            slow = solve_group(group, wanted)
            only = slow.bound[0] == slow.bound[1]
            quick = told_apart(group, wanted, Clock())
            if quick is not None:
                shown = mine & (quick.settled > 0).all(axis=0)
                assert not (shown & only).any()
                assert (quick.seen[0] >= slow.bound[0])[shown].all()
                assert (quick.seen[1] <= slow.bound[1])[shown].all()
                told += int(shown.sum())
            found = solve_group(group, wanted, apart=np.inf)
            assert found.settled[:, mine].all()
            assert (found.bound[0] == found.bound[1])[mine].tolist() == only[mine].tolist()
            assert (found.bound[0] <= slow.bound[0])[mine].all()
            assert (found.bound[1] >= slow.bound[1])[mine].all()
            exact += int(only[mine].sum())
    assert told > 50
    assert exact > 2


@few_or_long("seeds", range(50), range(150))
def test_sums_that_are_put_in_are_what_their_parts_leave_them_to_be(seeds: range) -> None:
    shorter = 0
    for seed in seeds:
        for group in groups(seed):
            wanted = some(group, seed)
            folded = fold(group, wanted)
            assert np.isin(np.flatnonzero(wanted), folded.kept).all()
            program = GroupProgram(group, whole=True)
            point = program.extreme(None, True)
            assert point is not None
            table = np.rint(point).astype(np.int64)
            assert folded.outer(table[folded.kept]).tolist() == table.tolist()
            assert folded.group.fits(table[folded.kept])
            shorter += group.variables.size - folded.kept.size
    assert shorter > len(seeds) / 3


def in_small_sums(group: Group, found: Found, top: int) -> set[int]:
    """Return what is in a smallest sum below ``top`` that follows, by trying every union of open unknowns."""
    exact = found.bound[0] == found.bound[1]
    rows, open_ = group.dense()[:, ~exact], np.flatnonzero(~exact)
    rank = np.linalg.matrix_rank(rows)
    table = np.rint(GroupProgram(group, whole=True).extreme(None, True)).astype(np.int64)  # type: ignore[arg-type]
    inside: set[int] = set()
    for size in range(1, open_.size + 1):
        for units in itertools.combinations(range(open_.size), size):
            line = np.isin(np.arange(open_.size), units).astype(int)
            held = open_[list(units)]
            if table[held].sum() < top and np.linalg.matrix_rank(np.vstack([rows, line])) == rank:
                inside |= set(held.tolist())
    return inside


def unions(draw: np.random.Generator) -> Group:
    """Return what is shown of random unions of a few units, and no more than that."""
    matrix = (draw.random((4, 7)) < 0.45).astype(np.int64)
    matrix = matrix[matrix.sum(axis=1) > 1][:, matrix[matrix.sum(axis=1) > 1].any(axis=0)]
    row, column = np.nonzero(matrix)
    rows = Rows.gathered(row, column, matrix[row, column], (len(matrix), matrix.shape[1]))
    rhs = matrix @ draw.integers(0, 4, matrix.shape[1])
    none = np.zeros(matrix.shape[1], np.int64)
    most = np.where(matrix > 0, rhs[:, None], UNBOUNDED).min(axis=0)
    every = np.arange(none.size), np.arange(rhs.size)
    return Group(
        *every, rows.starts, rows.columns, rows.values.astype(np.int64), rhs, none, none + UNBOUNDED, none, most
    )


@pytest.mark.usefixtures("small")
def test_nothing_in_a_small_sum_is_left_as_wide_as_before() -> None:
    draw, narrower = np.random.default_rng(1), 0
    for _ in range(40):
        group = unions(draw)
        wanted = np.ones(group.variables.size, np.int64)
        slow = solve_group(group, wanted)
        for top in (2, 4):
            found = solve_group(group, wanted, apart=top)
            held = sorted(in_small_sums(group, slow, top))
            assert (found.bound[1, held] < top).all()
            narrower += int((group.most[held] >= top).sum())
    assert narrower > 5


def findings(result: LedgerCheck) -> list[tuple[str, float, float, str, bool]]:
    return sorted((f.name, f.lower, f.upper, f.cause, f.sensitive) for f in result.findings)


@pytest.mark.parametrize("seed", range(6))
def test_a_ledger_finds_the_same_by_tables_as_by_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    counts = draw.poisson(0.4 + 0.4 * (seed % 3), (2,) * 4)
    ledger, new = Ledger(tmp_path / "ledger.sqlite"), None
    for number, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        both = counts.sum(axis=tuple(k for k in range(4) if k not in (i, j)))
        shown = [[None if draw.random() < 0.2 else int(value) for value in row] for row in both]
        labels = {"abcd"[d]: [f"{'abcd'[d]}{k}" for k in range(2)] for d in (i, j)}
        new = Release.of(Figures.from_array(shown, labels))
        if number < 5:
            ledger.add(new, title=f"table {number}")
    assert new is not None
    slow = ledger.check(new, threshold=5)
    monkeypatch.setattr(any_shape, "CROWDED", 0)
    monkeypatch.setattr(telling_apart, "TURNS", 40)
    fast = ledger.check(new, threshold=5)
    assert (fast.verdict, findings(fast)) == (slow.verdict, findings(slow))
