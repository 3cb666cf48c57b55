"""Statistics in plans: published beside the tables, judged with all of them, and audited from the files alone."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import refused, run
from tests.evaluate.school_tables import school
from tests.programme.records import PEOPLE, people, table

from discreet.auditing.audit import audit
from discreet.core.errors import RequestError
from discreet.decide.ledger import Ledger
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, run_plan
from discreet.table.release_reader import read_release

RATE = "rate=percentage, over=outcome, decimals=0"
POLICY = '[rules]\nthreshold = 5\ngroup_disclosure = "none"\n[[protections]]\nname = "suppress"\n'
SEED = 2**127 + 1


def schools(count: int, folder: Path, more: str = "") -> Path:
    """Write the pupils of some schools, and a plan with one table a school: numbers with pass rates."""
    rows = ["school,year,group,outcome"]
    plan = f'title = "Schools"\nperiod = "2024"\npolicy = "policy.toml"\n{more}[records]\nfiles = "pupils.csv"\n'
    for number in range(count):
        made = school(np.random.default_rng(number))
        labels = [[one.categories[i] for i in made.codes(one.name)] for one in made.dimensions]
        for *cell, people_ in zip(*labels, made.counts.tolist(), strict=True):
            rows += [",".join([f"s{number}", *cell])] * people_
        plan += (
            f'[[tables]]\nname = "s{number}"\nby = ["year", "group", "outcome"]\nwhere = {{ school = "s{number}" }}\n'
        )
        plan += f'statistics = ["{RATE}"]\n'
    (folder / "pupils.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    return folder / "plan.toml"


def of_files(folder: Path, count: int) -> tuple[int, int, int, int]:
    """Audit published files alone: how many figures are hidden, safe, exact, and how many rates are shown."""
    found = np.zeros(4, np.int64)
    for number in range(count):
        release = read_release(folder / f"s{number}.csv")
        seen = audit(release, proofs=0)
        assert seen.verdict == "safe" or not len(seen.findings)
        rates = len(release.parts()[0].statistics[0])
        found += [len(seen.findings), seen.counts["safe"], int(seen.findings.determined.sum()), rates]
    hidden, safe, exact, rates = found.tolist()
    return hidden, safe, exact, rates


def test_schools_are_assessed_and_released_by_one_command(tmp_path: Path) -> None:
    told = run("plan", "run", schools(3, tmp_path), "-o", tmp_path / "out", "--json")
    assert told.code == 0, told.err
    assert "statistics are those of the published figures, and reveal no more (published: rate " in told.out
    hidden, safe, exact, rates = of_files(tmp_path / "out", 3)
    assert (exact, safe) == (0, hidden)
    assert hidden > 0
    assert rates > 0
    assert "<th" in (report := (tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert "statistics" in report


@pytest.mark.long
def test_three_hundred_schools_are_assessed_and_released_by_one_command(tmp_path: Path) -> None:
    # However busy the machine is.
    told = run("plan", "run", schools(300, tmp_path), "-o", tmp_path / "out", "--time-limit", "20000")
    assert told.code == 0, told.err
    hidden, safe, exact, rates = of_files(tmp_path / "out", 300)
    print(f"{hidden:,} hidden, {exact} exact; {rates:,} rates")
    assert (exact, safe) == (0, hidden)
    assert hidden > 5000
    assert rates > 5000


@pytest.mark.parametrize("protection", ["suppress", "controlled-rounding:base=3", "random-rounding:base=5"])
def test_every_format_holds_statistics_of_what_is_published(protection: str, tmp_path: Path) -> None:
    people(tmp_path)
    defined = '["pct=percentage, over=sex", "per=rate, per=1234"]'
    text = f'policy = "policy.toml"\nprotection = "{protection}"\n{PEOPLE}'
    text += '[output]\nformats = ["csv", "flags", "sdmx-csv", "xlsx", "parquet"]\n'
    text += table("T", ["district", "age", "sex"], statistics=defined)
    more = "".join(f'[[protections]]\nname = "{name}"\n' for name in ("random-rounding", "controlled-rounding"))
    (tmp_path / "policy.toml").write_text(POLICY + more, encoding="utf-8")
    plan = plan_of(text, folder=tmp_path)
    found = run_plan(plan, RunOptions(tmp_path / "out", SEED))
    (cluster,) = found.clusters
    assert cluster.release is not None
    (part,) = cluster.release.parts()
    pct, per = part.statistics
    assert len(per) == len(part) - part.hidden.sum()
    assert pct.statistic.made_of == ("values" if protection == "suppress" else "figures")
    files = ["T.csv", "T-flags.csv", "T-sdmx.csv", "T.xlsx", "T.parquet"]
    for name in files:
        back = read_release(tmp_path / "out" / name).parts()[0].statistics
        assert [one.statistic for one in back] == [pct.statistic, per.statistic]
        assert sorted(back[0].values.tolist()) == sorted(pct.values.tolist())
    # What is kept is the same again.
    assert run_plan(plan, RunOptions(tmp_path / "out", SEED)).fresh == 0


def test_definitions_that_do_not_fit_are_refused_with_their_line(tmp_path: Path) -> None:
    plan = schools(1, tmp_path)
    text = plan.read_text(encoding="utf-8")
    for wrong, told in {
        "rate=percentage, over=results": "there is no dimension 'results'",
        "rate=percentage": "nothing says what a percentage is of",
        "rate=median": "cannot be computed from the figures",
        "rate=percentage, over=outcome, where=safe": "leave out where=",
    }.items():
        plan.write_text(text.replace(RATE, wrong), encoding="utf-8")
        found = refused(run("plan", "check", plan))
        assert "tables.0.statistics" in found
        assert told in found
    plan.write_text(text + '[output]\nformats = ["csv", "tab"]\n', encoding="utf-8")
    assert "τ-ARGUS have no place for statistics" in refused(run("plan", "check", plan))


def test_statistics_of_a_plan_go_into_its_ledger(tmp_path: Path) -> None:
    plan = schools(3, tmp_path, 'ledger = "book.sqlite"\n')
    assert run("plan", "run", plan, "-o", tmp_path / "out", "--publish").code == 0
    with Ledger(tmp_path / "book.sqlite") as book:
        (entry,) = book.entries()
        parts = book.release(entry.id).parts()
    assert [part.statistics[0].name for part in parts] == ["rate"] * 3
    told = run("plan", "run", plan, "-o", tmp_path / "again")
    assert (told.code, "in the ledger already" in (tmp_path / "again" / "report.html").read_text()) == (0, True)


def test_a_statistic_called_like_a_column_is_refused(tmp_path: Path) -> None:
    plan = schools(1, tmp_path)
    text = plan.read_text(encoding="utf-8").replace(RATE, RATE.replace("rate=", "count="))
    with pytest.raises(RequestError, match="both called 'count'"):
        run_plan(plan_of(text, folder=tmp_path), RunOptions(tmp_path / "out", SEED))


def firms(folder: Path, statistics: str, more: str = "") -> Path:
    """Write some firms, and a plan of their turnover, with statistics, and of their number."""
    rng, rows = np.random.default_rng(3), ["region,branch,id,turnover"]
    for region, branch in product("nsew", "ABC"):
        rows += [
            f"{region},{branch},f{len(rows) + i},{1 + int(rng.lognormal(4, 1.2))}"
            for i in range(int(rng.integers(1, 9)))
        ]
    (folder / "firms.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    rules = "[rules]\nthreshold = 3\np_percent = 10\n"
    (folder / "policy.toml").write_text(f'{rules}[[protections]]\nname = "suppress"\n', encoding="utf-8")
    text = 'period = "2024"\npolicy = "policy.toml"\nledger = "book.sqlite"\n'
    text += '[records]\nfiles = "firms.csv"\ncontributor = "id"\n'
    text += table("turnover", ["region", "branch"], value="turnover", statistics=statistics)
    (folder / "plan.toml").write_text(text + more, encoding="utf-8")
    return folder / "plan.toml"


MEAN = '["mean=mean, of=turnover, per=records", "pct=percentage, over=region"]'


def test_means_are_of_two_tables_of_a_plan_and_both_are_in_its_ledger(tmp_path: Path) -> None:
    plan = firms(tmp_path, MEAN, table("number", ["branch", "region"]))
    told = run("plan", "run", plan, "-o", tmp_path / "out", "--publish")
    assert told.code == 0, told.err
    main, records = read_release(tmp_path / "out" / "turnover.csv").parts()
    pct, mean = main.statistics
    assert len(pct) > 0
    both = ~main.hidden & ~records.hidden
    assert len(mean) == both.sum() < len(main)
    assert np.abs(mean.values / 10 - (main.values[both] / records.values[both])).max() <= 0.05 + 1e-9
    (number,) = read_release(tmp_path / "out" / "number.csv").parts()
    assert sorted(records.values[~records.hidden].tolist()) == sorted(number.values[~number.hidden].tolist())
    assert audit(read_release(tmp_path / "out" / "turnover.csv"), proofs=0).verdict == "safe"
    with Ledger(tmp_path / "book.sqlite") as book:
        kept = {entry.title: book.release(entry.id).parts() for entry in book.entries()}
    assert [len(parts) for parts in kept.values()] == [1, 1]
    assert run("plan", "run", plan, "-o", tmp_path / "out").code == 0


@pytest.mark.parametrize(
    ("statistics", "more", "told"),
    [
        (MEAN, "", "no other table shows numbers in the same crossing"),
        (MEAN, table("number", ["region"]), "no other table shows numbers in the same crossing"),
        ('["mean=mean, of=profit, per=records"]', "", "name its value"),
        (MEAN, f"{table('number', ['region', 'branch'])}[output]\nworkbook = true\n", "take workbook out of output"),
    ],
)
def test_means_of_what_no_table_shows_are_refused(statistics: str, more: str, told: str, tmp_path: Path) -> None:
    assert told in refused(run("plan", "check", firms(tmp_path, statistics, more)))
