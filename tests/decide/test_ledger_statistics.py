"""Statistics in the ledger: kept as they are published, and checked with earlier releases like any other figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import run

from discreet.core.errors import InfeasibleError
from discreet.decide.ledger import Ledger
from discreet.decide.ledger.packing import packed, unpacked
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.published_statistics import with_published
from discreet.table.release import Release
from discreet.table.release_reader import read_release

PCT = {"pct": "percentage, over=sex, decimals=1"}
LAST_MONTH = "sex,count\nm,x\nf,x\no,180\nTotal,230\n"
THIS_MONTH = "sex,count,pct\nm,x,13.0\nf,x,8.7\no,x,78.3\n"


def of_text(folder: Path, text: str, **how: object) -> Release:
    (folder / "r.csv").write_text(text, encoding="utf-8")
    return read_release(folder / "r.csv", **how)  # type: ignore[arg-type]


def test_percentages_beside_the_counts_of_last_month_give_them_away(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger", create=True) as book:
        book.add(of_text(tmp_path, LAST_MONTH), title="counts")
        marks = "".join(f"{line.rpartition(',')[0]}\n" for line in THIS_MONTH.splitlines())
        assert book.check(of_text(tmp_path, marks), title="marks").verdict == "safe"
        found = book.check(of_text(tmp_path, THIS_MONTH, statistics=PCT), title="percentages")
    assert found.verdict == "unsafe"
    known = {finding.name: (finding.lower, finding.upper, finding.cause) for finding in found.findings}
    assert known["sex=m"] == (30, 30, "together")
    assert known["sex=f"] == (20, 20, "together")


def test_coarse_percentages_leave_what_the_audit_leaves(tmp_path: Path) -> None:
    coarse = "sex,count,pct\nm,x,13\nf,x,9\no,x,78\n"
    with Ledger(tmp_path / "ledger", create=True) as book:
        book.add(of_text(tmp_path, LAST_MONTH), title="counts")
        found = book.check(
            of_text(tmp_path, coarse, statistics={"pct": "percentage, over=sex"}), title="whole", width=5
        )
    # 12.5 to 13.5% of 230 is 29 to 31, 8.5 to 9.5% is 20 or 21, and both are 50.
    assert found.verdict == "unsafe"
    left = {(f.name, f.lower, f.upper) for f in found.findings if f.cause == "together"}
    assert left == {("sex=m", 29, 30), ("sex=f", 20, 21)}


def test_statistics_that_follow_from_figures_beside_them_change_nothing(tmp_path: Path) -> None:
    both = {"sex": ["m", "f", "o", "Total"]}
    release = Release.of(Figures.from_array([30, None, None, 230], both, mark=Kind("suppressed", least=1)))
    beside = with_published(release, PCT)
    with Ledger(tmp_path / "ledger", create=True) as book:
        book.add(of_text(tmp_path, LAST_MONTH.replace("m,x", "m,30").replace("o,180", "o,x")), title="counts")
        outcomes = [book.check(one, title="t") for one in (release, beside)]
        entry = book.add(beside, title="kept")
        again = book.release(entry.id)
    assert outcomes[0].verdict == outcomes[1].verdict == "safe"
    assert outcomes[0].to_dict() == outcomes[1].to_dict()
    (kept,), (column,) = again.parts()[0].statistics, beside.parts()[0].statistics
    assert str(kept) == str(column)
    assert [kept.text(row) for row in range(len(kept))] == [column.text(row) for row in range(len(column))]
    assert packed(again) == packed(unpacked(packed(again)))


@pytest.mark.parametrize("defined", ["median", "mean, range=0..125", "other", "cumulative, along=sex"])
def test_what_a_ledger_cannot_judge_is_never_safe(tmp_path: Path, defined: str) -> None:
    text = "sex,count,s\nm,x,20\nf,50,90\no,100,100\nTotal,x,x\n"
    with Ledger(tmp_path / "ledger", create=True) as book:
        book.add(of_text(tmp_path, "sex,count\nm,x\nf,50\no,100\nTotal,x\n"), title="counts")
        found = book.check(of_text(tmp_path, text, statistics={"s": defined}), title="t")
    assert found.verdict == "incomplete"
    assert any("could not be judged" in text for text in found.unjudged)


def test_statistics_of_another_period_are_not_compared_in_silence(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger", create=True) as book:
        book.add(of_text(tmp_path, "sex,count\nm,41\nf,99\nTotal,140\n"), title="old", period="2023")
        found = book.check(of_text(tmp_path, THIS_MONTH, statistics=PCT), title="new", period="2024")
    assert found.verdict != "safe"
    assert any("pct" in text for text in found.unjudged)


def test_a_release_whose_statistics_contradict_its_figures_is_not_entered(tmp_path: Path) -> None:
    wrong = of_text(
        tmp_path, "sex,count,pct\nm,3,40\nf,7,60\nTotal,10,100\n", statistics={"pct": "percentage, over=sex"}
    )
    with Ledger(tmp_path / "ledger", create=True) as book, pytest.raises(InfeasibleError, match="pct"):
        book.add(wrong, title="t")


def test_from_the_command_line(tmp_path: Path) -> None:
    old, new, book = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "book"
    old.write_text(LAST_MONTH, encoding="utf-8")
    new.write_text(THIS_MONTH, encoding="utf-8")
    assert run("ledger", "add", old, "--title", "counts", "--ledger", book).code == 0
    told = run(
        "ledger", "check", new, "--ledger", book, "--statistic", "pct=percentage, over=sex, decimals=1", "--json"
    )
    assert told.code == 1, told.err
    assert '"unsafe"' in told.out


def test_parquet_keeps_statistics(tmp_path: Path) -> None:
    release = with_published(Release.of(Figures.from_array([3, None, 9], {"sex": ["m", "f", "Total"]})), PCT)
    release.write(tmp_path / "t.parquet")
    (column,) = read_release(tmp_path / "t.parquet").parts()[0].statistics
    assert column.statistic == release.parts()[0].statistics[0].statistic
    assert np.array_equal(column.values, release.parts()[0].statistics[0].values)
    assert np.array_equal(column.codes, release.parts()[0].statistics[0].codes)
