"""Pass rates of many schools: assessed and released in one run, and audited from the published files alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluate.school_tables import as_published_today, school

from discreet.auditing.audit import audit
from discreet.decide.assess import assess
from discreet.decide.policy import Policy
from discreet.table.release_reader import read_release

RATE = {"rate": "percentage, over=outcome, decimals=0"}
POLICY = Policy.model_validate(
    {"rules": {"threshold": 5, "group_disclosure": None}, "protections": [{"name": "suppress"}], "as_is": "if safe"}
)
LINES = POLICY.model_copy(update={"rules": POLICY.rules.model_copy(update={"group_disclosure": 0})})
TODAY = {"value": "n", "marks": ["x=1..4"], "statistics": {"rate": "percentage, of=passed, per=n"}}


def released(seeds: range, folder: Path) -> list[Path]:
    """Assess schools and write what may be published of each: numbers with pass rates."""
    files = []
    for seed in seeds:
        found = assess(school(np.random.default_rng(seed)), POLICY, statistics=RATE, seed=seed, trial=True)
        if found.release is not None:
            files.append(folder / f"school-{seed}.csv")
            found.release.write(files[-1], trial=True)
    return files


def of_files(files: list[Path]) -> tuple[int, int, int, int]:
    """Audit published files alone: how many figures are hidden, safe, exact, and how many rates are shown."""
    hidden = safe = exact = rates = 0
    for file in files:
        release = read_release(file, statistics=RATE)
        found = audit(release, proofs=0)
        assert found.verdict == "safe" or not len(found.findings)
        hidden += len(found.findings)
        safe += found.counts["safe"]
        exact += int(found.findings.determined.sum())
        rates += len(release.parts()[0].statistics[0])
    return hidden, safe, exact, rates


def exact_today(seeds: range, folder: Path) -> int:
    """Return how many hidden numbers of the same schools are exact as they are published today."""
    total = 0
    for seed in seeds:
        as_published_today(school(np.random.default_rng(seed)), folder / "today.csv")
        total += int(audit(read_release(folder / "today.csv", **TODAY), proofs=0).findings.determined.sum())  # type: ignore[arg-type]
    return total


@pytest.mark.parametrize(
    ("seeds", "least"), [(range(5), 1), pytest.param(range(300), 901, marks=pytest.mark.long)], ids=["5", "300"]
)
def test_schools_released_in_one_run_give_no_number_away(seeds: range, least: int, tmp_path: Path) -> None:
    files = released(seeds, tmp_path)
    assert len(files) == len(seeds)
    hidden, safe, exact, rates = of_files(files)
    assert (exact, safe) == (0, hidden)
    assert hidden > 0
    assert rates > 0
    today = exact_today(seeds, tmp_path)
    print(f"{hidden:,} hidden, {exact} exact; {rates:,} rates; today {today:,} exact")
    assert today >= least


@pytest.mark.parametrize("seed", range(5))
def test_schools_in_which_a_group_is_seen_to_have_all_passed_are_withheld(seed: int) -> None:
    """Every group of a year has pupils, and suppression prints zeros: where nobody failed, everybody passed."""
    table = school(np.random.default_rng(seed))
    seen = bool((table.to_array() == 0).any())
    found = assess(table, LINES, statistics=RATE, seed=seed, trial=True)
    assert found.verdict == ("withhold" if seen else "protect")
