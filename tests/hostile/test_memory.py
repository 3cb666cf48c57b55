"""Memory for large tables is bounded: it grows with the cells that are not empty, and with nothing else."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from campaign.scale import MEMORY, measured


def written(path: Path, side: int) -> None:
    draw = random.Random(1)
    rows = (f"r{i},c{j},{draw.choice((0, 1, 2, 3, 4, 5, 7))}\n" for i in range(side) for j in range(side))
    path.write_text("a,b,count\n" + "".join(rows), encoding="utf-8")


def test_memory_grows_with_the_cells(tmp_path: Path) -> None:
    """A table of 100 cells needs what the program needs; one of 40,000 needs at most 1.5 kB more for each."""
    used = []
    for side in (10, 200):
        written(tmp_path / "table.csv", side)
        took = measured(["risk", "table.csv"], tmp_path)
        assert took.code == 0
        used.append(took.memory)
    assert used[1] - used[0] < 60, f"{used} MB"


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
def test_memory_of_a_million_cells(tmp_path: Path) -> None:
    written(tmp_path / "table.csv", 1000)
    for words in (
        ["risk", "table.csv"],
        ["protect", "random-rounding", "table.csv", "-o", "rounded.parquet"],
        ["audit", "rounded.parquet"],
        ["assess", "table.csv"],
    ):
        took = measured(words, tmp_path)
        assert took.code in (0, 1)
        assert took.memory <= MEMORY, f"{words} took {took.memory:,} MB"
