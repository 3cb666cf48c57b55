"""Plans run: one problem for each cluster, shared figures the same, only what changed, the same bytes after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import refused, run
from tests.programme.records import AREA, BUSINESS, FIRMS, PEOPLE, firms, people, register, table
from tests.protect.suppression.test_crossings import intervals

from discreet.auditing.audit import audit
from discreet.auditing.limits import Limits
from discreet.core.errors import DataError, RequestError
from discreet.decide.ledger import Ledger
from discreet.programme.cluster_work import ClusterOutcome
from discreet.programme.originals import RecordsOfPlan
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, entry_of, run_plan
from discreet.reading.published import open_release
from discreet.rules import PPercent, Threshold
from discreet.rules.sensitivity import sensitivity
from discreet.table.contributions import Contributions
from discreet.table.figures import Figures
from discreet.table.kinds import Marked
from discreet.table.release import Release
from discreet.table.release_reader import read_release
from discreet.tabulation.tabulate import tabulate

SEED = 2**127 + 1
LETTUCE = (
    table("L1", ["district", "size"], "lettuce")
    + table("L2", ["district", "size"], "batavia")
    + table("L3", ["region", "form"], "arugula")
    + table("P1", ["region", "size"], "pizza")
    + table("P2", ["district", "form"], "pizza")
)
EQUATION = 'equations = ["lettuce = batavia + arugula"]\n'
CENSUS = [["area", "sex"], ["area", "age"], ["sex", "age"], ["sex", "work"], ["age", "work"]]


def made(folder: Path, text: str, to: Path | None = None, workers: int | None = None) -> ProgrammeOutcome:
    return run_plan(plan_of(text, folder=folder), RunOptions(to, SEED, workers=workers))


def cells(cluster: ClusterOutcome) -> dict[str, dict[frozenset[tuple[str, str]], str]]:
    """Return every published figure as text, by table and by the categories that are not totals."""
    found: dict[str, dict[frozenset[tuple[str, str]], str]] = {}
    assert cluster.release is not None
    for part in cluster.release.parts():
        found.setdefault(part.name, {}).update(texts(part))
    return found


def texts(part: Figures) -> dict[frozenset[tuple[str, str]], str]:
    """Return every figure of a table as text, by the categories that are not totals."""
    found = {}
    for row in range(len(part)):
        label = {n: part.labels[n][c] for n, c in zip(part.names, part.codes[row], strict=True)}
        found[frozenset((n, x) for n, x in label.items() if not part.is_total(n, x))] = part.text(row)
    return found


def disagreements(outcome: ProgrammeOutcome) -> tuple[int, int]:
    """Return how many figures two tables of a cluster share, and how many of them differ."""
    shared = apart = 0
    for one, other in (pair for cluster in outcome.clusters for pair in combinations(cells(cluster).values(), 2)):
        both = one.keys() & other.keys()
        shared += len(both)
        apart += sum(one[key] != other[key] for key in both)
    return shared, apart


@pytest.mark.parametrize(
    "protection", ["controlled-rounding:base=3", "cell-key:bound=3,variance=2", "random-rounding:base=3,margins=true"]
)
def test_five_linked_tables_of_a_census_agree_in_every_figure_that_they_share(tmp_path: Path, protection: str) -> None:
    people(tmp_path)
    (tmp_path / "own.toml").write_text('extends = "default"\n[limits]\nr2 = "none"\ndr = "none"\ntau = "none"\n')
    tables = "".join(table(f"T{i}", by) for i, by in enumerate(CENSUS, start=1))
    keyed = PEOPLE + ('key = "key"\n' if "cell-key" in protection else "") + AREA
    found = made(tmp_path, f'policy = "own.toml"\nprotection = "{protection}"\n{keyed}{tables}')
    assert found.verdict == "protect", found.clusters[0].checks
    assert len(found.clusters) == 1
    shared, apart = disagreements(found)
    assert shared > 40
    assert apart == 0
    # What is written says the same.
    assert len(read_release(tmp_path / "published" / "T1.csv").parts()[0]) == 16 * 3


def test_linked_tables_of_turnover_are_protected_in_one_problem(tmp_path: Path) -> None:
    firms(tmp_path)
    found = made(tmp_path, BUSINESS + EQUATION + FIRMS + LETTUCE)
    assert {one.name: one.verdict for one in found.clusters}["lettuce"] == "protect"
    assert disagreements(found)[1] == 0
    names = {path.name for path in (tmp_path / "published").iterdir()}
    assert {"L1.csv", "L2.csv", "L3.csv", "P1.csv", "P2.csv", "record.json", "report.html"} <= names
    assert json.loads((tmp_path / "published" / "record.json").read_text())["outcome"]["verdict"] == found.verdict
    assert "<svg" in (tmp_path / "published" / "report.html").read_text()


def test_no_sensitive_cell_is_outside_its_levels_to_a_reader_of_all_tables(tmp_path: Path) -> None:
    """The slow twin: each table is judged from the records alone, and everything published is audited at once."""
    firms(tmp_path)
    text = BUSINESS.replace('"business"', '"own.toml"') + FIRMS
    (tmp_path / "own.toml").write_text('extends = "business"\n[rules]\ndominance = "none"\n')
    tables = [["district", "size"], ["region", "size", "form"], ["district", "form"]]
    found = made(tmp_path, text + "".join(table(f"T{i}", by, "pizza") for i, by in enumerate(tables)))
    (cluster,) = found.clusters
    assert cluster.verdict == "protect"
    assert cluster.release is not None
    parts = cluster.release.parts()
    levels = {}
    for part, by in zip(parts, tables, strict=True):
        nested = {"area": ["region", "district"] if "district" in by else ["region"], "size": "size", "form": "form"}
        own = {name: nested[name] for name in part.names}
        truth = tabulate(tmp_path / "firms.csv", own, value="pizza", contributor="id")
        judged = sensitivity(truth, [Threshold(3), PPercent(10)])
        for i in judged.cells.tolist():
            label = {n: c for n, c in truth.label(i).items() if c != "Total"}
            value = judged.figures[0].value[i]
            ends = (max(value - judged.lower[i], 0), value + judged.upper[i])
            levels[tuple(sorted({**dict.fromkeys(("area", "size", "form"), "Total"), **label}.items()))] = ends
    assert len(levels) > 5
    assert audit(cluster.release, limits=Limits(levels=levels)).verdict == "safe"


def test_judged_by_levels_alone_a_plan_is_published_as_it_is_by_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    firms(tmp_path)
    text = BUSINESS + FIRMS + table("T0", ["district", "size"], "pizza") + table("T1", ["region", "form"], "pizza")
    outcomes = []
    for many in (10**9, 0):
        monkeypatch.setattr("discreet.decide.evidence.MANY", many)
        (cluster,) = made(tmp_path, text, tmp_path / str(many)).clusters
        outcomes.append((cluster.verdict, cells(cluster)))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == "protect"
    # Where a level cannot be shown to be reached, nothing is published.
    monkeypatch.setattr("discreet.auditing.judging.REACHED", -1)
    monkeypatch.setattr("discreet.auditing.judging.OUT_OF_REACH", -1)
    assert made(tmp_path, text, tmp_path / "undecided").clusters[0].verdict == "withhold"


def test_a_table_of_some_people_and_one_of_everybody_are_one_problem(tmp_path: Path) -> None:
    firms(tmp_path)
    tables = (
        table("all", ["district", "size"], "pizza")
        + table("f0", ["district", "size"], "pizza", where='{ form = "f0" }')
        + table("forms", ["region", "form"], "pizza")
    )
    found = made(tmp_path, BUSINESS + FIRMS + tables)
    (cluster,) = found.clusters
    assert cluster.verdict == "protect", cluster.checks
    assert disagreements(found)[1] == 0
    published = read_release(tmp_path / "published" / "f0.csv").parts()[0]
    assert published.names == ("area", "size")
    # Only one other form is left: what is hidden of it must not follow from the two tables.
    assert audit(cluster.release).verdict == "safe"


@pytest.mark.parametrize("chosen", ['{ region = "r0" }', '{ area = "r0" }'])
def test_people_of_a_level_are_linked_with_tables_by_that_level(tmp_path: Path, chosen: str) -> None:
    """A region is the same whether its level or its dimension is named, and is no dimension of its own."""
    firms(tmp_path, n=60)
    tables = table("all", ["region", "size"], "pizza") + table("some", ["size"], "pizza", where=chosen)
    found = made(tmp_path, BUSINESS + FIRMS + tables)
    assert found.verdict == "protect", found.clusters[0].checks
    every, some = (texts(part) for part in found.clusters[0].release.parts())  # type: ignore[union-attr]
    sizes = [key for key in every if ("area", "r0") in key]
    assert len(sizes) == 4
    for key in sizes:
        one = some[frozenset(pair for pair in key if pair[0] == "size") | {("area", "r0")}]
        assert one == every[key]


def test_people_of_a_category_finer_than_all_tables_of_everybody_are_refused(tmp_path: Path) -> None:
    firms(tmp_path, n=60)
    tables = table("all", ["region", "size"], "pizza") + table("some", ["size"], "pizza", where='{ area = "r0d1" }')
    with pytest.raises(
        RequestError, match="all tables by area stop at a coarser level; add one by the level of 'r0d1'"
    ):
        made(tmp_path, BUSINESS + FIRMS + tables)
    # The remedy: a table that goes down to it.
    found = made(tmp_path, BUSINESS + FIRMS + tables + table("districts", ["district"], "pizza"))
    (outcome,) = found.clusters
    assert outcome.verdict == "protect", outcome.checks
    assert {one.name: one.figures for one in outcome.tables}["some"] > 1


def test_people_of_a_level_that_is_crossed_too_are_refused(tmp_path: Path) -> None:
    firms(tmp_path, n=60)
    with pytest.raises(RequestError, match="'region' is crossed too"):
        plan_of(BUSINESS + FIRMS + table("T", ["district"], "pizza", where='{ region = "r0" }'), folder=tmp_path)


@pytest.mark.parametrize("where", ['{ form = "f0" }', '{ region = "r1" }', "all are of f0"])
def test_respondents_know_their_part_of_crossings_beside_tables_of_some_people(tmp_path: Path, where: str) -> None:
    """The twin: an audit with every contribution listed finds the same as one with the plan's own tables."""
    rows = [line.split(",") for line in firms(tmp_path, n=40).read_text().splitlines()[1:]]
    tables = table("all", ["region", "size"], "pizza") + table("forms", ["region", "form"], "pizza")
    tables += table("some", ["size", "form"] if "region" in where else ["region", "size"], "pizza", where=where)
    if where == "all are of f0":
        rows = [row for row in rows if row[4] == "f0"]
        some = {"where": '{ form = "f0" }'}
        tables = table("T1", ["region", "size"], "pizza", **some) + table("T2", ["district"], "pizza", **some)
    nested = where == "all are of f0"
    plan = plan_of(BUSINESS + (FIRMS if nested else FIRMS.replace(AREA, "")) + tables, folder=tmp_path)
    (cells,) = RecordsOfPlan.of(plan).clusters(2)
    parts = []
    for sheet in cells.sheets:
        shown = Figures.of_tabulation(sheet, name=" × ".join(sheet.names))
        inner = sheet.inner(max(sheet.margins, key=len)) & (shown.values > 0)
        kind, values = np.where(inner, 1, 0), np.where(inner, 0, shown.values)
        parts.append(replace(shown, kind=kind, kinds=(*shown.kinds[:1], Marked()), values=values))
    release = Release(None, "suppress", {}, tuple(parts))
    area = ("area", 2) if nested else ("region", 1)
    listed = [({area[0]: r[area[1]], "size": r[3], "form": r[4]}, r[0], float(r[8])) for r in rows]
    by_tables = intervals(audit(release, contributions=cells.judged, insiders="respondents"))
    by_rows = intervals(audit(release, contributions=Contributions.from_rows(listed)))
    shared = by_tables.keys() & by_rows.keys()
    assert sum(who != "outsider" for who, _ in shared) > 5
    assert {key: by_tables[key] for key in shared} == {key: by_rows[key] for key in shared}


def test_tables_of_several_periods_are_cut_from_one_file(tmp_path: Path) -> None:
    lines = firms(tmp_path).read_text().splitlines()
    years = [f"{line},{'year' if i == 0 else 2020 + i % 2}" for i, line in enumerate(lines)]
    (tmp_path / "firms.csv").write_text("\n".join(years) + "\n")
    tables = "".join(
        table(f"{year} {by}", ["region", by], "pizza", period=f'"{year}"')
        for year in (2020, 2021)
        for by in ("size", "form")
    )
    records = FIRMS.replace('contributor = "id"\n', 'contributor = "id"\nperiod = "year"\n')
    found = made(tmp_path, BUSINESS.replace('period = "2024"\n', "") + records + tables)
    assert [one.name for one in found.clusters] == ["pizza 2020", "pizza 2021"]
    totals = [cells(one)[f"{year} size"][frozenset()] for one, year in zip(found.clusters, (2020, 2021), strict=True)]
    assert sum(map(float, totals)) == sum(float(line.split(",")[8]) for line in lines[1:])


def test_an_equation_that_the_records_contradict_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    lines = firms(tmp_path).read_text().splitlines()
    cut = lines[5].split(",")
    cut[7] = "999999"
    (tmp_path / "firms.csv").write_text("\n".join([*lines[:5], ",".join(cut), *lines[6:]]) + "\n")
    said = r"the plan: line 4, equations: .*firms.csv: line 6: lettuce is 999,999, but batavia \+ arugula is"
    with pytest.raises(DataError, match=said):
        made(tmp_path, BUSINESS + EQUATION + FIRMS + LETTUCE)
    assert not (tmp_path / "published").exists()


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_an_indicator_of_an_equation_that_is_no_number_is_named_with_its_line(missing: str, tmp_path: Path) -> None:
    firms(tmp_path)
    wrong = EQUATION.replace("arugula", "form")
    records = FIRMS.replace("contributor", f'missing = "{missing}"\ncontributor', 1)
    with pytest.raises(DataError, match=r"firms.csv: line 2: 'form' is 'f\d', which is not a number"):
        made(tmp_path, BUSINESS + wrong + records + table("L1", ["region", "size"], "lettuce"))


def test_a_chain_of_protections_is_one_that_a_plan_can_name(tmp_path: Path) -> None:
    people(tmp_path, 60)
    chain = 'protection = { name = "chain", steps = ["table-swapping:rate=0.1", "random-rounding:base=3"] }\n'
    output = '[output]\nformats = ["parquet"]\n'
    text = 'policy = "own.toml"\n' + output + PEOPLE + table("T", ["district", "sex"])
    listed = '[[protections]]\nname = "chain"\nsteps = ["table-swapping", "random-rounding"]\n'
    (tmp_path / "own.toml").write_text(f'extends = "default"\n{listed}')
    (found,) = made(tmp_path, chain + text).clusters
    # The chain is judged as one, and nobody claims to know what readers work out who solve all steps together.
    assert found.verdict == "withhold"
    assert "solves all steps of the protection together" in found.sentence
    with pytest.raises(RequestError, match=r"line 1, protection: .*no parameter 'rte'"):
        made(tmp_path, chain.replace("rate=", "rte=") + text)


def test_nested_columns_that_begin_with_the_finest_are_refused_with_their_line(tmp_path: Path) -> None:
    firms(tmp_path)
    wrong = FIRMS.replace('"region", "district"', '"district", "region"')
    said = r"the plan: line 7, dimensions.area: code 'r\d' has two parents, .* name the coarsest column first"
    with pytest.raises(DataError, match=said):
        made(tmp_path, BUSINESS + wrong + table("T", ["area", "size"], "pizza"))
    assert not (tmp_path / "published").exists()


@pytest.mark.parametrize("kind", ["records", "finished", "link"])
def test_no_table_takes_the_place_of_a_file_that_the_plan_reads(kind: str, tmp_path: Path) -> None:
    read = firms(tmp_path)
    text = BUSINESS + FIRMS + table("firms", ["region", "size"], "pizza") + '[output]\nfolder = "."\n'
    if kind == "finished":
        read.write_text("region,count\nr0,120\nr1,140\n")
        text = 'policy = "default"\n[[tables]]\nname = "firms"\nfile = "firms.csv"\n[output]\nfolder = "."\n'
    if kind == "link":
        (tmp_path / "published").mkdir()
        (tmp_path / "published" / "firms.csv").symlink_to(read)
        text = text.replace('"."', '"published"')
    before = read.read_bytes()
    with pytest.raises(RequestError, match=r"line \d+, output.folder: a table would take the place of .*firms.csv"):
        made(tmp_path, text)
    assert read.read_bytes() == before
    assert not list(tmp_path.rglob("record.json"))


def test_no_hierarchy_of_a_table_takes_the_place_of_one_that_the_plan_reads(tmp_path: Path) -> None:
    firms(tmp_path)
    (tmp_path / "T_region.hrc").write_text("n\n@r0\n@r1\n@r2\n")
    plan = BUSINESS + FIRMS.replace(AREA, '[dimensions.region]\nhierarchy = "T_region.hrc"\n')
    plan += table("T", ["region", "size"], "pizza") + '[output]\nfolder = "."\nformats = ["tab"]\n'
    with pytest.raises(RequestError, match=r"would take the place of .*T_region.hrc"):
        made(tmp_path, plan)
    assert (tmp_path / "T_region.hrc").read_text().startswith("n\n")
    assert not (tmp_path / "T.tab").exists()


def test_make_sees_that_a_plan_is_up_to_date(tmp_path: Path) -> None:
    """Exit codes, names of files and their times are what Make goes by."""
    firms(tmp_path)
    (tmp_path / "plan.toml").write_text(BUSINESS + FIRMS + table("T1", ["region", "size"], "pizza"))
    (tmp_path / "Makefile").write_text(
        ".DELETE_ON_ERROR:\nall: published/T1.csv\npublished/T1.csv: plan.toml firms.csv\n"
        f'\t{sys.executable} -c "from discreet.cli.app import main; main()" plan run plan.toml\n'
    )

    def make() -> tuple[int, bool]:
        done = subprocess.run(["make"], cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, "plan run" in done.stdout

    assert make() == (0, True)
    assert make() == (0, False)
    earlier = time.time() - 60
    os.utime(tmp_path / "published" / "T1.csv", (earlier, earlier))
    assert make() == (0, True), "the records are newer, though they are the same"
    assert make() == (0, False)
    os.utime(tmp_path / "published" / "T1.csv", (earlier, earlier))
    (tmp_path / "firms.csv").write_text("id,region\n")
    assert make() == (2, True)


def test_tables_that_are_withheld_are_shown_though_they_were_to_be_published(tmp_path: Path) -> None:
    firms(tmp_path)
    (tmp_path / "own.toml").write_text('extends = "business"\n[rules]\nthreshold = 8\n[limits]\nwidth = 1e9\n')
    plan = BUSINESS.replace("business", "own.toml") + FIRMS + table("T1", ["region", "size"], "pizza")
    (tmp_path / "plan.toml").write_text(plan)
    told = refused(run("plan", "run", tmp_path / "plan.toml", "--publish"))
    assert "ledger: the plan names none" in told
    assert not (tmp_path / "published").exists()
    (tmp_path / "plan.toml").write_text('ledger = "office.sqlite"\n' + plan)
    done = run("plan", "run", tmp_path / "plan.toml", "--publish")
    assert done.code == 1, done
    assert done.out.count("least width") == 1
    assert "suppress was tried" in done.out
    assert "T1     pizza    withhold                –          2       –" in done.out
    assert "Nothing was entered into the ledger" in done.out
    assert not (tmp_path / "office.sqlite").exists()
    assert not (tmp_path / "published" / "T1.csv").exists()


def test_only_what_changed_is_worked_on(tmp_path: Path) -> None:
    lines = firms(tmp_path).read_text().splitlines()
    text = BUSINESS + EQUATION + FIRMS + LETTUCE
    first = made(tmp_path, text)
    assert first.fresh == 2
    before = _bytes(tmp_path / "published")
    assert made(tmp_path, text).fresh == 0
    # Pizza alone changes; lettuce is as it was.
    cut = lines[5].split(",")
    cut[8] = str(int(cut[8]) + 1)
    (tmp_path / "firms.csv").write_text("\n".join([*lines[:5], ",".join(cut), *lines[6:]]) + "\n")
    assert made(tmp_path, text).fresh == 1
    after = _bytes(tmp_path / "published")
    assert {name for name in before if before[name] != after[name]} >= {"P1.csv", "P2.csv", "record.json"}
    assert before["L1.csv"] == after["L1.csv"]
    # A file that somebody changed is written again.
    (tmp_path / "published" / "L1.csv").write_text("nothing")
    made(tmp_path, text)
    assert _bytes(tmp_path / "published")["L1.csv"] == before["L1.csv"]


def test_workers_do_not_change_a_byte(tmp_path: Path) -> None:
    firms(tmp_path)
    text = BUSINESS + EQUATION + FIRMS + LETTUCE
    made(tmp_path, text, tmp_path / "one", workers=1)
    made(tmp_path, text, tmp_path / "two", workers=2)
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")


def _bytes(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(".")
    }


def test_a_run_that_was_killed_goes_on_and_ends_in_the_same_bytes(tmp_path: Path) -> None:
    firms(tmp_path)
    (tmp_path / "plan.toml").write_text(BUSINESS + EQUATION + FIRMS + LETTUCE)
    whole = made(tmp_path, (tmp_path / "plan.toml").read_text(), tmp_path / "whole")
    target = tmp_path / "killed"
    code = "from discreet.cli.app import main; main()"
    for kept in range(len(whole.clusters)):
        asked = ["plan", "run", str(tmp_path / "plan.toml"), "-o", str(target), "--workers", "1", "--seed", str(SEED)]
        work = subprocess.Popen(
            [sys.executable, "-c", code, *asked],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        # Killed as soon as one more cluster is kept, which is in the middle of the next or of writing.
        while work.poll() is None and len(list(target.glob(".plan/*.json"))) <= kept:
            time.sleep(0.01)
        work.send_signal(signal.SIGKILL)
        work.wait()
        assert kept + 1 <= len(list(target.glob(".plan/*.json")))
    again = made(tmp_path, (tmp_path / "plan.toml").read_text(), target)
    assert again.fresh == 0
    assert _bytes(target) == _bytes(tmp_path / "whole")


@pytest.mark.long
@pytest.mark.parametrize(("n", "values", "share"), [(3000, 3, 1.0), (8000, 30, 0.3)], ids=["30 tables", "300 tables"])
def test_tables_killed_at_ten_random_moments_end_in_the_same_bytes(
    tmp_path: Path, n: int, values: int, share: float
) -> None:
    """A timer of the processor ends the run wherever it is, as a kill does; the next one goes on from there."""
    (tmp_path / "plan.toml").write_text(register(tmp_path, n, values))
    code = (
        "import signal, sys; signal.signal(signal.SIGPROF, signal.SIG_DFL); "
        "signal.setitimer(signal.ITIMER_PROF, float(sys.argv.pop(1))); from discreet.cli.app import main; main()"
    )

    def go(to: Path, seconds: float) -> int:
        asked = ["plan", "run", str(tmp_path / "plan.toml"), "-o", str(to), "--workers", "1", "--seed", str(SEED)]
        path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            [sys.executable, "-c", code, str(seconds), *asked], capture_output=True, check=False, env=path
        ).returncode

    before = os.times()
    assert go(tmp_path / "whole", 0.0) == 0
    after = os.times()
    whole = after.children_user + after.children_system - before.children_user - before.children_system
    draw, ended = np.random.default_rng(8), []
    for moment in draw.uniform(0.1, share * whole, 10).tolist():
        ended.append(go(tmp_path / "killed", moment))
        if ended[-1] != -signal.SIGPROF:
            shutil.rmtree(tmp_path / "killed")
    assert ended.count(-signal.SIGPROF) > 2
    assert go(tmp_path / "killed", 0.0) == 0
    assert len(list((tmp_path / "whole").glob("*.csv"))) == 10 * values
    assert _bytes(tmp_path / "killed") == _bytes(tmp_path / "whole")


def test_what_the_ledger_holds_is_audited_with_it(tmp_path: Path) -> None:
    firms(tmp_path)
    text = BUSINESS + 'ledger = "office.sqlite"\n' + FIRMS + table("L1", ["district", "size"], "pizza")
    (tmp_path / "plan.toml").write_text(text)
    done = run("plan", "run", tmp_path / "plan.toml", "--publish", "--json")
    assert done.code == 0, done.err
    with Ledger(tmp_path / "office.sqlite", create=False) as ledger:
        (entry,) = ledger.entries()
        assert (entry.period, entry.variable) == ("2024", "pizza")
        hidden = ledger.release(entry.id).parts()[0]
    assert hidden.hidden.any()
    # Another table of the same year that is protected on its own contradicts the first: it is withheld.
    other = text.replace('"L1"', '"L2"').replace('by = ["district", "size"]', 'by = ["district", "form"]')
    found = made(tmp_path, other.replace('title = "firms"', 'title = "forms"'))
    told = [text for passed, text in found.clusters[0].checks if text.startswith("beside the ledger")]
    assert len(told) == 1


def test_a_folder_of_tables_is_run_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "sex.csv").write_text("area,sex,count\nn,m,12\nn,f,30\ns,m,25\ns,f,14\n")
    (folder / "age.csv").write_text("area,age,count\nn,y,20\nn,o,22\ns,y,19\ns,o,20\n")
    checked = run("plan", "check", folder)
    assert (checked.code, "2 tables, 2 to protect in 1 cluster." in checked.out) == (0, True)
    done = run("plan", "run", folder, "-o", tmp_path / "out", "--json")
    found = json.loads(done.out)
    assert {one["table"] for one in found["tables"]} == {"age", "sex"}
    assert done.code == 0, found
    assert {path.name for path in (tmp_path / "out").glob("*.csv")} == {"age.csv", "sex.csv"}
    picture = (tmp_path / "out" / "report.html").read_text()
    assert picture.count("<circle") == 4, "two dimensions of each table"


def test_a_bad_plan_ends_in_one_line_and_code_2(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(BUSINESS + FIRMS + LETTUCE)
    assert "line 5, records.files" in refused(run("plan", "run", tmp_path / "plan.toml"))
    firms(tmp_path)
    (tmp_path / "plan.toml").write_text(BUSINESS + FIRMS + table("T", ["distrct"], "pizza"))
    assert "no column 'distrct'; did you mean 'district'" in refused(run("plan", "run", tmp_path / "plan.toml"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["firms.csv", "plan.toml"]


def test_every_format_is_read_back_as_the_same_figures(tmp_path: Path) -> None:
    firms(tmp_path)
    formats = '["csv", "flags", "sdmx-csv", "parquet", "xlsx", "tab"]'
    output = f'[output]\nformats = {formats}\nworkbook = true\n[output.presentation]\ntitle = "Pizza"\n'
    tables = table("size", ["region", "size"], "pizza") + table("form", ["region", "form"], "pizza")
    found = made(tmp_path, BUSINESS.replace("business", "default") + FIRMS + output + tables)
    assert found.clusters[0].release is not None
    wanted = found.clusters[0].release.parts()[0]
    for ending in (".csv", "-flags.csv", "-sdmx.csv", ".parquet", ".xlsx", ".tab"):
        (part,) = open_release(tmp_path / "published" / f"size{ending}").parts()
        assert texts(part) == texts(wanted), ending
    one, other = read_release(tmp_path / "published" / "pizza.xlsx").parts()
    assert [texts(one), texts(other)] == [texts(part) for part in found.clusters[0].release.parts()]
    (tmp_path / "plan.toml").write_text(BUSINESS + FIRMS + output.replace("title", "titel") + tables)
    assert "output.presentation" in refused(run("plan", "check", tmp_path / "plan.toml"))


def test_files_of_argus_hold_tables_that_stop_at_a_level(tmp_path: Path) -> None:
    """Beside a finer table, finer cells of a coarser one are not published: its hierarchy ends where it does."""
    firms(tmp_path)
    tables = table("regions", ["region", "size"], "pizza") + table("districts", ["district"], "pizza")
    output = '[output]\nformats = ["csv", "tab"]\n'
    found = made(tmp_path, BUSINESS + FIRMS + output + tables)
    assert found.clusters[0].release is not None
    for name, wanted in zip(("regions", "districts"), found.clusters[0].release.parts(), strict=True):
        (part,) = open_release(tmp_path / "published" / f"{name}.tab").parts()
        assert texts(part) == texts(wanted)
    assert not (tmp_path / "published" / "regions_area.hrc").exists()
    people(tmp_path, 400)
    (tmp_path / "own.toml").write_text('extends = "default"\n[limits]\nr2 = "none"\ndr = "none"\ntau = "none"\n')
    rounded = 'policy = "own.toml"\nprotection = "controlled-rounding:base=5"\n' + PEOPLE
    with pytest.raises(RequestError, match=r"line \d+, output: sexes.tab cannot be written: .*write .csv"):
        made(tmp_path, rounded + output + table("sexes", ["district", "sex"]), tmp_path / "rounded")


def test_amounts_with_many_digits_agree_once_they_are_rounded(tmp_path: Path) -> None:
    lines = firms(tmp_path, 120).read_text().splitlines()
    long = [lines[0], *(f"{line}.{(i * 791_919_191) % 10**9:09}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "firms.csv").write_text("\n".join(long) + "\n")
    records = FIRMS.replace('contributor = "id"\n', 'contributor = "id"\ndecimals = 2\n')
    tables = table("size", ["region", "size"], "pizza") + table("form", ["district", "form"], "pizza")
    said = r"in area × form, but .* in area × size: .* late decimal, .* \(in a plan, decimals = 2 under \[records\]\)"
    with pytest.raises(DataError, match=said):
        made(tmp_path, BUSINESS + FIRMS + tables)
    found = made(tmp_path, BUSINESS + records + tables)
    assert disagreements(found)[1] == 0
    total = cells(found.clusters[0])["size"][frozenset()]
    assert float(total) == pytest.approx(sum(round(float(line.split(",")[8]), 2) for line in long[1:]), abs=1e-6)
    assert len(total.partition(".")[2]) == 2


def test_a_refusal_leaves_nothing_behind_that_was_not_there(tmp_path: Path) -> None:
    lines = firms(tmp_path, 120).read_text().splitlines()
    tables = table("size", ["region", "size"], "pizza") + table("form", ["district", "form"], "pizza")
    text = BUSINESS + FIRMS + tables
    with pytest.raises(RequestError, match="short"):
        run_plan(plan_of(text, folder=tmp_path), RunOptions(tmp_path / "new" / "out", 5))
    long = [lines[0], *(f"{line}.{(i * 7_919_191_919_191) % 10**13:013}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "firms.csv").write_text("\n".join(long) + "\n")
    for made_before in (False, True):
        with pytest.raises(DataError, match="decimal"):
            made(tmp_path, text, tmp_path / "new" / "out")
        assert (tmp_path / "new").exists() == made_before
        # What others keep in the folder stays.
        (tmp_path / "new" / "out").mkdir(parents=True, exist_ok=True)
        (tmp_path / "new" / "out" / "mine.txt").write_text("mine")
    assert [path.name for path in (tmp_path / "new" / "out").iterdir()] == ["mine.txt"]


def test_numbers_and_amounts_of_one_plan_are_judged_together(tmp_path: Path) -> None:
    """Three firms of the north, in three sizes that all have turnover, are one in each."""
    rows = [f"{i},{'n' if i < 3 else 'sw'[i % 2]},s{i % 3},{50 + 7 * (i % 11)}" for i in range(120)]
    (tmp_path / "some.csv").write_text("\n".join(["id,region,size,turnover", *rows]) + "\n")
    records = '[records]\nfiles = "some.csv"\ncontributor = "id"\n'
    numbers, amounts = table("firms", ["region"]), table("turnover", ["region", "size"], "turnover")
    found = made(tmp_path, BUSINESS + records + numbers + amounts)
    assert {one.name: one.verdict for one in found.clusters} == {"count": "release", "turnover": "withhold"}
    passed, told = found.clusters[1].checks[-1]
    assert not passed
    assert "beside the other tables" in told
    assert "count of region=n, size=s0 = [region=n in «firms · count · 2024»]" in told
    assert not (tmp_path / "published" / "turnover.csv").exists()
    # By the same cells, numbers and amounts tell nothing about each other.
    same = made(tmp_path, BUSINESS + records + table("sizes", ["size"]) + table("by size", ["size"], "turnover"))
    assert [one.verdict for one in same.clusters] == ["release", "release"], same.clusters
    assert same.clusters[1].checks[-1][0]


def test_workbooks_show_the_labels_of_a_file_and_other_files_the_codes(tmp_path: Path) -> None:
    firms(tmp_path)
    (tmp_path / "sizes.csv").write_text("code,label\ns0,below 10\ns1,10 to 49\ns2,50 and more\n")
    output = '[output]\nformats = ["csv", "xlsx"]\n[output.presentation.labels.size]\ns2 = "large"\n'
    sizes = '[dimensions.size]\nlabels = "sizes.csv"\n'
    tables = table("size", ["region", "size"], "pizza") + table("form", ["region", "form"], "pizza")
    text = BUSINESS.replace("business", "default") + FIRMS + sizes + output + tables
    made(tmp_path, text)
    book = tmp_path / "published" / "size.xlsx"
    shown = zipfile.ZipFile(book).read("xl/worksheets/sheet3.xml")
    assert [text in shown for text in (b"below 10", b"large", b"50 and more")] == [True, True, False]
    assert "s0" in (tmp_path / "published" / "size.csv").read_text()
    part = read_release(book).parts()[0]
    assert set(part.labels["size"]) == {"s0", "s1", "s2", "Total"}
    # A label that changes is a change of what is published.
    (tmp_path / "sizes.csv").write_text("code,label\ns0,small\n")
    made(tmp_path, text)
    assert b"below 10" not in zipfile.ZipFile(tmp_path / "published" / "size.xlsx").read("xl/worksheets/sheet3.xml")
    for wrong, said in (
        ("code,label\ns0,a\ns0,b\n", "two labels"),
        ("code,label\ns0\n", "row 2"),
        ("x,y\n", "no labels"),
    ):
        (tmp_path / "sizes.csv").write_text(wrong)
        (tmp_path / "plan.toml").write_text(text)
        told = refused(run("plan", "check", tmp_path / "plan.toml"))
        assert "dimensions.size.labels" in told
        assert said in told
    (tmp_path / "plan.toml").write_text(text.replace("labels.size]", "labels.sise]"))
    assert "no dimension 'sise'; did you mean 'size'" in refused(run("plan", "check", tmp_path / "plan.toml"))


def test_a_table_is_weighted_by_its_own_column(tmp_path: Path) -> None:
    lines = firms(tmp_path).read_text().splitlines()
    weighted = [f"{lines[0]},w", *(f"{line},{1 + k % 3}" for k, line in enumerate(lines[1:]))]
    (tmp_path / "firms.csv").write_text("\n".join(weighted) + "\n")
    (tmp_path / "own.toml").write_text('extends = "business"\n[rules]\nthreshold = 3\n')
    tables = table("plain", ["region"], "pizza") + table("estimates", ["region"], "batavia", weight='"w"')
    text = BUSINESS + FIRMS + tables
    found = made(tmp_path, text)
    totals = {one.name: cells(one)[one.tables[0].name][frozenset()] for one in found.clusters}
    rows = [line.split(",") for line in weighted[1:]]
    assert float(totals["pizza"]) == sum(int(row[8]) for row in rows)
    assert float(totals["batavia"]) == sum(int(row[5]) * int(row[9]) for row in rows)
    # Weighted numbers are not numbers of firms, and are not taken for them beside amounts.
    counted = plan_of(
        BUSINESS.replace("business", "default") + FIRMS + table("n", ["region"], weight='"w"'), folder=tmp_path
    )
    (cluster,) = run_plan(counted, RunOptions(tmp_path / "counted", SEED)).clusters
    assert entry_of(counted, cluster)["variable"] == "count weighted by w"
    # Weights that two tables of one variable do not share would follow from them.
    (tmp_path / "plan.toml").write_text(text + table("again", ["size"], "pizza", weight='"w"'))
    told = refused(run("plan", "check", tmp_path / "plan.toml"))
    assert "tables 'plain' and 'again' show pizza weighted by nothing and by w" in told
    (tmp_path / "plan.toml").write_text(text.replace('weight = "w"', 'weight = "weigth"'))
    assert "the records have no column 'weigth'" in refused(run("plan", "run", tmp_path / "plan.toml"))


@pytest.mark.parametrize(("dr", "verdict"), [("1.0", "withhold"), ('"none"', "protect")])
def test_no_risk_is_claimed_that_was_judged_with_figures_which_no_table_shows(
    tmp_path: Path, dr: str, verdict: str
) -> None:
    """Of b = b1, c = c1 a reader has 1.16 bits left, and 1.28 were they told c of the others, whom no table shows."""
    cells = zip(product("12", repeat=3), (0, 2, 1, 3, 1, 1, 2, 1), strict=True)
    rows = [f"a{a},b{b},c{c}" for (a, b, c), n in cells for _ in range(n)]
    (tmp_path / "people.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
    limits = f'[rules]\nthreshold = 3\ngroup_disclosure = "none"\n[limits]\nr2 = "none"\ntau = "none"\ndr = {dr}\n'
    (tmp_path / "own.toml").write_text(f'extends = "default"\ninsiders = "none"\n{limits}')
    tables = table("T1", ["b", "c"]) + table("T2", ["a"]) + table("T3", ["c"], where='{ a = "a1" }')
    found = made(tmp_path, f'policy = "own.toml"\nprotection = "hide-and-round:limit=3,base=5"\n{PEOPLE}{tables}')
    assert found.verdict == verdict
    assert ("no table of the plan shows" in found.clusters[0].sentence) == (verdict == "withhold")


def test_a_sum_of_figures_that_no_table_shows_says_how_far_off_it_may_be(tmp_path: Path) -> None:
    """A reader of a sum of four rounded figures knows it to 4 · 2; a file that said nothing of it would hide that."""
    people(tmp_path, 400)
    (tmp_path / "own.toml").write_text('extends = "default"\n[limits]\nr2 = "none"\ndr = "none"\ntau = "none"\n')
    head = f'policy = "own.toml"\nprotection = "random-rounding:base=3,additive=true"\n{PEOPLE}{AREA}'
    found = made(tmp_path, head + table("regions", ["region", "sex"]) + table("women", ["area"], where='{ sex = "f" }'))
    (cluster,) = found.clusters
    assert cluster.release is not None
    truth = tabulate(tmp_path / "people.csv", {"area": ["region", "district"], "sex": "sex"})
    counts = {_place(truth.label(i)): int(truth.records[i]) for i in range(len(truth))}
    leaves = {"Total": 12, "r0": 4, "r1": 4, "r2": 4}
    asked = 0
    for part in cluster.release.parts():
        lower, upper = part.ranges()
        for row in range(len(part)):
            label = {n: part.labels[n][c] for n, c in zip(part.names, part.codes[row], strict=True)}
            assert lower[row] <= counts.get(_place(label), 0) <= upper[row]
            below = leaves.get(label["area"], 1) * (2 if label["sex"] == "Total" else 1)
            assert upper[row] - int(part.values[row]) == 2 * below
            asked += below > 1
    assert asked > 8
    # Where the finest level is published too, sums say nothing beyond it.
    both = made(tmp_path, head + table("regions", ["region", "sex"]) + table("all", ["area", "sex"]), tmp_path / "both")
    shown = both.clusters[0].release
    assert shown is not None
    assert any(kind.summed for part in shown.parts() for kind in part.kinds)


def _place(label: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((name, code) for name, code in label.items() if code != "Total")


MUNICIPALITIES = {"A1": (12, 1), "A2": (90, 140), "B1": (5, 4), "B2": (11, 13), "B3": (15, 30)}
OF_MUNICIPALITIES = (
    'title = "t"\npolicy = "p.toml"\nprotection = "suppress"\n[records]\nfiles = "r.csv"\ncontributor = "id"\n'
)


@pytest.fixture
def municipalities(tmp_path: Path) -> Path:
    """Write records of municipalities in counties; county, code and municipality depend on each other."""
    who = [
        (m, sex)
        for m, numbers in MUNICIPALITIES.items()
        for sex, k in zip("fm", numbers, strict=True)
        for _ in range(k)
    ]
    rows = [f"{i},{m[0]},{m},{ord(m[0])}{m[1]},{sex}" for i, (m, sex) in enumerate(who)]
    (tmp_path / "r.csv").write_text("\n".join(["id,county,muni,code,sex", *rows]) + "\n")
    limits = '[limits]\nr2 = "none"\ndr = "none"\ntau = "none"\nlevels = "never"\n'
    (tmp_path / "p.toml").write_text(f'title = "p"\nextends = "default"\n{limits}[[protections]]\nname = "suppress"\n')
    return tmp_path


def test_columns_inside_each_other_are_stated(municipalities: Path) -> None:
    tables = table("munis", ["muni", "sex"]) + table("counties", ["county", "sex"])
    # Without its county, A1 has one man hidden, and 141 men of county A less 140 of A2 are in print.
    with pytest.raises(DataError, match=r"'muni' lies in one of 'county', .* columns = \[\"county\", \"muni\"\]"):
        made(municipalities, OF_MUNICIPALITIES + tables)
    stated = '[dimensions.muni]\ncolumns = ["county", "muni"]\n'
    (found,) = made(municipalities, OF_MUNICIPALITIES + stated + tables).clusters
    shown = cells(found)["munis"]
    hidden = {place for place, text in shown.items() if not text.isdigit()}
    men = {code: frozenset([("muni", code), ("sex", "m")]) for code in ("A1", "A2")}
    assert set(men.values()) <= hidden


def test_columns_that_say_the_same_are_not_two_dimensions(municipalities: Path) -> None:
    tables = table("munis", ["muni", "sex"]) + table("codes", ["code", "sex"])
    with pytest.raises(DataError, match=r"'muni' and 'code' say the same of every record, .*; use one of them"):
        made(municipalities, OF_MUNICIPALITIES + tables)
    # A table that crosses both says it by its zeros, and in few records columns lie inside each other by chance.
    made(municipalities, OF_MUNICIPALITIES + table("both", ["muni", "code"]))
    lines = (municipalities / "r.csv").read_text().splitlines()
    (municipalities / "r.csv").write_text("\n".join([lines[0], lines[1], lines[14], lines[-1]]) + "\n")
    made(municipalities, OF_MUNICIPALITIES + tables)


def test_amounts_that_follow_from_each_other_are_stated(tmp_path: Path) -> None:
    """Each variable is hidden by itself: what a table of turnover hides, one of costs and profits may give away."""
    rows = [(i, "nsw"[i % 3], "ab"[i % 5 > 2], 100 + 37 * i % 91, 20 + 11 * i % 17) for i in range(40)]
    lines = [f"{i},{r},{a},{t},{c},{t - c},{t / 1000},{t - c // 2},12.5,{i % 2 + 1}" for i, r, a, t, c in rows]
    head = "id,region,act,turn,cost,profit,thousands,other,twelve,w\n"
    (tmp_path / "r.csv").write_text(head + "\n".join(lines) + "\n")
    plan = BUSINESS + '[records]\nfiles = "r.csv"\ncontributor = "id"\n'
    by_region, by_both = table("A", ["region"], "turn"), ["region", "act"]

    def refused(told: str, *more: str) -> None:
        with pytest.raises(DataError, match=told):
            made(tmp_path, plan + by_region + "".join(more))

    refused("'turn' is 1000 times 'thousands', .*; publish tables of one of the two", table("B", by_both, "thousands"))
    costs, profits = table("B", by_both, "cost"), table("C", by_both, "profit")
    refused(r"'turn' is 'cost' \+ 'profit', .* equations = \[\"turn = cost \+ profit\"\]", costs, profits)
    refused("the number of records is 0.08 times 'twelve'", table("B", by_both), table("C", by_both, "twelve"))
    made(tmp_path, 'equations = ["turn = cost + profit"]\n' + plan + by_region + costs + profits)
    made(tmp_path, plan + by_region + costs + table("C", by_both, "other"))
    # Of few records, amounts follow from each other by chance.
    (tmp_path / "r.csv").write_text(head + "\n".join(lines[:3]) + "\n")
    made(tmp_path, plan + by_region + costs + profits)


def test_records_in_a_folder_that_changed_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "a.parquet").write_bytes(b"1")
    plan = plan_of('title = "t"\n[records]\nfiles = "all"\n' + table("T", ["sex"]), folder=tmp_path)
    assert plan.input_files() == [tmp_path / "all" / "a.parquet"]


def test_records_of_nobody_in_particular_are_judged_as_if_each_were_named(tmp_path: Path) -> None:
    """Whoever knows a record knows its part of crossings, whether or not a column says whose it is."""
    firms(tmp_path, 60)
    tables = "".join(table(f"T{i}", by, "pizza") for i, by in enumerate((["region", "size"], ["size", "form"])))
    (named,) = made(tmp_path, BUSINESS + FIRMS + tables, tmp_path / "named").clusters
    unnamed = FIRMS.replace('contributor = "id"', 'contributor = ""')
    (found,) = made(tmp_path, BUSINESS + unnamed + tables, tmp_path / "unnamed").clusters
    assert (found.verdict, found.tables, found.checks) == (named.verdict, named.tables, named.checks)
    assert named.verdict == "protect"
