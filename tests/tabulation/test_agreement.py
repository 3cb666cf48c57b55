"""Every engine gives the same tabulation as the slow twin, on generated records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from tests.tabulation.strategies import Case, cases

from discreet.core.errors import DataError
from discreet.table.tabulation import Tabulation
from discreet.table.units import Respondents
from discreet.tabulation import DimensionSpec, tabulate
from discreet.tabulation.engines import duckdb

LONG = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def outcome(case: Case, engine: str) -> Tabulation | None:
    """A tabulation, or None if there was nothing to tabulate."""
    try:
        return tabulate(case.records, case.spec, engine=engine)
    except DataError as error:
        if "there are no records to tabulate" not in str(error):
            raise
        return None


def agree(one: Tabulation | None, other: Tabulation | None) -> None:
    """Counts are the same to the last bit, sums to 1e-12."""
    if one is None or other is None:
        assert one is other
        return
    assert (one.axes, one.margins, one.dropped) == (other.axes, other.margins, other.dropped)
    ours, theirs = one.to_frame("pyarrow"), other.to_frame("pyarrow")
    assert ours.column_names == theirs.column_names
    for name in ours.column_names:
        a, b = ours[name].to_numpy(), theirs[name].to_numpy()
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(a, b, err_msg=name)
    agree_on_respondents(one.respondents, other.respondents)


def agree_on_respondents(one: Respondents | None, other: Respondents | None) -> None:
    """The same people with the same records in the same cells."""
    if one is None or other is None:
        assert one is other
        return
    assert one.names == other.names
    for name in ("unit", "cell", "records"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_allclose(one.amounts, other.amounts, rtol=1e-12, atol=1e-9)


@given(case=cases())
@settings(max_examples=40, deadline=None, suppress_health_check=LONG)
def test_duckdb_agrees_with_the_twin(case: Case) -> None:
    agree(outcome(case, "duckdb"), outcome(case, "reference"))


@pytest.mark.long
@given(case=cases(most=200))
@settings(max_examples=2000, deadline=None, suppress_health_check=LONG)
def test_duckdb_agrees_with_the_twin_on_many(case: Case) -> None:
    agree(outcome(case, "duckdb"), outcome(case, "reference"))


def firms(rows: int, seed: int) -> pa.Table:
    """Firms with several records each, in holdings, of any size."""
    rng = np.random.default_rng(seed)
    identity = rng.integers(0, rows // 3 + 1, rows)
    groups = rng.integers(0, 40, rows // 3 + 1)
    return pa.table(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2", "S3"], rows),
            "upper": (upper := rng.choice(["A", "B"], rows)),
            "lower": np.char.add(upper, rng.choice(["1", "2", "3"], rows)),
            "id": identity,
            "group": pa.array([f"g{g}" if g < 20 else None for g in groups[identity]]),
            "w": rng.uniform(1, 5, rows),
            "turnover": rng.normal(10, 40, rows).round(3),
            "staff": rng.integers(0, 50, rows),
        }
    )


WHOLE: dict[str, Any] = {
    "by": [DimensionSpec("region"), DimensionSpec("activity", ("upper", "lower"))],
    "value": ["turnover", "staff"],
    "contributor": "id",
    "holding": "group",
    "weight": "w",
    "top": 3,
}


@pytest.mark.parametrize("seed", [1, 2])
def test_duckdb_agrees_with_the_twin_on_firms(seed: int) -> None:
    records = firms(400, seed)
    agree(tabulate(records, **WHOLE), tabulate(records, **WHOLE, engine="reference"))


def test_the_number_of_workers_changes_nothing() -> None:
    records = firms(5000, 3)
    agree(tabulate(records, **WHOLE, workers=1), tabulate(records, **WHOLE, workers=4))


def test_little_memory_changes_nothing() -> None:
    records = firms(20000, 4)
    agree(tabulate(records, **WHOLE, memory="60MB"), tabulate(records, **WHOLE))


PAIRS: dict[str, Any] = {
    **WHOLE,
    "by": [*WHOLE["by"], DimensionSpec("group")],
    "missing": "category",
    "margins": [("region", "activity"), ("region", "group"), ("activity", "group"), ()],
}


@pytest.mark.parametrize("most", [0, 40, 10**6])
def test_margins_that_carry_others_change_nothing(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records grouped by the pairs themselves, by a triple of all, and what lies between."""
    monkeypatch.setattr(duckdb, "ENOUGH", 0)
    monkeypatch.setattr(duckdb, "SAMPLE", 100)
    monkeypatch.setattr(duckdb, "CARRIED", most)
    records = firms(300, 6)
    pq.write_table(records, tmp_path / "firms.parquet")
    agree(tabulate(tmp_path / "firms.parquet", **PAIRS), tabulate(records, **PAIRS, engine="reference"))
