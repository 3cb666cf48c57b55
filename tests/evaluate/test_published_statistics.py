"""Statistics that releases publish: computed from what is shown, and audited from the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import run
from tests.evaluate.school_tables import as_published_today, school

from discreet.auditing.audit import audit
from discreet.core.errors import InfeasibleError, RequestError
from discreet.decide.ledger import Ledger
from discreet.evaluate.audited_suppression import suppress
from discreet.protect import random_rounding
from discreet.rules.threshold import Threshold
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.published_statistics import with_published
from discreet.table.release import Release
from discreet.table.release_reader import read_release
from discreet.table.tabulation import Tabulation

RATE = {"rate": "percentage, over=outcome, decimals=0"}
SEX = {"sex": ["m", "f", "Total"]}


def released(seed: int, folder: Path) -> tuple[int, int, int]:
    """Publish a school as today and as a release; return how many hidden numbers are exact, and judged."""
    table = school(np.random.default_rng(seed))
    today, safe = folder / "today.csv", folder / "safe.csv"
    as_published_today(table, today)
    before = audit(
        read_release(today, value="n", marks=["x=1..4"], statistics={"rate": "percentage, of=passed, per=n"}), proofs=0
    )
    done = suppress(table, Threshold(5))
    with_published(done.release, RATE).write(safe)
    after = audit(read_release(safe, statistics=RATE), proofs=0)
    # Where nothing is hidden, there is nothing to work out.
    assert after.verdict == "safe" or not len(after.findings)
    shown = read_release(safe, statistics=RATE).parts()[0]
    assert len(shown.statistics[0]) > 0
    return int(before.findings.determined.sum()), int(after.findings.determined.sum()), len(after.findings)


@pytest.mark.parametrize("seed", range(4))
def test_schools_released_with_rates_give_no_number_away(seed: int, tmp_path: Path) -> None:
    before, after, hidden = released(seed, tmp_path)
    assert before > 0
    assert (after, hidden > 0) == (0, True)


@pytest.mark.long
def test_three_hundred_schools_released_with_rates_give_no_number_away(tmp_path: Path) -> None:
    found = np.array([released(seed, tmp_path) for seed in range(300)])
    exact, given_away, hidden = found.sum(axis=0).tolist()
    assert exact > 900
    assert given_away == 0
    assert hidden > 0


def test_percentages_of_rounded_figures_add_nothing_and_must_agree() -> None:
    shown = Figures.from_array([3, 6, 9], SEX, kind=Kind("random", base=3))
    found = with_published(Release.of(shown), {"pct": "percentage, over=sex"})
    column = found.parts()[0].statistics[0]
    assert column.statistic.made_of == "figures"
    assert [column.text(row) for row in range(3)] == ["33.3%", "66.7%", "100.0%"]
    alone, beside = (audit(one).findings for one in (shown, found))
    assert np.array_equal(alone.lower, beside.lower)
    assert np.array_equal(alone.upper, beside.upper)


def test_percentages_of_margins_added_up_from_rounded_figures_add_nothing() -> None:
    table = school(np.random.default_rng(0))
    release = random_rounding(Tabulation.from_table(table), base=3, seed=1, additive=True)
    found = with_published(release, RATE)
    assert len(found.parts()[0].statistics[0]) > 0
    alone, beside = audit(release), audit(found)
    assert "not judged" not in beside.sentence
    inner = {cell.name: (cell.lower, cell.upper) for cell in beside.cells}
    assert all(inner[cell.name] == (cell.lower, cell.upper) for cell in alone.cells)


def test_a_hidden_figure_beside_its_percentage_of_rounded_figures_is_a_multiple(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,count,pct\nm,x,20\nf,12,80\nTotal,15,100\n", encoding="utf-8")
    how: dict[str, Any] = {
        "statistics": {"pct": "percentage, over=sex, made_of=figures"},
        "kind": Kind("random", base=3),
    }
    found = audit(read_release(tmp_path / "t.csv", **how))
    assert (found.cell(sex="m").lower, found.cell(sex="m").upper) == (1, 5)
    (tmp_path / "t.csv").write_text("sex,count,pct\nm,3,27\nf,12,80\nTotal,15,100\n", encoding="utf-8")
    with pytest.raises(InfeasibleError, match="pct 27% at sex=m is not what the published figures give"):
        audit(read_release(tmp_path / "t.csv", **how))


def test_few_below_the_line_and_extremes_are_held_back() -> None:
    both = {"sex": ["m", "f", "Total"], "ill": ["yes", "no", "Total"]}
    shown = Figures.from_array([[4, 0, 4], [8, 12, 20], [12, 12, 24]], both)
    few = with_published(Release.of(shown), {"pct": "percentage, over=ill, threshold=10, decimals=0"})
    assert len(few.parts()[0].statistics[0]) == 6
    some = with_published(Release.of(shown), {"pct": "percentage, over=ill, extremes=no, decimals=0"})
    assert [some.parts()[0].statistics[0].text(row) for row in range(4)] == ["40%", "60%", "50%", "50%"]


def test_what_would_be_lost_is_refused(tmp_path: Path) -> None:
    release = with_published(Release.of(Figures.from_array([3, None, 9], SEX)), {"pct": "percentage, over=sex"})
    with pytest.raises(RequestError, match=r"no place for the statistic 'pct'; write \.csv"):
        release.write(tmp_path / "t.tab")
    Release.of(Figures.from_array([3, None, 9], SEX)).write(tmp_path / "plain.parquet")
    with pytest.raises(RequestError, match="which statistics are in it"):
        read_release(tmp_path / "plain.parquet", statistics={"pct": "percentage, over=sex"})
    measure = Release.of([*release.parts(), Figures.from_array([1, 2, 3], SEX, measure="n")])
    with Ledger(tmp_path / "ledger", create=True) as book, pytest.raises(RequestError, match="keeps one measure"):
        book.add(measure, title="t")
    with pytest.raises(RequestError, match="cannot be computed from the figures of one release"):
        with_published(release, {"avg": "mean"})


def test_from_the_command_line(tmp_path: Path) -> None:
    table, safe = tmp_path / "t.csv", tmp_path / "safe.csv"
    table.write_text("sex,area,count\nm,n,3\nm,s,20\nf,n,16\nf,s,30\n", encoding="utf-8")
    defined = "pct=percentage, over=sex, decimals=1"
    told = run("protect", "suppress", table, "--rule", "threshold=5", "--statistic", defined, "-o", safe)
    assert told.code == 0, told.err
    assert safe.read_text().splitlines()[0].replace('"', "") == "sex,area,count,pct,published_as"
    said = run("audit", safe, "--statistic", defined)
    assert said.code == 0
    # The file says what its statistics are; without that, somebody has to.
    assert run("audit", safe).out == said.out
    bare = safe.read_text().replace(f" statistic {defined}", "")
    assert bare != safe.read_text()
    (tmp_path / "bare.csv").write_text(bare, encoding="utf-8")
    assert run("audit", tmp_path / "bare.csv").code == 2
