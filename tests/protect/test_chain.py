"""Swapping or sampling and then rounding or cell keys: one protection, stated, judged and audited as that."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import refused, run
from tests.plain import data_of

import discreet as dc
from discreet import Kind, RequestError, Table
from discreet.protect import (
    BernoulliSample,
    CellKey,
    Chain,
    ConventionalRounding,
    RandomRounding,
    RandomSample,
    RecordSwapping,
    TableSwapping,
    design_ptable,
)
from discreet.table.kinds.chained import Chained

TABLE = Table.from_array([[1, 5, 0], [6, 2, 9]], {"area": ["n", "s"], "age": ["0", "20", "40"]})
KEYS = CellKey(design_ptable(2, 1))
CHAINS = [
    Chain((TableSwapping(rate=0.4), RandomRounding(3))),
    Chain((TableSwapping(rate=0.8), KEYS)),
    Chain((RecordSwapping("area", rate=0.5), ConventionalRounding(3))),
    Chain((BernoulliSample(0.7), RandomRounding(3))),
    Chain((RecordSwapping("area", rate=0.3), BernoulliSample(0.8), ConventionalRounding(5))),
]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda one: "-".join(step.name for step in one.steps))
def test_a_chain_is_stated_and_its_intervals_hold_the_truth(chain: Chain) -> None:
    for seed in range(8):
        done = chain.apply(TABLE, seed)
        release = done.release
        assert release.method == "chain"
        assert [one["name"] for one in release.parameters["steps"]] == [one.name for one in chain.steps]  # type: ignore[attr-defined]
        assert release.trial
        part = release.parts()[0]
        lower, upper = part.ranges()
        cells = dc.Tabulation.from_table(TABLE).with_empty_cells()
        true = {tuple(cells.describe(i).split(", ")): int(cells.records[i]) for i in range(len(cells))}
        for row in range(len(part)):
            named = tuple(part.describe(row).split(", "))
            assert lower[row] <= true[named] <= upper[row]
        again = chain.apply(TABLE, seed).release
        assert again.table == release.table
    found = dc.audit(release, law="method")
    assert {data_of(one)["basis"] for one in found.cells} <= {"not shown"}


def jointly(shown: Table, swap: TableSwapping, last: Kind) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the least and largest counts of a 2 × 2 table to a reader who solves both steps together."""
    choices = []
    for y in shown.to_array().ravel().tolist():
        ends = last.range(np.array([y]))
        inside = np.arange(max(int(ends[0][0]), 0), int(ends[1][0]) + 1)
        choices.append(inside[last.likelihood(y, inside) > 0].tolist())
    low, high = np.full(4, 10**6), np.full(4, -1)
    for between in product(*choices):
        moves = int(swap.rate * sum(between) / 2 + 1e-9)
        for moved in range(-moves, moves + 1):
            counts = np.array(between) + moved * np.array([1, -1, -1, 1])
            if (counts >= 0).all() and sum(between):
                low, high = np.minimum(low, counts), np.maximum(high, counts)
    return low, high


def test_nothing_is_called_open_that_a_reader_of_both_steps_knows() -> None:
    rng = np.random.default_rng(5)
    judged = 0
    for _ in range(60):
        table = Table.from_array(rng.choice([0, 0, 0, 1, 2, 5], (2, 2)), ["a", "b"])
        swap, last = TableSwapping(rate=float(rng.choice([0.3, 0.8]))), [RandomRounding(3), KEYS][rng.integers(2)]
        try:
            release = Chain((swap, last)).apply(table, int(rng.integers(2**60))).release
        except dc.DiscreetError:
            continue
        kind = release.kind
        assert isinstance(kind, Chained)
        low, high = jointly(release.table, swap, kind.kinds[-1])
        audited = dc.audit(release)
        assert audited.verdict in ("unsafe", "incomplete")
        found = {one.name: one for one in audited.cells}
        for i, (a, b) in enumerate(product((1, 2), repeat=2)):
            cell = found.get(f"a={a}, b={b}")
            if cell is not None and cell.lower is not None and cell.upper is not None:
                judged += 1
                assert cell.lower <= low[i] <= high[i] <= cell.upper
                assert (cell.lower == cell.upper) == bool(low[i] == high[i])
    assert judged > 100


def test_equal_figures_make_equal_releases(tmp_path: Path) -> None:
    """Neither kinds nor intervals tell anything that the published counts do not: not how many people moved either."""
    chain = Chain((TableSwapping(rate=0.8), ConventionalRounding(5)))
    seen: dict[bytes, bytes] = {}
    met = 0
    for counts, seed in product(([[6, 9], [11, 4]], [[7, 8], [11, 5]], [[6, 8], [10, 5]]), range(12)):
        release = chain.apply(Table.from_array(counts, ["a", "b"]), seed).release
        (file,) = release.write(tmp_path / "r.parquet", trial=True)
        key = release.table.to_array().tobytes()
        met += key in seen
        assert seen.setdefault(key, file.read_bytes()) == file.read_bytes()
    assert met > 3


def test_files(tmp_path: Path) -> None:
    for chain in (CHAINS[0], CHAINS[1]):
        release = chain.apply(TABLE, 1).release
        for ending in ("parquet", "xlsx"):
            (file,) = release.write(tmp_path / f"r.{ending}", trial=True)
            back = dc.read_release(file)
            cells = [[(c.name, c.lower, c.upper) for c in dc.audit(one).cells] for one in (release, back)]
            assert cells[0] == cells[1]
            assert dc.audit(back).verdict == dc.audit(release).verdict != "safe"
        with pytest.raises(RequestError, match=r"write \.parquet"):
            release.write(tmp_path / "r.csv", trial=True)
    sample = CHAINS[3].apply(TABLE, 1).release
    with pytest.raises(RequestError, match=r"write \.parquet"):
        sample.write(tmp_path / "s.csv", trial=True)
    (file,) = sample.write(tmp_path / "s.parquet", trial=True)
    assert dc.read_release(file).figures[0].kinds[0] == sample.kind


def test_kinds_of_chains() -> None:
    kind = Kind("chain", kinds=(Kind("swapped", bound=2), Kind("random", base=3)))
    assert kind.phrase == "swapped, at most 2 in a cell, then rounded at random to base 3"
    assert Kind.from_dict(json.loads(json.dumps(data_of(kind)))) == kind
    assert (kind.step, kind.stated, kind.weighs, kind.keyed) == (3, False, False, False)
    assert kind.range(np.array([3]))[0].tolist() == [0]
    assert kind.scaled(10).range(np.array([30]))[1].tolist() == [79]
    for kinds in ((), (Kind("random", base=3), Kind("random", base=3)), (Kind("swapped", bound=2), Kind("suppressed"))):
        with pytest.raises(RequestError, match=r"chain|sampled or swapped first"):
            Kind("chain", kinds=kinds)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((RandomRounding(3),), "two steps or more, not 1"),
        ((RandomRounding(3), RandomRounding(3)), "random-rounding cannot be an earlier step"),
        ((RandomSample(fraction=0.5), RandomRounding(3)), "random-sample cannot be an earlier step"),
        ((BernoulliSample(0.5, known_total=True), RandomRounding(3)), "known total cannot start a chain"),
        ((TableSwapping(), TableSwapping()), "table-swapping cannot end a chain"),
    ],
)
def test_chains_that_are_refused(steps: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        Chain(steps)


def test_a_last_step_that_publishes_margins_is_refused() -> None:
    with pytest.raises(RequestError, match="publishes more than inner counts"):
        Chain((TableSwapping(), RandomRounding(3, margins=True))).apply(TABLE, 1)


@pytest.mark.parametrize("policy", ["default", "health"])
def test_nothing_is_claimed_of_a_chain_under_any_policy(policy: str) -> None:
    steps = ["table-swapping:rate=0.3", {"name": "random-rounding", "base": 3}]
    found = dc.assess(TABLE, policy, protection={"name": "chain", "steps": steps}, seed=1, trial=True)
    checks = {one.name: one for one in found.checks}
    assert "determined" not in checks
    assert not checks["unfinished"].passed
    assert "solves all steps of the protection together" in checks["unfinished"].text
    assert found.verdict == "withhold"
    risk = dc.expected_risk(TABLE, Chain((TableSwapping(rate=0.3), RandomRounding(3))), draws=20, seed=1)
    assert 0 < data_of(risk)["value"] < 1


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TABLE.write("t.csv")
    given = ("--step", "table-swapping:rate=0.4", "--step", "cell-key:bound=2,variance=1", "-o", "c.parquet")
    done = run("protect", "chain", "t.csv", *given, "--json")
    assert done.code == 0, done
    data = json.loads(done.out)
    assert [one["name"] for one in data["parameters"]["steps"]] == ["table-swapping", "cell-key"]
    assert run("audit", "c.parquet").code == 1
    assert "no step is named" in refused(run("protect", "chain", "t.csv"))
    assert "no protection 'swap'" in refused(run("protect", "chain", "t.csv", "--step", "swap"))
    assert "has no parameter 'rte'" in refused(run("protect", "chain", "t.csv", "--step", "table-swapping:rte=1"))
