"""Categories that are listed because records are in them are known not to be empty, whatever is printed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.plain import data_of

import discreet as dc

ROUNDED = dc.Policy.model_validate(
    {
        "title": "Rounded",
        "zeros": "safe",
        "rules": {"threshold": 3},
        "limits": {"dr": 5},
        "protections": [{"name": "random-rounding", "base": 3, "additive": True}],
    }
)


COUNTS = {("n",): 1, ("s",): 2, ("w",): 1, ("e",): 30, ("m",): 40}


def people(counts: Mapping[Any, int], by: list[str]) -> pd.DataFrame:
    """Return one record a person."""
    return pd.DataFrame([cell for cell, count in counts.items() for _ in range(count)], columns=by)


def weight(shown: int, true: int) -> float:
    """Return how likely random rounding to base 3 prints a figure for a count."""
    rest = true % 3
    return {0: float(rest == 0), rest: (3 - rest) / 3, rest - 3: rest / 3}.get(true - shown, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_claimed_of_rare_categories_holds_for_who_knows_that_they_occur(seed: int) -> None:
    """Each claim against all tables of records that can be behind what is printed, by their likelihoods."""
    found = dc.assess(people(COUNTS, ["area"]), ROUNDED, by=["area"], seed=seed, trial=True)
    assert found.release is not None
    printed = {row["area"]: row["count"] for row in found.release.table.to_frame().to_dict("records")}
    zeros = 0
    for cell in data_of(found)["cells"]:
        area = cell["cell"]["area"]
        shown = printed[area]
        left = {true: weight(shown, true) for true in range(1, shown + 3) if weight(shown, true)}
        zeros += shown == 0
        assert (cell["lower"], cell["upper"]) == (min(left), max(left))
        whole = sum(left.values())
        bits = -sum(p / whole * log2(p / whole) for p in left.values())
        # That the table was protected at all is weighed too, which bounds the risk.
        assert cell["dr"] >= 1 / bits - 1e-9
    told = [check.text for check in found.checks if check.name == "categories"]
    assert len(told) == (zeros > 0)


def test_a_hierarchy_that_lists_empty_categories_says_nothing_of_those_printed_as_zero(tmp_path: Path) -> None:
    tree = dc.Hierarchy.flat([*"nswem", "x", "y"])
    for seed in range(6):
        found = dc.assess(
            people(COUNTS, ["area"]), ROUNDED, by=["area"], hierarchies={"area": tree}, seed=seed, trial=True
        )
        assert not [check for check in found.checks if check.name == "categories"]
    records = dc.tabulate(people(COUNTS, ["area"]), ["area"])
    records.write(tmp_path / "t.parquet")
    again = dc.read_tabulation(tmp_path / "t.parquet")
    assert [axis.occurring for axis in again.axes] == [frozenset("nswem")] == [axis.occurring for axis in records.axes]


def test_crossings_of_a_rare_category_are_left_what_its_people_leave() -> None:
    """Printed 0, 0 and 0, one of three cells holds somebody: which, all tables that fit tell."""
    counts = dict.fromkeys(product("en", "xyz"), 12) | {("s", "x"): 1}
    for seed in range(8):
        found = dc.assess(people(counts, ["area", "act"]), ROUNDED, by=["area", "act"], seed=seed, trial=True)
        for cell in data_of(found)["cells"]:
            if cell["cell"].get("area") == "s" and cell["cell"].get("act", "Total") == "Total":
                assert cell["lower"] >= 1


def test_a_table_that_is_withheld_for_a_rare_category_says_what_helps() -> None:
    """Of three areas with one person, one is printed as 0 nearly always: 1 or 2, too little for a limit of 0.7."""
    counts = {(f"a{k}",): n for k, n in enumerate([40, 37, 29, 1, 51, 33, 1, 38, 2, 1])}
    found = dc.assess(people(counts, ["area"]), "default", by=["area"], seed=2, trial=True)
    assert found.verdict == "withhold"
    assert any("list all categories, empty ones too (hierarchies=)" in reason for reason in found.reasons)
    tree = dc.Hierarchy.flat([*(f"a{k}" for k in range(10)), "a10", "a11"])
    again = dc.assess(people(counts, ["area"]), "default", by=["area"], hierarchies={"area": tree}, seed=2, trial=True)
    assert again.verdict == "protect"
