"""Tables of a part of a dimension on the command line: ``--part`` says what a total is of."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import refused, rows_of, run

import discreet as dc
from discreet.table.tabulation import Tabulation
from discreet.tabulation.argus_tab import write_tab

BRANCHES, REGIONS, SEXES = ["a", "b", "c"], ["e1", "e2", "w1", "w2"], ["m", "f"]
PEOPLE = np.random.default_rng(5).integers(0, 7, (3, 4, 2))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return two tables of all regions and one of the east with a total of its own."""
    by_region, by_branch, east = (tmp_path / f"{name}.csv" for name in ("region", "branch", "east"))
    dc.Table.from_array(PEOPLE.sum(axis=0), {"region": REGIONS, "sex": SEXES}).write(by_region)
    dc.Table.from_array(PEOPLE.sum(axis=1), {"branch": BRANCHES, "sex": SEXES}).write(by_branch)
    inside = PEOPLE[:, :2]
    lines = ["branch,region,sex,count"]
    for codes in itertools.product((0, 1, 2, None), (0, 1, None), (0, 1, None)):
        where: Any = tuple(slice(None) if code is None else code for code in codes)
        labels = zip(codes, (BRANCHES, REGIONS, SEXES), ("Total", "East", "Total"), strict=True)
        lines.append(",".join([*(t if c is None else d[c] for c, d, t in labels), str(int(inside[where].sum()))]))
    east.write_text("\n".join(lines) + "\n")
    return [by_region, by_branch, east]


def suppress(files: list[Path], *more: object) -> Any:
    first, *others = files
    linked = [part for path in others for part in ("--linked", path)]
    return run("protect", "suppress", first, *linked, "--rule", "threshold=3", *more)


def test_counts_in_csv(files: list[Path], tmp_path: Path) -> None:
    out, tab = tmp_path / "release.csv", tmp_path / "t.tab"
    outcome = suppress(files, "--part", "region=East", "-o", out, "--tab", tab)
    assert (outcome.code, outcome.err) == (0, "")
    releases = [tmp_path / f"release-{i}.csv" for i in (1, 2, 3)]
    assert {row["region"] for row in rows_of(releases[2])} == {"East", "e1", "e2"}
    # The same as in the library, and safe for whoever reads it back.
    inside = dc.Table.from_array(PEOPLE[:, :2], {"branch": BRANCHES, "region": REGIONS[:2], "sex": SEXES})
    tables: list[dc.Table | Tabulation] = [dc.read_table(path) for path in files[:2]]
    tables.append(Tabulation.from_table(inside).as_part(region="East"))
    found = dc.suppress(tables, dc.rules.Threshold(3))
    hidden = [sum(row["count"] == "x" for row in rows_of(path)) for path in releases]
    assert hidden == [int(figures.hidden.sum()) for figures in found.release.parts()]
    assert sum(hidden) > 3
    assert run("audit", *releases, "--part", "region=East").code == 0
    assert run("audit", *(tmp_path / f"t-{i}.tab" for i in (1, 2, 3)), "--part", "region=East").code == 0


def test_nothing_is_taken_for_what_it_is_not(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "release.csv"
    assert "--part region=East" in refused(suppress(files, "-o", out))
    assert "--part region=East" in refused(suppress(files, "--part", "region=Est", "-o", out))
    said = refused(suppress(files[:2], "--part", "region=Est", "-o", out))
    assert "--part is 'region=Est', but totals along 'region' are 'Total'" in said
    assert "--part is 'Est'; give DIMENSION=CODE" in refused(suppress(files, "--part", "Est"))
    assert "no table has 'country'" in refused(suppress(files[:2], "--part", "country=East"))
    assert not list(tmp_path.glob("release*"))


def test_hierarchies_say_what_a_part_is_of(files: list[Path], tmp_path: Path) -> None:
    country, east, out = tmp_path / "country.hrc", tmp_path / "east.hrc", tmp_path / "release.csv"
    country.write_text("E\n@e1\n@e2\nW\n@w1\n@w2\n")
    east.write_text("East\n@e1\n@e2\n")
    given = ["--part", "region=East", "--hierarchy", f"region={country}"]
    assert "says what 'East' is the total of" in refused(suppress(files, *given))
    given += ["--hierarchy", f"region={east}"]
    assert suppress(files, *given, "-o", out).code == 0
    releases = [tmp_path / f"release-{i}.csv" for i in (1, 2, 3)]
    assert {"E", "W"} < {row["region"] for row in rows_of(releases[0])}
    assert "East" not in {row["region"] for row in rows_of(releases[0])}
    assert run("audit", *releases, *given).code == 0
    assert "says what 'East' is the total of" in refused(run("audit", *releases, *given[:4]))


def test_totals_of_tab_files(files: list[Path], tmp_path: Path) -> None:
    inside = dc.Table.from_array(PEOPLE[:, :2], {"branch": BRANCHES, "region": REGIONS[:2], "sex": SEXES})
    tables = [*(Tabulation.from_table(dc.read_table(path)) for path in files[:2]), Tabulation.from_table(inside)]
    tables[2] = tables[2].as_part(region="East")
    names = [tmp_path / f"{i}.tab" for i in range(3)]
    for table, name in zip(tables, names, strict=True):
        write_tab(table, name)
    assert "the total of dimension 'region' is 'Total' in region × sex and 'East' in branch × region" in refused(
        suppress(names)
    )
    out = tmp_path / "release.parquet"
    assert suppress(names, "--part", "region=East", "-o", out).code == 0
    # Parquet files say themselves what their totals are of.
    assert run("audit", *(tmp_path / f"release-{i}.parquet" for i in (1, 2, 3))).code == 0
