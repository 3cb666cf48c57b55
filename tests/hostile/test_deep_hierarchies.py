"""Hierarchies of a thousand levels are read, protected and audited."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import run

LEVELS = 1000


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in which every group holds a cell and the next group."""
    monkeypatch.chdir(tmp_path)
    tree = [f"{'@' * i}g{i}\n{'@' * (i + 1)}c{i}" for i in range(LEVELS)]
    Path("deep.hrc").write_text("\n".join([*tree, f"{'@' * LEVELS}last"]) + "\n", encoding="utf-8")
    cells = [f"c{i},{7 + i % 5 if i % 100 else 1}" for i in range(LEVELS)]
    Path("deep.csv").write_text("\n".join(["area,count", *cells, "last,9"]) + "\n", encoding="utf-8")


@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize(
    "protection",
    [
        ("hide-and-round", "--hide-up-to", 3),
        pytest.param(("suppress", "--rule", "threshold=3"), marks=pytest.mark.long),
    ],
    ids=["hide-and-round", "suppress"],
)
def test_a_thousand_levels(protection: tuple[object, ...]) -> None:
    tree = ("--hierarchy", "area=deep.hrc")
    method, *options = protection
    made = run("protect", method, "deep.csv", *tree, *options, "-o", "release.csv")
    assert made.code == 0, made.err
    assert run("audit", "release.csv", *tree).code in (0, 1)
    assert run("risk", "deep.csv").code == 0
