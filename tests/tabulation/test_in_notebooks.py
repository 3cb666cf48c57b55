"""Records are tabulated in a notebook too, where DuckDB may lack what draws its bars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet as dc


class WithoutBars:
    """A connection that refuses to show progress."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def execute(self, query: str, *rest: Any) -> Any:
        if "enable_progress_bar" in query:
            raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")
        return self.connection.execute(query, *rest)


def test_a_missing_bar_is_no_reason_to_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "people.csv"
    file.write_text("area,sex\nN,f\nN,m\nS,f\n")
    plain = dc.tabulate(file, ["area", "sex"])
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *given, **how: WithoutBars(connect(*given, **how)))
    told: list[float] = []
    found = dc.tabulate(file, ["area", "sex"], progress=lambda done, total, label: told.append(done))
    assert found.records.tolist() == plain.records.tolist()
