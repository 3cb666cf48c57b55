"""Means of sums and numbers beside a release: hidden with either, told by nothing else, judged by the same rules."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import refused, run

from discreet.auditing.audit import audit
from discreet.core.errors import RequestError
from discreet.decide.assess import assess
from discreet.decide.compare import compare
from discreet.decide.ledger import Ledger
from discreet.decide.policy import Policy
from discreet.decide.replay import replay
from discreet.table.figures import Figures
from discreet.table.presentation import FORMATS, Presentation
from discreet.table.published_statistics import with_published
from discreet.table.release import Release
from discreet.table.release_reader import read_release
from discreet.tabulation.tabulate import tabulate

MEAN = "mean, of=turnover, per=records"
HEADS = "mean, of=turnover, per=heads, decimals=2"
POLICY: dict[str, Any] = {
    "rules": {"threshold": 3, "p_percent": 10},
    "protections": [{"name": "suppress"}, {"name": "tabular-adjustment"}],
}
RULES = ("--rule", "p=10", "--rule", "threshold=3")


def firms(seed: int, path: Path, most: int = 6, size: float = 60.0) -> Path:
    """Write some firms in three regions and two branches; one of them dominates a cell of several."""
    rng, rows = np.random.default_rng(seed), ["region,branch,id,turnover,heads"]
    for region, branch in product("nsw", "AB"):
        for _ in range(int(rng.integers(1, most + 1))):
            rows.append(f"{region},{branch},f{len(rows)},{int(rng.exponential(size)) + 1},{int(rng.integers(1, 30))}")
    rows += [f"n,A,f{len(rows) + i},{amount},{amount}" for i, amount in enumerate((4000, 20, 20, 15))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def tabulated(seed: int, folder: Path) -> Any:
    file = firms(seed, folder / "firms.csv")
    return tabulate(file, by=["region", "branch"], value=["turnover", "heads"], contributor="id")


def assessed(seed: int, folder: Path, threshold: int = 3, **statistics: str) -> Any:
    policy = Policy.model_validate({**POLICY, "rules": {"threshold": threshold, "p_percent": 10}})
    cells = tabulated(seed, folder)
    return assess(cells, policy, protection="suppress", response="turnover", seed=1, trial=True, statistics=statistics)


@pytest.mark.parametrize("form", ["csv", "flags", "sdmx-csv", "xlsx", "parquet"])
def test_means_are_published_where_sums_and_numbers_are(form: str, tmp_path: Path) -> None:
    found = assessed(1, tmp_path, mean=MEAN, per_head=HEADS)
    assert found.verdict == "protect"
    (told,) = [one for one in found.checks if one.name == "statistics"]
    assert told.passed
    assert "suppressed by the same rules: records (" in told.text
    (file,) = found.release.write(
        tmp_path / f"r{FORMATS[form]}", value="value", trial=True, style=Presentation(format=form)
    )
    main, *others = read_release(file).parts()
    by_measure = {part.measure: part for part in others}
    assert list(by_measure) == ["records", "heads"]
    assert all(part.kinds[1].phrase == "suppressed, at least 1" for part in by_measure.values())
    for column, measure in zip(main.statistics, ("records", "heads"), strict=True):
        other = by_measure[measure]
        shown = ~main.hidden & ~other.hidden
        assert {tuple(one) for one in column.codes.tolist()} == {tuple(one) for one in main.codes[shown].tolist()}
        truth = main.values[shown] / other.values[shown]
        assert np.abs(column.values / 10**column.decimals - truth).max() <= 0.5 / 10**column.decimals + 1e-9
    assert main.hidden.sum() >= 2
    seen = audit(read_release(file), proofs=0)
    assert seen.verdict == "safe"
    assert len(seen.findings) == sum(int(part.hidden.sum()) for part in (main, *others))


def test_the_mean_of_a_dominated_cell_is_hidden_though_many_are_counted_there(tmp_path: Path) -> None:
    found = assessed(1, tmp_path, threshold=1, mean=MEAN)
    main, records = found.release.parts()
    cell = [labels.index(label) for labels, label in zip(main.labels.values(), ("n", "A"), strict=True)]
    row = next(i for i, codes in enumerate(main.codes.tolist()) if codes == cell)
    assert main.hidden[row]
    assert not records.hidden[row]
    assert cell not in main.statistics[0].codes.tolist()


Cell = tuple[int, int]
"""A region and a branch; 0 is the total."""


def possible(known: dict[Cell, int | None]) -> dict[Cell, set[int]]:
    """Return the values of every cell in all tables that fit what is shown, hidden figures at least 1.

    Of the other regions only their sums matter for one of them, so these are taken instead of every table.
    """
    most = known[0, 0]
    assert most is not None
    rows = []
    for i in (1, 2, 3):
        sides = [[value] if (value := known[i, j]) is not None else range(1, most) for j in (1, 2)]
        rows.append([pair for pair in product(*sides) if sum(pair) <= most and known[i, 0] in (None, sum(pair))])
    found: dict[Cell, set[int]] = {cell: set() for cell in known}
    for i, row in enumerate(rows, 1):
        others = {(a + c, b + d) for (a, b), (c, d) in product(*(rows[k] for k in range(3) if k != i - 1))}
        for (a, b), (c, d) in product(row, others):
            sums = {(0, 0): a + b + c + d, (0, 1): a + c, (0, 2): b + d}
            if all(known[cell] in (None, value) for cell, value in sums.items()):
                for cell, value in {**sums, (i, 0): a + b, (i, 1): a, (i, 2): b}.items():
                    found[cell].add(value)
    return found


def read_by_eye(path: Path) -> tuple[list[dict[str, str]], dict[str, dict[Cell, int | None]]]:
    """Return the rows of a file, and its figures by measure; a mark is None."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known: dict[str, dict[Cell, int | None]] = {"value": {}, "records": {}}
    for row in rows:
        cell = ("Total", "n", "s", "w").index(row["region"]), ("Total", "A", "B").index(row["branch"])
        for measure, held in known.items():
            held[cell] = None if row[measure] == "x" else int(row[measure])
    return rows, known


@pytest.mark.parametrize("seed", range(5))
def test_nobody_learns_more_than_the_audit_says(seed: int, tmp_path: Path) -> None:
    attack(seed, tmp_path)


@pytest.mark.long
def test_nobody_learns_more_from_many_files(tmp_path: Path) -> None:
    hidden = [attack(seed, tmp_path) for seed in range(100, 160)]
    print(f"{sum(map(bool, hidden))} files, {sum(hidden):,} hidden figures")
    assert sum(hidden) > 100


def attack(seed: int, tmp_path: Path) -> int:
    """Take every pair of tables that fits a file: sums, numbers, and printed means; return how many are hidden."""
    (tmp_path / "r.csv").unlink(missing_ok=True)
    rng, lines = np.random.default_rng(seed), ["region,branch,id,turnover"]
    for region, branch in product("nsw", "AB"):
        for _ in range(int(rng.integers(1, 5))):
            lines.append(f"{region},{branch},f{len(lines)},{int(rng.integers(1, 3))}")
    (tmp_path / "f.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("tabulate", tmp_path / "f.csv", "--by", "region,branch", "--value", "turnover", "-o", tmp_path / "f.parquet")
    asked = ("protect", "suppress", tmp_path / "f.parquet", "--rule", "threshold=2", "-o", tmp_path / "r.csv")
    if run(*asked, "--statistic", f"mean={MEAN}").code:
        # So few firms cannot always be protected.
        assert not (tmp_path / "r.csv").exists()
        return 0
    rows, known = read_by_eye(tmp_path / "r.csv")
    for row in rows:
        both = "x" not in (row["value"], row["records"])
        assert both == (row["mean"] != "x")
        assert not both or abs(float(row["mean"]) - int(row["value"]) / int(row["records"])) < 0.05 + 1e-9
    # Any sums fit any numbers, as somebody is in every cell; and printed means are of figures that are shown.
    seen = audit(read_release(tmp_path / "r.csv"), proofs=0)
    for measure, held in known.items():
        fits = possible(held)
        for cell in (cell for cell, value in held.items() if value is None):
            values = fits[cell]
            labels = {"region": ("Total", "n", "s", "w")[cell[0]], "branch": ("Total", "A", "B")[cell[1]]}
            found = seen.cell(**labels, **({"measure": measure} if measure == "records" else {}))
            assert (found.lower, found.upper) == (min(values), max(values))
            assert len(values) > 1
    return sum(value is None for held in known.values() for value in held.values())


def test_records_and_replays_and_the_map_know_means(tmp_path: Path) -> None:
    file = firms(2, tmp_path / "firms.csv")
    cells = tmp_path / "cells.parquet"
    run("tabulate", file, "--by", "region,branch", "--value", "turnover,heads", "--contributor", "id", "-o", cells)
    policy = tmp_path / "policy.toml"
    policy.write_text('[rules]\nthreshold = 3\np_percent = 10\n[[protections]]\nname = "suppress"\n', encoding="utf-8")
    record, report = tmp_path / "a.json", tmp_path / "a.html"
    asked = ("--value", "turnover", "--policy", policy, "--statistic", f"mean={MEAN}", "--record", record)
    told = run("assess", cells, *asked, "--report", report, "-o", tmp_path / "r.csv")
    assert told.code == 0, told.err
    assert replay(record).same
    assert "records (" in report.read_text(encoding="utf-8")
    found = compare(
        cells, ["suppress"], policy=str(policy), response="turnover", statistics={"mean": MEAN}, seed=1, audits=1
    )
    kept = {point.point.parameters.get("statistics", ""): point.figures["statistics"] for point in found.points[1:]}
    assert set(kept) == {"", "dropped", "kept", "coarser", "ranges"}
    assert kept["dropped"].mean == 0 < kept[""].mean  # type: ignore[union-attr]
    utility = {point.figure("utility") for point in found.points[1:]}
    assert len(utility) == 1


def test_what_numbers_would_tell_of_other_figures_is_not_published(tmp_path: Path) -> None:
    cells = tabulated(1, tmp_path)
    found = assess(
        cells,
        Policy.model_validate(POLICY),
        protection="tabular-adjustment",
        response="turnover",
        seed=1,
        trial=True,
        statistics={"mean": MEAN},
    )
    assert found.evidence.statistics[0].shown == 0
    assert len(found.evidence.release.parts()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--rule", "p=10"), "no rule says which numbers are sensitive"),
        ((*RULES, "--zeros", "suppressible"), "where marks may hide zeros"),
    ],
)
def test_what_is_not_judged_is_refused(arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    tabulated(1, tmp_path).write(tmp_path / "t.parquet")
    asked = ("protect", "suppress", tmp_path / "t.parquet", "--value", "turnover", *arguments)
    assert told in refused(run(*asked, "--statistic", f"mean={MEAN}", "-o", tmp_path / "r.csv"))
    assert not (tmp_path / "r.csv").exists()


def test_definitions_that_would_say_more_are_refused(tmp_path: Path) -> None:
    tabulated(1, tmp_path).write(tmp_path / "t.parquet")
    for definition, told in {
        "mean, of=turnover, per=recods": "did you mean 'records'",
        "percentage, of=turnover, per=heads": "means are published",
        "mean, of=turnover, per=records, range=1..9": "leave out range=",
        "median, of=turnover": "cannot be computed",
    }.items():
        asked = ("protect", "suppress", tmp_path / "t.parquet", "--value", "turnover", *RULES)
        assert told in refused(run(*asked, "--statistic", f"s={definition}", "-o", tmp_path / "r.csv"))
    other = ("protect", "tabular-adjustment", tmp_path / "t.parquet", "--value", "turnover", "--rule", "p=10")
    assert "protect these by suppression" in refused(run(*other, "--statistic", f"mean={MEAN}"))
    tab = ("protect", "suppress", tmp_path / "t.parquet", "--value", "turnover", *RULES, "-o", tmp_path / "r.tab")
    assert "a file of one table has a place for: .csv, .xlsx or .parquet" in refused(
        run(*tab, "--statistic", f"mean={MEAN}")
    )


def test_measures_of_other_cells_or_units_are_refused() -> None:
    sums = Figures.from_array([30, 20, 50], {"sex": ["m", "f", "Total"]}, figure="turnover")
    for other, told in (
        (Figures.from_array([3, 5], {"sex": ["m", "Total"]}, measure="records"), "published for other cells"),
        (Figures.from_array([30, 20, 50], {"sex": ["m", "f", "Total"]}, measure="records", decimals=1), "smaller unit"),
    ):
        with pytest.raises(RequestError, match=told):
            with_published(Release.of([sums, other]), {"mean": MEAN})


def test_a_ledger_keeps_every_measure_by_itself(tmp_path: Path) -> None:
    tabulated(1, tmp_path).write(tmp_path / "t.parquet")
    file, book = tmp_path / "r.csv", ("--ledger", tmp_path / "book.sqlite")
    asked = ("protect", "suppress", tmp_path / "t.parquet", "--value", "turnover", *RULES, "-o", file)
    assert run(*asked, "--statistic", f"mean={MEAN}").code == 0
    assert "--measure, --variable" in refused(run("ledger", "add", file, *book))
    sums = ("--measure", "value", "--variable", "turnover", "--title", "sums")
    assert run("ledger", "add", file, *book, *sums).code == 0
    numbers = ("--measure", "records", "--title", "numbers")
    told = run("ledger", "check", file, *book, *numbers, "--threshold", "3")
    assert (told.code, told.out.split()[0]) == (0, "safe"), told.out
    assert run("ledger", "add", file, *book, *numbers).code == 0
    assert "the release has no measure 'heads'" in refused(run("ledger", "add", file, *book, "--measure", "heads"))
    with Ledger(tmp_path / "book.sqlite") as kept:
        assert [len(kept.release(entry.id).parts()) for entry in kept.entries()] == [1, 1]
