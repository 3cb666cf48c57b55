"""Plans that publish two divisions of one territory: what readers work out with the map is judged with the tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.programme.records import table

import discreet as dc
from discreet.core.errors import RequestError
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, run_plan

LIMITS = '[limits]\nr2 = "none"\ndr = "none"\ntau = "none"\n'
MAP = 'territories = [["area", "grid"]]\n'


def ran(folder: Path, rows: list[tuple[str, str]], text: str, threshold: int = 3, head: str = MAP) -> ProgrammeOutcome:
    lines = [f"{i},{area},{grid},{grid[:1]},{'mf'[i % 2]}" for i, (area, grid) in enumerate(rows)]
    (folder / "people.csv").write_text("\n".join(["id,area,grid,block,sex", *lines]) + "\n")
    rules = f'extends = "default"\n[rules]\nthreshold = {threshold}\ngroup_disclosure = "none"\n'
    (folder / "own.toml").write_text(rules + LIMITS)
    plan = f'policy = "own.toml"\n{head}[records]\nfiles = "people.csv"\ncontributor = "id"\n{text}'
    return run_plan(plan_of(plan, folder=folder), RunOptions(seed=2**127 + 1))


def of_pairs(pairs: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [pair for pair, people in pairs.items() for _ in range(people)]


ZONES = {("N", "a1"): 50, ("N", "a2"): 2, ("S", "a2"): 30, ("S", "b1"): 20}
BOTH = table("areas", ["area"]) + table("cells", ["grid"])


def test_a_difference_of_two_divisions_is_found_and_mended(tmp_path: Path) -> None:
    """Each table is safe alone, and both together without a map; the north less a1 is two people."""
    assert ran(tmp_path, of_pairs(ZONES), BOTH, head="").verdict == "release"
    found = ran(tmp_path, of_pairs(ZONES), BOTH)
    assert found.verdict == "withhold"
    told = found.clusters[0].sentence
    assert "area=N, grid=a2 = [area=N in" in told
    assert "52 − 50 = 2" in told
    assert "discreet geography RECORDS --by area,grid --coarsen grid" in told
    assert not (tmp_path / "published" / "areas.csv").exists()
    # Blocks of the grid are coarse enough.
    coarse = MAP.replace("grid", "block")
    mended = ran(tmp_path, of_pairs(ZONES), BOTH.replace("grid", "block"), head=coarse)
    assert mended.verdict == "release", mended.clusters[0].sentence
    # By sex, the difference is smaller still.
    by_sex = table("areas", ["area", "sex"]) + table("cells", ["grid", "sex"])
    assert ran(tmp_path, of_pairs(ZONES), by_sex).verdict == "withhold"


def test_a_plan_finds_what_the_search_of_a_territory_finds(tmp_path: Path) -> None:
    people = dc.datasets.territory()
    frame = people.to_frame("pandas")
    pairs = {(str(row.area), str(row.grid)): int(row.count) for row in frame.itertuples(index=False, name="Row")}
    found = ran(tmp_path, of_pairs(pairs), BOTH, threshold=4)
    assert found.verdict == "withhold"
    exact = re.search(r"(\d+) figures can be worked out exactly", found.clusters[0].sentence)
    assert exact is not None
    # Unions of up to 23 zones.
    assert int(exact[1]) == len(dc.geography(people, 4).found) == 2


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (
            'territories = [["area", "gird"]]\n',
            "line 2, territories.0: no table has the dimension 'gird'; did you mean",
        ),
        ('territories = [["area", "area"]]\n', "line 2, territories.0: 'area' is one division; name two"),
        ('territories = [["area"]]\n', "line 2, territories.0"),
    ],
)
def test_divisions_that_are_none_are_refused(head: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=told):
        ran(tmp_path, of_pairs(ZONES), BOTH, head=head)
