"""Suppression with statistics in its equations: patterns that statistics of true values leave safe, and their cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.auditing.audit import audit
from discreet.core.errors import RequestError
from discreet.decide.assess import assess
from discreet.decide.policy import Policy
from discreet.evaluate.audited_suppression import certify, faults, inspect, suppress
from discreet.evaluate.statistics_in_patterns import suppress_beside, true_statistics
from discreet.protect.suppression import Suppression
from discreet.rules.threshold import Threshold
from discreet.table.release_reader import read_release
from discreet.table.statistic import Statistic
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation

METHOD = Suppression(Threshold(3))
ROWS, ALL = ({"pct": Statistic("percentage", over=over, decimals=0)} for over in ({"sex": ""}, {"sex": "", "area": ""}))
POLICY = Policy.model_validate(
    {"rules": {"threshold": 3}, "protections": [{"name": "suppress"}], "limits": {"levels": "always"}}
)


def table(seed: int, mean: float) -> Table:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(mean, (4, 3)) + 3
    counts[rng.integers(4), rng.integers(3)] = 2
    return Table.from_array(counts, {"area": list("nswe"), "sex": list("mfo")})


@pytest.mark.parametrize(("seed", "mean", "wanted"), [(0, 150, ROWS), (1, 150, ALL), (1, 600, ROWS)])
def test_another_pattern_is_chosen_for_the_sake_of_statistics(
    seed: int, mean: float, wanted: dict[str, Statistic]
) -> None:
    plain = suppress(table(seed, mean), Threshold(3))
    (found,) = suppress_beside(METHOD, table(seed, mean), wanted, ("fitting",))
    # The audit objects to the cheaper pattern with the same statistics beside it, and not to this one.
    columns = found.release.parts()[0].statistics
    beside = replace(plain.release, figures=(replace(plain.release.parts()[0], statistics=columns),))
    assert faults(plain.pattern, inspect(plain.pattern, beside))
    assert not faults(found.pattern, found.audit)
    assert found.audit.verdict == "safe"
    assert found.pattern.cost > plain.pattern.cost
    assert len(columns[0]) >= 19


@pytest.mark.parametrize("seed", range(6))
def test_what_is_found_is_safe_with_its_statistics_and_proved_by_its_circuits(seed: int) -> None:
    for found in suppress_beside(METHOD, table(seed, 250), ALL):
        found.pattern.check()
        seen = audit(found.release, proofs=0)
        assert not seen.findings.determined.any()
        part = found.release.parts()[0]
        # Every circuit is another table with the same printed percentages.
        values, problem = found.pattern.problem.cells.values, found.pattern.problem
        said = problem.cells.equations.inequalities
        assert said is not None
        assert part.statistics
        for circuit in found.pattern.circuits:
            moved = np.zeros(problem.size, np.int64)
            moved[circuit.cells] = circuit.moves
            shift = np.where(problem.member >= 0, moved[problem.member], 0)
            for way in (1, -1) if circuit.way == 0 else (circuit.way,):
                assert (said.rows.sums(values + way * shift) >= said.least).all()


@pytest.mark.long
def test_all_statistics_can_be_kept_at_the_price_of_figures() -> None:
    small = Table.from_array([[2, 40, 38], [41, 45, 43], [39, 42, 44]], {"area": list("nsw"), "sex": list("mfo")})
    plain = suppress(small, Threshold(3))
    (found,) = suppress_beside(METHOD, small, ALL, ("kept",))
    assert len(found.release.parts()[0].statistics[0]) == 16
    assert found.pattern.counts["secondary"] > plain.pattern.counts["secondary"]
    assert not audit(found.release, proofs=0).findings.determined.any()


def test_what_cannot_be_protected_is_left_to_other_ways() -> None:
    tiny = Table.from_array([[2, 5], [4, 9]], {"area": list("ns"), "sex": list("mf")})
    exact = {"pct": Statistic("percentage", over={"sex": "", "area": ""}, decimals=4)}
    assert list(suppress_beside(METHOD, tiny, exact)) == []
    with pytest.raises(RequestError, match="statistics are not chosen so"):
        next(suppress_beside(METHOD, tiny, exact, ("all",)))


def test_without_statistics_patterns_are_the_same() -> None:
    alone = certify(METHOD, table(0, 150))
    none = certify(replace(METHOD, statistics=((),)), table(0, 150))
    assert np.array_equal(alone.pattern.hidden, none.pattern.hidden)
    assert true_statistics(Tabulation.from_table(table(0, 150)), None, ROWS)[0].statistic.kind == "percentage"


def test_an_assessment_takes_what_leaves_the_fewest_numbers_unpublished(tmp_path: Path) -> None:
    text = "percentage, over=sex, decimals=0"
    usual, safe = (
        assess(table(0, 300), POLICY, protection="suppress", statistics={"pct": one}, seed=1, trial=True)
        for one in (text, f"{text}, where=safe")
    )
    assert (usual.verdict, safe.verdict) == ("protect", "protect")
    assert usual.release is not None
    assert safe.release is not None
    missing = [
        int(one.evidence.release.parts()[0].hidden.sum()) + kept.wanted - kept.shown
        for one in (usual, safe)
        for kept in one.evidence.statistics
    ]
    assert (missing[0], missing[1], safe.evidence.statistics[0].shown) == (8, 4, 20)
    # Other counts are hidden than without statistics.
    assert not np.array_equal(usual.release.parts()[0].hidden, safe.release.parts()[0].hidden)
    safe.release.write(tmp_path / "r.csv", trial=True)
    found = audit(read_release(tmp_path / "r.csv"))
    assert found.verdict == "safe"
    assert not found.findings.determined.any()
