"""Tables around a point tell amounts apart that integer programs find to have several values, and no others."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from tests.feasible.oracle import published
from tests.feasible.random_releases import hierarchies, release
from tests.lengths import few_or_long

from discreet.core.clock import Clock
from discreet.decide.ledger import Ledger, LedgerCheck
from discreet.feasible import any_shape, telling_apart
from discreet.feasible.contradiction import reduced
from discreet.feasible.group_program import GroupProgram
from discreet.feasible.reduction import NOT_SEEN, Group
from discreet.feasible.telling_apart import told_apart
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.release import Release


@pytest.fixture
def never_by_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling_apart, "FAR", -1)


def amounts(seed: int) -> list[Figures]:
    """Return the two-way tables of random amounts, large and small, of three variables."""
    draw = np.random.default_rng(seed)
    trees = hierarchies(draw, 3)
    truth = np.exp(draw.normal(4, 3, [len(tree.leaves) for tree in trees.values()])).astype(np.int64)
    truth[draw.random(truth.shape) < 0.3] = 0
    names = list(trees)
    parts = []
    for out in range(3):
        some = {name: trees[name] for name in names if name != names[out]}
        parts.append(published(draw, truth.sum(axis=out), some, hide=0.3, kinds=(), name="×".join(some)))
    return parts


def groups(parts: list[Figures]) -> list[Group]:
    left = reduced(equations_of(parts))
    return [group for group in left.groups if not group.is_tree and not group.mixed]


def ends(group: Group, k: int) -> tuple[int, int]:
    """Return the least and the largest value of an unknown by one integer program each."""
    program = GroupProgram(group, whole=True)
    found = [program.extreme(k, upper) for upper in (False, True)]
    least, most = (int(np.rint(x[k])) if x is not None else NOT_SEEN for x in found)
    return least, most


def agrees(group: Group, wanted: np.ndarray) -> tuple[int, int]:
    """Compare with integer programs; return how many values were told apart, and how many determined."""
    found = told_apart(group, wanted, Clock())
    mine = np.flatnonzero(wanted)
    if found is None:
        return 0, 0
    told = fixed = 0
    for k in mine[(found.settled[:, mine] > 0).all(axis=0)].tolist():
        least, most = ends(group, k)
        if found.bound[0, k] == found.bound[1, k]:
            assert (least, most) == (found.bound[0, k], found.bound[1, k])
            fixed += 1
        else:
            assert least <= found.seen[0, k] < found.seen[1, k] <= most
            told += 1
    return told, fixed


@pytest.mark.usefixtures("never_by_exchanges")
@few_or_long("seeds", range(60), range(400))
def test_amounts_are_told_apart_as_integer_programs_find_them(seeds: range) -> None:
    told = fixed = asked = 0
    for seed in seeds:
        for group in groups(amounts(seed)):
            wanted = (np.random.default_rng(seed).random(group.variables.size) < 0.7).astype(np.int64)
            more = agrees(group, wanted)
            told, fixed, asked = told + more[0], fixed + more[1], asked + int(wanted.sum())
    assert told + fixed == asked
    assert told > len(seeds)
    assert fixed > len(seeds)


@pytest.mark.usefixtures("never_by_exchanges")
@few_or_long("seeds", range(60), range(400))
def test_small_counts_are_never_told_apart_wrongly(seeds: range) -> None:
    told = 0
    for seed in seeds:
        for group in groups(release(seed)[0]):
            told += agrees(group, np.ones(group.variables.size, np.int64))[0]
    assert told > len(seeds) / 2


def findings(result: LedgerCheck) -> list[tuple[str, float, float, str, bool]]:
    return sorted((f.name, f.lower, f.upper, f.cause, f.sensitive) for f in result.findings)


def last_of_six(folder: Path, seed: int, side: int) -> tuple[Ledger, Release]:
    """Return a ledger of five two-way tables of amounts of four variables, some hidden, and the sixth."""
    draw = np.random.default_rng(seed)
    truth = np.exp(draw.normal(5, 2, (side,) * 4)).astype(np.int64)
    ledger, new = Ledger(folder / "ledger.sqlite"), None
    for number, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        both = truth.sum(axis=tuple(k for k in range(4) if k not in (i, j)))
        shown = [[None if draw.random() < 0.2 else int(value) for value in row] for row in both]
        labels = {"abcd"[d]: [f"{'abcd'[d]}{k}" for k in range(side)] for d in (i, j)}
        new = Release.of(Figures.from_array(shown, labels))
        if number < 5:
            ledger.add(new, title=f"table {number}", variable="turnover")
    assert new is not None
    return ledger, new


@pytest.mark.parametrize("seed", range(4))
def test_a_ledger_finds_the_same_of_amounts_by_tables_as_by_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    ledger, new = last_of_six(tmp_path, seed, 2)
    slow = ledger.check(new, variable="turnover")
    monkeypatch.setattr(any_shape, "CROWDED", 0)
    fast = ledger.check(new, variable="turnover")
    assert (fast.verdict, findings(fast)) == (slow.verdict, findings(slow))


def test_nothing_of_many_amounts_is_left_to_exact_searches() -> None:
    draw = np.random.default_rng(2)
    truth = np.exp(draw.normal(6, 2, (6,) * 4)).astype(np.int64)
    parts = []
    for i, j in itertools.combinations(range(4), 2):
        both = truth.sum(axis=tuple(k for k in range(4) if k not in (i, j)))
        labels = {"abcd"[d]: [f"{'abcd'[d]}{k}" for k in range(6)] for d in (i, j)}
        parts.append(
            Figures.from_array([[None if draw.random() < 0.2 else int(v) for v in row] for row in both], labels)
        )
    (group,) = groups(parts)
    wanted = (group.lower == 0).astype(np.int64)
    found = told_apart(group, wanted, Clock())
    assert found is not None
    assert found.settled.all()
