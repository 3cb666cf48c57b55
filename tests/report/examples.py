"""Assessments and comparisons that the tests make reports of."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.decide.assess import assess


@functools.cache
def religion() -> dict[str, Any]:
    """Counts that are rounded at random."""
    return assess(
        dc.datasets.religion(), protection="random-rounding:base=3", seed=1, trial=True, name="religion"
    ).to_dict()


@functools.cache
def withheld() -> dict[str, Any]:
    """Counts that are published as they are, against the rules."""
    return assess(dc.datasets.religion(), protection="none", name="religion").to_dict()


def firms_records() -> pa.Table:
    """Turnover of few firms in each cell; every sum is a number that stands nowhere else."""
    draw = np.random.default_rng(5)
    rows: dict[str, list[Any]] = {"region": [], "branch": [], "turnover": [], "firm": []}
    for region in ("north", "south", "east", "west", "centre"):
        for branch in ("food", "metal", "paper", "wood"):
            for _ in range(int(draw.choice([1, 2, 7, 9]))):
                rows["region"].append(region)
                rows["branch"].append(branch)
                rows["turnover"].append(int(draw.integers(100_003, 999_983)))
                rows["firm"].append(f"f{len(rows['firm'])}")
    return pa.table(rows)


@functools.cache
def firms() -> Any:
    """Turnover of firms with sensitive sums and their complements hidden."""
    return assess(
        firms_records(),
        by=["region", "branch"],
        value="turnover",
        contributor="firm",
        protection="suppress",
        name="turnover of firms",
    )


@functools.cache
def comparison(methods: int = 14) -> dict[str, Any]:
    """A comparison as ``to_dict()`` gives it."""
    draw = np.random.default_rng(3)
    points = []
    for number in range(methods):
        utility = 1 - 0.012 * number
        risk = 0.6 - 0.03 * number + float(draw.uniform(0, 0.05))
        points.append(
            {
                "method": "none" if not number else "random-rounding",
                "parameters": {"base": number + 2},
                "title": "none (as it is)" if not number else f"random-rounding, base {number + 2}",
                "r2": {"mean": risk, "mc_error": 0.004},
                "utility": {"mean": utility, "mc_error": 0.002},
                "mean_absolute_error": {"mean": 0.3 * number, "mc_error": 0.0},
                "worst_dr": {"mean": None if not number else 1.5 / (number + 1), "mc_error": 0.0},
                "determined": {"mean": float(not number), "mc_error": 0.0},
                "extremes": {"known": 21 * (not number)},
                "error": None,
                "meets": risk < 0.5,
                "faults": [] if risk < 0.5 else ["R2 is above the limit of 0.5"],
                "efficient": number % 3 == 0,
                "recommended": number == 5,
            }
        )
    return {
        "schema": 1,
        "kind": "comparison",
        "name": "religion",
        "sentence": "13 protections compared.",
        "headline": "Table output_area (10) × religion (9)",
        "magnitudes": False,
        "policy": {"name": "default", "title": "", "rules": {"threshold": 3.0}, "limits": {"r2": 0.5}, "zeros": "safe"},
        "rules": None,
        "points": points,
        "frontier": [0, 3, 6, 9, 12],
        "recommended": 5,
        "record": {
            "versions": {"discreet": "0.1.0"},
            "input": {"original_sha256": "ab" * 32},
            "request": {"seed": 1},
        },
    }


@functools.cache
def large() -> dict[str, Any]:
    """Ten thousand cells in three dimensions, rounded at random."""
    draw = np.random.default_rng(1)
    labels = {
        "area": [f"area {i:03d}" for i in range(100)],
        "age": [f"{5 * i}-{5 * i + 4}" for i in range(20)],
        "status": ["single", "married", "widowed", "divorced", "other"],
    }
    table = dc.Table.from_array(draw.negative_binomial(1, 0.08, (100, 20, 5)), labels)
    return assess(table, protection="random-rounding:base=3", seed=1, trial=True, name="large").to_dict()
