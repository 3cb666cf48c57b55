"""Files and frames in place of originals and releases, in every function of the front door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet as dc


@pytest.fixture(params=["text", "path", "frame"])
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Any, Any]:
    table = dc.datasets.religion()
    table.write(tmp_path / "t.csv")
    dc.suppress(table, [dc.rules.Threshold(3)]).release.write(tmp_path / "r.csv")
    files = (tmp_path / "t.csv", tmp_path / "r.csv")
    if request.param == "frame":
        original, release = (pd.read_csv(file, dtype={"output_area": str, "religion": str}) for file in files)
        return original, release
    return tuple(map(str, files)) if request.param == "text" else files  # type: ignore[return-value]


def test_every_function_takes_them(sources: tuple[Any, Any]) -> None:
    original, release = sources
    r2 = dc.risk(original, release).value
    assert 0 < r2 < dc.risk(original).value
    assert 0 < dc.information_loss(original, release).utility < 1
    assert dc.audit(release).verdict == "safe"
    assert dc.assess(original, protection=release).verdict in ("release", "withhold")
    assert dc.protect.advise(original, dc.protect.violations([dc.rules.Threshold(3)]), limit=5).chosen is not None
    assert dc.sensitivity(original, [dc.rules.Threshold(3)]).cells.size == 21
    assert dc.expected_risk(original, dc.protect.RandomRounding(3), draws=4, seed=1).risk.mean > 0
    assert dc.estimate(original, population=9000, draws=4, seed=1).mean > 0
