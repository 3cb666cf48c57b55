"""``discreet protect simulation``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, run

import discreet as dc

COUNTS = "area,sex,age,count\nn,m,y,1\nn,f,y,5\nw,m,y,6\nw,f,o,2\nn,m,o,4\nw,f,y,3\nw,m,o,1\n"


@pytest.mark.parametrize(
    ("more", "margins", "engine"),
    [
        ([], [("area",), ("sex",), ("age",)], "sequential"),
        (["--keep", "area,sex", "--keep", "sex,age"], [("area", "sex"), ("sex", "age")], "sequential"),
        (["--keep-all", 2, "--table-law", "uniform"], [("area", "sex"), ("sex", "age"), ("area", "age")], "counting"),
        (["--table-law", "uniform", "--sampler", "chain"], [("area",), ("sex",), ("age",)], "chain"),
    ],
)
def test_simulated_tables(counts: Path, tmp_path: Path, more: list[object], margins: object, engine: str) -> None:
    out = tmp_path / "simulated.csv"
    outcome = run("protect", "simulation", counts, *more, "--seed", 1, "--trial", "-o", out, "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert told["engine"] == engine
    assert (told["chain"] is not None) == (engine == "chain")
    table, released = dc.read_table(counts), dc.read_table(out)
    assert isinstance(margins, list)
    for margin in margins:
        assert released.aligned_to(table).margin(*margin) == table.margin(*margin)
    assert run("audit", out).code in (0, 1)


def test_what_is_refused(counts: Path) -> None:
    def reason(*more: object) -> str:
        return refused(run("protect", "simulation", counts, *more))

    assert "dimension 'age' is in no released margin" in reason("--keep", "area,sex")
    assert "--table-law is 'even'" in reason("--table-law", "even")
    assert "either margins one by one" in reason("--keep", "area,sex", "--keep-all", 1)
    assert "no dimension 'aera'; did you mean 'area'" in reason("--keep", "aera,sex,age")
