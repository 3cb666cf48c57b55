"""Real shapes: a three-way table with two hierarchies of three levels from ten million records."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from discreet.rules import Dominance, PPercent, Threshold, sensitivity
from discreet.table.hierarchy import Prefixes
from discreet.tabulation import tabulate


def make(path: Path, rows: int) -> None:
    """Firms in 12 × 5 × 4 regions and 10 × 4 × 3 activities, a few of them huge, some with several records."""
    duckdb.sql(
        f"""COPY (SELECT
            printf('%02d%d%d', (hash(i) % 12)::INT, (hash(i + 1) % 5)::INT, (hash(i + 2) % 4)::INT) AS region,
            printf('%c%d%d', (65 + hash(i + 3) % 10)::INT, (hash(i + 4) % 4)::INT, (hash(i + 5) % 3)::INT) AS activity,
            'S' || (hash(i + 6) % 5)::INT AS size,
            CASE WHEN i % 50 = 0 THEN i // 200 ELSE i + 1000000000 END AS id,
            floor(1e9 / power(1 + hash(i + 7) % 100000, 2)) AS turnover
        FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"""
    )


def judged(path: Path, rows: int) -> None:
    make(path, rows)
    cells = tabulate(
        path,
        ["region", "activity", "size"],
        value="turnover",
        contributor="id",
        hierarchies={"region": Prefixes((2, 3)), "activity": Prefixes((1, 2))},
    )
    assert cells.axis("region").hierarchies[0].depth == 3
    assert cells.axis("activity").hierarchies[0].depth == 3
    assert cells.records[cells.find()] == rows
    # Every node is the sum of its children, for counts and sums alike.
    for axis in cells.axes:
        codes = cells.codes(axis.name)
        for node, children in axis.families():
            for figure in (cells.records, cells.responses[0].sums):
                above, below = figure[codes == node].sum(), figure[np.isin(codes, children)].sum()
                assert above == pytest.approx(below, rel=1e-12)
    largest = cells.contributors.largest[0]
    assert (largest.top[:, 0] >= largest.top[:, 1]).all()
    assert (largest.top.sum(axis=1) <= largest.total * (1 + 1e-12)).all()
    with duckdb.connect() as connection:
        firms = connection.execute(f"SELECT count(DISTINCT id) FROM '{path}'").fetchall()
    assert cells.contributors.units[cells.find()] == firms[0][0]
    found = sensitivity(cells, [PPercent(10), Dominance(2, 85), Threshold(3)])
    assert 0 < found.sensitive.sum() < len(cells)


def test_a_small_one(tmp_path: Path) -> None:
    judged(tmp_path / "r.parquet", 100_000)


@pytest.mark.long
def test_ten_million_records(tmp_path: Path) -> None:
    judged(tmp_path / "r.parquet", 10**7)
