"""Periods: the last pattern is kept where that is safe, frozen cells, revisions, readers who know the last figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.programme.records import table

from discreet.auditing.audit import audit
from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.decide.ledger import Ledger
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.periods import Before
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, publish_outcome, run_plan
from discreet.table.attacker import Attacker, Fact

TABLES = table("A", ["region", "size"], "turnover") + table("B", ["region", "branch"], "turnover")
Firms = dict[int, tuple[str, str, str, int]]


def born(draw: np.random.Generator, regions: int = 4) -> tuple[str, str, str, int]:
    size = draw.choice(3, p=[0.7, 0.25, 0.05])
    return f"r{draw.integers(regions)}", f"s{size}", f"b{draw.integers(3)}", int(draw.lognormal(4 + size, 1)) + 1


def next_quarter(draw: np.random.Generator, firms: Firms, regions: int = 4) -> Firms:
    """Return the firms a quarter later: 2% gone, 2% new, the others changed by a few per cent."""
    stay = {i: firm for i, firm in firms.items() if draw.random() > 0.02}
    grown = {i: (*firm[:3], max(int(firm[3] * draw.normal(1.01, 0.03)), 1)) for i, firm in stay.items()}
    first = max(firms) + 1
    return grown | {first + k: born(draw, regions) for k in range(max(len(firms) // 50, 1))}


def revised(draw: np.random.Generator, firms: Firms) -> Firms:
    """Return the firms with 2% of their turnovers corrected."""
    chosen = {i for i in firms if draw.random() < 0.02}
    return {i: (*firm[:3], max(int(firm[3] * 1.1), 1)) if i in chosen else firm for i, firm in firms.items()}


def write(folder: Path, firms: Firms) -> None:
    rows = ["id,region,size,branch,turnover", *(f"{i},{','.join(map(str, firm))}" for i, firm in firms.items())]
    (folder / "firms.csv").write_text("\n".join(rows) + "\n")


def run_quarter(
    folder: Path,
    period: str,
    more: str = "",
    vintage: str = "",
    head: str = "fewest = 1\n",
    tables: str = TABLES,
) -> ProgrammeOutcome:
    about = f'title = "turnover"\nperiod = "{period}"\nvintage = "{vintage}"\npolicy = "business"\n'
    head = f'{about}population = "firms"\nledger = "office.sqlite"\n{head}'
    records = '[records]\nfiles = "firms.csv"\ncontributor = "id"\n'
    output = f'[output]\nfolder = "{period}{vintage}"\n'
    return run_plan(plan_of(head + records + output + more + tables, folder=folder), RunOptions(seed=2**127 + 1))


def publish_first(folder: Path, firms: Firms) -> None:
    """Publish the first version of a quarter, and keep its records."""
    write(folder, firms)
    publish_outcome(run_quarter(folder, "q1", vintage="first"))
    (folder / "firms.csv").rename(folder / "old.csv")


def kept_share(outcome: ProgrammeOutcome) -> float:
    told = next(note for note in outcome.clusters[0].notes if "are as before" in note)
    assert re.search(r"Keeping the pattern cost [\d,]+ in place of [\d,]+ \(", told)
    found = re.search(r"([\d,]+) of ([\d,]+) cells are as before", told)
    assert found is not None
    return int(found[1].replace(",", "")) / int(found[2].replace(",", ""))


def quarters(folder: Path, count: int, regions: int) -> list[ProgrammeOutcome]:
    draw = np.random.default_rng(5)
    firms: Firms = {i: born(draw, regions) for i in range(55 * regions)}
    done: list[ProgrammeOutcome] = []
    for number in range(count):
        write(folder, firms)
        previous = f'[previous]\nfolder = "q{number}"\n' if number else ""
        found = run_quarter(folder, f"q{number + 1}", previous)
        assert found.verdict == "protect", found.clusters[0].checks
        assert all(passed for passed, _ in found.clusters[0].checks)
        assert publish_outcome(found)
        done.append(found)
        firms = next_quarter(draw, revised(draw, firms), regions)
    return done


def check_quarters(folder: Path, count: int, regions: int) -> None:
    done = quarters(folder, count, regions)
    shares = [kept_share(found) for found in done[1:]]
    assert min(shares) >= 0.95, shares
    with Ledger(folder / "office.sqlite", create=False) as ledger:
        assert len(ledger.entries()) == count
    # Everything published so far was audited with each: the check beside the ledger is among the reasons.
    assert all("beside the ledger" in found.clusters[0].checks[-1][1] for found in done[1:])


def test_quarters_keep_their_pattern(tmp_path: Path) -> None:
    check_quarters(tmp_path, 3, regions=4)


@pytest.mark.long
def test_eight_quarters_keep_their_pattern(tmp_path: Path) -> None:
    check_quarters(tmp_path, 8, regions=20)


@pytest.mark.parametrize(("regions", "fewest"), [(4, 6), (8, 9)])
def test_a_revision_that_prints_what_was_hidden_is_caught_and_mended(regions: int, fewest: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(9)
    firms: Firms = {i: born(draw, regions) for i in range(55 * regions)}
    write(tmp_path, firms)
    first = run_quarter(tmp_path, "q1", vintage="first")
    publish_outcome(first)
    assert first.clusters[0].release is not None
    # The only sensitive cells are no longer: two small firms join each cell, and its figure would be printed.
    before = Before.of(first.clusters[0].release)
    hidden = [dict(key) for key, figure in before.figures.items() if figure is None]
    (tmp_path / "firms.csv").rename(tmp_path / "firms_first.csv")
    later, number = dict(revised(draw, firms)), max(firms)
    for cell in hidden:
        for _ in range(3):
            number += 1
            later[number] = (cell.get("region", "r0"), cell.get("size", "s0"), cell.get("branch", "b0"), 400)
    write(tmp_path, later)
    revises = 'fewest = 1\nrevises = ["turnover · turnover · q1 · first"]\n'
    alone = run_quarter(tmp_path, "q1", vintage="second", head=revises)
    assert alone.verdict == "withhold"
    exact = re.search(r"(\d+) figures can be worked out exactly", alone.clusters[0].sentence)
    assert exact is not None
    assert int(exact[1]) >= fewest
    said = '[previous]\nfolder = "q1first"\nrevision = true\n'
    unknown = run_quarter(tmp_path, "q1", said, vintage="third")
    assert unknown.verdict == "withhold"
    assert "give the true tables of both" in unknown.clusters[0].sentence
    assert "worked out exactly" not in unknown.clusters[0].sentence
    mended = run_quarter(tmp_path, "q1", f'{said}records = "firms_first.csv"\n', vintage="fourth")
    assert mended.verdict == "protect", mended.clusters[0].checks
    now = _figures(mended)
    assert not [key for key, figure in now.items() if figure is not None and before.is_open(key) is False]
    assert not [key for key, figure in now.items() if figure is None and before.is_open(key)]


def test_what_the_ledger_contradicts_is_refused_with_the_keys_of_the_plan(tmp_path: Path) -> None:
    firms: Firms = {i: (f"r{i % 3}", f"s{i % 2}", "b0", 30 + i) for i in range(60)}
    publish_first(tmp_path, firms)
    write(tmp_path, firms | {5: (*firms[5][:3], 99)})
    with pytest.raises(DataError, match=r"line 6, ledger: .*cannot all be true.*under \[previous\]") as error:
        run_quarter(tmp_path, "q1", vintage="second")
    assert "--revises" not in str(error.value)
    # What it says can be written into the plan.
    said = '[previous]\nfolder = "q1first"\nrevision = true\nrecords = "old.csv"\n'
    assert run_quarter(tmp_path, "q1", said, vintage="second").verdict in ("release", "protect")


def test_a_correction_is_judged_with_the_records_of_then(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    firms: Firms = {i: born(draw) for i in range(220)}
    publish_first(tmp_path, firms)
    # Nearly a third of all firms, and hidden cells with them.
    raised = {i: (*f[:3], max(int(f[3] * draw.choice([0.5, 1.1, 1.3])), 1)) for i, f in firms.items()}
    write(tmp_path, {i: raised[i] if draw.random() < 0.3 else firm for i, firm in firms.items()})
    said = '[previous]\nfolder = "q1first"\nrevision = true\n'
    open_ = run_quarter(tmp_path, "q1", said, vintage="second")
    assert open_.verdict == "withhold"
    assert "in a plan, records of [previous]" in open_.clusters[0].sentence
    found = run_quarter(tmp_path, "q1", f'{said}records = "old.csv"\n', vintage="third")
    assert found.verdict == "protect", found.clusters[0].sentence
    # A figure that went down is less than what was printed: how closely both versions tell it is judged, too.
    told = found.clusters[0].checks[-1][1]
    assert "Sensitive cells keep their protection levels to a reader of all versions, too" in told
    assert "which amounts can be worked out exactly, not whether they keep their levels" not in told
    # Records of then that the first release was not made from are refused.
    text = (tmp_path / "old.csv").read_text()
    (tmp_path / "old.csv").write_text(text.replace(",s0,", ",s1,", 9))
    with pytest.raises(DataError, match="the original of «turnover · turnover · q1 · first»: cell"):
        run_quarter(tmp_path, "q1", f'{said}records = "old.csv"\n', vintage="fourth")


def test_a_correction_without_a_table_of_the_version_that_it_corrects_is_refused(tmp_path: Path) -> None:
    firms: Firms = {i: (f"r{i % 3}", f"s{i % 2}", f"b{i % 5}", 30 + i) for i in range(60)}
    publish_first(tmp_path, firms)
    write(tmp_path, firms | {5: (*firms[5][:3], 99)})
    said = '[previous]\nfolder = "q1first"\nrevision = true\nrecords = "old.csv"\n'
    left = table("B", ["region", "branch"], "turnover")
    with pytest.raises(DataError, match="in a plan, make all tables of the version that it corrects"):
        run_quarter(tmp_path, "q1", said, vintage="second", tables=left)
    # What it says can be written into the plan.
    assert run_quarter(tmp_path, "q1", said, vintage="second").verdict == "protect"


def test_a_third_version_is_judged_with_the_records_of_both_earlier_ones(tmp_path: Path) -> None:
    firms: Firms = {i: (f"r{i % 3}", f"s{i % 2}", "b0", 30 + i) for i in range(60)}
    publish_first(tmp_path, firms)
    firms[5] = (*firms[5][:3], 99)
    write(tmp_path, firms)
    said = '[previous]\nfolder = "q1{}"\nrevision = true\nrecords = "{}.csv"\n'
    assert publish_outcome(run_quarter(tmp_path, "q1", said.format("first", "old"), vintage="second"))
    (tmp_path / "firms.csv").rename(tmp_path / "second.csv")
    write(tmp_path, firms | {7: (*firms[7][:3], 77)})
    said = said.format("second", "second")
    first = "turnover · turnover · q1 · first"
    asked = f'"{first}" = '
    with pytest.raises(RequestError, match=rf"previous\.records: .*under \[previous\.older\]: {asked}FILE"):
        run_quarter(tmp_path, "q1", said, vintage="third")
    # What it says can be written into the plan.
    found = run_quarter(tmp_path, "q1", f'{said}[previous.older]\n{asked}"old.csv"\n', vintage="third")
    assert found.verdict in ("release", "protect"), found.clusters[0].sentence
    with pytest.raises(RequestError, match=r"previous\.older.*: the ledger has no release 'first'"):
        run_quarter(tmp_path, "q1", f'{said}[previous.older]\nfirst = "old.csv"\n', vintage="third")


def test_a_correction_that_gives_figures_away_is_published_once_more_is_closed(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    firms: Firms = {i: born(draw) for i in range(220)}
    publish_first(tmp_path, firms)
    # A tenth of the firms were in the wrong cell.
    write(tmp_path, {i: born(draw) if draw.random() < 0.1 else firm for i, firm in firms.items()})
    said = '[previous]\nfolder = "q1first"\nrevision = true\nrecords = "old.csv"\n'
    closed = ['[[frozen]]\ncell = { size = "' + size + '" }\nstate = "closed"\n' for size in ("s2", "s0")]
    found = run_quarter(tmp_path, "q1", said, vintage="second")
    assert found.verdict == "withhold"
    assert "2 figures can be worked out exactly" in found.clusters[0].sentence
    assert '[[frozen]], cell = { DIMENSION = "…" }, state = "closed"' in found.clusters[0].sentence
    # Of two sums of hidden figures, the first version tells one by itself, as it still is. The other was corrected.
    found = run_quarter(tmp_path, "q1", said + closed[0], vintage="second")
    assert "Not judged: 1 sum of hidden amounts" in found.clusters[0].sentence
    assert "(region=r2 + r3, size=s1 " in found.clusters[0].sentence
    assert "[[frozen]]" in found.clusters[0].sentence
    assert run_quarter(tmp_path, "q1", said + "".join(closed), vintage="second").verdict == "protect"


def test_a_correction_names_what_can_be_closed_totals_too_until_it_is_published(tmp_path: Path) -> None:
    """Totals tell how far each corrected cell went: closing cells alone never ends."""
    first = [(8, 23, 1, 18), (16, 31, 3, 16), (11, 27, 2, 28), (11, 25, 1, 24), (9, 22, 0, 24)]
    second = [(8, 22, 1, 18), (17, 31, 3, 16), (12, 28, 2, 27), (11, 24, 1, 24), (9, 22, 0, 24)]
    (tmp_path / "own.toml").write_text('extends = "default"\n[rules]\nthreshold = 4\n[limits]\ndr = "none"\n')

    def run_with(vintage: str, more: str = "") -> ProgrammeOutcome:
        head = f'title = "people"\nvintage = "{vintage}"\npopulation = "people"\npolicy = "own.toml"\nfewest = 1\n'
        head += 'protection = "suppress"\nledger = "office.sqlite"\n'
        records = f'[records]\nfiles = "{vintage}.csv"\ncontributor = "id"\n[output]\nfolder = "{vintage}"\n'
        plan = plan_of(head + records + more + table("A", ["region", "size"]), folder=tmp_path)
        return run_plan(plan, RunOptions(seed=2**127 + 1))

    for vintage, counts in (("first", first), ("second", second)):
        cells = [f"r{i},s{k}" for i, row in enumerate(counts) for k, n in enumerate(row) for _ in range(n)]
        rows = ["id,region,size", *(f"{number},{cell}" for number, cell in enumerate(cells))]
        (tmp_path / f"{vintage}.csv").write_text("\n".join(rows) + "\n")
    publish_outcome(run_with("first"))
    said = '[previous]\nfolder = "first"\nrevision = true\nrecords = "first.csv"\n'
    found = run_with("second", said)
    assert found.verdict == "withhold"
    for _ in range(4):
        if found.verdict != "withhold":
            break
        named = found.clusters[0].sentence.partition("These are open: ")[2]
        assert named, found.clusters[0].sentence
        for one in named.split("; "):
            cell = ", ".join(f'{part.partition("=")[0]} = "{part.partition("=")[2]}"' for part in one.split(", "))
            said += f'[[frozen]]\ncell = {{ {cell} }}\nstate = "closed"\n'
        found = run_with("second", said)
    assert found.verdict == "protect", found.clusters[0].sentence


def frozen(keys: Iterable[Iterable[tuple[str, str]]], state: str) -> str:
    """Return the lines of a plan that freeze cells."""
    cells = [", ".join(f'{name} = "{code}"' for name, code in sorted(key)) for key in keys]
    return "".join(f'[[frozen]]\ncell = {{ {cell} }}\nstate = "{state}"\n' for cell in cells)


def test_a_correction_by_few_firms_is_published_by_either_remedy_that_the_reason_names(tmp_path: Path) -> None:
    firms: Firms = {i: (f"r{i % 3}", f"s{i // 3 % 2}", f"b{i // 6 % 3}", 50 + i % 7) for i in range(180)}
    publish_first(tmp_path, firms)
    chosen = [("r0", "s0", "b0"), ("r0", "s1", "b1"), ("r0", "s0", "b1"), ("r1", "s0", "b0"), ("r1", "s1", "b2")]
    corrected = [next(i for i, firm in firms.items() if firm[:3] == cell) for cell in (*chosen, ("r2", "s0", "b1"))]
    write(tmp_path, {i: (*f[:3], f[3] + 9 + i) if i in corrected else f for i, f in firms.items()})
    said = '[previous]\nfolder = "q1first"\nrevision = true\nrecords = "old.csv"\n'
    held = run_quarter(tmp_path, "q1", said, vintage="second", head="")
    assert held.verdict == "withhold"
    told = held.clusters[0].sentence
    assert "can be traced to very few people" in told
    (few,) = re.findall(r"say so: (fewest = \d)$", told)
    assert run_quarter(tmp_path, "q1", said, vintage="second", head=f"{few}\n").verdict == "protect"
    # Or what changed is closed, as it is named, until nobody is pointed at.
    more: dict[tuple[tuple[str, str], ...], None] = {}
    for _ in range(4):
        assert 'state = "closed"' in told
        named = re.findall(r"(\w+)=(\w+), (\w+)=(\w+): [\d,]+ − [\d,]+ = [+-]", told)
        more |= dict.fromkeys(((a, b), (c, d)) for a, b, c, d in named)
        found = run_quarter(tmp_path, "q1", said + frozen(more, "closed"), vintage="second", head="")
        told = found.clusters[0].sentence
        if found.verdict == "protect":
            break
    assert found.verdict == "protect", told


def test_what_was_hidden_may_be_printed_and_what_was_printed_hidden_as_far_as_both_versions_allow(
    tmp_path: Path,
) -> None:
    """Six firms join the one firm of a hidden cell, which can be printed, once sums that hold it are hidden."""
    sizes = {"s0": (30, 50), "s1": (12, 120), "s2": (4, 300)}
    firms: Firms = dict(
        enumerate(
            (f"r{r}", size, "b0", each + (7 * k + 3 * r) % 40)
            for r in range(4)
            for size, (n, each) in sizes.items()
            for k in range(1 if (r, size) == (0, "s2") else n)
        )
    )
    publish_first(tmp_path, firms)
    with Ledger(tmp_path / "office.sqlite", create=False) as ledger:
        before = Before.of(ledger.release(ledger.entries()[0].id))
    cell = frozenset({("region", "r0"), ("size", "s2")})
    assert before.is_open(cell) is False
    write(tmp_path, firms | {len(firms) + k: ("r0", "s2", "b0", 290 + 9 * k) for k in range(6)})
    said = '[previous]\nfolder = "q1first"\nrevision = true\nrecords = "old.csv"\n'
    every = [key for key, figure in before.figures.items() if figure is None]
    caught = run_quarter(tmp_path, "q1", said + frozen(every, "open"), vintage="second")
    assert caught.verdict == "withhold"
    assert "can be worked out exactly" in caught.clusters[0].sentence
    found = run_quarter(tmp_path, "q1", said + frozen([cell], "open"), vintage="third")
    assert found.verdict == "protect", found.clusters[0].sentence
    now = _figures(found)
    assert now[cell] is not None
    assert [key for key, figure in now.items() if figure is None and before.is_open(key)]
    assert "beside the ledger" in found.clusters[0].checks[-1][1]


def test_a_correction_of_figures_drawn_at_random_is_judged_by_the_policy_that_the_refusal_names(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    people = {i: born(draw)[:3] for i in range(300)}
    tables = table("A", ["region", "size"]) + table("B", ["region", "size", "branch"])
    (tmp_path / "own.toml").write_text('extends = "default"\n[limits]\ndr = "none"\n')

    def run_with(vintage: str, policy: str, more: str = "") -> ProgrammeOutcome:
        rows = ["id,region,size,branch", *(f"{i},{','.join(one)}" for i, one in people.items())]
        (tmp_path / f"{vintage}.csv").write_text("\n".join(rows) + "\n")
        head = f'title = "people"\nperiod = "q1"\nvintage = "{vintage}"\npopulation = "people"\npolicy = "{policy}"\n'
        head += 'ledger = "office.sqlite"\n'
        records = f'[records]\nfiles = "{vintage}.csv"\ncontributor = "id"\n[output]\nfolder = "{vintage}"\n'
        return run_plan(plan_of(head + records + more + tables, folder=tmp_path), RunOptions(seed=2**127 + 1))

    publish_outcome(run_with("first", "default"))
    people |= dict.fromkeys(range(0, 300, 12), ("r0", "s1", "b1"))
    said = '[previous]\nfolder = "first"\nrevision = true\nrecords = "first.csv"\n'
    refused = run_with("second", "default", said)
    assert refused.verdict == "withhold"
    assert "could not be judged; judge intervals" in refused.clusters[0].sentence
    assert "in a plan, a policy without a limit dr" in refused.clusters[0].sentence
    judged = run_with("third", "own.toml", said)
    assert "could not be judged" not in judged.clusters[0].sentence
    assert judged.verdict == "protect", judged.clusters[0].sentence


def test_a_revision_keeps_its_pattern_where_respondents_know_what_was_hidden_for_them(tmp_path: Path) -> None:
    """The one large firm of a region knows the cell that is hidden beside it: that is no reason to hide more."""
    amounts = {"s0": (40, 90), "s1": (6, 90), "s2": (1, 300)}
    rows = [
        (f"r{r}", size, "b0", each + 7 * r + k)
        for r in range(4)
        for size, (n, each) in amounts.items()
        for k in range(n)
    ]
    firms: Firms = {i: row for i, row in enumerate(rows) if row[:2] not in {("r2", "s2"), ("r3", "s2")}}
    write(tmp_path, firms)
    first = run_quarter(tmp_path, "q1", vintage="first")
    publish_outcome(first)
    before = _figures(first)
    hidden = {key for key, figure in before.items() if figure is None}
    assert {frozenset({("region", "r0"), ("size", size)}) for size in ("s1", "s2")} <= hidden
    (tmp_path / "firms.csv").rename(tmp_path / "old.csv")
    # A firm of an open cell beside them is corrected.
    corrected = next(i for i, firm in firms.items() if firm[:2] == ("r0", "s0"))
    write(tmp_path, firms | {corrected: (*firms[corrected][:3], firms[corrected][3] + 9)})
    said = '[previous]\nfolder = "q1first"\nrevision = true\nrecords = "old.csv"\n'
    found = run_quarter(tmp_path, "q1", said, vintage="second")
    assert found.verdict == "protect", found.clusters[0].sentence
    assert {key for key, figure in _figures(found).items() if figure is None} == hidden
    # What is kept hidden is not sensitive for that.
    sensitive = sum(one.sensitive for one in first.clusters[0].tables)
    assert f"{sensitive} sensitive cells and {len(hidden) - sensitive} others" in found.clusters[0].notes[0]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('revision = true\nrecords = "gone.csv"\n', "previous.records: .*gone.csv does not exist"),
        ('records = "firms.csv"\n', "previous.records: these say what a revision corrects; add revision = true"),
    ],
)
def test_records_of_then_that_are_not_there_or_not_asked_for_are_refused(more: str, told: str, tmp_path: Path) -> None:
    write(tmp_path, {1: ("r0", "s0", "b0", 5)})
    (tmp_path / "q1first").mkdir()
    with pytest.raises(RequestError, match=told):
        run_quarter(tmp_path, "q1", f'[previous]\nfolder = "q1first"\n{more}')


def _figures(outcome: ProgrammeOutcome) -> dict[frozenset[tuple[str, str]], float | None]:
    release = outcome.clusters[0].release
    return {} if release is None else dict(Before.of(release).figures)


def test_frozen_cells_stay_or_the_fewest_to_release_are_named(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    write(tmp_path, {i: born(draw) for i in range(220)})
    plain = run_quarter(tmp_path, "q1")
    figures = _figures(plain)
    closed = [key for key, figure in figures.items() if figure is None and len(key) == 2]
    shown = [key for key, figure in figures.items() if figure is not None and len(key) == 2]

    held = run_quarter(tmp_path, "q2", frozen(shown[:2], "open") + frozen(shown[3:4], "closed"))
    assert held.verdict == "protect"
    now = _figures(held)
    assert [now[key] is None for key in (*shown[:2], shown[3])] == [False, False, True]
    # All that was hidden must be open: at least the sensitive ones cannot be.
    with pytest.raises(InfeasibleError, match=r"fewest to release.* from the freeze (is|are) \d+ cell") as error:
        run_quarter(tmp_path, "q3", frozen(closed, "open"))
    assert not (tmp_path / "q3" / "A.csv").exists()
    # Each cell is named and counted once, sensitive ones too.
    said = re.search(r"(\d+) cells?: (.*)", str(error.value))
    assert said is not None
    named = re.split("; (?:and )?", said[2])
    assert len(set(named)) == len(named)
    assert int(said[1]) <= len(closed)


@pytest.mark.parametrize(
    ("protection", "more", "told"),
    [
        (
            "propose",
            '[[frozen]]\ncell = { region = "N" }\nstate = "closed"\n',
            "'count' is protected by random-rounding",
        ),
        (
            "controlled-rounding:base=5",
            '[[frozen]]\ncell = { region = "N" }\nstate = "open"\n',
            "only suppression keeps",
        ),
        (
            "controlled-rounding:base=5",
            '[previous]\nfolder = "published"\ngrowth = 20\n',
            r"previous\.growth: only suppression",
        ),
        ("suppress", '[[frozen]]\ncell = { region = "E" }\nstate = "closed"\n', "is 0, and zeros are published"),
    ],
)
def test_what_cannot_be_kept_is_refused(protection: str, more: str, told: str, tmp_path: Path) -> None:
    """A cell that must stay closed was printed without a word."""
    records, value = 'files = "r.csv"\ncontributor = "id"\n', ""
    rows = [f"{i},{'NSW'[i % 3]},{20 + i}" for i in range(30)]
    if protection == "suppress":
        rows, value = [*rows, *(f"{i},E,0" for i in range(30, 34))], "turnover"
    (tmp_path / "r.csv").write_text("\n".join(["id,region,turnover", *rows]) + "\n")
    head = f'title = "T"\npolicy = "default"\nprotection = "{protection}"\n[records]\n{records}'
    tables, options = table("A", ["region"], value), RunOptions(seed=2**127 + 1)
    run_plan(plan_of(head + tables, folder=tmp_path), options)
    before = (tmp_path / "published" / "A.csv").read_text()
    with pytest.raises(RequestError, match=told):
        run_plan(plan_of(head + more + tables, folder=tmp_path), options)
    assert (tmp_path / "published" / "A.csv").read_text() == before


def test_a_reader_of_the_last_figures_who_knows_the_growth_learns_no_more(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    firms: Firms = {i: born(draw) for i in range(220)}
    write(tmp_path, firms)
    last = run_quarter(tmp_path, "q1")
    write(tmp_path, next_quarter(draw, firms))
    now = run_quarter(tmp_path, "q2", '[previous]\nfolder = "q1"\ngrowth = 30\n')
    assert now.verdict == "protect"
    assert any("who knows what was printed last time" in note for note in now.clusters[0].notes)
    release = now.clusters[0].release
    assert release is not None
    known = [
        Fact.within(dict(key), figure, 30) for key, figure in _figures(last).items() if figure and key in _figures(now)
    ]
    assert last.clusters[0].release is not None
    left = Before.of(last.clusters[0].release).left()
    hidden = {key: left[key] for key, figure in _figures(last).items() if figure is None}
    assert hidden
    known += [Fact(dict(key), 0.7 * least, 1.3 * most) for key, (least, most) in hidden.items() if key in _figures(now)]
    facts = [replace(one, lower=np.ceil(one.lower or 0), upper=np.floor(one.upper or 0)) for one in known]
    truth = {key: figure for key, figure in _figures(now).items() if figure is not None}
    right = [f for f in facts if (v := truth.get(frozenset(f.cell.items()))) is None or f.lower <= v <= f.upper]  # type: ignore[operator]
    found = audit(release, attackers=[Attacker("reader of the last figures", knows=tuple(right))])
    assert {cell.verdict for cell in found.cells} == {"safe"}


def test_what_the_last_figures_left_of_hidden_ones_is_known_too(tmp_path: Path) -> None:
    """What a policy left last time that asked for narrow intervals is no wider now, but for the growth."""
    sizes = {"na": [1000], "nb": [5] * 4, "nc": [250] * 8, "sa": [300] * 5, "sb": [5] * 5, "sc": [250] * 10}
    rows = [(cell, part) for cell, parts in sizes.items() for part in parts]
    lines = [f"{i},{cell[0]},{cell[1]},{part}" for i, (cell, part) in enumerate(rows)]
    (tmp_path / "firms.csv").write_text("\n".join(["id,region,size,turnover", *lines]) + "\n")

    def listed(cell: dict[str, str]) -> str:
        return ", ".join(f"{name} = '{code}'" for name, code in cell.items())

    rules = '[rules]\nthreshold = 3\np_percent = "none"\ndominance = "none"\nsafety_range = {}\n'
    tables = '[records]\nfiles = "firms.csv"\ncontributor = "id"\n' + table("A", ["region", "size"], "turnover")

    def run_with(number: int, range_: int, more: str = "") -> ProgrammeOutcome:
        (tmp_path / "own.toml").write_text(f'extends = "business"\n{rules.format(range_)}')
        text = f'policy = "own.toml"\n[output]\nfolder = "out{number}"\n{more}{tables}'
        return run_plan(plan_of(text, folder=tmp_path), RunOptions(seed=2**127 + 1))

    opened = [{"size": "c"}, *({"region": region, "size": "c"} for region in "ns"), {"region": "n"}, {"size": "a"}]
    frozen = "".join(f"[[frozen]]\nstate = 'open'\ncell = {{ {listed(cell)} }}\n" for cell in opened)
    last = run_with(1, 1, frozen)
    assert last.clusters[0].release is not None
    key = frozenset({("region", "n"), ("size", "a")})
    least, most = Before.of(last.clusters[0].release).left()[key]
    assert least <= 1000 <= most < 1100
    found = run_with(2, 30, '[previous]\nfolder = "out1"\ngrowth = 0.5\n')
    told = f"region=n, size=a between {np.ceil(least * 0.995):,.0f} and {np.floor(most * 1.005):,.0f}"
    assert any("more closely than protection levels allow" in note and told in note for note in found.clusters[0].notes)


@pytest.mark.parametrize("decimals", [0, 1])
def test_what_the_last_figures_and_the_growth_alone_tell_is_not_called_safe(tmp_path: Path, decimals: int) -> None:
    """A turnover of 105 that was printed last time, and is one firm's now, is known if it changed by 0.5% at most."""
    unit = 10**decimals
    head = 'policy = "business"\nprotection = "suppress"\n[records]\nfiles = "firms.csv"\ncontributor = "id"\n'
    head += f"decimals = {decimals}\n"

    def run_with(number: int, more: str = "", alone: bool = False) -> ProgrammeOutcome:
        cells = {"na": 105, "nb": 205, "sa": 305, "sb": 405, "wa": 126, "wb": 145}
        parts = {cell: [total] if cell == "na" and alone else [total // 5] * 4 for cell, total in cells.items()}
        rows = [(cell, part) for cell, found in parts.items() for part in [*found, cells[cell] - sum(found)] if part]
        lines = [f"{i},{cell[0]},{cell[1]},{part / unit}" for i, (cell, part) in enumerate(rows)]
        (tmp_path / "firms.csv").write_text("\n".join(["id,region,size,turnover", *lines]) + "\n")
        output = f'[output]\nfolder = "out{number}"\n'
        plan = head + output + more + table("A", ["region", "size"], "turnover")
        return run_plan(plan_of(plan, folder=tmp_path), RunOptions(seed=2**127 + 1))

    run_with(1)
    again = '[previous]\nfolder = "out1"\ngrowth = {}\n'
    with pytest.raises(
        InfeasibleError, match=r"no figure changed by more than 0\.5% know region=n, size=a.*sensitive now"
    ):
        run_with(2, again.format(0.5), alone=True)
    found = run_with(3, again.format(5), alone=True)
    told = f"region=n, size=a between {100 / unit:.{decimals}f} and {110 / unit:.{decimals}f}"
    assert any("more closely than protection levels allow" in note and told in note for note in found.clusters[0].notes)
    assert not any("more closely" in note for note in run_with(4, again.format(5)).clusters[0].notes)


def run_counts(folder: Path, number: int, counts: dict[str, int], head: str, more: str = "") -> ProgrammeOutcome:
    """Run a plan of people by two dimensions."""
    rows = [f"{cell[0]},{cell[1]}" for cell, count in counts.items() for _ in range(count)]
    (folder / "people.csv").write_text("\n".join(["region,size", *rows]) + "\n")
    output = f'[output]\nfolder = "out{number}"\n[records]\nfiles = "people.csv"\n'
    return run_plan(
        plan_of(head + output + more + table("A", ["region", "size"]), folder=folder), RunOptions(seed=2**127 + 1)
    )


OWN = 'extends = "default"\ninsiders = "none"\nzeros = "{}"\n[rules]\nthreshold = 3\ngroup_disclosure = "none"\n'
OWN += '[limits]\nr2 = "none"\ntau = "none"\ndr = "none"\n[[protections]]\nname = "suppress"\n'
PEOPLE = {"na": 40, "nb": 0, "nc": 52, "sa": 22, "sb": 7, "sc": 63}


def test_a_figure_that_was_rounded_last_time_is_known_as_far_as_it_was_printed(tmp_path: Path) -> None:
    """52, printed as 50, did not change by a per cent, though 50 and 52 differ by more."""
    (tmp_path / "own.toml").write_text(OWN.format("safe"))
    head = 'policy = "own.toml"\nprotection = "{}"\n'
    run_counts(tmp_path, 1, PEOPLE, head.format("conventional-rounding:base=5,margins=true"))
    more = '[previous]\nfolder = "out1"\ngrowth = 1\n'
    found = run_counts(tmp_path, 2, PEOPLE, head.format("suppress"), more)
    told = [note for note in found.clusters[0].notes if "who knows what was printed last time" in note]
    assert told
    assert "changed by more" not in told[0]


def test_a_zero_that_was_printed_last_time_is_known_to_be_one(tmp_path: Path) -> None:
    head = 'policy = "own.toml"\nprotection = "suppress"\n'
    (tmp_path / "own.toml").write_text(OWN.format("safe"))
    run_counts(tmp_path, 1, PEOPLE, head)
    (tmp_path / "own.toml").write_text(OWN.format("unsafe"))
    with pytest.raises(InfeasibleError, match=r"know region=n, size=b, which is sensitive now.*: it is 0"):
        run_counts(tmp_path, 2, PEOPLE, head, '[previous]\nfolder = "out1"\ngrowth = 90\n')
