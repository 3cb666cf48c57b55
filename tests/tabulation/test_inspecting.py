"""What tables of τ-ARGUS hold, and the files that they are read with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import run

from discreet.core.errors import DataError, RequestError
from discreet.tabulation.argus_tab import companions, inspect_tab, read_tab


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Firms by region, two regions in one part of the country, one cell with a single firm."""
    rows = ["f1,n1,40", "f2,n1,50", "f3,n1,45", "f4,n2,70", "f5,s,20", "f6,s,30", "f7,s,25"]
    (tmp_path / "firms.csv").write_text("firm,region,turnover\n" + "\n".join(rows) + "\n")
    (tmp_path / "regions.hrc").write_text("north\n@n1\n@n2\ns\n")
    by = ["--by", "region", "--value", "turnover", "--contributor", "firm"]
    tree = ["--hierarchy", f"region={tmp_path / 'regions.hrc'}"]
    assert run("tabulate", tmp_path / "firms.csv", *by, *tree, "-o", tmp_path / "t.parquet").code == 0
    assert run("rules", tmp_path / "t.parquet", "--rule", "threshold=2", "-o", tmp_path / "firms.tab").code == 0
    return tmp_path / "firms.tab"


def test_statuses_hide_figures(table: Path) -> None:
    found = inspect_tab(table, cells=True)
    assert found.content == "release"
    assert [one.name for one in found.columns] == ["region", "turnover"]
    assert found.cells is not None
    labels = found.cells["dimensions"][0]["labels"]
    codes, values = found.cells["codes"][0], found.cells["values"]
    shown = {labels[code]: value for code, value in zip(codes, values, strict=True)}
    assert [labels[codes[i]] for i in found.cells["hidden"]] == ["n2"]
    # What is hidden is not among the figures, and all others are those of the file.
    truth = read_tab(table).tabulation
    assert shown == {code: 0 if code == "n2" else int(truth.responses[0].sums[i]) for i, code in enumerate(labels)}
    assert shown["Total"] == 280


def test_the_command_prints_the_same(table: Path) -> None:
    printed = json.loads(run("inspect", table, "--figures", "--json").out)
    found = inspect_tab(table, cells=True).to_dict()
    assert {name: printed[name] for name in found} == found
    assert "hidden figures" in run("inspect", table).out


def test_companions_are_metadata_and_hierarchies(table: Path) -> None:
    names = {path.name for path in companions(table)}
    assert "firms.rda" in names
    assert any(name.endswith(".hrc") for name in names)
    assert all(path.is_file() for path in companions(table))


def test_what_is_missing_is_named(table: Path) -> None:
    for path in companions(table)[1:]:
        path.unlink()
    with pytest.raises(RequestError, match="hierarchy file"):
        inspect_tab(table)
    table.with_suffix(".rda").unlink()
    assert companions(table) == []
    with pytest.raises(RequestError, match=r"firms\.rda"):
        inspect_tab(table)
    table.with_suffix(".rda").write_text("")
    with pytest.raises(DataError):
        inspect_tab(table)
