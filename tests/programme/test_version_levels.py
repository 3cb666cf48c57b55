"""Revisions in plans: sensitive cells keep their protection levels to a reader of all versions, or are named."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.cli.running import run
from tests.programme.records import table

import discreet as dc
from discreet.decide.policy import Policy
from discreet.decide.subject import Case, Subject
from discreet.programme.originals import RecordsOfPlan
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.running import publish_outcome
from discreet.table.release import Release

SEED = 2**127 + 1
FIRST = (
    ((65, 65, 65, 65, 65), (70, 80, 90, 60, 55), (50, 60, 70, 80)),
    ((90, 80, 85, 70), (60, 70, 80, 75), (55, 66, 77, 88)),
    ((61, 72, 83, 94), (64, 75, 86, 97), (63, 74, 85, 96)),
)
SECOND = (
    ((308, 9, 5), (70, 80, 90, 60, 73), (50, 60, 70, 80)),
    ((90, 80, 85, 85), (60, 70, 80, 41), (55, 66, 77, 88)),
    ((61, 72, 83, 94), (64, 75, 86, 97), (63, 74, 85, 96)),
)
"""What firms turned over, by region and size: in r0, s0 325 at first, then 322, of which one firm has 308."""
CLAIM = "its protection levels to a reader of the published figures"
REVISION = '[previous]\nfolder = "first"\nrevision = true\n'
RECORDS = 'records = "first.csv"\n'
Amounts = tuple[tuple[tuple[int, ...], ...], ...]


def write(folder: Path, vintage: str, amounts: Amounts) -> None:
    """Write the records of a version."""
    cells = ((r, s, value) for r, row in enumerate(amounts) for s, cell in enumerate(row) for value in cell)
    rows = ["id,region,size,turnover", *(f"{i},r{r},s{s},{value}" for i, (r, s, value) in enumerate(cells))]
    (folder / f"{vintage}.csv").write_text("\n".join(rows) + "\n")


def plan(folder: Path, vintage: str, more: str = "", records: str = "") -> Path:
    """Write the plan of a version."""
    head = f'title = "turnover"\nvintage = "{vintage}"\npopulation = "firms"\npolicy = "business"\nfewest = 1\n'
    head += f'ledger = "office.sqlite"\n[records]\nfiles = "{records or vintage}.csv"\ncontributor = "id"\n'
    head += f'[output]\nfolder = "{vintage}"\n'
    file = folder / f"{vintage}.toml"
    file.write_text(head + more + table("A", ["region", "size"], "turnover"))
    return file


def told(found: ProgrammeOutcome) -> str:
    """Return what the check beside the ledger says."""
    return found.clusters[0].checks[-1][1]


def published_first(folder: Path, first: Amounts, second: Amounts) -> ProgrammeOutcome:
    """Publish the first version, and write the records of the second."""
    write(folder, "first", first)
    write(folder, "second", second)
    return dc.run_plan(plan(folder, "first"), seed=SEED, publish=True)


def test_a_cell_that_the_first_version_and_its_correction_tell_too_closely_is_named(tmp_path: Path) -> None:
    """It was printed as 325, went down, and needs to be 343 as far as readers know: no pattern keeps that."""
    published_first(tmp_path, FIRST, SECOND)
    file = plan(tmp_path, "second", REVISION + RECORDS)
    found = dc.run_plan(file, seed=SEED)
    named = "from what was printed before, whatever is hidden now: region=r0, size=s0 at most 324 (1 sensitive cell)"
    assert found.verdict == "protect"
    assert named in told(found)
    assert "not whether they keep their levels" not in told(found)
    (claim,) = (text for _, text in found.clusters[0].checks if CLAIM in text)
    assert claim.endswith("of this version alone; what readers of all versions know more closely is named below")
    outcome = run("plan", "run", file, "--seed", SEED, "-o", tmp_path / "command", "--json")
    assert [one["text"] for one in json.loads(outcome.out)["clusters"][0]["checks"]] == [
        text for _, text in found.clusters[0].checks
    ]
    # Published and run again, it is judged by itself, and says so.
    publish_outcome(found)
    again = dc.run_plan(file, folder=tmp_path / "again", seed=SEED)
    assert told(again).startswith("it is in the ledger already")
    assert next(text for _, text in again.clusters[0].checks if CLAIM in text).endswith(
        f"{CLAIM} of this version alone"
    )


def test_a_third_version_names_what_the_first_one_tells(tmp_path: Path) -> None:
    published_first(tmp_path, FIRST, SECOND)
    dc.run_plan(plan(tmp_path, "second", REVISION + RECORDS), seed=SEED, publish=True)
    write(tmp_path, "third", (*SECOND[:2], (*SECOND[2][:2], (63, 74, 85, 99))))
    said = (REVISION + RECORDS).replace("first", "second")
    said += '[previous.older]\n"turnover · turnover · first" = "first.csv"\n'
    found = dc.run_plan(plan(tmp_path, "third", said), seed=SEED)
    assert found.verdict == "protect", told(found)
    assert "whatever is hidden now: region=r0, size=s0 at most 324 (1 sensitive cell)" in told(found)


def test_nothing_is_said_to_keep_its_level_before_the_plan_says_what_was_corrected(tmp_path: Path) -> None:
    later = (*SECOND[:2], (*SECOND[2][:2], (63, 74, 85, 99)))
    published_first(tmp_path, SECOND, later)
    open_ = dc.run_plan(plan(tmp_path, "second", REVISION), seed=SEED)
    assert open_.verdict == "withhold"
    assert "whether sensitive cells keep their protection levels to a reader of all versions was not shown" in told(
        open_
    )
    # What it says can be written into the plan.
    assert "in a plan of [records], records of [previous]" in told(open_)
    found = dc.run_plan(plan(tmp_path, "second", REVISION + RECORDS), seed=SEED)
    assert found.verdict == "protect", told(found)
    assert "Sensitive cells keep their protection levels to a reader of all versions, too" in told(found)


def test_levels_that_hiding_more_keeps_are_kept_once_what_the_reason_names_is_closed(tmp_path: Path) -> None:
    first = (
        ((90, 60, 95, 98, 97, 26, 56, 68), (70, 84, 66, 33), (37, 63, 47, 92, 24, 58, 91, 54)),
        ((97, 98, 94, 49, 78, 97, 65, 94), (57, 68, 44, 76), (36, 73, 27, 30, 61, 59, 59, 59)),
        ((49, 96, 90, 47, 36, 37), (66, 71, 91, 95, 62, 66), (99, 94, 22, 59)),
    )
    # Three cells moved, and so did the total: together, all sums tell how far each did at most.
    second = (first[0], (first[1][0], (228, 7, 7), (386, 7, 7)), (*first[2][:2], (256, 7, 7)))
    published_first(tmp_path, first, second)
    said = REVISION + RECORDS
    held = dc.run_plan(plan(tmp_path, "second", said), seed=SEED)
    assert held.verdict == "withhold"
    assert "3 figures can be worked out too closely" in held.clusters[0].sentence
    assert "between 236 and 244 by all versions of «turnover · turnover · second» together" in told(held)
    for one in told(held).partition("These are open: ")[2].split("; "):
        cell = ", ".join(f'{name} = "{code}"' for name, code in re.findall(r"(\w+)=(\w+)", one))
        said += f'[[frozen]]\ncell = {{ {cell} }}\nstate = "closed"\n'
    found = dc.run_plan(plan(tmp_path, "second", said), seed=SEED)
    assert found.verdict == "protect", told(found)
    assert "whatever is hidden now" in told(found)


# --- enumeration -------------------------------------------------------------------------------------------------

TOP = 26
"""Up to which amount cells are enumerated: well above every level."""
SHAPES = ((2, 2), (4, 1))


@dataclass(frozen=True)
class Drawn:
    """A tiny plan and its correction."""

    first: Amounts
    second: Amounts

    @classmethod
    def of(cls, seed: int) -> Drawn:
        random = Random(seed)
        rows, columns = random.choice(SHAPES)
        kinds = ((9, 2, 1), (7, 1, 1), (4, 4, 4), (3, 4, 3, 5), (5, 4, 4, 3), (3, 3, 2, 4))
        first = [[random.choice(kinds) for _ in range(columns)] for _ in range(rows)]
        second = [list(row) for row in first]
        for at in random.sample(range(4), random.choice((1, 2, 2, 3))):
            cell = second[at // columns][at % columns]
            kept = (max(cell[0] + random.choice((-2, -1, 1, 2)), 1), *cell[1:])
            second[at // columns][at % columns] = random.choice((kept, (sum(cell) - random.randrange(1, 4), 1, 1)))
        return cls(*(tuple(tuple(row) for row in one) for one in (first, second)))

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the true amounts of both versions."""
        one, other = (np.array([[sum(cell) for cell in row] for row in side]) for side in (self.first, self.second))
        return one, other


def part_of(shape: tuple[int, ...], cell: dict[str, str]) -> np.ndarray:
    """Return the finest cells that a cell or a total is made of."""
    at = [int(cell[name][1:]) if cell.get(name, "Total") != "Total" else slice(None) for name in ("region", "size")]
    found: np.ndarray = np.ravel(np.arange(4).reshape(shape)[tuple(at)])
    return found


def fitting(shape: tuple[int, ...], release: Release) -> np.ndarray:
    """Return all amounts that a release leaves; zeros are always published."""
    left = np.stack(np.meshgrid(*[np.arange(TOP + 1, dtype=np.int16)] * 4, indexing="ij"), -1).reshape(-1, 4)
    (figures,) = release.parts()
    for codes, value, hidden in zip(figures.codes.tolist(), figures.values, figures.hidden, strict=True):
        names = zip(figures.names, codes, strict=True)
        inside = left[:, part_of(shape, {name: figures.labels[name][code] for name, code in names})].sum(axis=1)
        left = left[inside > 0 if hidden else inside == value]
    return left


def left_of_new(drawn: Drawn, old: np.ndarray, new: np.ndarray) -> np.ndarray | None:
    """Return the amounts that are left to a reader of both who knows which cells went up and which down."""
    way = np.sign(np.subtract(*drawn.sums()[::-1])).ravel()
    kept, moved = np.flatnonzero(way == 0), np.flatnonzero(way)
    keys = [np.ravel_multi_index(tuple(one[:, kept].T), [TOP + 1] * kept.size) for one in (old, new)]
    fits = np.zeros(len(new), bool)
    for key in np.intersect1d(*keys):
        one, at = old[keys[0] == key][:, moved], np.flatnonzero(keys[1] == key)
        if len(one) * at.size > 3_000_000:
            return None
        change = (new[at][:, None, moved] - one[None]) * way[moved]
        fits[at] = (change > 0).all(axis=2).any(axis=1)
    found: np.ndarray = new[fits]
    return found


def compared(folder: Path, seed: int) -> tuple[int, int]:
    """Compare a tiny plan with enumeration; return how many cells keep their levels, and how many are named."""
    drawn = Drawn.of(seed)
    try:
        first = published_first(folder, drawn.first, drawn.second)
        found = dc.run_plan(file := plan(folder, "second", REVISION + RECORDS), seed=SEED)
    except dc.DiscreetError:
        return 0, 0
    release, before = found.clusters[0].release, first.clusters[0].release
    if release is None or before is None:
        return 0, 0
    shape = drawn.sums()[0].shape
    left = left_of_new(drawn, fitting(shape, before), fitting(shape, release))
    if left is None:
        return 0, 0
    assert len(left)
    policy = Policy.load("business")
    (cells,) = RecordsOfPlan.of(dc.read_plan(file)).clusters(policy.top)
    levels = Case.of(Subject.of(cells.judged, response="turnover"), policy).levels()
    named = told(found).partition("whatever is hidden now: ")[2]
    kept = close = 0
    for cell, (low, high) in levels.items():
        values = left[:, part_of(shape, dict(cell))].sum(axis=1)
        name = ", ".join(f"{n}={c}" for n, c in cell if c != "Total") or "total"
        misses = values.min() > max(low, 1) or values.max() < high or values.min() == values.max()
        assert misses == any(f"{name} {how} " in f" {named}" for how in ("=", "between", "at least", "at most")), (
            seed,
            name,
            drawn,
            values.min(),
            values.max(),
            low,
            high,
            told(found),
        )
        kept, close = kept + (not misses), close + misses
    return kept, close


def both(folder: Path, seeds: range) -> np.ndarray:
    """Compare many tiny plans; return how many cells keep their levels, and how many are named."""
    found = [np.array([0, 0])]
    for seed in seeds:
        (folder / str(seed)).mkdir()
        found.append(np.array(compared(folder / str(seed), seed)))
    total: np.ndarray = np.sum(found, axis=0)
    return total


def test_every_cell_that_is_not_named_keeps_its_levels_in_all_originals_of_both_versions(tmp_path: Path) -> None:
    assert both(tmp_path, range(20, 26)).min() > 2


@pytest.mark.long
def test_every_cell_of_many_plans_that_is_not_named_keeps_its_levels(tmp_path: Path) -> None:
    assert both(tmp_path, range(26, 140)).min() > 10
