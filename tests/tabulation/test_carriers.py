"""Few margins by which records are grouped, against all choices of margins."""

from __future__ import annotations

import math
from itertools import combinations

import duckdb
import numpy as np
import pytest

from discreet.tabulation.engines.duckdb_input import _different
from discreet.tabulation.engines.sql import Margin, carriers
from discreet.tabulation.spec import DimensionSpec, TableSpec


def fewest(spec: TableSpec, sizes: dict[str, int], most: float) -> int:
    """Return the least number of margins that carry all finest ones, by trying all choices."""
    every: list[Margin] = [margin for k in range(1, len(sizes) + 1) for margin in combinations(spec.names, k)]
    allowed = [one for one in every if math.prod(sizes[name] for name in one) <= most or one in spec.finest]
    for count in range(1, len(spec.finest) + 1):
        for chosen in combinations(allowed, count):
            if all(any(set(finest) <= set(one) for one in chosen) for finest in spec.finest):
                return count
    raise AssertionError


@pytest.mark.parametrize("seed", range(20))
def test_few_margins_carry_all_finest_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = "abcd"
    pairs = list(combinations(names, 2))
    chosen = tuple(pairs[i] for i in rng.permutation(len(pairs))[: rng.integers(2, 7)].tolist())
    spec = TableSpec(tuple(DimensionSpec(name) for name in names), margins=chosen)
    sizes = dict(zip(names, rng.integers(2, 40, 4).tolist(), strict=True))
    most = float(rng.choice([10, 500, 4000, 10**6]))
    found = carriers(spec, [sizes[name] for name in names], most)
    for finest in spec.finest:
        assert any(set(finest) <= set(one) for one in found)
    for one in found:
        assert one in spec.finest or math.prod(sizes[name] for name in one) <= most
    assert len(found) == fewest(spec, sizes, most)


def test_another_first_margin_may_save_one() -> None:
    sizes = {"region": 40, "activity": 30, "size": 8, "legal": 6, "year": 10}
    spec = TableSpec(tuple(DimensionSpec(name) for name in sizes), margins=2)
    found = carriers(spec, list(sizes.values()), 4_000)
    assert len(found) == 5
    for finest in spec.finest:
        assert any(set(finest) <= set(one) for one in found)


@pytest.mark.parametrize(
    "kind", ["TINYINT", "UTINYINT", "INTEGER", "BIGINT", "UBIGINT", "HUGEINT", "VARCHAR", "DOUBLE"]
)
@pytest.mark.parametrize("spread", [1, 30, 10_000])
def test_different_entries_are_counted(kind: str, spread: int) -> None:
    rng = np.random.default_rng(spread)
    lowest, spread = 0 if kind.startswith("U") else -40, min(spread, 30) if "TINY" in kind else spread
    entries = [None if rng.random() < 0.2 else int(one) for one in rng.integers(lowest, lowest + 4 * spread, 60)]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE src (who {kind})")
        connection.executemany("INSERT INTO src VALUES (?)", [[one] for one in entries])
        given = [one for one in entries if one is not None]
        assert _different(connection, "who", kind) == (len(given), len(set(given)))
        connection.execute("DELETE FROM src")
        assert _different(connection, "who", kind) == (0, 0)
