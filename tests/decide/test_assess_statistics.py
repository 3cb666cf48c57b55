"""Assessments with statistics beside the figures: of what is released, covered by the verdict, kept in the record."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import run
from tests.plain import data_of

from discreet import datasets
from discreet.auditing.audit import audit
from discreet.core.errors import RequestError
from discreet.decide.assess import assess
from discreet.decide.policy import Policy
from discreet.decide.replay import replay
from discreet.table.release_reader import read_release
from discreet.table.table import Table

COUNTS = [[1, 20, 14], [16, 30, 9], [12, 8, 25]]
AREAS = {"area": ["n", "s", "w"], "sex": ["m", "f", "o"]}
PCT = {"pct": "percentage, over=sex, decimals=1"}
ROUNDING = "random-rounding:base=3,additive=true"
POLICY = Policy.model_validate(
    {"rules": {"threshold": 3}, "protections": [{"name": "suppress"}, {"name": "random-rounding", "base": 3}]}
)


def table() -> Table:
    return Table.from_array(COUNTS, AREAS)


def written(path: Path, rows: str) -> Path:
    path.write_text(rows, encoding="utf-8")
    return path


@pytest.mark.parametrize("protection", ["propose", "suppress", ROUNDING])
def test_statistics_of_a_release_change_nothing_that_is_claimed_of_it(protection: str) -> None:
    alone = assess(table(), POLICY, protection=protection, seed=1, trial=True)
    found = assess(table(), POLICY, protection=protection, seed=1, trial=True, statistics=PCT)
    assert found.verdict == alone.verdict == "protect"
    (told,) = [one for one in found.checks if one.name == "statistics"]
    assert told.passed
    assert "reveal no more (pct: " in told.text
    assert [one for one in found.checks if one.name != "statistics"] == list(alone.checks)
    (kept,) = found.evidence.statistics
    assert kept.wanted == 16
    assert 0 < kept.shown <= 16
    assert data_of(found)["statistics"] == [data_of(kept)]


def test_what_is_published_is_computed_from_what_is_published(tmp_path: Path) -> None:
    found = assess(table(), POLICY, protection="suppress", seed=1, trial=True, statistics=PCT)
    assert found.release is not None
    found.release.write(tmp_path / "r.csv", trial=True)
    read = read_release(tmp_path / "r.csv", statistics=PCT)
    (part,) = read.parts()
    (column,) = part.statistics
    hidden = {tuple(codes) for codes in part.codes[part.hidden].tolist()}
    assert len(hidden) >= 4
    assert not hidden & {tuple(codes) for codes in column.codes.tolist()}
    beside, alone = audit(read), audit(found.release)
    assert beside.verdict == alone.verdict == "safe"
    assert np.array_equal(beside.findings.lower, alone.findings.lower)


def test_rounded_figures_have_percentages_of_rounded_figures(tmp_path: Path) -> None:
    found = assess(table(), POLICY, protection=ROUNDING, seed=1, trial=True, statistics=PCT)
    assert found.release is not None
    (kept,) = found.evidence.statistics
    assert kept.shown == kept.wanted
    assert kept.error is not None
    assert kept.error > 0
    found.release.write(tmp_path / "r.csv", trial=True)
    (column,) = (
        read_release(tmp_path / "r.csv", statistics={"pct": f"{PCT['pct']}, made_of=figures"}).parts()[0].statistics
    )
    rows = {tuple(codes): i for i, codes in enumerate(column.codes.tolist())}
    (part,) = found.release.parts()
    for codes, value in zip(part.codes.tolist(), part.values.tolist(), strict=True):
        whole = part.values[(part.codes == [codes[0], len(part.labels["sex"]) - 1]).all(axis=1)][0]
        assert column.values[rows[tuple(codes)]] == (2000 * value + whole) // (2 * whole)


RELEASED = "area,sex,count,pct\nn,m,x,2.9\nn,f,x,57.1\nn,o,14,40.0\nn,Total,35,100.0\n"


@pytest.mark.parametrize(
    ("text", "defined", "why"),
    [
        (RELEASED, PCT, "can be worked out exactly"),
        (RELEASED.replace("2.9", "x").replace("57.1", "x"), PCT, ""),
        (RELEASED.replace("2.9", "x").replace("57.1", "1"), {"pct": "other"}, "were not judged"),
        (
            RELEASED.replace("x,2.9", "x,18.0").replace("57.1", "x"),
            {"pct": "maximum, decimals=1, unit=1"},
            "values of respondents in",
        ),
    ],
)
def test_the_verdict_covers_statistics_of_a_release(tmp_path: Path, text: str, defined: object, why: str) -> None:
    row = Table.from_array([COUNTS[0]], {"area": ["n"], "sex": AREAS["sex"]})
    shown = read_release(written(tmp_path / "r.csv", text), statistics=defined, least=1)  # type: ignore[arg-type]
    found = assess(row, POLICY, protection=shown, seed=1, trial=True)
    assert found.verdict == ("withhold" if why else "release")
    if why:
        assert any(why in one.text for one in found.checks if not one.passed)


def test_a_limit_on_the_risk_is_not_met_beside_statistics_that_say_more(tmp_path: Path) -> None:
    text = "area,sex,count,pct\nn,m,x,3\nn,f,x,57\nn,o,14,40\nn,Total,x,100\n"
    row = Table.from_array([COUNTS[0]], {"area": ["n"], "sex": AREAS["sex"]})
    shown = read_release(written(tmp_path / "r.csv", text), statistics={"pct": "percentage, over=sex"}, least=1)
    found = assess(row, protection=shown, seed=1, trial=True)
    assert found.verdict == "withhold"
    assert any("cannot be shown" in one.text or "exactly" in one.text for one in found.checks if not one.passed)


def test_a_record_repeats_statistics(tmp_path: Path) -> None:
    file, record, out = tmp_path / "t.csv", tmp_path / "rec.json", tmp_path / "r.csv"
    datasets.religion().write(file)
    told = run(
        "assess", file, "--statistic", "pct=percentage, over=religion, decimals=1", "--record", record, "-o", out
    )
    assert told.code == 0, told.err
    assert json.loads(record.read_text())["request"]["statistics"]["pct"]["kind"] == "percentage"
    again = replay(record)
    assert again.same
    assert again.identical
    judged = tmp_path / "judged.json"
    defined = "pct=percentage, over=religion, decimals=1, made_of=figures"
    told = run("assess", file, "--released", out, "--statistic", defined, "--record", judged)
    assert told.code == 0, told.err
    assert replay(judged).same


def test_report_and_data_show_what_is_kept(tmp_path: Path) -> None:
    found = assess(table(), POLICY, protection="suppress", seed=1, trial=True, statistics=PCT)
    (kept,) = found.evidence.statistics
    for edition in ("internal", "public"):
        found.report(tmp_path / f"{edition}.html", edition=edition)
    assert f"{kept.shown} of {kept.wanted}" in (tmp_path / "internal.html").read_text(encoding="utf-8")
    (column,) = data_of(found)["release"]["figures"][0]["statistics"]
    assert len(column["shown"]) == kept.shown


def test_definitions_that_nothing_fits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no dimension is"):
        assess(table(), seed=1, trial=True, statistics={"pct": "percentage, over=age"})
    with pytest.raises(RequestError, match="cannot be computed from the figures of one release"):
        assess(table(), seed=1, trial=True, statistics={"avg": "mean"})
    with pytest.raises(RequestError, match="the release has none"):
        assess(
            table(),
            protection=assess(table(), POLICY, protection="none").evidence.release,
            seed=1,
            trial=True,
            statistics=PCT,
        )


def test_more_time_is_not_asked_for_where_statistics_were_not_judged(tmp_path: Path) -> None:
    original = Table.from_array([1, 5, 9, 1], {"area": list("abcd")})
    rows = "area,count,percent\na,x,6.3\nb,x,31.2\nc,9,56.3\nd,x,6.2\nTotal,16,100\n"
    release = read_release(written(tmp_path / "r.csv", rows), dimensions=["area"], marks=("x=1..",))
    told = assess(original, protection=release, seed=1, trial=True)
    assert told.verdict == "withhold"
    assert "statistics beside them were not judged" in told.sentence
    assert "more time" not in told.sentence
