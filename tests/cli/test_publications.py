"""``discreet protect`` and ``assess`` write what offices publish, and ``discreet audit`` reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaign.pairs import FORMS, METHODS, pairs
from tests.cli.running import refused, run

from discreet.table.presentation import FORMATS

TABLE = "area,sex,count\nn,m,1\nn,f,30\ns,m,22\ns,f,41\nw,m,12\nw,f,9\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("form", [*FORMATS])
def test_what_is_written_is_audited_alike(form: str) -> None:
    command = ("protect", "suppress", "t.csv", "--rule", "threshold=3")
    assert run(*command, "-o", "plain.parquet").code == 0
    assert run(*command, "--format", form, "-o", f"out{FORMATS[form]}").code == 0
    audits = [json.loads(run("audit", file, "--json").out) for file in ("plain.parquet", f"out{FORMATS[form]}")]
    for found in audits:
        found.pop("published")
        for cell in found["cells"]:
            cell.pop("proof")
    assert audits[0]["cells"]
    assert audits[0]["cells"] == audits[1]["cells"]
    assert audits[0]["verdict"] == audits[1]["verdict"]


def test_a_release_in_a_workbook_is_measured_and_never_taken_for_the_original() -> None:
    assert run("protect", "controlled-rounding", "t.csv", "--base", "5", "-o", "r.csv").code == 0
    assert run("protect", "controlled-rounding", "t.csv", "--base", "5", "-o", "r.xlsx").code == 0
    found = [json.loads(run("risk", "t.csv", "--released", file, "--json").out) for file in ("r.csv", "r.xlsx")]
    assert found[0]["value"] == found[1]["value"]
    assert "holds a release (controlled-rounding), not the original" in refused(run("risk", "r.xlsx"))
    assert run("ledger", "add", "r.xlsx", "--ledger", "l.sqlite", "--title", "first").code == 0


def test_a_presentation_of_a_file() -> None:
    Path("l.toml").write_text('title = "T"\nformat = "flags"\n[symbols]\nsuppressed = "[c]"\n', encoding="utf-8")
    command = ("protect", "suppress", "t.csv", "--rule", "threshold=3")
    assert run(*command, "--presentation", "l.toml", "-o", "out.csv").code == 0
    assert '"[c]"' in Path("out.csv").read_text(encoding="utf-8")
    assert run("assess", "t.csv", "--presentation", "l.toml", "-o", "a.csv").code in (0, 1)
    for given, message in (
        (("--format", "sdmx", "-o", "x.csv"), "there is no format 'sdmx'"),
        (("--format", "xlsx", "-o", "x.csv"), "ends in .xlsx"),
        (("--format", "xlsx"), "name its file (--output)"),
        (("--presentation", "t.csv", "-o", "x.csv"), "t.csv is not a TOML file"),
        (("--presentation", "none.toml", "-o", "x.csv"), "none.toml cannot be read"),
    ):
        assert message in refused(run(*command, *given))
    assert not Path("x.csv").exists()
    assert "cannot say that figures are" in refused(run("protect", "conventional-rounding", "t.csv", "-o", "r.tab"))
    assert not list(Path().glob("r.*"))


def test_equal_releases_make_equal_bytes_in_every_format(tmp_path: Path) -> None:
    found = pairs(tmp_path, 1, 1)
    assert found.failed == []
    assert dict(found.tried) == {f"pairs by {method}": 1 for method in METHODS}
    assert len(FORMS) == 5
