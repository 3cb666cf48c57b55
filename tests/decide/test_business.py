from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.decide.firms import firms, hierarchies

import discreet as dc
from discreet.decide.assessment import Assessment
from discreet.table.crossing_parts import UNPLACED
from discreet.table.tabulation import Tabulation

READING: dict[str, Any] = {
    "by": ["activity", "region"],
    "value": "turnover",
    "contributor": "firm",
    "holding": "holding",
}


def some_firms() -> pd.DataFrame:
    """Return the firms of one section of eight in half of the regions: too few to compile kernels for."""
    frame = firms(20_000)
    return frame[(frame["activity"].str[0] == "A") & frame["region"].str[:2].isin(["R0", "R1", "R2"])]


@pytest.fixture(scope="module")
def one_section() -> Tabulation:
    return dc.tabulate(some_firms(), hierarchies=hierarchies(), **READING)


def assessed(frame: pd.DataFrame, **more: Any) -> Assessment:
    return dc.assess(frame, "business", seed=1, trial=True, name="firms", hierarchies=hierarchies(), **READING, **more)


def released_and_reported(frame: pd.DataFrame, folder: Path) -> None:
    """Go from records to a release and a report, and do it again from the record."""
    found = assessed(frame)
    assert found.verdict == "protect", found.reasons
    assert found.before is None
    assert found.sensitivity is not None
    assert found.evidence is not None
    assert found.release is not None
    assert found.release.method == "suppress"
    assert 0.3 < found.evidence.utility < 1
    hidden = found.release.parts()[0].hidden
    assert hidden.sum() >= found.sensitivity.cells.size
    for cell in found.cells(None):
        assert cell["state"] == "interval"
        low, high = cell["must_reach"]
        assert cell["lower"] <= low
        assert cell["upper"] is None or cell["upper"] >= high
        assert cell["lower"] <= cell["original"]
    text = found.report(folder / "firms.html").read_text(encoding="utf-8")
    assert "suppress" in text
    found.write_record(folder / "r.json")
    again = dc.replay(folder / "r.json", dc.tabulate(frame, hierarchies=hierarchies(), **READING))
    assert again.same, again.differences[:5]


def test_magnitudes_from_records_to_a_release_and_a_report(tmp_path: Path) -> None:
    released_and_reported(some_firms(), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("number", [20_000, 100_000])
def test_magnitudes_of_all_sections(number: int, tmp_path: Path) -> None:
    released_and_reported(firms(number), tmp_path)


def test_unprotected_magnitudes_are_withheld() -> None:
    found = assessed(firms(20_000), protection="none")
    assert found.verdict == "withhold"
    assert {cell["state"] for cell in found.cells(None)} == {"exact"}


def test_holdings_are_counted_as_one() -> None:
    found = assessed(firms(20_000), protection="none")
    assert found.sensitivity is not None
    levels = {rule.level for rule in found.sensitivity.rules}
    assert levels == {"contributor", "holding"}
    by_level = [np.count_nonzero(f.sensitive) for f in found.sensitivity.findings]
    half = len(by_level) // 2
    assert all(b >= a for a, b in zip(by_level[:half], by_level[half:], strict=True))
    assert sum(by_level[half:]) > sum(by_level[:half])


def test_a_file_of_a_tabulation_is_assessed(one_section: Tabulation, tmp_path: Path) -> None:
    file = tmp_path / "firms.parquet"
    one_section.write(file)
    assert dc.assess(file, "business", seed=1, trial=True).verdict == "protect"
    assert dc.assess(file, "business", value="turnover", protection="none").verdict == "withhold"


def test_magnitudes_are_compared(one_section: Tabulation) -> None:
    found = dc.compare(
        one_section, [{"name": "suppress", "insiders": ["respondents", "none"]}], policy="business", seed=1
    )
    # Against outsiders alone, one firm works out what others hide: that is never recommended.
    assert found.recommended is not None
    assert found.points[found.recommended].point.parameters["insiders"] == "respondents"
    assert (found.points[2].figure("determined") or 0) > 0
    assert all(point.figure("r2") is None for point in found.points)
    assert found.points[0].figure("determined") == 1
    assert found.points[1].figure("determined") == 0


def test_what_respondents_know_and_nobody_judged_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the audit says that it could not judge respondents, the verdict says so and the table is withheld."""
    draw = np.random.default_rng(0)
    by = {name: [f"{name[0]}{k}" for k in draw.integers(0, many, 60)] for name, many in (("act", 3), ("reg", 4))}
    whose = [f"f{i}" for i in draw.integers(0, 30, 60)]
    records = pd.DataFrame({"id": whose, **by, "v": draw.integers(1, 500, 60)})
    table = dc.tabulate(records, by=["act", "reg"], value="v", contributor="id")
    assert dc.assess(table, "business", seed=1, trial=True).verdict == "protect"
    monkeypatch.setattr("discreet.auditing.audit.unplaced", lambda *_: True)
    found = dc.assess(table, "business", seed=1, trial=True)
    assert found.verdict == "withhold"
    assert UNPLACED in " ".join(found.reasons)
