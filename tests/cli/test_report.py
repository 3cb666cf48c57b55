"""``discreet report``: data that were kept become pages and pictures, and what is wrong with them is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, run
from tests.report import examples


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"command": "assess", **examples.religion()}), encoding="utf-8")
    return path


def test_reports_and_pictures_from_kept_data(data: Path, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    made = run("report", data, "-o", tmp_path / "r.html", "--pictures", pictures, "--json")
    assert made.code == 0
    files = [Path(name) for name in json.loads(made.out)["written"]]
    assert [file.name for file in files] == ["r.html", "heat-map.svg", "terms-1.svg", "terms-2.svg"]
    assert all(file.stat().st_size > 1000 for file in files)
    public = run("report", data, "-o", tmp_path / "public.json", "--edition", "public")
    assert (public.code, "Written" in public.out) == (0, True)
    assert "is a public edition" in refused(run("report", tmp_path / "public.json", "-o", tmp_path / "again.html"))
    assert not (tmp_path / "again.html").exists()


def test_what_is_wrong_is_said(data: Path, tmp_path: Path) -> None:
    assert "name what to write" in refused(run("report", data))
    assert "cannot be read" in refused(run("report", tmp_path / "no.json", "-o", tmp_path / "r.html"))
    assert "is not written" in refused(run("report", data, "-o", tmp_path / "r.doc"))
    assert "no edition 'open'" in refused(run("report", data, "-o", tmp_path / "r.html", "--edition", "open"))
    assert "is not a folder" in refused(run("report", data, "--pictures", tmp_path / "no"))
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1", encoding="utf-8")
    assert "is not JSON" in refused(run("report", wrong, "-o", tmp_path / "r.html"))
    wrong.write_text('{"verdict": "safe"}', encoding="utf-8")
    assert "is not the data of an assessment" in refused(run("report", wrong, "-o", tmp_path / "r.html"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.json", "wrong.json"]
