"""What discreet needs: no more than eleven packages, each pinned, each with its purpose and its licence."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_dependency_is_listed_pinned_and_licensed() -> None:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        stated = tomllib.load(stream)["project"]["dependencies"]
    names = [re.split(r"[<>=!~\[ ]", text, maxsplit=1)[0] for text in stated]
    assert len(names) <= 11
    section = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    assert re.findall(r"^\| ([a-z0-9-]+) \|", section, re.MULTILINE) == ["package", *names]
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "pins.txt").read_text(encoding="utf-8").splitlines()}
    assert set(names) <= pinned
    listed = subprocess.run([sys.executable, ROOT / ".ci" / "licences.py"], capture_output=True, text=True, check=True)
    licences = {line.split()[0]: line.split(maxsplit=2)[2] for line in listed.stdout.splitlines()}
    assert set(names) <= set(licences)
    assert "not stated" not in licences.values()
