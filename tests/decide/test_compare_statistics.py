"""What protections cost statistics: on the map, and where true ones may stand beside suppressed figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import run
from tests.plain import data_of

from discreet.auditing.audit import audit
from discreet.core.errors import RequestError
from discreet.decide.assess import assess
from discreet.decide.compare import compare
from discreet.decide.policy import Policy
from discreet.decide.replay import replay
from discreet.table.release_reader import read_release
from discreet.table.table import Table

POLICY = Policy.model_validate({"rules": {"threshold": 3}, "protections": [{"name": "suppress"}]})
PCT = "percentage, over=sex+area"


def table(seed: int, mean: float) -> Table:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(mean, (4, 3)) + 3
    counts[rng.integers(4), rng.integers(3)] = 2
    return Table.from_array(counts, {"area": list("nswe"), "sex": list("mfo")})


def test_every_alternative_has_its_cost_on_the_map(tmp_path: Path) -> None:
    methods = ["suppress", "random-rounding:base=3,additive=true"]
    wanted = {"pct": f"{PCT}, decimals=1"}
    found = compare(table(1, 60), methods, policy=POLICY, draws=5, audits=1, seed=1, statistics=wanted)
    cost = {point.point.title: (point.figure("statistics"), point.figure("statistic_error")) for point in found.points}
    assert cost["none (as it is)"] == (1.0, 0.0)
    shown, error = cost["suppress"]
    assert error == 0.0
    assert shown is not None
    assert 0 < shown < 1
    assert cost["suppress, statistics dropped"] == (0.0, None)
    assert (cost["suppress, statistics kept"][0] or 0) >= shown
    coarser, ranges = cost["suppress, statistics coarser"], cost["suppress, statistics ranges"]
    assert (coarser[0] or 0) >= shown
    assert (ranges[0] or 0) >= shown
    assert 0 < (coarser[1] or 0) < (ranges[1] or 0)
    rounded = cost["random-rounding, base 3, additive"]
    assert rounded[0] == 1.0
    assert (rounded[1] or 0) > 0
    assert found.header()[-2:] == ["statistics", "their error"]
    assert "statistic_error" in found.to_csv().splitlines()[0]
    found.report(tmp_path / "map.html")
    assert "of the statistics" in (tmp_path / "map.html").read_text(encoding="utf-8")
    found.write_record(tmp_path / "record.json")
    assert replay(tmp_path / "record.json", table(1, 60)).same


def test_a_comparison_without_statistics_says_nothing_of_them() -> None:
    found = compare(table(1, 60), ["suppress"], policy=POLICY, draws=2, audits=1, seed=1)
    assert len(found.points) == 2
    assert "statistics" not in found.header()
    assert "statistics" not in data_of(found)["points"][1]


@pytest.mark.parametrize(
    ("mean", "seeds"),
    [(6, range(2)), (40, range(4)), (150, range(4)), pytest.param(6, range(2, 6), marks=pytest.mark.long)],
)
def test_true_percentages_beside_suppressed_counts_give_none_away(mean: float, seeds: range, tmp_path: Path) -> None:
    more = 0
    for seed in seeds:
        defined = f"{PCT}, decimals=0, where=safe"
        usual, safe = (
            assess(table(seed, mean), POLICY, protection="suppress", statistics={"pct": text}, seed=1, trial=True)
            for text in (f"{PCT}, decimals=0", defined)
        )
        assert safe.verdict == usual.verdict == "protect"
        assert safe.release is not None
        more += safe.evidence.statistics[0].shown - usual.evidence.statistics[0].shown
        safe.release.write(tmp_path / "r.csv", trial=True)
        found = audit(read_release(tmp_path / "r.csv", statistics={"pct": f"{PCT}, decimals=0"}))
        assert found.verdict == "safe"
        assert not found.findings.determined.any()
    # In small tables a whole per cent is less than one person: nothing more can be shown.
    assert more == 0 if mean < 10 else more > 0


def test_ranges_are_read_as_they_are_published(tmp_path: Path) -> None:
    text = f"{PCT}, decimals=0, rounding=down, step=10"
    found = assess(
        table(2, 40), POLICY, protection="suppress", statistics={"pct": f"{text}, where=safe"}, seed=1, trial=True
    )
    assert found.release is not None
    found.release.write(tmp_path / "r.csv", trial=True)
    (column,) = read_release(tmp_path / "r.csv", statistics={"pct": text}).parts()[0].statistics
    assert set(column.values.tolist()) <= {0, 10, 20, 30, 100}
    some = column.values > 0
    assert (column.admitted.high - column.admitted.low == 20)[some].all()


def test_from_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    table(1, 60).write(file)
    told = run("compare", file, "--method", "suppress", "--draws", 2, "--statistic", f"pct={PCT}", "--json")
    assert "suppress, statistics ranges" in told.out
    told = run("protect", "suppress", file, "--rule", "threshold=3", "--statistic", f"pct={PCT}, where=safe")
    assert told.code == 2
    assert "which a policy has to say" in told.err


def test_a_step_that_values_do_not_keep_is_refused() -> None:
    with pytest.raises(RequestError, match="multiples of 0"):
        compare(table(1, 60), ["suppress"], policy=POLICY, draws=2, audits=1, statistics={"pct": f"{PCT}, step=0"})
