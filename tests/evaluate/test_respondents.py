"""One respondent in several cells is one reader with all of it: audited, protected against, and enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.cli.running import run
from tests.lengths import few_or_long

import discreet as dc
from discreet import Figures
from discreet.core.errors import InfeasibleError
from discreet.core.numerics import IntArray
from discreet.rules import Threshold
from discreet.table.contributions import Contributions
from discreet.table.stakes import in_one_cell
from discreet.table.tabulation import Tabulation

ROWS = [("A", "F", 10), ("B", "F", 20), ("C", "G", 30), ("D", "H", 40), ("D", "I", 50), ("D", "J", 60)]


def records(rows: list[tuple[str, str, int]] = ROWS) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["cell", "firm", "turnover"])


def tabulated(rows: list[tuple[str, str, int]] = ROWS) -> Tabulation:
    return dc.tabulate(records(rows), ["cell"], value="turnover", contributor="firm")


def hidden(found: Any) -> set[str]:
    part = found.release.parts()[0]
    return {part.labels["cell"][part.codes[i, 0]] for i in np.flatnonzero(part.hidden)}


# --- one firm in several cells -------------------------------------------------------------------------------


def test_a_firm_in_two_cells_works_out_the_third() -> None:
    table = tabulated()
    outsiders = dc.suppress(table, Threshold(2), insiders="none")
    assert hidden(outsiders) == {"A", "B", "C"}
    assert "What respondents work out with their own contributions was not judged." in str(outsiders)
    found = dc.audit(outsiders.release, original=table)
    assert found.verdict == "unsafe"
    cell = found.cell("respondent F", cell="C")
    assert (cell.lower, cell.upper) == (30, 30)
    assert "210 − 10 − 20 − 150 = 30" in cell.proof
    blind = dc.audit(outsiders.release, original=table, insiders="none")
    assert blind.verdict == "safe"
    assert "was not judged (insiders 'none')" in blind.sentence
    listed = Contributions.from_rows([({"cell": c}, f, v) for c, f, v in ROWS])
    assert dc.audit(outsiders.release, contributions=listed).cell("F", cell="C").values == 1
    with pytest.raises(dc.RequestError, match="contributions are given, but insiders are 'none'"):
        dc.audit(outsiders.release, contributions=listed, insiders="none")


def test_suppression_protects_against_it_by_default() -> None:
    table = tabulated()
    found = dc.suppress(table, Threshold(2))
    assert hidden(found) == {"A", "B", "C", "D"}
    assert dc.audit(found.release, original=table).verdict == "safe"
    assert "safe against outsiders and 3 insiders" in str(found)


def test_where_nothing_protects_the_cell_and_the_remedy_are_named() -> None:
    with pytest.raises(InfeasibleError, match=r"(?s)against the respondent [FG].*coarser.*insiders='none'"):
        dc.suppress(tabulated(ROWS[:3]), Threshold(2), wishes=(dc.protect.Wish({"cell": "Total"}, "publish"),))


def test_it_is_judged_in_assessments_and_comparisons() -> None:
    policy = dc.Policy.from_text('extends = "business"\n[rules]\nthreshold = 2\ndominance = []\np_percent = "none"\n')
    table = tabulated()
    outsiders = dc.suppress(table, Threshold(2), insiders="none").release
    found = dc.assess(table, policy, protection=outsiders, seed=1, trial=True)
    assert found.verdict == "withhold"
    assert any("cell cell=C by respondent F" in reason for reason in found.reasons)
    assert [cell["state"] for cell in found.cells(None)].count("determined") >= 1
    assert dc.assess(table, policy, seed=1, trial=True).verdict == "protect"
    silent = dc.Policy.from_text(
        'extends = "business"\ninsiders = "none"\n[rules]\nthreshold = 2\ndominance = []\np_percent = "none"\n'
    )
    blind = dc.assess(table, silent, protection=outsiders, seed=1, trial=True)
    assert blind.verdict == "release"
    assert any("was not judged, as the policy says" in check.text for check in blind.checks)
    compared = dc.compare(
        table, [{"name": "suppress", "insiders": ["none", "respondents"]}], policy=policy, seed=1, draws=2
    )
    kept = {point.point.parameters.get("insiders"): point.faults for point in compared.points}
    assert any("not safe from respondents" in fault for fault in kept["none"])
    assert not kept["respondents"]


def test_every_profile_judges_respondents() -> None:
    from discreet.decide.policy_texts import profiles

    for name in profiles():
        policy = dc.Policy.load(name)
        assert policy.insiders == "respondents"
        assert all(one.parameters.get("insiders") != "none" for one in policy.protections)


def test_the_command_line_finds_it_and_protects_against_it(tmp_path: Path) -> None:
    firms, table = tmp_path / "firms.csv", tmp_path / "table.parquet"
    records().to_csv(firms, index=False)
    shown = tmp_path / "shown.csv"
    shown.write_text("cell,value\nA,x\nB,x\nC,x\nD,150\nTotal,210\n")
    given = ("--contributions", firms, "--contributor", "firm", "--contribution", "turnover")
    listed = run("audit", shown, "--value", "value", *given)
    assert listed.code == 1
    assert "unsafe" in listed.out
    made = run("tabulate", firms, "--by", "cell", "--value", "turnover", "--contributor", "firm", "-o", table)
    assert made.code == 0, made.err
    # The file of the tabulation keeps who is who.
    assert dc.read_tabulation(table) == tabulated()
    judged = run("audit", shown, "--original", table, "--rule", "threshold=2", "--json")
    assert judged.code == 1, judged.err
    assert '"respondent F"' in judged.out
    blind = run("audit", shown, "--original", table, "--rule", "threshold=2", "--insiders", "none")
    assert blind.code == 0
    assert "was not judged" in " ".join(blind.out.split())
    out = tmp_path / "release.csv"
    suppressed = run("protect", "suppress", table, "--rule", "threshold=2", "-o", out)
    assert suppressed.code == 0, suppressed.err
    assert "safe against outsiders and 3 insiders" in " ".join(suppressed.out.split())
    assert run("audit", out, "--original", table, "--rule", "threshold=2").code == 0
    careless = run(
        "protect", "suppress", table, "--rule", "threshold=2", "--insiders", "none", "-o", tmp_path / "n.csv"
    )
    assert "was not judged" in " ".join(careless.out.split())


def test_tables_that_do_not_say_who_is_in_which_cell() -> None:
    from dataclasses import replace

    table = replace(tabulated(), respondents=None)
    assert not in_one_cell(table)
    with pytest.raises(dc.RequestError, match=r"(?s)in several cells of cell.*contributor=.*insiders='none'"):
        dc.suppress(table, Threshold(2))
    release = dc.suppress(table, Threshold(2), insiders="none").release
    found = dc.audit(release, original=table)
    assert found.verdict == "incomplete"
    assert "does not say who is in which" in found.sentence
    assert dc.assess(table, "business", protection=release, seed=1, trial=True).verdict == "withhold"
    # Where nobody is in several cells, the largest contributors are known well enough.
    apart = dc.tabulate(records([("A", "F", 10), ("B", "G", 20), *ROWS[3:]]), ["cell"], value="turnover")
    assert apart.respondents is None
    assert in_one_cell(apart)
    hid = dc.suppress(apart, Threshold(2), insiders="none").release
    assert dc.audit(hid, original=apart).cell("respondent of cell=A", cell="B").values == 1


def test_one_firm_in_linked_tables() -> None:
    """F is one of s1 in the first table and of r1 in the second, which share only the activity."""
    frame = pd.DataFrame(
        [("a", "s1", "r1", "F", 10), ("a", "s2", "r2", "G", 20), ("a", "s2", "r2", "H", 9), ("a", "s3", "r3", "K", 7)],
        columns=["activity", "size", "region", "firm", "turnover"],
    )
    tables = [
        dc.tabulate(frame, ["activity", other], value="turnover", contributor="firm") for other in ("size", "region")
    ]
    shown = [
        Figures.from_array([[None, None, 7, 46], [None, None, 7, 46]], {"activity": ["a", "Total"], "size": S})
        for S in (["s1", "s2", "s3", "Total"],)
    ]
    found = dc.audit(shown, contributions=tables)
    assert found.cell("respondent F", activity="a", size="s2").values == 1
    both = dc.suppress(tables, Threshold(2))
    assert {"respondent F", "respondent K"} <= set(both.pattern.known.names)


# --- against all tables that a respondent cannot rule out -------------------------------------------------------


class Case:
    """A small table of sums, its records, and every position with the cells inside it."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.flat = bool(rng.random() < 0.5)
        if self.flat:
            self.cells: list[tuple[str, ...]] = [(c,) for c in "ABCD"]
            self.names: list[str] = ["x"]
        else:
            self.cells = [(a, b) for a in "AB" for b in "CD"]
            self.names = ["x", "y"]
        firms = [f"f{i}" for i in range(int(rng.integers(2, 5)))]
        rows: list[tuple[Any, ...]] = []
        for cell in self.cells:
            for firm in rng.choice(firms, int(rng.choice([1, 1, 1, 2, 2, 3][: 2 * len(firms)])), replace=False):
                rows.append((*cell, str(firm), int(rng.choice([1, 1, 2, 3]))))
        self.frame = pd.DataFrame(rows, columns=[*self.names, "firm", "v"])
        self.table = dc.tabulate(self.frame, self.names, value="v", contributor="firm", engine="reference")
        labels = [sorted({cell[i] for cell in self.cells}) for i in range(len(self.names))]
        self.labels = [[*one, "Total"] for one in labels]
        self.positions = list(itertools.product(*self.labels))
        self.inside = np.array(
            [[all(p in (c, "Total") for p, c in zip(pos, cell, strict=True)) for cell in self.cells]
             for pos in self.positions]
        )  # fmt: skip
        own = {f: np.zeros(len(self.cells), np.int64) for f in sorted(self.frame.firm.unique())}
        for *place, firm, v in rows:
            own[firm][self.cells.index(tuple(place))] += v
        self.own = {firm: self.inside @ amounts for firm, amounts in own.items()}
        self.value = self.inside @ np.sum(list(own.values()), axis=0)
        self.units = np.sum([amounts > 0 for amounts in self.own.values()], axis=0)

    def fitting(self, shown: np.ndarray, least: int = 0) -> IntArray:
        """All tables of whole numbers that fit what is shown, as values of all positions; hidden ones have a least."""
        most = int(self.value.max()) + (0 if shown[-1] else 1)
        ranges = []
        for k, _ in enumerate(self.cells):
            single = np.flatnonzero((self.inside.sum(1) == 1) & self.inside[:, k])[0]
            ranges.append(np.array([self.value[single]]) if shown[single] else np.arange(most + 1))
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1)
        tables = np.rint(grid.astype(np.float64) @ self.inside.T).astype(np.int64)
        fits: IntArray = tables[(tables[:, shown] == self.value[shown]).all(1) & (tables[:, ~shown] >= least).all(1)]
        return fits

    def known_to(self, firm: str, tables: IntArray) -> IntArray:
        """The tables that a firm cannot rule out."""
        own = self.own[firm]
        fits = (tables >= own).all(1)
        alone = (own > 0) & (self.units == 1)
        mine: IntArray = tables[fits & (tables[:, alone] == own[alone]).all(1)]
        return mine


def release_of(case: Case, shown: np.ndarray) -> Figures:
    array = np.where(shown, case.value, -1).reshape([len(one) for one in case.labels]).tolist()
    blank = [None if v < 0 else v for v in array] if case.flat else [[None if v < 0 else v for v in r] for r in array]
    mark = dc.Kind("suppressed", least=0)
    return Figures.from_array(blank, dict(zip(case.names, case.labels, strict=True)), mark=mark)


def examine(seed: int) -> str:
    case = Case(seed)
    shown = case.rng.random(len(case.positions)) < 0.45
    # The total is shown, so that the list of tables is finite.
    shown[-1] = True
    tables = case.fitting(shown)
    found = dc.audit(release_of(case, shown), original=case.table, proofs=0)
    reported = {(c.attacker, tuple(c.cell[n] for n in case.names), c.subject): c for c in found.cells}
    exact = False
    outside = {}
    for i in np.flatnonzero(~shown).tolist():
        outside[i] = (int(tables[:, i].min()), int(tables[:, i].max()))
        exact |= outside[i][0] == outside[i][1]
    for firm, own in case.own.items():
        mine = case.known_to(firm, tables)
        name = f"respondent {firm}"
        for i in np.flatnonzero(~shown).tolist():
            low, high = int(mine[:, i].min()), int(mine[:, i].max())
            place, others = case.positions[i], int(case.units[i]) - 1
            if not own[i]:
                exact |= low == high
                cell = reported.get((name, place, "value"))
                assert cell is None or (cell.lower, cell.upper) == (low, high), (seed, name, place)
            elif others:
                ends = (-(-(low - own[i]) // others), high - own[i])
                exact |= ends[0] == ends[1]
                cell = reported.get((name, place, "largest other contributor"))
                assert cell is None or (cell.lower, cell.upper) == ends, (seed, name, place)
    assert found.verdict == ("unsafe" if exact else "safe" if outside else "incomplete"), seed
    return found.verdict


@few_or_long("seeds", range(80), (*range(300), *range(1000, 5000)))
def test_the_audit_against_every_table_that_a_respondent_cannot_rule_out(seeds: Sequence[int]) -> None:
    verdicts = [examine(seed) for seed in seeds]
    assert min(verdicts.count("safe"), verdicts.count("unsafe")) > len(seeds) / 7.5


def protected(seed: int) -> str:
    """Suppress with the defaults, and have every respondent rule out what they can."""
    case = Case(seed)
    rules = Threshold(int(case.rng.integers(2, 4)), safety_range=float(case.rng.choice([20.0, 60.0])))
    try:
        found = dc.suppress(case.table, rules)
    except InfeasibleError:
        return "infeasible"
    part = found.release.parts()[0]
    at = {tuple(part.labels[n][c] for n, c in zip(part.names, row, strict=True)): i for i, row in enumerate(part.codes)}
    shown = np.array([not part.hidden[at[place]] if place in at else True for place in case.positions])
    judged = dc.sensitivity(case.table, [rules])
    sensitive = {}
    for i, place in enumerate(case.positions):
        k = case.table.find(dict(zip(case.names, place, strict=True)))
        if judged.sensitive[k]:
            sensitive[i] = (case.value[i] - judged.lower[k], case.value[i] + judged.upper[k])
    # A hidden total leaves no end above; what is far enough counts as none. Zeros are in print, so no mark is one.
    tables, widest = (case.fitting(some, least=1) for some in (shown, case.value == 0))
    for firm, own in case.own.items():
        mine, anyway = (case.known_to(firm, some) for some in (tables, widest))
        for i, (low, high) in sensitive.items():
            assert not shown[i], seed
            if own[i] and case.units[i] == 1:
                continue
            assert mine[:, i].min() <= max(low, anyway[:, i].min()) + 1e-9, (seed, firm, case.positions[i])
            assert mine[:, i].max() >= min(high, tables[:, i].max()) - 1e-9, (seed, firm, case.positions[i])
            assert mine[:, i].min() < mine[:, i].max(), (seed, firm, case.positions[i])
    return "protected" if sensitive else "nothing sensitive"


@few_or_long("seeds", range(25), range(4000))
def test_no_suppressed_table_is_refuted_by_a_respondent(seeds: Sequence[int]) -> None:
    outcomes = [protected(seed) for seed in seeds]
    assert outcomes.count("protected") > len(seeds) / 5


# --- tables that name nobody -----------------------------------------------------------------------------------


def test_where_nobody_is_named_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A .tab file counts contributions and names nobody: F is two respondents there, and nothing tells."""
    monkeypatch.chdir(tmp_path)
    records().to_csv("firms.csv", index=False)
    made = ("tabulate", "firms.csv", "--by", "cell", "--value", "turnover", "--contributor", "firm", "-o", "t.tab")
    assert run(*made).code == 0
    told = "espondents are not named and are taken to be in one cell each"
    rule = ("--rule", "threshold=2")
    suppressed = run("protect", "suppress", "t.tab", *rule, "-o", "release.csv")
    assert suppressed.code == 0, suppressed.err
    assert told in " ".join(suppressed.out.split())
    assert told in " ".join(run("audit", "release.csv", "--original", "t.tab", *rule).out.split())
    assert told in " ".join(run("assess", "t.tab", "--policy", "business").out.split())
    unnamed = dc.tabulate(records(), ["cell"], value="turnover", contributor="")
    assert told in str(dc.suppress(unnamed, Threshold(2)))
    assert told not in str(dc.suppress(tabulated(), Threshold(2)))
