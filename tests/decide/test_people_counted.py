"""What people work out who know that they are counted."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.core.errors import InfeasibleError
from discreet.decide import people_counted
from discreet.decide.assessment import Assessment
from discreet.decide.policy import Policy
from discreet.feasible import contradiction
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, run_plan
from discreet.table.equations import Equations

EXACT = Policy.from_text(
    'allow = "any"\n[rules]\nthreshold = 3\ngroup_disclosure = "none"\np_percent = "none"\n'
    '[limits]\ndr = "none"\nr2 = "none"\n'
)
"""A policy that asks only that nothing sensitive is known exactly."""
WITH_MARGINS = "conventional-rounding:base=3,margins=true"


def assessed(counts: list[int], protection: str = WITH_MARGINS) -> Assessment:
    """Assess a line of counts."""
    table = dc.Table.from_array(counts, {"k": [f"c{i}" for i in range(len(counts))]})
    return dc.assess(table, EXACT, protection=protection, seed=1, trial=True)


def known_to_people(counts: list[int]) -> set[tuple[int, int]]:
    """Return who works out whose count, by cell, from figures and total rounded to base 3: all tables are enumerated.

    Someone who is counted nowhere is -1. Anybody may be counted wherever that is open, and every count that may be
    small is somebody's secret.
    """
    figures = [(x + 1) // 3 * 3 for x in (*counts, sum(counts))]
    ranges = [range(max(y - 1, 0), y + 2) for y in figures]
    fits = [table for table in itertools.product(*ranges[:-1]) if sum(table) in ranges[-1]]
    values = [{table[k] for table in fits} for k in range(len(counts))]
    found = {(-1, other) for other, open_ in enumerate(values) if len(open_) == 1 and open_ <= {1, 2}}
    for own, other in itertools.permutations(range(len(counts)), 2):
        mine = {table[other] for table in fits if table[own]}
        if 0 in values[own] and len(mine) == 1 and len(values[other]) > 1 and values[other] & {1, 2}:
            found.add((own, other))
    return found


def test_somebody_counted_works_out_what_others_cannot() -> None:
    """Rounded to 3, 3, 3, 0 with total 6, the counts 2, 2, 2, 1 are open to all but the last one: 7 is the most."""
    assert known_to_people([2, 2, 2, 1]) == {(3, 0), (3, 1), (3, 2)}
    found = assessed([2, 2, 2, 1])
    assert found.verdict == "withhold"
    assert "3 sensitive cells are known too closely" in found.reasons[0]
    assert "by somebody in k=c3" in found.reasons[0]
    # Margins that are added up from rounded counts tie nothing together.
    assert assessed([2, 2, 2, 1], "conventional-rounding:base=3").verdict == "protect"


def test_nobody_learns_too_much() -> None:
    assert not known_to_people([2, 9, 1, 0])
    found = assessed([2, 9, 1, 0])
    assert found.verdict == "protect"
    assert people_counted.NOBODY in found.reasons


def test_that_one_is_alone_tells_of_nobody_else() -> None:
    """The only one in a cell published as 0, which is 0 or 1, learns that nobody else is there."""
    assert assessed([1, 30, 30]).verdict == "protect"


@pytest.mark.parametrize("seed", range(12))
def test_what_passes_is_what_leaves_small_counts_open_to_everybody_counted(seed: int) -> None:
    draw = np.random.default_rng(seed)
    counts = draw.choice([0, 1, 2, 2, 4, 5], int(draw.integers(3, 6))).tolist()
    if sum(counts) == 0:
        counts[0] = 1
    assert (assessed(counts).verdict == "protect") == (not known_to_people(counts))


def test_too_many_to_try_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_counted, "MANY", 0)
    found = assessed([2, 2, 2, 1])
    assert found.verdict == "withhold"
    assert "was not judged" in " ".join(found.reasons)


PAIRS = (("a", "b"), ("a", "c"), ("b", "c"))


def pairs_published(
    counts: tuple[int, ...], protection: str, insiders: str, folder: Path, pairs: tuple[tuple[str, str], ...] = PAIRS
) -> ProgrammeOutcome:
    """Run a plan of the three tables that cross two of three dimensions each, of two categories."""
    (folder / "own.toml").write_text(
        f'extends = "default"\nas_is = "never"\ninsiders = "{insiders}"\n'
        '[rules]\nthreshold = 2\ngroup_disclosure = "none"\n'
        '[limits]\ndr = "none"\nr2 = "none"\ntau = "none"\n'
    )
    cells = list(itertools.product("12", repeat=3))
    rows = [
        f"{i}{n},{','.join(cell)}"
        for i, (cell, count) in enumerate(zip(cells, counts, strict=True))
        for n in range(count)
    ]
    (folder / "r.csv").write_text("\n".join(["id,a,b,c", *rows]) + "\n")
    head = f'title = "T"\npolicy = "own.toml"\nprotection = "{protection}"\n'
    head += '[records]\nfiles = "r.csv"\ncontributor = "id"\n'
    tables = "".join(f'[[tables]]\nname = "{a}{b}"\nby = ["{a}", "{b}"]\n' for a, b in pairs)
    return run_plan(plan_of(head + tables, folder=folder), RunOptions(workers=1))


def learned_by_people(counts: tuple[int, ...], outcome: ProgrammeOutcome) -> bool:
    """Say whether somebody works out a count of 1 that they are not in: all tables of 2 × 2 × 2 are enumerated."""
    cells = list(itertools.product("12", repeat=3))
    release = outcome.clusters[0].release
    assert release is not None
    limits: dict[tuple[int, ...], tuple[int, int]] = {}
    for part in release.parts():
        ends = zip(*(end.tolist() for end in part.ranges()), strict=True)
        for codes, known in zip(part.codes.tolist(), ends, strict=True):
            label = {
                n: found[k] for (n, found), k in zip(part.labels.items(), codes, strict=True) if found[k] != "Total"
            }
            among = [i for i, cell in enumerate(cells) if all(cell["abc".index(n)] == x for n, x in label.items())]
            limits[tuple(among)] = known
    tables = np.indices((6,) * 8, np.int8).reshape(8, -1)
    for inside, (low, high) in limits.items():
        sums = tables[list(inside)].sum(axis=0)
        tables = tables[:, (sums >= low) & (sums <= high)]
    assert (tables == np.array(counts)[:, None]).all(axis=0).any()
    small = [list(inside) for inside in limits if sum(counts[i] for i in inside) == 1]
    people = [i for i, count in enumerate(counts) if count]
    return any(
        np.unique(tables[inside][:, tables[own] > 0].sum(axis=0)).size == 1
        for own in people
        for inside in small
        if own not in inside
    )


@pytest.mark.parametrize(
    ("counts", "protection", "verdict"),
    [
        ((3, 2, 2, 0, 1, 0, 1, 1), WITH_MARGINS, "withhold"),
        ((0, 3, 0, 3, 1, 1, 1, 1), "suppress", "withhold"),
        ((4, 1, 4, 1, 0, 1, 2, 1), "suppress", "protect"),
    ],
)
def test_people_know_their_crossing_that_no_table_shows(
    counts: tuple[int, ...], protection: str, verdict: str, tmp_path: Path
) -> None:
    """Tables of a×b, a×c and b×c leave the crossing of all three open, but not to who is in one of its cells."""
    assert pairs_published(counts, protection, "respondents", tmp_path).verdict == verdict
    outcome = pairs_published(counts, protection, "none", tmp_path)
    assert learned_by_people(counts, outcome) == (verdict == "withhold")


def test_what_people_know_beforehand_is_not_open(tmp_path: Path) -> None:
    """Figures of 0 or 1 in two linked tables are equal: whoever is counted in one knows the other, without a search."""
    counts, pairs = (1, 3, 1, 2, 0, 3, 1, 3), (("b", "c"), ("a", "c"))
    assert pairs_published(counts, WITH_MARGINS, "respondents", tmp_path, pairs).verdict == "withhold"
    assert learned_by_people(counts, pairs_published(counts, WITH_MARGINS, "none", tmp_path, pairs))


def test_crossings_of_too_many_cells_are_said_not_to_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_counted, "FEW", 0)
    outcome = pairs_published((0, 3, 0, 3, 1, 1, 1, 1), "suppress", "respondents", tmp_path)
    assert (True, people_counted.BESIDES) in outcome.clusters[0].checks
    assert people_counted.NOBODY not in str(outcome.clusters[0].checks)


def test_nobody_searches_for_a_contradiction_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may be in each cell, but not in all of them at once: that is tried, and not explained."""
    refused, explain = [], contradiction.explain

    def noted(equations: Equations) -> InfeasibleError:
        refused.append(equations)
        return explain(equations)

    def searched(equations: Equations) -> None:
        raise AssertionError("searched for a smallest set of figures")

    monkeypatch.setattr(contradiction, "explain", noted)
    monkeypatch.setattr(contradiction, "conflict", searched)
    found = dc.compare(dc.datasets.religion(), ["table-swapping:rate=0.05"], draws=2, audits=1, seed=1)
    assert len(found.points) == 2
    assert refused
