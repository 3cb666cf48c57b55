"""domingo2002: every printed number, and the stored report."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from discreet.studies import domingo2002
from discreet.studies.comparison import Study, StudyEffort

STORED = Path(__file__).parents[2] / "validation" / "domingo2002"


@pytest.fixture(scope="module")
def study() -> Study:
    return domingo2002.replay(StudyEffort())


def test_every_printed_number(study: Study) -> None:
    assert len(study.comparisons) == 32
    assert all(row.verdict == "reproduced" and row.error == 0.0 for row in study.comparisons)
    risks = [row.computed for row in study.comparisons if "DR" in row.label]
    assert risks == pytest.approx([0.115355] * 4, abs=1e-6)


def test_sections_beside_print(study: Study) -> None:
    proofs, rounding, linked, others = (rows for _, _, rows in study.extra)
    assert "= 3,898 − 592 − 329 − 1,440 = 1,537" in proofs[1][4]
    # Without margins every cell has ten values; exact margins leave fewer.
    assert {row[3] for row in rounding} == {"0.3010"}
    assert all(float(row[5]) > float(row[3]) for row in rounding)
    assert len(linked) == 18
    for row in linked:
        true = int(row[1])
        ends = [[int(end) for end in text.split(" to ")] for text in (row[2], row[4], row[6])]
        assert all(low <= true <= high for low, high in ends)
        assert ends[0][0] <= ends[1][0] <= ends[2][0]
        assert ends[0][1] >= ends[1][1] >= ends[2][1]
    assert all(known == computed for _, known, computed in others)
    assert "1148, but its cells sum to 1448" in study.to_markdown()


def test_the_stored_report_is_that_of_a_replay(study: Study) -> None:
    # A bound can have several proofs; which one is found is not a result.
    stored, now = (
        [part for part in text.split("\n## ") if not part.startswith("Suppression: every interval")]
        for text in ((STORED / "report.md").read_text(), study.to_markdown())
    )
    assert stored == now
    rows = list(csv.DictReader(io.StringIO((STORED / "results.csv").read_text())))
    assert [float(row["computed"]) for row in rows] == pytest.approx([row.computed for row in study.comparisons])
